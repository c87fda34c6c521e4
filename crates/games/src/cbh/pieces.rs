//! The numbers of pieces ("rook 2") on which the compact encoding depends.
//!
//! Each side has three numbers for queens, rooks, bishops and knights each, and eight
//! for pawns. A piece keeps its number while it moves. The number of a captured piece
//! passes to the next one, but a fourth piece, which has none, never gets one; a
//! captured or promoted pawn leaves a gap. A promoted piece takes the first free
//! number, if there is one.

use shakmaty::{Board, ByColor, ByRole, CastlingSide, Color, Move, Role, Square};

use crate::directions::square;

/// The squares of the numbered pieces of both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces(ByColor<Side>);

#[derive(Clone, Copy, Debug, Default)]
struct Side(ByRole<[Option<Square>; 8]>);

/// How many pieces of a kind have numbers; the king needs none.
const fn most(role: Role) -> usize {
    match role {
        Role::King => 0,
        Role::Pawn => 8,
        _ => 3,
    }
}

impl Side {
    /// The numbers of a kind of piece.
    fn slots(&self, role: Role) -> &[Option<Square>] {
        self.0.get(role).get(..most(role)).unwrap_or_default()
    }

    fn slots_mut(&mut self, role: Role) -> &mut [Option<Square>] {
        let slots = self.0.get_mut(role);
        slots.get_mut(..most(role)).unwrap_or_default()
    }

    fn add(&mut self, role: Role, square: Square) {
        if let Some(free) = self.slots_mut(role).iter_mut().find(|slot| slot.is_none()) {
            *free = Some(square);
        }
    }

    fn shift(&mut self, role: Role, from: Square, to: Square) {
        let mut slots = self.slots_mut(role).iter_mut();
        if let Some(slot) = slots.find(|slot| **slot == Some(from)) {
            *slot = Some(to);
        }
    }

    fn remove(&mut self, role: Role, square: Square) {
        let slots = self.slots_mut(role);
        let Some(at) = slots.iter().position(|slot| *slot == Some(square)) else {
            return;
        };
        let rest = slots.get_mut(at..).unwrap_or_default();
        if let Some(gone) = rest.first_mut() {
            *gone = None;
        }
        if role != Role::Pawn {
            rest.rotate_left(1);
        }
    }
}

impl Pieces {
    /// Numbers the pieces of a first position: file by file from a1, or backwards from
    /// h8.
    pub(super) fn new(board: &Board, reversed: bool) -> Pieces {
        let mut sides = ByColor::<Side>::default();
        for index in 0..64 {
            let square = square(if reversed { 63 - index } else { index });
            if let Some(piece) = board.piece_at(square) {
                sides.get_mut(piece.color).add(piece.role, square);
            }
        }
        Pieces(sides)
    }

    /// The square of a piece, by its number from 0.
    pub(super) fn find(&self, turn: Color, role: Role, number: u8) -> Option<Square> {
        let slots = self.0.get(turn).slots(role);
        slots.get(usize::from(number)).copied().flatten()
    }

    /// The piece of its kind without a number, if there is exactly one.
    pub(super) fn only_other(&self, board: &Board, turn: Color, role: Role) -> Option<Square> {
        let own = board.by_color(turn) & board.by_role(role);
        let numbered = self.0.get(turn).slots(role);
        let mut others = own
            .into_iter()
            .filter(|square| !numbered.contains(&Some(*square)));
        others.next().filter(|_| others.next().is_none())
    }

    /// Updates the numbers after a move of `turn`.
    pub(super) fn play(&mut self, turn: Color, m: Move) {
        match m {
            Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            } => {
                if let Some(taken) = capture {
                    self.0.get_mut(!turn).remove(taken, to);
                }
                let own = self.0.get_mut(turn);
                match promotion {
                    Some(new) => {
                        own.remove(role, from);
                        own.add(new, to);
                    }
                    None => own.shift(role, from, to),
                }
            }
            Move::EnPassant { from, to } => {
                let taken = Square::from_coords(to.file(), from.rank());
                self.0.get_mut(!turn).remove(Role::Pawn, taken);
                self.0.get_mut(turn).shift(Role::Pawn, from, to);
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king.file() < rook.file());
                let to = Square::from_coords(side.rook_to_file(), rook.rank());
                self.0.get_mut(turn).shift(Role::Rook, rook, to);
            }
            Move::Put { .. } => {}
        }
    }
}
