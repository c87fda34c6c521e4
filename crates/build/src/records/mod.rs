//! Records as Parquet tables: counts that other programs can add up.
//!
//! Each row is a sum: one row for each (key, move); one with the move -1 for the
//! numbers of the position itself; one with an empty key for the number of games. So
//! `GROUP BY key, move` over any number of tables, in any engine, gives the table
//! of all their games. `docs/measured.md` has the columns and the statement.

use std::path::{Path, PathBuf};

use super::BuildError;
use tabia_io::atomic::{NewFile, Previous};

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

/// Settings for reading the tables.
pub(super) struct Inputs<'j> {
    pub(super) paths: &'j [PathBuf],
    /// Number of threads that read.
    pub(super) threads: usize,
    /// Memory of each thread for sorting, in bytes.
    pub(super) sort_bytes: u64,
}

/// The columns of counters, in the order of the numbers in a [`Row`].
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

/// The `move` of a row that describes the position itself.
const NO_MOVE: i32 = -1;

/// Why records cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The name of the output file does not end in `.parquet`, so it could not be read again.
    #[error("{}: the name of a file of records must end with .parquet", path.display())]
    Name {
        /// The name.
        path: PathBuf,
    },
    /// Not a Parquet file, damaged, or compressed by an unsupported method.
    #[error("{}: cannot be read as Parquet: {text}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// A column is missing or has the wrong type.
    #[error("{}: column {column}: {text}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// What is wrong.
        text: String,
    },
    /// The values of a row contradict each other.
    #[error("{}: row {row}: {text}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Number of the row, counted from 1.
        row: u64,
        /// What is wrong.
        text: String,
    },
    /// No row contains the number of games.
    #[error(
        "{}: no file of records has a row with an empty key, which gives the number of games",
        path.display()
    )]
    NoGames {
        /// The first file.
        path: PathBuf,
    },
    /// A setting needs single games, but records contain only sums.
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
    fn unreadable(path: &Path, text: String) -> RecordsError {
        let path = path.to_owned();
        RecordsError::Unreadable { path, text }
    }
}

/// Creates a temporary file for records, beside the file that it will replace.
pub(super) fn create(path: &Path, old: Previous) -> Result<NewFile, BuildError> {
    if !is_records(path) {
        let path = path.to_owned();
        return Err(RecordsError::Name { path }.into());
    }
    Ok(NewFile::create(path, old)?)
}

/// Whether the name of a source is that of a file of records.
pub(super) fn is_records(path: &Path) -> bool {
    tabia_io::input::path::has_extension(path, "parquet")
}
