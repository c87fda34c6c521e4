//! Read access to a file that may be larger than memory and may change
//! while it is open.
//!
//! How its bytes are accessed is chosen at opening:
//!
//! * **static**: bytes that are part of the program;
//! * **in memory**: files up to [`IN_MEMORY_LIMIT`] bytes are read whole, and bytes that a
//!   program already has ([`DataFile::from_bytes`]) are taken as they are;
//! * **a reader** of the program ([`DataFile::from_reader`]): an entry of an archive, or a
//!   file that only a browser can read. No access needs a file system;
//! * **mapped**: larger files; uses no private memory and copies nothing;
//! * **positional reads** (`mmap: false`, or where mapping fails): every access
//!   is a system call into a small buffer. Slower, but safe from everything
//!   below.
//!
//! # When the file changes while it is open
//!
//! *Replaced by rename* (as most programs save): the old file stays open and is still
//! read. [`DataFile::change`] reports it.
//!
//! *Truncated*: on Unix, reading a mapped page after the end of the file kills the
//! process with SIGBUS. So every [`DataFile::view`] first gets the length of the open
//! file (one `lseek`, about 0.1 µs). If the file has become shorter, the mapping is
//! never used again and reads become positional: the rest of the file can still be
//! read, missing bytes are [`FileError::Shrunk`]. A view is taken for one probe, so
//! the risk is limited to a few microseconds: if a program truncates the file
//! between this check and the end of the probe, or the disk fails under the mapping,
//! the process still ends. No portable way to avoid this with a mapping exists;
//! `mmap: false` avoids it. Windows does not truncate a mapped file.
//!
//! *Overwritten in place*: reads return old and new bytes in any mixture. Readers
//! check every number against bounds at each use, so the worst result is a wrong
//! answer or an error; [`DataFile::change`] reports it. For a file in memory, each
//! [`DataFile::view`] compares the time of modification and switches to positional
//! reads after a change: marks changed by `tabia mark` take effect at once.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use memmap2::Mmap;

use super::path::temporary_folder;
use super::state::{Change, Identity, Stamp};
use crate::atomic;

/// Files up to this many bytes are read into memory instead of mapped.
pub const IN_MEMORY_LIMIT: u64 = 2 << 20;

/// Bytes of a stream that are written to a temporary file at once.
const SPOOL_BYTES: u64 = 1 << 20;

/// Why bytes could not be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FileError {
    /// An error of the operating system.
    #[error("{0}")]
    Io(Arc<io::Error>),
    /// The file became shorter and no longer contains these bytes.
    #[error("the file became shorter while it was open: {was} bytes then, {now} now")]
    Shrunk {
        /// Length in bytes at opening.
        was: u64,
        /// Length in bytes now.
        now: u64,
    },
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Io(Arc::new(error))
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        io::Error::other(error)
    }
}

/// Bytes at any offset, for [`DataFile::from_reader`]. Closures of this form have it.
pub trait ReadAt: Send + Sync {
    /// Reads bytes from `offset` on into the buffer; returns their number, which may be less
    /// than the buffer has, and 0 only at the end.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read; with [`io::ErrorKind::Interrupted`] they are asked for
    /// again.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize> + Send + Sync> ReadAt for F {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self(offset, buffer)
    }
}

/// An open file. Threads share it without locks.
#[derive(Debug)]
pub struct DataFile {
    path: Arc<Path>,
    /// `None` if the bytes are in memory, or come from a reader.
    file: Option<(File, Identity)>,
    len: u64,
    store: Store,
}

enum Store {
    Static(&'static [u8]),
    Memory {
        bytes: Box<[u8]>,
        overwritten: AtomicBool,
    },
    Mapped {
        map: Mmap,
        shrunk: AtomicBool,
    },
    Positional,
    Reader(Box<dyn ReadAt>),
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Store::Static(_) => "Static",
            Store::Memory { .. } => "Memory",
            Store::Mapped { .. } => "Mapped",
            Store::Positional => "Positional",
            Store::Reader(_) => "Reader",
        })
    }
}

impl Store {
    fn memory(bytes: Vec<u8>) -> Store {
        Store::Memory {
            bytes: bytes.into_boxed_slice(),
            overwritten: AtomicBool::new(false),
        }
    }
}

impl DataFile {
    /// Opens `path` for reading. With `mmap`, files over [`IN_MEMORY_LIMIT`]
    /// are mapped; without it no file is stored in memory, whatever its size.
    ///
    /// # Errors
    ///
    /// The file does not exist, is not a regular file or cannot be read.
    pub fn open(path: &Path, mmap: bool) -> io::Result<DataFile> {
        DataFile::open_with(path, mmap, IN_MEMORY_LIMIT)
    }

    /// Opens `path` for reading and maps it even if it is small: changes by other
    /// programs are visible at once, and a view is faster.
    ///
    /// # Errors
    ///
    /// As for [`DataFile::open`].
    pub fn open_mapped(path: &Path) -> io::Result<DataFile> {
        DataFile::open_with(path, true, 0)
    }

    /// Opens a file; reads files of up to `in_memory` bytes into memory.
    fn open_with(path: &Path, mmap: bool, in_memory: u64) -> io::Result<DataFile> {
        // Checked before opening, because opening a pipe waits for its writer.
        if !path.metadata()?.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let mut len = metadata.len();
        let store = if !mmap {
            Store::Positional
        } else if len <= in_memory {
            let mut bytes = Vec::new();
            (&file).take(in_memory).read_to_end(&mut bytes)?;
            len = bytes.len() as u64;
            Store::memory(bytes)
        } else {
            map(&file).map_or(Store::Positional, |map| {
                // Access is random, so read-ahead would only fetch unused bytes. If the
                // system refuses, only speed changes.
                #[cfg(unix)]
                let _ = map.advise(memmap2::Advice::Random);
                len = map.len() as u64;
                Store::Mapped {
                    map,
                    shrunk: AtomicBool::new(false),
                }
            })
        };
        Ok(DataFile {
            path: path.into(),
            file: Some((file, Identity::from_metadata(&metadata))),
            len,
            store,
        })
    }

    /// Bytes that are part of the program. The name is for messages.
    #[must_use]
    pub fn from_static(name: &Path, bytes: &'static [u8]) -> DataFile {
        DataFile {
            path: name.into(),
            file: None,
            len: bytes.len() as u64,
            store: Store::Static(bytes),
        }
    }

    /// Bytes that are in memory. The name is for messages, and its extension may decide what
    /// the bytes are.
    #[must_use]
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> DataFile {
        DataFile {
            path: name.into(),
            file: None,
            len: bytes.len() as u64,
            store: Store::memory(bytes),
        }
    }

    /// Bytes that a reader has, `len` of them. They must not change. The name is as for
    /// [`DataFile::from_bytes`].
    ///
    /// ```
    /// use std::path::Path;
    /// use tabia_io::input::file::DataFile;
    ///
    /// let text = b"0123456789";
    /// let file = DataFile::from_reader(Path::new("digits"), 10, |offset, buffer: &mut [u8]| {
    ///     let rest = &text[offset as usize..];
    ///     let count = rest.len().min(buffer.len());
    ///     buffer[..count].copy_from_slice(&rest[..count]);
    ///     Ok(count)
    /// });
    /// let mut buffer = [0; 4];
    /// assert_eq!(file.view()?.read(3, &mut buffer)?, b"3456");
    /// # Ok::<(), tabia_io::input::file::FileError>(())
    /// ```
    #[must_use]
    pub fn from_reader(name: &Path, len: u64, reader: impl ReadAt + 'static) -> DataFile {
        DataFile {
            path: name.into(),
            file: None,
            len,
            store: Store::Reader(Box::new(reader)),
        }
    }

    /// Copies a stream into memory or, above [`IN_MEMORY_LIMIT`] bytes, into an unnamed
    /// temporary file, which cannot be left behind. `name` is for messages. If `input`
    /// fails, the bytes before the error are copied, and the error is returned too.
    ///
    /// # Errors
    ///
    /// Temporary files cannot be written.
    pub fn spool(
        name: &Path,
        input: &mut dyn io::Read,
    ) -> io::Result<(DataFile, Option<io::Error>)> {
        let mut bytes = Vec::new();
        let start = input.take(IN_MEMORY_LIMIT + 1).read_to_end(&mut bytes);
        if bytes.len() as u64 <= IN_MEMORY_LIMIT {
            return Ok((DataFile::from_bytes(name, bytes), start.err()));
        }
        let mut file = atomic::unnamed_file(&temporary_folder())?;
        let mut fault = start.err();
        let mut len = 0;
        loop {
            file.write_all(&bytes)?;
            len += bytes.len() as u64;
            if fault.is_some() || bytes.is_empty() {
                break;
            }
            bytes.clear();
            fault = input.take(SPOOL_BYTES).read_to_end(&mut bytes).err();
        }
        let metadata = file.metadata()?;
        let spooled = DataFile {
            path: name.into(),
            file: Some((file, Identity::from_metadata(&metadata))),
            len,
            store: Store::Positional,
        };
        Ok((spooled, fault))
    }

    /// Opens `path` for reading it once, in pieces, whatever its size. Files over
    /// [`IN_MEMORY_LIMIT`] are not loaded into memory; see also
    /// [`Window`](super::window::Window).
    ///
    /// # Errors
    ///
    /// As for [`DataFile::open`].
    pub fn open_in_pieces(path: &Path) -> io::Result<DataFile> {
        let is_small = path.metadata()?.len() <= IN_MEMORY_LIMIT;
        DataFile::open(path, is_small)
    }

    /// The current length of the open file in bytes.
    fn present_len(&self) -> io::Result<u64> {
        match &self.file {
            // Twice as fast as reading all metadata; nothing uses the file's cursor.
            #[cfg(any(unix, windows))]
            Some((file, _)) => (&*file).seek(SeekFrom::End(0)),
            #[cfg(not(any(unix, windows)))]
            Some((file, _)) => Ok(file.metadata()?.len()),
            None => Ok(self.len),
        }
    }

    /// Whether the open file was overwritten in place. False for a shorter file, because
    /// then the copy in memory is better.
    fn is_overwritten(&self) -> io::Result<bool> {
        let Some((file, identity)) = &self.file else {
            return Ok(false);
        };
        let metadata = file.metadata()?;
        Ok(metadata.len() >= self.len && metadata.modified().ok() != identity.modified)
    }

    /// The path given at opening.
    #[must_use]
    pub fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Length in bytes at opening.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file was empty at opening.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns access for a short operation, such as one probe: take it, read, drop it.
    /// Checks the current length of a mapped file (see the [module](self)).
    ///
    /// # Errors
    ///
    /// The system cannot return the length of the open file.
    pub fn view(&self) -> Result<View<'_>, FileError> {
        let bytes = match &self.store {
            Store::Static(bytes) => Some(*bytes),
            Store::Memory { bytes, overwritten } => {
                if !overwritten.load(Ordering::Relaxed) && self.is_overwritten()? {
                    overwritten.store(true, Ordering::Relaxed);
                }
                (!overwritten.load(Ordering::Relaxed)).then_some(&**bytes)
            }
            Store::Mapped { map, shrunk } => {
                if !shrunk.load(Ordering::Relaxed) && self.present_len()? < self.len {
                    shrunk.store(true, Ordering::Relaxed);
                }
                (!shrunk.load(Ordering::Relaxed)).then_some(&**map)
            }
            Store::Positional | Store::Reader(_) => None,
        };
        Ok(View { file: self, bytes })
    }

    /// The state of the content, if it is the one that was opened: for what is made from all
    /// of it, to be used with [`DataFile::view_of`] only. Waits for some milliseconds if the
    /// file was changed just now, so that the next change makes another stamp.
    ///
    /// # Errors
    ///
    /// The system cannot return the metadata of the open file.
    pub fn stamp(&self) -> io::Result<Option<Stamp>> {
        let Some((file, identity)) = &self.file else {
            return Ok(Some(Stamp::default()));
        };
        let metadata = file.metadata()?;
        std::thread::sleep(Stamp::from_metadata(&metadata).until_settled());
        let metadata = file.metadata()?;
        Ok(identity
            .is_of(&metadata)
            .then(|| Stamp::from_metadata(&metadata)))
    }

    /// As [`DataFile::view`], if the file still has the content of the stamp.
    ///
    /// # Errors
    ///
    /// The system cannot return the metadata of the open file.
    pub fn view_of(&self, stamp: &Stamp) -> Result<Option<View<'_>>, FileError> {
        if let Some((file, _)) = &self.file
            && Stamp::from_metadata(&file.metadata()?) != *stamp
        {
            return Ok(None);
        }
        let bytes = match &self.store {
            Store::Static(bytes) => Some(*bytes),
            Store::Memory { bytes, .. } => Some(&**bytes),
            Store::Mapped { map, .. } => Some(&**map),
            Store::Positional | Store::Reader(_) => None,
        };
        Ok(Some(View { file: self, bytes }))
    }

    /// Returns the first `count` bytes; fewer if the file is shorter.
    ///
    /// # Errors
    ///
    /// As for [`View::read`].
    pub fn start(&self, count: usize) -> Result<Vec<u8>, FileError> {
        let mut start = vec![0; count];
        let there = self.view()?.copy(0, &mut start)?;
        start.truncate(there);
        Ok(start)
    }

    /// Returns access by positional reads only, even if the file is mapped. For passes over
    /// the whole file, which would load the whole mapping into memory.
    #[must_use]
    pub fn positional_view(&self) -> View<'_> {
        let bytes = match &self.store {
            Store::Static(bytes) => Some(*bytes),
            Store::Memory { bytes, .. } if self.file.is_none() => Some(&**bytes),
            _ => None,
        };
        View { file: self, bytes }
    }

    /// Compares the file now at the path with the open one.
    #[must_use]
    pub fn change(&self) -> Change {
        let Some((_, identity)) = &self.file else {
            return Change::None;
        };
        match self.path.metadata() {
            Ok(metadata) => identity.compare(&Identity::from_metadata(&metadata)),
            Err(_) => Change::Gone,
        }
    }
}

#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a mapping is sound if the file does not change under it. No program can
    // guarantee that for a user's file. `DataFile::view` does what is possible: it returns
    // the bytes only after comparing lengths; readers check every value from them and
    // never keep the slice longer than one probe. The module text describes the
    // remaining risk and how to avoid the mapping.
    unsafe { Mmap::map(file) }
}

/// Bytes of a [`DataFile`], valid for a short operation.
#[derive(Clone, Copy, Debug)]
pub struct View<'f> {
    file: &'f DataFile,
    bytes: Option<&'f [u8]>,
}

impl<'f> View<'f> {
    /// The whole file without copying, if it is in memory or mapped.
    #[must_use]
    pub fn bytes(&self) -> Option<&'f [u8]> {
        self.bytes
    }

    /// Reads up to `buffer.len()` bytes from `offset` on, fewer only at the end of the
    /// file (as opened). Use the returned slice: the buffer may be unchanged.
    ///
    /// # Errors
    ///
    /// The system cannot read, or the file has become too short.
    pub fn read<'b>(&self, offset: u64, buffer: &'b mut [u8]) -> Result<&'b [u8], FileError>
    where
        'f: 'b,
    {
        let left = self.file.len.saturating_sub(offset);
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        if let Some(bytes) = self.bytes {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = start.saturating_add(count);
            return Ok(bytes.get(start..end).unwrap_or_default());
        }
        let wanted = buffer.get_mut(..count).unwrap_or_default();
        if let Store::Reader(reader) = &self.file.store {
            if fill(wanted, offset, |offset, rest| reader.read_at(offset, rest))? < count {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        } else if let Some((file, _)) = &self.file.file
            && read_at(file, wanted, offset)? < count
        {
            return Err(FileError::Shrunk {
                was: self.file.len,
                now: self.file.present_len()?,
            });
        }
        Ok(wanted)
    }

    /// Like [`View::read`], but always copies into the buffer; returns the number of
    /// bytes.
    ///
    /// # Errors
    ///
    /// As for [`View::read`].
    pub fn copy(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, FileError> {
        let Some(bytes) = self.bytes else {
            return Ok(self.read(offset, buffer)?.len());
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = bytes.get(start..).unwrap_or_default();
        buffer
            .iter_mut()
            .zip(found)
            .for_each(|(to, from)| *to = *from);
        Ok(found.len().min(buffer.len()))
    }
}

/// Reads bytes at an offset until the buffer is full or the file ends; returns their
/// number.
///
/// # Errors
///
/// The error of the system call.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    fill(buffer, offset, |offset, rest| {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(file, rest, offset);
        // Changes the file's cursor, which nothing uses; the read itself is positional.
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(file, rest, offset);
        #[cfg(not(any(unix, windows)))]
        return seek_and_read(file, rest, offset);
    })
}

/// For systems without positional reads, such as WebAssembly: the cursor is used by one
/// thread at a time.
#[cfg(any(test, not(any(unix, windows))))]
fn seek_and_read(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    static CURSOR: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = crate::parallel::lock(&CURSOR);
    file.seek(SeekFrom::Start(offset))?;
    file.read(buffer)
}

/// Reads until the buffer is full or there is no more; returns the number of bytes.
fn fill(
    buffer: &mut [u8],
    offset: u64,
    read: impl Fn(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read(offset + done as u64, rest) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i / 7 % 251) as u8).collect()
    }

    fn large() -> Vec<u8> {
        pattern(IN_MEMORY_LIMIT as usize + 5000)
    }

    #[test]
    fn all_ways_of_holding_a_file_read_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        for bytes in [pattern(0), pattern(10_000), large()] {
            fs::write(&path, &bytes).unwrap();
            for mmap in [false, true] {
                let file = DataFile::open(&path, mmap).unwrap();
                assert_eq!(file.len(), bytes.len() as u64);
                let view = file.view().unwrap();
                assert_eq!(file.start(7000).unwrap(), &bytes[..bytes.len().min(7000)]);
                let mut buffer = [0; 100];
                for offset in [0, 1, 4095, bytes.len().saturating_sub(30)] {
                    let end = (offset + 100).min(bytes.len());
                    let expected = bytes.get(offset..end).unwrap_or_default();
                    assert_eq!(view.read(offset as u64, &mut buffer).unwrap(), expected);
                }
                for offset in [bytes.len() as u64, u64::MAX] {
                    assert!(view.read(offset, &mut buffer).unwrap().is_empty());
                }
            }
        }
    }

    /// A reader that gives one to seven bytes at a time, and is interrupted.
    fn in_morsels(bytes: Vec<u8>) -> impl ReadAt {
        let calls = std::sync::atomic::AtomicUsize::new(0);
        move |offset: u64, buffer: &mut [u8]| {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            if call % 3 == 1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let rest = bytes.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len()).min(1 + call % 7);
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    #[test]
    fn bytes_and_readers_are_read_like_files() {
        let name = Path::new("archive/book");
        let bytes = pattern(10_000);
        let len = bytes.len() as u64;
        let held = DataFile::from_bytes(name, bytes.clone());
        let read = DataFile::from_reader(name, len, in_morsels(bytes.clone()));
        for file in [held, read] {
            assert_eq!((file.len(), &**file.path()), (len, name));
            assert_eq!(file.change(), Change::None);
            let mut buffer = [0; 100];
            for view in [file.view().unwrap(), file.positional_view()] {
                for offset in [0, 1, 4095, 9970, 10_000, 20_000] {
                    let end = (offset + 100).min(bytes.len());
                    let expected = bytes.get(offset..end).unwrap_or_default();
                    assert_eq!(view.read(offset as u64, &mut buffer).unwrap(), expected);
                    let count = view.copy(offset as u64, &mut buffer).unwrap();
                    assert_eq!(&buffer[..count], expected);
                }
            }
        }
        // A reader that has less than was said.
        let short = DataFile::from_reader(name, len + 1, in_morsels(bytes));
        let error = short.start(20_000).unwrap_err().to_string();
        assert!(error.contains("end of file"), "{error}");
    }

    #[test]
    fn a_system_without_positional_reads_reads_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        let bytes = pattern(10_000);
        fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, bytes) = (&file, &bytes);
                scope.spawn(move || {
                    let mut buffer = [0; 100];
                    for n in 0..200 {
                        let offset = (n * 97 + thread * 13) % bytes.len();
                        let count = seek_and_read(file, &mut buffer, offset as u64).unwrap();
                        assert_eq!(&buffer[..count], &bytes[offset..offset + count]);
                    }
                });
            }
        });
    }

    #[test]
    fn a_stream_is_kept_whole_or_up_to_its_fault() {
        struct Fault;
        impl io::Read for Fault {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
        let limit = IN_MEMORY_LIMIT as usize;
        for len in [
            0,
            limit - 1,
            limit,
            limit + 1,
            limit + SPOOL_BYTES as usize + 5000,
        ] {
            let bytes = pattern(len);
            for is_whole in [true, false] {
                let mut whole = &*bytes;
                let mut cut = (&*bytes).chain(Fault);
                let input: &mut dyn io::Read = if is_whole { &mut whole } else { &mut cut };
                let (file, fault) = DataFile::spool(Path::new("-"), input).unwrap();
                assert_eq!(fault.is_none(), is_whole, "{len}");
                assert!(file.start(len + 1).unwrap() == bytes, "{len}");
            }
        }
    }

    #[test]
    fn without_mmap_nothing_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        fs::write(&path, large()).unwrap();
        let held = |mmap| {
            let file = DataFile::open(&path, mmap).unwrap();
            let view = file.view().unwrap();
            view.bytes().is_some()
        };
        assert!(held(true));
        assert!(!held(false));
    }

    #[cfg(unix)]
    #[test]
    fn a_mapped_file_that_shrinks_is_no_longer_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        let bytes = large();
        fs::write(&path, &bytes).unwrap();
        let file = DataFile::open(&path, true).unwrap();
        assert!(file.view().unwrap().bytes().is_some());

        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(5000)
            .unwrap();
        let view = file.view().unwrap();
        assert!(view.bytes().is_none());
        let mut buffer = [0; 100];
        assert_eq!(view.read(4000, &mut buffer).unwrap(), &bytes[4000..4100]);
        let lost = view.read(1 << 20, &mut buffer).unwrap_err();
        assert!(matches!(lost, FileError::Shrunk { now: 5000, .. }));
        assert_eq!(file.change(), Change::Modified);
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_goes_on_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        let other = folder.path().join("other");
        fs::write(&path, large()).unwrap();
        fs::write(&other, b"new").unwrap();
        let file = DataFile::open(&path, true).unwrap();
        assert_eq!(file.change(), Change::None);

        fs::rename(&other, &path).unwrap();
        assert_eq!(file.change(), Change::Replaced);
        let mut buffer = [0; 7];
        let view = file.view().unwrap();
        assert_eq!(view.read(14, &mut buffer).unwrap(), [2; 7]);

        fs::remove_file(&path).unwrap();
        assert_eq!(file.change(), Change::Gone);
    }

    /// However soon after the one before it a change comes.
    #[test]
    fn a_change_of_the_content_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book");
        for bytes in [pattern(10_000), large()] {
            for mmap in [false, true] {
                fs::write(&path, &bytes).unwrap();
                let file = DataFile::open(&path, mmap).unwrap();
                let stamp = file.stamp().unwrap().unwrap();
                let view = file.view_of(&stamp).unwrap().unwrap();
                assert_eq!(view.bytes().is_some(), mmap);
                assert_eq!(view.read(0, &mut [0; 100]).unwrap(), &bytes[..100]);
                let mut other = File::options().write(true).open(&path).unwrap();
                other.write_all(b"new").unwrap();
                assert!(file.view_of(&stamp).unwrap().is_none());
                assert_eq!(file.stamp().unwrap(), None, "it is not as it was opened");
            }
        }
        let program = DataFile::from_static(&path, b"bytes");
        let stamp = program.stamp().unwrap().unwrap();
        assert!(program.view_of(&stamp).unwrap().is_some());
    }

    #[test]
    fn folders_and_missing_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DataFile::open(folder.path(), true).is_err());
        assert!(DataFile::open(&folder.path().join("none"), true).is_err());
    }
}
