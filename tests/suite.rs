//! `tabia suite`: suites are made, checked and reported on by the program.

#![cfg(feature = "suite")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn tabia(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabia"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn made(folder: &Path, args: &[&str]) -> String {
    let output = tabia(folder, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    said
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn game(tags: &str, moves: &str) -> String {
    format!("[White \"a\"]\n[Black \"b\"]\n{tags}[Result \"1-0\"]\n\n{moves} 1-0\n\n")
}

/// A folder with two files of games.
fn games() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        "1. e4 e5 2. Nf3 Nc6",
        "1. Nf3 Nc6 2. e4 e5",
        "1. d4 d5 2. c4 e6",
        "1. e4 c5",
    ];
    let one: String = lines.iter().map(|line| game("", line)).collect();
    fs::write(folder.path().join("one.pgn"), one).unwrap();
    let two = game("", "1. e4 e5 2. Nf3 Nc6 3. Bb5") + &game("", "1. c4 e5 2. Nc3 Nf6");
    fs::write(folder.path().join("two.pgn"), two).unwrap();
    folder
}

const SPANISH: &str = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";

#[test]
fn games_become_positions_that_are_there_once() {
    let folder = games();
    let at = folder.path();
    let said = made(
        at,
        &["suite", "one.pgn", "two.pgn", "-o", "a.epd", "--plies", "4"],
    );
    assert!(
        said.contains("2 again") && said.contains("1 end before that ply"),
        "{said}"
    );
    assert!(said.contains("fastchess -openings file=a.epd format=epd order=random -srand 1"));
    let text = read(at, "a.epd");
    assert_eq!(text.lines().count(), 3);
    assert!(text.lines().any(|line| line == SPANISH), "{text}");
    // The most popular line to it.
    made(
        at,
        &[
            "suite", "one.pgn", "two.pgn", "-o", "a.pgn", "--plies", "4", "--count", "1",
        ],
    );
    let pgn = read(at, "a.pgn");
    assert!(
        pgn.contains("[Event \"Tabia suite\"]") && pgn.contains("1. e4 e5 2. Nf3 Nc6 *"),
        "{pgn}"
    );
    assert!(pgn.contains("[ECO \"C44\"]"), "{pgn}");
    made(
        at,
        &[
            "suite",
            "one.pgn",
            "two.pgn",
            "-o",
            "b.epd",
            "--plies",
            "4",
            "--min-games",
            "3",
        ],
    );
    assert_eq!(read(at, "b.epd"), format!("{SPANISH}\n"));
    for (counters, line) in [("epd", "- hmvc 2; fmvn 3;\n"), ("none", "KQkq -\n")] {
        let args = [
            "suite",
            "b.epd",
            "-o",
            "c.epd",
            "-f",
            "--counters",
            counters,
        ];
        made(at, &args);
        assert!(read(at, "c.epd").ends_with(line));
    }
}

#[test]
fn neither_threads_nor_the_order_of_sources_matter() {
    let folder = games();
    let at = folder.path();
    for order in ["random", "popular"] {
        let base = [
            "--min-plies",
            "1",
            "--max-plies",
            "4",
            "--order",
            order,
            "-f",
        ];
        let run = |out: &str, more: &[&str]| {
            made(at, &[&["suite", "-o", out], &base[..], more].concat());
            read(at, out)
        };
        let one = run("1.epd", &["one.pgn", "two.pgn", "--threads", "1"]);
        let two = run("2.epd", &["two.pgn", "one.pgn", "--threads", "4"]);
        assert_eq!(one, two);
        assert_eq!(one, run("3.epd", &["one.pgn", "two.pgn", "--memory", "1M"]));
        let other = run("4.epd", &["one.pgn", "two.pgn", "--seed", "2"]);
        assert_eq!(sorted(&one), sorted(&other));
        assert_ne!(one, other);
    }
}

#[test]
fn what_is_empty_names_the_filter() {
    let folder = games();
    let at = folder.path();
    let output = tabia(
        at,
        &[
            "suite", "one.pgn", "-o", "a.epd", "--plies", "4", "--queens", "none",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--queens took most of them (3)"), "{said}");
    assert!(!at.join("a.epd").exists());
    let output = tabia(at, &["suite", "one.pgn", "-o", "a.epd", "--eval", "1..2"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--eval-file FILE or --engine NAME"));
}

#[test]
fn windows_look_at_values_of_files() {
    let folder = games();
    let at = folder.path();
    // Black to move: +100 for Black in the one, for White in the other.
    let evals = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce 100; acd 9;\n\
        rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - ce -100; acd 9;\n\
        rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - ce 32760; acd 9;\n";
    fs::write(at.join("values.epd"), evals).unwrap();
    let run = |more: &[&str]| {
        let base = [
            "suite", "one.pgn", "two.pgn", "-o", "a.epd", "-f", "--plies", "1",
        ];
        made(
            at,
            &[&base[..], &["--eval-file", "values.epd"], more].concat(),
        );
        let text = read(at, "a.epd");
        let pawns = ["4P3", "3P4", "2P5"]
            .into_iter()
            .filter(|pawn| text.contains(pawn));
        pawns.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(run(&["--eval", "90..119"]), "4P3 3P4");
    assert_eq!(run(&["--eval", "90..119", "--view", "mover"]), "4P3");
    assert_eq!(run(&["--eval", "90..119", "--view", "white"]), "3P4");
    assert_eq!(run(&["--win", "48..52"]), "4P3 3P4");
    assert_eq!(run(&["--eval", "90..", "--drop-mates=no"]), "4P3 3P4 2P5");
    assert_eq!(
        run(&["--eval", "90..119", "--view", "mover", "--ops"]),
        "4P3"
    );
    assert!(read(at, "a.epd").ends_with("hmvc 0; fmvn 1; ce 100; acd 9; id \"a.1\";\n"));
}

#[test]
fn an_engine_evaluates_and_goes_on_where_it_was() {
    let folder = games();
    let at = folder.path();
    let base = [
        "suite", "one.pgn", "two.pgn", "-o", "a.epd", "-f", "--plies", "1",
    ];
    let engine = [
        "--engine",
        "builtin",
        "--nodes",
        "2000",
        "--save-evals",
        "found.epd",
    ];
    let said = made(at, &[&base[..], &engine, &["--eval", "0..2000"]].concat());
    assert!(said.contains("0 of files, 4 of the engine"), "{said}");
    let (suite, saved) = (read(at, "a.epd"), read(at, "found.epd"));
    assert_eq!(saved.lines().count(), 4);
    // Half of it was lost.
    let half: Vec<&str> = saved.lines().take(2).collect();
    fs::write(at.join("found.epd"), format!("{}\nrnbq", half.join("\n"))).unwrap();
    let said = made(at, &[&base[..], &engine, &["--eval", "0..2000"]].concat());
    assert!(said.contains("0 of files, 2 of the engine"), "{said}");
    assert_eq!(read(at, "a.epd"), suite);
}

#[test]
fn books_give_both_colours_and_their_ends() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // With colours exchanged these are one position of a .ctg.
    let text = game("", "1. e3 e5 2. e4") + &game("", "1. e4 e5");
    fs::write(at.join("games.pgn"), text).unwrap();
    made(at, &["build", "games.pgn", "-o", "book.ctg"]);
    made(at, &["convert", "book.ctg", "book.jsonl"]);
    for book in ["book.ctg", "book.jsonl"] {
        let range = [
            "--min-plies",
            "2",
            "--max-plies",
            "3",
            "--by",
            "games",
            "-f",
        ];
        made(at, &[&["suite", book, "-o", "a.epd"], &range[..]].concat());
        let text = read(at, "a.epd");
        let both = sorted(&text);
        let board = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
        assert!(
            both.iter()
                .any(|line| line.starts_with(&format!("{board} w"))),
            "{text}"
        );
        assert!(
            both.iter()
                .any(|line| line.starts_with(&format!("{board} b"))),
            "{text}"
        );
        made(
            at,
            &[
                &["suite", book, "-o", "m.epd", "--unique", "mirror"],
                &range[..],
            ]
            .concat(),
        );
        assert_eq!(read(at, "m.epd").lines().count(), both.len() - 1);
        made(
            at,
            &[
                "suite", book, "-o", "x.pgn", "--exit", "--by", "games", "-f", "--order", "popular",
            ],
        );
        let ends = read(at, "x.pgn");
        assert!(ends.contains("1. e4 e5 *"), "{ends}");
    }
}

#[test]
fn a_suite_of_all_replies_has_its_entry_and_its_archive() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // Every first move of White and every reply.
    let mut lines = String::new();
    let files = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let white: Vec<String> = files
        .iter()
        .flat_map(|f| [format!("{f}3"), format!("{f}4")])
        .collect();
    let black: Vec<String> = files
        .iter()
        .flat_map(|f| [format!("{f}6"), format!("{f}5")])
        .collect();
    for one in white
        .iter()
        .map(String::as_str)
        .chain(["Na3", "Nc3", "Nf3", "Nh3"])
    {
        for two in black
            .iter()
            .map(String::as_str)
            .chain(["Na6", "Nc6", "Nf6", "Nh6"])
        {
            lines.push_str(&game("", &format!("1. {one} {two}")));
        }
    }
    fs::write(at.join("all.pgn"), lines).unwrap();
    let args = [
        "suite",
        "all.pgn",
        "-o",
        "1moves.epd",
        "--plies",
        "2",
        "--order",
        "popular",
    ];
    made(
        at,
        &[
            &args[..],
            &["--zip", "--metadata", "books.json", "--openbench", "."],
        ]
        .concat(),
    );
    let text = read(at, "1moves.epd");
    assert_eq!(text.lines().count(), 400);
    let books: serde_json::Value = serde_json::from_str(&read(at, "books.json")).unwrap();
    let row = &books["1moves.epd"];
    assert_eq!(row["total"], 400);
    assert_eq!(
        (&row["min_depth"], &row["max_depth"]),
        (&2.into(), &2.into())
    );
    let output = tabia(at, &["suite", "--check", "1moves.epd", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(&report["metadata"], row);
    let first = fs::read(at.join("1moves.epd.zip")).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&first)).unwrap();
    assert_eq!(archive.len(), 1);
    let mut entry = archive.by_index(0).unwrap();
    assert_eq!(entry.name().unwrap(), "1moves.epd");
    assert_eq!(std::io::read_to_string(&mut entry).unwrap(), text);
    drop(entry);
    made(at, &[&args[..], &["--zip", "-f"]].concat());
    assert_eq!(fs::read(at.join("1moves.epd.zip")).unwrap(), first);
    assert!(read(at, "1moves.epd.json").contains("\"sha\": \""));
}

#[test]
fn faults_are_found_and_matches_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let lines = format!("{SPANISH}\n# comment\n{SPANISH}\n");
    fs::write(at.join("bad.epd"), lines).unwrap();
    let output = tabia(at, &["suite", "--check", "bad.epd"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("bad.epd: 2: no position: fastchess ends the match"),
        "{said}"
    );
    assert!(
        said.contains("bad.epd: 3: a position that was there before: as 1"),
        "{said}"
    );
    // Two openings, three pairs: one comes twice.
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    fs::write(at.join("suite.epd"), format!("{SPANISH}\n{start}\n")).unwrap();
    let mut games = String::new();
    for fen in [SPANISH, start, SPANISH] {
        for (white, black, result) in [("x", "y", "1-0"), ("y", "x", "1/2-1/2")] {
            games.push_str(&format!(
                "[White \"{white}\"]\n[Black \"{black}\"]\n[FEN \"{fen}\"]\n[SetUp \"1\"]\n\
                 [Result \"{result}\"]\n\n1. d4 {result}\n\n"
            ));
        }
    }
    games.push_str(
        "[White \"x\"]\n[FEN \"8/8/4k3/8/8/4K3/4P3/8 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. Kd4 1-0\n",
    );
    fs::write(at.join("games.pgn"), games).unwrap();
    let output = tabia(
        at,
        &["suite", "--match", "games.pgn", "suite.epd", "--json"],
    );
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report["players"][0]["pairs"]["pentanomial"],
        serde_json::json!([0, 0, 0, 3, 0])
    );
    assert_eq!(
        (&report["repeated"], &report["elsewhere"]),
        (&1.into(), &1.into())
    );
    let output = tabia(at, &["suite", "--match", "games.pgn", "suite.epd"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("x against y: 3 pairs, 0/0/0/3/0"), "{said}");
}

#[test]
fn a_review_sees_the_book_from_its_player() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("lines.pgn"),
        game("", "1. e4 e5 2. Nf3 Nc6") + &game("", "1. d4 d5"),
    )
    .unwrap();
    made(at, &["build", "lines.pgn", "-o", "book.ctg"]);
    let played = |white: &str, black: &str, result: &str, moves: &str| {
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
    };
    let games = [
        // The book ends; Black is to find a move.
        played(
            "Bot",
            "x",
            "0-1",
            "1. e4 {book} e5 {+0.10/9 1s} 2. Nf3 {book} Nc6 {0.00/9 1s} 3. Bb5 {-0.60/12 1.5s} a6 {+0.70/10 1s}",
        ),
        // The opponent leaves it; the bot is Black.
        played(
            "x",
            "Bot",
            "1-0",
            "1. d4 {book} d5 {book} 2. c4 {+0.30/9 1s} dxc4 {-1.20/8 0.2s, n=5}",
        ),
        played("x", "Bot", "1/2-1/2", "1. d4 f5 {-M4/9 1s}"),
        played("x", "y", "1-0", "1. h4"),
    ];
    fs::write(at.join("games.pgn"), games.concat()).unwrap();
    let args = [
        "review",
        "games.pgn",
        "--book",
        "book.ctg",
        "--player",
        "bot",
    ];
    let output = tabia(at, &[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |name: &str| report[name].as_i64().unwrap();
    let results = ["games", "wins", "draws", "losses", "others"].map(number);
    assert_eq!(results, [3, 0, 1, 2, 1]);
    let left = ["ended", "left_by_player", "left_by_opponent", "to_the_end"].map(number);
    assert_eq!(left, [2, 1, 0, 0]);
    assert_eq!(report["values"]["count"], 3);
    assert_eq!(
        report["values"]["percentiles"],
        serde_json::json!([-1000, -120, -120, -60, -60])
    );
    assert_eq!(report["losing"].as_array().unwrap().len(), 2);
    let output = tabia(at, &args);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("1. e4 e5 2. Nf3 Nc6: 1 game, +0 =0 -1 0.0 %, first value -0.60"),
        "{said}"
    );
    // The page, and what goes on from there: every line that is printed works.
    let told = made(
        at,
        &[
            &args[..],
            &["--report", "r.html", "--save-evals", "first.epd"],
        ]
        .concat(),
    );
    assert_eq!(told, "");
    let page = read(at, "r.html");
    for part in [
        "<svg",
        "<td class=d>",
        "Plies in the book",
        "1. e4 e5 2. Nf3 Nc6",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let values = read(at, "first.epd");
    assert!(values.contains("- ce -60; acd 12; c0 \"Bot\";"), "{values}");
    let output = tabia(
        at,
        &[&args[..], &["--save-evals", "first.epd", "-f"]].concat(),
    );
    let said = String::from_utf8_lossy(&output.stdout);
    let (_, next) = said.split_once("next:\n").unwrap();
    let lines: Vec<Vec<&str>> = next
        .lines()
        .map(|l| l.split_whitespace().skip(1).collect())
        .collect();
    assert_eq!(
        lines[0],
        [
            "learn",
            "book.ctg",
            "games.pgn",
            "--player",
            "bot",
            "--dry-run"
        ]
    );
    assert!(made(at, &lines[0]).contains("games"), "{next}");
    made(at, &lines[1]);
    assert!(read(at, "book.evals").contains("ce -60;"));
    let output = tabia(at, &lines[2]);
    assert_eq!(output.status.code(), Some(1), "one line ends badly");
    assert!(read(at, "audit.html").contains("-0.60"));
    let output = tabia(
        at,
        &[
            "review",
            "games.pgn",
            "--book",
            "book.ctg",
            "--player",
            "nobody",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
}
