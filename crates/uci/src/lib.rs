//! The wire: lines of the Universal Chess Interface as bytes and as commands.
//!
//! A line travels through the program as the bytes that came in. [`mod@line`] cuts
//! the stream into lines and lines into words; [`gui`] and [`engine`] read a line by
//! its words and return its meaning; [`message`] writes our own lines. What is
//! forwarded is always the original.
//!
//! No input or output happens here and no chess rules are known beyond the
//! look of a move.

#![warn(missing_docs)]

pub mod engine;
pub mod gui;
pub mod info;
pub mod line;
pub mod message;

pub mod process;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
