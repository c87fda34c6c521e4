//! Positions, moves and lines as text: FEN and EPD, SAN, UCI and long
//! notation, and lines with numbers, comments and variations.
//!
//! Reading is generous, as people paste from everywhere; writing has one form
//! for each thing. Whoever needs text of chess goes through here; only the
//! readers of game databases, which count every nanosecond, keep their parsers
//! and come here for what those cannot make out.

#![warn(missing_docs)]

/// Makes an enum each value of which stands beside its name.
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
            /// All values, in their order.
            pub const ALL: &[$name] = &[$($name::$value),*];

            /// The name of the value, as it is printed and written.
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
pub use fen::{FenError, colours_exchanged, fen, is_board_alone, ply, position, position_of};
pub use line::{Line, LineError, MOST_PLIES, pass, signs};
pub use line::{is_noise, is_null};
pub use moves::{Letters, is_move, nag, read_move_in, signs_behind};
pub use moves::{
    MoveError, after, find_uci, number, read_move, san, san_or_null, uci, uci_or_null,
};
pub use results::Results;

pub mod openings;
pub mod value;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
