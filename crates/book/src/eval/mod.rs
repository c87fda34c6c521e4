//! Evaluations of positions by engines: values, their sources, and values computed from
//! them for a whole book.
//!
//! # One internal form
//!
//! A [`Value`] is always from **White's** view. Formats have other views; the readers
//! convert them, because they know the side to move:
//!
//! | source | seen from | mates in |
//! |---|---|---|
//! | UCI `info score` | side to move | full moves, negative: gets mated |
//! | EPD `ce` | side to move | plies, inside the number |
//! | Lichess evaluation export, fishnet tables | White | full moves |
//! | PGN `[%eval]` | White, after the move | full moves |
//! | chessdb.cn | side to move | plies, inside the number |
//!
//! # What is computed
//!
//! * [`expected`](model::expected): the expected score of a value;
//! * [`annotation`]: `?!`, `?`, `??` for a move that loses points, and the symbol (`=`, `+=`,
//!   ...) of a value;
//! * [`solve()`]: values backed up from the ends of a book to all its positions, correct
//!   with transpositions and repetitions.
//!
//! All functions are pure. Files are read and written in [`crate::evals`].

pub mod annotation;
pub mod model;
mod solve;

pub use solve::{Graph, GraphBuilder, NodeId, Predecessors, solve};
pub use tabia_notation::value::{Evaluation, MoveValue, Value, known};
