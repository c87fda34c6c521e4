//! Changes of many bytes as one change.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::journal::{self, ByteChange, Journal, Owner, Writer};
use crate::Error;
use crate::ctg::PAGE_BYTES;
use tabia_io::input::file::read_at;

/// Bytes that any disk writes at once.
const SECTOR: u64 = 512;

/// Records in memory (16 MiB), to be sorted into the order of the file; more are written
/// to the journal at once.
const IN_MEMORY: usize = 1 << 20;

/// The result of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// Changed bytes.
    pub bytes: u64,
    /// Parts of pages written.
    pub writes: u64,
}

/// Bytes to be changed: see [`super::BookEditor::batch`]. Needs little memory for any
/// number of them; if it is dropped without a commit, no file remains.
#[derive(Debug)]
pub struct EditBatch {
    book: PathBuf,
    records: Vec<ByteChange>,
    journal: Option<Writer>,
}

impl EditBatch {
    pub(super) fn new(book: &Path) -> EditBatch {
        EditBatch {
            book: book.to_owned(),
            records: Vec::new(),
            journal: None,
        }
    }

    /// Adds the bytes in which two big-endian numbers differ; the last byte of the number
    /// is at offset `last` of the file. A byte may be added twice with the same new
    /// value.
    ///
    /// # Errors
    ///
    /// The journal beside the book cannot be written.
    pub fn set(&mut self, last: u64, old: u32, new: u32) -> Result<(), Error> {
        let pairs = old.to_le_bytes().into_iter().zip(new.to_le_bytes());
        for (n, (old, new)) in (0..).zip(pairs) {
            if old != new {
                let offset = last - n;
                self.records.push(ByteChange { offset, old, new });
            }
        }
        match self.records.len() >= IN_MEMORY {
            true => self.spill(),
            false => Ok(()),
        }
    }

    fn spill(&mut self) -> Result<(), Error> {
        let path = journal::path_of(&self.book);
        let failed = |error| Error::change(&path, error);
        if self.journal.is_none() {
            let book = File::open(&self.book).map_err(|e| Error::change(&self.book, e))?;
            let owner = Owner::of(&book).map_err(failed)?;
            self.journal = Some(Writer::create(&path, owner).map_err(failed)?);
        }
        self.records.sort_unstable_by_key(|record| record.offset);
        if let Some(journal) = &mut self.journal {
            for record in self.records.drain(..) {
                journal.push(record).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn is_one_sector(&self) -> bool {
        self.journal.is_none()
            && self.records.first().is_none_or(|first| {
                let sector = first.offset / SECTOR;
                self.records.iter().all(|r| r.offset / SECTOR == sector)
            })
    }

    pub(super) fn commit(mut self, book: &File) -> Result<Applied, Error> {
        let io_failed = |error| Error::change(&self.book, error);
        if self.is_one_sector() {
            let mut records = std::mem::take(&mut self.records);
            records.sort_by_key(|record| record.offset);
            check(book, &mut |f| records.iter().try_for_each(|r| f(*r)))
                .map_err(io_failed)?
                .refuse(&self.book)?;
            let done = apply(book, &mut |f| records.iter().try_for_each(|r| f(*r)));
            let done = done.map_err(io_failed)?;
            book.sync_data().map_err(io_failed)?;
            return Ok(done);
        }
        self.spill()?;
        let path = journal::path_of(&self.book);
        if let Some(journal) = self.journal.take() {
            journal.finish().map_err(|e| Error::change(&path, e))?;
        }
        let owner = Owner::of(book).map_err(|e| Error::change(&self.book, e))?;
        let opened = Journal::open(&path, owner).map_err(|e| Error::change(&path, e))?;
        let Some(mut journal) = opened else {
            let error = io::Error::other("what was written cannot be read back");
            return Err(Error::change(&path, error));
        };
        let checked = check(book, &mut |f| journal.for_each(f));
        if let Err(error) = checked
            .map_err(|e| Error::change(&self.book, e))
            .and_then(|checked| checked.refuse(&self.book))
        {
            let _ = journal::remove(&path);
            return Err(error);
        }
        let done = carry_out(book, &mut journal).map_err(|reason| Error::Incomplete {
            path: self.book.as_path().into(),
            reason: reason.into(),
        })?;
        drop(journal);
        journal::remove(&path).map_err(|e| Error::change(&path, e))?;
        Ok(done)
    }
}

/// Makes the changes of a journal and syncs the book to disk.
fn carry_out(book: &File, journal: &mut Journal) -> io::Result<Applied> {
    let done = apply(book, &mut |f| journal.for_each(f))?;
    book.sync_data()?;
    Ok(done)
}

/// Completes an interrupted change; true if there was one. A journal that belongs to
/// another book, or is not complete, is deleted.
pub(super) fn recover(path: &Path, book: &File) -> Result<bool, Error> {
    let journal_path = journal::path_of(path);
    let failed = |error| Error::change(&journal_path, error);
    let owner = Owner::of(book).map_err(failed)?;
    let Some(mut journal) = Journal::open(&journal_path, owner).map_err(failed)? else {
        journal::remove(&journal_path).map_err(failed)?;
        return Ok(false);
    };
    let mut completed = false;
    let checked = check(book, &mut |f| journal.for_each(f)).map_err(failed)?;
    if checked.odd.is_none() {
        completed = checked.old > 0;
        carry_out(book, &mut journal).map_err(|reason| Error::Incomplete {
            path: path.into(),
            reason: reason.into(),
        })?;
    }
    drop(journal);
    journal::remove(&journal_path).map_err(failed)?;
    Ok(completed)
}

/// Visits records one after the other.
type Each<'a> = &'a mut dyn FnMut(&mut dyn FnMut(ByteChange) -> io::Result<()>) -> io::Result<()>;

/// The present state of the bytes of the records.
#[derive(Default)]
struct Checked {
    /// Bytes that still have to be changed.
    old: u64,
    /// The first byte that is neither old nor new, with its value.
    odd: Option<(ByteChange, u8)>,
}

impl Checked {
    fn refuse(self, path: &Path) -> Result<(), Error> {
        match self.odd {
            None => Ok(()),
            Some((record, found)) => Err(Error::Moved {
                path: path.into(),
                offset: record.offset,
                found,
                expected: record.old,
            }),
        }
    }
}

fn check(book: &File, each: Each<'_>) -> io::Result<Checked> {
    let mut checked = Checked::default();
    let mut page = PageBuffer::default();
    each(&mut |record| {
        let found = page.byte(book, record.offset)?;
        if found == record.old && found != record.new {
            checked.old += 1;
        } else if found != record.new && checked.odd.is_none() {
            checked.odd = Some((record, found));
        }
        Ok(())
    })?;
    Ok(checked)
}

/// Writes the new bytes: those in one page with a single write, from the first to the
/// last.
fn apply(book: &File, each: Each<'_>) -> io::Result<Applied> {
    let mut done = Applied::default();
    let mut page = PageBuffer::default();
    each(&mut |record| {
        if page.byte(book, record.offset)? != record.new {
            // The next page is read only after this one is written.
            page.set(record);
            done.bytes += 1;
        }
        if let Some(written) = page.take_written() {
            done.writes += written;
        }
        Ok(())
    })?;
    page.write(book)?;
    done.writes += page.take_written().unwrap_or(0);
    Ok(done)
}

/// One page of the file, and the range of bytes to write.
#[derive(Default)]
struct PageBuffer {
    number: Option<u64>,
    bytes: Vec<u8>,
    first: usize,
    end: usize,
    written: u64,
}

impl PageBuffer {
    fn byte(&mut self, book: &File, offset: u64) -> io::Result<u8> {
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
    fn set(&mut self, record: ByteChange) {
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

    fn write(&mut self, book: &File) -> io::Result<()> {
        if let (Some(number), Some(piece)) = (self.number, self.bytes.get(self.first..self.end))
            && !piece.is_empty()
        {
            write_all_at(book, piece, number * PAGE_BYTES as u64 + self.first as u64)?;
            self.written += 1;
        }
        (self.first, self.end) = (0, 0);
        Ok(())
    }

    fn take_written(&mut self) -> Option<u64> {
        (self.written > 0).then(|| std::mem::take(&mut self.written))
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
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
