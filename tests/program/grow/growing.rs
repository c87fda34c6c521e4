//! `tabia grow`, with an engine whose scores depend only on the FEN.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tabia_analysis::graph::BookGraph;
use tabia_book::evals;
use tabia_book::{Book, OpenOptions};
use tabia_io::progress::Watch;

use crate::common::{Folder, Ran, SMALL, assert_sound, copy, example, files, random_book};

/// A book of random games.
fn book(folder: &Folder) -> PathBuf {
    random_book(10, 8).0.write(folder, "book")
}

/// Grows `book.ctg` into another book with the test engine.
fn grow(folder: &Folder, target: &str, options: &str) -> Command {
    let mut command = folder.command(&format!("grow book.ctg -o {target} {options}"));
    command.arg("--").arg(example("scoring_engine"));
    command.env("SCORING_ENGINE_NOTES", folder.join("notes"));
    command
}

fn grown(folder: &Folder, target: &str, options: &str) -> Ran {
    Ran::of(&mut grow(folder, target, options))
}

fn graph(path: &Path) -> BookGraph {
    let book = Book::open(path, &OpenOptions::default()).unwrap();
    BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {}).unwrap()
}

fn moves(graph: &BookGraph, node: u32) -> BTreeSet<String> {
    let moves = graph.moves(node).iter();
    moves.map(|entry| entry.mv.to_string()).collect()
}

fn notes(folder: &Folder) -> Vec<String> {
    let text = fs::read_to_string(folder.join("notes")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_book_grows_by_the_given_number_of_positions_and_loses_none() {
    let folder = Folder::new();
    let path = book(&folder);
    let before = graph(&path);
    let old = files(&path);
    let ran = grown(&folder, "out.ctg", "--positions 40");
    ran.ends_with(0, "40 positions more");
    let target = folder.join("out.ctg");
    assert_sound(&target);
    assert_eq!(files(&path), old);
    let after = graph(&target);
    assert_eq!(after.in_book(), before.len() + 40);
    for node in before.nodes() {
        let position = before.position(node);
        let there = after.node(&position).unwrap();
        let stored = before.record(node).copied().unwrap_or_default();
        assert_eq!(after.record(there), Some(&stored));
        assert!(moves(&after, there).is_superset(&moves(&before, node)));
    }
    // Every new position has a value, and no games.
    let table = evals::read(&evals::beside(&target)).unwrap().table;
    for node in after.nodes() {
        let position = after.position(node);
        if before.node(&position).is_none() {
            assert!(table.contains(&position));
            assert_eq!(after.record(node).unwrap().stats.games, 0);
        }
    }
}

#[test]
fn damage_of_the_book_is_named_once() {
    let folder = Folder::new();
    let path = random_book(80, 20).0.write(&folder, "book");
    let mut bytes = fs::read(&path).unwrap();
    let page = 4096 * (bytes.len() / 4096 / 2);
    bytes[page..page + 8].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let text = grown(&folder, "out.ctg", "--positions 3").ends_with(1, "positions more");
    let named = text
        .lines()
        .filter(|line| line.contains(&format!("byte {page}")));
    assert_eq!(named.count(), 1, "{text}");
}

#[test]
fn the_number_of_engines_changes_nothing() {
    let folder = Folder::new();
    book(&folder);
    for (target, jobs) in [("one.ctg", "1"), ("three.ctg", "3")] {
        let options = format!("--positions 60 --jobs {jobs} --side black");
        grown(&folder, target, &options).ok();
    }
    let of = |name: &str| files(folder.join(name));
    assert!(of("one.ctg") == of("three.ctg"), "not the same book");
}

#[test]
fn grow_continues_after_a_kill_at_any_moment() {
    let folder = Folder::new();
    book(&folder);
    let options = "--positions 50 --jobs 2";
    grown(&folder, "whole.ctg", options).ok();
    // For moves out of the book a position is searched once for each move.
    let searched = notes(&folder);
    fs::remove_file(folder.join("notes")).unwrap();
    let lines = || {
        let text = fs::read_to_string(folder.join("out.evals")).unwrap_or_default();
        text.matches(";\n").count()
    };
    let (mut kills, mut known) = (0, 0);
    while kills < 4 {
        let mut run = grow(&folder, "out.ctg", options);
        // The engines hang before all is done, even after all four runs, however late we
        // look.
        run.env("SCORING_ENGINE_HANGS", "9").stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        while lines() < known + 9 {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            // Nothing tells that a file has grown.
            std::thread::sleep(Duration::from_millis(3));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        known = lines();
        kills += 1;
        assert!(!folder.join("out.ctg").exists());
    }
    grown(&folder, "out.ctg", options).ends_with(0, "continuing with");
    let of = |name: &str| files(folder.join(name));
    assert!(of("out.ctg") == of("whole.ctg"), "not the same book");
    // Only positions that were being searched are searched again.
    let again = notes(&folder);
    let set = |notes: &[String]| -> BTreeSet<String> { notes.iter().cloned().collect() };
    assert_eq!(set(&again), set(&searched));
    let more = again.len() - searched.len();
    assert!(more <= 2 * kills, "{more} of {}", searched.len());
}

#[test]
fn positions_of_crashed_or_hanging_engines_are_searched_again() {
    let folder = Folder::new();
    book(&folder);
    let run = |target: &str, name: &str, after: &str| {
        let options = "--positions 20 --jobs 1 --patience 3";
        Ran::of(grow(&folder, target, options).env(name, after))
    };
    run("whole.ctg", "NOTHING", "").ok();
    for (target, name) in [
        ("dies.ctg", "SCORING_ENGINE_DIES"),
        ("hangs.ctg", "SCORING_ENGINE_HANGS"),
    ] {
        run(target, name, "9").ends_with(0, " started again");
        let of = |name: &str| files(folder.join(name));
        assert!(of(target) == of("whole.ctg"), "{target} is another book");
    }
    // An engine that never answers ends it, and no book is left.
    run("none.ctg", "SCORING_ENGINE_DIES", "1").ends(2);
    assert!(!folder.join("none.ctg").exists());
}

#[test]
fn replies_of_opponents_are_as_frequent_as_in_the_other_book() {
    let folder = Folder::new();
    // A book for White with only 1.e4.
    let game = |moves: &str, result: &str| {
        let tags = format!("[White \"A\"]\n[Black \"B\"]\n[Result \"{result}\"]");
        format!("{tags}\n\n{moves} {result}\n\n")
    };
    folder.put("empty.pgn", game("1. e4", "*"));
    folder.done("build -o book.ctg empty.pgn");
    folder.done("add book.ctg --line 1.e4");
    // It is in both a book and an index of games; in these games 1...h5 is played most,
    // which no engine would choose.
    let replies = ["h5", "h5", "h5", "e5"];
    let games = replies.map(|reply| game(&format!("1. e4 {reply}"), "1-0"));
    folder.put("games.pgn", games.concat());
    folder.done("index games.pgn -o games.tgx");
    copy(SMALL, &folder.join("other.ctg"));
    // With colours exchanged 1...c5, played most in the starter book, is c2c4.
    for (from, expected) in [("other.ctg", "c2c4"), ("games.tgx", "h2h4")] {
        let options = format!("--side white --positions 3 --replies {from} --own-cost 100000");
        let target = format!("{expected}.ctg");
        grown(&folder, &target, &options).ok();
        let graph = graph(&folder.join(&target));
        let node = graph.node(&crate::common::after("e4")).unwrap();
        let replies = moves(&graph, node);
        assert!(replies.contains(expected), "{replies:?}");
    }
}

#[test]
fn exits_above_max_cost_are_not_added_and_reported() {
    let folder = Folder::new();
    book(&folder);
    let run = |options: &str| grown(&folder, "out.ctg", options);
    run("--max-cost 0").ends_with(1, "there is nothing to add");
    run("--max-cost 400").ends_with(0, "all that is left costs too much");
    // It is not replaced without --force.
    run("").ends(2);
    run("--max-cost 400 --force").ends_with(0, "0 searches");
    assert!(folder.join("out.ctg.bak").exists());
}

#[test]
fn line_fen_and_eco_limit_where_the_book_grows() {
    let folder = Folder::new();
    copy(SMALL, &folder.join("book.ctg"));
    let before = graph(&folder.join("book.ctg"));
    let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    // All openings from B20 to B99 begin with 1.e4 c5.
    for (target, option) in [
        ("line.ctg", "--line '1.e4 c5'".to_owned()),
        ("fen.ctg", format!("--fen '{fen}'")),
        ("eco.ctg", "--eco B20-B99".to_owned()),
    ] {
        let options = format!("--positions 20 {option}");
        grown(&folder, target, &options).ok();
        let after = graph(&folder.join(target));
        assert_eq!(after.in_book(), before.in_book() + 20, "{target}");
        let sicilian = after.node(&crate::common::after("e4 c5")).unwrap();
        let mut below = BTreeSet::from([sicilian]);
        let mut open = vec![sicilian];
        while let Some(node) = open.pop() {
            let moves = after.moves(node).iter().map(|mv| mv.to);
            open.extend(moves.filter(|to| below.insert(*to)));
        }
        for node in after.nodes().filter(|node| after.record(*node).is_some()) {
            let is_new = !before.holds(after.key(node));
            assert!(!is_new || below.contains(&node), "{target}");
        }
    }
    let same = |name: &str| files(folder.join(name));
    assert!(same("line.ctg") == same("fen.ctg") && same("fen.ctg") == same("eco.ctg"));
    for (options, says) in [
        ("--line '1.e4 h5 2.h4'", "does not hold this position"),
        ("--line '1.e4 e9'", "e9"),
        ("--fen nonsense", "--fen"),
        ("--eco Z", "B20-B99"),
    ] {
        grown(&folder, "x.ctg", options).refused(says);
    }
}
