//! Zobrist hashes without the en passant file: they follow a move at little
//! cost.

use shakmaty::{
    CastlingSide, Chess, Color, EnPassantMode, Move, Position as _, Rank, Role, Setup, Square,
    zobrist::{Zobrist64, ZobristValue as _},
};

use crate::notation;

/// The Zobrist hash without the en passant file.
#[inline]
pub(super) fn base_hash(position: &Chess) -> u64 {
    let Zobrist64(hash) = position.zobrist_hash(EnPassantMode::PseudoLegal);
    match position.pseudo_legal_ep_square() {
        Some(square) => hash ^ Zobrist64::zobrist_for_en_passant_file(square.file()).0,
        None => hash,
    }
}

/// The same after a legal move; `here` is that of the position.
#[inline]
pub(super) fn hash_after(position: &Chess, here: u64, mv: Move) -> u64 {
    let turn = position.turn();
    let man = |square, role: Role| Zobrist64::zobrist_for_piece(square, role.of(turn)).0;
    let other = |square, role: Role| Zobrist64::zobrist_for_piece(square, role.of(!turn)).0;
    let rights = position.castles().castling_rights();
    let home = match turn {
        Color::White => Rank::First,
        Color::Black => Rank::Eighth,
    };
    let turned = here ^ Zobrist64::zobrist_for_white_turn().0;
    match mv {
        Move::Normal {
            role,
            from,
            to,
            capture,
            promotion,
        } if !rights.contains(from)
            && !rights.contains(to)
            && (role != Role::King || (rights & home).is_empty()) =>
        {
            let captured = capture.map_or(0, |role| other(to, role));
            turned ^ man(from, role) ^ man(to, promotion.unwrap_or(role)) ^ captured
        }
        Move::EnPassant { from, to } => {
            let captured = Square::from_coords(to.file(), from.rank());
            turned ^ man(from, Role::Pawn) ^ man(to, Role::Pawn) ^ other(captured, Role::Pawn)
        }
        _ => {
            let after = notation::after(position, mv);
            base_hash(&after)
        }
    }
}

/// Hashes of the two or four positions that a canonical one stands for, en
/// passant left out.
pub(super) fn hashes(setup: &Setup) -> impl Iterator<Item = u64> {
    let turn = Zobrist64::zobrist_for_white_turn().0;
    // As it is, colours exchanged, wings exchanged, both.
    let mut forms = [turn, 0, turn, 0];
    for (square, piece) in setup.board.iter() {
        let mut other = piece;
        other.color = !piece.color;
        let pictures = [
            (square, piece),
            (square.flip_vertical(), other),
            (square.flip_horizontal(), piece),
            (square.flip_horizontal().flip_vertical(), other),
        ];
        for (form, (square, piece)) in forms.iter_mut().zip(pictures) {
            *form ^= Zobrist64::zobrist_for_piece(square, piece).0;
        }
    }
    let rights = [
        (Square::H1, Color::White, CastlingSide::KingSide),
        (Square::A1, Color::White, CastlingSide::QueenSide),
        (Square::H8, Color::Black, CastlingSide::KingSide),
        (Square::A8, Color::Black, CastlingSide::QueenSide),
    ];
    let [plain, reversed, ..] = &mut forms;
    for (square, color, side) in rights {
        if setup.castling_rights.contains(square) {
            *plain ^= Zobrist64::zobrist_for_castling_right(color, side).0;
            *reversed ^= Zobrist64::zobrist_for_castling_right(!color, side).0;
        }
    }
    let count = if setup.castling_rights.any() { 2 } else { 4 };
    forms.into_iter().take(count)
}
