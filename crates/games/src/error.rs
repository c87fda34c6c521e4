//! What can go wrong with games: reading, unpacking, writing and indexing them have
//! one type of errors.

use std::io;
use std::path::{Path, PathBuf};

use tabia_io::atomic::WriteFileError;
use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;
use tabia_io::sort::SortError;

/// Why games were not read, unpacked, written or indexed.
///
/// Unless the text says otherwise nothing has been changed, and what was in the
/// place of a new file is still there.
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
    /// The file is not what it is taken for, or cannot be read as such.
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
        /// As it was named.
        path: PathBuf,
    },
    /// A file cannot be put in place.
    #[error(transparent)]
    Place(#[from] WriteFileError),
    /// A file of an archive cannot be written, when others were written before it.
    #[error("{place}; {files} files that were unpacked before it are in {}", folder.display())]
    Partly {
        /// What cannot be written.
        place: WriteFileError,
        /// Files that were written.
        files: u64,
        /// Where they are.
        folder: PathBuf,
    },
    /// Text cannot be written to the output that was given.
    #[error("standard output: {0}")]
    Output(io::Error),
    /// The file is not a games index.
    #[error("{}: this is no games index (.tgx): `tabia index -o` makes one", path.display())]
    NoIndex {
        /// The file.
        path: PathBuf,
    },
    /// The bytes of an index are not those that were written.
    #[error("{}: damaged at byte {at}: {what}; make it again with `tabia index`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
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
    /// No game is left for an index: every one was filtered away or skipped, or has no
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
    /// Internal error in a thread.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// The work was cancelled.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The same while an archive was unpacked.
    #[error("interrupted; files that were complete are there")]
    StoppedUnpacking,
}

impl Error {
    /// A file that is not what it is taken for.
    pub(crate) fn format(path: &Path, text: impl Into<String>) -> Error {
        Error::Format {
            path: path.to_owned(),
            text: text.into(),
        }
    }

    /// The system's error, with the file it is about.
    pub(crate) fn io(path: &Path, reason: impl Into<io::Error>) -> Error {
        Error::Io {
            name: path.display().to_string(),
            reason: reason.into(),
        }
    }
}
