//! Opening books: what a position holds, whatever the format.
//!
//! [`Book`] is one type over all formats; [`ctg`], [`bin`] and [`abk`] are
//! those that can be read.
//!
//! Nothing here knows of UCI. A book answers one question, [`Probe::probe`]:
//! what is known about this position and about the moves from it. The answer
//! is plain numbers; which move to play is decided in [`crate::policy`].

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
    Applied, BookEditor, EditBatch, EditOptions, Field, MarkChange, MarkEdit, MarkPlace,
};
pub use error::Error;
pub use keyed::KeyedEntry;
pub use lookup::{Annotation, BookMove, Judged, Lookup, Mark, PositionRecord, Preference};
pub use positions::{BookPosition, PositionMove, Positions};
pub(crate) use positions::{BookWalk, position_of};
pub use stats::Stats;
// Why writing a large book may fail, beside what its format has to say.
pub use tabia_io::parallel::Panicked;
pub use tabia_io::sort::SortError;

use shakmaty::{Chess, Move};

/// A source of book moves.
///
/// Takes `&self`: one open book may be asked from several threads.
pub trait Probe {
    /// Fills `found` with what the book knows about `position`, as far as it
    /// is `wanted`; it is cleared first, so one buffer serves many calls
    /// without allocating.
    ///
    /// A position that is not in the book is no error: `found.here` is `None`
    /// then (`found.moves` may still hold transpositions: moves into
    /// positions of the book).
    ///
    /// # Errors
    ///
    /// The book cannot be read any more or is damaged at a place that this
    /// position needs. `found` is empty then.
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error>;

    /// Whether the position itself is stored.
    ///
    /// # Errors
    ///
    /// As for [`Probe::probe`].
    fn contains(&self, position: &Chess) -> Result<bool, Error>;

    /// What a move is worth, in the book or not, in centipawns for its player; known
    /// where evaluations were added to the book.
    fn value_of(&self, _position: &Chess, _mv: Move) -> Option<i32> {
        None
    }

    /// Whether the file still is what was opened; if not, it should be
    /// opened anew when that suits.
    fn is_current(&self) -> bool {
        true
    }

    /// So many probes are to come: a book that can get ready for them does,
    /// with memory of a small part of its size. What is found stays the same.
    fn expect(&self, _probes: u64) {}
}

/// Which moves of a position are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those that are stored.
    Stored,
    /// Also every other legal move that leads to a position of the book, where
    /// the format plays such moves (ChessBase does).
    Transpositions,
}

pub mod compare;
#[cfg(feature = "json")]
pub mod convert;
pub mod eval;
#[cfg(feature = "json")]
pub mod evals;
pub mod mark;
pub mod policy;
pub mod tree;
#[cfg(feature = "json")]
pub mod view;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
