//! Sorting more than memory holds.
//!
//! ```text
//! records -> Sorter (one in each thread) -> Runs, in memory or on disk
//!                                             |
//!                records, in order <- Merge <-+
//! ```
//!
//! A [`Sorter`] gathers [records](Record), sorts them and writes them as a run.
//! [`Runs`] keeps them in memory while there is room and in files without a name
//! otherwise: whatever ends the program, nothing is left on the disk.
//! At the end a [`Merge`] reads all runs side by side; several can, each its own
//! parts of the order ([`Sorted::in_threads`]).

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

/// A thread sorts at most so many bytes of records at once: more are no better.
pub const LARGEST_SORT_BYTES: u64 = 18 << 20;

/// The order is cut into so many equal parts for threads that merge.
pub(crate) const PARTS: usize = 4096;

/// What is sorted: records of one kind, of any length.
pub trait Record: Default + Send + Sync {
    /// The beginning of the place in the order. Records should spread evenly
    /// over all numbers, as hashes do.
    fn order(&self) -> u32;

    /// Compares places in the order; by [`Record::order`] first.
    fn compare(&self, other: &Self) -> Ordering;

    /// Appends its bytes, which include their length.
    fn encode(&self, out: &mut Vec<u8>);

    /// Becomes the record that `bytes` begin with, and gives its length. `None`
    /// if they hold no whole one.
    fn decode(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Takes in another record of the same place; false if both are to stay.
    fn join(&mut self, _other: &Self) -> bool {
        false
    }
}

/// A file for sorting cannot be made, written or read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: cannot write and read temporary files for sorting here: {reason}", folder.display())]
pub struct SortError {
    folder: PathBuf,
    reason: Arc<io::Error>,
}

impl SortError {
    /// With the folder for the files, and the error of the system.
    #[must_use]
    pub(crate) fn new(folder: &Path, reason: io::Error) -> SortError {
        SortError {
            folder: folder.to_owned(),
            reason: Arc::new(reason),
        }
    }
}

/// Where temporary files go: a folder that was named, or that of the target.
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
