//! Sums over the selected games of a position.

use std::collections::BTreeMap;
use std::sync::Arc;

use shakmaty::{Chess, Move};

use crate::Error;
use crate::bucket::Bucket;
pub use crate::row::ListedGame;
use crate::row::{Counts, GameRef, IndexedMove, RECENT_GAMES, Row, TOP_GAMES};
use crate::search::find_games;
use crate::{GameSelection, GamesIndex, Player};
use tabia_games::Month;
use tabia_games::tgx::move_of;

/// Which games to list; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lists {
    /// Number of games of the best players, at most [`TOP_GAMES`].
    pub top: usize,
    /// Whether these come only from the highest rating groups, as on lichess.
    pub top_groups: bool,
    /// Number of the newest games, at most [`RECENT_GAMES`], without the top ones.
    pub recent: usize,
    /// Whether results are counted by month. A game of which only the year is known counts for
    /// the first month of that year.
    pub history: bool,
    /// Greatest number of games listed in [`Lists::order`].
    pub listed: usize,
    /// The order of the listed games.
    pub order: Order,
    /// Greatest number of games of the indexes that are read for the games with one result:
    /// where the rows of a position do not name all its games, they have the ratings and the
    /// best games of all results together. Of more games there are no ratings then, and the
    /// lists have only games that the rows name.
    pub read: u64,
}

/// Order of games in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Games of the best players first.
    #[default]
    Rating,
    /// Games played last first.
    Newest,
    /// Games played first come first; games without a date are last.
    Oldest,
}

impl Order {
    /// Puts games in this order.
    pub fn sort(self, games: &mut [ListedGame]) {
        let key = |game: &ListedGame| (self.key(game.bucket, &game.game), game.index);
        games.sort_unstable_by_key(|game| std::cmp::Reverse(key(game)));
    }

    /// Sort key: games with greater keys come first. Unknown dates are last.
    fn key(self, bucket: Bucket, game: &GameRef) -> [u32; 4] {
        let (rating, day, number) = game.by_rating();
        let (date, day, rating) = (bucket.date().0, u32::from(day), u32::from(rating));
        match self {
            Order::Rating => [rating, date, day, number],
            Order::Newest => [date, day, rating, number],
            Order::Oldest if bucket.when().year == 0 => [0, 0, rating, number],
            Order::Oldest => [!date, !day, rating, number],
        }
    }
}

/// The source of games.
#[derive(Clone, Copy, Debug)]
pub enum Source<'i> {
    /// All games of an index.
    Index(&'i GamesIndex),
    /// The games of some players.
    Players(&'i [Arc<Player>]),
}

/// Statistics of a move.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MoveSums {
    /// The move, legal in the position.
    pub mv: Move,
    /// Results and ratings.
    pub counts: Counts,
    /// The game, if there is only one.
    pub only: Option<ListedGame>,
}

/// Statistics of a position.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Sums {
    /// Totals over all moves.
    pub counts: Counts,
    /// Moves, most played first.
    pub moves: Vec<MoveSums>,
    /// Games of the best players, the best first.
    pub top: Vec<ListedGame>,
    /// The newest games, the newest first.
    pub recent: Vec<ListedGame>,
    /// Results by month.
    pub history: BTreeMap<Month, Counts>,
    /// Games in the order of [`Lists::order`].
    pub listed: Vec<ListedGame>,
}

/// The sums of a position over several indexes.
///
/// # Errors
///
/// An index cannot be read, or is damaged.
///
/// # Examples
///
/// The moves of a position with their results, and the newest of its games:
///
/// ```
/// use tabia_index::query::{Lists, Order, Source, sums};
/// use tabia_index::shakmaty::Position as _;
/// use tabia_index::{GameSelection, GamesIndex};
/// use tabia_notation::{Line, san};
///
/// # use tabia_index::{IndexJob, Watch};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("games.tgx");
/// # IndexJob::new(["../../tests/data/chessbase/Capa.cbh"], &path).run(&mut Watch::default())?;
/// let index = GamesIndex::open(&path, true)?;
/// let (line, all) = (Line::read("", "1. d4 d5")?, GameSelection::default());
/// let (mut lists, position) = (Lists::default(), line.last());
/// (lists.listed, lists.order) = (5, Order::Newest);
/// let answer = sums([Source::Index(&index)], position, &all, lists)?;
/// let made = &answer.moves[0];
/// assert_eq!((san(position, made.mv).as_str(), made.counts.games()), ("c4", 19));
/// assert_eq!(made.counts.results(position.turn()).to_string(), "+13 =1 -5");
///
/// let newest = answer.listed[0].game.game.into();
/// let head = index.game(newest)?.unwrap().head;
/// assert_eq!(head.names.black, "Znosko-Borovsky");
/// assert_eq!(head.facts.date.to_pgn(), "1938.??.??");
/// assert!(index.pgn(newest)?.unwrap().contains("\n1. d4 d5 2. c4 e6 3. Nc3 c5"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sums<'i>(
    sources: impl IntoIterator<Item = Source<'i>>,
    position: &Chess,
    selection: &GameSelection,
    lists: Lists,
) -> Result<Sums, Error> {
    let sources: Vec<_> = sources.into_iter().collect();
    let mut sums = SumsBuilder::new(position, *selection, lists);
    let games = match selection.result {
        None => None,
        Some(_) => games_of_indexes(&sources, position, selection, lists.read)?,
    };
    for found in games.iter().flatten() {
        sums.index = found.index;
        sums.count(found.mv, found.bucket, found.game);
    }
    let mut limit = RECENT_GAMES;
    for (number, source) in sources.into_iter().enumerate() {
        sums.index = number;
        match source {
            Source::Index(_) if games.is_some() => {}
            Source::Index(index) => index.rows(position, |row| sums.add(row))?,
            Source::Players(players) => {
                limit = 0;
                for player in players {
                    player.count(position, &mut sums);
                }
            }
        }
    }
    Ok(sums.finish(limit))
}

/// The games with a position, one by one: as rows of the indexes name them, or read from the
/// index where rows do not name all: they name 23 games at most for each move and month, and
/// a search for words in these alone said that there was no game. `None` if more than `most`
/// would have to be read.
fn games_of_indexes(
    sources: &[Source<'_>],
    position: &Chess,
    selection: &GameSelection,
    mut most: u64,
) -> Result<Option<Vec<ListedGame>>, Error> {
    let mut games = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let Source::Index(index) = source else {
            continue;
        };
        let before = games.len();
        let mut are_all_named = true;
        index.rows(position, |row| {
            if selection.admits(row.bucket) {
                are_all_named &= row.refs.len() as u64 == row.counts.games();
                games.extend(row.refs.iter().map(|game| row.listed(*game, number)));
            }
        })?;
        if are_all_named {
            continue;
        }
        match most.checked_sub(index.file().games()) {
            Some(left) => most = left,
            None => return Ok(None),
        }
        games.truncate(before);
        let found = find_games(index, position, selection, [0, u64::MAX], |_| true)?;
        let found = found.games.into_iter();
        games.extend(found.map(|game| ListedGame {
            index: number,
            ..game
        }));
    }
    Ok(Some(games))
}

/// The best games by a key; the last is dropped when the list is full.
#[derive(Debug)]
struct Best<K> {
    most: usize,
    games: Vec<(K, ListedGame)>,
}

impl<K: Ord> Best<K> {
    fn new(most: usize) -> Best<K> {
        Best {
            most,
            games: Vec::with_capacity(most + 1),
        }
    }

    fn offer(&mut self, key: K, game: ListedGame) {
        let is_full = self.games.len() >= self.most;
        if is_full && self.games.last().is_none_or(|(last, _)| *last >= key) {
            return;
        }
        let at = self.games.partition_point(|(other, _)| *other >= key);
        self.games.insert(at, (key, game));
        self.games.truncate(self.most);
    }
}

/// Sums under construction.
#[derive(Debug)]
pub struct SumsBuilder<'p> {
    position: &'p Chess,
    selection: GameSelection,
    lists: Lists,
    index: usize,
    /// `None` for an illegal move: two positions share a key.
    moves: Vec<(IndexedMove, Option<MoveSums>)>,
    top: Best<(u16, Bucket, u8, usize, u32)>,
    recent: Best<(Bucket, u8, usize, u32)>,
    history: BTreeMap<Month, Counts>,
    listed: Vec<ListedGame>,
}

impl<'p> SumsBuilder<'p> {
    pub(crate) fn new(
        position: &'p Chess,
        selection: GameSelection,
        lists: Lists,
    ) -> SumsBuilder<'p> {
        // Lichess has none of its top games among the newest, even if it lists none of them.
        let top = match lists.top_groups && lists.recent > 0 {
            true => TOP_GAMES,
            false => lists.top.min(TOP_GAMES),
        };
        // Extra games, because some may be removed as top games.
        let recent = match lists.recent.min(RECENT_GAMES) {
            0 => 0,
            _ => RECENT_GAMES + TOP_GAMES,
        };
        SumsBuilder {
            position,
            selection,
            lists,
            index: 0,
            moves: Vec::new(),
            top: Best::new(top),
            recent: Best::new(recent),
            history: BTreeMap::new(),
            listed: Vec::new(),
        }
    }

    /// The sums of a move, if it is legal.
    fn sums(&mut self, packed: IndexedMove) -> Option<&mut MoveSums> {
        let known = self.moves.iter().position(|(mv, _)| *mv == packed);
        let at = known.unwrap_or_else(|| {
            let (from, to, promotion) = packed.parts();
            let sums = move_of(self.position, from, to, promotion).map(|mv| MoveSums {
                mv,
                counts: Counts::default(),
                only: None,
            });
            self.moves.push((packed, sums));
            self.moves.len() - 1
        });
        self.moves.get_mut(at)?.1.as_mut()
    }

    fn add(&mut self, row: &Row) {
        if !self.selection.admits(row.bucket) {
            return;
        }
        let result = self.selection.result;
        let counts = match result {
            None => row.counts,
            Some(result) => row.counts.with(result),
        };
        if counts.games() == 0 {
            return;
        }
        let index = self.index;
        let named = |game: &GameRef| row.listed(*game, index);
        let Some(sums) = self.sums(row.mv) else {
            return;
        };
        sums.counts.add(&counts);
        let is_wanted = |game: &&GameRef| result.is_none_or(|result| game.result() == result);
        let wanted = || row.refs.iter().filter(is_wanted).map(named);
        sums.only = wanted().next();
        self.month(row.bucket, &counts);
        wanted().for_each(|game| self.name(game));
    }

    /// Counts a single game.
    pub(crate) fn count(&mut self, mv: IndexedMove, bucket: Bucket, game: GameRef) {
        let wanted = self.selection.result;
        if !self.selection.admits(bucket) || wanted.is_some_and(|result| game.result() != result) {
            return;
        }
        let index = self.index;
        let Some(sums) = self.sums(mv) else {
            return;
        };
        let named = ListedGame {
            mv,
            bucket,
            game,
            index,
        };
        sums.counts.count(game.winner, game.elo);
        sums.only = Some(named);
        let mut counts = Counts::default();
        counts.count(game.winner, game.elo);
        self.month(bucket, &counts);
        self.name(named);
    }

    fn month(&mut self, bucket: Bucket, counts: &Counts) {
        if self.lists.history
            && let Some((month, _)) = bucket.when().range()
        {
            self.history.entry(month).or_default().add(counts);
        }
    }

    fn name(&mut self, named: ListedGame) {
        let ListedGame {
            bucket,
            game,
            index,
            ..
        } = named;
        let (rating, day, number) = game.by_rating();
        // Year, month and day; the speed does not matter.
        let date = bucket.date();
        let is_top = !self.lists.top_groups
            || self
                .selection
                .least_top_group()
                .is_some_and(|least| bucket.group() >= Some(least));
        if is_top && self.top.most > 0 {
            self.top.offer((rating, date, day, index, number), named);
        }
        if self.lists.listed > 0 {
            self.listed.push(named);
        }
        if self.recent.most > 0 {
            self.recent.offer((date, day, index, number), named);
        }
    }

    /// Returns the sums. Top and newest games are `limit` at most, if that is not 0;
    /// the newest ones are dropped first.
    pub(crate) fn finish(mut self, limit: usize) -> Sums {
        self.lists.order.sort(&mut self.listed);
        self.listed.truncate(self.lists.listed);
        let mut sums = Sums {
            history: self.history,
            listed: self.listed,
            ..Sums::default()
        };
        sums.moves = self
            .moves
            .into_iter()
            .filter_map(|(_, sums)| sums)
            .collect();
        for made in &mut sums.moves {
            sums.counts.add(&made.counts);
            if made.counts.games() != 1 {
                made.only = None;
            }
        }
        sums.moves
            .sort_by_key(|made| std::cmp::Reverse(made.counts.games()));
        // Lichess lists four, and counts the newest games before it truncates.
        let most_top = if self.lists.top_groups { 4 } else { TOP_GAMES };
        let top: Vec<ListedGame> = self.top.games.into_iter().map(|(_, game)| game).collect();
        let top = top.get(..most_top).unwrap_or(&top);
        let recent = self.recent.games.into_iter().map(|(_, game)| game);
        let most_recent = match limit {
            0 => self.lists.recent,
            _ => self.lists.recent.min(limit.saturating_sub(top.len())),
        };
        sums.recent = recent
            .filter(|game| !top.contains(game))
            .take(most_recent)
            .collect();
        sums.top = top.iter().copied().take(self.lists.top).collect();
        sums
    }
}
