//! `tabia --check-config`: what would be used, and what the books would give.
//!
//! Whoever wonders why a book is not used begins here: each book is opened
//! and asked for the start position under the settings it would have, and each
//! engine is started until it says `uciok`.

use std::io::{self, Write};

use shakmaty::{Chess, Color};

use crate::book::{Book, Probe};
use crate::book_set::{BookSpec, Opener};
use crate::config::Config;
use crate::consult::consult;
use crate::engine::EngineCommand;
use crate::engine::check::greet;
use crate::notation;
use crate::session::{Engines, Profile};
use crate::settings::{OptionId, SPECS, Settings};
use crate::transcript::escape;

/// Most moves of the start position that are listed.
const LISTED: usize = 5;

/// Prints it; false when the adapter could not do its main job: no engine
/// answers, or a book that it is to play from does not open.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn print(
    config: &Config,
    engines: &Engines,
    commands: &[EngineCommand],
    opener: &Opener,
    out: &mut dyn Write,
) -> io::Result<bool> {
    writeln!(out, "configuration: {}", config.place())?;
    let mut playing = None;
    for (profile, command) in engines.profiles.iter().zip(commands).take(engines.chain) {
        writeln!(out, "\nengine {}", profile.name)?;
        writeln!(out, "  command: {}", command)?;
        if let Some(dir) = &command.dir {
            writeln!(out, "  folder: {}", dir.display())?;
        }
        writeln!(
            out,
            "  start timeout: {} ms",
            profile.start_timeout.as_millis()
        )?;
        // Each takes its time: what is known should be seen meanwhile.
        out.flush()?;
        let greeted = greet(command, profile.start_timeout);
        match &greeted {
            Ok(greeting) => writeln!(
                out,
                "  answers: {}, uciok after {} ms",
                escape(
                    greeting
                        .name
                        .as_deref()
                        .unwrap_or("without a name")
                        .as_bytes()
                ),
                greeting.took.as_millis()
            )?,
            Err(reason) => writeln!(out, "  does not answer: {}", escape(reason.as_bytes()))?,
        }
        for (name, value) in &profile.options {
            write!(out, "  {name} = {value}")?;
            match OptionId::like(name) {
                Some(meant) => {
                    writeln!(out, " (the engine's; not {}?)", meant.spec().name)?;
                }
                None => writeln!(out)?,
            }
        }
        for spec in &SPECS {
            writeln!(
                out,
                "  {} = {}",
                spec.name,
                profile.settings.display(spec.id)
            )?;
        }
        let missing = print_books(profile, opener, out)?;
        if greeted.is_ok() && playing.is_none() {
            playing = Some((profile, missing));
        }
    }
    match &playing {
        None => writeln!(out, "\nno engine would play: none of them answers")?,
        Some((profile, 0)) => writeln!(out, "\n{} would play", profile.name)?,
        Some((profile, missing)) => writeln!(
            out,
            "\n{} would play, but {} not open",
            profile.name,
            match missing {
                1 => "a book does".to_owned(),
                missing => format!("{missing} books do"),
            }
        )?,
    }
    out.flush()?;
    Ok(playing.is_some_and(|(_, missing)| missing == 0))
}

/// The books of an engine; how many of them do not open.
fn print_books(profile: &Profile, opener: &Opener, out: &mut dyn Write) -> io::Result<u32> {
    let mut missing = 0;
    let books = BookSpec::wanted(&profile.settings, &profile.books);
    if books.is_empty() {
        writeln!(out, "  no book: Book File is empty")?;
    } else if !profile.settings.check(OptionId::OwnBook) {
        writeln!(out, "  no book is asked: OwnBook is off")?;
    }
    for book in &books {
        write!(out, "  book {}", escape(book.path.as_bytes()))?;
        if let Some(colour) = book.colour {
            write!(out, ", {colour}")?;
        }
        for (id, value) in &book.overrides {
            write!(out, ", {} = {value}", id.spec().name)?;
        }
        writeln!(out)?;
        match opener.open(&book.path) {
            Ok(open) => {
                writeln!(out, "    opens: {}", description(&open))?;
                for notice in open.notices() {
                    writeln!(out, "    note: {}", escape(notice.as_bytes()))?;
                }
                let settings = book.settings(&profile.settings);
                let text = start_position(&open, book.colour, &settings);
                writeln!(out, "    start position: {text}")?;
            }
            Err(error) => {
                missing += 1;
                writeln!(
                    out,
                    "    does not open: {}",
                    escape(error.to_string().as_bytes())
                )?;
            }
        }
    }
    Ok(missing)
}

fn description(book: &Book) -> String {
    let title = book.format().title();
    match book {
        Book::Ctg(book) => {
            let header = book.header();
            format!(
                "{title}, {} positions and {} games by its own account",
                header.positions, header.games
            )
        }
        Book::Bin(book) => format!("{title}, {} moves", book.len()),
        Book::Abk(book) => format!("{title}, {} positions", book.positions()),
    }
}

/// What a book would play in the start position, or why nothing.
fn start_position(book: &dyn Probe, colour: Option<Color>, settings: &Settings) -> String {
    if colour == Some(Color::Black) {
        return "not asked, the book is for Black".to_owned();
    }
    if settings.number(OptionId::Depth) == 0 {
        return "not asked, Book Depth is 0".to_owned();
    }
    let position = Chess::default();
    let found = match consult(book, &position, &[], settings) {
        Ok(found) => found,
        Err(error) => return escape(error.to_string().as_bytes()),
    };
    if found.lookup.moves.is_empty() {
        return "not in the book".to_owned();
    }
    let is_played = found.best().is_some();
    let texts: Vec<String> = found
        .rows()
        .filter(|(_, verdict)| !is_played || verdict.probability > 0.0)
        .map(|(candidate, verdict)| {
            let mv = notation::uci(candidate.mv);
            match verdict.rejection {
                Some(reason) if !is_played => format!("{mv} ({reason})"),
                _ => format!("{mv} {:.0}%", 100.0 * verdict.probability),
            }
        })
        .collect();
    let shown = texts.iter().take(LISTED).cloned().collect::<Vec<_>>();
    let mut text = if is_played {
        String::new()
    } else {
        "no move may be played: ".to_owned()
    };
    text.push_str(&shown.join(", "));
    if texts.len() > LISTED {
        text.push_str(&format!(" and {} more", texts.len() - LISTED));
    }
    text
}
