//! What the choice of a book move depends on: the options, the books in the order in which
//! they are asked, the games that a book is for, what it has learned, and seeds.
//!
//! The moves of one book are weighed and drawn by [`tabia_book::policy`]. Nothing here starts
//! a process, speaks UCI or reads collections of games.
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod book_set;
pub mod conditions;
pub mod learn;
pub mod seeds;
pub mod settings;

pub use tabia_book::shakmaty;
