//! Commands around the books: the tree, other programs' configuration,
//! completions, manual pages.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");
const STARTER: &str = "books/tabia.ctg";

fn run_in(home: &Path, args: &[&str]) -> Output {
    Command::new(TABIA)
        .args(args)
        .env("TABIA_CONFIG", "")
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn tabia(args: &[&str]) -> Output {
    run_in(Path::new("/nowhere"), args)
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_tree_is_folded_and_fits_80_columns() {
    let text = out(&tabia(&[
        "tree",
        STARTER,
        "--depth",
        "3",
        "--min-share",
        "9",
    ]));
    let expected = "\
start position                                     games   share       %     av
├─ 1.e4                                           60,385   41.4%    54.8   2517
│  ├─ 1...c5                                      23,563   16.2%    47.1   2522
│  │  ├─ 2.Nf3                                    19,847   13.5%    53.3   2518
│  │  └─ 11 more                                            2.6%
";
    assert!(text.starts_with(expected), "{text}");
    for args in [
        &["tree", STARTER, "--depth", "40", "--min-share", "1"][..],
        &[
            "tree",
            STARTER,
            "--moves",
            "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Bg5 e6",
        ],
        &["tree", STARTER, "--ascii"],
        &["tree", "tests/data/ctg/simple.ctg"],
    ] {
        let output = tabia(args);
        let text = out(&output);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
    assert!(out(&tabia(&["tree", STARTER, "--ascii"])).is_ascii());
    let absent = tabia(&["tree", STARTER, "--moves", "a4 h5 Ra3"]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(out(&absent).contains("not in the book"));
}

#[test]
fn the_tree_in_json_has_the_figures_of_probe() {
    let tree: serde_json::Value =
        serde_json::from_str(&out(&tabia(&["tree", STARTER, "--json", "--depth", "2"]))).unwrap();
    let probe: serde_json::Value =
        serde_json::from_str(&out(&tabia(&["probe", STARTER, "--json"]))).unwrap();
    for mv in tree["moves"].as_array().unwrap() {
        let Some(uci) = mv.get("uci") else { continue };
        let same = probe["moves"].as_array().unwrap();
        let same = same.iter().find(|other| other["uci"] == *uci).unwrap();
        for field in [
            "san",
            "games",
            "wins",
            "draws",
            "losses",
            "mark",
            "average_elo",
        ] {
            assert_eq!(mv[field], same[field], "{uci} {field}");
        }
        assert!(mv["moves"].is_array());
    }
}

#[test]
fn transpositions_of_the_tree_are_shown_once() {
    let text = out(&tabia(&[
        "tree",
        STARTER,
        "--depth",
        "8",
        "--min-share",
        "0.2",
    ]));
    assert!(text.contains(" ↑ "), "{text}");
    assert!(text.contains("↑ the moves from here stand further up"));
}

#[test]
fn colour_comes_only_when_asked_for() {
    for command in [
        &["probe", STARTER][..],
        &["info", STARTER],
        &["tree", STARTER],
    ] {
        assert!(!out(&tabia(command)).contains('\u{1b}'), "{command:?}");
        let forced = Command::new(TABIA)
            .args(command)
            .env("CLICOLOR_FORCE", "1")
            .env_remove("NO_COLOR")
            .output()
            .unwrap();
        assert!(out(&forced).contains('\u{1b}'), "{command:?}");
        let never = Command::new(TABIA)
            .args(command)
            .env("CLICOLOR_FORCE", "1")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        assert!(!out(&never).contains('\u{1b}'), "{command:?}");
    }
    let json = Command::new(TABIA)
        .args(["probe", STARTER, "--explain", "--json"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(!out(&json).contains("u001b"));
}

#[test]
fn completions_are_made_for_every_shell() {
    for (shell, part) in [
        ("bash", "complete -F _tabia"),
        ("zsh", "#compdef tabia"),
        ("fish", "complete -c tabia"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer"),
    ] {
        let output = tabia(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        let text = out(&output);
        assert!(text.contains(part), "{shell}: {text}");
        for command in ["probe", "register", "diff", "tree"] {
            assert!(text.contains(command), "{shell} {command}");
        }
    }
    assert_eq!(tabia(&["completions", "cmd"]).status.code(), Some(2));
}

/// Bash takes the completions and finds a command and an option with them.
#[cfg(unix)]
#[test]
fn bash_completes() {
    let script = "source <(\"$TABIA\" completions bash) && \
        COMP_WORDS=(tabia reg) COMP_CWORD=1 && _tabia tabia reg tabia && \
        echo \"${COMPREPLY[@]}\" && \
        COMP_WORDS=(tabia register --dry) COMP_CWORD=2 && _tabia tabia --dry register && \
        echo \"${COMPREPLY[@]}\"";
    let Ok(output) = Command::new("bash")
        .args(["--norc", "-c", script])
        .env("TABIA", TABIA)
        .output()
    else {
        // A system without bash has nothing to complete in it.
        return;
    };
    assert_eq!(out(&output), "register\n--dry-run\n", "{}", err(&output));
}

#[test]
fn manual_pages_are_made_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let output = tabia(&["man", "--dir", pages.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let again = tabia(&["man", "--dir", pages.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(2));
    assert!(err(&again).contains("tabia.1: is there already"));
    let again = tabia(&["man", "-f", "--dir", pages.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(0), "{}", err(&again));
    let tabia_page = fs::read_to_string(pages.join("tabia.1")).unwrap();
    assert_eq!(out(&tabia(&["man"])), tabia_page);
    for command in ["play", "info", "probe", "build", "diff", "register", "man"] {
        let page = fs::read_to_string(pages.join(format!("tabia-{command}.1"))).unwrap();
        assert!(page.contains(&format!(".TH tabia-{command} 1")), "{page}");
        assert!(page.contains(".SH OPTIONS"), "{command}");
        assert_eq!(out(&tabia(&["man", command])), page);
    }
    let page = out(&tabia(&["man", "diff"]));
    assert!(page.contains(".SH EXAMPLES"));
    assert_eq!(page.to_lowercase().matches("examples").count(), 1, "{page}");
    assert_eq!(tabia(&["man", "dif"]).status.code(), Some(2));
    // Where there is a groff, it has nothing to say against them.
    for page in fs::read_dir(&pages).unwrap() {
        let groff = Command::new("groff")
            .args(["-man", "-ww", "-Tutf8", "-z"])
            .arg(page.unwrap().path())
            .output();
        if let Ok(groff) = groff {
            assert!(
                groff.status.success() && groff.stderr.is_empty(),
                "{}",
                err(&groff)
            );
        }
    }
}

/// A home folder in which a program has been started once.
fn home_of(program: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".config").join(program)).unwrap();
    home
}

#[cfg(target_os = "linux")]
#[test]
fn programs_are_registered_with_once_and_a_backup_is_kept() {
    for (program, folder, before) in [
        ("cutechess", "cutechess", "[\n]\n"),
        ("pychess", "pychess", "[\n {\n  \"name\": \"Crafty\"\n }\n]"),
        ("nibbler", "Nibbler", "{\n\t\"/x/lc0\": {}\n}"),
    ] {
        let home = home_of(folder);
        let file = home
            .path()
            .join(".config")
            .join(folder)
            .join("engines.json");
        fs::write(&file, before).unwrap();
        let args = [
            "register", program, "--engine", "builtin", "--book", STARTER,
        ];
        let dry = run_in(home.path(), &[&args[..], &["--dry-run"]].concat());
        assert_eq!(dry.status.code(), Some(0), "{}", err(&dry));
        assert!(out(&dry).contains("+++ ") && out(&dry).contains("tabia.ctg"));
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
        assert!(!home.path().join(".config/tabia").exists());

        let first = run_in(home.path(), &args);
        assert_eq!(first.status.code(), Some(0), "{}", err(&first));
        assert_eq!(out(&first), out(&dry), "{program}");
        let text = fs::read_to_string(&file).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(text.contains("books/tabia.ctg"), "{text}");
        let backup = file.with_file_name("engines.json.bak");
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        match program {
            "nibbler" => assert_eq!(json[TABIA]["args"][0], "--engine=builtin"),
            "pychess" => {
                assert_eq!(json[0]["name"], "Crafty");
                assert_eq!(json[1]["args"][0], "--engine=builtin");
            }
            _ => {
                // It passes no arguments: a script does.
                let launcher = json[0]["command"].as_str().unwrap();
                let config = Command::new(launcher)
                    .arg("--check-config")
                    .env("TABIA_CONFIG", "")
                    .output()
                    .unwrap();
                assert!(out(&config).contains("engine builtin"), "{}", err(&config));
            }
        }
        let second = run_in(home.path(), &args);
        assert_eq!(out(&second), "");
        assert!(err(&second).contains("nothing to change"));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(!file.with_file_name("engines.json.bak2").exists());
    }
}

#[test]
fn what_cannot_be_registered_is_said_and_nothing_is_lost() {
    let home = home_of("pychess");
    let file = home.path().join("engines.json");
    let path = file.to_str().unwrap();
    let long = ["register", "pychess", "--config-file", path];
    let rows: [(&str, &[&str], &str); 6] = [
        ("[{\"name\": }]", &[], "engines.json: line 1, column 11"),
        ("{}", &[], "the whole is not an array"),
        (
            "[{\"name\":\"Tabia\",\"command\":\"/usr/bin/crafty\"}]",
            &[],
            "belongs to another engine (/usr/bin/crafty)",
        ),
        ("[]", &["--book", "/nowhere/x.ctg"], "/nowhere/x.ctg"),
        ("[]", &["--engine", "/nowhere/sf"], "no file /nowhere/sf"),
        ("[]", &["--engine", "nobody"], "nobody"),
    ];
    for (text, more, message) in rows {
        fs::write(&file, text).unwrap();
        let output = run_in(home.path(), &[&long[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{text}");
        let said = err(&output);
        assert!(said.contains(message), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }
    // BanksiaGUI is unpacked somewhere: found when there is one.
    let banksia = || {
        let output = Command::new(TABIA)
            .args(["register", "banksia", "--engine", "builtin"])
            .env("HOME", home.path())
            .env_remove("XDG_CONFIG_HOME")
            .env("TABIA_CONFIG", "")
            .output();
        output.unwrap()
    };
    assert!(err(&banksia()).contains("--config-file"));
    for (folder, code) in [("BanksiaGui-0.58", 0), ("banksia2", 2)] {
        let folder = home.path().join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("engines.json"), "[]").unwrap();
        let done = banksia();
        assert_eq!(done.status.code(), Some(code), "{}", err(&done));
    }
    let json = fs::read_to_string(home.path().join("BanksiaGui-0.58/engines.json")).unwrap();
    assert!(json.contains("--engine=builtin"), "{json}");
    let empty = tempfile::tempdir().unwrap();
    // Whoever has not started the program yet can register all the same.
    for (dry_run, made) in [(&["--dry-run"][..], 0), (&[], 1)] {
        let first = run_in(empty.path(), &[&["register", "pychess"], dry_run].concat());
        assert_eq!(first.status.code(), Some(0), "{}", err(&first));
        let said = err(&first);
        assert!(said.contains("is PyChess installed for you?"), "{said}");
        assert_eq!(fs::read_dir(empty.path()).unwrap().count(), made);
    }
}

#[test]
fn a_new_file_is_made_where_there_is_none() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("engines.json");
    let args = [
        "register",
        "banksia",
        "--config-file",
        file.to_str().unwrap(),
    ];
    let output = run_in(home.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(json[0]["app"]["name"], "Tabia");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    assert!(err(&run_in(home.path(), &args)).contains("nothing to change"));
}

#[test]
fn lines_are_printed_for_the_other_programs() {
    for (program, part) in [
        ("cutechess-cli", "-engine name=Tabia cmd="),
        ("fastchess", "args=--engine=builtin"),
        ("lichess-bot", "    engine: \"builtin\""),
        ("arena", "Parameters:    --engine=builtin"),
        ("scid", "Parameters:  --engine=builtin --book="),
        ("xboard", "xboard -fUCI -fcp \""),
    ] {
        let args = [
            "register", program, "--engine", "builtin", "--book", STARTER,
        ];
        let text = out(&tabia(&args));
        assert!(text.contains(part), "{program}: {text}");
        assert!(text.contains("books/tabia.ctg"), "{program}: {text}");
    }
}

/// Everything below a folder: paths, and what is in the files.
#[cfg(target_os = "linux")]
fn all_below(folder: &Path) -> Vec<(std::path::PathBuf, Option<Vec<u8>>)> {
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

#[cfg(target_os = "linux")]
#[test]
fn setup_asks_first_is_done_once_and_leaves_no_trace() {
    let outer = home_of("pychess");
    let home = outer.path().join("a 'home' of \"M\u{fc}ller\"; #1");
    for folder in [".config/pychess", ".config/cutechess", "Chess books"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    let pychess = home.join(".config/pychess/engines.json");
    fs::write(&pychess, "[ {\"name\": \"Crafty\"} ]").unwrap();
    for end in ["ctg", "cto", "ctb"] {
        let book = Path::new(STARTER).with_extension(end);
        fs::copy(book, home.join("Chess books/main").with_extension(end)).unwrap();
    }
    fs::write(home.join("Chess books/damaged.ctg"), "no book").unwrap();
    let before = all_below(&home);

    // Nobody answers: nothing is written. Nor is it to be shown only.
    assert_eq!(run_in(&home, &["setup"]).status.code(), Some(1));
    let shown = run_in(&home, &["setup", "--dry-run"]);
    assert_eq!(shown.status.code(), Some(0), "{}", err(&shown));
    assert_eq!(all_below(&home), before);

    let done = run_in(&home, &["setup", "--yes"]);
    let text = out(&done);
    assert_eq!(done.status.code(), Some(0), "{text}{}", err(&done));
    for part in [
        "Chess books/main.ctg",
        "Cute Chess",
        "PyChess",
        "left out: ",
        "book main.ctg: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let engines: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&pychess).unwrap()).unwrap();
    assert_eq!(engines[0]["name"], "Crafty");
    assert_eq!(engines[1]["command"], TABIA);
    let config = out(&run_in(&home, &["--check-config"]));
    assert!(config.contains(".config/tabia/engines.toml"), "{config}");
    assert!(config.contains("main.ctg\n    opens: "), "{config}");

    let after = all_below(&home);
    let again = run_in(&home, &["setup", "--yes"]);
    assert!(out(&again).contains("No file is to be changed."));
    assert_eq!(all_below(&home), after);
    assert_eq!(run_in(&home, &["setup", "--remove"]).status.code(), Some(1));
    assert_eq!(all_below(&home), after);
    let removed = run_in(&home, &["setup", "--remove", "--yes"]);
    assert_eq!(removed.status.code(), Some(0), "{}", err(&removed));
    assert_eq!(all_below(&home), before);
    let twice = run_in(&home, &["setup", "--remove", "--yes"]);
    assert!(out(&twice).contains("nothing"), "{}", out(&twice));
    assert_eq!(twice.status.code(), Some(0));
}
