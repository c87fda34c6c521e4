//! Records as Parquet tables: what was counted, for other programs to add up.
//!
//! Each row is a sum. There is one row for each (key, move), one with the move -1 for
//! the position's own numbers, and one with an empty key for the number of games. So
//! a `GROUP BY key, move` over any number of tables, in any engine, gives the table
//! of all their games. `docs/measured.md` has the columns and the statement.
//!
//! The code for Parquet comes with the feature `parquet` only.

use std::path::{Path, PathBuf};

use super::BuildError;
use tabia_io::atomic::{NewFile, Old};

#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod write;

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(not(feature = "parquet"))]
use absent as read;
#[cfg(not(feature = "parquet"))]
use absent as write;

pub(super) use read::read;
pub(super) use write::write;

/// What is to be read, and with what.
pub(super) struct Inputs<'j> {
    pub(super) paths: &'j [PathBuf],
    /// Threads that read.
    pub(super) threads: usize,
    /// Bytes of each of them for sorting.
    pub(super) sort_bytes: u64,
}

/// The columns of counters, in the order of a [`Row`]'s numbers.
#[cfg(feature = "parquet")]
const COUNTERS: [&str; 9] = [
    "games",
    "wins",
    "draws",
    "losses",
    "own_rated",
    "own_sum",
    "other_rated",
    "other_sum",
    "main",
];

/// The `move` of a row that is about a position.
#[cfg(feature = "parquet")]
const NO_MOVE: i32 = -1;

/// Why records cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// This program cannot do it at all.
    #[error(
        "{}: this tabia reads and writes no records: build it with `cargo build --release --features parquet`",
        path.display()
    )]
    NoFeature {
        /// The file.
        path: PathBuf,
    },
    /// The file for records has a name from which no program would read records.
    #[error("{}: the name of a file of records must end with .parquet", path.display())]
    Name {
        /// The name.
        path: PathBuf,
    },
    /// It is no Parquet file, or a damaged one, or compressed in a way that
    /// this program does not know.
    #[error("{}: cannot be read as Parquet: {text}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// A column is not what it should be.
    #[error("{}: column {column}: {text}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// What is wrong.
        text: String,
    },
    /// A row makes no sense.
    #[error("{}: row {row}: {text}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The row, from 1 on.
        row: u64,
        /// What is wrong.
        text: String,
    },
    /// No row states how many games there were.
    #[error(
        "{}: no row with an empty key, which tells the number of games, in any file of records",
        path.display()
    )]
    NoGames {
        /// The first file.
        path: PathBuf,
    },
    /// Records are sums: their games cannot be distinguished any more.
    #[error(
        "{}: records cannot be filtered, marked or searched for duplicates; do that when they are written",
        path.display()
    )]
    Late {
        /// The file.
        path: PathBuf,
    },
}

impl RecordsError {
    fn no_feature(path: &Path) -> RecordsError {
        let path = path.to_owned();
        RecordsError::NoFeature { path }
    }

    #[cfg(feature = "parquet")]
    fn unreadable(path: &Path, text: String) -> RecordsError {
        let path = path.to_owned();
        RecordsError::Unreadable { path, text }
    }
}

/// Makes the file for records, beside the one that it will replace.
pub(super) fn create(path: &Path, old: Old) -> Result<NewFile, BuildError> {
    if cfg!(not(feature = "parquet")) {
        return Err(RecordsError::no_feature(path).into());
    }
    if !is_records(path) {
        let path = path.to_owned();
        return Err(RecordsError::Name { path }.into());
    }
    NewFile::create(path, old).map_err(BuildError::Place)
}

/// Whether a source is a file of records: by its name.
pub(super) fn is_records(path: &Path) -> bool {
    tabia_io::input::path::has_extension(path, "parquet")
}
