//! What can go wrong while a book is written.

use std::path::PathBuf;

use super::{Key, PageFault};
use tabia_io::atomic::WriteFileError;
use tabia_io::sort::SortError;

/// A book that cannot be written. Nothing of it is left then, and a book that
/// was in its place is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The name is none for a book.
    #[error("{}: the name of a book must end with .ctg or .bin", path.display())]
    Name {
        /// The name.
        path: PathBuf,
    },
    /// It cannot be put in place.
    #[error(transparent)]
    Place(#[from] WriteFileError),
    /// Entries cannot be sorted on disk.
    #[error(transparent)]
    Sort(#[from] SortError),
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
