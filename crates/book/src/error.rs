//! Errors of books: reading, choosing, changing, writing and converting use one type.

use std::{borrow::Cow, io, path::Path, sync::Arc};

use super::Format;
use super::ctg::{HeaderFault, Key, PageFault, file_offset};
use tabia_io::atomic::WriteFileError;
use tabia_io::input::file::{DataFile, FileError};
use tabia_io::parallel::Panicked;
use tabia_io::progress::Stopped;
use tabia_io::sort::SortError;

/// A book that cannot be opened, read, changed or written. Cheap to clone.
///
/// Unless the text says otherwise, nothing has been changed, and an old file at the
/// target still exists. Offsets in the texts are in bytes from the start of the file,
/// decimal.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("{}: cannot read the book: {reason}", path.display())]
    Io {
        /// The book or its index.
        path: Arc<Path>,
        /// The error of the operating system.
        reason: Arc<io::Error>,
    },
    /// The file is shorter than when it was opened.
    #[error(
        "{}: the file became shorter while it was open ({was} bytes then, {now} now); \
         restore it and open the book again",
        path.display()
    )]
    Shrunk {
        /// The book or its index, shortened.
        path: Arc<Path>,
        /// Length in bytes at opening.
        was: u64,
        /// Length in bytes now.
        now: u64,
    },
    /// The file is not a CTG book, or an empty one.
    #[error("{}: {fault}", path.display())]
    Header {
        /// The .ctg file.
        path: Arc<Path>,
        /// What is wrong.
        fault: HeaderFault,
    },
    /// The page with a position's entry is damaged.
    #[error(
        "{}: page {page} (file byte {}): {fault}; the book is damaged here, \
         copy or download it again, or compact it to save what is readable",
        path.display(),
        file_offset(*page, fault.offset())
    )]
    Page {
        /// The .ctg file.
        path: Arc<Path>,
        /// Page number, 0 is the first after the header page.
        page: u32,
        /// What is wrong with it.
        fault: PageFault,
    },
    /// The index refers to a page that does not exist.
    #[error(
        "{}: slot {slot} (file byte {offset}): page {page}, but the book has pages 0 to {}; \
         the index is damaged: remove the .cto file to read the book without it",
        path.display(),
        i64::from(*pages) - 1
    )]
    Slot {
        /// The .cto file.
        path: Arc<Path>,
        /// Slot number.
        slot: u64,
        /// Where the slot is in the .cto file, in bytes.
        offset: u64,
        /// The page number in the slot.
        page: i32,
        /// Pages in the .ctg file.
        pages: u32,
    },
    /// Something other than a book, or a file without an entry.
    #[error("{}: {text}", path.display())]
    NoBook {
        /// The file without a book.
        path: Arc<Path>,
        /// What it is, and what to do.
        text: Cow<'static, str>,
    },
    /// Bytes that are invalid in the format of the book.
    #[error("{}: file byte {offset}: {text}", path.display())]
    Content {
        /// The book with the invalid bytes.
        path: Arc<Path>,
        /// Offset in bytes.
        offset: u64,
        /// What is wrong.
        text: String,
    },

    /// The work was cancelled.
    #[error("{Stopped}")]
    Stopped,
    /// A thread of the work panicked, which is a bug of this library. The text says where.
    #[error("{0}")]
    Panicked(String),
    /// The temporary files for sorting cannot be written or read. The text names their
    /// folder and the error of the operating system.
    #[error("{0}")]
    Sort(String),
    /// The new file exists already, and is not to be replaced.
    #[error("{text}")]
    Exists {
        /// The file that exists.
        path: Arc<Path>,
        /// The message, which names the file.
        text: String,
    },
    /// The new file cannot be written. The text names it and the reason.
    #[error("{0}")]
    WriteFile(String),
    /// Part of a book cannot be read, and losses are refused (`strict`).
    #[error("{0}; nothing was written (strict)")]
    Loss(String),
    /// Rewriting the book would lose its damaged parts.
    #[error("the book is damaged, compact it first; nothing was changed: {0}")]
    Damaged(String),

    /// The file cannot be changed or made in this way.
    #[error("{}: {text}", path.display())]
    Refused {
        /// The book, or the file to be made.
        path: Arc<Path>,
        /// Why, and what to do.
        text: Cow<'static, str>,
    },
    /// An entry that a writer cannot accept: it is not one complete entry, it is out of
    /// order (by bit-reversed hash and key), or it occurs twice.
    #[error("{0}")]
    Entry(String),
    /// More entries with the same hash than fit on a page.
    #[error(
        "entries of {bytes} bytes share the last 31 bits of the hash {hash:08x}: \
         the format can store at most {most} bytes of such entries"
    )]
    HashRun {
        /// The shared hash.
        hash: u32,
        /// Their length in bytes so far.
        bytes: usize,
        /// Capacity of a page in bytes.
        most: usize,
    },
    /// Entries share so many hash bits that the index would be far larger than the book.
    #[error(
        "so many positions have similar hashes that the index would need {index_bytes} bytes \
         for a book of {book_bytes}"
    )]
    DeepIndex {
        /// Bytes the .cto file would need.
        index_bytes: u64,
        /// Bytes of the .ctg file.
        book_bytes: u64,
    },
    /// More than 2,147,483,647 pages.
    #[error(
        "the book has more than {} pages, which the index cannot number",
        i32::MAX
    )]
    TooManyPages,
    /// An earlier call failed.
    #[error("the book cannot be written after an earlier error")]
    GivenUp,

    /// The operating system does not allow a change of the book.
    #[error("{}: cannot change the book: {reason}", path.display())]
    Change {
        /// The unchanged book.
        path: Arc<Path>,
        /// The error of the operating system.
        reason: Arc<io::Error>,
    },
    /// Writing failed half way. A journal beside the book has the remaining work, and the
    /// next change of the book begins with it.
    #[error(
        "{}: the change could not be completed: {reason}; \
         the book can be read, and the next change of it completes this one",
        path.display()
    )]
    Incomplete {
        /// The .ctg file.
        path: Arc<Path>,
        /// The error of the operating system.
        reason: Arc<io::Error>,
    },
    /// A byte has changed since the change was planned.
    #[error(
        "{}: byte {offset} of the file is {found:#04x} (expected {expected:#04x}): \
         another program has changed the book; nothing was changed",
        path.display()
    )]
    Moved {
        /// The .ctg file.
        path: Arc<Path>,
        /// Its offset in bytes.
        offset: u64,
        /// Its value now.
        found: u8,
        /// Its value at planning.
        expected: u8,
    },
    /// The position is not in the book.
    #[error("{}: no position with the key {key} is in the book; nothing was changed", path.display())]
    NotInBook {
        /// The .ctg file.
        path: Arc<Path>,
        /// The key of the position.
        key: Key,
    },
    /// The move is not in the book.
    #[error("{}: {san} is not in the book; nothing was changed", path.display())]
    NotStored {
        /// The book without the move.
        path: Arc<Path>,
        /// The move.
        san: String,
    },
    /// The format cannot store the change.
    #[error(
        "{}: {}, which has no {what}: {}",
        path.display(), format.with_article(), format.has_instead()
    )]
    Format {
        /// The book.
        path: Arc<Path>,
        /// Its format.
        format: Format,
        /// What it cannot store.
        what: &'static str,
    },
    /// The position is in the book, but the move is not.
    #[error(
        "{}: the position with the key {key} has no move byte {byte:#04x}; nothing was changed",
        path.display()
    )]
    NoSuchMove {
        /// The .ctg file.
        path: Arc<Path>,
        /// The key of the position.
        key: Key,
        /// The move byte.
        byte: u8,
    },

    /// A file of evaluations cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Evaluations {
        /// The file of evaluations.
        path: Arc<Path>,
        /// The error of the operating system.
        reason: Arc<io::Error>,
    },

    /// A line of a book as text cannot be understood.
    #[error("{}: line {line}{}: {text}", path.display(), in_field(field))]
    Line {
        /// The text that was to become a book.
        path: Arc<Path>,
        /// Line number, from 1.
        line: u64,
        /// The field, as in `moves[2].uci`; empty for the whole line.
        field: String,
        /// What is wrong.
        text: String,
    },
}

fn in_field(field: &str) -> String {
    match field {
        "" => String::new(),
        field => format!(", field {field}"),
    }
}

/// Where a file cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place<'e> {
    /// The file that cannot be read, if it is known.
    pub file: Option<&'e Path>,
    /// The page of a ChessBase book, 0 is the first after the header page.
    pub page: Option<u32>,
    /// The offset in the file, in bytes.
    pub byte: Option<u64>,
}

impl From<WriteFileError> for Error {
    fn from(error: WriteFileError) -> Error {
        let text = error.to_string();
        match error {
            WriteFileError::Exists { path } => Error::Exists {
                path: path.into(),
                text,
            },
            _ => Error::WriteFile(text),
        }
    }
}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Error {
        Error::Stopped
    }
}

impl From<Panicked> for Error {
    fn from(error: Panicked) -> Error {
        Error::Panicked(error.to_string())
    }
}

impl From<SortError> for Error {
    fn from(error: SortError) -> Error {
        Error::Sort(error.to_string())
    }
}

impl Error {
    /// Makes an error of an I/O error and its file.
    #[must_use]
    pub fn io(path: impl Into<Arc<Path>>, source: io::Error) -> Error {
        Error::Io {
            path: path.into(),
            reason: Arc::new(source),
        }
    }

    /// The error for bytes that are not one entry.
    pub(super) fn malformed(fault: PageFault) -> Error {
        Error::Entry(format!("not a complete entry: {fault}"))
    }

    /// The file that cannot be read, with page or byte; empty for an error of another kind.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        let in_file = |file| Place {
            file: Some(file),
            ..Place::default()
        };
        match self {
            Error::Io { path, .. }
            | Error::Evaluations { path, .. }
            | Error::Header { path, .. }
            | Error::Shrunk { path, .. }
            | Error::NoBook { path, .. } => in_file(path),
            Error::Page { path, page, fault } => Place {
                page: Some(*page),
                byte: Some(file_offset(*page, fault.offset())),
                ..in_file(path)
            },
            Error::Slot {
                path, page, offset, ..
            } => Place {
                page: u32::try_from(*page).ok(),
                byte: Some(*offset),
                ..in_file(path)
            },
            Error::Content { path, offset, .. } => Place {
                byte: Some(*offset),
                ..in_file(path)
            },
            _ => Place::default(),
        }
    }

    /// The error for a file that cannot be changed or made.
    pub(super) fn refused(path: &Path, text: impl Into<Cow<'static, str>>) -> Error {
        Error::Refused {
            path: path.into(),
            text: text.into(),
        }
    }

    /// The error for a file without an entry of its format.
    pub(super) fn no_entries(file: &DataFile, format: &str) -> Error {
        let bytes = file.len();
        Error::NoBook {
            path: file.path().clone(),
            text: format!(
                "the file has {bytes} bytes and no entry of an opening book ({format}); copy or download it again"
            )
            .into(),
        }
    }

    /// Makes an error of an I/O error and the book to be changed.
    pub(super) fn change(path: &Path, reason: io::Error) -> Error {
        Error::Change {
            path: path.into(),
            reason: Arc::new(reason),
        }
    }

    /// Whether the error is damage at one place, so that reading can continue elsewhere.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Error::Page { .. } | Error::Slot { .. })
    }

    /// The first `count` bytes of a file, or fewer if it is shorter.
    pub(super) fn start_of(file: &DataFile, count: usize) -> Result<Vec<u8>, Error> {
        let start = file.start(count);
        start.map_err(|error| Error::read(file.path(), error))
    }

    pub(super) fn read(path: &Arc<Path>, error: FileError) -> Error {
        let path = Arc::clone(path);
        match error {
            FileError::Io(reason) => Error::Io { path, reason },
            FileError::Shrunk { was, now } => Error::Shrunk { path, was, now },
        }
    }
}
