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
    found.summary().unwrap()
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

/// 3.Bc4 and, by transposition, 3.Bb5 are two answers to one position.
#[test]
fn a_repertoire_that_contradicts_itself_is_reported() {
    let folder = Folder::new();
    let lines = [
        ("1.e4 e5 2.Nf3 Nc6 3.Bc4", "1-0", 40),
        ("1.e4 e5 2.Nf3 Nc6 3.Bb5", "1-0", 60),
        ("1.e4 Nc6 2.Nf3 e5 3.Bc4", "0-1", 20),
    ];
    book(&folder, "a", &lines);
    let differences = |text: &str| {
        folder.put("mine.pgn", text);
        let run = "repertoire a.ctg --colour white --from mine.pgn --json --one-in 50";
        folder.tabia(run).json()["differences"].take()
    };
    let agreed = differences("1.e4 e5 (1...Nc6 2.Nf3 e5 3.Bb5) 2.Nf3 Nc6 3.Bb5 *\n");
    assert_eq!(agreed["several_answers"], json!([]));
    let two = "1.e4 e5 (1...Nc6 2.Nf3 e5 3.Bb5) 2.Nf3 Nc6 3.Bc4 *\n";
    let found = differences(two);
    let several = &found["several_answers"][0];
    let said = |n: usize| {
        (
            &several["answers"][n]["san"],
            &several["answers"][n]["line"],
        )
    };
    assert_eq!(said(0), (&json!("Bb5"), &json!("1.e4 Nc6 2.Nf3 e5")));
    assert_eq!(said(1), (&json!("Bc4"), &json!("1.e4 e5 2.Nf3 Nc6")));
    // It is neither agreed nor a repair.
    assert_eq!(found["repairs"], json!([]));
    let count = |found: &serde_json::Value| found["agreed"].as_u64().unwrap();
    assert_eq!(count(&found) + 1, count(&agreed), "{found} {agreed}");
    let probability = several["probability"].as_f64().unwrap();
    assert!((0.1..1.0).contains(&probability), "{probability}");
    let text = folder
        .tabia("repertoire a.ctg --colour white --from mine.pgn")
        .printed();
    let row = text.lines().find(|line| line.contains("3.Bb5 (")).unwrap();
    assert!(row.contains("after 1.e4 Nc6 2.Nf3 e5; 3.Bc4 ("), "{row}");
    // Main move and variation of one line are alternatives; answers of two games, and of
    // positions that the book does not have, are none.
    let one = differences("1.e4 e5 2.Nf3 Nc6 3.Bb5 (3.Bc4) *\n");
    assert_eq!(one["several_answers"], json!([]));
    let games = "1.d4 d5 2.c4 *\n\n[Event \"b\"]\n\n1.d4 d5 2.Nf3 *\n";
    let unmet = differences(games)["several_answers"].take();
    assert_eq!(
        (&unmet[0]["probability"], &unmet[1]),
        (&json!(0.0), &json!(null))
    );
    let game = |n: usize| &unmet[0]["answers"][n]["game"];
    assert_eq!((game(0), game(1)), (&json!(1), &json!(2)));
    // What cannot be read is named.
    folder.put("mine.pgn", "1.e4 e5 2.Ke6 *\n");
    let run = folder.tabia("repertoire a.ctg --colour white --from mine.pgn");
    assert!(run.ok().contains("Ke6"), "{run:?}");
}

/// 1...c5 is met in one of 3 games, 1...e5 in most, 1...a6 in one of 60.
#[test]
fn lines_that_are_never_met_are_taken_out_of_a_repertoire() {
    let folder = Folder::new();
    let lines = [
        ("1.e4 e5 2.Nf3", "1-0", 600),
        ("1.e4 c5 2.Nf3", "1-0", 300),
        ("1.e4 a6 2.d4", "1-0", 8),
        ("1.e4 a5 2.d4", "1-0", 1),
    ];
    book(&folder, "a", &lines);
    // A side line that is likelier than the one before it, one that comes from another
    // order of moves, an answer that the book does not have, comments, a second game.
    let mine = "{mine} 1.e4 $1 e5 (1...a6 {rare} 2.d4 d6 3.c4) (1...a5 2.d4) (1...b6 2.d4) (1...c5 \
                {Sicilian} 2.c3 d5 3.exd5) 2.Nf3 Nc6 3.Bb5 {Spanish} *\n\n\
                [White \"x\"]\n\n1.e4 a6 2.d4 *\n";
    folder.put("mine.pgn", mine);
    let run = "repertoire a.ctg --colour white --from mine.pgn --trim -fo out.pgn --json --one-in";
    let trimmed = folder.tabia(&format!("{run} 200")).json()["trimmed"].take();
    let text = folder.text("out.pgn").replace('\n', " ");
    let has = |part: &str| assert!(text.contains(part), "{part}: {text}");
    has("{mine} 1. e4 $1 e5 (1... c5 {Sicilian} 2. c3 d5 3. exd5)");
    has("2. Nf3 Nc6 3. Bb5 {Spanish} *");
    has("(1... a6 {rare} 2. d4 d6 3. c4)");
    assert!(!text.contains("a5") && !text.contains("b6"), "{text}");
    let lines = trimmed["lines"].as_array().unwrap();
    let lines: Vec<&str> = lines
        .iter()
        .map(|gap| gap["line"].as_str().unwrap())
        .collect();
    assert_eq!(lines, ["1.e4 a5", "1.e4 b6"]);
    // 1.e4 e5 2.Nf3 Nc6 3.Bb5, a6 d4 d6 c4, c5 c3 d5 exd5, e4 a6 d4.
    assert_eq!(
        (&trimmed["moves"], &trimmed["left"]),
        (&json!(4), &json!(16))
    );
    // Bb5, c4, d5 exd5: the book ends before them.
    assert_eq!(trimmed["not_in_the_book"], 4);
    // With a narrower limit the rare line goes, and its game too: 1.e4 is in the other.
    let trimmed = folder.tabia(&format!("{run} 20")).json()["trimmed"].take();
    assert_eq!(
        ["games", "moves", "left"].map(|name| &trimmed[name]),
        [&json!(1), &json!(11), &json!(9)]
    );
    let text = folder.text("out.pgn");
    assert!(!text.contains("a6") && text.contains("(1... c5"), "{text}");
    assert_eq!(text.matches("1. e4").count(), 1, "{text}");
    // For Black the first move is the opponent's.
    folder.put(
        "mine.pgn",
        "1.d4 d5 *\n\n[White \"x\"]\n\n1.e4 e5 2.Na3 d6 *\n",
    );
    let black = run.replace("white", "black");
    folder.done(&format!("{black} 20"));
    let out = folder.text("out.pgn");
    assert!(!out.contains("d4") && out.contains("1. e4 e5 *"), "{out}");
    // What is left is left.
    folder.put("mine.pgn", text.clone());
    let again = folder.tabia(&format!("{run} 20")).json()["trimmed"].take();
    assert_eq!((&again["moves"], folder.text("out.pgn")), (&json!(0), text));
    for (options, why) in [
        ("--trim -o x.pgn", "--from"),
        ("--trim --from mine.pgn", "--output"),
        ("--trim --from mine.pgn -o x.ctg", "ends with .pgn"),
        (
            "--trim --from mine.pgn -o x.pgn --line e4",
            "cannot be used with",
        ),
    ] {
        let run = format!("repertoire a.ctg --colour white {options}");
        folder.tabia(&run).refused(why);
    }
}

/// The likeliest reply is the main line, and the others follow in their order.
#[test]
fn sidelines_of_a_study_stand_in_the_order_of_likelihood() {
    let folder = Folder::new();
    let lines = [
        ("1.e4 a6 2.d4", "1-0", 30),
        ("1.e4 c5 2.Nf3", "1-0", 100),
        ("1.e4 d5 2.exd5", "1-0", 60),
        ("1.e4 e5 2.Nf3", "1-0", 300),
    ];
    book(&folder, "a", &lines);
    folder.done("repertoire a.ctg --colour white -o out.pgn");
    let text = folder.text("out.pgn");
    let places = ["e5 {", "(1... c5", "(1... d5", "(1... a6"].map(|reply| text.find(reply));
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{text}"
    );
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
