//! Errors of writing files.

use std::io;
use std::path::{Path, PathBuf};

/// A file cannot be written. No part of it is left, and an existing file is unchanged, but for
/// the `new` ones of [`WriteFileError::Partly`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFileError {
    /// The file exists already.
    #[error("{}: already exists, nothing was changed", path.display())]
    Exists {
        /// The existing file.
        path: PathBuf,
    },
    /// The same command reads the file, or writes something else to it.
    #[error(
        "{}: this command reads this file, or writes another output to it: give this output \
         another name; nothing was changed",
        path.display()
    )]
    Taken {
        /// The file that is read or written already.
        path: PathBuf,
    },
    /// Of a file and its companions, some are links that lead elsewhere.
    #[error(
        "{}: cannot be replaced, as it is not in one folder, under one name, with {}: links \
         must lead to all files of one book or database; nothing was changed",
        path.display(),
        other.display()
    )]
    Apart {
        /// The file that was to be replaced.
        path: PathBuf,
        /// The companion.
        other: PathBuf,
    },
    /// The folder does not exist.
    #[error("{}: cannot be written: there is no folder {}", path.display(), folder.display())]
    NoFolder {
        /// The file that was to be made.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// Another program has the file open, and the system does not replace files in use
    /// (Windows).
    #[error(
        "{}: cannot be replaced while another program has it open: \
         end the games that use it, or close the program, and try again; \
         or write under another name",
        path.display()
    )]
    InUse {
        /// The file in use.
        path: PathBuf,
    },
    /// The system refuses: the disk is full, or permission is denied.
    #[error("{}: cannot be written: {reason}", path.display())]
    Io {
        /// The target path.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// Of several files of one command, some were renamed already.
    #[error("{error}; new already: {}; as before: {}", names(new), names(old))]
    Partly {
        /// What happened to the first of `old`.
        error: Box<WriteFileError>,
        /// The files that are new.
        new: Vec<PathBuf>,
        /// The others.
        old: Vec<PathBuf>,
    },
}

fn names(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(", ")
}

impl WriteFileError {
    /// An error of the system, with the file.
    pub fn io(path: &Path, reason: io::Error) -> WriteFileError {
        let path = path.to_owned();
        if is_in_use(&path, &reason) {
            return WriteFileError::InUse { path };
        }
        WriteFileError::Io { path, reason }
    }
}

/// Whether the system refuses because another program has the file open. Windows has
/// three errors for it: sharing violation, user-mapped section, and "access denied"
/// when a mapped file is replaced; the last one counts only if the file exists and is
/// writable.
fn is_in_use(path: &Path, reason: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const USER_MAPPED_FILE: i32 = 1224;
    if cfg!(not(windows)) {
        return false;
    }
    match reason.raw_os_error() {
        Some(SHARING_VIOLATION | USER_MAPPED_FILE) => true,
        Some(ACCESS_DENIED) => std::fs::metadata(path)
            .is_ok_and(|file| file.is_file() && !file.permissions().readonly()),
        _ => false,
    }
}
