//! Temporary files and folders, and removal of leftovers.
//!
//! A temporary file has a unique name and is locked by its owner; the system releases
//! the lock when the owner ends for any reason. So a file that can be locked has no
//! owner any more, and [`remove_leftovers`] removes it. If the file system has no
//! locks, nothing is removed. Whoever writes in a folder removes all that lies there, for
//! files of any name.
//!
//! A folder cannot be locked on every system. `.tabia-XXXXXX` has a lock file,
//! `.tabia-XXXXXX.lock`, created before it and removed after it. A folder with the record
//! of a file set (`set.rs`) is not removed: its files are needed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use super::Locked;
use super::set::is_needed;
use crate::input::path::{folder_of, names_beside};

/// The suffix of temporary files.
pub(super) const TEMPORARY: &str = ".tmp";

/// The prefix of temporary folders.
const FOLDER: &str = ".tabia-";

/// The suffix of a folder's lock file.
const LOCK: &str = ".lock";

/// Number of attempts to create a file, if other programs remove it.
const ATTEMPTS: u32 = 100;

/// The path of a temporary file, which is deleted when this is dropped.
#[derive(Debug)]
pub(super) struct TempPath(pub(super) PathBuf);

impl TempPath {
    /// Creates a file with a unique name.
    fn create(folder: &Path, prefix: &OsStr, suffix: &str) -> io::Result<(File, TempPath)> {
        loop {
            let mut name = prefix.to_owned();
            let random = RandomState::new().hash_one(folder);
            name.push(format!("{random:016x}{suffix}"));
            let path = folder.join(name);
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok((made?, TempPath(path))),
            }
        }
    }
}

/// A file without a name in a folder, deleted when it is closed.
///
/// # Errors
///
/// No file can be made in the folder.
pub fn unnamed_file(folder: &Path) -> io::Result<File> {
    // Its name is deleted on drop; Windows does that when the file is closed.
    TempPath::create(folder, OsStr::new(FOLDER), TEMPORARY).map(|(file, _)| file)
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A folder for temporary files; removed when dropped, and by [`remove_leftovers`] if
/// its owner was killed.
#[derive(Debug)]
pub struct TempFolder {
    folder: PathBuf,
    lock: Option<(File, TempPath)>,
}

impl TempFolder {
    /// Creates a folder in the folder of `path`.
    pub fn beside(path: &Path) -> io::Result<TempFolder> {
        remove_leftovers(path);
        let parent = folder_of(path);
        let lock = make_locked(|| TempPath::create(parent, OsStr::new(FOLDER), LOCK))?;
        let folder = lock.1.0.with_extension("");
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has a mode"))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(TempFolder {
            folder,
            lock: Some(lock),
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Leaves the folder as a killed program would.
    pub(super) fn abandon(mut self) {
        if let Some((file, path)) = self.lock.take() {
            let _ = file.unlock();
            std::mem::forget(path);
        }
        std::mem::forget(self);
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // Windows cannot delete a file that a reader has mapped: then the lock file
        // stays too, so that the next search for leftovers removes both.
        if !is_removed(&self.folder)
            && let Some((_, path)) = self.lock.take()
        {
            std::mem::forget(path);
        }
    }
}

/// Creates and locks a temporary file in the folder of `path`.
pub(super) fn file_beside(path: &Path) -> io::Result<(File, TempPath)> {
    make_locked(|| TempPath::create(folder_of(path), &prefix(path), TEMPORARY))
}

/// Creates a locked file and checks that it still exists: before it is locked, another
/// program may remove it as a leftover.
fn make_locked(
    mut make: impl FnMut() -> io::Result<(File, TempPath)>,
) -> io::Result<(File, TempPath)> {
    for _ in 0..ATTEMPTS {
        let made = make()?;
        match made.0.try_lock() {
            Ok(()) if made.1.0.exists() => return Ok(made),
            // Where there are no locks, nothing is removed either.
            Err(TryLockError::Error(_)) => return Ok(made),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Removes the leftovers of killed programs in the folder of a file: temporary files and
/// folders. Files of running programs stay, and folders that are needed to complete a
/// replacement.
pub fn remove_leftovers(path: &Path) {
    let index = ["cto", "ctb"].map(|extension| path.with_extension(extension));
    let prefixes = [path, &index[0], &index[1]].map(prefix);
    for name in names_beside(path).unwrap_or_default() {
        let found = path.with_file_name(&name);
        let bytes = name.as_encoded_bytes();
        let mut own = prefixes.iter().map(|prefix| prefix.as_encoded_bytes());
        if bytes.ends_with(TEMPORARY.as_bytes())
            && (own.any(|prefix| bytes.starts_with(prefix)) || is_unique_name(bytes))
        {
            if let Some(dead) = DeadFile::open(&found) {
                dead.remove();
            }
        } else if is_temp_folder(&found) && bytes.ends_with(LOCK.as_bytes()) {
            let folder = found.with_extension("");
            if let Owner::Dead(dead) = owner_of(&folder)
                && !is_needed(&folder)
            {
                dead.remove();
            }
        }
    }
}

/// Whether a name is one of [`TempPath::create`] for any file: `.NAME.` or [`FOLDER`], 16
/// hexadecimal digits, `.tmp`.
fn is_unique_name(name: &[u8]) -> bool {
    let Some(stem) = name.strip_suffix(TEMPORARY.as_bytes()) else {
        return false;
    };
    let Some((prefix, digits)) = stem.split_last_chunk::<16>() else {
        return false;
    };
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.iter().all(is_digit)
        && (prefix == FOLDER.as_bytes()
            || prefix.len() > 2 && prefix.starts_with(b".") && prefix.ends_with(b"."))
}

/// The temporary folders in the folder of a file.
pub(super) fn temp_folders(path: &Path) -> Vec<PathBuf> {
    let names = names_beside(path).unwrap_or_default().into_iter();
    let names = names.filter(|name| !name.as_encoded_bytes().ends_with(LOCK.as_bytes()));
    let folders = names.map(|name| path.with_file_name(name));
    let mut folders: Vec<PathBuf> = folders.filter(|path| is_temp_folder(path)).collect();
    folders.sort();
    folders
}

/// Whether the program that created a temporary folder still runs.
pub(super) enum Owner {
    Running,
    Dead(DeadFile),
    /// The file system has no locks.
    Unknown,
}

/// Whether the program that created this temporary folder still runs. A folder without a
/// lock file has no owner.
pub(super) fn owner_of(folder: &Path) -> Owner {
    let lock = folder.with_added_extension(&LOCK[1..]);
    let Some(file) = open_to_lock(&lock) else {
        return Owner::Dead(DeadFile {
            lock: None,
            path: lock,
            folder: Some(folder.to_owned()),
        });
    };
    match file.try_lock() {
        Ok(()) => Owner::Dead(DeadFile {
            lock: Some(Locked(file)),
            path: lock,
            folder: Some(folder.to_owned()),
        }),
        Err(TryLockError::WouldBlock) => Owner::Running,
        Err(TryLockError::Error(_)) => Owner::Unknown,
    }
}

/// A temporary file without an owner, or the lock file of a folder without one. It is
/// locked until it is deleted: another program may have just created it, and must not use
/// it.
pub(super) struct DeadFile {
    lock: Option<Locked>,
    path: PathBuf,
    folder: Option<PathBuf>,
}

impl DeadFile {
    fn open(path: &Path) -> Option<DeadFile> {
        let file = open_to_lock(path)?;
        file.try_lock().ok()?;
        Some(DeadFile {
            lock: Some(Locked(file)),
            path: path.to_owned(),
            folder: None,
        })
    }

    /// Removes the folder, then the file.
    pub(super) fn remove(self) {
        if self.folder.as_deref().is_none_or(is_removed) {
            let _ = fs::remove_file(&self.path);
        }
        drop(self.lock);
    }
}

fn open_to_lock(path: &Path) -> Option<File> {
    // NFS cannot lock a file that is open only for reading.
    let writable = File::options().read(true).write(true).open(path);
    writable.or_else(|_| File::open(path)).ok()
}

/// Whether a folder has the name of a temporary one.
pub fn is_temp_folder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(FOLDER.as_bytes())
}

/// Removes a folder and its content; true if that succeeds.
fn is_removed(folder: &Path) -> bool {
    match fs::remove_dir_all(folder) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// `.book.ctg.`
fn prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in a folder.
    fn seen(folder: &tempfile::TempDir) -> Vec<OsString> {
        names_beside(&folder.path().join("x")).unwrap()
    }

    /// Before a new file is locked it has no owner.
    #[test]
    fn a_file_that_is_removed_before_it_is_locked_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let mut made = 0;
        let file = make_locked(|| {
            made += 1;
            let file = TempPath::create(folder.path(), OsStr::new(".book.ctg."), TEMPORARY);
            if made == 1 {
                remove_leftovers(&path);
            }
            file
        });
        let (_file, path_made) = file.unwrap();
        // Windows removes no open file.
        let expected = if cfg!(windows) { 1 } else { 2 };
        assert_eq!((made, path_made.0.exists()), (expected, true));
        remove_leftovers(&path);
        assert!(path_made.0.exists());
    }

    /// A file that is being removed is locked by the program that removes it.
    #[test]
    fn a_file_that_another_program_has_locked_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let mut remover = None;
        let file = make_locked(|| {
            let (file, path) = TempPath::create(folder.path(), OsStr::new("."), TEMPORARY)?;
            if remover.is_none() {
                let other = File::open(&path.0)?;
                other.try_lock()?;
                remover = Some((other, path.0.clone()));
            }
            Ok((file, path))
        });
        assert_ne!(file.unwrap().1.0, remover.unwrap().1);
    }

    #[test]
    fn folders_of_dead_owners_go_and_those_of_living_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let alive = TempFolder::beside(&path).unwrap();
        fs::write(alive.path().join("lines.ctg"), "x").unwrap();
        for name in [".tabia-dead", ".tabia-other"] {
            let dead = folder.path().join(name);
            fs::create_dir(&dead).unwrap();
            fs::write(dead.join("lines.ctg"), "x").unwrap();
        }
        fs::write(folder.path().join(".tabia-dead.lock"), "").unwrap();
        fs::write(folder.path().join(".tabia-none.lock"), "").unwrap();
        for name in ["ctg", "cto", "ctb"] {
            fs::write(folder.path().join(format!(".book.{name}.dead.tmp")), "").unwrap();
        }
        remove_leftovers(&path);
        assert!(alive.path().join("lines.ctg").exists());
        // A folder without a lock file may belong to any program.
        fs::remove_dir_all(folder.path().join(".tabia-other")).unwrap();
        assert_eq!(seen(&folder).len(), 2, "{:?}", seen(&folder));
        drop(alive);
        assert_eq!(seen(&folder).len(), 0, "{:?}", seen(&folder));
    }
}
