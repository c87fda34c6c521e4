//! No module uses one that uses it: of each package listed here, from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let all = paths.flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    all.filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// The module of a path such as `super::style::Painted` in the module `from`, if it is
/// another one of this package. The modules above `from` do not count: a module and its
/// submodules are one thing.
fn module_of(from: &str, path: &str, texts: &BTreeMap<String, String>) -> Option<String> {
    let mut words = path.split("::").peekable();
    let mut at = from;
    if words.next_if_eq(&"crate").is_some() {
        at = "";
    }
    while words.next_if_eq(&"super").is_some() {
        at = at.rsplit_once('/').map_or("", |(above, _)| above);
    }
    let mut named = at.to_owned();
    for word in words {
        let longer = format!("{named}/{word}");
        let longer = longer.trim_start_matches('/');
        if !texts.contains_key(longer) {
            break;
        }
        named = longer.to_owned();
    }
    let is_above = named.is_empty() || from.starts_with(&format!("{named}/"));
    Some(named).filter(|named| named != from && !is_above)
}

/// The paths in a text, those in the braces of a `use` too.
fn paths(text: &str) -> BTreeSet<String> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = BTreeSet::new();
    let mut rest = text;
    while let Some(begin) = rest.find(is_path) {
        rest = &rest[begin..];
        let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        let (path, after) = rest.split_at(end);
        rest = after;
        match (path.strip_suffix("::"), after.strip_prefix('{')) {
            (Some(path), Some(inside)) => {
                let inside = inside.split('}').next().unwrap_or_default();
                found.extend(
                    inside
                        .split(',')
                        .map(|word| format!("{path}::{}", word.trim())),
                );
            }
            _ => found.extend(path.contains("::").then(|| path.to_owned())),
        }
    }
    found
}

/// The modules of a package and those that each uses, without tests and comments.
fn modules(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let named = sources(root).into_iter().map(|path| {
        let name = path.strip_prefix(root).unwrap().with_extension("");
        let name = name.to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(path).unwrap();
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        let code = code.map(|line| line.split("//").next().unwrap_or_default());
        let code = code.collect::<Vec<_>>().join("\n");
        (name.trim_end_matches("/mod").to_owned(), code)
    });
    let texts: BTreeMap<String, String> =
        named.filter(|(name, _)| !name.ends_with("tests")).collect();
    let used = |(name, text): (&String, &String)| {
        let all = paths(text);
        let used = all.iter().filter_map(|path| module_of(name, path, &texts));
        (name.clone(), used.collect())
    };
    texts.iter().map(used).collect()
}

#[test]
fn no_module_uses_one_that_uses_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (folder, user, used) in [
        ("crates/analysis/src", "review", "departures"),
        ("crates/explorer/src", "api", "api/games"),
        ("src", "cli/play", "cli/engines"),
    ] {
        let mut modules = modules(&root.join(folder));
        assert!(
            modules[user].contains(used),
            "{folder}: {:?}",
            modules[user]
        );
        // Those that use no other are taken away, until none or only circles are left.
        loop {
            let left: BTreeSet<String> = modules.keys().cloned().collect();
            modules.retain(|_, used| used.iter().any(|name| left.contains(name)));
            if modules.len() == left.len() {
                break;
            }
        }
        assert!(modules.is_empty(), "{folder}: {modules:#?}");
    }
}
