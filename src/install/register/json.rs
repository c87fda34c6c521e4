//! Edits a JSON file of another program: all other entries stay the same, byte for byte,
//! with order and white space.

use anyhow::{Error, Result, anyhow};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

/// The text is not what the program writes.
pub(super) fn unexpected(place: &str, expected: &str) -> Error {
    anyhow!("{place} is not {expected}, as the program writes it; nothing was changed")
}

/// The text has an error at a line and a column, both from 1.
pub(super) fn malformed(line: usize, column: usize, what: &str) -> Error {
    anyhow!("line {line}, column {column}: {what}; nothing was changed")
}

/// Another engine has the name.
pub(super) fn taken(name: &str, command: &str) -> Error {
    anyhow!("the name \"{name}\" belongs to another engine ({command}): choose one with --name")
}

/// Parses a file strictly: errors that the program itself would reject are not repaired.
/// An empty text is an empty file.
pub(super) fn parse(text: &str, empty: &str) -> Result<CstRootNode> {
    let text = if text.trim().is_empty() { empty } else { text };
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default();
        malformed(error.line(), error.column(), what)
    })?;
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| {
        let what = error.kind().to_string();
        malformed(error.line_display(), error.column_display(), &what)
    })
}

/// The objects of a file that is an array.
pub(super) fn objects(root: &CstRootNode) -> Result<(CstArray, Vec<CstObject>)> {
    let array = root
        .array_value()
        .ok_or_else(|| unexpected("the whole", "an array"))?;
    let objects = array.elements().iter().map(CstNode::as_object).collect();
    let objects: Option<Vec<CstObject>> = objects;
    match objects {
        Some(objects) => Ok((array, objects)),
        None => Err(unexpected("an element", "an object")),
    }
}

/// The text of a field; `None` if it is missing or not a text.
pub(super) fn text_of(object: &CstObject, name: &str) -> Option<String> {
    let value = object.get(name)?.value()?;
    value.as_string_lit()?.decoded_value().ok()
}

/// Sets a field; true if its value changes.
pub(super) fn set(object: &CstObject, name: &str, value: &Value) -> bool {
    match object.get(name) {
        Some(field) if value_of(&field).as_ref() == Some(value) => false,
        Some(field) => {
            field.set_value(input(value));
            true
        }
        None => {
            object.append(name, input(value));
            true
        }
    }
}

/// The value of a field.
pub(super) fn value_of(field: &CstObjectProp) -> Option<Value> {
    serde_json::from_str(&field.value()?.to_string()).ok()
}

/// Appends an object to an array.
pub(super) fn push(array: &CstArray, value: &Value) {
    array.append(input(value));
    array.ensure_multiline();
}

/// A value in the editor's type.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(yes) => CstInputValue::Bool(*yes),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}
