//! Temporary files and folders, and removing those of dead owners.
//!
//! A temporary file has a name that nothing else has, and its owner holds its
//! lock: the system gives the lock back when the owner ends, however it ends.
//! So a file that can be locked has no owner any more, and
//! [`remove_leftovers`] removes it. Where the file system knows no locks,
//! nothing is removed.
//!
//! A folder cannot be locked everywhere. `.tabia-XXXXXX` has a lock file,
//! `.tabia-XXXXXX.lock`, that is made before it and removed after it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use super::{folder_of, names_beside};

/// The end of the name of a temporary file.
pub(super) const TEMPORARY: &str = ".tmp";

/// Begins the names of temporary folders.
const FOLDER: &str = ".tabia-";

/// The end of the name of a folder's lock file.
const LOCK: &str = ".lock";

/// So often a file is made anew that others have removed.
const ATTEMPTS: u32 = 100;

/// The name of a temporary file, which is deleted when this is dropped.
#[derive(Debug)]
pub(super) struct TempPath(pub(super) PathBuf);

impl TempPath {
    /// Makes a file whose name nothing else has.
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

/// A file without a name, which is gone when it is closed.
pub(crate) fn unnamed_file(folder: &Path) -> io::Result<File> {
    // Its name is deleted here; Windows keeps it until then.
    TempPath::create(folder, OsStr::new(FOLDER), TEMPORARY).map(|(file, _)| file)
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A folder for what is made on the way to a file, where there is room for it;
/// removed when dropped, and by [`remove_leftovers`] if its owner was killed.
#[derive(Debug)]
pub struct TempFolder {
    folder: PathBuf,
    lock: Option<(File, TempPath)>,
}

impl TempFolder {
    /// Makes a folder beside a file.
    pub fn beside(path: &Path) -> io::Result<TempFolder> {
        remove_leftovers(path);
        let parent = folder_of(path);
        let lock = make_locked(|| TempPath::create(parent, OsStr::new(FOLDER), LOCK))?;
        let folder = lock.1.0.with_extension("");
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
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // Windows deletes no file that a reader has mapped: the lock file stays too,
        // so that the next search for leftovers removes both.
        if !is_removed(&self.folder)
            && let Some((_, path)) = self.lock.take()
        {
            std::mem::forget(path);
        }
    }
}

/// Makes a temporary file beside a file, and locks it.
pub(super) fn file_beside(path: &Path) -> io::Result<(File, TempPath)> {
    make_locked(|| TempPath::create(folder_of(path), &prefix(path), TEMPORARY))
}

/// Makes a file that is locked and still there: between the two steps it looks as if
/// it had no owner, and a program that removes leftovers then removes it.
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

/// Removes what killed programs have left beside a file: temporary files for
/// it and for the index of a book, and temporary folders for whatever file.
/// What has a living owner stays.
pub fn remove_leftovers(path: &Path) {
    let index = ["cto", "ctb"].map(|extension| path.with_extension(extension));
    let prefixes = [path, &index[0], &index[1]].map(prefix);
    for name in names_beside(path).unwrap_or_default() {
        let is = |start: &OsStr, end: &str| {
            let name = name.as_encoded_bytes();
            name.starts_with(start.as_encoded_bytes()) && name.ends_with(end.as_bytes())
        };
        let found = path.with_file_name(&name);
        if prefixes.iter().any(|prefix| is(prefix, TEMPORARY)) {
            remove_unowned(&found, None);
        } else if is(OsStr::new(FOLDER), LOCK) {
            remove_unowned(&found, Some(found.with_extension("")));
        }
    }
}

/// Whether a folder has the name of a temporary one.
pub fn is_temp_folder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(FOLDER.as_bytes())
}

/// Removes a file, and the folder whose lock file it is, if it can be locked.
/// The lock is held until it is gone: another program may have made it just now, and
/// must not take it for his.
fn remove_unowned(path: &Path, folder: Option<PathBuf>) {
    // NFS locks no file that is open for reading alone.
    let writable = File::options().read(true).write(true).open(path);
    let Ok(file) = writable.or_else(|_| File::open(path)) else {
        return;
    };
    if file.try_lock().is_err() {
        return;
    }
    if folder.is_none_or(|folder| is_removed(&folder)) {
        let _ = fs::remove_file(path);
    }
    let _ = file.unlock();
}

/// Removes a folder with all that is in it; true if it is gone.
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

    /// Between its making and its locking a file has no owner.
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
        // Windows removes no file that is open.
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
