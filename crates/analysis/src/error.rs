//! The errors of this crate.

use std::fmt;
use std::path::Path;

use crate::funnel::FunnelStep;
use tabia_build::BuildError;
use tabia_engine::AnalystError;
use tabia_io::atomic::WriteFileError;
use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;
use tabia_io::sort::SortError;

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A book or a file of evaluations cannot be read or written.
    #[error(transparent)]
    Book(#[from] tabia_book::Error),
    /// Games cannot be read, or a file cannot be written.
    #[error(transparent)]
    Games(#[from] tabia_games::Error),
    /// An index of games cannot be read.
    #[error(transparent)]
    Index(#[from] tabia_index::Error),
    /// A book cannot be made from lines.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The engine does not start, or fails at several positions in a row.
    #[error(transparent)]
    Engine(#[from] AnalystError),
    /// Temporary files for sorting cannot be written or read.
    #[error("{0}")]
    Sort(String),
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Internal error: a thread panicked.
    #[error("{0}")]
    Panicked(String),
    /// The work was cancelled.
    #[error("{Stopped}")]
    Stopped,
    /// No position of the sources meets all conditions of a suite.
    #[error("no position is left of {seen}: \"{}\" left out most of them ({lost})", step.as_str())]
    NoPositionLeft {
        /// The number of positions examined.
        seen: u64,
        /// The step that left out the most.
        step: FunnelStep,
        /// How many it left out.
        lost: u64,
    },
    /// The book does not have the start position or a given move.
    #[error("{0}")]
    NotInBook(String),
    /// Anything else, in a sentence.
    #[error("{0}")]
    Text(String),
}

impl From<WriteFileError> for Error {
    fn from(error: WriteFileError) -> Error {
        Error::Games(error.into())
    }
}

impl From<SortError> for Error {
    fn from(error: SortError) -> Error {
        Error::Sort(error.to_string())
    }
}

impl From<Panicked> for Error {
    fn from(panicked: Panicked) -> Error {
        Error::Panicked(panicked.to_string())
    }
}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Error {
        Error::Stopped
    }
}

/// The error for more positions or moves than a graph can number.
pub(crate) fn too_large<T>(_: T) -> Error {
    Error::Text("a book with more than 4 billion moves".to_owned())
}

/// An error with the file that it is about.
pub(crate) fn about(path: &Path, error: impl fmt::Display) -> Error {
    Error::Text(format!("{}: {error}", path.display()))
}
