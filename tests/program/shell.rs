//! Other commands: the tree, configuration of other programs, completions, manual pages.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Arguments, Folder, Ran, SIMPLE, STARTER, TABIA, assert_has, command, tabia};
use serde_json::Value;

pub(crate) fn run_in(home: &Path, arguments: &(impl Arguments + ?Sized)) -> Ran {
    let mut command = command(arguments);
    command.env("HOME", home);
    Ran::of(command.env("XDG_CONFIG_HOME", home.join(".config")))
}

/// The output of a command for the starter book.
fn starter(command: &str, options: &str) -> Ran {
    tabia(&format!("{command} {STARTER} {options}"))
}

#[test]
fn the_tree_is_folded_and_fits_80_columns() {
    let text = starter("tree", "--depth 3 --min-share 9").out();
    let expected = "\
start position                                     games   share       %     av
├─ 1.e4                                           60,385   41.4%    54.8   2517
│  ├─ 1...c5                                      23,563   16.2%    47.1   2522
│  │  ├─ 2.Nf3                                    19,847   13.5%    53.3   2518
│  │  └─ 11 more                                            2.6%
";
    assert!(text.starts_with(expected), "{text}");
    let deep = "--moves '1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Bg5 e6'";
    for options in ["--depth 40 --min-share 1", deep, "--ascii"] {
        let text = starter("tree", options).printed();
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert_eq!(text.is_ascii(), options == "--ascii");
    }
    tabia(&["tree", SIMPLE]).ok();
    let absent = starter("tree", "--moves 'a4 h5 Ra3'").negative();
    assert_has(&absent, "not in the book");
}

#[test]
fn the_tree_in_json_has_the_figures_of_probe() {
    let tree = starter("tree", "--json --depth 2").json();
    let probe = starter("probe", "--json").json();
    for mv in tree["moves"].as_array().unwrap() {
        let Some(uci) = mv.get("uci") else { continue };
        let same = probe["moves"].as_array().unwrap();
        let same = same.iter().find(|other| other["uci"] == *uci).unwrap();
        let fields = "san games wins draws losses mark average_elo";
        for field in fields.split(' ') {
            assert_eq!(mv[field], same[field], "{uci} {field}");
        }
        assert!(mv["moves"].is_array());
    }
}

#[test]
fn transpositions_of_the_tree_are_shown_once() {
    let text = starter("tree", "--depth 8 --min-share 0.2").out();
    assert_has(&text, " ↑ ");
    assert_has(&text, "↑ the moves from here are shown further up");
}

#[test]
fn output_has_colours_only_at_a_terminal() {
    let printed = |name: &str, options: &str, environment: &[(&str, &str)]| {
        let mut command = command(&format!("{name} {STARTER} {options}"));
        command
            .env_remove("NO_COLOR")
            .envs(environment.iter().copied());
        Ran::of(&mut command).out()
    };
    let forced = ("CLICOLOR_FORCE", "1");
    for name in ["probe", "info", "tree"] {
        assert!(!printed(name, "", &[]).contains('\u{1b}'), "{name}");
        assert!(printed(name, "", &[forced]).contains('\u{1b}'), "{name}");
        let never = printed(name, "", &[forced, ("NO_COLOR", "1")]);
        assert!(!never.contains('\u{1b}'), "{name}");
    }
    assert!(!printed("probe", "--explain --json", &[forced]).contains("u001b"));
}

#[test]
fn completions_are_made_for_every_shell() {
    for (shell, part) in [
        (
            "bash",
            "complete -o bashdefault -o default -F _tabia tabia\n",
        ),
        ("zsh", "#compdef tabia\n"),
        (
            "fish",
            "--command tabia --condition 'command -q tabia' --arguments",
        ),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer"),
    ] {
        let text = tabia(&["completions", shell]).printed();
        assert_has(&text, part);
        // What the script asks.
        assert_has(&text, "TABIA_COMPLETE");
        let words = match shell {
            "bash" => vec!["--", "tabia reg", "reg"],
            _ => vec!["--", "tabia", "reg"],
        };
        let mut asked = command(&words);
        asked
            .env("TABIA_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "1");
        let answer = Ran::of(&mut asked).ok();
        assert_eq!(answer, "", "{shell}");
        assert!(Ran::of(&mut asked).out().starts_with("register"), "{shell}");
    }
    tabia("completions cmd").ends(2);
}

/// What bash offers for a line of which it replaces `word`.
#[cfg(unix)]
fn offered_by_bash(folder: &Folder, config: &str, line: &str, word: &str) -> Option<String> {
    let script = "source <(\"$TABIA\" completions bash) && COMP_POINT=${#COMP_LINE} && \
        { _tabia \"$TABIA\" \"$1\"; IFS='|'; echo \"${COMPREPLY[*]}\"; }";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, "bash", word])
        .current_dir(&**folder)
        .env("TABIA", TABIA)
        .env("TABIA_CONFIG", folder.join(config))
        .env("COMP_LINE", line);
    // Skipped on a system without bash.
    bash.output().ok()?;
    Some(Ran::of(&mut bash).printed().trim_end().to_owned())
}

#[cfg(unix)]
#[test]
fn bash_completes() {
    let folder = Folder::new();
    fs::create_dir_all(folder.join("books/my books")).unwrap();
    for name in [
        "a.ctg",
        "a.cto",
        "b.bin",
        "games.pgn",
        "index.tgx",
        "my books/it's.abk",
    ] {
        folder.put(&format!("books/{name}"), "");
    }
    folder.put(
        "engines.toml",
        "[engine.strong-one]\ncommand = \"/opt/strong\"\noptions = { Hash = 64 }\n\
         [[books]]\nfile = \"/opt/books/main.ctg\"\n",
    );
    folder.put(
        "other.toml",
        "[engine.other-one]\ncommand = \"/opt/other\"\n",
    );
    folder.put("broken.toml", "[engine.\n");
    for (line, word, offered) in [
        // Commands and options.
        ("tabia reg", "reg", "register"),
        ("tabia register --dry", "--dry", "--dry-run"),
        (
            "tabia convert a.ctg a.bin --weights ",
            "",
            "probability|games|score",
        ),
        // Files of the kinds that an argument takes.
        (
            "tabia verify books/",
            "books/",
            r"books/a.ctg|books/b.bin|books/my\ books/",
        ),
        ("tabia probe books/i", "books/i", "books/index.tgx"),
        ("tabia build -o x.ctg books/g", "books/g", "books/games.pgn"),
        ("tabia explore books/g", "books/g", "books/games.pgn"),
        ("tabia verify books/my", "books/my", r"books/my\ books/"),
        (
            r"tabia verify books/my\ books/",
            r"books/my\ books/",
            r"books/my\ books/it\'s.abk",
        ),
        (
            "tabia tree \"books/my books/i",
            "books/my books/i",
            "books/my books/it's.abk",
        ),
        // Names of the configuration.
        ("tabia --book /opt/b", "/opt/b", "/opt/books/main.ctg"),
        ("tabia --engine strong-", "strong-", "strong-one"),
        (
            "tabia grow books/a.ctg --engine=strong-",
            "strong-",
            "strong-one",
        ),
        (
            "tabia --config other.toml --engine other-",
            "other-",
            "other-one",
        ),
        // Options, and their values.
        (r"tabia --set Book\ Var", r"Book\ Var", r"Book\ Variety="),
        (
            "tabia probe books/a.ctg --set \"Book Var",
            "Book Var",
            "Book Variety=",
        ),
        ("tabia --set Has", "Has", "Hash="),
        (r"tabia --set Book\ Preset=O", "O", "Optimize"),
        (
            "tabia --set=\"Book Learn=",
            "Book Learn=",
            "Book Learn=true|Book Learn=false",
        ),
        (r"tabia --set Book\ File=books/a", "books/a", "books/a.ctg"),
        // Chess programs.
        ("tabia register cutechess-", "cutechess-", "cutechess-cli"),
        ("tabia setup --program nib", "nib", "nibbler"),
    ] {
        if let Some(found) = offered_by_bash(&folder, "engines.toml", line, word) {
            assert_eq!(found, offered, "{line}");
        }
    }
    // Without what cannot be read.
    for config in ["broken.toml", "absent.toml"] {
        for (line, word, offered) in [
            ("tabia --engine buil", "buil", "builtin"),
            ("tabia verify books/a", "books/a", "books/a.ctg"),
            ("tabia tree absent/", "absent/", ""),
        ] {
            if let Some(found) = offered_by_bash(&folder, config, line, word) {
                assert_eq!(found, offered, "{config} {line}");
            }
        }
    }
}

#[test]
fn manual_pages_are_made_for_every_command() {
    let folder = Folder::new();
    folder.done("man --dir man1");
    let again = folder.tabia("man --dir man1");
    again.refused("tabia.1: already exists, nothing was changed; --force");
    folder.done("man -f --dir man1");
    assert_eq!(tabia("man --roff").out(), folder.text("man1/tabia.1"));
    // Piped into another program it is text.
    let text = tabia("man prune").out();
    assert!(text.contains("Usage: ") && text.contains("Examples:") && !text.contains("\n.SH"));
    for command in ["play", "info", "probe", "build", "diff", "register", "man"] {
        let page = folder.text(&format!("man1/tabia-{command}.1"));
        assert_has(&page, &format!(".TH tabia-{command} 1"));
        assert_has(&page, ".SH OPTIONS");
        assert_eq!(tabia(&["man", "--roff", command]).out(), page);
    }
    // A page that another one names is there: `suite` has commands of its own.
    let suite = folder.text("man1/tabia-suite.1").replace("\\-", "-");
    for name in ["tabia-suite-check", "tabia-suite-match"] {
        assert_has(&suite, &format!("{name}(1)"));
        assert_has(
            &folder.text(&format!("man1/{name}.1")),
            &format!(".TH {name} 1"),
        );
    }
    let page = tabia("man --roff diff").out();
    assert_has(&page, ".SH EXAMPLES");
    assert_eq!(page.to_lowercase().matches("examples").count(), 1, "{page}");
    tabia("man dif").ends(2);
    // If groff is installed, it reports no errors in them.
    for page in fs::read_dir(folder.join("man1")).unwrap() {
        let mut groff = Command::new("groff");
        groff
            .args(["-man", "-ww", "-Tutf8", "-z"])
            .arg(page.unwrap().path());
        if groff.output().is_ok() {
            assert_eq!(Ran::of(&mut groff).ok(), "");
        }
    }
}

/// A home folder in which a program has been started once.
fn home_of(program: &str) -> Folder {
    let home = Folder::new();
    fs::create_dir_all(home.join(".config").join(program)).unwrap();
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
        let file = home.join(".config").join(folder).join("engines.json");
        fs::write(&file, before).unwrap();
        let register = format!("register {program} --engine builtin --book {STARTER}");
        let dry = run_in(&home, &format!("{register} --dry-run")).printed();
        assert!(dry.contains("+++ ") && dry.contains("tabia.ctg"));
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
        assert!(!home.join(".config/tabia").exists());

        assert_eq!(run_in(&home, &register).printed(), dry, "{program}");
        let text = fs::read_to_string(&file).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_has(&text, "books/tabia.ctg");
        let backup = file.with_file_name("engines.json.bak");
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        match program {
            "nibbler" => assert_eq!(json[TABIA]["args"][0], "--engine=builtin"),
            "pychess" => {
                assert_eq!(json[0]["name"], "Crafty");
                assert_eq!(json[1]["args"][0], "--engine=builtin");
            }
            _ => {
                // It passes no arguments, so a script does.
                let launcher = json[0]["command"].as_str().unwrap();
                let mut config = Command::new(launcher);
                config.arg("--check-config").env("TABIA_CONFIG", "");
                assert_has(&Ran::of(&mut config).out(), "engine builtin");
            }
        }
        let second = run_in(&home, &register);
        assert_eq!(second.out(), "");
        assert_has(&second.err(), "nothing to change");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(!file.with_file_name("engines.json.bak2").exists());
    }
}

#[test]
fn register_with_invalid_input_changes_no_file() {
    let home = home_of("pychess");
    let file = home.join("engines.json");
    for (text, options, message) in [
        ("[{\"name\": }]", "", "engines.json: line 1, column 11"),
        ("{}", "", "the whole is not an array"),
        (
            "[{\"name\":\"Tabia\",\"command\":\"/usr/bin/crafty\"}]",
            "",
            "belongs to another engine (/usr/bin/crafty)",
        ),
        ("[]", "--book /nowhere/x.ctg", "/nowhere/x.ctg"),
        ("[]", "--engine /nowhere/sf", "no file /nowhere/sf"),
        ("[]", "--engine nobody", "nobody"),
    ] {
        fs::write(&file, text).unwrap();
        let path = file.display();
        let register = format!("register pychess --config-file '{path}' {options}");
        let messages = run_in(&home, &register).refused(message);
        assert_eq!(messages.trim_end().lines().count(), 1, "{messages}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(home.names(), [".config", "engines.json"]);
    }
    // BanksiaGUI can be unpacked anywhere: it is found if there is one.
    let banksia = || {
        let mut register = command("register banksia --engine builtin");
        Ran::of(register.env("HOME", &*home).env_remove("XDG_CONFIG_HOME"))
    };
    assert_has(&banksia().err(), "--config-file");
    for (folder, code) in [("BanksiaGui-0.58", 0), ("banksia2", 2)] {
        fs::create_dir(home.join(folder)).unwrap();
        home.put(&format!("{folder}/engines.json"), "[]");
        banksia().ends(code);
    }
    assert_has(
        &home.text("BanksiaGui-0.58/engines.json"),
        "--engine=builtin",
    );
    let empty = Folder::new();
    // Registering works even if the program has never been started.
    for (dry_run, made) in [("--dry-run", 0), ("", 1)] {
        let ran = run_in(&empty, &format!("register pychess {dry_run}"));
        ran.ends_with(0, "is PyChess installed for you?");
        assert_eq!(empty.names().len(), made);
    }
}

#[test]
fn a_new_file_is_made_where_there_is_none() {
    let home = Folder::new();
    let file = home.join("engines.json");
    let register = format!("register banksia --config-file '{}'", file.display());
    run_in(&home, &register).ok();
    let json: Value = serde_json::from_str(&home.text("engines.json")).unwrap();
    assert_eq!(json[0]["app"]["name"], "Tabia");
    assert_eq!(home.names(), [".config", "engines.json"]);
    run_in(&home, &register).ends_with(0, "nothing to change");
    run_in(&home, &format!("{register} --remove")).ok();
    assert_eq!(home.names(), [""; 0]);
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
        let register = format!("register {program} --engine builtin --book {STARTER}");
        let text = tabia(&register).out();
        assert_has(&text, part);
        assert_has(&text, "books/tabia.ctg");
    }
}
