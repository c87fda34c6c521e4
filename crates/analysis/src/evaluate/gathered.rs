//! What a file of evaluations gave, or why it gives nothing.

use std::io;
use std::path::PathBuf;

use tabia_book::evals::{EvalFileError, Imported};
use tabia_games::ReadError;
use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;

/// What a file gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// What was read.
    pub read: Imported,
    /// What its `lines` are: "lines", "games" or "rows".
    pub unit: &'static str,
    /// Evaluations that were new.
    pub new: u64,
}

/// Why a file gives nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// It is a table that cannot be read.
    #[error("{}: cannot be read as Parquet: {text}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// Games cannot be read.
    #[error(transparent)]
    Games(#[from] ReadError),
    /// The evaluations cannot be written.
    #[error(transparent)]
    File(#[from] EvalFileError),
    /// A thread met a fault of this program.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// The work was cancelled. What was found has been written.
    #[error("interrupted; what was found until now is in the file")]
    Stopped,
}

impl From<Stopped> for GatherError {
    fn from(_: Stopped) -> GatherError {
        GatherError::Stopped
    }
}
