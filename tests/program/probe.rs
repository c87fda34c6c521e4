//! Positions and moves as users type them, and the output for them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::Command;

use crate::common::adapter::Adapter;
use crate::common::{Folder, Ran, SIMPLE, STARTER, assert_has, command, copy};

#[test]
fn a_learn_value_has_the_same_sign_in_all_commands() {
    let folder = Folder::with(STARTER);
    folder.done("mark book.ctg --move e4 --factor 40");
    let found = folder.tabia("probe book.ctg --json").json();
    let moves = found["moves"].as_array().unwrap();
    let e4 = moves.iter().find(|mv| mv["uci"] == "e2e4").unwrap();
    assert_eq!(e4["learn_value"], 40);
    let table = folder.tabia("probe book.ctg --explain").printed();
    assert!(
        table
            .lines()
            .any(|row| row.starts_with("e4 ") && row.contains(" +40 "))
    );
    assert_has(&table, "stored: recommendation 00, learn value -40");
    folder.done("convert book.ctg book.csv");
    let csv = folder.text("book.csv");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1,e2e4,";
    let row = csv.lines().find(|row| row.starts_with(start)).unwrap();
    assert_eq!(row.split(',').nth(13), Some("40"), "{row}");
    copy(STARTER, &folder.join("old.ctg"));
    let diff = folder.tabia("diff old.ctg book.ctg --json");
    assert_has(&diff.out(), "\"learn_value\":[0,40]");
}

#[test]
fn all_commands_accept_the_same_move_notations() {
    let folder = Folder::with(STARTER);
    let wanted = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4";
    for moves in [
        "1.e4 e5 2.Nf3 Nc6 3.Bc4 Nf6 4.0-0",
        "1. e4! e5 2. Sf3 Sc6 3. Lc4 Sf6 4. O-O",
        "e4 e5 Cf3 Cc6 Ac4 Cf6 e1h1",
        "1.e4 e5 2.♘f3 ♞c6 3.♗c4 ♞f6 4.e1g1",
        "1.e4 e5 2.Кf3 Кc6 3.Сc4 Кf6 4.0-0",
        "1.e4 {a comment} e5 (1...c5 2.Nf3) 2.Nf3 $1 Nc6 3.Fc4 Cf6 4.0-0",
    ] {
        let found = folder
            .tabia(&["probe", "book.ctg", "--json", "--moves", moves])
            .json();
        assert_eq!(found["fen"], wanted, "{moves}");
        let tree = folder
            .tabia(&["tree", "book.ctg", "--json", "--moves", moves])
            .json();
        assert_eq!(tree["fen"], wanted, "{moves}");
        folder.done(&["mark", "book.ctg", "--dry-run", "--line", moves, "main"]);
    }
    let passed = folder
        .tabia(&["probe", "book.ctg", "--json", "--moves", "1.d4 Nf6 2.-- d5"])
        .json();
    assert_eq!(passed["in_book"], true);
}

#[test]
fn all_commands_accept_the_same_fens() {
    let folder = Folder::with(STARTER);
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
        let found = folder.tabia(&["probe", "book.ctg", &fen, "--json"]).json();
        assert_eq!(found["fen"], format!("{four} 0 1"), "{fen}");
        let tree = folder.tabia(&["tree", "book.ctg", &fen, "--json"]).json();
        assert_eq!(tree["fen"], format!("{four} 0 1"), "{fen}");
        folder.done(&[
            "mark", "book.ctg", "-n", "--fen", &fen, "--move", "Nf6", "main",
        ]);
    }
    for fen in ["8/8 w", "hello", "8/8/8/8/8/8/8/8 w - - 0 1"] {
        let one = folder.tabia(&["probe", "book.ctg", fen]).ends(2);
        let reason = one.trim_start_matches("tabia: ").trim_end();
        let mark = ["mark", "book.ctg", "--fen", fen, "--move", "e4", "main"];
        folder.tabia(&mark).refused(reason);
    }
}

#[test]
fn misplaced_arguments_get_a_suggestion() {
    let folder = Folder::with(STARTER);
    for (arguments, hint) in [
        ("main.ctg", "tabia --book main.ctg"),
        ("main.bin", "tabia probe main.bin"),
        ("games.pgn", "tabia build -o BOOK.ctg games.pgn"),
        ("e4", "tabia probe BOOK --moves \"e4\""),
        ("sh", "tabia --engine sh"),
        ("prob book.ctg", "'tabia probe'"),
        ("mark book.ctg e4 main", "--move e4"),
        (
            "probe book.ctg --set 'Book Varety=0'",
            "did you mean \"Book Variety\"",
        ),
    ] {
        folder.tabia(arguments).refused(hint);
    }
    folder
        .tabia("--set 'Book Varety=0' --engine builtin --check-config")
        .ends_with(2, "did you mean \"Book Variety\"");
}

#[test]
fn colour_names_are_accepted_in_any_case_and_as_letters() {
    let folder = Folder::with(STARTER);
    for colour in ["w", "W", "white", "White", "WHITE"] {
        folder.done(&format!(
            "mark book.ctg -n --line '1.e4 c5' --colour {colour} main"
        ));
    }
    folder.put(
        "games.pgn",
        "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n",
    );
    for colour in ["b", "Black"] {
        folder.done(&format!(
            "games games.pgn -o {colour}.pgn --player B --as {colour}"
        ));
    }
}

#[cfg(unix)]
#[test]
fn book_paths_with_home_and_special_characters_are_found() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let home = Folder::new();
    let odd = home.join(OsStr::from_bytes(b"b\xfccher\xff"));
    fs::create_dir(&odd).unwrap();
    copy(STARTER, &odd.join("book.ctg"));
    let run = |arguments: &[&OsStr]| {
        let ran = Ran::of(command(arguments).env("HOME", &*home));
        ran.printed()
    };
    let book = odd.join("book.ctg").into_os_string();
    run(&["probe".as_ref(), &book]);
    let check = ["--engine", "builtin", "--check-config"].map(OsStr::new);
    let played = run(&[&check[..], &["--book".as_ref(), &book]].concat());
    assert_has(&played, "opens: ChessBase");
    // The home folder is known even if the environment does not name it.
    copy(STARTER, &home.join("book.ctg"));
    let set = ["--set", "Book File=~/book.ctg"].map(OsStr::new);
    assert_has(&run(&[&check[..], &set[..]].concat()), "opens: ChessBase");
    let config = "default = \"builtin\"\n[book]\nfile = [\"~/book.ctg\"]\n";
    let config = home.put("x.toml", config).into_os_string();
    let named = ["--check-config".as_ref(), "--config".as_ref(), &*config];
    assert_has(&run(&named), "opens: ChessBase");
}

#[cfg(unix)]
#[test]
fn check_starts_the_engines_of_the_configuration() {
    let folder = Folder::new();
    // A separate process writes the script: if this one did, processes started by other
    // threads could still have the file open for writing.
    let script = |name: &str, text: &str| {
        let write = "printf '#!/bin/sh\n%s\n' \"$1\" >\"$0\"; chmod +x \"$0\"";
        let mut sh = Command::new("sh");
        sh.args(["-c", write, name, text]).current_dir(&folder);
        Ran::of(&mut sh).ok();
    };
    script(
        "quick-engine",
        "read a; echo id name Quick; echo option name Hash type spin default 1 min 1 max 64
        echo uciok; while read b; do case $b in *9) exit 7;; is*) echo readyok;; esac; done",
    );
    script("mute-engine", "exec /bin/sleep 600");
    let check = |config: &str, code: i32| {
        folder.put("engines.toml", config);
        let mut check = command("--check-config --config engines.toml");
        let ran = Ran::of(check.env("PATH", &*folder).current_dir(&folder));
        ran.ends(code);
        ran.out()
    };
    let mute = "[engine.mute]\ncommand = \"mute-engine\"\nstart_timeout_ms = 300\n";
    let three = "default = [\"gone\", \"mute\", \"quick-engine\"]\n\
        [engine.gone]\ncommand = \"./gone\"\n";
    let text = check(&format!("{three}{mute}"), 0);
    assert_has(&text, "does not answer: no \"uciok\" within 300 ms");
    assert_has(&text, "answers: Quick, uciok after");
    assert!(text.ends_with("\nquick-engine would play\n"), "{text}");
    let text = check(&format!("default = [\"mute\"]\n{mute}"), 2);
    assert_has(&text, "no engine would play");
    let text = check(
        "default = [\"builtin\"]\n[book]\nfile = [\"none.ctg\"]\n",
        2,
    );
    assert_has(&text, "builtin would play, but a book does not open");
    // Its options are compared with its declarations, and tested.
    let with = |options: &str, code: i32| {
        let config = "default = [\"quick-engine\", \"builtin\"]\n";
        let table = "[engine.quick-engine.options]\n";
        check(&format!("{config}{table}{options}"), code)
    };
    let text = with("hash = 64\n", 0);
    assert!(text.ends_with("\nquick-engine would play\n"), "{text}");
    let text = with("Hash = 65\n", 2);
    let wrong = "Hash = 65: wrong, the engine's option \"Hash\" takes a whole number from 1 to 64";
    assert_has(&text, wrong);
    assert_has(&text, "quick-engine would play, but an option is wrong");
    let text = with("Hash = \"two\"\nHsh = 3\n", 2);
    assert_has(
        &text,
        "the engine has no option \"Hsh\" (did you mean \"Hash\"?)",
    );
    assert_has(&text, "quick-engine would play, but 2 options are wrong");
    // It accepts the value and dies.
    let text = with("Hash = 9\n", 2);
    assert_has(&text, "it ended by itself (exit status: 7)");
    assert_has(&text, "but it is not ready with its options");
    // A wrong option of the replacement engine is an error, too.
    let second = "[engine.builtin]\ncommand = \"builtin\"\n[engine.builtin.options]\nHush = 3\n";
    let text = with(&format!("Hash = 8\n{second}"), 2);
    assert_has(&text, "Hush = 3: wrong");
    assert_has(&text, "another engine has invalid options");
}

#[cfg(unix)]
#[test]
fn options_of_the_command_line_need_not_exist_in_every_engine() {
    let folder = Folder::new();
    let config = folder.put("engines.toml", "default = [\"builtin\", \"other\"]\n");
    let config = config.display();
    let check = format!("--config {config} --check-config --set");
    let text = folder.tabia(&format!("{check} Hash=32")).printed();
    assert_has(&text, "\nbuiltin would play\n");
    let ran = folder.tabia(&format!("{check} Hush=32"));
    ran.ends(2);
    assert_has(&ran.out(), "(did you mean \"Hash\"?)");
}

/// The starter book with its first 300 of 864 pages. These contain some positions after
/// the start position, but not the start position. With `in_header` the header has the
/// number of these pages.
fn first_pages(folder: &Folder, in_header: bool) {
    copy(STARTER, &folder.join("book.ctg"));
    let mut pages = fs::read(folder.join("book.ctg")).unwrap();
    pages.truncate(301 * 4096);
    if in_header {
        pages[16..20].copy_from_slice(&300_u32.to_be_bytes());
    }
    fs::write(folder.join("book.ctg"), pages).unwrap();
}

/// All commands show the same rest of a book, and the adapter plays it.
#[test]
fn readable_parts_of_a_damaged_book_are_played() {
    for (in_header, message) in [(false, "seems to be cut off"), (true, "of a larger book")] {
        let folder = Folder::new();
        first_pages(&folder, in_header);
        let probed = folder.tabia("probe book.ctg --json");
        // The played move is found by transposition.
        assert_has(&probed.ends(1), message);
        let probed: serde_json::Value = serde_json::from_str(&probed.out()).unwrap();
        let best = probed["moves"][0]["uci"].as_str().unwrap().to_owned();
        let info = folder.tabia("info book.ctg").printed();
        assert_has(&info, message);
        let checked = folder
            .tabia("--check-config --engine builtin --book book.ctg")
            .printed();
        assert_has(&checked, message);
        assert_has(&checked, &format!("start position: {best} "));
        assert!(!checked.contains("whole book is read"), "{checked}");
        let mut adapter = Adapter::of_book(&folder.join("book.ctg"), &[]);
        adapter.assert_received(message);
        let played = adapter.best("position startpos");
        assert_eq!(played, format!("bestmove {best}"));
        adapter.assert_received("info string book book.ctg:");
        assert!(adapter.quit().success());
    }
}

/// The output of a check of this configuration in a folder with two books.
fn check_in(folder: &Folder, config: &str, code: i32) -> String {
    copy(STARTER, &folder.join("main.ctg"));
    copy(SIMPLE, &folder.join("other.ctg"));
    folder.put("engines.toml", format!("default = [\"builtin\"]\n{config}"));
    let ran = folder.tabia("check --config engines.toml");
    ran.ends(code);
    ran.out()
}

#[test]
fn check_says_in_which_games_which_book_answers() {
    let folder = Folder::new();
    let main = "[[books]]\nfile = \"main.ctg\"\n";
    let other = "[[books]]\nfile = \"other.ctg\"\n";
    let rated = "opponent = \"GM|Smith*\"\nelo = \"2200..2500\"\n";
    let text = check_in(
        &folder,
        &format!("{main}{rated}{other}time_control = \"blitz\"\n"),
        0,
    );
    assert_has(
        &text,
        "\n  games with opponent GM|Smith*, elo 2200..2500: d2d4 ",
    );
    assert_has(&text, "\n  games with time_control blitz: e2e4 50%, ");
    assert_has(&text, "\n  other games: the engine's, no book has one\n");
    assert_has(
        &text,
        "\nfirst move: in other games the engine's, no book has one\n",
    );
    let text = check_in(&folder, &format!("{main}{rated}{other}"), 0);
    assert_has(&text, "main.ctg)\n  other games: e2e4 50%");
    let text = check_in(&folder, &format!("{other}colour = \"black\"\n"), 0);
    assert_has(&text, "first moves of White: ");
    assert_has(&text, "other.ctg is for Black\n");
}

#[test]
fn check_fails_if_no_book_answers_in_any_game() {
    let folder = Folder::new();
    let main = "[[books]]\nfile = \"main.ctg\"\n";
    for (config, part) in [
        (
            format!("[book]\nown_book = false\n{main}"),
            "OwnBook is off",
        ),
        (
            "[book]\nfile = \"<empty>\"\n".to_owned(),
            "Book File is empty",
        ),
        (
            format!("{main}opponent = \"GM\"\ndepth = 0\n"),
            "Book Depth is 0",
        ),
        (format!("{main}minimum_games = 1000000\n"), "too few games"),
    ] {
        let text = check_in(&folder, &config, 2);
        assert_has(&text, part);
        assert_has(
            &text,
            "\nbuiltin would play, but no book answers in any game\n",
        );
    }
}

#[test]
fn check_tries_the_values_at_which_a_book_stops() {
    let folder = Folder::new();
    let exits = |below: i32, above: i32| {
        format!("[[books]]\nfile = \"main.ctg\"\nexit_below = {below}\nexit_above = {above}\n")
    };
    let text = check_in(&folder, &exits(-100, 200), 0);
    assert_has(&text, "acts only after the engine has searched");
    let text = check_in(&folder, &exits(100, -100), 2);
    assert_has(&text, "but Book Exit Below is above Book Exit Above\n");
    let text = check_in(
        &folder,
        &format!("{}evaluations = \"missing.evals\"\n", exits(-100, 200)),
        2,
    );
    assert_has(&text, "no evaluations: there is no file missing.evals");
    assert_has(
        &text,
        "but a file cannot be used (no evaluations: there is no file missing.evals)\n",
    );
}

#[test]
fn check_tries_the_files_of_the_command_line() {
    let folder = Folder::new();
    let check = "check --engine builtin";
    folder
        .tabia(&format!("{check} --games new.csv --log new.log"))
        .ok();
    assert!(!folder.join("new.csv").exists() && !folder.join("new.log").exists());
    let ran = folder.tabia(&format!("{check} --games no/new.csv --log no/new.log"));
    ran.ends(2);
    assert_has(&ran.out(), "but 2 files cannot be used (no/new.csv: ");
    folder.put("seeds.txt", "1\ntwo\n3\n");
    let seeds = "--set 'Book Seed File=seeds.txt'";
    let text = folder.tabia(&format!("{check} {seeds}")).printed();
    assert_has(
        &text,
        "seeds seeds.txt: 2 seeds, 0 taken\n    note: seeds.txt: line 2 skipped",
    );
    assert!(!folder.join("seeds.txt.taken").exists());
}

#[test]
fn check_reports_a_book_without_moves() {
    let folder = Folder::new();
    first_pages(&folder, false);
    let mut pages = fs::read(folder.join("book.ctg")).unwrap();
    pages.truncate(2 * 4096);
    fs::write(folder.join("book.ctg"), pages).unwrap();
    let checked = folder.tabia("--check-config --engine builtin --book book.ctg");
    checked.ends(2);
    assert_has(&checked.out(), "start position: not in the book");
    assert_has(
        &checked.out(),
        "builtin would play, but a book answers nothing",
    );
    let probed = folder.tabia("probe book.ctg");
    assert_has(&probed.ends(1), "cut off");
}

/// Of each move the games in which it was played here, and those that reach the position
/// after it, are told apart where the file knows both.
#[test]
fn games_with_a_move_and_games_that_reach_the_next_position_are_told_apart() {
    let folder = Folder::new();
    let games = [
        "1. d4 Nf6 2. c4 e6 1-0",
        "1. d4 Nf6 2. c4 1/2-1/2",
        "1. d4 Nf6 2. Nf3 0-1",
        "1. c4 Nf6 2. d4 e6 0-1",
        "1. c4 Nf6 2. d4 g6 1-0",
        "1. c4 Nf6 2. d4 1-0",
    ];
    let games = games.map(|moves| {
        let result = moves.rsplit(' ').next().unwrap();
        format!("[Result \"{result}\"]\n\n{moves}\n\n")
    });
    folder.put("games.pgn", games.concat());
    folder.done("index games.pgn -o games.tgx");
    folder.done("build games.pgn -o book.ctg");
    let counts = |book: &str| {
        let found = folder.probe(book, "d4 Nf6")["moves"].take();
        let found = found.as_array().unwrap().iter();
        let number = |mv: &serde_json::Value, name: &str| mv.get(name).map(|n| n.as_u64().unwrap());
        let row = |mv| ["games", "played", "reached"].map(|name| number(mv, name));
        found
            .map(|mv| (mv["san"].as_str().unwrap().to_owned(), row(mv)))
            .collect::<Vec<_>>()
    };
    // An index does not have the last position of a game: one that ends there by the other
    // order is missing.
    let (c4, nf3) = ("c4".to_owned(), "Nf3".to_owned());
    let all = [
        (c4.clone(), [Some(2), Some(2), Some(3)]),
        (nf3.clone(), [Some(1), Some(1), Some(1)]),
    ];
    assert_eq!(counts("games.tgx"), all);
    let all = [
        (c4, [Some(5), None, Some(5)]),
        (nf3, [Some(1), None, Some(1)]),
    ];
    assert_eq!(counts("book.ctg"), all);
    folder.done("convert book.ctg book.bin");
    for (_, [_, played, reached]) in counts("book.bin") {
        assert_eq!((played, reached), (None, None));
    }
    let rows = |arguments: &str| folder.tabia(&format!("probe {arguments}")).printed();
    let both = rows("games.tgx --moves 'd4 Nf6'");
    let heading = both.lines().find(|line| line.starts_with("move")).unwrap();
    let names: Vec<&str> = heading.split_whitespace().collect();
    assert_eq!(names.get(..4).unwrap(), ["move", "games", "reach", "%"]);
    for same in ["games.tgx", "book.ctg --moves 'd4 Nf6'"] {
        assert!(!rows(same).contains("reach"), "{same}");
    }
}
