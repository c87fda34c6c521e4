//! What `setup` has found, and what it would do.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::arguments::configuration;
use crate::cli::print::columns::Table;
use crate::cli::print::style::{HEADING, Painted};
use crate::cli::set_up::file_diff;
use crate::install::{FileChange, Finds, ProgramFile, SetupPlan, TextFile, WrittenFile};
use tabia_io::input::path::file_name;
use tabia_io::sanitize::escape_control as plain;

pub(super) fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

pub(super) fn command() -> String {
    configuration::program().map_or_else(|| "tabia".to_owned(), |path| shown(&path))
}

/// Five lines at most: what was found, and what would be done.
pub(super) fn summarize(finds: &Finds, plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    let mut list = Table::list(0, 16);
    let names = |names: Vec<String>, otherwise: &str| match names.len() {
        0 => otherwise.to_owned(),
        count @ 1..=3 => format!("{count}: {}", names.join(", ")),
        count => {
            let first = names.get(..3).unwrap_or_default().join(", ");
            format!("{count}: {first}, ...")
        }
    };
    let files = |paths: &[PathBuf]| {
        let name = |path: &PathBuf| plain(&file_name(path));
        paths.iter().map(name).collect::<Vec<_>>()
    };
    let engines = names(files(&finds.engines), "none; the built-in one plays");
    list.add("Engines", engines);
    let books = names(files(&finds.books), "none; the starter book is used");
    list.add("Books", books);
    let programs = finds
        .programs
        .iter()
        .map(|program| program.title().to_owned());
    let otherwise = "none found; --help names those that are known";
    list.add("Chess programs", names(programs.collect(), otherwise));
    let written = match plan.changes.as_slice() {
        [] => "none has to change".to_owned(),
        changes => format!("{} to write or change", changes.len()),
    };
    list.add("Files", written);
    if !plan.left.is_empty() {
        list.add(
            "Left as they are",
            format!("{} (d says why)", plan.left.len()),
        );
    }
    write!(out, "{list}")
}

pub(super) fn show(finds: &Finds, out: &mut impl Write) -> io::Result<()> {
    let lists = [("Engines", &finds.engines), ("Books", &finds.books)];
    for (title, paths) in lists {
        writeln!(out, "{}", Painted(HEADING, title))?;
        for path in paths {
            writeln!(out, "  {}", shown(path))?;
        }
        if paths.is_empty() {
            let otherwise = match title {
                "Engines" => "none found: the one that comes with Tabia plays",
                _ => "none found: the starter book that comes with Tabia is used",
            };
            writeln!(out, "  {otherwise} (--folder DIR looks elsewhere)")?;
        }
    }
    writeln!(out, "{}", Painted(HEADING, "Chess programs"))?;
    for program in &finds.programs {
        writeln!(out, "  {}", program.title())?;
    }
    if finds.programs.is_empty() {
        writeln!(
            out,
            "  none found that Tabia knows: give yours {} as a UCI engine",
            command()
        )?;
    }
    Ok(())
}

pub(super) fn show_lines_to_type(plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    for (place, lines) in &plan.to_type {
        writeln!(
            out,
            "\n{}",
            Painted(HEADING, format!("{place}: lines to type"))
        )?;
        for line in lines.lines() {
            writeln!(out, "  {}", plain(line))?;
        }
    }
    Ok(())
}

pub(super) fn show_plan(plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    for (number, change) in plan.changes.iter().enumerate() {
        let title = format!("{}. {}", number + 1, what(change));
        writeln!(out, "{}", Painted(HEADING, title))?;
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        file_diff::write(&change.path, before, after, out)?;
    }
    show_left(plan, out)
}

/// Shows which lines of the files of earlier runs are setup's.
pub(super) fn show_origins(
    files: &[WrittenFile],
    command: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let title = "Written by an earlier setup (\"yours\": since then)";
    writeln!(out, "\n{}", Painted(HEADING, title))?;
    for file in files {
        let path = file.path();
        let text = TextFile::text_of(&path);
        let compared = match &text {
            Ok(Some(now)) => file.compare(command, now),
            Ok(None) => Err("it was deleted since".to_owned()),
            Err(reason) => {
                writeln!(out, "{}", plain(reason))?;
                continue;
            }
        };
        match compared {
            Ok(compared) => file_diff::write_origins(&path, &compared.lines(), out)?,
            Err(reason) => writeln!(out, "{}: {}", shown(&path), plain(&reason))?,
        }
    }
    Ok(())
}

pub(super) fn show_left(plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    for text in &plan.left {
        writeln!(out, "left as it is: {}", plain(text))?;
    }
    if plan.changes.is_empty() {
        writeln!(out, "No file needs to change.")?;
    }
    out.flush()
}

pub(super) fn what(change: &FileChange) -> String {
    let path = shown(&change.path);
    let verb = match (&change.before, &change.after) {
        (None, _) => "write",
        (_, None) => "delete",
        _ => "change",
    };
    match change.program {
        Some(ProgramFile::Engines(program)) => {
            format!("{verb} {path}, the engines of {}", program.title())
        }
        Some(ProgramFile::PyChessSettings) => {
            format!("{verb} {path}, for PyChess's own book, which plays before any engine")
        }
        None => format!("{verb} {path}, Tabia's engines and books"),
    }
}
