//! Edits a JSON file of another program: all other entries stay the same, byte for byte,
//! with order and white space.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

/// Why a file was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RegisterError {
    /// The text is not JSON.
    #[error("line {line}, column {column}: {what}; nothing was changed")]
    Malformed {
        /// Line number, from 1.
        line: usize,
        /// Column number, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// The text is JSON but not what the program writes.
    #[error("{place} is not {expected}, as the program writes it; nothing was changed")]
    Unexpected {
        /// The wrong value.
        place: String,
        /// The expected type of value.
        expected: &'static str,
    },
    /// The program's file cannot store a text.
    #[error("{text:?} cannot be stored in the file of this program; nothing was changed")]
    Unfit {
        /// The text.
        text: String,
    },
    /// The name belongs to another engine.
    #[error("the name \"{name}\" belongs to another engine ({command}): choose one with --name")]
    Taken {
        /// The name.
        name: String,
        /// The command of that engine.
        command: String,
    },
}

impl RegisterError {
    pub(super) fn unexpected(place: impl Into<String>, expected: &'static str) -> RegisterError {
        RegisterError::Unexpected {
            place: place.into(),
            expected,
        }
    }
}

/// Parses a file strictly: errors that the program itself would reject are not repaired.
/// An empty text is an empty file.
pub(super) fn parse(text: &str, empty: &str) -> Result<CstRootNode, RegisterError> {
    let text = if text.trim().is_empty() { empty } else { text };
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
        RegisterError::Malformed {
            line: error.line(),
            column: error.column(),
            what: without_place(&error.to_string()),
        }
    })?;
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| RegisterError::Malformed {
        line: error.line_display(),
        column: error.column_display(),
        what: error.kind().to_string(),
    })
}

fn without_place(message: &str) -> String {
    let end = message.find(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or(message).to_owned()
}

/// The objects of a file that is an array.
pub(super) fn objects(root: &CstRootNode) -> Result<(CstArray, Vec<CstObject>), RegisterError> {
    let array = root
        .array_value()
        .ok_or_else(|| RegisterError::unexpected("the whole", "an array"))?;
    let objects = array.elements().iter().map(CstNode::as_object).collect();
    let objects: Option<Vec<CstObject>> = objects;
    match objects {
        Some(objects) => Ok((array, objects)),
        None => Err(RegisterError::unexpected("an element", "an object")),
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
