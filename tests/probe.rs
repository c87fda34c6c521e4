//! What people type for positions and moves, and what they are shown of them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");
const STARTER: &str = "books/tabia.ctg";

fn tabia(args: &[&str]) -> Output {
    Command::new(TABIA)
        .args(args)
        .env("TABIA_CONFIG", "")
        .env("XDG_CONFIG_HOME", "/nowhere")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn done(args: &[&str]) -> String {
    let output = tabia(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&done(args)).unwrap()
}

fn starter(folder: &Path) -> PathBuf {
    for kind in ["ctg", "cto", "ctb"] {
        let name = folder.join("book").with_extension(kind);
        fs::copy(Path::new("books/tabia").with_extension(kind), name).unwrap();
    }
    folder.join("book.ctg")
}

#[test]
fn a_factor_means_the_same_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let book = book.to_str().unwrap();
    done(&["mark", book, "--move", "e4", "--factor", "40"]);
    let found = json(&["probe", book, "--json"]);
    let moves = found["moves"].as_array().unwrap();
    let e4 = moves.iter().find(|mv| mv["uci"] == "e2e4").unwrap();
    assert_eq!(e4["factor"], 40);
    let table = done(&["probe", book, "--explain"]);
    assert!(
        table
            .lines()
            .any(|row| row.starts_with("e4 ") && row.contains(" +40 "))
    );
    assert!(
        table.contains("stored: recommendation 00, factor -40"),
        "{table}"
    );
    let csv = folder.path().join("book.csv");
    done(&["convert", book, csv.to_str().unwrap()]);
    let csv = fs::read_to_string(csv).unwrap();
    let row = csv
        .lines()
        .find(|row| {
            row.starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1,e2e4,")
        })
        .unwrap();
    assert_eq!(row.split(',').nth(13), Some("40"), "{row}");
    let diff = tabia(&["diff", STARTER, book, "--json"]);
    let diff = String::from_utf8(diff.stdout).unwrap();
    assert!(diff.contains("\"factor\":[0,40]"), "{diff}");
}

#[test]
fn one_reader_of_moves_serves_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let book = book.to_str().unwrap();
    let wanted = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4";
    for moves in [
        "1.e4 e5 2.Nf3 Nc6 3.Bc4 Nf6 4.0-0",
        "1. e4! e5 2. Sf3 Sc6 3. Lc4 Sf6 4. O-O",
        "e4 e5 Cf3 Cc6 Ac4 Cf6 e1h1",
        "1.e4 e5 2.♘f3 ♞c6 3.♗c4 ♞f6 4.e1g1",
        "1.e4 e5 2.Кf3 Кc6 3.Сc4 Кf6 4.0-0",
        "1.e4 {a comment} e5 (1...c5 2.Nf3) 2.Nf3 $1 Nc6 3.Fc4 Cf6 4.0-0",
    ] {
        let found = json(&["probe", book, "--json", "--moves", moves]);
        assert_eq!(found["fen"], wanted, "{moves}");
        let tree = json(&["tree", book, "--json", "--moves", moves]);
        assert_eq!(tree["fen"], wanted, "{moves}");
        done(&["mark", book, "--dry-run", "--line", moves, "main"]);
    }
    let passed = json(&["probe", book, "--json", "--moves", "1.d4 Nf6 2.-- d5"]);
    assert_eq!(passed["in_book"], true);
}

#[test]
fn one_reader_of_fens_serves_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let book = book.to_str().unwrap();
    let four = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -";
    for fen in [
        four.to_owned(),
        format!("{four} 0 1"),
        format!("{four} bm Nf6; id \"Indian\";"),
        format!("fen {four} 0 1"),
        format!("position fen {four} 0 1"),
        format!("\"{four}\""),
        "position startpos moves d2d4".to_owned(),
    ] {
        let found = json(&["probe", book, &fen, "--json"]);
        assert_eq!(found["fen"], format!("{four} 0 1"), "{fen}");
        let tree = json(&["tree", book, &fen, "--json"]);
        assert_eq!(tree["fen"], format!("{four} 0 1"), "{fen}");
        done(&["mark", book, "-n", "--fen", &fen, "--move", "Nf6", "main"]);
    }
    for fen in ["8/8 w", "hello", "8/8/8/8/8/8/8/8 w - - 0 1"] {
        let one = tabia(&["probe", book, fen]);
        let other = tabia(&["mark", book, "--fen", fen, "--move", "e4", "main"]);
        assert_eq!((one.status.code(), other.status.code()), (Some(2), Some(2)));
        let text = String::from_utf8(one.stderr).unwrap();
        let reason = text.trim_start_matches("tabia: ").trim_end();
        let text = String::from_utf8(other.stderr).unwrap();
        assert!(text.contains(reason), "{text} / {reason}");
    }
}

#[test]
fn what_stands_in_the_wrong_place_is_told_the_right_one() {
    for (args, hint) in [
        (&["main.ctg"][..], "tabia --book main.ctg"),
        (&["main.bin"], "tabia probe main.bin"),
        (&["games.pgn"], "tabia build -o BOOK.ctg games.pgn"),
        (&["e4"], "tabia probe BOOK --moves \"e4\""),
        (&["sh"], "tabia --engine sh"),
        (&["prob", STARTER], "'tabia probe'"),
        (&["probe", STARTER, "1.e4", "c5"], "--moves \"1.e4 c5\""),
        (&["tree", STARTER, "e4"], "--moves \"e4\""),
        (&["mark", STARTER, "e4", "main"], "--move e4"),
        (
            &["probe", STARTER, "--set", "Book Varety=0"],
            "did you mean \"Book Variety\"",
        ),
        (
            &[
                "--set",
                "Book Varety=0",
                "--engine",
                "builtin",
                "--check-config",
            ],
            "did you mean \"Book Variety\"",
        ),
    ] {
        let output = tabia(args);
        let said = String::from_utf8_lossy(&output.stderr);
        let wanted = if args.len() == 5 { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(wanted), "{args:?}: {said}");
        assert!(said.contains(hint), "{args:?}: {said}");
    }
}

#[test]
fn colours_are_taken_as_people_write_them() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let book = book.to_str().unwrap();
    for colour in ["w", "W", "white", "White", "WHITE"] {
        done(&[
            "mark", book, "-n", "--line", "1.e4 c5", "--colour", colour, "main",
        ]);
    }
    let games = folder.path().join("games.pgn");
    fs::write(
        &games,
        "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n",
    )
    .unwrap();
    for colour in ["b", "Black"] {
        let out = folder.path().join(format!("{colour}.pgn"));
        let (games, out) = (games.to_str().unwrap(), out.to_str().unwrap());
        done(&["games", games, "-o", out, "--player", "B", "--as", colour]);
    }
}

#[cfg(unix)]
#[test]
fn paths_are_paths() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = tempfile::tempdir().unwrap();
    let odd = home
        .path()
        .join(std::ffi::OsStr::from_bytes(b"b\xfccher\xff"));
    fs::create_dir(&odd).unwrap();
    let book = starter(&odd);
    let run = |args: &[&std::ffi::OsStr]| {
        Command::new(TABIA)
            .args(args)
            .env("TABIA_CONFIG", "")
            .env("XDG_CONFIG_HOME", "/nowhere")
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let probed = run(&["probe".as_ref(), book.as_os_str()]);
    assert_eq!(probed.status.code(), Some(0), "{probed:?}");
    let check = ["--engine", "builtin", "--check-config"].map(std::ffi::OsStr::new);
    let played = run(&[&check[..], &["--book".as_ref(), book.as_os_str()]].concat());
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(text.contains("opens: ChessBase"), "{text}");
    assert_eq!(played.status.code(), Some(0));
    // A home folder is known where no shell has put it in.
    starter(home.path());
    let set = ["--set", "Book File=~/book.ctg"].map(std::ffi::OsStr::new);
    let played = run(&[&check[..], &set[..]].concat());
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(text.contains("opens: ChessBase"), "{text}");
    let config = home.path().join("x.toml");
    fs::write(
        &config,
        "default = \"builtin\"\n[book]\nfile = [\"~/book.ctg\"]\n",
    )
    .unwrap();
    let named = [
        "--check-config".as_ref(),
        "--config".as_ref(),
        config.as_os_str(),
    ];
    let text = String::from_utf8_lossy(&run(&named).stdout).into_owned();
    assert!(text.contains("opens: ChessBase"), "{text}");
}

#[cfg(unix)]
#[test]
fn the_check_of_a_configuration_starts_what_would_play() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    script(
        "quick-engine",
        "read a; echo id name Quick; echo uciok; read b",
    );
    script("mute-engine", "exec /bin/sleep 600");
    let check = |config: &str| {
        let path = folder.path().join("engines.toml");
        fs::write(&path, config).unwrap();
        let output = Command::new(TABIA)
            .arg("--check-config")
            .arg("--config")
            .arg(&path)
            .env("PATH", folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let mute = "[engine.mute]\ncommand = \"mute-engine\"\nstart_timeout_ms = 300\n";
    let (code, text) = check(&format!(
        "default = [\"gone\", \"mute\", \"quick-engine\"]\n\
        [engine.gone]\ncommand = \"./gone\"\n{mute}"
    ));
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("does not answer: no \"uciok\" within 300 ms"),
        "{text}"
    );
    assert!(text.contains("answers: Quick, uciok after"), "{text}");
    assert!(text.ends_with("\nquick-engine would play\n"), "{text}");
    let (code, text) = check(&format!("default = [\"mute\"]\n{mute}"));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no engine would play"), "{text}");
    let (code, text) = check("default = [\"builtin\"]\n[book]\nfile = [\"none.ctg\"]\n");
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("builtin would play, but a book does not open"),
        "{text}"
    );
}
