//! The Universal Chess Interface: splitting and parsing of its lines.
//!
//! [`mod@line`] splits the stream into lines and lines into words; [`gui`] and
//! [`engine`] parse a line by its words; [`message`] writes Tabia's own lines.
//! Forwarded lines are always the original bytes.
//!
//! No input or output happens here, and no chess rules are used beyond the format of a
//! move.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![warn(missing_docs)]

pub mod engine;
pub mod gui;
pub mod info;
pub mod line;
pub mod message;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
