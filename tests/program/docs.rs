//! The examples in the documentation are run as they are printed.
//!
//! A block that begins with ```` ```console ```` has commands after `$ ` and after each
//! its output, standard output and standard error in order. `[..]` matches anything
//! within a line, `...` alone in a line any number of lines, `? 1` means exit code 1. All
//! blocks of a page run in one folder, in order, with the starter book in `books`, some
//! games in `games.pgn`, and test files under the names of the reader's own files and
//! engine. The lines of `sh` blocks only have to succeed; those that start other
//! programs, open a window or wait for questions are not run, but all options are
//! compared with the help. snapbox compares. trycmd, which would also run the commands, has no
//! shell: 25 of 71 commands have a pipe, or write into a file.
//!
//! `TABIA_DOCS=write cargo test -p tabia --test program docs::` updates the pages with
//! the real output.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use snapbox::Data;
use snapbox::filter::NormalizeToExpected;

use crate::common::{SMALL, STARTER, copy, example, project, tabia};

const COMMANDS: &str = "docs/commands.md";

/// The pages for users: the README and all of `docs`.
fn pages() -> Vec<PathBuf> {
    let folder = fs::read_dir("docs").unwrap();
    let mut pages: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.push("README.md".into());
    pages.sort();
    pages
}

/// A command of the page and the lines below it.
#[derive(Clone)]
struct Example {
    command: String,
    /// `None`: the command must succeed with any output.
    shown: Option<Vec<String>>,
    /// Line numbers in the page: of the first line shown, and after the last.
    lines: (usize, usize),
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut kind = "";
    for (number, line) in page.lines().enumerate() {
        match (kind, line.trim()) {
            ("", opening) => kind = opening.strip_prefix("```").unwrap_or(""),
            (_, "```") => kind = "",
            ("sh", line) => match examples.last_mut().map(|last| &mut last.command) {
                Some(begun) if begun.ends_with('\\') => {
                    begun.pop();
                    begun.push_str(line);
                }
                _ => examples.push(Example {
                    command: line.to_owned(),
                    shown: None,
                    lines: (number, number),
                }),
            },
            ("console", _) => {
                let last = examples.last_mut();
                if let Some(command) = line.strip_prefix("$ ") {
                    examples.push(Example {
                        command: command.to_owned(),
                        shown: Some(Vec::new()),
                        lines: (number + 1, number + 1),
                    });
                } else if let Some(last) = last.filter(|last| last.lines.1 == number) {
                    last.lines.1 = number + 1;
                    last.shown.get_or_insert_default().push(line.to_owned());
                }
            }
            _ => {}
        }
    }
    examples.retain(|example| example.shown.is_some() || is_run(&example.command));
    examples
}

/// Whether a line of an `sh` block can be run here: it starts only Tabia and a few
/// programs of every system, asks no questions, and needs no real engine.
fn is_run(line: &str) -> bool {
    let needs = [" --eval ", " --confirm ", " check-engine "];
    if needs.iter().any(|needed| line.contains(needed)) {
        return false;
    }
    let mut words = line.split_whitespace();
    match words.next() {
        Some("tabia") => !matches!(words.next(), Some("explore" | "setup" | "register")),
        Some(first) => ["mkdir", "cp", "cmp", "head"].contains(&first),
        None => false,
    }
}

fn run(command: &str, folder: &Path) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_tabia"));
    let path = format!(
        "{}:{}:{}",
        program.parent().unwrap().display(),
        folder.join("stockfish").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let command = command
        .replace("/opt/stockfish/", "stockfish/")
        .replace("/books/", "./");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("PATH", path)
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join(".config"))
        .env_remove("TABIA_CONFIG")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.replace(program.to_str().unwrap(), "/opt/tabia/tabia");
    let text = text.replace(program.parent().unwrap().to_str().unwrap(), "/opt/tabia");
    let home = folder.canonicalize().unwrap();
    let text = text.replace(home.to_str().unwrap(), "/home/me");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match output.status.code() {
        Some(0) => {}
        code => lines.push(format!("? {}", code.unwrap())),
    }
    lines
}

/// Whether the output matches the shown lines.
fn is_as_shown(shown: &[String], lines: &[String]) -> bool {
    let [shown, lines] = [shown, lines].map(|lines| Data::text(lines.join("\n")));
    NormalizeToExpected::new().redact().normalize(lines, &shown) == shown
}

#[test]
fn the_examples_print_what_the_pages_show() {
    let (mut run_in_all, mut wrong) = (0, String::new());
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let examples = examples(&text);
        run_in_all += examples.len();
        if !examples.is_empty() {
            wrong.push_str(&page_is_wrong(&page, &text, &examples));
        }
    }
    assert!(run_in_all > 110, "{run_in_all}");
    assert!(wrong.is_empty(), "{wrong}");
}

/// The commands of a README may be run twice.
#[test]
fn the_readme_may_be_followed_twice() {
    let text = fs::read_to_string("README.md").unwrap();
    let folder = folder();
    for example in [examples(&text), examples(&text)].concat() {
        let printed = run(&example.command, folder.path());
        let ends = printed.last().map(String::as_str).unwrap_or_default();
        assert!(!ends.starts_with("? "), "{}: {printed:?}", example.command);
    }
}

/// Books, games and an engine for the examples.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    for name in ["books", "stockfish", "games1", "games2"] {
        fs::create_dir(inside(name)).unwrap();
    }
    copy(STARTER, &inside(STARTER));
    for book in ["main.ctg", "A.ctg", "B.ctg"] {
        copy(SMALL, &inside(book));
    }
    for games in [
        "games.pgn",
        "lichess.pgn",
        "games1/may.pgn",
        "games2/june.pgn",
    ] {
        fs::copy("tests/data/sample.pgn", inside(games)).unwrap();
    }
    // Not the same games as in May, which `build` would refuse to add.
    let june = fs::read_to_string(inside("games2/june.pgn")).unwrap();
    fs::write(inside("games2/june.pgn"), june + "\n1. b3 b6 *\n").unwrap();
    symlink(project("tests"), inside("tests")).unwrap();
    symlink(example("scoring_engine"), inside("stockfish/stockfish")).unwrap();
    folder
}

/// The differences between a page and the real output; with `TABIA_DOCS=write` the page
/// is updated.
fn page_is_wrong(page: &Path, text: &str, examples: &[Example]) -> String {
    let folder = folder();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut wrong = String::new();
    let mut moved = 0_isize;
    for example in examples {
        let (from, to) = example.lines;
        let at = format!("{}:{from}: {}", page.display(), example.command);
        let printed = run(&example.command, folder.path());
        let Some(shown) = &example.shown else {
            if printed.last().is_some_and(|last| last.starts_with("? ")) {
                wrong.push_str(&format!("{at}\n--- fails\n{}\n\n", printed.join("\n")));
            }
            continue;
        };
        if is_as_shown(shown, &printed) {
            continue;
        }
        let place = |at: usize| at.checked_add_signed(moved).unwrap();
        lines.splice(place(from)..place(to), printed.iter().cloned());
        moved += printed.len() as isize - shown.len() as isize;
        wrong.push_str(&format!(
            "{at}\n--- shown\n{}\n--- printed\n{}\n\n",
            shown.join("\n"),
            printed.join("\n")
        ));
    }
    if std::env::var("TABIA_DOCS").is_ok_and(|value| value == "write") {
        fs::write(page, lines.join("\n") + "\n").unwrap();
        return String::new();
    }
    wrong
}

/// The commands of `sh` blocks, one line each, without shell syntax.
fn typed(text: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut inside = false;
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        match line.trim() {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => {
                let words = shlex::split(line).unwrap_or_default().into_iter();
                let mut command: Vec<String> = Vec::new();
                for word in words {
                    let is_end = ["|", ">", "<", "&", "&&"].contains(&word.as_str());
                    if is_end || word.ends_with(';') {
                        commands.push(std::mem::take(&mut command));
                    } else {
                        command.push(word);
                    }
                }
                commands.push(command);
            }
            _ => {}
        }
    }
    commands.retain(|command| command.first().is_some_and(|word| word == "tabia"));
    commands
}

#[test]
fn commands_on_the_pages_have_existing_options() {
    let mut helps: HashMap<String, String> = HashMap::new();
    let mut seen = 0;
    for page in pages() {
        for words in typed(&fs::read_to_string(&page).unwrap()) {
            let typed = words.join(" ");
            let ours = words.iter().take_while(|word| *word != "--");
            let ours: Vec<&String> = ours.skip(1).collect();
            let name = ours.first().filter(|word| !word.starts_with('-'));
            let name = name.map_or("play", |word| word.as_str());
            let help = helps
                .entry(name.to_owned())
                .or_insert_with(|| tabia(&[name, "--help"]).printed());
            let options = ours.iter().filter(|word| word.starts_with("--"));
            for option in options.map(|word| word.split('=').next().unwrap()) {
                let is_known = help
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                    .any(|word| word == option);
                assert!(is_known, "{}: {typed}: no option {option}", page.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

/// The table of move bytes equals that in the decoder's tests.
#[test]
fn the_page_of_the_format_has_every_move_byte() {
    let page = fs::read_to_string("docs/ctg.md").unwrap();
    let table = fs::read_to_string("crates/book/tests/data/ctg/moves.csv").unwrap();
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let step = |n: usize| fields[n].parse::<i32>().map(|step| format!("{step:+}"));
        let cell = match (step(3), step(4)) {
            (Ok(forward), Ok(right)) => format!("{}{}{forward}{right}", fields[1], fields[2]),
            _ => fields[1].to_owned(),
        };
        let cell = format!("{}:{cell}", &fields[0][2..]);
        let found = page.split_whitespace().filter(|word| *word == cell).count();
        assert_eq!(found, 1, "{cell}");
    }
}

/// The anchor of a heading, as GitHub makes it.
fn address(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    let letters = letters
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    letters.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of a page's links and pictures, without web addresses.
fn links(text: &str) -> Vec<String> {
    let parts = text.split("](").skip(1);
    let targets = parts.filter_map(|part| part.split_once(')').map(|(target, _)| target));
    let local = targets.filter(|target| !target.contains("://") && !target.contains(' '));
    local.map(str::to_owned).collect()
}

/// The target of a page's link, relative to the project.
fn target_of(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap().to_path_buf();
    for part in link.split('/') {
        match part {
            ".." => assert!(path.pop(), "{}: {link}", page.display()),
            part => path.push(part),
        }
    }
    path
}

/// The value of a list of texts in a file of Python or TOML.
fn list_of(file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let begins = text.find(&format!("\n{name} = ")).unwrap() + name.len() + 4;
    let rest = &text[begins + 1..];
    let list = &rest[..rest.find([']', '}']).unwrap()];
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Every link has a target: in the source, the archives and the cargo package.
#[test]
fn every_link_leads_somewhere() {
    let shipped = list_of("release/common.py", "SHIPPED");
    let left_out = list_of("release/common.py", "LEFT_OUT");
    let packed = list_of("Cargo.toml", "include");
    let is_shipped = |path: &Path| {
        shipped.iter().any(|part| path.starts_with(part))
            && !left_out.iter().any(|part| path == Path::new(part))
    };
    let is_packed = |path: &Path| {
        packed.iter().any(|part| {
            let part = part.trim_start_matches('/');
            match part.split_once('*') {
                Some((before, after)) => {
                    let path = path.to_str().unwrap();
                    path.starts_with(before) && path.ends_with(after)
                }
                None => path.starts_with(part),
            }
        })
    };
    let mut all = pages();
    all.extend(["CONTRIBUTING.md", "books/README.md"].map(PathBuf::from));
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => target_of(&page, file),
            };
            let at = format!("{}: {link}", page.display());
            assert!(target.exists(), "{at}: there is no such file");
            assert!(
                !is_shipped(&page) || is_shipped(&target),
                "{at}: not in the archive"
            );
            assert!(
                !is_packed(&page) || is_packed(&target),
                "{at}: not in the package"
            );
            if !heading.is_empty() {
                let page = fs::read_to_string(&target).unwrap();
                let mut headings = page.lines().filter(|line| line.starts_with('#'));
                assert!(
                    headings.any(|line| address(line) == heading),
                    "{at}: no such heading"
                );
            }
        }
    }
}

/// Every heading is followed by a text.
#[test]
fn no_section_is_empty() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let level = |line: &str| line.len() - line.trim_start_matches('#').len();
        let mut is_code = false;
        let mut lines = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            is_code ^= line.trim().starts_with("```");
            lines.push(if is_code { "" } else { line });
        }
        let nexts = lines.iter().skip(1).chain([&"# the end"]);
        for (line, next) in lines.iter().zip(nexts) {
            let is_empty = level(line) > 0 && level(next) > 0 && level(next) <= level(line);
            assert!(!is_empty, "{}: {line}", page.display());
        }
    }
}

/// There are few pages, and they are short.
#[test]
fn the_pages_are_few_and_short() {
    let pages = pages();
    assert!(pages.len() <= 25, "with the README: {}", pages.len());
    let words = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let is_word = |word: &&str| word.contains(char::is_alphanumeric);
        text.split_whitespace().filter(is_word).count()
    };
    // One page is for developers, and what users read is not shortened for it.
    let architecture: PathBuf = "docs/architecture.md".into();
    let docs = pages
        .iter()
        .filter(|page| page.starts_with("docs") && **page != architecture);
    let docs: usize = docs.map(words).sum();
    assert!(docs <= 28_600, "{docs} words");
    let developers = words(&architecture);
    assert!(developers <= 1_400, "{developers} words");
    let readme = words(&"README.md".into());
    assert!(readme <= 900, "README.md: {readme} words");
}

/// Every command has a section in the documentation.
#[test]
fn no_command_is_left_out() {
    let page = fs::read_to_string(COMMANDS).unwrap();
    let help = tabia("--help").printed();
    let list = help.split("\nOptions of `play`:\n").next().unwrap();
    let groups = list.split("Usage:").nth(1).unwrap().lines().skip(2);
    let names: Vec<&str> = groups
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let heading = format!("\n## tabia {name}\n");
        assert!(
            page.contains(&heading),
            "{COMMANDS} has no section \"tabia {name}\""
        );
    }
}

/// Every command's help ends with an example.
#[test]
fn every_help_has_an_example() {
    let page = fs::read_to_string(COMMANDS).unwrap();
    for name in page
        .lines()
        .filter_map(|line| line.strip_prefix("## tabia "))
    {
        let help = tabia(&[name, "--help"]).printed();
        let examples = help.split("\nExample").nth(1).unwrap_or_default();
        let begin = format!("\n  tabia {name}");
        let begin = if name == "play" {
            "\n  tabia play"
        } else {
            &begin
        };
        assert!(examples.contains(begin), "{name}: {help}");
    }
}

/// No verdict depends on a clock: what a pause is for stands on its line, or above it.
#[test]
fn every_sleep_in_a_test_has_its_reason() {
    let root = project("");
    let mut paths: Vec<PathBuf> = ["tests", "benches", "crates", "src"].map(project).into();
    let (mut found, mut wrong) = (0, Vec::new());
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path
            .extension()
            .is_some_and(|end| end == "rs" || end == "py")
        {
            let name = format!("/{}", path.strip_prefix(&root).unwrap().display());
            let text = fs::read_to_string(&path).unwrap();
            let is_test = name.contains("/tests") || name.starts_with("/benches");
            let own = text
                .split_once("mod tests {")
                .map_or("", |(_, tests)| tests);
            let lines: Vec<&str> = if is_test { &text } else { own }.lines().collect();
            for pair in lines.windows(2) {
                // These words, and their reason.
                if pair[1].contains("sleep(") || pair[1].contains("wait_for_timeout(") {
                    found += 1;
                    if !pair
                        .iter()
                        .any(|line| line.contains("//") || line.contains("# "))
                    {
                        wrong.push(format!("{name}: {}", pair[1].trim()));
                    }
                }
            }
        }
    }
    assert!(found > 10, "{found}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
