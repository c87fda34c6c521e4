//! Changes of marks, as `mark` and `learn` print them.

use std::io::{self, Write};

use serde_json::{Value, json};

use tabia_book::Field;
use tabia_book::mark::Told;
use tabia_notation as notation;

/// One line, or one JSON object.
pub(super) fn write(told: &Told, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    match as_json {
        true => writeln!(out, "{}", to_json(told)),
        false => writeln!(out, "{told}"),
    }
}

/// How many are not shown.
pub(super) fn write_rest(more: u64, out: &mut impl Write) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(out, "... and {more} more (--list shows all)"),
    }
}

fn to_json(told: &Told) -> Value {
    let value = |value: u32| match told.field {
        Field::Factor => {
            let [.., byte] = value.to_be_bytes();
            json!(byte.cast_signed().saturating_neg())
        }
        Field::Commentary | Field::Weight => json!(value),
        _ => json!(told.shown(value)),
    };
    json!({
        "line": told.line.to_string(),
        "moves": told.line.uci_words(),
        "from": notation::fen(told.line.start()),
        "reached": told.is_reached,
        "field": told.field_name(),
        "old": value(told.old),
        "new": value(told.new),
        "stored": told.is_stored,
        "note": told.note,
    })
}
