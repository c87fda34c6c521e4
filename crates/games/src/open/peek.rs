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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Each read gives the next of these.
    struct Answers(VecDeque<io::Result<&'static [u8]>>);

    impl Read for Answers {
        fn read(&mut self, mut buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = self.0.pop_front().unwrap_or(Ok(b""))?;
            io::Write::write(&mut buffer, bytes)
        }
    }

    #[test]
    fn a_signal_does_not_end_a_stream_and_an_error_does() {
        let broken = || Err(io::ErrorKind::BrokenPipe.into());
        let signal = || Err(io::ErrorKind::Interrupted.into());
        let answers = [signal(), Ok(&b"1. e"[..]), signal(), Ok(b"4"), broken()];
        let mut reader = PeekReader::new(Box::new(Answers(answers.into())));
        assert_eq!(reader.peek(5).unwrap(), b"1. e4");
        assert!(reader.peek(6).is_err());
        // What has been read before is still there.
        assert_eq!(reader.peek(9).unwrap(), b"1. e4");
    }
}
