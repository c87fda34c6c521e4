//! The 166 known move bytes.
//!
//! Agreed upon by the unofficial specification 0.2 and five readers, byte for
//! byte; 138 of them occur in a genuine book, all decoding to legal moves. The
//! 28 others are pawn 8 forward-right and the 27 bytes of the second queen.
//!
//! One row must be wrong: 0x1a and 0xf9 both say "queen 2 forward 6", and no
//! byte says "queen 2 right 6". See [`super::moves::decode`].

use shakmaty::Role::{self, Bishop, King, Knight, Pawn, Queen, Rook};
use shakmaty::{CastlingSide, File, Rank, Square};

/// What a move byte says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveCode {
    /// The man's role.
    pub role: Role,
    /// Which man of that role on the canonical board, 1 is the first.
    pub number: u8,
    /// Ranks up the canonical board, modulo 8.
    pub forward: i8,
    /// Files to the right, modulo 8.
    pub right: i8,
}

impl MoveCode {
    /// The castling this is, if it is one: the king two files sideways.
    #[must_use]
    pub const fn castling(self) -> Option<CastlingSide> {
        match self {
            MoveCode {
                role: Role::King,
                forward: 0,
                right: 2,
                ..
            } => Some(CastlingSide::KingSide),
            MoveCode {
                role: Role::King,
                forward: 0,
                right: -2,
                ..
            } => Some(CastlingSide::QueenSide),
            _ => None,
        }
    }

    pub(super) const fn delta_index(self) -> usize {
        (self.forward as u8 & 7) as usize * 8 + (self.right as u8 & 7) as usize
    }

    pub(super) fn target(self, from: Square) -> Square {
        let step = |at: u32, by: i8| at.wrapping_add_signed(i32::from(by)) & 7;
        Square::from_coords(
            File::new(step(from.file().to_u32(), self.right)),
            Rank::new(step(from.rank().to_u32(), self.forward)),
        )
    }
}

/// What each byte says; `None` for the 90 bytes nobody knows.
pub(super) const BY_BYTE: [Option<MoveCode>; 256] = {
    let mut table = [None; 256];
    let mut n = 0;
    while n < ROWS.len() {
        let (byte, code) = ROWS[n];
        table[byte as usize] = Some(code);
        n += 1;
    }
    table
};

/// A byte that means nothing, for [`BY_MOVE`].
pub(super) const NO_BYTE: u8 = 0x02;

/// The byte of each move: by role (pawn = 0 to king = 5) and number - 1, then
/// by 8 * (forward modulo 8) + (right modulo 8). [`NO_BYTE`] where there is none.
/// Of two bytes for one move the lower one stands here.
pub(super) const BY_MOVE: [[u8; 64]; 48] = {
    let mut table = [[NO_BYTE; 64]; 48];
    let mut n = ROWS.len();
    while n > 0 {
        n -= 1;
        let (byte, code) = ROWS[n];
        let man = man_index(code.role, code.number);
        table[man][code.delta_index()] = byte;
    }
    table
};

pub(super) const fn man_index(role: Role, number: u8) -> usize {
    let role = match role {
        Pawn => 0,
        Knight => 1,
        Bishop => 2,
        Rook => 3,
        Queen => 4,
        King => 5,
    };
    8 * role + number as usize - 1
}

const fn row(byte: u8, role: Role, number: u8, forward: i8, right: i8) -> (u8, MoveCode) {
    let code = MoveCode {
        role,
        number,
        forward,
        right,
    };
    (byte, code)
}

/// Byte, man, its number on the canonical board, ranks forward, files right.
pub(super) const ROWS: [(u8, MoveCode); 166] = [
    row(0x00, Pawn, 5, 1, 1),
    row(0x01, Knight, 2, -1, -2),
    row(0x03, Queen, 2, 0, 2),
    row(0x04, Pawn, 2, 1, 0),
    row(0x05, Queen, 1, 1, 0),
    row(0x06, Pawn, 4, 1, -1),
    row(0x08, Queen, 2, 0, 4),
    row(0x09, Bishop, 2, 6, 6),
    row(0x0a, King, 1, -1, 0),
    row(0x0c, Pawn, 1, 1, -1),
    row(0x0d, Bishop, 1, 3, 3),
    row(0x0e, Rook, 2, 0, 3),
    row(0x0f, Knight, 1, -1, -2),
    row(0x12, Bishop, 1, 7, 7),
    row(0x13, King, 1, 1, 0),
    row(0x14, Pawn, 8, 1, 1),
    row(0x15, Bishop, 1, 5, 5),
    row(0x18, Pawn, 7, 1, 0),
    row(0x1a, Queen, 2, 6, 0),
    row(0x1b, Bishop, 1, 1, -1),
    row(0x1d, Bishop, 2, 7, 7),
    row(0x21, Rook, 2, 0, 7),
    row(0x22, Bishop, 2, 2, -2),
    row(0x23, Queen, 2, 6, 6),
    row(0x24, Pawn, 8, 1, -1),
    row(0x26, Bishop, 1, 7, -7),
    row(0x27, Pawn, 3, 1, -1),
    row(0x28, Queen, 1, 5, 5),
    row(0x29, Queen, 1, 0, 6),
    row(0x2a, Knight, 2, -2, 1),
    row(0x2d, Pawn, 6, 1, 1),
    row(0x2e, Bishop, 1, 1, 1),
    row(0x2f, Queen, 1, 0, 1),
    row(0x30, Knight, 2, -2, -1),
    row(0x31, Queen, 1, 0, 3),
    row(0x32, Bishop, 2, 5, 5),
    row(0x34, Knight, 1, 2, 1),
    row(0x36, Knight, 1, 1, 2),
    row(0x37, Queen, 1, 4, 0),
    row(0x38, Queen, 2, 4, -4),
    row(0x39, Queen, 1, 0, 5),
    row(0x3a, Bishop, 1, 6, 6),
    row(0x3b, Queen, 2, 5, -5),
    row(0x3c, Bishop, 1, 5, -5),
    row(0x41, Queen, 2, 5, 5),
    row(0x42, Queen, 1, 7, -7),
    row(0x44, King, 1, -1, 1),
    row(0x45, Queen, 1, 3, 3),
    row(0x4a, Pawn, 8, 2, 0),
    row(0x4b, Queen, 1, 5, -5),
    row(0x4c, Knight, 2, 2, 1),
    row(0x4d, Queen, 2, 1, 0),
    row(0x50, Rook, 1, 6, 0),
    row(0x52, Rook, 1, 0, 6),
    row(0x54, Bishop, 2, 1, -1),
    row(0x55, Pawn, 3, 1, 0),
    row(0x5c, Pawn, 7, 1, 1),
    row(0x5f, Pawn, 5, 2, 0),
    row(0x61, Queen, 1, 6, 6),
    row(0x62, Pawn, 2, 2, 0),
    row(0x63, Queen, 2, 7, -7),
    row(0x66, Bishop, 1, 3, -3),
    row(0x67, King, 1, 1, 1),
    row(0x69, Rook, 2, 7, 0),
    row(0x6a, Bishop, 1, 4, 4),
    row(0x6b, King, 1, 0, 2),
    row(0x6e, Rook, 1, 0, 5),
    row(0x6f, Queen, 2, 7, 7),
    row(0x72, Bishop, 2, 7, -7),
    row(0x74, Queen, 1, 0, 2),
    row(0x79, Bishop, 2, 6, -6),
    row(0x7a, Rook, 1, 3, 0),
    row(0x7b, Rook, 2, 6, 0),
    row(0x7c, Pawn, 3, 1, 1),
    row(0x7d, Rook, 2, 1, 0),
    row(0x7e, Queen, 1, 3, -3),
    row(0x7f, Rook, 1, 0, 1),
    row(0x80, Queen, 1, 6, -6),
    row(0x81, Rook, 1, 1, 0),
    row(0x82, Pawn, 6, 1, -1),
    row(0x85, Knight, 1, 2, -1),
    row(0x86, Rook, 1, 0, 7),
    row(0x87, Rook, 1, 5, 0),
    row(0x8a, Knight, 1, -2, 1),
    row(0x8b, Pawn, 1, 1, 1),
    row(0x8c, King, 1, -1, -1),
    row(0x8e, Queen, 2, 2, -2),
    row(0x8f, Queen, 1, 0, 7),
    row(0x92, Queen, 2, 1, 1),
    row(0x94, Queen, 1, 3, 0),
    row(0x96, Pawn, 2, 1, 1),
    row(0x97, King, 1, 0, -1),
    row(0x98, Rook, 1, 0, 3),
    row(0x99, Rook, 1, 4, 0),
    row(0x9a, Queen, 1, 6, 0),
    row(0x9b, Pawn, 3, 2, 0),
    row(0x9d, Queen, 1, 2, 0),
    row(0x9f, Bishop, 2, 4, -4),
    row(0xa0, Queen, 2, 3, 0),
    row(0xa2, Queen, 1, 2, 2),
    row(0xa3, Pawn, 8, 1, 0),
    row(0xa5, Rook, 2, 5, 0),
    row(0xa9, Rook, 2, 0, 2),
    row(0xab, Queen, 2, 6, -6),
    row(0xad, Rook, 2, 0, 4),
    row(0xae, Queen, 2, 3, 3),
    row(0xb0, Queen, 2, 4, 0),
    row(0xb1, Pawn, 6, 2, 0),
    row(0xb2, Bishop, 1, 6, -6),
    row(0xb5, Rook, 2, 0, 5),
    row(0xb7, Queen, 1, 5, 0),
    row(0xb9, Bishop, 2, 3, 3),
    row(0xbb, Pawn, 5, 1, 0),
    row(0xbc, Queen, 2, 0, 5),
    row(0xbd, Queen, 2, 2, 0),
    row(0xbe, King, 1, 0, 1),
    row(0xc1, Bishop, 1, 2, 2),
    row(0xc2, Bishop, 2, 2, 2),
    row(0xc3, Bishop, 1, 2, -2),
    row(0xc4, Rook, 2, 0, 1),
    row(0xc5, Rook, 2, 4, 0),
    row(0xc6, Queen, 2, 5, 0),
    row(0xc7, Pawn, 7, 1, -1),
    row(0xc8, Pawn, 7, 2, 0),
    row(0xc9, Queen, 2, 7, 0),
    row(0xca, Bishop, 2, 3, -3),
    row(0xcb, Pawn, 6, 1, 0),
    row(0xcc, Bishop, 2, 5, -5),
    row(0xcd, Rook, 1, 0, 2),
    row(0xcf, Pawn, 4, 1, 0),
    row(0xd1, Pawn, 2, 1, -1),
    row(0xd2, Knight, 2, 1, 2),
    row(0xd3, Knight, 2, 1, -2),
    row(0xd7, Queen, 1, 1, -1),
    row(0xd8, Rook, 2, 0, 6),
    row(0xd9, Queen, 1, 2, -2),
    row(0xda, Knight, 1, -2, -1),
    row(0xdb, Pawn, 1, 2, 0),
    row(0xde, Pawn, 5, 1, -1),
    row(0xdf, King, 1, 1, -1),
    row(0xe0, Knight, 2, -1, 2),
    row(0xe1, Rook, 1, 7, 0),
    row(0xe3, Rook, 2, 3, 0),
    row(0xe5, Queen, 1, 0, 4),
    row(0xe6, Pawn, 4, 2, 0),
    row(0xe7, Queen, 1, 4, 4),
    row(0xe8, Rook, 1, 2, 0),
    row(0xe9, Knight, 1, -1, 2),
    row(0xeb, Pawn, 4, 1, 1),
    row(0xec, Pawn, 1, 1, 0),
    row(0xed, Queen, 1, 7, 7),
    row(0xee, Queen, 2, 1, -1),
    row(0xef, Rook, 1, 0, 4),
    row(0xf0, Queen, 2, 0, 7),
    row(0xf1, Queen, 1, 1, 1),
    row(0xf3, Knight, 2, 2, -1),
    row(0xf4, Rook, 2, 2, 0),
    row(0xf5, Bishop, 2, 1, 1),
    row(0xf6, King, 1, 0, -2),
    row(0xf7, Knight, 1, 1, -2),
    row(0xf8, Queen, 2, 0, 1),
    row(0xf9, Queen, 2, 6, 0),
    row(0xfa, Queen, 2, 0, 3),
    row(0xfb, Queen, 2, 2, 2),
    row(0xfd, Queen, 1, 7, 0),
    row(0xfe, Queen, 2, 3, -3),
];
