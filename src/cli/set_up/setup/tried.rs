//! Which books and engines are used: those that are read and answer.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::show::shown;
use crate::cli::files;
use crate::cli::look::info;
use crate::cli::print::style::{HEADING, Painted};
use crate::install::{Finds, is_executable};
use tabia_book::bin::ENTRY_BYTES;
use tabia_book::{Book, NEAR_PLIES, is_near_start};
use tabia_engine::check::{Patience, PlayedMove, greet, play};
use tabia_engine::{EngineCommand, search_path};
use tabia_io::input::path::to_text;
use tabia_io::sanitize::escape_control as plain;

pub(super) fn keep_sound_books(finds: &mut Finds, out: &mut impl Write) -> io::Result<()> {
    let mut written = Ok(());
    let mut left_out = |text: &str| {
        if written.is_ok() {
            written = writeln!(out, "left out: {}", plain(text));
        }
    };
    for (path, what) in &finds.no_books {
        left_out(&format!("{}: {what}", path.display()));
    }
    for (copy, book) in &finds.copies {
        left_out(&format!("{}: a copy of {}", copy.display(), book.display()));
    }
    finds.books.retain(|path| {
        let defect = defect(path).unwrap_or_else(|error| Some(format!("{error:#}")));
        if let Some(defect) = &defect {
            left_out(defect);
        }
        defect.is_none()
    });
    // Done only now: if a book is damaged, the same book in another format is used.
    for (other, book) in finds.drop_namesakes() {
        let (other, book) = (shown(&other), shown(&book));
        writeln!(out, "left out: {other}: another format of {book}")?;
    }
    written
}

/// A book with fewer positions is a test or a leftover.
pub(super) const TINY: u64 = 10;

/// Why a book is not used: unreadable parts that `tabia info` would find, too few
/// positions, or none near the start position. A missing index does not count.
pub(super) fn defect(path: &Path) -> anyhow::Result<Option<String>> {
    let book = files::open_quietly(path, false)?;
    let damage = match &book {
        Book::Ctg(book) => {
            let expected = book.header().pages;
            let info = info::counted(book, false)?;
            match info.bad_pages {
                _ if info.pages < expected => {
                    Some(format!("only {} of {expected} pages exist", info.pages))
                }
                0 => None,
                1 => Some("a page cannot be read to its end".to_owned()),
                bad => Some(format!("{bad} pages cannot be read to their end")),
            }
        }
        Book::Bin(book) if book.bytes().is_multiple_of(ENTRY_BYTES as u64) => None,
        Book::Bin(_) => Some("the last entry is incomplete".to_owned()),
        // Of a sound Shredder book, too, some positions are not found; `check` says how many.
        Book::Loaded(book) if !book.format().finds_every_position() => None,
        Book::Loaded(book) => book.notices().first().cloned(),
    };
    let shown = path.display();
    if let Some(damage) = damage {
        return Ok(Some(format!(
            "{shown}: it is damaged: {damage} (`tabia info` shows more)"
        )));
    }
    if files::announced_size(&book) < TINY {
        return Ok(Some(format!(
            "{shown}: it has fewer than {TINY} positions or moves"
        )));
    }
    // The starter book is used only if there is no other one: networks and tables of engines in
    // a folder of downloads, named `.bin`, took its place, and no book move was played.
    let is_near = is_near_start(&book)?;
    Ok((!is_near).then(|| {
        format!(
            "{shown}: it has no move in the start position, nor in any that is at most \
             {NEAR_PLIES} plies after it"
        )
    }))
}

/// The file of an engine that was named.
pub(super) fn engine(name: &Path) -> anyhow::Result<PathBuf> {
    let is_name = name.components().count() == 1;
    let on_path = search_path().into_iter().map(|folder| folder.join(name));
    let here = std::path::absolute(name).with_context(|| format!("--engine {}", name.display()))?;
    let places = on_path.filter(|_| is_name).chain([here]);
    let ends = |path: PathBuf| [path.with_added_extension("exe"), path];
    let mut files = places.flat_map(ends).filter(|path| is_executable(path));
    files.next().with_context(|| {
        let name = name.display();
        format!("--engine {name}: no program of this name on the PATH, nor a file that can be run")
    })
}

pub(super) fn keep_engines_that_answer(finds: &mut Finds, out: &mut impl Write) -> io::Result<()> {
    let mut kept = Vec::new();
    for path in finds.engines.drain(..) {
        write!(out, "  {}: ", shown(&path))?;
        // Each step takes time: show the last one now.
        out.flush()?;
        let command = EngineCommand::new(path.clone());
        let answer = match path.to_str() {
            Some(_) => greet(&command, tabia_adapter::config::START_TIMEOUT)
                .map_err(|error| error.to_string()),
            None => Err(format!(
                "the path is not valid Unicode ({}): engines.toml cannot name it",
                to_text(&path)
            )),
        };
        match answer {
            Ok(greeting) => {
                let name = greeting.name.unwrap_or_else(|| "a UCI engine".to_owned());
                writeln!(out, "{}", plain(&name))?;
                kept.push(path);
            }
            Err(reason) => writeln!(out, "left out: {}", plain(&reason))?,
        }
    }
    finds.engines = kept;
    Ok(())
}

/// A remark about book moves without their weights and games in brackets; `tabia probe`
/// explains these.
pub(super) fn without_numbers(remark: &str) -> String {
    let mut text = String::new();
    let mut rest = remark;
    while let Some((before, after)) = rest.split_once(" (w ") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

/// A position that no opening book has, to test the engine.
pub(super) const ENDGAME: &str = "fen 8/8/4k3/8/8/3QK3/8/8 w - - 0 1";

/// Plays like a chess program; true if there is a move in each position.
pub(super) fn try_it(program: &Path, out: &mut impl Write) -> io::Result<bool> {
    writeln!(out, "\n{}", Painted(HEADING, "Test: two moves"))?;
    out.flush()?;
    let command = EngineCommand::new(program.to_owned()).may_be_tabia(true);
    let patience = Patience::default()
        .start(std::time::Duration::from_secs(60))
        .search(std::time::Duration::from_secs(30));
    match play(&command, &["startpos", ENDGAME], &patience) {
        Ok(played) => {
            for (place, PlayedMove { mv, remarks, .. }) in
                ["start position", "endgame, out of book"]
                    .iter()
                    .zip(played)
            {
                writeln!(out, "  {place}: {}", plain(&mv))?;
                for remark in remarks {
                    writeln!(out, "    {}", plain(&without_numbers(&remark)))?;
                }
            }
            Ok(true)
        }
        Err(reason) => {
            writeln!(out, "  it does not play: {}", plain(&reason.to_string()))?;
            writeln!(out, "  tabia check shows more")?;
            Ok(false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remark_about_a_book_move_is_shown_without_its_numbers() {
        let remark = "book x.ctg: d2d4 39% (w 62554, n 55110) e2e4 39% (w 62493, n 60385)";
        assert_eq!(without_numbers(remark), "book x.ctg: d2d4 39% e2e4 39%");
        assert_eq!(without_numbers("the engine plays"), "the engine plays");
    }
}
