//! Faults of the files of a ChessBase book.

use super::page::PAGE_BYTES;

/// Why a file is not a CTG book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// The file is empty.
    #[error("the file is empty (0 bytes); copy or download the book again")]
    NoBytes,
    /// The file has less than the header page, or nothing after it.
    #[error(
        "the file has {bytes} bytes and ends before the first data page (at byte 4096): \
         an empty or cut-off book; copy or download it again"
    )]
    NoPages {
        /// Length of the file.
        bytes: u64,
    },
    /// The file is an index, not the book.
    #[error("this is the index of a book; open the .ctg file beside it")]
    IsIndex,
    /// The first bytes are those of another kind of file.
    #[error(
        "not a CTG book: it starts with {found:02x?} (expected [00, 20, 10, 00]); \
         is it a book of another format, or damaged?"
    )]
    Magic {
        /// The first bytes of the file.
        found: [u8; 4],
    },
}

/// Offset in the .ctg file of a byte of a page. Page 0 follows the header page; 64 bits,
/// because books of 100 GB exist.
#[must_use]
pub fn file_offset(page: u32, offset: u16) -> u64 {
    (u64::from(page) + 1) * PAGE_BYTES as u64 + u64::from(offset)
}
