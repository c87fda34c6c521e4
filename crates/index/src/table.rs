//! The entries of a table: bytes under a key, in blocks of neighbouring keys.
//!
//! An entry is the difference between its key and the key before it in the block,
//! the length of its bytes, and the bytes.

use crate::Error;
use tabia_games::tgx::{Directory, TableWriter, TgxFile, TgxWriter};
use tabia_io::input::bytes::{Cursor, put_varint};

/// Appends an entry to a table. Keys must ascend.
pub(crate) fn put(
    table: &mut TableWriter,
    key: u64,
    bytes: &[u8],
    writer: &mut TgxWriter,
) -> Result<(), Error> {
    let (out, before) = table.entry(key, writer)?;
    put_varint(key - before.unwrap_or(0), out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Reads the entry after the one with key `before` (0 at the start of a block);
/// `None` if it is invalid.
fn next<'b>(cursor: &mut Cursor<'b>, before: u64) -> Option<(u64, &'b [u8])> {
    let key = before.checked_add(cursor.varint()?)?;
    let length = usize::try_from(cursor.varint()?).ok()?;
    Some((key, cursor.take(length)?))
}

/// The bytes of a key in a block. The outer `None` means that the block is
/// invalid.
#[allow(clippy::option_option)]
pub(crate) fn find(block: &[u8], wanted: u64) -> Option<Option<&[u8]>> {
    let mut cursor = Cursor::new(block);
    let mut key = 0;
    while cursor.remaining() > 0 {
        let bytes;
        (key, bytes) = next(&mut cursor, key)?;
        if key >= wanted {
            return Some((key == wanted).then_some(bytes));
        }
    }
    Some(None)
}

/// Reads a table from its first entry to its last.
pub(crate) struct Entries<'f> {
    file: &'f TgxFile,
    directory: &'f Directory,
    /// Number of the next block.
    next: usize,
    /// A copy of the current block.
    block: Vec<u8>,
    /// Offset of the next entry.
    at: usize,
    key: Option<u64>,
    /// Offset of the current entry's bytes.
    start: usize,
}

impl<'f> Entries<'f> {
    /// Starts at the first entry.
    pub(crate) fn new(file: &'f TgxFile, directory: &'f Directory) -> Result<Entries<'f>, Error> {
        let mut entries = Entries {
            file,
            directory,
            next: 0,
            block: Vec::new(),
            at: 0,
            key: None,
            start: 0,
        };
        entries.advance()?;
        Ok(entries)
    }

    /// The key of the current entry; `None` after the last one.
    pub(crate) fn key(&self) -> Option<u64> {
        self.key
    }

    /// Bytes of this entry.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.block.get(self.start..self.at).unwrap_or_default()
    }

    /// Moves to the next entry.
    pub(crate) fn advance(&mut self) -> Result<(), Error> {
        let mut before = self.key.unwrap_or(0);
        while self.at >= self.block.len() {
            if self.next >= self.directory.len() {
                self.key = None;
                return Ok(());
            }
            let mut buffer = Vec::new();
            let bytes = self.file.block(self.directory, self.next, &mut buffer)?;
            self.block.clear();
            self.block.extend_from_slice(bytes);
            (self.at, before) = (0, 0);
            self.next += 1;
        }
        let rest = self.block.get(self.at..).unwrap_or_default();
        let mut cursor = Cursor::new(rest);
        let Some((key, bytes)) = next(&mut cursor, before) else {
            return Err(self.damaged());
        };
        // A key that does not ascend could make the loop endless.
        if self.key.is_some_and(|last| last >= key) {
            return Err(self.damaged());
        }
        self.at += cursor.position();
        self.start = self.at - bytes.len();
        self.key = Some(key);
        Ok(())
    }

    /// The error for invalid bytes of the current entry.
    pub(crate) fn damaged(&self) -> Error {
        let block = self.next.saturating_sub(1);
        self.file.damaged_block(self.directory, block).into()
    }
}
