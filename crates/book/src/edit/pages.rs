//! Reading and writing a book page by page.

use std::cmp::Ordering;
use std::fs::File;
use std::io;

use crate::ctg::PAGE_BYTES;
use tabia_io::input::file::read_at;
use tabia_io::sort::Record;

/// One byte to be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteChange {
    /// Offset in the file.
    pub(super) offset: u64,
    pub(super) old: u8,
    pub(super) new: u8,
}

impl ByteChange {
    pub(super) fn pack(self) -> u64 {
        self.offset << 16 | u64::from(self.old) << 8 | u64::from(self.new)
    }

    pub(super) fn unpack(word: u64) -> ByteChange {
        let [.., old, new] = word.to_be_bytes();
        ByteChange {
            offset: word >> 16,
            old,
            new,
        }
    }
}

impl Record for ByteChange {
    fn order(&self) -> u32 {
        // 48 bits are stored.
        (self.offset >> 16) as u32
    }

    fn compare(&self, other: &ByteChange) -> Ordering {
        self.offset.cmp(&other.offset)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.pack().to_be_bytes());
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        *self = ByteChange::unpack(u64::from_be_bytes(*bytes.first_chunk()?));
        Some(8)
    }

    fn join(&mut self, _other: &ByteChange) -> bool {
        true
    }
}

/// FNV-1a over words.
pub(super) fn add_to_sum(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
}

/// A digest of the touched pages of a book without the touched bytes, so that it is the
/// same before, during and after the change.
#[derive(Default)]
pub(super) struct RestOfPages {
    sum: u64,
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl RestOfPages {
    /// Adds a touched byte of the page that was read last; in order of the file.
    pub(super) fn add(&mut self, page: &PageBuffer, offset: u64) {
        if page.number != self.number {
            self.add_page();
            self.number = page.number;
            self.bytes.clear();
            self.bytes.extend_from_slice(&page.bytes);
        }
        let at = (offset % PAGE_BYTES as u64) as usize;
        if let Some(byte) = self.bytes.get_mut(at) {
            *byte = 0;
        }
    }

    fn add_page(&mut self) {
        let Some(number) = self.number else { return };
        self.sum = add_to_sum(self.sum, number);
        for chunk in self.bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut()
                .zip(chunk)
                .for_each(|(to, from)| *to = *from);
            self.sum = add_to_sum(self.sum, u64::from_be_bytes(word));
        }
    }

    pub(super) fn finish(mut self) -> u64 {
        self.add_page();
        self.sum
    }
}

/// One page of the file, and the range of bytes to write.
#[derive(Default)]
pub(super) struct PageBuffer {
    number: Option<u64>,
    bytes: Vec<u8>,
    first: usize,
    end: usize,
    written: u64,
}

impl PageBuffer {
    pub(super) fn byte(&mut self, book: &File, offset: u64) -> io::Result<u8> {
        let number = offset / PAGE_BYTES as u64;
        if self.number != Some(number) {
            self.write(book)?;
            self.number = None;
            self.bytes.resize(PAGE_BYTES, 0);
            let filled = read_at(book, &mut self.bytes, number * PAGE_BYTES as u64)?;
            self.bytes.truncate(filled);
            self.number = Some(number);
        }
        let at = (offset % PAGE_BYTES as u64) as usize;
        let byte = self.bytes.get(at).copied();
        byte.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Sets a byte of the page read by [`PageBuffer::byte`].
    pub(super) fn set(&mut self, record: ByteChange) {
        let at = (record.offset % PAGE_BYTES as u64) as usize;
        if let Some(byte) = self.bytes.get_mut(at) {
            *byte = record.new;
            (self.first, self.end) = if self.end == 0 {
                (at, at + 1)
            } else {
                (self.first.min(at), self.end.max(at + 1))
            };
        }
    }

    pub(super) fn write(&mut self, book: &File) -> io::Result<()> {
        if let (Some(number), Some(piece)) = (self.number, self.bytes.get(self.first..self.end))
            && !piece.is_empty()
        {
            write_all_at(book, piece, number * PAGE_BYTES as u64 + self.first as u64)?;
            self.written += 1;
        }
        (self.first, self.end) = (0, 0);
        Ok(())
    }

    pub(super) fn take_written(&mut self) -> Option<u64> {
        (self.written > 0).then(|| std::mem::take(&mut self.written))
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Pages are read and written by turns, so nobody else uses the cursor.
#[cfg(not(any(unix, windows)))]
fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    file.seek(io::SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        bytes = bytes.get(count..).unwrap_or_default();
        offset += count as u64;
    }
    Ok(())
}
