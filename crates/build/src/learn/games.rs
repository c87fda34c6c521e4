//! The results of the moves of a book in collections of games.

use std::collections::HashMap;

use shakmaty::{Chess, Color, Move, Position};

use tabia_book::{Book, Error, MarkPlace};
use tabia_games::{
    self as games, Game, GameFilter, GameParts, GameResult, Intake, Sources, Starts, has_name,
};
use tabia_io::parallel::Panicked;
use tabia_io::progress::Watch;
use tabia_notation::Results;

/// After so many positions in a row that the book does not hold, the rest of a
/// game is passed over.
const MISSES: u32 = 12;

/// Which results count for which moves.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Which games.
    pub filter: GameFilter,
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
#[non_exhaustive]
pub enum LearnError {
    /// The book.
    #[error(transparent)]
    Book(#[from] Error),
    /// The games.
    #[error(transparent)]
    Games(#[from] games::Error),
    /// A thread met a fault of this program.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// The results of the games.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// Games in which a move of the book was played.
    pub counted: u64,
    /// By where the book stores what was learnt.
    pub tallies: HashMap<MarkPlace, Results>,
    /// What became of the games.
    pub games: games::Tally,
}

/// Where a book stores what was learnt about a move between two positions: a
/// ChessBase book with the position after it, a Polyglot book in its entry.
/// `None` if the book does not hold the move, or has no learn values at all.
///
/// # Errors
///
/// The book cannot be read.
pub fn place_of(
    book: &Book,
    before: &Chess,
    mv: Move,
    after: &Chess,
) -> Result<Option<MarkPlace>, Error> {
    Ok(match book {
        Book::Ctg(book) => book.key_of(after)?.map(MarkPlace::Position),
        Book::Bin(_) => {
            let entries = book.keyed_entries(before, mv)?;
            entries.first().map(|entry| MarkPlace::Entry(entry.offset))
        }
        Book::Abk(_) => None,
    })
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

/// The results of the games of some sources for the positions of a book, read in some
/// threads. A position counts once a game.
///
/// # Errors
///
/// A source or the book cannot be read, or `watch` cancels the work.
pub fn tally_games(
    book: &Book,
    sources: &Sources,
    counted: &Counted,
    threads: usize,
    watch: &mut Watch<'_>,
) -> Result<Learned, LearnError> {
    let intake = Intake {
        filter: &counted.filter,
        wanted: GameParts {
            plies: counted.max_ply,
            ..GameParts::default()
        },
        starts: Starts::Any,
        threads,
    };
    let add = |learned: &mut Learned, game: &Game| Ok(learned.add_game(book, game, counted)?);
    let (games, sums) = intake.add_up::<_, LearnError>(sources, add, watch)?;
    let mut all = Learned {
        games,
        ..Learned::default()
    };
    for learned in sums {
        all.counted += learned.counted;
        for (place, tally) in learned.tallies {
            let sum = all.tallies.entry(place).or_default();
            *sum = *sum + tally;
        }
    }
    Ok(all)
}

impl Learned {
    fn add_game(&mut self, book: &Book, game: &Game, counted: &Counted) -> Result<(), Error> {
        let winner = match game.result {
            GameResult::Won(winner) => Some(winner),
            GameResult::Draw => None,
            GameResult::Unknown => return Ok(()),
        };
        let mut seen: Vec<MarkPlace> = Vec::new();
        let mut misses = 0;
        let positions = game.positions.iter().zip(game.positions.iter().skip(1));
        for ((before, position), mv) in positions.zip(&game.moves) {
            let Some(place) = place_of(book, before, *mv, position)? else {
                misses += 1;
                if misses >= MISSES {
                    break;
                }
                continue;
            };
            misses = 0;
            let mover = !position.turn();
            if counted.counts(game, mover, winner) && !seen.contains(&place) {
                seen.push(place);
                self.tallies.entry(place).or_default().count(mover, winner);
            }
        }
        self.counted += u64::from(!seen.is_empty());
        Ok(())
    }
}
