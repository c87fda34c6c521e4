//! `tabia --check-config`: what would be used, and what the books would give.
//!
//! Whoever wonders why a book is not used begins here: each book is opened
//! and asked for the start position under the settings it would have, and each
//! engine is started, and its options compared with what it declares and tried.

use std::io::{self, Write};

use shakmaty::{Chess, Color};

use tabia_adapter::book_set::{BookSpec, Opener};
use tabia_adapter::config::Config;
use tabia_adapter::session::{ANALYSE_MODE, Engines, Profile};
use tabia_adapter::settings::{OptionId, SPECS, Settings};
use tabia_adapter::transcript::escape;
use tabia_book::Book;
use tabia_notation as notation;
use tabia_uci::engine::{EngineOption, Misfit, fits};
use tabia_uci::process::EngineCommand;
use tabia_uci::process::check::try_options;

/// Most moves of the start position that are listed.
const LISTED: usize = 5;

/// What is wrong with an engine of the configuration, in numbers.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// Options that it does not have, or does not take the value of.
    options: u32,
    /// It is not ready with its options.
    unready: u32,
    /// Books that do not open.
    missing: u32,
    /// Books that open and answer nothing.
    silent: u32,
}

impl Faults {
    /// Half a sentence for each kind; empty where there is none.
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

/// Prints it; false when the adapter could not do its main job: no engine
/// answers, an option is not one that its engine takes, or a book that it is to
/// play from does not open or answers nothing.
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
    let mut playing: Option<(&Profile, Faults)> = None;
    let mut wrong_elsewhere = false;
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
        let greeted = try_options(command, profile.start_timeout, |declared| {
            let options = profile.options.iter();
            let sent = options.filter(|(name, value)| misfit(declared, name, value).is_none());
            sent.cloned().collect()
        });
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
        let declared = greeted.as_ref().ok().map(|greeting| &*greeting.options);
        let entry = config.engines.iter().find(|e| e.name == profile.name);
        // What is typed is for whichever engine plays; another of the chain
        // need not have it.
        let counts = |option: &(String, String)| {
            playing.is_none() || entry.is_some_and(|entry| entry.options.contains(option))
        };
        let mut faults = Faults {
            options: print_options(profile, declared, counts, out)?,
            ..Faults::default()
        };
        if let Ok(greeting) = &greeted
            && let Err(reason) = &greeting.ready
        {
            faults.unready = 1;
            let reason = escape(reason.as_bytes());
            writeln!(out, "  is not ready with these options: {reason}")?;
        }
        for spec in &SPECS {
            writeln!(
                out,
                "  {} = {}",
                spec.name,
                profile.settings.display(spec.id)
            )?;
        }
        print_books(profile, opener, &mut faults, out)?;
        if playing.is_some() {
            wrong_elsewhere |= faults.options + faults.unready > 0;
        } else if greeted.is_ok() {
            playing = Some((profile, faults));
        }
    }
    let told = playing.map(|(profile, faults)| (profile, faults.describe()));
    match &told {
        None => writeln!(out, "\nno engine would play: none of them answers")?,
        Some((profile, faults)) if faults.is_empty() => {
            writeln!(out, "\n{} would play", profile.name)?;
        }
        Some((profile, faults)) => writeln!(out, "\n{} would play, but {faults}", profile.name)?,
    }
    if wrong_elsewhere {
        writeln!(out, "another engine has options that are wrong")?;
    }
    out.flush()?;
    Ok(!wrong_elsewhere && told.is_some_and(|(_, faults)| faults.is_empty()))
}

/// What is wrong with an option of a profile, if that is known.
fn misfit(declared: &[EngineOption], name: &str, value: &str) -> Option<Misfit> {
    fits(declared, name, value)
        .err()
        // That we heed ourselves, for every engine.
        .filter(|_| !name.eq_ignore_ascii_case(ANALYSE_MODE))
}

/// The options that an engine is to be told, `declared` being those that it
/// has; how many of them are wrong and count.
fn print_options(
    profile: &Profile,
    declared: Option<&[EngineOption]>,
    counts: impl Fn(&(String, String)) -> bool,
    out: &mut dyn Write,
) -> io::Result<u32> {
    let mut wrong = 0;
    for option @ (name, value) in &profile.options {
        write!(out, "  {name} = {}", escape(value.as_bytes()))?;
        let misfit = declared.and_then(|declared| misfit(declared, name, value));
        let meant = OptionId::like(name).map(|meant| meant.spec().name);
        match (&misfit, meant) {
            (None, None) => writeln!(out)?,
            (None, Some(meant)) => writeln!(out, " (the engine's; not {meant}?)")?,
            (Some(Misfit::NoSuchOption { like: None, .. }), Some(meant)) => writeln!(
                out,
                ": wrong, the engine has no such option (did you mean \"{meant}\" of Tabia's own?)"
            )?,
            (Some(misfit), _) => {
                writeln!(out, ": wrong, {}", escape(misfit.to_string().as_bytes()))?;
            }
        }
        wrong += u32::from(misfit.is_some() && counts(option));
    }
    Ok(wrong)
}

/// The books of an engine, and what is wrong with them.
fn print_books(
    profile: &Profile,
    opener: &Opener,
    faults: &mut Faults,
    out: &mut dyn Write,
) -> io::Result<()> {
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
                let (text, answers) = start_position(&open, book.colour, &settings);
                writeln!(out, "    start position: {text}")?;
                faults.silent += u32::from(!answers);
            }
            Err(error) => {
                faults.missing += 1;
                writeln!(
                    out,
                    "    does not open: {}",
                    escape(error.to_string().as_bytes())
                )?;
            }
        }
    }
    Ok(())
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

/// What a book would play in the start position, or why nothing; false where it
/// answers nothing at all: it is empty, or what is left of it cannot even
/// answer that.
fn start_position(book: &Book, colour: Option<Color>, settings: &Settings) -> (String, bool) {
    if colour == Some(Color::Black) {
        return ("not asked, the book is for Black".to_owned(), true);
    }
    if settings.number(OptionId::Depth) == 0 {
        return ("not asked, Book Depth is 0".to_owned(), true);
    }
    let position = Chess::default();
    let found = match tabia_book::policy::choose(book, &position, &[], &settings.rules()) {
        Ok(found) => found,
        Err(error) => return (escape(error.to_string().as_bytes()), false),
    };
    if found.lookup.moves.is_empty() {
        let holds_some = match book {
            Book::Ctg(book) => book.header().positions > 0,
            Book::Bin(book) => !book.is_empty(),
            Book::Abk(book) => book.positions() > 0,
        };
        let is_whole = book.notices().is_empty();
        return ("not in the book".to_owned(), holds_some && is_whole);
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
    (text, true)
}
