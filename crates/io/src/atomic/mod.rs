//! Atomic replacement of files: a new file appears complete or not at all, and no old
//! data is lost.
//!
//! A file is written in the target folder under a temporary name, synced, and renamed.
//! An existing file is refused, kept under another name, or replaced ([`Previous`]).
//!
//! Some files have companions, such as the index of a ChessBase book. Readers may not
//! notice companions of another file, so such a pair must never exist; a file without
//! companions is read correctly, or refused. Hence, with all new files complete and
//! synced in a temporary folder, and a record there of what belongs where:
//!
//! 1. the old companions are moved into the folder;
//! 2. the new file replaces the old one, in one rename;
//! 3. the new companions are renamed;
//! 4. old files become backups, or are deleted with the folder.
//!
//! The folder is synced between them, so that the order also holds after a power failure.
//! If a step fails, the old files are moved back. If the program is killed, [`settle`] does
//! that later, or the steps that are left: see `set.rs`.
//!
//! A symbolic link stays one: the file that it leads to is replaced and kept, in its folder
//! (`followed`). So are its companions, to which links of theirs must lead.
//!
//! Temporary names begin with a dot, the file's name and another dot, and end with
//! `.tmp`; temporary folders are called `.tabia-XXXXXX`. A killed writer leaves its
//! files; the next one in that folder removes them (`remove_leftovers`), except locked
//! ones, whose writer still runs.

mod error;
mod followed;
mod locked;
mod output;
mod set;
mod temporary;

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub use crate::input::path::folder_of;
use crate::input::path::named_like;
use crate::input::sibling::sibling;
pub use error::WriteFileError;
use followed::{apart, followed};
pub use locked::{LOCK_PAUSE, LOCK_WAIT, Locked};
use output::Output;
use set::FolderLock;
pub use set::{InterruptedSet, SetState, discard, interrupted, settle};
use temporary::TempPath;
pub use temporary::{TempFolder, is_temp_folder, remove_leftovers, unnamed_file};

/// What to do with an existing file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Previous {
    /// The new file is refused, before any work.
    #[default]
    Refuse,
    /// The old file is renamed to its name with `.bak`, and replaces an older backup.
    Keep,
    /// Like [`Previous::Keep`], but older backups stay too, with numbers (`.bak2`).
    KeepEach,
    /// The old file is overwritten.
    Replace,
}

/// Bytes that are copied at once.
const COPIED_BYTES: usize = 256 << 10;

/// A temporary file next to its target; deleted when dropped.
#[derive(Debug)]
pub struct NewFile {
    file: Output,
    temporary: TempPath,
    path: PathBuf,
    old: Previous,
}

/// Writes a file whose bytes are all in memory.
///
/// # Errors
///
/// As for [`NewFile::create`] and [`NewFile::commit`].
pub fn write(path: &Path, bytes: &[u8], old: Previous) -> Result<Placed, WriteFileError> {
    let mut file = NewFile::create(path, old)?;
    file.write_bytes(bytes)?;
    file.commit()
}

/// Renames all files of a command to their targets. All are complete and synced before the first
/// is renamed, so that a full disk or a folder without permission leaves none of them.
///
/// # Errors
///
/// One of the files cannot be written, or not be renamed: then those before it are in their
/// places ([`WriteFileError::Partly`]).
pub fn commit_all(mut files: Vec<NewFile>) -> Result<(), WriteFileError> {
    for file in &mut files {
        file.complete()?;
    }
    let mut old: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    for (number, file) in files.into_iter().enumerate() {
        match file.commit() {
            Ok(_) => {}
            Err(error) if number == 0 => return Err(error),
            Err(error) => {
                let left = old.split_off(number);
                return Err(WriteFileError::Partly {
                    error: Box::new(error),
                    new: old,
                    old: left,
                });
            }
        }
    }
    Ok(())
}

/// A file that was written and renamed.
#[derive(Debug)]
pub struct Placed {
    /// Its length in bytes.
    pub bytes: u64,
    /// Path of the backup of the old file.
    pub kept: Option<PathBuf>,
}

impl NewFile {
    /// Creates the temporary file for the target `path`.
    ///
    /// # Errors
    ///
    /// The target exists and [`Previous::Refuse`] is set, or no file can be created in the
    /// folder.
    pub fn create(path: &Path, old: Previous) -> Result<NewFile, WriteFileError> {
        check(path, &[], old)?;
        let path = followed(path);
        remove_leftovers(&path);
        let made = temporary::file_beside(&path);
        let (file, temporary) = made.map_err(|error| WriteFileError::io(&path, error))?;
        Ok(NewFile {
            file: Output::new(file, &temporary.0),
            temporary,
            path,
            old,
        })
    }

    /// A copy of a file, for the target `path`.
    ///
    /// # Errors
    ///
    /// As for [`NewFile::create`]; or the file cannot be read.
    pub fn copy_of(source: &Path, path: &Path, old: Previous) -> Result<NewFile, WriteFileError> {
        let failed = |error| WriteFileError::io(source, error);
        let mut new = NewFile::create(path, old)?;
        let mut file = File::open(source).map_err(failed)?;
        let mut piece = vec![0; COPIED_BYTES];
        loop {
            let read = io::Read::read(&mut file, &mut piece).map_err(failed)?;
            match piece.get(..read) {
                Some(bytes) if read > 0 => new.write_bytes(bytes)?,
                _ => break,
            }
        }
        if let Ok(data) = file.metadata() {
            let _ = new.as_file().set_permissions(data.permissions());
        }
        Ok(new)
    }

    /// The target path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for callers that write only in large pieces and need no buffer.
    pub fn as_file(&self) -> &File {
        self.file.file()
    }

    /// The file once more, to write from its start on.
    ///
    /// # Errors
    ///
    /// The system has no more open files.
    pub fn second_handle(&self) -> io::Result<File> {
        let again = self.as_file().try_clone();
        again.or_else(|error| match error.kind() {
            // WebAssembly copies no handles, and has no locks that another one would meet.
            io::ErrorKind::Unsupported => File::options().write(true).open(&self.temporary.0),
            _ => Err(error),
        })
    }

    /// Adds the target path to a system error.
    pub fn failed(&self, error: io::Error) -> WriteFileError {
        WriteFileError::io(&self.path, error)
    }

    /// Writes bytes; an error names the file.
    #[inline]
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), WriteFileError> {
        self.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// Syncs the file and renames it to its target.
    ///
    /// # Errors
    ///
    /// The file cannot be written. The old one is restored.
    pub fn commit(self) -> Result<Placed, WriteFileError> {
        self.commit_with(Vec::new())
    }

    /// Renames a file and its companions, which are useless without it, to their
    /// targets: see the start of this module for the order. An interrupted replacement of
    /// the file is settled first.
    ///
    /// # Errors
    ///
    /// One of the files cannot be written. The old ones are restored.
    pub fn commit_with(self, companions: Vec<NewFile>) -> Result<Placed, WriteFileError> {
        self.commit_without(companions, &[])
    }

    /// Like [`NewFile::commit_with`]; existing companions named `gone` belong to the old file
    /// only.
    ///
    /// # Errors
    ///
    /// One of the files cannot be written. The old ones are restored.
    pub fn commit_without(
        mut self,
        mut companions: Vec<NewFile>,
        gone: &[PathBuf],
    ) -> Result<Placed, WriteFileError> {
        let folder = folder_of(&self.path);
        let mut others = companions.iter().map(NewFile::path);
        if let Some(other) = others.find(|path| folder_of(path) != folder) {
            return Err(WriteFileError::Apart {
                path: self.path.clone(),
                other: other.to_owned(),
            });
        }
        let bytes = self.complete()?;
        for companion in &mut companions {
            companion.complete()?;
        }
        let keeps = matches!(self.old, Previous::Keep | Previous::KeepEach) && self.path.exists();
        if companions.is_empty() && gone.is_empty() && !keeps {
            let path = self.path.clone();
            self.rename()?;
            sync_folder(&path);
            return Ok(Placed { bytes, kept: None });
        }
        let Some(held) = FolderLock::lock(&self.path) else {
            return Err(self.failed(io::ErrorKind::ResourceBusy.into()));
        };
        let kept = held.replace(self, companions, gone)?;
        Ok(Placed { bytes, kept })
    }

    /// Moves a complete file into the folder of a set, whose lock it shares from then on.
    fn move_to(self, path: &Path) -> Result<(), WriteFileError> {
        fs::rename(&self.temporary.0, path).map_err(|error| self.failed(error))?;
        let _ = self.file.file().unlock();
        Ok(())
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

    /// Renames a complete file to its target.
    fn rename(self) -> Result<(), WriteFileError> {
        let NewFile {
            file,
            temporary,
            path,
            old,
        } = self;
        // Renamed while open and locked, so that no program takes it for a leftover.
        // Unlocked after that: on Windows a lock also blocks readers.
        #[cfg(windows)]
        let _ = file.file().unlock();
        let renamed = match old {
            // A hard link; the first name is deleted with `temporary`.
            Previous::Refuse => fs::hard_link(&temporary.0, &path).or_else(|error| {
                // Not every file system has hard links.
                match fs::symlink_metadata(&path) {
                    Err(_) => fs::rename(&temporary.0, &path),
                    Ok(_) => Err(error),
                }
            }),
            _ => fs::rename(&temporary.0, &path),
        };
        let _ = file.file().unlock();
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if old == Previous::Refuse => {
                WriteFileError::Exists { path }
            }
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

/// Checks, before any work, whether a file can be written: the folder exists, and no
/// file or companion with one of these extensions would be refused.
///
/// # Errors
///
/// The file cannot be written.
pub fn check(path: &Path, companions: &[&str], old: Previous) -> Result<(), WriteFileError> {
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
    let own = |extension: &&str| named_like(&path.with_extension(extension)).unwrap_or_default();
    let others: Vec<PathBuf> = companions.iter().flat_map(own).collect();
    if old != Previous::Refuse {
        return match others.into_iter().find(|other| apart(path, other)) {
            Some(other) => Err(WriteFileError::Apart {
                path: path.to_owned(),
                other,
            }),
            None => Ok(()),
        };
    }
    let there = fs::symlink_metadata(path).is_ok().then(|| path.to_owned());
    match there.or_else(|| others.into_iter().next()) {
        Some(path) => Err(WriteFileError::Exists { path }),
        None => Ok(()),
    }
}

/// Checks, before any work, that a file to be written is none of the `others`, which the same
/// command reads or writes: it would end as a mixture of them, or replace what was just made.
///
/// # Errors
///
/// The file is one of the others.
pub fn check_apart(
    path: &Path,
    others: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), WriteFileError> {
    let mut others = others.into_iter();
    match others.any(|other| is_same_file(path, other.as_ref())) {
        true => Err(WriteFileError::Taken {
            path: path.to_owned(),
        }),
        false => Ok(()),
    }
}

/// The name of the only or last backup of a file: `book.ctg.bak`, beside the file that a
/// link leads to.
#[must_use]
pub fn backup_of(path: &Path) -> PathBuf {
    set::backup(&followed(path), 1)
}

/// Copies a file that will be changed in place, and those of its companions that exist, to
/// their names with `.bak`, in place of an older backup. Returns the path of the file's backup.
///
/// # Errors
///
/// A file cannot be read or written. An older backup is unchanged then.
pub fn back_up(path: &Path, companions: &[&str]) -> Result<PathBuf, WriteFileError> {
    let backup = backup_of(path);
    let mut copies = Vec::new();
    let mut gone = Vec::new();
    for extension in companions {
        match sibling(path, extension) {
            Some(own) => copies.push(NewFile::copy_of(&own, &backup_of(&own), Previous::Replace)?),
            None => gone.push(backup_of(&path.with_extension(extension))),
        }
    }
    NewFile::copy_of(path, &backup, Previous::Replace)?.commit_without(copies, &gone)?;
    Ok(backup)
}

/// Makes created and deleted names in the folder of a file durable. Windows has no such
/// call for folders, and some file systems refuse it: then the order is not guaranteed.
pub fn sync_folder(path: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Whether two paths are the same file, or differ only in case: then a book with one
/// name would use the index of the other.
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (resolved(a), resolved(b)) else {
        return a == b;
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_ascii_lowercase();
    a.parent() == b.parent() && name(&a) == name(&b)
}

/// The path without symbolic links; of a new file, that of its folder plus its name.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|error| match path.file_name() {
        Some(name) => Ok(folder_of(path).canonicalize()?.join(name)),
        None => Err(error),
    })
}

#[cfg(test)]
mod tests;
