//! Games into a book, however many there are.
//!
//! ```text
//! source -> batches -> threads: games -> filter -> count -> sorted runs
//!                                                              |
//!                      book <- writer <- entries <- merge <----+
//! ```
//!
//! Every number is a sum, and sums do not care about order: the book is the
//! same byte for byte whatever the number of threads and the memory. What a
//! thread counts goes first into a small opening tree (`tree`), and beyond
//! that into records that are sorted by place in the book, added up and laid
//! down as a run ([`crate::sort`]), in memory or on disk. At the end the runs are
//! merged part by part (`emit`) and go straight into the book, or as they are
//! into a table (`records`), which is a source like any other.
//!
//! Memory: half of what is allowed for records and the opening trees, half for
//! runs; beyond that come a few megabytes for batches and buffers, and with
//! `dedupe` some 20 bytes a game.

mod count;
mod dedupe;
mod emit;
mod node;
mod records;
mod tree;

pub use crate::sort::SortError;
pub use emit::MAX_MOVES;
pub use records::RecordsError;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, thread};

use crate::book::ctg::{self, BookWriter, WriteError, WriteOptions, Written};
pub use crate::games::{EcoRange, Filter, ParseEcoError, has_name};

use crate::crew::Panicked;
use crate::games::{self, Game, GameBatch, GameSource, SkipReason, Skipped, SourceError, Wanted};
use crate::sort::{Runs, Sorted};
use count::{Counter, Extent};
use dedupe::Duplicates;
use emit::Rule;
use node::Node;

/// Records are sorted in lots of at most this size: larger ones are no better,
/// smaller ones stay nearer to the processor.
const LARGEST_SORT_BYTES: u64 = 24 << 20;

/// More than this does not help an opening tree.
const LARGEST_TREE_BYTES: u64 = 24 << 20;

/// So many skipped games are remembered by name.
const NAMED_SKIPS: usize = 1000;

/// Where games come from.
#[derive(Clone, Debug)]
pub struct Source {
    /// A file, a folder, or `-` for standard input.
    pub path: PathBuf,
    /// Its moves get the mark of main moves.
    pub priority: bool,
}

/// What is made of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// A book.
    Book,
    /// A table of everything counted, for more games to be added: nothing is
    /// cut yet, so `min_games` does not count.
    Records,
}

/// What is to be built.
#[derive(Clone, Debug)]
pub struct Job {
    /// The games. Files of records (.parquet) are sources too; their games
    /// have been chosen already.
    pub sources: Vec<Source>,
    /// The book's .ctg file, or the records' .parquet file.
    pub target: PathBuf,
    /// What is made.
    pub product: Product,
    /// Which games count.
    pub filter: Filter,
    /// Plies of each game that are stored.
    pub max_ply: usize,
    /// Positions and moves of fewer games are left out. A move is played at
    /// most as often as the position behind it is reached, so no move leads
    /// out of the book.
    pub min_games: u32,
    /// Moves of variations are stored too, without numbers.
    pub variations: bool,
    /// Games from set-up positions count too.
    pub setups: bool,
    /// Of games that are the same (see [`crate::build`]), only the first
    /// counts.
    pub dedupe: bool,
    /// Threads that count, 1 or more.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Where temporary files go; by default the folder of the book.
    pub temp: Option<PathBuf>,
}

impl Job {
    /// A job with the usual settings.
    #[must_use]
    pub fn new(sources: Vec<Source>, target: PathBuf) -> Job {
        Job {
            sources,
            target,
            product: Product::Book,
            filter: Filter::default(),
            max_ply: 40,
            min_games: 1,
            variations: false,
            setups: false,
            dedupe: false,
            threads: thread::available_parallelism().map_or(1, usize::from),
            memory: 512 << 20,
            temp: None,
        }
    }
}

/// What was built.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Games in the book.
    pub games: u64,
    /// Games that did not meet the filter.
    pub filtered: u64,
    /// Games that were there already.
    pub duplicates: u64,
    /// Games that were no use: broken, set-up, not chess.
    pub skipped: u64,
    /// Games that counted as far as they could be read.
    pub cut: u64,
    /// What databases hold beside their games: deleted ones, texts.
    pub left_out: u64,
    /// The first games that were skipped or cut short, by source and place.
    pub named: Vec<Skipped>,
    /// What is to be said about the sources.
    pub remarks: Vec<String>,
    /// Moves that the format cannot hold, as often as they were played.
    pub unstorable: u64,
    /// Bytes that went through temporary files.
    pub sorted_on_disk: u64,
    /// The book; or the records, which have no pages.
    pub written: Written,
}

/// How far a build is.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// Reading: bytes on disk so far and in all (if all are known), and games.
    Reading {
        /// Bytes read.
        bytes: u64,
        /// Bytes to read.
        total: Option<u64>,
        /// Games seen.
        games: u64,
    },
    /// Writing: positions so far.
    Writing {
        /// Positions written.
        positions: u64,
    },
}

/// Why there is no book.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A source cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A source has no game.
    #[error("{}: no games in it", path.display())]
    NoGames {
        /// As it was named.
        path: PathBuf,
    },
    /// Every game was filtered away or skipped.
    #[error("no game is left: {skipped} skipped, {filtered} do not meet the conditions")]
    NothingLeft {
        /// Games that were no use.
        skipped: u64,
        /// Games that the filter turned away.
        filtered: u64,
    },
    /// No position is left.
    #[error("no position was reached by {min_games} games")]
    NoPositions {
        /// The limit.
        min_games: u32,
    },
    /// The book would replace a source.
    #[error("{}: the output would overwrite what it is made from", path.display())]
    OutputIsInput {
        /// The source.
        path: PathBuf,
    },
    /// Records cannot be read or written.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Temporary files fail.
    #[error(transparent)]
    Sort(#[from] SortError),
    /// The book cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A thread met a fault of this program.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// Somebody asked to stop.
    #[error("interrupted; nothing was changed")]
    Interrupted,
}

/// A piece of a source on its way to a thread.
struct Parcel {
    number: u64,
    argument: usize,
    priority: bool,
    batch: Box<dyn GameBatch>,
}

/// What all threads know and count together.
struct Shared<'j> {
    job: &'j Job,
    runs: Arc<Runs<Node>>,
    duplicates: Option<Duplicates>,
    games: AtomicU64,
    filtered: AtomicU64,
    repeated: AtomicU64,
    skipped: AtomicU64,
    cut: AtomicU64,
    left_out: AtomicU64,
    named: Mutex<Vec<Skipped>>,
    /// Sources read to their end.
    read: Mutex<Vec<Box<dyn GameSource>>>,
    /// Games seen, by source.
    seen: Vec<AtomicU64>,
}

/// Makes the book. `observe` is called now and then; `stop` ends the build
/// where it is.
///
/// # Errors
///
/// There is no book then; what stood in its place still does, and no temporary
/// file is left.
pub fn run(
    job: &Job,
    observe: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Summary, BuildError> {
    let sources = list_sources(job)?;
    let (tables, sources): (Vec<Input>, Vec<Input>) = sources
        .into_iter()
        .partition(|input| records::is_records(&input.path));
    if let Some(table) = tables.iter().find(|table| table.is_too_late(job)) {
        let path = table.path.clone();
        return Err(RecordsError::Late { path }.into());
    }
    let folder = match (&job.temp, job.target.parent()) {
        (Some(folder), _) => folder.as_path(),
        (None, Some(folder)) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let runs = Arc::new(Runs::new(job.memory / 2, folder));
    if job.temp.is_some() && !folder.is_dir() {
        return Err(SortError::new(folder, io::ErrorKind::NotADirectory.into()).into());
    }
    // Fails early where the book cannot be written, before hours of counting.
    let output = match job.product {
        Product::Book => {
            let writer = BookWriter::create(&job.target, WriteOptions::default())?;
            Output::Book(Box::new(writer))
        }
        Product::Records => Output::Records(records::Table::create(&job.target)?),
    };
    let shared = Shared {
        job,
        runs,
        duplicates: job.dedupe.then(Duplicates::default),
        games: AtomicU64::new(0),
        filtered: AtomicU64::new(0),
        repeated: AtomicU64::new(0),
        skipped: AtomicU64::new(0),
        cut: AtomicU64::new(0),
        left_out: AtomicU64::new(0),
        named: Mutex::default(),
        read: Mutex::default(),
        seen: job.sources.iter().map(|_| AtomicU64::new(0)).collect(),
    };
    // A source may stand for files that an earlier one stands for already.
    let named: Vec<bool> = (0..job.sources.len())
        .map(|argument| sources.iter().any(|input| input.argument == argument))
        .collect();
    if !tables.is_empty() {
        let inputs = records::Inputs {
            paths: &tables
                .into_iter()
                .map(|table| table.path)
                .collect::<Vec<_>>(),
            threads: job.threads,
            sort_bytes: (job.memory / 2 / job.threads.max(1) as u64).min(LARGEST_SORT_BYTES),
        };
        let games = records::read(&inputs, &shared.runs, observe, stop)?;
        shared.games.fetch_add(games, Relaxed);
    }
    let unstorable = count_all(&shared, sources, observe, stop)?;
    for ((source, seen), named) in job.sources.iter().zip(&shared.seen).zip(named) {
        if named && seen.load(Relaxed) == 0 {
            let path = source.path.clone();
            return Err(BuildError::NoGames { path });
        }
    }
    let (games, filtered) = (shared.games.load(Relaxed), shared.filtered.load(Relaxed));
    let skipped = shared.skipped.load(Relaxed);
    if games == 0 {
        return Err(BuildError::NothingLeft { skipped, filtered });
    }

    let sorted = shared.runs.take();
    let written = match output {
        Output::Book(writer) => write_book(job, *writer, &sorted, games, observe, stop)?,
        Output::Records(table) => table.write(&sorted, games, observe, stop)?,
    };
    let mut named = shared.named.into_inner().unwrap_or_default();
    named.sort();
    let read = shared.read.into_inner().unwrap_or_default();
    Ok(Summary {
        games,
        filtered,
        duplicates: shared.repeated.load(Relaxed),
        skipped,
        cut: shared.cut.load(Relaxed),
        left_out: shared.left_out.load(Relaxed),
        named,
        remarks: read.iter().flat_map(|source| source.remarks()).collect(),
        unstorable,
        sorted_on_disk: shared.runs.bytes_written(),
        written,
    })
}

/// Where what was counted goes.
enum Output {
    Book(Box<BookWriter>),
    Records(records::Table),
}

fn write_book(
    job: &Job,
    mut writer: BookWriter,
    sorted: &Sorted<Node>,
    games: u64,
    observe: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Written, BuildError> {
    let min_games = job.min_games;
    let mut positions = 0;
    emit::emit(sorted, Rule { min_games }, job.threads, |piece| {
        if stop.load(Relaxed) {
            return Err(BuildError::Interrupted);
        }
        for entry in piece.entries() {
            writer.push(entry)?;
        }
        positions += piece.len() as u64;
        observe(Progress::Writing { positions });
        Ok(())
    })?;
    if positions == 0 {
        return Err(BuildError::NoPositions { min_games });
    }
    Ok(writer.finish(u32::try_from(games).unwrap_or(u32::MAX))?)
}

/// A file to read, and the argument it belongs to.
struct Input {
    argument: usize,
    path: PathBuf,
}

impl Input {
    /// Whether it holds records, and something is asked that only games tell.
    fn is_too_late(&self, job: &Job) -> bool {
        let marked = job.sources.get(self.argument).is_some_and(|s| s.priority);
        marked || job.dedupe || job.filter != Filter::default()
    }
}

fn list_sources(job: &Job) -> Result<Vec<Input>, BuildError> {
    let mut seen = HashSet::new();
    let mut inputs = Vec::new();
    for (argument, source) in job.sources.iter().enumerate() {
        for path in games::files(&source.path, &mut seen)? {
            let target = ["ctg", "cto", "ctb"].map(|part| job.target.with_extension(part));
            if ctg::is_same_book(&job.target, &path)
                || target.iter().any(|target| ctg::is_same_book(target, &path))
            {
                return Err(BuildError::OutputIsInput { path });
            }
            inputs.push(Input { argument, path });
        }
    }
    Ok(inputs)
}

/// Reads every source, has every game counted, and gives the number of moves
/// that the format cannot hold.
fn count_all(
    shared: &Shared<'_>,
    inputs: Vec<Input>,
    observe: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<u64, BuildError> {
    let threads = shared.job.threads.max(1);
    let (sender, receiver) = sync_channel::<Parcel>(threads);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        let counters: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| count_parcels(shared, &receiver)))
            .collect();
        let read = read_all(shared.job, inputs, observe, stop, shared, |parcel| {
            sender.send(parcel).is_ok()
        });
        drop(sender);
        let mut unstorable = 0;
        let mut failure = None;
        for counter in counters {
            match counter.join() {
                Ok(Ok(count)) => unstorable += count,
                Ok(Err(error)) => failure = Some(error),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        read?;
        failure.map_or(Ok(unstorable), |error| Err(error.into()))
    })
}

/// Cuts every source into parcels for `send`, which says whether somebody is
/// still there to take them.
fn read_all(
    job: &Job,
    inputs: Vec<Input>,
    observe: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
    shared: &Shared<'_>,
    send: impl Fn(Parcel) -> bool,
) -> Result<(), BuildError> {
    let mut total = Some(0);
    for input in &inputs {
        let bytes = std::fs::metadata(&input.path)
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|metadata| metadata.len());
        total = total.zip(bytes).map(|(total, bytes)| total + bytes);
    }
    let (mut before, mut number) = (0, 0);
    for Input { argument, path } in inputs {
        let priority = job.sources.get(argument).is_some_and(|s| s.priority);
        let mut source: Box<dyn GameSource> = games::open(&path)?.source;
        while let Some(batch) = source.next_batch()? {
            if stop.load(Relaxed) {
                return Err(BuildError::Interrupted);
            }
            let parcel = Parcel {
                number,
                argument,
                priority,
                batch,
            };
            number += 1;
            if !send(parcel) {
                // The threads say why they have gone.
                return Ok(());
            }
            observe(Progress::Reading {
                bytes: before + source.bytes_read(),
                total,
                games: shared.seen.iter().map(|seen| seen.load(Relaxed)).sum(),
            });
        }
        before += source.bytes_read();
        let mut read = shared.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.push(source);
    }
    Ok(())
}

/// One counting thread.
fn count_parcels(shared: &Shared<'_>, parcels: &Mutex<Receiver<Parcel>>) -> Result<u64, SortError> {
    let job = shared.job;
    let share = job.memory / 2 / job.threads.max(1) as u64;
    let tree_bytes = (share / 4).min(LARGEST_TREE_BYTES);
    let sort_bytes = (share - tree_bytes).min(LARGEST_SORT_BYTES);
    let mut counter = Counter::new(&shared.runs, sort_bytes as usize, tree_bytes as usize);
    let wanted = Wanted {
        // A duplicate is one to the last move.
        plies: if job.dedupe { usize::MAX } else { job.max_ply },
        variations: job.variations,
        notes: false,
    };
    let mut lot: Vec<Game> = vec![Game::default()];
    loop {
        // Waits with the lock held: whoever gets it is served next.
        let parcel = parcels
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(mut parcel) = parcel else {
            return counter.finish();
        };
        let extent = Extent {
            max_ply: job.max_ply,
            main: parcel.priority,
        };
        if let Some(duplicates) = &shared.duplicates {
            let mut count = 0;
            while let Some(game) = shared.next(&mut parcel, wanted, slot(&mut lot, count)) {
                count += usize::from(game);
            }
            let games = lot.get(..count).unwrap_or_default();
            for (game, first) in games.iter().zip(duplicates.first(parcel.number, games)) {
                if first {
                    shared.games.fetch_add(1, Relaxed);
                    counter.count(game, extent)?;
                } else {
                    shared.repeated.fetch_add(1, Relaxed);
                }
            }
        } else {
            let game = slot(&mut lot, 0);
            let mut count = 0;
            while let Some(admitted) = shared.next(&mut parcel, wanted, game) {
                if admitted {
                    count += 1;
                    counter.count(game, extent)?;
                }
            }
            shared.games.fetch_add(count, Relaxed);
        }
    }
}

/// The buffer for the next game of a lot.
fn slot(lot: &mut Vec<Game>, at: usize) -> &mut Game {
    if lot.len() <= at {
        lot.resize_with(at + 1, Game::default);
    }
    &mut lot[at]
}

impl Shared<'_> {
    /// Reads the next game of a parcel: whether it is one to count. `None` at
    /// the end.
    fn next(&self, parcel: &mut Parcel, wanted: Wanted, game: &mut Game) -> Option<bool> {
        let reason = match parcel.batch.next_game(wanted, game) {
            Ok(false) => return None,
            Ok(true) if game.chess960 => SkipReason::Variant("Chess960".to_owned()),
            Ok(true) if game.set_up && !self.job.setups => SkipReason::SetUp,
            Ok(true) => {
                self.see(parcel);
                let admitted = self.job.filter.admits(game);
                self.filtered.fetch_add(u64::from(!admitted), Relaxed);
                if admitted && let Some(reason) = game.cut.take() {
                    self.cut.fetch_add(1, Relaxed);
                    self.name(parcel.batch.skip(reason).cut_short());
                }
                return Some(admitted);
            }
            Err(skipped) if skipped.reason.is_intended() => {
                self.see(parcel);
                self.left_out.fetch_add(1, Relaxed);
                return Some(false);
            }
            Err(skipped) => {
                self.skip(parcel, skipped);
                return Some(false);
            }
        };
        self.skip(parcel, parcel.batch.skip(reason));
        Some(false)
    }

    fn skip(&self, parcel: &Parcel, skipped: Skipped) {
        self.see(parcel);
        self.skipped.fetch_add(1, Relaxed);
        self.name(skipped);
    }

    fn name(&self, skipped: Skipped) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.push(skipped);
        if named.len() >= 2 * NAMED_SKIPS {
            named.sort();
            named.truncate(NAMED_SKIPS);
        }
    }

    fn see(&self, parcel: &Parcel) {
        if let Some(seen) = self.seen.get(parcel.argument) {
            seen.fetch_add(1, Relaxed);
        }
    }
}
