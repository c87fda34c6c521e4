//! Passes over a book, which show everything that can be marked.
//!
//! Memory: one page, and sixteen bytes for every page of the book if the pass must
//! remember positions; from the start position through the whole book that of a
//! [`BookGraph`].

use shakmaty::{Chess, Color, Move, Position as _};

use crate::{
    Annotation, Field, MarkChange, MarkEdit, MarkPlace, PositionRecord,
    ctg::{
        CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Key, PAGE_HEADER_BYTES,
        STATISTICS_BYTES,
        graph::{ASKED_AT_ONCE, BookGraph, Contents, EntryNumber, Target},
        moves,
        reader::Reading,
    },
    position_of,
};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// An entry seen on a pass.
#[derive(Clone, Copy, Debug)]
pub struct VisitedEntry {
    /// Where it is.
    pub place: EntryAddress,
    /// Its position.
    pub key: Key,
    /// Its statistics.
    pub record: PositionRecord,
    /// Bytes of its moves, the length byte included.
    move_bytes: usize,
}

/// A stored move seen on a pass.
#[derive(Clone, Debug)]
pub struct VisitedMove {
    /// The move on the canonical board, where White is to move.
    pub mv: Move,
    /// Its annotation.
    pub annotation: Annotation,
    /// The position after it; `None` if it is not in the book.
    pub after: Option<VisitedEntry>,
    /// The move byte.
    byte: u8,
    /// Offset of the annotation in the file.
    pub(super) offset: u64,
}

/// A position with its stored moves.
#[derive(Debug)]
pub struct Visit<'a> {
    /// Its entry.
    pub entry: &'a VisitedEntry,
    /// Its legal stored moves; empty on passes without moves.
    pub moves: &'a [VisitedMove],
    /// Plies from the start position, on walks from there: White is to move if even.
    pub ply: Option<u32>,
}

impl VisitedEntry {
    fn from_entry(place: EntryAddress, key: Key, entry: &Entry<'_>) -> VisitedEntry {
        VisitedEntry {
            place,
            key,
            record: entry.record(),
            move_bytes: 1 + 2 * entry.moves().len(),
        }
    }

    /// The changes that `edit` makes to the position, on the board where White is to
    /// move, each with its offset in the file.
    pub fn changes(&self, edit: &MarkEdit) -> impl Iterator<Item = (MarkChange, u64)> {
        let new = edit.record(&self.record, Color::White);
        let entry = *self;
        let changes = self.record.changes(&new, self.key);
        changes.filter_map(move |change| Some((change, entry.mark(change.field)?.0)))
    }

    /// A mark of the position: its offset in the file, and its value.
    #[must_use]
    pub fn mark(&self, field: Field) -> Option<(u64, u32)> {
        let start = self.place.file_offset()
            + (self.key.as_bytes().len() + self.move_bytes + STATISTICS_BYTES - 3) as u64;
        let mut marks = (start..).zip(self.record.marks());
        let (offset, (_, byte)) = marks.find(|(_, (known, _))| *known == field)?;
        Some((offset, byte.into()))
    }
}

impl VisitedMove {
    /// The change that `edit` makes to the annotation of a move of the position `key`, if
    /// any, with its offset in the file.
    #[must_use]
    pub fn change(&self, key: Key, edit: &MarkEdit) -> Option<(MarkChange, u64)> {
        let new = edit.annotation_byte(self.annotation.0);
        let change = MarkChange {
            place: MarkPlace::Move {
                key,
                byte: self.byte,
                at: u8::MAX,
            },
            field: Field::Annotation,
            old: Some(self.annotation.0.into()),
            new: Some(new.into()),
        };
        (change.old != change.new).then_some((change, self.offset))
    }
}

/// A set of entries of a book.
///
/// An entry takes at least 35 bytes, so the offset divided by 35 distinguishes the
/// entries of a page, and 128 bits suffice for a page.
#[derive(Clone, Debug, Default)]
pub struct EntrySet {
    pages: Vec<u128>,
}

impl EntrySet {
    /// Tells apart the entries of a page by their offsets.
    pub(super) fn piece(offset: u16) -> usize {
        usize::from(offset).saturating_sub(PAGE_HEADER_BYTES) / (2 + STATISTICS_BYTES)
    }

    fn bit(place: EntryAddress) -> u128 {
        1 << (EntrySet::piece(place.offset) % 128)
    }

    /// Adds an entry; false if it was there already.
    pub fn insert(&mut self, place: EntryAddress) -> bool {
        let page = place.page as usize;
        if self.pages.len() <= page {
            self.pages.resize(page + 1, 0);
        }
        let Some(word) = self.pages.get_mut(page) else {
            return false;
        };
        let fresh = *word & EntrySet::bit(place) == 0;
        *word |= EntrySet::bit(place);
        fresh
    }

    /// The number of entries in the set that precede this one in its page.
    #[must_use]
    pub fn before_in_page(&self, place: EntryAddress) -> Option<usize> {
        let (word, bit) = (self.pages.get(place.page as usize)?, EntrySet::bit(place));
        (word & bit != 0).then(|| (word & (bit - 1)).count_ones() as usize)
    }

    pub(crate) fn unite(&mut self, other: &EntrySet) {
        let pages = self.pages.len().max(other.pages.len());
        self.pages.resize(pages, 0);
        for (word, other) in self.pages.iter_mut().zip(&other.pages) {
            *word |= other;
        }
    }

    /// The number of entries in the set.
    #[must_use]
    pub fn len(&self) -> u64 {
        let words = self.pages.iter();
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.iter().all(|word| *word == 0)
    }

    /// Whether an entry is in the set.
    #[must_use]
    pub fn contains(&self, place: EntryAddress) -> bool {
        let word = self.pages.get(place.page as usize);
        word.is_some_and(|word| word & EntrySet::bit(place) != 0)
    }
}

impl Extend<EntryAddress> for EntrySet {
    fn extend<T: IntoIterator<Item = EntryAddress>>(&mut self, places: T) {
        for place in places {
            self.insert(place);
        }
    }
}

/// A set of numbers: one bit for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number; false if it was there already.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let (at, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let Some(word) = self.0.get_mut(at) else {
            return false;
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(super) fn has(&self, number: impl Into<u64>) -> bool {
        let number = number.into();
        let word = self.0.get((number / 64) as usize);
        word.is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn unite(&mut self, other: &Bits) {
        let words = self.0.len().max(other.0.len());
        self.0.resize(words, 0);
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }
}

impl FromIterator<u64> for Bits {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> Bits {
        let mut set = Bits::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

/// An entry and its moves as stored.
pub(super) struct Raw {
    pub(super) entry: VisitedEntry,
    pub(super) moves: Vec<(u8, Annotation)>,
}

impl Raw {
    pub(super) fn new(place: EntryAddress, entry: &Entry<'_>) -> Option<Raw> {
        Some(Raw {
            entry: VisitedEntry::from_entry(place, entry.key()?, entry),
            moves: entry.moves().collect(),
        })
    }

    /// Offset in the file of the annotation of the first move.
    fn first_annotation(&self) -> u64 {
        self.entry.place.file_offset() + self.entry.key.as_bytes().len() as u64 + 2
    }
}

/// The result of a step; an error ends the pass.
type Stopped = Result<(), Error>;

/// Entries through which lines go, though they are not shown.
#[derive(Clone, Copy)]
pub(super) struct Passed<'p> {
    pub(super) entries: &'p Bits,
    /// From those so many plies from the start position no line goes on.
    pub(super) plies: Option<u32>,
}

/// Shows a position on lines from the start position, and enters those after the moves along
/// which they go on.
fn show(
    entry: &VisitedEntry,
    moves: &[VisitedMove],
    ply: u32,
    mut found: impl FnMut(&Visit<'_>, &mut u128) -> Stopped,
    mut enter: impl FnMut(EntryAddress),
) -> Stopped {
    let mut follow = u128::MAX;
    let visit = Visit {
        entry,
        moves,
        ply: Some(ply),
    };
    found(&visit, &mut follow)?;
    let followed = moves
        .iter()
        .enumerate()
        .filter(|(n, _)| follow >> n & 1 != 0);
    let after = followed.filter_map(|(_, mv)| mv.after.as_ref());
    after.for_each(|after| enter(after.place));
    Ok(())
}

/// What a pass shows, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Every entry without moves, as fast as the file is read.
    Entries,
    /// Every entry with its moves and their annotations.
    Signs,
    /// Every entry with the entries after its moves.
    Moves,
    /// As `Moves`, but from the start position, level by level; a position that can be
    /// reached with either side to move comes twice.
    FromStart {
        /// Only positions fewer plies from there.
        plies: Option<u32>,
    },
}

impl CtgBook {
    /// Shows every entry, in an order that depends on the pass. If moves are shown,
    /// entries whose key is not a legal position are left out; damaged pages are read as far
    /// as possible, and `lost` is called with each.
    ///
    /// # Errors
    ///
    /// The book cannot be read, the work is cancelled, or `found` fails.
    pub fn visit(
        &self,
        pass: Pass,
        watch: &mut Watch<'_>,
        lost: &mut dyn FnMut(Error),
        found: impl FnMut(&Visit<'_>) -> Stopped,
    ) -> Stopped {
        self.visit_some(pass, |_| true, watch, lost, found)
    }

    /// As [`CtgBook::visit`], only for entries that are `wanted`; with
    /// [`Pass::FromStart`] for all. Without its far positions the moves there are not looked
    /// at, but damaged pages are found anywhere.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::visit`].
    pub(crate) fn visit_some(
        &self,
        pass: Pass,
        wanted: impl Fn(&VisitedEntry) -> bool + Sync,
        watch: &mut Watch<'_>,
        lost: &mut dyn FnMut(Error),
        mut found: impl FnMut(&Visit<'_>) -> Stopped,
    ) -> Stopped {
        if let Pass::FromStart { plies } = pass {
            match plies {
                Some(plies) => self.walk_near(plies, watch, &mut found)?,
                None => {
                    // Damage there is an error: no line would be found.
                    self.start(&mut self.reading()?)?;
                    let (links, _) = self.graph(self.for_lines(), &mut watch.part(0, 300))?;
                    let watch = &mut watch.part(300, 1000);
                    self.walk_lines(&links, None, watch, |visit, _| found(visit))?;
                }
            }
            // Damage also ends lines, and the walk never sees such a page: so all pages
            // are checked, each once.
            return self.each_block(
                "looking",
                watch,
                |all: &mut Vec<Error>, entry| {
                    all.extend(entry.err());
                    Ok(())
                },
                Ok,
                |all| {
                    all.into_iter().for_each(&mut *lost);
                    Ok(())
                },
            );
        }
        let moves_of = |raw: &Raw, reading: &mut Reading<'_>| -> Result<_, Error> {
            if pass == Pass::Entries {
                return Ok(Some(Vec::new()));
            }
            let Some((_, position)) = position_of(&raw.entry.key) else {
                return Ok(None);
            };
            Ok(Some(match pass {
                Pass::Signs => bare_moves(&position, raw),
                _ => with_entries_after(&position, raw, reading)?,
            }))
        };
        self.each_block(
            "looking",
            watch,
            |all: &mut Vec<Result<Raw, Error>>, entry| {
                all.extend(match entry {
                    Ok((place, entry)) => entry.key().and_then(|key| {
                        let visited = VisitedEntry::from_entry(place, key, &entry);
                        let moves = || match pass {
                            Pass::Entries => Vec::new(),
                            _ => entry.moves().collect(),
                        };
                        wanted(&visited).then(|| {
                            Ok(Raw {
                                entry: visited,
                                moves: moves(),
                            })
                        })
                    }),
                    Err(damage) => Some(Err(damage)),
                });
                Ok(())
            },
            |all| {
                let mut reading = self.reading()?;
                let shown = all.into_iter().map(|raw| match raw {
                    Ok(raw) => Ok(Ok(
                        moves_of(&raw, &mut reading)?.map(|moves| (raw.entry, moves))
                    )),
                    Err(damage) => Ok(Err(damage)),
                });
                shown.collect::<Result<Vec<_>, Error>>()
            },
            |shown| {
                for shown in shown {
                    match shown {
                        Ok(Some((entry, moves))) => found(&Visit {
                            entry: &entry,
                            moves: &moves,
                            ply: None,
                        })?,
                        Ok(None) => {}
                        Err(damage) => lost(damage),
                    }
                }
                Ok(())
            },
        )
    }

    /// What [`CtgBook::walk_lines`] needs of a graph.
    pub(super) fn for_lines(&self) -> Contents {
        Contents {
            records: true,
            transpositions: self.only().is_some(),
            ..Contents::default()
        }
    }

    /// As [`CtgBook::visit`] with [`Pass::FromStart`], where `found` chooses the moves
    /// along which the walk continues: bit n of its second argument is move n of the visit,
    /// and all are set at first. In a book for one side it continues by all moves of the
    /// other that lead to positions of the book. Damaged pages are not reported. Entries that
    /// are `passed` are not shown. The graph has what [`CtgBook::for_lines`] asks for. Returns
    /// the visited entries, and the passed ones.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::visit`].
    pub(super) fn walk_lines(
        &self,
        links: &BookGraph,
        passed: Option<Passed<'_>>,
        watch: &mut Watch<'_>,
        mut found: impl FnMut(&Visit<'_>, &mut u128) -> Stopped,
    ) -> Result<Bits, Error> {
        let mut reading = self.positional_reading()?;
        let mut level: Vec<EntryNumber> = links.start().into_iter().collect();
        // With White and with Black to move.
        let mut seen = [Bits::default(), Bits::default()];
        let [white, _] = &mut seen;
        level.retain(|start| white.insert((*start).into()));
        let (mut ply, mut positions) = (0, 0);
        let expected = Some(self.header().positions.into());
        while !level.is_empty() {
            // In the order of the file: `prune` of 2.8 million positions takes a tenth less.
            level.sort_unstable();
            let is_other = self.is_for_opponent_of(Color::from_white(ply % 2 == 0));
            let [white, black] = &mut seen;
            let seen = if ply % 2 == 0 { black } else { white };
            let mut next = Vec::new();
            let mut enter = |to: EntryNumber| {
                if seen.insert(to.into()) {
                    next.push(to);
                }
            };
            let all_after = |entry: &EntryNumber| {
                let leaps = is_other.then(|| links.transpositions(*entry));
                let leaps = leaps.into_iter().flatten().map(|(_, to)| to.entry);
                links.after(*entry).chain(leaps)
            };
            let is_passed = |entry: &EntryNumber| passed.is_some_and(|it| it.entries.has(*entry));
            let (through, shown) = level.into_iter().partition::<Vec<_>, _>(is_passed);
            if passed.is_some_and(|passed| passed.plies.is_none_or(|plies| ply < plies)) {
                for entries in through.chunks(ASKED_AT_ONCE) {
                    links.ask_for_moves(entries.iter().copied());
                    entries.iter().flat_map(all_after).for_each(&mut enter);
                }
            }
            for (n, &entry) in shown.iter().enumerate() {
                if n.is_multiple_of(ASKED_AT_ONCE) {
                    let some = shown.iter().skip(n).take(ASKED_AT_ONCE).copied();
                    links.ask_for_moves(some.clone());
                    links.ask_for_entries(some.flat_map(|entry| links.after(entry)));
                }
                let Some((position, raw)) = position_at(links.place(entry), &mut reading)? else {
                    continue;
                };
                watch.position("looking", positions, expected)?;
                positions += 1;
                let moves = with_linked_entries(&position, &raw, entry, links);
                if is_other {
                    all_after(&entry).for_each(&mut enter);
                }
                let enter = |to| links.number(to).into_iter().for_each(&mut enter);
                show(&raw.entry, &moves, ply, &mut found, enter)?;
            }
            level = next;
            ply += 1;
        }
        let [mut all, black] = seen;
        all.unite(&black);
        Ok(all)
    }

    /// Shows the positions that are fewer than `plies` plies from the start position, as
    /// [`CtgBook::walk_lines`]. Their entries are looked up, and the rest of the book is not
    /// read.
    fn walk_near(
        &self,
        plies: u32,
        watch: &mut Watch<'_>,
        mut found: impl FnMut(&Visit<'_>) -> Stopped,
    ) -> Stopped {
        let mut reading = self.reading()?;
        let mut level = EntrySet::default();
        level.extend(self.start(&mut reading)?);
        // With White and with Black to move.
        let mut seen = [level.clone(), EntrySet::default()];
        let mut positions = 0;
        let expected = Some(self.header().positions.into());
        for ply in 0..plies {
            let mut next = EntrySet::default();
            let is_other = self.is_for_opponent_of(Color::from_white(ply % 2 == 0));
            let [white, black] = &mut seen;
            let seen = if ply % 2 == 0 { black } else { white };
            self.each_of(&level, &mut reading, |position, raw, reading| {
                watch.position("looking", positions, expected)?;
                positions += 1;
                let moves = with_entries_after(&position, &raw, reading)?;
                let mut enter = |to| {
                    if seen.insert(to) {
                        next.insert(to);
                    }
                };
                if is_other {
                    let after = entries_after(&position, reading)?;
                    after.into_iter().for_each(&mut enter);
                }
                show(&raw.entry, &moves, ply, |visit, _| found(visit), enter)
            })?;
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(())
    }

    /// The entry of the start position.
    pub(super) fn start(&self, reading: &mut Reading<'_>) -> Result<Option<EntryAddress>, Error> {
        match CanonicalBoard::from_position(&Chess::default()) {
            Some(board) => reading.find(&board.key(), |_| ()),
            None => Ok(None),
        }
    }

    /// Shows the entries of a set with the entries after their moves, in the order of the
    /// file; reads only their pages. Damage is left out.
    pub(super) fn visit_set(
        &self,
        set: &EntrySet,
        mut found: impl FnMut(&Visit<'_>) -> Stopped,
    ) -> Stopped {
        let mut reading = self.reading()?;
        self.each_of(set, &mut reading, |position, raw, reading| {
            found(&Visit {
                entry: &raw.entry,
                moves: &with_entries_after(&position, &raw, reading)?,
                ply: None,
            })
        })
    }

    /// Reads the entries of a set whose keys are positions.
    fn each_of<'b>(
        &'b self,
        set: &EntrySet,
        reading: &mut Reading<'b>,
        mut found: impl FnMut(Chess, Raw, &mut Reading<'b>) -> Stopped,
    ) -> Stopped {
        let mut walker = self.pages.positional_reader();
        let pages = (0..).zip(&set.pages).filter(|(_, word)| **word != 0);
        for (page, _) in pages {
            walker.each_entry(page, |entry| {
                let sound = entry.ok().filter(|(place, _)| set.contains(*place));
                let raw = sound.and_then(|(place, entry)| Raw::new(place, &entry));
                match raw.and_then(|raw| Some((position_of(&raw.entry.key)?.1, raw))) {
                    Some((position, raw)) => found(position, raw, reading),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}

impl CtgBook {
    /// The key of a position in this book: the usual one, or the one with the other en
    /// passant form. `None` if it is not in the book.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn key_of(&self, position: &shakmaty::Chess) -> Result<Option<Key>, Error> {
        let Some(board) = CanonicalBoard::from_position(position) else {
            return Ok(None);
        };
        Ok(self.reading()?.find_position(&board)?.map(|(_, key)| key))
    }

    /// The entry of a key, as passes over the book show it.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn entry_of(&self, key: &Key) -> Result<Option<VisitedEntry>, Error> {
        let mut reading = self.reading()?;
        match reading.find(key, |_| ())? {
            None => Ok(None),
            Some(place) => {
                let entry = reading.entry(place)?;
                Ok(Some(VisitedEntry::from_entry(place, *key, &entry)))
            }
        }
    }
}

/// The position of an entry and its legal stored moves.
pub(super) fn stored_moves(
    place: EntryAddress,
    reading: &mut Reading<'_>,
) -> Result<(Chess, Vec<VisitedMove>), Error> {
    let Some((position, raw)) = position_at(Some(place), reading)? else {
        return Ok((Chess::default(), Vec::new()));
    };
    let moves = with_entries_after(&position, &raw, reading)?;
    Ok((position, moves))
}

/// An entry and its position, if its key is one.
fn position_at(
    place: Option<EntryAddress>,
    reading: &mut Reading<'_>,
) -> Result<Option<(Chess, Raw)>, Error> {
    let Some(place) = place else {
        return Ok(None);
    };
    let raw = Raw::new(place, &reading.entry(place)?);
    Ok(raw.and_then(|raw| Some((position_of(&raw.entry.key)?.1, raw))))
}

/// The entries after all legal moves.
fn entries_after(position: &Chess, reading: &mut Reading<'_>) -> Result<Vec<EntryAddress>, Error> {
    let mut places = Vec::new();
    for mv in position.legal_moves() {
        let after = notation::after(position, mv);
        let Some(board) = CanonicalBoard::from_position(&after) else {
            continue;
        };
        match reading.find_position(&board) {
            Err(error) if error.is_damage() => {}
            found => places.extend(found?.map(|(place, _)| place)),
        }
    }
    Ok(places)
}

fn bare_moves(position: &Chess, raw: &Raw) -> Vec<VisitedMove> {
    let stored = &raw.moves;
    let Some(board) = CanonicalBoard::from_position(position) else {
        return Vec::new();
    };
    let legal = moves::likely_of_all(stored.iter().copied(), &board, position);
    let offsets = (raw.first_annotation()..).step_by(2);
    let known = stored.iter().zip(offsets);
    known
        .filter_map(|(&(byte, annotation), offset)| {
            let n = moves::find(byte, &board, &legal).ok()?;
            Some(VisitedMove {
                mv: *legal.get(n)?,
                annotation,
                after: None,
                byte,
                offset,
            })
        })
        .collect()
}

/// As [`with_entries_after`], by a graph with statistics.
fn with_linked_entries(
    position: &Chess,
    raw: &Raw,
    entry: EntryNumber,
    links: &BookGraph,
) -> Vec<VisitedMove> {
    let mut moves = bare_moves(position, raw);
    let mut targets = links
        .moves(entry)
        .zip((raw.first_annotation()..).step_by(2));
    for known in &mut moves {
        let target = targets.find(|(_, offset)| *offset == known.offset);
        let Some(((_, Target::Entry(to)), _)) = target else {
            continue;
        };
        let board = CanonicalBoard::from_position(&notation::after(position, known.mv));
        known.after = board.and_then(|board| {
            // If captures en passant are possible but illegal, the book has either form.
            let key = match (board.pinned_en_passant, to.pinned_en_passant) {
                (Some(_), None) => board.other_key()?,
                (Some(_), Some(_)) | (None, _) => board.key(),
            };
            Some(VisitedEntry {
                place: links.place(to.entry)?,
                key,
                record: links.record(to.entry),
                move_bytes: 1 + 2 * links.stored_range(to.entry).len(),
            })
        });
    }
    moves
}

fn with_entries_after(
    position: &Chess,
    entry: &Raw,
    reading: &mut Reading<'_>,
) -> Result<Vec<VisitedMove>, Error> {
    let mut moves = bare_moves(position, entry);
    for known in &mut moves {
        let after = notation::after(position, known.mv);
        let Some(board) = CanonicalBoard::from_position(&after) else {
            continue;
        };
        let found = match reading.find_position(&board) {
            Err(error) if error.is_damage() => None,
            found => found?,
        };
        if let Some((place, key)) = found {
            let entry = reading.entry(place)?;
            known.after = Some(VisitedEntry::from_entry(place, key, &entry));
        }
    }
    Ok(moves)
}
