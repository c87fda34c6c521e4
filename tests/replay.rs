//! `--log` and `tabia replay`, with real processes.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

fn odd_engine() -> PathBuf {
    let name = format!("odd_engine{}", std::env::consts::EXE_SUFFIX);
    let path = Path::new(TABIA).with_file_name("examples").join(name);
    assert!(
        path.exists(),
        "run `cargo build --examples` first: {path:?}"
    );
    path
}

/// Has a conversation with an engine of one fault: each line is sent when
/// the answer to the one before has come.
fn converse(log: &Path, arguments: &[&str], fault: &str, lines: &[(&str, &str)]) -> Output {
    let mut adapter = Command::new(TABIA)
        .arg("--log")
        .arg(log)
        .args(arguments)
        .arg("--")
        .arg(odd_engine())
        .arg(fault)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = adapter.stdin.take().unwrap();
    let mut output = BufReader::new(adapter.stdout.take().unwrap());
    for (line, answer) in lines {
        // An adapter that has given up is not listening any more.
        let _ = writeln!(input, "{line}");
        let mut heard = String::new();
        while !heard.starts_with(answer) {
            heard.clear();
            if output.read_line(&mut heard).unwrap() == 0 {
                break;
            }
        }
    }
    drop(input);
    adapter.wait_with_output().unwrap()
}

fn replay(log: &Path) -> (Option<i32>, String) {
    let output = Command::new(TABIA).arg("replay").arg(log).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

const GAME: [(&str, &str); 7] = [
    ("uci", "uciok"),
    ("isready", "readyok"),
    ("position startpos\ngo movetime 50", "bestmove"),
    ("position startpos moves a2a3\ngo movetime 50", "bestmove"),
    (
        "position startpos moves a2a3 a7a6 b2b3\ngo infinite\nstop",
        "bestmove",
    ),
    (
        "setoption name B\u{fc}cher\u{1b}[2J \\x41 value 3\nisready",
        "readyok",
    ),
    (
        "position startpos moves a2a4\ngo wtime 9000 btime 9000",
        "bestmove",
    ),
];

#[test]
fn what_was_said_is_said_again() {
    let folder = tempfile::tempdir().unwrap();
    for fault in [
        "",
        "dies-in-search",
        "answers-twice",
        "answers-too-early",
        "ignores-quit",
    ] {
        let log = folder.path().join(format!("{fault}.log"));
        let output = converse(&log, &[], fault, &GAME);
        assert_eq!(output.status.code(), Some(0), "{fault}");
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("tabia-log 1\n"), "{text}");
        assert!(!text.contains('\u{1b}'), "a control character in the log");
        let (code, said) = replay(&log);
        assert_eq!(code, Some(0), "{fault}: {said}\n{text}");
        assert!(said.contains("the same again"), "{said}");
    }
}

#[test]
fn an_engine_that_is_lost_is_a_reason_for_stderr_and_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let sets = ["--set", "Engine Restart=false"];
    let output = converse(&log, &sets, "dies-in-search", &GAME);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "tabia: the engine is gone and owes a move: giving up\n"
    );
    assert_eq!(replay(&log).0, Some(0));
}

#[test]
fn a_departure_is_shown_with_what_led_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    converse(&log, &["--set", "Book Seed=3"], "", &GAME);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replace("eng> bestmove", "eng> info string")).unwrap();
    let (code, said) = replay(&log);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("departs here"), "{said}");
    assert!(said.contains("then:\n  gui< bestmove"), "{said}");
    assert!(said.contains("now:\n  gui< info string"), "{said}");
    // A log that was cut off in the middle of a line has no departure.
    std::fs::write(&log, &text[..text.len() / 2]).unwrap();
    assert_eq!(replay(&log).0, Some(0));
}

#[test]
fn a_book_that_has_changed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let copy = |name: &str| {
        for extension in ["ctg", "cto", "ctb"] {
            let source = Path::new("tests/data").join(name).with_extension(extension);
            let target = folder.path().join("book").with_extension(extension);
            std::fs::copy(source, target).unwrap();
        }
    };
    copy("ctg/simple");
    let book = folder.path().join("book.ctg");
    converse(&log, &["--book", book.to_str().unwrap()], "", &GAME);
    assert_eq!(replay(&log).0, Some(0));
    std::fs::write(&book, b"rubbish").unwrap();
    let (code, said) = replay(&log);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot be opened now"), "{said}");
    std::fs::remove_file(&book).unwrap();
    copy("ctg/simple");
    let (code, said) = replay(&log);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("has changed since"), "{said}");
}

#[test]
fn what_is_no_log_is_one_line_and_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    for (text, message) in [
        ("", "empty"),
        ("uci\n", "no log of tabia"),
        ("tabia-log 9\n", "format 9"),
        (
            "tabia-log 1\nset Book Variety=3\n",
            "line 2: \"set\" has no engine",
        ),
        (
            "tabia-log 1\nengine x\nset Book Variety=300\n",
            "from 0 to 100",
        ),
        ("tabia-log 1\nengine x\n  1.0 gui> uci\n", "line 3"),
        (
            "tabia-log 1\nengine x\n  1.000000 said uci\n",
            "no word of a log",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let (code, said) = replay(&path);
        assert_eq!(code, Some(2), "{text}: {said}");
        assert!(said.contains(message), "{text}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
    assert_eq!(replay(Path::new("/nowhere/x.log")).0, Some(2));
}
