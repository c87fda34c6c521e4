//! `tabia audit` on a book with known faults.

#![allow(clippy::unwrap_used)] // A test that fails here shows the line.

use std::fs;
use std::path::PathBuf;

use crate::common::{Folder, after, assert_has, lookup};
use serde_json::{Value, json};
use shakmaty::Position as _;
use tabia_book::evals::{EvalFile, beside};
use tabia_book::{PositionRecord, Stats};

/// 1.e4 e5 is good, 1.e4 f6 loses; 1.f3 loses; after 1.f3 e5 2.g4 Qh4 is mate, for which
/// there is no evaluation; 1.f3 a6 is an error too. 1.d4 is unknown.
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
    let mut book = crate::common::TestBook::default();
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
                .then(|| tabia_notation::read_move(&position, mv).unwrap())
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
        let fen = tabia_notation::fen(&after(moves));
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
    // The value of 1.f3 is that of 2.Kf2: -70, a hundred less than 1.e4.
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
    // Only White's: 1.f3 and 2.g4.
    assert_eq!(audit(&folder, "--side white")["losing_count"], 2);
    assert_eq!(audit(&folder, "--max-loss 120")["losing_count"], 2);
    // Every line has an end; that of 1.d4 has no value.
    let share = |side: &str| found[side]["likelihood"].as_f64().unwrap_or(0.0);
    let sum = share("white_exits") + share("black_exits");
    assert!(sum > 0.6 && sum < 0.7, "{sum}");
}

#[test]
fn values_that_are_not_known_are_null() {
    let folder = Folder::new();
    made(&folder);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 30; bm e4; acd 20;";
    folder.put("made.evals", format!("{start}\n"));
    let found = folder.tabia("audit made.ctg --json").json();
    assert_eq!(
        json!([found["white_exits"], found["black_exits"]]),
        json!([null, null])
    );
}

#[test]
fn audit_sets_marks_and_keeps_existing_ones() {
    let folder = Folder::new();
    let book = made(&folder);
    folder
        .tabia("audit made.ctg --mark")
        .refused("give --confirm ENGINE as well, or --unconfirmed");
    let before = std::fs::read(&book).unwrap();
    folder
        .tabia("audit made.ctg --mark --unconfirmed --symbols -n")
        .ends_with(1, "would change; nothing was changed: --dry-run");
    assert_eq!(std::fs::read(&book).unwrap(), before);
    assert!(!folder.join("made.ctg.bak").exists());
    folder
        .tabia("audit made.ctg --dry-run")
        .refused("give one of them");
    folder
        .tabia("audit made.ctg --mark --unconfirmed --symbols")
        .ends(1);
    let marks = |moves: &str, mv: &str| {
        let position = after(moves);
        let found = lookup(&book, &position);
        let mv = tabia_notation::read_move(&position, mv).unwrap();
        let known = found.moves.iter().find(|known| known.mv == mv).unwrap();
        let symbol = known.after.unwrap().commentary_for(!position.turn());
        (known.mark().as_str(), known.annotation.symbol(), symbol)
    };
    assert_eq!(marks("e4", "f6"), ("avoid", "?!", 14));
    assert_eq!(marks("e4", "e5"), ("none", "", 10));
    // It had a green mark before.
    assert_eq!(marks("", "f3"), ("main", "?!", 15));
    assert_eq!(marks("f3 e5", "g4"), ("avoid", "??", 19));
    assert_eq!(marks("f3 e5 g4", "Qh4").0, "none");
    folder.done("verify made.ctg");
    // Only the green one is still reported.
    assert_eq!(audit(&folder, "")["losing_count"], 1);
    folder.tabia("audit made.ctg --mark --unconfirmed --over");
    assert_eq!(marks("", "f3").0, "avoid");
}

#[test]
fn learn_values_make_worse_moves_rarer() {
    let folder = Folder::new();
    let book = made(&folder);
    folder.done("mark made.ctg --move e4 --learn-value 30");
    folder.tabia("audit made.ctg --learn-values").ends(1);
    let learn_values = |moves: &str| {
        let found = lookup(&book, &after(moves));
        let learn_values = found
            .moves
            .iter()
            .map(|entry| (entry.mv.to_string(), entry.learn_value()));
        learn_values.collect::<std::collections::BTreeMap<_, _>>()
    };
    let first = learn_values("");
    // An existing value stays, and without an evaluation none is written.
    assert_eq!((first["e2-e4"], first["d2-d4"]), (30, 0));
    assert_eq!(first["f2-f3"], -124);
    assert_eq!(learn_values("e4")["e7-e5"], 0);
    folder.tabia("audit made.ctg --learn-values --over").ends(1);
    assert_eq!(learn_values("")["e2-e4"], 0);
    folder.done("verify made.ctg");
}

/// The result of a deeper search, in which 1.f3 is no mistake.
const DEEP: [(&str, &str); 9] = [
    ("", "cp 30;e2e4"),
    ("e4", "cp -30;e7e5"),
    ("e4 e5", "cp 30;g1f3"),
    ("e4 f6", "cp 140;d2d4"),
    ("f3", "cp -10;e7e5"),
    ("f3 e5", "cp 10;e1f2"),
    ("f3 e5 Kf2", "cp -10;d7d5"),
    ("f3 e5 g4", "mate 1;d8h4"),
    ("f3 e5 g4 a6", "cp -20;e2e4"),
];

/// `FEN;score;move` with colours exchanged.
fn exchanged(line: &str) -> String {
    let (fen, rest) = line.split_once(';').unwrap();
    let (score, mv) = rest.split_once(';').unwrap();
    let swap = |c: char| match c.is_uppercase() {
        true => c.to_ascii_lowercase(),
        false => c.to_ascii_uppercase(),
    };
    let fields: Vec<&str> = fen.split(' ').collect();
    let board: Vec<&str> = fields[0].split('/').rev().collect();
    let board: String = board.join("/").chars().map(swap).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let castling: String = fields[2].chars().map(swap).collect();
    // White's castling rights come first.
    let castling: String = [char::is_uppercase, char::is_lowercase]
        .iter()
        .flat_map(|of| castling.chars().filter(|c| of(*c)))
        .collect();
    let turned = |c: char| {
        c.to_digit(10)
            .map_or(c, |rank| char::from(b'9' - rank as u8))
    };
    let mv: String = mv.chars().map(turned).collect();
    format!("{board} {turn} {castling} -;{score};{mv}")
}

#[cfg(unix)]
#[test]
fn confirm_searches_the_findings_again() {
    let folder = Folder::new();
    let book = made(&folder);
    let engine = crate::common::example("scoring_engine");
    let values = DEEP.map(|(moves, value)| {
        let fen = tabia_notation::fen(&after(moves));
        let fields: Vec<&str> = fen.split(' ').take(4).collect();
        let line = format!("{};{value}", fields.join(" "));
        // The engine may get the position with colours exchanged.
        format!("{line}\n{}\n", exchanged(&line))
    });
    folder.put("deep.txt", values.concat());
    let before = audit(&folder, "");
    for finding in before["losing"].as_array().unwrap() {
        assert_eq!(finding["confirmed"], false);
        assert!(finding["move_search"]["nodes"].is_null(), "{finding}");
    }
    let run = |command: &str| {
        let mut run = folder.command(command);
        run.arg(&engine);
        run.env("SCORING_ENGINE_NOTES", folder.join("notes"));
        run.env("SCORING_ENGINE_VALUES", folder.join("deep.txt"));
        crate::common::Ran::of(&mut run)
    };
    let confirmed = || -> Value {
        let options = "--set 'Book Tournament=false' --nodes 100 --confirm";
        let done = run(&format!("audit made.ctg --json {options}"));
        serde_json::from_str(&done.negative()).unwrap()
    };
    // The new search counts, even if older values are deeper.
    let deeper = confirmed();
    let evaluations = folder.text("made.evals").replace("acd 20", "acd 5");
    folder.put("made.evals", evaluations);
    let found = confirmed();
    assert_eq!(found, deeper);
    let searches = folder.text("notes");

    let losing = found["losing"].as_array().unwrap();
    let mut moves: Vec<_> = losing
        .iter()
        .map(|mv| {
            (
                mv["line"].as_str(),
                mv["better"].as_str(),
                mv["loss"].as_i64(),
            )
        })
        .collect();
    moves.sort();
    let expected = [
        ("1.e4 f6", "e5", 110),
        ("1.f3 e5 2.g4", "Kf2", 1010),
        ("1.f3 e5 2.g4 a6", "Qh4#", 980),
    ];
    let expected = expected.map(|(line, better, loss)| (Some(line), Some(better), Some(loss)));
    assert_eq!(moves, expected);
    assert_eq!(found["confirmed_count"], 3);
    for finding in losing {
        assert_eq!(finding["confirmed"], true);
        let search = |search: &str| &finding[search];
        for of in ["position_search", "move_search"] {
            assert_eq!(search(of)["engine"], "Scorer 1", "{finding}");
            // A move that still loses is searched again with twice the nodes.
            assert_eq!(search(of)["nodes"], 200, "{finding}");
        }
        let at = |of: &str| search(of)["value"].as_i64().unwrap();
        let best = at("position_search").min(at("better_search"));
        assert_eq!(finding["loss"], best - at("move_search"), "{finding}");
    }
    // All values are known now.
    assert_eq!(confirmed(), found);
    assert_eq!(folder.text("notes"), searches);
    // A confirmed loss of 110 counts only above the limit plus a fifth.
    let options = "--json --set 'Book Tournament=false' --nodes 100";
    for (limit, is_listed) in [(90, true), (105, false)] {
        let done = run(&format!(
            "audit made.ctg {options} --max-loss {limit} --confirm"
        ));
        let found: Value = serde_json::from_str(&done.negative()).unwrap();
        let losing = found["losing"].as_array().unwrap();
        let is_it = |mv: &Value| mv["line"] == "1.e4 f6";
        assert_eq!(losing.iter().any(is_it), is_listed, "{limit}");
    }
    // The report has a diagram of it.
    let done = run("audit made.ctg --report a.html --nodes 100 --confirm");
    done.ends(1);
    assert_has(&folder.text("a.html"), "class=arrow");
    assert_has(&folder.text("a.html"), "200 nodes, depth 8, Scorer 1");

    // `evaluate` can also search the positions that an audit has named.
    let table = tabia_book::evals::read(&beside(&book)).unwrap().table;
    folder.put("audit.json", found.to_string());
    fs::remove_file(folder.join("made.evals")).unwrap();
    run("evaluate made.ctg --of audit.json --nodes 100 --").ends(0);
    let again = tabia_book::evals::read(&beside(&book)).unwrap().table;
    for moves in ["e4", "e4 f6", "e4 e5", "f3 e5", "f3 e5 g4", "f3 e5 Kf2"] {
        let position = after(moves);
        let (again, known) = (again.get(&position).unwrap(), table.get(&position).unwrap());
        assert_eq!(again.value, known.value);
    }
}

#[cfg(unix)]
#[test]
fn searches_without_an_answer_are_counted() {
    let folder = Folder::new();
    made(&folder);
    let fen = tabia_notation::fen(&after("f3 e5 g4"));
    let fields: Vec<&str> = fen.split(' ').take(4).collect();
    let line = format!("{};cp none;d8h4", fields.join(" "));
    folder.put("deep.txt", format!("{line}\n{}\n", exchanged(&line)));
    let run = |options: &str| {
        let mut run = folder.command(&format!("audit made.ctg --nodes 100 {options} --confirm"));
        run.arg(crate::common::example("scoring_engine"));
        run.env("SCORING_ENGINE_VALUES", folder.join("deep.txt"));
        crate::common::Ran::of(&mut run)
    };
    let printed = run("").negative();
    assert_has(&printed, " 1 search got no answer.");
    let found: Value = serde_json::from_str(&run("--json").negative()).unwrap();
    assert_eq!(found["unanswered_searches"], 1);
}

#[test]
fn main_lines_of_theory_have_no_warning_in_the_starter_book() {
    let book = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("books/tabia.ctg");
    for row in include_str!("../data/theory.txt").lines() {
        let (eco, line) = row.split_once(' ').unwrap();
        let mut position = shakmaty::Chess::default();
        for san in line.split(' ') {
            let mv = tabia_notation::read_move(&position, san).unwrap();
            let found = lookup(&book, &position);
            let known = found
                .moves
                .iter()
                .find(|known| known.mv == mv && !known.transposition);
            let known = known.unwrap_or_else(|| panic!("{eco}: {san} of {line}"));
            let marks = (known.mark().as_str(), known.annotation.is_doubtful());
            assert_eq!(marks, ("none", false), "{eco}: {san} of {line}");
            position = tabia_notation::after(&position, mv);
        }
    }
}

#[test]
fn an_existing_report_is_not_overwritten() {
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
        folder.tabia(&report).refused("--force");
        folder.tabia(&format!("{report} --force")).ends(1);
    }
    folder.tabia("audit made.ctg --report r.doc").ends(2);
    assert!(!folder.join("r.doc").exists());
}

#[test]
fn audit_without_evaluations_fails() {
    let folder = Folder::new();
    let book = made(&folder);
    fs::remove_file(beside(&book)).unwrap();
    folder.tabia("audit made.ctg").refused("tabia evaluate");
}

#[test]
fn the_adapter_uses_the_evaluations_beside_the_book() {
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
    // The evaluations may be in another file.
    let other = folder.join("other.evals");
    let file = EvalFile::open(&other).unwrap();
    let (position, mut evaluation) = tabia_book::evals::epd::read(
        "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - ce 11;",
    )
    .unwrap();
    evaluation.depth = 3;
    file.add(&position, &evaluation).unwrap();
    let set = format!("--set 'Book Evaluations={}'", other.display());
    assert_eq!(f3(&set)["evaluation"], -11);
}
