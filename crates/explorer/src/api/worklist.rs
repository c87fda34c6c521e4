//! The list of work on a book, for the page.

use serde::Serialize;

use super::super::message::translatable;
use super::super::open_books::{OpenBooks, content};
use super::super::query::Query;
use super::super::reply::{Answer, bad, json, nobody_waits, unreadable};
use super::super::work::Gone;
use super::departures::{ComparedGames, RepertoireRequest, parse_body};
use super::question;
use tabia_analysis::departures::ChosenMoves;
use tabia_analysis::worklist::{WorkSearch, Worklist};
use tabia_book::Probe;
use tabia_choice::settings::Options;

/// Greatest number of places at which games left the book, of which the list takes some.
const MOST_DEPARTURES: usize = 2000;

/// The answer.
#[derive(Debug, Serialize)]
struct Work {
    #[serde(flatten)]
    list: Worklist,
    /// Names of the books by whose figures costs are.
    sources: Vec<String>,
    /// Number of games of the player with the colour; below, of others, and of those that
    /// could not be read. `None` if no player was named.
    games: Option<u64>,
    others: u64,
    unread: u64,
}

/// What there is to do on the first of the books that a request names, from the position of
/// its line on: compared with the second, and with the games of a player if it names one.
pub(crate) fn answer(
    open: &OpenBooks,
    settings: &Options,
    query: &Query,
    body: &[u8],
    gone: &Gone,
) -> Answer {
    let line = query.line().map_err(bad)?;
    let colour = question::required_color(query).map_err(bad)?;
    let shown = open.shown(query)?;
    let (pgn, moves) = parse_body(body)?;
    let mut books = Vec::new();
    for (_, book) in &shown {
        books.push(content(book, query)?.0);
    }
    let Some(book) = books.first() else {
        return Err(bad(translatable!("no book is shown")));
    };
    let request = RepertoireRequest {
        book: book.clone(),
        colour,
        policy: query.settings(settings).map_err(bad)?.policy,
        chosen: ChosenMoves::new(moves),
    };
    let repertoire = request.repertoire();
    // All open books have figures; those that are shown come first.
    let mut names: Vec<String> = (shown.iter().map(|(_, book)| book.name().to_owned())).collect();
    let mut known = books.clone();
    for (number, book) in open.books().iter().enumerate() {
        if shown.iter().all(|(other, _)| *other != number) {
            names.push(book.name().to_owned());
            known.push(book.current());
        }
    }
    let compared = match query.get("player") {
        None => None,
        Some(_) => {
            let (name, _) = question::player(query).map_err(bad)?;
            let from = line.last();
            Some(ComparedGames::read(
                open, repertoire, name, pgn, from, gone,
            )?)
        }
    };
    let [others, unread] = compared
        .as_ref()
        .map_or([0; 2], |compared| [compared.others, compared.unread]);
    let games = compared
        .as_ref()
        .map(|compared| compared.games.len() as u64);
    let left = compared.map(|compared| compared.games).unwrap_or_default();
    let left = left.into_iter();
    let left = left.filter_map(|(left, points)| Some((left?, points)));
    let departures = repertoire.sum(left, MOST_DEPARTURES).map_err(unreadable)?;
    let sources: Vec<&(dyn Probe + Sync)> = known.iter().map(|book| &**book as _).collect();
    let other = books.get(1).map(|book| &**book as _);
    let search = WorkSearch::new(repertoire, other, &sources, &line);
    let list = search.list(departures, games.unwrap_or(0), &|| gone.is_gone());
    let list = list.map_err(unreadable)?;
    if gone.is_gone() {
        return Err(nobody_waits());
    }
    Ok(json(&Work {
        list,
        sources: names,
        games,
        others,
        unread,
    }))
}
