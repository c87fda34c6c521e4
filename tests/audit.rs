//! `tabia audit` on a book whose faults are known.

#![allow(clippy::unwrap_used)] // A test that stops says where.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use shakmaty::{Chess, Position as _};
use tabia::book::{Book, Lookup, OpenOptions, PositionRecord, Probe, Stats, Wanted};
use tabia::evals::{EvalFile, beside};
use tabia::notation::Line;

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

fn after(moves: &str) -> Chess {
    Line::read("", moves).unwrap().last().clone()
}

/// 1.e4 e5 is good, 1.e4 f6 loses; 1.f3 loses, 1.f3 e5 2.g4 is mated by Qh4,
/// of which nothing tells; and 1.f3 a6 gives some of it back. 1.d4 is unknown.
const LINES: [&str; 5] = ["e4 e5", "e4 f6", "f3 e5 g4 Qh4", "f3 e5 g4 a6", "d4 d5"];

const VALUES: [(&str, &str); 9] = [
    ("", "ce 30; bm e4;"),
    ("e4", "ce -30; bm e5;"),
    ("e4 e5", "ce 30; bm Nf3;"),
    ("e4 f6", "ce 140; bm d4;"),
    ("f3", "ce 70; bm e5;"),
    ("f3 e5", "ce -70; bm Kf2;"),
    ("f3 e5 g4", "ce 32766; bm Qh4;"),
    ("f3 e5 g4 Qh4", "ce -32766;"),
    ("f3 e5 g4 a6", "ce -20; bm e4;"),
];

fn made(folder: &Path) -> PathBuf {
    let mut book = common::TestBook::default();
    let mut positions = vec![String::new()];
    for line in LINES {
        let words: Vec<&str> = line.split(' ').collect();
        for n in 1..=words.len() {
            let prefix = words[..n].join(" ");
            if !positions.contains(&prefix) {
                positions.push(prefix);
            }
        }
    }
    for here in &positions {
        let position = after(here);
        let next = positions.iter().filter_map(|other| {
            let (before, mv) = other.rsplit_once(' ').unwrap_or(("", other));
            (before == here && !other.is_empty())
                .then(|| tabia::notation::read_move(&position, mv).unwrap())
        });
        let moves: Vec<_> = next.collect();
        let stats = Stats {
            games: 20,
            wins: 10,
            losses: 10,
            ..Stats::default()
        };
        // 1.f3 is green.
        let recommendation = if here == "f3" { 0x80 } else { 0 };
        let record = PositionRecord {
            stats,
            recommendation,
            ..PositionRecord::default()
        };
        book.add(&position, &moves, record);
    }
    let path = book.write(folder, "made");
    let mut text = String::new();
    for (moves, operations) in VALUES {
        let fen = tabia::notation::fen(&after(moves));
        let fields: Vec<&str> = fen.split(' ').take(4).collect();
        text += &format!("{} {operations} acd 20;\n", fields.join(" "));
    }
    fs::write(beside(&path), text).unwrap();
    path
}

fn run(command: &str, book: &Path, args: &[&str]) -> Output {
    Command::new(TABIA)
        .arg(command)
        .arg(book)
        .args(args)
        .output()
        .unwrap()
}

fn audit(book: &Path, args: &[&str]) -> Value {
    let args = [&["--json", "--set", "Book Tournament=false"], args].concat();
    let output = run("audit", book, &args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() < Some(2), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn lines(found: &Value) -> Vec<String> {
    let found = found.as_array().unwrap().iter();
    let line = |item: &Value| item["line"].as_str().unwrap().to_owned();
    found.map(line).collect()
}

#[test]
fn every_fault_is_found_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let book = made(folder.path());
    let found = audit(&book, &[]);
    // 1.f3 is worth what 2.Kf2 gives: -70, a hundred less than 1.e4.
    let losing = &found["losing"];
    let mut moves: Vec<(String, i64)> = losing
        .as_array()
        .unwrap()
        .iter()
        .map(|mv| {
            (
                mv["line"].as_str().unwrap().to_owned(),
                mv["loss"].as_i64().unwrap(),
            )
        })
        .collect();
    moves.sort();
    let moves: Vec<(&str, i64)> = moves.iter().map(|(line, loss)| (&**line, *loss)).collect();
    assert_eq!(
        moves,
        [
            ("1.e4 f6", 110),
            ("1.f3", 100),
            ("1.f3 e5 2.g4", 930),
            ("1.f3 e5 2.g4 a6", 980),
        ]
    );
    assert_eq!(found["green_count"], 1);
    assert_eq!(lines(&found["refutations"]), ["1.f3 e5 2.g4 Qh4#"]);
    let ends = lines(&found["bad_ends"]);
    assert_eq!(ends, ["1.f3 e5 2.g4 Qh4#"]);
    // White alone: 1.f3 and 2.g4.
    assert_eq!(audit(&book, &["--side", "white"])["losing_count"], 2);
    assert_eq!(audit(&book, &["--max-loss", "120"])["losing_count"], 2);
    // All of play ends somewhere, and 1.d4 at nothing known.
    let share = |side: &str| found[side]["likelihood"].as_f64().unwrap();
    let sum = share("white_exits") + share("black_exits");
    assert!(sum > 0.6 && sum < 0.7, "{sum}");
}

#[test]
fn marks_are_set_and_a_persons_own_stay() {
    let folder = tempfile::tempdir().unwrap();
    let book = made(folder.path());
    let output = run("audit", &book, &["--mark", "--symbols"]);
    assert_eq!(output.status.code(), Some(1));
    let marks = |moves: &str, mv: &str| {
        let open = Book::open(&book, &OpenOptions::default()).unwrap();
        let position = after(moves);
        let mut found = Lookup::default();
        open.probe(&position, Wanted::Stored, &mut found).unwrap();
        let mv = tabia::notation::read_move(&position, mv).unwrap();
        let known = found.moves.iter().find(|known| known.mv == mv).unwrap();
        let symbol = known.after.unwrap().commentary_for(!position.turn());
        (known.mark().as_str(), known.annotation.symbol(), symbol)
    };
    assert_eq!(marks("e4", "f6"), ("avoid", "?!", 14));
    assert_eq!(marks("e4", "e5"), ("none", "", 10));
    // Somebody has marked it green.
    assert_eq!(marks("", "f3"), ("main", "?!", 15));
    assert_eq!(marks("f3 e5", "g4"), ("avoid", "??", 19));
    assert_eq!(marks("f3 e5 g4", "Qh4").0, "none");
    let verify = run("verify", &book, &[]);
    assert_eq!(verify.status.code(), Some(0));
    // Now only the green one is left to be told of.
    assert_eq!(audit(&book, &[])["losing_count"], 1);
    run("audit", &book, &["--mark", "--over"]);
    assert_eq!(marks("", "f3").0, "avoid");
}

#[test]
fn reports_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let book = made(folder.path());
    for (name, wanted) in [
        ("r.html", "<td class=d>"),
        ("r.md", "1.f3"),
        ("r.json", "\"losing\""),
    ] {
        let report = folder.path().join(name);
        let path = report.to_str().unwrap();
        assert_eq!(
            run("audit", &book, &["--report", path]).status.code(),
            Some(1)
        );
        assert!(
            fs::read_to_string(&report).unwrap().contains(wanted),
            "{name}"
        );
        assert_eq!(
            run("audit", &book, &["--report", path]).status.code(),
            Some(2)
        );
        assert_eq!(
            run("audit", &book, &["--report", path, "--force"])
                .status
                .code(),
            Some(1)
        );
    }
    let bad = folder.path().join("r.doc");
    let output = run("audit", &book, &["--report", bad.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!bad.exists());
}

#[test]
fn without_evaluations_there_is_nothing_to_say() {
    let folder = tempfile::tempdir().unwrap();
    let book = made(folder.path());
    fs::remove_file(beside(&book)).unwrap();
    let output = run("audit", &book, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("tabia evaluate"));
}

#[test]
fn the_adapter_chooses_by_the_evaluations_beside_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let book = made(folder.path());
    let probe = |sets: &[&str]| -> Value {
        let mut args = vec!["--json", "--set", "Book Tournament=false"];
        args.extend(sets.iter().flat_map(|set| ["--set", *set]));
        let output = run("probe", &book, &args);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let of = |view: &Value, mv: &str| -> Value {
        let moves = view["moves"].as_array().unwrap();
        moves
            .iter()
            .find(|known| known["san"] == mv)
            .unwrap()
            .clone()
    };
    let usual = probe(&[]);
    let f3 = of(&usual, "f3");
    assert_eq!(
        (&f3["evaluation"], &f3["loss"]),
        (&(-70).into(), &100.into())
    );
    assert!((f3["probability"].as_f64().unwrap() - 1.0 / 3.0).abs() < 0.01);
    let none = probe(&["Book Evaluations=<empty>"]);
    assert!(of(&none, "f3").get("evaluation").is_none());
    assert_eq!(of(&none, "f3")["probability"], f3["probability"]);
    let strict = of(&probe(&["Book Maximum Loss=50"]), "f3");
    assert_eq!(strict["not_played"], "loses 100 cp, limit 50");
    let both = of(&probe(&["Book Judgement=both"]), "f3");
    assert!(both["probability"].as_f64().unwrap() < 0.1, "{both}");
    // The file may stand elsewhere.
    let other = folder.path().join("other.evals");
    let mut file = EvalFile::open(&other).unwrap();
    let (position, mut evaluation) =
        tabia::evals::epd::read("rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - ce 11;")
            .unwrap();
    evaluation.depth = 3;
    file.add(&position, &evaluation).unwrap();
    let set = format!("Book Evaluations={}", other.display());
    assert_eq!(of(&probe(&[&set]), "f3")["evaluation"], -11);
}
