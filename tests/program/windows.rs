//! Only for Windows: files in use cannot be replaced, an engine gets no signal when its
//! adapter is killed, lines end in CRLF, paths have spaces, umlauts and backslashes.

#![cfg(windows)]
#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::adapter::{Adapter, LIMIT};
use crate::common::{Ran, command, example};

/// A folder with a typical user path.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("Schöne Bücher (2026)");
    fs::create_dir(&folder).unwrap();
    (parent, folder)
}

/// A book large enough to be mapped.
fn large_book(folder: &Path) -> PathBuf {
    let (book, _) = crate::common::random_book(900, 70);
    let path = book.write(folder, "große Eröffnungen");
    assert!(fs::metadata(&path).unwrap().len() > tabia_io::input::file::IN_MEMORY_LIMIT);
    path
}

fn compact(book: &Path) -> Ran {
    Ran::of(&mut command(&[OsStr::new("compact"), book.as_os_str()]))
}

/// Sends lines with CRLF, and returns the answers up to the line `last`.
fn exchange(adapter: &mut Adapter, lines: &str, last: &str) -> Vec<String> {
    adapter.send(&(lines.replace('\n', "\r\n") + "\r"));
    adapter.expect(last);
    std::mem::take(&mut adapter.received)
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

fn play_from(book: &Path, engine: &Path, fault: &str) -> Adapter {
    Adapter::run(&mut command(&[
        OsStr::new("--book"),
        book.as_os_str(),
        OsStr::new("--"),
        engine.as_os_str(),
        OsStr::new(fault),
    ]))
}

#[test]
fn plays_from_a_path_with_spaces_and_umlauts_with_crlf() {
    let (_parent, folder) = folder();
    let engine = folder.join("Mein Motor.exe");
    fs::copy(example("odd_engine"), &engine).unwrap();
    let book = large_book(&folder);
    let mut adapter = play_from(&book, &engine, "");
    exchange(&mut adapter, "uci", "uciok");
    let received = exchange(
        &mut adapter,
        "position startpos\ngo movetime 10",
        "bestmove",
    );
    let from_book = |line: &String| line.starts_with("info string book große");
    assert!(received.iter().any(from_book), "{received:#?}");
    // A position that is in no book: the engine answers.
    let outside = "position fen 8/8/8/8/8/5k2/7p/7K w - - 0 1 moves\nisready";
    exchange(&mut adapter, outside, "readyok");
    let option = format!("setoption name Book File value {}", book.display());
    exchange(&mut adapter, &format!("{option}\nisready"), "readyok");
    let received = exchange(
        &mut adapter,
        "position startpos\ngo movetime 10",
        "bestmove",
    );
    assert!(received.iter().any(from_book), "{received:#?}");
    adapter.client.stdin = None;
    assert!(adapter.end().success());
}

#[test]
fn a_book_in_use_is_not_replaced_and_the_message_has_the_reason() {
    let (_parent, folder) = folder();
    let book = large_book(&folder);
    let before = fs::read(&book).unwrap();
    let mut adapter = play_from(&book, &example("odd_engine"), "");
    exchange(
        &mut adapter,
        "uci\nisready\nposition startpos\ngo movetime 10",
        "bestmove",
    );
    compact(&book).refused("another program has it open");
    assert_eq!(fs::read(&book).unwrap(), before);
    // The index is still at its path.
    for extension in ["cto", "ctb"] {
        assert!(book.with_extension(extension).is_file(), "{extension}");
    }
    // The game continues.
    exchange(
        &mut adapter,
        "position startpos\ngo movetime 10",
        "bestmove",
    );
    adapter.client.stdin = None;
    assert!(adapter.end().success());
    compact(&book).ok();
}

#[test]
fn an_engine_does_not_outlive_an_adapter_that_is_killed() {
    let (_parent, folder) = folder();
    let engine = folder.join("stubborn.exe");
    fs::copy(example("odd_engine"), &engine).unwrap();
    let mut adapter = play_from(Path::new("<starter>"), &engine, "ignores-end-of-input");
    exchange(&mut adapter, "uci\nisready", "readyok");
    // A running program cannot be deleted.
    assert!(fs::remove_file(&engine).is_err());
    drop(adapter);
    until("the engine ends", || fs::remove_file(&engine).is_ok());
}
