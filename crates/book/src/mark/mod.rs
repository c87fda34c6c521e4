//! Marks for the moves of a book.
//!
//! [`Filter`] is a condition on moves ("games<10 and score<40"), [`select()`] goes over a
//! whole book and finds the changes, and [`mark()`] writes them, or only
//! [shows](ShownChange) them with the moves that lead there.
//! [`BookEditor`](crate::BookEditor) does the writing.

mod apply;
mod filter;
mod keyed;
mod named;
mod select;
mod shown;
pub mod words;

pub use apply::{MarkError, MarkJob, MarkTarget, Marked, mark};
pub use filter::{Filter, FilterError, Subject};
pub use select::{Selection, select, subjects};
pub use shown::{ListedChanges, ShownChange, show};
