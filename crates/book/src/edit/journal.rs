//! A journal of all changes, on disk before the book is changed.
//!
//! A one-byte change is either old or new after a crash. For more bytes a power cut may
//! leave half an entry changed. So they are first written to a file beside the book,
//! complete and synced; then to the book; then the file is deleted. A complete journal
//! found later means that a crash interrupted the change; it is then made again from the
//! beginning, which is harmless, because every record has the new value of a byte. An
//! incomplete journal belongs to a change that never began.
//!
//! | bytes | meaning, all big-endian |
//! |---|---|
//! | 8 | `tabiaed2` |
//! | 8 | identity of the book: its inode on Unix, 0 elsewhere |
//! | 8 | its length |
//! | 8 | its modification time in nanoseconds |
//! | 8 | the start of the operating system, 0 if unknown |
//! | 8 each | byte of the file (48 bits), old value, new value; in order |
//! | 32 | eight bytes ff, number of records, digest of the other bytes of the touched pages, check sum |
//!
//! # Whether it still belongs to the book
//!
//! Somebody may restore a backup, or work on with another program, before the next change.
//! To complete the old change then would destroy what they did. So the bytes decide
//! ([`State`]): every byte of a record must be old or new, and the rest of each touched
//! page must be as it was. The book is written in the order of the records, so that a
//! killed program leaves new bytes first, then old ones; only after a power failure any
//! mixture is possible. If all bytes are old, the file must not have been written since.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use std::time::UNIX_EPOCH;

use super::pages::{ByteChange, PageBuffer, RestOfPages, add_to_sum};
use crate::{Error, Format};
use tabia_io::atomic::sync_folder;

const MAGIC: [u8; 8] = *b"tabiaed2";

/// Bytes before and after the records.
const HEADER_BYTES: u64 = 40;
const TRAILER_BYTES: u64 = 32;

/// The start of the trailer; no record is equal to it.
const END: u64 = u64::MAX;

const FIRST_SUM: u64 = 0xcbf2_9ce4_8422_2325;

/// The path of a book's journal.
pub(super) fn path_of(book: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(book.file_name().unwrap_or_default());
    name.push(".edit");
    book.with_file_name(name)
}

/// A book before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    inode: u64,
    len: u64,
    modified: u64,
    boot: u64,
}

impl Owner {
    pub(super) fn from_file(book: &File) -> io::Result<Owner> {
        let metadata = book.metadata()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH);
        Ok(Owner {
            inode,
            len: metadata.len(),
            modified: modified.map_or(0, |since| since.as_nanos() as u64),
            boot: this_boot(),
        })
    }

    const fn words(&self) -> [u64; 4] {
        [self.inode, self.len, self.modified, self.boot]
    }
}

/// A number for this start of the operating system; 0 if unknown.
fn this_boot() -> u64 {
    let id = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let words = id.chunks(8).map(|chunk| {
        let bytes = chunk.iter();
        bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
    });
    words.fold(0, add_to_sum)
}

/// A journal being written.
#[derive(Debug)]
pub(super) struct JournalWriter {
    file: BufWriter<File>,
    path: PathBuf,
    records: u64,
    sum: u64,
    /// Not complete: the file is deleted when this is dropped.
    complete: bool,
}

impl JournalWriter {
    pub(super) fn create(path: &Path, owner: Owner) -> io::Result<JournalWriter> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        let mut writer = JournalWriter {
            file: BufWriter::with_capacity(256 << 10, file),
            path: path.to_owned(),
            records: 0,
            sum: FIRST_SUM,
            complete: false,
        };
        writer.file.write_all(&MAGIC)?;
        for word in owner.words() {
            writer.add(word)?;
        }
        Ok(writer)
    }

    fn add(&mut self, word: u64) -> io::Result<()> {
        self.sum = add_to_sum(self.sum, word);
        self.file.write_all(&word.to_be_bytes())
    }

    pub(super) fn push(&mut self, record: ByteChange) -> io::Result<()> {
        self.records += 1;
        self.add(record.pack())
    }

    /// Completes the file and syncs it to disk. `rest` is the digest of the other bytes.
    pub(super) fn finish(mut self, rest: u64) -> io::Result<()> {
        for word in [END, self.records, rest] {
            self.add(word)?;
        }
        let sum = self.sum;
        self.add(sum)?;
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        self.complete = true;
        sync_folder(&self.path);
        Ok(())
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        if !self.complete {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A complete journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: BufReader<File>,
    owner: Owner,
    records: u64,
    rest: u64,
}

/// What a file of this name contains.
#[derive(Debug)]
pub(super) enum JournalContent {
    Nothing,
    /// The change was cut short before the book was touched.
    Incomplete,
    Complete(Journal),
}

/// The state of a book for which there is a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The change was cut short, and nothing has happened since.
    Interrupted,
    /// All bytes are old or new, but not as a cut leaves them: somebody has restored a
    /// backup, or copied the book.
    Restored,
    /// Other bytes: the change does not fit any more.
    Other,
}

/// A book beside its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Examined {
    pub(super) state: State,
    /// Marks of the change.
    pub(super) marks: u64,
    /// Marks that are not in the book yet.
    pub(super) left: u64,
}

impl Journal {
    /// Opens the journal at `path`.
    pub(super) fn open(path: &Path) -> io::Result<JournalContent> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(JournalContent::Nothing);
            }
            Err(error) => return Err(error),
        };
        let len = file.metadata()?.len();
        let mut file = BufReader::with_capacity(256 << 10, file);
        let body = len.checked_sub(HEADER_BYTES + TRAILER_BYTES);
        let Some(body) = body.filter(|body| body % 8 == 0) else {
            return Ok(JournalContent::Incomplete);
        };
        let mut magic = [0; 8];
        file.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Ok(JournalContent::Incomplete);
        }
        let mut sum = FIRST_SUM;
        let mut next = || -> io::Result<u64> {
            let word = next_word(&mut file)?;
            sum = add_to_sum(sum, word);
            Ok(word)
        };
        let [inode, len, modified, boot] = [next()?, next()?, next()?, next()?];
        let records = body / 8;
        for _ in 0..records {
            next()?;
        }
        let (end, count, rest) = (next()?, next()?, next()?);
        let is_complete = (end, count) == (END, records) && next_word(&mut file)? == sum;
        Ok(match is_complete {
            false => JournalContent::Incomplete,
            true => JournalContent::Complete(Journal {
                file,
                owner: Owner {
                    inode,
                    len,
                    modified,
                    boot,
                },
                records,
                rest,
            }),
        })
    }

    /// Compares the journal with the book.
    pub(super) fn examine(&mut self, book: &File, format: Format) -> io::Result<Examined> {
        let now = Owner::from_file(book)?;
        let mut page = PageBuffer::default();
        let mut rest = RestOfPages::default();
        let (mut marks, mut left) = (0, 0);
        let (mut is_other, mut is_ordered) = (now.len != self.owner.len, true);
        let mut last = None;
        let mut old_records = 0;
        self.for_each(|record| {
            let found = match is_other {
                true => None,
                false => Some(page.byte(book, record.offset)?),
            };
            is_other |= found.is_none_or(|found| found != record.old && found != record.new);
            let is_old = found.is_none_or(|found| found != record.new);
            is_ordered &= is_old || old_records == 0;
            old_records += u64::from(is_old);
            if !is_other {
                rest.add(&page, record.offset);
            }
            // An entry may have numbers of several bytes.
            let mark = record.offset / format.entry_bytes().unwrap_or(1);
            if last.replace(mark) != Some(mark) {
                marks += 1;
                left += u64::from(is_old);
            }
            Ok(())
        })?;
        is_other = is_other || rest.finish() != self.rest;
        let is_cut = if old_records == self.records {
            now.modified == self.owner.modified
        } else {
            is_ordered || now.boot != self.owner.boot
        };
        let state = if is_other {
            State::Other
        } else if old_records == 0 || is_cut && now.inode == self.owner.inode {
            State::Interrupted
        } else {
            State::Restored
        };
        Ok(Examined { state, marks, left })
    }

    /// All records in order.
    pub(super) fn for_each(
        &mut self,
        mut found: impl FnMut(ByteChange) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.seek(io::SeekFrom::Start(HEADER_BYTES))?;
        for _ in 0..self.records {
            found(ByteChange::unpack(next_word(&mut self.file)?))?;
        }
        Ok(())
    }
}

fn next_word(file: &mut impl io::Read) -> io::Result<u64> {
    let mut word = [0; 8];
    file.read_exact(&mut word)?;
    Ok(u64::from_be_bytes(word))
}

/// Deletes a journal.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            sync_folder(path);
            Ok(())
        }
    }
}

/// Compares the journal beside a book, if there is a complete one, with the book.
pub(super) fn examine(path: &Path, format: Format) -> Result<Option<Examined>, Error> {
    let journal_path = path_of(path);
    let failed = |error| Error::change(&journal_path, error);
    let mut journal = match Journal::open(&journal_path).map_err(failed)? {
        JournalContent::Nothing | JournalContent::Incomplete => return Ok(None),
        JournalContent::Complete(journal) => journal,
    };
    let book = File::open(path).map_err(|error| Error::io(path, error))?;
    let examined = journal.examine(&book, format).map_err(failed)?;
    Ok(Some(examined))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(len: u64) -> Owner {
        Owner {
            inode: 7,
            len,
            modified: 3,
            boot: 0,
        }
    }

    fn is_complete(path: &Path) -> bool {
        matches!(Journal::open(path).unwrap(), JournalContent::Complete(_))
    }

    #[test]
    fn only_a_complete_journal_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".b.ctg.edit");
        let records: Vec<ByteChange> = (0..1000)
            .map(|n| ByteChange {
                offset: (n << 33) + n,
                old: n as u8,
                new: !(n as u8),
            })
            .collect();
        let mut writer = JournalWriter::create(&path, owner(10)).unwrap();
        records.iter().for_each(|r| writer.push(*r).unwrap());
        writer.finish(77).unwrap();

        let JournalContent::Complete(mut journal) = Journal::open(&path).unwrap() else {
            panic!("not complete");
        };
        assert_eq!((journal.owner, journal.rest), (owner(10), 77));
        let mut back = Vec::new();
        journal
            .for_each(|record| {
                back.push(record);
                Ok(())
            })
            .unwrap();
        assert_eq!(back, records);
        // Not every Windows removes a file that is open.
        drop(journal);

        // Only a journal that is not there is none.
        let missing = folder.path().join("missing");
        assert!(matches!(
            Journal::open(&missing),
            Ok(JournalContent::Nothing)
        ));
        #[cfg(unix)]
        assert!(Journal::open(&path.join("below a file")).is_err());

        let whole = fs::read(&path).unwrap();
        for cut in [0, 7, 24, 47, 48, 56, 72, whole.len() - 24, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(!is_complete(&path), "{cut}");
        }
        for at in [0, 20, 24, 500, whole.len() - 20, whole.len() - 1] {
            let mut bad = whole.clone();
            bad[at] ^= 4;
            fs::write(&path, &bad).unwrap();
            assert!(!is_complete(&path), "{at}");
        }
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(matches!(
            Journal::open(&path).unwrap(),
            JournalContent::Nothing
        ));
    }

    #[test]
    fn a_journal_that_is_given_up_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let writer = JournalWriter::create(&path, owner(1)).unwrap();
        assert!(path.exists());
        drop(writer);
        assert!(!path.exists());
    }

    /// Any mixture is possible after the system was started again, and only then.
    #[test]
    fn after_a_power_failure_any_mixture_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book");
        fs::write(&book, [0; 5000]).unwrap();
        let examined = |boot: u64| {
            let file = File::open(&book).unwrap();
            let path = folder.path().join("j");
            let owner = Owner {
                boot,
                ..Owner::from_file(&file).unwrap()
            };
            let mut writer = JournalWriter::create(&path, owner).unwrap();
            let (mut page, mut rest) = (PageBuffer::default(), RestOfPages::default());
            for (offset, old, new) in [(10, 9, 0), (20, 0, 1), (4990, 5, 0)] {
                page.byte(&file, offset).unwrap();
                rest.add(&page, offset);
                writer.push(ByteChange { offset, old, new }).unwrap();
            }
            writer.finish(rest.finish()).unwrap();
            match Journal::open(&path).unwrap() {
                JournalContent::Complete(mut journal) => {
                    journal.examine(&file, Format::Ctg).unwrap()
                }
                found => panic!("{found:?}"),
            }
        };
        let [same, other] = [this_boot(), this_boot() ^ 1].map(examined);
        assert_eq!(
            (same.state, other.state),
            (State::Restored, State::Interrupted)
        );
        assert_eq!((same.marks, same.left), (3, 1));
    }
}
