//! Finds the engines that the configuration and the command line name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use super::common::{PlayArgs, name_and_value};
use super::configuration::program;
use tabia_adapter::config::{BUILTIN, Config, EngineEntry};
use tabia_adapter::session::{Engines, IfNoneStarts};
use tabia_choice::book_set::BookSpec;
use tabia_choice::settings::{BookFiles, OptionId, Options, STARTER, Setting, paths};
use tabia_engine::{EngineCommand, itself};

/// The command of the built-in engine, if this program has one.
pub(crate) fn builtin() -> Option<EngineCommand> {
    cfg!(feature = "builtin-engine").then(|| {
        EngineCommand::new(program().unwrap_or_else(|| PathBuf::from("tabia")))
            .args(vec!["engine".into()])
    })
}

/// The engine of `-- COMMAND ARG...`.
///
/// # Errors
///
/// The command would start this program itself.
pub(crate) fn engine_command(
    program: &OsString,
    args: &[OsString],
) -> anyhow::Result<EngineCommand> {
    let command = command_of(program, args);
    ensure!(!command.is_this_program(), "{command}: {}", itself::REASON);
    Ok(command)
}

pub(crate) fn command_of(program: &OsString, args: &[OsString]) -> EngineCommand {
    EngineCommand::new(program).args(args.to_vec())
}

/// Whether a name can only be the path of a program.
pub(crate) fn is_program_path(name: &str) -> bool {
    Path::new(name).components().count() > 1
}

/// The engines with this name: one from the configuration, or a program's path. Without a
/// name, those of the configuration.
pub(crate) fn engines_named(
    config: &Config,
    name: Option<&str>,
) -> anyhow::Result<(Engines, Vec<EngineCommand>)> {
    match name {
        Some(name)
            if is_program_path(name) && !config.engines.iter().any(|entry| entry.name == name) =>
        {
            one_engine(config, engine_command(&name.into(), &[])?)
        }
        _ => {
            let names: Vec<String> = name.into_iter().map(str::to_owned).collect();
            Ok(config.engines(&names, builtin().as_ref())?)
        }
    }
}

/// The first of these engines.
pub(crate) fn engine_named(config: &Config, name: Option<&str>) -> anyhow::Result<EngineCommand> {
    let (_, commands) = engines_named(config, name)?;
    let first = commands.into_iter().next();
    first.with_context(|| format!("no engine is named: try {BUILTIN}"))
}

/// The engines to try, with the options of the command line.
pub(crate) fn engines(
    args: &PlayArgs,
    config: &Config,
) -> anyhow::Result<(Engines, Vec<EngineCommand>)> {
    let (mut engines, commands) = match args.command.split_first() {
        Some((program, rest)) => one_engine(config, engine_command(program, rest)?)?,
        None => engines_named(config, args.engine.as_deref())?,
    };
    if args.engine.is_some() || !args.command.is_empty() {
        engines.if_none_starts = IfNoneStarts::End;
    }
    if !args.book.is_empty() {
        let books = paths::join(&book_paths(args));
        for profile in &mut engines.profiles {
            profile.settings.set(OptionId::File, &books)?;
        }
    }
    for setting in &args.set {
        let (name, value) = name_and_value(setting)?;
        for profile in &mut engines.profiles {
            match OptionId::by_name(name) {
                Some(id) => {
                    profile.settings.set(id, value)?;
                }
                None => {
                    let name = OptionId::name_for_engine(name);
                    profile.options.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        if OptionId::by_name(name).is_none()
            && OptionId::without_prefix(name).is_none()
            && let Some(meant) = OptionId::like(name)
        {
            message!(
                "tabia: --set \"{name}\" goes to the engine; did you mean \"{}\"?",
                meant.spec().name
            );
        }
    }
    Ok((engines, commands))
}

/// The books of `--book`: relative to the folder of the command, in whatever folder the
/// GUI runs it.
fn book_paths(args: &PlayArgs) -> Vec<String> {
    let full = |path: &PathBuf| {
        if path == Path::new(STARTER) {
            return STARTER.to_owned();
        }
        let path = tabia_io::input::path::from_home(path);
        let full = std::path::absolute(&path).unwrap_or(path);
        tabia_io::input::path::to_text(&full)
    };
    args.book.iter().map(full).collect()
}

/// The books that the command line names, by `--book` or by `--set`.
pub(crate) fn named_books(args: &PlayArgs) -> anyhow::Result<Vec<String>> {
    let mut books = book_paths(args);
    for setting in &args.set {
        let (name, value) = name_and_value(setting)?;
        if let Some(id) = OptionId::by_name(name) {
            // Of the options without any book.
            let mut options = Options::default();
            options.file = BookFiles::Configured;
            options.set(Setting::read(id, value)?);
            books.extend(
                BookSpec::wanted(&options, &[])
                    .into_iter()
                    .map(|book| book.path),
            );
        }
    }
    Ok(books)
}

/// The book of the configuration with an engine that has no profile.
fn one_engine(
    config: &Config,
    command: EngineCommand,
) -> anyhow::Result<(Engines, Vec<EngineCommand>)> {
    let name = command.program.to_string_lossy().into_owned();
    let mut config = config.clone();
    config.engines = vec![EngineEntry::new(name.clone(), command)];
    Ok(config.engines(&[name], builtin().as_ref())?)
}
