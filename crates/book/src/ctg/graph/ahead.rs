//! Hashes of positions, and of all positions a move ahead.
//!
//! A pass over a book asks of some thirty legal moves of every position whether they lead
//! into the book; nearly none does. So the hash of the position after a move is made from
//! the words of the board alone, without the rules of chess: a move that leaves the king in
//! check has a hash too, and whoever finds an entry for a hash looks closer.
//!
//! The position after a move is another one's to move, so its canonical board has ranks and
//! colours exchanged; with wings exchanged as well if nobody may castle and its king is on the
//! files a to d. That king has not moved. So the wings are exchanged before the moves, once;
//! and the hash of a canonical board is that of the words with ranks exchanged back.
//!
//! Bit `8 * file + rank` of a word is a square, as in [`CanonicalBoard`]: on that board all
//! men but pawns move as on the usual one, whose numbering exchanges files and ranks.

use shakmaty::{Bitboard, Role, Square, attacks};

use crate::ctg::{CanonicalBoard, position::bit_of_square};
use crate::polyglot::PackedMove;

/// The second and the last rank.
const SECOND: u64 = 0x0202_0202_0202_0202;
const LAST: u64 = 0x8080_8080_8080_8080;
/// The files a to d.
const QUEENSIDE: u64 = 0xffff_ffff;

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

/// A value for the moves of pieces, and one for those of pawns; only of moves that take nothing
/// and do not promote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByMover<T> {
    pub(super) pieces: T,
    pub(super) pawns: T,
}

/// Hashes of the men that such moves leave in place.
pub(super) type Groups = ByMover<u32>;

/// A board after a move, as its mover sees it.
#[derive(Clone, Copy)]
struct Seen {
    /// The men of the mover.
    men: u64,
    role_bits: [u64; 3],
    /// Rights of castling, of the mover in the lower two bits.
    castling: u8,
}

impl Seen {
    /// Hashes of the men that a move without a capture leaves in place: the opponent's, with the
    /// mover's pawns for a move of a piece, with the pieces for a pawn move. Without castling
    /// rights, which the move may lose.
    #[inline]
    fn groups(&self) -> Groups {
        let [b0, b1, b2] = self.role_bits;
        let pawns = b0 & !b1 & !b2;
        let without = |moved: u64| {
            let rest = Seen {
                men: self.men & !moved,
                role_bits: self.role_bits.map(|word| word & !moved),
                castling: 0,
            };
            rest.hash(None)
        };
        Groups {
            pieces: without(self.men & !pawns) as u32,
            pawns: (without(self.men & pawns) >> 32) as u32,
        }
    }

    /// The position, where the file of a capture en passant is as on this board.
    #[inline]
    fn hash(&self, en_passant: Option<u8>) -> u64 {
        let [b0, b1, b2] = self.role_bits;
        let file = en_passant.map_or(0, |file| 8 + u64::from(file));
        let state = (u64::from(self.castling) << 4 | file).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let hash = folded(
            self.men ^ state ^ 0x9e37_79b9_7f4a_7c15,
            b0 ^ 0xbf58_476d_1ce4_e5b9,
        );
        folded(hash ^ b1, b2 ^ 0x94d0_49bb_1331_11eb)
    }

    /// The wings exchanged.
    fn mirrored(self) -> Seen {
        Seen {
            men: self.men.swap_bytes(),
            role_bits: self.role_bits.map(u64::swap_bytes),
            castling: self.castling,
        }
    }

    /// As the hash wants it, after a move that may have ended the last right of castling.
    fn in_form(self) -> Seen {
        let [b0, b1, b2] = self.role_bits;
        let king = b1 & b2 & !(self.men & (b0 | b1 | b2)) & !b0;
        match self.castling == 0 && king & QUEENSIDE != 0 {
            true => self.mirrored(),
            false => self,
        }
    }
}

/// Both halves of the product.
#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// A position as the one who moved there sees it.
#[inline]
fn seen(board: &CanonicalBoard) -> Seen {
    let ranks = |word: u64| word.reverse_bits().swap_bytes();
    Seen {
        men: ranks(board.other),
        role_bits: board.role_bits.map(ranks),
        castling: board.castling << 2 & 12 | board.castling >> 2 & 3,
    }
}

/// The hash of a position, with a capture en passant or without.
#[inline]
pub(in crate::ctg) fn hash(board: &CanonicalBoard, en_passant: Option<u8>) -> u64 {
    seen(board).hash(en_passant)
}

/// The groups of a position.
#[inline]
pub(super) fn groups(board: &CanonicalBoard) -> Groups {
    seen(board).groups()
}

/// A board before its moves.
struct Ahead<'f, F> {
    before: Seen,
    other: u64,
    /// The squares of the board are these, exclusive-or this.
    turn: u32,
    /// Moves from and to these squares end rights of castling.
    castling_squares: u64,
    /// Which quiet moves are shown; captures and promotions always are.
    quiet: ByMover<bool>,
    found: &'f mut F,
}

impl CanonicalBoard {
    /// The board as its moves are hashed, and whether wings are exchanged for that.
    #[inline]
    fn before_moves(&self) -> (Seen, bool) {
        let board = Seen {
            men: self.own,
            role_bits: self.role_bits,
            castling: self.castling,
        };
        match self.castling == 0 && self.has_other_king_on_queenside() {
            true => (board.mirrored(), true),
            false => (board, false),
        }
    }

    fn has_other_king_on_queenside(&self) -> bool {
        let [_, b1, b2] = self.role_bits;
        b1 & b2 & self.other & QUEENSIDE != 0
    }

    /// Counts the quiet moves of pieces and of pawns; castling is a move of a piece.
    pub(super) fn count_quiet(&self, moves: impl Iterator<Item = PackedMove>) -> ByMover<u32> {
        let [b0, b1, b2] = self.role_bits;
        let pawns = b0 & !b1 & !b2;
        let mut quiet = ByMover::default();
        for mv in moves {
            let (from, to) = mv.squares();
            let (left, target) = (1_u64 << bit_of_square(from), 1_u64 << bit_of_square(to));
            match pawns & left != 0 {
                false => quiet.pieces += u32::from(self.other & target == 0),
                true => {
                    let is_step = from.file() == to.file() && target & LAST == 0;
                    quiet.pawns += u32::from(is_step);
                }
            }
        }
        quiet
    }

    /// The groups of the positions after moves of each kind; `None` if they may be of several.
    #[inline]
    pub(super) fn groups_ahead(&self) -> Option<Groups> {
        // With the last right of castling gone, wings may be exchanged.
        let may_turn = self.castling != 0 && self.has_other_king_on_queenside();
        (!may_turn).then(|| self.before_moves().0.groups())
    }

    /// Shows the hash of the position after every legal move that takes something or promotes,
    /// and after the others if they are asked for; and after some illegal moves. Where captures
    /// en passant may follow, there is one with and one without. Captures en passant themselves
    /// are left out: see [`CanonicalBoard::en_passant`].
    #[inline]
    pub(super) fn each_ahead(&self, quiet: ByMover<bool>, mut found: impl FnMut(u64, AheadMove)) {
        let (before, is_mirrored) = self.before_moves();
        let squares = CASTLING_SQUARES.iter();
        let squares = squares.filter(|(_, rights)| self.castling & rights != 0);
        let [b0, b1, b2] = before.role_bits;
        let other = (b0 | b1 | b2) & !before.men;
        let mut ahead = Ahead {
            before,
            other,
            turn: if is_mirrored { 56 } else { 0 },
            castling_squares: squares.fold(0, |all, (square, _)| all | square),
            quiet,
            found: &mut found,
        };
        ahead.pieces();
        ahead.pawns();
        if quiet.pieces {
            ahead.castling();
        }
    }
}

impl<F: FnMut(u64, AheadMove)> Ahead<'_, F> {
    #[inline]
    fn pieces(&mut self) {
        let [b0, b1, b2] = self.before.role_bits;
        let occupied = Bitboard(self.before.men | self.other);
        let able = match self.quiet.pieces {
            true => !self.before.men,
            false => self.other,
        };
        let mut men = self.before.men & (b1 | b2 | !b0);
        while men != 0 {
            let from = men.trailing_zeros();
            men &= men - 1;
            let at = |word: u64| word >> from & 1;
            let role = at(b0) | at(b1) << 1 | at(b2) << 2;
            let square = Square::new(from);
            let targets = match role {
                2 => attacks::knight_attacks(square),
                3 => attacks::bishop_attacks(square, occupied),
                4 => attacks::rook_attacks(square, occupied),
                5 => attacks::queen_attacks(square, occupied),
                _ => attacks::king_attacks(square),
            };
            let mut targets = targets.0 & able;
            while targets != 0 {
                let to = targets.trailing_zeros();
                targets &= targets - 1;
                self.show(role, from, to, None);
            }
        }
    }

    fn pawns(&mut self) {
        let [b0, b1, b2] = self.before.role_bits;
        let all_pawns = b0 & !b1 & !b2;
        let empty = !(self.before.men | self.other);
        // A pawn of the last rank, which a damaged key may have, does not move.
        let able = all_pawns & self.before.men & !LAST;
        let free = able << 1 & empty;
        let once = match self.quiet.pawns {
            true => free,
            false => free & LAST,
        };
        let steps = [
            (once, 1_u32),
            (able << 9 & self.other, 9),
            (able >> 7 & self.other, 7_u32.wrapping_neg()),
        ];
        for (mut targets, back) in steps {
            while targets != 0 {
                let to = targets.trailing_zeros();
                targets &= targets - 1;
                let from = to.wrapping_sub(back) & 63;
                if 1 << to & LAST == 0 {
                    self.show(1, from, to, None);
                    continue;
                }
                for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                    self.show(role as u64, from, to, Some(role));
                }
            }
        }
        let mut twice = (once & SECOND << 1) << 1 & empty;
        while twice != 0 {
            let to = twice.trailing_zeros();
            twice &= twice - 1;
            self.show(1, to - 2, to, None);
            let bit = 1_u64 << to;
            if (bit << 8 | bit >> 8) & all_pawns & self.other != 0 {
                let after = self.after(1, to - 2, to);
                let mv = self.packed(to - 2, to, None);
                (self.found)(after.hash(Some((to / 8) as u8)), mv);
            }
        }
    }

    fn castling(&mut self) {
        const KING: u32 = 32;
        // Right, square of the rook, where king and rook go, and what must be empty.
        const SIDES: [(u8, u32, u32, u32, u64); 2] = [
            (2, 56, 48, 40, 1 << 40 | 1 << 48),
            (1, 0, 16, 24, 1 << 8 | 1 << 16 | 1 << 24),
        ];
        let occupied = self.before.men | self.other;
        for (right, rook, king_to, rook_to, between) in SIDES {
            if self.before.castling & right == 0 || occupied & between != 0 {
                continue;
            }
            let mut after = self.before;
            let gone = 1 << KING | 1 << rook;
            after.men = after.men & !gone | 1 << king_to | 1 << rook_to;
            after.role_bits = after.role_bits.map(|word| word & !gone);
            let [_, b1, b2] = &mut after.role_bits;
            *b1 |= 1 << king_to;
            *b2 |= 1 << king_to | 1 << rook_to;
            after.castling &= !3;
            let mv = self.packed(KING, rook, None);
            (self.found)(after.in_form().hash(None), mv);
        }
    }

    /// The board after a man has become `role` on another square.
    #[inline]
    fn after(&self, role: u64, from: u32, to: u32) -> Seen {
        let (left, target) = (1_u64 << from, 1_u64 << to);
        let mut role_bits = self.before.role_bits;
        for (n, word) in role_bits.iter_mut().enumerate() {
            *word = *word & !(left | target) | (role >> n & 1) << to;
        }
        Seen {
            men: self.before.men & !left | target,
            role_bits,
            castling: self.before.castling,
        }
    }

    /// Shows a move of a man that becomes `role`.
    #[inline]
    fn show(&mut self, role: u64, from: u32, to: u32, promotion: Option<Role>) {
        let mut after = self.after(role, from, to);
        let (left, target) = (1 << from, 1 << to);
        if self.castling_squares & (left | target) != 0 {
            let touched = self.castling_squares & (left | target);
            for (square, rights) in CASTLING_SQUARES {
                after.castling &= if touched & square != 0 { !rights } else { 15 };
            }
            after = after.in_form();
        }
        let mv = self.packed(from, to, promotion);
        (self.found)(after.hash(None), mv);
    }

    #[inline]
    fn packed(&self, from: u32, to: u32, promotion: Option<Role>) -> AheadMove {
        let turn = self.turn as u8;
        AheadMove {
            from: from as u8 ^ turn,
            to: to as u8 ^ turn,
            promotion,
        }
    }
}

/// A move of [`CanonicalBoard::each_ahead`].
#[derive(Clone, Copy, Debug)]
pub(super) struct AheadMove {
    from: u8,
    to: u8,
    promotion: Option<Role>,
}

impl AheadMove {
    /// The move; castling is king takes rook.
    pub(super) fn packed(self) -> PackedMove {
        let square = |bit: u8| Square::new(u32::from((bit & 7) << 3 | bit >> 3));
        PackedMove::new(square(self.from), square(self.to), self.promotion)
    }
}
