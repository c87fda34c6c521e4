//! Reads the text of a configuration. All keys are looked up here, so that one that is
//! unknown, misspelt or in the wrong table is named with the right one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use shakmaty::Color;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Config, EngineEntry, Error};
use tabia_book::options::OptionKind;
use tabia_choice::book_set::BookSpec;
use tabia_choice::settings::{
    CONFIGURED, NONE, OptionId, Options, STARTER, Scope, Setting, nearest, paths,
};
use tabia_engine::EngineCommand;
use tabia_io::input::path::{from_home, to_text};

/// A key and its place.
type Key<'t> = Spanned<DeString<'t>>;

/// A value and its place.
type Value<'t> = Spanned<DeValue<'t>>;

/// The keys outside of all tables.
const TOP: [&str; 6] = ["default", "engine", "book", "books", "folder", "name"];

/// The keys of `[engine.NAME]`.
const ENGINE: [&str; 7] = [
    "command",
    "args",
    "dir",
    "env",
    "start_timeout_ms",
    "options",
    "book",
];

/// The keys of `[[books]]` beside the options of a book.
const BOOKS: [&str; 6] = [
    "file",
    "colour",
    "opponent",
    "time_control",
    "elo",
    "variant",
];

/// Keys of these tables, with the words that people write in their place.
const OTHER_WORDS: [(&str, &[&str]); 8] = [
    (
        "command",
        &[
            "cmd",
            "path",
            "exe",
            "program",
            "executable",
            "binary",
            "file",
        ],
    ),
    ("args", &["arguments", "arg", "parameters"]),
    ("dir", &["cwd", "directory", "workdir", "working_directory"]),
    ("env", &["environment"]),
    (
        "start_timeout_ms",
        &["timeout", "start_timeout", "timeout_ms"],
    ),
    ("options", &["option", "uci", "uci_options", "setoption"]),
    ("file", &["path", "book", "files", "name"]),
    ("folder", &["dir", "directory", "path"]),
];

/// Reads a configuration. Relative paths start from the folder of `path`.
pub(super) fn read(text: &str, path: &Path) -> Result<Config, Error> {
    let reader = Reader { text, path };
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        reader.error(at, format!("{}{}", error.message(), reader.escape_hint(at)))
    })?;
    let mut config = Config {
        path: Some(path.to_path_buf()),
        ..Config::default()
    };
    let (mut default, mut file) = (None, None);
    for (key, value) in root.get_ref() {
        match key.get_ref().as_ref() {
            "default" => default = Some(reader.list(key, value)?),
            "engine" => config.engines = reader.engines(key, value)?,
            "book" => {
                let table = reader.table(key, value, SEVERAL_BOOKS)?;
                config.book = reader.options(table, "[book]")?;
                let is_file =
                    |key: &&Key<'_>| OptionId::by_key(key.get_ref()) == Some(OptionId::File);
                file = table.keys().find(is_file).map(|key| key.span().start);
            }
            "books" => config.books = reader.books(key, value)?,
            "folder" => {
                let folders = reader.list(key, value)?;
                let folders = folders.iter().map(|folder| reader.resolve(folder).into());
                config.folders = folders.collect();
            }
            "name" => config.name = Some(reader.name(key, value)?),
            _ => return Err(reader.unknown_at_top(key)),
        }
    }
    config.default = match default {
        None if config.engines.is_empty() => config.default,
        None => config.engines.iter().map(|e| e.name.clone()).collect(),
        Some(names) => names,
    };
    match file {
        Some(at) if !config.books.is_empty() => Err(reader.error(
            at,
            "books are named here and under [[books]]: keep one of the two",
        )),
        _ => Ok(config),
    }
}

const SEVERAL_BOOKS: &str = "[book] has the options for all books; several books with options \
                             of their own are written [[books]]";

/// The text that is being read, for messages.
struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Reader<'_> {
    fn error(&self, at: usize, text: impl AsRef<str>) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        Error::Content {
            path: self.path.to_path_buf(),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            text: text.as_ref().replace('\n', " "),
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
            _ => to_text(&self.folder().join(from_home(Path::new(path)))),
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The error for an unknown key: where it belongs, or a similar key.
    fn unknown(&self, key: &Key<'_>, table: &str, hint: &str) -> Error {
        let name = key.get_ref();
        self.error(
            key.span().start,
            format!("unknown key \"{name}\" in {table}{hint}"),
        )
    }

    fn unknown_at_top(&self, key: &Key<'_>) -> Error {
        let name = key.get_ref();
        let hint = match like(name, &TOP) {
            None if OptionId::by_key(name).is_some() => {
                format!(": write \"{name}\" in a table [book]")
            }
            None if like(name, &ENGINE).is_some() => {
                format!(": write \"{name}\" in a table [engine.NAME]")
            }
            found => did_you_mean(found),
        };
        self.unknown(key, "this file", &hint)
    }

    fn table<'t, 'v>(
        &self,
        key: &Key<'_>,
        value: &'v Value<'t>,
        instead: &str,
    ) -> Result<&'v DeTable<'t>, Error> {
        let table = value.get_ref().as_table();
        table.ok_or_else(|| self.error(key.span().start, instead))
    }

    fn engines(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<EngineEntry>, Error> {
        let tables = self.table(
            key,
            value,
            "an engine is a table of its own, as [engine.stockfish]",
        )?;
        let engines = tables.iter().map(|(name, value)| {
            let Some(table) = value.get_ref().as_table() else {
                let key = name.get_ref();
                let place = match like(key, &ENGINE) {
                    Some(_) => "[engine.NAME]",
                    None => "[engine.NAME.options]",
                };
                let text = format!(
                    "\"{key}\" stands in {place}, with the name of an engine, not in [engine]"
                );
                return Err(self.error(name.span().start, text));
            };
            self.engine(name.get_ref(), table)
        });
        engines.collect()
    }

    fn engine(&self, name: &str, table: &DeTable<'_>) -> Result<EngineEntry, Error> {
        let mut entry = EngineEntry::new(name.to_owned(), EngineCommand::new(name));
        let mut command = name.to_owned();
        let (mut args, mut dir, mut env) = (Vec::new(), None, Vec::new());
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "command" => command = self.text(key, value)?,
                "args" => args = self.list(key, value)?,
                "dir" => {
                    let folder = self.text(key, value)?;
                    dir = Some(self.folder().join(from_home(Path::new(&folder))));
                }
                "env" => env = self.named_values(key, value)?,
                "start_timeout_ms" => {
                    let number = self.scalar(key, value)?.parse().map_err(|_| {
                        let text = "start_timeout_ms takes a whole number of milliseconds";
                        self.error(value.span().start, text)
                    })?;
                    entry.start_timeout = Duration::from_millis(number);
                }
                "options" => {
                    let named = self.named_values(key, value)?;
                    // The next line would be a command of its own: `quit`.
                    let in_lines = |text: &str| text.contains(char::is_control);
                    if let Some((name, _)) = named.iter().find(|(a, b)| in_lines(a) || in_lines(b))
                    {
                        let text = format!("{name:?} takes a text in one line");
                        return Err(self.error(value.span().start, text));
                    }
                    let named = named.into_iter();
                    let of_engine = |(name, value): (String, _)| {
                        (OptionId::name_for_engine(&name).to_owned(), value)
                    };
                    entry.options = named.map(of_engine).collect();
                }
                "book" => {
                    let place = format!("[engine.{name}.book]");
                    let instead = format!("options of books for this engine are a table {place}");
                    entry.book = self.options(self.table(key, value, &instead)?, &place)?;
                }
                other => return Err(self.unknown_of_engine(key, name, other)),
            }
        }
        // A bare name is searched in PATH, a path is relative to the file.
        let program = match Path::new(&command).components().count() > 1 {
            true => self.folder().join(from_home(Path::new(&command))),
            false => PathBuf::from(command),
        };
        entry.command = EngineCommand::new(program)
            .args(args.into_iter().map(Into::into).collect())
            .dir(dir)
            .env(env);
        Ok(entry)
    }

    fn unknown_of_engine(&self, key: &Key<'_>, engine: &str, name: &str) -> Error {
        let hint = match like(name, &ENGINE) {
            None if OptionId::by_key(name).is_some() => {
                format!(": write it in [engine.{engine}.book]")
            }
            None => format!(": an option of the engine is written in [engine.{engine}.options]"),
            found => did_you_mean(found),
        };
        self.unknown(key, &format!("[engine.{engine}]"), &hint)
    }

    fn books(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<BookSpec>, Error> {
        let instead = "each book is a table [[books]], with two brackets; or all are in one list: \
                       [book] file = [\"a.ctg\", \"b.ctg\"]";
        let tables = value.get_ref().as_array();
        let tables = tables.ok_or_else(|| self.error(key.span().start, instead))?;
        let mut books = Vec::new();
        for value in tables {
            books.extend(self.book(self.table(key, value, instead)?, value.span().start)?);
        }
        Ok(books)
    }

    /// The books of a `[[books]]` table, with the same options.
    fn book(&self, table: &DeTable<'_>, at: usize) -> Result<Vec<BookSpec>, Error> {
        let mut spec = BookSpec::default();
        let mut files = Vec::new();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                // A text is one path, which may have a semicolon in it.
                "file" if value.get_ref().is_array() => files = self.list(key, value)?,
                "file" => files = vec![self.scalar(key, value)?],
                "colour" | "color" => {
                    spec.colour = match self.scalar(key, value)?.as_str() {
                        "white" => Some(Color::White),
                        "black" => Some(Color::Black),
                        "both" => None,
                        other => {
                            return Err(self.error(
                                value.span().start,
                                format!(
                                    "colour is \"white\", \"black\" or \"both\", not \"{other}\""
                                ),
                            ));
                        }
                    };
                }
                other if BOOKS.contains(&other) => {
                    let text = self.scalar(key, value)?;
                    if let Some(Err(expected)) = spec.conditions.read(other, &text) {
                        let text = format!("{other} takes {expected}, not \"{text}\"");
                        return Err(self.error(value.span().start, text));
                    }
                }
                other => {
                    let id = self.option(key, value, &mut spec.overrides, "[[books]]")?;
                    if let Scope::Adapter(advice) = id.spec().scope {
                        let text = format!("\"{other}\" under [[books]]: {advice}");
                        return Err(self.error(key.span().start, text));
                    }
                }
            }
        }
        files.retain(|file| !file.is_empty());
        if files.is_empty() {
            let at = table.keys().next().map_or(at, |key| key.span().start);
            return Err(self.error(at, "a [[books]] entry needs its file"));
        }
        let of_file = |file: &String| {
            let mut book = spec.clone();
            book.path = self.resolve(file);
            book
        };
        Ok(files.iter().map(of_file).collect())
    }

    fn options(&self, table: &DeTable<'_>, place: &str) -> Result<Vec<Setting>, Error> {
        let mut options = Vec::new();
        for (key, value) in table {
            self.option(key, value, &mut options, place)?;
        }
        Ok(options)
    }

    /// Reads an option and adds it to those of its table.
    fn option(
        &self,
        key: &Key<'_>,
        value: &Value<'_>,
        options: &mut Vec<Setting>,
        place: &str,
    ) -> Result<OptionId, Error> {
        let Some(id) = OptionId::by_key(key.get_ref()) else {
            let mut known: Vec<&str> = OptionId::ALL.iter().map(|id| id.spec().key).collect();
            if place == "[[books]]" {
                known.extend(BOOKS);
            }
            let name = key.get_ref();
            let found = like(name, &known);
            let hint = match found {
                None if BOOKS.contains(&name.as_ref()) => {
                    ": it is for one book, under [[books]]".to_owned()
                }
                found => did_you_mean(found),
            };
            return Err(self.unknown(key, place, &hint));
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
            .map_err(|error| self.error(value.span().start, error.to_string()))?;
        if options.iter().any(|known| known.id() == id) {
            let name = id.spec().name;
            let text = format!("{name} is set twice in this table: remove one of the two");
            return Err(self.error(key.span().start, text));
        }
        options.push(setting);
        Ok(id)
    }

    /// A list of paths, or a text of paths.
    fn paths(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<String>, Error> {
        match value.get_ref() {
            DeValue::Array(_) => self.list(key, value),
            _ => Ok(paths::split(&self.scalar(key, value)?)),
        }
    }

    /// One text, or a list of texts.
    fn list(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<String>, Error> {
        let refused = |value: &Value<'_>| {
            let (name, kind) = (key.get_ref(), kind(value.get_ref()));
            let text = format!("\"{name}\" takes a text or a list of texts, not {kind}");
            self.error(value.span().start, text)
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(vec![text.clone().into_owned()]),
            DeValue::Array(values) => {
                let texts = values.iter().map(|value| {
                    let text = value.get_ref().as_str().map(str::to_owned);
                    text.ok_or_else(|| refused(value))
                });
                texts.collect()
            }
            _ => Err(refused(value)),
        }
    }

    /// The name of the engine for GUIs: a text in one line.
    fn name(&self, key: &Key<'_>, value: &Value<'_>) -> Result<String, Error> {
        let name = self.text(key, value)?;
        match name.trim().is_empty() || name.contains(char::is_control) {
            true => Err(self.error(value.span().start, "name takes a text in one line")),
            false => Ok(name.trim().to_owned()),
        }
    }

    fn text(&self, key: &Key<'_>, value: &Value<'_>) -> Result<String, Error> {
        let text = value.get_ref().as_str().map(str::to_owned);
        text.ok_or_else(|| {
            let (name, kind) = (key.get_ref(), kind(value.get_ref()));
            self.error(
                value.span().start,
                format!("\"{name}\" takes a text in quotes, not {kind}"),
            )
        })
    }

    /// A table of names and values, in its order.
    fn named_values(
        &self,
        key: &Key<'_>,
        value: &Value<'_>,
    ) -> Result<Vec<(String, String)>, Error> {
        let name = key.get_ref();
        let instead = format!("\"{name}\" is a table of names and values: {name} = {{ Name = 1 }}");
        let table = self.table(key, value, &instead)?;
        let values = table.iter().map(|(key, value)| {
            let name = key.get_ref().clone().into_owned();
            Ok((name, self.scalar(key, value)?))
        });
        values.collect()
    }

    fn scalar(&self, key: &Key<'_>, value: &Value<'_>) -> Result<String, Error> {
        let number = match value.get_ref() {
            DeValue::String(text) => return Ok(text.clone().into_owned()),
            DeValue::Boolean(on) => return Ok(on.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map(|number| number.to_string())
                .ok(),
            DeValue::Float(number) => {
                let number = number.as_str().parse::<f64>().ok();
                number.map(|number| number.to_string())
            }
            _ => None,
        };
        number.ok_or_else(|| {
            let (name, kind) = (key.get_ref(), kind(value.get_ref()));
            let text = format!("\"{name}\" takes a text, a number or true/false, not {kind}");
            self.error(value.span().start, text)
        })
    }
}

/// What a value is, in words.
const fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "such a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn did_you_mean(key: Option<&str>) -> String {
    key.map_or_else(String::new, |key| format!(" (did you mean \"{key}\"?)"))
}

/// The key that was probably meant: another spelling, another word for it, or one with a
/// typing error.
fn like<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = name.to_lowercase().replace(['-', ' '], "_");
    let plain = plain.strip_prefix("book_").unwrap_or(&plain);
    let whole = ["min", "max"].iter().find_map(|short| {
        let rest = plain.strip_prefix(short)?.strip_prefix('_')?;
        Some(format!("{short}imum_{rest}"))
    });
    let plain = whole.as_deref().unwrap_or(plain);
    let other = OTHER_WORDS.iter().find_map(|(key, words)| {
        let known = known.iter().find(|known| *known == key)?;
        words.contains(&plain).then_some(*known)
    });
    other.or_else(|| nearest(plain, known.iter().copied()))
}
