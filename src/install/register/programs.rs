//! The programs whose files can be edited.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use jsonc_parser::cst::{CstArray, CstObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabia_uci::message::UciOptionConfig;

use super::json::{input, objects, parse, push, set, taken, text_of, unexpected, value_of};
use super::{Registration, is_our_program, keyfile};

/// A program whose file can be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum EditedFor {
    /// Cute Chess, the program with windows
    #[value(name = "cutechess", alias = "cute-chess")]
    #[serde(rename = "Cute Chess")]
    CuteChess,
    /// BanksiaGUI
    #[value(name = "banksia", aliases = ["banksiagui", "banksia-gui"])]
    #[serde(rename = "BanksiaGUI")]
    Banksia,
    /// PyChess
    #[value(name = "pychess")]
    PyChess,
    /// Nibbler
    #[value(name = "nibbler")]
    Nibbler,
    /// GNOME Chess
    #[value(name = "gnome-chess", alias = "gnomechess")]
    #[serde(rename = "GNOME Chess")]
    GnomeChess,
    /// En Croissant
    #[value(name = "en-croissant", alias = "encroissant")]
    #[serde(rename = "En Croissant")]
    EnCroissant,
}

/// What is known of a program: its row.
struct Row {
    /// Its name, as it spells it.
    title: &'static str,
    /// Where the adapter is found in it.
    where_to_find: &'static str,
    /// The name of its list of engines.
    list: &'static str,
    form: ListForm,
    script: Script,
    /// The list that it reads while the user has none.
    of_the_system: Option<&'static str>,
    /// The file beside its list that decides whether it plays from a book of its own before
    /// it asks an engine.
    settings: Option<&'static str>,
}

/// How a list of engines is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListForm {
    /// Groups of a key file.
    KeyFile,
    /// An object of JSON, whose fields are the paths of the engines: they have no names.
    ByPath,
    /// An array of JSON.
    Array {
        /// The field of an element that describes the engine, if not the element does.
        described_in: Option<&'static str>,
        /// The field with the path of the engine's program.
        command: &'static str,
        /// The field that says whether it is a UCI engine, and its value.
        uci: [&'static str; 2],
    },
}

const UCI: [&str; 2] = ["protocol", "uci"];

/// When the adapter is registered as a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Never,
    /// The program starts engines without arguments.
    ForArguments,
    /// PyChess tells engines apart by the hash of their files, so two entries with the same
    /// program are one to it.
    ForEachEntry,
}

impl EditedFor {
    const fn row(self) -> &'static Row {
        match self {
            EditedFor::CuteChess => &Row {
                title: "Cute Chess",
                where_to_find: "Game, New: CPU, then Tabia",
                list: "engines.json",
                form: ListForm::Array {
                    described_in: None,
                    command: "command",
                    uci: UCI,
                },
                script: Script::ForArguments,
                of_the_system: None,
                settings: None,
            },
            EditedFor::Banksia => &Row {
                title: "BanksiaGUI",
                where_to_find: "Tabia among the engines of a new game",
                list: "engines.json",
                form: ListForm::Array {
                    described_in: Some("app"),
                    command: "command",
                    uci: UCI,
                },
                script: Script::Never,
                of_the_system: None,
                settings: None,
            },
            EditedFor::PyChess => &Row {
                title: "PyChess",
                where_to_find: "Tabia as a player of a new game",
                list: "engines.json",
                form: ListForm::Array {
                    described_in: None,
                    command: "command",
                    uci: UCI,
                },
                script: Script::ForEachEntry,
                of_the_system: None,
                settings: Some("config"),
            },
            EditedFor::Nibbler => &Row {
                title: "Nibbler",
                where_to_find: "Engine, Choose engine",
                list: "engines.json",
                form: ListForm::ByPath,
                script: Script::Never,
                of_the_system: None,
                settings: None,
            },
            EditedFor::GnomeChess => &Row {
                title: "GNOME Chess",
                where_to_find: "New Game: the opponent Tabia",
                list: "engines.conf",
                form: ListForm::KeyFile,
                script: Script::Never,
                of_the_system: Some("/etc/gnome-chess/engines.conf"),
                settings: None,
            },
            EditedFor::EnCroissant => &Row {
                title: "En Croissant",
                where_to_find: "Play: Tabia as a player; its options under Engines",
                list: "engines.json",
                form: ListForm::Array {
                    described_in: None,
                    command: "path",
                    uci: ["type", "local"],
                },
                script: Script::ForArguments,
                of_the_system: None,
                settings: None,
            },
        }
    }

    /// The name in the program's own spelling.
    #[must_use]
    pub(crate) const fn title(self) -> &'static str {
        self.row().title
    }

    /// Where the adapter is found in the program.
    #[must_use]
    pub(crate) const fn where_to_find(self) -> &'static str {
        self.row().where_to_find
    }

    /// The name of its list of engines.
    #[must_use]
    pub(crate) const fn list(self) -> &'static str {
        self.row().list
    }

    pub(super) const fn form(self) -> ListForm {
        self.row().form
    }

    /// The file that the program reads while the user has none: a new file must include
    /// its content.
    #[must_use]
    pub(crate) fn list_of_the_system(self) -> Option<&'static Path> {
        self.row().of_the_system.map(Path::new)
    }

    /// Whether it can start an engine with arguments. Cute Chess takes blanks as part of the
    /// program's name, and En Croissant has no arguments.
    #[must_use]
    pub(crate) fn takes_arguments(self) -> bool {
        self.row().script != Script::ForArguments
    }

    /// Whether the adapter with these arguments is registered as a script.
    #[must_use]
    pub(crate) fn needs_script(self, registration: &Registration) -> bool {
        match self.row().script {
            Script::Never => false,
            Script::ForArguments => !registration.args.is_empty(),
            Script::ForEachEntry => cfg!(unix) && !registration.args_with_books().is_empty(),
        }
    }

    /// The file with the settings that decide whether it plays from a book of its own before
    /// it asks an engine, if there is one beside its list of engines.
    #[must_use]
    pub(crate) fn settings_beside(self, engines: &Path) -> Option<PathBuf> {
        // A list of another name may be anywhere.
        let is_usual = engines.file_name()? == self.list();
        let settings = self.row().settings.filter(|_| is_usual)?;
        Some(engines.with_file_name(settings))
    }

    /// Whether its engines have names that can be chosen; Nibbler lists them by their paths.
    #[must_use]
    pub(crate) fn takes_a_name(self) -> bool {
        self.form() != ListForm::ByPath
    }

    /// The text of the program's file with the adapter; unchanged if it is already in it. An
    /// empty text is a file that does not exist yet.
    ///
    /// # Errors
    ///
    /// The text is not what the program writes, or another engine has the name.
    pub(crate) fn edit(self, text: &str, registration: &Registration) -> Result<String> {
        let edited = match self {
            EditedFor::CuteChess => cute_chess(text, registration),
            EditedFor::Banksia => banksia(text, registration),
            EditedFor::PyChess => pychess(text, registration),
            EditedFor::Nibbler => nibbler(text, registration),
            EditedFor::GnomeChess => keyfile::edit(text, registration),
            EditedFor::EnCroissant => en_croissant(text, registration),
        }?;
        Ok(match edited.ends_with('\n') || !text.is_empty() {
            true => edited,
            false => edited + "\n",
        })
    }
}

/// Sets the fields; true if a value changes.
fn set_all(object: &CstObject, fields: &[(&str, Value)]) -> bool {
    // No short circuit: every field must be set.
    let fields = fields.iter();
    let changed = fields.filter(|(name, value)| set(object, name, value));
    changed.count() > 0
}

fn object_of(fields: &[(&str, Value)]) -> Value {
    fields.iter().cloned().collect()
}

/// The text of a file that is an array of engines: `change` edits Tabia's, `new` is added
/// if there is none.
fn in_array(
    program: EditedFor,
    text: &str,
    registration: &Registration,
    change: impl FnOnce(&CstObject, &CstObject) -> Result<()>,
    new: Value,
) -> Result<String> {
    let root = parse(text, program.form().empty())?;
    let (array, engines) = objects(&root)?;
    for engine in engines {
        if let Some(described) = program.form().ours(&engine, registration)? {
            change(&engine, &described)?;
            return Ok(root.to_string());
        }
    }
    push(&array, &new);
    Ok(root.to_string())
}

impl ListForm {
    /// The text of a file without engines.
    pub(super) const fn empty(self) -> &'static str {
        match self {
            ListForm::KeyFile => "",
            ListForm::ByPath => "{}",
            ListForm::Array { .. } => "[]",
        }
    }

    /// What describes an engine of a list, if it is the one to change.
    pub(super) fn ours(
        self,
        engine: &CstObject,
        registration: &Registration,
    ) -> Result<Option<CstObject>> {
        let (described_in, command) = match self {
            ListForm::Array {
                described_in,
                command,
                ..
            } => (described_in, command),
            ListForm::KeyFile | ListForm::ByPath => return Ok(None),
        };
        let described = match described_in {
            Some(field) => {
                let described = engine.object_value(field);
                described.ok_or_else(|| unexpected(&format!("\"{field}\""), "an object"))?
            }
            None => engine.clone(),
        };
        if text_of(&described, "name").as_deref() != Some(&registration.name) {
            return Ok(None);
        }
        let ours = |command: &str| command == registration.command || is_our_program(command);
        match text_of(&described, command) {
            Some(command) if !ours(&command) => Err(taken(&registration.name, &command)),
            _ => Ok(Some(described)),
        }
    }
}

/// Sets `Book File` in an engine's list of options, each an object with a name, or takes out
/// the one of an earlier registration.
fn set_book(
    engine: &CstObject,
    list: &str,
    registration: &Registration,
    otherwise: Option<&Value>,
) -> Result<()> {
    let options = match &registration.books {
        None => engine.array_value(list),
        Some(_) => engine.array_value_or_create(list),
    };
    let options = match options {
        Some(options) => options,
        // En Croissant may write `null`; there is no earlier book in it.
        None if registration.books.is_none() => return Ok(()),
        None => return Err(unexpected(&format!("\"{list}\""), "an array")),
    };
    for option in options.elements() {
        let option = option
            .as_object()
            .ok_or_else(|| unexpected("an option", "an object"))?;
        let is_it = |name: String| name.eq_ignore_ascii_case("Book File");
        if !text_of(&option, "name").is_some_and(is_it) {
            continue;
        }
        let value = option.get("value").and_then(|field| value_of(&field));
        if let Some(books) = &registration.books {
            set(&option, "value", &json!(books));
        } else if registration.is_outdated(value.as_ref()) {
            option.remove();
        }
        return Ok(());
    }
    if let Some(otherwise) = otherwise {
        push(&options, otherwise);
    }
    Ok(())
}

/// The list of options of an engine, created if missing.
fn options_of(engine: &CstObject) -> Result<CstArray> {
    engine
        .array_value_or_create("options")
        .ok_or_else(|| unexpected("\"options\"", "an array"))
}

/// `engines.json`: an array of engines (source of Cute Chess: EngineManager,
/// EngineConfiguration). No field has arguments.
fn cute_chess(text: &str, registration: &Registration) -> Result<String> {
    let fields = [
        ("command", json!(registration.command)),
        ("name", json!(registration.name)),
        ("protocol", json!("uci")),
        ("workingDirectory", json!(registration.folder)),
    ];
    let change = |engine: &CstObject, _: &CstObject| {
        set_all(engine, &fields);
        cute_chess_options(&options_of(engine)?, registration)
    };
    let mut new = object_of(&fields);
    let options = registration.options.iter();
    new["options"] = options
        .map(|option| cute_chess_option(option, registration))
        .collect();
    in_array(EditedFor::CuteChess, text, registration, change, new)
}

/// Adds the missing options. Values of the user stay, defaults get their present value;
/// the registered book becomes the default too, because "Restore defaults" would remove
/// it otherwise.
fn cute_chess_options(list: &CstArray, registration: &Registration) -> Result<()> {
    let mut known = Vec::new();
    for option in list.elements() {
        let option = option
            .as_object()
            .ok_or_else(|| unexpected("an option", "an object"))?;
        let name = text_of(&option, "name").unwrap_or_default().to_lowercase();
        if let (Some(books), "book file") = (&registration.books, name.as_str()) {
            set_all(
                &option,
                &[("value", json!(books)), ("default", json!(books))],
            );
        }
        let announced = (registration.options.iter())
            .find(|option| option.get_name().to_lowercase() == name)
            .map(|option| cute_chess_option(option, registration));
        let field = |name| value_of(&option.get(name)?);
        // A book that is its own default was registered: it is not Tabia's default.
        let is_file = |value: &Value| value.as_str().is_some_and(|text| !text.starts_with('<'));
        let is_book = name == "book file"
            && field("value")
                .is_some_and(|value| is_file(&value) && !registration.is_outdated(Some(&value)));
        if !is_book
            && let Some(announced) = announced
            && field("value").is_some_and(|value| field("default") == Some(value))
            && let Some(default) = announced.get("default")
        {
            let both = [("value", default.clone()), ("default", default.clone())];
            set_all(&option, &both);
        }
        known.push(name);
    }
    for option in &registration.options {
        if !known.contains(&option.get_name().to_lowercase()) {
            push(list, &cute_chess_option(option, registration));
        }
    }
    Ok(())
}

/// An option as Cute Chess writes it (source: EngineOption and its kinds).
fn cute_chess_option(option: &UciOptionConfig, registration: &Registration) -> Value {
    use UciOptionConfig as Config;
    let (kind, default, more) = match option {
        Config::Check { default, .. } => ("check", json!(default), vec![]),
        Config::Spin {
            default, min, max, ..
        } => (
            "spin",
            json!(default),
            vec![("min", json!(min)), ("max", json!(max))],
        ),
        Config::Combo { default, var, .. } => {
            ("combo", json!(default), vec![("choices", json!(var))])
        }
        Config::String { name, default } => {
            let books = registration.books.as_ref();
            let books = books.filter(|_| name == "Book File");
            ("text", json!(books.or(default.as_ref())), vec![])
        }
        Config::Button { .. } => ("button", Value::Null, vec![]),
    };
    let fields = [
        ("alias", json!("")),
        ("default", default.clone()),
        ("name", json!(option.get_name())),
        ("type", json!(kind)),
        ("value", default),
    ];
    object_of(&[&fields[..], &more].concat())
}

/// `engines.json`: an array of objects with `app` and `options` (source of
/// Banksia: EngineProfile, JsonEngine).
fn banksia(text: &str, registration: &Registration) -> Result<String> {
    let fields = [
        ("name", json!(registration.name)),
        ("protocol", json!("uci")),
        ("command", json!(registration.command)),
        ("working folder", json!(registration.folder)),
        ("arguments", json!(registration.args)),
    ];
    let option = registration
        .books
        .as_ref()
        .map(|books| json!({"name": "Book File", "type": "string", "default": "", "value": books}));
    let change = |engine: &CstObject, app: &CstObject| {
        set_all(app, &fields);
        set_book(engine, "options", registration, option.as_ref())
    };
    let options: Vec<&Value> = option.iter().collect();
    let new = json!({"app": object_of(&fields), "options": options});
    in_array(EditedFor::Banksia, text, registration, change, new)
}

/// `engines.json`: an array of engines (source of PyChess 1.0.3: engineNest.py).
/// `recheck` makes it start the engine and read its options again; it does that by itself
/// only if the file of the program has changed, not for new arguments.
fn pychess(text: &str, registration: &Registration) -> Result<String> {
    let fields = [
        ("args", json!(registration.args_with_books())),
        ("command", json!(registration.command)),
        ("name", json!(registration.name)),
        ("protocol", json!("uci")),
        ("workingDirectory", json!(registration.folder)),
    ];
    let change = |engine: &CstObject, _: &CstObject| {
        if set_all(engine, &fields) {
            set(engine, "recheck", &json!(true));
        }
        Ok(())
    };
    // The values of its own dialog for an unknown engine.
    let others = [
        ("comment", json!("")),
        ("country", json!("unknown")),
        ("level", json!(20)),
        ("recheck", json!(true)),
    ];
    let new = object_of(&[&fields[..], &others].concat());
    in_array(EditedFor::PyChess, text, registration, change, new)
}

/// Nibbler 2.5.9 takes an engine without this option for a new one, and gives it three lines
/// and the nodes for a move below (`95_hub.js`); with more than one line the engine analyses,
/// and no book plays.
const MULTI_PV: &str = "MultiPV";
/// The field with the nodes for a move when it plays a colour.
const NODES: &str = "search_nodes_special";
const NIBBLERS_LINES: u64 = 3;
const NIBBLERS_NODES: u64 = 10_000_000;

/// `engines.json`: an object; the key is the path of the program (source of
/// Nibbler: engineconfig_io.js).
fn nibbler(text: &str, registration: &Registration) -> Result<String> {
    let root = parse(text, "{}")?;
    let engines = root
        .object_value()
        .ok_or_else(|| unexpected("the whole", "an object"))?;
    if engines.get(&registration.command).is_some() {
        let engine = engines.object_value(&registration.command);
        let engine = engine.ok_or_else(|| unexpected("the adapter's entry", "an object"))?;
        set(&engine, "args", &json!(registration.args));
        let options = engine
            .object_value_or_create("options")
            .ok_or_else(|| unexpected("\"options\"", "an object"))?;
        if let Some(books) = &registration.books {
            set(&options, "Book File", &json!(books));
        } else if let Some(field) = options.get("Book File")
            && registration.is_outdated(value_of(&field).as_ref())
        {
            field.remove();
        }
        // Another one was chosen by the user.
        let lines = options.get(MULTI_PV).map(|field| value_of(&field));
        match lines {
            None => {
                set(&options, MULTI_PV, &json!(1));
                set(&engine, NODES, &json!(NIBBLERS_NODES));
            }
            Some(lines) if lines == Some(json!(NIBBLERS_LINES)) => {
                set(&options, MULTI_PV, &json!(1));
            }
            Some(_) => {}
        }
        return Ok(root.to_string());
    }
    let books = registration.books.iter();
    let books = books.map(|books| ("Book File", json!(books)));
    let options = books.chain([(MULTI_PV, json!(1))]);
    let engine = input(&json!({
        "args": registration.args,
        "options": object_of(&options.collect::<Vec<_>>()),
        "search_nodes": null,
        (NODES): NIBBLERS_NODES,
        "limit_by_time": false,
    }));
    engines.append(&registration.command, engine);
    engines.ensure_multiline();
    Ok(root.to_string())
}

/// `engines/engines.json`: an array of engines (source of En Croissant 0.15: engines.ts). No
/// field has arguments; the name and the identifier must be unique.
fn en_croissant(text: &str, registration: &Registration) -> Result<String> {
    let fields = [
        ("name", json!(registration.name)),
        ("path", json!(registration.command)),
    ];
    let book = registration
        .books
        .as_ref()
        .map(|books| json!({"name": "Book File", "value": books}));
    let change = |engine: &CstObject, _: &CstObject| {
        set_all(engine, &fields);
        set_book(engine, "settings", registration, book.as_ref())
    };
    let settings: Vec<&Value> = book.iter().collect();
    let others = [
        ("type", json!("local")),
        ("id", json!(identifier(registration))),
        ("version", json!("")),
        ("image", json!("")),
        ("loaded", json!(true)),
        ("settings", json!(settings)),
    ];
    let new = object_of(&[&fields[..], &others].concat());
    in_array(EditedFor::EnCroissant, text, registration, change, new)
}

/// An identifier in the form of a random UUID, which a second run gives again: the FNV-1a
/// hash of name and command.
fn identifier(registration: &Registration) -> String {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    let text = [&registration.name, "\n", &registration.command].concat();
    let hash = text.bytes().fold(START, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    });
    // The bits of version 4, and of the usual variant.
    let hash = hash & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{hash:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ]
    .join("-")
}
