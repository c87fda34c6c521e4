//! Detection of duplicate games.
//!
//! Two games are duplicates if they have the same first position, moves and result, and
//! players with the same family names. Years, events and ratings are not compared: collections write them
//! differently. Which of two games counts must not depend on threads, so the chunks are
//! compared in the order of the sources.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Mutex;

use rustc_hash::FxBuildHasher;
use shakmaty::{ByColor, Chess, Move, Position};

use tabia_games::{Game, GameResult, MoveAnnotation};

/// The games seen so far.
#[derive(Default)]
pub(super) struct Duplicates {
    seen: Mutex<HashSet<u128, FxBuildHasher>>,
}

impl Duplicates {
    /// Removes the duplicates from a chunk and returns their number. Must be called in
    /// the order of the chunks.
    pub(super) fn drop_from(&self, chunk: &mut Chunk) -> u64 {
        let mut seen = tabia_io::parallel::lock(&self.seen);
        let before = chunk.games.len();
        chunk.games.retain(|game| seen.insert(game.fingerprint));
        (before - chunk.games.len()) as u64
    }
}

/// Games not counted yet, without their positions, which take twelve times the memory
/// of the moves.
#[derive(Default)]
pub(super) struct Chunk {
    games: Vec<StoredGame>,
    moves: Vec<Move>,
    side_moves: Vec<(usize, Chess, Move)>,
    annotations: Vec<MoveAnnotation>,
}

/// The stored part of a game.
struct StoredGame {
    fingerprint: u128,
    result: GameResult,
    elo: ByColor<u16>,
    /// The first position; `None` for the standard one.
    start: Option<Box<Chess>>,
    moves: Range<usize>,
    side_moves: Range<usize>,
    annotations: Range<usize>,
}

impl Chunk {
    /// Adds a game, truncated to `plies`.
    pub(super) fn push(&mut self, game: &Game, plies: usize) {
        let from = (self.moves.len(), self.side_moves.len());
        self.moves.extend(game.moves.iter().take(plies));
        let side_moves = game.side_moves.iter().filter(|(ply, ..)| *ply < plies);
        self.side_moves.extend(side_moves.cloned());
        let annotations = self.annotations.len();
        let is_kept = |(ply, ..): &&(usize, Chess, Move)| *ply < plies;
        self.annotations
            .extend(game.annotations.iter().filter_map(|annotation| {
                if !annotation.side_move {
                    return Some(*annotation);
                }
                // Skipped side moves change the indexes of later ones.
                game.side_moves.get(annotation.index).filter(is_kept)?;
                let before = game.side_moves.iter().take(annotation.index);
                let index = before.filter(is_kept).count();
                Some(MoveAnnotation {
                    index,
                    ..*annotation
                })
            }));
        let start = game.positions.first().filter(|_| game.set_up);
        self.games.push(StoredGame {
            fingerprint: fingerprint(game),
            result: game.result,
            elo: game.elo,
            start: start.cloned().map(Box::new),
            moves: from.0..self.moves.len(),
            side_moves: from.1..self.side_moves.len(),
            annotations: annotations..self.annotations.len(),
        });
    }

    /// Memory of the chunk in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.games.len() * size_of::<StoredGame>()
            + self.moves.len() * size_of::<Move>()
            + self.side_moves.len() * size_of::<(usize, Chess, Move)>()
            + self.annotations.len() * size_of::<MoveAnnotation>()
    }

    /// Replays the games one after the other in `game`, calls `count` for each, and
    /// empties the chunk.
    pub(super) fn play<E>(
        &mut self,
        game: &mut Game,
        mut count: impl FnMut(&Game) -> Result<(), E>,
    ) -> Result<(), E> {
        for stored in self.games.drain(..) {
            game.clear();
            game.result = stored.result;
            game.elo = stored.elo;
            game.set_up = stored.start.is_some();
            if let Some(start) = stored.start {
                game.start_from(*start);
            }
            let mut position = game.positions.first().cloned().unwrap_or_default();
            for &m in self.moves.get(stored.moves).unwrap_or_default() {
                position.play_unchecked(m);
                game.moves.push(m);
                game.positions.push(position.clone());
            }
            let side_moves = self.side_moves.get(stored.side_moves);
            game.side_moves
                .extend_from_slice(side_moves.unwrap_or_default());
            let annotations = self.annotations.get(stored.annotations);
            game.annotations
                .extend_from_slice(annotations.unwrap_or_default());
            count(game)?;
        }
        self.annotations.clear();
        self.moves.clear();
        self.side_moves.clear();
        Ok(())
    }
}

/// 128 bits. Even among billions of games, the chance that two different ones are equal
/// is 1 in 10^20.
fn fingerprint(game: &Game) -> u128 {
    let half = |seed: u64| {
        // Not the fast hash of the tables: its bits are not random enough.
        let mut hasher = std::hash::DefaultHasher::new();
        seed.hash(&mut hasher);
        game.result.hash(&mut hasher);
        for name in [&game.names.white, &game.names.black] {
            tabia_games::family_name(name).hash(&mut hasher);
        }
        game.moves.hash(&mut hasher);
        if let Some(start) = game.positions.first().filter(|_| game.set_up) {
            (start.board(), start.turn()).hash(&mut hasher);
        }
        hasher.finish()
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_chunk_is_that_of_its_parts() {
        let start = Chess::default();
        let Some(&mv) = start.legal_moves().first() else {
            unreachable!("it has twenty");
        };
        let note = MoveAnnotation {
            index: 0,
            nag: 1,
            side_move: false,
        };
        let bytes = |games: usize, [moves, side_moves, notes]: [usize; 3]| {
            let game = Game {
                moves: vec![mv; moves],
                side_moves: vec![(0, start.clone(), mv); side_moves],
                annotations: vec![note; notes],
                ..Game::default()
            };
            let mut chunk = Chunk::default();
            (0..games).for_each(|_| chunk.push(&game, 99));
            chunk.bytes()
        };
        let game = bytes(1, [0; 3]);
        assert!(game > 0);
        let parts = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|part| bytes(1, part) - game);
        assert!(parts[0] >= size_of::<Move>() && parts[1] >= size_of::<Chess>() && parts[2] > 0);
        let all = game + 3 * parts[0] + 5 * parts[1] + 7 * parts[2];
        assert_eq!(bytes(4, [3, 5, 7]), 4 * all);
    }
}
