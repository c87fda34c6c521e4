//! Where all moves of a book lead, in memory.
//!
//! One pass over the file, on all processors, makes the board after every stored move and
//! finds its entry by a hash of its key, without reading that entry. Then a walk along the
//! lines of the book needs no chess for the parts of it that nobody looks at.
//!
//! Memory: four bytes for every entry and eight for every move; while it is made, also the
//! eleven bytes for every entry of a [`Directory`] without a sieve, and before that, when
//! there are no moves yet, sixteen more.

use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;

use super::{CtgBook, Directory};
use crate::ctg::{
    CanonicalBoard, Entry, EntryAddress, EntrySet, Error, Key, moves, owners::Owners,
    prune::IsRare, reader::Reading, step::Step,
};
use crate::position_of;
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// The entries after the stored moves of every entry of a book.
#[derive(Debug, Default)]
pub(in crate::ctg) struct Links {
    numbers: Numbers,
    /// By the number of an entry, where its moves begin in `to`; one more at the end.
    first_move: Vec<u32>,
    /// The entry after each stored move, or [`NOWHERE`].
    to: Vec<EntryAddress>,
}

/// The entries of a book by their numbers in the order of the file.
#[derive(Debug, Default)]
struct Numbers {
    entries: EntrySet,
    /// For each page the number of entries in the pages before it.
    before_page: Vec<u32>,
}

/// No entry, or none of a legal move.
const NOWHERE: EntryAddress = EntryAddress {
    page: u32::MAX,
    offset: 0,
};

impl Numbers {
    fn new(entries: EntrySet) -> Numbers {
        Numbers {
            before_page: entries.before_each_page(),
            entries,
        }
    }

    fn of(&self, place: EntryAddress) -> Option<usize> {
        let before = *self.before_page.get(place.page as usize)? as usize;
        Some(before + self.entries.before_in_page(place)?)
    }
}

impl CtgBook {
    /// Reads the whole book and finds where its moves lead, as look-ups do. Damaged parts
    /// of pages are left out without a word. Returns the rare entries too.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the work is cancelled.
    pub(in crate::ctg) fn links(
        &self,
        watch: &mut Watch<'_>,
        is_rare: Option<&IsRare<'_>>,
    ) -> Result<(Links, EntrySet), Error> {
        let owners = Owners::read(self)?;
        let mut entries = EntrySet::default();
        let mut hashes: Vec<(u64, EntryAddress)> = Vec::new();
        self.each_block(
            "indexing",
            &mut watch.part(0, 300),
            |(places, hashes): &mut (Vec<EntryAddress>, Vec<_>), entry| {
                if let Ok((place, entry)) = entry {
                    places.push(place);
                    let key = entry.key().filter(|key| owners.lead_to(place, key));
                    hashes.extend(key.map(|key| (of_key(&key), place)));
                }
                Ok(())
            },
            Ok::<_, Error>,
            |(places, some)| {
                entries.extend(places);
                hashes.extend(some);
                Ok(())
            },
        )?;
        let pages = self.pages.page_count();
        let directory = Directory::with_room(hashes.len() as u64, pages, false);
        for (hash, place) in hashes {
            directory.add(hash, place);
        }
        let numbers = Numbers::new(entries);
        let mut rare = EntrySet::default();
        let (mut first_move, mut all) = (Vec::new(), Vec::new());
        self.each_block(
            "following",
            &mut watch.part(300, 1000),
            |block: &mut Block, entry| {
                if let Ok((place, entry)) = entry {
                    block.add(place, &entry, is_rare);
                }
                Ok(())
            },
            |block| {
                let to = block.entries_after(&directory, &mut self.reading()?)?;
                Ok::<_, Error>((block.entries, to))
            },
            |(entries, to)| {
                let before = all.len();
                for known in entries {
                    rare.extend(known.is_rare.then_some(known.place));
                    // Entries of a length of zero, which no look-up finds, are left out.
                    if let Some(number) = numbers.of(known.place) {
                        let first = (before + known.first_move) as u32;
                        first_move.resize(number + 1, first);
                    }
                }
                all.extend(to.into_iter().map(|to| to.unwrap_or(NOWHERE)));
                Ok(())
            },
        )?;
        first_move.resize(numbers.entries.len() as usize + 1, all.len() as u32);
        let links = Links {
            numbers,
            first_move,
            to: all,
        };
        Ok((links, rare))
    }
}

/// The hash of a key, by which the directory has the entries.
fn of_key(key: &Key) -> u64 {
    FxBuildHasher.hash_one(key)
}

/// The entries of some pages, and where their moves lead.
#[derive(Default)]
struct Block {
    entries: Vec<BlockEntry>,
    /// For each stored move the hash of the key after it; `None` without one.
    after: Vec<Option<u64>>,
    /// Moves that a [`Step`] does not make, by their place in `after`.
    unclear: Vec<(usize, Key, u8)>,
}

struct BlockEntry {
    place: EntryAddress,
    first_move: usize,
    is_rare: bool,
}

impl Block {
    fn add(&mut self, place: EntryAddress, entry: &Entry<'_>, is_rare: Option<&IsRare<'_>>) {
        let Some(key) = entry.key() else {
            return;
        };
        let board = CanonicalBoard::from_key(&key).ok();
        self.entries.push(BlockEntry {
            place,
            first_move: self.after.len(),
            // What is not a position is reported when the book is written.
            is_rare: board.is_some() && is_rare.is_some_and(|is_rare| is_rare(&entry.record())),
        });
        for (byte, _) in entry.moves() {
            let step = board.map_or(Step::Illegal, |board| board.after(byte));
            if step == Step::Unclear {
                self.unclear.push((self.after.len(), key, byte));
            }
            self.after.push(match step {
                Step::To(after) => Some(of_key(&after.key())),
                Step::Illegal | Step::Unclear => None,
            });
        }
    }

    /// The entry after every stored move.
    fn entries_after(
        &self,
        directory: &Directory,
        reading: &mut Reading<'_>,
    ) -> Result<Vec<Option<EntryAddress>>, Error> {
        let set = |to: &mut Vec<_>, at: usize, place| {
            if let Some(to) = to.get_mut(at) {
                *to = place;
            }
        };
        // Together, so that the waits for the memory overlap.
        let hashes = self.after.iter();
        let found = hashes.map(|hash| hash.map_or(Known::No, |hash| directory.known(hash)));
        let found: Vec<Known> = found.collect();
        let mut to: Vec<Option<EntryAddress>> = found.iter().map(|known| known.place()).collect();
        let several = (0..)
            .zip(&found)
            .filter(|(_, known)| **known == Known::Several);
        for (at, _) in several {
            let next = self.entries.partition_point(|known| known.first_move <= at);
            let owner = next.checked_sub(1).and_then(|n| self.entries.get(n));
            let Some(owner) = owner else { continue };
            let entry = reading.entry(owner.place)?;
            let byte = entry.moves().nth(at - owner.first_move);
            let (Some(key), Some((byte, _))) = (entry.key(), byte) else {
                continue;
            };
            set(&mut to, at, directory.entry_after(&key, byte, reading)?);
        }
        for (at, key, byte) in &self.unclear {
            set(&mut to, *at, directory.entry_after(key, *byte, reading)?);
        }
        Ok(to)
    }
}

/// How many entries a hash has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    No,
    One(EntryAddress),
    Several,
}

impl Known {
    fn place(self) -> Option<EntryAddress> {
        match self {
            Known::One(place) => Some(place),
            Known::No | Known::Several => None,
        }
    }
}

impl Directory {
    fn known(&self, hash: u64) -> Known {
        let mut places = self.candidates(hash);
        match (places.next(), places.next()) {
            (None, _) => Known::No,
            (Some(place), None) => Known::One(place),
            (Some(_), Some(_)) => Known::Several,
        }
    }

    /// The entry after any move, as a look-up finds it. The hash decides alone unless several
    /// entries have it.
    fn entry_after(
        &self,
        key: &Key,
        byte: u8,
        reading: &mut Reading<'_>,
    ) -> Result<Option<EntryAddress>, Error> {
        let Some((board, position)) = position_of(key) else {
            return Ok(None);
        };
        let legal = moves::likely(byte, &board, &position);
        let found = moves::find(byte, &board, &legal).ok();
        let after = found.and_then(|n| legal.get(n));
        let after = after.map(|mv| notation::after(&position, *mv));
        let Some(board) = after.and_then(|after| CanonicalBoard::from_position(&after)) else {
            return Ok(None);
        };
        let keys = [Some(board.key()), board.other_key()];
        for key in keys.iter().flatten() {
            match self.known(of_key(key)) {
                Known::No => {}
                Known::One(place) => return Ok(Some(place)),
                Known::Several => {
                    return match reading.find_position(&board) {
                        Err(error) if error.is_damage() => Ok(None),
                        found => Ok(found?.map(|(place, _)| place)),
                    };
                }
            }
        }
        Ok(None)
    }
}

impl Links {
    /// The number of an entry in the order of the file.
    pub(in crate::ctg) fn number(&self, place: EntryAddress) -> Option<usize> {
        self.numbers.of(place)
    }

    /// All entries, also those that no look-up finds.
    pub(in crate::ctg) fn entries(&self) -> &EntrySet {
        &self.numbers.entries
    }

    /// The entries after the stored moves of an entry.
    pub(in crate::ctg) fn after(
        &self,
        place: EntryAddress,
    ) -> impl Iterator<Item = Option<EntryAddress>> {
        self.after_number(self.number(place).unwrap_or(usize::MAX - 1))
    }

    /// The same by the number of the entry.
    pub(in crate::ctg) fn after_number(
        &self,
        number: usize,
    ) -> impl Iterator<Item = Option<EntryAddress>> {
        let at = |number: usize| self.first_move.get(number).map(|at| *at as usize);
        let range = at(number).zip(at(number + 1));
        let to = range.and_then(|(first, end)| self.to.get(first..end));
        let to = to.unwrap_or_default().iter();
        to.map(|to| (*to != NOWHERE).then_some(*to))
    }

    /// The entries of some numbers.
    pub(in crate::ctg) fn set_of(&self, contains: impl Fn(usize) -> bool) -> EntrySet {
        let nothing = EntrySet::default();
        let numbered = (0..).zip(self.entries().without(&nothing));
        let mut set = EntrySet::default();
        set.extend(
            numbered
                .filter(|(n, _)| contains(*n))
                .map(|(_, place)| place),
        );
        set
    }

    /// The entries that the moves of the book reach from one, and that one.
    pub(in crate::ctg) fn reached_from(&self, start: Option<EntryAddress>) -> EntrySet {
        let mut reached = vec![false; self.first_move.len()];
        let mut level = Vec::new();
        let mut enter = |number: usize, level: &mut Vec<usize>| {
            if let Some(reached @ false) = reached.get_mut(number) {
                *reached = true;
                level.push(number);
            }
        };
        let start = start.and_then(|start| self.number(start));
        start.into_iter().for_each(|start| enter(start, &mut level));
        while !level.is_empty() {
            let mut next = Vec::new();
            // Level by level, the waits for the memory overlap.
            for number in level {
                let after = self.after_number(number).flatten();
                let after = after.filter_map(|to| self.number(to));
                after.for_each(|to| enter(to, &mut next));
            }
            level = next;
        }
        self.set_of(|number| reached.get(number) == Some(&true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctg::{OpenOptions, Pass};

    /// For every stored move of the starter book, whose lines go through en passant
    /// captures, castling and positions with colours exchanged.
    #[test]
    fn a_link_leads_where_a_look_up_leads() {
        let book = CtgBook::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let watch = &mut Watch::default();
        let (links, rare) = book.links(watch, None).unwrap();
        assert!(rare.is_empty());
        let (mut moves, mut found) = (0, 0);
        book.visit(Pass::Moves, watch, &mut |_| (), |visit| {
            let by_look_up = visit.moves.iter().map(|mv| mv.after.map(|to| to.place));
            let by_link: Vec<_> = links.after(visit.entry.place).collect();
            assert_eq!(by_look_up.collect::<Vec<_>>(), by_link);
            moves += by_link.len();
            found += by_link.iter().flatten().count();
            Ok(())
        })
        .unwrap();
        assert!(moves > 10_000 && found > moves / 2, "{moves} {found}");
        let mut walked = book.walk_lines(None, None, watch, |_, _| Ok(())).unwrap();
        let start = book.start(&mut book.reading().unwrap()).unwrap();
        let reached = links.reached_from(start);
        assert_eq!(reached.len(), walked.len());
        walked.unite(&reached);
        assert_eq!(reached.len(), walked.len());
    }
}
