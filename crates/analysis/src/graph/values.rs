//! Values of the positions of a book.

use shakmaty::Color;

use super::{BookGraph, NodeId};
use tabia_book::eval::{self, Evaluation, GraphBuilder};
use tabia_book::evals::EvalTable;

impl BookGraph {
    /// The evaluation of each position.
    pub(crate) fn known<'t>(&self, evaluations: &'t EvalTable) -> Vec<Option<&'t Evaluation>> {
        let mut known = vec![None; self.len()];
        for (key, evaluation) in evaluations.iter() {
            if let Some(node) = self.nodes.get(&key) {
                known[*node as usize] = Some(evaluation);
            }
        }
        known
    }

    /// The value of leaving the book at each position, in centipawns within ten pawns for
    /// the side to move; `None` if unknown.
    ///
    /// It is the best known value of a move that is not in the book; none if only book
    /// moves have known values. Two gaps are filled: a position without an evaluation
    /// gets the value that the evaluation of a position before it gives to the move
    /// there; and one whose evaluation names no move has its value for leaving, unless
    /// every book move there leads to evaluated positions. A move cannot be better than
    /// its position: a greater value comes from a shorter search, and is limited.
    #[must_use]
    pub fn leaving(&self, evaluations: &EvalTable) -> Vec<Option<i32>> {
        let known = self.known(evaluations);
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
                let of_book = moves.iter().find(|entry| entry.mv == known_move.mv);
                match of_book {
                    None => best = best.max(Some(worth(known_move.value))),
                    Some(mv) if known[mv.to as usize].is_none() => {
                        // The lowest value that a move into it has for its player.
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

    /// The value of every position in centipawns within ten pawns for its side to move,
    /// correct with transpositions and repetitions; `None` if unknown. `leaving` is that
    /// of [`BookGraph::leaving`].
    #[must_use]
    pub fn values(&self, leaving: &[Option<i32>]) -> Vec<Option<i32>> {
        self.values_given(leaving, |_| None)
    }

    /// As [`BookGraph::values`], with `given` values for some positions, whatever follows
    /// them in the book.
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

    /// Whether the best known move of a position is in the book: then the value of
    /// leaving must be searched separately.
    #[must_use]
    pub fn leaving_is_unknown(&self, node: NodeId, evaluations: &EvalTable) -> bool {
        let Some(evaluation) = evaluations.canonical(self.key(node)) else {
            return false;
        };
        let moves = self.moves(node);
        let of_book = |known: &eval::MoveValue| moves.iter().any(|entry| entry.mv == known.mv);
        !moves.is_empty() && evaluation.moves.iter().all(of_book)
    }
}
