//! Evaluations by position.

use std::collections::{HashMap, hash_map::Entry};
use std::hash::{BuildHasher, BuildHasherDefault};

use rustc_hash::FxHasher;
use shakmaty::{Chess, Color, Position as _};

use crate::ctg::{CanonicalBoard, Key, Orientation};
use crate::eval::{Evaluation, MoveValue};
use crate::polyglot;

/// The key of a position, shared by positions of equal value: with colours exchanged,
/// and, if neither side can still castle, with wings exchanged. Counters do not matter; en
/// passant does if the capture is legal. In a book of a million positions two different
/// ones share a key by chance once in ten million books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EvalKey(pub u64);

/// The conversion between a position and its canonical board.
#[derive(Clone, Copy, Debug)]
struct Turned {
    key: EvalKey,
    orientation: Orientation,
    turn: Color,
}

impl Turned {
    fn from_position(position: &Chess) -> Turned {
        let turn = position.turn();
        match CanonicalBoard::from_position(position) {
            Some(board) => Turned {
                key: EvalKey::from_board_key(&board.key()),
                orientation: board.orientation(),
                turn,
            },
            // With castling rights of Chess960 a position has only its own form.
            None => Turned {
                key: EvalKey(polyglot::key(position)),
                orientation: Orientation::default(),
                turn,
            },
        }
    }

    /// Converts an evaluation to the canonical board or back.
    fn turn(self, evaluation: &Evaluation) -> Evaluation {
        let value = |value: crate::eval::Value| match self.turn {
            Color::White => value,
            Color::Black => value.reversed(),
        };
        let moves = evaluation.moves.iter().map(|known| MoveValue {
            mv: self.orientation.apply_to_move(known.mv),
            value: value(known.value),
        });
        Evaluation {
            value: value(evaluation.value),
            moves: moves.collect(),
            ..evaluation.clone()
        }
    }
}

impl EvalKey {
    /// The key of a position.
    #[must_use]
    pub fn from_position(position: &Chess) -> EvalKey {
        Turned::from_position(position).key
    }

    /// The key of a position, from its key in ChessBase books.
    #[must_use]
    pub fn from_board_key(key: &Key) -> EvalKey {
        EvalKey(BuildHasherDefault::<FxHasher>::default().hash_one(key.as_bytes()))
    }
}

/// The best known evaluation of each position.
#[derive(Clone, Debug, Default)]
pub struct EvalTable {
    /// Evaluations on canonical boards, where White is to move.
    by_key: HashMap<EvalKey, Evaluation, BuildHasherDefault<FxHasher>>,
}

impl EvalTable {
    /// The number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether there are no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// The evaluations on canonical boards, where White is to move, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (EvalKey, &Evaluation)> {
        let known = self.by_key.iter();
        known.map(|(key, evaluation)| (*key, evaluation))
    }

    /// Whether a position has an evaluation.
    #[must_use]
    pub fn contains(&self, position: &Chess) -> bool {
        self.by_key.contains_key(&EvalKey::from_position(position))
    }

    /// The evaluation of a canonical board, where White is to move, by its key.
    #[must_use]
    pub fn canonical(&self, key: EvalKey) -> Option<&Evaluation> {
        self.by_key.get(&key)
    }

    /// The evaluation of a position, as seen on its own board.
    #[must_use]
    pub fn get(&self, position: &Chess) -> Option<Evaluation> {
        let turned = Turned::from_position(position);
        self.by_key
            .get(&turned.key)
            .map(|evaluation| turned.turn(evaluation))
    }

    /// Adds an evaluation of a position. If there is one already, the better search gives
    /// the value; values of single moves are merged, those of the better search take
    /// precedence. True if anything is new.
    pub fn add(&mut self, position: &Chess, evaluation: &Evaluation) -> bool {
        self.unite(position, evaluation, Evaluation::is_better_than)
    }

    /// Adds an evaluation of a position and replaces an older value; values of single
    /// moves are merged.
    pub fn replace(&mut self, position: &Chess, evaluation: &Evaluation) {
        self.unite(position, evaluation, |_, _| true);
    }

    fn unite(
        &mut self,
        position: &Chess,
        evaluation: &Evaluation,
        is_better: impl Fn(&Evaluation, &Evaluation) -> bool,
    ) -> bool {
        let turned = Turned::from_position(position);
        let new = turned.turn(evaluation);
        match self.by_key.entry(turned.key) {
            Entry::Vacant(place) => {
                place.insert(new);
                true
            }
            Entry::Occupied(mut place) => {
                let known = place.get_mut();
                let (mut better, worse) = match is_better(&new, known) {
                    true => (new, &*known),
                    false => (known.clone(), &new),
                };
                for other in &worse.moves {
                    if better.moves.iter().all(|entry| entry.mv != other.mv) {
                        better.moves.push(*other);
                    }
                }
                let changed = better != *known;
                *known = better;
                changed
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;
    use crate::eval::known;

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>()
            .unwrap()
            .into_position(CastlingMode::Standard)
            .unwrap()
    }

    fn evaluation(cp: i32, depth: u16, moves: &[(&str, i32)]) -> Evaluation {
        Evaluation {
            depth,
            ..known(cp, moves)
        }
    }

    #[test]
    fn the_same_position_with_colours_exchanged_has_the_opposite_value() {
        let mut table = EvalTable::default();
        let after_e4 = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        table.add(
            &after_e4,
            &evaluation(31, 20, &[("e7e5", 31), ("c7c5", 35)]),
        );
        let turned = position("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        assert_eq!(
            table.get(&turned),
            Some(evaluation(-31, 20, &[("e2e4", -31), ("c2c4", -35)]))
        );
        assert_eq!(table.get(&Chess::default()), None);
    }

    #[test]
    fn wings_are_exchanged_where_nobody_castles() {
        let mut table = EvalTable::default();
        table.add(
            &position("8/8/8/3k4/8/8/P7/K7 w - - 0 1"),
            &evaluation(50, 1, &[("a2a4", 50)]),
        );
        let mirrored = position("8/8/8/4k3/8/8/7P/7K w - - 0 1");
        assert_eq!(
            table.get(&mirrored),
            Some(evaluation(50, 1, &[("h2h4", 50)]))
        );
    }

    #[test]
    fn the_deeper_search_counts_and_moves_are_united() {
        let start = Chess::default();
        let mut table = EvalTable::default();
        assert!(table.add(&start, &evaluation(10, 20, &[("e2e4", 10)])));
        assert!(table.add(&start, &evaluation(99, 5, &[("e2e4", 99), ("a2a3", -9)])));
        assert!(!table.add(&start, &evaluation(98, 4, &[("e2e4", 98)])));
        let united = evaluation(10, 20, &[("e2e4", 10), ("a2a3", -9)]);
        assert_eq!(table.get(&start), Some(united));
        assert_eq!(table.len(), 1);
    }
}
