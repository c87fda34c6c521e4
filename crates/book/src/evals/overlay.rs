//! A book combined with evaluations.

use std::sync::Arc;

use shakmaty::{CastlingMode, Chess, Move, Position as _};

use super::EvalTable;
use crate::{Annotation, BookMove, Error, Lookup, MoveEvaluation, MoveGames, Probe, Wanted};
use tabia_notation as notation;

/// A book whose moves get evaluations ([`MoveEvaluation`]) from a table.
pub struct EvaluatedBook {
    book: Arc<dyn Probe + Send + Sync>,
    evaluations: Arc<EvalTable>,
}

impl EvaluatedBook {
    /// Combines a book with evaluations.
    #[must_use]
    pub fn new(book: Arc<dyn Probe + Send + Sync>, evaluations: Arc<EvalTable>) -> EvaluatedBook {
        EvaluatedBook { book, evaluations }
    }
}

impl Probe for EvaluatedBook {
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        self.book.probe(position, wanted, found)?;
        evaluate_moves(&self.evaluations, position, &mut found.moves);
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        self.book.contains(position)
    }

    fn value_of(&self, position: &Chess, mv: Move) -> Option<i32> {
        let mut alone = [BookMove::stored(mv, Annotation::default(), None)];
        evaluate_moves(&self.evaluations, position, &mut alone);
        let [alone] = alone;
        alone.evaluation.map(|known| known.value)
    }

    fn games_of(&self, position: &Chess, entry: &BookMove) -> Result<MoveGames, Error> {
        self.book.games_of(position, entry)
    }

    fn reserve(&self, probes: u64) {
        self.book.reserve(probes);
    }

    fn is_current(&self) -> bool {
        self.book.is_current()
    }
}

/// Evaluates the moves of a position: by the evaluation of the position after each, or
/// else by the move's value in the position's own evaluation. The best known value is the
/// greatest of these and of the other moves in the position's own evaluation; if that has
/// no moves, its own value.
pub fn evaluate_moves(evaluations: &EvalTable, position: &Chess, moves: &mut [BookMove]) {
    let turn = position.turn();
    let here = evaluations.get(position);
    let is_stored = |mv| {
        let mut stored = moves.iter();
        stored.any(|stored| stored.mv.to_uci(CastlingMode::Chess960) == mv)
    };
    let mut best = here.as_ref().and_then(|here| match here.moves.is_empty() {
        true => Some(here.value.clamped(turn)),
        false => {
            let others = here.moves.iter().filter(|known| !is_stored(known.mv));
            others.map(|known| known.value.clamped(turn)).max()
        }
    });
    for entry in moves.iter_mut() {
        let after = notation::after(position, entry.mv);
        let uci = entry.mv.to_uci(CastlingMode::Chess960);
        let known = evaluations
            .get(&after)
            .map(|after| (after.value, after.depth));
        let known = known.or_else(|| {
            let here = here.as_ref()?;
            let known = here.moves.iter().find(|known| known.mv == uci)?;
            Some((known.value, here.depth))
        });
        entry.evaluation = known.map(|(value, depth)| MoveEvaluation {
            value: value.clamped(turn),
            loss: 0,
            depth,
        });
        best = best.max(entry.evaluation.map(|known| known.value));
    }
    for evaluation in moves
        .iter_mut()
        .filter_map(|entry| entry.evaluation.as_mut())
    {
        evaluation.loss = best.map_or(0, |best| best.abs_diff(evaluation.value));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::eval::known;
    use crate::{Book, OpenOptions};
    use tabia_notation::Line;

    #[test]
    fn moves_are_evaluated_for_their_player() {
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let after = |moves: &str| Line::read("", moves).unwrap().last().clone();
        let mut table = EvalTable::default();
        table.add(&after("e4"), &known(30, &[("e7e5", 30), ("c7c5", 45)]));
        table.add(&after("e4 e5"), &known(25, &[]));
        table.add(&after("d4"), &known(10, &[]));
        let book = EvaluatedBook::new(Arc::new(book), Arc::new(table));
        let evaluation = |moves: &str, mv: &str| {
            let mut found = Lookup::default();
            book.probe(&after(moves), Wanted::Stored, &mut found)
                .unwrap();
            let mv = tabia_notation::read_move(&after(moves), mv).unwrap();
            let known = found.moves.iter().find(|known| known.mv == mv).unwrap();
            known
                .evaluation
                .map(|evaluation| (evaluation.value, evaluation.loss))
        };
        assert_eq!(evaluation("", "e4"), Some((30, 0)));
        assert_eq!(evaluation("", "d4"), Some((10, 20)));
        assert_eq!(evaluation("", "c4"), None);
        let e5 = tabia_notation::read_move(&after("e4"), "e5").unwrap();
        assert_eq!(book.value_of(&after("e4"), e5), Some(-25));
        assert_eq!(evaluation("e4", "e5"), Some((-25, 0)));
        assert_eq!(evaluation("e4", "c5"), Some((-45, 20)));
    }

    /// A search of few nodes may end in the middle of an exchange.
    #[test]
    fn a_move_does_not_lose_against_what_was_promised_of_itself() {
        let line = Line::read("", "e4 e5").unwrap();
        let mut table = EvalTable::default();
        table.add(line.start(), &known(464, &[("e2e4", 464), ("a2a3", 40)]));
        let after_e4 = Line::read("", "e4").unwrap();
        table.add(after_e4.last(), &known(25, &[]));
        let mut found = Lookup::default();
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        book.probe(line.start(), Wanted::Stored, &mut found)
            .unwrap();
        let e4 = tabia_notation::read_move(line.start(), "e4").unwrap();
        found.moves.retain(|known| known.mv == e4);
        evaluate_moves(&table, line.start(), &mut found.moves);
        // The best known move, a2a3, is not stored here.
        let evaluation = found
            .moves
            .first()
            .and_then(|entry| entry.evaluation)
            .unwrap();
        assert_eq!((evaluation.value, evaluation.loss), (25, 15));
    }

    #[test]
    fn the_book_reads_only_what_the_caller_wants() {
        #[derive(Default)]
        struct Counting(std::sync::atomic::AtomicU64);

        impl Probe for Counting {
            fn probe(&self, _: &Chess, _: Wanted, _: &mut Lookup) -> Result<(), Error> {
                Ok(())
            }

            fn contains(&self, _: &Chess) -> Result<bool, Error> {
                Ok(false)
            }

            fn reserve(&self, probes: u64) {
                self.0.store(probes, std::sync::atomic::Ordering::Relaxed);
            }

            fn is_current(&self) -> bool {
                true
            }
        }

        let book = Arc::new(Counting::default());
        EvaluatedBook::new(Arc::clone(&book) as _, Arc::new(EvalTable::default())).reserve(7);
        assert_eq!(book.0.load(std::sync::atomic::Ordering::Relaxed), 7);
    }
}
