//! `--log` and `tabia replay`, with real processes.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use crate::common::{Folder, Ran, SIMPLE, assert_has, command, copy, example};

/// Runs a session with an engine of one fault: each line is sent when the answer to the
/// last one has come.
fn converse(log: &Path, arguments: &[&str], fault: &str, lines: &[(&str, &str)]) -> Output {
    let mut command = command(&["--log".as_ref(), log.as_os_str()]);
    command
        .args(arguments)
        .arg("--")
        .arg(example("odd_engine"))
        .arg(fault);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut adapter = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = adapter.stdin.take().unwrap();
    let mut output = BufReader::new(adapter.stdout.take().unwrap());
    for (line, answer) in lines {
        // An adapter that has given up does not read any more.
        let _ = writeln!(input, "{line}");
        let mut received = String::new();
        while !received.starts_with(answer) {
            received.clear();
            if output.read_line(&mut received).unwrap() == 0 {
                break;
            }
        }
    }
    drop(input);
    adapter.wait_with_output().unwrap()
}

/// Replays a log, and returns the output.
#[track_caller]
fn replay(log: &Path, code: i32) -> String {
    let replayed = Ran::of(&mut command(&["replay".as_ref(), log.as_os_str()]));
    let messages = replayed.ends(code);
    replayed.out() + &messages
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
fn a_replay_sends_the_same_again() {
    let folder = Folder::new();
    for fault in [
        "",
        "dies-in-search",
        "answers-twice",
        "answers-too-early",
        "ignores-quit",
    ] {
        let log = folder.join(format!("{fault}.log"));
        let output = converse(&log, &[], fault, &GAME);
        assert!(output.status.success(), "{fault}");
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("tabia-log 1\n"), "{text}");
        assert!(!text.contains('\u{1b}'), "a control character in the log");
        let messages = replay(&log, 0);
        assert_has(&messages, "the same output");
    }
}

#[test]
fn a_lost_engine_gives_an_error_message_and_exit_code_2() {
    let folder = Folder::new();
    let log = folder.join("a.log");
    let sets = ["--set", "Engine Restart=false"];
    let output = converse(&log, &sets, "dies-in-search", &GAME);
    assert_eq!(output.status.code(), Some(2));
    let messages = String::from_utf8(output.stderr).unwrap();
    let expected = "tabia: the engine is gone and owes a move: giving up\n";
    assert_eq!(messages, expected);
    replay(&log, 0);
}

#[test]
fn a_different_answer_is_shown_with_the_lines_before_it() {
    let folder = Folder::new();
    let log = folder.join("a.log");
    converse(&log, &["--set", "Book Seed=3"], "", &GAME);
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace("eng> bestmove", "eng> info string")).unwrap();
    let messages = replay(&log, 1);
    assert_has(&messages, "the answers differ here");
    assert_has(&messages, "then:\n  gui< bestmove");
    assert_has(&messages, "now:\n  gui< info string");
    // A log that is cut within a line has no difference.
    let cut = text.len() / 2;
    let cut = cut + usize::from(text.as_bytes()[cut - 1] == b'\n');
    let number = text[..cut].lines().count();
    fs::write(&log, &text[..cut]).unwrap();
    let messages = replay(&log, 0);
    assert_has(
        &messages,
        &format!("cut off in the middle of line {number}"),
    );
    assert_has(&messages, "the same output");
    fs::write(&log, &text).unwrap();
    let messages = replay(&log, 0);
    assert!(!messages.contains("cut off"), "{messages}");
}

#[test]
fn a_log_keeps_the_sessions_before() {
    let folder = Folder::new();
    let log = folder.join("a.log");
    for fault in ["", "dies-in-search"] {
        assert!(converse(&log, &[], fault, &GAME).status.success());
    }
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches("\n# begun ").count(), 2, "{text}");
    let messages = replay(&log, 0);
    assert_has(&messages, "session 1 of 2: ");
    assert_has(&messages, "session 2 of 2: ");
    // A program that was killed leaves a line without its end.
    fs::write(&log, &text[..text.len() - 5]).unwrap();
    assert!(converse(&log, &[], "", &GAME).status.success());
    let messages = replay(&log, 0);
    assert_eq!(messages.matches("the same output").count(), 3, "{messages}");
    assert_eq!(
        messages.matches("cut off in the middle").count(),
        1,
        "{messages}"
    );
    // A session with a difference decides the exit code.
    let changed = text.replacen("eng> bestmove", "eng> info string", 1);
    fs::write(&log, changed).unwrap();
    let messages = replay(&log, 1);
    assert_has(&messages, "session 1 of 2: line ");
    assert_eq!(messages.matches("the same output").count(), 1, "{messages}");
}

#[test]
fn another_file_is_no_log() {
    let folder = Folder::new();
    folder.put("diary.txt", "a diary\n");
    let log = folder.join("diary.txt");
    let output = converse(&log, &[], "", &GAME);
    assert!(output.status.success());
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_has(&messages, "not a log of this version of Tabia");
    assert_has(&messages, "this game is not logged");
    assert_eq!(fs::read_to_string(&log).unwrap(), "a diary\n");
}

#[test]
fn a_book_that_has_changed_is_named() {
    let folder = Folder::new();
    let log = folder.join("a.log");
    let book = folder.join("book.ctg");
    copy(SIMPLE, &book);
    converse(&log, &["--book", book.to_str().unwrap()], "", &GAME);
    replay(&log, 0);
    fs::write(&book, b"rubbish").unwrap();
    let messages = replay(&log, 1);
    assert_has(&messages, "cannot be opened now");
    fs::remove_file(&book).unwrap();
    copy(SIMPLE, &book);
    let messages = replay(&log, 0);
    assert_has(&messages, "has changed since");
}

/// The log has the answers of a book before it learned from this and later games.
#[test]
fn a_book_that_has_learned_since_is_named() {
    let folder = Folder::new();
    let log = folder.join("a.log");
    let book = folder.join("book.ctg");
    copy(SIMPLE, &book);
    let options = ["--book", book.to_str().unwrap(), "--set", "Book Learn=true"];
    converse(&log, &options, "", &GAME);
    let note = "book.ctg learns: games that it has recorded since count now";
    assert_has(&replay(&log, 0), note);
    let games = ["d2d4", "e2e4", "c2c4", "g1f3"];
    let games = games.map(|mv| format!("game 1796140977 0-1 mate startpos {mv}* .\n"));
    folder.put(
        "book.ctg.learn",
        format!("# tabia learn 1\n{}", games.concat().repeat(9)),
    );
    let messages = replay(&log, 1);
    assert_has(&messages, note);
    assert_has(&messages, "the answers differ here");
    // A book that does not learn needs no note.
    fs::remove_file(&log).unwrap();
    converse(&log, &options[..2], "", &GAME);
    assert!(!replay(&log, 0).contains("learns"));
}

#[test]
fn a_file_that_is_no_log_gives_one_line_and_exit_code_2() {
    let folder = Folder::new();
    let path = folder.join("x.log");
    for (text, message) in [
        ("", "empty"),
        ("uci\n", "not a log of tabia"),
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
            "not a word of a log",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let messages = replay(&path, 2);
        assert_has(&messages, message);
        assert_eq!(messages.trim_end().lines().count(), 1, "{messages}");
    }
    replay(Path::new("/nowhere/x.log"), 2);
}
