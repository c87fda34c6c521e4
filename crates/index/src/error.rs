//! The errors of this crate.

use std::path::PathBuf;

use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;
use tabia_io::sort::SortError;

/// Why an index cannot be made, read or asked.
///
/// After an error no new index exists, and an old one is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Games or the file of an index cannot be read or written, or the work was cancelled.
    #[error(transparent)]
    Games(#[from] tabia_games::Error),
    /// No game is left: all were filtered out or skipped, or have no result.
    #[error("{tally}; without a result: {without_result}")]
    NothingLeft {
        /// [`Tally::what_is_left`](tabia_games::Tally::what_is_left).
        tally: String,
        /// Games without a result.
        without_result: u64,
    },
    /// The games in the index were indexed to another depth.
    #[error("{}: its games are indexed to ply {found}, not {wanted}", path.display())]
    OtherDepth {
        /// Path of the index.
        path: PathBuf,
        /// Its depth in plies.
        found: u16,
        /// The requested depth in plies.
        wanted: u16,
    },
    /// The index is one of its own sources.
    #[error("{}: an index cannot be added to itself", path.display())]
    Itself {
        /// Path of the index.
        path: PathBuf,
    },
    /// More games than a number of 32 bits can count.
    #[error("an index holds {} games at most", u32::MAX)]
    TooMany,
    /// Temporary files cannot be written or read.
    #[error("{0}")]
    Sort(String),
}

impl Error {
    /// Whether the system failed, or something else that no other games would change.
    #[must_use]
    pub fn is_of_system(&self) -> bool {
        match self {
            Error::Games(error) => error.is_of_system(),
            Error::Sort(_) => true,
            Error::NothingLeft { .. }
            | Error::OtherDepth { .. }
            | Error::Itself { .. }
            | Error::TooMany => false,
        }
    }
}

impl From<SortError> for Error {
    fn from(error: SortError) -> Error {
        Error::Sort(error.to_string())
    }
}

impl From<Panicked> for Error {
    fn from(panicked: Panicked) -> Error {
        Error::Games(panicked.into())
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Error {
        Error::Games(stopped.into())
    }
}
