//! Which moves of a book get which marks.
//!
//! [`Filter`] says which moves are meant ("games<10 and score<40"), [`select`]
//! goes over a whole book and names the bytes that change, and [`mark`] changes
//! them, or only [tells](Told) what would change: by the moves that lead there.
//! Writing is the business of [`Editor`](crate::book::ctg::Editor).

mod apply;
mod filter;
mod select;
mod tell;
pub mod words;

pub use apply::{Job, MarkError, Marked, Target, mark, open};
pub use filter::{Filter, FilterError, Subject};
pub(crate) use select::subjects;
pub use select::{Chosen, Selection, select};
pub use tell::{Noted, Told, tell};
