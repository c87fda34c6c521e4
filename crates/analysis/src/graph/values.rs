//! What the positions of a book are worth.

use shakmaty::Color;

use super::{BookGraph, NodeId};
use tabia_book::eval::{self, GraphBuilder};
use tabia_book::evals::EvalTable;

impl BookGraph {
    /// What it is worth to the side to move to leave the book at each
    /// position, in centipawns within ten pawns; `None` where it is unknown.
    ///
    /// That is the best known value of a move that is not in the book. Where
    /// the best known move is in the book and no other is known, leaving has
    /// no value. Two gaps are filled from what is known: a position without an
    /// evaluation has the value that the evaluation of a position before it
    /// gives to the move there; and one whose evaluation names no move has
    /// its value for leaving, unless every move of the book there leads to
    /// evaluated positions. No move is worth more than the position itself: a
    /// value of a move that says so comes from a search that was shorter.
    #[must_use]
    pub fn leaving(&self, evaluations: &EvalTable) -> Vec<Option<i32>> {
        let known: Vec<_> = self
            .nodes()
            .map(|node| evaluations.canonical(self.key(node)))
            .collect();
        // White is to move on every board here.
        let worth = |value: eval::Value| value.clamped(Color::White);
        let mut leaving: Vec<Option<i32>> = vec![None; self.len()];
        for node in self.nodes() {
            let moves = self.moves(node);
            let Some(evaluation) = known[node as usize] else {
                continue;
            };
            let mut best = None;
            for known_move in &evaluation.moves {
                let of_book = moves.iter().find(|mv| mv.mv == known_move.mv);
                match of_book {
                    None => best = best.max(Some(worth(known_move.value))),
                    Some(mv) if known[mv.to as usize].is_none() => {
                        // The least that a move into it leaves its player.
                        let place = &mut leaving[mv.to as usize];
                        let value = -worth(known_move.value);
                        *place = Some(place.map_or(value, |other| other.max(value)));
                    }
                    Some(_) => {}
                }
            }
            let open = || moves.iter().any(|mv| known[mv.to as usize].is_none());
            if moves.is_empty() || (evaluation.moves.is_empty() && open()) {
                best = Some(worth(evaluation.value));
            }
            leaving[node as usize] = best.map(|best| best.min(worth(evaluation.value)));
        }
        leaving
    }

    /// The value of every position in centipawns within ten pawns for its
    /// side to move, right with transpositions and repetitions; `None` where
    /// nothing is known. `leaving` is as by [`BookGraph::leaving`].
    #[must_use]
    pub fn values(&self, leaving: &[Option<i32>]) -> Vec<Option<i32>> {
        self.values_given(leaving, |_| None)
    }

    /// The same where some positions have the value `given`, whatever follows
    /// them in the book.
    #[must_use]
    pub(crate) fn values_given(
        &self,
        leaving: &[Option<i32>],
        given: impl Fn(NodeId) -> Option<i32>,
    ) -> Vec<Option<i32>> {
        let mut builder = GraphBuilder::default();
        let mut is_given = vec![false; self.len()];
        for node in self.nodes() {
            let value = given(node);
            is_given[node as usize] = value.is_some();
            builder.add(value.or(leaving.get(node as usize).copied().flatten()));
        }
        for node in self.nodes().filter(|node| !is_given[*node as usize]) {
            for mv in self.moves(node) {
                builder.connect(node, mv.to);
            }
        }
        eval::solve(&builder.finish())
    }

    /// Whether a move of the book is the best that is known of a position:
    /// what leaving there is worth has to be asked for.
    #[must_use]
    pub fn leaving_is_unknown(&self, node: NodeId, evaluations: &EvalTable) -> bool {
        let Some(evaluation) = evaluations.canonical(self.key(node)) else {
            return false;
        };
        let moves = self.moves(node);
        let of_book = |known: &eval::MoveValue| moves.iter().any(|mv| mv.mv == known.mv);
        !moves.is_empty() && evaluation.moves.iter().all(of_book)
    }
}
