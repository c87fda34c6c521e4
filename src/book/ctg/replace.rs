//! Putting the three files of a book in place so that a kill at any moment
//! leaves a book that can be read: the old one or the new one.
//!
//! A .cto file names pages of one very .ctg file. An index beside a book it
//! does not belong to is mostly noticed when the book is opened, but not
//! always: two states of one book may differ in a few pages only. So no moment
//! may leave such a pair. A book without index, on the other hand, is always
//! read correctly, only slower to open. Hence:
//!
//! 1. the new files are complete, synced, under temporary names in the folder;
//! 2. the old .cto and .ctb are moved aside (old book without index);
//! 3. the new .ctg takes the place of the old one (new book without index);
//! 4. the new .ctb, then the new .cto come in place (new book);
//! 5. the old index is deleted.
//!
//! The folder is synced after 2, 3 and 4, so that a power cut sees the same
//! order. If a step before the third fails, the old index is moved back. A
//! reader that opened the old .ctg before step 3 and finds the new .cto after
//! step 4 notices that the .ctg has been replaced meanwhile, and starts anew
//! ([`super::open`]).
//!
//! Temporary names begin with a dot, the book's name and another dot. A killed
//! writer leaves its files; the next one for the same book removes them: those
//! of a writer at work are locked.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use tempfile::TempPath;

use super::WriteError;

/// An open file under a temporary name; deleted when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
    pub(super) path: TempPath,
}

/// A book to be written, by its name.
#[derive(Debug)]
pub(super) struct Target {
    ctg: PathBuf,
    folder: PathBuf,
}

const TEMPORARY: &str = ".tmp";

impl Target {
    /// Checks name and folder, and removes what killed writers left there.
    pub(super) fn new(path: &Path) -> Result<Target, WriteError> {
        let is_ctg = |extension: &OsStr| extension.eq_ignore_ascii_case("ctg");
        if !path.extension().is_some_and(is_ctg) {
            return Err(WriteError::Name {
                path: path.to_owned(),
            });
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(WriteError::NoFolder {
                path: path.to_owned(),
                folder: folder.to_owned(),
            });
        }
        if path.is_dir() {
            return Err(WriteError::io(path, io::ErrorKind::IsADirectory.into()));
        }
        let target = Target {
            ctg: path.to_owned(),
            folder: folder.to_owned(),
        };
        target.remove_leftovers();
        Ok(target)
    }

    /// The .ctg file.
    pub(super) fn ctg(&self) -> &Path {
        &self.ctg
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Another of the three files. Always in lower case: most readers exchange
    /// the extension as a whole.
    pub(super) fn sibling(&self, extension: &str) -> PathBuf {
        self.ctg.with_extension(extension)
    }

    /// A new file beside the book; deleted when dropped.
    pub(super) fn temporary(&self, path: &Path) -> Result<Temporary, WriteError> {
        let failed = |error| WriteError::io(path, error);
        let prefix = temporary_prefix(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(TEMPORARY);
        // Readable to whom any new file is, not to the owner alone.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let made = builder.tempfile_in(&self.folder);
        let (file, path) = made.map_err(|error| failed(plain(error)))?.into_parts();
        // Where locks are not to be had, nobody removes anything either.
        let _ = file.try_lock();
        Ok(Temporary { file, path })
    }

    /// Steps 2 to 5.
    pub(super) fn put(
        &self,
        ctg: Temporary,
        cto: Temporary,
        ctb: Temporary,
    ) -> Result<(), WriteError> {
        let old_index = self.move_index_aside()?;
        self.sync();
        if let Err(error) = place(ctg, &self.ctg) {
            for (aside, path) in &old_index {
                let _ = fs::rename(aside, path);
            }
            return Err(error);
        }
        self.sync();
        place(ctb, &self.sibling("ctb"))?;
        place(cto, &self.sibling("cto"))?;
        self.sync();
        for (aside, _) in &old_index {
            // A leftover is removed by the next writer.
            let _ = fs::remove_file(aside);
        }
        Ok(())
    }

    /// Renames every file a reader may take for the index, whatever its case;
    /// gives new and old name of each.
    fn move_index_aside(&self) -> Result<Vec<(PathBuf, PathBuf)>, WriteError> {
        let mut moved = Vec::new();
        for extension in ["cto", "ctb"] {
            let wanted = self.sibling(extension);
            for path in self.named_like(&wanted)? {
                let mut name = temporary_prefix(&path);
                name.push(format!("{}-old{TEMPORARY}", std::process::id()));
                let aside = self.folder.join(name);
                if let Err(error) = fs::rename(&path, &aside) {
                    for (aside, path) in &moved {
                        let _ = fs::rename(aside, path);
                    }
                    return Err(WriteError::io(&path, error));
                }
                moved.push((aside, path));
            }
        }
        Ok(moved)
    }

    /// Files of the folder whose name differs from that of `path` at most in
    /// case.
    fn named_like(&self, path: &Path) -> Result<Vec<PathBuf>, WriteError> {
        let wanted = path.file_name().unwrap_or_default();
        let names = self.names().map_err(|error| WriteError::io(path, error))?;
        let alike = |name: &OsString| name.eq_ignore_ascii_case(wanted);
        let paths = names.into_iter().filter(alike);
        Ok(paths.map(|name| self.folder.join(name)).collect())
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        self.folder
            .read_dir()?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect()
    }

    fn remove_leftovers(&self) {
        let names = self.names().unwrap_or_default();
        for extension in ["ctg", "cto", "ctb"] {
            let prefix = temporary_prefix(&self.ctg.with_extension(extension));
            for name in &names {
                let bytes = name.as_encoded_bytes();
                let is_ours = bytes.starts_with(prefix.as_encoded_bytes())
                    && bytes.ends_with(TEMPORARY.as_bytes());
                let path = self.folder.join(name);
                if is_ours
                    && let Ok(file) = File::open(&path)
                    && file.try_lock().is_ok()
                {
                    drop(file);
                    let _ = fs::remove_file(path);
                }
            }
        }
    }

    /// Makes renames last. Windows has no such call for folders, and some file
    /// systems refuse it: then the order is theirs.
    fn sync(&self) {
        #[cfg(unix)]
        if let Ok(folder) = File::open(&self.folder) {
            let _ = folder.sync_all();
        }
    }
}

/// The usual reasons without the temporary name, which tells nobody anything.
fn plain(error: io::Error) -> io::Error {
    use io::ErrorKind::{
        NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match error.kind() {
        kind @ (NotFound | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull) => {
            kind.into()
        }
        _ => error,
    }
}

/// Renames a complete file to its final name.
fn place(temporary: Temporary, path: &Path) -> Result<(), WriteError> {
    let Temporary {
        file,
        path: temporary,
    } = temporary;
    // Who could read the old book can read the new one.
    if let Ok(old) = fs::metadata(path) {
        let _ = file.set_permissions(old.permissions());
    }
    // Renamed while still open and locked, so that nobody takes it for a
    // leftover. On Windows a lock keeps readers out as well.
    #[cfg(windows)]
    let _ = file.unlock();
    fs::rename(&temporary, path).map_err(|error| WriteError::io(path, error))?;
    // The name is gone; there is nothing to delete.
    let _ = temporary.keep();
    Ok(())
}

/// `.book.ctg.`
fn temporary_prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

/// Whether writing the book `target` would overwrite the book `source`, or
/// its index: they are one file, or their names differ in case alone.
#[must_use]
pub fn is_same_book(target: &Path, source: &Path) -> bool {
    let (Ok(target), Ok(source)) = (resolved(target), resolved(source)) else {
        return target == source;
    };
    target.parent() == source.parent()
        && match (target.file_stem(), source.file_stem()) {
            (Some(target), Some(source)) => target.eq_ignore_ascii_case(source),
            (target, source) => target == source,
        }
        && match (target.extension(), source.extension()) {
            (Some(target), Some(source)) => target.eq_ignore_ascii_case(source),
            (target, source) => target == source,
        }
}

/// The path without links; of a file that does not exist yet, its folder's.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|error| {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        match path.file_name() {
            Some(name) => Ok(folder.canonicalize()?.join(name)),
            None => Err(error),
        }
    })
}
