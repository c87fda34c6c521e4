//! Opening books: what they store about a position, whatever the format.
//!
//! [`Book`] is one type for all formats; [`ctg`], [`bin`] and [`abk`] are the readable
//! ones.
//!
//! This crate is independent of UCI. A book has one query, [`Probe::probe`]: what is
//! stored about this position and its moves. The answer is plain numbers;
//! [`crate::policy`] decides which move to play.

#![warn(missing_docs)]

pub mod abk;
mod any;
pub mod bin;
pub mod ctg;
mod edit;
mod error;
mod keyed;
mod lookup;
pub mod polyglot;
mod positions;
mod stats;
pub(crate) mod walk;

pub use any::{Book, Format};
pub use ctg::OpenOptions;
pub use edit::{
    Applied, BookEditor, EditBatch, EditOptions, Field, MarkChange, MarkEdit, MarkPlace, MarksLeft,
    Pending, Resolve, pending_changes, settle,
};
pub use error::Error;
pub use keyed::KeyedEntry;
pub use lookup::{Annotation, BookMove, Lookup, Mark, MoveEvaluation, PositionRecord, Preference};
pub use positions::{BookPosition, PositionMove, Positions};
pub(crate) use positions::{BookWalk, Bridges, position_of};
pub use stats::Stats;
// Part of the errors that writing a large book returns.
pub use tabia_io::parallel::Panicked;
pub use tabia_io::sort::SortError;

use shakmaty::{Chess, Color, Move};

/// A source of book moves.
///
/// Takes `&self`: several threads may query one open book.
pub trait Probe {
    /// Fills `found` with what the book stores about `position`, as far as `wanted` asks
    /// for it; it is cleared first, so one buffer serves many calls without allocating.
    ///
    /// A position that is not in the book is no error: `found.here` is then `None`
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

    /// Whether the file is unchanged since it was opened; if not, it should be opened
    /// again.
    fn is_current(&self) -> bool {
        true
    }

    /// Announces a number of probes, so that a book can prepare for them with memory of a
    /// small part of its size. Results are the same.
    fn expect(&self, _probes: u64) {}
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
    /// lines of the book go on, but it does not play them.
    Lines,
}

impl Wanted {
    /// Whether every legal move into the book counts, in a position where `turn` is to
    /// move, of a book for the side `only`.
    ///
    /// A book for one side has no transpositions. Its entries include the positions after
    /// its moves, and an entry is also that of the position with colours reversed, so its
    /// side would get moves in positions that it has no moves for.
    fn includes_transpositions(self, only: Option<Color>, turn: Color) -> bool {
        match self {
            Wanted::Stored => false,
            Wanted::Transpositions => only.is_none(),
            Wanted::Lines => only.is_some_and(|only| only != turn),
        }
    }
}

pub mod compare;
#[cfg(feature = "json")]
pub mod convert;
pub mod eval;
#[cfg(feature = "json")]
pub mod evals;
pub mod mark;
pub mod options;
pub mod policy;
pub mod tree;
#[cfg(feature = "json")]
pub mod view;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
