//! Streams with lookahead.

use std::io::{self, BufRead, Read};

/// Bytes of one read. More than those of a block of Zstandard with its header.
const CHUNK_BYTES: usize = 256 << 10;

/// A buffered stream with lookahead.
pub(crate) struct PeekReader {
    from: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

impl PeekReader {
    pub(crate) fn new(from: Box<dyn Read + Send>) -> PeekReader {
        PeekReader {
            from,
            bytes: vec![0; CHUNK_BYTES],
            at: 0,
            end: 0,
        }
    }

    /// The next `count` bytes without consuming them; fewer at the end.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.at < count {
            self.bytes.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
            let room = self.bytes.get_mut(self.end..).unwrap_or_default();
            match self.from.read(room) {
                Ok(0) => break,
                Ok(more) => self.end += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let end = self.end.min(self.at + count);
        Ok(self.bytes.get(self.at..end).unwrap_or_default())
    }
}

impl Read for PeekReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for PeekReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)?;
        Ok(self.bytes.get(self.at..self.end).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.at = self.end.min(self.at + count);
    }
}
