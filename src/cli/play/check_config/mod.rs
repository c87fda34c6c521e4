//! `tabia check`, or `tabia --check-config`: tests the configuration.
//!
//! It shows why a book is not used: each book is opened and probed for the start position
//! with its settings. Each engine is started and gets its options.

mod books;
mod faults;
mod verdict;

use std::io::{self, IsTerminal as _, Write};

use clap::Args;

use crate::cli::arguments::common::PlayArgs;
use crate::cli::arguments::configuration::NO_FOLDER;
use books::print_books;
use tabia_adapter::config::Config;
use tabia_adapter::session::{ANALYSE_MODE, Engines, Profile};
use tabia_adapter::transcript::escape;
use tabia_choice::book_set::{BookSpec, Opener};
use tabia_choice::settings::{Cover, ENGINE_PREFIX, OptionId, Options};
use tabia_engine::EngineCommand;
use tabia_engine::check::{CheckError, Greeting, try_options};
use tabia_uci::engine::{EngineOption, OptionError, check_option};
use verdict::{TestedEngine, Verdict};

/// The text of `tabia check --help` after the arguments.
pub(crate) const AFTER_HELP: &str = "Examples:\n  \
    tabia check\n  \
    tabia check --engine stockfish --book main.ctg --set \"Book Variety=20\"\n  \
    tabia check --options\n\n\
    Starts each engine and sends it its options, opens each book, and shows the first move of a \
    game; where books are for some games only, that of each kind of game. `tabia \
    --check-config` is the same.\n\n\
    Exit codes: 0 it would play; 2 no engine answers, an option is unknown to its engine or \
    has a value that does not fit, a book does not open or answers nothing, no book answers in \
    any game, or another file cannot be used (seeds, played lines, evaluations, --games, --log).";

/// Greatest width of a row of options, in columns.
const OPTION_COLUMNS: usize = 76;

/// Arguments of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    /// Shows all of Tabia's options, not only those that were changed
    #[arg(long)]
    pub(crate) options: bool,
}

/// Prints the test of the configuration; false if the adapter could not do its main job:
/// no engine answers, an engine does not accept an option, a book cannot be opened or has
/// no moves, or another file cannot be used. The verdict comes first, and again at the
/// end. `troubles` are sentences about files of the command line; with `all_options`
/// options that were not changed are printed too.
///
/// # Errors
///
/// Writing to `out` fails.
pub(crate) fn print(
    config: &Config,
    (engines, commands): (&Engines, &[EngineCommand]),
    opener: &Opener,
    troubles: &[String],
    all_options: bool,
    result: &mut dyn Write,
) -> io::Result<bool> {
    let mut details = Vec::new();
    let out = &mut details;
    writeln!(out, "configuration: {}", config.place())?;
    for folder in config.folders.iter().filter(|folder| !folder.is_dir()) {
        let text = format!("{}: {}", folder.display(), NO_FOLDER);
        writeln!(out, "{}", shown(&text))?;
    }
    for trouble in troubles {
        writeln!(out, "{}", shown(trouble))?;
    }
    let mut tested: Vec<TestedEngine<'_>> = Vec::new();
    let chain = engines.profiles.iter().zip(commands).take(engines.chain);
    // The verdict comes first, so nothing is printed before the last answer.
    let answers: Vec<_> = chain
        .map(|(profile, command)| (profile, command, probe(profile, command)))
        .collect();
    for (profile, command, answer) in answers {
        print_command(profile, command, out)?;
        print_answer(&answer, out)?;
        let declared = answer.as_ref().ok().map(|greeting| &*greeting.options);
        let wrong = print_options(profile, declared, out)?;
        if let Some(reason) = unready(&answer) {
            writeln!(out, "  is not ready with these options: {reason}")?;
        }
        let same = tested.iter().find(|other| {
            other.profile.settings == profile.settings && other.profile.books == profile.books
        });
        let first_move = match same {
            Some(other) => {
                let name = &other.profile.name;
                writeln!(out, "  Tabia's options and books: as for {name}")?;
                other.first_move.clone()
            }
            None => {
                print_own_options(profile.settings.options(), all_options, out)?;
                print_books(profile, opener, out)?
            }
        };
        tested.push(TestedEngine {
            profile,
            answer,
            wrong,
            first_move,
        });
    }
    let verdict = Verdict::of(&tested, config, troubles);
    match &verdict.plays {
        Some(plays) => writeln!(out, "\nfirst move: {}", plays.first_move)?,
        None => writeln!(out)?,
    }
    let text = verdict.text(engines);
    writeln!(result, "{text}\n")?;
    result.write_all(&details)?;
    writeln!(result, "{text}")?;
    result.flush()?;
    Ok(verdict.is_good())
}

/// Starts an engine and sets those of its options that it has.
fn probe(profile: &Profile, command: &EngineCommand) -> Result<Greeting, CheckError> {
    if io::stderr().is_terminal() {
        summary!("testing engine {} ...", shown(&profile.name));
    }
    try_options(command, profile.start_timeout, |declared| {
        let options = profile.options.iter();
        let sent = options.filter(|(name, value)| option_error(declared, name, value).is_none());
        sent.cloned().collect()
    })
}

/// Why an engine that answers is not ready with its options.
fn unready(answer: &Result<Greeting, CheckError>) -> Option<String> {
    let ready = &answer.as_ref().ok()?.ready;
    ready
        .as_ref()
        .err()
        .map(|reason| shown(&reason.to_string()))
}

fn print_command(
    profile: &Profile,
    command: &EngineCommand,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\nengine {}", profile.name)?;
    writeln!(out, "  command: {}", command)?;
    if let Some(dir) = &command.dir {
        writeln!(out, "  folder: {}", dir.display())?;
    }
    let limit = profile.start_timeout.as_millis();
    writeln!(out, "  start timeout: {limit} ms")
}

fn print_answer(answer: &Result<Greeting, CheckError>, out: &mut dyn Write) -> io::Result<()> {
    match answer {
        Ok(greeting) => writeln!(
            out,
            "  answers: {}, uciok after {} ms",
            shown(greeting.name.as_deref().unwrap_or("without a name")),
            greeting.took.as_millis()
        ),
        Err(reason) => writeln!(out, "  does not answer: {}", shown(&reason.to_string())),
    }
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

/// Prints the options for an engine that has declared `declared`; returns the wrong ones.
fn print_options<'p>(
    profile: &'p Profile,
    declared: Option<&[EngineOption]>,
    out: &mut dyn Write,
) -> io::Result<Vec<(&'p (String, String), OptionError)>> {
    let mut wrong = Vec::new();
    for option @ (name, value) in &profile.options {
        let option_error = declared.and_then(|declared| option_error(declared, name, value));
        // By the name with which it is set, if Tabia has one of that name too.
        let (prefix, meant) = match OptionId::by_name(name) {
            Some(_) => (ENGINE_PREFIX, None),
            None if option_error.is_some() => ("", OptionId::meant_by(name)),
            None => ("", OptionId::like(name)),
        };
        let meant = meant.map(|meant| meant.spec().name);
        write!(out, "  {prefix}{name} = {}", shown(value))?;
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
        wrong.extend(option_error.map(|error| (option, error)));
    }
    Ok(wrong)
}

/// Prints Tabia's own options, several in a row: the changed ones, then on request the others.
fn print_own_options(options: &Options, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let usual = Options::default();
    let (changed, others): (Vec<OptionId>, Vec<OptionId>) = OptionId::ALL
        .iter()
        .partition(|id| options.get(**id) != usual.get(**id));
    for (title, ids, is_shown) in [
        ("changed options", changed, true),
        ("other options", others, all),
    ] {
        if ids.is_empty() || !is_shown {
            continue;
        }
        writeln!(out, "  {title}:")?;
        let mut row = String::new();
        for id in ids {
            let text = format!("{} = {}; ", id.spec().name, options.get(id));
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

/// Sentences about files that a game would use, besides its books, and cannot.
pub(crate) fn files_in_the_way(profile: &Profile, opener: &Opener) -> Vec<String> {
    let options = profile.settings.options();
    let mut troubles = Vec::new();
    if let Some(seeds) = options.seed_file.as_deref() {
        let counted = opener.count_seeds(seeds);
        troubles.extend(counted.err().map(|error| error.to_string()));
    }
    if options.cover == Cover::Lines
        && let Some(book) = BookSpec::wanted(options, &profile.books).first()
        && let Err(error) = tabia_adapter::relay::check_cover(opener.cover_file(&book.path))
    {
        troubles.push(format!("Book Cover: {error}"));
    }
    let wanted = BookSpec::wanted(options, &profile.books);
    troubles.extend(wanted.iter().find_map(BookSpec::why_not_learning));
    troubles
}
