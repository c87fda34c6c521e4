//! The open games indexes: each is reopened when games were added, and is a read-only
//! book.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use shakmaty::{Chess, Color, Position};

use super::books::ExploredBook;
use super::content::{Open, OpenError};
use super::filter::GamesFilter;
use super::message::{Message, translatable};
use super::openings::words;
use tabia_book::{
    Annotation, BookMove, Error, Lookup, MoveGames, PositionRecord, Probe, Stats, Wanted,
};
use tabia_games::has_name;
use tabia_index::query::{self, Lists, Source, Sums};
use tabia_index::{Counts, GameSelection, GamesIndex, Player, exact_names, players};
use tabia_io::parallel::lock;
use tabia_notation as notation;

/// Greatest number of games, newest first, whose players a search finds.
const MOST_NAMED: u64 = 1_000_000;

/// A player that a search may find.
pub(super) struct NamedPlayer {
    pub(super) name: String,
    /// The words of the name, without accents.
    pub(super) words: Vec<String>,
    pub(super) games: u64,
}

impl NamedPlayer {
    /// Whether all of these, of which there must be one, are words of the name.
    pub(super) fn has_words(&self, wanted: &[String]) -> bool {
        !wanted.is_empty() && wanted.iter().all(|word| self.words.contains(word))
    }
}

/// The games of all pages of a list, in their order.
#[derive(Debug)]
pub(super) struct FoundList {
    pub(super) games: Vec<query::ListedGame>,
    pub(super) all: u64,
    /// Number of games read, and how many there are; the same if the list is complete.
    pub(super) read: u64,
    pub(super) total: u64,
    /// Number of games at the beginning that are in the order that was asked for.
    pub(super) sorted: usize,
}

/// Greatest number of players whose games are cached.
const CACHED_PLAYERS: usize = 8;

/// Greatest number of cached lists of games: a reader asks for one page after the other.
const CACHED_LISTS: usize = 2;

/// The open indexes; each is reopened when games were added.
#[derive(Default)]
pub struct Games {
    indexes: Mutex<Vec<Arc<OpenIndex>>>,
    mmap: bool,
    /// The last lists of games, by what was asked.
    lists: Mutex<Vec<(String, Arc<FoundList>)>>,
}

/// An index that is reopened when it has changed.
pub(super) struct OpenIndex {
    open: Mutex<Arc<GamesIndex>>,
    mmap: bool,
    /// Its place among the indexes, which stay open until the end.
    place: u16,
    /// How often it has been reopened.
    times_reopened: AtomicU64,
    players: Mutex<Vec<(PlayerKey, Arc<Player>)>>,
    names: Mutex<Option<(u64, Arc<Vec<NamedPlayer>>)>>,
}

/// The number of games of the index, the player and the colour.
type PlayerKey = (u64, String, Color, Spellings);

/// Which players a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spellings {
    /// The one that has exactly its words, or else all that have them among others: as user
    /// names are asked for.
    One,
    /// All that have its words, perhaps among others: "Kasparov" is "Kasparov, Garry", too.
    /// In quotation marks it is one name.
    All,
}

/// Spellings of a name, with `;` between them.
fn spellings(wanted: &str) -> impl Iterator<Item = &str> {
    let spellings = wanted.split(';').map(str::trim);
    spellings.filter(|spelling| spelling.contains(char::is_alphanumeric))
}

/// Whether a name has all words of one of the wanted spellings, as `tabia review --player`
/// takes it.
pub(super) fn is_of_player(name: &str, wanted: &str) -> bool {
    spellings(wanted).any(|spelling| has_name(name, spelling))
}

impl OpenIndex {
    /// The index as it is on disk now, or the last version that could be opened.
    pub(super) fn current(&self) -> Arc<GamesIndex> {
        let open = Arc::clone(&lock(&self.open));
        if open.file().is_current() {
            return open;
        }
        let Ok(again) = GamesIndex::open(open.file().path(), self.mmap) else {
            return open;
        };
        let again = Arc::new(again.with_place(self.place));
        *lock(&self.open) = Arc::clone(&again);
        self.times_reopened.fetch_add(1, Ordering::Release);
        again
    }

    /// The games of a player with a colour.
    pub(super) fn player(
        &self,
        index: &GamesIndex,
        name: &str,
        color: Color,
        spellings: Spellings,
    ) -> Result<Arc<Player>, tabia_index::Error> {
        let key = (index.file().games(), name.to_lowercase(), color, spellings);
        let players = || lock(&self.players);
        if let Some((_, player)) = players().iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(player));
        }
        let (names, _) = self.names_of(index, name, spellings)?;
        let player = Arc::new(Player::read(index, &names, color)?);
        let mut players = players();
        if players.len() >= CACHED_PLAYERS {
            players.remove(0);
        }
        players.push((key, Arc::clone(&player)));
        Ok(player)
    }

    /// The games in the present index that match a filter.
    pub(super) fn chosen(&self, filter: &GamesFilter) -> Result<ChosenGames, tabia_index::Error> {
        let index = self.current();
        let players = match &filter.player {
            None => None,
            Some((name, color)) => {
                let colors = Color::ALL.into_iter();
                let colors = colors.filter(|one| color.is_none_or(|wanted| wanted == *one));
                let players = colors.map(|color| self.player(&index, name, color, Spellings::All));
                Some(players.collect::<Result<_, _>>()?)
            }
        };
        Ok(ChosenGames {
            index,
            players,
            selection: filter.selection,
        })
    }

    /// The index as a read-only book.
    fn book(self: &Arc<OpenIndex>, name: String) -> ExploredBook {
        let open = self.current();
        let file = open.file().path().to_owned();
        let depth = open.file().root().max_ply;
        let [again, filtered] = [Arc::clone(self), Arc::clone(self)];
        let under = move |index: &OpenIndex, filter: &GamesFilter| {
            let chosen = index.chosen(filter)?;
            let unknown = match &filter.player {
                Some((name, _)) => index.unknown_names(&chosen.index, name, Spellings::All)?,
                None => None,
            };
            let notice = match unknown {
                Some(name) => Some(no_such_player(&name)),
                None => chosen.notice_of_older_games(),
            };
            Ok::<_, OpenError>((Arc::new(chosen) as Open, notice))
        };
        let reopen = Box::new(move || Ok(under(&again, &GamesFilter::default())?.0));
        ExploredBook::new(name, Vec::new(), Arc::new(ChosenGames::all(open)), reopen)
            .with_files(vec![file])
            .with_filter(depth, Box::new(move |filter| under(&filtered, filter)))
    }

    /// The names in the index for which [`is_of_player`] holds; of games that are older than
    /// those whose players are listed, only those that have just the words of a spelling.
    pub(super) fn names_of_player(
        &self,
        index: &GamesIndex,
        wanted: &str,
    ) -> Result<Vec<String>, tabia_index::Error> {
        let names = self.names()?;
        let names = names.iter().map(|player| &player.name);
        let mut found: Vec<_> = names
            .filter(|name| is_of_player(name, wanted))
            .cloned()
            .collect();
        for spelling in spellings(wanted) {
            found.extend(exact_names(index, spelling)?.unwrap_or_default());
        }
        Ok(found)
    }

    /// The names in the index of a player, or of several spellings of one, with `;` between
    /// them. The second list has the spellings that no name in the index has.
    pub(super) fn names_of<'n>(
        &self,
        index: &GamesIndex,
        name: &'n str,
        which: Spellings,
    ) -> Result<(Vec<String>, Vec<&'n str>), tabia_index::Error> {
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        let spellings = name.split(';').map(str::trim);
        for spelling in spellings.filter(|spelling| !spelling.is_empty()) {
            let quoted = spelling.strip_prefix('"');
            let quoted = quoted.and_then(|name| name.strip_suffix('"'));
            let exact = exact_names(index, quoted.unwrap_or(spelling))?;
            let before = found.len();
            match (which, exact) {
                (Spellings::One, Some(names)) => found.extend(names),
                (Spellings::All, Some(names)) if quoted.is_some() => found.extend(names),
                (Spellings::One | Spellings::All, exact) => {
                    found.extend(exact.unwrap_or_default());
                    if quoted.is_none() {
                        let wanted = words(spelling);
                        let names = self.names()?;
                        let named = names.iter().filter(|player| player.has_words(&wanted));
                        found.extend(named.map(|player| player.name.clone()));
                    }
                }
            }
            if found.len() == before {
                unknown.push(spelling);
            }
        }
        Ok((found, unknown))
    }

    /// The spellings of a name that certainly no player of the index has: see
    /// [`OpenIndex::names_of`].
    pub(super) fn unknown_names(
        &self,
        index: &GamesIndex,
        name: &str,
        which: Spellings,
    ) -> Result<Option<String>, tabia_index::Error> {
        if index.file().games() > MOST_NAMED {
            return Ok(None);
        }
        let (_, unknown) = self.names_of(index, name, which)?;
        Ok((!unknown.is_empty()).then(|| unknown.join("; ")))
    }

    /// The players, most games first. They are read once.
    pub(super) fn names(&self) -> Result<Arc<Vec<NamedPlayer>>, tabia_index::Error> {
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
    /// The open indexes; with `mmap` they are memory-mapped when they are reopened.
    #[must_use]
    pub fn new(indexes: Vec<GamesIndex>, mmap: bool) -> Games {
        let games = Games {
            mmap,
            ..Games::default()
        };
        for index in indexes {
            games.add(index);
        }
        games
    }

    pub(super) fn indexes(&self) -> Vec<Arc<OpenIndex>> {
        lock(&self.indexes).clone()
    }

    fn add(&self, index: GamesIndex) -> Arc<OpenIndex> {
        let mut indexes = lock(&self.indexes);
        let place = u16::try_from(indexes.len()).unwrap_or(u16::MAX);
        let index = Arc::new(OpenIndex {
            open: Mutex::new(Arc::new(index.with_place(place))),
            mmap: self.mmap,
            place,
            times_reopened: AtomicU64::new(0),
            players: Mutex::default(),
            names: Mutex::default(),
        });
        indexes.push(Arc::clone(&index));
        index
    }

    /// Adds an index, and returns it as a book with this name.
    pub(super) fn add_as_book(&self, index: GamesIndex, name: String) -> ExploredBook {
        self.add(index).book(name)
    }

    /// The indexes as read-only books with these names.
    #[must_use]
    pub fn books(&self, names: Vec<String>) -> Vec<ExploredBook> {
        let indexes = self.indexes();
        let named = names.into_iter().zip(indexes);
        named.map(|(name, index)| index.book(name)).collect()
    }

    /// Whether there is no index.
    pub(super) fn is_empty(&self) -> bool {
        self.indexes().is_empty()
    }

    /// The indexes as they are on disk now.
    pub(super) fn current(&self) -> Vec<Arc<GamesIndex>> {
        self.indexes().iter().map(|index| index.current()).collect()
    }

    /// A number that increases with each change of content. A new index changes the
    /// number of books instead.
    pub(super) fn generation(&self) -> u64 {
        let _ = self.current();
        let times_reopened = |index: &Arc<OpenIndex>| index.times_reopened.load(Ordering::Acquire);
        self.indexes().iter().map(times_reopened).sum()
    }

    /// A list of games in the present indexes, made only if it is not cached.
    pub(super) fn list(
        &self,
        asked: String,
        make: impl FnOnce() -> Result<FoundList, tabia_index::Error>,
    ) -> Result<Arc<FoundList>, tabia_index::Error> {
        let key = format!("{} {} {asked}", self.indexes().len(), self.generation());
        let known = |lists: &Vec<(String, Arc<FoundList>)>| {
            let known = lists.iter().find(|(known, _)| *known == key);
            known.map(|(_, list)| Arc::clone(list))
        };
        // The lock is not held while a list is made: others are shown meanwhile.
        if let Some(list) = known(&lock(&self.lists)) {
            return Ok(list);
        }
        let made = Arc::new(make()?);
        let mut lists = lock(&self.lists);
        if lists.len() >= CACHED_LISTS {
            lists.remove(0);
        }
        lists.push((key, Arc::clone(&made)));
        Ok(made)
    }

    /// A game as PGN.
    pub(super) fn pgn(&self, id: &str) -> Result<Option<String>, tabia_index::Error> {
        for index in self.current() {
            if let Some(number) = index.number_of(id)? {
                return index.pgn(number);
            }
        }
        Ok(None)
    }
}

/// A message about a name that no player of the games has.
pub(super) fn no_such_player(name: &str) -> Message {
    translatable!("No player of these games has this name: {0}", name)
}

/// Counts as statistics for one side. An index numbers its games with 32 bits.
fn stats_of(counts: &Counts, own: Color) -> Stats {
    let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    Stats {
        games: number(counts.games()),
        wins: number(*counts.won.get(own)),
        draws: number(counts.draws),
        losses: number(*counts.won.get(!own)),
        own_rated: number(*counts.rated.get(own)),
        own_rating_sum: *counts.sum.get(own),
        other_rated: number(*counts.rated.get(!own)),
        other_rating_sum: *counts.sum.get(!own),
    }
}

/// The moves in the form of a book.
pub(super) fn book_moves<'s>(
    position: &Chess,
    sums: &'s Sums,
) -> impl Iterator<Item = BookMove> + use<'s> {
    let turn = position.turn();
    sums.moves.iter().map(move |made| {
        let after = PositionRecord {
            stats: stats_of(&made.counts, turn).reversed(),
            ..PositionRecord::default()
        };
        BookMove::stored(made.mv, Annotation::default(), Some(after))
    })
}

/// All games of an index as a book, which tells apart by which order of moves they come to a
/// position.
#[must_use]
pub fn book_of_games(index: GamesIndex) -> Open {
    Arc::new(ChosenGames::all(Arc::new(index)))
}

/// Selected games of an index as a book.
pub(super) struct ChosenGames {
    pub(super) index: Arc<GamesIndex>,
    /// Only games of these players.
    players: Option<Vec<Arc<Player>>>,
    selection: GameSelection,
}

impl ChosenGames {
    fn all(index: Arc<GamesIndex>) -> ChosenGames {
        ChosenGames {
            index,
            players: None,
            selection: GameSelection::default(),
        }
    }

    pub(super) fn source(&self) -> Source<'_> {
        match &self.players {
            None => Source::Index(&self.index),
            Some(players) => Source::Players(players),
        }
    }

    fn sums(&self, position: &Chess) -> Result<Sums, Error> {
        let found = query::sums([self.source()], position, &self.selection, Lists::default());
        found.map_err(|error| Error::io(self.index.file().path(), io::Error::other(error)))
    }

    /// Number of plies of each game that are indexed.
    pub(super) fn depth(&self) -> u16 {
        self.index.file().root().max_ply
    }

    /// A message about games left out for a player with very many games.
    fn notice_of_older_games(&self) -> Option<Message> {
        let players = self.players.iter().flatten();
        let sums = players.map(|player| (player.games(), player.older()));
        let (counted, older) = sums.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        (older > 0).then(|| {
            translatable!(
                "Only the newest {1} of this player’s {0} games are counted.",
                counted + older,
                counted
            )
        })
    }
}

impl Probe for ChosenGames {
    fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        let sums = self.sums(position)?;
        found.moves.extend(book_moves(position, &sums));
        found.here = (!sums.moves.is_empty()).then(|| PositionRecord {
            stats: stats_of(&sums.counts, position.turn()),
            ..PositionRecord::default()
        });
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        Ok(!self.sums(position)?.moves.is_empty())
    }

    /// An index counts a game in each position in which it goes on: those that end in the
    /// position after the move by another order of moves are missing.
    fn games_of(&self, position: &Chess, entry: &BookMove) -> Result<MoveGames, Error> {
        let played = entry.stats().games;
        let after = self.sums(&notation::after(position, entry.mv))?;
        let going_on = stats_of(&after.counts, position.turn()).games;
        Ok(MoveGames {
            played: Some(played),
            reached: Some(going_on.max(played)),
        })
    }

    fn is_current(&self) -> bool {
        self.index.file().is_current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::ByColor;

    #[test]
    fn sums_of_ratings_of_millions_of_games_are_not_cut() {
        let millions = |white: u64, black: u64| ByColor { white, black }.map(|n| n * 1_000_000);
        let counts = Counts {
            won: millions(3, 1),
            draws: 1_000_000,
            rated: millions(5, 5),
            sum: millions(5 * 2500, 5 * 2400),
        };
        let stats = stats_of(&counts, Color::Black);
        assert_eq!(stats.average_elo(), Some(2400.0));
        assert_eq!(stats.opponents_elo(), Some(2500.0));
        assert_eq!(stats.reversed().average_elo(), Some(2500.0));
        assert_eq!((stats.games, stats.losses), (5_000_000, 3_000_000));
    }
}
