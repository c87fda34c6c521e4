//! `tabia grow`, with an engine whose scores hang on letters alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tabia::book::{Book, OpenOptions};
use tabia::evals::{self, EvalTable};
use tabia::graph::{BookGraph, GraphOptions};
use tabia::watch::Watch;

use super::{assert_sound, common, files, ok, starter};

fn engine() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_tabia")).with_file_name("examples/scoring_engine");
    assert!(path.exists(), "cargo builds {}", path.display());
    path
}

/// A book of random games.
fn book(folder: &Path) -> PathBuf {
    common::random_book(10, 8).0.write(folder, "book")
}

fn grow(folder: &Path, target: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabia"));
    command.args(["grow", "book.ctg", "-o", target]).args(args);
    command.arg("--").arg(engine()).current_dir(folder);
    command.env("SCORING_ENGINE_NOTES", folder.join("notes"));
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn graph(path: &Path) -> BookGraph {
    let book = Book::open(path, &OpenOptions::default()).unwrap();
    let options = GraphOptions::default();
    BookGraph::of(&book, options, &mut Watch::default(), &mut |_| {}).unwrap()
}

fn table(book: &Path) -> EvalTable {
    evals::read(&evals::beside(book)).unwrap().table
}

fn notes(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("notes")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn as_many_positions_as_wanted_and_nothing_of_the_old_book_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = book(folder.path());
    let before = graph(&path);
    let old = files(&path);
    let output = grow(folder.path(), "out.ctg", &["--positions", "40"]).output();
    let text = ok(&output.unwrap());
    assert!(text.contains("40 positions more"), "{text}");
    let target = folder.path().join("out.ctg");
    assert_sound(&target);
    assert_eq!(files(&path), old);
    let after = graph(&target);
    assert_eq!(after.in_book(), before.len() + 40);
    for node in before.nodes() {
        let position = before.position(node);
        let there = after.node(&position).unwrap();
        let stored = before.record(node).copied().unwrap_or_default();
        assert_eq!(after.record(there), Some(&stored));
        let moves = |graph: &BookGraph, node| -> BTreeSet<String> {
            graph
                .moves(node)
                .iter()
                .map(|mv| mv.mv.to_string())
                .collect()
        };
        assert!(moves(&after, there).is_superset(&moves(&before, node)));
    }
    // Every new position has a value of its own, and no games.
    let table = table(&target);
    for node in after.nodes() {
        let position = after.position(node);
        if before.node(&position).is_none() {
            assert!(table.contains(&position));
            assert_eq!(after.record(node).unwrap().stats.games, 0);
        }
    }
}

#[test]
fn the_number_of_engines_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    book(folder.path());
    for (target, jobs) in [("one.ctg", "1"), ("three.ctg", "3")] {
        let args = ["--positions", "60", "--jobs", jobs, "--side", "black"];
        ok(&grow(folder.path(), target, &args).output().unwrap());
    }
    let of = |name: &str| files(&folder.path().join(name));
    assert!(of("one.ctg") == of("three.ctg"), "not the same book");
}

#[test]
fn killed_at_any_moment_it_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    book(folder.path());
    let args = ["--positions", "50", "--jobs", "2"];
    ok(&grow(folder.path(), "whole.ctg", &args).output().unwrap());
    // A position is asked about leaving the book once for each move there.
    let asked = notes(folder.path());
    fs::remove_file(folder.path().join("notes")).unwrap();
    let lines = || {
        let text = fs::read_to_string(folder.path().join("out.evals")).unwrap_or_default();
        text.matches(";\n").count()
    };
    let (mut kills, mut known) = (0, 0);
    while kills < 4 {
        let mut run = grow(folder.path(), "out.ctg", &args);
        run.env("SCORING_ENGINE_MS", "10").stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        let start = Instant::now();
        while lines() < known + 9 {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(3));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        known = lines();
        kills += 1;
        assert!(!folder.path().join("out.ctg").exists());
    }
    let last = grow(folder.path(), "out.ctg", &args).output().unwrap();
    assert!(said(&last).contains("going on with"), "{}", said(&last));
    ok(&last);
    let of = |name: &str| files(&folder.path().join(name));
    assert!(of("out.ctg") == of("whole.ctg"), "not the same book");
    // Only what was under way when it was killed has been asked again.
    let again = notes(folder.path());
    let set = |notes: &[String]| -> BTreeSet<String> { notes.iter().cloned().collect() };
    assert_eq!(set(&again), set(&asked));
    assert!(
        again.len() - asked.len() <= 2 * kills,
        "{} {}",
        again.len(),
        asked.len()
    );
}

#[test]
fn engines_that_die_or_hang_are_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    book(folder.path());
    let args = ["--positions", "20", "--jobs", "1", "--patience", "1"];
    let run = |target: &str, name: &str, after: &str| {
        let mut run = grow(folder.path(), target, &args);
        run.env(name, after).output().unwrap()
    };
    let whole = run("whole.ctg", "NOTHING", "");
    ok(&whole);
    for (target, name) in [
        ("dies.ctg", "SCORING_ENGINE_DIES"),
        ("hangs.ctg", "SCORING_ENGINE_HANGS"),
    ] {
        let text = ok(&run(target, name, "9"));
        assert!(text.contains("engines started again"), "{text}");
        let of = |name: &str| files(&folder.path().join(name));
        assert!(of(target) == of("whole.ctg"), "{target} is another book");
    }
    // One that never answers ends it, and no book is left.
    let none = run("none.ctg", "SCORING_ENGINE_DIES", "1");
    assert_eq!(none.status.code(), Some(2), "{}", said(&none));
    assert!(!folder.path().join("none.ctg").exists());
}

#[test]
fn opponents_reply_as_in_the_other_book() {
    let folder = tempfile::tempdir().unwrap();
    // A book of White's that knows 1.e4 alone.
    let line = ["add", "book.ctg", "--line", "1.e4"];
    let build = ["build", "-o", "book.ctg", "empty.pgn"];
    fs::write(
        folder.path().join("empty.pgn"),
        "[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n\n1. e4 *\n",
    )
    .unwrap();
    for args in [&build[..], &line[..]] {
        ok(&super::tabia(folder.path(), args));
    }
    // Both a book and an index of games tell it; of the games here 1...h5 is
    // played most, which no engine would say.
    let mut games = String::new();
    for reply in ["h5", "h5", "h5", "e5"] {
        games +=
            &format!("[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 {reply} 1-0\n\n");
    }
    fs::write(folder.path().join("games.pgn"), games).unwrap();
    let index = ["index", "games.pgn", "-o", "games.tgx"];
    ok(&super::tabia(folder.path(), &index));
    let starter = starter();
    // The board is turned: 1...c5, played most in the starter book, is c2c4.
    for (from, expected) in [(starter.to_str().unwrap(), "c2c4"), ("games.tgx", "h2h4")] {
        let args = [
            "--side",
            "white",
            "--positions",
            "3",
            "--replies",
            from,
            "--own-cost",
            "100000",
        ];
        let target = format!("{expected}.ctg");
        ok(&grow(folder.path(), &target, &args).output().unwrap());
        let grown = graph(&folder.path().join(&target));
        let after_e4 = tabia::notation::Line::read("", "e4").unwrap();
        let node = grown.node(after_e4.last()).unwrap();
        let replies: Vec<String> = grown
            .moves(node)
            .iter()
            .map(|mv| mv.mv.to_string())
            .collect();
        assert!(replies.contains(&expected.to_owned()), "{replies:?}");
    }
}

#[test]
fn what_costs_too_much_is_left_and_told() {
    let folder = tempfile::tempdir().unwrap();
    book(folder.path());
    let run = |args: &[&str]| grow(folder.path(), "out.ctg", args).output().unwrap();
    let output = run(&["--max-cost", "0"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("there is nothing to add"),
        "{}",
        said(&output)
    );
    let text = ok(&run(&["--max-cost", "400"]));
    assert!(text.contains("all that is left costs too much"), "{text}");
    // It is not replaced unasked.
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let text = ok(&run(&["--max-cost", "400", "--force"]));
    assert!(text.contains("0 searches"), "{text}");
    assert!(folder.path().join("out.ctg.bak").exists());
}
