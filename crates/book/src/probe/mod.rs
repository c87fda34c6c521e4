//! What a book is asked and what it answers, whatever its format: one query for a position
//! and its moves.

mod book;
mod lookup;
mod near;
mod stats;

pub use book::Book;
pub use lookup::{
    Annotation, BookMove, Lookup, Mark, MoveEvaluation, MoveGames, PositionRecord, Preference,
};
pub use near::{NEAR_PLIES, is_near_start};
pub use stats::Stats;

use shakmaty::{Chess, Color, Move};

use crate::Error;

/// A source of book moves.
///
/// Takes `&self`: several threads may query one open book.
pub trait Probe {
    /// Fills `found` with what the book stores about `position`, as far as `wanted` asks
    /// for it; it is cleared first, so one buffer serves many calls without allocating.
    ///
    /// A position that is not in the book is not an error: `found.here` is then `None`
    /// (`found.moves` may still contain transpositions: moves into positions of the
    /// book).
    ///
    /// # Errors
    ///
    /// The book cannot be read any more, or is damaged where this position is stored.
    /// `found` is then empty.
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error>;

    /// Whether the position itself is stored.
    ///
    /// # Errors
    ///
    /// As for [`Probe::probe`].
    fn contains(&self, position: &Chess) -> Result<bool, Error>;

    /// The value of a move, in the book or not, in centipawns for its player; `None`
    /// unless evaluations were added to the book.
    fn value_of(&self, _position: &Chess, _mv: Move) -> Option<i32> {
        None
    }

    /// The games behind a move that [`Probe::probe`] found in `position`, told apart by how
    /// they come to it; by default none is known.
    ///
    /// # Errors
    ///
    /// As for [`Probe::probe`].
    fn games_of(&self, _position: &Chess, _entry: &BookMove) -> Result<MoveGames, Error> {
        Ok(MoveGames::default())
    }

    /// Whether the file is unchanged since it was opened; if not, it should be opened
    /// again.
    fn is_current(&self) -> bool {
        true
    }

    /// Announces a number of probes, so that a book can prepare for them with memory of a
    /// small part of its size. Results are the same.
    fn reserve(&self, _probes: u64) {}
}

/// Which moves of a position to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Stored moves only.
    Stored,
    /// Also every other legal move that leads to a position of the book, if the format
    /// plays such moves (ChessBase does) and the book is for both sides.
    Transpositions,
    /// Stored moves; in a position that the book has no moves for because it is for the
    /// other side only, the moves that lead to positions of the book. Along these the
    /// lines of the book continue, but it does not play them.
    Lines,
}

impl Wanted {
    /// Whether every legal move into the book counts, in a position where `turn` is to
    /// move, of a book for the side `only`.
    ///
    /// A book for one side has no transpositions. Its entries include the positions after
    /// its moves, and an entry is also that of the position with colours reversed, so its
    /// side would get moves in positions that it has no moves for.
    pub(crate) fn includes_transpositions(self, only: Option<Color>, turn: Color) -> bool {
        match self {
            Wanted::Stored => false,
            Wanted::Transpositions => only.is_none(),
            Wanted::Lines => only.is_some_and(|only| only != turn),
        }
    }
}
