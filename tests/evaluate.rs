//! `tabia evaluate` with an engine.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A test that stops says where.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use shakmaty::{Chess, Position as _};
use tabia::book::{Book, OpenOptions};
use tabia::evals::{self, EvalKey};
use tabia::graph::{BookGraph, GraphOptions};
use tabia::watch::Watch;

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

fn engine() -> PathBuf {
    let path = Path::new(TABIA).with_file_name("examples/scoring_engine");
    assert!(
        path.exists(),
        "cargo builds {} with the tests",
        path.display()
    );
    path
}

/// A book of random games, and its graph.
fn book(folder: &Path) -> (PathBuf, BookGraph) {
    let (book, _) = common::random_book(12, 10);
    let path = book.write(folder, "book");
    let book = Book::open(&path, &OpenOptions::default()).unwrap();
    let options = GraphOptions::default();
    let graph = BookGraph::of(&book, options, &mut Watch::default(), &mut |_| {}).unwrap();
    assert!(graph.len() > 60, "{}", graph.len());
    (path, graph)
}

fn evaluate(book: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(TABIA);
    command.arg("evaluate").arg(book).args(args);
    command.arg("--").arg(engine());
    command.env("SCORING_ENGINE_NOTES", book.with_extension("notes"));
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines of a side file, each of a position of its own.
fn lines(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let set: BTreeSet<String> = lines.iter().cloned().collect();
    let keys: BTreeSet<EvalKey> = lines
        .iter()
        .filter_map(|line| Some(EvalKey::of(&evals::epd::read(line).ok()?.0)))
        .collect();
    assert_eq!(
        (set.len(), keys.len()),
        (lines.len(), lines.len()),
        "{text}"
    );
    set
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_done_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (path, graph) = book(folder.path());
    let side = path.with_extension("evals");
    let mut known = 0;
    let mut kills = 0;
    while known + 12 < graph.len() && kills < 6 {
        let mut run = evaluate(&path, &["--jobs", "2"]);
        run.env("SCORING_ENGINE_MS", "10").stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        let start = Instant::now();
        while lines_so_far(&side) < known + 7 + kills {
            assert!(start.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(3));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = lines_so_far(&side);
        assert!(now > known);
        known = now;
        kills += 1;
    }
    assert!(kills > 3);
    let last = evaluate(&path, &["--jobs", "2"]).output().unwrap();
    assert_eq!(last.status.code(), Some(0), "{}", said(&last));
    let found = lines(&side);
    assert_eq!(found.len(), graph.len(), "{}", said(&last));
    // Only what was under way when it was killed has been asked for again.
    let notes = fs::read_to_string(path.with_extension("notes")).unwrap();
    let asked: BTreeSet<&str> = notes.lines().collect();
    let again = notes.lines().count() - asked.len();
    assert!(again <= 2 * 2 * kills, "{again} of {}", asked.len());
    // The same as in one go.
    let whole = folder.path().join("whole.evals");
    let run = evaluate(&path, &["-o", whole.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    assert_eq!(lines(&whole), found);
    // And nothing is left to do.
    let run = evaluate(&path, &[]).output().unwrap();
    assert!(
        said(&run).contains(": 0 positions evaluated"),
        "{}",
        said(&run)
    );
}

fn lines_so_far(side: &Path) -> usize {
    let text = fs::read_to_string(side).unwrap_or_default();
    text.matches(";\n").count()
}

#[test]
fn leaving_the_book_has_a_value_wherever_a_move_does() {
    let folder = tempfile::tempdir().unwrap();
    let (path, graph) = book(folder.path());
    // One engine: two of them write their notes in either order.
    let run = evaluate(&path, &["--jobs", "1"]).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let table = evals::read(&path.with_extension("evals")).unwrap().table;
    let leaving = graph.leaving(&table);
    for node in graph.nodes() {
        // Where every legal move is of the book nobody can leave it.
        let others = graph.position(node).legal_moves().len() > graph.moves(node).len();
        assert_eq!(leaving[node as usize].is_some(), others, "{node}");
    }
    let start = graph.node(&Chess::default()).unwrap();
    assert!(!graph.leaving_is_unknown(start, &table));
    // The likeliest comes first.
    let notes = fs::read_to_string(path.with_extension("notes")).unwrap();
    assert!(notes.starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"));
}

#[test]
fn parts_of_the_work_make_up_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, graph) = book(folder.path());
    let mut sum = 0;
    let mut parts = Vec::new();
    for part in ["1/3", "2/3", "3/3"] {
        let out = folder.path().join(format!("{}.evals", &part[..1]));
        let text = out.to_str().unwrap().to_owned();
        let run = evaluate(&path, &["--shard", part, "-o", &text])
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        sum += lines(&out).len();
        assert!(lines(&out).len() > graph.len() / 6);
        parts.push(text);
    }
    assert_eq!(sum, graph.len());
    let mut join = Command::new(TABIA);
    join.arg("evaluate").arg(&path).arg("--import").args(&parts);
    let join = join.output().unwrap();
    assert_eq!(join.status.code(), Some(0), "{}", said(&join));
    assert_eq!(lines(&path.with_extension("evals")).len(), graph.len());
}

#[test]
fn engines_that_die_or_hang_are_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, graph) = book(folder.path());
    for fault in ["DIES", "HANGS"] {
        let mut run = evaluate(&path, &["--patience", "1", "--jobs", "2"]);
        run.env(format!("SCORING_ENGINE_{fault}"), "40");
        let run = run.output().unwrap();
        let text = said(&run);
        assert_eq!(run.status.code(), Some(0), "{text}");
        assert!(text.contains("engines started again"), "{text}");
        let side = path.with_extension("evals");
        assert_eq!(lines(&side).len(), graph.len(), "{text}");
        fs::remove_file(side).unwrap();
    }
}

#[test]
fn an_engine_that_never_answers_ends_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = book(folder.path());
    let mut run = evaluate(&path, &["--jobs", "1"]);
    let run = run.env("SCORING_ENGINE_DIES", "1").output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(said(&run).contains("the engine ended"), "{}", said(&run));
}
