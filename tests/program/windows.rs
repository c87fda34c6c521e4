//! Only for Windows: files in use cannot be replaced, an engine gets no signal when its
//! adapter is killed, lines end in CRLF, paths have spaces, umlauts and backslashes.

#![cfg(windows)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

/// Far longer than any step takes; only a hang reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// A folder with a typical user path.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("Schöne Bücher (2026)");
    fs::create_dir(&folder).unwrap();
    (parent, folder)
}

fn odd_engine() -> PathBuf {
    crate::common::example("odd_engine")
}

/// A book large enough to be mapped.
fn large_book(folder: &Path) -> PathBuf {
    let (book, _) = crate::common::random_book(900, 70);
    let path = book.write(folder, "große Eröffnungen");
    assert!(fs::metadata(&path).unwrap().len() > tabia_io::input::file::IN_MEMORY_LIMIT);
    path
}

fn tabia(args: &[&Path]) -> Command {
    let mut command = Command::new(TABIA);
    command
        .args(args)
        .env("TABIA_CONFIG", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Sends lines with CRLF, and returns the answers up to the line `last`.
fn exchange(child: &mut Child, lines: &str, last: &str) -> Vec<String> {
    let crlf = lines.replace('\n', "\r\n") + "\r\n";
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(crlf.as_bytes())
        .unwrap();
    let mut received = Vec::new();
    // Unbuffered, so that nothing is lost between two calls.
    let mut reader = BufReader::with_capacity(1, child.stdout.as_mut().unwrap());
    loop {
        let mut line = String::new();
        assert!(
            reader.read_line(&mut line).unwrap() > 0,
            "the end after {received:#?}"
        );
        let line = line.trim_end().to_owned();
        received.push(line);
        if received.last().unwrap().starts_with(last) {
            return received;
        }
    }
}

/// Waits for what nothing reports; the limit is only for what never holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        // Windows tells nobody that a file may be deleted now.
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn play_from(book: &Path, engine: &Path, fault: &str) -> Child {
    tabia(&[
        Path::new("--book"),
        book,
        Path::new("--"),
        engine,
        Path::new(fault),
    ])
    .spawn()
    .unwrap()
}

#[test]
fn plays_from_a_path_with_spaces_and_umlauts_with_crlf() {
    let (_parent, folder) = folder();
    let engine = folder.join("Mein Motor.exe");
    fs::copy(odd_engine(), &engine).unwrap();
    let book = large_book(&folder);
    let mut child = play_from(&book, &engine, "");
    exchange(&mut child, "uci", "uciok");
    let received = exchange(&mut child, "position startpos\ngo movetime 10", "bestmove");
    let from_book = |line: &String| line.starts_with("info string book große");
    assert!(received.iter().any(from_book), "{received:#?}");
    // A position that is in no book: the engine answers.
    let outside = "position fen 8/8/8/8/8/5k2/7p/7K w - - 0 1 moves\nisready";
    exchange(&mut child, outside, "readyok");
    let option = format!("setoption name Book File value {}", book.display());
    exchange(&mut child, &format!("{option}\nisready"), "readyok");
    let received = exchange(&mut child, "position startpos\ngo movetime 10", "bestmove");
    assert!(received.iter().any(from_book), "{received:#?}");
    child.stdin.take();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_book_in_use_is_not_replaced_and_the_message_has_the_reason() {
    let (_parent, folder) = folder();
    let book = large_book(&folder);
    let before = fs::read(&book).unwrap();
    let mut child = play_from(&book, &odd_engine(), "");
    exchange(
        &mut child,
        "uci\nisready\nposition startpos\ngo movetime 10",
        "bestmove",
    );
    let output = tabia(&[Path::new("compact"), &book]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("another program has it open"), "{message}");
    assert_eq!(fs::read(&book).unwrap(), before);
    // The index is still at its path.
    for extension in ["cto", "ctb"] {
        assert!(book.with_extension(extension).is_file(), "{extension}");
    }
    // The game continues.
    exchange(&mut child, "position startpos\ngo movetime 10", "bestmove");
    child.stdin.take();
    assert!(child.wait().unwrap().success());
    let output = tabia(&[Path::new("compact"), &book]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{message}");
}

#[test]
fn an_engine_does_not_outlive_an_adapter_that_is_killed() {
    let (_parent, folder) = folder();
    let engine = folder.join("stubborn.exe");
    fs::copy(odd_engine(), &engine).unwrap();
    let mut child = play_from(Path::new("<starter>"), &engine, "ignores-end-of-input");
    exchange(&mut child, "uci\nisready", "readyok");
    // A running program cannot be deleted.
    assert!(fs::remove_file(&engine).is_err());
    child.kill().unwrap();
    child.wait().unwrap();
    until("the engine ends", || fs::remove_file(&engine).is_ok());
}
