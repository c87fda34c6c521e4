//! The tables of `docs/behaviour.md`, generated from the cases.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::case::{ENGINES, MOMENTS};

const BEGIN: &str =
    "<!-- made by tests/faults: TABIA_WRITE_TABLES=1 cargo test --test faults table -->\n";
const END: &str = "<!-- end -->\n";

fn table() -> String {
    let mut text = String::from("\n| the engine | at once |");
    let mut rule = String::from("|---|---|");
    for (_, name) in MOMENTS {
        let _ = write!(text, " {} |", name.replace('-', " "));
        rule.push_str("---|");
    }
    let _ = writeln!(text, "\n{rule}");
    for fault in &ENGINES {
        let _ = write!(text, "| {} |", fault.is);
        for seen in fault.seen {
            let _ = write!(text, " {seen} |");
        }
        text.push('\n');
    }
    text.replace("| the engine | at once |", "| the engine |")
        .replace(
            "|---|---|---|---|---|---|---|---|---|",
            "|---|---|---|---|---|---|---|---|",
        )
}

/// Checks that the page agrees with the cases; with `TABIA_WRITE_TABLES`, updates it.
pub(crate) fn check() -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/behaviour.md");
    let page = fs::read_to_string(&path).map_err(|error| format!("docs/behaviour.md: {error}"))?;
    let parts = page.split_once(BEGIN);
    let (before, rest) = parts.ok_or("docs/behaviour.md: no table begins")?;
    let (present, after) = rest
        .split_once(END)
        .ok_or("docs/behaviour.md: no table ends")?;
    let wanted = format!("{}\n", table());
    if present == wanted {
        return Ok(());
    }
    if std::env::var_os("TABIA_WRITE_TABLES").is_some() {
        let page = format!("{before}{BEGIN}{wanted}{END}{after}");
        return fs::write(&path, page).map_err(|error| error.to_string());
    }
    Err(
        "docs/behaviour.md does not say what the cases expect: see the line above its table"
            .to_owned(),
    )
}
