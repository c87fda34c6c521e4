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

mod book_walks;
mod figures;

pub use book_walks::{Exit, Side, Walks, walk_pairs};
pub use figures::{
    DecidingExit, EloInterval, Figures, Interval, PointsSource, Share, figures, points_of_white,
};
