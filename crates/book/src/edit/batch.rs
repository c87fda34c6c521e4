//! Changes of many bytes as one change.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::journal::{self, Journal, JournalContent, JournalWriter, Owner, State};
use super::pages::{ByteChange, PageBuffer, RestOfPages};
use super::pending::{Pending, Resolve};
use crate::{Error, Format};
use tabia_io::atomic::folder_of;
use tabia_io::sort::Sorter;

/// Bytes that any disk writes at once.
const SECTOR: u64 = 512;

/// Records in memory (16 MiB), to be sorted into the order of the file; more are sorted on
/// disk.
const IN_MEMORY: usize = 1 << 20;

/// Memory for that in bytes.
const SORT_MEMORY: u64 = 32 << 20;

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
pub struct EditBatch {
    book: PathBuf,
    records: Vec<ByteChange>,
    /// Earlier records, if there are many.
    sorter: Option<Sorter<ByteChange>>,
}

impl EditBatch {
    pub(super) fn new(book: &Path) -> EditBatch {
        EditBatch {
            book: book.to_owned(),
            records: Vec::new(),
            sorter: None,
        }
    }

    /// Adds the bytes in which two big-endian numbers differ; the last byte of the number
    /// is at offset `last` of the file. A byte may be added twice with the same new
    /// value.
    ///
    /// # Errors
    ///
    /// The temporary files beside the book cannot be written.
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
        let folder = folder_of(&self.book);
        let sorter = (self.sorter).get_or_insert_with(|| Sorter::alone(folder, SORT_MEMORY));
        for record in self.records.drain(..) {
            sorter.push(&record)?;
        }
        Ok(())
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorter.is_none() && self.records.is_empty()
    }

    fn is_one_sector(&self) -> bool {
        self.sorter.is_none()
            && self.records.first().is_none_or(|first| {
                let sector = first.offset / SECTOR;
                self.records.iter().all(|r| r.offset / SECTOR == sector)
            })
    }

    pub(super) fn commit(mut self, book: &File) -> Result<Applied, Error> {
        let path = self.book.clone();
        let io_failed = |error| Error::change(&path, error);
        if self.is_one_sector() {
            let mut records = std::mem::take(&mut self.records);
            records.sort_by_key(|record| record.offset);
            let mut page = PageBuffer::default();
            for record in &records {
                let found = page.byte(book, record.offset).map_err(io_failed)?;
                check(&path, *record, found)?;
            }
            let done = apply(book, &mut |f| records.iter().try_for_each(|r| f(*r)));
            let done = done.map_err(io_failed)?;
            book.sync_data().map_err(io_failed)?;
            return Ok(done);
        }
        self.write_journal(book)?;
        let journal_path = journal::path_of(&path);
        let journal_failed = |error| Error::change(&journal_path, error);
        let JournalContent::Complete(mut journal) =
            Journal::open(&journal_path).map_err(journal_failed)?
        else {
            let error = io::Error::other("what was written cannot be read back");
            return Err(journal_failed(error));
        };
        let done = carry_out(book, &mut journal).map_err(|reason| Error::Incomplete {
            path: path.as_path().into(),
            reason: reason.into(),
        })?;
        drop(journal);
        journal::remove(&journal_path).map_err(journal_failed)?;
        Ok(done)
    }

    /// Writes the journal, and checks that the book has the old bytes.
    fn write_journal(mut self, book: &File) -> Result<(), Error> {
        let path = journal::path_of(&self.book);
        let failed = |error| Error::change(&path, error);
        let owner = Owner::from_file(book).map_err(|error| Error::change(&self.book, error))?;
        let mut writer = JournalWriter::create(&path, owner).map_err(failed)?;
        let mut page = PageBuffer::default();
        let mut rest = RestOfPages::default();
        let mut add = |record: ByteChange| {
            let found = page.byte(book, record.offset);
            let found = found.map_err(|error| Error::change(&self.book, error))?;
            check(&self.book, record, found)?;
            rest.add(&page, record.offset);
            writer.push(record).map_err(failed)
        };
        if let Some(mut sorter) = self.sorter.take() {
            for record in &self.records {
                sorter.push(record)?;
            }
            let mut merge = sorter.merge()?;
            while let Some(record) = merge.next()? {
                add(*record)?;
            }
        } else {
            self.records.sort_unstable_by_key(|record| record.offset);
            self.records.dedup_by_key(|record| record.offset);
            self.records.iter().try_for_each(|record| add(*record))?;
        }
        writer.finish(rest.finish()).map_err(failed)
    }
}

/// Makes the changes of a journal and syncs the book to disk.
fn carry_out(book: &File, journal: &mut Journal) -> io::Result<Applied> {
    let done = apply(book, &mut |f| journal.for_each(f))?;
    book.sync_data()?;
    Ok(done)
}

/// What became of an interrupted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    /// There was none.
    Nothing,
    /// It had been cut short before the book was touched, and is forgotten.
    NeverBegan,
    /// This number of marks was made.
    Completed(u64),
    /// This number of marks was not made, and is forgotten.
    Dropped(u64),
}

/// Completes an interrupted change. One that does not belong to this state of the book is
/// refused, unless `resolve` says what to do.
pub(super) fn recover(
    path: &Path,
    book: &File,
    format: Format,
    resolve: Option<Resolve>,
) -> Result<Recovered, Error> {
    let journal_path = journal::path_of(path);
    let failed = |error| Error::change(&journal_path, error);
    let recovered = match Journal::open(&journal_path).map_err(failed)? {
        JournalContent::Nothing => return Ok(Recovered::Nothing),
        JournalContent::Incomplete => Recovered::NeverBegan,
        JournalContent::Complete(mut journal) => {
            let examined = journal.examine(book, format).map_err(failed)?;
            let refused = || match Pending::from_examined(examined) {
                Some(pending) => Error::refused(path, pending.refusal(&path.display().to_string())),
                None => Error::refused(path, "there is nothing to complete"),
            };
            match (examined.state, resolve) {
                (_, Some(Resolve::Drop)) => Recovered::Dropped(examined.left),
                (State::Interrupted, _) | (State::Restored, Some(Resolve::Apply)) => {
                    carry_out(book, &mut journal).map_err(|reason| Error::Incomplete {
                        path: path.into(),
                        reason: reason.into(),
                    })?;
                    Recovered::Completed(examined.left)
                }
                (State::Restored | State::Other, _) => return Err(refused()),
            }
        }
    };
    journal::remove(&journal_path).map_err(failed)?;
    Ok(recovered)
}

/// Visits records one after the other.
type Each<'a> = &'a mut dyn FnMut(&mut dyn FnMut(ByteChange) -> io::Result<()>) -> io::Result<()>;

/// Fails if a byte of the book is neither old nor new.
fn check(path: &Path, record: ByteChange, found: u8) -> Result<(), Error> {
    match found == record.old || found == record.new {
        true => Ok(()),
        false => Err(Error::Moved {
            path: path.into(),
            offset: record.offset,
            found,
            expected: record.old,
        }),
    }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use proptest::prelude::*;

    use super::*;
    use crate::ctg::PAGE_BYTES;

    const BYTES: usize = 5 * PAGE_BYTES;

    /// A file that counts as a book, and a change of one byte in 100 of four pages.
    struct Change {
        folder: tempfile::TempDir,
        old: Vec<u8>,
        new: Vec<u8>,
    }

    impl Change {
        fn new(old: &[u8]) -> Change {
            let folder = tempfile::tempdir().unwrap();
            let new = (0..).zip(old).map(|(at, byte)| match Change::is_mark(at) {
                true => 0x80,
                false => *byte,
            });
            let change = Change {
                new: new.collect(),
                old: old.to_vec(),
                folder,
            };
            fs::write(change.book(), old).unwrap();
            change
        }

        fn is_mark(at: usize) -> bool {
            at % 100 == 7 && at / PAGE_BYTES != 2
        }

        fn marks(&self) -> u64 {
            let pairs = self.old.iter().zip(&self.new);
            pairs.filter(|(old, new)| old != new).count() as u64
        }

        fn book(&self) -> PathBuf {
            self.folder.path().join("book.ctg")
        }

        fn has_journal(&self) -> bool {
            journal::path_of(&self.book()).exists()
        }

        fn file(&self) -> File {
            File::options()
                .read(true)
                .write(true)
                .open(self.book())
                .unwrap()
        }

        /// Makes the change, and is killed when this number of records is in the book.
        fn killed_after(&self, records: usize) {
            let mut batch = EditBatch::new(&self.book());
            // In no order, and some of them twice.
            for at in (0..BYTES).rev().chain(0..900) {
                batch
                    .set(at as u64, self.old[at].into(), self.new[at].into())
                    .unwrap();
            }
            batch.write_journal(&self.file()).unwrap();
            let JournalContent::Complete(mut journal) =
                Journal::open(&journal::path_of(&self.book())).unwrap()
            else {
                panic!("no journal");
            };
            let mut left = records;
            apply(&self.file(), &mut |f| {
                journal.for_each(|record| match left.checked_sub(1) {
                    None => Ok(()),
                    Some(fewer) => {
                        left = fewer;
                        f(record)
                    }
                })
            })
            .unwrap();
        }

        /// Somebody writes these bytes into the file, later.
        fn restored(&self, bytes: &[u8]) {
            fs::write(self.book(), bytes).unwrap();
            let later = SystemTime::now() + Duration::from_secs(60);
            self.file().set_modified(later).unwrap();
        }

        fn pending(&self) -> Option<Pending> {
            let examined = journal::examine(&self.book(), Format::Ctg).unwrap();
            examined.and_then(Pending::from_examined)
        }

        fn recover(&self, resolve: Option<Resolve>) -> Result<Recovered, Error> {
            recover(&self.book(), &self.file(), Format::Ctg, resolve)
        }

        fn bytes(&self) -> Vec<u8> {
            fs::read(self.book()).unwrap()
        }
    }

    #[test]
    fn killed_after_any_mark_the_rest_is_made() {
        let change = Change::new(&[0x40; BYTES]);
        let marks = change.marks();
        for made in (0..=marks).step_by(13).chain([marks]) {
            fs::write(change.book(), &change.old).unwrap();
            change.killed_after(made as usize);
            let left = marks - made;
            let numbers = super::super::MarksLeft { marks, left };
            let expected = (left > 0).then_some(Pending::Interrupted(numbers));
            assert_eq!(change.pending(), expected, "{made}");
            assert_eq!(change.recover(None).unwrap(), Recovered::Completed(left));
            assert!(change.bytes() == change.new && !change.has_journal());
        }
    }

    #[test]
    fn a_change_of_a_restored_book_is_made_only_on_request() {
        for made in [0, 1, 100, 130] {
            let change = Change::new(&[0x40; BYTES]);
            let marks = change.marks();
            let state = |resolve| {
                change.killed_after(made);
                change.restored(&change.old);
                let error = change.recover(None).unwrap_err().to_string();
                assert!(
                    error.contains(&format!("{marks} of them are not in it")),
                    "{error}"
                );
                assert!(error.contains("--pending drop"), "{error}");
                assert!(change.bytes() == change.old && change.has_journal());
                change.recover(Some(resolve)).unwrap()
            };
            assert_eq!(state(Resolve::Drop), Recovered::Dropped(marks));
            assert!(change.bytes() == change.old && !change.has_journal());
            assert_eq!(state(Resolve::Apply), Recovered::Completed(marks));
            assert!(change.bytes() == change.new && !change.has_journal());
            assert_eq!(change.recover(None).unwrap(), Recovered::Nothing);
        }
    }

    #[test]
    fn a_change_of_another_book_is_only_forgotten() {
        let change = Change::new(&[0x40; BYTES]);
        // Another byte of a touched page; a touched byte; another length.
        let others = [(4096 * 3 + 8, 1), (4096 * 3 + 12, 0x41)];
        let mut books: Vec<Vec<u8>> = others
            .map(|(at, byte)| {
                let mut bytes = change.old.clone();
                bytes[at] = byte;
                bytes
            })
            .into();
        books.push(change.old[..BYTES - 1].to_vec());
        for book in books {
            fs::write(change.book(), &change.old).unwrap();
            change.killed_after(60);
            change.restored(&book);
            for resolve in [None, Some(Resolve::Apply)] {
                let error = change.recover(resolve).unwrap_err().to_string();
                assert!(error.contains("does not fit any more"), "{error}");
                assert!(change.bytes() == book && change.has_journal());
            }
            assert!(matches!(change.pending(), Some(Pending::Other(_))));
            change.recover(Some(Resolve::Drop)).unwrap();
            assert!(change.bytes() == book && !change.has_journal());
        }
    }

    proptest! {
        /// Whatever is restored, from old bytes and new ones, is not changed in silence: it
        /// is what the kill left, or refused.
        #[test]
        fn a_mixture_of_old_and_new_is_completed_only_if_a_kill_leaves_it(
            made in 0..160_usize,
            new in proptest::collection::vec(any::<bool>(), 205),
        ) {
            let change = Change::new(&[0; BYTES]);
            change.killed_after(made);
            let mut bytes = change.old.clone();
            for (number, is_new) in new.iter().enumerate() {
                let at = 100 * number + 7;
                if *is_new && at < BYTES {
                    bytes[at] = change.new[at];
                }
            }
            change.restored(&bytes);
            let marks: Vec<usize> = (0..BYTES).filter(|at| Change::is_mark(*at)).collect();
            let made: Vec<bool> = marks.iter().map(|at| bytes[*at] == 0x80).collect();
            let is_cut = made.is_sorted_by_key(|made| !made) && made.contains(&true);
            match change.recover(None) {
                Ok(_) => prop_assert!(is_cut && change.bytes() == change.new),
                Err(_) => prop_assert!(!is_cut && change.bytes() == bytes),
            }
        }
    }

    /// More records than fit into memory are sorted on disk.
    #[test]
    fn many_records_are_sorted_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.bin");
        let len = IN_MEMORY + 200_000;
        fs::write(&path, vec![0; len]).unwrap();
        let mut batch = EditBatch::new(&path);
        for at in (0..len as u64).rev().chain(0..1000) {
            batch.set(at, 0, 1).unwrap();
        }
        assert!(batch.sorter.is_some());
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let done = batch.commit(&file).unwrap();
        assert_eq!(done.bytes, len as u64);
        assert_eq!(done.writes, len.div_ceil(PAGE_BYTES) as u64);
        assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 1));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
