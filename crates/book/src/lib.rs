//! Opening books of ChessBase, Polyglot, Arena, Shredder and Chessmaster: look positions up, choose moves, walk
//! along lines, change marks, convert and write.
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod bin;
pub mod compare;
#[cfg(feature = "json")]
pub mod convert;
pub mod ctg;
mod edit;
mod error;
pub mod eval;
#[cfg(feature = "json")]
pub mod evals;
mod format;
pub mod loaded;
pub mod mark;
pub mod options;
pub mod policy;
pub mod polyglot;
mod probe;
#[cfg(test)]
mod random;
#[cfg(all(test, feature = "json"))]
mod tests;
mod traits;
#[cfg(feature = "json")]
pub mod view;
pub mod walk;

pub use shakmaty;
// Part of the calls of long work: it reports progress, and can be cancelled.
pub use tabia_io::progress;
// A field of the options of everything that writes files.
pub use tabia_io::atomic::Previous;
// What a book is opened from that is not a file of this system.
pub use tabia_io::input::file::{DataFile, ReadAt};

pub use ctg::OpenOptions;
pub(crate) use ctg::position_of;
pub use edit::{
    Applied, BookEditor, EditBatch, EditOptions, Field, MarkChange, MarkEdit, MarkPlace, MarksLeft,
    Pending, Resolve, pending_changes, settle,
};
pub use error::{Error, Place};
pub use format::Format;
pub use polyglot::KeyedEntry;
pub use probe::{
    Annotation, Book, BookMove, Lookup, Mark, MoveEvaluation, MoveGames, NEAR_PLIES,
    PositionRecord, Preference, Probe, Stats, Wanted, is_near_start,
};
pub use walk::{BookPosition, PositionMove, Positions, tree};
pub(crate) use walk::{BookWalk, Bridges};

/// Code that tests share with other packages names the package.
#[cfg(test)]
extern crate self as tabia_book;
