//! Frames of Zstandard of which the end may be missing.
//!
//! A decoder gives out what is behind its window (8 MiB with `zstd -19`, up to 2 GiB with
//! `--long`), and the rest when the frame ends. So nothing of a smaller file came out if it
//! was cut off. The decoder gets whole blocks here, and an empty last block where the next
//! one is not complete. (Format: RFC 8878, section 3.1.1.)

use std::io::{self, Read};

use super::peek::PeekReader;

/// Most bytes of the content of a block. A longer one is an error of the decoder.
const MOST_BLOCK_BYTES: usize = 128 << 10;

/// The last block of a frame, raw and without content, and room for a checksum.
const EMPTY_LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// One frame, from its magic number on.
pub(super) struct Frame {
    input: PeekReader,
    /// Bytes that may be passed on before the next decision.
    passing: usize,
    next: Next,
    /// Whether four bytes of checksum follow the last block.
    has_checksum: bool,
}

/// What follows the bytes that are passed on.
enum Next {
    Block,
    Checksum,
    /// Nothing, or the rest of the block that was put in place of the missing ones.
    End {
        made_up: &'static [u8],
        is_cut_off: bool,
    },
}

impl Next {
    const WHOLE: Next = Next::End {
        made_up: &[],
        is_cut_off: false,
    };

    const fn cut_off(made_up: &'static [u8]) -> Next {
        Next::End {
            made_up,
            is_cut_off: true,
        }
    }
}

impl Frame {
    /// # Errors
    ///
    /// The stream cannot be read.
    pub(super) fn new(mut input: PeekReader) -> io::Result<Frame> {
        // An incomplete header is an error of the decoder.
        let descriptor = input.peek(5)?.get(4).copied().unwrap_or_default();
        let is_single = descriptor >> 5 & 1;
        let window = 1 - is_single;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content = [is_single, 2, 4, 8][usize::from(descriptor >> 6)];
        Ok(Frame {
            input,
            passing: 5 + usize::from(window + dictionary + content),
            next: Next::Block,
            has_checksum: descriptor >> 2 & 1 != 0,
        })
    }

    /// Whether reading met the end of a file whose last blocks are missing.
    pub(super) const fn is_cut_off(&self) -> bool {
        matches!(
            self.next,
            Next::End {
                is_cut_off: true,
                ..
            }
        )
    }

    /// The stream after the frame.
    pub(super) fn into_inner(self) -> PeekReader {
        self.input
    }

    /// The bytes of the next block with its header, and whether it is the last one; `None`
    /// if it is not complete.
    fn block(&mut self) -> io::Result<Option<(usize, bool)>> {
        let header = match *self.input.peek(3)? {
            [a, b, c] => u32::from_le_bytes([a, b, c, 0]),
            _ => return Ok(None),
        };
        let content = match header >> 1 & 3 {
            // One byte, repeated.
            1 => 1,
            _ => (header >> 3) as usize,
        };
        let bytes = 3 + content;
        let is_there = content > MOST_BLOCK_BYTES || self.input.peek(bytes)?.len() == bytes;
        Ok(is_there.then_some((bytes, header & 1 == 1)))
    }

    fn checksum(&self) -> Next {
        match self.has_checksum {
            true => Next::Checksum,
            false => Next::WHOLE,
        }
    }
}

impl Read for Frame {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.passing == 0 {
            match &mut self.next {
                Next::Block => match self.block()? {
                    Some((bytes, false)) => self.passing = bytes,
                    Some((bytes, true)) => (self.passing, self.next) = (bytes, self.checksum()),
                    None => self.next = Next::cut_off(&EMPTY_LAST_BLOCK),
                },
                Next::Checksum => match self.input.peek(4)?.len() {
                    4 => (self.passing, self.next) = (4, Next::WHOLE),
                    // All blocks are there.
                    _ => self.next = Next::cut_off(&[0; 4]),
                },
                Next::End { made_up, .. } => return made_up.read(buffer),
            }
        }
        let most = buffer.len().min(self.passing);
        let count = self
            .input
            .read(buffer.get_mut(..most).unwrap_or_default())?;
        self.passing -= count;
        // The stream ends in the header, or in a block that is too long.
        if count == 0 && most > 0 {
            (self.passing, self.next) = (0, Next::WHOLE);
        }
        Ok(count)
    }
}
