//! `tabia check`, or `tabia --check-config`: tests the configuration.
//!
//! It shows why a book is not used: each book is opened and probed for the start position
//! with its settings. Each engine is started and gets its options.

use std::io::{self, Write};

use shakmaty::{Chess, Color};

use tabia_adapter::book_set::{BookSpec, Opener};
use tabia_adapter::config::Config;
use tabia_adapter::session::{ANALYSE_MODE, Engines, Profile};
use tabia_adapter::settings::{OptionId, SPECS, Settings, Spec};
use tabia_adapter::transcript::escape;
use tabia_book::Book;
use tabia_notation as notation;
use tabia_uci::engine::{EngineOption, OptionError, check_option};
use tabia_uci::process::EngineCommand;
use tabia_uci::process::check::try_options;

/// The text of `tabia check --help` after the arguments.
pub(super) const AFTER_HELP: &str = "Examples:\n  \
    tabia check\n  \
    tabia check --engine stockfish --book main.ctg --set \"Book Variety=20\"\n\n\
    Starts each engine and sends it its options, opens each book, and shows the first move of a \
    game. `tabia --check-config` is the same.\n\n\
    Exit codes: 0 it would play; 2 no engine answers, an option is unknown to its engine or \
    has a value that does not fit, or a book does not open or answers nothing.";

/// Greatest number of listed moves of the start position.
const LISTED: usize = 5;

/// Greatest width of a row of options, in columns.
const OPTION_COLUMNS: usize = 76;

/// Numbers of problems with an engine of the configuration.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// Options that the engine does not have, or with invalid values.
    options: u32,
    /// The engine is not ready after it got its options.
    unready: u32,
    /// Books that cannot be opened.
    missing: u32,
    /// Books that can be opened but have no moves.
    silent: u32,
}

impl Faults {
    /// Part of a sentence for each kind; empty if there is no problem.
    fn describe(self) -> String {
        let number = |count: u32, one: &str, more: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            count => Some(format!("{count} {more}")),
        };
        let texts = [
            number(self.missing, "a book does not open", "books do not open"),
            number(
                self.silent,
                "a book answers nothing",
                "books answer nothing",
            ),
            number(self.options, "an option is wrong", "options are wrong"),
            number(self.unready, "it is not ready with its options", ""),
        ];
        texts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Prints the test of the configuration; false if the adapter could not do its main job:
/// no engine answers, an engine does not accept an option, or a book cannot be opened or
/// has no moves.
///
/// # Errors
///
/// Writing to `out` fails.
pub(super) fn print(
    config: &Config,
    engines: &Engines,
    commands: &[EngineCommand],
    opener: &Opener,
    out: &mut dyn Write,
) -> io::Result<bool> {
    writeln!(out, "configuration: {}", config.place())?;
    let mut playing: Option<(&Profile, Faults)> = None;
    let mut first_move_text = None;
    let mut wrong_elsewhere = false;
    let mut first_moves: Vec<FirstMove> = Vec::new();
    let chain = engines.profiles.iter().zip(commands).take(engines.chain);
    for (index, (profile, command)) in chain.enumerate() {
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
        // Each test takes time: show earlier results now.
        out.flush()?;
        let answer = try_options(command, profile.start_timeout, |declared| {
            let options = profile.options.iter();
            let sent =
                options.filter(|(name, value)| option_error(declared, name, value).is_none());
            sent.cloned().collect()
        });
        match &answer {
            Ok(greeting) => writeln!(
                out,
                "  answers: {}, uciok after {} ms",
                shown(greeting.name.as_deref().unwrap_or("without a name")),
                greeting.took.as_millis()
            )?,
            Err(reason) => writeln!(out, "  does not answer: {}", shown(reason))?,
        }
        let declared = answer.as_ref().ok().map(|greeting| &*greeting.options);
        let entry = config.engines.iter().find(|e| e.name == profile.name);
        // Options of the command line are for the engine that plays; another one of the
        // list need not have them.
        let counts = |option: &(String, String)| {
            playing.is_none() || entry.is_some_and(|entry| entry.options.contains(option))
        };
        let mut faults = Faults {
            options: print_options(profile, declared, counts, out)?,
            ..Faults::default()
        };
        if let Ok(greeting) = &answer
            && let Err(reason) = &greeting.ready
        {
            faults.unready = 1;
            let reason = shown(reason);
            writeln!(out, "  is not ready with these options: {reason}")?;
        }
        let before = engines.profiles.iter().take(index);
        let same = before
            .zip(&first_moves)
            .find(|(other, _)| other.settings == profile.settings && other.books == profile.books);
        let first_move = match same {
            Some((other, first_move)) => {
                writeln!(out, "  Tabia's options and books: as for {}", other.name)?;
                first_move.clone()
            }
            None => {
                print_own_options(&profile.settings, out)?;
                print_books(profile, opener, out)?
            }
        };
        (faults.missing, faults.silent) = (first_move.faults.missing, first_move.faults.silent);
        first_moves.push(first_move);
        if playing.is_some() {
            wrong_elsewhere |= faults.options + faults.unready > 0;
        } else if answer.is_ok() {
            playing = Some((profile, faults));
            first_move_text = first_moves.last().map(|found| found.text.clone());
        }
    }
    if let Some(text) = first_move_text {
        writeln!(out, "\nfirst move: {text}")?;
    }
    let result = playing.map(|(profile, faults)| (profile, faults.describe()));
    match &result {
        None => writeln!(out, "\nno engine would play: none of them answers")?,
        Some((profile, faults)) if faults.is_empty() => {
            writeln!(out, "{} would play", profile.name)?;
        }
        Some((profile, faults)) => writeln!(out, "{} would play, but {faults}", profile.name)?,
    }
    if wrong_elsewhere {
        writeln!(out, "another engine has options that are wrong")?;
    }
    out.flush()?;
    Ok(!wrong_elsewhere && result.is_some_and(|(_, faults)| faults.is_empty()))
}

/// A text of the configuration or an engine without control characters.
fn shown(text: &str) -> String {
    escape(text.as_bytes())
}

/// The known problem with an option of a profile, if any.
fn option_error(declared: &[EngineOption], name: &str, value: &str) -> Option<OptionError> {
    check_option(declared, name, value)
        .err()
        // Tabia handles this option itself, for every engine.
        .filter(|_| !name.eq_ignore_ascii_case(ANALYSE_MODE))
}

/// Prints the options for an engine that has declared `declared`; returns how many are
/// wrong and count.
fn print_options(
    profile: &Profile,
    declared: Option<&[EngineOption]>,
    counts: impl Fn(&(String, String)) -> bool,
    out: &mut dyn Write,
) -> io::Result<u32> {
    let mut wrong = 0;
    for option @ (name, value) in &profile.options {
        write!(out, "  {name} = {}", shown(value))?;
        let option_error = declared.and_then(|declared| option_error(declared, name, value));
        let meant = OptionId::like(name).map(|meant| meant.spec().name);
        match (&option_error, meant) {
            (None, None) => writeln!(out)?,
            (None, Some(meant)) => writeln!(out, " (of the engine; did you mean {meant}?)")?,
            (Some(OptionError::NoSuchOption { like: None, .. }), Some(meant)) => writeln!(
                out,
                ": wrong, the engine has no such option (did you mean \"{meant}\" of Tabia's own?)"
            )?,
            (Some(option_error), _) => {
                writeln!(out, ": wrong, {}", shown(&option_error.to_string()))?;
            }
        }
        wrong += u32::from(option_error.is_some() && counts(option));
    }
    Ok(wrong)
}

/// Prints Tabia's own options, several in a row, changed ones first.
fn print_own_options(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let usual = Settings::default();
    let value = |settings: &Settings, id| settings.display(id);
    let (changed, others): (Vec<&Spec>, Vec<&Spec>) = SPECS
        .iter()
        .partition(|spec| value(settings, spec.id) != value(&usual, spec.id));
    for (title, specs) in [("changed options", changed), ("other options", others)] {
        if specs.is_empty() {
            continue;
        }
        writeln!(out, "  {title}:")?;
        let mut row = String::new();
        for spec in specs {
            let text = format!("{} = {}; ", spec.name, value(settings, spec.id));
            if !row.is_empty() && row.len() + text.len() > OPTION_COLUMNS {
                writeln!(out, "    {}", row.trim_end())?;
                row.clear();
            }
            row.push_str(&text);
        }
        writeln!(out, "    {}", row.trim_end_matches([';', ' ']))?;
    }
    Ok(())
}

/// What the books of an engine have for the start position.
#[derive(Clone)]
struct FirstMove {
    text: String,
    /// Problems of the books only.
    faults: Faults,
}

/// Prints the books of an engine, and their problems.
fn print_books(profile: &Profile, opener: &Opener, out: &mut dyn Write) -> io::Result<FirstMove> {
    let mut found = FirstMove {
        text: "the engine's, no book has one".to_owned(),
        faults: Faults::default(),
    };
    let mut is_open = profile.settings.check(OptionId::OwnBook);
    let books = BookSpec::wanted(&profile.settings, &profile.books);
    if books.is_empty() {
        writeln!(out, "  no book: Book File is empty")?;
    } else if !is_open {
        writeln!(out, "  no book is used: OwnBook is off")?;
    }
    for book in &books {
        write!(out, "  book {}", shown(&book.path))?;
        if let Some(colour) = book.colour {
            write!(out, ", {colour}")?;
        }
        for (key, value) in book.conditions.given() {
            write!(out, ", {key} {}", shown(&value))?;
        }
        for (id, value) in &book.overrides {
            write!(out, ", {} = {value}", id.spec().name)?;
        }
        writeln!(out)?;
        match opener.open(&book.path) {
            Ok(open) => {
                writeln!(out, "    opens: {}", description(&open))?;
                for notice in open.notices() {
                    writeln!(out, "    note: {}", shown(notice))?;
                }
                let settings = book.settings(&profile.settings);
                let first = start_position(&open, book.colour, &settings);
                writeln!(out, "    start position: {}", first.text)?;
                found.faults.silent += u32::from(!first.answers);
                if is_open && first.is_played {
                    is_open = false;
                    let path = shown(&book.path);
                    found.text = format!("{} (book {path})", first.text);
                }
            }
            Err(error) => {
                found.faults.missing += 1;
                writeln!(out, "    does not open: {}", shown(&error.to_string()))?;
            }
        }
    }
    Ok(found)
}

fn description(book: &Book) -> String {
    let (title, size) = (book.format().title(), super::announced_size(book));
    match book {
        Book::Ctg(book) => format!(
            "{title}, {size} positions and {} games by its own account",
            book.header().games
        ),
        Book::Bin(_) => format!("{title}, {size} moves"),
        Book::Abk(_) => format!("{title}, {size} positions"),
    }
}

/// What a book has for the start position.
struct StartMoves {
    /// The moves, or why there are none.
    text: String,
    /// Whether one of them would be played.
    is_played: bool,
    /// False if it has no moves in the whole book: it is empty, or so damaged that this
    /// cannot be read.
    answers: bool,
}

fn start_position(book: &Book, colour: Option<Color>, settings: &Settings) -> StartMoves {
    let silent = |text: String, answers: bool| StartMoves {
        text,
        is_played: false,
        answers,
    };
    if colour == Some(Color::Black) {
        return silent("not used, the book is for Black".to_owned(), true);
    }
    if settings.number(OptionId::Depth) == 0 {
        return silent("not used, Book Depth is 0".to_owned(), true);
    }
    let position = Chess::default();
    let found = match tabia_book::policy::choose(book, &position, &[], &settings.rules()) {
        Ok(found) => found,
        Err(error) => return silent(shown(&error.to_string()), false),
    };
    if found.lookup.moves.is_empty() {
        let is_sound = super::announced_size(book) > 0 && book.notices().is_empty();
        return silent("not in the book".to_owned(), is_sound);
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
    let listed = texts[..texts.len().min(LISTED)].join(", ");
    let mut text = match is_played {
        true => listed,
        false => format!("no move may be played: {listed}"),
    };
    if texts.len() > LISTED {
        text.push_str(&format!(" and {} more", texts.len() - LISTED));
    }
    StartMoves {
        text,
        is_played,
        answers: true,
    }
}
