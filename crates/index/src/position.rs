//! Encoding of the rows of a position.

use crate::row::{IndexedMove, MORE, Row};
use tabia_io::input::bytes::Cursor;

/// Encodes the rows of a position; they must be sorted by move and bucket.
#[derive(Debug, Default)]
pub(crate) struct PositionWriter {
    pub(crate) bytes: Vec<u8>,
    /// The last move written, and the offset of its second byte.
    last_move: Option<(IndexedMove, usize)>,
    /// Offset of the last row.
    last_row: usize,
}

impl PositionWriter {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.last_move = None;
    }

    /// Adds a row; returns whether it is the first of its move.
    pub(crate) fn push(&mut self, row: &Row) -> bool {
        let is_new = match self.last_move {
            Some((mv, _)) if mv == row.mv => {
                self.set(self.last_row, MORE);
                false
            }
            Some((_, at)) => {
                self.set(at, MORE_MOVES);
                true
            }
            None => true,
        };
        if is_new {
            self.bytes.extend_from_slice(&row.mv.0.to_le_bytes());
            self.last_move = Some((row.mv, self.bytes.len() - 1));
        }
        self.last_row = row.encode_numbers(&mut self.bytes);
        is_new
    }

    fn set(&mut self, at: usize, bit: u8) {
        if let Some(byte) = self.bytes.get_mut(at) {
            *byte |= bit;
        }
    }
}

/// Bit in the second byte of a move: another move follows.
const MORE_MOVES: u8 = 0x80;

/// Decodes the rows of a position; `None` if the bytes are invalid.
pub(crate) fn read_rows(bytes: &[u8], row: &mut Row, mut each: impl FnMut(&Row)) -> Option<()> {
    let mut cursor = Cursor::new(bytes);
    loop {
        let word = u16::from_le_bytes([cursor.u8()?, cursor.u8()?]);
        row.mv = IndexedMove(word & 0x7fff);
        loop {
            let more = row.decode_numbers(&mut cursor)?;
            each(row);
            if !more {
                break;
            }
        }
        if word >> 8 & u16::from(MORE_MOVES) == 0 {
            return (cursor.remaining() == 0).then_some(());
        }
    }
}
