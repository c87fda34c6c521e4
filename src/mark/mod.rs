//! Which moves of a book get which marks.
//!
//! [`Filter`] says which moves are meant ("games<10 and score<40"), and
//! [`select`] goes over a whole book and names the bytes that change. Writing them is the business of
//! [`Editor`](crate::book::ctg::Editor).

mod filter;
mod select;

pub use filter::{Filter, FilterError, Subject};
pub use select::{Chosen, Seen, Selection, select};
