//! The floors of the house: who may know of whom.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The floors, from the ground up, each with the reason why it is one. A
/// module knows of those on its own floor and below.
const FLOORS: &[(&str, &[&str])] = &[
    (
        "bytes, words and threads, of use to any program: what stands here can be \
         tested without a book, a game or an engine",
        &[
            "crew", "html", "input", "notation", "place", "plain", "sort", "uci", "watch",
        ],
    ),
    (
        "books and games: what a library user depends on without the adapter, so \
         it knows no GUI, no engine and no option of theirs",
        &[
            "audit",
            "book",
            "build",
            "compare",
            "convert",
            "eval",
            "evals",
            "games",
            "graph",
            "index",
            "learn",
            "mark",
            "openings",
            "policy",
            "prune",
            "repertoire",
            "tree",
            "view",
        ],
    ),
    (
        "the conversation as values: no process, pipe, socket or clock, so that \
         every game can be had again in a test",
        &["book_set", "consult", "session", "settings", "transcript"],
    ),
    (
        "the world: processes, pipes, sockets, and files of other programs",
        &[
            "builtin", "config", "engine", "evaluate", "explore", "grow", "prove", "register",
            "relay", "setup", "suite",
        ],
    ),
    (
        "the command line parses and prints; nobody below prints for people",
        &["cli"],
    ),
];

/// Those who stay strangers although their floor would let them meet.
const STRANGERS: &[(&str, &str, &str)] = &[
    ("book", "games", "a book is read without any collection"),
    ("games", "book", "a collection is read without any book"),
    (
        "explore",
        "relay",
        "the browser sees books, not conversations",
    ),
    ("builtin", "engine", "it is an engine like any other"),
];

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

/// Every module, and those it names.
fn modules() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files {
        let inner = path.strip_prefix(&root).unwrap();
        let first = Path::new(inner.components().next().unwrap().as_os_str());
        let module = first.file_stem().unwrap().to_str().unwrap().to_owned();
        if module == "lib" || module == "main" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            !text.contains("crate::{"),
            "{}: a line each",
            inner.display()
        );
        let mut names = used(&text);
        names.remove(&module);
        modules.entry(module).or_default().extend(names);
    }
    modules
}

fn floor_of(module: &str) -> usize {
    let floor = FLOORS.iter().position(|(_, rooms)| rooms.contains(&module));
    floor.unwrap_or_else(|| panic!("{module} has no floor here"))
}

#[test]
fn nobody_knows_of_a_higher_floor() {
    let modules = modules();
    for (module, names) in &modules {
        for name in names {
            let (own, other) = (floor_of(module), floor_of(name));
            let reason = FLOORS[own].0;
            assert!(other <= own, "{module} may not use {name}: {reason}");
        }
    }
    let rooms: usize = FLOORS.iter().map(|(_, rooms)| rooms.len()).sum();
    assert_eq!(modules.len(), rooms, "a name here that is no module");
}

#[test]
fn strangers_stay_strangers() {
    let modules = modules();
    for (module, name, reason) in STRANGERS {
        assert!(
            !modules[*module].contains(*name),
            "{module} knows {name}: {reason}"
        );
    }
}

/// Whoever stands on nobody that is still there goes; in the end nobody is left.
#[test]
fn modules_do_not_go_round_in_circles() {
    let mut modules = modules();
    loop {
        let free: Vec<String> = modules
            .iter()
            .filter(|(_, names)| names.iter().all(|name| !modules.contains_key(name)))
            .map(|(module, _)| module.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        modules.retain(|module, _| !free.contains(module));
    }
    assert!(modules.is_empty(), "a circle among {modules:?}");
}

/// The paths that a `use` of nested lists stands for.
fn unfolded(before: &str, tree: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, list)) = tree
        .strip_suffix('}')
        .and_then(|whole| whole.split_once('{'))
    else {
        found.push(format!("{before}{tree}"));
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = &list[start..at];
                start = at + 1;
                if !part.trim().is_empty() {
                    unfolded(&format!("{before}{head}"), part, found);
                }
            }
            _ => {}
        }
    }
}

/// The paths that a file names from the crate, its own module or those above,
/// comments and tests aside.
fn paths(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    let code = code.split("\nmod tests {").next().unwrap();
    let mut found = Vec::new();
    for begin in ["use ", "crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(begin) {
            let rest = match begin {
                "use " => &code[at + begin.len()..],
                _ => &code[at..],
            };
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let end = match begin {
                "use " => rest.find(';'),
                _ => rest.find(|c| !is_part(c)),
            };
            unfolded("", &rest[..end.unwrap_or(rest.len())], &mut found);
        }
    }
    found
}

/// The module of the source that a path from one of them leads into.
fn lead(from: &[String], path: &str, modules: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let mut words = path.split("::").map(str::trim).peekable();
    let mut at = match *words.peek()? {
        "crate" => Vec::new(),
        "super" | "self" => from.to_vec(),
        _ => return None,
    };
    for word in words {
        match word {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            word => {
                at.push(word.to_owned());
                if !modules.contains(&at) {
                    at.pop();
                    break;
                }
            }
        }
    }
    Some(at)
}

/// A module and those in it belong together; beside that, whoever reads a file
/// has no need of another that has need of it.
#[test]
fn files_do_not_go_round_in_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let module_of = |path: &Path| -> Vec<String> {
        let inner = path.strip_prefix(&root).unwrap().with_extension("");
        let words = inner.iter().map(|word| word.to_str().unwrap().to_owned());
        words
            .filter(|word| word != "mod" && word != "lib")
            .collect()
    };
    let modules: BTreeSet<Vec<String>> = files.iter().map(|path| module_of(path)).collect();
    let mut leans: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for path in &files {
        let from = module_of(path);
        let text = fs::read_to_string(path).unwrap();
        let leads = paths(&text).into_iter();
        let mut on: BTreeSet<_> = leads
            .filter_map(|path| lead(&from, &path, &modules))
            .collect();
        on.retain(|other| !other.starts_with(&from) && !from.starts_with(other));
        leans.insert(from, on);
    }
    // Whoever leans on nobody that is left goes, and whom nobody left leans on.
    loop {
        let before = leans.len();
        let needed: BTreeSet<_> = leans.values().flatten().cloned().collect();
        let names: BTreeSet<_> = leans.keys().cloned().collect();
        leans.retain(|from, on| needed.contains(from) && !on.is_disjoint(&names));
        if leans.len() == before {
            break;
        }
    }
    let names: Vec<String> = leans.keys().map(|module| module.join("::")).collect();
    assert!(names.is_empty(), "a circle among {names:?}");
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
