//! Simple Chess Database: five files of one name.
//!
//! Version 1.1 of the format's document (2017) and the program of its author
//! (pgn2dcg) differ in places; where they do, this follows what the program
//! writes, which is what there is on disks. Everything is big-endian.
//!
//! | file | holds |
//! |---|---|
//! | .dci | 19 bytes of header, then 39 bytes a game: the index |
//! | .dcn, .dcs, .dce | players, sites, events: 36 bytes each |
//! | .dcg | the games |
//!
//! Each begins with ten bytes, `SimpleCDb` and the last letter of its name.

mod decode;
mod element;
mod encode;
mod entry;
mod index;
mod length;
mod names;
mod promotion;
mod source;
mod write;

pub use encode::ScdbRecord;
pub(super) use source::{is_index, open};
pub use write::Writer;

use std::path::Path;

/// What every file begins with, but for its last letter.
const MAGIC: &[u8; 9] = b"SimpleCDb";

/// Bytes of it with the letter.
const MAGIC_BYTES: usize = 10;

/// Bytes of a name, padded with blanks.
const NAME_BYTES: usize = 36;

/// The files, by the letter of each; the index last.
const LETTERS: [u8; 5] = *b"nsegi";

/// The extension of a file of the database.
fn extension(letter: u8) -> String {
    format!("dc{}", char::from(letter))
}

/// Whether bytes begin as the file of this letter does.
fn has_magic(start: &[u8], letter: u8) -> bool {
    start.starts_with(MAGIC) && start.get(MAGIC.len()) == Some(&letter)
}

/// Whether a name is that of one of the five files.
fn is_part(path: &Path) -> bool {
    LETTERS
        .iter()
        .any(|letter| tabia_io::input::path::has_extension(path, &extension(*letter)))
}
