//! `tabia audit` on a book whose faults are known.

#![allow(clippy::unwrap_used)] // A test that stops says where.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Folder, after, assert_has, lookup};
use serde_json::{Value, json};
use shakmaty::Position as _;
use tabia::book::{PositionRecord, Stats};
use tabia::evals::{EvalFile, beside};

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

fn made(folder: &Folder) -> PathBuf {
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
    folder.put("made.evals", text);
    path
}

fn audit(folder: &Folder, options: &str) -> Value {
    let audit = format!("audit made.ctg --json --set 'Book Tournament=false' {options}");
    serde_json::from_str(&folder.tabia(&audit).negative()).unwrap()
}

fn lines(found: &Value) -> Vec<String> {
    let found = found.as_array().unwrap().iter();
    let line = |item: &Value| item["line"].as_str().unwrap().to_owned();
    found.map(line).collect()
}

#[test]
fn every_fault_is_found_and_nothing_else() {
    let folder = Folder::new();
    made(&folder);
    let found = audit(&folder, "");
    // 1.f3 is worth what 2.Kf2 gives: -70, a hundred less than 1.e4.
    let losing = found["losing"].as_array().unwrap().iter();
    let mut moves: Vec<_> = losing
        .map(|mv| (mv["line"].as_str(), mv["loss"].as_i64()))
        .collect();
    moves.sort();
    let expected = [
        ("1.e4 f6", 110),
        ("1.f3", 100),
        ("1.f3 e5 2.g4", 930),
        ("1.f3 e5 2.g4 a6", 980),
    ];
    assert_eq!(moves, expected.map(|(line, loss)| (Some(line), Some(loss))));
    assert_eq!(found["green_count"], 1);
    assert_eq!(lines(&found["refutations"]), ["1.f3 e5 2.g4 Qh4#"]);
    let ends = lines(&found["bad_ends"]);
    assert_eq!(ends, ["1.f3 e5 2.g4 Qh4#"]);
    // White alone: 1.f3 and 2.g4.
    assert_eq!(audit(&folder, "--side white")["losing_count"], 2);
    assert_eq!(audit(&folder, "--max-loss 120")["losing_count"], 2);
    // All of play ends somewhere, and 1.d4 at nothing known.
    let share = |side: &str| found[side]["likelihood"].as_f64().unwrap();
    let sum = share("white_exits") + share("black_exits");
    assert!(sum > 0.6 && sum < 0.7, "{sum}");
}

#[test]
fn marks_are_set_and_a_persons_own_stay() {
    let folder = Folder::new();
    let book = made(&folder);
    folder.tabia("audit made.ctg --mark --symbols").ends(1);
    let marks = |moves: &str, mv: &str| {
        let position = after(moves);
        let found = lookup(&book, &position);
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
    folder.done("verify made.ctg");
    // Now only the green one is left to be told of.
    assert_eq!(audit(&folder, "")["losing_count"], 1);
    folder.tabia("audit made.ctg --mark --over");
    assert_eq!(marks("", "f3").0, "avoid");
}

#[test]
fn reports_are_written_once() {
    let folder = Folder::new();
    made(&folder);
    for (name, wanted) in [
        ("r.html", "<td class=d>"),
        ("r.md", "1.f3"),
        ("r.json", "\"losing\""),
    ] {
        let report = format!("audit made.ctg --report {name}");
        folder.tabia(&report).ends(1);
        assert_has(&folder.text(name), wanted);
        folder.tabia(&report).ends(2);
        folder.tabia(&format!("{report} --force")).ends(1);
    }
    folder.tabia("audit made.ctg --report r.doc").ends(2);
    assert!(!folder.join("r.doc").exists());
}

#[test]
fn without_evaluations_there_is_nothing_to_say() {
    let folder = Folder::new();
    let book = made(&folder);
    fs::remove_file(beside(&book)).unwrap();
    folder.tabia("audit made.ctg").refused("tabia evaluate");
}

#[test]
fn the_adapter_chooses_by_the_evaluations_beside_the_book() {
    let folder = Folder::new();
    made(&folder);
    let f3 = |options: &str| -> Value {
        let probe = format!("probe made.ctg --json --set 'Book Tournament=false' {options}");
        let view = folder.tabia(&probe).json();
        let mut moves = view["moves"].as_array().unwrap().iter();
        moves.find(|known| known["san"] == "f3").unwrap().clone()
    };
    let usual = f3("");
    assert_eq!(
        json!([usual["evaluation"], usual["loss"]]),
        json!([-70, 100])
    );
    assert!((usual["probability"].as_f64().unwrap() - 1.0 / 3.0).abs() < 0.01);
    let none = f3("--set 'Book Evaluations=<empty>'");
    assert!(none.get("evaluation").is_none());
    assert_eq!(none["probability"], usual["probability"]);
    let strict = f3("--set 'Book Maximum Loss=50'");
    assert_eq!(strict["not_played"], "loses 100 cp, limit 50");
    let both = f3("--set 'Book Judgement=both'");
    assert!(both["probability"].as_f64().unwrap() < 0.1, "{both}");
    // The file may stand elsewhere.
    let other = folder.join("other.evals");
    let file = EvalFile::open(&other).unwrap();
    let (position, mut evaluation) =
        tabia::evals::epd::read("rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - ce 11;")
            .unwrap();
    evaluation.depth = 3;
    file.add(&position, &evaluation).unwrap();
    let set = format!("--set 'Book Evaluations={}'", other.display());
    assert_eq!(f3(&set)["evaluation"], -11);
}
