//! What collections of games say about the moves of a book.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use shakmaty::{Color, Position};

use super::Tally;
use crate::book::ctg::{CtgBook, Error, Key};
use crate::games::{Filter, Game, GameResult, GameSource, Skipped, SourceError, Wanted, has_name};

/// After so many positions in a row that the book does not hold, the rest of a
/// game is passed over.
const MISSES: u32 = 12;

/// Which results count for which moves.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Which games.
    pub filter: Filter,
    /// Only moves of this side; with a player in the filter his moves alone
    /// count whatever his colour.
    pub colour: Option<Color>,
    /// Games won by the player of the move.
    pub wins: bool,
    /// Drawn games.
    pub draws: bool,
    /// Games lost by the player of the move.
    pub losses: bool,
    /// Plies of each game that are looked at.
    pub max_ply: usize,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The book.
    #[error(transparent)]
    Book(#[from] Error),
    /// The games.
    #[error(transparent)]
    Games(#[from] SourceError),
    /// Somebody wanted an end.
    #[error("stopped; nothing was changed")]
    Stopped,
}

impl Counted {
    fn counts(&self, game: &Game, mover: Color, winner: Option<Color>) -> bool {
        let is_kind = match winner {
            None => self.draws,
            Some(winner) if winner == mover => self.wins,
            Some(_) => self.losses,
        };
        let is_side = match &self.filter.player {
            Some(name) => {
                has_name(game.names.get(mover), name)
                    && self.filter.colour.is_none_or(|colour| colour == mover)
            }
            None => true,
        };
        is_kind && is_side && self.colour.is_none_or(|colour| colour == mover)
    }
}

/// Adds the games of a source to the tallies of the positions of a book; how
/// many games counted. A position counts once a game. `skipped` hears of games
/// that are of no use.
///
/// # Errors
///
/// The source or the book cannot be read, or `stop` is true.
pub fn tally_games(
    book: &CtgBook,
    source: &mut dyn GameSource,
    counted: &Counted,
    stop: &AtomicBool,
    tallies: &mut HashMap<Key, Tally>,
    skipped: &mut dyn FnMut(Skipped),
) -> Result<u64, LearnError> {
    let mut games = 0;
    let mut game = Game::default();
    let wanted = Wanted {
        plies: counted.max_ply,
        ..Wanted::default()
    };
    while let Some(mut batch) = source.next_batch()? {
        if stop.load(Ordering::Relaxed) {
            return Err(LearnError::Stopped);
        }
        loop {
            match batch.next_game(wanted, &mut game) {
                Ok(false) => break,
                Err(reason) => skipped(reason),
                Ok(true) if counted.filter.admits(&game) => {
                    games += u64::from(add_game(book, &game, counted, tallies)?);
                }
                Ok(true) => {}
            }
        }
    }
    Ok(games)
}

fn add_game(
    book: &CtgBook,
    game: &Game,
    counted: &Counted,
    tallies: &mut HashMap<Key, Tally>,
) -> Result<bool, Error> {
    let winner = match game.result {
        GameResult::Won(winner) => Some(winner),
        GameResult::Draw => None,
        GameResult::Unknown => return Ok(false),
    };
    let mut seen: Vec<Key> = Vec::new();
    let mut misses = 0;
    for position in game.positions.iter().skip(1) {
        let Some(key) = book.key_of(position)? else {
            misses += 1;
            if misses >= MISSES {
                break;
            }
            continue;
        };
        misses = 0;
        let mover = !position.turn();
        if counted.counts(game, mover, winner) && !seen.contains(&key) {
            seen.push(key);
            tallies.entry(key).or_default().add(mover, winner);
        }
    }
    Ok(!seen.is_empty())
}
