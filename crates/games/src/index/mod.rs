//! Games by position: what an opening explorer answers from.
//!
//! ```text
//! sources -> games -> workers: moves -> sorted runs -> rows -> GAMES.tgx
//!                        |                                       |
//!                        +-> the games themselves, packed -------+
//!                                                                |
//!          answer <- sums over what is wanted <- rows <- lookup -+
//! ```
//!
//! A game is one record a ply: position, move, and what counts about the game
//! ([`Facts`](crate::tgx::Facts)). They are sorted within the memory that is allowed
//! and added up to [`Row`]s: a move in a position, for the games of one month (or
//! year), speed and rating group, with their results, the sums of their ratings, and
//! the best and newest of them by number. The games are stored in the same file,
//! headers and all moves, so that an index is a source of games like any other: books
//! are built from it, filtered anew, without the files it was made from.
//!
//! What is added later ([`make::IndexJob::append`]) is a separate segment; an answer
//! is the sum over all. So adding a month costs what that month costs.
//!
//! [`make::run`] makes, [`GamesIndex`] reads, [`GameSelection`] decides which games
//! are wanted, and [`ask`] gives the sums: without any HTTP, which is `explore`'s.

pub mod ask;
mod bucket;
mod compact;
mod count;
pub mod make;
mod open;
mod partitions;
mod parts;
mod player;
mod players;
mod position;
mod posting;
mod row;
mod rows;
mod selection;
mod table;

pub use bucket::Bucket;
pub use compact::{Compacted, compact};
pub use count::key;
pub use open::{FoundGame, GamesIndex};
pub use player::{Player, each_game};
pub use players::players;
pub use row::{Counts, GameRef, IndexedMove, RECENT_GAMES, Row, TOP_GAMES};
pub use selection::GameSelection;

/// The table of positions: by [`key`], rows.
const POSITIONS: &str = "positions";

/// The table of players: by name and colour, numbers of games.
const PLAYERS: &str = "players";

/// The table of names that games have on lichess, which is by number.
const IDS: &str = "ids";
