//! Checks whether the entries of a Polyglot book are sorted, and sorts them.

use super::{ENTRY_BYTES, key_of};
use crate::Error;
use tabia_io::input::file::DataFile;

/// Files up to this many bytes are checked completely.
const FULL_CHECK: u64 = 64 << 20;

/// The number of pieces, evenly spread, that are checked of a larger file.
const SAMPLES: u64 = 4096;

/// Files up to this many bytes are sorted in memory.
pub(super) const SORT_LIMIT: u64 = 512 << 20;

/// Bytes read at a time.
const PIECE: usize = 4096;

/// Offset in bytes of the first entry whose key is below one before it.
pub(super) fn first_disorder(file: &DataFile) -> Result<Option<u64>, Error> {
    let pieces = file.len().div_ceil(PIECE as u64);
    let step = if file.len() <= FULL_CHECK {
        1
    } else {
        (pieces / SAMPLES).max(1)
    };
    let view = file.positional_view();
    let mut buffer = [0; PIECE];
    let mut last = 0;
    let mut piece = 0;
    while piece < pieces {
        let start = piece * PIECE as u64;
        let read = view
            .read(start, &mut buffer)
            .map_err(|error| Error::read(file.path(), error))?;
        for (offset, entry) in (start..).step_by(ENTRY_BYTES).zip(read.as_chunks().0) {
            let key = key_of(entry);
            if key < last {
                return Ok(Some(offset));
            }
            last = key;
        }
        piece += step;
    }
    Ok(None)
}

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
