//! The games of one player, by position.

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use shakmaty::{Chess, Color, Move};

use crate::Error;
use crate::bucket::Bucket;
use crate::count::Plies;
use crate::posting::plain_name;
use crate::query::SumsBuilder;
use crate::row::{GameRef, IndexedMove};
use crate::{GamesIndex, key};
use tabia_games::tgx::Facts;

/// Limit of games of a player; the newest are used.
const MOST_GAMES: usize = 50_000;

/// Calls `each` with the games of a player with one colour, who has one of the names
/// (see [`exact_names`]). `each` gets the number of the game, its result, the positions,
/// and the move in each, up to `plies`. Returns the number of older games left out because
/// of the limit.
///
/// # Errors
///
/// The index cannot be read, or is damaged.
pub fn each_game(
    index: &GamesIndex,
    names: &[String],
    color: Color,
    plies: usize,
    mut each: impl FnMut(u32, Facts, &[Chess], &[Move]),
) -> Result<usize, Error> {
    let mut buffer = Vec::new();
    let (mut positions, mut moves) = (Vec::new(), Vec::new());
    let wanted: HashSet<String> = names.iter().map(|name| plain_name(name)).collect();
    let mut numbers = Vec::new();
    for name in &wanted {
        numbers.extend(index.games_of(name, color)?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let older = numbers.len().saturating_sub(MOST_GAMES);
    for number in numbers.drain(older..) {
        positions.clear();
        moves.clear();
        let head = index.play(
            number.into(),
            &mut buffer,
            |head| wanted.contains(&plain_name(head.names.get(color))),
            |position, m| {
                positions.push(position.clone());
                moves.push(m);
                moves.len() < plies
            },
        )?;
        if let Some(head) = head {
            each(number, head.facts, &positions, &moves);
        }
    }
    Ok(older)
}

/// The name, if a player has exactly its words, in any order and case; or else with a
/// space for each `_`. `None` if there is no such player.
///
/// # Errors
///
/// The index cannot be read, or is damaged.
pub fn exact_names(index: &GamesIndex, name: &str) -> Result<Option<Vec<String>>, Error> {
    for name in [name.to_owned(), name.replace('_', " ")] {
        for color in Color::ALL {
            if !index.games_of(&name, color)?.is_empty() {
                return Ok(Some(vec![name]));
            }
        }
    }
    Ok(None)
}

/// The games of a player with one colour by position; built on demand, because an index
/// cannot store one tree for each player.
///
/// # Examples
///
/// What a player plays with White, and with which results:
///
/// ```
/// use std::sync::Arc;
/// use tabia_index::query::{Lists, Source, sums};
/// use tabia_index::shakmaty::{Chess, Color};
/// use tabia_index::{GameSelection, GamesIndex, Player};
/// use tabia_notation::san;
///
/// # use tabia_index::{IndexJob, Watch};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("games.tgx");
/// # IndexJob::new(["../../tests/data/chessbase/Capa.cbh"], &path).run(&mut Watch::default())?;
/// let index = GamesIndex::open(&path, true)?;
/// // The words of a name may be in any order and case.
/// let names = ["capablanca, jose raul".to_owned()];
/// let player = [Arc::new(Player::read(&index, &names, Color::White)?)];
/// assert_eq!(player[0].games(), 51);
/// let (start, all) = (Chess::default(), GameSelection::default());
/// let answer = sums([Source::Players(&player)], &start, &all, Lists::default())?;
/// let row = |at: usize| {
///     let made = &answer.moves[at];
///     format!("{} {}", san(&start, made.mv), made.counts.results(Color::White))
/// };
/// assert_eq!([row(0), row(1)], ["d4 +33 =1 -0", "e4 +10 =0 -0"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Player {
    games: Vec<(u32, Facts)>,
    /// Number of older games left out because of the limit.
    older: usize,
    /// Moves by the key of the position, with the indexes of their games.
    moves: FxHashMap<u64, Vec<(IndexedMove, u32)>>,
}

impl Player {
    /// Reads a player's games: see [`each_game`].
    ///
    /// # Errors
    ///
    /// The index cannot be read, or is damaged.
    pub fn read(index: &GamesIndex, names: &[String], color: Color) -> Result<Player, Error> {
        let mut player = Player::default();
        let mut counted = Plies::default();
        let plies = usize::from(index.file().root().max_ply);
        let older = each_game(
            index,
            names,
            color,
            plies,
            |number, facts, positions, moves| {
                let place = player.games.len() as u32;
                player.games.push((number, facts));
                counted.each(positions, moves, plies, |key, m| {
                    let known = player.moves.entry(key).or_default();
                    known.push((IndexedMove::from_move(m), place));
                });
            },
        )?;
        Ok(Player { older, ..player })
    }

    /// Whether there are no games.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Number of games read.
    #[must_use]
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Number of older games left out because of the limit.
    #[must_use]
    pub fn older(&self) -> usize {
        self.older
    }

    /// Adds the player's moves in a position.
    pub(crate) fn count(&self, position: &Chess, sums: &mut SumsBuilder<'_>) {
        for (mv, place) in self.moves.get(&key(position)).into_iter().flatten() {
            if let Some((number, facts)) = self.games.get(*place as usize) {
                let game = GameRef::new(*facts, *number);
                sums.count(*mv, Bucket::from_facts(*facts), game);
            }
        }
    }
}
