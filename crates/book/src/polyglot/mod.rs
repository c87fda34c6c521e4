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

pub(crate) mod keyed;

pub use keyed::KeyedEntry;

use std::fmt;

use shakmaty::{
    CastlingSide, Chess, Color, EnPassantMode, Move, Position as _, Role, Square,
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

/// The key of the position `after` a legal move, given the key of the position
/// `before` it.
#[must_use]
pub fn key_after(key: u64, before: &Chess, mv: Move, after: &Chess) -> u64 {
    let us = before.turn();
    let man = |square, role: Role, color| Zobrist64::zobrist_for_piece(square, role.of(color)).0;
    let change = match mv {
        Move::Normal {
            role,
            from,
            capture,
            to,
            promotion,
        } => {
            let moved = man(from, role, us) ^ man(to, promotion.unwrap_or(role), us);
            moved ^ capture.map_or(0, |role| man(to, role, !us))
        }
        Move::EnPassant { from, to } => {
            let taken = Square::from_coords(to.file(), from.rank());
            man(from, Role::Pawn, us) ^ man(to, Role::Pawn, us) ^ man(taken, Role::Pawn, !us)
        }
        Move::Castle { .. } | Move::Put { .. } => return self::key(after),
    };
    let mut key = key ^ change ^ Zobrist64::zobrist_for_white_turn().0;
    let (old, new) = (before.castles(), after.castles());
    if old.castling_rights() != new.castling_rights() {
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                if old.has(color, side) != new.has(color, side) {
                    key ^= Zobrist64::zobrist_for_castling_right(color, side).0;
                }
            }
        }
    }
    for position in [before, after] {
        if let Some(square) = position.pseudo_legal_ep_square() {
            key ^= Zobrist64::zobrist_for_en_passant_file(square.file()).0;
        }
    }
    key
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
        for fen in [
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "r3k2r/P6p/8/3pP3/2p5/8/1P5p/R3K2R w KQkq d6 0 1",
            "r3k2r/8/8/8/1p6/8/P5P1/R3K2R w KQkq - 0 1",
        ] {
            let start = position(fen);
            for first in start.legal_moves() {
                let before = start.clone().play(first).unwrap();
                assert_eq!(key_after(key(&start), &start, first, &before), key(&before));
                for mv in before.legal_moves() {
                    let after = before.clone().play(mv).unwrap();
                    let found = key_after(key(&before), &before, mv, &after);
                    assert_eq!(found, key(&after), "{fen} {first} {mv}");
                }
            }
        }
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
