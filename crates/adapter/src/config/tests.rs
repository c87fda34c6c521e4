use shakmaty::Color;

use super::*;

const SAMPLE: &str = r#"
default = ["stockfish", "builtin"]

[engine.stockfish]
command = "stockfish"
args = []
start_timeout_ms = 5000
env = { OMP_NUM_THREADS = "2" }
[engine.stockfish.options]
Hash = 256
"Move Overhead" = 30
Ponder = false

[engine.lc0]
command = "lc0/lc0"
dir = "nets"
[engine.lc0.book]
file = ["sharp.ctg", "/abs/more.ctg"]

[book]
variety = 20
tournament = false
minimum_games = 3
"#;

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(text, Path::new("/home/me/engines.toml"))
}

fn fails(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn builtin() -> EngineCommand {
    EngineCommand::new("/bin/tabia").args(vec!["engine".into()])
}

#[test]
fn reads_engines_options_and_book() {
    let config = parse(SAMPLE).unwrap();
    let (engines, commands) = config.engines(&[], Some(&builtin())).unwrap();
    assert_eq!(engines.chain, 2);
    let stockfish = &engines.profiles[0];
    assert_eq!(stockfish.start_timeout, Duration::from_secs(5));
    assert_eq!(
        stockfish.options,
        [
            ("Hash".to_owned(), "256".to_owned()),
            ("Move Overhead".to_owned(), "30".to_owned()),
            ("Ponder".to_owned(), "false".to_owned()),
        ]
    );
    assert_eq!(stockfish.settings.options().policy.variety, 20);
    assert_eq!(stockfish.settings.options().file, BookFiles::default());
    assert_eq!(commands[0].program, Path::new("stockfish"));
    assert_eq!(commands[0].env, [("OMP_NUM_THREADS".into(), "2".into())]);
    assert_eq!(commands[1], builtin());
}

/// The path of a file in the folder of the configuration, as this system writes it.
fn beside(name: &str) -> String {
    Path::new("/home/me").join(name).display().to_string()
}

#[test]
fn paths_count_from_the_file_and_engines_may_differ() {
    let config = parse(SAMPLE).unwrap();
    let (engines, commands) = config.engines(&["lc0".into()], Some(&builtin())).unwrap();
    assert_eq!(commands[0].program, Path::new("/home/me/lc0/lc0"));
    assert_eq!(commands[0].dir.as_deref(), Some(Path::new("/home/me/nets")));
    assert_eq!(
        engines.profiles[0].settings.options().file.to_string(),
        format!("{};/abs/more.ctg", beside("sharp.ctg"))
    );
    assert_eq!(
        engines.profiles[0].settings.options().policy.minimum_games,
        3
    );
}

#[test]
fn books_may_have_a_policy_of_their_own() {
    let config = parse(
        "[[books]]\nfile = \"patch.ctg\"\nvariety = 0\n\
         [[books]]\nfile = \"main.ctg\"\ncolour = \"white\"\ndepth = 12\n",
    )
    .unwrap();
    let (engines, _) = config
        .engines(&["builtin".into()], Some(&builtin()))
        .unwrap();
    let profile = &engines.profiles[0];
    let general = profile.settings.options();
    assert_eq!(general.file, BookFiles::Configured);
    assert_eq!(profile.books[0].path, beside("patch.ctg"));
    assert_eq!(profile.books[0].options(general).policy.variety, 0);
    assert_eq!(profile.books[1].colour, Some(Color::White));
}

#[test]
fn books_may_be_for_some_games_only() {
    let config = parse(
        "[[books]]\nfile = \"x\"\nopponent = \"GM|human\"\ntime_control = \"Blitz|rapid\"\n\
         elo = \"1200..1800\"\nvariant = \"Atomic\"\nvariety = 3\n[[books]]\nfile = \"y\"\n",
    )
    .unwrap();
    let given = [
        ("opponent", "GM|human"),
        ("time_control", "blitz|rapid"),
        ("elo", "1200..1800"),
        ("variant", "atomic"),
    ];
    let given = given.map(|(key, value)| (key, value.to_owned()));
    assert_eq!(config.books[0].conditions.given(), given);
    assert_eq!(config.books[0].overrides.len(), 1);
    assert!(config.books[1].conditions.is_none());
}

#[test]
fn without_a_file_stockfish_or_the_built_in_engine_plays() {
    let (engines, commands) = Config::default().engines(&[], Some(&builtin())).unwrap();
    assert_eq!(engines.chain, 2);
    assert_eq!(engines.stand_in, Some(2));
    assert_eq!(commands[0].program, Path::new("stockfish"));
    assert_eq!(*engines.profiles[0].settings.options(), Options::default());
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, line, part) in [
        ("default = [", 1, "array"),
        ("\n[bok]\n", 2, "bok"),
        ("[book]\n\nvarity = 3\n", 3, "did you mean \"variety\"?"),
        ("[book]\nvariety = 300\n", 2, "from 0 to 100"),
        ("[book]\ntournament = \"maybe\"\n", 2, "true or false"),
        ("[book]\nvariety = [1]\n", 2, "not a list"),
        ("[engine.x]\ncomand = \"x\"\n", 2, "comand"),
        (
            "[engine.x]\nargs = 3\n",
            2,
            "\"args\" takes a text or a list of texts",
        ),
        ("[engine.x.options]\nHash = { a = 1 }\n", 2, "not a table"),
        ("[[books]]\nvariety = 1\n", 2, "needs its file"),
        (
            "[[books]]\nfile = \"x\"\ncolour = \"red\"\n",
            3,
            "not \"red\"",
        ),
        (
            "[[books]]\nfile = \"x\"\ntime_control = \"fast\"\n",
            3,
            "bullet, blitz",
        ),
        ("[[books]]\nfile = \"x\"\nelo = 1800\n", 3, "1200..1800"),
        (
            "[[books]]\nfile = \"x\"\nvariant = \"\"\n",
            3,
            "UCI_Variant: antichess",
        ),
        (
            "[book]\nfile = \"x\"\n[[books]]\nfile = \"y\"\n",
            2,
            "keep one",
        ),
    ] {
        let error = fails(text);
        let place = format!("/home/me/engines.toml: line {line}: ");
        assert!(error.starts_with(&place), "{text:?}: {error}");
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

/// Each key with the one that was meant, or with the table where it belongs.
#[test]
fn an_unknown_key_leads_to_the_right_one() {
    for (text, part) in [
        (
            "[engine.x]\ncmd = \"x\"",
            "in [engine.x] (did you mean \"command\"?)",
        ),
        ("[engine.x]\npath = \"x\"", "(did you mean \"command\"?)"),
        ("[engine.x]\ncomand = \"x\"", "(did you mean \"command\"?)"),
        ("[engine.x]\ncwd = \"x\"", "(did you mean \"dir\"?)"),
        (
            "[engine.x]\nHash = 16",
            "unknown key \"Hash\" in [engine.x]: an option of the engine is written in [engine.x.options]",
        ),
        ("[engine.x]\nvariety = 3", "write it in [engine.x.book]"),
        (
            "[engine]\ncommand = \"x\"",
            "\"command\" stands in [engine.NAME], with the name of an engine",
        ),
        (
            "[engine]\nHash = 16",
            "\"Hash\" stands in [engine.NAME.options], with the name of an engine",
        ),
        ("[[engine]]\ncommand = \"x\"", "as [engine.stockfish]"),
        (
            "[book]\nmin_games = 3",
            "in [book] (did you mean \"minimum_games\"?)",
        ),
        ("[book]\nfiles = [\"x\"]", "(did you mean \"file\"?)"),
        (
            "[book]\nopponent = \"x\"",
            "it is for one book, under [[books]]",
        ),
        (
            "[books]\nfile = \"x\"",
            "each book is a table [[books]], with two brackets",
        ),
        (
            "[[book]]\nfile = \"x\"",
            "several books with options of their own are written [[books]]",
        ),
        (
            "[[books]]\npath = \"x\"",
            "in [[books]] (did you mean \"file\"?)",
        ),
        (
            "[[books]]\nfile = \"x\"\ntime = 3",
            "unknown key \"time\" in [[books]]",
        ),
        (
            "variety = 3",
            "in this file: write \"variety\" in a table [book]",
        ),
        (
            "command = \"x\"",
            "write \"command\" in a table [engine.NAME]",
        ),
        ("defualt = \"x\"", "(did you mean \"default\"?)"),
        ("engines = 3", "(did you mean \"engine\"?)"),
        (
            "[engine.x]\nstart_timeout_ms = \"soon\"",
            "a whole number of milliseconds",
        ),
        (
            "[engine.x]\nenv = 3",
            "\"env\" is a table of names and values",
        ),
        (
            "[engine.x]\ncommand = [\"x\", \"y\"]",
            "takes a text in quotes, not a list",
        ),
        ("default = 3", "\"default\" takes a text or a list of texts"),
        ("name = \" \"", "name takes a text in one line"),
        (
            "[engine.x.options]\nSyzygyPath = \"a\\nquit\"",
            "\"SyzygyPath\" takes a text in one line",
        ),
    ] {
        let error = fails(text);
        assert!(error.contains(part), "{text:?}: {error}");
        for rust in ["expected", "struct", "sequence", "invalid type", "`"] {
            assert!(!error.contains(rust), "{text:?}: {error}");
        }
    }
}

#[test]
fn one_books_table_may_have_a_list_of_files() {
    let config = parse("[[books]]\nfile = [\"a.ctg\", \"b.ctg\"]\nvariety = 3").unwrap();
    let paths: Vec<&str> = config.books.iter().map(|book| &*book.path).collect();
    assert_eq!(paths, [beside("a.ctg"), beside("b.ctg")]);
    let own = |book: &BookSpec| book.overrides.len();
    assert!(config.books.iter().all(|book| own(book) == 1));
}

#[test]
fn the_name_for_guis_can_be_given() {
    let name = |text: &str| parse(text).unwrap().name;
    assert_eq!(name("name = \" Second \""), Some("Second".to_owned()));
    assert_eq!(name(""), None);
}

#[test]
fn an_unknown_engine_is_named_with_those_that_exist() {
    let error = parse(SAMPLE)
        .unwrap()
        .engines(&["komodo".into()], Some(&builtin()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("komodo"), "{error}");
    assert!(error.contains("stockfish, lc0, builtin"), "{error}");
    assert!(error.contains(" in /home/me/engines.toml "), "{error}");
}

#[test]
fn of_several_engines_one_that_is_not_there_leaves_its_place_to_the_next() {
    for described in ["", "[engine.no-such-engine]\n"] {
        let names = "default = [\"no-such-engine\", \"builtin\"]\n";
        let config = parse(&format!("{names}{described}")).unwrap();
        let (engines, commands) = config.engines(&[], Some(&builtin())).unwrap();
        assert_eq!(engines.chain, 2);
        assert_eq!(commands[0].program, Path::new("no-such-engine"));
        assert_eq!(commands[1], builtin());
    }
    let alone = parse("default = \"no-such-engine\"\n").unwrap();
    assert!(alone.engines(&[], Some(&builtin())).is_err());
}

#[test]
fn the_sample_file_is_valid_and_contains_the_defaults() {
    let text = include_str!("../../../../engines.toml");
    let config = Config::parse(text, Path::new("engines.toml")).unwrap();
    assert!(config.is_empty());
    // The keys of lines with a space after `#`, up to the alternatives.
    let values = [
        "default", "[", "command", "start", "variety", "tour", "depth", "minimum",
    ];
    let opened: String = text
        .lines()
        .take_while(|line| !line.starts_with("# Instead"))
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| values.iter().any(|value| line.starts_with(value)))
        .map(|line| format!("{line}\n"))
        .collect();
    let config = Config::parse(&opened, Path::new("engines.toml")).unwrap();
    assert_eq!((config.engines.len(), config.book.len()), (1, 4));
    assert!(!config.is_empty());
    let settings = |config: &Config| {
        let (engines, _) = config.engines(&[], Some(&builtin())).unwrap();
        engines.profiles[0].settings.options().policy
    };
    assert_eq!(config.default, Config::default().default);
    assert_eq!(settings(&config), settings(&Config::default()));
}

#[test]
fn a_program_without_the_builtin_engine_does_not_name_it() {
    let (engines, commands) = Config::default().engines(&[], None).unwrap();
    assert_eq!((engines.chain, engines.stand_in), (1, None));
    assert_eq!(commands[0].program, std::path::Path::new("stockfish"));
    let error = Config::default().engines(&["builtin".into()], None);
    assert!(error.unwrap_err().to_string().contains("builtin"));
}

#[test]
fn the_error_for_an_unreadable_file_has_the_reason_once() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| {
        let path = folder.path().join(name);
        let text = Config::read(&path).unwrap_err().to_string();
        text.replace(path.to_str().unwrap(), "FILE")
    };
    let missing = read("nosuch.toml");
    assert_eq!(missing.matches("os error").count(), 1, "{missing}");
    std::fs::write(folder.path().join("latin.toml"), b"# caf\xe9\n").unwrap();
    assert_eq!(
        read("latin.toml"),
        "FILE: not text in UTF-8: save it as UTF-8"
    );
}

#[test]
fn a_path_of_windows_in_double_quotes_gets_the_way_out() {
    for path in [r"C:\uno\x.exe", r"C:\engines\x.exe", r"C:\x"] {
        let text = fails(&format!("[engine.x]\ncommand = \"{path}\"\n"));
        assert!(text.contains("line 2"), "{text}");
        assert!(text.contains("single quotes"), "{text}");
    }
    let other = fails("[engine.x]\ncommand = \"x\ny = 3\"\n");
    assert!(!other.contains("single quotes"), "{other}");
}

#[test]
fn the_books_of_the_first_engine_are_listed_once() {
    let files = |text: &str| parse(text).unwrap().book_files();
    assert_eq!(files(""), ["<starter>"]);
    let both = "[book]\nfile = [\"a.ctg\", \"b.ctg\"]\nwhite_file = \"w.ctg\"\n";
    assert_eq!(
        files(both),
        [beside("w.ctg"), beside("a.ctg"), beside("b.ctg")]
    );
    let each = "[[books]]\nfile = \"a.ctg\"\n[[books]]\nfile = \"a.ctg\"\ncolour = \"white\"\n";
    assert_eq!(files(each), [beside("a.ctg")]);
    let own = "[engine.x.book]\nfile = \"x.ctg\"\n[book]\nfile = \"a.ctg\"\n";
    assert_eq!(files(own), [beside("x.ctg")]);
}

#[test]
fn folders_count_from_the_file() {
    let folders = |text: &str| parse(text).unwrap().folders;
    assert_eq!(folders(""), Vec::<PathBuf>::new());
    assert_eq!(folders("folder = \"books\""), [Path::new("/home/me/books")]);
    let two = folders("folder = [\"/a\", \"b/c\"]\n[book]\nvariety = 3");
    assert_eq!(two, [Path::new("/a"), Path::new("/home/me/b/c")]);
    assert!(fails("folder = 3").contains("engines.toml: line 1: "));
}
