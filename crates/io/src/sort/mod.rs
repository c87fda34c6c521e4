//! External sorting: sorts more data than fits into memory.
//!
//! ```text
//! records -> Sorter (one in each thread) -> Runs, in memory or on disk
//!                                             |
//!                records, in order <- Merge <-+
//! ```
//!
//! A [`Sorter`] collects [records](Record), sorts them and writes them as a run.
//! [`Runs`] stores them in memory or, if that is full, in unnamed files, so that
//! nothing is left on the disk however the program ends. At the end a [`Merge`] reads
//! all runs in parallel; several can run at once, each for its own parts of the order
//! ([`Sorted::in_threads`]).

mod digits;
mod merge;
mod run;
mod runs;
mod sorter;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use digits::{PARTITION_BITS, sort_by_order};
pub use merge::Merge;
pub use runs::Runs;
pub use runs::Sorted;
pub use sorter::Sorter;

/// Limit of bytes that a thread sorts at once: more is not faster.
pub const LARGEST_SORT_BYTES: u64 = 18 << 20;

/// Number of equal parts of the order, for merging in threads.
pub(crate) const PARTS: usize = 4096;

/// A record to sort; all have one type, but any length.
pub trait Record: Default + Send + Sync {
    /// The first 32 bits of the sort key. Values should be spread evenly, like hashes.
    fn order(&self) -> u32;

    /// Compares sort keys; [`Record::order`] must come first.
    fn compare(&self, other: &Self) -> Ordering;

    /// Appends its bytes, which include their length.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads the record at the start of `bytes` and returns its length. `None` if it is
    /// incomplete.
    fn decode(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Merges another record with the same key; false if both must stay.
    fn join(&mut self, _other: &Self) -> bool {
        false
    }
}

/// A file for sorting cannot be created, written or read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: cannot write and read temporary files for sorting here: {reason}", folder.display())]
pub struct SortError {
    folder: PathBuf,
    reason: Arc<io::Error>,
}

impl SortError {
    /// An error of the system, with the folder of the files.
    #[must_use]
    pub(crate) fn new(folder: &Path, reason: io::Error) -> SortError {
        SortError {
            folder: folder.to_owned(),
            reason: Arc::new(reason),
        }
    }
}

/// The folder of temporary files: the named one, or that of the target.
///
/// # Errors
///
/// There is no such folder.
pub fn folder<'p>(named: Option<&'p Path>, target: &'p Path) -> Result<&'p Path, SortError> {
    match named {
        None => Ok(crate::atomic::folder_of(target)),
        Some(folder) if folder.is_dir() => Ok(folder),
        Some(folder) => {
            let missing = io::ErrorKind::NotADirectory.into();
            Err(SortError::new(folder, missing))
        }
    }
}
