//! The games of one player, by position.

use rustc_hash::FxHashMap;
use shakmaty::{Chess, Color, EnPassantMode, Move, Position as _, zobrist::Zobrist64};

use super::ask::Gathering;
use super::bucket::Bucket;
use super::posting::plain_name;
use super::row::{GameRef, IndexedMove};
use super::{GamesIndex, key};
use crate::Error;
use crate::tgx::Facts;

/// Of a player with more games, the newest count.
const MOST_GAMES: usize = 50_000;

/// The numbers of the newest games that may be a player's, and how many older ones
/// there are.
fn newest(index: &GamesIndex, name: &str, color: Color) -> Result<(Vec<u32>, usize), Error> {
    let mut numbers = index.games_of(name, color)?;
    let older = numbers.len().saturating_sub(MOST_GAMES);
    Ok((numbers.split_off(older), older))
}

/// Calls `each` with the games of a player with one colour, as [`Player::read`] knows
/// him: how they went, the positions, and the move in each, as far as `plies`.
///
/// # Errors
///
/// The index cannot be read, or is damaged.
pub fn each_game(
    index: &GamesIndex,
    name: &str,
    color: Color,
    plies: usize,
    mut each: impl FnMut(Facts, &[Chess], &[Move]),
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    let (mut positions, mut moves) = (Vec::new(), Vec::new());
    // As in [`Player::read`]: `_` counts as a blank where nobody has it in his name.
    for name in [name.to_owned(), name.replace('_', " ")] {
        let wanted = plain_name(&name);
        let mut is_found = false;
        for number in newest(index, &name, color)?.0 {
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
                each(head.facts, &positions, &moves);
            }
        }
        if is_found {
            break;
        }
    }
    Ok(())
}

/// What a player played with one colour: made when it is asked for, since an
/// index has no room for every player's own tree.
#[derive(Debug)]
pub struct Player {
    games: Vec<(u32, Facts)>,
    /// Games that were left out, since there are newer ones.
    older: usize,
    /// Moves by the key of the position, with the places of their games.
    moves: FxHashMap<u64, Vec<(IndexedMove, u32)>>,
}

impl Player {
    /// Reads a player's games: of the one whose name has the same words, in any order
    /// and whatever the case. `_` counts as a blank.
    ///
    /// # Errors
    ///
    /// The index cannot be read, or is damaged.
    pub fn read(index: &GamesIndex, name: &str, color: Color) -> Result<Player, Error> {
        let mut player = Player::named(index, name, color)?;
        if player.games.is_empty() && name.contains('_') {
            player = Player::named(index, &name.replace('_', " "), color)?;
        }
        Ok(player)
    }

    fn named(index: &GamesIndex, name: &str, color: Color) -> Result<Player, Error> {
        let wanted = plain_name(name);
        let (newest, older) = newest(index, name, color)?;
        let mut player = Player {
            games: Vec::new(),
            older,
            moves: FxHashMap::default(),
        };
        let max_ply = usize::from(index.file().root().max_ply);
        let mut keys: Vec<(u64, IndexedMove)> = Vec::new();
        let mut buffer = Vec::new();
        for number in newest {
            keys.clear();
            let mut now: Option<Zobrist64> = None;
            let head = index.play(
                number.into(),
                &mut buffer,
                |head| plain_name(head.names.get(color)) == wanted,
                |position, m| {
                    let hash = now.unwrap_or_else(|| position.zobrist_hash(EnPassantMode::Legal));
                    now = position.update_zobrist_hash(hash, m, EnPassantMode::Legal);
                    keys.push((hash.into(), IndexedMove::of(m)));
                    keys.len() < max_ply
                },
            )?;
            let Some(head) = head else {
                continue;
            };
            let place = player.games.len() as u32;
            player.games.push((number, head.facts));
            // The last move in a position counts, and once.
            for &(key, mv) in keys.iter().rev() {
                let moves = player.moves.entry(key).or_default();
                if moves.last().is_none_or(|(_, last)| *last != place) {
                    moves.push((mv, place));
                }
            }
        }
        Ok(player)
    }

    /// Whether there is no game.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Games that are known.
    #[must_use]
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Games that were left out, since there are so many newer ones.
    #[must_use]
    pub fn older(&self) -> usize {
        self.older
    }

    /// Counts what was played in a position.
    pub(super) fn count(&self, position: &Chess, gathering: &mut Gathering<'_>) {
        for (mv, place) in self.moves.get(&key(position)).into_iter().flatten() {
            if let Some((number, facts)) = self.games.get(*place as usize) {
                let game = GameRef::of(*facts, *number);
                gathering.count(*mv, Bucket::of(*facts), game);
            }
        }
    }
}
