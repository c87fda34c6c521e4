//! A sorted run: writing and reading.

use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::{PARTS, Record};
use crate::input::file::read_at;

/// Bytes that are read or written at once.
pub(super) const BLOCK_BYTES: usize = 64 << 10;

/// The part of the range of orders that contains `order`.
fn part(order: u32) -> usize {
    order as usize / (u32::MAX as usize / PARTS + 1)
}

/// Writes records in ascending order.
pub(super) struct RunWriter<R> {
    /// The file for full blocks; `None` for a run in memory.
    file: Option<Box<dyn Store>>,
    bytes: Vec<u8>,
    pub(super) reserved: u64,
    /// Bytes already written to the file.
    flushed: u64,
    starts: Vec<u64>,
    of: PhantomData<R>,
}

/// The storage of a run: a file, or in tests one that fails.
pub(super) trait Store: Write + Send {
    fn into_file(self: Box<Self>) -> io::Result<File>;
}

/// Creates such a file in a folder.
pub(super) type MakeStore = fn(&Path) -> io::Result<Box<dyn Store>>;

impl Store for File {
    fn into_file(self: Box<Self>) -> io::Result<File> {
        Ok(*self)
    }
}

impl<R: Record> RunWriter<R> {
    pub(super) fn new(file: Option<Box<dyn Store>>, reserved: u64) -> RunWriter<R> {
        RunWriter {
            file,
            bytes: Vec::with_capacity(reserved as usize),
            reserved,
            flushed: 0,
            starts: Vec::with_capacity(PARTS + 1),
            of: PhantomData,
        }
    }

    pub(super) fn push(&mut self, record: &R) -> io::Result<()> {
        self.begin(record.order());
        record.encode(&mut self.bytes);
        self.flush()
    }

    /// Writes a record of this order: the first `length` of `bytes`.
    #[inline]
    pub(super) fn push_encoded(
        &mut self,
        order: u32,
        bytes: &[u8],
        length: usize,
    ) -> io::Result<()> {
        self.begin(order);
        let end = self.bytes.len() + length;
        // Most records are short: copying a fixed number of bytes needs no call, and the
        // surplus is removed.
        match bytes.first_chunk::<48>() {
            Some(short) if length <= short.len() => self.bytes.extend_from_slice(short),
            _ => self
                .bytes
                .extend_from_slice(bytes.get(..length).unwrap_or_default()),
        }
        self.bytes.truncate(end);
        self.flush()
    }

    #[inline]
    fn begin(&mut self, order: u32) {
        let part = part(order);
        let at = self.flushed + self.bytes.len() as u64;
        while self.starts.len() <= part {
            self.starts.push(at);
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && self.bytes.len() >= BLOCK_BYTES
        {
            file.write_all(&self.bytes)?;
            self.flushed += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<Run> {
        let end = self.flushed + self.bytes.len() as u64;
        self.starts.resize(PARTS + 1, end);
        let data = match self.file {
            Some(mut file) => {
                file.write_all(&self.bytes)?;
                Data::File(file.into_file()?)
            }
            None => {
                self.bytes.shrink_to_fit();
                Data::Memory(self.bytes)
            }
        };
        Ok(Run {
            starts: self.starts,
            data: Arc::new(data),
        })
    }
}

enum Data {
    Memory(Vec<u8>),
    File(File),
}

/// A finished run.
pub(super) struct Run {
    /// Where each part begins, and where the last one ends.
    starts: Vec<u64>,
    data: Arc<Data>,
}

impl Run {
    pub(super) fn bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(super) fn is_in_memory(&self) -> bool {
        matches!(*self.data, Data::Memory(_))
    }

    /// Length of one part in bytes.
    pub(super) fn part_bytes(&self, part: usize) -> u64 {
        match self.starts.get(part..part + 2) {
            Some(&[start, end]) => end - start,
            _ => 0,
        }
    }

    /// Returns a reader of some of the parts.
    pub(super) fn read(&self, parts: Range<usize>) -> RunReader {
        let place = |part| self.starts.get(part).copied().unwrap_or(0);
        RunReader {
            data: Arc::clone(&self.data),
            next: place(parts.start),
            end: place(parts.end),
            buffer: Vec::new(),
            at: 0,
        }
    }
}

/// Reads records in ascending order.
pub(super) struct RunReader {
    data: Arc<Data>,
    /// Offset of the next bytes; in a file, of the bytes after the buffer.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl RunReader {
    /// Reads the next record into `record`; returns false at the end.
    pub(super) fn next<R: Record>(&mut self, record: &mut R) -> io::Result<bool> {
        let changed = || io::Error::new(io::ErrorKind::InvalidData, "a sort file has changed");
        if let Data::Memory(bytes) = &*self.data {
            let rest = bytes.get(self.next as usize..self.end as usize);
            let rest = rest.unwrap_or_default();
            if rest.is_empty() {
                return Ok(false);
            }
            self.next += record.decode(rest).ok_or_else(changed)? as u64;
            return Ok(true);
        }
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            if rest.is_empty() && self.next >= self.end {
                return Ok(false);
            }
            if !rest.is_empty()
                && let Some(length) = record.decode(rest)
            {
                self.at += length;
                return Ok(true);
            }
            if self.next >= self.end {
                return Err(changed());
            }
            self.fill()?;
        }
    }

    /// Reads one more block.
    fn fill(&mut self) -> io::Result<()> {
        let Data::File(file) = &*self.data else {
            return Ok(());
        };
        self.buffer.drain(..self.at);
        self.at = 0;
        let unread = self.buffer.len();
        let more = (BLOCK_BYTES as u64).min(self.end - self.next) as usize;
        self.buffer.resize(unread + more, 0);
        let to = self.buffer.get_mut(unread..).unwrap_or_default();
        if read_at(file, to, self.next)? < more {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.next += more as u64;
        Ok(())
    }
}
