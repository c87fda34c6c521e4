//! What Tab offers for the value of an argument: books, games, engines, options.
//!
//! Nothing here fails or prints: what cannot be read is left out. No engine is started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf, is_separator};

use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};

use super::configuration::{self, ConfigArgs};
use super::tab;
use crate::install::is_executable;
use tabia_adapter::config::{BUILTIN, Config};
use tabia_book::options::OptionKind;
use tabia_choice::settings::{OptionId, Options, STARTER};
use tabia_engine::search_path;
use tabia_games::is_game_file;
use tabia_io::input::path::{from_home, has_extension};
use tabia_notation::kind::BookKind;

/// Whose options an argument sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Options of the adapter that decide between moves.
    Choice,
    /// Options of the engine.
    Engine,
    /// Options of the adapter and of the engine.
    Both,
}

/// Books.
pub(crate) fn books() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| book_files(&configuration(), typed, is_book))
}

/// Books and indexes of games.
pub(crate) fn books_and_indexes() -> ArgValueCompleter {
    let is_wanted = |path: &Path| is_book(path) || has_extension(path, "tgx");
    ArgValueCompleter::new(move |typed: &OsStr| book_files(&configuration(), typed, is_wanted))
}

/// Books and games.
pub(crate) fn books_and_games() -> ArgValueCompleter {
    let is_wanted = |path: &Path| is_book(path) || is_game_file(path);
    ArgValueCompleter::new(move |typed: &OsStr| book_files(&configuration(), typed, is_wanted))
}

/// Games: PGN, databases, indexes.
pub(crate) fn games() -> ArgValueCompleter {
    ArgValueCompleter::new(PathCompleter::any().filter(is_game_file))
}

/// Engines: names of the configuration, and programs.
pub(crate) fn engines() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut offered = engine_names(&configuration(), typed);
        offered.extend(programs(&search_path(), typed));
        offered
    })
}

/// Programs.
pub(crate) fn commands_anywhere() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| programs(&search_path(), typed))
}

/// The engine of `-- COMMAND`.
pub(crate) fn commands() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        // `clap_complete` asks without the `--` too.
        let is_command = tab::typed().iter().any(|word| word == "--");
        match is_command {
            true => programs(&search_path(), typed),
            false => Vec::new(),
        }
    })
}

/// `NAME=VALUE`.
pub(crate) fn options(of: Of) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy();
        match typed.split_once('=') {
            None => option_names(&configuration(), &typed, of),
            Some((name, value)) => option_values(&configuration(), name, value, of),
        }
    })
}

/// The configuration of the line that is typed; the default one if it has errors.
fn configuration() -> Config {
    let words = tab::typed();
    let config = words.windows(2).find_map(|pair| match pair {
        [name, value] if name == "--config" => Some(value.as_str()),
        [word, _] => word.strip_prefix("--config="),
        _ => None,
    });
    let config = config.map(|path| from_home(path.as_ref()));
    configuration::configuration(&ConfigArgs { config }).unwrap_or_default()
}

fn is_book(path: &Path) -> bool {
    BookKind::of_name(path).is_some()
}

/// The files in the folder that is typed, and the books of the configuration.
fn book_files(
    config: &Config,
    typed: &OsStr,
    is_wanted: impl Fn(&Path) -> bool + Send + Sync + 'static,
) -> Vec<CompletionCandidate> {
    let mut offered = PathCompleter::any().filter(is_wanted).complete(typed);
    for book in config.book_files() {
        let is_new = !offered.iter().any(|known| known.get_value() == &*book);
        if book != STARTER && is_new && begins(&book, typed) {
            offered.push(offer(book, "in the configuration"));
        }
    }
    offered
}

/// The engines of the configuration, with their commands.
fn engine_names(config: &Config, typed: &OsStr) -> Vec<CompletionCandidate> {
    let engines = config.engines.iter();
    let named = engines.map(|entry| offer(&entry.name, &entry.command.to_string()));
    let builtin = cfg!(feature = "builtin-engine").then(|| offer(BUILTIN, "the built-in engine"));
    let mut offered: Vec<_> = named.chain(builtin).collect();
    offered.retain(|name| begins(name.get_value(), typed));
    offered
}

/// The programs in the folder that is typed; for a word without a folder those in these
/// folders, if a letter is typed.
fn programs(folders: &[PathBuf], typed: &OsStr) -> Vec<CompletionCandidate> {
    // A bare name does not mean a program in the current folder.
    let is_bare = !typed.to_string_lossy().contains(is_separator);
    let is_wanted = move |path: &Path| !is_bare && is_executable(path);
    let mut offered = PathCompleter::any().filter(is_wanted).complete(typed);
    if is_bare && !typed.is_empty() {
        let entries = folders.iter().flat_map(std::fs::read_dir).flatten();
        let files = entries.flatten().map(|entry| entry.path());
        let name = |path: PathBuf| match cfg!(windows) {
            true => path.file_stem().map(OsStr::to_owned),
            false => path.file_name().map(OsStr::to_owned),
        };
        let found = files.filter(|path| path.file_name().is_some_and(|name| begins(name, typed)));
        let mut names: Vec<_> = found
            .filter(|path| is_executable(path))
            .filter_map(name)
            .collect();
        names.sort();
        names.dedup();
        offered.extend(names.into_iter().map(CompletionCandidate::new));
    }
    offered
}

impl Of {
    fn takes(self, id: OptionId) -> bool {
        match self {
            Of::Choice => id.spec().scope.counts_for_probe(),
            Of::Engine => false,
            Of::Both => true,
        }
    }
}

/// The names of options; of engines' options, the configured ones.
fn option_names(config: &Config, typed: &str, of: Of) -> Vec<CompletionCandidate> {
    let own = OptionId::ALL.iter().filter(|id| of.takes(**id));
    let own = own.map(|id| offer(format!("{}=", id.spec().name), id.spec().help));
    let entries = config.engines.iter().filter(|_| of != Of::Choice);
    let names = entries
        .flat_map(|entry| &entry.options)
        .map(|(name, _)| name);
    let theirs = names.map(|name| offer(format!("{name}="), "an option of the engine"));
    let mut offered: Vec<_> = Vec::new();
    for option in own.chain(theirs) {
        if begins(option.get_value(), typed) && !offered.contains(&option) {
            offered.push(option);
        }
    }
    offered
}

/// What may follow `NAME=`, with it.
fn option_values(config: &Config, name: &str, value: &str, of: Of) -> Vec<CompletionCandidate> {
    let id = OptionId::by_name(name.trim()).filter(|id| of.takes(*id));
    let words = |words: &[&'static str]| {
        let words = words.iter().filter(|word| begins(*word, value));
        words.map(CompletionCandidate::new).collect()
    };
    let values: Vec<_> = match id.map(|id| Options::default().kind(id)) {
        Some(OptionKind::Check(_)) => words(&["true", "false"]),
        Some(OptionKind::Combo { words: all, .. }) => words(all),
        Some(OptionKind::Path) => PathCompleter::any().complete(value.as_ref()),
        Some(OptionKind::Paths) => {
            let (others, last) = value.split_at(value.rfind(';').map_or(0, |at| at + 1));
            let books = book_files(config, last.as_ref(), is_book).into_iter();
            books.map(|book| book.add_prefix(others)).collect()
        }
        Some(OptionKind::Spin { .. } | OptionKind::Text) | None => Vec::new(),
    };
    let values = values.into_iter();
    values
        .map(|value| value.add_prefix(format!("{name}=")))
        .collect()
}

fn offer(value: impl Into<OsString>, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.to_owned().into()))
}

/// Whether a word continues what is typed, in any case.
fn begins(word: impl AsRef<OsStr>, typed: impl AsRef<OsStr>) -> bool {
    let [word, typed] = [word.as_ref(), typed.as_ref()].map(OsStr::as_encoded_bytes);
    let start = word.get(..typed.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::MAIN_SEPARATOR;

    fn config() -> Config {
        let text = "default = \"sf\"\n\
            [engine.sf]\ncommand = \"/opt/sf/stockfish\"\noptions = { Hash = 64, Threads = 2 }\n\
            [engine.lc0]\ncommand = \"/opt/lc0\"\noptions = { Threads = 1 }\n\
            [[books]]\nfile = \"/books/main.ctg\"\n[[books]]\nfile = \"/books/other.bin\"\n";
        Config::parse(text, Path::new("/etc/engines.toml")).unwrap()
    }

    fn values(offered: Vec<CompletionCandidate>) -> Vec<String> {
        let values = offered.iter().map(CompletionCandidate::get_value);
        values
            .map(|value| value.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn books_are_those_of_the_folder_and_of_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "a.ctg", "a.cto", "b.BIN", "c.abk", "d.tgx", "e.pgn", "f.txt",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("sub")).unwrap();
        let root = format!("{}{MAIN_SEPARATOR}", folder.path().display());
        let names = |typed: &str, is_wanted: fn(&Path) -> bool| -> Vec<String> {
            let typed = format!("{root}{typed}");
            let offered = values(book_files(&config(), typed.as_ref(), is_wanted));
            let name = |path: &String| path.strip_prefix(&root).unwrap().to_owned();
            offered.iter().map(name).collect()
        };
        let sub = format!("sub{MAIN_SEPARATOR}");
        assert_eq!(names("", is_book), ["a.ctg", "b.BIN", "c.abk", &sub]);
        assert_eq!(names("a", is_book), ["a.ctg"]);
        assert_eq!(names("", is_game_file), ["d.tgx", "e.pgn", &sub]);
        let configured = values(book_files(&config(), "/books/m".as_ref(), is_book));
        assert_eq!(configured, ["/books/main.ctg"]);
        // The starter book has no file.
        assert!(book_files(&Config::default(), "<".as_ref(), is_book).is_empty());
    }

    #[test]
    fn engines_are_those_of_the_configuration_and_programs() {
        let names = |typed: &str| values(engine_names(&config(), typed.as_ref()));
        assert_eq!(names("")[..2], ["sf", "lc0"]);
        assert_eq!(names("L"), ["lc0"]);
        assert_eq!(
            names("").contains(&BUILTIN.to_owned()),
            cfg!(feature = "builtin-engine")
        );
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_executable_files() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("stockfish", 0o755), ("stockfish.txt", 0o644)] {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let folders = [folder.path().to_owned(), folder.path().join("absent")];
        let found = |typed: &str| values(programs(&folders, typed.as_ref()));
        assert_eq!(found("stock"), ["stockfish"]);
        // Without a letter there would be hundreds.
        assert!(!found("").contains(&"stockfish".to_owned()));
        let path = folder.path().join("stockfish").display().to_string();
        assert_eq!(found(path.strip_suffix("fish").unwrap()), [path]);
    }

    #[test]
    fn options_have_names_and_values() {
        let names = |typed, of| values(option_names(&config(), typed, of));
        assert_eq!(names("Book Var", Of::Choice), ["Book Variety="]);
        assert_eq!(names("book var", Of::Both), ["Book Variety="]);
        assert_eq!(names("", Of::Engine), ["Hash=", "Threads="]);
        assert!(names("Book Ponder", Of::Choice).is_empty());
        assert_eq!(names("", Of::Both).len(), OptionId::ALL.len() + 2);
        let of = |name, value| values(option_values(&config(), name, value, Of::Both));
        assert_eq!(of("Book Ponder", "t"), ["Book Ponder=true"]);
        assert_eq!(of("book preset", "opt"), ["book preset=Optimize"]);
        assert_eq!(
            of("Book File", "x;/books/o"),
            ["Book File=x;/books/other.bin"]
        );
        assert!(of("Hash", "").is_empty());
        assert!(of("Book Variety", "").is_empty());
    }
}
