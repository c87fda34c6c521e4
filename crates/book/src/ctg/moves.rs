//! Move bytes: what they mean, and to which legal move they belong.
//!
//! A byte names a piece and a step: "the second rook, three files right". Pieces are
//! numbered on the *canonical* board in the order a1, a2, ... a8, b1, ... h8, and the
//! board is a torus: seven ranks forward is one rank back. A pawn that reaches the last
//! rank becomes a queen; other promotions, third pieces and Chess960 castling have no
//! bytes. (Unofficial specification 0.2, readers agree, 13,406 moves of a genuine book.)

use shakmaty::{CastlingSide, Chess, Move, MoveList, Position as _, Rank, Role, Square};

use super::{
    move_table::{BY_BYTE, BY_MOVE, MoveCode, NO_BYTE, man_index},
    position::{CanonicalBoard, position_of},
};
use crate::Annotation;
use crate::polyglot::PackedMove;

/// Why a stored byte is not a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveFault {
    /// One of the 90 bytes of unknown meaning.
    #[error("move byte {0:#04x} has no known meaning")]
    UnknownByte(u8),
    /// The position has no such piece.
    #[error("move byte {0:#04x} names a piece that is not on the board")]
    NoSuchMan(u8),
    /// The move is illegal.
    #[error("move byte {0:#04x} names an illegal move")]
    Illegal(u8),
    /// An earlier byte is the same move.
    #[error("move byte {0:#04x} names a move that is stored already")]
    Repeated(u8),
}

/// Decodes a byte; `None` for the 90 unknown ones.
///
/// 0x1a and 0xf9 both mean "queen 2 forward 6". If that is illegal, [`find`] tries "right
/// 6", which has no byte: one of the two must mean it.
#[must_use]
pub fn decode(byte: u8) -> Option<MoveCode> {
    BY_BYTE.get(usize::from(byte)).copied().flatten()
}

/// Finds the `legal` move of a position that a byte means, as an index into the list.
/// `board` is that position, in canonical form.
///
/// # Errors
///
/// The byte has no meaning, or its move is illegal here.
pub fn find(byte: u8, board: &CanonicalBoard, legal: &[Move]) -> Result<usize, MoveFault> {
    let code = decode(byte).ok_or(MoveFault::UnknownByte(byte))?;
    if let Some(side) = code.castling() {
        let wanted = |mv: &Move| mv.castling_side() == Some(side);
        return legal
            .iter()
            .position(wanted)
            .ok_or(MoveFault::Illegal(byte));
    }
    let from = board
        .own_man(code.role, code.number)
        .ok_or(MoveFault::NoSuchMan(byte))?;
    let orientation = board.orientation();
    let search = |code: MoveCode| {
        let (from, to) = (
            orientation.apply(from),
            orientation.apply(code.target(from)),
        );
        legal.iter().position(|mv| match *mv {
            Move::Normal {
                from: f,
                to: t,
                promotion,
                ..
            } => (f, t) == (from, to) && matches!(promotion, None | Some(Role::Queen)),
            Move::EnPassant { from: f, to: t } => (f, t) == (from, to),
            Move::Castle { .. } | Move::Put { .. } => false,
        })
    };
    search(code)
        .or_else(|| {
            let sideways = MoveCode {
                forward: 0,
                right: 6,
                ..code
            };
            has_two_meanings(code).then(|| search(sideways)).flatten()
        })
        .ok_or(MoveFault::Illegal(byte))
}

impl CanonicalBoard {
    /// The squares of a legal move on a board that was decoded from a key; castling is king
    /// takes rook.
    pub(crate) fn squares_of(&self, byte: u8) -> Option<PackedMove> {
        let code = decode(byte)?;
        if let Some(side) = code.castling() {
            let rook = match side {
                CastlingSide::KingSide => Square::H1,
                CastlingSide::QueenSide => Square::A1,
            };
            return Some(PackedMove::new(Square::E1, rook, None));
        }
        if has_two_meanings(code) {
            let (board, position) = position_of(&self.key())?;
            let legal = position.legal_moves();
            let mv = legal.get(find(byte, &board, &legal).ok()?)?;
            return Some(PackedMove::from_move(*mv));
        }
        let from = self.own_man(code.role, code.number)?;
        let to = code.target(from);
        let is_promotion = code.role == Role::Pawn && to.rank() == Rank::Eighth;
        Some(PackedMove::new(
            from,
            to,
            is_promotion.then_some(Role::Queen),
        ))
    }
}

/// The legal move of a position that a stored byte means.
#[cfg(feature = "json")]
pub(crate) fn move_of_byte(position: &Chess, byte: u8) -> Option<Move> {
    let board = CanonicalBoard::from_position(position)?;
    let packed = board.unturned().squares_of(byte)?;
    board
        .orientation()
        .apply_to_packed(packed)
        .in_position(position)
}

/// Whether two bytes are the same move, if they are legal.
pub(super) fn are_equal(a: u8, b: u8) -> bool {
    a == b || decode(a).is_some_and(|code| has_two_meanings(code) && decode(b) == Some(code))
}

/// Whether the byte of this move may mean another one: see [`decode`].
pub(super) fn has_two_meanings(code: MoveCode) -> bool {
    code.role == Role::Queen && code.number == 2 && (code.forward, code.right) == (6, 0)
}

/// Legal moves that include the move of the byte for [`find`], if it is legal: faster
/// than generating all moves.
pub(crate) fn likely(byte: u8, board: &CanonicalBoard, position: &Chess) -> MoveList {
    let Some(code) = decode(byte) else {
        return MoveList::new();
    };
    if let Some(side) = code.castling() {
        return position.castling_moves(side);
    }
    match board.own_man(code.role, code.number) {
        // The byte may have another meaning.
        _ if code.role == Role::Queen && code.number == 2 => position.legal_moves(),
        Some(from) => {
            let to = board.orientation().apply(code.target(from));
            position.san_candidates(code.role, to)
        }
        None => MoveList::new(),
    }
}

/// As [`likely`], for all moves of an entry.
pub(crate) fn likely_of_all(
    stored: impl ExactSizeIterator<Item = (u8, Annotation)>,
    board: &CanonicalBoard,
    position: &Chess,
) -> MoveList {
    let mut legal = MoveList::new();
    // Generating them one by one is faster only for a few.
    let few = stored.len() <= 2;
    let mut add = |byte| legal.try_extend_from_slice(&likely(byte, board, position));
    match few && stored.map(|(byte, _)| add(byte)).all(|added| added.is_ok()) {
        true => legal,
        false => position.legal_moves(),
    }
}

/// The byte for a move of the position whose canonical board is `board`; `None` if the
/// format has none: under-promotions, a third piece of a kind, the second queen six files
/// to the right. For the second queen six ranks forward it is 0x1a.
#[inline]
#[must_use]
pub fn encode(board: &CanonicalBoard, mv: Move) -> Option<u8> {
    let orientation = board.orientation();
    let (role, from, to) = match mv {
        Move::Castle { king, .. } => {
            let right = match mv.castling_side()? {
                CastlingSide::KingSide => 2,
                CastlingSide::QueenSide => -2,
            };
            // With castling rights nothing is mirrored, and the king is on its e square.
            let from = orientation.apply(king);
            (Role::King, from, from.offset(right)?)
        }
        Move::Normal {
            promotion: Some(role),
            ..
        } if role != Role::Queen => return None,
        Move::Normal { role, from, to, .. } => {
            (role, orientation.apply(from), orientation.apply(to))
        }
        Move::EnPassant { from, to } => {
            (Role::Pawn, orientation.apply(from), orientation.apply(to))
        }
        Move::Put { .. } => return None,
    };
    let number = board.number_among(role, from)?;
    let difference = |to: u32, from: u32| to.wrapping_sub(from) as usize & 7;
    let forward = difference(to.rank().to_u32(), from.rank().to_u32());
    let right = difference(to.file().to_u32(), from.file().to_u32());
    BY_MOVE
        .get(man_index(role, number.min(8)))
        .filter(|_| number <= 8)
        .and_then(|bytes| bytes.get(8 * forward + right))
        .copied()
        .filter(|&byte| byte != NO_BYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_but_one_is_the_byte_of_its_move() {
        let known = (0..=255).filter_map(|byte| Some((byte, decode(byte)?)));
        for (byte, code) in known {
            let back = BY_MOVE[man_index(code.role, code.number)][code.delta_index()];
            let expected = if byte == 0xf9 { 0x1a } else { byte };
            assert_eq!(back, expected, "{byte:#04x}");
        }
    }
}
