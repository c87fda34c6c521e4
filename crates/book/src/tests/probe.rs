//! Look-ups in a genuine book and in synthetic ones.

use std::{fs, path::Path};

use super::common::{
    TestBook, choices, colours_exchanged, position, random_book, record, uci, wander,
    wings_exchanged,
};
use shakmaty::{CastlingMode, Chess, Position, fen::Fen};
use tabia_book::{
    Annotation, BookMove, Lookup, PositionRecord, Probe, Wanted,
    ctg::{CanonicalBoard, CtgBook, Error, LookupStep, OpenOptions, encode_move_byte},
};
use tabia_io::input::state::Change;

fn both_ways() -> [OpenOptions; 2] {
    [true, false].map(|mmap| OpenOptions::default().mmap(mmap))
}

fn open(path: &Path) -> CtgBook {
    CtgBook::open(path, &OpenOptions::default()).unwrap()
}

fn probe(book: &CtgBook, position: &Chess) -> Lookup {
    let mut found = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut found)
        .unwrap();
    found
}

fn moves(found: &Lookup) -> Vec<String> {
    found
        .moves
        .iter()
        .map(|m| {
            let stored = if m.transposition { "~" } else { "" };
            format!("{stored}{}", m.mv.to_uci(CastlingMode::Standard))
        })
        .collect()
}

fn simple() -> &'static Path {
    Path::new("tests/data/ctg/simple.ctg")
}

const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
const AFTER_D4: &str = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1";

#[test]
fn the_genuine_book_byte_by_byte() {
    for options in both_ways() {
        let book = CtgBook::open(simple(), &options).unwrap();
        assert_eq!(book.notices(), [""; 0]);
        let entries: Vec<_> = book.entries().map(Result::unwrap).collect();
        let rows: Vec<_> = entries
            .iter()
            .map(|entry| {
                (
                    entry.place.offset,
                    entry.key.to_string(),
                    entry.key.hash(),
                    entry.moves.iter().map(|m| (m.0, m.1.0)).collect::<Vec<_>>(),
                    entry.record.stats.games,
                    entry.record.points,
                )
            })
            .collect();
        let key = |middle: &str| format!("56b60f7960f3a60f58{middle}a60f5960f3b60f7f");
        assert_eq!(
            rows,
            [
                (4, key("b078e0c721"), 0x8c97_8593, vec![], 1, 5),
                (
                    60,
                    key("b078e0c1e1"),
                    0xeb7e_d3d7,
                    vec![(0x5f, 0xe0), (0xe6, 0xe0)],
                    2,
                    10
                ),
                (
                    120,
                    key("b1c8e0c1e1"),
                    0x1c73_b8d4,
                    vec![(0xe6, 0xe0)],
                    1,
                    5
                ),
                (178, key("8dc8e0c1e1"), 0x8f08_4461, vec![], 1, 5),
            ]
        );
        for entry in &entries {
            assert_eq!(entry.place.page, 0);
            let mut rest = entry.record;
            (rest.stats.games, rest.points) = (0, 0);
            assert_eq!(rest, PositionRecord::default());
        }
    }
}

#[test]
fn the_genuine_book_answers() {
    for options in both_ways() {
        let book = CtgBook::open(simple(), &options).unwrap();
        let found = probe(&book, &Chess::default());
        assert_eq!(found.here.unwrap().stats.games, 2);
        assert_eq!(moves(&found), ["e2e4", "d2d4"]);
        assert!(
            found
                .moves
                .iter()
                .all(|m| m.after.unwrap().stats.games == 1)
        );
        assert_eq!(found.moves[0].annotation, Annotation(0xe0));

        assert_eq!(moves(&probe(&book, &position(AFTER_D4))), ["d7d5"]);
        assert_eq!(moves(&probe(&book, &position(AFTER_E4))), [""; 0]);
        assert!(book.contains(&position(AFTER_E4)).unwrap());

        // 1.d3 is not in the book, but 2.d4 by Black would be 1.d4 with colours
        // exchanged; here Black's ...d5 leads to no position of the book.
        let after_d3 = "rnbqkbnr/pppppppp/8/8/8/3P4/PPP1PPPP/RNBQKBNR b KQkq - 0 1";
        assert!(!book.contains(&position(after_d3)).unwrap());
        assert_eq!(probe(&book, &position(after_d3)), Lookup::default());
    }
}

#[test]
fn a_position_outside_the_book_still_has_transpositions() {
    let book = open(simple());
    // 1.d3 d5 and White to move: d3-d4 makes the position after 1.d4 d5 with Black to
    // move, which the book stores with colours exchanged.
    let fen = "rnbqkbnr/ppp1pppp/8/3p4/8/3P4/PPP1PPPP/RNBQKBNR w KQkq - 0 2";
    let found = probe(&book, &position(fen));
    assert_eq!(found.here, None);
    assert_eq!(moves(&found), ["~d3d4"]);
    assert_eq!(found.moves[0].stats().games, 1);
    assert_eq!(found.moves[0].annotation, Annotation::default());
}

#[test]
fn the_genuine_book_explained_and_counted() {
    let book = open(simple());
    let explanation = book.explain(&Chess::default()).unwrap();
    let here = explanation.here.found.unwrap();
    assert_eq!((here.place.page, here.place.offset), (0, 60));
    assert_eq!(here.file_offset, 4096 + 60);
    assert_eq!(here.bytes.len(), 60);
    assert!(matches!(explanation.here.steps[..], [LookupStep::Slot(..)]));
    assert_eq!(explanation.stored.len(), 2);
    assert_eq!(explanation.after.len(), 20);
    let found = explanation
        .after
        .iter()
        .map(|(_, trace)| trace.found.is_some());
    assert_eq!(found.collect::<Vec<_>>()[..3], [true, true, false]);

    let info = book.info().unwrap();
    assert_eq!(
        (info.games, info.positions, info.header_positions),
        (1, 4, 4)
    );
    assert_eq!((info.moves, info.pages, info.bytes), (3, 1, 8192));
    assert_eq!(info.largest_page_bytes, 234);
    assert_eq!(info.slots, Some(1));
    assert_eq!(info.annotations[0], 3);
    assert_eq!(info.problems, [""; 0]);
}

/// The right answer of a probe, computed from the entries alone.
fn expected(book: &TestBook, position: &Chess) -> Lookup {
    let entry = |position: &Chess| {
        let board = CanonicalBoard::from_position(position).unwrap();
        book.entries.get(&board.key())
    };
    let board = CanonicalBoard::from_position(position).unwrap();
    let here = entry(position);
    let mut all: Vec<BookMove> = Vec::new();
    for mv in position.legal_moves() {
        let child = tabia_notation::after(position, mv);
        let byte = encode_move_byte(&board, mv);
        let stored =
            here.and_then(|(moves, _)| moves.iter().position(|&(known, _)| Some(known) == byte));
        let after = entry(&child).map(|(_, record)| *record);
        if stored.is_some() || after.is_some() {
            let annotation = stored.map_or(Annotation(0), |n| here.unwrap().0[n].1);
            all.push(BookMove {
                transposition: stored.is_none(),
                ..BookMove::stored(mv, annotation, after)
            });
        }
    }
    all.sort_by_key(|known| {
        let byte = encode_move_byte(&board, known.mv);
        match here {
            Some((moves, _)) if !known.transposition => {
                moves.iter().position(|&(b, _)| Some(b) == byte).unwrap()
            }
            _ => usize::MAX,
        }
    });
    Lookup {
        here: here.map(|(_, record)| *record),
        moves: all,
    }
}

#[test]
fn every_position_of_a_random_book_in_all_orientations() {
    let (mut book, positions) = random_book(20, 90);
    let folder = tempfile::tempdir().unwrap();
    for (page_limit, shuffled) in [(0, false), (1200, false), (300, false), (0, true)] {
        book.page_limit = page_limit;
        book.shuffled = shuffled;
        let path = book.write(folder.path(), &format!("book{page_limit}{shuffled}"));
        if shuffled {
            fs::remove_file(path.with_extension("cto")).unwrap();
        }
        for options in both_ways() {
            let open = CtgBook::open(&path, &options).unwrap();
            assert_eq!(open.notices().is_empty(), !shuffled);
            let mut orientations = [0; 4];
            for position in positions.iter().step_by(9) {
                let mut twins = vec![position.clone(), colours_exchanged(position)];
                if let Some(twin) = wings_exchanged(position) {
                    twins.extend([colours_exchanged(&twin), twin]);
                }
                for twin in twins {
                    let found = probe(&open, &twin);
                    assert!(found.here.is_some());
                    assert_eq!(found, expected(&book, &twin));
                    let orientation = CanonicalBoard::from_position(&twin).unwrap().orientation();
                    let kind =
                        2 * usize::from(orientation.inverted) + usize::from(orientation.mirrored);
                    orientations[kind] += 1;
                }
            }
            assert!(orientations.iter().all(|&n| n > 15), "{orientations:?}");
            for seed in 1000..1010 {
                for stranger in wander(choices(seed).take(12)) {
                    assert_eq!(probe(&open, &stranger), expected(&book, &stranger));
                }
            }
            let info = open.info().unwrap();
            assert_eq!(info.positions, book.entries.len() as u64);
            assert_eq!((info.bad_keys, info.bad_pages), (0, 0));
            assert_eq!(open.entries().count(), book.entries.len());
        }
    }
}

/// Writes a book of the given positions and opens it.
fn book_of(positions: &[(&str, &[&str])]) -> (tempfile::TempDir, CtgBook) {
    let folder = tempfile::tempdir().unwrap();
    let mut book = TestBook::default();
    for (n, (fen, texts)) in positions.iter().enumerate() {
        let position = position(fen);
        let moves: Vec<_> = texts.iter().map(|text| uci(&position, text)).collect();
        book.add(&position, &moves, record(n as u32 + 1));
    }
    let path = book.write(folder.path(), "book");
    (folder, open(&path))
}

#[test]
fn castling_promotion_and_en_passant_are_found() {
    let castle = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 0 1";
    let promote = "8/P6k/8/8/8/7p/8/6K1 w - - 0 1";
    let knight = "N7/7k/8/8/8/7p/8/6K1 b - - 0 1";
    let passant = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3";
    let (_folder, book) = book_of(&[
        (castle, &["e8g8", "e8c8"]),
        (promote, &["a7a8q"]),
        (knight, &[]),
        (passant, &["e5f6"]),
    ]);
    assert_eq!(moves(&probe(&book, &position(castle))), ["e8g8", "e8c8"]);
    let castled = probe(&book, &position(castle)).moves[0].mv;
    assert!(castled.is_castle());
    // The under-promotion has no byte, but its position is in the book.
    let found = probe(&book, &position(promote));
    assert_eq!(moves(&found), ["a7a8q", "~a7a8n"]);
    assert_eq!(found.moves[0].after, None);
    assert_eq!(found.moves[1].after, Some(record(3)));
    assert_eq!(moves(&probe(&book, &position(passant))), ["e5f6"]);
    // Without the right to capture it is another position.
    let without = passant.replace("f6", "-");
    assert!(!book.contains(&position(&without)).unwrap());
}

#[test]
fn a_pinned_en_passant_capturer_is_looked_up_in_both_forms() {
    let before = position("8/3p4/8/K3P2r/8/8/8/4k3 b - - 0 1");
    let after = position("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2");
    let board = CanonicalBoard::from_position(&after).unwrap();
    for (key, other) in [(board.key(), false), (board.other_key().unwrap(), true)] {
        let folder = tempfile::tempdir().unwrap();
        let mut book = TestBook::default();
        book.add_key(key, Vec::new(), record(9));
        let book = open(&book.write(folder.path(), "book"));
        assert!(book.contains(&after).unwrap());
        assert_eq!(probe(&book, &after).here, Some(record(9)));
        assert_eq!(moves(&probe(&book, &before)), ["~d7d5"]);
        let explanation = book.explain(&after).unwrap();
        assert_eq!(explanation.here.other_en_passant_form, other);
        assert!(explanation.here.found.is_some());
    }
}

#[test]
fn chess960_positions_are_not_in_the_book_until_the_rights_are_gone() {
    let fen: Fen = "1r2k3/8/8/8/8/8/8/1R2K3 w Bb - 0 1".parse().unwrap();
    let start: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
    let (_folder, book) = book_of(&[("1R2k3/8/8/8/8/8/8/4K3 b - - 0 1", &[])]);
    assert!(!book.contains(&start).unwrap());
    assert_eq!(book.explain(&start).unwrap().here.orientation, None);
    let found = probe(&book, &start);
    assert_eq!(found.here, None);
    // Rook takes rook: Black has lost its right, White's is gone too.
    assert_eq!(moves(&found), ["~b1b8"]);
}

#[test]
fn useless_stored_moves_are_left_out_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = TestBook::default();
    let start = Chess::default();
    let key = CanonicalBoard::from_position(&start).unwrap().key();
    let bytes = [0x02, 0x5f, 0x7f, 0xf8, 0x5f, 0xe6].map(|byte| (byte, Annotation(1)));
    book.add_key(key, bytes.to_vec(), record(1));
    let book = open(&book.write(folder.path(), "book"));
    assert_eq!(moves(&probe(&book, &start)), ["e2e4", "d2d4"]);
    let explanation = book.explain(&start).unwrap();
    let skipped = explanation.stored.iter().filter(|m| m.meaning.is_err());
    assert_eq!(skipped.count(), 4);
    let faults: Vec<String> = explanation
        .stored
        .iter()
        .map(|m| {
            m.meaning
                .map_or_else(|fault| fault.to_string(), |_| String::new())
        })
        .collect();
    assert_eq!(
        faults,
        [
            "move byte 0x02 has no known meaning",
            "",
            "move byte 0x7f names an illegal move",
            "move byte 0xf8 names a piece that is not on the board",
            "move byte 0x5f names a move that is stored already",
            ""
        ]
    );
    assert_eq!(book.info().unwrap().unknown_move_bytes, 1);
}

#[test]
fn one_book_serves_many_threads() {
    let (test_book, positions) = random_book(5, 60);
    let folder = tempfile::tempdir().unwrap();
    let book = open(&test_book.write(folder.path(), "book"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for position in positions.iter().step_by(7) {
                    assert_eq!(probe(&book, position), expected(&test_book, position));
                }
            });
        }
    });
}

#[test]
fn index_files_are_found_whatever_their_case() {
    for names in [
        ["b.ctg", "b.cto", "b.ctb"],
        ["b.CTG", "b.CTO", "b.CTB"],
        ["b.CTG", "b.CTo", "b.CTb"],
        ["b.ctg", "B.Cto", "b.CTB"],
        ["b.x.ctG", "b.x.ctO", "b.x.ctb"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = |n: usize| folder.path().join(names[n]);
        fs::copy(simple(), path(0)).unwrap();
        fs::copy(simple().with_extension("cto"), path(1)).unwrap();
        fs::copy(simple().with_extension("ctb"), path(2)).unwrap();
        let book = open(&path(0));
        assert_eq!(book.notices(), [""; 0], "{names:?}");
        assert_eq!(moves(&probe(&book, &Chess::default())), ["e2e4", "d2d4"]);
    }
}

#[test]
fn a_missing_or_damaged_index_is_replaced_by_a_scan() {
    let (mut test_book, positions) = random_book(5, 60);
    test_book.page_limit = 700;
    let folder = tempfile::tempdir().unwrap();
    let path = test_book.write(folder.path(), "book");
    let cto = path.with_extension("cto");
    let good = fs::read(&cto).unwrap();
    let mut other_book = good.clone();
    other_book[16..].chunks_mut(4).for_each(|slot| {
        if slot[0] == 0 {
            slot.copy_from_slice(&[0; 4]);
        }
    });
    let mut beyond = good.clone();
    beyond[16..].chunks_mut(4).for_each(|slot| {
        if slot[0] == 0 {
            slot[0] = 0x12;
        }
    });
    for (bytes, notice) in [
        (None, "is missing"),
        (Some(Vec::new()), "does not start with the bytes 00 10"),
        (Some(good[..good.len() - 8].to_vec()), "its header says"),
        (
            Some(b"\0\x10\0\x01\xff\xff\xff\xff".to_vec()),
            "its header says",
        ),
        (Some(other_book), "does not lead to"),
        (Some(beyond), "does not lead to"),
    ] {
        match bytes {
            None => fs::remove_file(&cto).unwrap(),
            Some(bytes) => fs::write(&cto, bytes).unwrap(),
        }
        let book = open(&path);
        let notices = book.notices();
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains(notice), "{notices:?}");
        assert!(notices[0].contains("index book.cto"), "{notices:?}");
        assert!(notices[0].contains("compact the book"), "{notices:?}");
        for position in positions.iter().step_by(5) {
            assert_eq!(probe(&book, position), expected(&test_book, position));
        }
    }
}

#[test]
fn a_missing_or_damaged_ctb_costs_only_time() {
    let (mut test_book, positions) = random_book(5, 60);
    test_book.page_limit = 700;
    let folder = tempfile::tempdir().unwrap();
    let path = test_book.write(folder.path(), "book");
    let ctb = path.with_extension("ctb");
    let bounds = |lower: u32, upper: u32| {
        let mut bytes = vec![0, 12, 0, 1];
        bytes.extend(lower.to_be_bytes());
        bytes.extend(upper.to_be_bytes());
        bytes.resize(12 + upper as usize / 8 % 1000, 0);
        Some(bytes)
    };
    let mut longer = bounds(0, 8).unwrap();
    longer[1] = 16;
    for (bytes, notice) in [
        (None, "is missing"),
        (Some(Vec::new()), "is cut off (0 bytes)"),
        (Some(vec![0, 12, 0]), "is cut off (3 bytes)"),
        (
            bounds(u32::MAX, u32::MAX),
            "of another book (bounds 4294967295 and",
        ),
        (bounds(9, 8), "of another book (bounds 9 and 8,"),
        (Some(longer), "of another book (bounds 0 and 8,"),
        // Possible bounds, but of another book.
        (bounds(0, 0), "does not belong to"),
        (bounds(120, 120), "does not belong to"),
    ] {
        match &bytes {
            None => fs::remove_file(&ctb).unwrap(),
            Some(bytes) => fs::write(&ctb, bytes).unwrap(),
        }
        let book = open(&path);
        let notices = book.notices();
        assert_eq!(notices.len(), 1, "{bytes:?} {notices:?}");
        assert!(notices[0].contains("book.ctb"), "{notices:?}");
        assert!(notices[0].contains(notice), "{notices:?}");
        for position in positions.iter().step_by(5) {
            assert_eq!(probe(&book, position), expected(&test_book, position));
        }
    }
}

/// A book that is large enough to be mapped, and its positions.
fn large_book(folder: &Path) -> (std::path::PathBuf, Vec<Chess>) {
    let (mut book, positions) = random_book(60, 80);
    book.page_limit = 250;
    let path = book.write(folder, "book");
    assert!(path.metadata().unwrap().len() > tabia_io::input::file::IN_MEMORY_LIMIT);
    (path, positions)
}

// On Windows a mapped file cannot be shortened or replaced.
#[cfg(unix)]
#[test]
fn a_book_cut_while_open_gives_errors_and_no_crash() {
    for options in both_ways() {
        let folder = tempfile::tempdir().unwrap();
        let (path, positions) = large_book(folder.path());
        let book = CtgBook::open(&path, &options).unwrap();
        let mut found = Lookup::default();
        book.probe(&positions[50], Wanted::Transpositions, &mut found)
            .unwrap();
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(4096 * 40)
            .unwrap();
        let (mut good, mut bad) = (0, 0);
        for position in &positions {
            match book.contains(position) {
                Ok(there) => good += u32::from(there),
                Err(Error::Shrunk { now, .. }) => {
                    assert_eq!(now, 4096 * 40);
                    bad += 1;
                }
                Err(error) => panic!("{error}"),
            }
            if let Err(error) = book.probe(position, Wanted::Transpositions, &mut found) {
                assert_eq!(found, Lookup::default());
                assert!(
                    error
                        .to_string()
                        .contains("became shorter while it was open")
                );
            }
        }
        assert!(good > 50 && bad > 500, "{good} {bad}");
        assert_eq!(book.change(), Change::Modified);
        assert!(matches!(book.info(), Err(Error::Shrunk { .. })));
        assert!(book.entries().last().unwrap().is_err());
        let cto = path.with_extension("cto");
        fs::File::options()
            .write(true)
            .open(cto)
            .unwrap()
            .set_len(20)
            .unwrap();
        for position in positions.iter().take(50) {
            let _ = book.probe(position, Wanted::Transpositions, &mut found);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_replaced_book_goes_on_being_read_and_tells() {
    let folder = tempfile::tempdir().unwrap();
    let (path, positions) = large_book(folder.path());
    let book = open(&path);
    assert_eq!(book.change(), Change::None);
    let before = probe(&book, &positions[7]);
    let new = folder.path().join("new");
    fs::copy(simple(), &new).unwrap();
    fs::rename(&new, &path).unwrap();
    assert_eq!(book.change(), Change::Replaced);
    assert_eq!(probe(&book, &positions[7]), before);
}

#[cfg(all(unix, target_pointer_width = "64"))]
#[test]
fn pages_beyond_four_gigabytes() {
    use std::os::unix::fs::FileExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.ctg");
    let page = 2_500_000_u32;
    let source = fs::read(simple()).unwrap();
    let mut header = source[..4096].to_vec();
    header[16..20].copy_from_slice(&(page + 1).to_be_bytes());
    let file = fs::File::create(&path).unwrap();
    file.write_all_at(&header, 0).unwrap();
    file.write_all_at(&source[4096..], (u64::from(page) + 1) * 4096)
        .unwrap();
    let mut cto = fs::read(simple().with_extension("cto")).unwrap();
    cto[16..20].copy_from_slice(&page.to_be_bytes());
    fs::write(path.with_extension("cto"), cto).unwrap();
    fs::copy(simple().with_extension("ctb"), path.with_extension("ctb")).unwrap();
    for options in both_ways() {
        let book = CtgBook::open(&path, &options).unwrap();
        assert_eq!(book.notices(), [""; 0]);
        assert_eq!(moves(&probe(&book, &Chess::default())), ["e2e4", "d2d4"]);
        let found = book.explain(&Chess::default()).unwrap().here.found.unwrap();
        assert_eq!(found.file_offset, 10_240_004_096 + 60);
    }
}
