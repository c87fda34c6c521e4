//! Books in files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use shakmaty::Chess;
use tabia_book::ctg::{CtgBook, Key, Problem, encode_entry, verify};
use tabia_book::{Book, Lookup, OpenOptions, Probe, Wanted};
use tabia_io::progress::Watch;

/// The main lines of the starter book.
pub const SMALL: &str = "tests/data/small.ctg";
/// The starter book.
pub const STARTER: &str = "books/tabia.ctg";
/// The genuine book.
pub const SIMPLE: &str = "crates/book/tests/data/ctg/simple.ctg";

/// The path of a file in the project; the tests of a package run in its folder.
pub fn project(path: impl AsRef<Path>) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = package.ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").exists());
    root.unwrap().join(path)
}

/// The three files of a book.
#[track_caller]
pub fn files(book: impl AsRef<Path>) -> [Vec<u8>; 3] {
    let book = project(book);
    ["ctg", "cto", "ctb"].map(|part| fs::read(book.with_extension(part)).unwrap())
}

/// Copies a book under another name, for changes.
pub fn copy(book: impl AsRef<Path>, to: &Path) {
    for (part, bytes) in ["ctg", "cto", "ctb"].into_iter().zip(files(book)) {
        fs::write(to.with_extension(part), bytes).unwrap();
    }
}

/// Checks that `tabia verify` finds no fault in a book.
#[track_caller]
pub fn assert_sound(book: impl AsRef<Path>) {
    let mut found = Vec::new();
    let mut report = |problem: Problem| found.push(problem.text);
    verify(book.as_ref(), true, &mut Watch::default(), &mut report).unwrap();
    assert!(found.is_empty(), "{found:?}");
}

/// The entry of a position in a book file.
#[track_caller]
pub fn lookup(book: impl AsRef<Path>, position: &Chess) -> Lookup {
    look_up(
        &Book::open(project(book), &OpenOptions::default()).unwrap(),
        position,
    )
}

/// The entry of a position in an open book.
#[track_caller]
pub fn look_up(book: &dyn Probe, position: &Chess) -> Lookup {
    let mut found = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut found)
        .unwrap();
    found
}

/// Opens a ChessBase book.
#[track_caller]
pub fn open(book: impl AsRef<Path>) -> CtgBook {
    CtgBook::open(project(book), &OpenOptions::default()).unwrap()
}

/// Every entry of a book as its bytes.
#[track_caller]
pub fn contents(book: impl AsRef<Path>) -> BTreeMap<Key, Vec<u8>> {
    let book = open(book);
    assert_eq!(book.notices(), [""; 0]);
    let entries = book.entries().map(|entry| {
        let entry = entry.unwrap();
        let mut bytes = Vec::new();
        encode_entry(&entry.key, &entry.moves, &entry.record, &mut bytes);
        (entry.key, bytes)
    });
    entries.collect()
}

/// Sorts entries in the order of a written book.
pub fn in_order(entries: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_cached_key(|entry| {
        let key = Key::from_prefix(entry).unwrap();
        (key.hash().reverse_bits(), key)
    });
    entries
}
