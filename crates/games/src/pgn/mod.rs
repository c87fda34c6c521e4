//! PGN text: read into games, and written in the standard's export format.
//!
//! The stream becomes batches of whole games (`source`), a batch becomes words
//! (`tokens`), and the words of a game become its tags and moves (`parse`).

mod language;
mod oddities;
mod parse;
mod source;
mod tags;
mod tokens;
mod write;

#[cfg(test)]
mod mixtures;

pub use source::PgnSource;
pub(crate) use write::first_fen;
pub use write::write_pgn;
