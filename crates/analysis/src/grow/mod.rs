//! Growing books: drop-out expansion.
//!
//! A book ends where games leave its lines. Growing finds, again and again, where that is
//! most probable between players who avoid mistakes, and adds the engine's best move
//! there.
//!
//! Every way from the start position has a cost, in hundredths of a ply: each move costs
//! [`Costs::ply`], plus its loss against the best known move times [`Costs::own`] if the
//! book's own side plays it, or times [`Costs::other`] for the opponent. So lines grow
//! deep where both sides play well, not at all after an own mistake, and less deep after
//! mistakes of the opponent. Leaving the book by the best move outside it has a cost in
//! the same way; the cheapest such move is added. (T. Lincke, Strategies for the
//! Automatic Construction of Opening Books, CG 2000; the form and the constants are those
//! of Texel's book builder.) With games for the opponent's replies (a book, or an index)
//! their cost depends on their probability instead: [`Costs::ply`] for each halving.
//!
//! With roots ([`Root`]) only these and positions after them grow, and ways begin there.
//!
//! Values are those backed up from the ends to every position, so a new move that turns
//! out badly makes its line more expensive at once.
//!
//! # Resuming
//!
//! Growing is a function of the book and of the engine's answers, and every answer is
//! written at once to a file beside the new book. A second run takes existing answers
//! from the file and asks only new questions. Positions are chosen in rounds whose size
//! depends on the book alone; so neither the number of engines nor their order changes
//! the result.

mod frontier;
mod region;
mod replies;
mod work;
mod write;

use std::time::Instant;

use shakmaty::{Chess, Color, uci::UciMove};

use crate::graph::NodeId;
use tabia_engine::AnalystError;

pub use region::Root;
pub use replies::MoveFrequencies;
pub use work::{grow, take_over};
pub use write::write_grown;

/// The costs of ways, in hundredths of a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// Cost of a move.
    pub ply: u32,
    /// Cost of a centipawn that the book's own side loses.
    pub own: u32,
    /// Cost of a centipawn that its opponent loses.
    pub other: u32,
}

impl Default for Costs {
    /// The costs of Texel (`bookbuild`).
    fn default() -> Costs {
        Costs {
            ply: 100,
            own: 200,
            other: 50,
        }
    }
}

/// Options of growing: the kind of book, and the limits.
#[non_exhaustive]
pub struct GrowOptions<'a> {
    /// The side of the book; `None` for both: positions are then chosen alternately for
    /// White and Black.
    pub side: Option<Color>,
    pub costs: Costs,
    /// What opponents play.
    pub replies: Option<&'a dyn MoveFrequencies>,
    /// Highest number of new positions.
    pub positions: u64,
    /// The time to end.
    pub until: Option<Instant>,
    /// Highest cost of a way.
    pub max_cost: Option<u64>,
    /// Highest number of plies from the start position.
    pub max_ply: u32,
    /// Only these positions and those after them grow, and costs count from there; roots
    /// that are not in the book are skipped.
    pub roots: Vec<Root>,
}

impl GrowOptions<'_> {
    /// Up to this many new positions for both sides, anywhere in the first 80 plies.
    #[must_use]
    pub fn new(positions: u64) -> Self {
        GrowOptions {
            side: None,
            costs: Costs::default(),
            replies: None,
            positions,
            until: None,
            max_cost: None,
            max_ply: 80,
            roots: vec![Root::new(Chess::default(), 0)],
        }
    }
}

/// The result of growing.
#[derive(Debug, Default)]
pub struct Grown {
    /// New moves, in the order in which they were added, each with its position in the
    /// graph.
    pub moves: Vec<(NodeId, UciMove)>,
    /// New positions.
    pub positions: u64,
    /// Searches made in this run; answers from the file do not count.
    pub searches: u64,
    /// Cost of the last new move.
    pub cost: u64,
    /// Number of positions that the engine did not answer.
    pub failed: u64,
    /// The first of these, and the fault.
    pub first_fault: Option<(Chess, AnalystError)>,
    /// Engines that were started again.
    pub restarts: u64,
    /// Why it ended.
    pub end: End,
}

/// Why growing ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The number of new positions was reached.
    #[default]
    Positions,
    /// The time was over.
    Time,
    /// All remaining candidates cost too much, are too deep, are decided, or cannot be
    /// searched.
    Exhausted,
}
