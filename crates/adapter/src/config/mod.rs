//! `engines.toml`: engines, books, and their options.
//!
//! The text is parsed in one pass; any problem becomes one error that names the file, the
//! line and what to do.

pub use crate::session::START_TIMEOUT;
use crate::session::{Engines, IfNoneStarts, Profile};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tabia_choice::book_set::BookSpec;
use tabia_choice::settings::{BookFiles, Options, Setting};
use tabia_engine::{EngineCommand, is_on_path, itself};

mod read;

/// The name of the built-in engine.
pub const BUILTIN: &str = "builtin";

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
    /// The name that the adapter gives GUIs, instead of the engine's and its own.
    pub name: Option<String>,
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
            name: None,
        }
    }
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
        read::read(text, path)
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
            announced: self.name.clone(),
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

    /// The books of the first engine, in the order in which they are asked: `Book White File`,
    /// `Book Black File`, then `Book File` or `[[books]]`.
    #[must_use]
    pub fn book_files(&self) -> Vec<String> {
        let first = self.default.first().map_or("", String::as_str);
        let entry = self.engines.iter().find(|entry| entry.name == first);
        let profile = self.profile_of(first, entry);
        let options = profile.settings.options();
        let of_sides = [&options.white_file, &options.black_file];
        let of_sides = of_sides.into_iter().flat_map(|paths| &paths.0);
        let both: Vec<&str> = match &options.file {
            BookFiles::Configured => self.books.iter().map(|book| &*book.path).collect(),
            BookFiles::Listed(paths) => paths.0.iter().map(String::as_str).collect(),
        };
        let mut files: Vec<String> = Vec::new();
        for file in of_sides.map(String::as_str).chain(both) {
            if !files.iter().any(|known| known == file) {
                files.push(file.to_owned());
            }
        }
        files
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

#[cfg(test)]
mod tests;
