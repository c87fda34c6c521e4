use std::fs;
use std::path::Path;

use proptest::prelude::*;
use shakmaty::Chess;

use super::*;
use crate::loaded::LoadedBook;
use crate::{Format, Lookup, OpenOptions, Probe as _, Wanted};
use tabia_notation::kind::{BookKind, Kind};

/// from, to, promotion, priority, games, won, lost, reply, next
type Row = (u8, u8, i8, u8, u32, u32, u32, i32, i32);

fn file(rows: &[Row]) -> Vec<u8> {
    let mut bytes = vec![0; FIRST_ENTRY as usize * ENTRY_BYTES];
    bytes[..4].copy_from_slice(b"\x03ABK");
    bytes[8] = ENTRY_BYTES as u8;
    for &(from, to, promotion, priority, games, won, lost, reply, next) in rows {
        bytes.extend([from, to, promotion.cast_unsigned(), priority]);
        for number in [games, won, lost, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(reply.to_le_bytes());
        bytes.extend(next.to_le_bytes());
    }
    bytes
}

fn open(bytes: &[u8]) -> Result<LoadedBook, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.abk");
    fs::write(&path, bytes).unwrap();
    LoadedBook::open(&path, Format::Abk, &super::LOADER, &OpenOptions::default())
}

const E2E4: (u8, u8) = (12, 28);
const E7E5: (u8, u8) = (52, 36);
const G1F3: (u8, u8) = (6, 21);

fn row((from, to): (u8, u8), reply: i32, next: i32) -> Row {
    (from, to, 0, 5, 10, 6, 3, reply, next)
}

/// 1.e4 e5 2.Nf3, and 1.Nf3 e5 2.e4, which lead to the same position.
fn transposing() -> Vec<Row> {
    vec![
        row(E2E4, 901, 903),
        row(E7E5, 902, -1),
        row(G1F3, -1, -1),
        row(G1F3, 904, -1),
        row(E7E5, 905, -1),
        row(E2E4, -1, -1),
    ]
}

#[test]
fn numbers_are_seen_from_the_player_of_the_move() {
    let book = open(&file(&transposing())).unwrap();
    assert!(book.notices().is_empty(), "{:?}", book.notices());
    assert_eq!((book.len(), book.positions()), (6, 5));
    let mut found = Lookup::default();
    let mut position = Chess::default();
    for (ply, mv) in ["e2-e4", "e7-e5"].into_iter().enumerate() {
        book.probe(&position, Wanted::Stored, &mut found).unwrap();
        let known = found.moves.iter().find(|known| known.mv.to_string() == mv);
        let stats = known.unwrap().stats();
        let seen = (stats.games, stats.wins, stats.draws, stats.losses);
        assert_eq!(
            seen,
            if ply == 0 {
                (10, 6, 1, 3)
            } else {
                (10, 3, 1, 6)
            }
        );
        shakmaty::Position::play_unchecked(&mut position, known.unwrap().mv);
    }
    assert!(book.contains(&position).unwrap());
}

#[test]
fn the_second_kind_reads_like_the_first_and_others_are_named() {
    let mut bytes = file(&transposing());
    bytes[3] = b'2';
    let book = open(&bytes).unwrap();
    assert_eq!((book.len(), book.positions()), (6, 5));
    let path = Path::new("book");
    assert_eq!(
        Kind::recognize(path, &bytes[..16]),
        Kind::Book(BookKind::Abk)
    );
    bytes[3] = b'3';
    assert_eq!(
        Kind::recognize(path, &bytes[..16]),
        Kind::Book(BookKind::Abk)
    );
    let error = open(&bytes).unwrap_err().to_string();
    let found = "[03, 41, 42, 33] where [03, 41, 42, 4b] or [03, 41, 42, 32] is expected";
    assert!(error.contains(found), "{error}");
}

#[test]
fn equal_moves_of_equal_positions_add_up() {
    // 1.e4 occurs twice.
    let rows = [row(E2E4, -1, 901), row(E2E4, -1, -1)];
    let book = open(&file(&rows)).unwrap();
    let mut found = Lookup::default();
    book.probe(&Chess::default(), Wanted::Stored, &mut found)
        .unwrap();
    assert_eq!(found.moves.len(), 1);
    assert_eq!(found.moves[0].stats().games, 20);
    assert_eq!(found.here.unwrap().stats.games, 20);
}

#[test]
fn loops_bad_links_and_illegal_moves_are_survived_and_counted() {
    for (change, word) in [
        ((2, 7, 900), "1 links back to an earlier move"),
        ((2, 8, 902), "1 links back to an earlier move"),
        ((0, 8, 12), "1 links that point outside the file"),
        ((0, 7, 1_000_000), "1 links that point outside the file"),
        ((3, 8, -7), "1 links that point outside the file"),
    ] {
        let mut rows = transposing();
        let (at, field, link) = change;
        if field == 7 {
            rows[at].7 = link;
        } else {
            rows[at].8 = link;
        }
        let book = open(&file(&rows)).unwrap();
        let notice = &book.notices()[0];
        assert!(
            notice.contains(word) && notice.contains("file byte"),
            "{notice}"
        );
        assert_eq!(book.unread.parts, book.notices());
    }
    let mut rows = transposing();
    rows[1].0 = 200;
    rows[4].1 = 0;
    let book = open(&file(&rows)).unwrap();
    assert!(
        book.notices()[0].contains("2 illegal moves"),
        "{:?}",
        book.notices()
    );
    assert_eq!(book.len(), 2);
}

#[test]
fn a_line_without_end_is_cut() {
    // Knights move out and back.
    let there = [(6, 21), (62, 45), (21, 6), (45, 62)];
    let rows: Vec<Row> = (0..3000)
        .map(|n: i32| row(there[n as usize % 4], 901 + n, -1))
        .collect();
    let book = open(&file(&rows)).unwrap();
    assert_eq!(book.len(), MAX_PLIES as u64);
    assert!(
        book.notices()[0].contains("1 lines beyond 1000"),
        "{:?}",
        book.notices()
    );
}

#[test]
fn other_files_are_refused() {
    let whole = file(&transposing());
    for (bytes, word) in [
        (&whole[..0], "file byte 0"),
        (&whole[..9], "file byte 8"),
        (&whole[..25_200], "no entry of an opening book (Arena)"),
        (b"Stockfish 17 by the Stockfish developers", "file byte 0"),
    ] {
        let error = open(bytes).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("x.abk"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damage_never_breaks_the_reader(
        changes in prop::collection::vec((25_200_usize..25_200 + 6 * 28, any::<u8>()), 1..12),
        cut in prop::option::of(0_usize..25_400),
    ) {
        let mut bytes = file(&transposing());
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut);
        }
        if let Ok(book) = open(&bytes) {
            let mut found = Lookup::default();
            book.probe(&Chess::default(), Wanted::Stored, &mut found).unwrap();
            prop_assert!(book.len() <= 6);
        }
    }
}
