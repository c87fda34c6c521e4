//! The wire: lines of the Universal Chess Interface as bytes and as commands.
//!
//! A line travels through the program as the bytes that came in. [`mod@line`]
//! cuts the stream into lines and lines into words; [`gui`] and [`engine`]
//! say what a line means: `vampirc` reads the typed messages (options and
//! their values, names, best moves); `position` and `go`, which come while a
//! clock runs, are read by their words. What is forwarded is always the
//! original.
//!
//! No input or output happens here and no chess rules are known beyond the
//! look of a move.

pub mod engine;
pub mod gui;
pub mod line;
mod vampirc;
