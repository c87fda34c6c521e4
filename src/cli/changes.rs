//! Changes of marks, as `mark` and `learn` print them.

use std::io::{self, Write};

use serde_json::{Value, json};

use tabia_book::Field;
use tabia_book::mark::ShownChange;
use tabia_notation as notation;

/// One line, or one JSON object.
pub(super) fn write(change: &ShownChange, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    match as_json {
        true => writeln!(out, "{}", to_json(change)),
        false => writeln!(out, "{change}"),
    }
}

/// How many are not shown.
pub(super) fn write_rest(more: u64, out: &mut impl Write) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(out, "... and {more} more (--list shows all)"),
    }
}

fn to_json(change: &ShownChange) -> Value {
    let value = |value: u32| match change.field {
        Field::Factor => {
            let [.., byte] = value.to_be_bytes();
            json!(byte.cast_signed().saturating_neg())
        }
        Field::Commentary | Field::Weight => json!(value),
        _ => json!(change.shown(value)),
    };
    json!({
        "line": change.line.to_string(),
        "moves": change.line.uci_words(),
        "from": notation::fen(change.line.start()),
        "reached": change.is_reached,
        "field": change.field_name(),
        "old": value(change.old),
        "new": value(change.new),
        "stored": change.is_stored,
        "note": change.note,
    })
}
