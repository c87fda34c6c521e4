//! What the parts of a session know of each other: nothing, but that all read the game.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The parts, and what each may use of the session's modules.
const PARTS: [(&str, &[&str]); 5] = [
    ("game.rs", &[]),
    ("owed", &[]),
    ("engine", &["game", "out"]),
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
                let is_whole = WHOLE.contains(name)
                    && before
                        .iter()
                        .all(|word| ["super", "crate", "session"].contains(word));
                assert!(!is_whole, "{}: {word}", file.display());
                for (other, _) in PARTS {
                    let module = other.trim_end_matches(".rs");
                    let is_allowed = other == part || may_use.contains(&module);
                    let is_used = path.len() > 1 && path.contains(&module);
                    assert!(is_allowed || !is_used, "{}: {word}", file.display());
                }
            }
        }
        assert!(read > 100, "{part} has no code");
    }
}

#[test]
fn the_session_is_implemented_in_one_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session");
    let mut places = Vec::new();
    for part in PARTS
        .map(|(part, _)| part)
        .iter()
        .chain(&["mod.rs", "event.rs", "out.rs"])
    {
        for file in files(&folder.join(part)) {
            let text = fs::read_to_string(&file).unwrap();
            let count = text.matches("impl Parts").count();
            places.extend(std::iter::repeat_n(file, count));
        }
    }
    assert_eq!(places, [folder.join("mod.rs")]);
}
