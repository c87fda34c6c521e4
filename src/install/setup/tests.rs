use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::configuration::write as write_configuration;
use super::record::WrittenFile;
use super::*;
use crate::install::register::{EditedFor, PrintedFor, Registration};
use crate::install::text_file::TextFile;
use tabia_adapter::config::Config;
use tabia_io::input::path::to_text;

/// A name with special characters of shells, TOML, JSON and lists separated by `;`.
const ODD: &str = "Jörg \"O'Neil\"; $HOME [x]";

fn registration() -> Registration {
    Registration {
        name: "Tabia".to_owned(),
        command: "/opt/tabia/tabia".to_owned(),
        folder: "/opt/tabia".to_owned(),
        ..Registration::default()
    }
}

/// A file system in memory.
#[derive(Clone, Default)]
struct Disk(BTreeMap<PathBuf, String>);

impl Disk {
    fn plan(&self, finds: &Finds, record: &Record, other: Option<&Path>) -> SetupPlan {
        let registration = registration();
        let situation = Situation {
            configuration: Path::new("/c/tabia/engines.toml"),
            other,
            record,
            registration: &registration,
        };
        SetupPlan::new(finds, &situation, &|path| Ok(self.0.get(path).cloned()))
    }

    fn undo(&self, record: &Record) -> SetupPlan {
        self.undo_and_rest(record).0
    }

    fn undo_and_rest(&self, record: &Record) -> (SetupPlan, Vec<WrittenFile>) {
        let none = &mut Registered::default();
        SetupPlan::undoing(record, none, &|path| Ok(self.0.get(path).cloned()))
    }

    fn apply(&mut self, plan: &SetupPlan) {
        for change in &plan.changes {
            assert_eq!(self.0.get(&change.path), change.before.as_ref());
            match &change.after {
                Some(text) => self.0.insert(change.path.clone(), text.clone()),
                None => self.0.remove(&change.path),
            };
        }
    }
}

fn finds() -> Finds {
    Finds {
        engines: vec![
            PathBuf::from(format!("/home/{ODD}/Stockfish 16")),
            PathBuf::from("/x/stockfish-16"),
            PathBuf::from("/x/builtin"),
            PathBuf::from("/x/ü"),
        ],
        books: vec![PathBuf::from(format!("/home/{ODD}/main.ctg"))],
        copies: Vec::new(),
        no_books: Vec::new(),
        programs: vec![
            ChessProgram::Edited(EditedFor::PyChess, PathBuf::from("/c/pychess/engines.json")),
            ChessProgram::Edited(EditedFor::Nibbler, PathBuf::from("/c/Nibbler/engines.json")),
            ChessProgram::Printed(PrintedFor::XBoard),
        ],
    }
}

/// The record that [`SetupPlan::carry_out`] would make.
fn recorded(plan: &SetupPlan) -> Record {
    let mut record = Record {
        command: registration().command,
        ..Record::default()
    };
    for change in &plan.changes {
        record.note(WrittenFile {
            path: to_text(&change.path),
            program: change.program,
            before: change.before.clone(),
            after: change.after.clone().unwrap(),
        });
    }
    record
}

#[test]
fn the_written_configuration_has_the_found_engines_and_books() {
    let finds = finds();
    let text = write_configuration(&finds.engines, &finds.books);
    let config = Config::parse(&text, Path::new("/c/tabia/engines.toml")).unwrap();
    let commands: Vec<&PathBuf> = (config.engines.iter())
        .map(|engine| &engine.command.program)
        .collect();
    assert_eq!(commands, finds.engines.iter().collect::<Vec<_>>());
    let names = ["stockfish-16", "stockfish-16-2", "builtin-2", "engine"];
    assert_eq!(config.default[..4], names);
    assert_eq!(config.default[4], "builtin");
    assert_eq!(Path::new(&config.books[0].path), finds.books[0]);
    // Without finds it is equal to the default configuration.
    let text = write_configuration(&[], &[]);
    let expected = "\
# Made by \"tabia setup\". Change what you like: a file that you have changed is
# left alone, and \"tabia setup --dry-run\" shows which lines are yours. \"tabia
# check\" shows what is used.

# The first engine that starts plays; \"builtin\" comes with the program.
default = [\"builtin\"]
";
    assert_eq!(text, expected);
    let config = Config::parse(&text, Path::new("/c/tabia/engines.toml")).unwrap();
    assert_eq!(config.default, ["builtin"]);
    assert!(config.books.is_empty());
}

#[test]
fn setup_twice_changes_nothing_more_and_can_be_undone() {
    let crafty = r#"[ {"name": "Crafty", "command": "/x/crafty", "protocol": "xboard"} ]"#;
    let mut disk = Disk::default();
    let pychess = PathBuf::from("/c/pychess/engines.json");
    disk.0.insert(pychess.clone(), crafty.to_owned());
    let before = disk.clone();

    let plan = disk.plan(&finds(), &Record::default(), None);
    assert_eq!((plan.changes.len(), plan.left.len()), (4, 0), "{plan:?}");
    assert_eq!(plan.to_type[0].0, "XBoard");
    disk.apply(&plan);
    let record = recorded(&plan);
    let again = disk.plan(&finds(), &record, None);
    assert_eq!(again.changes, []);

    let mut undone = disk.clone();
    undone.apply(&disk.undo(&record));
    assert_eq!(undone.0, before.0);

    // The program has rewritten its file, with another engine in it.
    let text = disk.0.get_mut(&pychess).unwrap();
    let mut engines: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    engines.push(serde_json::json!({"name": "New", "command": "/x/new"}));
    *text = serde_json::to_string(&engines).unwrap();
    disk.apply(&disk.undo(&record));
    let engines: Vec<serde_json::Value> = serde_json::from_str(&disk.0[&pychess]).unwrap();
    let names: Vec<&str> = engines
        .iter()
        .map(|e| e["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Crafty", "New"]);
    assert_eq!(disk.0.len(), 1);
}

/// The folder of the first run is not named again, and a book was deleted meanwhile.
#[test]
fn what_is_configured_and_exists_stays() {
    let own = Path::new("/c/tabia/engines.toml");
    let first = Finds {
        books: ["/d/old.ctg", "/d/mine.ctg", "/d/gone.ctg"]
            .map(PathBuf::from)
            .into(),
        ..finds()
    };
    let mut disk = Disk::default();
    let plan = disk.plan(&first, &Record::default(), None);
    disk.apply(&plan);
    let record = recorded(&plan);
    let config = Config::parse(&disk.0[own], own).unwrap();
    let exists = |path: &Path| !path.ends_with("gone.ctg") && !path.ends_with("builtin");
    let mut second = Finds {
        engines: ["/y/new", "/x/stockfish-16"].map(PathBuf::from).into(),
        books: ["/s/new.ctg", "/d/mine.ctg"].map(PathBuf::from).into(),
        ..finds()
    };
    second.keep(&config, &exists);
    let books = ["/d/old.ctg", "/d/mine.ctg", "/s/new.ctg"];
    assert_eq!(second.books, books.map(PathBuf::from));
    let mut engines = first.engines.clone();
    engines.retain(|path| exists(path));
    engines.push("/y/new".into());
    assert_eq!(second.engines, engines);
    let plan = disk.plan(&second, &record, None);
    disk.apply(&plan);
    let config = Config::parse(&disk.0[own], own).unwrap();
    let paths: Vec<&str> = config.books.iter().map(|book| &*book.path).collect();
    assert_eq!(paths, books);

    // If nothing else is found, nothing changes.
    let record = recorded(&plan);
    let mut none = Finds {
        programs: finds().programs,
        ..Finds::default()
    };
    none.keep(&config, &exists);
    assert_eq!(disk.plan(&none, &record, None).changes, []);
}

#[test]
fn files_changed_by_others_are_not_changed() {
    let own = PathBuf::from("/c/tabia/engines.toml");
    let mut disk = Disk::default();
    disk.0.insert(own.clone(), "default = \"lc0\"\n".to_owned());
    let taken = r#"[{"name": "Tabia", "command": "/x/crafty"}]"#;
    disk.0
        .insert(PathBuf::from("/c/pychess/engines.json"), taken.to_owned());
    disk.0
        .insert(PathBuf::from("/c/Nibbler/engines.json"), "[".to_owned());
    let plan = disk.plan(&finds(), &Record::default(), None);
    assert_eq!(plan.changes, []);
    assert_eq!(plan.left.len(), 3, "{:?}", plan.left);
    assert!(plan.left[0].contains("you have written"), "{:?}", plan.left);
    // The lines to type complete it, and need to be typed once.
    let mut own_text = disk.0[&own].clone();
    for _ in 0..2 {
        let plan = disk.plan(&finds(), &Record::default(), None);
        let lines = plan
            .to_type
            .iter()
            .find(|(title, _)| title.starts_with("engines.toml"));
        own_text.push_str(lines.map_or("", |(_, lines)| lines));
        disk.0.insert(own.clone(), own_text.clone());
        let config = Config::parse(&own_text, &own).unwrap();
        let programs = config.engines.iter().map(|engine| &engine.command.program);
        assert!(programs.eq(&finds().engines), "{own_text}");
        let books = config.books.iter().map(|book| Path::new(&book.path));
        assert!(books.eq(&finds().books), "{own_text}");
    }
    // The same for one of our files that was changed since.
    let mut disk = Disk::default();
    let first = disk.plan(&finds(), &Record::default(), None);
    disk.apply(&first);
    disk.0.get_mut(&own).unwrap().push_str("# mine\n");
    let record = recorded(&first);
    let fewer = Finds::default();
    assert_eq!(disk.plan(&fewer, &record, None).changes, []);
    let undo = disk.undo(&record);
    assert_eq!((undo.changes.len(), undo.left.len()), (4, 0), "{undo:?}");
    disk.apply(&undo);
    assert_eq!(disk.0, BTreeMap::from([(own, "# mine\n".to_owned())]));
    // Another configuration takes precedence over ours.
    let other = disk.plan(&fewer, &Record::default(), Some(Path::new("/x/tabia.toml")));
    assert!(other.changes.is_empty() && other.left[0].contains("/x/tabia.toml"));
}

/// All files of a folder: every path, and its content.
fn tree(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                found.extend(tree(&path));
                found.push((path, None));
            }
            false => found.push((path.clone(), Some(fs::read(&path).unwrap()))),
        }
    }
    found.sort();
    found
}

#[cfg(unix)]
#[test]
fn setup_in_a_home_folder_can_be_undone() {
    use std::os::unix::fs::PermissionsExt as _;
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join(ODD);
    let put = |name: &str, bytes: &[u8], mode: u32| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let starter = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/tabia.ctg");
    let starter = fs::read(starter).unwrap();
    let lc0 = put("bin/lc0", b"#!/bin/sh\n", 0o755);
    let stockfish = put(
        "Arena 3.5/Engines/Stockfish 16/stockfish_x64",
        b"#!/bin/sh\n",
        0o755,
    );
    let unknown = put("Arena 3.5/Engines/x/mine", b"\x7fELF rest", 0o755);
    put("Arena 3.5/Engines/x/uninstall", b"#!/bin/sh\n", 0o755);
    put("Arena 3.5/Engines/x/stockfish.txt", b"read me", 0o644);
    put("Arena 3.5/arena", b"\x7fELF rest", 0o755);
    let book = put("Documents/ChessBase/Books/main.ctg", &starter, 0o644);
    // Another book with a different byte; the other files are copies of the first one.
    let mut bytes = starter.clone();
    *bytes.last_mut().unwrap() ^= 1;
    let other = put("Downloads/other.ctg", &bytes, 0o644);
    let copy = put("Downloads/A copy.ctg", &starter, 0o644);
    put("Downloads/.tabia-Ab3dEf/book.ctg", &starter[4096..], 0o644);
    for index in ["cto", "ctb"] {
        put(
            &format!("Documents/ChessBase/Books/main.{index}"),
            b"",
            0o644,
        );
    }
    let of_cutechess = put("somewhere/my engine", b"#!/bin/sh\n", 0o755);
    let known = serde_json::json!([{"command": of_cutechess, "name": "Mine", "protocol": "uci"}]);
    put(
        ".config/cutechess/engines.json",
        known.to_string().as_bytes(),
        0o644,
    );
    let places = Places {
        config: Some(home.join(".config")),
        data: Some(home.join(".local/share")),
        xdg_config: Some(home.join(".config")),
        unpacked: vec![home.clone(), home.join("Documents"), home.join("Downloads")],
        path: vec![home.join("bin"), home.join("nowhere")],
        shared: vec![home.join("nowhere")],
    };

    let finds = Finds::search(&places, &[]);
    assert_eq!(
        finds.engines,
        [&stockfish, &lc0, &unknown, &of_cutechess].map(Clone::clone)
    );
    assert_eq!(finds.books, std::slice::from_ref(&book));
    let titles: Vec<&str> = finds.programs.iter().map(ChessProgram::title).collect();
    assert_eq!(titles, ["Cute Chess", "Arena"]);
    let more = Finds::search(&places, &[home.join("Downloads")]);
    // Those with an index come first.
    assert_eq!(more.books, [book.clone(), other]);
    assert_eq!(more.copies, [(copy, book.clone())]);

    let before = tree(&home);
    let own = places.of_tabia().unwrap();
    let record_path = own.join("setup.json");
    let run = || {
        let record = Record::read(&record_path).unwrap();
        let situation = Situation {
            configuration: &own.join("engines.toml"),
            other: None,
            record: &record,
            registration: &registration(),
        };
        let plan = SetupPlan::new(&Finds::search(&places, &[]), &situation, &TextFile::text_of);
        plan.carry_out(&record, &registration().command, &record_path)
            .unwrap();
        plan
    };
    assert_eq!(run().changes.len(), 2);
    let after = tree(&home);
    assert_eq!(run().changes, []);
    assert_eq!(tree(&home), after);
    // With a new engine the configuration is written again.
    put("bin/berserk", b"#!/bin/sh\n", 0o755);
    assert_eq!(run().changes.len(), 1);
    fs::remove_file(home.join("bin/berserk")).unwrap();

    let record = Record::read(&record_path).unwrap();
    let (plan, rest) = SetupPlan::undoing(&record, &mut Registered::default(), &TextFile::text_of);
    plan.take_back(&record, rest, &record_path).unwrap();
    assert_eq!(tree(&home), before);
}

#[test]
fn a_record_is_read_back_and_an_invalid_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setup.json");
    let plan = Disk::default().plan(&finds(), &Record::default(), None);
    SetupPlan::default()
        .carry_out(&recorded(&plan), "/opt/tabia/tabia", &path)
        .unwrap();
    assert_eq!(Record::read(&path).unwrap(), recorded(&plan));
    for text in ["", "{", "[]", "{\"files\": 1}"] {
        fs::write(&path, text).unwrap();
        let error = format!("{:#}", Record::read(&path).unwrap_err());
        assert!(error.contains("setup.json"), "{error}");
    }
}

#[test]
fn the_system_list_of_gnome_chess_is_copied_and_not_changed() {
    let system = PathBuf::from("/etc/gnome-chess/engines.conf");
    let own = PathBuf::from("/c/gnome-chess/engines.conf");
    let list = "[Crafty]\nprotocol=cecp\nbinary=crafty\n";
    let mut disk = Disk::default();
    disk.0.insert(system, list.to_owned());
    let before = disk.clone();
    let finds = Finds {
        programs: vec![ChessProgram::Edited(EditedFor::GnomeChess, own.clone())],
        ..Finds::default()
    };
    let plan = disk.plan(&finds, &Record::default(), None);
    disk.apply(&plan);
    let ours = "\n[Tabia]\n# Made by Tabia.\nprotocol=uci\nbinary=/opt/tabia/tabia\noption-easy-0=Skill Level 0\n";
    assert!(disk.0[&own].starts_with(&(list.to_owned() + ours)));
    let record = recorded(&plan);
    assert_eq!(disk.plan(&finds, &record, None).changes, []);
    let text = serde_json::to_string(&record).unwrap();
    assert!(text.contains("GNOME Chess"), "{text}");
    disk.apply(&disk.undo(&record));
    assert_eq!(disk.0, before.0);
}

const OWN: &str = "/c/tabia/engines.toml";

/// What a user has changed is not lost, and setup remembers the file until it is undone.
#[test]
fn a_file_that_cannot_be_told_apart_stays_and_is_remembered() {
    let own = PathBuf::from(OWN);
    let mut disk = Disk::default();
    let first = disk.plan(&finds(), &Record::default(), None);
    disk.apply(&first);
    let record = recorded(&first);
    let written = disk.0[&own].clone();
    let mine = written.replace("/x/ü", "/x/mine");
    disk.0.insert(own.clone(), mine.clone());
    let (plan, rest) = disk.undo_and_rest(&record);
    let line = 1 + mine.lines().position(|line| line.contains("mine")).unwrap();
    assert_eq!(plan.left.len(), 1);
    let start = format!("{OWN}:{line}: you have changed");
    assert!(plan.left[0].starts_with(&start), "{:?}", plan.left);
    disk.apply(&plan);
    assert_eq!(disk.0, BTreeMap::from([(own.clone(), mine.clone())]));

    // A second setup leaves the file alone, too.
    let left = Record {
        files: rest,
        ..record
    };
    let none = Finds::default();
    assert_eq!(disk.plan(&none, &left, None).changes, []);
    // The text of before is back, or nothing of setup's is left, or no file.
    for (text, after) in [
        (Some(written), None),
        (
            Some("[engine.x]\ncommand = \"/x\"\n".to_owned()),
            Some("[engine.x]\ncommand = \"/x\"\n"),
        ),
        (None, None),
    ] {
        let mut disk = Disk::default();
        disk.0.extend(text.map(|text| (own.clone(), text)));
        let (plan, rest) = disk.undo_and_rest(&left);
        assert_eq!((plan.left.len(), rest.len()), (0, 0), "{plan:?}");
        disk.apply(&plan);
        assert_eq!(disk.0.get(&own).map(String::as_str), after);
    }
}

#[cfg(unix)]
#[test]
fn the_record_keeps_only_what_could_not_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("tabia").join(name);
    let (own, pychess, record_path) = (at("engines.toml"), at("engines.json"), at("setup.json"));
    let run = |record: &Record| {
        let finds = Finds {
            programs: vec![ChessProgram::Edited(EditedFor::PyChess, pychess.clone())],
            ..Finds::default()
        };
        let situation = Situation {
            configuration: &own,
            other: None,
            record,
            registration: &registration(),
        };
        let plan = SetupPlan::new(&finds, &situation, &TextFile::text_of);
        plan.carry_out(record, &registration().command, &record_path)
            .unwrap();
    };
    let undo = || {
        let record = Record::read(&record_path).unwrap();
        let (plan, rest) =
            SetupPlan::undoing(&record, &mut Registered::default(), &TextFile::text_of);
        plan.take_back(&record, rest, &record_path).unwrap();
        Record::read(&record_path).unwrap()
    };
    run(&Record::default());
    let written = fs::read_to_string(&own).unwrap();
    fs::write(&own, written.replace("[\"builtin\"]", "\"lc0\"")).unwrap();
    // Not what PyChess writes.
    let list = fs::read_to_string(&pychess).unwrap();
    fs::write(&pychess, "[").unwrap();
    let left = undo();
    assert_eq!((left.files.len(), left.folders.len()), (2, 1), "{left:?}");
    fs::write(&pychess, list).unwrap();
    let left = undo();
    assert_eq!(left.files.len(), 1, "{left:?}");
    assert_eq!(left.files[0].path, to_text(&own));
    assert!(!pychess.exists());
    fs::write(&own, written).unwrap();
    assert_eq!(undo(), Record::default());
    assert_eq!(tree(folder.path()), []);
}

/// The order in which engines are entered, changed and taken away does not matter.
#[test]
fn without_the_last_registered_engine_every_byte_is_as_before() {
    let path = Path::new("/c/list");
    let crafty = "[{\"name\": \"Crafty\", \"command\": \"/x/crafty\"}]";
    let mine = "[{\"name\":\"B\",\"command\":\"/old/tabia\",\"args\":[\"--mine\"]}]";
    let lists = [Some(crafty), Some("[ ]"), Some(""), Some(mine), None]
        .map(|text| (EditedFor::PyChess, text));
    let keys =
        [Some("[Crafty]\nbinary=crafty"), Some(""), None].map(|text| (EditedFor::GnomeChess, text));
    for (program, before) in lists.into_iter().chain(keys) {
        for entered in ["ABC", "ABA", "ABCB", "BABCA"] {
            for removed in ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"] {
                let mut now = before.map(str::to_owned);
                let mut record = Registered::default();
                let setup = &mut Record::default();
                let as_entry = |name: &str, at: usize| Registration {
                    name: name.to_owned(),
                    args: vec![format!("--engine={at}")],
                    ..registration()
                };
                let engine = |name| EngineIn {
                    name,
                    command: "/opt/tabia/tabia",
                    path,
                    program: ProgramFile::Engines(program),
                };
                for (at, name) in entered.split_terminator("").enumerate().skip(1) {
                    let text = now.clone().unwrap_or_default();
                    let after = program.edit(&text, &as_entry(name, at)).unwrap();
                    record
                        .note(&engine(name), now.as_deref(), &after, None, setup)
                        .unwrap();
                    now = Some(after);
                }
                for name in removed.split_terminator("").skip(1) {
                    let text = now.clone().unwrap_or_default();
                    let Some(left) = record.without(&engine(name), &text).unwrap() else {
                        continue;
                    };
                    let left_text = left.as_deref().unwrap_or_default();
                    let is_still = program.has(left_text, &as_entry(name, 0));
                    record.forget(&engine(name), left.as_deref(), is_still, setup);
                    now = left;
                }
                assert_eq!(
                    now.as_deref(),
                    before,
                    "{program:?}: {entered}, without {removed}"
                );
            }
        }
    }
}
