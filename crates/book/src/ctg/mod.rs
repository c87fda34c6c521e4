//! ChessBase opening books (.ctg).
//!
//! ChessBase has never published the format. This description comes from the unofficial
//! specification 0.2 of 2007 ("specification"), from what a dozen programs that read
//! these books agree on ("readers agree"), and from measurements on three books made by
//! ChessBase itself ("genuine books": one of 4 positions, which is in `tests/data/ctg`,
//! one of 13,305 and one of 104,224). Every module states the evidence of each field.
//!
//! # Three files
//!
//! | file | content |
//! |---|---|
//! | `.ctg` | a header page, then data pages of 4096 bytes: all the chess |
//! | `.cto` | from slot numbers to page numbers |
//! | `.ctb` | two bounds and a bitmap that shorten the walk over slots |
//!
//! All numbers are big-endian. Data page p starts at byte 4096 (p + 1), in 64 bits: books
//! of 100 GB exist. Only the `.ctg` is indispensable.
//!
//! ```text
//! position -> canonical board -> key -> hash -> slots -> page -> entry
//!             [position]          [key]          [index]  [page]  [entry]
//! ```
//!
//! # What a book stores
//!
//! An *entry* is a position: its key, its moves (one byte each, with an annotation) and
//! its statistics. A move has no numbers; they are stored with the position after it,
//! from the view of that position's side to move. So an answer for one position needs its
//! own entry and one for every move, and any legal move into a stored position is found
//! even if it is not stored: a transposition.
//!
//! Positions that are equal up to an exchange of colours, or of wings if nobody may
//! castle any more, share one entry.
//!
//! The key is compared in full; the hash only leads to the page. An entry is at most 31 +
//! 255 + 33 bytes long and within one page.
//!
//! # Making books
//!
//! ```text
//! books -> entries in the order of hashes -> sums -> trie -> pages -> three files
//!          [sorted], [runs]                  [sum]   [trie]  [writer]
//! ```
//!
//! [`BookWriter`] takes sorted entries and needs memory for one page of them; [`compact`]
//! and [`merge`] make books from books, [`verify()`] checks every byte of one.
//!
//! # Changing books
//!
//! [`crate::BookEditor`] changes marks and learn values in place, one program at a time.
//!
//! # What a book cannot store
//!
//! Promotions to anything but a queen; moves of a third queen, rook, bishop or knight;
//! castling from other squares than the usual ones. Positions with Chess960 castling
//! rights are never in a book.
//!
//! # Damage
//!
//! Every number from a file is checked where it is used. If the page of a position is
//! broken, the [`Error`] names file, page and byte; moves that are unknown or illegal are
//! left out of an answer and shown by [`CtgBook::explain`]. No content of a file makes
//! this module panic, loop forever or allocate much memory.

mod bits;
mod blocks;
mod entry;
mod error;
mod explain;
mod fen;
mod filter;
mod graph;
mod hashes;
mod index;
mod info;
mod key;
pub(crate) mod lock;
mod move_table;
mod moves;
mod open;
mod owners;
mod page;
mod pages;
mod pair;
mod position;
mod prune;
mod reader;
mod rewrite;
mod salvage;
mod scan;
mod setup;
mod sorted;
mod step;
mod sum;
mod trie;
mod unsorted;
mod verify;
mod visit;
mod writer;

pub use super::Error;
pub use entry::{
    Entry, MAX_COUNT, MAX_MOVES, STATISTICS_BYTES, decode_record, encode_entry, encode_record,
};
pub use error::{HeaderFault, file_offset};
pub use explain::{Explanation, FoundEntry, StoredMove, Trace};
pub(crate) use graph::Sieve;
#[cfg(feature = "json")]
pub(crate) use graph::{ASKED_AT_ONCE, Moves};
pub use graph::{Arrival, BookGraph, Contents, EntryNumber, Target};
pub use index::{Bounds, CTB_HEADER_BYTES, CTO_HEADER_BYTES, Slot, SlotPage, slots};
pub use info::{BookEntries, BookEntry, BookInfo};
pub use key::{Key, KeyFault, hash};
pub use move_table::MoveCode;
#[cfg(feature = "json")]
pub(crate) use moves::likely as likely_moves;
pub(crate) use moves::likely_of_all;
#[cfg(feature = "json")]
pub(crate) use moves::move_of_byte;
pub use moves::{
    MoveFault, decode as decode_move_byte, encode as encode_move_byte, find as find_move_byte,
};
pub use page::{Entries, PAGE_BYTES, PAGE_HEADER_BYTES, Page, PageFault, read_entry};
pub use pages::Header;
pub(crate) use pair::{Held, Pair, PairNumber, Tree};
pub(crate) use position::position_of;
pub use position::{CanonicalBoard, Orientation};
pub use prune::{Fate, IsRare, PruneRules, Pruned, Rare, count_pruned, prune};
pub use reader::{CtgBook, EntryAddress, LookupStep, OpenOptions};
pub(crate) use reader::{EntryReader, fill_from};
pub(crate) use rewrite::rewrite_with;
pub use rewrite::{RewriteOptions, Rewritten, compact, merge};
pub use salvage::Salvage;
pub use setup::SetupFault;
pub use sum::{Totals, sum_entries};
pub use trie::Splits;
pub use unsorted::UnsortedWriter;
pub use verify::{Problem, ProblemKind, Verified, verify};
pub use visit::{EntrySet, Pass, Visit, VisitedEntry, VisitedMove};
pub use writer::{BookWriter, WriteOptions, Written};
