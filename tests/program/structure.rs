//! The sentences of `docs/architecture.md` that the compiler does not keep.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::tabia;

const PAGE: &str = "docs/architecture.md";

/// All Rust files of a folder and those in it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The lines of code in a folder, each with its file; not those of tests and examples.
fn lines_of_code(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    sources(Path::new(folder), &mut files);
    const OTHER: [&str; 3] = ["tests", "tests.rs", "examples"];
    files.retain(|path| {
        !path
            .iter()
            .any(|part| OTHER.iter().any(|name| part == *name))
    });
    let mut lines = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        let code = code.lines().filter(|line| !line.trim().starts_with("//"));
        lines.extend(code.map(|line| (path.clone(), line.to_owned())));
    }
    lines
}

/// The packages that a package uses, as its `Cargo.toml` says: those of this workspace,
/// without their common first word.
fn dependencies(manifest: &Path) -> Vec<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let table = manifest
        .get("dependencies")
        .and_then(|table| table.as_table());
    let names = table.into_iter().flat_map(|table| table.keys());
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_prefix("tabia-"))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn packages_use_what_the_page_says() {
    let page = fs::read_to_string(PAGE).unwrap();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| package"));
    let mut listed = BTreeMap::new();
    for row in table.skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let folder = cells[1].trim_matches('`').to_owned();
        let mut uses: Vec<String> = cells[3].split_whitespace().map(str::to_owned).collect();
        // A package stands above those that it uses.
        let above = uses
            .iter()
            .find(|name| listed.contains_key(&format!("crates/{name}")));
        assert_eq!(above, None, "{folder} is below a package that it uses");
        uses.sort();
        listed.insert(folder, uses);
    }
    let mut there = BTreeMap::new();
    for entry in fs::read_dir("crates").unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.to_str().unwrap().replace('\\', "/");
        there.insert(name, dependencies(&folder.join("Cargo.toml")));
    }
    there.insert(
        "books".to_owned(),
        dependencies(Path::new("books/Cargo.toml")),
    );
    assert_eq!(listed, there);
}

/// The folders of `src/cli` by the headings of `tabia --help`.
const FOLDERS: [(&str, &str); 7] = [
    ("Play", "play"),
    ("Set up", "set_up"),
    ("Look into a book", "look"),
    ("Make a book", "make"),
    ("Keep it in order", "keep"),
    ("Judge and extend it", "judge"),
    ("Test engines", "test_engines"),
];

/// What a folder of commands uses of another one.
const USED: [(&str, &str, &str); 6] = [
    (
        "play",
        "help",
        "what is shown at a terminal before anything is set up",
    ),
    (
        "play",
        "set_up",
        "`setup` can be the first thing that is typed there",
    ),
    (
        "set_up",
        "help",
        "the table of defaults is a page of the manual",
    ),
    (
        "set_up",
        "look",
        "books that are found are shown with the numbers of `info`",
    ),
    (
        "look",
        "make",
        "`explore` makes an index of games, and reports it as `index`",
    ),
    (
        "make",
        "judge",
        "`build --evaluations` makes the file of `evaluate`",
    ),
];

#[test]
fn commands_are_in_the_folders_of_their_headings() {
    // The arguments of a command stand in the file that runs it.
    let commands = fs::read_to_string("src/cli/command.rs").unwrap();
    let help = tabia("--help").out();
    let mut folder = None;
    let mut count = 0;
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':') {
            folder = FOLDERS.iter().find(|(title, _)| *title == heading);
        }
        let name = line
            .strip_prefix("  ")
            .and_then(|line| line.split(' ').next());
        let (Some((_, folder)), Some(name)) = (folder, name.filter(|name| !name.is_empty())) else {
            continue;
        };
        let variant: String = name.split('-').map(capital).collect();
        let file = commands.split(&format!("    {variant}(super::")).nth(1);
        if let Some(file) = file {
            assert!(
                file.starts_with(&format!("{folder}::")),
                "{name} is not in {folder}"
            );
            count += 1;
        }
    }
    assert!(count > 25, "{count}: {help}");

    let mut uses = Vec::new();
    for (path, line) in lines_of_code("src/cli") {
        let used = line
            .split("crate::cli::")
            .nth(1)
            .and_then(|rest| rest.split("::").next());
        let own = path.strip_prefix("src/cli").unwrap().iter().next().unwrap();
        let (own, used) = (own.to_str().unwrap(), used.unwrap_or(""));
        let is_folder = |name: &str| FOLDERS.iter().any(|(_, folder)| *folder == name);
        if used != own && (is_folder(used) || used == "help" && is_folder(own)) {
            uses.push((own.to_owned(), used.to_owned()));
        }
    }
    uses.sort();
    uses.dedup();
    let mut known = USED.map(|(own, used, _)| (own.to_owned(), used.to_owned()));
    known.sort();
    assert_eq!(uses, known);
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// Clippy finds the macros, not what is written to a handle.
#[test]
fn only_the_command_line_prints() {
    // The pipe to the GUI; what an engine writes to standard error is passed on; progress
    // leaves a WebAssembly module as lines of its output.
    const MAY: [&str; 4] = [
        "src/cli",
        "crates/adapter/src/relay/system.rs",
        "crates/engine/src/spawn.rs",
        "crates/page/src/site.rs",
    ];
    let mut lines = [lines_of_code("src"), lines_of_code("crates")].concat();
    lines.retain(|(path, line)| {
        let prints = line.contains("io::stdout()") || line.contains("io::stderr()");
        prints && !MAY.iter().any(|part| path.starts_with(part))
    });
    assert_eq!(lines, []);
}

/// Each rule of the page names the test or the lint that keeps it.
#[test]
fn the_tests_that_the_page_names_exist() {
    let page = fs::read_to_string(PAGE).unwrap();
    let rules = page.split("## Rules").nth(1).unwrap();
    let mut files = vec![PathBuf::from("Cargo.toml")];
    for folder in ["crates", "src", "tests"] {
        sources(Path::new(folder), &mut files);
    }
    let texts: Vec<String> = files
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut named = 0;
    for name in rules
        .split('`')
        .filter(|name| name.contains('_') && !name.contains('/'))
    {
        let text = match name.strip_prefix("clippy::") {
            Some(lint) => format!("{lint} = "),
            None => format!("fn {}(", name.rsplit("::").next().unwrap()),
        };
        assert!(texts.iter().any(|one| one.contains(&text)), "{name}");
        named += 1;
    }
    assert!(named >= 5, "{named}");
}
