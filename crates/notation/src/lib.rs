//! Positions, moves and lines as text: FEN and EPD, SAN, UCI and long notation, and lines
//! with numbers, comments and variations.
//!
//! Reading accepts many forms, because people paste text from everywhere; writing has one
//! form for each thing. All chess text is read here, except in the readers of game
//! databases: they have faster parsers, and call this crate for what these cannot read.
//! [`kind`] recognizes what a file holds, [`pgn`] writes games.

#![warn(missing_docs)]

mod fen;
pub mod kind;
mod line;
mod moves;
mod named;
pub mod openings;
pub mod pgn;
mod results;
pub mod value;

pub use fen::{
    FenError, FenFault, FenFlaw, IllegalPosition, colours_exchanged, corrected, fen, fen_text,
    is_incomplete, ply, position, position_of,
};
pub use line::{Line, LineError, MOST_PLIES, annotations, is_noise, is_null, pass};
pub use moves::{
    Letters, MoveError, after, find_uci, has_unknown_sign, is_move, is_numeric_move, nag, number,
    read_move, read_move_in, san, san_or_null, san_to, trailing_annotations, uci, uci_of_any,
    uci_or_null,
};
pub use results::Results;
pub use shakmaty;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
