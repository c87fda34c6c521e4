//! The examples of `docs/commands.md` are run as they stand there.
//!
//! A block that begins with ```` ```console ```` holds commands behind `$ ` and
//! below each what it prints, standard output and standard error as they come.
//! `[..]` stands for anything within a line, `...` alone in a line for any
//! number of lines, `? 1` for exit code 1. All blocks run in one folder, one
//! after the other, with the starter book in `books` and some games in
//! `games.pgn`.
//!
//! `TABIA_DOCS=write cargo test --test docs` writes what was printed into the
//! page, where it is not what the page says.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/commands.md";

/// A command of the page and the lines below it.
struct Example {
    command: String,
    shown: Vec<String>,
    /// Lines of the page: of the first line shown, and behind the last.
    lines: (usize, usize),
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => {
                let last = examples.last_mut();
                if let Some(command) = line.strip_prefix("$ ") {
                    examples.push(Example {
                        command: command.to_owned(),
                        shown: Vec::new(),
                        lines: (number + 1, number + 1),
                    });
                } else if let Some(last) = last.filter(|last| last.lines.1 == number) {
                    last.lines.1 = number + 1;
                    last.shown.push(line.to_owned());
                }
            }
        }
    }
    examples
}

fn run(command: &str, folder: &Path) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_tabia"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
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

/// Whether lines are as shown.
fn is_as_shown(shown: &[String], lines: &[String]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "..." => {
            (0..=lines.len()).any(|skip| is_as_shown(rest, &lines[skip..]))
        }
        (Some((first, rest)), Some((line, more))) => {
            is_line_as_shown(first, line) && is_as_shown(rest, more)
        }
        _ => false,
    }
}

fn is_line_as_shown(shown: &str, line: &str) -> bool {
    let Some((before, after)) = shown.split_once("[..]") else {
        return shown == line;
    };
    let Some(rest) = line.strip_prefix(before) else {
        return false;
    };
    let mut starts = rest.char_indices().map(|(at, _)| at);
    starts.any(|at| is_line_as_shown(after, &rest[at..])) || is_line_as_shown(after, "")
}

#[test]
fn the_examples_print_what_the_page_shows() {
    let page = fs::read_to_string(PAGE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("books")).unwrap();
    for ending in ["ctg", "cto", "ctb"] {
        let name = format!("books/tabia.{ending}");
        fs::copy(&name, folder.path().join(&name)).unwrap();
    }
    fs::copy("tests/data/sample.pgn", folder.path().join("games.pgn")).unwrap();
    let examples = examples(&page);
    assert!(examples.len() > 20, "{}", examples.len());
    let write = std::env::var("TABIA_DOCS").is_ok_and(|value| value == "write");
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let mut wrong = String::new();
    let mut moved = 0_isize;
    for example in &examples {
        // Who talks to an engine against the clock may be late on a busy
        // machine; what is late by itself always is.
        let talks = ["tabia check-engine", "printf 'uci"];
        let timed = talks.iter().any(|talk| example.command.starts_with(talk));
        let mut printed = run(&example.command, folder.path());
        for _ in 0..if timed { 11 } else { 0 } {
            if !is_as_shown(&example.shown, &printed) {
                printed = run(&example.command, folder.path());
            }
        }
        if is_as_shown(&example.shown, &printed) {
            continue;
        }
        let (from, to) = example.lines;
        let place = |at: usize| at.checked_add_signed(moved).unwrap();
        lines.splice(place(from)..place(to), printed.iter().cloned());
        moved += printed.len() as isize - example.shown.len() as isize;
        wrong.push_str(&format!(
            "{PAGE}:{from}: $ {}\n--- shown\n{}\n--- printed\n{}\n\n",
            example.command,
            example.shown.join("\n"),
            printed.join("\n")
        ));
    }
    if write {
        fs::write(PAGE, lines.join("\n") + "\n").unwrap();
    } else {
        assert!(wrong.is_empty(), "{wrong}");
    }
}

/// Every command has a section.
#[test]
fn no_command_is_left_out() {
    let page = fs::read_to_string(PAGE).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_tabia"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let list = help.split("Commands:\n").nth(1).unwrap();
    let commands = list.lines().take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let heading = format!("\n## tabia {name}\n");
        assert!(
            page.contains(&heading),
            "{PAGE} has no section \"tabia {name}\""
        );
    }
}

#[test]
fn wildcards_stand_for_what_they_should() {
    for (shown, line, same) in [
        ("a", "a", true),
        ("a", "b", false),
        ("in [..] s", "in 0.3 s", true),
        ("in [..] s; [..]", "in 0.3 s; 7", true),
        ("in [..] s", "in 0.3 m", false),
        ("[..]", "", true),
    ] {
        assert_eq!(is_line_as_shown(shown, line), same, "{shown} {line}");
    }
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    assert!(is_as_shown(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(!is_as_shown(&lines("a\n...\nd"), &lines("a\nb\nc")));
}
