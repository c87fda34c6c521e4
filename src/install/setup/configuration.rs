//! The text of an `engines.toml`.

use std::path::{Path, PathBuf};

use toml::Value;

use tabia_adapter::config::{BUILTIN, Config};
use tabia_io::input::path::to_text;

/// An `engines.toml` for these engines and books, each in the order in which they are
/// tried; the built-in engine is the last.
#[must_use]
pub(crate) fn write(engines: &[PathBuf], books: &[PathBuf]) -> String {
    let names = names(engines, &[BUILTIN]);
    let all = names.iter().map(String::as_str).chain([BUILTIN]);
    let all = all.map(Value::from).collect::<Vec<_>>();
    let mut text = String::from(
        "# Made by \"tabia setup\". Change what you like: a file that you have changed is\n\
         # left alone, and \"tabia setup --dry-run\" shows which lines are yours. \"tabia\n\
         # check\" shows what is used.\n\n\
         # The first engine that starts plays; \"builtin\" comes with the program.\n",
    );
    text.push_str(&format!("default = {}\n", Value::from(all)));
    for section in engine_sections(&names, engines) {
        text.push('\n');
        text.push_str(&section);
    }
    if !books.is_empty() {
        text.push_str("\n# The first book that knows the position answers.\n");
    }
    text.extend(books.iter().map(|path| book_section(path)));
    text
}

/// The lines that a configuration lacks for these engines and books; with them it can use
/// all of these. A `command` without a folder names the engine of any folder.
#[must_use]
pub(crate) fn lacking(config: &Config, engines: &[PathBuf], books: &[PathBuf]) -> String {
    let known = config.engines.iter().map(|engine| engine.name.as_str());
    let taken: Vec<&str> = known.chain([BUILTIN]).collect();
    let is_known = |path: &Path| {
        let mut programs = config.engines.iter().map(|engine| &engine.command.program);
        programs.any(|program| program == path || Some(program.as_os_str()) == path.file_name())
    };
    let engines = engines.iter().filter(|path| !is_known(path)).cloned();
    let engines: Vec<PathBuf> = engines.collect();
    let is_open = |path: &Path| {
        let mut files = config.books.iter().map(|book| Path::new(&book.path));
        files.any(|file| file == path)
    };
    let books = books.iter().filter(|path| !is_open(path));
    let names = names(&engines, &taken);
    let sections = engine_sections(&names, &engines);
    sections
        .chain(books.map(|path| book_section(path)))
        .collect()
}

fn engine_sections(names: &[String], engines: &[PathBuf]) -> impl Iterator<Item = String> {
    names.iter().zip(engines).map(|(name, path)| {
        let command = Value::from(to_text(path));
        format!("[engine.{name}]\ncommand = {command}\n")
    })
}

fn book_section(path: &Path) -> String {
    let file = Value::from(to_text(path));
    format!("[[books]]\nfile = {file}\n")
}

/// Names of the engines, none of them `taken` and no two equal, as bare keys of TOML.
fn names(engines: &[PathBuf], taken: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in engines {
        let name = name(path);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = |name: &String| !taken.contains(&name.as_str()) && !names.contains(name);
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
