//! The games of one player, by position.

use rustc_hash::FxHashMap;
use shakmaty::{Chess, Color, Move};

use super::bucket::Bucket;
use super::count::Plies;
use super::posting::plain_name;
use super::query::SumsBuilder;
use super::row::{GameRef, IndexedMove};
use super::{GamesIndex, key};
use crate::Error;
use crate::tgx::Facts;

/// Limit of games of a player; the newest are used.
const MOST_GAMES: usize = 50_000;

/// Calls `each` with the games of a player with one colour. Names match if they have
/// the same words, in any order and case; if no player matches, `_` counts as a space.
/// `each` gets the number of the game, its result, the positions, and the move in each,
/// up to `plies`. Returns the number of older games left out because of the limit.
///
/// # Errors
///
/// The index cannot be read, or is damaged.
pub fn each_game(
    index: &GamesIndex,
    name: &str,
    color: Color,
    plies: usize,
    mut each: impl FnMut(u32, Facts, &[Chess], &[Move]),
) -> Result<usize, Error> {
    let mut buffer = Vec::new();
    let (mut positions, mut moves) = (Vec::new(), Vec::new());
    let mut older = 0;
    for name in [name.to_owned(), name.replace('_', " ")] {
        let wanted = plain_name(&name);
        let mut is_found = false;
        let mut numbers = index.games_of(&name, color)?;
        older = numbers.len().saturating_sub(MOST_GAMES);
        for number in numbers.drain(older..) {
            positions.clear();
            moves.clear();
            let head = index.play(
                number.into(),
                &mut buffer,
                |head| plain_name(head.names.get(color)) == wanted,
                |position, m| {
                    positions.push(position.clone());
                    moves.push(m);
                    moves.len() < plies
                },
            )?;
            if let Some(head) = head {
                is_found = true;
                each(number, head.facts, &positions, &moves);
            }
        }
        if is_found {
            break;
        }
    }
    Ok(older)
}

/// The games of a player with one colour by position; built on demand, because an index
/// cannot store one tree for each player.
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
    pub fn read(index: &GamesIndex, name: &str, color: Color) -> Result<Player, Error> {
        let mut player = Player::default();
        let mut counted = Plies::default();
        let plies = usize::from(index.file().root().max_ply);
        let older = each_game(
            index,
            name,
            color,
            plies,
            |number, facts, positions, moves| {
                let place = player.games.len() as u32;
                player.games.push((number, facts));
                counted.each(positions, moves, plies, |key, m| {
                    let known = player.moves.entry(key).or_default();
                    known.push((IndexedMove::of(m), place));
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
    pub(super) fn count(&self, position: &Chess, sums: &mut SumsBuilder<'_>) {
        for (mv, place) in self.moves.get(&key(position)).into_iter().flatten() {
            if let Some((number, facts)) = self.games.get(*place as usize) {
                let game = GameRef::of(*facts, *number);
                sums.count(*mv, Bucket::of(*facts), game);
            }
        }
    }
}
