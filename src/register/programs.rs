//! The programs whose file can be edited.

use std::path::Path;

use clap::ValueEnum;
use jsonc_parser::cst::{CstArray, CstObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::json::{RegisterError, input, objects, parse, push, set, text_of, value_of};
use super::{Announced, AnnouncedKind, Registration, is_our_program, keyfile};

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
}

impl EditedFor {
    /// Its name as it writes it.
    #[must_use]
    pub(crate) const fn title(self) -> &'static str {
        match self {
            EditedFor::CuteChess => "Cute Chess",
            EditedFor::Banksia => "BanksiaGUI",
            EditedFor::PyChess => "PyChess",
            EditedFor::Nibbler => "Nibbler",
            EditedFor::GnomeChess => "GNOME Chess",
        }
    }

    /// The file that the program reads as long as the user has none of his own:
    /// what is in it belongs into a new one.
    #[must_use]
    pub(crate) fn list_of_the_system(self) -> Option<&'static Path> {
        (self == EditedFor::GnomeChess).then(|| Path::new("/etc/gnome-chess/engines.conf"))
    }

    /// Whether it can start an engine with arguments.
    #[must_use]
    pub(crate) const fn takes_arguments(self) -> bool {
        !matches!(self, EditedFor::CuteChess)
    }

    /// Whether it knows engines by a name that can be chosen.
    #[must_use]
    pub(crate) const fn takes_a_name(self) -> bool {
        !matches!(self, EditedFor::Nibbler)
    }
}

/// The text of the program's file with the adapter in it: the same text when
/// it is there already. No text (or only blanks) is a file that does not exist
/// yet.
///
/// # Errors
///
/// The text is not what the program writes, or the name is that of another
/// engine.
pub(crate) fn edit(
    program: EditedFor,
    text: &str,
    registration: &Registration,
) -> Result<String, RegisterError> {
    let edited = match program {
        EditedFor::CuteChess => cute_chess(text, registration),
        EditedFor::Banksia => banksia(text, registration),
        EditedFor::PyChess => pychess(text, registration),
        EditedFor::Nibbler => nibbler(text, registration),
        EditedFor::GnomeChess => keyfile::edit(text, registration),
    }?;
    Ok(match edited.ends_with('\n') || !text.is_empty() {
        true => edited,
        false => edited + "\n",
    })
}

/// Gives the fields their values; true if one was not so already.
fn set_all(object: &CstObject, fields: &[(&str, Value)]) -> bool {
    // No short cut: every field is to be set.
    fields
        .iter()
        .filter(|(name, value)| set(object, name, value))
        .count()
        > 0
}

fn object_of(fields: &[(&str, Value)]) -> Value {
    let fields = fields.iter().cloned();
    Value::Object(
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// Whether an engine of this name is the one to be changed.
pub(super) fn is_ours(
    object: &CstObject,
    registration: &Registration,
    old_command: Option<String>,
) -> Result<bool, RegisterError> {
    if text_of(object, "name").as_deref() != Some(&registration.name) {
        return Ok(false);
    }
    let ours = |command: &str| command == registration.command || is_our_program(command);
    match old_command {
        Some(command) if !ours(&command) => Err(RegisterError::Taken {
            name: registration.name.clone(),
            command,
        }),
        _ => Ok(true),
    }
}

/// Sets `Book File` in a list of options, each an object with a name.
fn set_book(options: &CstArray, path: &str, otherwise: &Value) -> Result<(), RegisterError> {
    for option in options.elements() {
        let option = option
            .as_object()
            .ok_or_else(|| RegisterError::unexpected("an option", "an object"))?;
        let is_it = |name: String| name.eq_ignore_ascii_case("Book File");
        if text_of(&option, "name").is_some_and(is_it) {
            set(&option, "value", &json!(path));
            return Ok(());
        }
    }
    push(options, otherwise);
    Ok(())
}

/// The list of options of an engine, made if there is none.
fn options_of(engine: &CstObject) -> Result<CstArray, RegisterError> {
    engine
        .array_value_or_create("options")
        .ok_or_else(|| RegisterError::unexpected("\"options\"", "an array"))
}

/// `engines.json`: an array of engines (source of Cute Chess: EngineManager,
/// EngineConfiguration). No field holds arguments.
fn cute_chess(text: &str, registration: &Registration) -> Result<String, RegisterError> {
    let root = parse(text, "[]")?;
    let (array, engines) = objects(&root)?;
    let fields = [
        ("command", json!(registration.command)),
        ("name", json!(registration.name)),
        ("protocol", json!("uci")),
        ("workingDirectory", json!(registration.folder)),
    ];
    for engine in engines {
        if is_ours(&engine, registration, text_of(&engine, "command"))? {
            set_all(&engine, &fields);
            cute_chess_options(&options_of(&engine)?, registration)?;
            return Ok(root.to_string());
        }
    }
    let options: Vec<Value> = (registration.options.iter())
        .map(|option| cute_chess_option(option, registration))
        .collect();
    let mut fields = fields.to_vec();
    fields.push(("options", json!(options)));
    push(&array, &object_of(&fields));
    Ok(root.to_string())
}

/// Adds the options that are missing. What the user has set stays, a default
/// becomes the one that holds now; the book that is registered is the default
/// too, or "Restore defaults" would take it away.
fn cute_chess_options(list: &CstArray, registration: &Registration) -> Result<(), RegisterError> {
    let mut known = Vec::new();
    for option in list.elements() {
        let option = option
            .as_object()
            .ok_or_else(|| RegisterError::unexpected("an option", "an object"))?;
        let name = text_of(&option, "name").unwrap_or_default().to_lowercase();
        if let (Some(books), "book file") = (&registration.books, name.as_str()) {
            set_all(
                &option,
                &[("value", json!(books)), ("default", json!(books))],
            );
        }
        let announced = (registration.options.iter())
            .find(|option| option.name.to_lowercase() == name)
            .map(|option| cute_chess_option(option, registration));
        let field = |name| value_of(&option.get(name)?);
        // A book that is its own default was registered: it is no default of ours.
        let is_file = |value: &Value| value.as_str().is_some_and(|text| !text.starts_with('<'));
        let is_book = name == "book file" && field("value").is_some_and(|value| is_file(&value));
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
        if !known.contains(&option.name.to_lowercase()) {
            push(list, &cute_chess_option(option, registration));
        }
    }
    Ok(())
}

/// An option as Cute Chess writes it (source: EngineOption and its kinds).
fn cute_chess_option(option: &Announced, registration: &Registration) -> Value {
    let (kind, default, more) = match &option.kind {
        AnnouncedKind::Check(on) => ("check", json!(on), vec![]),
        AnnouncedKind::Spin(default, least, greatest) => (
            "spin",
            json!(default),
            vec![("min", json!(least)), ("max", json!(greatest))],
        ),
        AnnouncedKind::Combo(default, words) => {
            ("combo", json!(default), vec![("choices", json!(words))])
        }
        AnnouncedKind::Text(default) => {
            let books = registration.books.as_ref();
            let books = books.filter(|_| option.name == "Book File");
            ("text", json!(books.unwrap_or(default)), vec![])
        }
    };
    let mut fields = vec![
        ("alias", json!("")),
        ("default", default.clone()),
        ("name", json!(option.name)),
        ("type", json!(kind)),
        ("value", default),
    ];
    fields.extend(more);
    object_of(&fields)
}

/// `engines.json`: an array of objects with `app` and `options` (source of
/// Banksia: EngineProfile, JsonEngine).
fn banksia(text: &str, registration: &Registration) -> Result<String, RegisterError> {
    let root = parse(text, "[]")?;
    let (array, engines) = objects(&root)?;
    let fields = [
        ("name", json!(registration.name)),
        ("protocol", json!("uci")),
        ("command", json!(registration.command)),
        ("working folder", json!(registration.folder)),
        ("arguments", json!(registration.args)),
    ];
    let option = |path: &str| {
        object_of(&[
            ("name", json!("Book File")),
            ("type", json!("string")),
            ("default", json!("")),
            ("value", json!(path)),
        ])
    };
    for engine in engines {
        let app = engine
            .object_value("app")
            .ok_or_else(|| RegisterError::unexpected("\"app\"", "an object"))?;
        if is_ours(&app, registration, text_of(&app, "command"))? {
            set_all(&app, &fields);
            if let Some(books) = &registration.books {
                set_book(&options_of(&engine)?, books, &option(books))?;
            }
            return Ok(root.to_string());
        }
    }
    let options: Vec<Value> = registration.books.iter().map(|path| option(path)).collect();
    push(
        &array,
        &object_of(&[("app", object_of(&fields)), ("options", json!(options))]),
    );
    Ok(root.to_string())
}

/// `engines.json`: an array of engines (source of PyChess 1.0.3:
/// engineNest.py). `recheck` makes it start the engine and read its options
/// anew; it does that by itself when the file of the program has changed, but
/// not for new arguments.
fn pychess(text: &str, registration: &Registration) -> Result<String, RegisterError> {
    let root = parse(text, "[]")?;
    let (array, engines) = objects(&root)?;
    let fields = [
        ("args", json!(registration.args_with_books())),
        ("command", json!(registration.command)),
        ("name", json!(registration.name)),
        ("protocol", json!("uci")),
        ("workingDirectory", json!(registration.folder)),
    ];
    for engine in engines {
        if is_ours(&engine, registration, text_of(&engine, "command"))? {
            if set_all(&engine, &fields) {
                set(&engine, "recheck", &json!(true));
            }
            return Ok(root.to_string());
        }
    }
    // What its own dialog fills in for an engine that it does not know.
    let mut fields = fields.to_vec();
    fields.push(("comment", json!("")));
    fields.push(("country", json!("unknown")));
    fields.push(("level", json!(20)));
    fields.push(("recheck", json!(true)));
    push(&array, &object_of(&fields));
    Ok(root.to_string())
}

/// `engines.json`: an object; the key is the path of the program (source of
/// Nibbler: engineconfig_io.js).
fn nibbler(text: &str, registration: &Registration) -> Result<String, RegisterError> {
    let root = parse(text, "{}")?;
    let engines = root
        .object_value()
        .ok_or_else(|| RegisterError::unexpected("the whole", "an object"))?;
    if engines.get(&registration.command).is_some() {
        let engine = engines.object_value(&registration.command);
        let engine =
            engine.ok_or_else(|| RegisterError::unexpected("the adapter's entry", "an object"))?;
        set(&engine, "args", &json!(registration.args));
        if let Some(books) = &registration.books {
            let options = engine
                .object_value_or_create("options")
                .ok_or_else(|| RegisterError::unexpected("\"options\"", "an object"))?;
            set(&options, "Book File", &json!(books));
        }
        return Ok(root.to_string());
    }
    let mut options = serde_json::Map::new();
    if let Some(books) = &registration.books {
        options.insert("Book File".to_owned(), json!(books));
    }
    let fields = [
        ("args", json!(registration.args)),
        ("options", Value::Object(options)),
        ("search_nodes", Value::Null),
        ("search_nodes_special", json!(10000)),
        ("limit_by_time", json!(false)),
    ];
    let engine = input(&object_of(&fields));
    engines.append(&registration.command, engine);
    engines.ensure_multiline();
    Ok(root.to_string())
}
