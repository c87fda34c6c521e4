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
//! | 8 | `tabiaed1` |
//! | 8 | identity of the .ctg file: its inode on Unix, 0 elsewhere |
//! | 8 | its length |
//! | 8 each | byte of the file (48 bits), old value, new value |
//! | 24 | eight bytes ff, number of records, check sum |
//!
//! A journal of another book, or of a book in which some byte is neither old nor new, is
//! deleted.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use tabia_io::atomic::sync_folder;

const MAGIC: [u8; 8] = *b"tabiaed1";

/// The start of the trailer; no record is equal to it.
const END: u64 = u64::MAX;

/// One byte to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteChange {
    /// Offset in the file.
    pub(super) offset: u64,
    pub(super) old: u8,
    pub(super) new: u8,
}

impl ByteChange {
    fn pack(self) -> u64 {
        self.offset << 16 | u64::from(self.old) << 8 | u64::from(self.new)
    }

    fn unpack(word: u64) -> ByteChange {
        let [.., old, new] = word.to_be_bytes();
        ByteChange {
            offset: word >> 16,
            old,
            new,
        }
    }
}

/// FNV-1a over words.
fn add_to_sum(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
}

const FIRST_SUM: u64 = 0xcbf2_9ce4_8422_2325;

/// The path of a book's journal.
pub(super) fn path_of(book: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(book.file_name().unwrap_or_default());
    name.push(".edit");
    book.with_file_name(name)
}

/// The identity of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    inode: u64,
    len: u64,
}

impl Owner {
    pub(super) fn of(book: &File) -> io::Result<Owner> {
        let metadata = book.metadata()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Ok(Owner {
            inode,
            len: metadata.len(),
        })
    }
}

/// A journal being written.
#[derive(Debug)]
pub(super) struct Writer {
    file: BufWriter<File>,
    path: PathBuf,
    records: u64,
    sum: u64,
    /// Not complete: the file is deleted when this is dropped.
    complete: bool,
}

impl Writer {
    pub(super) fn create(path: &Path, owner: Owner) -> io::Result<Writer> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        let mut file = BufWriter::with_capacity(256 << 10, file);
        file.write_all(&MAGIC)?;
        file.write_all(&owner.inode.to_be_bytes())?;
        file.write_all(&owner.len.to_be_bytes())?;
        Ok(Writer {
            file,
            path: path.to_owned(),
            records: 0,
            sum: FIRST_SUM,
            complete: false,
        })
    }

    pub(super) fn push(&mut self, record: ByteChange) -> io::Result<()> {
        let word = record.pack();
        self.records += 1;
        self.sum = add_to_sum(self.sum, word);
        self.file.write_all(&word.to_be_bytes())
    }

    /// Completes the file and syncs it to disk.
    pub(super) fn finish(mut self) -> io::Result<()> {
        for word in [END, self.records, self.sum] {
            self.file.write_all(&word.to_be_bytes())?;
        }
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        self.complete = true;
        sync_folder(&self.path);
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.complete {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A complete journal.
pub(super) struct Journal {
    file: BufReader<File>,
    records: u64,
}

impl Journal {
    /// Opens the journal at `path` if it is complete and belongs to this book.
    pub(super) fn open(path: &Path, owner: Owner) -> io::Result<Option<Journal>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let len = file.metadata()?.len();
        let mut file = BufReader::with_capacity(256 << 10, file);
        let body = len.checked_sub(48).filter(|body| body % 8 == 0);
        let Some(body) = body else { return Ok(None) };
        let mut magic = [0; 8];
        file.read_exact(&mut magic)?;
        let found = Owner {
            inode: next_word(&mut file)?,
            len: next_word(&mut file)?,
        };
        if magic != MAGIC || found != owner {
            return Ok(None);
        }
        let mut sum = FIRST_SUM;
        for _ in 0..body / 8 {
            sum = add_to_sum(sum, next_word(&mut file)?);
        }
        let trailer = [
            next_word(&mut file)?,
            next_word(&mut file)?,
            next_word(&mut file)?,
        ];
        let records = body / 8;
        Ok((trailer == [END, records, sum]).then_some(Journal { file, records }))
    }

    /// All records in order.
    pub(super) fn for_each(
        &mut self,
        mut found: impl FnMut(ByteChange) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.seek(io::SeekFrom::Start(24))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(len: u64) -> Owner {
        Owner { inode: 7, len }
    }

    #[test]
    fn only_a_complete_journal_of_the_book_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".b.ctg.edit");
        let records: Vec<ByteChange> = (0..1000)
            .map(|n| ByteChange {
                offset: (n << 33) + n,
                old: n as u8,
                new: !(n as u8),
            })
            .collect();
        let mut writer = Writer::create(&path, owner(10)).unwrap();
        records.iter().for_each(|r| writer.push(*r).unwrap());
        writer.finish().unwrap();

        let mut journal = Journal::open(&path, owner(10)).unwrap().unwrap();
        let mut back = Vec::new();
        journal
            .for_each(|record| {
                back.push(record);
                Ok(())
            })
            .unwrap();
        assert_eq!(back, records);
        assert!(Journal::open(&path, owner(11)).unwrap().is_none());

        let whole = fs::read(&path).unwrap();
        for cut in [0, 7, 24, 47, 48, 56, whole.len() - 24, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert!(Journal::open(&path, owner(10)).unwrap().is_none(), "{cut}");
        }
        for at in [0, 20, 24, 500, whole.len() - 20, whole.len() - 1] {
            let mut bad = whole.clone();
            bad[at] ^= 4;
            fs::write(&path, &bad).unwrap();
            assert!(Journal::open(&path, owner(10)).unwrap().is_none(), "{at}");
        }
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(Journal::open(&path, owner(10)).unwrap().is_none());
    }

    #[test]
    fn a_journal_that_is_given_up_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let writer = Writer::create(&path, owner(1)).unwrap();
        assert!(path.exists());
        drop(writer);
        assert!(!path.exists());
    }
}
