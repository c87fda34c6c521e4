//! From the set-up of a canonical position to its board.

use shakmaty::{Bitboard, Color, Rank, Role, Setup};

use super::position::rights_nibble;
use super::{CanonicalBoard, Orientation};

/// Why a set-up cannot be a position of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupFault {
    /// Canonical positions have White to move.
    #[error("Black is to move; a book holds positions with White to move, colours exchanged")]
    BlackToMove,
    /// Not one king of each colour, or more than 32 men.
    #[error("a position of a book has one king of each colour and 32 men at the most")]
    Men,
    /// Rights of rooks that are not in the corners.
    #[error("castling rights other than KQkq cannot be stored")]
    Castling,
    /// The en passant square is not on the sixth rank.
    #[error("the en passant square must be on the sixth rank, as White is to move")]
    EnPassant,
}

impl CanonicalBoard {
    /// The inverse of [`CanonicalBoard::to_setup`]: converts everything as given,
    /// including the en passant square. It checks neither legality nor whether the files
    /// should be mirrored.
    ///
    /// # Errors
    ///
    /// No key can express the set-up.
    pub fn from_setup(setup: &Setup) -> Result<CanonicalBoard, SetupFault> {
        if setup.turn == Color::Black {
            return Err(SetupFault::BlackToMove);
        }
        let board = &setup.board;
        let kings = board.kings();
        let one = |color: Color| (kings & board.by_color(color)).count() == 1;
        if board.occupied().count() > 32 || !one(Color::White) || !one(Color::Black) {
            return Err(SetupFault::Men);
        }
        let rights = setup.castling_rights;
        if !rights.is_subset(Bitboard::CORNERS) {
            return Err(SetupFault::Castling);
        }
        let en_passant = match setup.ep_square {
            Some(square) if square.rank() != Rank::Sixth => return Err(SetupFault::EnPassant),
            square => square.map(|square| square.file().to_u32() as u8),
        };
        // From 8 * rank + file to 8 * file + rank.
        let place = |squares: Bitboard| squares.flip_diagonal().0;
        let mut role_bits = [0; 3];
        for role in Role::ALL {
            for (n, word) in role_bits.iter_mut().enumerate() {
                if u8::from(role) >> n & 1 != 0 {
                    *word |= place(board.by_role(role));
                }
            }
        }
        Ok(CanonicalBoard {
            own: place(board.by_color(Color::White)),
            other: place(board.by_color(Color::Black)),
            role_bits,
            castling: rights_nibble(rights, false),
            en_passant,
            pinned_en_passant: None,
            orientation: Orientation::default(),
        })
    }

    /// Whether readers look for the position in this form: not if the king is on the
    /// files a to d and neither side can castle.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        let king = self.own_man(shakmaty::Role::King, 1);
        self.castling != 0 || king.is_none_or(|king| king.file() >= shakmaty::File::E)
    }
}
