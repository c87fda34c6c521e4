//! `tabia setup` with homes of its own: what it asks, writes, and takes away again.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Folder, STARTER, TABIA, assert_has, copy};
use crate::shell::run_in;
use serde_json::Value;

/// All files of a folder: paths and contents; of folders only the paths.
type Files = Vec<(PathBuf, Option<Vec<u8>>)>;

fn all_below(folder: &Path) -> Files {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_below(&path));
        }
        found.push((path.clone(), fs::read(&path).ok()));
    }
    found.sort();
    found
}

#[test]
fn setup_asks_before_changes_and_can_be_undone() {
    let outer = Folder::new();
    let home = outer.join("a 'home' of \"M\u{fc}ller\"; #1");
    for folder in [".config/pychess", ".config/cutechess", "Chess books"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    let pychess = home.join(".config/pychess/engines.json");
    fs::write(&pychess, "[ {\"name\": \"Crafty\"} ]").unwrap();
    copy(STARTER, &home.join("Chess books/main.ctg"));
    fs::write(home.join("Chess books/damaged.ctg"), "no book").unwrap();
    let before = all_below(&home);

    // Without an answer nothing is written, and with --dry-run neither.
    let asked = run_in(&home, "setup");
    asked.ends(1);
    // Few lines, then the question.
    assert_has(&asked.out(), "p programs, d shows each line) [y/N] ");
    let lines: Vec<String> = asked.out().lines().map(str::to_owned).collect();
    let first = lines
        .iter()
        .position(|line| line.starts_with("Engines"))
        .unwrap();
    let question = lines
        .iter()
        .position(|line| line.starts_with("Do this?"))
        .unwrap();
    assert!(question - first <= 5, "{lines:#?}");
    run_in(&home, "setup --dry-run").ok();
    let shown = run_in(&home, "setup --dry-run --program pychess").printed();
    assert!(
        shown.contains("PyChess") && !shown.contains("Cute Chess"),
        "{shown}"
    );
    assert_eq!(all_below(&home), before);

    let text = run_in(&home, "setup --yes").printed();
    for part in [
        "main.ctg",
        "Cute Chess: Game, New: CPU, then Tabia",
        "PyChess",
        "left out: ",
        "book main.ctg: ",
    ] {
        assert_has(&text, part);
    }
    let engines = fs::read_to_string(&pychess).unwrap();
    let engines: Value = serde_json::from_str(&engines).unwrap();
    assert_eq!(engines[0]["name"], "Crafty");
    assert_eq!(engines[1]["command"], TABIA);
    let config = run_in(&home, "--check-config").out();
    assert_has(&config, ".config/tabia/engines.toml");
    assert_has(&config, "main.ctg\n    opens: ");

    let after = all_below(&home);
    let again = run_in(&home, "setup --yes").out();
    assert_has(&again, "No file needs to change.");
    assert_eq!(all_below(&home), after);
    run_in(&home, "setup --remove").ends(1);
    assert_eq!(all_below(&home), after);
    run_in(&home, "setup --remove --yes").ok();
    assert_eq!(all_below(&home), before);
    let twice = run_in(&home, "setup --remove --yes").printed();
    assert_has(&twice, "not changed anything yet");
}

/// The folder with the book is named in the first run only; Cute Chess stores what the
/// adapter announces.
#[test]
fn a_second_setup_keeps_the_books_of_the_first() {
    let outer = Folder::new();
    let home = outer.join("home");
    for folder in [".config/cutechess", "elsewhere/deep"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    fs::write(home.join(".config/cutechess/engines.json"), "[]").unwrap();
    for name in ["one", "two"] {
        copy(STARTER, &home.join(format!("elsewhere/deep/{name}.ctg")));
    }
    // Not the same book twice.
    let folder = home.join("elsewhere").display().to_string();
    run_in(
        &home,
        &format!("mark {folder}/deep/two.ctg --move e4 --learn-value 3"),
    )
    .ok();
    run_in(&home, &format!("setup --yes --folder {folder}")).ok();
    let config = home.join(".config/tabia/engines.toml");
    let text = fs::read_to_string(&config).unwrap();
    assert_eq!(text.matches("[[books]]").count(), 2, "{text}");
    let after = all_below(&home);
    assert_has(
        &run_in(&home, "setup --yes").out(),
        "No file needs to change.",
    );
    assert_eq!(all_below(&home), after);
    // One that is not there any more is taken out.
    fs::remove_file(home.join("elsewhere/deep/one.ctg")).unwrap();
    run_in(&home, "setup --yes").ok();
    let text = fs::read_to_string(&config).unwrap();
    assert_eq!(text.matches("[[books]]").count(), 1, "{text}");
    assert_has(&text, "deep/two.ctg");
}

/// A home with PyChess, Cute Chess and GNOME Chess, after `setup`, and its files before it.
fn set_up() -> (Folder, Files) {
    let home = Folder::new();
    for (folder, file, text) in [
        (
            "pychess",
            "engines.json",
            "[ {\"name\": \"Crafty\", \"command\": \"crafty\"} ]",
        ),
        ("cutechess", "engines.json", "[]\r\n"),
        (
            "gnome-chess",
            "engines.conf",
            "[Crafty]\r\nprotocol=cecp\r\nbinary=crafty",
        ),
    ] {
        fs::create_dir_all(home.join(".config").join(folder)).unwrap();
        home.put(&format!(".config/{folder}/{file}"), text);
    }
    fs::create_dir(home.join("Chess")).unwrap();
    copy(STARTER, &home.join("Chess/main.ctg"));
    let before = all_below(&home);
    run_in(&home, "setup --yes").ok();
    (home, before)
}

const CONFIGURATION: &str = ".config/tabia/engines.toml";

#[test]
fn setup_remove_keeps_what_the_user_and_the_programs_wrote() {
    let (home, _) = set_up();
    let text = home.text(CONFIGURATION).replace('\n', "\r\n");
    let mine = "[[books]]\r\nfile = \"mine.ctg\"";
    home.put(CONFIGURATION, text + mine);
    // PyChess writes its list again, in its own way and with another engine.
    let pychess = ".config/pychess/engines.json";
    let mut engines: Vec<Value> = serde_json::from_str(&home.text(pychess)).unwrap();
    engines[1]["recheck"] = false.into();
    engines.insert(0, serde_json::json!({"name": "New", "command": "new"}));
    home.put(pychess, serde_json::to_string(&engines).unwrap());
    let gnome = ".config/gnome-chess/engines.conf";
    let crafty = home
        .text(gnome)
        .replace("binary=crafty", "binary=my-crafty");
    home.put(gnome, crafty);

    let changed = all_below(&home);
    for answer in ["setup --dry-run", "setup --diff"] {
        let shown = run_in(&home, answer).out();
        assert_has(&shown, "  setup  default = ");
        assert_has(&shown, "  yours  [[books]]\n  yours  file = \"mine.ctg\"\n");
        assert_has(&shown, "  setup  [Tabia]\n  setup  # Made by Tabia.\n");
        assert!(!shown.contains("setup  binary=my-crafty"), "{shown}");
    }
    // A second setup leaves all of it alone.
    run_in(&home, "setup --yes").ok();
    for ((path, now), (_, then)) in all_below(&home).iter().zip(&changed) {
        assert!(now == then, "{}", path.display());
    }

    run_in(&home, "setup --remove --yes").ok();
    assert_eq!(home.text(CONFIGURATION), mine);
    engines.pop();
    let left: Vec<Value> = serde_json::from_str(&home.text(pychess)).unwrap();
    assert_eq!(left, engines);
    let crafty = "[Crafty]\r\nprotocol=cecp\r\nbinary=my-crafty";
    assert_eq!(home.text(gnome).trim_end(), crafty);
    assert_eq!(home.text(".config/cutechess/engines.json"), "[]\r\n");
    let twice = run_in(&home, "setup --remove").printed();
    assert_has(&twice, "not changed anything yet");
}

#[test]
fn setup_remove_reports_the_line_that_both_changed() {
    let (home, before) = set_up();
    let written = home.text(CONFIGURATION);
    let mine = written.replace("default = [", "default = [\"lc0\", ");
    home.put(CONFIGURATION, &*mine);
    let line = 1 + mine.lines().position(|line| line.contains("lc0")).unwrap();
    for round in ["first", "second"] {
        let ran = run_in(&home, "setup --remove --yes");
        ran.ends(1);
        let text = ran.out();
        assert_has(&text, &format!("engines.toml:{line}: you have changed"));
        assert_has(&text, "setup.json remembers 1 file");
        assert_eq!(home.text(CONFIGURATION), mine, "{round}");
    }
    // What the message says: the marks tell which lines to delete.
    let shown = run_in(&home, "setup --remove --dry-run").out();
    assert_has(&shown, "  gone   default = [");
    assert_has(&shown, "  yours  default = [\"lc0\", ");
    home.put(CONFIGURATION, written);
    run_in(&home, "setup --remove --yes").ok();
    assert_eq!(all_below(&home), before);
}

/// Bytes that look like nothing.
fn noise(bytes: usize, mut random: u64) -> Vec<u8> {
    let next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

/// Engines and programs keep networks and tables in files of the same name; with one of
/// them the configuration would have a book, and the starter book would not play.
#[test]
fn what_is_only_named_like_a_book_is_left_out_and_the_starter_book_plays() {
    let outer = Folder::new();
    let home = outer.join("home");
    // This folder is searched without being named, too.
    let downloads = home.join("chess");
    fs::create_dir_all(&downloads).unwrap();
    fs::write(downloads.join("network.bin"), noise(1 << 16, 1)).unwrap();
    fs::write(
        downloads.join("pointer.bin"),
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
    )
    .unwrap();
    let table = (0..4096_u64).flat_map(|n| (n % 37 * n).to_be_bytes());
    fs::write(downloads.join("table.bin"), table.collect::<Vec<u8>>()).unwrap();
    // A book, but for endgames: keys of positions with two kings and a queen.
    let endgames = (0..20_u64).map(|n| {
        let key = (n + 3).wrapping_mul(0x0a3d_70a3_d70a_3d71);
        tabia_book::bin::encode(key, tabia_book::polyglot::PackedMove(0o1323), 1, 0)
    });
    let mut endgames: Vec<_> = endgames.collect();
    endgames.sort_unstable();
    fs::write(downloads.join("endgames.bin"), endgames.concat()).unwrap();

    let text = run_in(
        &home,
        &format!("setup --yes --folder {}", downloads.display()),
    )
    .printed();
    for (name, why) in [
        ("network.bin", "not a Polyglot opening book: "),
        ("table.bin", "not a Polyglot opening book: "),
        ("endgames.bin", "it has no move in the start position"),
        ("pointer.bin", "this is a Git LFS pointer"),
    ] {
        let line = text.lines().find(|line| {
            line.starts_with("left out: ") && line.contains(&format!("{name}: {why}"))
        });
        assert!(line.is_some(), "{name}: {text}");
    }
    assert_eq!(text.matches("left out: ").count(), 4, "{text}");
    let config = fs::read_to_string(home.join(".config/tabia/engines.toml")).unwrap();
    assert!(!config.contains("[[books]]"), "{config}");
    assert_has(&text, "book starter: ");

    // Named by hand, they are refused, or said not to be for the opening.
    let refused = run_in(&home, &format!("info {}/network.bin", downloads.display()));
    assert_has(&refused.ends(2), "not a Polyglot opening book: ");
    let info = run_in(&home, &format!("info {}/endgames.bin", downloads.display())).printed();
    assert_has(&info, "it has no move in the start position");
}

/// The engines that are named, and no others, in this order.
#[test]
fn several_engines_are_set_up_at_once() {
    let home = Folder::new();
    let engines = ["one", "two", "three"].map(|name| {
        let path = home.join(name);
        let text = format!("#!/bin/sh\nexec '{TABIA}' engine\n");
        fs::write(&path, text).unwrap();
        let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, may_run).unwrap();
        path.display().to_string()
    });
    let [one, two, three] = &engines;
    run_in(
        &home,
        &format!("setup --yes --engine '{two}' --engine '{one}'"),
    )
    .ok();
    let text = fs::read_to_string(home.join(CONFIGURATION)).unwrap();
    assert_has(&text, "\ndefault = [\"two\", \"one\", \"builtin\"]\n");
    assert!(!text.contains(three), "{text}");
    run_in(&home, "setup --engine no/such").refused("--engine no/such: no program of this name");
}

/// The scripts that `register` has made.
fn scripts(home: &Folder) -> Vec<String> {
    let folder = home.join(".config/tabia/launchers");
    match folder.is_dir() {
        true => crate::common::names(&folder),
        false => Vec::new(),
    }
}

/// What the entry of this name starts, in a list of engines.
fn script_of(list: &str, name: &str) -> String {
    let engines: Vec<Value> = serde_json::from_str(list).unwrap();
    let mut named = engines.iter().filter(|engine| engine["name"] == name);
    let engine = named.next().unwrap();
    let path = [&engine["command"], &engine["path"]].map(Value::as_str);
    fs::read_to_string(path[0].or(path[1]).unwrap()).unwrap()
}

/// In one program and in several, whatever the names are.
#[test]
fn each_entry_has_a_script_of_its_own() {
    let home = Folder::new();
    let before = all_below(&home);
    let long = "\u{4e16}".repeat(90);
    let names = [
        "Tabia", "Tabia2", "TABIA", "SF 15", "SF-15", "\u{fc}", "\u{f6}", &long,
    ];
    // One program in two files, too.
    let lists = [
        ("cutechess", "one"),
        ("cutechess", "two"),
        ("en-croissant", "en"),
        ("pychess", "py"),
    ];
    let run = |(program, list): (&str, &str), name: &str, options: &str| {
        let list = home.join(format!("{list}.json"));
        let register = format!("register {program} --config-file '{}'", list.display());
        run_in(&home, &format!("{register} --name '{name}' {options}")).ok();
    };
    for (at, name) in names.iter().enumerate() {
        for list in lists {
            // Each is told apart by its arguments.
            let config = home.join(format!("{at} {} {}.toml", list.0, list.1));
            fs::write(&config, "").unwrap();
            run(list, name, &format!("--config '{}'", config.display()));
        }
    }
    let is_right = |list: (&str, &str), at: usize| {
        let text = home.text(&format!("{}.json", list.1));
        let config = format!("{at} {} {}.toml", list.0, list.1);
        match list.0 {
            "pychess" => assert_has(&script_of(&text, names[at]), names[at]),
            _ => assert_has(&script_of(&text, names[at]), &config),
        }
    };
    for list in lists {
        (0..names.len()).for_each(|at| is_right(list, at));
    }
    let all = names.len() * lists.len();
    assert_eq!(scripts(&home).len(), all, "{:?}", scripts(&home));
    // Registered again, it is the same one, without a backup; without arguments it is not needed.
    let first = home.join("0 cutechess one.toml");
    run(
        lists[0],
        "Tabia",
        &format!("--engine builtin --config '{}'", first.display()),
    );
    assert_eq!(scripts(&home).len(), all);
    run(lists[0], "Tabia", "");
    assert_eq!(scripts(&home).len(), all - 1);
    // Those that stay have theirs.
    for (at, name) in names.iter().enumerate() {
        for list in lists {
            run(list, name, "--remove");
        }
        for list in lists {
            (at + 1..names.len()).for_each(|at| is_right(list, at));
        }
    }
    for entry in fs::read_dir(&*home).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".toml") || name.contains(".bak") {
            fs::remove_file(&path).unwrap();
        }
    }
    let left: Vec<PathBuf> = all_below(&home).into_iter().map(|(path, _)| path).collect();
    assert_eq!(all_below(&home), before, "{left:?}");
}

/// Whoever switched it off, it is on again when the last engine of ours is gone, and not
/// before.
#[test]
fn the_own_book_of_pychess_is_off_as_long_as_an_engine_of_ours_is_there() {
    let mine = format!("[{{\"name\": \"Mine\", \"command\": \"{TABIA}\", \"protocol\": \"uci\"}}]");
    let register = "register pychess --name X --engine builtin";
    let (setup, undo) = ("setup --yes --program pychess", "setup --remove --yes");
    let remove = "register pychess --name X --remove";
    for list in ["[]", &*mine] {
        for commands in [
            [register, setup, remove, undo],
            [register, setup, undo, remove],
            [setup, register, remove, undo],
            [setup, register, undo, remove],
            [register, register, undo, remove],
        ] {
            let home = Folder::new();
            fs::create_dir_all(home.join(".config/pychess")).unwrap();
            home.put(".config/pychess/engines.json", list);
            home.put(".config/pychess/config", "[General]\nbook_depth_max=13\n");
            let before = all_below(&home);
            for (at, command) in commands.iter().enumerate() {
                run_in(&home, *command).ends(0);
                let text = home.text(".config/pychess/config");
                let is_off = text.contains("book_depth_max = 0");
                assert_eq!(is_off, at < 3, "{list} {commands:#?} {at}: {text}");
            }
            for backup in [
                "engines.json.bak",
                "engines.json.bak2",
                "config.bak",
                "config.bak2",
            ] {
                fs::remove_file(home.join(".config/pychess").join(backup)).ok();
            }
            assert_eq!(all_below(&home), before, "{list} {commands:#?}");
        }
    }
}

/// Without `--book` those of the configuration play again, and what the user chose in the
/// program stays.
#[test]
fn a_book_goes_with_the_registration_that_named_it() {
    for (program, empty) in [
        ("cutechess", "[]"),
        ("banksia", "[]"),
        ("pychess", "[]"),
        ("nibbler", "{}"),
        ("gnome-chess", "[A]\nbinary=a\n"),
        ("en-croissant", "[]"),
    ] {
        let home = Folder::new();
        let list = home.put("list", empty);
        let register = format!("register {program} --config-file '{}'", list.display());
        run_in(&home, &register).ok();
        let without = home.text("list");
        let with_book = format!("{register} --book {STARTER}");
        run_in(&home, &with_book).ok();
        assert_has(&home.text("list"), "tabia.ctg");
        let shown = run_in(&home, &format!("{register} --dry-run")).out();
        assert!(shown.contains("tabia.ctg"), "{program}: {shown}");
        run_in(&home, &register).ok();
        let text = home.text("list");
        assert!(!text.contains("tabia.ctg"), "{program}: {text}");
        // Only the empty list that the book was in may be left.
        let value = |text: &str| {
            let text = text
                .replace("\"settings\": []", "")
                .replace("\"options\": []", "");
            let mut letters: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
            letters.sort_unstable();
            letters
        };
        let is_new_script = program == "pychess";
        assert!(
            is_new_script || value(&text) == value(&without),
            "{program}: {text}"
        );
        // In these two a book is an argument, which is not chosen in a dialog.
        if ["pychess", "gnome-chess"].contains(&program) {
            continue;
        }
        run_in(&home, &with_book).ok();
        let chosen = home
            .text("list")
            .replace("books/tabia.ctg", "books/mine.ctg");
        // Cute Chess keeps the default.
        home.put("list", &*chosen);
        run_in(&home, &register).ok();
        assert_has(&home.text("list"), "books/mine.ctg");
        run_in(&home, &format!("{register} --remove")).ok();
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(value(&home.text("list")), value(empty), "{program}");
    }
}
