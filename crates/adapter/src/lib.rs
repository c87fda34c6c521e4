//! A UCI engine that plays from opening books and passes the search to another engine where
//! they end.
//!
//! ```text
//! bytes of the GUI -> relay -> Session::step -> books -> policy -> bestmove
//!                       ^            |
//!                       +-- engine <-+
//! ```
#![doc = include_str!("../README.md")]
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

pub use tabia_book::shakmaty;
