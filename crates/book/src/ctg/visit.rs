//! Passes over a book, which show everything that can be marked.
//!
//! Memory: one page, and sixteen bytes for every page of the book if the pass must
//! remember positions.

use shakmaty::{Chess, Color, Move, Position as _};

use crate::{
    Annotation, Field, MarkChange, MarkEdit, MarkPlace, PositionRecord,
    ctg::{
        CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Key, PAGE_HEADER_BYTES,
        STATISTICS_BYTES, moves, reader::Reading,
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
    fn bit(place: EntryAddress) -> u128 {
        let shortest = 2 + STATISTICS_BYTES;
        let piece = (usize::from(place.offset).saturating_sub(PAGE_HEADER_BYTES)) / shortest;
        1 << (piece % 128)
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

/// An entry and its moves as stored.
type Raw = (VisitedEntry, Vec<(u8, Annotation)>);

fn raw(place: EntryAddress, entry: &Entry<'_>) -> Option<Raw> {
    let visited = VisitedEntry::from_entry(place, entry.key()?, entry);
    Some((visited, entry.moves().collect()))
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
    FromStart,
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
    /// [`Pass::FromStart`] for all.
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
        if pass == Pass::FromStart {
            self.walk_lines(watch, |visit, _| found(visit))?;
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
            let Some((_, position)) = position_of(&raw.0.key) else {
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
                        wanted(&visited).then(|| Ok((visited, moves())))
                    }),
                    Err(damage) => Some(Err(damage)),
                });
                Ok(())
            },
            |all| {
                let mut reading = self.reading()?;
                let shown = all.into_iter().map(|raw| match raw {
                    Ok(raw) => Ok(Ok(moves_of(&raw, &mut reading)?.map(|moves| (raw.0, moves)))),
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
    /// other that lead to positions of the book. Damaged pages are not reported. Returns
    /// the visited entries.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::visit`].
    pub(crate) fn walk_lines(
        &self,
        watch: &mut Watch<'_>,
        mut found: impl FnMut(&Visit<'_>, &mut u128) -> Stopped,
    ) -> Result<EntrySet, Error> {
        let start = CanonicalBoard::from_position(&Chess::default()).map(|board| board.key());
        let mut reading = self.reading()?;
        let mut level = EntrySet::default();
        if let Some(start) = start
            && let Some(place) = reading.find(&start, |_| ())?
        {
            level.insert(place);
        }
        // With White and with Black to move.
        let mut seen = [level.clone(), EntrySet::default()];
        let mut ply = 0;
        let mut positions = 0;
        let expected = Some(self.header().positions.into());
        while !level.is_empty() {
            let mut next = EntrySet::default();
            let mut walker = self.pages.positional_reader();
            let pages = (0..).zip(&level.pages).filter(|(_, word)| **word != 0);
            for (page, _) in pages {
                walker.each_entry(page, |entry| {
                    let sound = entry.ok().filter(|(place, _)| level.contains(*place));
                    let Some(entry) = sound.and_then(|(place, entry)| raw(place, &entry)) else {
                        return Ok(());
                    };
                    watch.position("looking", positions, expected)?;
                    positions += 1;
                    let Some((_, position)) = position_of(&entry.0.key) else {
                        return Ok(());
                    };
                    let moves = with_entries_after(&position, &entry, &mut reading)?;
                    let visit = Visit {
                        entry: &entry.0,
                        moves: &moves,
                        ply: Some(ply),
                    };
                    let mut follow = u128::MAX;
                    found(&visit, &mut follow)?;
                    let [white, black] = &mut seen;
                    let seen = if ply % 2 == 0 { black } else { white };
                    if self.is_for_opponent_of(Color::from_white(ply % 2 == 0)) {
                        for after in entries_after(&position, &mut reading)? {
                            if seen.insert(after) {
                                next.insert(after);
                            }
                        }
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
            }
            level = next;
            ply += 1;
        }
        let [mut all, black] = seen;
        all.unite(&black);
        Ok(all)
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
    let raw = raw(place, &reading.entry(place)?);
    let known = raw.and_then(|raw| Some((position_of(&raw.0.key)?.1, raw)));
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

fn bare_moves(position: &Chess, (entry, stored): &Raw) -> Vec<VisitedMove> {
    let Some(board) = CanonicalBoard::from_position(position) else {
        return Vec::new();
    };
    let legal = moves::likely_of_all(stored.iter().copied(), &board, position);
    let first = entry.place.file_offset() + entry.key.as_bytes().len() as u64 + 2;
    let offsets = (first..).step_by(2);
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
