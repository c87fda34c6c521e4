//! The substitution table of each encoding.
//!
//! The index is a byte of the file, or that byte minus the move count; the value is a
//! code as described in [`super::codes`]. Each table contains every code once. The
//! table of encoding 0 is public (it is part of ChessBase 9 and 10) and confirmed by
//! thousands of genuine games; those of 5 and 10 are confirmed by single genuine games;
//! the others come only from another reader, which took them from ChessBase.

/// The encodings of standard chess, in the order of their tables.
const MODES: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11];

/// The tables, 256 bytes each.
pub(super) static CIPHERS: &[[u8; 256]] = include_bytes!("ciphers.bin").as_chunks().0;

/// The substitution table of an encoding; `None` if it is not standard chess.
pub(super) fn for_mode(mode: u8) -> Option<&'static [u8; 256]> {
    let number = MODES.iter().position(|known| *known == mode)?;
    CIPHERS.get(number)
}
