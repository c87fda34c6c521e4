//! What can go wrong with a book, said so that the reader can act on it.

use std::{io, path::Path, sync::Arc};

use super::page::{PAGE_BYTES, PageFault};
use crate::input::file::ReadError;

/// Why a file is no CTG book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// No bytes at all.
    #[error("the file is empty (0 bytes); get the book anew")]
    NoBytes,
    /// Less than the header page, or nothing behind it.
    #[error(
        "the file has {bytes} bytes and ends before the first data page (at byte 4096): \
         an empty or cut-off book; get it anew"
    )]
    NoPages {
        /// Length of the file.
        bytes: u64,
    },
    /// The index was opened instead of the book.
    #[error("this is the index of a book; open the .ctg file beside it")]
    IsIndex,
    /// The first bytes are others.
    #[error(
        "not a CTG book: it starts with {found:02x?} (expected [00, 20, 10, 00]); \
         is it a book of another format, or damaged?"
    )]
    Magic {
        /// The first bytes of the file.
        found: [u8; 4],
    },
}

/// A book that cannot be opened or read. Cheap to clone.
///
/// Offsets in the texts are in bytes and decimal; "file byte" counts from the
/// start of the file.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read at all.
    #[error("{}: cannot read the book: {reason}", path.display())]
    Io {
        /// The file.
        path: Arc<Path>,
        /// What the system says.
        reason: Arc<io::Error>,
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
         index and book do not belong together or one is damaged: \
         without the .cto file the whole book is read instead",
        path.display(),
        i64::from(*pages) - 1
    )]
    Slot {
        /// The .cto file.
        path: Arc<Path>,
        /// Slot number.
        slot: u64,
        /// Where the slot stands in the .cto file, in bytes.
        offset: u64,
        /// The page it names.
        page: i32,
        /// Pages in the .ctg file.
        pages: u32,
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

    pub(super) fn read(path: &Arc<Path>, error: ReadError) -> Error {
        let path = Arc::clone(path);
        match error {
            ReadError::Io(reason) => Error::Io { path, reason },
            ReadError::Shrunk { was, now } => Error::Shrunk { path, was, now },
        }
    }
}

/// Where a byte of a page stands in the .ctg file. Page 0 follows the header
/// page; 64 bits, because books of 100 GB exist.
#[must_use]
pub fn file_offset(page: u32, offset: u16) -> u64 {
    (u64::from(page) + 1) * PAGE_BYTES as u64 + u64::from(offset)
}
