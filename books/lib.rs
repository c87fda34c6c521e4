//! The starter book of Tabia: the three files of a ChessBase opening book, as bytes.
//!
//! Opened from memory with `tabia-book`:
//!
//! ```
//! use tabia_book::shakmaty::{Chess, uci::UciMove};
//! use tabia_book::{Lookup, Probe as _, Wanted, ctg::CtgBook};
//! use tabia_starter::{CTB, CTG, CTO};
//!
//! let book = CtgBook::from_static("starter", CTG, CTO, CTB)?;
//! let (start, mut found) = (Chess::default(), Lookup::default());
//! book.probe(&start, Wanted::Stored, &mut found)?;
//! let e4 = "e2e4".parse::<UciMove>().unwrap().to_move(&start).unwrap();
//! assert!(found.moves.iter().any(|entry| entry.mv == e4));
//! # Ok::<(), tabia_book::Error>(())
//! ```

/// `tabia.ctg`: the pages with positions and moves.
pub const CTG: &[u8] = include_bytes!("tabia.ctg");
/// `tabia.cto`: the index of the pages.
pub const CTO: &[u8] = include_bytes!("tabia.cto");
/// `tabia.ctb`: the bounds of the page numbers.
pub const CTB: &[u8] = include_bytes!("tabia.ctb");
