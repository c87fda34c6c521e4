//! Finds out which of two books leads to better positions.
//!
//! Two sides, each a book with its options, play book moves against each other with the
//! probabilities of the adapter ([`tabia_book::policy::choose`]). The first position in
//! which the side to move has no book move is the *exit* of the walk, whichever side that
//! is. Each walk is made twice, with colours exchanged and the same random numbers: two
//! equal sides make the same walk twice, so their difference is exactly zero.
//!
//! An engine that was not used to choose the moves searches each exit once. [`figures()`]
//! computes means with intervals from walks and values.
//!
//! ```text
//! walk_pairs(sides) -> Walks -> exits -> evaluate::search -> figures -> report
//! ```
//!
//! ```
//! use tabia_analysis::{Watch, prove::{Side, figures, walk_pairs}};
//! use tabia_book::eval::{Evaluation, Value};
//! use tabia_book::{Book, OpenOptions, policy::Rules};
//!
//! let open = |path: &str| {
//!     let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
//!     Book::open(path, &OpenOptions::default())
//! };
//! let books = [open("books/tabia.ctg")?, open("tests/data/small.ctg")?];
//! // The seed decides which moves are drawn.
//! let sides = books.each_ref().map(|book| Side::new(book, Rules::default(), 1));
//! let walks = walk_pairs(&sides, 50, &mut Watch::default())?;
//!
//! // A program would search each exit; here every position is equal.
//! let values = vec![Some(Evaluation::from(Value::Cp(0))); walks.exits.len()];
//! let found = figures(&walks, &values).ok_or("no pair has a value")?;
//! // The small book ends first.
//! assert!(found.leaves_first[1] > found.leaves_first[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod book_walks;
mod figures;

pub use book_walks::{Exit, Side, Walks, walk_pairs};
pub use figures::{
    DecidingExit, EloInterval, Figures, Interval, PointsSource, Share, figures, points_of_white,
};
