//! The place of every position of a book, in memory: for passes over whole books.
//!
//! A pass looks up the position after every legal move of every position. Most are not in
//! the book, and finding that out by making the position canonical and reading a page is
//! slow. A hash of the canonical form can be updated cheaply for a move; so the directory
//! has the hashes of all entries, each with the place of the entry. Keys are compared, so
//! answers are exact.
//!
//! Memory: twelve bytes for every entry. Nothing is mapped: the rest of the book stays on
//! the disk.

pub(super) mod hashes;
mod links;
mod reader;

use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Key, Salvage, reader::Index,
    trie::is_of_slot,
};
use hashes::of_board;
pub(super) use links::Links;
pub use reader::{DirectoryReader, KnownEntry};
use tabia_io::parallel::{Panicked, in_order};
use tabia_io::progress::{Progress, Watch};

/// Finds positions of a book without its index.
#[derive(Debug)]
pub struct Directory {
    /// Hash table: each slot has the lower bits of a hash above the bits of a place; 0 is
    /// free. The upper bits of a hash determine its index; the slot is there or soon after.
    slots: Vec<AtomicU64>,
    /// A Bloom filter of some eight bits for every entry. A hash sets three bits of one
    /// word. It rejects most positions that are not in the book and fits into the CPU
    /// caches. Empty where nearly all that is asked for is in the book.
    sieve: Vec<AtomicU64>,
    /// Bits of a place.
    place_bits: u32,
    entries: u64,
}

/// The low bits of a place: an offset in a page.
const OFFSET_BITS: u32 = 12;

impl Directory {
    fn with_room(entries: u64, pages: u32, has_sieve: bool) -> Directory {
        let slots = usize::try_from(entries + entries / 3 + 64).unwrap_or(usize::MAX);
        let mut directory = Directory {
            slots: Vec::new(),
            sieve: Vec::new(),
            place_bits: OFFSET_BITS + (32 - pages.leading_zeros()),
            entries: 0,
        };
        directory.slots.resize_with(slots, AtomicU64::default);
        if has_sieve {
            let words = (slots / 8 + 1).next_power_of_two();
            directory.sieve.resize_with(words, AtomicU64::default);
        }
        directory
    }

    /// The number of entries that look-ups find.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    fn first(&self, hash: u64) -> usize {
        let place = (u128::from(hash) * self.slots.len() as u128) >> 64;
        place as usize
    }

    fn check(&self, hash: u64) -> u64 {
        hash << self.place_bits
    }

    fn add(&self, hash: u64, place: EntryAddress) {
        let packed = u64::from(place.page) << OFFSET_BITS | u64::from(place.offset);
        let value = self.check(hash) | packed;
        if let Some(word) = self.sieve.get(self.sieve_word(hash)) {
            word.fetch_or(Directory::sieve_bits(hash), Ordering::Relaxed);
        }
        let mut at = self.first(hash);
        // There is room, because the entries were counted. One round is enough.
        for _ in 0..self.slots.len() {
            let Some(slot) = self.slots.get(at) else {
                at = 0;
                continue;
            };
            let set = slot.compare_exchange(0, value, Ordering::Relaxed, Ordering::Relaxed);
            match set {
                Ok(_) => return,
                Err(_) => at += 1,
            }
        }
    }

    /// The places that may belong to a hash.
    fn candidates(&self, hash: u64) -> impl Iterator<Item = EntryAddress> + '_ {
        let check = self.check(hash) >> self.place_bits;
        let mut at = self.first(hash);
        std::iter::from_fn(move || {
            loop {
                let value = match self.slots.get(at) {
                    Some(slot) => slot.load(Ordering::Relaxed),
                    None => {
                        at = 0;
                        continue;
                    }
                };
                if value == 0 {
                    return None;
                }
                at += 1;
                if value >> self.place_bits == check {
                    let packed = value & ((1 << self.place_bits) - 1);
                    return Some(EntryAddress {
                        page: (packed >> OFFSET_BITS) as u32,
                        offset: (packed & ((1 << OFFSET_BITS) - 1)) as u16,
                    });
                }
            }
        })
    }

    #[inline]
    fn sieve_word(&self, hash: u64) -> usize {
        (hash >> 6) as usize & self.sieve.len().saturating_sub(1)
    }

    /// False is certain: the hash is not in the book.
    #[inline]
    fn may_hold(&self, hash: u64) -> bool {
        let bits = Directory::sieve_bits(hash);
        let word = self.sieve.get(self.sieve_word(hash));
        word.is_none_or(|word| word.load(Ordering::Relaxed) & bits == bits)
    }

    /// The bits of the hash; independent of those that choose the word.
    #[inline]
    fn sieve_bits(hash: u64) -> u64 {
        1 << (hash % 64) | 1 << (hash >> 58) | 1 << (hash >> 52 & 63)
    }
}

/// Pages that one thread takes at a time.
const BLOCK: u32 = 64;

impl CtgBook {
    /// Reads all entries on all processors, block by block: `each` adds every entry to
    /// the value of `start` for its block; `take` gets these values in the order of the
    /// file. Returns what could not be read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, the work is cancelled, or `each` or `take` fails. Damage
    /// is not an error.
    #[cfg(feature = "json")]
    pub(crate) fn in_blocks<T: Send>(
        &self,
        stage: &'static str,
        watch: &mut Watch<'_>,
        start: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, EntryAddress, &Entry<'_>) -> Result<(), Error> + Sync,
        mut take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<Salvage, Error> {
        let mut all = Salvage::default();
        self.each_block(
            stage,
            watch,
            |(made, salvage): &mut (Option<T>, Salvage), entry| match entry {
                Ok((place, entry)) => each(made.get_or_insert_with(&start), place, &entry),
                Err(fault) => {
                    salvage.bad_page(fault);
                    Ok(())
                }
            },
            Ok,
            |(made, salvage)| {
                all.add(salvage);
                made.map_or(Ok(()), &mut take)
            },
        )?;
        Ok(all)
    }

    /// Walks over all pages on all processors: `each` adds every entry and every damage
    /// to the value of a block; `work` converts that value, and `take` gets the results
    /// in the order of the file.
    pub fn each_block<S: Default, T: Send, E>(
        &self,
        stage: &'static str,
        watch: &mut Watch<'_>,
        each: impl Fn(&mut S, Result<(EntryAddress, Entry<'_>), Error>) -> Result<(), Error> + Sync,
        work: impl Fn(S) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<Error> + From<Panicked> + Send,
    {
        let pages = self.pages.pages_in_use();
        let mut done = 0_u64;
        in_order(
            pages.div_ceil(BLOCK),
            |block| {
                let mut gathered = S::default();
                let mut reader = self.pages.walker();
                let first = block * BLOCK;
                for page in first..first.saturating_add(BLOCK).min(pages) {
                    reader.each_entry(page, |entry| each(&mut gathered, entry))?;
                }
                work(gathered)
            },
            |made| {
                let pages = pages.into();
                let progress = Progress::new(stage, "pages", done.min(pages), Some(pages));
                watch.step(progress).map_err(Error::from)?;
                done += u64::from(BLOCK);
                take(made)
            },
        )
    }

    /// Reads the whole book and makes a directory of it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the work is cancelled. Entries in unreadable parts of
    /// pages are not in the directory.
    pub fn directory(&self, watch: &mut Watch<'_>) -> Result<(Directory, Salvage), Error> {
        let mut entries = 0_u64;
        self.each_block(
            "counting",
            watch,
            |count: &mut u64, entry| {
                *count += u64::from(entry.is_ok());
                Ok(())
            },
            Ok::<_, Error>,
            |count| {
                entries += count;
                Ok(())
            },
        )?;
        let owners = Owners::read(self)?;
        let mut directory = Directory::with_room(entries, self.pages.page_count(), true);
        let mut found = 0;
        let mut salvage = Salvage::default();
        // Reported after the damaged pages.
        let mut bad_keys = Salvage::default();
        self.each_block(
            "reading",
            watch,
            |(known, salvage, bad_keys): &mut (Vec<_>, Salvage, Salvage), entry| {
                let (place, entry) = match entry {
                    Ok(entry) => entry,
                    Err(fault) => {
                        salvage.bad_page(fault);
                        return Ok(());
                    }
                };
                let Some(key) = entry.key() else {
                    return Ok(());
                };
                let board = match CanonicalBoard::from_key(&key) {
                    Ok(board) => board,
                    Err(fault) => {
                        let path = self.path().display();
                        let at = place.file_offset();
                        bad_keys.bad_key(|| format!("{path}: file byte {at}: left out: {fault}"));
                        return Ok(());
                    }
                };
                if owners.lead_to(place, &key) {
                    known.push((of_board(&board), place));
                }
                Ok(())
            },
            // Together, so that the waits for the memory overlap.
            |(known, more, bad)| {
                for (hash, place) in &known {
                    directory.add(*hash, *place);
                }
                Ok::<_, Error>((known.len() as u64, more, bad))
            },
            |(count, more, bad)| {
                found += count;
                salvage.add(more);
                bad_keys.add(bad);
                Ok(())
            },
        )?;
        salvage.add(bad_keys);
        directory.entries = found;
        Ok((directory, salvage))
    }
}

/// The slot that leads to each page: pages without a slot may have old states of entries.
enum Owners {
    /// Without a .cto file every page counts.
    All,
    /// By page; [`Owners::NONE`] and [`Owners::SEVERAL`].
    Slots(Vec<u32>),
}

impl Owners {
    const NONE: u32 = u32::MAX;
    const SEVERAL: u32 = u32::MAX - 1;

    fn read(book: &CtgBook) -> Result<Owners, Error> {
        let Index::Slots(slots) = &book.index else {
            return Ok(Owners::All);
        };
        let mut owners = vec![Owners::NONE; book.pages.page_count() as usize];
        slots.for_each(|slot, page| {
            let owner = usize::try_from(page).ok().and_then(|at| owners.get_mut(at));
            if let Some(owner) = owner {
                *owner = match *owner {
                    Owners::NONE => u32::try_from(slot).unwrap_or(Owners::SEVERAL),
                    _ => Owners::SEVERAL,
                };
            }
        })?;
        Ok(Owners::Slots(owners))
    }

    fn lead_to(&self, place: EntryAddress, key: &Key) -> bool {
        let Owners::Slots(owners) = self else {
            return true;
        };
        match owners.get(place.page as usize) {
            None | Some(&Owners::NONE) => false,
            Some(&Owners::SEVERAL) => true,
            Some(&slot) => is_of_slot(slot, key.hash()),
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Chess, Position as _};

    use super::hashes::{SideView, of_position};
    use super::*;
    use crate::{Lookup, OpenOptions, Probe as _, Wanted};

    /// Along random games, a position has the hash of its key, and the incremental update
    /// agrees.
    #[test]
    fn hashes_are_those_of_keys() {
        for position in crate::random::games(7, 40, 80).flatten() {
            let here = SideView::before_moves(&position);
            for mv in position.legal_moves() {
                let after = tabia_notation::after(&position, mv);
                assert_eq!(here.after(&position, mv), of_position(&after));
            }
            let key = CanonicalBoard::from_position(&position).unwrap().key();
            let board = CanonicalBoard::from_key(&key).unwrap();
            assert_eq!(of_board(&board), of_position(&position));
        }
    }

    #[test]
    fn a_directory_finds_what_a_probe_finds() {
        let book = CtgBook::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let (directory, salvage) = book.directory(&mut Watch::default()).unwrap();
        assert!(!salvage.is_loss());
        assert_eq!(directory.entries(), book.info().unwrap().positions);
        let mut reader = DirectoryReader::new(&directory, &book);
        let (mut by_probe, mut by_directory) = (Lookup::default(), Lookup::default());
        let (mut ahead, mut seen) = (vec![Chess::default()], 0);
        while let Some(position) = ahead.pop() {
            for wanted in [Wanted::Stored, Wanted::Transpositions] {
                book.probe(&position, wanted, &mut by_probe).unwrap();
                reader.probe(&position, wanted, &mut by_directory).unwrap();
                assert_eq!(by_probe, by_directory);
            }
            seen += 1;
            if seen + ahead.len() < 3000 {
                ahead.extend(
                    by_probe
                        .moves
                        .iter()
                        .map(|entry| tabia_notation::after(&position, entry.mv)),
                );
            }
        }
        assert!(seen > 1000);
    }
}
