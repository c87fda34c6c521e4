//! The differences of two books, position by position.
//!
//! ```text
//! start position -> moves of either book, level by level -> compare_at -> Difference
//! entries that no such line reaches                      -> compare_at -> Difference
//! ```
//!
//! The walk follows the moves: all positions after one ply, then after two, so that
//! positions near the start come first. ChessBase books also have positions that no
//! stored move leads to; they come last, without a line.
//!
//! Two sound ChessBase books become one graph (`ctg::pair`): then the walk goes only to the
//! differences, and looks nothing up. Others are walked by look-ups. Memory, beside the graph:
//! eight bytes for every position of a line to a difference (and a key, unless both are
//! ChessBase books), and the positions of the current level, each with the text of its line.

mod difference;
mod lookups;
mod walk;

pub use difference::{Aspect, Aspects, Difference, MoveDifference, Side};
pub use walk::{Compared, Plan, Way, compare};
