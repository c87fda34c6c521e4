//! ChessBase books made of arbitrary bytes.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, FromSetup, Position};
use tabia_book::ctg::{
    CanonicalBoard, CtgBook, OpenOptions, PAGE_BYTES, Page, compact, decode_record, encode_record,
    find_move_byte,
};
use tabia_io::progress::Watch;

use super::book_reader::read_all;
use super::{sample, scratch};

/// A page of a .ctg file: the bytes as they are, and filled up to the length of a page.
pub fn ctg_page(data: &[u8]) {
    let mut bytes = data.to_vec();
    page(&bytes);
    bytes.resize(PAGE_BYTES, 0);
    page(&bytes);
}

fn page(bytes: &[u8]) {
    let Ok(page) = Page::new(bytes) else { return };
    assert!(page.used() <= PAGE_BYTES);
    for entry in page.entries() {
        let Ok((offset, entry)) = entry else { break };
        assert!(usize::from(offset) < page.used());
        let record = entry.record();
        // A record that can be read is written so that it reads the same.
        assert_eq!(decode_record(&encode_record(&record)), Some(record));
        let _ = page.find(entry.key_bytes());
        let Some(board) = entry
            .key()
            .and_then(|key| CanonicalBoard::from_key(&key).ok())
        else {
            continue;
        };
        let Ok(position) = Chess::from_setup(board.to_setup(), CastlingMode::Standard) else {
            continue;
        };
        let legal = position.legal_moves();
        for (byte, _) in entry.moves() {
            if let Ok(index) = find_move_byte(byte, &board, &legal) {
                assert!(index < legal.len());
            }
        }
    }
}

static POSITIONS: LazyLock<Vec<Chess>> = LazyLock::new(|| {
    let mut positions = vec![Chess::default()];
    for fen in [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
        "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1",
        "8/1P6/8/8/8/2k5/8/K7 w - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    ] {
        let position = fen
            .parse::<Fen>()
            .ok()
            .and_then(|fen| fen.into_position(CastlingMode::Standard).ok());
        positions.extend(position);
    }
    positions
});

/// All three files of a book: two bytes each for the lengths of .cto and .ctb,
/// then these files; the rest is the .ctg file. The length 65535 means that the
/// file is missing.
pub fn ctg_book(data: &[u8]) {
    let Some((lengths, rest)) = data.split_first_chunk::<4>() else {
        return;
    };
    let [a, b, c, d] = *lengths;
    let (cto, rest) = part(rest, u16::from_be_bytes([a, b]));
    let (ctb, ctg) = part(rest, u16::from_be_bytes([c, d]));
    let folder = scratch();
    let path = folder.path().join("x.ctg");
    let files = [("ctg", Some(ctg)), ("cto", cto), ("ctb", ctb)];
    for (extension, bytes) in files {
        if let Some(bytes) = bytes {
            put(&path.with_extension(extension), bytes);
        }
    }
    read_all(&path, &POSITIONS);
    let target = folder.path().join("y.ctg");
    if compact(
        &path,
        &target,
        &tabia_book::ctg::RewriteOptions::default()
            .old(tabia_io::atomic::Previous::Replace)
            .repack(false)
            .memory(1 << 20),
        &mut Watch::default(),
    )
    .is_ok()
    {
        // Files that Tabia wrote have no structural errors.
        let book = CtgBook::open(&target, &OpenOptions::default());
        drop(book.unwrap_or_else(|error| panic!("our own book: {error}")));
        read_all(&target, &POSITIONS);
    }
}

fn part(bytes: &[u8], length: u16) -> (Option<&[u8]>, &[u8]) {
    if length == u16::MAX {
        return (None, bytes);
    }
    let (part, rest) = bytes.split_at(usize::from(length).min(bytes.len()));
    (Some(part), rest)
}

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Books of the tests and the first pages of the starter book.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let folder = super::root().join("crates/book/tests/data/ctg");
    for path in super::files(&folder) {
        if path.extension().is_none_or(|extension| extension != "ctg") {
            continue;
        }
        let mut ctg = super::read(&path);
        ctg.truncate(6 * PAGE_BYTES);
        let beside = |extension| fs::read(path.with_extension(extension)).ok();
        seeds.push(joined(beside("cto"), beside("ctb"), &ctg));
        seeds.push(joined(None, None, &ctg));
    }
    seeds
}

fn joined(cto: Option<Vec<u8>>, ctb: Option<Vec<u8>>, ctg: &[u8]) -> Vec<u8> {
    let mut lengths = Vec::new();
    let mut bytes = Vec::new();
    for file in [cto, ctb] {
        let length = match &file {
            Some(file) => u16::try_from(file.len()).unwrap_or(u16::MAX - 1),
            None => u16::MAX,
        };
        lengths.extend(length.to_be_bytes());
        let mut file = file.unwrap_or_default();
        file.truncate(usize::from(length));
        bytes.extend(file);
    }
    bytes.extend(ctg);
    [lengths, bytes].concat()
}

pub(crate) fn page_seeds() -> Vec<Vec<u8>> {
    let starter = sample("books/tabia.ctg", 9 * PAGE_BYTES);
    let simple = sample("crates/book/tests/data/ctg/simple.ctg", usize::MAX);
    starter
        .chunks(PAGE_BYTES)
        .skip(1)
        .chain(simple.chunks(PAGE_BYTES).skip(1))
        .map(|page| {
            let used = page.get(2..4).map_or(0, |used| {
                usize::from(u16::from_be_bytes([used[0], used[1]]))
            });
            page.get(..used).unwrap_or(page).to_vec()
        })
        .collect()
}
