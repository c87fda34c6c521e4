//! The floors of the house: who may know of whom.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the library and those it may use, from the ground up.
/// Arrows point downwards only: a row names none that stands below it.
const FLOORS: &[(&str, &[&str])] = &[
    ("plain", &[]),
    ("place", &[]),
    ("input", &[]),
    ("notation", &[]),
    ("crew", &[]),
    ("sort", &["crew", "input"]),
    ("book", &["crew", "input", "place", "sort"]),
    ("games", &["crew", "input", "place"]),
    ("openings", &[]),
    (
        "build",
        &[
            "book", "crew", "games", "input", "openings", "place", "sort",
        ],
    ),
    ("mark", &["book"]),
    ("learn", &["book", "crew", "games", "mark"]),
    ("uci", &[]),
    ("policy", &["book"]),
    ("eval", &["book"]),
    ("evals", &["book", "eval"]),
    ("view", &["book", "policy"]),
    (
        "convert",
        &["view", "book", "crew", "place", "policy", "sort"],
    ),
    ("settings", &["policy"]),
    ("consult", &["view", "book", "policy", "settings"]),
    ("book_set", &["input", "book", "learn", "settings"]),
    (
        "session",
        &["book", "policy", "learn", "settings", "book_set", "uci"],
    ),
    ("transcript", &["session", "settings", "book_set"]),
    (
        "explore",
        &[
            "view", "book", "policy", "consult", "games", "mark", "session", "settings",
            "book_set", "openings",
        ],
    ),
    ("engine", &["eval", "input", "plain", "uci"]),
    ("builtin", &[]),
    (
        "config",
        &["input", "engine", "session", "settings", "book_set"],
    ),
    ("compare", &["book"]),
    ("tree", &["book"]),
    ("register", &[]),
    (
        "relay",
        &[
            "engine",
            "learn",
            "plain",
            "session",
            "book_set",
            "transcript",
            "uci",
        ],
    ),
    (
        "cli",
        &[
            "input",
            "book",
            "build",
            "builtin",
            "policy",
            "compare",
            "config",
            "consult",
            "convert",
            "engine",
            "explore",
            "games",
            "input",
            "learn",
            "mark",
            "openings",
            "tree",
            "view",
            "place",
            "plain",
            "register",
            "relay",
            "session",
            "settings",
            "book_set",
            "transcript",
        ],
    ),
];

/// What chess is as text, everybody may know.
const GROUND: &str = "notation";

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a file names as `crate::module`, comments aside.
fn used(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| {
            rest.chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect()
        })
        .filter(|name: &String| !name.is_empty())
        .collect()
}

#[test]
fn modules_use_only_what_stands_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut seen = BTreeSet::new();
    for path in files {
        let inner = path.strip_prefix(&root).unwrap();
        let first = inner.components().next().unwrap();
        let module = Path::new(first.as_os_str()).with_extension("");
        let module = module.to_str().unwrap();
        if ["lib", "main"].contains(&module) {
            continue;
        }
        let floor = FLOORS.iter().find(|(name, _)| *name == module);
        let (_, allowed) = floor.unwrap_or_else(|| panic!("{module} has no floor here"));
        seen.insert(module.to_owned());
        for name in used(&fs::read_to_string(&path).unwrap()) {
            assert!(
                name == module || name == GROUND || allowed.contains(&name.as_str()),
                "{}: {module} may not use {name}",
                inner.display()
            );
        }
    }
    assert_eq!(seen.len(), FLOORS.len(), "a floor without a module");
}

#[test]
fn floors_name_only_floors_above_them_in_the_list() {
    for (index, (module, allowed)) in FLOORS.iter().enumerate() {
        for name in *allowed {
            assert!(
                FLOORS[..index].iter().any(|(above, _)| above == name),
                "{module} -> {name}"
            );
        }
    }
}

/// The parser of UCI lines has faults; one file answers for them.
#[test]
fn one_file_names_the_uci_parser() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let names_it = code.into_iter().any(|line| line.contains("vampirc_uci"));
        assert_eq!(
            names_it,
            path.ends_with("uci/vampirc.rs"),
            "{}",
            path.display()
        );
    }
}
