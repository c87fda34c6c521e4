//! Positions, moves and lines as text: FEN and EPD, SAN, UCI and long notation, and lines
//! with numbers, comments and variations.
//!
//! Reading accepts many forms, because people paste text from everywhere; writing has one
//! form for each thing. All chess text is read here, except in the readers of game
//! databases: they have faster parsers, and call this crate for what these cannot read.
//! [`kind`] recognizes what a file holds.

#![warn(missing_docs)]

/// Defines an enum whose values have names.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$meaning:meta])* $value:ident = $text:literal,)*
    }) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$meaning])* $value,)*
        }

        impl $name {
            /// All values, in the order of their definition.
            pub const ALL: &[$name] = &[$($name::$value),*];

            /// The name of the value, as printed and stored.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text),*
                }
            }
        }
    };
}

mod fen;
mod line;
mod moves;
mod results;

pub use fen::fen_text;
pub use fen::{
    FenError, IllegalPosition, colours_exchanged, fen, is_board_alone, ply, position, position_of,
};
pub use line::{Line, LineError, MOST_PLIES, annotations, pass};
pub use line::{is_noise, is_null};
pub use moves::{Letters, is_move, nag, read_move_in, trailing_annotations};
pub use moves::{
    MoveError, after, find_uci, number, read_move, san, san_or_null, uci, uci_or_null,
};
pub use results::Results;

pub mod kind;
pub mod openings;
pub mod value;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
