//! Why a book was not converted.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::book::{
    self, Stopped,
    ctg::{RewriteError, WriteError},
};

/// A conversion that failed. What stood in the place of the new file still
/// does, and nothing half-written is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The book cannot be read.
    #[error(transparent)]
    Read(#[from] book::Error),
    /// A ChessBase book cannot be written, or somebody wanted an end.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// A file cannot be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Output {
        /// The file, under the name it would have got.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What the system says.
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
    /// A JSONL book, and the crate was built without them.
    #[cfg(not(feature = "jsonl"))]
    #[error("{}: this build cannot read or write .jsonl (feature `jsonl`)", path.display())]
    LeftOut {
        /// The file.
        path: PathBuf,
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
    /// The new file would overwrite the book that is read.
    #[error("{}: is the book to be read; give the new one another name", path.display())]
    SameFile {
        /// The book.
        path: PathBuf,
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

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Error {
        Error::Rewrite(error.into())
    }
}

impl From<book::ctg::Error> for Error {
    fn from(error: book::ctg::Error) -> Error {
        Error::Read(error.into())
    }
}

impl Error {
    pub(super) fn output(path: &Path, reason: io::Error) -> Error {
        Error::Output {
            path: path.to_owned(),
            reason,
        }
    }
}
