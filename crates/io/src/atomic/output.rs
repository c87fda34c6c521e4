//! The write buffer of a new file. Large files bypass the system's cache where possible
//! (Linux, `O_DIRECT`): they must be synced at the end anyway, and copying them into
//! the cache is the largest part of the system's work (549 MB in the build that was measured).

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of one write.
const BLOCK_BYTES: usize = 1 << 20;

/// Direct writes must be aligned to this in memory and in the file.
const ALIGNMENT: usize = 4096;

#[derive(Debug)]
pub(super) struct Output {
    file: File,
    /// The file for direct writes of whole blocks; dropped at the first other write.
    direct: Option<File>,
    /// Bytes written that way.
    written: u64,
    /// Never grows beyond its first capacity.
    buffer: Vec<u8>,
    /// Offset of the data in the buffer, for the alignment.
    start: usize,
}

impl Output {
    /// The output for an empty file with this path.
    pub(super) fn new(file: File, path: &Path) -> Output {
        let mut buffer: Vec<u8> = Vec::with_capacity(BLOCK_BYTES + ALIGNMENT);
        let start = buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        buffer.resize(start, 0);
        Output {
            file,
            direct: open_direct(path),
            written: 0,
            buffer,
            start,
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    fn write_block(&mut self) -> io::Result<()> {
        if let Some(direct) = &mut self.direct {
            let block = self.buffer.get(self.start..).unwrap_or_default();
            match direct.write_all(block) {
                Ok(()) => {
                    self.written += block.len() as u64;
                    self.buffer.truncate(self.start);
                    return Ok(());
                }
                // The file system or the disk does not allow it.
                Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                Err(error) => return Err(error),
            }
        }
        self.flush()
    }
}

impl Write for Output {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.start + BLOCK_BYTES - self.buffer.len();
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.buffer.extend_from_slice(taken);
        if taken.len() == room {
            self.write_block()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.direct.take().is_some() {
            self.file.seek(SeekFrom::Start(self.written))?;
        }
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        self.file.write_all(rest)?;
        self.buffer.truncate(self.start);
        Ok(())
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.flush()?;
        self.file.seek(to)
    }
}

#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    options.write(true).custom_flags(libc::O_DIRECT);
    options.open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_stays_where_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut output = Output::new(file.reopen().unwrap(), file.path());
        let place = output.buffer.as_ptr();
        for piece in [100_000, 3, 3 * BLOCK_BYTES, 100_000] {
            output.write_all(&vec![1; piece]).unwrap();
            assert_eq!(output.buffer.as_ptr(), place);
        }
    }
}
