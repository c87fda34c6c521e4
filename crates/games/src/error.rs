//! Errors of reading, unpacking and writing games.

use std::io;
use std::path::{Path, PathBuf};

use crate::open::is_damage;
use tabia_io::atomic::WriteFileError;
use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;

/// Why games were not read, unpacked or written.
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
        /// Path of the file; in an archive, path of the archive and name of the file.
        path: PathBuf,
        /// What is wrong, and what to do.
        text: String,
    },
    /// A folder without games.
    #[error("{}: the folder holds no .pgn file and no database", path.display())]
    EmptyFolder {
        /// Path as the user gave it.
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
    Write(WriteError),
    /// A file of an archive cannot be written; others were written before it.
    #[error("{failed}; {files} files that were unpacked before it are in {}", folder.display())]
    Partly {
        /// What cannot be written.
        failed: WriteError,
        /// Files that were written.
        files: u64,
        /// The folder of these files.
        folder: PathBuf,
    },
    /// A stream cannot be read several times.
    #[error(
        "{}: duplicates are found by reading the games several times: save them in a file first",
        _0.display()
    )]
    ReadOnce(PathBuf),
    /// Text cannot be written to the given output.
    #[error("standard output cannot be written")]
    Output(#[source] io::Error),
    /// The file is not a games index.
    #[error("{}: not a games index (.tgx): index the games first", path.display())]
    NoIndex {
        /// Path of the index.
        path: PathBuf,
    },
    /// The content of an index is damaged.
    #[error("{}: damaged at byte {at}: {what}; index the games again", path.display())]
    Damaged {
        /// Path of the index.
        path: PathBuf,
        /// Offset in the file, in bytes.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// Another program is adding games to the index.
    #[error("{}: another program is adding games to it", path.display())]
    Busy {
        /// Path of the index.
        path: PathBuf,
    },
    /// Internal error: a thread panicked.
    #[error("{0}")]
    Panicked(String),
    /// The work was cancelled.
    #[error("{Stopped}")]
    Stopped,
    /// The unpacking of an archive was cancelled.
    #[error("interrupted; complete files were kept")]
    StoppedUnpacking,
}

/// Why a new file cannot be written. No part of it is left, and an existing file is unchanged.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WriteError(WriteFileError);

impl WriteError {
    /// The path, if there is a file already that was not to be replaced.
    #[must_use]
    pub fn existing_file(&self) -> Option<&Path> {
        match &self.0 {
            WriteFileError::Exists { path } => Some(path),
            _ => None,
        }
    }
}

impl From<WriteFileError> for WriteError {
    fn from(failed: WriteFileError) -> WriteError {
        WriteError(failed)
    }
}

impl From<WriteFileError> for Error {
    fn from(failed: WriteFileError) -> Error {
        Error::Write(failed.into())
    }
}

impl From<Panicked> for Error {
    fn from(panicked: Panicked) -> Error {
        Error::Panicked(panicked.to_string())
    }
}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Error {
        Error::Stopped
    }
}

/// A text that is not a value of the wanted kind; says what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub(crate) &'static str);

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

    /// Whether the system failed, or something else that no other content of the files would
    /// change.
    #[must_use]
    pub fn is_of_system(&self) -> bool {
        match self {
            Error::Io { reason, .. } => !is_damage(reason),
            Error::Write(_)
            | Error::Partly { .. }
            | Error::Output(_)
            | Error::Busy { .. }
            | Error::Panicked(_)
            | Error::Stopped
            | Error::StoppedUnpacking => true,
            Error::Format { .. }
            | Error::EmptyFolder { .. }
            | Error::NoGames { .. }
            | Error::ReadOnce(_)
            | Error::NoIndex { .. }
            | Error::Damaged { .. } => false,
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
