//! Lists of games and of players, for the page.

use serde::Serialize;
use shakmaty::Color;

use super::super::filter::GamesFilter;
use super::super::indexes::{ChosenGames, Games, NamedPlayer};
use super::super::openings::words;
use super::super::query::Query;
use super::super::reply::{Refusal, bad, unreadable};
use super::answer::ExploredPlayer;
use tabia_index::Error;
use tabia_index::FoundGame;
use tabia_index::query::{Lists, Order, sums};

/// Greatest number of games in a list.
const MOST_LISTED: usize = 200;

/// Greatest number of games whose players and events a text search reads.
const MOST_SEARCHED: usize = 5000;

/// Greatest number of players in a search result.
const MOST_PLAYERS: usize = 8;

/// A player in an answer to the page.
#[derive(Debug, Serialize)]
pub(crate) struct FoundPlayer {
    name: String,
    games: u64,
}

/// A list of games for the page.
#[derive(Debug, Serialize)]
pub(crate) struct GameList {
    games: Vec<ListedGame>,
    /// Number of games with the position.
    all: u64,
    /// Number of games whose players and events were searched.
    searched: usize,
}

#[derive(Debug, Serialize)]
struct ListedGame {
    id: String,
    white: ExploredPlayer,
    black: ExploredPlayer,
    result: &'static str,
    event: String,
    date: String,
}

impl ListedGame {
    fn new(found: FoundGame) -> ListedGame {
        let [white, black] =
            [Color::White, Color::Black].map(|color| ExploredPlayer::new(&found, color));
        let FoundGame { id, head } = found;
        ListedGame {
            id,
            white,
            black,
            result: head.facts.result().to_pgn(),
            date: head.facts.date.to_pgn().replace(".??", ""),
            event: head.event,
        }
    }

    fn has(&self, words: &[&str]) -> bool {
        let text = [&self.white.name, &self.black.name, &self.event, &self.date];
        let text = text.map(|text| text.to_lowercase()).join(" ");
        words.iter().all(|word| text.contains(word))
    }
}

/// Players with a name whose words begin with the typed ones, most games first.
pub(crate) fn players_named(games: &Games, typed: &str) -> Result<Vec<FoundPlayer>, Error> {
    let typed = words(typed);
    let mut found: Vec<FoundPlayer> = Vec::new();
    if typed.is_empty() {
        return Ok(found);
    }
    for index in games.indexes() {
        let names = index.names()?;
        let begins = |player: &&NamedPlayer| {
            let has = |word: &String| player.words.iter().any(|own| own.starts_with(word));
            typed.iter().all(has)
        };
        for player in names.iter().filter(begins).take(MOST_PLAYERS) {
            match found.iter_mut().find(|known| known.name == player.name) {
                Some(known) => known.games += player.games,
                None => found.push(FoundPlayer {
                    name: player.name.clone(),
                    games: player.games,
                }),
            }
        }
    }
    found.sort_by_key(|player| std::cmp::Reverse(player.games));
    found.truncate(MOST_PLAYERS);
    Ok(found)
}

/// Games with the position of a request that match its filter and have all its words in
/// the players' names, the event or the date.
pub(crate) fn list(games: &Games, query: &Query) -> Result<GameList, Refusal> {
    let line = query.line().map_err(bad)?;
    let filter = GamesFilter::read(query).map_err(bad)?;
    let words = query.get("q").unwrap_or_default().to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let order = match query.get("order") {
        None | Some("elo") => Order::Rating,
        Some("newest") => Order::Newest,
        Some("oldest") => Order::Oldest,
        Some(_) => return Err(bad("order: expected elo, newest or oldest")),
    };
    let chosen = games.indexes().into_iter();
    let chosen = chosen.map(|index| index.chosen(&filter));
    let chosen: Vec<ChosenGames> = chosen.collect::<Result<_, _>>().map_err(unreadable)?;
    let mut lists = Lists::default();
    lists.order = order;
    lists.listed = match words.as_slice() {
        [] => MOST_LISTED,
        _ => MOST_SEARCHED,
    };
    let sources = chosen.iter().map(ChosenGames::source);
    let sums = sums(sources, line.last(), &filter.selection, lists).map_err(unreadable)?;
    let mut list = GameList {
        games: Vec::new(),
        all: sums.counts.games(),
        searched: 0,
    };
    for named in &sums.listed {
        let Some(ChosenGames { index, .. }) = chosen.get(named.index) else {
            continue;
        };
        let Some(found) = index.game(named.game.game.into()).map_err(unreadable)? else {
            continue;
        };
        list.searched += 1;
        let game = ListedGame::new(found);
        if game.has(&words) {
            list.games.push(game);
        }
        if list.games.len() >= MOST_LISTED {
            break;
        }
    }
    Ok(list)
}
