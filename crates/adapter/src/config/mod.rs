//! `engines.toml`: engines, books, and their options.
//!
//! The text is parsed in one pass; any problem becomes one error that names the file, the
//! line and what to do.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use serde::Deserialize;
use shakmaty::Color;
use toml::Spanned;

use crate::book_set::BookSpec;
use crate::session::{Engines, IfNoneStarts, Profile};
use crate::settings::{
    BookFiles, CONFIGURED, NONE, OptionId, Options, STARTER, Scope, Setting, paths,
};
use tabia_book::options::OptionKind;
use tabia_engine::{EngineCommand, is_on_path, itself};
use tabia_io::input::path::{from_home, to_text};

/// The name of the built-in engine.
pub const BUILTIN: &str = "builtin";

/// How long an engine may take to send `uciok`, unless its profile says otherwise.
pub const START_TIMEOUT: Duration = Duration::from_secs(8);

/// Something wrong with a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file has an invalid value.
    #[error("{}: line {line}: {text}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// Where, counted from 1.
        line: usize,
        /// What is wrong, and which values are valid.
        text: String,
    },
    /// An engine is Tabia's adapter itself.
    #[error("engine \"{name}\" of {place}: {}", itself::REASON)]
    OwnEngine {
        /// Its name.
        name: String,
        /// Where it is described.
        place: String,
    },
    /// No profile describes the requested engine.
    #[error(
        "there is no engine \"{name}\" in {place} (there are: {known}), nor a program of that name on the PATH"
    )]
    NoSuchEngine {
        /// The requested name.
        name: String,
        /// Where it was searched.
        place: String,
        /// The existing names.
        known: String,
    },
}

/// A parsed and checked configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The file that it was read from; `None` for the built-in defaults.
    pub path: Option<PathBuf>,
    /// Names of the engines to try, in order.
    pub default: Vec<String>,
    /// The engine profiles.
    pub engines: Vec<EngineEntry>,
    /// `[book]`
    pub book: Vec<Setting>,
    /// `[[books]]`.
    pub books: Vec<BookSpec>,
    /// Folders whose books and indexes `tabia explore` may open.
    pub folders: Vec<PathBuf>,
}

/// `[engine.NAME]`
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineEntry {
    /// Its name.
    pub name: String,
    /// How to start it.
    pub command: EngineCommand,
    /// How long it may take to send `uciok`.
    pub start_timeout: Duration,
    /// UCI options to set, in order.
    pub options: Vec<(String, String)>,
    /// Tabia's options for this engine.
    pub book: Vec<Setting>,
}

impl EngineEntry {
    /// An engine without options of its own, that has the usual time to start.
    #[must_use]
    pub const fn new(name: String, command: EngineCommand) -> EngineEntry {
        EngineEntry {
            name,
            command,
            start_timeout: START_TIMEOUT,
            options: Vec::new(),
            book: Vec::new(),
        }
    }
}

impl Default for Config {
    /// Stockfish if it is installed, else the built-in engine, with the starter book.
    fn default() -> Config {
        Config {
            path: None,
            default: vec!["stockfish".to_owned(), BUILTIN.to_owned()],
            engines: Vec::new(),
            book: Vec::new(),
            books: Vec::new(),
            folders: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<Names>,
    #[serde(default)]
    engine: IndexMap<String, EngineTable>,
    #[serde(default)]
    book: Table,
    #[serde(default)]
    books: Vec<Table>,
    folder: Option<Names>,
}

/// A table whose valid keys are listed elsewhere, with the position of each key.
type Table = IndexMap<Spanned<String>, Spanned<toml::Value>>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    fn list(self) -> Vec<String> {
        match self {
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineTable {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    dir: Option<PathBuf>,
    #[serde(default)]
    env: IndexMap<String, String>,
    start_timeout_ms: Option<u64>,
    #[serde(default)]
    options: Table,
    #[serde(default)]
    book: Table,
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not TOML, or has an invalid key or value.
    pub fn read(path: &Path) -> Result<Config, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::Read {
            path: path.to_path_buf(),
            reason: match error.kind() {
                ErrorKind::InvalidData => "not text in UTF-8: save it as UTF-8".to_owned(),
                _ => error.to_string(),
            },
        })?;
        Config::parse(&text, path)
    }

    /// Parses a configuration. Relative paths start from the folder of `path`.
    ///
    /// # Errors
    ///
    /// The text is not TOML, or has an invalid key or value.
    pub fn parse(text: &str, path: &Path) -> Result<Config, Error> {
        let reader = Reader { text, path };
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            reader.error(
                at,
                &format!("{}{}", error.message(), reader.escape_hint(at)),
            )
        })?;
        let default = match file.default {
            None => match file.engine.keys().next() {
                Some(_) => file.engine.keys().cloned().collect(),
                None => Config::default().default,
            },
            Some(names) => names.list(),
        };
        let folders = file.folder.map(Names::list).unwrap_or_default();
        let folders = folders.iter().map(|folder| reader.resolve(folder).into());
        let folders = folders.collect();
        let mut engines = Vec::new();
        for (name, table) in file.engine {
            engines.push(reader.engine(name, table)?);
        }
        let book = reader.options(&file.book)?;
        let mut books = Vec::new();
        for table in &file.books {
            books.push(reader.book(table)?);
        }
        if let (Some((key, _)), false) = (
            file.book
                .iter()
                .find(|(key, _)| OptionId::by_key(key.get_ref()) == Some(OptionId::File)),
            books.is_empty(),
        ) {
            return Err(reader.error(
                key.span().start,
                "books are named here and under [[books]]: keep one of the two",
            ));
        }
        Ok(Config {
            path: Some(path.to_path_buf()),
            default,
            engines,
            book,
            books,
            folders,
        })
    }

    /// The engines of a session and how to start each: those of `names`, or of `default`
    /// when `names` is empty. `builtin` is the command of the built-in engine, if
    /// available; it is added at the end as a possible replacement for a lost engine.
    ///
    /// # Errors
    ///
    /// The only name is one that no profile describes, or an engine is this program.
    pub fn engines(
        &self,
        names: &[String],
        builtin: Option<&EngineCommand>,
    ) -> Result<(Engines, Vec<EngineCommand>), Error> {
        let names = if names.is_empty() {
            &self.default
        } else {
            names
        };
        let mut profiles = Vec::new();
        let mut commands = Vec::new();
        for name in names {
            // Among several names, the built-in engine may be missing.
            if builtin.is_none() && name == BUILTIN && names.len() > 1 {
                continue;
            }
            let (profile, command) = self.profile(name, names.len() == 1, builtin)?;
            if command.is_this_program() {
                return Err(Error::OwnEngine {
                    name: name.clone(),
                    place: self.place(),
                });
            }
            profiles.push(profile);
            commands.push(command);
        }
        let chain = profiles.len();
        if let Some(builtin) = builtin {
            profiles.push(self.profile_of(BUILTIN, None));
            commands.push(builtin.clone());
        }
        let engines = Engines {
            profiles,
            stand_in: builtin.map(|_| chain),
            chain,
            if_none_starts: IfNoneStarts::PlayOn,
            record_games: false,
        };
        Ok((engines, commands))
    }

    fn profile(
        &self,
        name: &str,
        alone: bool,
        builtin: Option<&EngineCommand>,
    ) -> Result<(Profile, EngineCommand), Error> {
        let entry = self.engines.iter().find(|entry| entry.name == name);
        let command = match (entry, builtin) {
            (Some(entry), Some(builtin)) if entry.command.program == Path::new(BUILTIN) => {
                builtin.clone()
            }
            (Some(entry), _) => entry.command.clone(),
            (None, Some(builtin)) if name == BUILTIN => builtin.clone(),
            // A program on the PATH needs no profile. If one of several is missing,
            // starting it fails, and the next one plays.
            (None, _) if !alone || is_on_path(name) => EngineCommand::new(name),
            (None, _) => {
                let mut known: Vec<&str> = self.engines.iter().map(|e| e.name.as_str()).collect();
                known.extend(builtin.map(|_| BUILTIN));
                return Err(Error::NoSuchEngine {
                    name: name.to_owned(),
                    place: self.place(),
                    known: known.join(", "),
                });
            }
        };
        Ok((self.profile_of(name, entry), command))
    }

    fn profile_of(&self, name: &str, entry: Option<&EngineEntry>) -> Profile {
        let mut usual = Options::default();
        if !self.books.is_empty() {
            usual.file = BookFiles::Configured;
        }
        let of_engine = entry.map_or(&[][..], |entry| &entry.book);
        Profile {
            name: name.to_owned(),
            options: entry.map_or_else(Vec::new, |entry| entry.options.clone()),
            // The options of the engine override the others.
            settings: usual.with(&self.book).with(of_engine).into(),
            books: self.books.clone(),
            start_timeout: entry.map_or(START_TIMEOUT, |entry| entry.start_timeout),
        }
    }

    /// Whether the file has no content except comments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Config {
            path: None,
            ..self.clone()
        } == Config::default()
    }

    /// The name of the file, for messages.
    #[must_use]
    pub fn place(&self) -> String {
        self.path.as_deref().map_or_else(
            || "the built-in defaults".to_owned(),
            |path| path.display().to_string(),
        )
    }
}

/// The text that is being parsed, for messages.
struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Reader<'_> {
    fn error(&self, at: usize, text: &str) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        Error::Content {
            path: self.path.to_path_buf(),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            text: text.replace('\n', " "),
        }
    }

    /// Advice for a Windows path in double quotes, where TOML reads a backslash as an
    /// escape.
    fn escape_hint(&self, at: usize) -> &'static str {
        let (before, after) = self.text.split_at_checked(at).unwrap_or((self.text, ""));
        let line = before.rsplit('\n').next().unwrap_or_default();
        let rest = after.lines().next().unwrap_or_default();
        match line.contains('\\') || (line.contains('"') && rest.starts_with('\\')) {
            true => ": write a path with \\ between single quotes ('C:\\chess\\x.exe'), or with /",
            false => "",
        }
    }

    /// A path of the file, relative to its folder.
    fn resolve(&self, path: &str) -> String {
        match path {
            STARTER | NONE | CONFIGURED | "" => path.to_owned(),
            _ => {
                let folder = self.path.parent().unwrap_or(Path::new(""));
                to_text(&folder.join(from_home(Path::new(path))))
            }
        }
    }

    fn engine(&self, name: String, table: EngineTable) -> Result<EngineEntry, Error> {
        let program = table.command.unwrap_or_else(|| name.clone());
        let folder = self.path.parent().unwrap_or(Path::new(""));
        // A bare name is searched in PATH, a path is relative to the file.
        let program = if Path::new(&program).components().count() > 1 {
            folder.join(from_home(Path::new(&program)))
        } else {
            PathBuf::from(program)
        };
        let mut options = Vec::new();
        for (key, value) in &table.options {
            options.push((key.get_ref().clone(), self.scalar(key, value)?));
        }
        Ok(EngineEntry {
            command: EngineCommand::new(program)
                .args(table.args.into_iter().map(Into::into).collect())
                .dir(table.dir.map(|dir| folder.join(from_home(&dir))))
                .env(table.env.into_iter().collect()),
            start_timeout: table
                .start_timeout_ms
                .map_or(START_TIMEOUT, Duration::from_millis),
            options,
            book: self.options(&table.book)?,
            name,
        })
    }

    fn book(&self, table: &Table) -> Result<BookSpec, Error> {
        let mut spec = BookSpec::default();
        for (key, value) in table {
            match key.get_ref().as_str() {
                "file" => spec.path = self.resolve(&self.scalar(key, value)?),
                "colour" | "color" => {
                    spec.colour = match self.scalar(key, value)?.as_str() {
                        "white" => Some(Color::White),
                        "black" => Some(Color::Black),
                        "both" => None,
                        other => {
                            return Err(self.error(
                                value.span().start,
                                &format!(
                                    "colour is \"white\", \"black\" or \"both\", not \"{other}\""
                                ),
                            ));
                        }
                    };
                }
                other => {
                    let text = self.scalar(key, value)?;
                    match spec.conditions.read(other, &text) {
                        None => {
                            let id = self.option(key, value, &mut spec.overrides)?;
                            if let Scope::Adapter(advice) = id.spec().scope {
                                let text = format!("\"{other}\" under [[books]]: {advice}");
                                return Err(self.error(key.span().start, &text));
                            }
                        }
                        Some(Ok(())) => {}
                        Some(Err(expected)) => {
                            let text = format!("{other} takes {expected}, not \"{text}\"");
                            return Err(self.error(value.span().start, &text));
                        }
                    }
                }
            }
        }
        if spec.path.is_empty() {
            let at = table.first().map_or(0, |(key, _)| key.span().start);
            return Err(self.error(at, "a [[books]] entry needs its file"));
        }
        Ok(spec)
    }

    fn options(&self, table: &Table) -> Result<Vec<Setting>, Error> {
        let mut options = Vec::new();
        for (key, value) in table {
            self.option(key, value, &mut options)?;
        }
        Ok(options)
    }

    /// Reads an option and adds it to those of its table.
    fn option(
        &self,
        key: &Spanned<String>,
        value: &Spanned<toml::Value>,
        options: &mut Vec<Setting>,
    ) -> Result<OptionId, Error> {
        let Some(id) = OptionId::by_key(key.get_ref()) else {
            return Err(self.error(
                key.span().start,
                &format!(
                    "unknown key \"{}\"{}",
                    key.get_ref(),
                    suggestion(key.get_ref())
                ),
            ));
        };
        let text = match Options::default().kind(id) {
            OptionKind::Paths => {
                let list = self.paths(key, value)?;
                let list: Vec<String> = list.iter().map(|path| self.resolve(path)).collect();
                paths::join(&list)
            }
            OptionKind::Path => self.resolve(&self.scalar(key, value)?),
            OptionKind::Check(_)
            | OptionKind::Spin { .. }
            | OptionKind::Combo { .. }
            | OptionKind::Text => self.scalar(key, value)?,
        };
        let setting = Setting::read(id, &text)
            .map_err(|error| self.error(value.span().start, &error.to_string()))?;
        if options.iter().any(|known| known.id() == id) {
            let name = id.spec().name;
            let text = format!("{name} is set twice in this table: remove one of the two");
            return Err(self.error(key.span().start, &text));
        }
        options.push(setting);
        Ok(id)
    }

    /// A list of paths, or a text of paths.
    fn paths(
        &self,
        key: &Spanned<String>,
        value: &Spanned<toml::Value>,
    ) -> Result<Vec<String>, Error> {
        let toml::Value::Array(paths) = value.get_ref() else {
            return Ok(paths::split(&self.scalar(key, value)?));
        };
        let paths = paths.iter().map(|path| path.as_str().map(str::to_owned));
        let paths: Option<Vec<String>> = paths.collect();
        paths.ok_or_else(|| self.error(value.span().start, "a list of paths is expected"))
    }

    fn scalar(&self, key: &Spanned<String>, value: &Spanned<toml::Value>) -> Result<String, Error> {
        match value.get_ref() {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(number) => Ok(number.to_string()),
            toml::Value::Float(number) => Ok(number.to_string()),
            toml::Value::Boolean(on) => Ok(on.to_string()),
            other => Err(self.error(
                value.span().start,
                &format!(
                    "\"{}\" takes a text, a number or true/false, not {}",
                    key.get_ref(),
                    match other {
                        toml::Value::Array(_) => "a list",
                        toml::Value::Table(_) => "a table",
                        _ => "a date",
                    }
                ),
            )),
        }
    }
}

/// A similar valid key, if there is one.
fn suggestion(key: &str) -> String {
    OptionId::ALL
        .iter()
        .map(|id| id.spec().key)
        .chain(["file", "opponent", "time_control", "elo", "variant"])
        .map(|known| (strsim::damerau_levenshtein(key, known), known))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map_or_else(String::new, |(_, known)| {
            format!(" (did you mean \"{known}\"?)")
        })
}

#[cfg(test)]
mod tests;
