//! Hashes of positions in canonical form, without the en passant file; cheap to update
//! after a move.
//!
//! The random numbers are internal to the program and never in a file.

use shakmaty::{Bitboard, Chess, Color, File, Move, Position as _, Role, Square};

use crate::ctg::{
    CanonicalBoard, Orientation,
    position::{castling_nibble, rights_nibble},
};
use tabia_notation as notation;

/// Random numbers by the content of a square (pawn 1 to king 6, 8 more for the side that
/// is not to move) and the square; row 0 is for the castling rights.
static NUMBERS: [[u64; 64]; 16] = {
    let mut numbers = [[0; 64]; 16];
    let mut state = 0_u64;
    let mut n = 0;
    while n < 16 * 64 {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[n / 64][n % 64] = word ^ word >> 31;
        n += 1;
    }
    numbers
};

#[inline]
fn number(man: usize, square: u32) -> u64 {
    NUMBERS[man & 15][square as usize & 63]
}

/// The hash of the position of a key.
pub(super) fn of_board(board: &CanonicalBoard) -> u64 {
    let mut hash = number(0, board.castling.into());
    let [b0, b1, b2] = board.role_bits;
    let mut men = board.own | board.other;
    while men != 0 {
        let bit = men.trailing_zeros();
        men &= men - 1;
        let at = |word: u64| (word >> bit & 1) as usize;
        let man = at(b0) | at(b1) << 1 | at(b2) << 2 | at(board.other) << 3;
        // The board is numbered by files, the random numbers by ranks.
        hash ^= number(man, (bit & 7) << 3 | bit >> 3);
    }
    hash
}

/// A position from the view of one side: in canonical form as if that side were to move.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideView {
    side: Color,
    hash: u64,
    /// XOR mask from a square of the board to the canonical one.
    flip: u32,
    castling: u8,
    /// Squares of rooks that kings may castle with, and of the other side's king if it
    /// may castle: moves from and to these squares change the rights.
    castling_squares: Bitboard,
}

impl SideView {
    /// From the view of the side that is not to move, which is to move after the next
    /// move.
    #[inline]
    pub(super) fn before_moves(position: &Chess) -> SideView {
        SideView::from_position(position, !position.turn())
    }

    fn from_position(position: &Chess, side: Color) -> SideView {
        let board = position.board();
        let inverted = side.is_black();
        let castling = castling_nibble(position, inverted).unwrap_or(0);
        let king = board.king_of(side);
        let mirrored = castling == 0 && king.is_some_and(|king| king.file() < File::E);
        let orientation = Orientation { inverted, mirrored };
        let mut hash = number(0, castling.into());
        for role in Role::ALL {
            let men = board.by_role(role);
            for (color, other) in [(side, 0), (!side, 8)] {
                for square in men & board.by_color(color) {
                    hash ^= number(role as usize | other, orientation.apply(square).to_u32());
                }
            }
        }
        let mut castling_squares = position.castles().castling_rights();
        if position.castles().has_color(!side) {
            castling_squares.extend(board.king_of(!side));
        }
        SideView {
            side,
            hash,
            flip: orientation.apply(Square::A1).to_u32(),
            castling,
            castling_squares,
        }
    }

    /// The hash of the position after a legal move.
    #[inline]
    pub(super) fn after(&self, position: &Chess, mv: Move) -> u64 {
        let on = |square: Square| square.to_u32() ^ self.flip;
        let mover = |square, role: Role| number(role as usize | 8, on(square));
        let taken = |square, role: Role| number(role as usize, on(square));
        match mv {
            Move::Normal {
                role,
                from,
                to,
                capture,
                promotion,
            } => {
                let captured = capture.map_or(0, |role| taken(to, role));
                let moved = mover(from, role) ^ mover(to, promotion.unwrap_or(role));
                let hash = self.hash ^ moved ^ captured;
                if !self.castling_squares.contains(from) && !self.castling_squares.contains(to) {
                    return hash;
                }
                let castling = self.castling_after(position, role, from, to);
                // With the last right gone the board may be mirrored.
                if castling == 0 {
                    return of_position(&notation::after(position, mv));
                }
                hash ^ number(0, self.castling.into()) ^ number(0, castling.into())
            }
            Move::EnPassant { from, to } => {
                let captured = Square::from_coords(to.file(), from.rank());
                self.hash
                    ^ mover(from, Role::Pawn)
                    ^ mover(to, Role::Pawn)
                    ^ taken(captured, Role::Pawn)
            }
            _ => of_position(&notation::after(position, mv)),
        }
    }

    /// The castling rights after a move.
    #[cold]
    fn castling_after(&self, position: &Chess, role: Role, from: Square, to: Square) -> u8 {
        let mut rights = position.castles().castling_rights();
        rights.discard(from);
        rights.discard(to);
        if role == Role::King {
            rights &= !Bitboard::from((!self.side).backrank());
        }
        match self.castling {
            0 => 0,
            _ => rights_nibble(rights, self.side.is_black()),
        }
    }
}

/// The hash of a position in any form.
#[inline]
fn of_position(position: &Chess) -> u64 {
    SideView::from_position(position, position.turn()).hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Along random games, a position has the hash of its key, and the incremental update
    /// agrees.
    #[test]
    fn hashes_are_those_of_keys() {
        for position in crate::random::games(7, 40, 80).flatten() {
            let here = SideView::before_moves(&position);
            for mv in position.legal_moves() {
                let after = notation::after(&position, mv);
                assert_eq!(here.after(&position, mv), of_position(&after));
            }
            let key = CanonicalBoard::from_position(&position).unwrap().key();
            let board = CanonicalBoard::from_key(&key).unwrap();
            assert_eq!(of_board(&board), of_position(&position));
        }
    }
}
