//! What can go wrong while a book is written.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{Key, PageFault};

/// A book that cannot be written. Nothing of it is left then, and a book that
/// stood in its place still stands there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The name is none for a book.
    #[error("{}: the name of a book must end with .ctg", path.display())]
    Name {
        /// The name.
        path: PathBuf,
    },
    /// The new book would overwrite one that is read.
    #[error("{}: is one of the books to be read; give the new one another name", path.display())]
    Input {
        /// The book that is read.
        path: PathBuf,
    },
    /// The folder of the book is not there.
    #[error("{}: cannot write the book: there is no folder {}", path.display(), folder.display())]
    NoFolder {
        /// The book.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// The system refuses: the disk is full, the folder is not ours.
    #[error("{}: cannot write the book: {reason}", path.display())]
    Io {
        /// The file, under the name it would have got.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// Another program reads the book, and the system replaces no file that
    /// is in use (Windows).
    #[error(
        "{}: cannot replace the book while another program has it open: \
         end the games that use it, or close the program, and try again; \
         or write under another name",
        path.display()
    )]
    InUse {
        /// The book's file that is in use.
        path: PathBuf,
    },
    /// Entries cannot be sorted on disk.
    #[error("{}: cannot write temporary files for sorting: {reason}", folder.display())]
    Sort {
        /// Where the files were to be.
        folder: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// The bytes are no entry.
    #[error("not one whole entry: {0}")]
    Malformed(PageFault),
    /// Bytes follow the entry.
    #[error("{0} bytes follow the entry")]
    Trailing(usize),
    /// Entries do not come by bit-reversed hash and key.
    #[error("the entry with key {0} comes out of order")]
    Order(Key),
    /// A key comes twice.
    #[error("the entry with key {0} comes a second time")]
    Repeated(Key),
    /// More entries with one hash than a page can hold.
    #[error(
        "entries of {bytes} bytes share the last 31 bits of the hash {hash:08x}: \
         the format holds at most {most} bytes of such"
    )]
    HashRun {
        /// The hash of one of them.
        hash: u32,
        /// Their bytes, as far as they have come.
        bytes: usize,
        /// What a page holds, in bytes.
        most: usize,
    },
    /// Entries share so many hash bits that the index would dwarf the book.
    #[error(
        "so many positions have hashes alike that the index would need {index_bytes} bytes \
         for a book of {book_bytes}"
    )]
    DeepIndex {
        /// Bytes the .cto file would need.
        index_bytes: u64,
        /// Bytes of the .ctg file.
        book_bytes: u64,
    },
    /// More pages than the index can number.
    #[error("the book has more than {0} pages, which the index cannot number")]
    TooManyPages(u32),
    /// An earlier call failed.
    #[error("the book was given up after an earlier error")]
    GivenUp,
}

impl WriteError {
    pub(super) fn io(path: &Path, reason: io::Error) -> WriteError {
        if is_in_use(path, &reason) {
            let path = path.to_owned();
            return WriteError::InUse { path };
        }
        WriteError::Io {
            path: path.to_owned(),
            reason,
        }
    }
}

/// Whether the system refuses because somebody has the file open. Windows says
/// so in three ways: sharing violation, user-mapped section, and plain "access
/// denied" when a mapped file is to be replaced; the last one means that only
/// of a file that is there and may be written.
fn is_in_use(path: &Path, reason: &io::Error) -> bool {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const USER_MAPPED_FILE: i32 = 1224;
    if cfg!(not(windows)) {
        return false;
    }
    match reason.raw_os_error() {
        Some(SHARING_VIOLATION | USER_MAPPED_FILE) => true,
        Some(ACCESS_DENIED) => std::fs::metadata(path)
            .is_ok_and(|file| file.is_file() && !file.permissions().readonly()),
        _ => false,
    }
}
