//! Converts any book to a Polyglot book.
//!
//! An entry of a ChessBase book is for up to four positions; those are written that the
//! book reaches from the start position, by stored moves and (unless the policy excludes
//! them) by transpositions, each with the moves and probabilities of a probe. So the new
//! book plays like the old one.
//!
//! Memory: that of a [graph](crate::ctg::BookGraph) with statistics, and some for sorting;
//! for other books 16 bytes for each position.

mod entries;
mod reach;
mod walk;

use std::cmp::{Ordering, Reverse};
use std::sync::{Arc, Mutex, PoisonError};

use super::{ConvertJob, Converted, Output, Weights, Work};
use crate::policy::Weighed;
use crate::polyglot::PackedMove;
use crate::{Book, BookMove, Error, Preference, bin};
use tabia_io::atomic;
use tabia_io::parallel;
use tabia_io::sort::{Record, Runs, SortError, Sorter};

/// A position of the new book: its moves, the heaviest first.
#[derive(Default)]
struct Line {
    key: u64,
    moves: Vec<(Reverse<u16>, PackedMove)>,
}

impl Line {
    fn sort_moves(&mut self) {
        self.moves.sort_unstable();
        self.moves.dedup_by_key(|(_, mv)| *mv);
    }
}

impl Record for Line {
    fn order(&self) -> u32 {
        (self.key >> 32) as u32
    }

    fn compare(&self, other: &Line) -> Ordering {
        self.key.cmp(&other.key)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        // Slices, because a copy from a byte iterator would be a function call.
        out.extend_from_slice(&self.key.to_be_bytes());
        out.extend_from_slice(&(self.moves.len() as u16).to_be_bytes());
        for (Reverse(weight), PackedMove(mv)) in &self.moves {
            out.extend_from_slice(&weight.to_be_bytes());
            out.extend_from_slice(&mv.to_be_bytes());
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let (key, rest) = bytes.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let moves = rest.get(..4 * usize::from(u16::from_be_bytes(*count)))?;
        self.key = u64::from_be_bytes(*key);
        self.moves.clear();
        let moves = moves.as_chunks().0.iter().map(|&[w0, w1, m0, m1]| {
            let weight = u16::from_be_bytes([w0, w1]);
            (Reverse(weight), PackedMove(u16::from_be_bytes([m0, m1])))
        });
        self.moves.extend(moves);
        Some(bytes.len() - rest.len() + 4 * self.moves.len())
    }

    /// Different positions may have the same key.
    fn join(&mut self, other: &Line) -> bool {
        self.moves.extend_from_slice(&other.moves);
        self.sort_moves();
        true
    }
}

/// Sorts the lines made by several threads.
struct Lines {
    runs: Arc<Runs<Line>>,
    /// Sorters not in use by a thread.
    sorters: Mutex<Vec<Sorter<Line>>>,
    threads: usize,
    memory: u64,
}

impl Lines {
    fn new(job: &ConvertJob) -> Lines {
        let folder = atomic::folder_of(&job.target);
        Lines {
            runs: Arc::new(Runs::new(job.memory / 2, folder)),
            sorters: Mutex::default(),
            threads: parallel::workers(),
            memory: job.memory,
        }
    }

    /// Lets one thread add lines.
    fn add<T>(
        &self,
        fill: impl FnOnce(&mut Sorter<Line>) -> Result<T, SortError>,
    ) -> Result<T, SortError> {
        let lock = || parallel::lock(&self.sorters);
        let idle = lock().pop();
        // Half of the rest for a chunk, and half for the run made from it.
        let memory = self.memory / 4 / self.threads as u64;
        let mut sorter = idle.unwrap_or_else(|| Sorter::new(Arc::clone(&self.runs), memory));
        let filled = fill(&mut sorter);
        lock().push(sorter);
        filled
    }

    /// Writes the book; returns its number of moves.
    fn write(self, work: &mut Work<'_, '_>, output: &mut Output<'_>) -> Result<u64, Error> {
        let sorters = self.sorters.into_inner();
        for sorter in sorters.unwrap_or_else(PoisonError::into_inner) {
            sorter.finish()?;
        }
        let mut written = 0;
        self.runs.take().in_threads(
            self.threads,
            |mut lines| {
                let mut bytes = Vec::new();
                while let Some(line) = lines.next()? {
                    for (Reverse(weight), mv) in &line.moves {
                        bytes.extend_from_slice(&bin::encode(line.key, *mv, *weight, 0));
                    }
                }
                Ok::<_, Error>(bytes)
            },
            |bytes| {
                output.write_bytes(&bytes)?;
                written += (bytes.len() / bin::ENTRY_BYTES) as u64;
                work.steps("writing", written, None)
            },
        )?;
        Ok(written)
    }
}

/// Counts of positions and moves.
#[derive(Default)]
struct Counts {
    /// Positions with a move.
    positions: u64,
    /// Positions all of whose moves were left out.
    silent: u64,
    /// Moves left out.
    unplayed: u64,
}

impl Counts {
    fn count(&mut self, moves: usize, played: usize) {
        self.positions += u64::from(played > 0);
        self.silent += u64::from(played == 0 && moves > 0);
        self.unplayed += (moves - played) as u64;
    }

    fn add(&mut self, other: &Counts) {
        self.positions += other.positions;
        self.silent += other.silent;
        self.unplayed += other.unplayed;
    }
}

pub(super) fn write(work: &mut Work<'_, '_>, book: &Book) -> Result<Converted, Error> {
    let mut output = work.output()?;
    let mut summary = Converted::default();
    let lines = Lines::new(work.job);
    let counts = match book.as_ctg() {
        Some(ctg) => entries::lines(work, ctg, &lines, &mut summary)?,
        None => walk::lines(work, book, &lines, &mut summary)?,
    };
    summary.moves = lines.write(work, &mut output)?;
    summary.positions = counts.positions;
    summary.note(
        counts.silent,
        "positions without a move that would be played",
    );
    summary.note(counts.unplayed, "moves left out that would not be played");
    summary.not_empty(work.job)?;
    summary.bytes = output.commit()?;
    Ok(summary)
}

/// The weight of each move in the new book; `None` for a move to leave out.
fn weights<'m>(
    job: &ConvertJob,
    moves: &'m [BookMove],
    verdicts: &'m [Weighed],
) -> impl Iterator<Item = Option<u16>> + use<'m> {
    let (kind, keep_never) = (job.weights, job.keep_never);
    let value = move |entry: &BookMove, verdict: &Weighed| -> f64 {
        let stats = entry.stats();
        match (kind, entry.preference) {
            _ if verdict.rejection.is_some() => 0.0,
            (Weights::Probability, _) => verdict.probability,
            (_, Preference::Weight(weight)) => weight.into(),
            (Weights::Games, _) => stats.games.into(),
            (Weights::Score, _) => stats.results().half_points() as f64,
        }
    };
    let values = move || {
        let both = moves.iter().zip(verdicts);
        both.map(move |(entry, verdict)| value(entry, verdict))
    };
    let largest = values().fold(0.0, f64::max);
    let most = f64::from(u16::MAX);
    // Counts that fit stay unchanged.
    let scale = if kind == Weights::Probability || largest > most {
        most / largest
    } else {
        1.0
    };
    values().map(move |value| match value > 0.0 {
        true => Some(((value * scale).round() as u16).max(1)),
        false => keep_never.then_some(0),
    })
}
