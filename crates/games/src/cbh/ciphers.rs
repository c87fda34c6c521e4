//! The substitution of each encoding: what a byte of a game means.
//!
//! A byte of the file, or the difference of it and the count of moves, is an index
//! here; the value is a code as [`super::codes`] explains it. Each table holds every
//! code once. That of encoding 0 is public (it is contained in the program of
//! ChessBase 9 and 10) and proven by thousands of genuine games; those of 5 and 10 by
//! single genuine games; the others are known from another reader alone, which took
//! them from ChessBase.

/// The encodings of chess, in the order of their tables.
const MODES: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11];

/// The tables, 256 bytes each.
pub(super) static CIPHERS: &[[u8; 256]] = include_bytes!("ciphers.bin").as_chunks().0;

/// The substitution of an encoding; `None` if it is none of chess.
pub(super) fn of_mode(mode: u8) -> Option<&'static [u8; 256]> {
    let number = MODES.iter().position(|known| *known == mode)?;
    CIPHERS.get(number)
}
