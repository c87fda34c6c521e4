//! Reads a part of a file as a stream.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::file::DataFile;

/// Reads a part of a file from its start to its end.
#[derive(Clone, Debug)]
pub struct FileReader {
    pub(super) file: Arc<DataFile>,
    pub(super) part: Range<u64>,
    at: u64,
}

impl FileReader {
    /// Makes a reader of a part, which may end after the end of the file.
    #[must_use]
    pub fn new(file: Arc<DataFile>, part: Range<u64>) -> FileReader {
        let at = part.start;
        FileReader { file, part, at }
    }
}

impl io::Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.part.end.saturating_sub(self.at);
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let buffer = buffer.get_mut(..count).unwrap_or_default();
        let count = self.file.view()?.copy(self.at, buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl io::Seek for FileReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let place = match to {
            io::SeekFrom::Start(place) => self.part.start.checked_add(place),
            io::SeekFrom::End(distance) => self.part.end.checked_add_signed(distance),
            io::SeekFrom::Current(distance) => self.at.checked_add_signed(distance),
        };
        let place = place.filter(|place| *place >= self.part.start);
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at - self.part.start)
    }
}
