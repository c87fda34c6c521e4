//! The parts of Polyglot's format that other formats use too: the key of a position and
//! the sixteen bits of a move.
//!
//! | bits | of a move |
//! |---|---|
//! | 0-2, 3-5 | file and rank of the target square |
//! | 6-8, 9-11 | file and rank of the source square |
//! | 12-14 | promotion: 0 none, 1 knight, 2 bishop, 3 rook, 4 queen |
//!
//! Castling is king takes rook: e1h1, e1a1, e8h8, e8a8 (the format's public description;
//! three readers agree). Some books have e1g1 and the like instead. Both are read, as by
//! python-chess.

pub(crate) mod indexed;
pub(crate) mod keyed;

pub use keyed::KeyedEntry;

use std::fmt;

use shakmaty::{
    Bitboard, CastlingSide, Chess, Color, EnPassantMode, Move, Position as _, Rank, Role, Square,
    attacks,
    zobrist::{Zobrist64, ZobristValue as _},
};

/// The key of a position: a Zobrist hash with the 781 public random numbers. The en
/// passant file counts if a pawn is beside the one that has just moved, even if it cannot
/// capture.
#[must_use]
pub fn key(position: &Chess) -> u64 {
    let Zobrist64(key) = position.zobrist_hash(EnPassantMode::PseudoLegal);
    key
}

/// The key of the position after a legal move, given that of the position `before` it.
#[must_use]
pub fn key_after(key: u64, before: &Chess, mv: Move) -> u64 {
    KeyAhead::new(key, before).after(mv)
}

/// The keys after the moves of a position.
pub(crate) struct KeyAhead<'p> {
    before: &'p Chess,
    us: Color,
    rights: Bitboard,
    /// The key of the position, but for the side to move and a capture en passant.
    key: u64,
}

impl KeyAhead<'_> {
    pub(crate) fn new(key: u64, before: &Chess) -> KeyAhead<'_> {
        let passant = before.pseudo_legal_ep_square().map_or(0, passant);
        KeyAhead {
            before,
            us: before.turn(),
            rights: before.castles().castling_rights(),
            key: key ^ passant ^ Zobrist64::zobrist_for_white_turn().0,
        }
    }

    /// The key after a legal move.
    #[inline]
    pub(crate) fn after(&self, mv: Move) -> u64 {
        let us = self.us;
        let man =
            |square, role: Role, color| Zobrist64::zobrist_for_piece(square, role.of(color)).0;
        let own_rights = || self.rights & Bitboard::from(us.backrank());
        match mv {
            Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            } => {
                let moved = man(from, role, us) ^ man(to, promotion.unwrap_or(role), us);
                let taken = capture.map_or(0, |role| man(to, role, !us));
                let gone = match role {
                    Role::King => own_rights() | self.rights & Bitboard::from(to),
                    _ => self.rights & (Bitboard::from(from) | to),
                };
                let passed = match role == Role::Pawn && from.to_u32().abs_diff(to.to_u32()) == 16 {
                    true => self.passed(from),
                    false => 0,
                };
                self.key ^ moved ^ taken ^ passed ^ self.lost(gone)
            }
            Move::EnPassant { from, to } => {
                let taken = Square::from_coords(to.file(), from.rank());
                let moved = man(from, Role::Pawn, us) ^ man(to, Role::Pawn, us);
                self.key ^ moved ^ man(taken, Role::Pawn, !us)
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                let king = man(king, Role::King, us) ^ man(side.king_to(us), Role::King, us);
                let rook = man(rook, Role::Rook, us) ^ man(side.rook_to(us), Role::Rook, us);
                self.key ^ king ^ rook ^ self.lost(own_rights())
            }
            Move::Put { role, to } => self.key ^ man(to, role, us),
        }
    }

    /// What a pawn that has made two steps adds.
    fn passed(&self, from: Square) -> u64 {
        let square = Square::from_coords(from.file(), self.us.fold_wb(Rank::Third, Rank::Sixth));
        let board = self.before.board();
        let capturers = board.pawns() & board.by_color(!self.us);
        match (attacks::pawn_attacks(self.us, square) & capturers).any() {
            true => passant(square),
            false => 0,
        }
    }

    /// What the loss of the rights to castle with some rooks adds.
    #[inline]
    fn lost(&self, rooks: Bitboard) -> u64 {
        if rooks.is_empty() {
            return 0;
        }
        let castles = self.before.castles();
        let rights = Color::ALL
            .into_iter()
            .flat_map(|color| CastlingSide::ALL.map(|side| (color, side)));
        let lost = rights.filter(|(color, side)| {
            let rook = castles.rook(*color, *side);
            rook.is_some_and(|rook| rooks.contains(rook))
        });
        lost.fold(0, |sum, (color, side)| {
            sum ^ Zobrist64::zobrist_for_castling_right(color, side).0
        })
    }
}

/// What a capture en passant on a square adds to a key.
fn passant(square: Square) -> u64 {
    Zobrist64::zobrist_for_en_passant_file(square.file()).0
}

/// A move in sixteen bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedMove(pub u16);

impl PackedMove {
    /// Packs squares and promotion (see the [module](self)).
    #[inline]
    #[must_use]
    pub fn new(from: Square, to: Square, promotion: Option<Role>) -> PackedMove {
        let promotion = match promotion {
            Some(Role::Knight) => 1,
            Some(Role::Bishop) => 2,
            Some(Role::Rook) => 3,
            Some(Role::Queen) => 4,
            _ => 0,
        };
        PackedMove(promotion << 12 | (from.to_u32() << 6 | to.to_u32()) as u16)
    }

    /// Source and target square.
    #[must_use]
    pub fn squares(self) -> (Square, Square) {
        let square = |bits: u16| Square::new(u32::from(bits & 63));
        (square(self.0 >> 6), square(self.0))
    }

    /// What a pawn becomes.
    #[must_use]
    pub const fn promotion(self) -> Option<Role> {
        match self.0 >> 12 & 7 {
            1 => Some(Role::Knight),
            2 => Some(Role::Bishop),
            3 => Some(Role::Rook),
            4 => Some(Role::Queen),
            _ => None,
        }
    }

    /// Packs a move; castling as the king's own squares, e1g1 and the like.
    #[must_use]
    pub fn by_target(mv: Move) -> PackedMove {
        match (mv, mv.castling_side()) {
            (Move::Castle { king, .. }, Some(side)) => {
                let file = side.king_to_file();
                PackedMove::new(king, Square::from_coords(file, king.rank()), None)
            }
            _ => PackedMove::from_move(mv),
        }
    }

    /// Packs a move; castling as king takes rook.
    #[inline]
    #[must_use]
    pub fn from_move(mv: Move) -> PackedMove {
        match mv {
            Move::Castle { king, rook } => PackedMove::new(king, rook, None),
            _ => PackedMove::new(mv.from().unwrap_or(mv.to()), mv.to(), mv.promotion()),
        }
    }

    /// The legal move that this is.
    #[must_use]
    pub fn find(self, legal: &[Move]) -> Option<usize> {
        legal
            .iter()
            .position(|mv| PackedMove::from_move(*mv) == self)
            .or_else(|| legal.iter().position(|mv| self.is_castling_by_target(*mv)))
    }

    /// The move, which is legal in a position; castling is king takes rook.
    #[must_use]
    pub fn in_position(self, position: &Chess) -> Option<Move> {
        let board = position.board();
        let (from, to) = self.squares();
        let capture = board.role_at(to);
        Some(match board.role_at(from)? {
            Role::King if board.by_color(position.turn()).contains(to) => Move::Castle {
                king: from,
                rook: to,
            },
            Role::Pawn if capture.is_none() && from.file() != to.file() => {
                Move::EnPassant { from, to }
            }
            role => Move::Normal {
                role,
                from,
                capture,
                to,
                promotion: self.promotion(),
            },
        })
    }

    /// Whether it is `mv`, a castling move written as e1g1 and the like.
    fn is_castling_by_target(self, mv: Move) -> bool {
        matches!(mv, Move::Castle { .. }) && PackedMove::by_target(mv) == self
    }
}

/// As coordinates: "e2e4", "e7e8q", "e1h1".
impl fmt::Display for PackedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = self.squares();
        write!(f, "{from}{to}")?;
        match self.0 >> 12 & 7 {
            0 => Ok(()),
            1 => write!(f, "n"),
            2 => write!(f, "b"),
            3 => write!(f, "r"),
            4 => write!(f, "q"),
            _ => write!(f, "?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    fn position(fen: &str) -> Chess {
        let fen: Fen = fen.parse().unwrap();
        fen.into_position(CastlingMode::Standard).unwrap()
    }

    /// The examples of the format's public description.
    #[test]
    fn keys_are_those_of_the_description() {
        for (fen, expected) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                0x463b_9618_1691_fc9c,
            ),
            (
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
                0x823c_9b50_fd11_4196,
            ),
            (
                "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2",
                0x0756_b944_61c5_0fb0,
            ),
            (
                "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2",
                0x662f_afb9_65db_29d4,
            ),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                0x22a4_8b5a_8e47_ff78,
            ),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3",
                0x652a_607c_a3f2_42c1,
            ),
            (
                "rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4",
                0x00fd_d303_c946_bdd9,
            ),
            (
                "rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3",
                0x3c81_23ea_7b06_7637,
            ),
            (
                "rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4",
                0x5c3f_9b82_9b27_9560,
            ),
        ] {
            assert_eq!(key(&position(fen)), expected, "{fen}");
        }
    }

    #[test]
    fn keys_after_moves_are_those_of_the_positions() {
        let check = |before: &Chess| {
            for mv in before.legal_moves() {
                let after = before.clone().play(mv).unwrap();
                assert_eq!(
                    key_after(key(before), before, mv),
                    key(&after),
                    "{before:?} {mv}"
                );
            }
        };
        for fen in [
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "r3k2r/P6p/8/3pP3/2p5/8/1P5p/R3K2R w KQkq d6 0 1",
            "r3k2r/8/8/8/1p6/8/P5P1/R3K2R w KQkq - 0 1",
        ] {
            let start = position(fen);
            check(&start);
            for first in start.legal_moves() {
                check(&start.clone().play(first).unwrap());
            }
        }
        crate::random::games(1, 40, 120)
            .flatten()
            .for_each(|before| check(&before));
    }

    #[test]
    fn every_legal_move_is_found_by_its_bits() {
        for fen in [
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
            "8/P6k/8/8/8/8/7p/6K1 w - - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
        ] {
            let legal = position(fen).legal_moves();
            for (n, mv) in legal.iter().enumerate() {
                assert_eq!(PackedMove::from_move(*mv).find(&legal), Some(n), "{mv}");
            }
        }
        let legal = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").legal_moves();
        for (to, rook) in [(Square::G1, Square::H1), (Square::C1, Square::A1)] {
            let packed = PackedMove::new(Square::E1, to, None);
            let n = packed.find(&legal).unwrap();
            assert_eq!(
                PackedMove::from_move(legal[n]),
                PackedMove::new(Square::E1, rook, None)
            );
        }
        assert_eq!(PackedMove(0).find(&legal), None);
        assert_eq!(PackedMove(0x796f).to_string(), "f5h6?");
        assert_eq!(
            PackedMove::new(Square::E7, Square::E8, Some(Role::Queen)).to_string(),
            "e7e8q"
        );
    }
}
