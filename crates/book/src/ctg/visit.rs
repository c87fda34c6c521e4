//! Passes over a book, which show everything that can be marked.
//!
//! Memory: one page, and sixteen bytes for every page of the book if the pass must
//! remember positions.

use shakmaty::{Chess, Color, Move, Position as _};

use crate::{
    Annotation, Field, MarkChange, MarkEdit, MarkPlace, PositionRecord,
    ctg::{
        CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Key, PAGE_HEADER_BYTES,
        STATISTICS_BYTES, graph::BookGraph, moves, reader::Reading,
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

    fn place(page: u32, bit: u16) -> EntryAddress {
        EntryAddress {
            page,
            offset: PAGE_HEADER_BYTES as u16 + bit * (2 + STATISTICS_BYTES) as u16,
        }
    }

    /// Removes the entries that are in `other` too, and returns them.
    pub(super) fn take(&mut self, other: &EntrySet) -> EntrySet {
        let both = self.pages.iter().zip(&other.pages);
        let taken: Vec<u128> = both.map(|(word, other)| word & other).collect();
        for (word, taken) in self.pages.iter_mut().zip(&taken) {
            *word &= !taken;
        }
        EntrySet { pages: taken }
    }

    /// The entries that are not in `other`, with offsets that are good for sets only.
    pub(super) fn without(&self, other: &EntrySet) -> impl Iterator<Item = EntryAddress> {
        let others = other.pages.iter().copied().chain(std::iter::repeat(0));
        let words = (0..).zip(self.pages.iter().zip(others));
        words.flat_map(|(page, (word, other))| {
            let mut word = word & !other;
            let bits = std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as u16;
                (word != 0).then(|| {
                    word &= word - 1;
                    bit
                })
            });
            bits.map(move |bit| EntrySet::place(page, bit))
        })
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
            let is_near = |ply: Option<u32>| ply < plies || plies.is_none();
            self.walk_lines(None, None, watch, |visit, follow| {
                if !is_near(visit.ply.map(|ply| ply + 1)) {
                    *follow = 0;
                }
                match is_near(visit.ply) {
                    true => found(visit),
                    false => Ok(()),
                }
            })?;
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

    /// As [`CtgBook::visit`] with [`Pass::FromStart`], where `found` chooses the moves
    /// along which the walk continues: bit n of its second argument is move n of the visit,
    /// and all are set at first. In a book for one side it continues by all moves of the
    /// other that lead to positions of the book. Damaged pages are not reported. Without
    /// links the entries after moves are looked up. Entries of `passed` are not shown: lines
    /// go through them, up to so many plies. Returns the visited entries, and the passed ones.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::visit`].
    pub(super) fn walk_lines(
        &self,
        links: Option<&BookGraph>,
        passed: Option<(&EntrySet, Option<u32>)>,
        watch: &mut Watch<'_>,
        mut found: impl FnMut(&Visit<'_>, &mut u128) -> Stopped,
    ) -> Result<EntrySet, Error> {
        let mut reading = self.reading()?;
        let mut level = EntrySet::default();
        level.extend(self.start(&mut reading)?);
        // With White and with Black to move.
        let mut seen = [level.clone(), EntrySet::default()];
        let mut ply = 0;
        let mut positions = 0;
        let expected = Some(self.header().positions.into());
        while !level.is_empty() {
            let mut next = EntrySet::default();
            let is_other = self.is_for_opponent_of(Color::from_white(ply % 2 == 0));
            if let Some((passed, plies)) = passed {
                let through = level.take(passed);
                if plies.is_none_or(|plies| ply < plies) {
                    let [white, black] = &mut seen;
                    let seen = if ply % 2 == 0 { black } else { white };
                    let after = |place| {
                        links
                            .into_iter()
                            .flat_map(move |links| links.places_after(place))
                    };
                    let nothing = EntrySet::default();
                    let after = through.without(&nothing).flat_map(after);
                    next.extend(after.flatten().filter(|to| seen.insert(*to)));
                    if is_other {
                        self.each_of(&through, &mut reading, |position, _, reading| {
                            let after = entries_after(position, reading)?.into_iter();
                            next.extend(after.filter(|to| seen.insert(*to)));
                            Ok(())
                        })?;
                    }
                }
            }
            self.each_of(&level, &mut reading, |position, raw, reading| {
                watch.position("looking", positions, expected)?;
                positions += 1;
                let moves = match links {
                    Some(links) => with_linked_entries(position, raw, links, reading)?,
                    None => with_entries_after(position, raw, reading)?,
                };
                let visit = Visit {
                    entry: &raw.entry,
                    moves: &moves,
                    ply: Some(ply),
                };
                let mut follow = u128::MAX;
                found(&visit, &mut follow)?;
                let [white, black] = &mut seen;
                let seen = if ply % 2 == 0 { black } else { white };
                if is_other {
                    let after = entries_after(position, reading)?.into_iter();
                    next.extend(after.filter(|to| seen.insert(*to)));
                }
                for (n, entry) in moves.iter().enumerate() {
                    if follow >> n & 1 != 0
                        && let Some(after) = &entry.after
                        && seen.insert(after.place)
                    {
                        next.insert(after.place);
                    }
                }
                Ok(())
            })?;
            level = next;
            ply += 1;
        }
        let [mut all, black] = seen;
        all.unite(&black);
        Ok(all)
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
                moves: &with_entries_after(position, raw, reading)?,
                ply: None,
            })
        })
    }

    /// Reads the entries of a set whose keys are positions.
    fn each_of<'b>(
        &'b self,
        set: &EntrySet,
        reading: &mut Reading<'b>,
        mut found: impl FnMut(&Chess, &Raw, &mut Reading<'b>) -> Stopped,
    ) -> Stopped {
        let mut walker = self.pages.positional_reader();
        let pages = (0..).zip(&set.pages).filter(|(_, word)| **word != 0);
        for (page, _) in pages {
            walker.each_entry(page, |entry| {
                let sound = entry.ok().filter(|(place, _)| set.contains(*place));
                let raw = sound.and_then(|(place, entry)| Raw::new(place, &entry));
                match raw.and_then(|raw| Some((position_of(&raw.entry.key)?.1, raw))) {
                    Some((position, raw)) => found(&position, &raw, reading),
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
    let raw = Raw::new(place, &reading.entry(place)?);
    let known = raw.and_then(|raw| Some((position_of(&raw.entry.key)?.1, raw)));
    let Some((position, raw)) = known else {
        return Ok((Chess::default(), Vec::new()));
    };
    let moves = with_entries_after(&position, &raw, reading)?;
    Ok((position, moves))
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

/// As [`with_entries_after`], without look-ups.
fn with_linked_entries(
    position: &Chess,
    raw: &Raw,
    links: &BookGraph,
    reading: &mut Reading<'_>,
) -> Result<Vec<VisitedMove>, Error> {
    let mut moves = bare_moves(position, raw);
    let offsets = (raw.first_annotation()..).step_by(2);
    let mut after = links.places_after(raw.entry.place).zip(offsets);
    for known in &mut moves {
        let to = after.find(|(_, offset)| *offset == known.offset);
        if let Some(place) = to.and_then(|(to, _)| to) {
            let entry = reading.entry(place)?;
            let visited = |key| VisitedEntry::from_entry(place, key, &entry);
            known.after = entry.key().map(visited);
        }
    }
    Ok(moves)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ctg::OpenOptions;

    #[test]
    fn positions_far_from_the_start_are_not_looked_at() {
        let book = CtgBook::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let seen = |plies| {
            let mut seen = Vec::new();
            let pass = Pass::FromStart { plies };
            book.visit(pass, &mut Watch::default(), &mut |_| (), |visit| {
                seen.push((visit.ply, visit.entry.key));
                Ok(())
            })
            .unwrap();
            seen
        };
        let mut near = seen(None);
        near.retain(|(ply, _)| *ply < Some(5));
        assert_eq!(seen(Some(5)), near);
        let mut walked = 0;
        book.walk_lines(None, None, &mut Watch::default(), |visit, follow| {
            walked += 1;
            if visit.ply >= Some(4) {
                *follow = 0;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(walked, near.len());
    }
}
