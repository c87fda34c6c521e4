//! Lists of games and of players, for the page.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use shakmaty::{Chess, Color};

use super::super::filter::GamesFilter;
use super::super::indexes::{ChosenGames, FoundList, Games, NamedPlayer};
use super::super::open_books::OpenBooks;
use super::super::openings::words;
use super::super::query::Query;
use super::super::reply::{Refusal, bad, unreadable};
use super::answer::ExploredPlayer;
use tabia_games::tgx::Head;
use tabia_index::query::{self, Lists, Order};
use tabia_index::{Error, FoundGame, GamesIndex, find_games};

/// Greatest number of games in a page of a list.
const MOST_LISTED: usize = 200;

/// Number of games of an index that a request reads, if the rows of the position do not name
/// all: a list of the older ones continues it.
const MOST_READ: u64 = 500_000;

/// Greatest number of players in a search result.
const MOST_PLAYERS: usize = 8;

/// A player in an answer to the page.
#[derive(Debug, Serialize)]
pub(crate) struct FoundPlayer {
    name: String,
    games: u64,
}

/// A page of a list of games.
#[derive(Debug, Serialize)]
pub(crate) struct GameList {
    games: Vec<ListedGame>,
    /// Number of games with the position that match the filter.
    all: u64,
    /// Number of games searched: `all`, or what `read` has.
    searched: u64,
    /// Number of the newest games of the index that were read so far, if there are others.
    read: Option<u64>,
    /// Number of games found among them, on all pages.
    found: usize,
    /// The parameter `from` of the next page, if there is one.
    next: Option<String>,
    /// Number of plies of each game that are indexed.
    depth: u16,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageStart {
    /// Number of games of the index whose list is over.
    skip: u64,
    /// Number of games of the list on earlier pages.
    offset: usize,
}

impl PageStart {
    fn read(query: &Query) -> Result<PageStart, Refusal> {
        let Some(text) = query.get("from") else {
            return Ok(PageStart::default());
        };
        let parts = text.split_once('-').and_then(|(skip, offset)| {
            let (skip, offset) = (skip.parse().ok()?, offset.parse().ok()?);
            Some(PageStart { skip, offset })
        });
        parts.ok_or_else(|| bad("from: expected what the last page had as its next"))
    }

    fn next(self, list: &FoundList) -> Option<String> {
        let offset = self.offset + MOST_LISTED;
        if offset < list.games.len() {
            return Some(format!("{}-{offset}", self.skip));
        }
        let skip = self.skip + list.read;
        (skip < list.total).then(|| format!("{skip}-0"))
    }
}

#[derive(Debug, Serialize)]
struct ListedGame {
    id: String,
    white: ExploredPlayer,
    black: ExploredPlayer,
    result: &'static str,
    event: String,
    date: String,
    /// The ECO code; empty if unknown.
    eco: String,
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
            date: date(&head),
            eco: match head.eco {
                [0, ..] => String::new(),
                eco => eco.map(char::from).iter().collect(),
            },
            event: head.event,
        }
    }
}

/// The date of a game without its unknown parts.
fn date(head: &Head) -> String {
    head.facts.date.to_pgn().replace(".??", "")
}

/// Whether the players' names, event and date of a game have all these words.
fn has_words(head: &Head, wanted: &[String]) -> bool {
    let has = || {
        let text = [
            &head.names.white,
            &head.names.black,
            &head.event,
            &date(head),
        ];
        let text = words(&text.map(String::as_str).join(" ")).join(" ");
        wanted.iter().all(|word| text.contains(word))
    };
    wanted.is_empty() || has()
}

/// Players by the words of their names.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FoundPlayers {
    /// Those with a name whose words begin with the typed ones, most games first.
    players: Vec<FoundPlayer>,
    /// The number of names that have all typed words, and of their games: those that a filter
    /// with the typed text means.
    spellings: usize,
    games: u64,
}

pub(crate) fn players_named(games: &Games, typed: &str) -> Result<FoundPlayers, Error> {
    let typed = words(typed);
    let mut all = FoundPlayers::default();
    let found = &mut all.players;
    if typed.is_empty() {
        return Ok(all);
    }
    let mut spellings = HashSet::new();
    for index in games.indexes() {
        let names = index.names()?;
        for player in names.iter().filter(|player| player.has_words(&typed)) {
            spellings.insert(player.name.clone());
            all.games += player.games;
        }
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
    all.spellings = spellings.len();
    Ok(all)
}

/// A page of the games with the position of a request that match its filter and have all its
/// words in the players' names, the event or the date: of the indexes that are shown, or of
/// all if only books are.
pub(crate) fn list(open: &OpenBooks, query: &Query) -> Result<GameList, Refusal> {
    let games = &open.games;
    let line = query.line().map_err(bad)?;
    let filter = GamesFilter::read(query).map_err(bad)?;
    let words = words(query.get("q").unwrap_or_default());
    let order = match query.get("order") {
        None | Some("elo") => Order::Rating,
        Some("newest") => Order::Newest,
        Some("oldest") => Order::Oldest,
        Some(_) => return Err(bad("order: expected elo, newest or oldest")),
    };
    let place = PageStart::read(query)?;
    let shown = open.shown(query)?;
    let shown = shown.iter().filter(|(_, book)| book.has_games());
    let shown: Vec<&Path> = shown.filter_map(|(_, book)| book.file()).collect();
    let is_shown = |index: &GamesIndex| shown.is_empty() || shown.contains(&index.file().path());
    let chosen = games.indexes().into_iter();
    let chosen = chosen.filter(|index| is_shown(&index.current()));
    let chosen = chosen.map(|index| index.chosen(&filter));
    let chosen: Vec<ChosenGames> = chosen.collect::<Result<_, _>>().map_err(unreadable)?;
    let position = line.last();
    let key = format!(
        "{position:?} {filter:?} {words:?} {order:?} {} {shown:?}",
        place.skip
    );
    let found = games.list(key, || {
        find(&chosen, position, &filter, &words, order, place.skip)
    });
    let found = found.map_err(unreadable)?;
    let read = Some(place.skip + found.read).filter(|read| *read < found.total);
    let mut list = GameList {
        games: Vec::new(),
        all: found.all,
        searched: read.unwrap_or(found.all),
        read,
        found: found.games.len(),
        next: place.next(&found),
        depth: chosen.iter().map(ChosenGames::depth).max().unwrap_or(0),
    };
    let page = found.games.iter().skip(place.offset).take(MOST_LISTED);
    for named in page {
        let Some(ChosenGames { index, .. }) = chosen.get(named.index) else {
            continue;
        };
        let game = index.game(named.game.game.into()).map_err(unreadable)?;
        list.games.extend(game.map(ListedGame::new));
    }
    Ok(list)
}

/// Finds the games of a list: by the rows of the position if they name all, else by reading
/// the games, without the last `skip`.
fn find(
    chosen: &[ChosenGames],
    position: &Chess,
    filter: &GamesFilter,
    words: &[String],
    order: Order,
    skip: u64,
) -> Result<FoundList, Error> {
    let mut lists = Lists::default();
    (lists.order, lists.listed) = (order, usize::MAX);
    let sources = chosen.iter().map(ChosenGames::source);
    let mut sums = query::sums(sources, position, &filter.selection, lists)?;
    let total = chosen.iter().map(|one| one.index.file().games()).sum();
    let mut list = FoundList {
        games: Vec::new(),
        all: sums.counts.games(),
        read: total,
        total,
    };
    // A game of two of the named players is one game.
    sums.listed
        .dedup_by_key(|game| (game.index, game.game.game));
    if filter.player.is_some() || sums.listed.len() as u64 == list.all {
        for named in sums.listed {
            let index = chosen.get(named.index).map(|one| &one.index);
            let has = match (index, words) {
                (_, []) => true,
                (Some(index), _) => index
                    .game(named.game.game.into())?
                    .is_some_and(|found| has_words(&found.head, words)),
                (None, _) => false,
            };
            if has {
                list.games.push(named);
            }
        }
        return Ok(list);
    }
    list.read = 0;
    let mut before = skip;
    for (place, one) in chosen.iter().enumerate() {
        let games = one.index.file().games();
        if before >= games {
            before -= games;
            continue;
        }
        let range = [before, MOST_READ.saturating_sub(list.read)];
        let admits = |head: &Head| has_words(head, words);
        let part = find_games(&one.index, position, &filter.selection, range, admits)?;
        list.read += part.read;
        list.games
            .extend(part.games.into_iter().map(|game| query::ListedGame {
                index: place,
                ..game
            }));
        if list.read >= MOST_READ {
            break;
        }
        before = 0;
    }
    order.sort(&mut list.games);
    Ok(list)
}
