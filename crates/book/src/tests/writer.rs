//! The writer: the book contains what was written, and no other file remains.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::common::{Folder, TestBook, contents, in_order, position, random_book, record};
use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, FromSetup as _, PositionError, fen::Fen};
use tabia_book::{
    Annotation, PositionRecord, Probe, Stats,
    ctg::{
        BookWriter, CanonicalBoard, CtgBook, Error, Key, MAX_COUNT, OpenOptions, Splits,
        WriteOptions, Written, encode_entry, hash,
    },
};
use tabia_io::atomic::Previous;

fn open(path: &Path) -> CtgBook {
    let book = CtgBook::open(path, &OpenOptions::default()).unwrap();
    assert_eq!(book.notices(), [""; 0]);
    book
}

fn encoded(book: &TestBook) -> Vec<Vec<u8>> {
    in_order(book.contents().into_values())
}

fn key_of(entry: &[u8]) -> Key {
    Key::from_prefix(entry).unwrap()
}

/// Options that replace an existing book.
fn over() -> WriteOptions {
    WriteOptions::default().old(Previous::Replace)
}

fn write(path: &Path, entries: &[Vec<u8>], options: WriteOptions) -> Result<Written, Error> {
    let mut writer = BookWriter::create(path, options)?;
    for entry in entries {
        writer.push(entry)?;
    }
    writer.finish(7)
}

/// Every entry of a book, as bytes, in the order of the writer.
fn read(path: &Path) -> Vec<Vec<u8>> {
    in_order(contents(path).into_values())
}

/// Checks everything in the files that does not depend on chess.
#[track_caller]
fn sound(path: &Path, entries: &[Vec<u8>], written: Written) {
    assert_eq!(read(path), entries);
    let ctg = fs::read(path).unwrap();
    let cto = fs::read(path.with_extension("cto")).unwrap();
    let ctb = fs::read(path.with_extension("ctb")).unwrap();
    let moves: usize = entries
        .iter()
        .map(|entry| usize::from(entry[key_of(entry).as_bytes().len()] / 2))
        .sum();
    assert_eq!(written.positions, entries.len() as u64);
    assert_eq!(written.moves, moves as u64);
    assert_eq!(written.bytes, (ctg.len() + cto.len() + ctb.len()) as u64);
    assert_eq!(ctg.len(), 4096 * (1 + written.pages as usize));
    assert_eq!(ctg[16..20], written.pages.to_be_bytes());
    assert_eq!(ctg[24..28], (entries.len() as u32).to_be_bytes());
    assert_eq!(ctg[28..32], 7_u32.to_be_bytes());
    // Zeros after the used part.
    for page in ctg[4096..].chunks(4096) {
        let used = usize::from(u16::from_be_bytes([page[2], page[3]]));
        assert!(page[used..].iter().all(|&byte| byte == 0));
    }
    // Every key is in the first slot on its path that has a page.
    let slots: Vec<i32> = cto[16..]
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i32::from_be_bytes(*bytes))
        .collect();
    assert_eq!(slots.len() as u64, written.slots);
    let mut seen: Vec<i32> = slots.iter().copied().filter(|&page| page >= 0).collect();
    seen.sort_unstable();
    assert!(seen.iter().copied().eq(0..written.pages as i32));
    let bits = |slot: usize| {
        ctb.get(12 + slot / 8)
            .is_some_and(|byte| byte >> (slot % 8) & 1 != 0)
    };
    let upper = u32::from_be_bytes(ctb[8..12].try_into().unwrap()) as usize;
    let lower = u32::from_be_bytes(ctb[4..8].try_into().unwrap()) as usize;
    assert_eq!(ctb.len(), 12 + upper / 8);
    assert_eq!(cto[12..16], ctb[4..8]);
    let lowest = slots.iter().position(|&page| page >= 0).unwrap();
    assert_eq!(lower, lowest / 8 * 8);
    let mut split = std::collections::BTreeSet::new();
    for entry in entries {
        let hash = key_of(entry).hash() as usize;
        let live = (0..32)
            .map(|level| (1 << level) - 1)
            .map(|n| (hash & n) + n)
            .find(|&slot| {
                let live = slots[slot] >= 0;
                assert_eq!(bits(slot), !live);
                if !live {
                    split.insert(slot);
                }
                live
            })
            .unwrap();
        let page = 4096 * (1 + slots[live] as usize);
        let page = &ctg[page..page + 4096];
        assert!(page.windows(entry.len()).any(|bytes| bytes == entry));
    }
    // All bytes that readers may touch on a miss are in the file.
    if upper > 0 {
        let digits = usize::BITS - upper.leading_zeros();
        assert!(slots.len() > upper + (1 << digits));
    }
    for slot in (0..slots.len()).filter(|&slot| bits(slot)) {
        let n = (slot + 1).next_power_of_two();
        let n = if n == slot + 1 { n } else { n / 2 };
        for child in [slot + n, slot + 2 * n] {
            assert!(bits(child) || slots[child] >= 0, "{slot} {child}");
        }
    }
}

#[test]
fn the_genuine_book_comes_out_byte_for_byte() {
    let source = Path::new("tests/data/ctg/simple.ctg");
    let book = open(source);
    let mut entries: Vec<(Vec<u8>, u64)> = book
        .entries()
        .map(|entry| {
            let entry = entry.unwrap();
            let mut bytes = Vec::new();
            encode_entry(&entry.key, &entry.moves, &entry.record, &mut bytes);
            (bytes, entry.place.file_offset())
        })
        .collect();
    entries.sort_by_key(|(entry, _)| key_of(entry).hash().reverse_bits());
    let folder = Folder::new();
    let path = folder.join("simple.ctg");
    let options = WriteOptions::default().split_root(false);
    let mut writer = BookWriter::create(&path, options).unwrap();
    for (entry, rank) in &entries {
        writer.push_ranked(entry, *rank).unwrap();
    }
    let written = writer.finish(1).unwrap();
    assert_eq!((written.positions, written.moves), (4, 3));
    assert_eq!((written.pages, written.slots, written.bytes), (1, 1, 8224));
    for extension in ["ctg", "cto", "ctb"] {
        let expected = fs::read(source.with_extension(extension)).unwrap();
        let found = fs::read(path.with_extension(extension)).unwrap();
        assert!(found == expected, "{extension}");
    }
}

#[test]
fn without_a_freedom_taken_slot_0_is_split() {
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let (book, positions) = random_book(1, 3);
    let entries = encoded(&book);
    let written = write(&path, &entries, WriteOptions::default()).unwrap();
    sound(&path, &entries, written);
    assert_eq!((written.pages, written.slots), (2, 8 + 16 + 1));
    assert!(positions.iter().all(|p| open(&path).contains(p).unwrap()));
}

#[test]
fn a_book_of_nothing_and_one_of_one_entry() {
    for count in [0, 1] {
        let folder = Folder::new();
        let path = folder.join("b.ctg");
        let (book, _) = random_book(1, 0);
        let entries = &encoded(&book)[..count];
        let written = write(&path, entries, WriteOptions::default()).unwrap();
        sound(&path, entries, written);
        assert_eq!(written.pages, 2);
        assert_eq!(open(&path).contains(&Chess::default()).unwrap(), count == 1);
    }
}

#[test]
fn the_same_index_as_from_a_trie_in_memory() {
    let folder = Folder::new();
    let (mut book, positions) = random_book(40, 80);
    let entries = encoded(&book);
    book.games = 7;
    book.clean = true;
    let expected = book.write(&folder, "expected");
    let path = folder.join("b.ctg");
    let written = write(&path, &entries, WriteOptions::default()).unwrap();
    sound(&path, &entries, written);
    let bytes = |path: &Path, extension| fs::read(path.with_extension(extension)).unwrap();
    assert_eq!(bytes(&path, "ctb"), bytes(&expected, "ctb"));
    let live = |path: &Path| {
        let slots = bytes(path, "cto")[16..].to_vec();
        let live = slots.chunks(4).map(|slot| slot != [0xff; 4]);
        let mut live: Vec<bool> = live.collect();
        live.truncate(live.iter().rposition(|&live| live).unwrap() + 1);
        live
    };
    assert_eq!(live(&path), live(&expected));
    assert!(positions.iter().all(|p| open(&path).contains(p).unwrap()));

    // A book's splits are preserved, minimal or not.
    book.page_limit = 700;
    let expected = book.write(&folder, "expected");
    let slots = bytes(&expected, "cto");
    let live_slots = slots[16..]
        .chunks(4)
        .zip(0..)
        .filter(|(slot, _)| *slot != [0xff; 4])
        .map(|(_, number)| number);
    let options = over()
        .split_root(true)
        .keep_splits(Some(Splits::above(live_slots)));
    let written = write(&path, &entries, options).unwrap();
    sound(&path, &entries, written);
    assert!(written.pages > 100);
    assert_eq!(bytes(&path, "ctb"), bytes(&expected, "ctb"));
    assert_eq!(live(&path), live(&expected));
}

/// Bytes with a given hash that are the key of no position: `count` keys of 30 bytes, at
/// most 16, whose hashes have the last `bits` in common.
fn keys_alike(count: usize, bits: u32) -> Vec<Vec<u8>> {
    // The hash is a sum along a path that depends on the nibbles so far modulo 16. Two
    // blocks with the same sum and the same end of the path are interchangeable; four
    // such pairs make 16 keys.
    let mut prefix = vec![0x1e];
    let mut pairs = Vec::new();
    while pairs.len() < 4 {
        let mut seen = BTreeMap::new();
        let mut random = super::common::choices(pairs.len() as u64 + 1);
        let pair = loop {
            let block: Vec<u8> = (0..7).map(|_| random.next().unwrap() as u8).collect();
            let steps: u32 = block
                .iter()
                .map(|b| u32::from(b & 15) + u32::from(b >> 4))
                .sum();
            let end = (
                hash(&[prefix.clone(), block.clone()].concat()) << (32 - bits),
                steps % 16,
            );
            match seen.insert(end, block.clone()) {
                Some(other) if other != block => break [other, block],
                _ => {}
            }
        };
        prefix.extend_from_slice(&pair[0]);
        pairs.push(pair);
    }
    let keys = (0..count).map(|n| {
        let blocks = pairs.iter().enumerate().map(|(i, pair)| &pair[n >> i & 1]);
        [vec![0x1e], blocks.flatten().copied().collect(), vec![0]].concat()
    });
    keys.collect()
}

fn entry(key: &[u8], moves: usize) -> Vec<u8> {
    let mut bytes = key.to_vec();
    bytes.push(2 * moves as u8 + 1);
    bytes.extend((0..2 * moves).map(|n| n as u8));
    bytes.extend([1; 33]);
    bytes
}

#[test]
fn a_run_of_equal_hashes_fills_a_page_and_no_more() {
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let keys = keys_alike(16, 32);
    assert!(
        keys.iter()
            .all(|key| hash(key) == hash(&keys[0]) && key.len() == 30)
    );
    let mut fitting: Vec<Vec<u8>> = keys.iter().take(13).map(|key| entry(key, 118)).collect();
    // 13 entries of 300 bytes; the last one fills the page.
    let left = 4092 - 13 * 300;
    fitting.push(entry(&keys[13], (left - 64) / 2));
    let fitting = in_order(fitting);
    assert_eq!(fitting.iter().map(Vec::len).sum::<usize>(), 4092);
    let written = write(&path, &fitting, WriteOptions::default()).unwrap();
    sound(&path, &fitting, written);
    assert_eq!(written.pages, 2);

    let mut too_much = fitting;
    too_much.push(entry(&keys[14], 0));
    let error = write(&path, &in_order(too_much.clone()), over()).unwrap_err();
    assert!(
        matches!(error, Error::HashRun { most: 4092, .. }),
        "{error}"
    );
    assert_eq!(folder.names(), ["b.ctb", "b.ctg", "b.cto"]);
    assert_eq!(read(&path).len(), 14);
}

#[test]
fn hashes_alike_in_many_bits_split_deeply() {
    // Of many keys, those whose last 13 bits equal those of the first.
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut random = super::common::choices(5);
    for _ in 0..200_000 {
        let mut key = vec![0x1e];
        key.extend(random.by_ref().take(29).map(|n| n as u8));
        if keys.is_empty() || (hash(&key) ^ hash(&keys[0])).trailing_zeros() >= 13 {
            keys.push(key);
        }
    }
    assert!(keys.len() > 15);
    let entries = in_order(keys.iter().map(|key| entry(key, 127)));
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let written = write(&path, &entries, WriteOptions::default()).unwrap();
    sound(&path, &entries, written);
    assert!(written.slots > 1 << 14, "{written:?}");
}

#[test]
fn an_index_larger_than_any_book_is_refused() {
    let keys = keys_alike(16, 26);
    let entries = in_order(keys.iter().map(|key| entry(key, 118)));
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let error = write(&path, &entries, WriteOptions::default()).unwrap_err();
    assert!(matches!(error, Error::DeepIndex { .. }), "{error}");
    assert!(folder.names().is_empty());
}

#[test]
fn wrong_entries_are_refused_and_change_nothing() {
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let (book, _) = random_book(1, 30);
    let entries = encoded(&book);
    let mut writer = BookWriter::create(&path, WriteOptions::default()).unwrap();
    assert_eq!(folder.names().len(), 1);
    writer.push(&entries[5]).unwrap();
    let text = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert!(text(writer.push(&entries[5])).contains("occurs twice"));
    assert!(text(writer.push(&entries[4])).contains("is out of order"));
    assert!(text(writer.push(&entries[6][..20])).contains("not a complete entry"));
    assert!(text(writer.push(&[])).contains("not a complete entry"));
    let long = [entries[6].clone(), vec![0, 0]].concat();
    assert!(text(writer.push(&long)).contains("2 bytes follow the entry"));
    writer.push(&entries[6]).unwrap();
    let written = writer.finish(7).unwrap();
    sound(&path, &entries[5..7], written);
    assert_eq!(folder.names(), ["b.ctb", "b.ctg", "b.cto"]);
}

#[test]
fn dropping_an_unfinished_book_leaves_what_was_there() {
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let (book, _) = random_book(30, 60);
    let entries = encoded(&book);
    let mut writer = BookWriter::create(&path, WriteOptions::default()).unwrap();
    entries.iter().for_each(|entry| writer.push(entry).unwrap());
    drop(writer);
    assert_eq!(folder.names(), [""; 0]);

    write(&path, &entries[..9], WriteOptions::default()).unwrap();
    let mut writer = BookWriter::create(&path, over()).unwrap();
    entries.iter().for_each(|entry| writer.push(entry).unwrap());
    drop(writer);
    assert_eq!(folder.names(), ["b.ctb", "b.ctg", "b.cto"]);
    assert_eq!(read(&path), entries[..9]);
}

#[test]
fn index_files_in_any_case_go_with_the_old_book() {
    let folder = Folder::new();
    let (book, _) = random_book(2, 30);
    let entries = encoded(&book);
    for name in ["b.CTO", "B.cto", "b.Ctb", "b.CTb", "other.cto"] {
        fs::write(folder.join(name), "old").unwrap();
    }
    let path = folder.join("b.ctg");
    let written = write(&path, &entries, over()).unwrap();
    sound(&path, &entries, written);
    let expected = ["b.ctb", "b.ctg", "b.cto", "other.cto"];
    assert_eq!(folder.names(), expected);
}

#[test]
fn places_where_no_book_can_be_are_named() {
    let folder = Folder::new();
    let create = |path: PathBuf| {
        let error = BookWriter::create(&path, WriteOptions::default()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&path.display().to_string()), "{text}");
        text
    };
    let text = create(folder.join("none").join("b.ctg"));
    assert!(text.contains("there is no folder"), "{text}");
    let text = create(folder.join("b.bin"));
    assert!(text.contains("must end with .ctg or .bin"), "{text}");
    fs::create_dir(folder.join("d.ctg")).unwrap();
    let text = create(folder.join("d.ctg"));
    assert!(text.contains("directory"), "{text}");
    if cfg!(target_os = "linux") {
        let text = create("/proc/b.ctg".into());
        assert!(text.contains("cannot be written"), "{text}");
        assert!(!text.contains(".tmp"), "{text}");
    }
    assert_eq!(folder.names(), ["d.ctg"]);
}

#[cfg(unix)]
#[test]
fn a_book_is_readable_to_whom_the_old_one_was() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::write(folder.join("any"), "").unwrap();
    write(&path, &[], WriteOptions::default()).unwrap();
    assert_eq!(mode(&path), mode(&folder.join("any")));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write(&path, &[], over()).unwrap();
    assert_eq!(mode(&path), 0o640);
}

/// Positions for every number of bits of the board modulo 8, with and without castling
/// rights and en passant.
const PADDINGS: &str = include_str!("../../tests/data/ctg/vectors.csv");

#[test]
fn extremes_come_back_as_they_went() {
    let mut book = TestBook::default();
    for (n, line) in PADDINGS.lines().skip(1).enumerate() {
        let board = CanonicalBoard::from_position(&position(line.split(',').next().unwrap()));
        let moves = (0..n * 3).map(|m| (m as u8, Annotation(m as u8)));
        book.add_key(board.unwrap().key(), moves.collect(), record(n as u32));
    }
    let saturated = PositionRecord {
        stats: Stats {
            games: MAX_COUNT,
            wins: MAX_COUNT,
            draws: MAX_COUNT,
            losses: MAX_COUNT,
            own_rated: MAX_COUNT,
            own_rating_sum: u32::MAX.into(),
            other_rated: MAX_COUNT,
            other_rating_sum: u32::MAX.into(),
        },
        points: u32::MAX,
        recommendation: 0xff,
        learn_value: -128,
        commentary: 0xff,
    };
    // The longest key of a position: kings, 30 queens, and no flags in the
    // last byte.
    let queens: Fen = "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1"
        .parse()
        .unwrap();
    let queens = Chess::from_setup(queens.into_setup(), CastlingMode::Standard)
        .or_else(PositionError::ignore_too_much_material)
        .unwrap();
    let board = CanonicalBoard::from_position(&queens).unwrap();
    assert_eq!(board.key().as_bytes().len(), 30);
    let all = (0..127).map(|m| (m as u8, Annotation(0xff)));
    book.add_key(board.key(), all.collect(), saturated);
    for length in 1..=31_u8 {
        let key: Vec<u8> = [0x60 | length].into_iter().chain(vec![0xa5; 30]).collect();
        let key = Key::from_prefix(&key).unwrap();
        book.add_key(key, Vec::new(), record(length.into()));
    }
    let folder = Folder::new();
    let path = folder.join("b.ctg");
    let entries = encoded(&book);
    let written = write(&path, &entries, WriteOptions::default()).unwrap();
    sound(&path, &entries, written);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_games_come_back_as_they_went(games in 1..30_u64, plies in 1..90_usize, split_root: bool) {
        let (book, positions) = random_book(games, plies);
        let entries = encoded(&book);
        let folder = Folder::new();
        let path = folder.join("b.ctg");
        let options = WriteOptions::default().split_root(split_root).keep_splits(None);
        let written = write(&path, &entries, options).unwrap();
        sound(&path, &entries, written);
        let book = open(&path);
        prop_assert!(positions.iter().all(|p| book.contains(p).unwrap()));
    }

    #[test]
    fn any_entries_come_back_as_they_went(
        keys in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 30), 0..120),
        lengths in prop::collection::vec((1..=31_u8, 0..=127_usize), 120),
        kept in prop::collection::vec(0..3000_u32, 0..4),
    ) {
        let entries: BTreeMap<Vec<u8>, Vec<u8>> = keys
            .iter()
            .zip(&lengths)
            .map(|(bytes, &(length, moves))| {
                let mut key = vec![length | (bytes[0] & 0x60)];
                key.extend(&bytes[..usize::from(length) - 1]);
                let entry = entry(&key, moves);
                (key, entry)
            })
            .collect();
        let entries = in_order(entries.into_values());
        let folder = Folder::new();
        let path = folder.join("b.ctg");
        let options = WriteOptions::default().split_root(true).keep_splits(Some(Splits::above(kept)));
        let written = write(&path, &entries, options).unwrap();
        sound(&path, &entries, written);
    }
}
