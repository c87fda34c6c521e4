//! Why a file cannot be put in place.

use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be written. Nothing of it is left then, and what was
/// in its place is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFileError {
    /// There is one already.
    #[error(
        "{}: is there already, nothing was changed; \
         --force replaces it and keeps the old one as {}.bak",
        path.display(),
        path.file_name().unwrap_or_default().display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The folder is not there.
    #[error("{}: cannot be written: there is no folder {}", path.display(), folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// Another program reads the file, and the system replaces no file that
    /// is in use (Windows).
    #[error(
        "{}: cannot be replaced while another program has it open: \
         end the games that use it, or close the program, and try again; \
         or write under another name",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses: the disk is full, the folder is not ours.
    #[error("{}: cannot be written: {reason}", path.display())]
    Io {
        /// The file, under the name it would have got.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
}

impl WriteFileError {
    /// An error of the system, with the file that it is about.
    pub fn io(path: &Path, reason: io::Error) -> WriteFileError {
        let path = path.to_owned();
        if is_in_use(&path, &reason) {
            return WriteFileError::InUse { path };
        }
        WriteFileError::Io { path, reason }
    }
}

/// Whether the system refuses because another program has the file open. Windows says
/// so in three ways: sharing violation, user-mapped section, and plain "access
/// denied" when a mapped file is to be replaced; the last one means that only
/// of a file that is there and may be written.
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
