//! What can go wrong with a book of any format.

use std::{io, path::Path, sync::Arc};

use super::ctg::{HeaderFault, PageFault, file_offset};
use tabia_io::input::file::{DataFile, FileError};

/// A book that cannot be opened or read. Cheap to clone.
///
/// Offsets in the texts are in bytes from the start of the file, decimal.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read at all.
    #[error("{}: cannot read the book: {reason}", path.display())]
    Io {
        /// The file.
        path: Arc<Path>,
        /// The error of the system.
        reason: Arc<io::Error>,
    },
    /// The file has lost bytes since it was opened.
    #[error(
        "{}: the file became shorter while it was open ({was} bytes then, {now} now); \
         restore it and open the book again",
        path.display()
    )]
    Shrunk {
        /// The file.
        path: Arc<Path>,
        /// Length in bytes at opening.
        was: u64,
        /// Length in bytes now.
        now: u64,
    },
    /// The file is no CTG book, or an empty one.
    #[error("{}: {fault}", path.display())]
    Header {
        /// The file.
        path: Arc<Path>,
        /// What is wrong.
        fault: HeaderFault,
    },
    /// A page that a position needs is damaged.
    #[error(
        "{}: page {page} (file byte {}): {fault}; the book is damaged here, \
         get it anew or let `tabia compact` save what is readable",
        path.display(),
        file_offset(*page, fault.offset())
    )]
    Page {
        /// The .ctg file.
        path: Arc<Path>,
        /// Page number, 0 is the first after the header page.
        page: u32,
        /// What is wrong in it.
        fault: PageFault,
    },
    /// The index names a page that is not there.
    #[error(
        "{}: slot {slot} (file byte {offset}): page {page}, but the book has pages 0 to {}; \
         the index is damaged: take the .cto file away, and the book is read without it",
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
        /// The page it names.
        page: i32,
        /// Pages in the .ctg file.
        pages: u32,
    },
    /// Something else than a book.
    #[error("{}: {text}", path.display())]
    NoBook {
        /// The file.
        path: Arc<Path>,
        /// What it is, and what would help.
        text: &'static str,
    },
    /// A file without an entry.
    #[error("{}: the file has {bytes} bytes and no entry of an opening book ({format}); get it anew", path.display())]
    NoEntries {
        /// The file.
        path: Arc<Path>,
        /// What it was taken for.
        format: &'static str,
        /// Its length.
        bytes: u64,
    },
    /// Not sorted, and too large to be sorted in memory.
    #[error(
        "{}: file byte {offset}: the entries are not sorted by key, and the file \
         ({bytes} bytes) is too large to be sorted in memory; sort it first, \
         as with `polyglot merge-book`",
        path.display()
    )]
    Unsorted {
        /// The file.
        path: Arc<Path>,
        /// First entry that is out of order.
        offset: u64,
        /// Length of the file.
        bytes: u64,
    },
    /// An Arena book whose header says otherwise.
    #[error(
        "{}: file byte {offset}: not an Arena book: {found:02x?} where {expected} \
         is expected; is it a book of another format, or damaged?",
        path.display()
    )]
    AbkHeader {
        /// The file.
        path: Arc<Path>,
        /// Where.
        offset: u64,
        /// What is there.
        found: Vec<u8>,
        /// What should.
        expected: &'static str,
    },
}

impl Error {
    /// Joins a system error with the file it is about.
    #[must_use]
    pub fn io(path: impl Into<Arc<Path>>, source: io::Error) -> Error {
        Error::Io {
            path: path.into(),
            reason: Arc::new(source),
        }
    }

    /// Whether the book has lost something here, and reading on elsewhere
    /// makes sense.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Error::Page { .. } | Error::Slot { .. })
    }

    /// The first bytes of a file: so many, or fewer if it has no more.
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
