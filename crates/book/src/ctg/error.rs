//! What is wrong with the files of a ChessBase book.

use super::page::PAGE_BYTES;

/// Why a file is no CTG book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// No bytes at all.
    #[error("the file is empty (0 bytes); get the book anew")]
    NoBytes,
    /// Less than the header page, or nothing after it.
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

/// Where a byte of a page is in the .ctg file. Page 0 follows the header
/// page; 64 bits, because books of 100 GB exist.
#[must_use]
pub fn file_offset(page: u32, offset: u16) -> u64 {
    (u64::from(page) + 1) * PAGE_BYTES as u64 + u64::from(offset)
}
