//! Which moves of a book get which marks.
//!
//! [`Filter`] says which moves are meant ("games<10 and score<40"), [`select`]
//! goes over a whole book and names the bytes that change, and [`mark`] changes
//! them, or only [tells](Told) what would change: by the moves that lead there.
//! Writing is the business of [`BookEditor`](crate::BookEditor); what a
//! format has no place for is refused ([`Format::lacks`](crate::Format::lacks)).

mod apply;
mod filter;
mod keyed;
mod named;
mod select;
mod tell;
pub mod words;

pub use apply::{MarkError, MarkJob, MarkTarget, Marked, mark, open, open_ctg};
pub use filter::{Filter, FilterError, Subject};
pub use keyed::tell_keyed;
pub use select::subjects;
pub use select::{Chosen, Selection, select};
pub use tell::{Noted, Told, tell};
