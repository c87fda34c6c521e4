//! All positions of a book, one after the other.

use shakmaty::{Chess, Move, Position as _};

use super::links::ReachedCount;
use super::{BookWalk, Order};
use crate::position_of;
use crate::{
    Annotation, Book, Error, PositionRecord, Preference,
    ctg::{BookEntries, BookEntry, find_move_byte, likely_of_all},
};
use tabia_io::progress::Watch;

/// A position of a book.
///
/// A ChessBase book stores the canonical form: White is to move, and the entry is also
/// that of the colour-reversed position, and without castling rights of the mirrored
/// ones. Other books store the position of the game.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BookPosition {
    /// The position.
    pub position: Chess,
    /// What the book stores about it.
    pub record: PositionRecord,
    /// Its legal stored moves in stored order. [`Probe::probe`](crate::Probe::probe) returns what is stored
    /// about the positions after them.
    pub moves: Vec<PositionMove>,
}

/// A stored move of a [`BookPosition`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PositionMove {
    /// The move, legal in the position.
    pub mv: Move,
    /// Its annotation.
    pub annotation: Annotation,
    /// The stored weight or priority.
    pub preference: Preference,
}

impl Book {
    /// All positions of the book, in the form in which it stores them. Real positions of
    /// games, each with a line to it, come from [`Book::walk`].
    ///
    /// A ChessBase book is read in the order of the file. A damaged page is returned as
    /// an error and the walk continues; entries without a legal position are left out.
    /// Other books are walked depth first from the start position, which takes some 20
    /// bytes a position. A Polyglot book that its own moves do not reach completely is
    /// walked again, with moves that it does not store; positions that at most three of
    /// them in a row do not reach are left out ([`Positions::unreached`]).
    #[must_use]
    pub fn positions(&self) -> Positions<'_> {
        Positions(match self {
            Book::Ctg(book) => Source::Entries(book.entries()),
            Book::Bin(_) | Book::Loaded(_) => Source::Walk(Box::new(self.walk(Order::Depth))),
        })
    }
}

impl Book {
    /// Counts what [`Book::positions`] returns.
    ///
    /// # Errors
    ///
    /// The book cannot be read, or the work is cancelled.
    pub fn count_reached(&self, watch: &mut Watch<'_>) -> Result<ReachedCount, Error> {
        let mut positions = self.positions();
        if let Source::Walk(walk) = &mut positions.0
            && let Some(counted) = walk.read_ahead(watch)?
        {
            return Ok(counted);
        }
        let mut counted = ReachedCount::default();
        for position in positions {
            let position = position?;
            let never = position.moves.iter().map(|mv| mv.preference.is_never());
            counted.count(position.position.turn(), never);
        }
        Ok(counted)
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
                Ok(entry) => BookPosition::from_entry(&entry).map(Ok),
                Err(error) => Some(Err(error)),
            }),
            Source::Walk(walk) => walk.next_stored().transpose(),
        }
    }
}

impl BookPosition {
    /// The position of an entry; `None` if it is illegal.
    #[must_use]
    pub fn from_entry(entry: &BookEntry) -> Option<BookPosition> {
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

impl BookWalk<'_> {
    fn next_stored(&mut self) -> Result<Option<BookPosition>, Error> {
        let next = self.advance().inspect_err(|_| self.walk.end())?;
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
