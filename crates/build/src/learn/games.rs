//! The results of the moves of a book in collections of games.

use std::collections::HashMap;

use shakmaty::{Chess, Color, Move, Position};

use tabia_book::{Book, Error, MarkPlace};
use tabia_games::{
    self as games, Game, GameFilter, GameParts, GameReader, GameResult, Sources, Starts, has_name,
};
use tabia_io::parallel::Panicked;
use tabia_io::progress::Watch;
use tabia_notation::Results;

/// After this number of consecutive positions outside the book, the rest of a game is
/// not read.
const MISSES: u32 = 12;

/// Which results count for which moves.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The games to count.
    pub filter: GameFilter,
    /// Only moves of this side; with a player in the filter, only that player's moves,
    /// with either colour.
    pub colour: Option<Color>,
    /// Games won by the player of the move.
    pub wins: bool,
    /// Drawn games.
    pub draws: bool,
    /// Games lost by the player of the move.
    pub losses: bool,
    /// Number of plies to read of each game.
    pub max_ply: usize,
}

/// Why learning from games failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// The book cannot be read.
    #[error(transparent)]
    Book(#[from] Error),
    /// The games cannot be read.
    #[error(transparent)]
    Games(#[from] games::Error),
}

impl From<Panicked> for LearnError {
    fn from(error: Panicked) -> LearnError {
        LearnError::Book(error.into())
    }
}

/// The results of the games.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Learned {
    /// Games in which a move of the book was played.
    pub counted: u64,
    /// The results, by the place where the book stores the learn value.
    pub tallies: HashMap<MarkPlace, Results>,
    /// Games read, skipped and filtered out.
    pub games: games::Tally,
}

/// The place where a book stores the learn value of a move between two positions: a
/// ChessBase book with the position after it, a Polyglot book in the entry of the move.
/// `None` if the move is not in the book, or the format has no learn values.
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
        Book::Loaded(_) => None,
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

/// Results of the games of some sources for the positions of a book, read in several
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
    let reader = GameReader::new(&counted.filter)
        .wanted(GameParts::default().up_to(counted.max_ply))
        .starts(Starts::Any)
        .threads(threads);
    let add = |learned: &mut Learned, game: &Game| Ok(learned.add_game(book, game, counted)?);
    let (games, sums) = reader.add_up::<_, LearnError>(sources, add, watch)?;
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
