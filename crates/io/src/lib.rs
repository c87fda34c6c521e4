//! Reading and writing large files: files of any size, atomic replacement,
//! sorting on disk, ordered parallel work, progress.
//!
//! Nothing here knows of chess.

#![warn(missing_docs)]

mod append;
pub mod atomic;
pub mod input;
pub mod parallel;
pub mod progress;
pub mod sanitize;
mod setters;
pub mod sort;

pub use append::{
    append_line, append_locked, begin_lines, check_header, is_cut_short, lock_within,
    open_for_append,
};

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
