//! The adapter: a UCI engine that plays from books and passes the search to another
//! engine where they end.
//!
//! ```text
//! bytes of the GUI -> relay -> Session::step -> book::Probe -> policy -> bestmove
//!                       ^            |
//!                       +-- engine <-+
//! ```
//!
//! [`relay`] does the input and output, [`session`] decides.

#![warn(missing_docs)]

pub mod book_set;
pub mod conditions;
pub mod config;
mod cover;
mod record;
pub mod relay;
mod seeds;
pub mod session;
pub mod settings;
pub mod transcript;

/// Checks that the example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
