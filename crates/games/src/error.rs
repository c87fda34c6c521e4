//! Errors of reading, unpacking, writing and indexing games.

use std::io;
use std::path::{Path, PathBuf};

use super::members::is_damage;
use tabia_io::atomic::WriteFileError;
use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;
use tabia_io::sort::SortError;

/// Why games were not read, unpacked, written or indexed.
///
/// Unless the text says otherwise nothing has been changed, and an old file with the
/// name of a new one still exists.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed.
    #[error("{name}: {reason}")]
    Io {
        /// The file or stream.
        name: String,
        /// The error of the system.
        reason: io::Error,
    },
    /// The file has another format, or cannot be read as this one.
    #[error("{}: {text}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        text: String,
    },
    /// A folder without games.
    #[error("{}: the folder holds no .pgn file and no database", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A source has no game.
    #[error("{}: no games in it", path.display())]
    NoGames {
        /// Path as the user gave it.
        path: PathBuf,
    },
    /// A new file cannot be written or renamed.
    #[error(transparent)]
    WriteFile(#[from] WriteFileError),
    /// A file of an archive cannot be written; others were written before it.
    #[error("{failed}; {files} files that were unpacked before it are in {}", folder.display())]
    Partly {
        /// What cannot be written.
        failed: WriteFileError,
        /// Files that were written.
        files: u64,
        /// The folder of these files.
        folder: PathBuf,
    },
    /// Text cannot be written to the given output.
    #[error("standard output: {0}")]
    Output(io::Error),
    /// The file is not a games index.
    #[error("{}: this is no games index (.tgx): index the games first", path.display())]
    NoIndex {
        /// The file.
        path: PathBuf,
    },
    /// The content of an index is damaged.
    #[error("{}: damaged at byte {at}: {what}; index the games again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset in bytes.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// Another program is adding games to the index.
    #[error("{}: another program is adding games to it", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// No game is left for an index: all were filtered out or skipped, or have no
    /// result.
    #[error("{tally}; without a result: {without_result}")]
    NothingLeft {
        /// [`crate::Tally::what_is_left`].
        tally: String,
        /// Games without a result.
        without_result: u64,
    },
    /// The games in the index were indexed to another depth.
    #[error("{}: its games are indexed to ply {there}, not {wanted}", path.display())]
    OtherDepth {
        /// The index.
        path: PathBuf,
        /// Its depth in plies.
        there: u16,
        /// The requested depth in plies.
        wanted: u16,
    },
    /// The index is one of its own sources.
    #[error("{}: an index cannot be added to itself", path.display())]
    Itself {
        /// The index.
        path: PathBuf,
    },
    /// More games than a number of 32 bits can count.
    #[error("an index holds {} games at most", u32::MAX)]
    TooMany,
    /// Temporary files cannot be written or read.
    #[error(transparent)]
    Sort(#[from] SortError),
    /// Internal error in a thread.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// The work was cancelled.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The unpacking of an archive was cancelled.
    #[error("interrupted; files that were complete are there")]
    StoppedUnpacking,
}

impl Error {
    /// An error about the format of a file.
    pub(crate) fn format(path: &Path, text: impl Into<String>) -> Error {
        Error::Format {
            path: path.to_owned(),
            text: text.into(),
        }
    }

    /// Whether the content of a file cannot be read, as that of an encrypted archive.
    pub(crate) fn is_of_content(&self) -> bool {
        match self {
            Error::Format { .. } => true,
            Error::Io { reason, .. } => is_damage(reason),
            _ => false,
        }
    }

    /// An error of the system, with the file.
    pub(crate) fn io(path: &Path, reason: impl Into<io::Error>) -> Error {
        Error::Io {
            name: path.display().to_string(),
            reason: reason.into(),
        }
    }
}
