//! An open book, and probes in it.

use std::{fmt, path::Path, sync::OnceLock};

use shakmaty::{Chess, Color, Move, MoveList, Position as _};

use super::{
    CanonicalBoard, Entry, Error, Key, Salvage,
    filter::PositionFilter,
    index::{Slot, SlotFile, SlotPage, SlotReader},
    moves,
    page::{PAGE_BYTES, split_entry},
    pages::{Header, PageFile, PageReader},
    scan::ScanIndex,
};
use crate::{self as book, BookMove, Lookup, MoveGames, PositionRecord, Probe, Wanted};
use tabia_io::input::state::Change;
use tabia_notation as notation;

tabia_io::options! {
    /// How to open a book.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OpenOptions {
        /// Maps large files into memory (default). Without it every page is read by a system
        /// call: slower, but it needs no address space, and no change of the file can end the
        /// process: see [`tabia_io::input::file`].
        mmap: bool = true,
    }
}

/// A CTG book, open for reading.
///
/// `Send` and `Sync`, no locks: any number of threads may use one book. A probe may wait
/// for the disk. Private memory is a few kilobytes for a mapped book, up to about 4 MiB
/// for a small one loaded into memory, and eight bytes per 4096-byte page if the index was
/// made by a scan (per position if the pages have no order). [`Probe::reserve`] adds 128
/// bytes per page, about three per position.
///
/// ```
/// use shakmaty::Chess;
/// use tabia_book::{
///     Lookup, Probe, Wanted,
///     ctg::{CtgBook, OpenOptions},
/// };
///
/// let book = CtgBook::open("tests/data/ctg/simple.ctg", &OpenOptions::default())?;
/// let mut found = Lookup::default();
/// book.probe(&Chess::default(), Wanted::Stored, &mut found)?;
/// let moves: Vec<String> = found.moves.iter().map(|m| m.mv.to_string()).collect();
/// assert_eq!(moves, ["e2-e4", "d2-d4"]);
/// # Ok::<_, tabia_book::Error>(())
/// ```
#[derive(Debug)]
pub struct CtgBook {
    pub(super) pages: PageFile,
    pub(super) index: Index,
    /// Made if many probes are announced; `None` inside if that is impossible. Used while
    /// the file has the content that it was made of.
    pub(super) filter: OnceLock<Option<PositionFilter>>,
    pub(crate) notices: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Index {
    Slots(SlotFile),
    Scan(ScanIndex),
}

/// Where an entry is in the .ctg file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryAddress {
    /// Page number; 0 follows the header page.
    pub page: u32,
    /// Offset of the entry in that page.
    pub offset: u16,
}

impl EntryAddress {
    /// Offset of the entry in the file.
    #[must_use]
    pub fn file_offset(self) -> u64 {
        super::error::file_offset(self.page, self.offset)
    }

    /// The inverse of [`EntryAddress::file_offset`].
    pub(super) fn at(file_offset: u64) -> EntryAddress {
        let page = PAGE_BYTES as u64;
        EntryAddress {
            page: u32::try_from((file_offset / page).saturating_sub(1)).unwrap_or(u32::MAX),
            offset: (file_offset % page) as u16,
        }
    }
}

/// One step of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupStep {
    /// A slot of the .cto file and its content.
    Slot(Slot, SlotPage),
    /// A page from an index made by a scan.
    Scanned(u32),
}

impl CtgBook {
    /// The .ctg file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.pages.file().path()
    }

    /// The numbers in the book's header.
    #[must_use]
    pub fn header(&self) -> Header {
        self.pages.header()
    }

    /// Problems of the files that the user should know, one sentence each; empty for a
    /// sound book.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Compares the files now at the paths with the open ones. After [`Change::Replaced`]
    /// or [`Change::Modified`] the book should be opened again, for example at the start
    /// of a game. Costs two `stat` calls.
    #[must_use]
    pub fn change(&self) -> Change {
        let index = match &self.index {
            Index::Slots(slots) => slots.file().change(),
            Index::Scan(_) => Change::None,
        };
        self.pages.file().change().max(index)
    }

    pub(crate) fn reading(&self) -> Result<Reading<'_>, Error> {
        let mut filter = self.filter.get().and_then(Option::as_ref);
        let filtered = filter.map(|filter| self.pages.reader_of(filter.stamp()));
        let pages = match filtered.transpose()?.flatten() {
            Some(pages) => pages,
            None => {
                filter = None;
                self.pages.reader()?
            }
        };
        Ok(Reading {
            pages,
            page_count: self.pages.page_count(),
            index: match &self.index {
                Index::Slots(slots) => IndexReader::Slots(slots.reader()?),
                Index::Scan(scan) => IndexReader::Scan(scan),
            },
            filter,
            book: &self.pages,
            cold: filter.is_some(),
        })
    }

    /// The side that the book plays for; `None` for both. In positions of the other side
    /// it has no moves.
    #[must_use]
    pub fn only(&self) -> Option<Color> {
        self.header().only
    }

    /// Whether the book is for the other side only.
    pub(crate) fn is_for_opponent_of(&self, side: Color) -> bool {
        self.only().is_some_and(|only| only != side)
    }

    fn fill(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        let mut reading = self.reading()?;
        let legal = position.legal_moves();
        let mut stored = reading.fill_entry(position, &legal, found)?;
        if self.is_for_opponent_of(position.turn()) {
            // Moves that the entry has for the position with colours reversed.
            found.moves.clear();
            stored = MoveSet::default();
        }
        for known in &mut found.moves {
            known.after = reading.record_after(position, known.mv)?;
        }
        if !wanted.includes_transpositions(self.only(), position.turn()) {
            return Ok(());
        }
        let likely = match reading.filter {
            Some(filter) => filter.likely(position, &legal),
            None => legal.iter().map(|_| true).collect(),
        };
        for n in likely.without(&stored) {
            if let Some(&mv) = legal.get(n)
                && let Some(after) = reading.record_after(position, mv)?
            {
                found.moves.push(BookMove::transposition(mv, after));
            }
        }
        Ok(())
    }
}

/// Finds single entries; for a few look-ups one after the other.
pub(crate) struct EntryReader<'b>(Reading<'b>);

impl CtgBook {
    /// As [`CtgBook::reading`], without the mapping: passes over a whole book would load all
    /// of it.
    pub(super) fn positional_reading(&self) -> Result<Reading<'_>, Error> {
        Ok(Reading {
            pages: self.pages.positional_reader(),
            ..self.reading()?
        })
    }

    pub(crate) fn entry_reader(&self) -> Result<EntryReader<'_>, Error> {
        Ok(EntryReader(Reading {
            cold: true,
            ..self.reading()?
        }))
    }
}

impl EntryReader<'_> {
    /// The place of a position's entry, as a probe finds it; `key` is that of the board.
    pub(crate) fn place_of(
        &mut self,
        board: &CanonicalBoard,
        key: &Key,
    ) -> Result<Option<EntryAddress>, Error> {
        if self.0.lacks(board) {
            return Ok(None);
        }
        Ok(self.0.find_under(key, board)?.map(|(place, _)| place))
    }

    /// The entry at a place returned by a look-up.
    pub(crate) fn entry(&mut self, place: EntryAddress) -> Result<Entry<'_>, Error> {
        self.0.entry(place)
    }
}

impl CtgBook {
    /// What counts as not in the book because it cannot be read, each page once: the damage
    /// that probes so far came upon at positions after moves, and what opening it found.
    #[must_use]
    pub fn unread(&self) -> Salvage {
        self.pages.unread()
    }
}

impl Probe for CtgBook {
    /// Stored moves that are unknown or illegal are left out, and so is the second of two
    /// equal ones; [`CtgBook::explain`] shows them. Fails only if the page of the
    /// position is damaged; if the page of a position after a move is, that position
    /// counts as not in the book.
    fn probe(
        &self,
        position: &Chess,
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<(), book::Error> {
        found.clear();
        self.fill(position, wanted, found)
            .inspect_err(|_| found.clear())?;
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, book::Error> {
        let Some(board) = CanonicalBoard::from_position(position) else {
            return Ok(false);
        };
        Ok(self.reading()?.find_position(&board)?.is_some())
    }

    /// The statistics of a move are those of the position after it: how many of these games
    /// came by this move is not stored.
    fn games_of(&self, _: &Chess, entry: &BookMove) -> Result<MoveGames, book::Error> {
        Ok(MoveGames {
            played: None,
            reached: entry.after.map(|after| after.stats.games),
        })
    }

    fn is_current(&self) -> bool {
        matches!(self.change(), Change::None | Change::Gone)
    }

    /// Reads the whole book once if the announced probes cost more than that; then most
    /// positions that are not in it are rejected without reading a page.
    fn reserve(&self, probes: u64) {
        if probes > u64::from(self.pages.page_count()) / PAGES_READ_IN_A_PROBE {
            self.filter
                .get_or_init(|| PositionFilter::read(&self.pages));
        }
    }
}

/// Pages whose positions are added to a filter in the time that it saves in a probe with
/// transpositions, which without it looks up some thirty positions.
const PAGES_READ_IN_A_PROBE: u64 = 3;

/// A set of indices into a list of legal moves (218 at most).
#[derive(Default)]
pub(crate) struct MoveSet([u64; 4]);

impl MoveSet {
    /// Adds `n`; false if it was there already or is out of range.
    pub(super) fn insert(&mut self, n: usize) -> bool {
        let fresh = !self.contains(n);
        match self.0.get_mut(n / 64) {
            Some(word) => *word |= 1 << (n % 64),
            None => return false,
        }
        fresh
    }

    pub(super) fn contains(&self, n: usize) -> bool {
        self.0
            .get(n / 64)
            .is_some_and(|word| word >> (n % 64) & 1 != 0)
    }

    /// The elements that are not in `other`, ascending.
    pub(super) fn without(&self, other: &MoveSet) -> impl Iterator<Item = usize> + use<> {
        let mut words = self.0;
        for (word, others) in words.iter_mut().zip(other.0) {
            *word &= !others;
        }
        (0..).step_by(64).zip(words).flat_map(|(first, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    first + bit
                })
            })
        })
    }
}

/// Collects the indices of the `true` items.
impl FromIterator<bool> for MoveSet {
    #[inline]
    fn from_iter<T: IntoIterator<Item = bool>>(all: T) -> MoveSet {
        let mut set = MoveSet::default();
        // No branch depends on an item, so that the look-ups overlap in time.
        for (n, is_in) in all.into_iter().enumerate() {
            if let Some(word) = set.0.get_mut(n / 64) {
                *word |= u64::from(is_in) << (n % 64);
            }
        }
        set
    }
}

/// Reads an entry's record and the legal moves that it stores; the positions after them
/// are not looked up.
pub(crate) fn fill_from(
    entry: &Entry<'_>,
    board: &CanonicalBoard,
    legal: &MoveList,
    found: &mut Lookup,
) -> MoveSet {
    let mut stored = MoveSet::default();
    found.here = Some(entry.record());
    for (byte, annotation) in entry.moves() {
        if let Ok(n) = moves::find(byte, board, legal)
            && let Some(&mv) = legal.get(n)
            && stored.insert(n)
        {
            found.moves.push(BookMove::stored(mv, annotation, None));
        }
    }
    stored
}

/// Readers of the files for one probe.
pub(crate) struct Reading<'b> {
    book: &'b PageFile,
    pages: PageReader<'b>,
    page_count: u32,
    index: IndexReader<'b>,
    filter: Option<&'b PositionFilter>,
    /// A walk over a whole book, as the probes for which there is a filter, never returns to a
    /// page, so its pages are not in the CPU caches; those of a game are.
    cold: bool,
}

enum IndexReader<'b> {
    Slots(SlotReader<'b>),
    Scan(&'b ScanIndex),
}

impl Reading<'_> {
    /// As [`fill_from`], and the set of legal moves that are stored.
    fn fill_entry(
        &mut self,
        position: &Chess,
        legal: &MoveList,
        found: &mut Lookup,
    ) -> Result<MoveSet, Error> {
        let mut stored = MoveSet::default();
        if let Some(board) = CanonicalBoard::from_position(position)
            && let Some((place, _)) = self.find_position(&board)?
        {
            stored = fill_from(&self.entry(place)?, &board, legal, found);
        }
        Ok(stored)
    }

    /// Finds a position, if necessary under its other key: returns its place and the key.
    pub(super) fn find_position(
        &mut self,
        board: &CanonicalBoard,
    ) -> Result<Option<(EntryAddress, Key)>, Error> {
        match self.lacks(board) {
            true => Ok(None),
            false => self.find_under(&board.key(), board),
        }
    }

    #[cfg(test)]
    pub(super) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Whether the position is certainly not in the book.
    fn lacks(&self, board: &CanonicalBoard) -> bool {
        self.filter.is_some_and(|filter| !filter.may_hold(board))
    }

    /// As `find_position`; `key` is that of the board.
    fn find_under(
        &mut self,
        key: &Key,
        board: &CanonicalBoard,
    ) -> Result<Option<(EntryAddress, Key)>, Error> {
        if let Some(place) = self.find_key(key)? {
            return Ok(Some((place, *key)));
        }
        match board.other_key() {
            Some(key) => Ok(self.find_key(&key)?.map(|place| (place, key))),
            None => Ok(None),
        }
    }

    fn find_key(&mut self, key: &Key) -> Result<Option<EntryAddress>, Error> {
        self.find(key, |_| ())
    }

    /// Finds a key and reports every step.
    pub(crate) fn find(
        &mut self,
        key: &Key,
        mut on_step: impl FnMut(LookupStep),
    ) -> Result<Option<EntryAddress>, Error> {
        let hash = key.hash();
        match self.index {
            IndexReader::Slots(slots) => {
                for slot in slots.walk(hash) {
                    let page = slots.page_of(slot.number, self.page_count)?;
                    on_step(LookupStep::Slot(slot, page));
                    if let SlotPage::Page(page) = page
                        && let Some(place) = self.find_in(page, key)?
                    {
                        return Ok(Some(place));
                    }
                }
            }
            IndexReader::Scan(scan) => {
                for page in scan.pages(hash) {
                    on_step(LookupStep::Scanned(page));
                    if let Some(place) = self.find_in(page, key)? {
                        return Ok(Some(place));
                    }
                }
            }
        }
        Ok(None)
    }

    fn find_in(&mut self, page: u32, key: &Key) -> Result<Option<EntryAddress>, Error> {
        let found = self.pages.page(page)?;
        if self.cold {
            found.ask_for();
        }
        match found.find(key.as_bytes()) {
            Ok(offset) => Ok(offset.map(|offset| EntryAddress { page, offset })),
            Err(fault) => Err(self.book.fault(page, fault)),
        }
    }

    /// The entry at a place returned by a look-up.
    pub(crate) fn entry(&mut self, place: EntryAddress) -> Result<Entry<'_>, Error> {
        let book = self.book;
        // The page's header was checked when the place was found.
        split_entry(self.pages.bytes(place.page)?, place.offset.into())
            .map(|(entry, _)| entry)
            .map_err(|fault| book.fault(place.page, fault))
    }

    fn record_after(
        &mut self,
        position: &Chess,
        mv: Move,
    ) -> Result<Option<PositionRecord>, Error> {
        let after = notation::after(position, mv);
        let Some(board) = CanonicalBoard::from_position(&after) else {
            return Ok(None);
        };
        match self.find_under(&board.key(), &board) {
            Ok(Some((place, _))) => Ok(Some(self.entry(place)?.record())),
            Ok(None) => Ok(None),
            // The other moves can still be played.
            Err(error) if error.is_damage() => {
                self.book.leave_out(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl fmt::Display for LookupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookupStep::Slot(slot, SlotPage::Page(page)) => {
                write!(f, "slot {}: page {page}", slot.number)
            }
            LookupStep::Slot(slot, SlotPage::None) => write!(f, "slot {}: split", slot.number),
            LookupStep::Slot(slot, SlotPage::Beyond) => write!(f, "slot {}: none", slot.number),
            LookupStep::Slot(slot, SlotPage::Missing(page)) => {
                write!(f, "slot {}: page {page}, which is cut off", slot.number)
            }
            LookupStep::Scanned(page) => write!(f, "page {page}"),
        }
    }
}
