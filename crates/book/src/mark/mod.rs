//! Which moves of a book get which marks.
//!
//! [`Filter`] says which moves are meant ("games<10 and score<40"), [`select()`]
//! goes over a whole book and finds what changes, and [`mark()`] writes it, or
//! only [shows](ShownChange) it: by the moves that lead there. Writing is done
//! by [`BookEditor`](crate::BookEditor).

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
