//! `tabia repertoire`.

use std::path::{Path, PathBuf};

use serde_json::json;
use shakmaty::Color;
use tabia_analysis::repertoire::{Knowledge, Repertoire, RepertoireOptions, RepertoireSummary};
use tabia_book::evals::EvalTable;
use tabia_book::{Book, OpenOptions};
use tabia_io::progress::Watch;

use crate::common::{Folder, SMALL, assert_sound};

/// A book of games with these first moves, each with a result and a number.
fn book(folder: &Folder, name: &str, games: &[(&str, &str, usize)]) -> PathBuf {
    let mut text = String::new();
    for (n, (moves, result, count)) in games.iter().enumerate() {
        for copy in 0..*count {
            text += &format!(
                "[White \"W{n}\"]\n[Black \"B{copy}\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
            );
        }
    }
    folder.put(&format!("{name}.pgn"), text);
    folder.done(&format!("build -o {name}.ctg {name}.pgn"));
    folder.join(format!("{name}.ctg"))
}

fn options(colour: Color) -> RepertoireOptions {
    let mut options = RepertoireOptions::new(colour);
    options.one_in = 100.0;
    options.min_games = 1;
    options.min_share = 0.0;
    options.shrinkage_games = 90.0;
    options
}

fn solved(book: &Path, opponents: Option<&Path>, options: &RepertoireOptions) -> RepertoireSummary {
    let open = |path: &Path| Book::open(path, &OpenOptions::default()).unwrap();
    let (book, opponents) = (open(book), opponents.map(open));
    let none = EvalTable::default();
    let mut knowledge = Knowledge::new(&book, &none);
    knowledge.opponents = opponents.as_ref();
    let found = Repertoire::solve(knowledge, options, &mut Watch::default()).unwrap();
    found.summary()
}

#[test]
fn values_and_gaps_equal_a_calculation_by_hand() {
    let folder = Folder::new();
    let made = book(
        &folder,
        "a",
        &[
            ("1.e4 e5", "1-0", 30),
            ("1.e4 c5", "0-1", 30),
            ("1.d4 d5", "1/2-1/2", 60),
        ],
    );
    let found = solved(&made, None, &options(Color::White));
    // All moves score a half. 1.e4: 30 of 60 games each, and 10 for two equal moves, of
    // 71 in all; one is for the others.
    assert!((found.expectation - 0.5).abs() < 1e-9, "{found:?}");
    assert_eq!(found.positions, 1);
    let lines: Vec<(String, f64)> = found
        .gaps
        .iter()
        .map(|gap| (gap.line.to_string(), gap.probability))
        .collect();
    if lines.len() == 2 {
        for (line, probability) in &lines {
            assert!(line == "1.e4 e5" || line == "1.e4 c5", "{line}");
            assert!((probability - 35.0 / 71.0).abs() < 1e-9);
        }
    } else {
        // Equally good: one reply, 60 games and 10 of 71.
        assert_eq!(lines[0].0, "1.d4 d5");
        assert!((lines[0].1 - 70.0 / 71.0).abs() < 1e-9);
    }
    assert!((found.coverage - 0.5).abs() < 1e-9, "one of two moves");
    assert!((found.plies - 1.0).abs() < 1e-9);
}

#[test]
fn values_of_moves_depend_on_the_opponents_book() {
    let folder = Folder::new();
    let lines = [
        ("1.e4 e5 2.Nf3", "1-0", 100),
        ("1.e4 c5 2.Nf3", "0-1", 100),
        ("1.d4 d5 2.c4", "1-0", 52),
        ("1.d4 d5 2.c4", "0-1", 48),
    ];
    let made = book(&folder, "a", &lines);
    let club = book(
        &folder,
        "club",
        &[("1.e4 e5", "*", 300), ("1.d4 d5", "*", 10)],
    );
    let masters = book(
        &folder,
        "masters",
        &[("1.e4 c5", "*", 300), ("1.d4 d5", "*", 10)],
    );
    let white = options(Color::White);
    let [plain, weak, strong] =
        [None, Some(&*club), Some(&*masters)].map(|who| solved(&made, who, &white));
    // Against the club's games 1.e4 scores what it does there; the others do not allow
    // it, and 1.d4 is better.
    assert!(weak.expectation > 0.6, "{}", weak.expectation);
    assert!(
        plain.expectation < 0.53 && strong.expectation < 0.53,
        "{} {}",
        plain.expectation,
        strong.expectation
    );
    let mut careful = white;
    careful.caution = 1.0;
    assert!(solved(&made, Some(&club), &careful).expectation < 0.53);
}

#[test]
fn games_of_one_line_count_once_for_the_value() {
    let folder = Folder::new();
    let made = book(
        &folder,
        "a",
        &[
            (
                "1.g4 d5 2.Bg2 c6 3.h3 e5 4.d3 Bd6 5.Nf3 Ne7 6.Nc3 O-O",
                "1-0",
                3,
            ),
            ("1.e4 e5", "1-0", 600),
            ("1.e4 e5", "0-1", 400),
        ],
    );
    // Three more games after 90 with 60 per cent: 61.3 per cent, at any length.
    let bold = options(Color::White);
    let found = solved(&made, None, &bold);
    assert!(
        (0.60..0.614).contains(&found.expectation),
        "{}",
        found.expectation
    );
    let mut usual = bold;
    usual.min_games = 10;
    let found = solved(&made, None, &usual);
    let first = found.gaps[0].line.to_string();
    assert!(first.starts_with("1.e4"), "{first}");
    assert!(
        (0.57..0.601).contains(&found.expectation),
        "{}",
        found.expectation
    );
}

#[test]
fn a_repertoire_as_book_and_as_study_has_the_same_moves() {
    let folder = Folder::with(SMALL);
    let black = "repertoire book.ctg --colour black --json";
    let run = |options: &str| folder.tabia(&format!("{black} {options}")).json();
    let report = run("-o black.ctg");
    assert_eq!(report, run("-o black.pgn"));
    assert!(report["positions"].as_u64() > Some(20), "{report}");
    let share = |name: &str| report[name].as_f64().unwrap();
    assert!((0.3..0.7).contains(&share("expectation")) && (0.0..=1.0).contains(&share("coverage")));
    assert_sound(folder.join("black.ctg"));
    // Every position of Black has one green move, which the adapter plays.
    let answer = folder.probe("black.ctg", "e4")["moves"].take();
    assert_eq!(answer.as_array().unwrap().len(), 1, "{answer}");
    let chosen = json!([answer[0]["mark"], answer[0]["probability"]]);
    assert_eq!(chosen, json!(["main", 1.0]));
    // The study, read back, has no differences.
    let differences = run("--from black.pgn")["differences"].take();
    assert_eq!(differences["repairs"], json!([]));
    assert_eq!(differences["agreed"], report["positions"]);
    // A different first move is reported.
    folder.put("mine.pgn", "1.e4 f6 2.d4 *\n");
    let repairs = run("--from mine.pgn")["differences"]["repairs"].take();
    assert_eq!(repairs[0]["line"], "1.e4");
    assert_eq!(repairs[0]["better"], answer[0]["san"]);
}

#[test]
fn with_line_the_repertoire_begins_after_that_line() {
    let folder = Folder::with(SMALL);
    let report = folder
        .tabia("repertoire book.ctg --colour white --line '1.e4 c5' --json -o out.ctg")
        .json();
    for gap in report["gaps"].as_array().unwrap() {
        let line = gap["line"].as_str().unwrap();
        assert!(line.starts_with("1.e4 c5"), "{line}");
    }
    // The book has the line to the position, and no other moves.
    for (line, only) in [("", "e4"), ("e4", "c5")] {
        let view = folder.probe("out.ctg", line);
        let moves = view["moves"].as_array().unwrap();
        assert_eq!((moves.len(), &moves[0]["san"]), (1, &json!(only)));
    }
    let answer = folder.probe("out.ctg", "e4 c5")["moves"].take();
    assert_eq!(answer.as_array().unwrap().len(), 1, "{answer}");
    // The opponent of the line needs no reply to other first moves.
    let black = folder.tabia("repertoire book.ctg --colour black --line '1.e4 c5' --json");
    let gaps = black.json()["gaps"].take();
    let mut gaps = gaps.as_array().unwrap().iter();
    assert!(gaps.all(|gap| gap["line"].as_str().unwrap().starts_with("1.e4 c5")));
    folder
        .tabia("repertoire book.ctg --colour white --line '1.e4 h5'")
        .ends_with(1, "1...h5 is not in the book");
}

#[test]
fn a_green_move_is_chosen_whatever_the_results_say() {
    let folder = Folder::new();
    let lines = [
        ("1.e4 e5", "1-0", 100),
        ("1.d4 d5", "1-0", 40),
        ("1.d4 d5", "0-1", 60),
    ];
    book(&folder, "a", &lines);
    let first = |name: &str| {
        folder.done(&format!("repertoire a.ctg --colour white -fo {name}.ctg"));
        folder.probe(&format!("{name}.ctg"), "")["moves"][0]["san"].clone()
    };
    assert_eq!(first("free"), "e4");
    folder.done(&["mark", "a.ctg", "--line", "1.d4", "main"]);
    assert_eq!(first("green"), "d4");
    // An annotation counts more, as in the adapter.
    folder.done(&["mark", "a.ctg", "--line", "1.d4", "--annotation", "?"]);
    assert_eq!(first("signed"), "e4");
}

/// 1.e4 was lucky in the games of its book, which it won all; it scores half in the
/// others.
#[test]
fn measure_shows_the_score_in_other_games() {
    let folder = Folder::new();
    let chosen = [("1.e4 e5", "1-0", 40), ("1.d4 d5", "1/2-1/2", 400)];
    let others = [
        ("1.e4 e5", "1-0", 30),
        ("1.e4 e5", "0-1", 30),
        ("1.e4 c5", "1-0", 30),
        ("1.e4 c5", "0-1", 10),
        ("1.d4 d5", "0-1", 100),
    ];
    book(&folder, "chosen", &chosen);
    book(&folder, "others", &others);
    let report = folder
        .tabia("repertoire chosen.ctg --colour white --measure others.ctg --json")
        .json();
    let share = |value: &serde_json::Value| value.as_f64().unwrap();
    let measured = &report["measured"];
    // 60 of 100 games score a half, 40 three quarters.
    assert!((share(&measured["brings"]) - 0.6).abs() < 1e-9, "{report}");
    assert!((share(&measured["all"]) - 0.3).abs() < 1e-9, "{report}");
    assert!((share(&measured["error"]) - 1.96 * (0.15_f64 / 100.0).sqrt()).abs() < 1e-9);
    // A larger hold-back gives a lower prediction.
    let promise = |hold_back: &str| {
        let run = format!("repertoire chosen.ctg --colour white --hold-back {hold_back} --json");
        share(&folder.tabia(&run).json()["expectation"])
    };
    let promises = ["10", "90", "800", "4000"].map(promise);
    assert!(promises.is_sorted_by(|a, b| a > b), "{promises:?}");
    assert!((share(&report["expectation"]) - promises[2]).abs() < 1e-12);
}

#[test]
fn invalid_options_are_refused() {
    let folder = Folder::with(SMALL);
    for options in [
        "book.ctg -o x.ctg",
        "book.ctg --colour white -o x.bin",
        "book.ctg --colour white --from none.pgn",
        "none.ctg --colour white",
    ] {
        folder.tabia(&format!("repertoire {options}")).ends(2);
    }
    assert_eq!(folder.names().len(), 3);
}
