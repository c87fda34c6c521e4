//! Changes of marks, as printed by `mark` and `learn`.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use tabia_book::mark::ShownChange;
use tabia_book::{EditOptions, Field};
use tabia_notation as notation;

/// How a book is changed, and what is printed of it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Work")]
pub(crate) struct ChangeArgs {
    /// Shows what would change and changes nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
    /// Prints one JSON object for each change that is shown, then a summary
    #[arg(long)]
    pub(crate) json: bool,
    /// How long to wait for another program that changes the book
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    wait: u64,
}

impl ChangeArgs {
    pub(crate) fn options(&self) -> EditOptions {
        EditOptions::default()
            .wait(Duration::from_secs(self.wait))
            .dry_run(self.dry_run)
    }

    /// The verb for what the command did to values.
    pub(crate) fn done(&self) -> &'static str {
        match self.dry_run {
            true => "would change",
            false => "changed",
        }
    }
}

/// Writes a change as one line, or as one JSON object.
pub(crate) fn write(change: &ShownChange, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    match as_json {
        true => writeln!(out, "{}", to_json(change)),
        false => writeln!(out, "{change}"),
    }
}

/// Writes how many changes are not shown.
pub(crate) fn write_rest(more: u64, out: &mut impl Write) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(out, "... and {more} more (--list shows all)"),
    }
}

fn to_json(change: &ShownChange) -> Value {
    let value = |value: u32| match change.field {
        Field::LearnValue => {
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
        "field": change.field.as_str(),
        "old": value(change.old),
        "new": value(change.new),
        "stored": change.is_stored,
        "note": change.note,
    })
}
