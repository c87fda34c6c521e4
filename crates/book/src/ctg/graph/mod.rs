//! A ChessBase book as a graph: its entries, and where their moves lead.
//!
//! A look-up finds a position by its key: slot, page, entry. Whoever needs the whole book
//! would do that for every move, and for every legal move that may transpose into the book.
//! Here it is done once, in a parallel pass over the file, and in another one for
//! transpositions; what is found stays in arrays. After that a walk through the book, or a pass over all of it, follows numbers.
//!
//! ```text
//! entry     0      1      2      3 ...           numbered in the order of the file
//! offsets   4      74     130    4  ...          where it is in its page
//! first     0      2      2      5 ...           where its moves begin
//! records   ...    ...    ...    ...             its statistics as stored, if asked for
//!
//! move      0      1      2      3      4 ...
//! to        17     3m     -      9      44 ...   the entry after it; m: wings exchanged
//! byte      5f     e6     01     5f     a8 ...   the move byte, and the annotation after it
//!
//! leaps     (1, b1c3, 17) (3, e5f6, 9m) ...      transpositions: legal moves that are not
//!                                                stored and lead to entries, if asked for
//! leaping   (0a.., 0) (.., 2) ...                for 64 entries a bit each, whether it has
//!                                                leaps, and the first leap of them all
//! ```
//!
//! An entry is for up to four positions, which are *forms* of one board: its own, with
//! colours exchanged, with wings exchanged, or both. The entries after its moves are the same
//! for all of them; so each move is in the graph once, with the form in which it gets to the
//! next entry's board: colours are always exchanged, wings if [`Arrival::mirrored`] says so.
//!
//! Neighbours in the file have nothing to do with each other, so each step of a walk waits
//! for the memory. A walk goes level by level, in the order of the file, and asks for what some
//! hundred entries need before it looks at them ([`BookGraph::ask_for_moves`]): these waits
//! overlap, and are shorter because neighbours in memory come one after the other.
//!
//! # Size
//!
//! Six bytes for every entry, some seven for every page, eight for every move, twelve for every
//! transposition; with statistics 33 for every entry, with keys eight for every entry. While it is made, also eight bytes for every entry and every move, and a
//! hash table of 10 to 20 bytes for every entry; with transpositions 14 bytes more. A book
//! of 2.8 million entries takes 35 MB (with statistics 130), one of 100 million 1.2 GB (4.6
//! GB), and some 3 GB more while it is made: all of it in memory, whatever the options say.
//!
//! # Exactness
//!
//! Entries are found by a hash of 64 bits of the position ([`ahead`]). Where several entries
//! share it, and for every transposition, keys are compared, too.

pub(super) mod ahead;
pub(super) mod make;
pub(super) mod numbers;
#[cfg(feature = "json")]
mod read;
mod sieve;
#[cfg(test)]
#[cfg(feature = "json")]
mod tests;

#[cfg(feature = "json")]
pub(crate) use read::Moves;
pub(crate) use sieve::Sieve;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::Chess;

use super::{
    CanonicalBoard, CtgBook, EntryAddress, EntrySet, Error, STATISTICS_BYTES, decode_record,
};
#[cfg(feature = "json")]
use crate::evals::EvalKey;
use crate::polyglot::PackedMove;
use crate::{Annotation, PositionRecord};

/// Entries whose moves or statistics are asked for together.
pub(crate) const ASKED_AT_ONCE: usize = 256;

/// The number of an entry in the order of the file.
pub type EntryNumber = u32;

/// Optional parts of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The statistics of every entry, and the annotations of its moves.
    pub records: bool,
    /// Moves that are not stored but lead to entries.
    pub transpositions: bool,
    /// Which entries no look-up finds.
    pub unfound: bool,
    /// The keys of the entries in tables of evaluations.
    #[cfg(feature = "json")]
    pub keys: bool,
}

/// A ChessBase book as a graph: its entries by their numbers in the file, and where the moves
/// of each lead.
#[derive(Debug, Default)]
pub struct BookGraph {
    /// For each page the number of entries in the pages before it.
    before_page: Vec<u32>,
    /// For each 64 entries the page of the first one.
    block_pages: Vec<u32>,
    /// For each entry its offset in its page.
    offsets: Vec<u16>,
    /// For each entry its first move; one more at the end.
    first: Vec<u32>,
    moves: Vec<GraphMove>,
    records: Vec<[u8; STATISTICS_BYTES]>,
    #[cfg(feature = "json")]
    keys: Vec<EvalKey>,
    /// Sorted by entry, and then as legal moves are.
    leaps: Vec<(EntryNumber, PackedMove, Link)>,
    /// For 64 entries a bit each, whether it has leaps, and the number of leaps before.
    leaping: Vec<(u64, u32)>,
    /// Files of illegal en passant captures after a move, by the number of the move, or of
    /// the leap after all moves.
    passants: HashMap<u32, u8, FxBuildHasher>,
    /// The entry of the start position.
    start: Option<EntryNumber>,
    /// The number of entries that look-ups find.
    found: u64,
    /// Entries that no look-up finds, if asked for.
    unfound: HashSet<EntryNumber, FxBuildHasher>,
    /// Entries whose key is not a position.
    impossible: HashSet<EntryNumber, FxBuildHasher>,
}

/// A stored move: what walks need of it is in one place.
#[derive(Clone, Copy, Debug)]
struct GraphMove {
    to: Link,
    byte: u8,
    annotation: u8,
}

/// Where a move leads, in four bytes: the number of an entry and its form, or one of the
/// constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link(u32);

impl Link {
    /// Legal, but the book does not have the position after it.
    const NOWHERE: Link = Link(u32::MAX);
    /// Not a legal move.
    const ILLEGAL: Link = Link(u32::MAX - 1);
    /// The same move as an earlier one of the entry.
    const REPEATED: Link = Link(u32::MAX - 2);
    /// One entry more than a graph can have.
    const MOST: u32 = (u32::MAX - 2) >> 1;

    /// Legal, and not looked up yet.
    const fn open(mirrored: bool) -> Link {
        Link::new(Link::MOST - 1, mirrored)
    }

    const fn is_mirrored(self) -> bool {
        self.0 & 1 != 0
    }

    /// The link after a look-up that found nothing.
    fn unless_open(self) -> Link {
        match self.entry() {
            Some(_) => Link::NOWHERE,
            None => self,
        }
    }

    const fn new(number: EntryNumber, mirrored: bool) -> Link {
        Link(number << 1 | mirrored as u32)
    }

    const fn entry(self) -> Option<EntryNumber> {
        match self.0 >> 1 {
            Link::MOST.. => None,
            number => Some(number),
        }
    }
}

/// Where a move leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The byte is not a legal move.
    Illegal,
    /// An earlier byte of the entry is the same move.
    Repeated,
    /// The book does not have the position after the move.
    Nowhere,
    /// To an entry.
    Entry(Arrival),
}

/// How a move gets to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The entry.
    pub entry: EntryNumber,
    /// Whether the position after the move, seen from the board of the entry before it, has
    /// wings exchanged on the board of this entry. (Colours always are.)
    pub mirrored: bool,
    /// The file, 0 = a on the board of this entry, of an en passant capture that is illegal
    /// because of a pin or a check and not in the key.
    pub pinned_en_passant: Option<u8>,
}

impl Target {
    /// The entry, if the move leads to one.
    #[must_use]
    pub const fn entry(self) -> Option<EntryNumber> {
        match self {
            Target::Entry(to) => Some(to.entry),
            Target::Illegal | Target::Repeated | Target::Nowhere => None,
        }
    }
}

impl BookGraph {
    /// The number of entries, also of those that no look-up finds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The number of entries that look-ups find.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.found
    }

    /// Whether a look-up finds an entry; true unless it was asked for.
    #[must_use]
    pub fn is_found(&self, entry: EntryNumber) -> bool {
        !self.unfound.contains(&entry)
    }

    /// Whether the key of an entry is a position, perhaps one that cannot arise.
    pub(in crate::ctg) fn is_position(&self, entry: EntryNumber) -> bool {
        !self.impossible.contains(&entry)
    }

    /// The entries of some numbers.
    pub(in crate::ctg) fn set_of(&self, contains: impl Fn(EntryNumber) -> bool) -> EntrySet {
        let mut set = EntrySet::default();
        for (page, range) in self.pages() {
            for entry in range.filter(|entry| contains(*entry)) {
                let offset = self.offsets.get(entry as usize).copied().unwrap_or(0);
                set.insert(EntryAddress { page, offset });
            }
        }
        set
    }

    /// The pages, and the entries of each.
    fn pages(&self) -> impl Iterator<Item = (u32, Range<EntryNumber>)> {
        let ends = self.before_page.iter().skip(1).copied();
        let ends = ends.chain([self.len() as EntryNumber]);
        let ranges = self.before_page.iter().zip(ends);
        (0..).zip(ranges.map(|(first, end)| *first..end))
    }

    /// For each 64 entries the page of the first one.
    fn pages_of_blocks(&self) -> Vec<u32> {
        let mut blocks = Vec::with_capacity(self.len().div_ceil(64));
        for (page, entries) in self.pages() {
            while (64 * blocks.len()) < entries.end as usize {
                blocks.push(page);
            }
        }
        blocks
    }

    /// The entry of the start position, which is on its own board.
    #[must_use]
    pub fn start(&self) -> Option<EntryNumber> {
        self.start
    }

    /// All entries.
    pub fn entries(&self) -> Range<EntryNumber> {
        0..self.len() as EntryNumber
    }

    /// The number of an entry of the file; also by a place that is good for sets only.
    #[must_use]
    pub fn number(&self, place: EntryAddress) -> Option<EntryNumber> {
        let page = place.page as usize;
        let first = *self.before_page.get(page)?;
        let end = self.before_page.get(page + 1).copied();
        let end = end.map_or(self.len(), |end| end as usize);
        let offsets = self.offsets.get(first as usize..end)?;
        let piece = EntrySet::piece(place.offset);
        let before = offsets.binary_search_by_key(&piece, |offset| EntrySet::piece(*offset));
        let before = before.ok()?;
        Some(first + before as u32)
    }

    /// Where an entry is in the file.
    #[must_use]
    pub fn place(&self, entry: EntryNumber) -> Option<EntryAddress> {
        let offset = *self.offsets.get(entry as usize)?;
        let block = entry as usize / 64;
        let first = *self.block_pages.get(block)? as usize;
        let end = self
            .block_pages
            .get(block + 1)
            .map(|last| *last as usize + 1);
        let end = end.unwrap_or(self.before_page.len());
        let pages = self.before_page.get(first..end)?;
        let page = first + pages.partition_point(|before| *before <= entry);
        Some(EntryAddress {
            page: page.checked_sub(1)? as u32,
            offset,
        })
    }

    /// The entry that a look-up of a position finds in the book of this graph.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn entry_of(
        &self,
        book: &CtgBook,
        board: &CanonicalBoard,
    ) -> Result<Option<EntryNumber>, Error> {
        let found = book.reading()?.find_position(board)?;
        Ok(found.and_then(|(place, _)| self.number(place)))
    }

    /// The position of an entry with White to move, read from the book of this graph; `None`
    /// if it is illegal.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn position(&self, book: &CtgBook, entry: EntryNumber) -> Result<Option<Chess>, Error> {
        let Some(place) = self.place(entry) else {
            return Ok(None);
        };
        let key = book.reading()?.entry(place)?.key();
        Ok(key.and_then(|key| Some(crate::position_of(&key)?.1)))
    }

    fn range(&self, entry: EntryNumber) -> Range<usize> {
        let at = |n: usize| self.first.get(n).map_or(0, |at| *at as usize);
        at(entry as usize)..at(entry as usize + 1)
    }

    /// Whether an entry has stored moves or transpositions.
    #[cfg(feature = "json")]
    pub(crate) fn has_moves(&self, entry: EntryNumber) -> bool {
        !self.range(entry).is_empty() || self.leaps_near(entry).is_some()
    }

    /// The stored moves of an entry: the byte of each, its annotation, and where it leads.
    pub fn stored(
        &self,
        entry: EntryNumber,
    ) -> impl Iterator<Item = (u8, Annotation, Target)> + Clone {
        self.stored_in(self.stored_range(entry))
    }

    /// The numbers of the stored moves of an entry.
    #[must_use]
    pub fn stored_range(&self, entry: EntryNumber) -> Range<u32> {
        let Range { start, end } = self.range(entry);
        start as u32..end as u32
    }

    /// As [`BookGraph::stored`], by the numbers of the moves.
    pub fn stored_in(
        &self,
        numbers: Range<u32>,
    ) -> impl Iterator<Item = (u8, Annotation, Target)> + Clone {
        let places = numbers.start as usize..numbers.end as usize;
        let moves = numbers.zip(self.moves.get(places).unwrap_or_default());
        moves.map(|(n, mv)| (mv.byte, Annotation(mv.annotation), self.target(n, mv.to)))
    }

    /// The stored moves of an entry: the byte of each, and where it leads.
    pub fn moves(&self, entry: EntryNumber) -> impl Iterator<Item = (u8, Target)> + Clone {
        self.stored(entry).map(|(byte, _, to)| (byte, to))
    }

    /// The squares of the legal stored moves of an entry, whose board is given.
    fn stored_squares(
        &self,
        entry: EntryNumber,
        board: &CanonicalBoard,
    ) -> impl Iterator<Item = PackedMove> {
        let legal = self.moves(entry).filter(|(_, to)| *to != Target::Illegal);
        legal.filter_map(|(byte, _)| board.squares_of(byte))
    }

    /// The entries after the stored moves of an entry.
    pub fn after(&self, entry: EntryNumber) -> impl Iterator<Item = EntryNumber> {
        let moves = self.moves.get(self.range(entry)).unwrap_or_default();
        moves.iter().filter_map(|mv| mv.to.entry())
    }

    /// The transpositions of an entry, on its board, in the order of its legal moves. Empty
    /// unless they were asked for.
    pub fn transpositions(
        &self,
        entry: EntryNumber,
    ) -> impl Iterator<Item = (PackedMove, Arrival)> + Clone {
        let start = match self.leaps_near(entry) {
            None => self.leaps.len(),
            Some(near) => near as usize,
        };
        let leaps = self.leaps.get(start..).unwrap_or_default().iter();
        let leaps = (self.moves.len() + start..).zip(leaps);
        let leaps = leaps.skip_while(move |(_, (known, _, _))| *known < entry);
        let leaps = leaps.take_while(move |(_, (known, _, _))| *known == entry);
        leaps.filter_map(|(n, (_, mv, link))| match self.target(n as u32, *link) {
            Target::Entry(to) => Some((*mv, to)),
            Target::Illegal | Target::Repeated | Target::Nowhere => None,
        })
    }

    /// A leap at most 63 entries before the first one of an entry, if it has any.
    fn leaps_near(&self, entry: EntryNumber) -> Option<u32> {
        let (bits, first) = *self.leaping.get(entry as usize / 64)?;
        (bits >> (entry % 64) & 1 != 0).then_some(first)
    }

    fn target(&self, number: u32, link: Link) -> Target {
        match (link, link.entry()) {
            (_, Some(entry)) => Target::Entry(Arrival {
                entry,
                mirrored: link.is_mirrored(),
                pinned_en_passant: match self.passants.is_empty() {
                    true => None,
                    false => self.passants.get(&number).copied(),
                },
            }),
            (Link::ILLEGAL, None) => Target::Illegal,
            (Link::REPEATED, None) => Target::Repeated,
            (_, None) => Target::Nowhere,
        }
    }

    /// The statistics of an entry; none unless they were asked for.
    #[must_use]
    pub fn record(&self, entry: EntryNumber) -> PositionRecord {
        let stored = self.records.get(entry as usize);
        let record = stored.and_then(|bytes| decode_record(bytes));
        record.unwrap_or_default()
    }

    /// The statistics of an entry as stored, if they were asked for.
    #[cfg(feature = "json")]
    pub(crate) fn record_bytes(&self, entry: EntryNumber) -> Option<[u8; STATISTICS_BYTES]> {
        self.records.get(entry as usize).copied()
    }

    /// Loads the statistics of the entries after the moves of some entries, together, so that
    /// the waits for the memory overlap.
    #[cfg(feature = "json")]
    pub(crate) fn ask_for(&self, entries: impl Iterator<Item = EntryNumber>) {
        let after = entries.flat_map(|entry| self.after(entry));
        let records = after.filter_map(|entry| self.records.get(entry as usize));
        let ends = records.map(|[first, .., last]| first ^ last);
        std::hint::black_box(ends.fold(0, |all, byte| all ^ byte));
    }

    /// Loads the statistics of some entries, and where their moves begin, together, so that the
    /// waits for the memory overlap.
    pub fn ask_for_entries(&self, entries: impl Iterator<Item = EntryNumber>) {
        let ends = entries.map(|entry| {
            let record = self.records.get(entry as usize);
            let ends = record.map_or(0, |[first, .., last]| first ^ last);
            usize::from(ends) ^ self.range(entry).start
        });
        std::hint::black_box(ends.fold(0, |all, end| all ^ end));
    }

    /// Loads the moves of some entries, and whether they have transpositions, together, so that
    /// the waits for the memory overlap.
    pub(crate) fn ask_for_moves(&self, entries: impl Iterator<Item = EntryNumber> + Clone) {
        let first = entries.clone().map(|entry| self.range(entry).start);
        let first: Vec<usize> = first.collect();
        let moves = first.iter().filter_map(|first| self.moves.get(*first));
        let leaping = entries.filter_map(|entry| self.leaping.get(entry as usize / 64));
        let all = moves.fold(0, |all, mv| all ^ mv.byte);
        std::hint::black_box(leaping.fold(u64::from(all), |all, (bits, _)| all ^ bits));
    }

    /// Gives the memory of all statistics back.
    pub fn forget_records(&mut self) {
        self.records = Vec::new();
    }

    /// Takes out the keys of the entries in tables of evaluations; none unless they were asked
    /// for.
    #[cfg(feature = "json")]
    #[must_use]
    pub fn take_keys(&mut self) -> Vec<EvalKey> {
        std::mem::take(&mut self.keys)
    }
}
