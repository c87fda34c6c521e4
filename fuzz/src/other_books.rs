//! Books in the formats of other programs and as text.

use std::fs;
use std::path::Path;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, Color, EnPassantMode, Position as _, Role};
use tabia_book::convert::{self, ConvertJob};
use tabia_book::ctg::CtgBook;
use tabia_book::walk::Order;
use tabia_book::{Book, OpenOptions};

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

/// A Chessmaster book.
pub fn obk(data: &[u8]) {
    let folder = scratch();
    let path = folder.path().join("x.obk");
    if fs::write(&path, data).is_ok() {
        exercise(&path);
    }
}

/// Bytes of a block of a Shredder book, and of a cell; 16 of them are not zero.
const BKT_BLOCK: usize = 1552;
const BKT_CELL: usize = 48;

/// A Shredder book: key, move and value of each cell, put into blocks of overflow, where any
/// key may be.
pub fn bkt(data: &[u8]) {
    let folder = scratch();
    let path = folder.path().join("x.bkt");
    let mut bytes = vec![0; 256 * BKT_BLOCK];
    for cells in data.chunks(32 * 16) {
        let block = bytes.len();
        for cell in cells.chunks(16) {
            bytes.extend_from_slice(cell);
            bytes.resize(bytes.len() + BKT_CELL - cell.len(), 0);
        }
        bytes.resize(block + BKT_BLOCK, 0);
    }
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

/// Under both headers: 1.e4 (e5 | c5), 1.d4.
pub(crate) fn obk_seeds() -> Vec<Vec<u8>> {
    let moves: Vec<u8> = [(12, 28, 0), (52, 36, 0x80), (50, 34, 0xc0), (11, 27, 0xc0)]
        .into_iter()
        .flat_map(|(from, to, flags)| [from | flags, to | 0x80])
        .collect();
    let headers = [&b"UGWS\x04\0\0\0"[..], b"BOO!\x04\0\0\0\x02\0\0\0"];
    headers
        .map(|header| [header, &moves].concat())
        .into_iter()
        .collect()
}

/// The first positions of the starter book, under keys of Polyglot that are changed so that
/// the start position has its own; and the same backwards.
pub(crate) fn bkt_seeds() -> Vec<Vec<u8>> {
    let zobrist = |position: &Chess| position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0;
    let shift = zobrist(&Chess::default()) ^ 0xbcee_2376_da2f_d45f;
    let path = root().join("books/tabia.ctg");
    let book = Book::open(&path, &OpenOptions::default());
    let book = book.unwrap_or_else(|error| panic!("{error}"));
    let code = |role: Role, color: Color| {
        let of_role = match role {
            Role::King => 1,
            Role::Pawn => 2,
            Role::Knight => 3,
            Role::Bishop => 5,
            Role::Rook => 6,
            Role::Queen => 7,
        };
        of_role | u32::from(color.is_black()) << 3
    };
    let mut cells = Vec::new();
    for here in book.walk(Order::Breadth).filter_map(Result::ok).take(100) {
        let turn = here.position.turn();
        for mv in here.lookup.moves.iter().map(|known| known.mv) {
            let Some(from) = mv.from() else {
                continue;
            };
            let castling = mv.castling_side().map(|side| side.king_to(turn));
            let to = castling.unwrap_or(mv.to());
            let captured = mv.capture().map_or(0, |role| code(role, !turn));
            let word = (from as u32 + 1)
                | (to as u32 + 1) << 7
                | captured << 18
                | code(mv.role(), turn) << 22;
            let key = zobrist(&here.position) ^ shift;
            cells.push([key.to_be_bytes(), u64::from(word).to_le_bytes()].concat());
        }
    }
    let backwards: Vec<_> = cells.iter().rev().cloned().collect();
    vec![cells.concat(), backwards.concat()]
}
