//! The rows of a position as bytes.

use super::row::{IndexedMove, MORE, Row};
use tabia_io::input::bytes::Cursor;

/// Writes the rows of a position, which come by move and bucket.
#[derive(Debug, Default)]
pub(super) struct PositionWriter {
    pub(super) bytes: Vec<u8>,
    /// The move that was written last, and where its second byte is.
    last_move: Option<(IndexedMove, usize)>,
    /// Where the last row begins.
    last_row: usize,
}

impl PositionWriter {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.last_move = None;
    }

    /// Adds a row; whether it is the first of its move.
    pub(super) fn push(&mut self, row: &Row) -> bool {
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

/// In the second byte of a move: another one follows.
const MORE_MOVES: u8 = 0x80;

/// Reads the rows of a position; `None` if they make no sense.
pub(super) fn read_rows(bytes: &[u8], row: &mut Row, mut each: impl FnMut(&Row)) -> Option<()> {
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
