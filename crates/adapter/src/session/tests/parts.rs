//! What the parts of a session know of each other.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The parts, and what each may use of the session's modules.
const PARTS: [(&str, &[&str]); 8] = [
    ("game.rs", &[]),
    ("verify.rs", &[]),
    ("queue.rs", &[]),
    ("backlog.rs", &["out"]),
    ("engine", &["backlog", "game", "out"]),
    // What the GUI waits for, the engine searches for.
    ("turn", &["backlog", "engine", "game", "out", "verify"]),
    ("books", &["game", "out"]),
    ("observers", &["game", "out"]),
];

/// Whoever uses these reaches for the whole session.
const WHOLE: [&str; 4] = ["Session", "Parts", "Moment", "Output"];

fn files(path: &Path) -> Vec<PathBuf> {
    match path.is_file() {
        true => vec![path.to_owned()],
        false => {
            let entries = fs::read_dir(path).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect()
        }
    }
}

/// The words of the code, without comments.
fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let code = text.lines().filter(|line| !line.trim().starts_with("//"));
    code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_part_knows_another() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session");
    for (part, may_use) in PARTS {
        let mut read = 0;
        for file in files(&folder.join(part)) {
            for word in words(&file) {
                read += 1;
                let path: Vec<&str> = word.split("::").collect();
                let (name, before) = path.split_last().unwrap();
                let is_outer = before
                    .iter()
                    .all(|word| ["super", "crate", "session"].contains(word));
                let is_whole = WHOLE.contains(name) && is_outer;
                assert!(!is_whole, "{}: {word}", file.display());
                for (other, _) in PARTS {
                    let module = other.trim_end_matches(".rs");
                    let is_allowed = other == part || may_use.contains(&module);
                    let is_used = before.contains(&module)
                        || (*name == module && is_outer && !before.is_empty());
                    assert!(is_allowed || !is_used, "{}: {word}", file.display());
                }
            }
        }
        assert!(read > 100, "{part} has no code");
    }
}
