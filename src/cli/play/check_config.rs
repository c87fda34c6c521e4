//! `tabia check`, or `tabia --check-config`: tests the configuration.
//!
//! It shows why a book is not used: each book is opened and probed for the start position
//! with its settings. Each engine is started and gets its options.

use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;

use clap::Args;

use crate::cli::arguments::common::PlayArgs;
use crate::cli::arguments::configuration::NO_FOLDER;
use crate::cli::files;
use crate::cli::print::style::counted;
use shakmaty::{Chess, Color, Position as _};
use tabia_adapter::config::Config;
use tabia_adapter::session::{ANALYSE_MODE, Engines, IfNoneStarts, Profile};
use tabia_adapter::transcript::escape;
use tabia_book::policy::{Exit, choose};
use tabia_book::{Book, Probe};
use tabia_choice::book_set::{BookSpec, Opener, as_played};
use tabia_choice::conditions::GameConditions;
use tabia_choice::settings::{Cover, ENGINE_PREFIX, OptionId, Options};
use tabia_engine::EngineCommand;
use tabia_engine::check::{CheckError, Greeting, try_options};
use tabia_notation as notation;
use tabia_uci::engine::{EngineOption, OptionError, check_option};

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

/// Greatest number of listed moves of the start position.
const LISTED: usize = 5;

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

/// Greatest number of reasons in the verdict.
const REASONS: usize = 3;

/// Problems with an engine of the configuration: numbers of each kind.
#[derive(Clone, Default)]
struct Faults {
    /// Options that the engine does not have, or with invalid values.
    options: u32,
    /// The engine is not ready after it got its options.
    unready: u32,
    /// Books that cannot be opened.
    missing: u32,
    /// Books that can be opened but have no moves.
    silent: u32,
    /// Other files that cannot be used.
    files: u32,
    /// Books that stop answering in every position that has a value.
    exits: u32,
    /// Books whose conditions no game meets.
    unmet: u32,
    /// No book answers in any game.
    never: u32,
    /// What is wrong, with its place.
    reasons: Vec<String>,
}

impl Faults {
    /// Part of a sentence for each kind; empty if there is no problem.
    fn describe(&self) -> String {
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
            number(self.files, "a file cannot be used", "files cannot be used"),
            number(
                self.exits,
                "Book Exit Below is above Book Exit Above",
                "books have Book Exit Below above Book Exit Above",
            ),
            number(
                self.unmet,
                "no game meets the conditions of a book",
                "books have conditions that no game meets",
            ),
            number(self.never, "no book answers in any game", ""),
            number(self.options, "an option is wrong", "options are wrong"),
            number(self.unready, "it is not ready with its options", ""),
        ];
        let text = texts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let named = self.reasons.get(..REASONS).unwrap_or(&self.reasons);
        match (named, self.reasons.len() - named.len()) {
            ([], _) => text,
            (named, 0) => format!("{text} ({})", named.join("; ")),
            (named, more) => format!("{text} ({}; and {more} more)", named.join("; ")),
        }
    }
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

/// The tests of an engine.
struct TestedEngine<'a> {
    profile: &'a Profile,
    answer: Result<Greeting, CheckError>,
    /// Options that it does not have, or with invalid values.
    wrong: Vec<(&'a (String, String), OptionError)>,
    first_move: FirstMove,
}

/// The result of all tests.
#[derive(Default)]
struct Verdict {
    plays: Option<Plays>,
    /// Another engine has wrong options, or is not ready with them.
    is_wrong_elsewhere: bool,
    /// Why engines do not answer.
    dead: Vec<String>,
}

/// The engine that would play.
struct Plays {
    name: String,
    faults: Faults,
    first_move: String,
}

impl Verdict {
    fn of(tested: &[TestedEngine<'_>], config: &Config, troubles: &[String]) -> Verdict {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut verdict = Verdict::default();
        for engine in tested {
            let name = &engine.profile.name;
            let mut of_list = config.engines.iter();
            let of_list = of_list.find(|entry| entry.name == *name);
            let wrong = engine.wrong.iter().filter(|(option, _)| {
                // Options of the command line are for the engine that plays; another one of
                // the list need not have them.
                verdict.plays.is_none()
                    || of_list.is_some_and(|entry| entry.options.contains(option))
            });
            let mut reasons: Vec<String> =
                wrong.map(|(_, error)| shown(&error.to_string())).collect();
            let options = number(reasons.len());
            let unready = unready(&engine.answer);
            match &engine.answer {
                _ if verdict.plays.is_some() => {
                    verdict.is_wrong_elsewhere |= options > 0 || unready.is_some();
                }
                Ok(_) => {
                    let FirstMove { text, faults } = engine.first_move.clone();
                    reasons.extend(unready.clone());
                    reasons.extend(faults.reasons);
                    reasons.extend(troubles.iter().map(|trouble| shown(trouble)));
                    verdict.plays = Some(Plays {
                        name: name.clone(),
                        first_move: text,
                        faults: Faults {
                            options,
                            unready: unready.is_some().into(),
                            files: faults.files.saturating_add(number(troubles.len())),
                            reasons,
                            ..faults
                        },
                    });
                }
                Err(reason) => {
                    let reason = shown(&reason.to_string());
                    verdict.dead.push(format!("{}: {reason}", shown(name)));
                }
            }
        }
        verdict
    }

    /// Whether the adapter could do its main job.
    fn is_good(&self) -> bool {
        let plays = self.plays.as_ref();
        !self.is_wrong_elsewhere && plays.is_some_and(|plays| plays.faults.describe().is_empty())
    }

    fn text(&self, engines: &Engines) -> String {
        let mut text = match &self.plays {
            None => {
                let plays_on = engines.if_none_starts == IfNoneStarts::PlayOn;
                let more = match engines.stand_in.filter(|_| plays_on) {
                    Some(_) => "; the built-in engine would, out of book",
                    None => "",
                };
                let why = self.dead.join("; ");
                format!("no engine would play: none of them answers ({why}){more}")
            }
            Some(Plays { name, faults, .. }) => match faults.describe() {
                none if none.is_empty() => format!("{name} would play"),
                faults => format!("{name} would play, but {faults}"),
            },
        };
        if self.is_wrong_elsewhere {
            text += "\nanother engine has invalid options";
        }
        text
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

/// What the books of an engine have for the first move of a game.
#[derive(Clone)]
struct FirstMove {
    text: String,
    /// Problems of the books only.
    faults: Faults,
}

/// A book that was opened, and what it has for the first move.
struct TriedBook<'a> {
    spec: &'a BookSpec,
    first: StartMoves,
}

/// Prints the books of an engine, their problems, and which of them answers in which game.
fn print_books(profile: &Profile, opener: &Opener, out: &mut dyn Write) -> io::Result<FirstMove> {
    let mut faults = Faults::default();
    let options = profile.settings.options();
    let is_on = options.own_book;
    let books = BookSpec::wanted(options, &profile.books);
    if books.is_empty() {
        writeln!(out, "  no book: Book File is empty")?;
    } else if !is_on {
        writeln!(out, "  no book is used: OwnBook is off")?;
    }
    let mut tried = Vec::new();
    for spec in &books {
        write!(out, "  book {}", shown(&spec.path))?;
        if let Some(colour) = spec.colour {
            write!(out, ", {colour}")?;
        }
        for (key, value) in spec.conditions.given() {
            write!(out, ", {key} {}", shown(&value))?;
        }
        for setting in &spec.overrides {
            write!(out, ", {} = {setting}", setting.id().spec().name)?;
        }
        writeln!(out)?;
        if let Some(first) = print_book(spec, profile, opener, &mut faults, out)? {
            tried.push(TriedBook { spec, first });
        }
    }
    for trouble in files_in_the_way(profile, opener) {
        faults.files += 1;
        writeln!(out, "  {}", shown(&trouble))?;
        faults.reasons.push(shown(&trouble));
    }
    if let Some(seeds) = options.seed_file.as_deref()
        && let Ok(count) = opener.count_seeds(seeds)
    {
        let (path, seeds) = (shown(seeds), counted(count.seeds as u64, "seed"));
        writeln!(out, "  seeds {path}: {seeds}, {} taken", count.taken)?;
        if let Some(skipped) = count.skipped {
            writeln!(out, "    note: {}", shown(&skipped))?;
        }
    }
    let tried = if is_on { &tried[..] } else { &[] };
    let answers = |game: &GameConditions| {
        let mut books = tried.iter();
        books.any(|book| book.spec.conditions.hold(game) && book.first.may_answer)
    };
    let kinds = kinds_of_games(&books);
    let all = kinds.iter().map(|(_, game)| game);
    // A book that does not open is reported as such.
    let is_heard = tried.len() == books.len() || !is_on;
    let never = is_heard && faults.silent == 0 && !all.clone().any(answers);
    faults.never = u32::from(never);
    let texts: Vec<String> = all.map(|game| first_move_in(game, tried)).collect();
    if kinds.len() > 1 {
        for ((kind, _), text) in kinds.iter().zip(&texts) {
            writeln!(out, "  {kind}: {text}")?;
        }
    }
    let others = texts.last().cloned().unwrap_or_default();
    let text = match kinds.len() {
        1 => others,
        _ => format!("in other games {others}"),
    };
    Ok(FirstMove { text, faults })
}

/// Opens a book as a game does and prints what it has for the first move; `None` if it
/// does not open.
fn print_book(
    spec: &BookSpec,
    profile: &Profile,
    opener: &Opener,
    faults: &mut Faults,
    out: &mut dyn Write,
) -> io::Result<Option<StartMoves>> {
    let book = match opener.open(&spec.path) {
        Ok(book) => Arc::new(book),
        Err(error) => {
            faults.missing += 1;
            let reason = shown(&error.to_string());
            writeln!(out, "    does not open: {reason}")?;
            faults.reasons.push(reason);
            return Ok(None);
        }
    };
    writeln!(out, "    opens: {}", description(&book))?;
    let options = spec.options(profile.settings.options());
    let (probe, _) = as_played(Arc::clone(&book), spec.learns());
    let mut notices = book.notices().to_vec();
    let own = notices.len();
    let wanted = spec.evaluations();
    let (probe, evaluations) = opener.evaluated(probe, &spec.path, &wanted, &mut notices);
    // Evaluations that are named must be there.
    if evaluations.is_none() && notices.len() > own {
        faults.files += 1;
        faults
            .reasons
            .extend(notices.last().map(|notice| shown(notice)));
    }
    let exit = options.rules().exit;
    if exit != Exit::default() && evaluations.is_none() {
        notices.push(
            "Book Exit acts only after the engine has searched: the book has no evaluations"
                .to_owned(),
        );
    }
    let (below, above) = (options.exit_below, options.exit_above);
    if below > above {
        faults.exits += 1;
        notices.push(format!(
            "Book Exit Below {below} is above Book Exit Above {above}: the book stops answering \
             at every value"
        ));
    }
    if spec.conditions.example().is_none() {
        faults.unmet += 1;
        notices.push("no game meets the conditions of this book".to_owned());
    }
    for notice in notices {
        writeln!(out, "    note: {}", shown(&notice))?;
    }
    let first = first_moves(&book, &*probe, spec.colour, &options);
    writeln!(out, "    start position: {}", first.text)?;
    if let Some(text) = &first.of_black {
        writeln!(out, "    first moves of White: {text}")?;
    }
    if !first.answers {
        faults.silent += 1;
        faults
            .reasons
            .push(format!("{}: {}", shown(&spec.path), first.text));
    }
    Ok(Some(first))
}

/// The kinds of games between which the conditions of these books distinguish, with a
/// name and an example of each; the last are all other games.
fn kinds_of_games(books: &[BookSpec]) -> Vec<(String, GameConditions)> {
    let mut kinds: Vec<(String, GameConditions)> = Vec::new();
    for conditions in books.iter().map(|book| &book.conditions) {
        let given = conditions.given();
        let named = given.iter().map(|(key, value)| format!("{key} {value}"));
        let name = format!(
            "games with {}",
            shown(&named.collect::<Vec<_>>().join(", "))
        );
        if !given.is_empty()
            && !kinds.iter().any(|(known, _)| *known == name)
            && let Some(example) = conditions.example()
        {
            kinds.push((name, example));
        }
    }
    let others = if kinds.is_empty() {
        "games"
    } else {
        "other games"
    };
    kinds.push((others.to_owned(), GameConditions::default()));
    kinds
}

/// The first move of a game with these properties, and the book that has it.
fn first_move_in(game: &GameConditions, books: &[TriedBook<'_>]) -> String {
    let mut here = books.iter().filter(|book| book.spec.conditions.hold(game));
    let white = here.clone().find(|book| book.first.is_played);
    if let Some(book) = white {
        return format!("{} (book {})", book.first.text, shown(&book.spec.path));
    }
    match here.find(|book| book.first.may_answer) {
        Some(book) => {
            let answers = match book.spec.colour {
                Some(Color::Black) => "is for Black",
                _ => "may answer later",
            };
            format!("the engine's; book {} {answers}", shown(&book.spec.path))
        }
        None => "the engine's, no book has one".to_owned(),
    }
}

fn description(book: &Book) -> String {
    let (title, size) = (book.format().title(), files::announced_size(book));
    match book {
        Book::Ctg(book) => format!(
            "{title}, {size} positions and {} by its own account",
            counted(book.header().games.into(), "game")
        ),
        Book::Bin(_) => format!("{title}, {size} moves"),
        Book::Loaded(_) => format!("{title}, {size} positions"),
    }
}

/// What a book has for the first move of each side.
struct StartMoves {
    /// The moves, or why there are none.
    text: String,
    /// For a book of Black: how many first moves of White it answers.
    of_black: Option<String>,
    /// The book may answer in some game.
    may_answer: bool,
    /// Whether one of the moves would be played.
    is_played: bool,
    /// False if the whole book has no move: it is empty, or too damaged to be read.
    answers: bool,
}

/// Looks up the first move of each side that uses the book.
fn first_moves(
    book: &Book,
    probe: &dyn Probe,
    colour: Option<Color>,
    options: &Options,
) -> StartMoves {
    let mut first = start_position(book, probe, colour, options);
    if colour == Some(Color::White) || options.depth == 0 {
        return first;
    }
    // Without the start position the book is for set-up positions, or it is cut off.
    let start = Chess::default();
    let rules = options.rules();
    let moves = start.legal_moves();
    let answered = moves.iter().filter(|mv| {
        let position = notation::after(&start, **mv);
        choose(probe, &position, &[], &rules).is_ok_and(|found| found.best().is_some())
    });
    let count = answered.count();
    if colour == Some(Color::Black) {
        first.of_black = Some(format!("{count} of {} are answered", moves.len()));
        let is_sound = files::announced_size(book) > 0 && book.notices().is_empty();
        first.may_answer = count > 0 || is_sound;
    }
    first.may_answer |= count > 0;
    first
}

fn start_position(
    book: &Book,
    probe: &dyn Probe,
    colour: Option<Color>,
    options: &Options,
) -> StartMoves {
    let silent = |text: String, answers: bool| StartMoves {
        text,
        of_black: None,
        may_answer: false,
        is_played: false,
        answers,
    };
    if colour == Some(Color::Black) {
        return silent("not used, the book is for Black".to_owned(), true);
    }
    if options.depth == 0 {
        return silent("not used, Book Depth is 0".to_owned(), true);
    }
    let position = Chess::default();
    let found = match choose(probe, &position, &[], &options.rules()) {
        Ok(found) => found,
        Err(error) => return silent(shown(&error.to_string()), false),
    };
    if found.lookup.moves.is_empty() {
        let is_sound = files::announced_size(book) > 0 && book.notices().is_empty();
        return StartMoves {
            may_answer: is_sound,
            ..silent("not in the book".to_owned(), is_sound)
        };
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
        of_black: None,
        may_answer: is_played,
        is_played,
        answers: true,
    }
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
