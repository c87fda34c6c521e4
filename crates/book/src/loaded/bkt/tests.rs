use std::collections::BTreeMap;
use std::path::Path;

use shakmaty::{Chess, Move, Position as _};

use super::linear::Constants;
use super::*;
use crate::loaded::LoadedBook;
use crate::polyglot::{self, PackedMove};
use crate::walk::Order;
use crate::{Book, OpenOptions, Preference};

/// Constants by chance, with Shredder's key of the start position.
struct Keys(Vec<u64>);

impl Keys {
    fn new(seed: u64) -> Keys {
        let (side, all) = Constants::SIDE_OF_ALL;
        // splitmix64.
        let random = |n: usize| {
            let mut z = (seed + n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        };
        let mut keys = Keys((0..all).map(random).collect());
        keys.0[side] ^= keys.of(&Chess::default()) ^ START_KEY;
        keys
    }

    fn of(&self, position: &Chess) -> u64 {
        let set = Constants::of(position);
        set.numbers()
            .fold(0, |key, constant| key ^ self.0[constant])
    }
}

/// The bytes of a move, with a mark.
fn cell(keys: &Keys, position: &Chess, mv: Move, mark: u32) -> Vec<u8> {
    let code = |role: Role, color: Color| {
        let of_role = [2, 3, 5, 6, 7, 1][role as usize - 1];
        of_role | (8 * u32::from(color.is_black()))
    };
    let turn = position.turn();
    let to = mv
        .castling_side()
        .map_or(mv.to(), |side| side.king_to(turn));
    let from = mv.from().unwrap();
    let mut word = (from as u32 + 1) | ((to as u32 + 1) << 7) | (code(mv.role(), turn) << 22);
    word |= mv.capture().map_or(0, |role| code(role, !turn) << 18);
    word |= mv.promotion().map_or(0, |role| code(role, turn) << 14);
    word |= u32::from(mv.is_castle()) << 27;
    let mut bytes = keys.of(position).to_be_bytes().to_vec();
    bytes.extend(word.to_le_bytes());
    bytes.extend((mark << 16).to_le_bytes());
    bytes.resize(CELL_BYTES, 0);
    bytes
}

/// A book of cells, each in its bucket or in blocks of overflow.
fn file(cells: &[Vec<u8>]) -> Vec<u8> {
    let mut blocks: Vec<Vec<u8>> = vec![Vec::new(); BUCKETS];
    let mut overflow: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for cell in cells {
        let is_black = cell[8 + 3] >> 1 & 1;
        let bucket = usize::from(cell[0] & 0x7f | is_black << 7);
        match blocks[bucket].len() < BLOCK_CELLS * CELL_BYTES {
            true => blocks[bucket].extend(cell),
            false => overflow.entry(bucket).or_default().extend(cell),
        }
    }
    let mut more: Vec<Vec<u8>> = Vec::new();
    for (bucket, cells) in overflow {
        for part in cells.chunks(BLOCK_CELLS * CELL_BYTES) {
            let offset = ((BUCKETS + more.len()) * BLOCK_BYTES) as u32;
            let block = &mut blocks[bucket];
            if block.len() < BLOCK_BYTES {
                block.resize(BLOCK_BYTES - 8, 0);
                block[BLOCK_BYTES - 12] = 1;
                block.extend(offset.to_le_bytes());
                block.extend([0; 4]);
            }
            more.push(part.to_vec());
        }
    }
    let all = blocks.into_iter().chain(more);
    all.flat_map(|mut block| {
        block.resize(BLOCK_BYTES, 0);
        block
    })
    .collect()
}

fn open(bytes: &[u8]) -> Result<Book, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bkt");
    std::fs::write(&path, bytes).unwrap();
    Book::open(&path, &OpenOptions::default())
}

/// Every position that the lines of a book reach within some plies, with its moves.
pub(crate) fn positions(path: &Path, plies: usize) -> Vec<(Chess, Vec<Move>)> {
    let book = Book::open(path, &OpenOptions::default()).unwrap();
    let walk = book.walk(Order::Breadth).map(Result::unwrap);
    walk.take_while(|here| here.line.len() <= plies)
        .map(|here| {
            let moves = here.lookup.moves.iter();
            (here.position, moves.map(|known| known.mv).collect())
        })
        .filter(|(_, moves): &(_, Vec<_>)| !moves.is_empty())
        .collect()
}

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

/// A book of these positions, in the order of random numbers.
pub(crate) fn book_of(positions: &[(Chess, Vec<Move>)], seed: u64) -> Vec<u8> {
    let keys = Keys::new(seed);
    let cells = positions.iter().flat_map(|(position, moves)| {
        let moves = (0..).zip(moves);
        moves.map(|(n, mv)| cell(&keys, position, *mv, n % 4))
    });
    let mut cells: Vec<_> = cells.collect();
    cells.sort_by_key(|cell| cell[7]);
    file(&cells)
}

/// How many of these positions are found, and how many of those are wrong.
fn found(book: &LoadedBook, positions: &[(Chess, Vec<Move>)]) -> (usize, usize) {
    let (mut reached, mut wrong) = (0, 0);
    for (position, moves) in positions {
        let legal = position.legal_moves();
        let entries = book.entries_of(polyglot::key(position));
        let known = entries.map(|entry| {
            let mv = entry.mv.find(&legal).map(|n| legal[n]);
            (mv, entry.preference)
        });
        let mut known: Vec<_> = known.collect();
        let weight = |n: usize| Preference::Weight(WEIGHTS[n % 4]);
        let all = moves.iter().enumerate();
        let mut all: Vec<_> = all.map(|(n, mv)| (Some(*mv), weight(n))).collect();
        known.sort_by_key(|(mv, _)| mv.map(PackedMove::from_move));
        all.sort_by_key(|(mv, _)| mv.map(PackedMove::from_move));
        reached += usize::from(!known.is_empty());
        wrong += usize::from(!known.is_empty() && known != all);
    }
    (reached, wrong)
}

fn loaded(bytes: &[u8]) -> LoadedBook {
    match open(bytes) {
        Ok(Book::Loaded(book)) => book,
        other => panic!("{other:?}"),
    }
}

/// Positions are found from the file alone, and each of them is right, whatever the
/// constants are; the others are counted.
///
/// A difference is taken if it has twice the votes of any other. The same moves are
/// alternatives in many positions, and so the difference of one of them also fits where the
/// other was played: only the replies, and what follows them, tell the positions after them
/// apart. So a shallow file gives fewer equations: at the ends of its lines nothing follows.
/// The limits say what a reader is good for: of the positions with four plies after them nine
/// of ten, and also of a file that is nearly all ends more than are lost.
#[test]
fn positions_are_found_without_the_constants() {
    let is_early = |(position, _): &&(Chess, Vec<Move>)| position.fullmoves().get() <= 2;
    let mut of_early = Vec::new();
    for (plies, seed) in [(5, 1), (8, 2)] {
        let known = positions(Path::new(STARTER), plies);
        let book = loaded(&book_of(&known, seed));
        let (reached, wrong) = found(&book, &known);
        assert_eq!(wrong, 0);
        assert!(2 * reached > known.len(), "{reached} of {}", known.len());
        let early: Vec<_> = known.iter().filter(is_early).cloned().collect();
        of_early.push((found(&book, &early).0, early.len()));
        assert_eq!(book.positions(), reached as u64);
        assert_eq!(book.unread.parts, [""; 0], "a sound book");
        let missing = known.len() - reached;
        assert_eq!(book.unreached(), missing as u64);
        let notice = format!("{missing} of {} positions were not found", known.len());
        let notices = book.notices();
        assert!(
            notices.iter().any(|text| text.contains(&notice)),
            "{notices:?}"
        );
    }
    // The first four plies are the same in both files.
    let [(shallow, all), (deep, same)] = of_early[..] else {
        panic!("two files");
    };
    assert_eq!(all, same);
    assert!(
        shallow < deep && 10 * deep >= 9 * all,
        "{of_early:?}, {all}"
    );
}

#[test]
fn cells_that_are_no_moves_or_in_a_wrong_place_are_skipped_and_counted() {
    let start = Chess::default();
    let keys = Keys::new(3);
    let legal = start.legal_moves();
    let cells: Vec<_> = legal.iter().map(|mv| cell(&keys, &start, *mv, 0)).collect();
    let whole = file(&cells);
    let book = loaded(&whole);
    assert_eq!((book.len(), book.positions(), book.unreached()), (20, 1, 0));
    assert_eq!(book.notices(), [""; 0]);
    let bucket = (START_KEY >> 56) as usize & 0x7f;
    let at = bucket * BLOCK_BYTES;
    let mut bytes = whole.clone();
    // A square that is none, a key of another bucket, and another piece.
    bytes[at + 8] |= 0x7f;
    bytes[at + CELL_BYTES] ^= 1;
    let last = at + 19 * CELL_BYTES;
    bytes[last + 10] ^= 0x40;
    bytes.truncate(bytes.len() - 100);
    let book = loaded(&bytes);
    let notices = book.notices().join("\n");
    assert_eq!(book.unread.parts.len(), 4, "{notices}");
    for text in [
        format!("cut off at file byte {}: not 256 blocks", bytes.len()),
        format!("cells without a move were skipped: 1; the first at file byte {at}"),
        format!(
            "cells in a bucket of other keys were skipped: 1; the first at file byte {}",
            at + CELL_BYTES
        ),
        "1 moves skipped, as they are illegal".to_owned(),
    ] {
        assert!(notices.contains(&text), "{notices}");
    }
    // Without the start position nothing is found.
    let mut other = whole;
    other[at..at + BLOCK_BYTES].fill(0);
    let error = open(&other).unwrap_err().to_string();
    assert!(
        error.contains("no entry of an opening book (Shredder)"),
        "{error}"
    );
}

#[test]
fn a_book_is_recognized_by_its_first_cells() {
    use tabia_notation::kind::{BookKind, Kind};
    let start = Chess::default();
    let mv = start.legal_moves()[0];
    let kind = |bytes: &[u8]| Kind::recognize(Path::new("x"), &bytes[..1024]);
    let mut bytes = cell(&Keys::new(4), &start, mv, 1);
    bytes[0] = 0x80;
    bytes.resize(BLOCK_BYTES, 0);
    assert_eq!(kind(&bytes), Kind::Book(BookKind::Bkt));
    bytes[20] = 1;
    assert_eq!(kind(&bytes), Kind::Other);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(50))]
    #[test]
    fn damage_never_breaks_the_reader(
        changes in proptest::collection::vec((0_usize..2000, 0_u8..), 1..40),
        cut in 0_usize..50_000,
    ) {
        static WHOLE: std::sync::LazyLock<Vec<u8>> =
            std::sync::LazyLock::new(|| book_of(&positions(Path::new(STARTER), 2), 5));
        let mut bytes = WHOLE.clone();
        let filled: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
        for (at, byte) in changes {
            bytes[filled[at % filled.len()]] = byte;
        }
        bytes.truncate(bytes.len() - cut);
        let _ = open(&bytes);
    }
}
