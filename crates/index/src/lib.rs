//! An index of chess games by position, from which an opening explorer answers.
//!
//! ```text
//! sources -> games -> workers: moves -> sorted runs -> rows -> GAMES.tgx
//!                        |                                       |
//!                        +-> the games themselves, packed -------+
//!                                                                |
//!          answer <- sums over selected games <- rows <- lookup -+
//! ```
//!
//! Each ply of a game is one record: position, move, and the [`Facts`](tabia_games::tgx::Facts)
//! of the game. The records are sorted within the memory limit
//! and summed up into [`Row`]s: a move in a position, for the games of one month (or
//! year), speed and rating group, with their results, the sums of their ratings, and
//! the numbers of the best and newest of them. The same file stores the games with
//! headers and all moves, so an index is a source of games like any other: books can
//! be built from it, with new filters, without the original files.
//!
//! Games that are added later ([`IndexJob::append`]) are a separate segment; an
//! answer is the sum over all segments. So adding a month costs only that month's work.
//!
//! [`IndexJob::run`] makes an index, [`GamesIndex`] reads it, [`GameSelection`] selects
//! games, and [`query`] returns the sums. HTTP is the task of `explore`.

#![warn(missing_docs)]

mod bucket;
mod compact;
mod count;
mod error;
mod make;
mod open;
mod partitions;
mod parts;
mod player;
mod players;
mod position;
mod posting;
pub mod query;
mod row;
mod rows;
mod search;
mod selection;
mod table;
#[cfg(test)]
mod tests;

pub use bucket::Bucket;
pub use compact::{Compacted, compact};
pub use count::key;
pub use error::Error;
pub use make::{IndexJob, IndexReport, USUAL_PLIES};
pub use open::{FoundGame, GamesIndex};
pub use player::{Player, each_game, exact_names};
pub use players::players;
pub use row::{Counts, GameRef, IndexedMove, RECENT_GAMES, Row, TOP_GAMES};
pub use search::{FoundGames, find_games};
pub use selection::GameSelection;
pub use shakmaty;
pub use tabia_games::{Previous, Progress, Watch};

/// Name of the table of positions: rows by [`key`].
const POSITIONS: &str = "positions";

/// Name of the table of players: numbers of games by name and colour.
const PLAYERS: &str = "players";

/// Name of the table of lichess game IDs: by number.
const IDS: &str = "ids";

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
