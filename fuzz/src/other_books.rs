//! Books in the formats of other programs and as text.

use std::fs;
use std::path::Path;

use tabia_book::OpenOptions;
use tabia_book::convert::{self, ConvertJob};
use tabia_book::ctg::CtgBook;

use super::book_reader::read_all;
use super::{read, root, scratch};

/// Offset of the moves in an .abk file.
const ABK_HEADER: usize = 900 * 28;

fn exercise(path: &Path) {
    read_all(path, &[]);
    into(path, "y.jsonl");
    into(path, "y.ctg");
}

/// Converts the book at `path`; returns true on success.
fn into(path: &Path, name: &str) -> bool {
    let mut job = ConvertJob::new(path.to_owned(), path.with_file_name(name));
    job.memory = 1 << 20;
    convert::run(&job, &mut tabia_io::progress::Watch::default()).is_ok()
}

/// A Polyglot book.
pub fn bin(data: &[u8]) {
    let folder = scratch();
    let path = folder.path().join("x.bin");
    if fs::write(&path, data).is_ok() {
        exercise(&path);
    }
}

/// An Arena book: its moves, after a header that is always the same.
pub fn abk(data: &[u8]) {
    let folder = scratch();
    let path = folder.path().join("x.abk");
    let mut bytes = b"\x03ABK".to_vec();
    bytes.resize(ABK_HEADER, 0);
    bytes.extend_from_slice(data);
    if fs::write(&path, bytes).is_ok() {
        exercise(&path);
    }
}

/// A book as text.
pub fn jsonl(data: &[u8]) {
    let folder = scratch();
    let path = folder.path().join("x.jsonl");
    if fs::write(&path, data).is_ok() && into(&path, "y.ctg") {
        // Files that Tabia wrote can be read. A book without positions is not written.
        let book = folder.path().join("y.ctg");
        let filled = CtgBook::open(&book, &OpenOptions::default())
            .is_ok_and(|book| book.header().positions > 0);
        assert_eq!(into(&book, "z.jsonl"), filled);
    }
}

/// The book of the tests, converted.
fn converted(name: &str) -> Vec<u8> {
    let folder = scratch();
    for extension in ["ctg", "cto", "ctb"] {
        let from = root()
            .join("crates/book/tests/data/ctg/simple")
            .with_extension(extension);
        let copied = fs::copy(from, folder.path().join("x").with_extension(extension));
        copied.unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(into(&folder.path().join("x.ctg"), name));
    read(&folder.path().join(name))
}

pub(crate) fn bin_seeds() -> Vec<Vec<u8>> {
    let book = converted("y.bin");
    let twice = [book.clone(), book.clone()].concat();
    let backwards = book.chunks(16).rev().flatten().copied().collect();
    vec![book, twice, backwards]
}

pub(crate) fn jsonl_seeds() -> Vec<Vec<u8>> {
    let book = converted("y.jsonl");
    let header = b"{\"format\":\"tabia-book\",\"version\":1,\"games\":4294967295}\n".to_vec();
    vec![book, header]
}

/// e2e4 with two replies, and d2d4 beside it.
pub(crate) fn abk_seeds() -> Vec<Vec<u8>> {
    let entry = |from: u8, to: u8, reply: i32, next: i32| {
        let mut bytes = vec![from, to, 0, 5];
        for number in [10, 4, 3, 1, reply, next] {
            bytes.extend(i32::to_le_bytes(number));
        }
        bytes
    };
    let tree = [
        entry(12, 28, 902, 901),
        entry(11, 27, -1, -1),
        entry(52, 36, -1, 903),
        entry(50, 34, -1, -1),
    ];
    let circle = [entry(12, 28, 901, 900), entry(52, 36, 900, 901)];
    vec![tree.concat(), circle.concat()]
}
