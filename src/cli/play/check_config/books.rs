//! The books of an engine: what each has for the first move of a game.

use std::io::{self, Write};
use std::sync::Arc;

use super::faults::Faults;
use super::{files_in_the_way, shown};
use crate::cli::files;
use crate::cli::print::style::counted;
use shakmaty::{Chess, Color, Position as _};
use tabia_adapter::session::Profile;
use tabia_book::policy::{Exit, choose};
use tabia_book::{Book, Probe};
use tabia_choice::book_set::{BookSpec, Opener, as_played};
use tabia_choice::conditions::GameConditions;
use tabia_choice::settings::Options;
use tabia_notation as notation;

/// Greatest number of listed moves of the start position.
const LISTED: usize = 5;

/// What the books of an engine have for the first move of a game.
#[derive(Clone)]
pub(super) struct FirstMove {
    pub(super) text: String,
    /// Problems of the books only.
    pub(super) faults: Faults,
}

/// A book that was opened, and what it has for the first move.
struct TriedBook<'a> {
    spec: &'a BookSpec,
    first: StartMoves,
}

/// Prints the books of an engine, their problems, and which of them answers in which game.
pub(super) fn print_books(
    profile: &Profile,
    opener: &Opener,
    out: &mut dyn Write,
) -> io::Result<FirstMove> {
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
