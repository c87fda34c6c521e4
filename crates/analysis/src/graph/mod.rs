//! A book as a graph: its positions, the moves between them, their probabilities and
//! values.
//!
//! A node is also the position with colours exchanged, and the mirrored one if nobody may
//! castle: as in ChessBase books, White is to move in every node ([`EvalKey`]). The graph
//! also has the positions after stored moves that are not in the book; their numbers come
//! after the others.
//!
//! * [`BookGraph::from_book`] reads a book;
//! * [`BookGraph::probabilities`] computes how often the play of the adapter, or any other,
//!   reaches each position, and by which line;
//! * [`BookGraph::leaving`] and [`BookGraph::values`] back evaluations up from the ends
//!   of the book to every position ([`tabia_book::eval::solve()`]);
//! * [`BookGraph::extend`] adds moves to it.
//!
//! ```
//! use tabia_analysis::{Watch, evaluate::likeliest_first, graph::BookGraph};
//! use tabia_book::{Book, OpenOptions, policy::Policy};
//!
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
//! let book = Book::open(path, &OpenOptions::default())?;
//! let graph = BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {})?;
//! // Both sides play as the adapter would with the default options.
//! let reached = graph.probabilities_by(&Policy::default());
//! for node in likeliest_first(&graph, &reached).into_iter().take(20) {
//!     let (path, share) = (reached.path(node), reached.probability[node as usize]);
//!     println!("{share:.3}: {}", graph.line(&path.unwrap_or_default()));
//!     assert!(share > 0.01);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod extend;
mod probabilities;
mod values;

pub(crate) use extend::after;
pub use probabilities::Probabilities;
pub(crate) use probabilities::flow;

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use shakmaty::{CastlingMode, Chess, Move, Position as _, Role, Square, uci::UciMove};

use tabia_book::ctg::{CanonicalBoard, Key};
pub use tabia_book::eval::NodeId;
use tabia_book::evals::EvalKey;
use tabia_book::policy::{self, Policy, Weighed};
use tabia_book::{Annotation, BookMove, PositionRecord, Preference};
use tabia_notation as notation;
use tabia_notation::Line;

/// A move of a [`BookGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphMove {
    /// The move on the board of [`BookGraph::position`]; castling is king
    /// takes rook.
    pub mv: UciMove,
    /// The position after it.
    pub to: NodeId,
    pub annotation: Annotation,
    /// The stored weight or priority.
    pub preference: Preference,
}

/// A graph of a book: see the [module](self).
#[derive(Debug, Default)]
pub struct BookGraph {
    nodes: HashMap<EvalKey, NodeId, FxBuildHasher>,
    /// The keys of the positions, one after the other, and the start of each.
    boards: Vec<u8>,
    board_begins: Vec<u32>,
    /// One record for each position in the book; the other positions come after them.
    records: Vec<PositionRecord>,
    moves: Vec<GraphMove>,
    /// The start of each book position's moves, and the end.
    move_begins: Vec<u32>,
}

impl BookGraph {
    /// The number of positions, including those after the ends of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.board_begins.len().saturating_sub(1)
    }

    /// Whether there are no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of positions in the book; these have the first numbers.
    #[must_use]
    pub fn in_book(&self) -> usize {
        self.records.len()
    }

    /// All positions.
    pub fn nodes(&self) -> std::ops::Range<NodeId> {
        0..self.len() as NodeId
    }

    /// The node of a position, on any board of the node.
    #[must_use]
    pub fn node(&self, position: &Chess) -> Option<NodeId> {
        self.nodes.get(&EvalKey::from_position(position)).copied()
    }

    /// Whether there is a position with this key.
    #[must_use]
    pub fn holds(&self, key: EvalKey) -> bool {
        self.nodes.contains_key(&key)
    }

    /// What the book stores about a position; `None` if it is not in the book.
    #[must_use]
    pub fn record(&self, node: NodeId) -> Option<&PositionRecord> {
        self.records.get(node as usize)
    }

    /// The moves of the book from a position.
    #[must_use]
    pub fn moves(&self, node: NodeId) -> &[GraphMove] {
        let node = node as usize;
        let ends = self
            .move_begins
            .get(node)
            .zip(self.move_begins.get(node + 1));
        let range = ends.map(|(begin, end)| *begin as usize..*end as usize);
        range
            .and_then(|range| self.moves.get(range))
            .unwrap_or_default()
    }

    /// The board of a node, with White to move.
    fn board(&self, node: NodeId) -> Option<CanonicalBoard> {
        let begin = *self.board_begins.get(node as usize)? as usize;
        CanonicalBoard::from_key(&Key::from_prefix(self.boards.get(begin..)?)?).ok()
    }

    /// The position, with White to move.
    ///
    /// # Panics
    ///
    /// `node` is of another graph.
    #[must_use]
    #[allow(clippy::expect_used)]
    pub fn position(&self, node: NodeId) -> Chess {
        let board = self.board(node).map(|board| board.to_setup());
        // Damage makes odd positions.
        let position = |setup| notation::position_of(setup, CastlingMode::Standard).ok();
        board.and_then(position).expect("a position of this graph")
    }

    /// The key of the position in tables of evaluations.
    ///
    /// # Panics
    ///
    /// `node` is of another graph.
    #[must_use]
    #[allow(clippy::expect_used)]
    pub fn key(&self, node: NodeId) -> EvalKey {
        let begin = self.board_begins[node as usize] as usize;
        let key = Key::from_prefix(&self.boards[begin..]).expect("a position of this graph");
        EvalKey::from_board_key(&key)
    }

    /// The move from one position to another on the board of a game, where `position` is
    /// the first of them.
    #[must_use]
    pub fn step(&self, position: &Chess, to: NodeId) -> Option<Move> {
        let wanted = self.key(to);
        position.legal_moves().into_iter().find(|mv| {
            let next = notation::after(position, *mv);
            EvalKey::from_position(&next) == wanted
        })
    }

    /// The line through some positions from the start of a game. It ends early if no move
    /// leads to the next one.
    #[must_use]
    pub fn line(&self, path: &[NodeId]) -> Line {
        let mut line = Line::from_start(Chess::default());
        for &to in path {
            match self.step(line.last(), to) {
                Some(mv) => line.push(mv),
                None => break,
            }
        }
        line
    }
}

/// Weighs moves of a graph by the adapter's rules.
#[derive(Default)]
pub(crate) struct Weighing {
    known: Vec<BookMove>,
    verdicts: Vec<Weighed>,
}

impl Weighing {
    /// The probabilities of the moves of a position, in the order of [`BookGraph::moves`].
    pub(crate) fn weigh(&mut self, graph: &BookGraph, node: NodeId, policy: &Policy) -> &[Weighed] {
        // The policy does not look at the moves themselves, so the position need not be
        // made.
        let mv = Move::Put {
            role: Role::Pawn,
            to: Square::A1,
        };
        self.known.clear();
        let known = graph.moves(node).iter().map(|known| BookMove {
            preference: known.preference,
            ..BookMove::stored(mv, known.annotation, graph.record(known.to).copied())
        });
        self.known.extend(known);
        policy::weigh(&self.known, policy, |_| None, &mut self.verdicts);
        &self.verdicts
    }
}

#[cfg(test)]
mod tests;
