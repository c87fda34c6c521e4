//! Shared by many tests: books, folders, and the program as a process.

// Some of it is used on one system only.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod adapter;
mod books;
mod program;

pub use books::*;
pub use program::{Arguments, Ran, TABIA, assert_has, command, example, gzip, stored, tabia};
