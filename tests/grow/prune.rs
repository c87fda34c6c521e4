//! `tabia prune`.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, FromSetup as _, Position as _};
use tabia::book::ctg::encode_move_byte;
use tabia::book::ctg::{
    CanonicalBoard, CtgBook, Key, OpenOptions, RewriteOptions, compact, encode_entry,
    find_move_byte,
};
use tabia::prune::{Conditions, prune};
use tabia::watch::Watch;

use super::common::{Moves, TestBook, position, random_book, record};
use super::{assert_sound, files, json, ok, starter, tabia};

fn board(key: &Key) -> Chess {
    let setup = CanonicalBoard::from_key(key).unwrap().to_setup();
    Chess::from_setup(setup, CastlingMode::Standard).unwrap()
}

/// The entry after a stored move.
fn after(key: &Key, byte: u8) -> Key {
    let mut position = board(key);
    let normal = CanonicalBoard::from_position(&position).unwrap();
    let legal = position.legal_moves();
    let n = find_move_byte(byte, &normal, &legal).unwrap();
    position.play_unchecked(legal[n]);
    CanonicalBoard::from_position(&position).unwrap().key()
}

/// Entries that are reached, each with the moves that stay; by the definition,
/// one position after the other.
fn reached(
    book: &TestBook,
    stays: &dyn Fn(&Key, u32, u8, &Key) -> bool,
) -> BTreeMap<Key, BTreeSet<u8>> {
    let start = CanonicalBoard::from_position(&Chess::default())
        .unwrap()
        .key();
    let mut found: BTreeMap<Key, BTreeSet<u8>> = BTreeMap::new();
    let mut seen = BTreeSet::from([(start, 0)]);
    let mut level = vec![start];
    for ply in 0.. {
        let mut next = Vec::new();
        for key in level {
            let Some((moves, _)) = book.entries.get(&key) else {
                continue;
            };
            let kept = found.entry(key).or_default();
            for (byte, _) in moves {
                let child = after(&key, *byte);
                if stays(&key, ply, *byte, &child) {
                    kept.insert(*byte);
                    if seen.insert((child, (ply + 1) % 2)) {
                        next.push(child);
                    }
                }
            }
        }
        if next.is_empty() {
            return found;
        }
        level = next;
    }
    unreachable!()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Against a walk over the same book that is written down as the
    /// definition says it; strays included.
    #[test]
    fn what_stays_is_what_the_definition_says(
        games in 1..15_u64, plies in 1..20_usize, least in 0..60_u32, most in 0..12_u32,
        limit in 400..4097_usize, stray in any::<bool>(),
    ) {
        let (mut book, all) = random_book(games, plies);
        book.page_limit = limit;
        if stray {
            // Nobody comes here, but from here into the book.
            let lonely = position("rnbqkbnr/pppppppp/8/8/8/P6P/1PPPPPP1/RNBQKBNR b KQkq - 0 2");
            book.add(&lonely, &[], record(7));
            let second = &all[1 % all.len()];
            let mut back = second.clone();
            let moves = back.legal_moves();
            back.play_unchecked(moves[0]);
            let key = CanonicalBoard::from_position(second).unwrap().key();
            if let Some(byte) = encode_move_byte(&CanonicalBoard::from_position(second).unwrap(), moves[0]) {
                let (stored, _) = book.entries.get_mut(&key).unwrap();
                if stored.iter().all(|(known, _)| *known != byte) && book.entries.contains_key(&CanonicalBoard::from_position(&back).unwrap().key()) {
                    book.entries.get_mut(&key).unwrap().0.push((byte, Default::default()));
                }
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let source = book.write(folder.path(), "book");
        let target = folder.path().join("out.ctg");
        let conditions = Conditions { min_games: Some(least), max_ply: Some(most), ..Conditions::default() };
        let games = |key: &Key| book.entries.get(key).map_or(0, |(_, record)| record.stats.games);
        let before = reached(&book, &|_, _, _, _| true);
        let after_it = reached(&book, &|_, ply, _, child| ply < most && games(child) >= least);
        let done = prune(&source, &target, &conditions, &RewriteOptions::default(), &mut Watch::default()).unwrap();
        let mut expected = BTreeMap::new();
        let (mut moves_out, mut positions_out) = (0, 0);
        for (key, (moves, record)) in &book.entries {
            let gone = |key: &Key| before.contains_key(key) && !after_it.contains_key(key);
            if gone(key) {
                positions_out += 1;
                continue;
            }
            let left: Moves = moves.iter().copied().filter(|(byte, _)| match after_it.get(key) {
                Some(kept) => kept.contains(byte),
                None => !gone(&after(key, *byte)),
            }).collect();
            moves_out += (moves.len() - left.len()) as u64;
            let mut bytes = Vec::new();
            encode_entry(key, &left, record, &mut bytes);
            expected.insert(*key, bytes);
        }
        let read = CtgBook::open(&target, &OpenOptions::default()).unwrap();
        let mut found = BTreeMap::new();
        for entry in read.entries() {
            let entry = entry.unwrap();
            let mut bytes = Vec::new();
            encode_entry(&entry.key, &entry.moves, &entry.record, &mut bytes);
            found.insert(entry.key, bytes);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!((done.moves, done.positions), (moves_out, positions_out));
        drop(read);
        assert_sound(&target);
    }
}

#[test]
fn with_nothing_to_take_out_it_is_compacting() {
    let folder = tempfile::tempdir().unwrap();
    let (mut book, _) = random_book(40, 20);
    book.page_limit = 900;
    for source in [starter(), book.write(folder.path(), "random")] {
        let compacted = folder.path().join("compacted.ctg");
        let options = RewriteOptions {
            old: tabia::place::Old::Replace,
            ..RewriteOptions::default()
        };
        compact(&source, &compacted, &options, &mut Watch::default()).unwrap();
        let said = ok(&tabia(
            folder.path(),
            &[
                "prune",
                source.to_str().unwrap(),
                "-fo",
                "pruned.ctg",
                "--min-games",
                "0",
            ],
        ));
        assert!(
            said.contains("0 moves taken out, and 0 positions"),
            "{said}"
        );
        assert_eq!(files(&compacted), files(&folder.path().join("pruned.ctg")));
    }
}

#[test]
fn a_line_goes_with_all_behind_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter();
    let book = book.to_str().unwrap();
    ok(&tabia(
        folder.path(),
        &["prune", book, "-o", "out.ctg", "--line", "1.e4 c5"],
    ));
    assert_sound(&folder.path().join("out.ctg"));
    let moves = |book: &str, line: &str| {
        let output = tabia(folder.path(), &["probe", book, "--moves", line, "--json"]);
        let view: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let moves = view["moves"].as_array().unwrap().iter();
        let stored = moves.filter(|mv| mv["transposition"] == false);
        let names: Vec<(String, u64)> = stored
            .map(|mv| {
                (
                    mv["san"].as_str().unwrap().to_owned(),
                    mv["games"].as_u64().unwrap(),
                )
            })
            .collect();
        (view["in_book"].as_bool().unwrap(), names)
    };
    let (_, old) = moves(book, "e4");
    let (_, new) = moves("out.ctg", "e4");
    let other: Vec<_> = old.iter().filter(|(san, _)| san != "c5").cloned().collect();
    assert_eq!(new, other);
    assert!(old.len() == new.len() + 1);
    assert_eq!(moves(book, ""), moves("out.ctg", ""));
    assert_eq!(moves("out.ctg", "e4 c5"), (false, Vec::new()));
    // This one can also be reached by 1.Nf3.
    let open = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6";
    assert_eq!(moves("out.ctg", open), moves(book, open));
    let missing = tabia(
        folder.path(),
        &["prune", book, "-o", "x.ctg", "--line", "1.a4 a5 2.b4"],
    );
    assert_eq!(missing.status.code(), Some(1));
    assert!(!folder.path().join("x.ctg").exists());
    let nothing = tabia(folder.path(), &["prune", book, "-o", "x.ctg"]);
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn one_side_s_moves_alone_stay_with_all_positions() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter();
    let book = book.to_str().unwrap();
    ok(&tabia(
        folder.path(),
        &["prune", book, "-o", "white.ctg", "--only", "white"],
    ));
    let info = |book: &str| json(&tabia(folder.path(), &["info", book, "--json"]));
    assert_eq!(info(book)["positions"], info("white.ctg")["positions"]);
    let probe = |line: &str| {
        json(&tabia(
            folder.path(),
            &["probe", "white.ctg", "--moves", line, "--json"],
        ))
    };
    assert_eq!(probe("e4")["moves"][0]["transposition"], true);
    assert_eq!(probe("e4 c5")["moves"][0]["transposition"], false);
}

#[test]
fn what_a_filter_names_goes() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter();
    let book = book.to_str().unwrap();
    let filter = "share<20 and ply>1";
    let args = ["prune", book, "-o", "out.ctg", "--where", filter];
    ok(&tabia(folder.path(), &args));
    assert_sound(&folder.path().join("out.ctg"));
    let probe = |book: &str, line: &str| {
        json(&tabia(
            folder.path(),
            &["probe", book, "--moves", line, "--json"],
        ))
    };
    let games = |view: &serde_json::Value| -> Vec<u64> {
        let stored = view["moves"].as_array().unwrap().iter();
        let stored = stored.filter(|mv| mv["transposition"] == false);
        stored.map(|mv| mv["games"].as_u64().unwrap()).collect()
    };
    assert_eq!(games(&probe("out.ctg", "")), games(&probe(book, "")));
    let old = games(&probe(book, "d4"));
    let all: u64 = old.iter().sum();
    let often = old.iter().copied().filter(|games| games * 5 >= all);
    assert_eq!(games(&probe("out.ctg", "d4")), often.collect::<Vec<_>>());
    let wrong = ["prune", book, "-o", "x.ctg", "--where", "gmes<1"];
    assert_eq!(tabia(folder.path(), &wrong).status.code(), Some(2));
}

/// 1.f3 loses two pawns against 1.e4 by the file beside the book; 1...e5 after
/// it, which is good for Black, loses nothing.
#[test]
fn moves_that_lose_too_much_go() {
    let folder = tempfile::tempdir().unwrap();
    let games = "1.e4 e5 2.Nf3 *\n\n1.f3 e5 2.g4 Qh4# 0-1\n\n1.d4 d5 *\n";
    std::fs::write(folder.path().join("a.pgn"), games).unwrap();
    ok(&tabia(folder.path(), &["build", "-o", "a.ctg", "a.pgn"]));
    let run = |loss: &str| {
        tabia(
            folder.path(),
            &["prune", "a.ctg", "-fo", "b.ctg", "--max-loss", loss],
        )
    };
    let none = run("50");
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("tabia evaluate"));
    // From the side to move: after 1.e4 and 1.f3 that is Black.
    let evals = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - acd 20; ce -40;\n\
        rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - acd 20; ce 160;\n\
        rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - acd 20; ce -160;\n\
        rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - acd 20; ce 40;\n";
    std::fs::write(folder.path().join("a.evals"), evals).unwrap();
    let moves = || -> Vec<String> {
        let view = json(&tabia(folder.path(), &["probe", "b.ctg", "--json"]));
        let moves = view["moves"].as_array().unwrap().iter();
        moves
            .map(|mv| mv["san"].as_str().unwrap().to_owned())
            .collect()
    };
    ok(&run("300"));
    assert!(moves().contains(&"f3".to_owned()));
    let said = ok(&run("150"));
    assert!(said.contains("1 move taken out, and 4 positions"), "{said}");
    let left = moves();
    assert!(
        !left.contains(&"f3".to_owned()) && left.len() == 2,
        "{left:?}"
    );
}
