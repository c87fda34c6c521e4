//! The wire: lines of the Universal Chess Interface as bytes and as commands.
//!
//! A line travels through the program as the bytes that came in. [`mod@line`]
//! cuts the stream into lines and lines into words; [`gui`] and [`engine`]
//! say what a line means, with `vampirc` doing the reading where more than
//! the first word counts. What is forwarded is always the original.
//!
//! No input or output happens here and no chess rules are known beyond the
//! look of a move.

pub mod engine;
pub mod gui;
pub mod line;
mod vampirc;
