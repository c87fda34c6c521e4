//! Polyglot books (.bin): each move played becomes a record; records are sorted by
//! position, then by the order of the games.
//!
//! The books equal those of `polyglot make-book`, so the order of the games matters:
//! when a move was played [`MOST_GAMES`] times, the counts of all moves of its
//! position are halved and rounded up, then counting continues. Moves of equal
//! weight are stored in the order in which they were first played. Unlike in
//! ChessBase books, a move counts again when its position is repeated in a game,
//! and a game without a result counts as a draw.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use shakmaty::{ByColor, Position as _};

use super::count::Extent;
use super::how_far::writing;
use super::{BuildError, BuildJob, Written};
use tabia_book::bin::{self, ENTRY_BYTES};
use tabia_book::polyglot::{self, PackedMove};
use tabia_games::{Game, GameResult};
use tabia_io::atomic::NewFile;
use tabia_io::progress::Watch;
use tabia_io::sort::{Merge, Record, Runs, SortError, Sorted, Sorter};

/// Which of the counted moves are stored, and with which weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PolyglotRule {
    /// Every weight is 1.
    pub uniform: bool,
    /// Moves with a lower score, in percent, are left out.
    pub min_score: f64,
}

tabia_io::setters!(PolyglotRule {
    uniform: bool,
    min_score: f64,
});

/// Counts of moves are always below this number.
const MOST_GAMES: u16 = 16_384;

/// Bits for the number of a move in its batch, which is read from at most 16 MiB of
/// text. The other 23 bits are the number of the batch.
const MOVE_BITS: u32 = 24;

/// Bits of twice the points of a move, and of the move itself (15).
const POINT_BITS: u32 = 2;
const TAIL_BITS: u32 = 15 + POINT_BITS;

/// One move of one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Played {
    key: u64,
    /// From the upper bits down: the unique number of this record, the move, twice the
    /// points of its player.
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
    /// `sort_bytes` is the memory for records that are not sorted yet.
    pub(super) fn new(runs: &Arc<Runs<Played>>, sort_bytes: u64) -> MoveCounter {
        MoveCounter {
            sorter: Sorter::new(Arc::clone(runs), sort_bytes),
            number: 0,
        }
    }

    /// Starts a batch, whose moves are numbered after the moves of earlier batches.
    pub(super) fn begin_batch(&mut self, batch: u64) {
        self.number = batch << MOVE_BITS;
    }

    pub(super) fn count(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        let points = ByColor::new_with(|color| match game.result {
            GameResult::Won(winner) => 2 * u64::from(winner == color),
            GameResult::Draw | GameResult::Unknown => 1,
        });
        let mut key = game.positions.first().map_or(0, polyglot::key);
        let steps = game.moves.iter().zip(&game.positions);
        for (&mv, before) in steps.take(extent.max_ply) {
            if extent.has_moves_of(before) {
                let PackedMove(packed) = PackedMove::from_move(mv);
                let rest = self.number << TAIL_BITS | u64::from(packed) << POINT_BITS;
                let rest = rest | points.get(before.turn());
                self.number += 1;
                self.sorter.push(&Played { key, rest })?;
            }
            key = polyglot::key_after(key, before, mv);
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), SortError> {
        self.sorter.finish()
    }
}

/// The counts of one move of a position.
struct Counted {
    mv: u16,
    /// Number of games and twice the points; both are halved at [`MOST_GAMES`].
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

    /// Appends the entries of the position, then clears its moves.
    fn take_entries(&mut self, key: u64, job: &BuildJob, rule: PolyglotRule, out: &mut Vec<u8>) {
        self.0.retain(|counted| {
            // The same order of divisions as in polyglot, for the same rounding.
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

/// Writes the book into a temporary file. The caller renames it.
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
                moves.take_entries(key, job, rule, &mut bytes);
                positions += u64::from(bytes.len() > before);
            }
            let Some(&next) = next else { break };
            key = next.key;
            moves.count(next);
        }
        Ok::<_, BuildError>((positions, key, bytes))
    };
    sorted.in_threads(job.threads, make, |(positions, last_key, bytes)| {
        output.write_bytes(&bytes)?;
        written.positions += positions;
        written.moves += (bytes.len() / ENTRY_BYTES) as u64;
        let order = match bytes.is_empty() {
            true => u32::MAX,
            false => (last_key >> 32) as u32,
        };
        Ok(watch.step(writing(written.positions, order))?)
    })?;
    match written.moves {
        0 => Err(BuildError::NoMoves),
        _ => Ok(written),
    }
}
