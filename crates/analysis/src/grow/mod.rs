//! Books that grow: drop-out expansion.
//!
//! A book ends where its lines are dropped out of. Growing it asks, again and
//! again, where that is likeliest between players who mean well, and adds the
//! engine's best move there.
//!
//! Every way from the start position has a cost, in hundredths of a ply: each
//! move costs [`Costs::ply`] and what it loses against the best that is known,
//! times [`Costs::own`] where the book's own side plays it, [`Costs::other`]
//! for its opponent's. So lines grow deep where both sides play well, not at
//! all after an own mistake, and shallow after mistakes of the opponent.
//! Leaving the book by the best move that is not in it costs the same way;
//! the cheapest such move is added. (T. Lincke, Strategies for the Automatic
//! Construction of Opening Books, CG 2000; the form and the constants are those
//! of Texel's book builder.) With games for the opponent's replies
//! (a book, or an index) these cost how unlikely they are instead: [`Costs::ply`] for each halving.
//!
//! With roots ([`Root`]) only what is at or below them grows, and ways begin there.
//!
//! Values are those backed up from the ends to every position, so that
//! a new move that turns out badly makes its line dearer at once.
//!
//! # Resuming
//!
//! Growing is a function of the book and of what the engine says, and all that
//! it says is written beside the new book as soon as it is known. Run again, it
//! takes every answer that is there from the file and asks only what is new.
//! Positions are chosen many at a time, by the size of the book alone; so
//! neither the number of engines nor their order changes what grows.

mod frontier;
mod region;
mod replies;
mod work;
mod write;

use std::time::Instant;

use shakmaty::{Chess, Color, uci::UciMove};

use crate::graph::NodeId;
use tabia_uci::process::AnalystError;

pub use region::Root;
pub use replies::Played;
pub use work::{grow, take_over};
pub use write::write_grown;

/// What ways cost, in hundredths of a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A move.
    pub ply: u32,
    /// A centipawn that the book's own side loses.
    pub own: u32,
    /// A centipawn that its opponent loses.
    pub other: u32,
}

impl Default for Costs {
    /// Those of Texel (`bookbuild`).
    fn default() -> Costs {
        Costs {
            ply: 100,
            own: 200,
            other: 50,
        }
    }
}

/// Which books grow where, and when it is enough.
pub struct GrowOptions<'a> {
    /// Whose book it is; of both sides without one: every other position is
    /// then chosen for White, every other for Black.
    pub side: Option<Color>,
    /// What ways cost.
    pub costs: Costs,
    /// What opponents play.
    pub replies: Option<&'a dyn Played>,
    /// New positions at the most.
    pub positions: u64,
    /// When to end.
    pub until: Option<Instant>,
    /// What the dearest way may cost.
    pub max_cost: Option<u64>,
    /// Plies from the start position at the most.
    pub max_ply: u32,
    /// Only positions at or below these grow, and ways are paid from there;
    /// those that the book does not hold are passed over.
    pub roots: Vec<Root>,
}

/// What has grown.
#[derive(Debug, Default)]
pub struct Grown {
    /// New moves, in the order in which they came, each with the position of
    /// the graph that it is played in.
    pub moves: Vec<(NodeId, UciMove)>,
    /// New positions.
    pub positions: u64,
    /// Searches that it took now; what was in the file took none.
    pub searches: u64,
    /// What the last new move cost.
    pub cost: u64,
    /// Positions about which the engine did not answer; the first of them.
    pub failed: u64,
    /// The first of these.
    pub first_fault: Option<(Chess, AnalystError)>,
    /// Engines that were started again.
    pub restarts: u64,
    /// Why it ended.
    pub end: End,
}

/// Why growing ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// There are as many new positions as were wanted.
    #[default]
    Positions,
    /// The time was over.
    Time,
    /// All that is left costs too much, lies too deep, is decided, or cannot
    /// be asked about.
    Exhausted,
}
