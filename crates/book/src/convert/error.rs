//! Why a book was not converted.

use std::{io, path::PathBuf};
use tabia_io::progress::Stopped;

use crate::{
    self as book,
    ctg::{RewriteError, WriteError},
};
use tabia_io::atomic::WriteFileError;
use tabia_io::parallel::Panicked;
use tabia_io::sort::SortError;

/// A conversion that failed. What was in the place of the new file still
/// does, and nothing half-written is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The book cannot be read.
    #[error(transparent)]
    Read(#[from] book::Error),
    /// A ChessBase book cannot be written, or the work was cancelled.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// Nothing of the source can be in the new file.
    #[error(
        "{}: none of its moves can be written to {}{why}; nothing was written",
        path.display(),
        target.display()
    )]
    Empty {
        /// The source.
        path: PathBuf,
        /// The new file.
        target: PathBuf,
        /// What was left out, each after a semicolon.
        why: String,
    },
    /// Sorting needs more room on the disk.
    #[error(transparent)]
    Sort(#[from] SortError),
    /// A file cannot be put in place.
    #[error(transparent)]
    Place(#[from] WriteFileError),
    /// A file cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// A line of a JSONL book means nothing.
    #[error("{}: line {line}{}: {text}", path.display(), in_field(field))]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, 1 is the first.
        line: u64,
        /// The field, as in `moves[2].uci`; empty for the whole line.
        field: String,
        /// What is wrong.
        text: String,
    },
    /// The name of the new file does not say what to write.
    #[error(
        "{}: the name of the new file must end with .ctg, .bin, .jsonl, .pgn or .csv",
        path.display()
    )]
    Target {
        /// The name.
        path: PathBuf,
    },
    /// Both files are of one format.
    #[error("{}: is such a book already{advice}", path.display())]
    SameFormat {
        /// The book that was to be read.
        path: PathBuf,
        /// What to do instead.
        advice: &'static str,
    },
}

fn in_field(field: &str) -> String {
    match field {
        "" => String::new(),
        field => format!(", field {field}"),
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Error {
        Error::Rewrite(stopped.into())
    }
}

impl From<Panicked> for Error {
    fn from(panicked: Panicked) -> Error {
        Error::Rewrite(panicked.into())
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Error {
        Error::Rewrite(error.into())
    }
}
