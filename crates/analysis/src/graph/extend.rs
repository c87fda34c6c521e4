//! Adds moves to a graph.

use shakmaty::{Chess, uci::UciMove};

use super::{BookGraph, GraphMove, NodeId};
use crate::error::{Error, too_large};
use tabia_book::ctg::CanonicalBoard;
use tabia_book::evals::EvalKey;
use tabia_book::{Annotation, PositionRecord, Preference};
use tabia_notation as notation;

impl BookGraph {
    /// A graph with only the start position.
    #[cfg(test)]
    pub(crate) fn of_start() -> Result<BookGraph, Error> {
        let mut graph = BookGraph::default();
        graph.board_begins.push(0);
        graph.move_begins.push(0);
        if let Some(board) = CanonicalBoard::from_position(&Chess::default()) {
            graph.number(&board.key())?;
        }
        graph.hold_all();
        Ok(graph)
    }

    /// Adds moves, each to its position on the board of [`BookGraph::position`]; castling
    /// is king takes rook. New positions after them get the next numbers, in their order.
    /// Stored and illegal moves are skipped. Afterwards every position counts as stored
    /// in the book.
    ///
    /// Takes the time and memory of a copy of all moves: add many at once.
    ///
    /// # Errors
    ///
    /// There are more than can be numbered.
    pub fn extend(&mut self, new: &[(NodeId, UciMove)]) -> Result<(), Error> {
        let mut added: Vec<(NodeId, GraphMove)> = Vec::new();
        for &(node, mv) in new {
            let position = self.position(node);
            let known = self.moves(node).iter().any(|known| known.mv == mv)
                || added
                    .iter()
                    .any(|(at, known)| *at == node && known.mv == mv);
            let Some(after) = after(&position, mv).filter(|_| !known) else {
                continue;
            };
            let Some(board) = CanonicalBoard::from_position(&after) else {
                continue;
            };
            let key = board.key();
            let to = match self.nodes.get(&EvalKey::from_board_key(&key)) {
                Some(to) => Some(*to),
                None => self.number(&key)?,
            };
            let moved = |to| GraphMove {
                mv,
                to,
                annotation: Annotation::default(),
                preference: Preference::default(),
            };
            added.extend(to.map(|to| (node, moved(to))));
        }
        self.hold_all();
        // Sorted by position; moves of one position keep their order.
        added.sort_by_key(|(node, _)| *node);
        let mut moves = Vec::with_capacity(self.moves.len() + added.len());
        let mut begins = vec![0];
        let mut added = added.into_iter().peekable();
        for node in self.nodes() {
            moves.extend_from_slice(self.moves(node));
            while let Some((_, mv)) = added.next_if(|(at, _)| *at == node) {
                moves.push(mv);
            }
            begins.push(u32::try_from(moves.len()).map_err(too_large)?);
        }
        self.moves = moves;
        self.move_begins = begins;
        Ok(())
    }

    /// Gives every position an entry, even if it is empty.
    fn hold_all(&mut self) {
        let end = self.move_begins.last().copied().unwrap_or(0);
        self.records.resize(self.len(), PositionRecord::default());
        self.move_begins.resize(self.len() + 1, end);
    }
}

/// The position after a move, if it is legal.
pub(crate) fn after(position: &Chess, mv: UciMove) -> Option<Chess> {
    let mv = mv.to_move(position).ok()?;
    let next = notation::after(position, mv);
    Some(next)
}
