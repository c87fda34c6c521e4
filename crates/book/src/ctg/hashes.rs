//! A set of the hashes of a book's keys, as bits: rejects most positions that are not in
//! the book without reading a page.

use super::{pages::PageFile, scan};

/// Bits for each page, which has some 45 positions: one in twelve of the positions not in
/// the book passes. Takes a 64th of the book's size in memory.
const BITS_OF_A_PAGE: u64 = 512;

#[derive(Debug)]
pub(super) struct KeyHashes {
    bits: Vec<u64>,
    shift: u32,
}

impl KeyHashes {
    /// Reads the book once. `None` if a page is damaged, because its keys are unknown
    /// then.
    pub(super) fn read(book: &PageFile) -> Option<KeyHashes> {
        let bits = (u64::from(book.page_count()) * BITS_OF_A_PAGE).next_power_of_two();
        let mut hashes = KeyHashes {
            bits: vec![0; (bits / 64) as usize],
            shift: 64 - bits.trailing_zeros(),
        };
        let read = scan::for_each_hash(book, book.page_count(), |_, hash| {
            let (word, bit) = hashes.place(hash.reverse_bits());
            if let Some(word) = hashes.bits.get_mut(word) {
                *word |= bit;
            }
        });
        (read.ok()?.bad_pages == 0).then_some(hashes)
    }

    /// Whether there may be a key with this hash; false is certain.
    pub(super) fn may_hold(&self, hash: u32) -> bool {
        let (word, bit) = self.place(hash);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The bit of a hash. Keys of one page share the low bits of their hashes, so all
    /// bits are mixed.
    fn place(&self, hash: u32) -> (usize, u64) {
        let bit = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        ((bit / 64) as usize, 1 << (bit % 64))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use shakmaty::{Chess, Position as _};

    use super::*;
    use crate::ctg::{CtgBook, OpenOptions, PAGE_BYTES};
    use crate::{Lookup, Probe as _, Wanted};

    const BOOK: &str = "../../books/tabia.ctg";

    #[test]
    fn what_is_found_stays_the_same() {
        let plain = CtgBook::open(BOOK, &OpenOptions::default()).unwrap();
        let ready = CtgBook::open(BOOK, &OpenOptions::default()).unwrap();
        // Some 16 pages are read in the time of a probe.
        let pages = u64::from(ready.pages.page_count());
        ready.reserve(pages / 16);
        assert!(ready.hashes.get().is_none(), "so few are not worth it");
        ready.reserve(pages / 16 + 1);
        assert!(matches!(ready.hashes.get(), Some(Some(_))));
        let (mut one, mut other) = (Lookup::default(), Lookup::default());
        let mut layer = vec![Chess::default()];
        for _ in 0..3 {
            let mut next = Vec::new();
            for position in layer {
                plain
                    .probe(&position, Wanted::Transpositions, &mut one)
                    .unwrap();
                ready
                    .probe(&position, Wanted::Transpositions, &mut other)
                    .unwrap();
                assert_eq!(one, other);
                // Also positions that are not in the book.
                next.extend(
                    position
                        .legal_moves()
                        .into_iter()
                        .map(|mv| tabia_notation::after(&position, mv)),
                );
            }
            layer = next;
        }
    }

    #[test]
    fn few_others_pass() {
        let book = CtgBook::open(BOOK, &OpenOptions::default()).unwrap();
        let hashes = KeyHashes::read(&book.pages).unwrap();
        let passed = (0..10_000_u32).filter(|n| hashes.may_hold(n.wrapping_mul(429_493)));
        assert!(passed.count() < 1500);
    }

    #[test]
    fn a_damaged_page_may_have_held_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let mut bytes = std::fs::read(BOOK).unwrap();
        // The first entry of the third page gets a key of length 0.
        bytes[3 * PAGE_BYTES + 4] = 0;
        std::fs::write(&path, bytes).unwrap();
        let book = CtgBook::open(&path, &OpenOptions::default()).unwrap();
        assert!(KeyHashes::read(&book.pages).is_none());
    }
}
