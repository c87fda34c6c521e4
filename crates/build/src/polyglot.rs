//! Polyglot books (.bin): every move played is a record, sorted by position
//! and then by the order of the games.
//!
//! The order of the games matters, for books are those of `polyglot
//! make-book`: when a move of a position was played [`MOST_GAMES`] times, the
//! counts of all moves of that position are halved and rounded up, then
//! counting goes on; moves of the same weight are stored in the order in which
//! they were first played. Unlike for the positions of a ChessBase book, a
//! move counts again when its position is repeated in a game, and a game
//! without a result counts as a draw.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use shakmaty::{ByColor, Position as _};

use super::count::Extent;
use super::{BuildError, BuildJob, Written};
use tabia_book::bin::{self, ENTRY_BYTES};
use tabia_book::polyglot::{self, PackedMove};
use tabia_games::{Game, GameResult};
use tabia_io::atomic::NewFile;
use tabia_io::progress::{Progress, Watch};
use tabia_io::sort::{Merge, Record, Runs, SortError, Sorted, Sorter};

/// What is stored of the moves that were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PolyglotRule {
    /// Every weight is 1.
    pub uniform: bool,
    /// Moves with a lower score, in per cent, are left out.
    pub min_score: f64,
}

/// Counts of moves stay below this number.
const MOST_GAMES: u16 = 16_384;

/// A batch has fewer moves than this power of two: it is read from 16 MiB of
/// text at most. Batches are numbered with the 23 bits that are left.
const MOVE_BITS: u32 = 24;

/// Twice the points of a move: 2 bits. The move: 15 bits.
const POINT_BITS: u32 = 2;
const TAIL_BITS: u32 = 15 + POINT_BITS;

/// A move of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Played {
    key: u64,
    /// From the upper bits on: its number among all moves, which no other has;
    /// the move; twice the points of its player.
    rest: u64,
}

impl Played {
    fn mv(self) -> u16 {
        (self.rest >> POINT_BITS) as u16 & 0x7fff
    }

    fn points(self) -> u16 {
        self.rest as u16 & 3
    }
}

impl Record for Played {
    #[inline]
    fn order(&self) -> u32 {
        (self.key >> 32) as u32
    }

    #[inline]
    fn compare(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        let both = u128::from(self.key) << 64 | u128::from(self.rest);
        out.extend_from_slice(&both.to_be_bytes());
    }

    #[inline]
    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let both = u128::from_be_bytes(*bytes.first_chunk()?);
        self.key = (both >> 64) as u64;
        self.rest = both as u64;
        Some(size_of::<u128>())
    }
}

/// Records the moves of games.
pub(super) struct MoveCounter {
    sorter: Sorter<Played>,
    /// The number of the next move.
    number: u64,
}

impl MoveCounter {
    /// `sort_bytes` of memory for records before they are sorted.
    pub(super) fn new(runs: &Arc<Runs<Played>>, sort_bytes: u64) -> MoveCounter {
        MoveCounter {
            sorter: Sorter::new(Arc::clone(runs), sort_bytes),
            number: 0,
        }
    }

    /// Numbers the moves of a batch after those of all batches before it.
    pub(super) fn begin_batch(&mut self, batch: u64) {
        self.number = batch << MOVE_BITS;
    }

    pub(super) fn count(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        let points = ByColor::new_with(|color| match game.result {
            GameResult::Won(winner) => 2 * u64::from(winner == color),
            GameResult::Draw | GameResult::Unknown => 1,
        });
        let mut key = game.positions.first().map_or(0, polyglot::key);
        let steps = game.moves.iter().zip(game.positions.windows(2));
        for (&mv, both) in steps.take(extent.max_ply) {
            let [before, after] = both else { break };
            if extent.has_moves_of(before) {
                let PackedMove(packed) = PackedMove::of(mv);
                let rest = self.number << TAIL_BITS | u64::from(packed) << POINT_BITS;
                let rest = rest | points.get(before.turn());
                self.number += 1;
                self.sorter.push(&Played { key, rest })?;
            }
            key = polyglot::key_after(key, before, mv, after);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), SortError> {
        self.sorter.finish()
    }
}

/// A move of a position, as far as it has been counted.
struct Counted {
    mv: u16,
    /// Games, and twice the points, both halved now and then.
    games: u16,
    weight: u16,
}

/// The moves of one position, in the order in which they were first played.
#[derive(Default)]
struct Moves(Vec<Counted>);

impl Moves {
    fn count(&mut self, played: Played) {
        let mv = played.mv();
        let known = self.0.iter_mut().find(|counted| counted.mv == mv);
        let (games, weight) = (1, played.points());
        let Some(known) = known else {
            self.0.push(Counted { mv, games, weight });
            return;
        };
        known.games += games;
        known.weight += weight;
        if known.games >= MOST_GAMES {
            for counted in &mut self.0 {
                counted.games = counted.games.div_ceil(2);
                counted.weight = counted.weight.div_ceil(2);
            }
        }
    }

    /// Appends the entries of the position, and forgets its moves.
    fn settle(&mut self, key: u64, job: &BuildJob, rule: PolyglotRule, out: &mut Vec<u8>) {
        self.0.retain(|counted| {
            // In the order in which polyglot divides, to round as it does.
            let score = f64::from(counted.weight) / f64::from(counted.games) / 2.0;
            u32::from(counted.games) >= job.min_games
                && counted.weight > 0
                && score >= rule.min_score / 100.0
        });
        if !rule.uniform {
            self.0.sort_by_key(|counted| Reverse(counted.weight));
        }
        for counted in self.0.drain(..) {
            let weight = if rule.uniform { 1 } else { counted.weight };
            out.extend_from_slice(&bin::encode(key, PackedMove(counted.mv), weight, 0));
        }
    }
}

/// Writes the book, which is not put in its place yet.
pub(super) fn write(
    job: &BuildJob,
    rule: PolyglotRule,
    sorted: &Sorted<Played>,
    output: &mut NewFile,
    watch: &mut Watch<'_>,
) -> Result<Written, BuildError> {
    let mut written = Written::default();
    let make = |mut merge: Merge<Played>| {
        let mut bytes = Vec::new();
        let mut positions = 0;
        let (mut key, mut moves) = (0, Moves::default());
        loop {
            let next = merge.next()?;
            if next.is_none_or(|next| next.key != key) {
                let before = bytes.len();
                moves.settle(key, job, rule, &mut bytes);
                positions += u64::from(bytes.len() > before);
            }
            let Some(&next) = next else { break };
            key = next.key;
            moves.count(next);
        }
        Ok::<_, BuildError>((positions, bytes))
    };
    sorted.in_threads(job.threads, make, |(positions, bytes)| {
        output.add(&bytes).map_err(BuildError::Place)?;
        written.positions += positions;
        written.moves += (bytes.len() / ENTRY_BYTES) as u64;
        let progress = Progress::new("writing", "positions", written.positions, None);
        Ok(watch.step(progress)?)
    })?;
    match written.moves {
        0 => Err(BuildError::NoMoves),
        _ => Ok(written),
    }
}
