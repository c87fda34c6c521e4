//! All positions of a book, one after the other.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::{CastlingMode, Chess, FromSetup as _, Move, PositionError};

use super::{
    Annotation, Book, Error, Lookup, PositionRecord, Preference, Probe, Wanted,
    ctg::{BookEntries, BookEntry, CanonicalBoard, Key, find_move_byte, likely_of_all},
    polyglot,
    walk::{Order, Reached, Walk},
};

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
    /// bytes a position; positions not reachable from there are left out.
    #[must_use]
    pub fn positions(&self) -> Positions<'_> {
        Positions(match self {
            Book::Ctg(book) => Source::Entries(book.entries()),
            Book::Bin(book) => Source::Walk(BookWalk::new(book, Order::Depth)),
            Book::Abk(book) => Source::Walk(BookWalk::new(book, Order::Depth)),
        })
    }
}

/// See [`Book::positions`].
pub struct Positions<'b>(Source<'b>);

enum Source<'b> {
    Entries(BookEntries<'b>),
    Walk(BookWalk<'b>),
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

/// A walk from the start position through a book that is probed position by position.
pub(crate) struct BookWalk<'b> {
    book: &'b dyn Probe,
    pub(crate) walk: Walk,
    seen: HashSet<u64, FxBuildHasher>,
    /// What the book stores about the last position.
    pub(crate) found: Lookup,
}

impl<'b> BookWalk<'b> {
    pub(crate) fn new(book: &'b dyn Probe, order: Order) -> BookWalk<'b> {
        let start = Chess::default();
        BookWalk {
            book,
            seen: HashSet::from_iter([polyglot::key(&start)]),
            walk: Walk::new(&start, order),
            found: Lookup::default(),
        }
    }

    /// The number of positions visited.
    pub(crate) fn met(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The next position that is in the book.
    pub(crate) fn next(&mut self) -> Result<Option<Reached>, Error> {
        while let Some(here) = self.walk.next() {
            let found = &mut self.found;
            self.book.probe(&here.position, Wanted::Stored, found)?;
            if found.here.is_some() {
                let moves = found.moves.iter().map(|known| known.mv);
                let new = |next: &Chess| self.seen.insert(polyglot::key(next));
                self.walk.enter_new(&here, moves, new);
                return Ok(Some(here));
            }
        }
        Ok(None)
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
