use std::collections::BTreeMap;
use std::fs;

use shakmaty::{Chess, Position as _};

use super::*;
use crate::ctg::RewriteOptions;
use crate::{Lookup, Probe as _, Wanted, polyglot};
use tabia_io::atomic::Previous;
use tabia_io::progress::{Progress, Watch};

fn packed(uci: &str) -> PackedMove {
    let legal = Chess::default().legal_moves();
    let mv = legal
        .iter()
        .map(|mv| PackedMove::from_move(*mv))
        .find(|mv| mv.to_string() == uci);
    mv.unwrap()
}

/// The start position with three moves, one of them twice and one never to be played, and
/// the position after 1.e4.
fn entries() -> Vec<[u8; ENTRY_BYTES]> {
    let start = Chess::default();
    let here = polyglot::key(&start);
    let mut after = start.clone();
    let mv = start.legal_moves()[packed("e2e4").find(&start.legal_moves()).unwrap()];
    after.play_unchecked(mv);
    let there = polyglot::key(&after);
    let mut all = vec![
        encode(here, packed("e2e4"), 40, 7),
        encode(here, packed("d2d4"), 30, 0),
        encode(here, packed("e2e4"), 30, 0),
        encode(here, packed("a2a3"), 0, 0),
        encode(here, PackedMove(0x0fff), 9, 0),
        encode(
            there,
            PackedMove::new(shakmaty::Square::E7, shakmaty::Square::E5, None),
            1,
            0,
        ),
    ];
    all.sort_by_key(key_of);
    all
}

fn open(bytes: &[u8], mmap: bool) -> Result<BinBook, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bin");
    fs::write(&path, bytes).unwrap();
    BinBook::open(&path, &OpenOptions { mmap })
}

fn answer(book: &BinBook) -> Vec<(String, Preference, bool)> {
    let mut found = Lookup::default();
    book.probe(&Chess::default(), Wanted::Transpositions, &mut found)
        .unwrap();
    assert!(found.here.is_some());
    let row = |entry: &crate::BookMove| {
        (
            entry.mv.to_string(),
            entry.preference,
            entry.after.is_some(),
        )
    };
    found.moves.iter().map(row).collect()
}

#[test]
fn moves_come_in_stored_order_and_equal_ones_add_up() {
    let expected = [
        ("e2-e4".to_owned(), Preference::Weight(70), true),
        ("d2-d4".to_owned(), Preference::Weight(30), false),
        ("a2-a3".to_owned(), Preference::Weight(0), false),
    ];
    for mmap in [true, false] {
        let book = open(entries().as_flattened(), mmap).unwrap();
        assert_eq!(answer(&book), expected);
        assert_eq!((book.len(), book.header_entries()), (6, 0));
        assert!(book.notices().is_empty());
    }
}

#[test]
fn a_header_of_key_zero_is_passed_over() {
    let mut bytes = encode(0, PackedMove(0x4050), 0x4740, 0).to_vec();
    bytes.extend(encode(0, PackedMove(1), 1, 1));
    bytes.extend(entries().as_flattened());
    let book = open(&bytes, true).unwrap();
    assert_eq!((book.len(), book.header_entries()), (6, 2));
    assert_eq!(answer(&book).len(), 3);
    let mut seen = 0;
    book.for_each(|key, _| {
        assert_ne!(key, 0);
        seen += 1;
    })
    .unwrap();
    assert_eq!(seen, 6);
}

#[test]
fn an_unsorted_book_is_sorted_and_says_so() {
    let sorted = open(entries().as_flattened(), true).unwrap();
    let mut turned = entries();
    turned.rotate_left(5);
    let book = open(turned.as_flattened(), true).unwrap();
    assert_eq!(answer(&book), answer(&sorted));
    let notice = &book.notices()[0];
    assert!(
        notice.contains("not sorted") && notice.contains("file byte"),
        "{notice}"
    );
    let first = book.entries_of(polyglot::key(&Chess::default())).unwrap()[0];
    let at = usize::try_from(first.offset).unwrap();
    let there = turned.as_flattened()[at..at + ENTRY_BYTES].to_vec();
    assert_eq!(
        there,
        encode(key_of(there.first_chunk().unwrap()), first.mv, 40, 7)
    );
}

#[test]
fn a_cut_off_book_says_where() {
    let all = entries();
    let bytes = all.as_flattened();
    let book = open(&bytes[..bytes.len() - 5], true).unwrap();
    assert!(
        book.notices()[0].contains("file byte 80: the last 11 bytes"),
        "{:?}",
        book.notices()
    );
    assert_eq!(book.unread.parts, book.notices());
    for few in [0, 1, 15] {
        let error = open(&bytes[..few], true).unwrap_err().to_string();
        assert!(error.contains(&format!("{few} bytes")), "{error}");
    }
}

/// Weights are added up by a model that knows nothing of files.
#[test]
fn merged_books_have_the_sums_of_the_weights() {
    let folder = tempfile::tempdir().unwrap();
    let moves = ["e2e4", "d2d4", "a2a3", "c2c4", "g1f3"].map(packed);
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    for most in [100, 65_535] {
        let mut paths = Vec::new();
        // By key, the moves in the order of the books: weight and learn.
        let mut model: BTreeMap<u64, Vec<(PackedMove, u64, u32)>> = BTreeMap::new();
        let mut read = 0;
        for number in 0..3 {
            let mut bytes = Vec::new();
            for key in 1..40_u64 {
                for mv in moves {
                    if next(3) == 0 {
                        continue;
                    }
                    let (weight, learn) = (next(most + 1), next(1000) as u32);
                    bytes.extend(encode(key, mv, weight as u16, learn));
                    read += 1;
                    let known = model.entry(key).or_default();
                    match known.iter_mut().find(|(known, ..)| *known == mv) {
                        Some((_, sum, _)) => *sum += weight,
                        None => known.push((mv, weight, learn)),
                    }
                }
            }
            let path = folder.path().join(format!("{number}.bin"));
            fs::write(&path, bytes).unwrap();
            paths.push(path);
        }
        for order in [MergeOrder::FirstWins, MergeOrder::Heaviest] {
            let target = folder.path().join("merged.bin");
            let mut last = None;
            let mut see = |progress: Progress| last = Some((progress.done, progress.total));
            let go_on = std::sync::atomic::AtomicBool::new(false);
            let watch = &mut Watch::new(&mut see, &go_on);
            let options = RewriteOptions::default().old(Previous::Replace);
            let done = merge(&paths, &target, order, &options, watch).unwrap();
            let (written, notices) = (done.written, done.notices);
            assert_eq!(last, Some((read, Some(read))));
            // The keys are those of no real position.
            let says = |text: &String| text.contains("no move in the start position");
            assert!(
                notices.len() == 3 && notices.iter().all(says),
                "{notices:?}"
            );
            let mut expected = Vec::new();
            for (key, moves) in &model {
                let mut moves = moves.clone();
                if order == MergeOrder::Heaviest {
                    moves.sort_by_key(|(_, weight, _)| std::cmp::Reverse(*weight));
                }
                let largest = moves.iter().map(|(_, weight, _)| *weight).max().unwrap();
                let scale = 65_535.0 / largest.max(65_535) as f64;
                for (mv, weight, learn) in moves {
                    let fitted = match weight {
                        0 => 0,
                        weight => (weight as f64 * scale).round().max(1.0) as u16,
                    };
                    expected.extend(encode(*key, mv, fitted, learn));
                }
            }
            let merged = fs::read(&target).unwrap();
            assert_eq!(merged, expected);
            let entries = (merged.len() / ENTRY_BYTES) as u64;
            let counts = (written.positions, written.moves, written.bytes);
            assert_eq!(counts, (model.len() as u64, entries, merged.len() as u64));
        }
    }
}

/// Entries that look like nothing: sixteen bytes of a generator each.
fn noise(entries: usize) -> Vec<[u8; ENTRY_BYTES]> {
    let mut random = 7_u64;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        random ^ random >> 29
    };
    let entry = || (u128::from(next()) << 64 | u128::from(next())).to_be_bytes();
    std::iter::repeat_with(entry).take(entries).collect()
}

#[test]
fn what_is_no_book_is_refused_and_the_reasons_are_given() {
    let unsorted = noise(4096);
    let mut sorted = unsorted.clone();
    sorted.sort_unstable();
    // Bitboards of a few squares, as engines keep them.
    let table = |n: u64| {
        (u128::from(1_u64 << (n % 61)) << 64 | u128::from(n % 7 * 0x0101_0040)).to_be_bytes()
    };
    let table: Vec<_> = (0..2048).map(table).collect();
    let weights: Vec<_> = (0..2048_u32)
        .map(|n| {
            let weight = |at: u32| ((n * 8 + at) * 7919 % 101) as i16 - 50;
            let bytes = (0..8).flat_map(|at| weight(at).to_le_bytes());
            *bytes.collect::<Vec<u8>>().first_chunk().unwrap()
        })
        .collect();
    for (name, entries, order) in [
        ("noise", &unsorted, "not sorted (file byte "),
        ("sorted noise", &sorted, "its keys are sorted"),
        ("a table", &table, "not sorted"),
        ("a network", &weights, "not sorted"),
    ] {
        let error = open(entries.as_flattened(), true).unwrap_err().to_string();
        for word in [
            "not a Polyglot opening book",
            order,
            "start position",
            "moves looked at",
        ] {
            assert!(error.contains(word), "{name}: {error}");
        }
    }
}

/// A book of the given positions, each with its first legal move.
fn of_positions(positions: &[Chess]) -> Vec<[u8; ENTRY_BYTES]> {
    let entry = |position: &Chess| {
        let mv = PackedMove::from_move(position.legal_moves()[0]);
        encode(polyglot::key(position), mv, 1, 0)
    };
    let mut entries: Vec<_> = positions.iter().map(entry).collect();
    entries.sort_unstable();
    entries
}

#[test]
fn genuine_books_of_all_kinds_are_kept() {
    let position = |fen: &str, mode| {
        let fen: shakmaty::fen::Fen = fen.parse().unwrap();
        fen.into_position::<Chess>(mode).unwrap()
    };
    let after = |moves: &[&str]| {
        let mut position = Chess::default();
        for uci in moves {
            let uci: shakmaty::uci::UciMove = uci.parse().unwrap();
            position.play_unchecked(uci.to_move(&position).unwrap());
        }
        position
    };
    let standard = shakmaty::CastlingMode::Standard;
    let free = shakmaty::CastlingMode::Chess960;
    let endgames = [
        "8/P6k/8/8/8/8/7p/6K1 w - - 0 1",
        "8/8/4k3/8/8/3QK3/8/8 w - - 0 1",
        "8/8/8/8/2k5/8/1p6/4K3 b - - 0 1",
    ];
    let endgames = endgames.map(|fen| position(fen, standard));
    let chess960 = "bqnrkbnr/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBNR w HDhd - 0 1";
    let castles = "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1";
    let chess960 = [position(chess960, free), position(castles, free)];
    for (name, positions, is_near) in [
        ("one for Black", &[after(&["e2e4"])][..], true),
        (
            "one that leaves out 1.e4 e5",
            &[after(&["e2e4", "e7e5"])],
            true,
        ),
        (
            "one from the fourth ply",
            &[after(&["e2e4", "c7c5", "g1f3"])],
            true,
        ),
        ("endgames", &endgames, false),
        ("Chess960", &chess960, false),
    ] {
        let book = open(of_positions(positions).as_flattened(), true).unwrap();
        assert_eq!(crate::is_near_start(&book).unwrap(), is_near, "{name}");
        let notices = book.notices();
        let says = notices.iter().any(|text| text.contains("plies after it"));
        assert_eq!(
            (says, notices.len()),
            (!is_near, usize::from(!is_near)),
            "{name}"
        );
    }
    // A few marks of some tool, and a book of which most was overwritten.
    let mut entries = entries();
    entries.extend(noise(10));
    entries.sort_unstable();
    assert_eq!(
        open(entries.as_flattened(), true).unwrap().notices(),
        [""; 0]
    );
}

/// Keys near each other and far apart, up to twelve times each.
fn many(count: u64, spread: u64) -> Vec<[u8; ENTRY_BYTES]> {
    let key = |n: u64| (n + 1).wrapping_mul(spread);
    let mut keys: Vec<u64> = (0..count)
        .flat_map(|n| vec![key(n); if n % 7 == 0 { 12 } else { 1 }])
        .collect();
    keys.sort_unstable();
    let mv = packed("e2e4");
    keys.iter().map(|key| encode(*key, mv, 1, 0)).collect()
}

#[test]
fn a_search_finds_the_first_entry_of_every_key_and_no_other() {
    for count in [1, 20, 255, 256, 257, 1000, 5000] {
        for spread in [2, 0x9e37_79b9_7f4a_7c16] {
            let entries = many(count, spread);
            let keys: Vec<u64> = entries.iter().map(key_of).collect();
            let file = DataFile::from_bytes(Path::new("x.bin"), entries.concat());
            let (book, _) = BinBook::entries_in(file).unwrap();
            let view = book.view().unwrap();
            let near = keys
                .iter()
                .flat_map(|key| [key - 1, *key, key.wrapping_add(1)]);
            for key in near.chain([0, 1, u64::MAX]) {
                let place = keys.partition_point(|known| *known < key);
                let expected = (place as u64, keys.get(place) == Some(&key));
                assert_eq!(
                    book.search(&view, key).unwrap(),
                    expected,
                    "{count} {key:x}"
                );
            }
        }
    }
}

/// Each read of a file that is not mapped is a call of the system.
#[test]
fn a_search_reads_the_file_three_times_at_most() {
    let entries = many(100_000, 0x9e37_79b9_7f4a_7c16);
    let bytes = entries.concat();
    let length = bytes.len() as u64;
    let reads = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let count = || reads.swap(0, std::sync::atomic::Ordering::Relaxed);
    let counted = std::sync::Arc::clone(&reads);
    let reader = move |offset: u64, buffer: &mut [u8]| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let rest = &bytes[offset as usize..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    };
    let file = DataFile::from_reader(Path::new("x.bin"), length, reader);
    let (book, _) = BinBook::entries_in(file).unwrap();
    let view = book.view().unwrap();
    count();
    for entry in entries.iter().step_by(997) {
        assert!(book.search(&view, key_of(entry)).unwrap().1);
        assert!((1..=3).contains(&count()));
    }
}

/// Until it is opened again, with the keys that it has now.
#[test]
fn a_file_with_other_keys_in_its_place_is_searched_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bin");
    let old = many(20_000, 0x9e37_79b9_7f4a_7c16);
    // The first keys are as before, and those after them are nearer to each other.
    let mut dense = old.clone();
    let last = key_of(&old[BLOCK]);
    for (entry, key) in dense[BLOCK..].iter_mut().zip(last..) {
        *entry = encode(key, packed("e2e4"), 1, 0);
    }
    for new in [many(20_000, 0x1234_5677_89ab_cdea), dense] {
        fs::write(&path, old.concat()).unwrap();
        let file = DataFile::open(&path, false).unwrap();
        let (book, _) = BinBook::entries_in(file).unwrap();
        fs::write(&path, new.concat()).unwrap();
        let view = book.view().unwrap();
        for entry in new.iter().step_by(97) {
            assert!(book.search(&view, key_of(entry)).unwrap().1);
        }
    }
}
