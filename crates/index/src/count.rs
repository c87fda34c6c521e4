//! Counting in one thread: games in, records out.

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position};

use crate::bucket::Bucket;
use crate::partitions::{MoveRecord, Partitions};
use crate::row::{GameRef, IndexedMove, Row};
use tabia_games::Game;
use tabia_games::tgx::Facts;
use tabia_io::sort::{Runs, SortError};

/// The key of a position. Positions that differ only in an en passant square where no
/// capture is possible have the same key.
///
/// Among a thousand million positions, the probability of two with the same key is one
/// in forty.
#[must_use]
pub fn key(position: &Chess) -> u64 {
    position
        .zobrist_hash::<Zobrist64>(EnPassantMode::Legal)
        .into()
}

/// The moves of a game that count: each position once, with the last move played in it.
#[derive(Debug, Default)]
pub(crate) struct Plies {
    keys: Vec<u64>,
    /// Whether this is the last occurrence of the position.
    last: Vec<bool>,
}

impl Plies {
    /// Calls `each` with the key of each position and its move, the last one first.
    pub(crate) fn each(
        &mut self,
        positions: &[Chess],
        moves: &[Move],
        max_ply: usize,
        mut each: impl FnMut(u64, Move),
    ) {
        self.keys.clear();
        self.last.clear();
        let mut now: Option<Zobrist64> = None;
        let plies = positions.iter().zip(moves).take(max_ply);
        for (ply, (position, m)) in plies.enumerate() {
            let hash = now.unwrap_or_else(|| position.zobrist_hash(EnPassantMode::Legal));
            let key = u64::from(hash);
            // A position can only repeat after reversible moves, and after at least
            // four of them.
            let reversible = ply.min(position.halfmoves() as usize);
            let mut back = 4;
            while back <= reversible {
                if self.keys.get(ply - back) == Some(&key)
                    && let Some(is_last) = self.last.get_mut(ply - back)
                {
                    *is_last = false;
                }
                back += 2;
            }
            self.keys.push(key);
            self.last.push(true);
            now = position.update_zobrist_hash(hash, *m, EnPassantMode::Legal);
        }
        let plies = self.keys.iter().zip(&self.last).zip(moves).rev();
        for ((key, _), m) in plies.filter(|((_, is_last), _)| **is_last) {
            each(*key, *m);
        }
    }
}

/// Counts games.
pub(crate) struct Counter<'r> {
    /// Destination of full partitions.
    runs: &'r Runs<Row>,
    partitions: Partitions,
    /// Positions of the current batch, whose games have no final numbers yet.
    batch: Vec<MoveRecord>,
    plies: Plies,
}

impl<'r> Counter<'r> {
    /// Creates a counter with `bytes` of memory for unsorted records.
    pub(crate) fn new(runs: &'r Runs<Row>, bytes: usize) -> Counter<'r> {
        Counter {
            runs,
            partitions: Partitions::new(bytes),
            batch: Vec::new(),
            plies: Plies::default(),
        }
    }

    /// Counts a game; `number` is its index in the batch.
    pub(crate) fn take(&mut self, game: &Game, facts: Facts, number: u32, max_ply: usize) {
        let bucket = Bucket::from_facts(facts);
        let bits = GameRef::new(facts, number).pack();
        let batch = &mut self.batch;
        let (positions, moves) = (&game.positions, &game.moves);
        self.plies.each(positions, moves, max_ply, |hash, m| {
            batch.push(MoveRecord {
                hash,
                bucket,
                bits,
                game: number,
                mv: IndexedMove::from_move(m),
            });
        });
    }

    /// Ends the batch; `first` is the number of its first game.
    pub(crate) fn end_batch(&mut self, first: u32) -> Result<(), SortError> {
        for record in &self.batch {
            if self.partitions.is_full() {
                self.partitions.sort_into(self.runs)?;
            }
            self.partitions.push(MoveRecord {
                game: first + record.game,
                ..*record
            });
        }
        self.batch.clear();
        Ok(())
    }

    /// Returns the records not sorted yet.
    pub(crate) fn finish(self) -> Partitions {
        self.partitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_notation::Line;

    /// The keys of the positions and the moves that count.
    fn counted(moves: &str, max_ply: usize) -> (Line, Vec<(u64, Move)>) {
        let line = Line::read("", moves).unwrap();
        let moves: Vec<Move> = line.moves().map(|(_, m)| m).collect();
        let mut all = Vec::new();
        Plies::default().each(line.positions(), &moves, max_ply, |key, m| {
            all.push((key, m));
        });
        all.reverse();
        (line, all)
    }

    #[test]
    fn keys_are_those_of_the_positions_alone() {
        let moves = "e4 a6 e5 d5 exd6 Nc6 Nf3 e6 Be2 Nf6 O-O Bxd6 a4 b5 axb5 axb5 Rxa8";
        let (line, counted) = counted(moves, 50);
        let keys = line.moves().map(|(position, m)| (key(position), m));
        assert!(keys.eq(counted));
    }

    /// Only the last move in a position counts.
    #[test]
    fn a_position_counts_once_a_game() {
        let plies = |moves, most| {
            let (line, counted) = counted(moves, most);
            let mut plies = line.moves().enumerate();
            let mut ply_of = |one: (u64, Move)| {
                plies.find_map(|(ply, (at, m))| ((key(at), m) == one).then_some(ply))
            };
            let found = counted.into_iter().map(|one| ply_of(one).unwrap());
            found.collect::<Vec<usize>>()
        };
        let moves = "Nf3 Nf6 Ng1 Ng8 e4 e5 Nf3 Nc6";
        assert_eq!(plies(moves, 50), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(plies(moves, 4), [0, 1, 2, 3]);
        assert_eq!(plies("e4 e5", 50), [0, 1]);
    }
}
