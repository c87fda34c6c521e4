//! One pass over the games for all books of a build.

use super::count::{Counter, Extent};
use super::dedupe::{Chunk, Duplicates};
use super::output::Output;
use super::polyglot::MoveCounter;
use super::{BuildError, BuildJob, Summary};
use tabia_games::{Batches, Game, GameFilter, GameParts, GameReader, Rejected, Sources, Starts};
use tabia_io::progress::Watch;
use tabia_io::sort::{LARGEST_SORT_BYTES, SortError};

/// The largest useful size of an opening tree, in bytes.
const LARGEST_TREE_BYTES: u64 = 24 << 20;

/// Limit of the games that wait for the duplicate check; above it, their batch waits
/// for its turn.
const LARGEST_CHUNK_BYTES: u64 = 2 << 20;

/// Memory of a thread, in bytes.
struct Memory {
    /// For the opening tree of each book that needs one.
    tree: u64,
    /// For the records of each book that are not sorted yet.
    sort: u64,
    /// For games that wait for the duplicate check.
    chunk: u64,
}

impl Memory {
    /// All threads together have half of the job's memory.
    fn of_thread(job: &BuildJob, books: u64, dedupe: bool) -> Memory {
        let all = job.memory / 2 / job.threads.max(1) as u64;
        let tree = (all / 4 / books).min(LARGEST_TREE_BYTES);
        let chunk = (all / 4).min(LARGEST_CHUNK_BYTES) * u64::from(dedupe);
        let sort = ((all - chunk) / books - tree).min(LARGEST_SORT_BYTES);
        Memory { tree, sort, chunk }
    }
}

/// Counts of the games of a batch for one book.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    games: u64,
    rejected: Rejected,
    duplicates: u64,
}

/// Counts the games of one thread for one book.
struct BookCounter<'a> {
    job: &'a BuildJob,
    /// Whether it also receives games that its filter rejects.
    chooses: bool,
    counter: AnyCounter,
    duplicates: Option<&'a Duplicates>,
    /// With `duplicates`: games that wait for the check.
    chunk: Chunk,
    counts: Counts,
}

/// The counter for each kind of book.
enum AnyCounter {
    Positions(Counter),
    Moves(MoveCounter),
}

impl AnyCounter {
    fn new(output: &Output, memory: &Memory) -> AnyCounter {
        let (sort, tree) = (memory.sort, memory.tree);
        match output {
            Output::Book(_, runs) | Output::Records(_, runs) => {
                AnyCounter::Positions(Counter::new(runs, sort, tree))
            }
            Output::Polyglot(_, _, runs) => AnyCounter::Moves(MoveCounter::new(runs, sort + tree)),
        }
    }

    fn begin_batch(&mut self, number: u64) {
        if let AnyCounter::Moves(counter) = self {
            counter.begin_batch(number);
        }
    }

    fn count(&mut self, game: &Game, extent: Extent) -> Result<(), SortError> {
        match self {
            AnyCounter::Positions(counter) => counter.count(game, extent),
            AnyCounter::Moves(counter) => counter.count(game, extent),
        }
    }

    /// Finishes the counting; returns the number of moves that the format cannot store.
    fn finish(self) -> Result<u64, SortError> {
        match self {
            AnyCounter::Positions(counter) => counter.finish(),
            AnyCounter::Moves(counter) => counter.finish().map(|()| 0),
        }
    }
}

impl BookCounter<'_> {
    /// Counts a game, if it meets the filter.
    fn offer(&mut self, game: &Game, main: bool) -> Result<(), SortError> {
        if self.chooses
            && let Some(condition) = self.job.filter.unmet(game)
        {
            self.counts.rejected.count(condition);
            return Ok(());
        }
        if self.duplicates.is_some() {
            self.chunk.push(game, self.job.max_ply);
            return Ok(());
        }
        self.counts.games += 1;
        self.counter.count(game, self.job.extent(game, main))
    }

    /// Removes the duplicates among the waiting games. Must be called in the order of
    /// the batches.
    fn drop_duplicates(&mut self) {
        if let Some(duplicates) = self.duplicates {
            self.counts.duplicates += duplicates.drop_from(&mut self.chunk);
        }
    }

    /// Counts the remaining games of the chunk.
    fn count_chunk(&mut self, game: &mut Game, main: bool) -> Result<(), SortError> {
        let (job, counter, counts) = (self.job, &mut self.counter, &mut self.counts);
        self.chunk.play(game, |game| {
            counts.games += 1;
            counter.count(game, job.extent(game, main))
        })
    }
}

impl BuildJob {
    fn extent(&self, game: &Game, main: bool) -> Extent {
        Extent {
            max_ply: self.plies(game),
            main,
            only: self.only,
        }
    }
}

/// Reads every source once and has every game counted for each of the jobs,
/// whose outputs are given in the same order.
pub(super) fn count_all(
    jobs: &[BuildJob],
    sources: &Sources,
    outputs: &[Output],
    watch: &mut Watch<'_>,
) -> Result<Vec<Summary>, BuildError> {
    let Some(first) = jobs.first() else {
        return Ok(Vec::new());
    };
    let parts = jobs.len() as u64;
    let alone = parts == 1;
    let dedupe = jobs.iter().any(|job| job.dedupe);
    let memory = Memory::of_thread(first, parts, dedupe);
    let mut filter = first.filter.clone();
    if !alone {
        // Games that no book takes are not read.
        filter = GameFilter::default();
        filter.any_of = jobs.iter().map(|job| job.filter.clone()).collect();
    }
    let mut wanted = GameParts::default();
    (wanted.variations, wanted.annotations) = (first.variations, first.annotations);
    // A duplicate is one to the last move.
    if !dedupe {
        wanted.plies = jobs.iter().map(|job| job.max_ply).max().unwrap_or(0);
    }
    let starts = match first.setups {
        true => Starts::SetUp,
        false => Starts::Usual,
    };
    let reader = GameReader::new(&filter)
        .wanted(wanted)
        .starts(starts)
        .threads(first.threads);
    let duplicates: Vec<Option<Duplicates>> = jobs
        .iter()
        .map(|job| job.dedupe.then(Duplicates::default))
        .collect();
    let mut summaries = vec![Summary::default(); jobs.len()];
    let worker = |batches: &Batches<'_, Vec<Counts>, Vec<u64>, BuildError>| {
        let each = jobs.iter().zip(outputs).zip(&duplicates);
        let mut books: Vec<BookCounter<'_>> = each
            .map(|((job, output), duplicates)| BookCounter {
                job,
                chooses: !alone,
                counter: AnyCounter::new(output, &memory),
                duplicates: duplicates.as_ref(),
                chunk: Chunk::default(),
                counts: Counts::default(),
            })
            .collect();
        let mut game = Game::default();
        batches.each(|batch| {
            let source = first.sources.get(batch.argument());
            let main = source.is_some_and(|source| source.priority);
            for book in &mut books {
                book.counter.begin_batch(batch.number());
            }
            loop {
                let more = batch.next(&mut game);
                if more {
                    for book in &mut books {
                        book.offer(&game, main)?;
                    }
                    let waiting: usize = books.iter().map(|book| book.chunk.bytes()).sum();
                    if !dedupe || waiting < memory.chunk as usize {
                        continue;
                    }
                }
                if dedupe && batch.wait_for_turn() {
                    books.iter_mut().for_each(BookCounter::drop_duplicates);
                    if !more {
                        batch.pass_turn();
                    }
                    for book in &mut books {
                        book.count_chunk(&mut game, main)?;
                    }
                    if more {
                        continue;
                    }
                }
                let taken = books.iter_mut();
                return Ok(taken.map(|book| std::mem::take(&mut book.counts)).collect());
            }
        })?;
        let finished = books.into_iter().map(|book| book.counter.finish());
        Ok(finished.collect::<Result<_, _>>()?)
    };
    let take = |counts: Vec<Counts>| {
        for (summary, counts) in summaries.iter_mut().zip(counts) {
            summary.games += counts.games;
            summary.duplicates += counts.duplicates;
            summary.tally.rejected.add(&counts.rejected);
        }
        Ok(())
    };
    let (tally, unstorable) = reader.read(sources, worker, take, watch)?;
    for (place, summary) in summaries.iter_mut().enumerate() {
        let of_book = unstorable.iter().filter_map(|counts| counts.get(place));
        summary.unstorable = of_book.sum();
        let by_book = std::mem::replace(&mut summary.tally, tally.clone()).rejected;
        summary.tally.filtered += by_book.total();
        summary.tally.rejected.add(&by_book);
    }
    Ok(summaries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn threads_have_half_of_the_memory_or_as_much_as_is_useful(
            memory in 0..1_u64 << 34, threads in 0..40_usize, books in 1..9_u64, dedupe: bool,
        ) {
            let mut job = BuildJob::new(Vec::new(), "book.ctg".into());
            (job.memory, job.threads) = (memory, threads);
            let Memory { tree, sort, chunk } = Memory::of_thread(&job, books, dedupe);
            let threads = threads.max(1) as u64;
            let used = (books * (tree + sort) + chunk) * threads;
            prop_assert!(used <= memory / 2);
            let is_all = used + (books + 1) * threads > memory / 2;
            prop_assert!(is_all || sort == LARGEST_SORT_BYTES);
            prop_assert!(dedupe || chunk == 0);
            // A quarter each, but for what a division leaves.
            let is_quarter = |part: u64, of: u64| {
                4 * of * threads * part <= memory / 2
                    && (4 * of * (part + 1) + 1) * threads > memory / 2
            };
            prop_assert!(tree == LARGEST_TREE_BYTES || is_quarter(tree, books));
            prop_assert!(!dedupe || chunk == LARGEST_CHUNK_BYTES || is_quarter(chunk, 1));
        }
    }
}
