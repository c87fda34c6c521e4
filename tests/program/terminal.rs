//! Names, tags and lines with control characters: all commands print them as text.

#![cfg(unix)] // Other systems do not allow such file names.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::common::{Folder, STARTER, assert_has, project, tabia};

/// Control sequences that set a terminal's title, and clear it.
const EVIL: &str = "\u{1b}]0;evil\u{7}\u{1b}[2J\u{9b}31m";

/// Runs the program and returns its whole output.
fn run(args: &[&str]) -> String {
    let ran = tabia(args);
    ran.out() + &ran.err()
}

/// Checks that the output has the evil text only in escaped form.
#[track_caller]
fn tame(args: &[&str]) -> String {
    let text = run(args);
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!text.contains(obeyed), "{args:?}: {text:?}");
    assert!(text.contains("evil"), "{args:?}: {text:?}");
    text
}

/// Writes a file and returns its full path.
fn put(folder: &Folder, name: &str, bytes: impl AsRef<[u8]>) -> String {
    folder.put(name, bytes).to_str().unwrap().to_owned()
}

#[test]
fn names_of_books_are_shown_as_text() {
    let folder = Folder::new();
    let book = fs::read(project(STARTER)).unwrap();
    // Without an index, so that there is a message.
    let good = put(&folder, &format!("{EVIL}.ctg"), &book);
    let bad = put(&folder, &format!("{EVIL}bad.ctg"), b"no book");
    let cut = put(&folder, &format!("{EVIL}cut.ctg"), &book[..9000]);
    let target = format!("{}/{EVIL}new.ctg", folder.display());
    for path in [&good, &bad, &cut] {
        for command in ["info", "verify", "probe"] {
            tame(&[command, path]);
            if command != "verify" {
                tame(&[command, path, "--json"]);
            }
        }
    }
    tame(&["probe", &good, "--explain"]);
    tame(&["compact", &cut, "-o", &target]);
    tame(&["merge", "-o", &target, &good, &good]);
    tame(&["merge", "-f", "-o", &target, &bad, &bad]);
    tame(&["build", "-o", &target, &bad]);
    tame(&["build", "-o", &target, &good]);
    // Invalid arguments.
    for text in [run(&["compact", &good, &bad]), run(&[&good])] {
        assert!(
            text.contains("unexpected") || text.contains("no command"),
            "{text}"
        );
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    }
}

#[test]
fn tags_of_games_are_shown_as_text() {
    let folder = Folder::new();
    let games = format!(
        "[White \"{EVIL}\"]\n[Black \"{EVIL}\"]\n[Event \"{EVIL}\"]\n[FEN \"{EVIL}\"]\n\n1. {EVIL} e9 1-0\n\n"
    );
    let good = "[White \"a\"]\n\n1. e4 e5 1-0\n\n";
    let path = put(&folder, "evil.pgn", format!("{games}{good}{games}"));
    let target = format!("{}/evil.ctg", folder.display());
    tame(&["build", "-o", &target, &path]);
    tame(&["build", "-o", &target, &path, "--player", EVIL]);
}

#[test]
fn engines_are_shown_as_text() {
    // Its lines and its name are unchanged.
    let folder = Folder::new();
    let script = format!(
        "#!/bin/sh\nwhile read line; do case \"$line\" in\n\
         uci) printf 'id name {e}\\noption name {e} type\\nuciok\\n';;\n\
         isready) printf 'info string {e}\\nwhat {e}\\n'; exit 3;;\nesac; done\n",
        e = "\\033]0;evil\\007"
    );
    let engine = put(&folder, "engine", script);
    let text = run(&["check-engine", "--", "/bin/sh", &engine]);
    assert_has(&text, "evil");
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
}

#[test]
fn configurations_are_shown_as_text() {
    let folder = Folder::new();
    let odd = "default = [\"\\u001b]0;evil\"]\n[engine.\"\\u001b]0;evil\"]\ncommand = \"/nowhere/\\u001b]0;evil\"\nargs = [\"\\u009b\"]\n[book]\nfile = [\"\\u001b]0;evil\"]\n";
    let path = put(&folder, "odd.toml", odd);
    tame(&["--config", &path, "--check-config"]);
    let path = put(&folder, &format!("{EVIL}.toml"), "colour = 3\n");
    tame(&["--config", &path, "--check-config"]);
    let path = put(&folder, "wrong.toml", format!("default = \"{EVIL}\"\n"));
    let text = run(&["--config", &path, "--check-config"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
