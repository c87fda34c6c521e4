//! Marks for the moves of a book.
//!
//! [`Filter`] is a condition on moves ("games<10 and score<40"), [`select()`] goes over a
//! whole book and finds the changes, and [`mark()`] writes them, or only
//! [shows](ShownChange) them with the moves that lead there.
//! [`BookEditor`](crate::BookEditor) does the writing.

mod apply;
mod error;
mod filter;
mod keyed;
mod named;
mod select;
mod shown;
pub mod words;

pub use apply::{MarkJob, MarkTarget, Marked, mark};
pub use error::MarkError;
pub use filter::{Filter, FilterError, Subject};
pub use select::{Selection, select, subjects};
pub use shown::{ListedChanges, ShownChange};

use std::io;

use crate::Book;
use tabia_io::progress::Watch;

/// Finds the moves of the book that lead to each change, shortest lines first, and calls
/// `found` with it; changes of a ChessBase book that no moves lead to come last.
///
/// # Errors
///
/// The book cannot be read, the work is cancelled, or `found` fails.
pub fn show(
    book: &Book,
    listed: ListedChanges,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(&ShownChange) -> io::Result<()>,
) -> Result<(), MarkError> {
    match book {
        Book::Ctg(book) => shown::show_ctg(book, listed, watch, found),
        Book::Bin(_) | Book::Loaded(_) => keyed::show(book, listed, watch, found),
    }
}
