//! What one thread counts: games in, sorted runs of rows out.

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::row::{Bucket, GameRef, PackedMove, Row};
use crate::games::Game;
use crate::games::tgx::Facts;
use crate::sort::{LARGEST_SORT_BYTES, Runs, SortError, sort_by_order};

/// A move of a game: what is sorted.
#[derive(Clone, Copy)]
struct Seen {
    hash: u64,
    bucket: Bucket,
    /// [`GameRef::pack`].
    bits: u32,
    game: u32,
    mv: PackedMove,
}

impl Seen {
    fn place(&self) -> (u64, PackedMove, Bucket) {
        (self.hash, self.mv, self.bucket)
    }
}

/// Bytes of a record with its share of the sorting.
const SEEN_BYTES: usize = size_of::<Seen>() + size_of::<u64>();

/// So much is sorted at once at most: four times as much as elsewhere, in four
/// times as many lots, for rows are dear to read and to compare when runs are
/// merged.
pub(super) const MOST_SORT_BYTES: u64 = 4 * LARGEST_SORT_BYTES;

/// Upper bits of the order that choose a lot.
const LOT_BITS: u32 = crate::sort::LOT_BITS + 2;

/// Bytes of a record in a run, at most, until games are let go.
const RUN_BYTES: u64 = 28;

/// The key of a position. One that differs in nothing but an en passant square
/// where nobody can capture is the same.
///
/// Of a thousand million positions, two share their key with a probability of
/// one in forty.
#[must_use]
pub fn key(position: &Chess) -> u64 {
    position
        .zobrist_hash::<Zobrist64>(EnPassantMode::Legal)
        .into()
}

/// The moves of a game that count: each position once, with the last move
/// played there.
#[derive(Debug, Default)]
pub(super) struct Plies {
    keys: Vec<u64>,
}

impl Plies {
    /// Calls `each` with the key of each position and the place of its move,
    /// the last one first.
    pub(super) fn each(&mut self, game: &Game, max_ply: usize, mut each: impl FnMut(u64, usize)) {
        let plies = game.moves.len().min(max_ply);
        self.keys.clear();
        let mut now: Option<Zobrist64> = None;
        for (position, m) in game.positions.iter().zip(&game.moves).take(plies) {
            let hash = now.unwrap_or_else(|| position.zobrist_hash(EnPassantMode::Legal));
            self.keys.push(hash.into());
            now = position.update_zobrist_hash(hash, *m, EnPassantMode::Legal);
        }
        for ply in (0..plies).rev() {
            let Some(key) = self.keys.get(ply).copied() else {
                continue;
            };
            // Only as long as every move can be taken back is it there again.
            let reversible = |later: &usize| {
                let clock = game.positions.get(*later).map_or(0, Position::halfmoves);
                clock as usize >= *later - ply
            };
            let mut later = (ply + 4..plies).step_by(2).take_while(reversible);
            if !later.any(|later| self.keys.get(later) == Some(&key)) {
                each(key, ply);
            }
        }
    }
}

/// Counts games.
pub(super) struct Counter<'r> {
    runs: &'r Runs<Row>,
    /// By the upper bits of the order.
    lots: Vec<Vec<Seen>>,
    held: usize,
    most: usize,
    /// Of the batch that is being read: its games have no numbers yet.
    batch: Vec<Seen>,
    plies: Plies,
}

impl<'r> Counter<'r> {
    /// `bytes` for records before they are sorted.
    pub(super) fn new(runs: &'r Runs<Row>, bytes: usize) -> Counter<'r> {
        Counter {
            runs,
            lots: vec![Vec::new(); 1 << LOT_BITS],
            held: 0,
            most: (bytes / SEEN_BYTES).max(1024),
            batch: Vec::new(),
            plies: Plies::default(),
        }
    }

    /// Takes a game of the batch: `number` is its place there.
    pub(super) fn take(&mut self, game: &Game, facts: Facts, number: u32, max_ply: usize) {
        let bucket = Bucket::of(facts);
        let bits = GameRef::of(facts, number).pack();
        let batch = &mut self.batch;
        self.plies.each(game, max_ply, |hash, ply| {
            if let Some(m) = game.moves.get(ply) {
                batch.push(Seen {
                    hash,
                    bucket,
                    bits,
                    game: number,
                    mv: PackedMove::of(*m),
                });
            }
        });
    }

    /// Counts the batch, the first game of which has a number.
    pub(super) fn end_batch(&mut self, first: u32) -> Result<(), SortError> {
        let batch = std::mem::take(&mut self.batch);
        for seen in &batch {
            if self.held >= self.most {
                self.sort()?;
            }
            let lot = (seen.hash >> (u64::BITS - LOT_BITS)) as usize;
            if let Some(lot) = self.lots.get_mut(lot) {
                if lot.capacity() == 0 {
                    // Never to be moved: a lot is nearly as large as the others.
                    lot.reserve(self.most >> LOT_BITS);
                }
                lot.push(Seen {
                    game: first + seen.game,
                    ..*seen
                });
                self.held += 1;
            }
        }
        self.batch = batch;
        self.batch.clear();
        Ok(())
    }

    /// Sorts what has been gathered into a run.
    fn sort(&mut self) -> Result<(), SortError> {
        if self.held == 0 {
            return Ok(());
        }
        let estimate = self.held as u64 * RUN_BYTES;
        let (mut sorted, mut other) = (Vec::new(), Vec::new());
        let (mut same, mut row) = (Vec::new(), Row::default());
        self.runs.add(estimate, |push| {
            for lot in &mut self.lots {
                sorted.clear();
                let entries = lot.iter().enumerate();
                sorted.extend(entries.map(|(n, seen)| (seen.hash >> 32) << 32 | n as u64));
                sort_by_order(&mut sorted, &mut other);
                for group in sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
                    let record = |entry: &u64| lot.get((*entry & u64::from(u32::MAX)) as usize);
                    same.clear();
                    group.iter().for_each(|entry| same.extend(record(entry)));
                    add_up(&mut same, &mut row, push)?;
                }
                lot.clear();
            }
            Ok::<_, SortError>(())
        })?;
        self.held = 0;
        Ok(())
    }

    /// Hands everything over.
    pub(super) fn finish(mut self) -> Result<(), SortError> {
        self.sort()
    }
}

/// The rows of some records, which come in the order of their games.
fn add_up(
    same: &mut [Seen],
    row: &mut Row,
    push: &mut dyn FnMut(&Row) -> Result<(), SortError>,
) -> Result<(), SortError> {
    if same.len() > 1 {
        same.sort_by_key(Seen::place);
    }
    for games in same.chunk_by(|a, b| a.place() == b.place()) {
        if let Some(first) = games.first() {
            row.reset(first.hash, first.mv, first.bucket);
        }
        for seen in games {
            if let Some(game) = GameRef::unpack(seen.bits, seen.game) {
                row.count(game);
            }
        }
        row.prune();
        push(row)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::Line;

    fn game(moves: &str) -> Game {
        let line = Line::read("", moves).unwrap();
        Game {
            positions: line.positions().to_vec(),
            moves: line.moves().map(|(_, m)| m).collect(),
            ..Game::default()
        }
    }

    fn counted(moves: &str, max_ply: usize) -> Vec<(u64, usize)> {
        let mut all = Vec::new();
        Plies::default().each(&game(moves), max_ply, |key, ply| all.push((key, ply)));
        all.reverse();
        all
    }

    #[test]
    fn keys_are_those_of_the_positions_alone() {
        let moves = "e4 a6 e5 d5 exd6 Nc6 Nf3 e6 Be2 Nf6 O-O Bxd6 a4 b5 axb5 axb5 Rxa8";
        let game = game(moves);
        for (number, ply) in counted(moves, 50) {
            assert_eq!(number, key(&game.positions[ply]), "{ply}");
        }
    }

    /// Only the last move in a position counts.
    #[test]
    fn a_position_counts_once_a_game() {
        let plies = |moves, most| -> Vec<usize> {
            counted(moves, most)
                .into_iter()
                .map(|(_, ply)| ply)
                .collect()
        };
        let moves = "Nf3 Nf6 Ng1 Ng8 e4 e5 Nf3 Nc6";
        assert_eq!(plies(moves, 50), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(plies(moves, 4), [0, 1, 2, 3]);
        assert_eq!(plies("e4 e5", 50), [0, 1]);
    }
}
