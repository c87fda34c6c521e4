//! Sorts the entries of a Polyglot book.

use super::{ENTRY_BYTES, key_of};
use crate::Error;
use tabia_io::input::file::DataFile;

/// Files up to this many bytes are sorted in memory.
pub(super) const SORT_LIMIT: u64 = 512 << 20;

/// Bytes read at a time.
const PIECE: usize = 4096;

/// All entries sorted by key, equal keys in the order of the file, with their numbers.
pub(super) fn sort(file: &DataFile) -> Result<Vec<([u8; ENTRY_BYTES], u32)>, Error> {
    let view = file.positional_view();
    let mut buffer = [0; PIECE];
    let mut entries = Vec::new();
    let mut start = 0;
    loop {
        let read = view
            .read(start, &mut buffer)
            .map_err(|error| Error::read(file.path(), error))?;
        let (chunks, _) = read.as_chunks::<ENTRY_BYTES>();
        if chunks.is_empty() {
            break;
        }
        // SORT_LIMIT ensures that the numbers fit 32 bits.
        entries.extend(chunks.iter().map(|entry| (*entry, 0)));
        start += (chunks.len() * ENTRY_BYTES) as u64;
    }
    for (entry, number) in entries.iter_mut().zip(0..) {
        entry.1 = number;
    }
    entries.sort_by_key(|(entry, _)| key_of(entry));
    Ok(entries)
}
