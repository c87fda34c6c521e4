//! Hashes of positions, and of all positions a move ahead.
//!
//! A pass over a book asks of some thirty legal moves of every position whether they lead
//! into the book; nearly none does. So the hash of the canonical board after a move is made
//! from that before it, without a board and without the rules of chess: a move that leaves
//! the king in check has a hash too, and whoever finds an entry for a hash looks closer.
//!
//! Bit `8 * file + rank` of a word is a square, as in [`CanonicalBoard`]: on that board all
//! men but pawns move as on the usual one, whose numbering exchanges files and ranks.
//!
//! The random numbers are internal to the program and never in a file.

use shakmaty::{Bitboard, Role, Square, attacks};

use crate::ctg::CanonicalBoard;

/// Random numbers by the content of a square (0 nothing, pawn 1 to king 6, 8 more for the
/// side that is not to move) and the square.
static MEN: [[u64; 64]; 16] = {
    let mut numbers = [[0; 64]; 16];
    let mut n = 0;
    while n < 16 * 64 {
        if n / 64 % 8 != 0 {
            numbers[n / 64][n % 64] = random(n as u64);
        }
        n += 1;
    }
    numbers
};

/// Random numbers of the castling rights, by their four bits; 0 without any.
static CASTLING: [u64; 16] = {
    let mut numbers = [0; 16];
    let mut n = 1;
    while n < 16 {
        numbers[n] = random(2000 + n as u64);
        n += 1;
    }
    numbers
};

/// Random numbers of the file of an en passant capture.
static EN_PASSANT: [u64; 8] = {
    let mut numbers = [0; 8];
    let mut n = 0;
    while n < 8 {
        numbers[n] = random(3000 + n as u64);
        n += 1;
    }
    numbers
};

/// splitmix64
const fn random(n: u64) -> u64 {
    let mut word = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[inline]
fn man(content: usize, bit: u32) -> u64 {
    MEN[content & 15][bit as usize & 63]
}

#[inline]
fn castling(rights: u8) -> u64 {
    CASTLING[usize::from(rights) & 15]
}

#[inline]
fn en_passant(file: Option<u8>) -> u64 {
    file.map_or(0, |file| EN_PASSANT[usize::from(file) & 7])
}

/// Ranks of a byte reversed, files left: the board with colours exchanged.
const INVERTED: u32 = 7;
/// Files reversed, too.
const MIRRORED: u32 = 63;

/// The second and the last rank.
const SECOND: u64 = 0x0202_0202_0202_0202;
const LAST: u64 = 0x8080_8080_8080_8080;
/// The files a to d.
const QUEENSIDE: u64 = 0xffff_ffff;

/// The hash of a position, with or without an en passant capture.
pub(in crate::ctg) fn hash(board: &CanonicalBoard, en_passant_file: Option<u8>) -> u64 {
    let mut hash = castling(board.castling) ^ en_passant(en_passant_file);
    let mut men = board.own | board.other;
    while men != 0 {
        let bit = men.trailing_zeros();
        men &= men - 1;
        hash ^= man(content(board, bit) | side(board.other, bit), bit);
    }
    hash
}

/// What is on a square: 0 nothing, pawn 1 to king 6.
#[inline]
fn content(board: &CanonicalBoard, bit: u32) -> usize {
    let [b0, b1, b2] = board.role_bits;
    let at = |word: u64| (word >> bit & 1) as usize;
    at(b0) | at(b1) << 1 | at(b2) << 2
}

#[inline]
fn side(other: u64, bit: u32) -> usize {
    (other >> bit & 1) as usize * 8
}

/// A move on the canonical board, perhaps one that leaves the king in check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    /// The bits of the squares of the man; for castling those of king and rook.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) promotion: Option<Role>,
}

/// The view of the other side on a board, before a move.
struct View<'b> {
    board: &'b CanonicalBoard,
    hash: u64,
    flip: u32,
    /// Moves from and to these squares change castling rights.
    castling_squares: u64,
    /// The rights, from that view.
    castling: u8,
}

/// The squares of castling as bits, with the rights that go when a man moves from or to
/// one of them: see [`CanonicalBoard`] for the rights.
pub(in crate::ctg) const CASTLING_SQUARES: [(u64, u8); 6] = [
    (1, 1),
    (1 << 56, 2),
    (1 << 32, 3),
    (1 << 7, 4),
    (1 << 63, 8),
    (1 << 39, 12),
];

/// The rights of both sides from the view of the other.
fn exchanged(castling: u8) -> u8 {
    castling << 2 & 12 | castling >> 2 & 3
}

impl<'b> View<'b> {
    fn new(board: &'b CanonicalBoard) -> View<'b> {
        let [_, b1, b2] = board.role_bits;
        let mirrored = board.castling == 0 && b1 & b2 & board.other & QUEENSIDE != 0;
        let flip = if mirrored { MIRRORED } else { INVERTED };
        let rights = exchanged(board.castling);
        let mut hash = castling(rights);
        let mut men = board.own | board.other;
        while men != 0 {
            let bit = men.trailing_zeros();
            men &= men - 1;
            // Who is to move now is not after the move.
            hash ^= man(content(board, bit) | side(board.own, bit), bit ^ flip);
        }
        let squares = CASTLING_SQUARES
            .iter()
            .filter(|(_, rights)| board.castling & rights != 0);
        View {
            board,
            hash,
            flip,
            castling_squares: squares.fold(0, |all, (square, _)| all | square),
            castling: rights,
        }
    }

    /// The hash after a move that is not castling.
    #[inline]
    fn after(&self, was: usize, becomes: usize, from: u32, to: u32) -> u64 {
        let taken = man(content(self.board, to), to ^ self.flip);
        let moved = man(was | 8, from ^ self.flip) ^ man(becomes | 8, to ^ self.flip);
        let hash = self.hash ^ moved ^ taken;
        match self.castling_squares & (1 << from | 1 << to) {
            0 => hash,
            touched => self.without_rights(hash, touched, becomes, from, to),
        }
    }

    #[cold]
    fn without_rights(
        &self,
        hash: u64,
        touched: u64,
        becomes: usize,
        from: u32,
        to: u32,
    ) -> u64 {
        let mut rights = self.board.castling;
        for (square, gone) in CASTLING_SQUARES {
            rights &= if touched & square != 0 { !gone } else { 15 };
        }
        if rights != 0 {
            return hash ^ castling(self.castling) ^ castling(exchanged(rights));
        }
        // With the last right gone the board may be mirrored.
        let mut after = *self.board;
        after.castling = 0;
        after.lift(from);
        after.lift(to);
        after.put_own(becomes, to);
        self::hash(&after.turned(), None)
    }
}

impl CanonicalBoard {
    fn lift(&mut self, bit: u32) {
        let others = !(1 << bit);
        self.own &= others;
        self.other &= others;
        self.role_bits = self.role_bits.map(|word| word & others);
    }

    fn put_own(&mut self, content: usize, bit: u32) {
        self.own |= 1 << bit;
        for (n, word) in self.role_bits.iter_mut().enumerate() {
            *word |= (content as u64 >> n & 1) << bit;
        }
    }

    /// Shows the hash of the position after every legal move, and after some illegal ones;
    /// where captures en passant may follow, one with and one without. Captures en passant
    /// themselves are left out: see [`CanonicalBoard::en_passant`].
    #[inline]
    pub(super) fn each_hash_ahead(&self, mut found: impl FnMut(u64, Ahead)) {
        let view = View::new(self);
        let occupied = Bitboard(self.own | self.other);
        let roles = self.roles();
        for (role, men) in roles.zip_role() {
            let mut men = men & self.own;
            if role == Role::Pawn {
                continue;
            }
            while men != 0 {
                let from = men.trailing_zeros();
                men &= men - 1;
                let square = Square::new(from);
                let targets = match role {
                    Role::Knight => attacks::knight_attacks(square),
                    Role::Bishop => attacks::bishop_attacks(square, occupied),
                    Role::Rook => attacks::rook_attacks(square, occupied),
                    Role::Queen => attacks::queen_attacks(square, occupied),
                    _ => attacks::king_attacks(square),
                };
                let mut targets = targets.0 & !self.own;
                while targets != 0 {
                    let to = targets.trailing_zeros();
                    targets &= targets - 1;
                    let ahead = Ahead {
                        from,
                        to,
                        promotion: None,
                    };
                    found(view.after(role as usize, role as usize, from, to), ahead);
                }
            }
        }
        self.pawns_ahead(&view, &mut found);
        self.castling_ahead(&mut found);
    }

    #[inline]
    fn pawns_ahead(&self, view: &View<'_>, found: &mut impl FnMut(u64, Ahead)) {
        const PAWN: usize = Role::Pawn as usize;
        let empty = !(self.own | self.other);
        let all_pawns = self.roles().pawn;
        let pawns = all_pawns & self.own;
        let mut each = |mut targets: u64, back: u32| {
            while targets != 0 {
                let to = targets.trailing_zeros();
                targets &= targets - 1;
                let from = to.wrapping_sub(back) & 63;
                if 1 << to & LAST == 0 {
                    let ahead = Ahead {
                        from,
                        to,
                        promotion: None,
                    };
                    found(view.after(PAWN, PAWN, from, to), ahead);
                    continue;
                }
                for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                    let ahead = Ahead {
                        from,
                        to,
                        promotion: Some(role),
                    };
                    found(view.after(PAWN, role as usize, from, to), ahead);
                }
            }
        };
        // A pawn of the last rank, which a damaged key may have, does not move.
        let able = pawns & !LAST;
        let once = able << 1 & empty;
        each(once, 1);
        each(able << 9 & self.other, 9);
        each(able >> 7 & self.other, 7_u32.wrapping_neg());
        let mut twice = (once & SECOND << 1) << 1 & empty;
        while twice != 0 {
            let to = twice.trailing_zeros();
            twice &= twice - 1;
            let ahead = Ahead {
                from: to - 2,
                to,
                promotion: None,
            };
            let hash = view.after(PAWN, PAWN, ahead.from, to);
            found(hash, ahead);
            let bit = 1_u64 << to;
            if (bit << 8 | bit >> 8) & all_pawns & self.other != 0 {
                let file = ((to ^ view.flip) / 8) as u8;
                found(hash ^ en_passant(Some(file)), ahead);
            }
        }
    }

    fn castling_ahead(&self, found: &mut impl FnMut(u64, Ahead)) {
        const KING: u32 = 32;
        // Right, square of the rook, where both go, and what must be empty.
        const SIDES: [(u8, u32, u32, u32, u64); 2] = [
            (2, 56, 48, 40, 1 << 40 | 1 << 48),
            (1, 0, 16, 24, 1 << 8 | 1 << 16 | 1 << 24),
        ];
        for (right, rook, king_to, rook_to, between) in SIDES {
            if self.castling & right == 0 || (self.own | self.other) & between != 0 {
                continue;
            }
            let mut after = *self;
            after.castling &= !3;
            after.lift(KING);
            after.lift(rook);
            after.put_own(Role::King as usize, king_to);
            after.put_own(Role::Rook as usize, rook_to);
            let ahead = Ahead {
                from: KING,
                to: rook,
                promotion: None,
            };
            found(hash(&after.turned(), None), ahead);
        }
    }
}
