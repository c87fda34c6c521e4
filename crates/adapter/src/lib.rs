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

pub mod config;
mod cover;
mod declarations;
mod record;
pub mod relay;
pub mod session;
pub mod transcript;

pub use declarations::declarations;
pub use tabia_book::shakmaty;
