//! Why a file beside the books cannot be used.

use std::io;
use std::path::PathBuf;

use tabia_choice::learn::NO_DATA_FOLDER;
use tabia_choice::seeds::SeedError;

/// A file beside the books cannot be used: seeds, played lines, or a record of games. The
/// text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SideFileError {
    /// There is no seed from a file.
    #[error(transparent)]
    Seeds(#[from] SeedError),
    /// The system has no folder for the user's data.
    #[error("played lines are not kept: {NO_DATA_FOLDER}")]
    NoCoverFolder,
    /// A file of played lines cannot be read or written, or another adapter uses it.
    #[error("{}: {error}", path.display())]
    Cover {
        /// The file of played lines.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The record of games cannot be written.
    #[error("games are not recorded: {}: {error}", path.display())]
    Record {
        /// The record of games.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// [`Files`](super::Files) of your own cannot do it.
    #[error("{0}")]
    Other(String),
}
