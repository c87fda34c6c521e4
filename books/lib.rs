//! The starter book of Tabia: the three files of a ChessBase opening book, as bytes.
//!
//! The examples: `open_starter` opens the book from memory, `write_starter` writes it as
//! files.

/// `tabia.ctg`: the pages with positions and moves.
pub const CTG: &[u8] = include_bytes!("tabia.ctg");
/// `tabia.cto`: the index of the pages.
pub const CTO: &[u8] = include_bytes!("tabia.cto");
/// `tabia.ctb`: the bounds of the page numbers.
pub const CTB: &[u8] = include_bytes!("tabia.ctb");
