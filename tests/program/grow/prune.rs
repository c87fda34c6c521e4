//! `tabia prune`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use shakmaty::{CastlingMode, Chess, FromSetup as _, Position as _};
use tabia_analysis::prune::{Conditions, prune};
use tabia_book::ctg::encode_move_byte;
use tabia_book::ctg::{CanonicalBoard, Key, RewriteOptions, compact, encode_entry, find_move_byte};
use tabia_book::evals::EvalKey;
use tabia_book::policy::{Policy, weigh};
use tabia_book::{Annotation, PositionRecord};
use tabia_io::progress::Watch;

use crate::common::{
    Folder, Moves, SMALL, TestBook, assert_has, assert_sound, contents, copy, files, look_up, open,
    position, project, random_book, record, stored,
};

fn board(key: &Key) -> Chess {
    let setup = CanonicalBoard::from_key(key).unwrap().to_setup();
    Chess::from_setup(setup, CastlingMode::Standard).unwrap()
}

/// The key of the entry after a stored move.
fn after(key: &Key, byte: u8) -> Key {
    let mut position = board(key);
    let normal = CanonicalBoard::from_position(&position).unwrap();
    let legal = position.legal_moves();
    let n = find_move_byte(byte, &normal, &legal).unwrap();
    position.play_unchecked(legal[n]);
    CanonicalBoard::from_position(&position).unwrap().key()
}

/// Reachable entries, each with its remaining moves; computed directly from the
/// definition. Lines go on through rare ones, which are not among them, up to so many plies.
fn reached(
    book: &TestBook,
    stays: &dyn Fn(&Key, u32, u8, &Key) -> bool,
    is_rare: &dyn Fn(&Key) -> bool,
    most: u32,
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
            if !is_rare(&key) {
                found.entry(key).or_default();
            }
            for (byte, _) in moves {
                let child = after(&key, *byte);
                let stays = match is_rare(&key) {
                    true => ply < most,
                    false => stays(&key, ply, *byte, &child),
                };
                if stays {
                    if let Some(kept) = found.get_mut(&key)
                        && !is_rare(&child)
                    {
                        kept.insert(*byte);
                    }
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

/// Checks that no position of a book has any of these moves, given by the positions
/// before and after them.
fn assert_never_played(path: &Path, out: &BTreeSet<(Key, Key)>) {
    let book = open(path);
    let mut verdicts = Vec::new();
    let key = |position: &Chess| CanonicalBoard::from_position(position).unwrap().key();
    for (here, _) in contents(path) {
        let position = board(&here);
        let found = look_up(&book, &position);
        weigh(&found.moves, &Policy::default(), |_| None, &mut verdicts);
        for (known, verdict) in found.moves.iter().zip(&verdicts) {
            let there = key(&tabia_notation::after(&position, known.mv));
            let is_out = out.contains(&(here, there));
            assert!(
                !is_out || verdict.probability == 0.0,
                "{known:?} in {position:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Removes random moves of random books by lines: removed moves are not played, and
    /// the others are unchanged.
    #[test]
    fn removed_moves_are_not_played(
        games in 2..40_u64, plies in 2..12_usize, every in 2..9_usize, marks in any::<u64>(),
    ) {
        let (mut book, all) = random_book(games, plies);
        // Green, red and no marks; learn values; positions without games.
        for (n, (_, record)) in book.entries.values_mut().enumerate() {
            let bits = marks.rotate_left(n as u32 * 5);
            if bits & 0xc0 == 0 {
                *record = PositionRecord::default();
            }
            record.recommendation = [0, 0, 0, 0x80, 0x40, 0, 0, 0][(bits & 7) as usize];
            record.learn_value = if bits & 0x38 == 0 { 125 } else { 0 };
        }
        let folder = Folder::new();
        let source = book.write(&folder, "book");
        let target = folder.join("out.ctg");
        let reached = reached(&book, &|_, _, _, _| true, &|_| false, 0);
        let mut out = BTreeSet::new();
        let mut losing = std::collections::HashMap::default();
        for (n, position) in all.iter().enumerate() {
            let key = CanonicalBoard::from_position(position).unwrap().key();
            for (m, (byte, _)) in book.entries[&key].0.iter().enumerate() {
                if reached.contains_key(&key) && (n + m) % every == 0 {
                    let child = after(&key, *byte);
                    out.insert((key, child));
                    let pair = (EvalKey::from_board_key(&key), EvalKey::from_board_key(&child));
                    losing.insert(pair, Annotation::BLUNDER);
                }
            }
        }
        let mut conditions = Conditions::default();
        conditions.losing = Some(losing);
        let done = prune(&source, &target, &conditions, &RewriteOptions::default(), &mut Watch::default()).unwrap();
        assert_never_played(&target, &out);
        assert_sound(&target);
        let left = contents(&target);
        let count = |book: &BTreeMap<Key, Vec<u8>>| -> usize {
            let moves = |(key, entry): (&Key, &Vec<u8>)| usize::from(entry[key.as_bytes().len()] / 2);
            book.iter().map(moves).sum()
        };
        let gone = done.moves + done.moves_of_removed;
        prop_assert_eq!(count(&left) as u64 + gone, count(&book.contents()) as u64);
    }

    /// Compares with a direct implementation of the definition, including unreachable
    /// positions.
    #[test]
    fn prune_keeps_the_moves_that_meet_no_condition(
        games in 1..15_u64, plies in 1..20_usize, least in 0..60_u32, most in 0..12_u32,
        limit in 400..4097_usize, stray in any::<bool>(),
    ) {
        let (mut book, all) = random_book(games, plies);
        book.page_limit = limit;
        if stray {
            // No move leads to this position, but it leads into the book.
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
        let folder = Folder::new();
        let source = book.write(&folder, "book");
        let target = folder.join("out.ctg");
        let mut conditions = Conditions::default();
        (conditions.min_games, conditions.max_ply) = (Some(least), Some(most));
        let games = |key: &Key| book.entries.get(key).map_or(0, |(_, record)| record.stats.games);
        let before = reached(&book, &|_, _, _, _| true, &|_| false, 0);
        let start = CanonicalBoard::from_position(&Chess::default()).unwrap().key();
        let is_rare = |key: &Key| games(key) < least && *key != start;
        let after_it = reached(&book, &|_, ply, _, _| ply < most, &is_rare, most);
        let done = prune(&source, &target, &conditions, &RewriteOptions::default(), &mut Watch::default()).unwrap();
        let mut expected: BTreeMap<Key, (Moves, PositionRecord)> = BTreeMap::new();
        let mut warned = BTreeSet::new();
        let (mut moves_out, mut positions_out) = (0, 0);
        for (key, (moves, record)) in &book.entries {
            let gone = |key: &Key| {
                is_rare(key) || before.contains_key(key) && !after_it.contains_key(key)
            };
            if gone(key) {
                positions_out += 1;
                continue;
            }
            let mut left = Moves::new();
            for &(byte, sign) in moves {
                let child = after(key, byte);
                if gone(&child) {
                    moves_out += 1;
                } else if after_it.get(key).is_none_or(|kept| kept.contains(&byte)) {
                    left.push((byte, sign));
                } else {
                    warned.insert((*key, child));
                    let sign = if sign.is_doubtful() { sign } else { Annotation::DUBIOUS };
                    left.push((byte, sign));
                }
            }
            expected.insert(*key, (left, *record));
        }
        prop_assert_eq!((done.moves, done.positions), (moves_out, positions_out));
        prop_assert_eq!(done.warned, warned.len() as u64);
        // The red moves are now those with a warning annotation.
        let found = contents(&target);
        let mut red = 0;
        for (key, (moves, record)) in &mut expected {
            let bytes = |record: &PositionRecord| {
                let mut bytes = Vec::new();
                encode_entry(key, moves, record, &mut bytes);
                bytes
            };
            if found.get(key) != Some(&bytes(record)) {
                prop_assert!(warned.iter().any(|(_, after)| after == key));
                record.recommendation = 0x40;
                prop_assert_eq!(found.get(key), Some(&bytes(record)));
                red += 1;
            }
        }
        prop_assert_eq!(found.len(), expected.len());
        prop_assert_eq!(done.red, red);
        assert_never_played(&target, &warned);
        assert_sound(&target);
    }
}

#[test]
fn prune_without_matches_equals_compact() {
    let folder = Folder::new();
    let (mut book, _) = random_book(40, 20);
    book.page_limit = 900;
    for source in [project(SMALL), book.write(&folder, "random")] {
        copy(&source, &folder.join("source.ctg"));
        let compacted = folder.join("compacted.ctg");
        let options = RewriteOptions::default().old(tabia_io::atomic::Previous::Replace);
        compact(&source, &compacted, &options, &mut Watch::default()).unwrap();
        let messages = folder.done("prune source.ctg -fo pruned.ctg --min-games 0");
        assert_has(&messages, "0 moves removed, and 0 positions");
        assert_eq!(files(&compacted), files(folder.join("pruned.ctg")));
    }
}

/// `prune` and `build` mean the same by `--min-games`.
#[test]
fn the_positions_that_stay_are_those_that_build_would_have_stored() {
    let folder = Folder::new();
    std::fs::copy(project("tests/data/sample.pgn"), folder.join("games.pgn")).unwrap();
    folder.done("build games.pgn -o all.ctg --max-ply 30");
    for least in [2, 3, 10] {
        folder.done(&format!("prune all.ctg -fo pruned.ctg --min-games {least}"));
        folder.done(&format!(
            "build games.pgn -fo built.ctg --max-ply 30 --min-games {least}"
        ));
        let (pruned, built) = (
            contents(folder.join("pruned.ctg")),
            contents(folder.join("built.ctg")),
        );
        assert!(built.len() > 20);
        assert_eq!(
            pruned.keys().collect::<Vec<_>>(),
            built.keys().collect::<Vec<_>>()
        );
        for (key, entry) in &built {
            let numbers = |entry: &[u8]| entry[entry.len() - 33..].to_vec();
            assert_eq!(numbers(&pruned[key]), numbers(entry));
            // A book has no games of moves: a rare one into a position of more games stays.
            let length = |entry: &[u8]| entry[key.as_bytes().len()];
            assert!(length(&pruned[key]) >= length(entry));
        }
        assert_sound(folder.join("pruned.ctg"));
    }
}

#[test]
fn a_line_is_deleted_with_all_after_it_and_nothing_else() {
    let folder = Folder::with(SMALL);
    folder.done("prune book.ctg -o out.ctg --line '1.e4 c5'");
    assert_sound(folder.join("out.ctg"));
    let moves = |book: &str, line: &str| {
        let view = folder.probe(book, line);
        let names = stored(&view, "san").into_iter().zip(stored(&view, "games"));
        (view["in_book"].clone(), names.collect::<Vec<_>>())
    };
    let (_, old) = moves("book.ctg", "e4");
    let (_, new) = moves("out.ctg", "e4");
    let other: Vec<_> = old.iter().filter(|(san, _)| san != "c5").cloned().collect();
    assert_eq!(new, other);
    assert!(old.len() == new.len() + 1);
    assert_eq!(moves("book.ctg", ""), moves("out.ctg", ""));
    assert_eq!(moves("out.ctg", "e4 c5"), (json!(false), Vec::new()));
    // This one can also be reached by 1.Nf3.
    let open = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6";
    assert_eq!(moves("out.ctg", open), moves("book.ctg", open));
    let absent = folder.tabia("prune book.ctg -o x.ctg --line '1.a4 a5 2.b4'");
    absent.ends(1);
    assert!(!folder.join("x.ctg").exists());
    folder.tabia("prune book.ctg -o x.ctg").ends(2);
}

#[test]
fn only_keeps_the_moves_of_one_side_and_all_positions() {
    let folder = Folder::with(SMALL);
    folder.done("prune book.ctg -o white.ctg --only white");
    let info = |book: &str| folder.tabia(&["info", book, "--json"]).json();
    assert_eq!(
        info("book.ctg")["positions"],
        info("white.ctg")["positions"]
    );
    assert_eq!(folder.probe("white.ctg", "e4")["moves"], json!([]));
    let view = folder.probe("white.ctg", "e4 c5");
    assert_eq!(view["moves"][0]["transposition"], false);
}

#[test]
fn where_removes_the_matching_moves() {
    let folder = Folder::with(SMALL);
    folder.done("prune book.ctg -o out.ctg --where 'share<20 and ply>1'");
    assert_sound(folder.join("out.ctg"));
    let games = |book: &str, line: &str| -> Vec<u64> {
        let games = stored(&folder.probe(book, line), "games").into_iter();
        games.map(|games| games.as_u64().unwrap()).collect()
    };
    assert_eq!(games("out.ctg", ""), games("book.ctg", ""));
    let old = games("book.ctg", "d4");
    let all: u64 = old.iter().sum();
    let often = old.iter().copied().filter(|games| games * 5 >= all);
    assert_eq!(games("out.ctg", "d4"), often.collect::<Vec<_>>());
    folder
        .tabia("prune book.ctg -o x.ctg --where 'gmes<1'")
        .ends(2);
}

/// 1.f3 loses two pawns against 1.e4 by the evaluations; 1...e5 after it, which is good
/// for Black, loses nothing.
#[test]
fn max_loss_removes_losing_moves() {
    let folder = Folder::new();
    let games = "1.e4 e5 2.Nf3 *\n\n1.f3 e5 2.g4 Qh4# 0-1\n\n1.d4 d5 *\n";
    folder.put("a.pgn", games);
    folder.done("build -o a.ctg a.pgn");
    let run = |loss: u32| folder.tabia(&format!("prune a.ctg -fo b.ctg --max-loss {loss}"));
    run(50).refused("tabia evaluate");
    // For the side to move: after 1.e4 and 1.f3 that is Black.
    let evals = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - acd 20; ce -40;\n\
        rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - acd 20; ce 160;\n\
        rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - acd 20; ce -160;\n\
        rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - acd 20; ce 40;\n";
    folder.put("a.evals", evals);
    let has_f3 = |moves: usize| {
        let view = folder.probe("b.ctg", "");
        let names = view["moves"].as_array().unwrap().iter();
        assert_eq!(names.len(), moves, "{view}");
        names.clone().any(|mv| mv["san"] == "f3")
    };
    run(300).ok();
    assert!(has_f3(3));
    run(150).ends_with(0, "1 move removed, and 4 positions");
    assert!(!has_f3(2));
}

/// 1.c4 e5 2.d4 and 1.d4 e5 2.c4 transpose; only one of these games has the better 2.Nc3.
#[test]
fn a_removed_move_is_not_played_as_a_transposition() {
    let folder = Folder::new();
    let lines = "1.c4 e5 2.d4 exd4 *\n\n1.d4 e5 2.c4 exd4 *\n\n";
    for (name, better, says) in [
        (
            "better",
            "1.c4 e5 2.Nc3 *\n\n",
            "1 move left with a warning annotation",
        ),
        ("none", "", "1 position made red"),
    ] {
        folder.put("a.pgn", format!("{lines}{better}"));
        folder.done("build -fo a.ctg a.pgn");
        folder.done(&[
            "mark",
            "a.ctg",
            "--line",
            "1.c4 e5 2.d4",
            "--annotation",
            "!",
        ]);
        let play = |book: &str| {
            let view = folder.probe(book, "c4 e5");
            let moves = view["moves"].as_array().unwrap().clone();
            let d4 = moves.into_iter().find(|mv| mv["san"] == "d4").unwrap();
            json!([
                d4["annotation"],
                d4["probability"],
                d4["transposition"],
                d4["mark"]
            ])
        };
        assert_ne!(play("a.ctg")[1], json!(0.0), "{name}");
        let messages = folder.done("prune a.ctg -fo b.ctg --line '1.c4 e5 2.d4'");
        assert_has(&messages, says);
        assert_has(&messages, "0 moves removed, and 0 positions");
        let mark = if better.is_empty() { "avoid" } else { "none" };
        assert_eq!(play("b.ctg"), json!(["?!", 0.0, false, mark]), "{name}");
        // The other move order is kept only if nothing else helped.
        let other = folder.probe("b.ctg", "d4 e5")["moves"][0].take();
        assert_eq!(other["san"], "c4");
        assert_eq!(other["probability"] == 0.0, better.is_empty());
    }
}

/// The starter book without every tenth of its moves.
#[test]
fn moves_removed_from_the_starter_book_are_not_played() {
    let folder = Folder::new();
    let source = project("books/tabia.ctg");
    let book = open(&source);
    let mut out = BTreeSet::new();
    let mut losing = std::collections::HashMap::default();
    let mut n = 0;
    let pass = tabia_book::ctg::Pass::FromStart { plies: None };
    book.visit(pass, &mut Watch::default(), &mut |_| (), |visit| {
        for child in visit.moves.iter().filter_map(|entry| entry.after) {
            n += 1;
            if n % 10 == 0 {
                let (before, after) = (visit.entry.key, child.key);
                out.insert((before, after));
                let pair = (
                    EvalKey::from_board_key(&before),
                    EvalKey::from_board_key(&after),
                );
                losing.insert(pair, Annotation::DUBIOUS);
            }
        }
        Ok(())
    })
    .unwrap();
    let mut conditions = Conditions::default();
    conditions.losing = Some(losing);
    let target = folder.join("out.ctg");
    let options = RewriteOptions::default();
    let done = prune(
        &source,
        &target,
        &conditions,
        &options,
        &mut Watch::default(),
    )
    .unwrap();
    assert!(done.moves > 100 && done.warned > 10, "{done:?}");
    assert_never_played(&target, &out);
}

/// Of a book that is cut down to its first moves only these are looked at, and all steps
/// together are one progress, which is not at its end before the work is.
#[test]
fn what_goes_is_not_looked_at() {
    let folder = Folder::new();
    let source = project("books/tabia.ctg");
    let mut conditions = Conditions::default();
    conditions.max_ply = Some(4);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut steps = Vec::new();
    let mut report = |progress| steps.push(progress);
    let done = prune(
        &source,
        &folder.join("out.ctg"),
        &conditions,
        &RewriteOptions::default(),
        &mut Watch::new(&mut report, &stop),
    )
    .unwrap();
    assert!(done.positions > 5 * done.rewritten.written.positions);
    let looked = steps.iter().filter(|step| step.stage == "looking");
    let most = looked.map(|step| step.done).max().unwrap();
    assert!(most <= done.rewritten.written.positions, "{most}");
    let whole: Vec<f64> = steps.iter().flat_map(|step| step.done_of_whole()).collect();
    assert_eq!(whole.len(), steps.len());
    assert!(whole.is_sorted(), "{whole:?}");
    assert!(whole.last().unwrap() < &1.0);
    let stages: Vec<&str> = steps.iter().map(|step| step.stage).collect();
    let mut stages: Vec<&str> = stages.chunk_by(|a, b| a == b).map(|some| some[0]).collect();
    stages.retain(|stage| *stage != "looking");
    let all = ["indexing", "following", "reading", "writing", "saving"];
    assert_eq!(stages, all);
}
