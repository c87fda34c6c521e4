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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _, Seek as _, SeekFrom};

    use super::*;

    /// Whatever is read and sought, and however the file is held.
    #[test]
    fn a_part_is_read_as_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let bytes: Vec<u8> = (0..=255).cycle().take(3000).collect();
        std::fs::write(&path, &bytes).unwrap();
        for mmap in [true, false] {
            let file = Arc::new(DataFile::open(&path, mmap).unwrap());
            let mut part = FileReader::new(file, 700..2000);
            let mut own = Cursor::new(&bytes[700..2000]);
            for to in [
                SeekFrom::Start(0),
                SeekFrom::Current(90),
                SeekFrom::End(-30),
                SeekFrom::Current(-400),
                SeekFrom::Current(-3000),
                SeekFrom::End(-1301),
                SeekFrom::Start(1299),
                SeekFrom::End(8),
            ] {
                assert_eq!(part.seek(to).ok(), own.seek(to).ok(), "{to:?}");
                let mut buffers = [[0; 100]; 2];
                let counts = [part.read(&mut buffers[0]), own.read(&mut buffers[1])];
                let [count, wanted] = counts.map(Result::unwrap);
                assert_eq!((count, buffers[0]), (wanted, buffers[1]), "{to:?}");
            }
        }
    }
}
