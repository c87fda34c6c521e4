//! Removes the adapter from a program's file, and lists the engines in it.

use anyhow::Result;
use jsonc_parser::cst::{CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::json::{objects, parse, set, unexpected};
use super::keyfile::Known;
use super::programs::ListForm;
use super::{EditedFor, Registration, is_our_program, keyfile};

impl EditedFor {
    /// The text of the program's file without the adapter; unchanged if it is not in it. An
    /// engine of another program with the same name stays.
    ///
    /// # Errors
    ///
    /// The text is not what the program writes.
    pub(crate) fn remove(self, text: &str, registration: &Registration) -> Result<String> {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        if self.form() == ListForm::KeyFile {
            return keyfile::remove(text, registration);
        }
        let root = parse(text, self.form().empty())?;
        for engine in self.entries(&root, registration)? {
            engine.remove();
        }
        Ok(root.to_string())
    }

    /// Whether the adapter is in the text of the program's file, or may be: a text that the
    /// program did not write tells nothing.
    #[must_use]
    pub(crate) fn has(self, text: &str, registration: &Registration) -> bool {
        let without = self.remove(text, registration);
        !without.is_ok_and(|without| without == text)
    }

    /// The text of the program's file with the adapter as in `before`: without it, or with the
    /// fields that still have their values of `after` set back. Other fields stay.
    ///
    /// # Errors
    ///
    /// One of the texts is not what the program writes.
    pub(crate) fn restore(
        self,
        text: &str,
        [before, after]: [&str; 2],
        registration: &Registration,
    ) -> Result<String> {
        if self.form() == ListForm::KeyFile {
            return keyfile::restore(text, [before, after], registration);
        }
        let entry = |text: &str| -> Result<Option<Value>> {
            let root = parse(text, self.form().empty())?;
            let entries = self.entries(&root, registration)?;
            Ok(entries.first().and_then(Entry::value))
        };
        let (Some(before), Some(after)) = (entry(before)?, entry(after)?) else {
            return self.remove(text, registration);
        };
        let root = parse(text, self.form().empty())?;
        for engine in self.entries(&root, registration)? {
            if let (Some(now), Some(object)) = (engine.value(), engine.object()) {
                set_fields(&object, &set_back(&before, &after, now));
            }
        }
        Ok(root.to_string())
    }

    /// The adapter in a JSON file.
    fn entries(self, root: &CstRootNode, registration: &Registration) -> Result<Vec<Entry>> {
        if self.form() == ListForm::ByPath {
            let engines = root
                .object_value()
                .ok_or_else(|| unexpected("the whole", "an object"))?;
            let engine = engines.get(&registration.command);
            return Ok(engine.map(Entry::Field).into_iter().collect());
        }
        let (_, mut engines) = objects(root)?;
        // Another program's engine of this name stays.
        engines.retain(|engine| {
            self.form()
                .ours(engine, registration)
                .is_ok_and(|ours| ours.is_some())
        });
        Ok(engines.into_iter().map(Entry::Element).collect())
    }

    /// The UCI engines without arguments in a file. None if the program has not written it.
    #[must_use]
    pub(crate) fn engines(self, text: &str) -> Vec<String> {
        let known = known(self, text).into_iter();
        let bare = known.filter(|engine| engine.is_bare);
        bare.map(|engine| engine.command).collect()
    }

    /// What the engines in a file start.
    #[must_use]
    pub(crate) fn commands(self, text: &str) -> Vec<String> {
        let known = known(self, text).into_iter();
        known.map(|engine| engine.command).collect()
    }

    /// The names of the Tabia engines in a file.
    #[must_use]
    pub(crate) fn ours(self, text: &str) -> Vec<String> {
        let known = known(self, text).into_iter();
        let ours = known.filter(|engine| is_our_program(&engine.command));
        ours.map(|engine| engine.name).collect()
    }
}

/// An engine in a JSON file.
enum Entry {
    Element(CstObject),
    Field(CstObjectProp),
}

impl Entry {
    fn remove(self) {
        match self {
            Entry::Element(object) => object.remove(),
            Entry::Field(field) => field.remove(),
        }
    }

    fn object(&self) -> Option<CstObject> {
        match self {
            Entry::Element(object) => Some(object.clone()),
            Entry::Field(field) => field.object_value(),
        }
    }

    fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.object()?.to_string()).ok()
    }
}

/// A value without the change from `before` to `after`, where it was not changed since.
fn set_back(before: &Value, after: &Value, now: Value) -> Value {
    match (before, after, now) {
        (before, after, now) if *after == now => before.clone(),
        (Value::Object(before), Value::Object(after), Value::Object(now)) => {
            let missing = before.iter().filter(|(name, _)| !after.contains_key(*name));
            let missing: Vec<_> = missing
                .filter(|(name, _)| !now.contains_key(*name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            let kept = now.into_iter().filter_map(|(name, now)| {
                let value = match (before.get(&name), after.get(&name)) {
                    (Some(before), Some(after)) => set_back(before, after, now),
                    // Added by setup.
                    (None, Some(after)) if *after == now => return None,
                    _ => now,
                };
                Some((name, value))
            });
            Value::Object(kept.chain(missing).collect())
        }
        (_, _, now) => now,
    }
}

/// Gives an object these fields.
fn set_fields(object: &CstObject, value: &Value) {
    let Value::Object(fields) = value else {
        return;
    };
    for field in object.properties() {
        if field
            .decoded_name()
            .is_some_and(|name| !fields.contains_key(&name))
        {
            field.remove();
        }
    }
    for (name, value) in fields {
        set(object, name, value);
    }
}

fn known(program: EditedFor, text: &str) -> Vec<Known> {
    let words = |value: &Value, name| {
        let words = value.get(name).and_then(Value::as_array);
        words.is_some_and(|words| !words.is_empty())
    };
    match (program.form(), serde_json::from_str(text)) {
        (ListForm::KeyFile, _) => keyfile::engines(text),
        (
            ListForm::Array {
                described_in,
                command,
                uci: [field, uci],
            },
            Ok(Value::Array(engines)),
        ) => {
            let engine = |value: &Value| {
                let value = match described_in {
                    Some(field) => value.get(field)?,
                    None => value,
                };
                let text = |name: &str| value.get(name).and_then(Value::as_str);
                let is_uci = text(field).is_some_and(|name| name.eq_ignore_ascii_case(uci));
                Some(Known {
                    name: text("name").unwrap_or_default().to_owned(),
                    command: text(command)?.to_owned(),
                    is_bare: is_uci && !words(value, "args") && !words(value, "arguments"),
                })
            };
            engines.iter().filter_map(engine).collect()
        }
        // Nibbler supports only UCI, and identifies engines by their programs.
        (ListForm::ByPath, Ok(Value::Object(fields))) => {
            let fields = fields.into_iter().map(|(command, value)| Known {
                name: command.clone(),
                command,
                is_bare: !words(&value, "args"),
            });
            fields.collect()
        }
        // The program has not written it.
        (ListForm::Array { .. } | ListForm::ByPath, _) => Vec::new(),
    }
}
