//! A sieve for passes over whole books: most legal moves lead to positions
//! that no book holds, and looking for those is most of the work.

use super::{CtgBook, Error, NormalBoard};

/// Tells of most positions that are not in a book that they are not. About 16
/// bits for each entry, 128 MiB at the most.
#[derive(Clone, Debug)]
pub struct HashFilter {
    bits: Vec<u64>,
    mask: u32,
}

impl HashFilter {
    /// A filter for so many hashes.
    fn with_room(entries: u64) -> HashFilter {
        let bits = entries.saturating_mul(16).clamp(1 << 10, 1 << 30);
        let bits = bits.next_power_of_two() as u32;
        HashFilter {
            bits: vec![0; bits as usize / 64],
            mask: bits - 1,
        }
    }

    fn add(&mut self, hash: u32) {
        let place = hash & self.mask;
        if let Some(word) = self.bits.get_mut(place as usize / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn may_hold_hash(&self, hash: u32) -> bool {
        let place = hash & self.mask;
        self.bits
            .get(place as usize / 64)
            .is_some_and(|word| word >> (place % 64) & 1 != 0)
    }

    /// False only for what is not in the book.
    pub(super) fn may_hold(&self, board: &NormalBoard) -> bool {
        self.may_hold_hash(board.key().hash())
            || board
                .other_key()
                .is_some_and(|key| self.may_hold_hash(key.hash()))
    }
}

impl CtgBook {
    /// Reads the whole book once and makes a filter of it, for
    /// [`CtgBook::probe_through`].
    ///
    /// # Errors
    ///
    /// The file cannot be read. What stands in damaged pages is not in the
    /// filter; a probe that needs one may not notice it.
    pub fn hash_filter(&self) -> Result<HashFilter, Error> {
        let mut filter = HashFilter::with_room(u64::from(self.pages.walked()) * 64);
        let mut reader = self.pages.walker();
        for number in 0..self.pages.walked() {
            let page = match reader.page(number) {
                Ok(page) => page,
                Err(Error::Page { .. }) => continue,
                Err(error) => return Err(error),
            };
            for (_, entry) in page.entries().flatten() {
                filter.add(super::hash(entry.key_bytes()));
            }
        }
        Ok(filter)
    }
}
