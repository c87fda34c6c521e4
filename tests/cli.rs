//! Commands that answer and end: texts, exit codes, bad input.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");
const SIMPLE: &str = "tests/data/ctg/simple.ctg";

fn tabia(args: &[&str]) -> Output {
    Command::new(TABIA)
        .args(args)
        .env("TABIA_CONFIG", "")
        .env("XDG_CONFIG_HOME", "/nowhere")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn probe_shows_the_moves_of_the_genuine_book() {
    let output = tabia(&["probe", SIMPLE]);
    assert_eq!(output.status.code(), Some(0));
    let text = out(&output);
    for line in [
        "2 games: white to move won 0, drew 0, lost 0",
        "e4              1      -     -     -     0 -       50.0%",
        "d4              1      -     -     -     0 -       50.0%",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn probe_json_has_every_field() {
    let output = tabia(&["probe", SIMPLE, "--json", "--moves", "d2d4"]);
    let json: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        json["fen"],
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1"
    );
    assert_eq!(json["in_book"], true);
    for (field, value) in [
        ("games", 1),
        ("wins", 0),
        ("draws", 0),
        ("losses", 0),
        ("commentary", 0),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
    let mv = &json["moves"][0];
    assert_eq!(mv["uci"], "d7d5");
    assert_eq!(mv["san"], "d5");
    assert_eq!(mv["games"], 1);
    assert!(mv["score"].is_null());
    assert_eq!(mv["mark"], "none");
    assert_eq!(mv["annotation"], "");
    assert_eq!(mv["factor"], 0);
    assert_eq!(mv["recommendation"], 0);
    assert_eq!(mv["transposition"], false);
    assert_eq!(mv["probability"], 1.0);
    for field in ["average_elo", "performance"] {
        assert!(
            mv.get(field).is_some_and(serde_json::Value::is_null),
            "{field}"
        );
    }
    for field in ["wins", "draws", "losses", "commentary"] {
        assert!(
            mv.get(field).is_some_and(serde_json::Value::is_number),
            "{field}"
        );
    }
}

#[test]
fn probe_answers_each_line_with_one_line() {
    let mut child = Command::new(TABIA)
        .args(["probe", SIMPLE, "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let fens = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\r\n\
                8/8/8/8/8/8/8/K1k5 w - -\n\
                rubbish\n\
                rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    child
        .stdin
        .take()
        .unwrap()
        .write_all(fens.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let answers: Vec<serde_json::Value> = out(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0]["games"], 2);
    assert_eq!(answers[1]["in_book"], false);
    assert!(answers[2]["error"].as_str().unwrap().contains("rubbish"));
    assert_eq!(answers[3]["in_book"], true);
    assert!(err(&output).contains("line 3"));
}

#[test]
fn probe_of_a_position_not_in_the_book_is_a_negative_answer() {
    let output = tabia(&["probe", SIMPLE, "--moves", "a2a3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("not in the book"));
}

#[test]
fn probe_explains_every_byte() {
    let text = out(&tabia(&["probe", SIMPLE, "--explain"]));
    for part in [
        "key 56b60f7960f3a60f58b078e0c1e1a60f5960f3b60f7f",
        "hash eb7ed3d7",
        "slot 0: page 0",
        "page 0, byte 60 of it, byte 4156 of the file, 60 bytes",
        "move byte 5f, annotation e0: e4",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn info_counts_what_is_there() {
    let output = tabia(&["info", SIMPLE, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    for (field, value) in [
        ("games", 1),
        ("positions", 4),
        ("moves", 3),
        ("pages", 1),
        ("bytes", 8192),
        ("largest_page_bytes", 234),
        ("lower_bound", 0),
        ("upper_bound", 0),
        ("slots", 1),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
    assert_eq!(json["format"], "ctg");
    assert!(out(&tabia(&["info", SIMPLE])).contains("problems      none seen"));
}

#[test]
fn what_cannot_be_done_is_said_in_one_line_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("bad.toml");
    std::fs::write(&config, "[book]\n\nvarity = 3\n").unwrap();
    let config = config.to_str().unwrap();
    let rows: [(&[&str], &str); 9] = [
        (&["info", "/nowhere/x.ctg"], "/nowhere/x.ctg"),
        (&["info", "src"], "not a regular file"),
        (&["probe", "Cargo.toml"], "this is no opening book"),
        (&["probe", SIMPLE, "not", "a", "fen"], "not a fen"),
        (&["probe", SIMPLE, "--moves", "e2e5"], "e2e5"),
        (
            &["probe", SIMPLE, "--set", "Book Variety=300"],
            "from 0 to 100",
        ),
        (
            &["--config", config],
            "bad.toml: line 3: unknown key \"varity\"",
        ),
        (&["--engine", "komodo"], "komodo"),
        (&["--set", "nothing"], "NAME=VALUE"),
    ];
    for (args, message) in rows {
        let output = tabia(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let text = err(&output);
        assert!(text.contains(message), "{args:?}: {text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        assert_eq!(out(&output), "", "{args:?}");
    }
}

#[test]
fn check_config_shows_what_would_be_used() {
    let output = tabia(&[
        "--config",
        "engines.toml",
        "--check-config",
        "--set",
        "Book Variety=7",
    ]);
    assert_eq!(output.status.code(), Some(0));
    let text = out(&output);
    for part in [
        "configuration: engines.toml",
        "engine stockfish",
        "engine builtin",
        "start timeout: 8000 ms",
        "Book Variety = 7",
        "Book File = <starter>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn help_is_there_for_every_command() {
    assert!(out(&tabia(&["--help"])).contains("Exit codes"));
    for command in ["play", "info", "probe", "check-engine", "engine"] {
        let output = tabia(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(out(&output).contains("Usage:"), "{command}");
    }
    assert_eq!(tabia(&["--no-such-thing"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_closed_output_is_a_quiet_success() {
    let mut child = Command::new(TABIA)
        .args(["probe", SIMPLE, "--explain"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(err(&output), "");
    assert!(output.status.success());
}

#[test]
fn probe_takes_the_game_into_account_as_the_adapter_does() {
    let probability_in = |book: &str, args: &[&str]| -> (f64, String) {
        let output = tabia(&[&["probe", book, "--json"], args].concat());
        let json: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
        let moves = json["moves"].as_array().unwrap();
        let sum = moves.iter().map(|mv| mv["probability"].as_f64().unwrap());
        let reason = moves[0]["not_played"].as_str().unwrap_or_default();
        (sum.sum(), reason.to_owned())
    };
    let probability = |args: &[&str]| probability_in("books/tabia.ctg", args);
    let played = |(sum, _): &(f64, String)| (sum - 1.0).abs() < 1e-9;
    assert!(played(&probability(&[])));
    let late = probability(&["--set", "Book Depth=1", "--moves", "e2e4 e7e5"]);
    assert_eq!(late, (0.0, "past Book Depth".to_owned()));
    assert!(played(&probability(&["--set", "Book Leave Early=3"])));
    // Its longest line is 1. d4 d5.
    let early = probability_in(SIMPLE, &["--set", "Book Leave Early=1"]);
    assert_eq!(early, (0.0, "line ends too soon".to_owned()));
    assert_eq!(
        tabia(&["probe", SIMPLE, "--set", "Book Info=none"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn probe_explains_in_json_too() {
    let output = tabia(&["probe", SIMPLE, "--json", "--explain"]);
    let json: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert!(
        json["explanation"]
            .as_str()
            .unwrap()
            .contains("hash eb7ed3d7")
    );
}
