//! Why there is no index.

use std::path::PathBuf;

use crate::ReadError;
use crate::tgx::TgxWriteError;
use tabia_io::parallel::Panicked;
use tabia_io::sort::SortError;

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The games cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Every game was filtered away or skipped, or has no result.
    #[error("{tally}; without a result: {without_result}")]
    NothingLeft {
        /// [`crate::Tally::what_is_left`].
        tally: String,
        /// Games without a result.
        without_result: u64,
    },
    /// The games that are there were indexed to another depth.
    #[error("{}: its games are indexed to ply {there}, not {wanted}", path.display())]
    OtherDepth {
        /// The index.
        path: PathBuf,
        /// Its plies.
        there: u16,
        /// Those that were asked for.
        wanted: u16,
    },
    /// The index would be one of its own sources.
    #[error("{}: an index cannot be added to itself", path.display())]
    Itself {
        /// The index.
        path: PathBuf,
    },
    /// Games are numbered with 32 bits.
    #[error("an index holds {} games at most", u32::MAX)]
    TooMany,
    /// Temporary files fail.
    #[error(transparent)]
    Sort(#[from] SortError),
    /// The index cannot be written.
    #[error(transparent)]
    Write(#[from] TgxWriteError),
    /// A thread met a fault of this program.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}
