//! Lists of games and of players, for the page.

use std::sync::Arc;

use serde::Serialize;
use shakmaty::{Chess, Color};

use super::super::filter::GamesFilter;
use super::super::lock::lock;
use super::super::openings::words;
use super::answer::ExploredPlayer;
use super::games::{ChosenGames, Games, OpenIndex};
use tabia_games::Error;
use tabia_games::index::query::{self, Lists, Order};
use tabia_games::index::{FoundGame, GamesIndex, exact_names, players};

/// Greatest number of games in a list.
const MOST_LISTED: usize = 200;

/// Greatest number of games whose players and events a text search reads.
const MOST_SEARCHED: usize = 5000;

/// Greatest number of games, newest first, whose players a search finds.
const MOST_NAMED: u64 = 1_000_000;

/// Greatest number of players in a search result.
const MOST_PLAYERS: usize = 8;

/// A player that a search may find.
pub(super) struct NamedPlayer {
    name: String,
    /// The words of the name, without accents.
    words: Vec<String>,
    games: u64,
}

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
    fn of(found: FoundGame) -> ListedGame {
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

    fn has(&self, words: &[String]) -> bool {
        let text = [&self.white.name, &self.black.name, &self.event, &self.date];
        let text = text.map(|text| text.to_lowercase()).join(" ");
        words.iter().all(|word| text.contains(word))
    }
}

impl OpenIndex {
    /// The names of a player in the index: the one that has exactly the words of `name`, or
    /// else all that have them among others.
    pub(super) fn names_of(&self, index: &GamesIndex, name: &str) -> Result<Vec<String>, Error> {
        if let Some(names) = exact_names(index, name)? {
            return Ok(names);
        }
        let wanted = words(name);
        let has_all = |player: &&NamedPlayer| {
            !wanted.is_empty() && wanted.iter().all(|word| player.words.contains(word))
        };
        let names = self.names()?;
        let found = names.iter().filter(has_all);
        Ok(found.map(|player| player.name.clone()).collect())
    }

    /// Whether certainly no player of the index has this name: see [`OpenIndex::names_of`].
    pub(super) fn has_nobody_named(&self, index: &GamesIndex, name: &str) -> Result<bool, Error> {
        let are_all_known = index.file().games() <= MOST_NAMED;
        Ok(are_all_known && self.names_of(index, name)?.is_empty())
    }

    /// The players, most games first. They are read once.
    fn names(&self) -> Result<Arc<Vec<NamedPlayer>>, Error> {
        let index = self.current();
        let state = index.file().games();
        // The lock is held while they are read: other requests wait for the result.
        let mut names = lock(&self.names);
        if let Some((of, known)) = names.as_ref()
            && *of == state
        {
            return Ok(Arc::clone(known));
        }
        let found = players(&index, MOST_NAMED)?.into_iter();
        let found = found.map(|(name, games)| NamedPlayer {
            words: words(&name),
            name,
            games,
        });
        let found = Arc::new(found.collect());
        *names = Some((state, Arc::clone(&found)));
        Ok(found)
    }
}

impl Games {
    /// Players with a name whose words begin with the typed ones, most games first.
    pub(crate) fn players_named(&self, typed: &str) -> Result<Vec<FoundPlayer>, Error> {
        let typed = words(typed);
        let mut found: Vec<FoundPlayer> = Vec::new();
        if typed.is_empty() {
            return Ok(found);
        }
        for index in self.indexes() {
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

    /// Games with a position that match a filter and have all words in the players'
    /// names, the event or the date.
    pub(crate) fn list(
        &self,
        position: &Chess,
        filter: &GamesFilter,
        words: &[String],
        order: Order,
    ) -> Result<GameList, Error> {
        let chosen = self.indexes();
        let chosen = chosen.iter().map(|index| index.chosen(filter));
        let chosen: Vec<ChosenGames> = chosen.collect::<Result<_, _>>()?;
        let listed = match words {
            [] => MOST_LISTED,
            _ => MOST_SEARCHED,
        };
        let lists = Lists {
            listed,
            order,
            ..Lists::default()
        };
        let sources = chosen.iter().map(ChosenGames::source);
        let sums = query::sums(sources, position, &filter.selection, lists)?;
        let mut list = GameList {
            games: Vec::new(),
            all: sums.counts.games(),
            searched: 0,
        };
        for named in &sums.listed {
            let Some(chosen) = chosen.get(named.index) else {
                continue;
            };
            let Some(found) = chosen.index.game(named.game.game.into())? else {
                continue;
            };
            list.searched += 1;
            let game = ListedGame::of(found);
            if game.has(words) {
                list.games.push(game);
            }
            if list.games.len() >= MOST_LISTED {
                break;
            }
        }
        Ok(list)
    }
}
