//! All positions of a book, one after the other.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use shakmaty::{CastlingMode, Chess, FromSetup as _, Move, Position as _, PositionError};

use super::{Order, Reached, Walk};
use crate::{
    Annotation, Book, Error, Lookup, PositionRecord, Preference, Probe, Wanted,
    ctg::{BookEntries, BookEntry, CanonicalBoard, Key, find_move_byte, likely_of_all},
    polyglot,
};
use tabia_notation as notation;

/// A position of a book.
///
/// A ChessBase book stores the canonical form: White is to move, and the entry is also
/// that of the colour-reversed position, and without castling rights of the mirrored
/// ones. Other books store the position of the game.
#[derive(Clone, Debug, PartialEq)]
pub struct BookPosition {
    /// The position.
    pub position: Chess,
    /// What the book stores about it.
    pub record: PositionRecord,
    /// Its legal stored moves in stored order. [`Probe::probe`] returns what is stored
    /// about the positions after them.
    pub moves: Vec<PositionMove>,
}

/// A stored move of a [`BookPosition`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionMove {
    /// The move, legal in the position.
    pub mv: Move,
    /// Its annotation.
    pub annotation: Annotation,
    /// The stored weight or priority.
    pub preference: Preference,
}

impl Book {
    /// All positions of the book.
    ///
    /// A ChessBase book is read in the order of the file. A damaged page is returned as
    /// an error and the walk goes on; entries without a legal position are left out.
    /// Other books are walked depth first from the start position, which takes some 20
    /// bytes a position. A Polyglot book that its own moves do not reach completely is
    /// walked again, with moves that it does not store; positions that at most three of
    /// them in a row do not reach are left out ([`Positions::unreached`]).
    #[must_use]
    pub fn positions(&self) -> Positions<'_> {
        Positions(match self {
            Book::Ctg(book) => Source::Entries(book.entries()),
            Book::Bin(_) | Book::Abk(_) => {
                Source::Walk(Box::new(BookWalk::new(self, Order::Depth)))
            }
        })
    }
}

/// See [`Book::positions`].
pub struct Positions<'b>(Source<'b>);

enum Source<'b> {
    Entries(BookEntries<'b>),
    Walk(Box<BookWalk<'b>>),
}

impl Positions<'_> {
    /// The number of positions of the book that were left out because no line was found
    /// to them; known at the end.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        match &self.0 {
            Source::Entries(_) => 0,
            Source::Walk(walk) => walk.unreached(),
        }
    }
}

impl Iterator for Positions<'_> {
    type Item = Result<BookPosition, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Entries(entries) => entries.find_map(|entry| match entry {
                Ok(entry) => BookPosition::of(&entry).map(Ok),
                Err(error) => Some(Err(error)),
            }),
            Source::Walk(walk) => walk.next_position().transpose(),
        }
    }
}

impl BookPosition {
    /// The position of an entry; `None` if it is illegal.
    #[must_use]
    pub fn of(entry: &BookEntry) -> Option<BookPosition> {
        let (board, position) = position_of(&entry.key)?;
        let legal = likely_of_all(entry.moves.iter().copied(), &board, &position);
        let moves = entry.moves.iter().filter_map(|&(byte, annotation)| {
            let mv = *legal.get(find_move_byte(byte, &board, &legal).ok()?)?;
            Some(PositionMove {
                mv,
                annotation,
                preference: Preference::Statistics,
            })
        });
        Some(BookPosition {
            moves: moves.collect(),
            record: entry.record,
            position,
        })
    }
}

/// The board of a key, White to move; `None` if the rules cannot be applied.
pub(crate) fn position_of(key: &Key) -> Option<(CanonicalBoard, Chess)> {
    let board = CanonicalBoard::from_key(key).ok()?;
    let position = Chess::from_setup(board.to_setup(), CastlingMode::Standard)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material);
    Some((board, position.ok()?))
}

/// A walk from the start position through all positions of a book.
///
/// It goes along the stored moves ([`Wanted::Lines`]). A Polyglot book has keys and no
/// boards, and if it is for one side only, no moves of the other side. So if the stored
/// moves do not reach all of its keys, more walks follow, which also go on by moves that
/// the book does not store: first by each single one that leads to a missing position,
/// then by two and by three in a row, as far as [`MOST_TRIED`] allows. Only positions that
/// were not reached before are returned again.
pub(crate) struct BookWalk<'b> {
    book: &'b Book,
    order: Order,
    pub(crate) walk: Walk,
    seen: HashSet<u64, FxBuildHasher>,
    /// Length of the longest line of moves, not stored, by which the walk goes on.
    beyond: usize,
    /// Keys that were not reached; `None` on the first walk.
    missing: Option<HashSet<u64, FxBuildHasher>>,
    tried: u64,
    /// Keys in the book that were returned.
    reached: u64,
    /// The moves, not stored, that lead on from a position, by its key.
    bridges: Option<Bridges>,
    /// Positions before the last move of lines of several moves that are not stored, since
    /// the last call of [`BookWalk::next`].
    pub(crate) between: Vec<Chess>,
    /// What the book stores about the last position.
    pub(crate) found: Lookup,
}

/// Moves that a book does not store but that lead to positions of the book which its
/// stored moves do not reach, by the key of the position before them.
pub(crate) type Bridges = HashMap<u64, Vec<Move>, FxBuildHasher>;

/// Most moves, not stored, in a row by which a walk goes on.
const MOST_BEYOND: usize = 3;

/// Positions that may be tried after two and three moves that are not stored: about a
/// second.
const MOST_TRIED: u64 = 5_000_000;

impl<'b> BookWalk<'b> {
    pub(crate) fn new(book: &'b Book, order: Order) -> BookWalk<'b> {
        let start = Chess::default();
        BookWalk {
            book,
            order,
            seen: HashSet::from_iter([polyglot::key(&start)]),
            walk: Walk::new(&start, order),
            beyond: 0,
            missing: None,
            tried: 0,
            reached: 0,
            bridges: None,
            between: Vec::new(),
            found: Lookup::default(),
        }
    }

    /// A walk after one along the stored moves, which has come to the keys `seen`.
    #[cfg(feature = "json")] // For conversions.
    pub(crate) fn beyond(book: &'b Book, seen: HashSet<u64, FxBuildHasher>) -> BookWalk<'b> {
        let mut walk = BookWalk::new(book, Order::Depth);
        walk.seen = seen;
        walk.walk.end();
        walk
    }

    /// The bridges of a book, empty if its moves reach all of its positions; the number of
    /// positions that are not reached by these either, and that of the others.
    pub(crate) fn bridges(book: &Book) -> Result<(Bridges, u64, u64), Error> {
        let mut walk = BookWalk::new(book, Order::Breadth);
        walk.bridges = Some(Bridges::default());
        while walk.next()?.is_some() {}
        let (unreached, reached) = (walk.unreached(), walk.reached);
        Ok((walk.bridges.unwrap_or_default(), unreached, reached))
    }

    /// The number of positions visited.
    pub(crate) fn met(&self) -> u64 {
        self.reached
    }

    /// The number of positions that were not reached; known at the end of the walk.
    pub(crate) fn unreached(&self) -> u64 {
        self.missing.as_ref().map_or(0, |keys| keys.len() as u64)
    }

    /// The next position that is in the book.
    pub(crate) fn next(&mut self) -> Result<Option<Reached>, Error> {
        self.between.clear();
        loop {
            while let Some(here) = self.walk.next() {
                if self.look(&here)? {
                    self.reached += 1;
                    return Ok(Some(here));
                }
            }
            if !self.start_again()? {
                return Ok(None);
            }
        }
    }

    /// Goes on from a position. Whether it is in the book and comes for the first time.
    fn look(&mut self, here: &Reached) -> Result<bool, Error> {
        let found = &mut self.found;
        let wanted = match self.book {
            // These moves are tried later, if there is need.
            Book::Bin(_) | Book::Abk(_) => Wanted::Stored,
            Book::Ctg(_) => Wanted::Lines,
        };
        self.book.probe(&here.position, wanted, found)?;
        if found.here.is_some() {
            let moves = found.moves.iter().map(|known| known.mv);
            let new = |next: &Chess| self.seen.insert(polyglot::key(next));
            self.walk.enter_new(here, moves, new);
        }
        let Some(missing) = &mut self.missing else {
            return Ok(found.here.is_some());
        };
        let key = polyglot::key(&here.position);
        let is_new = missing.remove(&key);
        if !missing.is_empty() {
            let mut trial = Trial {
                missing,
                seen: &mut self.seen,
                tried: &mut self.tried,
                line: Vec::new(),
                found: Vec::new(),
            };
            trial.try_all(&here.position, key, self.beyond);
            for (line, position) in trial.found {
                let mut before = here.position.clone();
                for (n, &mv) in line.iter().enumerate() {
                    if let Some(bridges) = &mut self.bridges {
                        let moves = bridges.entry(polyglot::key(&before)).or_default();
                        if !moves.contains(&mv) {
                            moves.push(mv);
                        }
                    }
                    if n > 0 {
                        self.between.push(before.clone());
                    }
                    before.play_unchecked(mv);
                }
                self.walk.enter_line(here, &line, position, ());
            }
        }
        Ok(is_new)
    }

    /// Starts the next walk, by longer lines of moves that are not stored; false if there
    /// is no need.
    fn start_again(&mut self) -> Result<bool, Error> {
        let Book::Bin(book) = self.book else {
            return Ok(false);
        };
        if self.missing.is_none() {
            let mut missing = HashSet::default();
            book.for_each(|key, _| {
                if !self.seen.contains(&key) {
                    missing.insert(key);
                }
            })?;
            self.missing = Some(missing);
        }
        let is_done = self.missing.as_ref().is_none_or(HashSet::is_empty);
        if is_done || self.beyond == MOST_BEYOND || self.tried >= MOST_TRIED {
            return Ok(false);
        }
        self.beyond += 1;
        let order = match self.beyond {
            1 => self.order,
            // The number of trials is limited: those near the start are the most useful.
            _ => Order::Breadth,
        };
        let start = Chess::default();
        self.seen.clear();
        self.seen.insert(polyglot::key(&start));
        self.walk = Walk::new(&start, order);
        Ok(true)
    }

    fn next_position(&mut self) -> Result<Option<BookPosition>, Error> {
        let next = self.next().inspect_err(|_| self.walk.end())?;
        Ok(next.map(|here| {
            let moves = self.found.moves.iter().map(|known| PositionMove {
                mv: known.mv,
                annotation: known.annotation,
                preference: known.preference,
            });
            BookPosition {
                moves: moves.collect(),
                record: self.found.here.unwrap_or_default(),
                position: here.position,
            }
        }))
    }
}

/// A search for missing positions by moves that a book does not store.
struct Trial<'w> {
    missing: &'w HashSet<u64, FxBuildHasher>,
    seen: &'w mut HashSet<u64, FxBuildHasher>,
    tried: &'w mut u64,
    line: Vec<Move>,
    /// Lines to missing positions.
    found: Vec<(Vec<Move>, Chess)>,
}

impl Trial<'_> {
    /// Tries all lines of at most `plies` moves.
    fn try_all(&mut self, position: &Chess, key: u64, plies: usize) {
        let legal = position.legal_moves();
        *self.tried += match self.line.len() {
            // The number of these grows with the book only.
            0 => 0,
            _ => legal.len() as u64,
        };
        for mv in legal {
            let after = notation::after(position, mv);
            let key = polyglot::key_after(key, position, mv, &after);
            self.line.push(mv);
            if self.missing.contains(&key) {
                if self.seen.insert(key) {
                    self.found.push((self.line.clone(), after));
                }
            } else if plies > 1 && *self.tried < MOST_TRIED && !self.seen.contains(&key) {
                self.try_all(&after, key, plies - 1);
            }
            self.line.pop();
        }
    }
}
