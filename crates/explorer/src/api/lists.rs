//! Lists of games and of players, for the page.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use hyper::StatusCode;
use serde::Serialize;
use shakmaty::{Chess, Color};

use super::super::filter::GamesFilter;
use super::super::indexes::{ChosenGames, FoundList, Games, NamedPlayer};
use super::super::message::translatable;
use super::super::open_books::OpenBooks;
use super::super::openings::words;
use super::super::query::Query;
use super::super::reply::{Answer, PGN, Refusal, bad, nobody_waits, reply, unreadable};
use super::super::work::Gone;
use super::answer::ExploredPlayer;
use tabia_games::tgx::Head;
use tabia_index::query::{self, Lists, Order};
use tabia_index::{Error, FoundGame, GamesIndex, find_games};

/// Greatest number of games in a page of a list.
const MOST_LISTED: usize = 200;

/// Number of games of an index that a request reads, if the rows of the position do not name
/// all: a list of the older ones continues it.
pub(super) const MOST_READ: u64 = 500_000;

/// Greatest number of games that are sorted by what only the games themselves have.
const MOST_SORTED: usize = 20_000;

/// Greatest number of games in a file of a list.
const MOST_SAVED: usize = 20_000;

/// Greatest number of players in a search result.
const MOST_PLAYERS: usize = 24;

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
    /// Number of games found in the searched ones, on all pages.
    found: usize,
    /// If not all found games are sorted by event or length: how many are, those of the highest
    /// rating.
    sorted: Option<usize>,
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
    /// Number of moves of both players.
    plies: usize,
}

impl ListedGame {
    fn new(found: FoundGame) -> ListedGame {
        let [white, black] =
            [Color::White, Color::Black].map(|color| ExploredPlayer::new(&found, color));
        let FoundGame { id, head, plies } = found;
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
            plies,
        }
    }
}

/// The order of a list: by a column, from either end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ListOrder {
    #[default]
    Elo,
    LowElo,
    Newest,
    Oldest,
    Longest,
    Shortest,
    Event,
    LastEvent,
}

impl ListOrder {
    fn read(query: &Query) -> Result<ListOrder, Refusal> {
        Ok(match query.get("order") {
            None | Some("elo") => ListOrder::Elo,
            Some("elo-up") => ListOrder::LowElo,
            Some("newest") => ListOrder::Newest,
            Some("oldest") => ListOrder::Oldest,
            Some("moves") => ListOrder::Longest,
            Some("moves-up") => ListOrder::Shortest,
            Some("event") => ListOrder::Event,
            Some("event-down") => ListOrder::LastEvent,
            Some(_) => {
                let known = "elo, newest, oldest, moves or event";
                return Err(bad(translatable!("order: expected {0}", known)));
            }
        })
    }

    /// The order of the rows of an index with which it begins.
    fn of_rows(self) -> Order {
        match self {
            ListOrder::Newest => Order::Newest,
            ListOrder::Oldest => Order::Oldest,
            ListOrder::Elo
            | ListOrder::LowElo
            | ListOrder::Longest
            | ListOrder::Shortest
            | ListOrder::Event
            | ListOrder::LastEvent => Order::Rating,
        }
    }

    /// Puts games in this order that are in that of the rows; returns how many were sorted.
    fn sort(self, games: &mut [query::ListedGame], chosen: &[ChosenGames]) -> Result<usize, Error> {
        match self {
            ListOrder::Elo | ListOrder::Newest | ListOrder::Oldest => Ok(games.len()),
            ListOrder::LowElo => {
                // Those without a rating are last here, too.
                games.sort_by_key(|game| {
                    let (rating, _, _) = game.game.by_rating();
                    (rating == 0, rating)
                });
                Ok(games.len())
            }
            ListOrder::Longest => by_game(games, chosen, |found| Reverse(found.plies)),
            ListOrder::Shortest => by_game(games, chosen, |found| found.plies),
            ListOrder::Event => by_game(games, chosen, |found| {
                let event = &found.head.event;
                (event.is_empty(), event.to_lowercase())
            }),
            ListOrder::LastEvent => by_game(games, chosen, |found| {
                Reverse(found.head.event.to_lowercase())
            }),
        }
    }
}

/// Sorts the first games by something that is read from them.
fn by_game<K: Ord>(
    games: &mut [query::ListedGame],
    chosen: &[ChosenGames],
    key: impl Fn(&FoundGame) -> K,
) -> Result<usize, Error> {
    let sorted = games.len().min(MOST_SORTED);
    let Some(first) = games.get_mut(..sorted) else {
        return Ok(0);
    };
    let mut keyed = Vec::with_capacity(sorted);
    for named in first.iter() {
        let index = chosen.get(named.index).map(|one| &one.index);
        let found = index.map(|index| index.game(named.game.game.into()));
        let found = found.transpose()?.flatten();
        keyed.push((found.as_ref().map(&key), *named));
    }
    keyed.sort_by(|(a, _), (b, _)| (a.is_none(), a).cmp(&(b.is_none(), b)));
    for (place, (_, named)) in first.iter_mut().zip(keyed) {
        *place = named;
    }
    Ok(sorted)
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
    /// Players with a name whose words begin with the typed ones, most games first.
    players: Vec<FoundPlayer>,
    /// The number of names with all typed words, which a filter with the typed text means, and
    /// the number of their games.
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

/// The games that a request means, with the indexes that have them.
struct AskedGames {
    chosen: Vec<ChosenGames>,
    place: PageStart,
    found: Arc<FoundList>,
}

/// Finds the games with the position of a request that match its filter and have all its
/// words in the players' names, the event or the date: of the indexes that are shown, or of
/// all if only books are.
fn asked(open: &OpenBooks, query: &Query) -> Result<AskedGames, Refusal> {
    let games = &open.games;
    let line = query.line().map_err(bad)?;
    let filter = GamesFilter::read(query).map_err(bad)?;
    let words = words(query.get("q").unwrap_or_default());
    let order = ListOrder::read(query)?;
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
        let rows = order.of_rows();
        let mut list = find(&chosen, position, &filter, &words, rows, place.skip)?;
        list.sorted = order.sort(&mut list.games, &chosen)?;
        Ok(list)
    });
    Ok(AskedGames {
        found: found.map_err(unreadable)?,
        chosen,
        place,
    })
}

impl AskedGames {
    /// The games of the list from one on, each with its index.
    fn from(&self, first: usize) -> impl Iterator<Item = (&GamesIndex, u64)> {
        let games = self.found.games.iter().skip(first);
        games.filter_map(|named| {
            let one = self.chosen.get(named.index)?;
            Some((&*one.index, named.game.game.into()))
        })
    }
}

/// A page of the games of a request.
pub(crate) fn list(open: &OpenBooks, query: &Query) -> Result<GameList, Refusal> {
    let asked = asked(open, query)?;
    let AskedGames { found, place, .. } = &asked;
    let read = Some(place.skip + found.read).filter(|read| *read < found.total);
    let depths = asked.chosen.iter().map(ChosenGames::depth);
    let mut list = GameList {
        games: Vec::new(),
        all: found.all,
        searched: read.unwrap_or(found.all),
        read,
        found: found.games.len(),
        sorted: Some(found.sorted).filter(|sorted| *sorted < found.games.len()),
        next: place.next(found),
        depth: depths.max().unwrap_or(0),
    };
    for (index, number) in asked.from(place.offset).take(MOST_LISTED) {
        let game = index.game(number).map_err(unreadable)?;
        list.games.extend(game.map(ListedGame::new));
    }
    Ok(list)
}

/// The games of a request as PGN, up to a limit.
pub(crate) fn pgn(open: &OpenBooks, query: &Query, gone: &Gone) -> Answer {
    let asked = asked(open, query)?;
    let mut text = String::new();
    for (index, number) in asked.from(0).take(MOST_SAVED) {
        if gone.is_gone() {
            return Err(nobody_waits());
        }
        if let Some(game) = index.pgn(number).map_err(unreadable)? {
            text.push_str(game.trim_end());
            text.push_str("\n\n");
        }
    }
    Ok(reply(StatusCode::OK, PGN, text.into()))
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
        sorted: 0,
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
