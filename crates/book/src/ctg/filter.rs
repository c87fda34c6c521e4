//! A Bloom filter of all positions of a book: rejects nearly all positions that are not in
//! it without making their keys and without reading a page.
//!
//! It knows a position by a hash that costs a few operations to get from the position
//! before a move ([`SideView`]), and it sets three bits of one word for it, so that a
//! rejection costs one access to the memory. Keys are compared after it, so answers stay
//! exact.
//!
//! Measured for random hashes, in nanoseconds for a look-up among 2.8 million (a book of
//! 260 MB) and per cent of the others that pass: one bit, 1.5 bytes for each, 1.9 and 8.0;
//! **three bits of a word, 2 bytes, 2.9 and 0.8**; a binary fuse filter of a byte, 1.1
//! bytes, 5.8 and 0.4, with 53 ns for each entry to make it instead of 3; `hashbrown`
//! with 32 bits of the hash, 7.4 bytes, 13.2 and 0.
//!
//! # When the book changes
//!
//! It is made of one content of the .ctg and asked only while the file has that one: see
//! [`Stamp`]. After any change of the file it is never used again.

use shakmaty::{Chess, MoveList};

use super::{
    CanonicalBoard, Error,
    directory::hashes::{SideView, of_board},
    pages::{PageFile, PageReader},
    reader::MoveSet,
};
use tabia_io::input::state::Stamp;
use tabia_io::parallel::in_order;

/// Words for each page, which has some 45 positions: two to three bytes for each, a 34th of
/// the book's size.
const WORDS_OF_A_PAGE: u64 = 15;

/// Pages that one thread reads at a time.
const BLOCK: u32 = 64;

#[derive(Debug)]
pub(super) struct PositionFilter {
    words: Vec<u64>,
    /// The content that it was made of.
    stamp: Stamp,
}

impl PositionFilter {
    /// Reads the book once on all processors. `None` if a page is damaged, because its
    /// positions are unknown then, if the file has changed since it was opened, or if it
    /// cannot be read.
    pub(super) fn read(book: &PageFile) -> Option<PositionFilter> {
        let stamp = book.file().stamp().ok()??;
        let pages = book.page_count();
        let words = u64::from(pages) * WORDS_OF_A_PAGE;
        let mut filter = PositionFilter {
            words: vec![0; usize::try_from(words).ok()?],
            stamp,
        };
        let read = |block: u32| {
            let mut hashes = Vec::new();
            let mut reader = book.walker();
            let first = block * BLOCK;
            for page in first..first.saturating_add(BLOCK).min(pages) {
                reader.each_entry(page, |entry| {
                    let (_, entry) = entry?;
                    // A key that is no position is not that of one either.
                    let board = entry.key().map(|key| CanonicalBoard::from_key(&key));
                    hashes.extend(board.and_then(Result::ok).map(|board| of_board(&board)));
                    Ok(())
                })?;
            }
            Ok::<_, Error>(hashes)
        };
        in_order(pages.div_ceil(BLOCK), read, |hashes| {
            hashes.into_iter().for_each(|hash| filter.add(hash));
            Ok(())
        })
        .ok()?;
        Some(filter)
    }

    fn add(&mut self, hash: u64) {
        let at = self.place(hash);
        if let Some(word) = self.words.get_mut(at) {
            *word |= bits(hash);
        }
    }

    /// False is certain: no position with this hash is in the book.
    #[inline]
    fn may_hold(&self, hash: u64) -> bool {
        let bits = bits(hash);
        let word = self.words.get(self.place(hash));
        word.is_some_and(|word| word & bits == bits)
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.words.len() as u128) >> 64) as usize
    }

    /// Whether a position may be in the book.
    pub(super) fn may_hold_board(&self, board: &CanonicalBoard) -> bool {
        self.may_hold(of_board(board))
    }

    /// The moves that may lead to positions of the book.
    pub(super) fn likely(&self, position: &Chess, legal: &MoveList) -> MoveSet {
        let here = SideView::before_moves(position);
        let after = legal.iter().map(|mv| here.after(position, *mv));
        after.map(|hash| self.may_hold(hash)).collect()
    }

    /// A reader of the book for one probe, if the book has not changed.
    pub(super) fn reader<'f>(&self, book: &'f PageFile) -> Result<Option<PageReader<'f>>, Error> {
        book.reader_of(&self.stamp)
    }
}

/// The bits of a hash in its word; its upper bits choose the word.
#[inline]
fn bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
}
