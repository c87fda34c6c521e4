//! The format of ChessBase: codec, look-ups and writer against each other.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod codec;
#[path = "../../../../tests/program/common/books/mod.rs"]
mod common;
mod probe;
mod writer;
