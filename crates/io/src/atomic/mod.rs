//! Putting files in place: whole or not at all, and nothing lost on the way.
//!
//! A file is written beside its place under a temporary name, brought to the
//! disk, and renamed. What is in its place already is refused, kept under
//! another name, or replaced ([`Old`]).
//!
//! Some files have companions, as a ChessBase book has its index. Companions
//! beside a file that they do not belong to may go unnoticed by readers, so no
//! moment may show such a pair; a file without companions is read rightly, or
//! refused. Hence, with all new files complete and synced:
//!
//! 1. the old file gets a second name, the old companions another one;
//! 2. the new file takes the place of the old one, in one rename;
//! 3. the new companions come in place;
//! 4. what is not to be kept of the old ones is deleted.
//!
//! The folder is synced after 1, 2 and 3, so that a power cut sees the same
//! order. If a step before the fourth fails, the old files are moved back.
//!
//! Temporary names begin with a dot, the file's name and another dot, and end
//! with `.tmp`; temporary folders are called `.tabia-XXXXXX`. A killed writer
//! leaves its files; the next one removes them (`remove_leftovers`): those of
//! a writer at work are locked.

mod error;
mod locked;
mod old_files;
mod output;
mod temporary;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub use error::WriteFileError;
pub use locked::{LOCK_PAUSE, LOCK_WAIT, Locked};
use old_files::OldFiles;
use output::Output;
use temporary::TempPath;
pub use temporary::is_temp_folder;
pub(crate) use temporary::unnamed_file;
pub use temporary::{TempFolder, remove_leftovers};

/// What becomes of a file that is in the place of a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Old {
    /// It stays: the new one is refused, before any work.
    #[default]
    Refuse,
    /// It is kept with `.bak` after its name, in place of an older one.
    Keep,
    /// As [`Old::Keep`]; older ones stay too, with numbers (`.bak2`).
    KeepEach,
    /// It is gone.
    Replace,
}

/// A file that is being written beside its place; deleted when dropped.
#[derive(Debug)]
pub struct NewFile {
    file: Output,
    temporary: TempPath,
    path: PathBuf,
    old: Old,
}

/// Puts a file in place whose bytes are all there.
///
/// # Errors
///
/// Those of [`NewFile::create`] and [`NewFile::put`].
pub fn put(path: &Path, bytes: &[u8], old: Old) -> Result<Placed, WriteFileError> {
    let mut file = NewFile::create(path, old)?;
    file.add(bytes)?;
    file.put()
}

/// A file that was put in place.
#[derive(Debug)]
pub struct Placed {
    /// Its length in bytes.
    pub bytes: u64,
    /// Where the old one is kept.
    pub kept: Option<PathBuf>,
}

impl NewFile {
    /// Begins a file that will be `path`.
    ///
    /// # Errors
    ///
    /// It is there and [`Old::Refuse`]d, or no file can be made in the folder.
    pub fn create(path: &Path, old: Old) -> Result<NewFile, WriteFileError> {
        check(path, &[], old)?;
        remove_leftovers(path);
        let made = temporary::file_beside(path);
        let (file, temporary) = made.map_err(|error| WriteFileError::io(path, error))?;
        Ok(NewFile {
            file: Output::new(file, &temporary.0),
            temporary,
            path: path.to_owned(),
            old,
        })
    }

    /// The final place.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for a caller that writes in large pieces past the buffer, and
    /// nothing through it.
    pub fn as_file(&self) -> &File {
        self.file.file()
    }

    /// Joins a system error with the name the file will have.
    pub fn failed(&self, error: io::Error) -> WriteFileError {
        WriteFileError::io(&self.path, error)
    }

    /// Writes, and names the file if that fails.
    #[inline]
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), WriteFileError> {
        self.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// Brings the file to the disk and puts it in its place.
    ///
    /// # Errors
    ///
    /// It cannot be written. The file in its place is there again.
    pub fn put(self) -> Result<Placed, WriteFileError> {
        self.put_with(Vec::new())
    }

    /// Puts a file in its place together with its companions, which are
    /// without use alone: see the head of this module for the order.
    ///
    /// # Errors
    ///
    /// One of them cannot be written. What was in their places is there
    /// again.
    pub fn put_with(mut self, companions: Vec<NewFile>) -> Result<Placed, WriteFileError> {
        let bytes = self.complete()?;
        let mut companions = companions;
        let mut others = Vec::new();
        for companion in &mut companions {
            companion.complete()?;
            others.push(companion.path.clone());
        }
        let mut old_files = OldFiles::of(&self.path, &others, self.old)?;
        sync_folder(&self.path);
        self.rename()?;
        old_files.placed();
        sync_folder(old_files.path());
        for companion in companions {
            let path = companion.path.clone();
            companion.rename()?;
            old_files.placed_too(path);
        }
        sync_folder(old_files.path());
        Ok(Placed {
            bytes,
            kept: old_files.forget(),
        })
    }

    fn complete(&mut self) -> Result<u64, WriteFileError> {
        let write = |file: &mut Output, path: &Path| {
            file.flush()?;
            let file = file.file();
            // The new file gets the permissions of the old one.
            if let Ok(old) = fs::metadata(path) {
                let _ = file.set_permissions(old.permissions());
            }
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        write(&mut self.file, &self.path).map_err(|error| self.failed(error))
    }

    /// Gives a complete file its final name.
    fn rename(self) -> Result<(), WriteFileError> {
        let NewFile {
            file,
            temporary,
            path,
            old,
        } = self;
        // Renamed while still open and locked, so that no program takes it for a
        // leftover. On Windows a lock keeps readers out as well.
        #[cfg(windows)]
        let _ = file.file().unlock();
        let renamed = match old {
            // A second name, and the first is deleted with `temporary`.
            Old::Refuse => fs::hard_link(&temporary.0, &path).or_else(|error| {
                // Not every file system has links.
                match fs::symlink_metadata(&path) {
                    Err(_) => fs::rename(&temporary.0, &path),
                    Ok(_) => Err(error),
                }
            }),
            _ => fs::rename(&temporary.0, &path),
        };
        let _ = file.file().unlock();
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if old == Old::Refuse => WriteFileError::Exists { path },
            _ => WriteFileError::io(&path, error),
        })
    }
}

impl Write for NewFile {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Looks, before any work, whether a file can be put in place: whether it, or
/// a companion with one of these extensions, is there and refused, and
/// whether there is a folder for it.
///
/// # Errors
///
/// If not.
pub fn check(path: &Path, companions: &[&str], old: Old) -> Result<(), WriteFileError> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(WriteFileError::NoFolder {
            path: path.to_owned(),
            folder: folder.to_owned(),
        });
    }
    if path.is_dir() {
        return Err(WriteFileError::io(path, io::ErrorKind::IsADirectory.into()));
    }
    if old != Old::Refuse {
        return Ok(());
    }
    let mut there = fs::symlink_metadata(path).is_ok().then(|| path.to_owned());
    for extension in companions {
        if there.is_none() {
            let alike = named_like(&path.with_extension(extension));
            there = alike.ok().and_then(|paths| paths.into_iter().next());
        }
    }
    match there {
        Some(path) => Err(WriteFileError::Exists { path }),
        None => Ok(()),
    }
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes new and deleted names in the folder of a file last. Windows has no
/// such call for folders, and some file systems refuse it: then the order is
/// theirs.
pub fn sync_folder(path: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Whether two names are of one file, or differ in case alone: then a book of
/// the one name has the index of the other.
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (resolved(a), resolved(b)) else {
        return a == b;
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_ascii_lowercase();
    a.parent() == b.parent() && name(&a) == name(&b)
}

/// The path without links; of a file that does not exist yet, its folder's.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|error| match path.file_name() {
        Some(name) => Ok(folder_of(path).canonicalize()?.join(name)),
        None => Err(error),
    })
}

/// Files whose names differ from that of `path` at most in case: readers may
/// take any of them for it.
pub(crate) fn named_like(path: &Path) -> io::Result<Vec<PathBuf>> {
    let wanted = path.file_name().unwrap_or_default();
    let names = names_beside(path)?.into_iter();
    Ok(names
        .filter(|name| name.eq_ignore_ascii_case(wanted))
        .map(|name| path.with_file_name(name))
        .collect())
}

fn names_beside(path: &Path) -> io::Result<Vec<OsString>> {
    folder_of(path)
        .read_dir()?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect()
}

#[cfg(test)]
mod tests;
