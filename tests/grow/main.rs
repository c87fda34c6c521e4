//! Books that lose lines and gain some: `tabia prune`, `add`, `repertoire` and
//! `grow`.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

mod add;
#[path = "../common/mod.rs"]
mod common;
#[cfg(unix)]
mod grow;
mod prune;
mod repertoire;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tabia::book::ctg::{Problem, verify};
use tabia::watch::Watch;

/// Runs the program in a folder.
fn tabia(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabia"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What it said, when it did what it should.
fn ok(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    said
}

fn json(output: &Output) -> serde_json::Value {
    ok(output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The three files of a book.
fn files(book: &Path) -> [Vec<u8>; 3] {
    ["ctg", "cto", "ctb"].map(|extension| fs::read(book.with_extension(extension)).unwrap())
}

/// The main lines of the starter book.
fn starter() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.ctg")
}

fn assert_sound(book: &Path) {
    let mut found = Vec::new();
    let mut hear = |problem: Problem| found.push(problem.text);
    verify(book, true, &mut Watch::default(), &mut hear).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
