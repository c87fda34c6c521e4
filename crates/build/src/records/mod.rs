//! Records as Parquet tables: counts that other programs can add up.
//!
//! Each row is a sum: one row for each (key, move); one with the move -1 for the
//! numbers of the position itself; one with an empty key for the number of games. So
//! `GROUP BY key, move` over any number of tables, in any engine, gives the table
//! of all their games. `docs/cluster.md` has the columns and the statements.
//!
//! Nothing may go wrong in silence between counting and the book, through engines that know
//! nothing of it:
//!
//! * Pages have the checksums of the format, which some engines verify (`crate::packing`).
//! * The footer says what was counted, and has a checksum of all rows (`part`). It names the
//!   file that is damaged, that was counted otherwise, or whose games another one has too.
//! * Engines drop the footer. The row that counts games has the checksum too, and a number
//!   made of the conditions with its square, in columns that are sums like all others:
//!   what an engine adds up is checked as a whole (`checksum`).
//! * Of a sum without rare rows (`HAVING`) the checksum says nothing; that is reported.

use std::path::{Path, PathBuf};

use super::BuildError;
use tabia_io::atomic::{NewFile, Previous};
use tabia_io::progress::Watch;

mod checksum;
mod part;
mod read;
mod write;

pub(super) use part::{Conditions, Part, PartSource};
pub(super) use read::Tables;
pub(super) use write::write;

/// Settings for reading the tables.
pub(super) struct Inputs {
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
        /// The unreadable file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// A column is missing or has the wrong type.
    #[error("{}: column {column}: {text}", path.display())]
    Column {
        /// The table without the column, or with another type.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// What is wrong.
        text: String,
    },
    /// The values of a row contradict each other.
    #[error("{}: row {row}: {text}", path.display())]
    Row {
        /// The table with the row.
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
    /// The rows do not have the checksum that was stored with them.
    #[error("{}: {text}", path.display())]
    Damaged {
        /// The damaged table.
        path: PathBuf,
        /// What is wrong, and what to do.
        text: String,
    },
    /// Records that do not belong together, or not into this book.
    #[error("{}: {text}", path.display())]
    Unfit {
        /// The records that do not belong to the others.
        path: PathBuf,
        /// What does not fit, and what to do.
        text: String,
    },
    /// A setting needs single games, but records contain only sums.
    #[error(
        "{}: records cannot be filtered, marked or searched for duplicates; do that when they are written",
        path.display()
    )]
    Late {
        /// The first file of records.
        path: PathBuf,
    },
}

impl RecordsError {
    fn unreadable(path: &Path, text: String) -> RecordsError {
        let path = path.to_owned();
        RecordsError::Unreadable { path, text }
    }
}

/// Reads records and tests them as a build does: checksums, conditions, games that two of them
/// share. Returns remarks for the user, with the totals last.
///
/// # Errors
///
/// A file cannot be read, is damaged, or does not belong to the others.
pub fn verify_records(
    paths: &[PathBuf],
    threads: usize,
    watch: &mut Watch<'_>,
) -> Result<Vec<String>, BuildError> {
    let inputs = Inputs {
        threads,
        sort_bytes: 0,
    };
    let tables = Tables::open(paths.to_vec())?;
    Ok(tables.read(&inputs, None, watch)?.remarks)
}

/// Whether the name is that of a file of records.
#[must_use]
pub fn is_records(path: &Path) -> bool {
    tabia_io::input::path::has_extension(path, "parquet")
}

/// Creates a temporary file for records, beside the file that it will replace. Its name
/// begins with a dot, so engines that read the folder pass it over; for the same reason an old
/// file does not become a backup, whose games they would count again.
pub(super) fn create(path: &Path, old: Previous) -> Result<NewFile, BuildError> {
    if !is_records(path) {
        let path = path.to_owned();
        return Err(RecordsError::Name { path }.into());
    }
    let old = match old {
        Previous::Refuse => Previous::Refuse,
        Previous::Keep | Previous::KeepEach | Previous::Replace => Previous::Replace,
    };
    Ok(NewFile::create(path, old)?)
}
