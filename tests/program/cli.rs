//! Commands that print a result and end: texts, exit codes, bad input.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::Stdio;

use crate::common::{
    Folder, Ran, SIMPLE, SMALL, STARTER, assert_has, command, copy, project, tabia,
};
use serde_json::{Value, json};

/// The output of a command for the genuine book.
fn simple(command: &str, options: &str) -> Ran {
    tabia(&format!("{command} {SIMPLE} {options}"))
}

#[test]
fn probe_shows_the_moves_of_the_genuine_book() {
    let text = simple("probe", "").printed();
    for line in [
        "2 games: white to move won 0, drew 0, lost 0",
        "e4              1      -     -     -     0 -       50.0%",
        "d4              1      -     -     -     0 -       50.0%",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn probe_json_has_every_field() {
    let mut found = simple("probe", "--json --moves d2d4").json();
    let mut mv = found["moves"][0].take();
    let expected = json!({
        "fen": "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
        "in_book": true, "games": 1, "wins": 0, "draws": 0, "losses": 0, "commentary": 0,
    });
    let expected_of_move = json!({
        "uci": "d7d5", "san": "d5", "games": 1, "wins": 0, "draws": 0, "losses": 0,
        "score": null, "average_elo": null, "performance": null,
        "recommendation": 0, "mark": "none", "annotation": "", "commentary": 0,
        "learn_value": 0, "factor": 0, "transposition": false, "probability": 1.0,
    });
    for (found, expected) in [(&mut found, expected), (&mut mv, expected_of_move)] {
        // There may be more fields.
        let found = found.as_object_mut().unwrap();
        found.retain(|field, _| expected.get(field).is_some());
        assert_eq!(Value::Object(found.clone()), expected);
    }
}

#[test]
fn probe_answers_each_line_with_one_line() {
    let fens = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\r\n\
                8/8/8/8/8/8/8/K1k5 w - -\n\
                rubbish\n\
                rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let mut probe = command(&["probe", SIMPLE, "--json", "-"]);
    let ran = Ran::with_input(&mut probe, fens.as_bytes());
    ran.ends_with(2, "line 3");
    let out = ran.out();
    let answers = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let answers: Vec<Value> = answers.collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0]["games"], 2);
    assert_eq!(answers[1]["in_book"], false);
    assert!(answers[2]["error"].as_str().unwrap().contains("rubbish"));
    assert_eq!(answers[3]["in_book"], true);
    // As text, and without the line that is not a position.
    let fens: Vec<&str> = fens.lines().filter(|line| *line != "rubbish").collect();
    let mut probe = command(&["probe", SIMPLE, "-"]);
    let text = Ran::with_input(&mut probe, fens.join("\n").as_bytes()).negative();
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn probe_of_a_position_not_in_the_book_is_a_negative_answer() {
    let printed = simple("probe", "--moves a2a3").negative();
    assert_has(&printed, "not in the book");
}

#[test]
fn probe_explains_every_byte() {
    let text = simple("probe", "--explain").out();
    for part in [
        "key 56b60f7960f3a60f58b078e0c1e1a60f5960f3b60f7f",
        "hash eb7ed3d7",
        "slot 0: page 0",
        "page 0, byte 60 of it, byte 4156 of the file, 60 bytes",
        "move byte 5f, annotation e0: e4",
    ] {
        assert_has(&text, part);
    }
}

#[test]
fn info_counts_positions_moves_and_marks() {
    let info = simple("info", "--json").json();
    for (field, value) in [
        ("games", 1),
        ("positions", 4),
        ("moves", 3),
        ("pages", 1),
        ("bytes", 8192),
        ("largest_page_bytes", 234),
        ("lower_bound", 0),
        ("upper_bound", 0),
        ("slots", 1),
    ] {
        assert_eq!(info[field], value, "{field}");
    }
    assert_eq!(info["format"], "ctg");
    assert_has(&simple("info", "").out(), "problems      none seen");
}

#[test]
fn errors_are_one_line_and_exit_code_2() {
    let folder = Folder::new();
    folder.put("bad.toml", "[book]\n\nvarity = 3\n");
    copy(SIMPLE, &folder.join("simple.ctg"));
    for (arguments, message) in [
        ("info /nowhere/x.ctg", "/nowhere/x.ctg"),
        ("info /", "not a regular file"),
        ("probe bad.toml", "not an opening book"),
        ("probe simple.ctg not a fen", "not a fen"),
        ("probe simple.ctg --moves e2e5", "e2e5"),
        ("probe simple.ctg --set 'Book Variety=300'", "from 0 to 100"),
        (
            "--config bad.toml",
            "bad.toml: line 3: unknown key \"varity\"",
        ),
        ("--config /nowhere/engines.toml", "/nowhere/engines.toml"),
        ("--engine komodo", "komodo"),
        ("--set nothing", "NAME=VALUE"),
    ] {
        let ran = folder.tabia(arguments);
        let text = ran.refused(message);
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        assert_eq!(ran.out(), "", "{arguments}");
    }
}

#[test]
fn check_config_shows_what_would_be_used() {
    let text = tabia("--config engines.toml --check-config --set 'Book Variety=7'").printed();
    for part in [
        "configuration: engines.toml",
        "engine stockfish",
        "engine builtin",
        "start timeout: 8000 ms",
        "Book Variety = 7",
        "book <starter>",
    ] {
        assert_has(&text, part);
    }
}

#[test]
fn every_command_has_help() {
    assert!(tabia("--help").out().contains("Exit codes"));
    for command in ["play", "info", "probe", "check-engine", "engine"] {
        assert_has(&tabia(&[command, "--help"]).printed(), "Usage:");
    }
    for wrong in ["--no-such-thing", "no-such-command", "probe"] {
        tabia(wrong).ends(2);
    }
}

#[cfg(unix)]
#[test]
fn a_closed_output_ends_with_code_0_and_no_message() {
    let sample = project("tests/data/sample.pgn");
    let sample = sample.display().to_string();
    for arguments in [
        &["probe", SIMPLE, "--explain"][..],
        &["tree", STARTER],
        &["diff", SIMPLE, STARTER],
        &["games", &sample, "-o", "-", "-q"],
        &["review", &sample, "--book", STARTER],
    ] {
        let mut program = command(arguments);
        let pipes = program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(messages, "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}

#[test]
fn probe_takes_the_game_into_account_as_the_adapter_does() {
    let probability_in = |book: &str, options: &str| -> (f64, String) {
        let json = tabia(&format!("probe {book} --json {options}")).json();
        let moves = json["moves"].as_array().unwrap();
        let sum = moves.iter().map(|mv| mv["probability"].as_f64().unwrap());
        let reason = moves[0]["not_played"].as_str().unwrap_or_default();
        (sum.sum(), reason.to_owned())
    };
    let probability = |options: &str| probability_in(STARTER, options);
    let played = |(sum, _): &(f64, String)| (sum - 1.0).abs() < 1e-9;
    assert!(played(&probability("")));
    let late = probability("--set 'Book Depth=1' --moves 'e2e4 e7e5'");
    assert_eq!(late, (0.0, "past Book Depth".to_owned()));
    assert!(played(&probability("--set 'Book Leave Early=3'")));
    // Its longest line is 1. d4 d5.
    let early = probability_in(SIMPLE, "--set 'Book Leave Early=1'");
    assert_eq!(early, (0.0, "line ends too soon".to_owned()));
    simple("probe", "--set 'Book Info=none'").ends(2);
}

#[test]
fn probe_explains_in_json_too() {
    let found = simple("probe", "--json --explain").json();
    assert_has(found["explanation"].as_str().unwrap(), "hash eb7ed3d7");
}

#[cfg(unix)]
#[test]
fn setup_takes_each_book_once_and_no_damaged_one() {
    let folder = Folder::with(SMALL);
    let book = fs::read(folder.join("book.ctg")).unwrap();
    for name in ["a", "b", "c"] {
        fs::create_dir(folder.join(name)).unwrap();
        copy(SMALL, &folder.join(name).join("same.ctg"));
    }
    fs::hard_link(folder.join("book.ctg"), folder.join("linked.ctg")).unwrap();
    folder.put("cut.ctg", &book[..20 * 4096]);
    let mut damaged = book.clone();
    damaged[30 * 4096..][..8].fill(0xff);
    copy(SMALL, &folder.join("damaged.ctg"));
    folder.put("damaged.ctg", damaged);
    folder.done("convert book.ctg sound.bin");
    // Of books with the same name in a folder the .ctg is used.
    folder.done("convert book.ctg a/same.bin --keep-never --weights games");
    // Books with only a few positions are tests or leftovers.
    copy(SIMPLE, &folder.join("tiny.ctg"));
    let mut bin = fs::read(folder.join("sound.bin")).unwrap();
    bin.truncate(bin.len() - 5);
    folder.put("cut.bin", bin);
    let shown = at_home(&folder, "setup --dry-run --folder .").printed();
    let entered = shown.lines().filter(|line| line.starts_with("+file = "));
    let entered: Vec<&str> = entered.collect();
    assert_eq!(entered.len(), 2, "{shown}");
    assert_has(entered[0], "same.ctg\"");
    assert_has(entered[1], "sound.bin\"");
    for part in [
        "linked.ctg: a copy of ",
        "a/same.bin: another format of ",
        "tiny.ctg: it has fewer than 10 positions or moves",
        "cut.ctg: it is damaged: only 19 of 85 pages exist",
        "damaged.ctg: it is damaged: a page cannot be read to its end",
        "cut.bin: it is damaged: the last entry is incomplete",
    ] {
        assert_has(&shown, part);
    }
}

/// Uses a folder as the home folder.
#[cfg(unix)]
fn at_home(folder: &Folder, arguments: &str) -> Ran {
    let mut command = folder.command(arguments);
    command.env("HOME", folder.join("home"));
    command.env("XDG_CONFIG_HOME", folder.join("home/.config"));
    Ran::of(&mut command)
}

#[cfg(unix)]
#[test]
fn register_remove_restores_the_file() {
    let folder = Folder::with(SMALL);
    for (program, before) in [
        ("cutechess", "[{\"name\": \"A\", \"command\": \"a\"}]"),
        ("banksia", "[]"),
        ("pychess", "[]"),
        ("nibbler", "{}"),
        ("gnome-chess", "[A]\nprotocol=uci\nbinary=a\n"),
        ("en-croissant", "[]"),
    ] {
        let file = folder.put(&format!("{program}.file"), before);
        let run = |options: &str| {
            let arguments = format!("register {program} --config-file {program}.file {options}");
            at_home(&folder, &arguments).ok()
        };
        run("--engine builtin --book book.ctg");
        let with = fs::read_to_string(&file).unwrap();
        assert_ne!(with, before);
        run("--remove --dry-run");
        assert_eq!(fs::read_to_string(&file).unwrap(), with);
        run("--remove");
        let without = fs::read_to_string(&file).unwrap();
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        assert_eq!(value(&without), value(before), "{program}");
        assert!(!without.to_lowercase().contains("tabia"), "{without}");
        assert_has(&run("--remove"), "nothing to change");
        let other =
            format!("register {program} --config-file {program}.file --remove --name Other");
        assert_has(&at_home(&folder, &other).ok(), "nothing to change");
    }
    // The script that passes arguments for Cute Chess.
    assert!(!folder.join("home/.config/tabia").exists());
    at_home(&folder, "register arena --remove").refused("nothing was written for this program");
}

/// PyChess's two files in any form, and Nibbler's list, are byte for byte what they were.
#[cfg(target_os = "linux")]
#[test]
fn register_remove_restores_every_byte() {
    let lists = [
        None,
        Some("[]"),
        Some(""),
        Some("[{\"name\":\"x\",\"command\":\"/bin/x\"}]\n"),
        Some("[\r\n\t{\"name\": \"x\", \"command\": \"/bin/x\"}\r\n]\r\n"),
        Some("[{\"name\":\"Tabia\",\"command\":\"/other/tabia\",\"args\":[\"--mine\"]}]"),
    ];
    let settings = [
        None,
        Some(""),
        Some("[General]\nbook_depth_max=10\n"),
        Some("[General]\nbook_depth_max: 10\n"),
        Some("[General]\nBook_Depth_Max = 10\n"),
        Some("[General]\nbook_depth_max = 10"),
        Some("[General]\r\nbook_depth_max = 0\r\n"),
        Some("\u{feff}[General]\nbook_depth_max = 10\n"),
        Some("[Other]\nx = 1"),
        Some("not a section"),
    ];
    let nibbler = format!(
        "{{{:?}: {{\"args\": [\"--x\"], \"options\": {{\"MultiPV\": 5}}}}}}",
        crate::common::TABIA
    );
    let pychess = lists
        .into_iter()
        .flat_map(|list| settings.map(|settings| ("pychess", "pychess", list, settings)));
    let nibbler = [None, Some(""), Some("{}"), Some(&*nibbler)]
        .map(|list| ("nibbler", "Nibbler", list, None));
    for (program, own, list, settings) in pychess.chain(nibbler) {
        let folder = Folder::new();
        let at = format!("home/.config/{own}");
        fs::create_dir_all(folder.join(&at)).unwrap();
        let files = [("engines.json", list), ("config", settings)];
        for (name, text) in files {
            if let Some(text) = text {
                folder.put(&format!("{at}/{name}"), text);
            }
        }
        let are_as_before = |after: &str| {
            for (name, text) in files {
                let now = fs::read_to_string(folder.join(format!("{at}/{name}"))).ok();
                assert_eq!(
                    now.as_deref(),
                    text,
                    "{name} {after}: {list:?} {settings:?}"
                );
            }
        };
        at_home(&folder, &format!("register {program} --remove")).ok();
        if list.is_none_or(|list| !list.to_lowercase().contains("tabia")) {
            are_as_before("without an engine of ours");
        } else {
            folder.put(&format!("{at}/engines.json"), list.unwrap());
        }
        at_home(&folder, &format!("register {program}")).ok();
        // Another one, taken away first or last.
        if program == "pychess" {
            at_home(&folder, "register pychess --name Second").ok();
            at_home(&folder, "register pychess --name Second --remove").ok();
            assert_has(&folder.text(&format!("{at}/config")), "book_depth_max = 0");
        }
        at_home(&folder, &format!("register {program} --remove")).ok();
        are_as_before("with it");
        // What was there before is not ours to remove.
        at_home(&folder, &format!("register {program} --remove")).ok();
        are_as_before("removed twice");
        // In the order in which they came.
        if program == "pychess" && list.is_none() {
            at_home(&folder, "register pychess").ok();
            at_home(&folder, "register pychess --name Second").ok();
            at_home(&folder, "register pychess --remove").ok();
            at_home(&folder, "register pychess --name Second --remove").ok();
            are_as_before("in order");
            assert!(!folder.join("home/.config/tabia").exists());
        }
    }
}

/// Of two engines the first was changed later.
#[cfg(target_os = "linux")]
#[test]
fn register_remove_restores_every_byte_after_a_change() {
    for (program, before) in [
        ("cutechess", "[{\"name\": \"A\", \"command\": \"a\"}]"),
        ("cutechess", "[ ]"),
        ("cutechess", ""),
        ("gnome-chess", "[A]\nbinary=a"),
    ] {
        let folder = Folder::new();
        folder.put("list", before);
        for options in ["X", "Y", "X --engine builtin", "X --remove", "Y --remove"] {
            let register = format!("register {program} --config-file list --name {options}");
            at_home(&folder, &register).ok();
        }
        assert_eq!(folder.text("list"), before, "{program}");
        assert!(!folder.join("home/.config/tabia").exists());
    }
}

/// A file that cannot be changed is found before another one is.
#[cfg(target_os = "linux")]
#[test]
fn register_changes_all_files_or_none() {
    for (program, file) in [
        ("cutechess", "engines.json"),
        ("pychess", "engines.json"),
        ("pychess", "config"),
    ] {
        let folder = Folder::new();
        let at = folder.join("home/.config").join(program);
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join(file), if file == "config" { "" } else { "[]" }).unwrap();
        let read_only = |is: bool| {
            let mut permissions = fs::metadata(at.join(file)).unwrap().permissions();
            permissions.set_readonly(is);
            fs::set_permissions(at.join(file), permissions).unwrap();
        };
        read_only(true);
        let register = format!("register {program} --engine builtin");
        at_home(&folder, &register).refused("is read-only: it is as it was");
        assert_eq!(crate::common::names(&at), [file]);
        let others = crate::common::names(&folder.join("home/.config"));
        assert_eq!(others, [program]);
        // Nor does --remove: it can be tried again.
        read_only(false);
        at_home(&folder, &register).ok();
        let all = || ["config", "engines.json"].map(|name| fs::read(at.join(name)).ok());
        let with = all();
        read_only(true);
        at_home(&folder, &format!("register {program} --remove")).refused("is read-only");
        assert_eq!(all(), with);
        read_only(false);
        at_home(&folder, &format!("register {program} --remove")).ok();
        assert_eq!(
            fs::read(at.join(file)).unwrap().len(),
            if file == "config" { 0 } else { 2 }
        );
        assert_eq!(
            crate::common::names(&folder.join("home/.config")),
            [program]
        );
    }
    let folder = Folder::new();
    let at = folder.join("home/.config/pychess");
    fs::create_dir_all(&at).unwrap();
    fs::write(at.join("config"), b"[General]\nname = J\xf6rg\n").unwrap();
    at_home(&folder, "register pychess").refused("byte 18: the text is not UTF-8");
    assert_eq!(crate::common::names(&at), ["config"]);
    assert_eq!(
        crate::common::names(&folder.join("home/.config")),
        ["pychess"]
    );
    assert_has(
        &at_home(&folder, "register pychess --remove").ok(),
        "nothing to change",
    );
}

/// Cute Chess shows only the options in its list.
#[cfg(unix)]
#[test]
fn setup_and_register_write_the_same_list_of_options() {
    let folder = Folder::new();
    let file = "home/.config/cutechess/engines.json";
    fs::create_dir_all(folder.join("home/.config/cutechess")).unwrap();
    fs::create_dir_all(folder.join("home/Chess")).unwrap();
    copy(SMALL, &folder.join("home/Chess/mine.ctg"));
    at_home(&folder, "setup --yes").ok();
    let written: Value = serde_json::from_str(&folder.text(file)).unwrap();
    let options = written[0]["options"].as_array().unwrap();
    let named = |name: &str| options.iter().find(|option| option["name"] == name);
    // The value of the new configuration: with a book.
    assert_eq!(named("Book File").unwrap()["value"], "<configured>");
    assert!(named("Book Variety").is_some(), "{options:?}");
    let messages = at_home(&folder, "register cutechess").ok();
    assert_has(&messages, "nothing to change");
    assert_eq!(
        serde_json::from_str::<Value>(&folder.text(file)).unwrap(),
        written
    );
    // `setup --remove` names what `register` has written.
    at_home(&folder, "register cutechess --name 'My own'").ok();
    let shown = at_home(&folder, "setup --remove --yes").printed();
    assert_has(
        &shown,
        "tabia register cutechess --name 'My own' --remove removes it",
    );
    assert!(!shown.contains("cutechess --remove takes"), "{shown}");
    at_home(&folder, "register cutechess --name 'My own' --remove").ok();
    let shown = at_home(&folder, "setup --remove --yes").printed();
    assert_eq!(shown, "\"tabia setup\" has not changed anything yet.\n");
}
