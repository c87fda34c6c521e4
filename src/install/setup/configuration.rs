//! The text of an `engines.toml`.

use std::path::{Path, PathBuf};

use toml::Value;

use tabia_adapter::config::BUILTIN;
use tabia_io::input::path::to_text;

/// An `engines.toml` for these engines and books, each in the order in which they are
/// tried; the built-in engine is the last.
#[must_use]
pub(crate) fn write(engines: &[PathBuf], books: &[PathBuf]) -> String {
    let names = names(engines);
    let all = names.iter().map(String::as_str).chain([BUILTIN]);
    let all = all.map(Value::from).collect::<Vec<_>>();
    let mut text = String::from(
        "# Made by \"tabia setup\". Change what you like: a file that you have changed is\n\
         # left alone, and \"tabia setup --dry-run\" shows which lines are yours. \"tabia\n\
         # check\" shows what is used.\n\n\
         # The first engine that starts plays; \"builtin\" comes with the program.\n",
    );
    text.push_str(&format!("default = {}\n", Value::from(all)));
    for (name, path) in names.iter().zip(engines) {
        let command = Value::from(to_text(path));
        text.push_str(&format!("\n[engine.{name}]\ncommand = {command}\n"));
    }
    if !books.is_empty() {
        text.push_str("\n# The first book that knows the position answers.\n");
    }
    for path in books {
        let file = Value::from(to_text(path));
        text.push_str(&format!("[[books]]\nfile = {file}\n"));
    }
    text
}

/// Unique names of the engines, as bare keys of TOML.
fn names(engines: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in engines {
        let name = name(path);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = |name: &String| name != BUILTIN && !names.contains(name);
        let free = std::iter::once(name.clone()).chain(numbered).find(free);
        names.push(free.unwrap_or(name));
    }
    names
}

fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = stem.to_lowercase().chars().map(plain).collect();
    match name.trim_matches('-') {
        "" => "engine".to_owned(),
        name => name.to_owned(),
    }
}
