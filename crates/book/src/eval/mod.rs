//! What engines think of positions: values, where they come from, and what
//! follows from them for a whole book.
//!
//! # One form inside
//!
//! A [`Value`] is always from **White's** view. Every format has a view of its
//! own; it is turned at the border, by the reader, which knows whose move it
//! is and never guesses:
//!
//! | source | seen from | mates in |
//! |---|---|---|
//! | UCI `info score` | side to move | full moves, negative: gets mated |
//! | EPD `ce` | side to move | plies, inside the number |
//! | Lichess evaluation export, fishnet tables | White | full moves |
//! | PGN `[%eval]` | White, after the move | full moves |
//! | chessdb.cn | side to move | plies, inside the number |
//!
//! # What is made of it
//!
//! * [`expected`](model::expected): points to be expected from a value;
//! * [`sign`]: `?!`, `?`, `??` for a move that gives points away, and the
//!   symbol (`=`, `+=`, ...) that stands for a value;
//! * [`solve()`]: values backed up from the ends of a book to every position of
//!   it, right with transpositions and repetitions.
//!
//! All of it is pure: numbers in, numbers out. Files are read and written in
//! [`crate::evals`].

pub mod model;
pub mod sign;
mod solve;

pub use solve::{Graph, GraphBuilder, NodeId, solve};
pub use tabia_notation::value::{Evaluation, MoveValue, Value, known};
