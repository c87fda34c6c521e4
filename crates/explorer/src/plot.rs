//! The depth and scores of a book, along the given line and then the most probable moves.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Serialize;
use shakmaty::{Color, Move, Position};

use super::content::{Content, look_up};
use super::open_books::{OpenBooks, content};
use super::query::Query;
use super::reply::{Answer, bad, json, unreadable};
use tabia_book::policy::Rejection;
use tabia_book::{Error, Lookup, Stats, Wanted};
use tabia_choice::settings::Options;
use tabia_io::parallel::lock;
use tabia_notation::{self as notation, Line};

/// Greatest number of plies in a plot.
const MOST_PLIES: usize = 120;

/// A position on the main line.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    /// Number of plies before it.
    ply: usize,
    /// The move that led to it; empty for the first.
    san: String,
    uci: String,
    /// Whether the book has it.
    in_book: bool,
    /// Number of games with it, if the book has that.
    games: Option<u32>,
    /// White's share of the points, 0 to 1.
    score: Option<f64>,
    /// Whether it is on the given line.
    #[serde(rename = "walked")]
    is_given: bool,
}

/// The answer with the points of the plot.
pub(super) fn answer(open: &OpenBooks, general: &Options, query: &Query) -> Answer {
    #[derive(Serialize)]
    struct MainLine {
        points: Vec<Point>,
    }
    let line = query.line().map_err(bad)?;
    let settings = query.settings(general).map_err(bad)?;
    let book = open.book(query.number("book", 0).map_err(bad)?)?;
    let book = content(&book, query)?;
    let points = main_line(&book, &line, &settings).map_err(unreadable)?;
    Ok(json(&MainLine { points }))
}

/// The main line: `line`, then the most probable move of the adapter until the book
/// ends. `Book Leave Early` is ignored: the plot shows where the book ends, and following
/// lines at each position would take seconds.
pub(super) fn main_line(
    book: &Content,
    line: &Line,
    settings: &Options,
) -> Result<Vec<Point>, Error> {
    let mut points = Vec::new();
    let mut found = Lookup::default();
    for (ply, position) in line.positions().iter().enumerate() {
        book.0.probe(position, Wanted::Stored, &mut found)?;
        let here = found.here.map(|here| here.stats);
        // Some formats store moves, not positions.
        let here = here.or((!found.moves.is_empty()).then(Stats::default));
        points.push(point(line, ply, here.as_ref(), position.turn(), true));
    }
    follow(
        book,
        line.clone(),
        settings,
        MOST_PLIES,
        |line, stats, mover| {
            points.push(point(line, line.plies(), Some(stats), mover, false));
        },
    )?;
    Ok(points)
}

/// A line with up to `most` of the likeliest moves after it.
pub(super) fn ahead(
    book: &Content,
    line: &Line,
    settings: &Options,
    most: usize,
) -> Result<Line, Error> {
    let limit = line.plies().saturating_add(most).min(notation::MOST_PLIES);
    follow(book, line.clone(), settings, limit, |_, _, _| {})
}

/// Adds the likeliest moves up to a number of plies.
fn follow(
    book: &Content,
    mut line: Line,
    settings: &Options,
    plies: usize,
    mut seen: impl FnMut(&Line, &Stats, Color),
) -> Result<Line, Error> {
    let mut settings = settings.clone();
    settings.leave_early = 0;
    let options = fingerprint(&settings);
    while line.plies() < plies {
        let Some((mv, stats)) = likeliest(book, &line, &settings, options)? else {
            break;
        };
        let mover = line.last().turn();
        line.push(mv);
        if line.before().contains(line.last()) {
            line = line.up_to(line.plies() - 1);
            break;
        }
        seen(&line, &stats, mover);
    }
    Ok(line)
}

/// Greatest number of positions whose likeliest moves are cached.
const MOST_CACHED: usize = 50_000;

/// The most probable move of the adapter at the end of a line. It is cached if it does
/// not depend on the earlier moves.
fn likeliest(
    book: &Content,
    line: &Line,
    settings: &Options,
    options: u64,
) -> Result<Option<(Move, Stats)>, Error> {
    let cache = || lock(&book.1.likeliest);
    let position = line.last();
    let key = (position.clone(), position.fullmoves().get(), options);
    let known = cache().get(&key).copied();
    if let Some(known) = known {
        let was_there =
            known.is_some_and(|(mv, _)| line.positions().contains(&notation::after(position, mv)));
        if !was_there {
            return Ok(known);
        }
    }
    let found = look_up(book, line, settings)?;
    let best = found.best().map(|best| (best.mv, best.stats()));
    let mut verdicts = found.verdicts.iter();
    if !verdicts.any(|verdict| verdict.rejection == Some(Rejection::Repetition)) {
        let mut cache = cache();
        if cache.len() >= MOST_CACHED {
            cache.clear();
        }
        cache.insert(key, best);
    }
    Ok(best)
}

/// A hash of the options that affect the choice of moves.
fn fingerprint(settings: &Options) -> u64 {
    let mut hasher = DefaultHasher::new();
    settings.hash(&mut hasher);
    hasher.finish()
}

fn point(line: &Line, ply: usize, stats: Option<&Stats>, own: Color, is_given: bool) -> Point {
    let in_book = stats.is_some();
    let stats = &stats.copied().unwrap_or_default();
    let results = stats.results().for_white(own);
    let is_decided = results.wins + results.losses > 0;
    let step = ply
        .checked_sub(1)
        .and_then(|before| line.steps().nth(before));
    Point {
        ply,
        san: step.map_or_else(String::new, |(position, mv)| {
            notation::san_or_null(position, mv)
        }),
        uci: step.map_or_else(String::new, |(_, mv)| notation::uci_or_null(mv)),
        in_book,
        games: (stats.games > 0).then_some(stats.games),
        score: results.score().filter(|_| is_decided),
        is_given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starter() -> Content {
        let book = tabia_choice::book_set::starter().unwrap();
        (std::sync::Arc::new(book), std::sync::Arc::default())
    }

    #[test]
    fn the_main_line_continues_the_given_line() {
        let book = starter();
        let line = Line::read("", "e2e4,c7c5").unwrap();
        let points = main_line(&book, &line, &Options::default()).unwrap();
        assert!(points.len() > 6, "{}", points.len());
        let flags: Vec<bool> = points.iter().map(|point| point.is_given).collect();
        assert_eq!(&flags[..4], [true, true, true, false]);
        assert_eq!(
            (points[1].san.as_str(), points[2].san.as_str()),
            ("e4", "c5")
        );
        for pair in points.windows(2) {
            assert_eq!(pair[0].ply + 1, pair[1].ply);
        }
        // The same position has the same figures after any moves.
        let next = format!("e2e4,c7c5,{}", points[3].uci);
        let line = Line::read("", &next).unwrap();
        let again = main_line(&book, &line, &Options::default()).unwrap();
        assert_eq!(again[3].games, points[3].games);
        assert_eq!(again[3].score, points[3].score);
    }

    #[test]
    fn outside_the_book_the_given_line_is_not_continued() {
        let book = starter();
        let line = Line::read("", "a2a4,h7h5,a4a5,h5h4,a5a6,h4h3").unwrap();
        let points = main_line(&book, &line, &Options::default()).unwrap();
        assert_eq!(points.last().unwrap().games, None);
        assert!(!points.last().unwrap().in_book);
        assert_eq!(points.last().unwrap().score, None);
    }
}
