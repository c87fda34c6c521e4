//! The 166 known move bytes.
//!
//! The unofficial specification 0.2 and five readers agree on every byte; 138 of them
//! occur in a genuine book, all decoding to legal moves. The 28 others are pawn 8
//! forward-right and the 27 bytes of the second queen.
//!
//! One row must be wrong: 0x1a and 0xf9 both mean "queen 2 forward 6", and no byte means
//! "queen 2 right 6". See [`super::moves::decode`].

use shakmaty::{CastlingSide, File, Rank, Role, Square};

/// The meaning of a move byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveCode {
    /// The role of the piece.
    pub role: Role,
    /// The number of the piece in that role on the canonical board, from 1.
    pub number: u8,
    /// Ranks up the canonical board, modulo 8.
    pub forward: i8,
    /// Files to the right, modulo 8.
    pub right: i8,
}

impl MoveCode {
    /// The castling side, if this is castling: the king two files sideways.
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

/// One line for each byte: byte, piece, its number on the canonical board, ranks forward,
/// files right.
const CSV: &[u8] = include_bytes!("../../tests/data/ctg/moves.csv");

/// The meaning of each byte; `None` for the 90 unknown ones.
pub(super) const BY_BYTE: [Option<MoveCode>; 256] = {
    let mut table = [None; 256];
    let mut rows = 0;
    let mut at = line_end(0) + 1;
    while at < CSV.len() {
        let byte = hex(CSV[at + 2]) << 4 | hex(CSV[at + 3]);
        table[byte as usize] = Some(code_of(at + 5));
        rows += 1;
        at = line_end(at) + 1;
    }
    assert!(rows == 166);
    table
};

const fn line_end(mut at: usize) -> usize {
    while CSV[at] != b'\n' {
        at += 1;
    }
    at
}

const fn hex(digit: u8) -> u8 {
    match (digit as char).to_digit(16) {
        Some(value) => value as u8,
        None => panic!("no digit of a move byte"),
    }
}

/// Parses `R,1,0,6`, or castling: `O-O,,,`.
const fn code_of(at: usize) -> MoveCode {
    let Some(role) = Role::from_char(CSV[at] as char) else {
        let right = if CSV[at + 3] == b'-' { -2 } else { 2 };
        return MoveCode {
            role: Role::King,
            number: 1,
            forward: 0,
            right,
        };
    };
    let (forward, comma) = signed(at + 4);
    let (right, _) = signed(comma + 1);
    MoveCode {
        role,
        number: CSV[at + 2] - b'0',
        forward,
        right,
    }
}

/// Parses a digit, perhaps with a sign; returns it and where it ends.
const fn signed(at: usize) -> (i8, usize) {
    match CSV[at] {
        b'-' => (-((CSV[at + 1] - b'0') as i8), at + 2),
        digit => ((digit - b'0') as i8, at + 1),
    }
}

/// A byte without meaning, for [`BY_MOVE`].
pub(super) const NO_BYTE: u8 = 0x02;

/// The byte of each move: by role (pawn = 0 to king = 5) and number - 1, then by 8 *
/// (forward modulo 8) + (right modulo 8). [`NO_BYTE`] if there is none; of two bytes for
/// one move the lower one.
pub(super) const BY_MOVE: [[u8; 64]; 48] = {
    let mut table = [[NO_BYTE; 64]; 48];
    let mut byte = 256;
    while byte > 0 {
        byte -= 1;
        if let Some(code) = BY_BYTE[byte] {
            table[man_index(code.role, code.number)][code.delta_index()] = byte as u8;
        }
    }
    table
};

pub(super) const fn man_index(role: Role, number: u8) -> usize {
    8 * (role as usize - 1) + number as usize - 1
}
