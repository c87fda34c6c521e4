//! The examples for those who use the library, run as a stranger would.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// Cargo puts examples beside the binary. Gives what it prints.
fn run(example: &str, args: &[&str]) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_tabia"));
    let program = binary.with_file_name("examples").join(example);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "run `cargo build --examples` first: {program:?}"
    );
    let output = Command::new(program).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_book_of_games_in_memory_is_built_and_probed() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("mine.ctg");
    let book = book.to_str().unwrap();
    // 11 + 7 + 7 positions, of which the start (twice), 1.e4 and 1...c5 are
    // shared.
    assert!(run("build_book", &[book]).ends_with(": 21 positions\n"));
    let verified = Command::new(env!("CARGO_BIN_EXE_tabia"))
        .args(["verify", book])
        .output()
        .unwrap();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let moves = run("probe_book", &[book, "e4", "c5"]);
    let mut names: Vec<_> = moves
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["Nc3", "Nf3"]);
}

#[test]
fn the_starter_book_is_probed() {
    let moves = run("probe_book", &["books/tabia.ctg"]);
    assert!(moves.lines().any(|line| line.starts_with("e4 ")), "{moves}");
    let sum: f64 = moves
        .lines()
        .map(|line| line.trim_end_matches(" %").split(' ').next_back().unwrap())
        .map(|number| number.parse::<f64>().unwrap())
        .sum();
    assert!((sum - 100.0).abs() < 1.0, "{sum}");
}
