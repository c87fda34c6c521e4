//! The other way: out of a program's file again, and what else is in it.

use jsonc_parser::cst::CstObject;
use serde_json::Value;

use super::json::{RegisterError, objects, parse, text_of};
use super::programs::is_ours;
use super::{EditedFor, Registration};

/// The text of the program's file without the adapter: the same text when it
/// is not in it. An engine of another program under the same name stays.
///
/// # Errors
///
/// The text is not what the program writes.
pub fn remove(
    program: EditedFor,
    text: &str,
    registration: &Registration,
) -> Result<String, RegisterError> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    if program == EditedFor::Nibbler {
        let root = parse(text, "{}")?;
        let engines = root
            .object_value()
            .ok_or_else(|| RegisterError::unexpected("the whole", "an object"))?;
        if let Some(engine) = engines.get(&registration.command) {
            engine.remove();
        }
        return Ok(root.to_string());
    }
    let root = parse(text, "[]")?;
    let (_, engines) = objects(&root)?;
    for engine in engines {
        let described: CstObject = match program {
            EditedFor::Banksia => match engine.object_value("app") {
                Some(app) => app,
                None => continue,
            },
            _ => engine.clone(),
        };
        let command = text_of(&described, "command");
        if is_ours(&described, registration, command).unwrap_or(false) {
            engine.remove();
        }
    }
    Ok(root.to_string())
}

/// The programs that a file names as UCI engines without arguments. None where
/// it is not what the program writes.
#[must_use]
pub fn engines(program: EditedFor, text: &str) -> Vec<String> {
    let engine = |value: &Value| {
        let value = match program {
            EditedFor::Banksia => value.get("app")?,
            _ => value,
        };
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let arguments = ["args", "arguments"];
        let arguments = arguments.iter().filter_map(|name| value.get(*name));
        let bare = arguments
            .flat_map(Value::as_array)
            .all(|words| words.is_empty());
        let is_uci = text("protocol").is_some_and(|name| name.eq_ignore_ascii_case("uci"));
        (is_uci && bare).then(|| text("command").map(str::to_owned))?
    };
    match serde_json::from_str(text) {
        Ok(Value::Array(values)) => values.iter().filter_map(engine).collect(),
        // Nibbler knows nothing but UCI.
        Ok(Value::Object(fields)) if program == EditedFor::Nibbler => {
            let bare = |value: &Value| {
                let words = value.get("args").and_then(Value::as_array);
                words.is_none_or(Vec::is_empty)
            };
            let fields = fields.into_iter().filter(|(_, value)| bare(value));
            fields.map(|(command, _)| command).collect()
        }
        _ => Vec::new(),
    }
}
