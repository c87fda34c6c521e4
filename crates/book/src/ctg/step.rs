//! The board after a stored move, straight from the board before it: for passes over whole
//! books, where setting a position up and listing its legal moves takes most of the time.
//!
//! Bit `8 * file + rank` of a word is a square. That is shakmaty's board with files and
//! ranks exchanged, on which all men but pawns move as on the usual one.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::{
    CanonicalBoard, Orientation, graph::ahead::CASTLING_SQUARES, move_table::MoveCode, moves,
    position::bit_of_square,
};
#[cfg(feature = "json")]
use crate::polyglot::PackedMove;

/// What [`CanonicalBoard::after`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The move is legal and leads to this board, in canonical form.
    To(CanonicalBoard),
    /// The byte is not a legal move.
    Illegal,
    /// Castling, captures en passant and moves after which one may be possible, and the byte
    /// of two meanings: these need the rules of chess.
    Unclear,
}

/// The second rank.
const SECOND: u64 = 0x0202_0202_0202_0202;
/// The last rank.
const LAST: u64 = 0x8080_8080_8080_8080;

impl CanonicalBoard {
    /// The board after a move of a legal position that was decoded from a key.
    pub(super) fn after(&self, byte: u8) -> Step {
        let Some(code) = moves::decode(byte) else {
            return Step::Illegal;
        };
        if code.castling().is_some() || moves::has_two_meanings(code) {
            return Step::Unclear;
        }
        let Some(man) = self.own_man(code.role, code.number) else {
            return Step::Illegal;
        };
        let (from, to) = (
            1 << bit_of_square(man),
            1 << bit_of_square(code.target(man)),
        );
        match self.is_pseudo_legal(code, from, to) {
            Some(true) if to & self.own == 0 => {}
            Some(_) => return Step::Illegal,
            None => return Step::Unclear,
        }
        let role = match code.role {
            Role::Pawn if to & LAST != 0 => Role::Queen,
            role => role,
        };
        let mut after = *self;
        after.own = self.own & !from | to;
        after.other = self.other & !to;
        for (n, word) in after.role_bits.iter_mut().enumerate() {
            *word &= !(from | to);
            *word |= if role as u64 >> n & 1 != 0 { to } else { 0 };
        }
        if after.is_in_check() {
            return Step::Illegal;
        }
        for (square, rights) in CASTLING_SQUARES {
            if (from | to) & square != 0 {
                after.castling &= !rights;
            }
        }
        Step::To(after.turned())
    }

    /// The squares of a move, if it is legal; `None` if only the rules of chess can say. The
    /// position [is surely ordinary](Self::is_surely_ordinary).
    #[cfg(feature = "json")]
    pub(crate) fn legal_squares(&self, byte: u8) -> Option<Option<PackedMove>> {
        match self.after(byte) {
            Step::To(_) => Some(self.squares_of(byte)),
            Step::Illegal => Some(None),
            Step::Unclear => None,
        }
    }

    /// Whether it is surely a position that shakmaty accepts without an exception: readers of
    /// books also accept an impossible check and too many men.
    #[cfg(feature = "json")]
    pub(crate) fn is_surely_ordinary(&self) -> bool {
        const DARK: u64 = 0xaa55_aa55_aa55_aa55;
        let has_men_of_a_game = |men: u64| {
            let roles = self.roles().map(|role| role & men);
            let most = |men: u64, most| men.count_ones() <= most;
            most(roles.pawn, 8)
                && most(roles.knight, 2)
                && most(roles.bishop & DARK, 1)
                && most(roles.bishop & !DARK, 1)
                && most(roles.rook, 2)
                && most(roles.queen, 1)
        };
        self.is_surely_legal()
            && !self.is_in_check()
            && has_men_of_a_game(self.own)
            && has_men_of_a_game(self.other)
    }

    /// Whether the man goes there, whatever it does to the own king; `None` if the position
    /// before the move, or the one after it, has to do with captures en passant.
    fn is_pseudo_legal(&self, code: MoveCode, from: u64, to: u64) -> Option<bool> {
        let occupied = self.own | self.other;
        if code.role != Role::Pawn {
            let square = Square::new(from.trailing_zeros());
            let squares = match code.role {
                Role::Knight => attacks::knight_attacks(square),
                Role::Bishop => attacks::bishop_attacks(square, Bitboard(occupied)),
                Role::Rook => attacks::rook_attacks(square, Bitboard(occupied)),
                Role::Queen => attacks::queen_attacks(square, Bitboard(occupied)),
                _ => attacks::king_attacks(square),
            };
            return Some(squares.0 & to != 0);
        }
        match (code.forward, code.right) {
            // A torus: a pawn of the last rank would go back to the first one.
            _ if from & LAST != 0 => Some(false),
            (1, 0) => Some(to & occupied == 0),
            (2, 0) => {
                let free = from & SECOND != 0 && (to | from << 1) & occupied == 0;
                let beside = to << 8 | to >> 8;
                let others = beside & self.other & self.roles().pawn;
                (!free || others == 0).then_some(free)
            }
            (1, 1) if to != from << 9 => Some(false),
            (1, -1) if to != from >> 7 => Some(false),
            (1, 1 | -1) if to & occupied == 0 => match self.en_passant {
                Some(_) => None,
                None => Some(false),
            },
            (1, 1 | -1) => Some(true),
            _ => Some(false),
        }
    }

    /// Whether the own king is attacked.
    fn is_in_check(&self) -> bool {
        let king = self.roles().king & self.own;
        // Pawns of the second rank would be a king's of the last one.
        let pawns = if king & LAST != 0 {
            0
        } else {
            king << 9 | king >> 7
        };
        self.is_attacked(king, pawns, self.other)
    }

    /// Whether it is surely a position of chess that readers look for in this form, with
    /// White to move and no capture en passant.
    pub(super) fn is_surely_legal(&self) -> bool {
        const FIRST: u64 = 0x0101_0101_0101_0101;
        let roles = self.roles();
        let king = roles.king & self.other;
        let pawns = if king & FIRST != 0 {
            0
        } else {
            king << 7 | king >> 9
        };
        let rooks_of = |men: u64, right: u8, rook: u64| {
            self.castling & right == 0 || roles.rook & men & rook != 0
        };
        let kings_of = |men: u64, rights: u8, king: u64| {
            self.castling & rights == 0 || roles.king & men & king != 0
        };
        self.en_passant.is_none()
            && roles.pawn & (FIRST | LAST) == 0
            && rooks_of(self.own, 1, 1)
            && rooks_of(self.own, 2, 1 << 56)
            && kings_of(self.own, 3, 1 << 32)
            && rooks_of(self.other, 4, 1 << 7)
            && rooks_of(self.other, 8, 1 << 63)
            && kings_of(self.other, 12, 1 << 39)
            && self.is_normal()
            && !self.is_attacked(king, pawns, self.own)
    }

    /// Whether men of a side attack the king of the other; `pawns` are the squares of pawns
    /// that would.
    fn is_attacked(&self, king: u64, pawns: u64, men: u64) -> bool {
        let roles = self.roles().map(|role| role & men);
        let square = Square::new(king.trailing_zeros() & 63);
        let occupied = Bitboard(self.own | self.other);
        let straight = roles.rook | roles.queen;
        let oblique = roles.bishop | roles.queen;
        pawns & roles.pawn != 0
            || attacks::knight_attacks(square).0 & roles.knight != 0
            || attacks::king_attacks(square).0 & roles.king != 0
            || attacks::rook_attacks(square, occupied).0 & straight != 0
            || attacks::bishop_attacks(square, occupied).0 & oblique != 0
    }

    /// The same position with the other side to move, in canonical form; its orientation is
    /// that against this board.
    pub(super) fn turned(&self) -> CanonicalBoard {
        // Ranks are bits of a byte.
        let ranks = |word: u64| word.reverse_bits().swap_bytes();
        let castling = self.castling << 2 & 12 | self.castling >> 2 & 3;
        let [b0, b1, b2] = self.role_bits;
        // The new own king is on one of the files a to d.
        let mirrored = castling == 0 && b1 & b2 & self.other & 0xffff_ffff != 0;
        let turn = |word: u64| match mirrored {
            true => word.reverse_bits(),
            false => ranks(word),
        };
        CanonicalBoard {
            own: turn(self.other),
            other: turn(self.own),
            role_bits: [b0, b1, b2].map(turn),
            castling,
            en_passant: None,
            pinned_en_passant: None,
            orientation: Orientation {
                inverted: true,
                mirrored,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen};

    use super::*;

    /// All bytes in all positions of random games, and in some that games seldom reach: a
    /// step is the move that the byte means, or leaves that to the rules of chess.
    #[test]
    fn a_step_is_the_move_of_the_byte() {
        let others = [
            // Promotions, pins, a check, queens that go around the torus.
            "3r1rk1/2P1P3/8/8/8/8/4Q3/Q3K2Q w - - 0 1",
            "4k3/8/8/8/1b5q/2N3P1/3P1P2/R3K2R w KQ - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/8/8/KPpP3r/8/8/8/4k3 w - c6 0 2",
            "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2",
            "4k3/8/8/8/3p1p2/8/4P3/4K3 w - - 0 1",
            "k7/8/8/8/8/8/1r6/K7 w - - 0 1",
        ];
        let mut seen = [0_u32; 3];
        for fen in others {
            let position: Chess = fen
                .parse::<Fen>()
                .unwrap()
                .into_position(CastlingMode::Standard)
                .unwrap();
            compare(&position, &mut seen);
        }
        for position in crate::random::games(1, 60, 90).flatten() {
            compare(&position, &mut seen);
        }
        let [to, illegal, unclear] = seen;
        assert!(
            to > 50_000 && illegal > 500_000 && unclear < to / 5,
            "{seen:?}"
        );
    }

    fn compare(position: &Chess, seen: &mut [u32; 3]) {
        let key = CanonicalBoard::from_position(position).unwrap().key();
        let (board, position) = crate::position_of(&key).unwrap();
        let legal = position.legal_moves();
        for byte in 0..=255 {
            let found = moves::find(byte, &board, &legal).ok();
            let after = found.map(|n| tabia_notation::after(&position, legal[n]));
            let after = after.map(|after| CanonicalBoard::from_position(&after).unwrap());
            let step = board.after(byte);
            match step {
                Step::To(to) => {
                    assert_eq!(
                        Some(to.key()),
                        after.map(|after| after.key()),
                        "{byte:#x} {position:?}"
                    );
                    assert_eq!(after.unwrap().other_key(), None);
                    seen[0] += 1;
                }
                Step::Illegal => {
                    assert_eq!(after, None, "{byte:#x} {position:?}");
                    seen[1] += 1;
                }
                Step::Unclear => seen[2] += 1,
            }
        }
    }
}
