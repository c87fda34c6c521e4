//! Scripts that start the adapter, for programs that cannot pass it arguments.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use super::word;
use crate::install::{EditedFor, EngineIn, Registered, Registration, TextFile};
use tabia_io::input::bytes::{FNV_START, fnv1a};
use tabia_io::sanitize::escape_control;

/// A script that starts the adapter with its arguments, for a program that cannot pass
/// them or takes two entries of one program for the same engine: its path, and its text.
pub(super) fn launcher(
    program: EditedFor,
    list: &Path,
    registration: &Registration,
) -> anyhow::Result<(PathBuf, String)> {
    ensure!(
        cfg!(unix),
        "{} starts engines without arguments: make a copy of the program and put a .toml file \
         of the same name beside it (see docs/guis.md), then register that copy without \
         --engine and --config",
        program.title()
    );
    let path = launcher_of(program, list, &registration.name)?;
    let args: &[String] = match program.takes_arguments() {
        // It passes them itself, and needs the script to be another file for each entry.
        true => &[],
        false => &registration.args,
    };
    let words: Vec<String> = std::iter::once(&registration.command)
        .chain(args)
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    let purpose = match program.takes_arguments() {
        true => format!(", for \"{}\"", escape_control(&registration.name)),
        false => String::new(),
    };
    let script = format!(
        "#!/bin/sh\n# Made by tabia register{purpose}.\nexec {} \"$@\"\n",
        words.join(" ")
    );
    Ok((path, script))
}

/// The path of the script for the entry of this name in a program's list: no other entry has
/// it, so its name has a hash of both. Only by that do "SF 15" and "SF-15" differ, or "sf" and
/// "SF" where files are found in any case.
pub(super) fn launcher_of(program: EditedFor, list: &Path, name: &str) -> anyhow::Result<PathBuf> {
    /// A file's name has at most 255 bytes on all systems.
    const SHOWN: usize = 60;
    let folder = dirs::config_dir().context("there is no home folder")?;
    let entry = [list.as_os_str().as_encoded_bytes(), name.as_bytes()].join(&0);
    let hash = fnv1a(FNV_START, &entry);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let shown: String = name.chars().map(plain).take(SHOWN).collect();
    let program = word(program);
    let file = format!("tabia-{program}-{shown}-{hash:016x}");
    Ok(folder.join("tabia").join("launchers").join(file))
}

/// Deletes the scripts that no engine starts any more: that of this entry, and those that
/// entries of its file have started in their `old` text.
pub(super) fn delete_scripts(
    engine: &EngineIn<'_>,
    program: EditedFor,
    old: &str,
    record: &Registered,
) -> anyhow::Result<()> {
    let Ok(own) = launcher_of(program, engine.path, engine.name) else {
        return Ok(());
    };
    let starts = |program: EditedFor, text: &str, script: &Path| {
        let mut commands = program.commands(text).into_iter();
        commands.any(|command| Path::new(&command) == script)
    };
    let earlier = program.commands(old).into_iter().map(PathBuf::from);
    for script in earlier.chain([own.clone()]) {
        if script.parent() != own.parent() || !script.is_file() {
            continue;
        }
        let lists = record.lists().into_iter();
        let mut lists = lists.chain([(program, engine.path.to_owned(), None)]);
        let is_used = lists.any(|(program, path, before)| {
            let now = TextFile::text_of(&path);
            // A list that cannot be read may have it, and one from before may come back.
            now.is_err()
                || [now.ok().flatten().as_deref(), before]
                    .iter()
                    .flatten()
                    .any(|text| starts(program, text, &script))
        });
        if !is_used {
            let shown = script.display();
            std::fs::remove_file(&script).with_context(|| format!("cannot delete {shown}"))?;
            message!("tabia: {shown}: deleted");
        }
    }
    if let Some(folder) = own.parent() {
        // Fails, as it should, if other files are left in it.
        std::fs::remove_dir(folder).ok();
    }
    Ok(())
}

#[cfg(unix)]
pub(super) fn make_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))
}

#[cfg(not(unix))]
pub(super) fn make_executable(_path: &Path) -> anyhow::Result<()> {
    Ok(())
}
