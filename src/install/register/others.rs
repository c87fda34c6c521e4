//! Removes the adapter from a program's file, and lists the engines in it.

use anyhow::Result;
use serde_json::Value;

use super::json::{objects, parse, unexpected};
use super::keyfile::Known;
use super::programs::{described, is_ours};
use super::{EditedFor, Registration, is_our_program, keyfile};

impl EditedFor {
    /// The text of the program's file without the adapter; unchanged if it is not in it. An
    /// engine of another self with the same name stays.
    ///
    /// # Errors
    ///
    /// The text is not what the self writes.
    pub(crate) fn remove(self, text: &str, registration: &Registration) -> Result<String> {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        if self == EditedFor::GnomeChess {
            return keyfile::remove(text, registration);
        }
        if self == EditedFor::Nibbler {
            let root = parse(text, "{}")?;
            let engines = root
                .object_value()
                .ok_or_else(|| unexpected("the whole", "an object"))?;
            if let Some(engine) = engines.get(&registration.command) {
                engine.remove();
            }
            return Ok(root.to_string());
        }
        let root = parse(text, "[]")?;
        let (_, engines) = objects(&root)?;
        for engine in engines {
            let described = described(self, &engine);
            if described.is_some_and(|engine| is_ours(self, &engine, registration).unwrap_or(false))
            {
                engine.remove();
            }
        }
        Ok(root.to_string())
    }

    /// The UCI engines without arguments in a file. None if the self has not written it.
    #[must_use]
    pub(crate) fn engines(self, text: &str) -> Vec<String> {
        let known = known(self, text).into_iter();
        let bare = known.filter(|engine| engine.is_bare);
        bare.map(|engine| engine.command).collect()
    }

    /// The names of the Tabia engines in a file.
    #[must_use]
    pub(crate) fn ours(self, text: &str) -> Vec<String> {
        let known = known(self, text).into_iter();
        let ours = known.filter(|engine| is_our_program(&engine.command));
        ours.map(|engine| engine.name).collect()
    }
}

fn known(program: EditedFor, text: &str) -> Vec<Known> {
    let words = |value: &Value, name| {
        let words = value.get(name).and_then(Value::as_array);
        words.is_some_and(|words| !words.is_empty())
    };
    let engine = |value: &Value| {
        let value = match program {
            EditedFor::Banksia => value.get("app")?,
            _ => value,
        };
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let is_uci = match program {
            EditedFor::EnCroissant => text("type") == Some("local"),
            _ => text("protocol").is_some_and(|name| name.eq_ignore_ascii_case("uci")),
        };
        Some(Known {
            name: text("name").unwrap_or_default().to_owned(),
            command: text(program.command_field())?.to_owned(),
            is_bare: is_uci && !words(value, "args") && !words(value, "arguments"),
        })
    };
    if program == EditedFor::GnomeChess {
        return keyfile::engines(text);
    }
    match serde_json::from_str(text) {
        Ok(Value::Array(values)) => values.iter().filter_map(engine).collect(),
        // Nibbler supports only UCI, and identifies engines by their programs.
        Ok(Value::Object(fields)) if program == EditedFor::Nibbler => {
            let fields = fields.into_iter().map(|(command, value)| Known {
                name: command.clone(),
                command,
                is_bare: !words(&value, "args"),
            });
            fields.collect()
        }
        _ => Vec::new(),
    }
}
