//! A sieve for passes over whole books: most legal moves lead to positions
//! that no book holds, and looking for those is most of the work.

use shakmaty::{
    CastlingSide, Chess, Color, EnPassantMode, Move, Position as _, Role, Setup, Square,
    zobrist::{Zobrist64, ZobristValue as _},
};

use super::{CtgBook, Error, NormalBoard};

/// Tells of most positions that are not in a book that they are not.
///
/// Holds the Zobrist hash of every position that an entry stands for, as a bit
/// among 64 for each entry, 512 MiB at the most: a hash follows a move at
/// little cost, and normalising a position does not.
#[derive(Clone, Debug)]
pub struct PositionFilter {
    bits: Vec<u64>,
    mask: u64,
    entries: u64,
}

impl PositionFilter {
    /// A filter for so many entries.
    fn with_room(entries: u64) -> PositionFilter {
        let bits = entries.saturating_mul(64).clamp(1 << 12, 1 << 32);
        let bits = bits.next_power_of_two();
        PositionFilter {
            bits: vec![0; (bits / 64) as usize],
            mask: bits - 1,
            entries: 0,
        }
    }

    /// Entries of the book, counted.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    fn add(&mut self, board: &NormalBoard) {
        self.entries += 1;
        for hash in hashes(&board.to_setup()) {
            let place = hash & self.mask;
            if let Some(word) = self.bits.get_mut((place / 64) as usize) {
                *word |= 1 << (place % 64);
            }
        }
    }

    fn may_hold(&self, hash: u64) -> bool {
        let place = hash & self.mask;
        self.bits
            .get((place / 64) as usize)
            .is_some_and(|word| word >> (place % 64) & 1 != 0)
    }

    /// False only where the move leads out of the book. `here` is the hash of
    /// the position.
    pub(super) fn may_hold_after(&self, position: &Chess, here: Zobrist64, mv: Move) -> bool {
        if is_double_step(mv) {
            let mut child = position.clone();
            child.play_unchecked(mv);
            // En passant is not in the hashes.
            return child.pseudo_legal_ep_square().is_some()
                || self.may_hold(
                    child
                        .zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal)
                        .0,
                );
        }
        let mode = EnPassantMode::PseudoLegal;
        let after = position
            .update_zobrist_hash(here, mv, mode)
            .unwrap_or_else(|| {
                let mut child = position.clone();
                child.play_unchecked(mv);
                child.zobrist_hash(mode)
            });
        self.may_hold(after.0)
    }
}

fn is_double_step(mv: Move) -> bool {
    matches!(mv, Move::Normal { role: Role::Pawn, from, to, .. } if from.rank().distance(to.rank()) == 2)
}

/// Hashes of the two or four positions that a normalised one stands for, en
/// passant left out.
fn hashes(setup: &Setup) -> impl Iterator<Item = u64> {
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

impl CtgBook {
    /// Reads the whole book once and makes a filter of it, for
    /// [`CtgBook::probe_through`].
    ///
    /// # Errors
    ///
    /// The file cannot be read. What stands in damaged pages is not in the
    /// filter; a probe that needs one may not notice it.
    pub fn position_filter(&self) -> Result<PositionFilter, Error> {
        // A page holds 60 entries at the most, or little more.
        let mut filter = PositionFilter::with_room(u64::from(self.pages.walked()) * 50);
        let mut reader = self.pages.walker();
        for number in 0..self.pages.walked() {
            let page = match reader.page(number) {
                Ok(page) => page,
                Err(Error::Page { .. }) => continue,
                Err(error) => return Err(error),
            };
            for (_, entry) in page.entries().flatten() {
                let key = entry.key();
                if let Some(Ok(board)) = key.as_ref().map(NormalBoard::from_key) {
                    filter.add(&board);
                }
            }
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Along random games, the hashes of an entry are those of its positions.
    #[test]
    fn hashes_are_those_of_all_pictures() {
        let mut state = 7_u64;
        for _ in 0..40 {
            let mut position = Chess::default();
            for _ in 0..80 {
                let legal = position.legal_moves();
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let Some(&mv) = legal.get((state >> 33) as usize % legal.len().max(1)) else {
                    break;
                };
                position.play_unchecked(mv);
                if is_double_step(mv) {
                    continue;
                }
                let board = NormalBoard::from_position(&position).unwrap();
                let Zobrist64(hash) = position.zobrist_hash(EnPassantMode::PseudoLegal);
                assert!(hashes(&board.to_setup()).any(|known| known == hash));
            }
        }
    }
}
