//! A part of a large file, mapped for as long as it is wanted.
//!
//! Whoever reads a file from end to end maps a part, uses it and lets it go:
//! nothing is copied, and what is resident is the part, not the file.

use std::ops::Range;
use std::sync::Arc;

use memmap2::Mmap;

use super::file::{DataFile, ReadError};

/// A larger part is not mapped: bytes that are wanted out of it lie far apart.
const LARGEST_BYTES: u64 = 64 << 20;

/// A part of a file. Bytes outside of it can be read too, by a system call.
#[derive(Debug)]
pub struct Window {
    file: Arc<DataFile>,
    start: u64,
    map: Option<Mmap>,
}

impl Window {
    /// The part of `file` in `range`, as far as it exists.
    #[must_use]
    pub fn new(file: Arc<DataFile>, range: Range<u64>) -> Window {
        let end = range.end.min(file.len());
        let count = end.saturating_sub(range.start);
        let map = if (1..=LARGEST_BYTES).contains(&count) {
            usize::try_from(count)
                .ok()
                .and_then(|count| file.map_part(range.start, count))
        } else {
            None
        };
        Window {
            file,
            start: range.start,
            map,
        }
    }

    /// Length in bytes of the whole file at opening.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file.len()
    }

    /// `count` bytes from `offset` of the file on, fewer only where the file
    /// (as opened) ends. Bytes that are neither mapped nor in memory go through
    /// `buffer`, which may be left untouched: use what is returned.
    ///
    /// # Errors
    ///
    /// The system cannot read, or the file has become too short.
    pub fn read<'b>(
        &'b self,
        offset: u64,
        count: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], ReadError> {
        if let Some(bytes) = self.mapped(offset, count) {
            // As for a whole mapping: a page that is gone must not be touched.
            if self.file.present_len()? >= self.file.len() {
                return Ok(bytes);
            }
        }
        let view = self.file.view()?;
        if view.bytes().is_none() {
            let left = self.file.len().saturating_sub(offset);
            let count = usize::try_from(left).map_or(count, |left| left.min(count));
            buffer.resize(count, 0);
            return view.read(offset, buffer);
        }
        let bytes = view.bytes().unwrap_or_default();
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let end = start.saturating_add(count).min(bytes.len());
        Ok(bytes.get(start..end).unwrap_or_default())
    }

    fn mapped(&self, offset: u64, count: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.map.as_deref()?.get(start..start.checked_add(count)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::super::file::IN_MEMORY_LIMIT;
    use super::*;

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i / 7 % 251) as u8).collect()
    }

    #[test]
    fn inside_and_outside_of_the_part_it_reads_what_the_file_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        for len in [0, 5000, IN_MEMORY_LIMIT as usize + 9000] {
            let bytes = pattern(len);
            fs::write(&path, &bytes).unwrap();
            let file = Arc::new(DataFile::open_in_pieces(&path).unwrap());
            for range in [0..0, 100..4200, 4097..1 << 40] {
                let window = Window::new(file.clone(), range);
                for (offset, count) in [(0, 50), (4100, 99), (len.saturating_sub(9), 30)] {
                    let end = (offset + count).min(len);
                    let expected = bytes.get(offset..end).unwrap_or_default();
                    let mut buffer = Vec::new();
                    let found = window.read(offset as u64, count, &mut buffer).unwrap();
                    assert_eq!(found, expected, "{len} {offset} {count}");
                }
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_part_that_the_file_has_lost_is_no_longer_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let len = IN_MEMORY_LIMIT + 9000;
        fs::write(&path, pattern(len as usize)).unwrap();
        let file = Arc::new(DataFile::open_in_pieces(&path).unwrap());
        let window = Window::new(file, 0..len);
        assert!(window.map.is_some());
        let cut = File::options().write(true).open(&path).unwrap();
        cut.set_len(5000).unwrap();
        let mut buffer = Vec::new();
        assert!(matches!(
            window.read(len - 100, 50, &mut buffer),
            Err(ReadError::Shrunk { now: 5000, .. })
        ));
        assert_eq!(window.read(4000, 10, &mut buffer).unwrap().len(), 10);
    }
}
