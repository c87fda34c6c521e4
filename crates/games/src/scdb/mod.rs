//! Simple Chess Database: five files of the same name.
//!
//! Version 1.1 of the format's document (2017) and the program of its author
//! (pgn2dcg) differ in places. This module follows the program, because it wrote
//! the existing files. Everything is big-endian.
//!
//! | file | content |
//! |---|---|
//! | .dci | the index: 19 bytes of header, then 39 bytes per game |
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

pub(crate) use encode::ScdbRecord;
pub(super) use source::{is_index, open};
pub(crate) use write::ScdbWriter;

use std::path::Path;

/// First bytes of every file; its last letter follows.
const MAGIC: &[u8; 9] = b"SimpleCDb";

/// Length of the magic with the letter.
const MAGIC_BYTES: usize = 10;

/// Length of a name, padded with blanks.
const NAME_BYTES: usize = 36;

/// The last letters of the extensions; the index is last.
const LETTERS: [u8; 5] = *b"nsegi";

/// The extension of the file with this letter.
fn extension(letter: u8) -> String {
    format!("dc{}", char::from(letter))
}

/// Whether a file begins with the magic of this letter.
fn has_magic(start: &[u8], letter: u8) -> bool {
    start.starts_with(MAGIC) && start.get(MAGIC.len()) == Some(&letter)
}

/// Whether a path has the extension of one of the five files.
fn is_part(path: &Path) -> bool {
    LETTERS
        .iter()
        .any(|letter| tabia_io::input::path::has_extension(path, &extension(*letter)))
}
