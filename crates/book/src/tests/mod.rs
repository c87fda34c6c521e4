//! The ChessBase format: codec, look-ups and writer against each other; operations on
//! whole books.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod bytes;
mod codec;
#[path = "../../../../tests/program/common/books/mod.rs"]
mod common;
mod compare;
mod convert;
mod damage;
mod mark;
mod pgn;
mod probe;
mod prune;
mod reader;
mod rewrite;
mod verify;
mod visit;
mod writer;
