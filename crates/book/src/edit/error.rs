//! What can go wrong while a book is changed in place.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::Format;
use crate::ctg::{Key, LockError, RewriteError};

/// A book that cannot be changed. Unless the text says otherwise, nothing has
/// been changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The book cannot be read.
    #[error(transparent)]
    Read(#[from] crate::Error),
    /// An entry grows or shrinks, and the book cannot be written anew.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The file is protected.
    #[error("{}: the file is read-only; nothing was changed", path.display())]
    ReadOnly {
        /// The .ctg file.
        path: PathBuf,
    },
    /// Another program is changing it.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The system refuses.
    #[error("{}: cannot change the book: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// Writing failed in the middle. What is to be done is in a file beside
    /// the book, and the next change of the book begins with it.
    #[error(
        "{}: the change could not be completed: {reason}; \
         the book can be read, and the next change of it completes this one",
        path.display()
    )]
    Incomplete {
        /// The .ctg file.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// A byte is not what it was when the change was planned.
    #[error(
        "{}: byte {offset} of the file is {found:#04x} (expected {expected:#04x}): \
         the book was changed meanwhile; nothing was changed",
        path.display()
    )]
    Moved {
        /// The .ctg file.
        path: PathBuf,
        /// The byte.
        offset: u64,
        /// What it is.
        found: u8,
        /// What it was.
        expected: u8,
    },
    /// The position is not there.
    #[error("{}: no position with the key {key} is in the book; nothing was changed", path.display())]
    NotInBook {
        /// The .ctg file.
        path: PathBuf,
        /// Its key.
        key: Key,
    },
    /// The move is not there.
    #[error("{}: {san} is not in the book; nothing was changed", path.display())]
    NotStored {
        /// The file.
        path: PathBuf,
        /// The move.
        san: String,
    },
    /// The format cannot store it.
    #[error(
        "{}: {}, which has no {what}: {}",
        path.display(), format.with_article(), format.has_instead()
    )]
    Format {
        /// The book.
        path: PathBuf,
        /// What it is.
        format: Format,
        /// What it has not.
        what: &'static str,
    },
    /// The position is there, but the move is not.
    #[error(
        "{}: the position with the key {key} stores no move byte {byte:#04x}; nothing was changed",
        path.display()
    )]
    NoSuchMove {
        /// The .ctg file.
        path: PathBuf,
        /// The key of the position.
        key: Key,
        /// The move byte.
        byte: u8,
    },
    /// The format has no room for one more move, or none for this one.
    #[error("{}: the move cannot be stored: {reason}; nothing was changed", path.display())]
    Unstorable {
        /// The .ctg file.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
}

impl From<tabia_io::parallel::Panicked> for EditError {
    fn from(panicked: tabia_io::parallel::Panicked) -> EditError {
        RewriteError::from(panicked).into()
    }
}

impl EditError {
    pub(super) fn io(path: &Path, reason: io::Error) -> EditError {
        EditError::Io {
            path: path.to_owned(),
            reason,
        }
    }
}
