//! A part of a large file, temporarily in memory.
//!
//! Code that reads a file from end to end reads a large part at once, uses it and frees
//! it: one system call instead of many, and later changes of the file do not matter.

use std::ops::Range;
use std::sync::Arc;

use super::file::{DataFile, FileError};

/// Larger parts are not loaded, because only a few distant bytes of them are needed.
const LARGEST_BYTES: u64 = 4 << 20;

/// A part of a file. Bytes outside of it can be read too, by a system call.
#[derive(Debug)]
pub struct Window {
    file: Arc<DataFile>,
    start: u64,
    part: Vec<u8>,
}

impl Window {
    /// Loads the part of `file` in `range`, as far as it exists and can be read.
    #[must_use]
    pub fn new(file: Arc<DataFile>, range: Range<u64>) -> Window {
        let end = range.end.min(file.len());
        let count = end.saturating_sub(range.start);
        let mut part = Vec::new();
        if (1..=LARGEST_BYTES).contains(&count) {
            part.resize(count as usize, 0);
            let read = file
                .view()
                .and_then(|view| view.copy(range.start, &mut part));
            // A later read of those bytes gets the same error and can report it.
            part.truncate(read.unwrap_or(0));
        }
        Window {
            file,
            start: range.start,
            part,
        }
    }

    /// Length in bytes of the whole file at opening.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file.len()
    }

    /// `count` bytes from `offset` of the file on; fewer only at the end of the file
    /// (as opened). Bytes outside of the part are read into `buffer`; always use the
    /// returned slice.
    ///
    /// # Errors
    ///
    /// The system cannot read, or the file has become too short.
    pub fn read<'b>(
        &'b self,
        offset: u64,
        count: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], FileError> {
        if let Some(bytes) = self.inside(offset, count) {
            return Ok(bytes);
        }
        let left = self.file.len().saturating_sub(offset);
        let count = usize::try_from(left).map_or(count, |left| left.min(count));
        buffer.resize(count, 0);
        let read = self.file.view()?.copy(offset, buffer)?;
        Ok(buffer.get(..read).unwrap_or_default())
    }

    fn inside(&self, offset: u64, count: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.part.get(start..start.checked_add(count)?)
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
                assert_eq!(window.file_len(), len as u64);
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
    fn what_the_file_has_lost_is_missed_outside_of_the_part_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let len = IN_MEMORY_LIMIT + 9000;
        fs::write(&path, pattern(len as usize)).unwrap();
        let file = Arc::new(DataFile::open_in_pieces(&path).unwrap());
        let window = Window::new(file, 0..len - 1000);
        let cut = File::options().write(true).open(&path).unwrap();
        cut.set_len(5000).unwrap();
        let mut buffer = Vec::new();
        assert!(matches!(
            window.read(len - 100, 50, &mut buffer),
            Err(FileError::Shrunk { now: 5000, .. })
        ));
        let kept = window.read(len - 2000, 10, &mut buffer).unwrap();
        assert_eq!(
            kept,
            pattern(len as usize)
                .get(len as usize - 2000..)
                .unwrap()
                .get(..10)
                .unwrap()
        );
    }
}
