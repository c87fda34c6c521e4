//! A book as a graph: its positions, the moves between them, how likely each
//! is, and what each is worth.
//!
//! A position stands for the one with colours exchanged too, and for the
//! mirrored one where nobody may castle: as in the books themselves, White is
//! to move in every one ([`EvalKey`]). Positions after stored moves that the
//! book does not hold are part of the graph, after those that it holds.
//!
//! * [`BookGraph::of`] reads a book;
//! * [`BookGraph::reach`] says how often the adapter's own play, or any other,
//!   comes to each position, and by which line;
//! * [`BookGraph::leaving`] and [`BookGraph::values`] carry evaluations from
//!   the ends of the book to every position ([`tabia_book::eval::solve()`]);
//! * [`BookGraph::extend`] adds moves to it.

mod build;
mod extend;
mod reach;
mod values;

pub(crate) use extend::after;
pub use reach::Reach;
pub(crate) use reach::flow;

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
    /// Its annotation.
    pub annotation: Annotation,
    /// What the book says beside its statistics.
    pub preference: Preference,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub struct BookGraph {
    nodes: HashMap<EvalKey, NodeId, FxBuildHasher>,
    /// Keys of the positions one after the other, and where each begins.
    boards: Vec<u8>,
    board_begins: Vec<u32>,
    /// Of the positions that the book holds; the others come after them.
    records: Vec<PositionRecord>,
    moves: Vec<GraphMove>,
    /// One more than positions that the book holds.
    move_begins: Vec<u32>,
}

impl BookGraph {
    /// How many positions there are, those after the ends of lines included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.board_begins.len().saturating_sub(1)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them the book holds: the first so many.
    #[must_use]
    pub fn in_book(&self) -> usize {
        self.records.len()
    }

    /// All positions.
    pub fn nodes(&self) -> std::ops::Range<NodeId> {
        0..self.len() as NodeId
    }

    /// The node of a position on any board that it stands for.
    #[must_use]
    pub fn node(&self, position: &Chess) -> Option<NodeId> {
        self.nodes.get(&EvalKey::of(position)).copied()
    }

    /// Whether there is a position of this key.
    #[must_use]
    pub fn holds(&self, key: EvalKey) -> bool {
        self.nodes.contains_key(&key)
    }

    /// What the book stores about a position; `None` if it does not hold it.
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

    /// Its board, with White to move.
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
        let position = board.and_then(|setup| setup.position(CastlingMode::Standard).ok());
        position.expect("a position of this graph")
    }

    /// What stands for the position in tables of evaluations.
    ///
    /// # Panics
    ///
    /// `node` is of another graph.
    #[must_use]
    #[allow(clippy::expect_used)]
    pub fn key(&self, node: NodeId) -> EvalKey {
        let begin = self.board_begins[node as usize] as usize;
        let key = Key::from_prefix(&self.boards[begin..]).expect("a position of this graph");
        EvalKey::of_board(&key)
    }

    /// The moves of a position as the adapter plays them, in the order of
    /// [`BookGraph::moves`].
    #[must_use]
    pub fn weighed(&self, node: NodeId, policy: &Policy) -> Vec<Weighed> {
        // The policy asks what the book says of moves, not which they are: the
        // position need not be made.
        let mv = Move::Put {
            role: Role::Pawn,
            to: Square::A1,
        };
        let known = self.moves(node).iter().map(|known| BookMove {
            preference: known.preference,
            ..BookMove::stored(mv, known.annotation, self.record(known.to).copied())
        });
        let known: Vec<BookMove> = known.collect();
        let mut verdicts = Vec::new();
        policy::weigh(&known, policy, |_| None, &mut verdicts);
        verdicts
    }

    /// The move from one position to another on the board of a game, where
    /// `position` is the first of them.
    #[must_use]
    pub fn step(&self, position: &Chess, to: NodeId) -> Option<Move> {
        let wanted = self.key(to);
        position.legal_moves().into_iter().find(|mv| {
            let next = notation::after(position, *mv);
            EvalKey::of(&next) == wanted
        })
    }

    /// The line through some positions from the start of a game. It ends
    /// early where no move leads to the next one.
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

#[cfg(test)]
mod tests;
