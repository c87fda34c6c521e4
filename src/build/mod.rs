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
//! down as a run (`crate::sort`), in memory or on disk. At the end the runs are
//! merged part by part (`emit`) and go straight into the book, or as they are
//! into a table (`records`), which is a source like any other.
//!
//! Memory: half of what is allowed for records and the opening trees, half for
//! runs; beyond that come a few megabytes for batches and buffers, and with
//! `dedupe` some 20 bytes a game.

mod count;
mod dedupe;
mod emit;
mod lines;
mod node;
mod records;
mod tree;

pub use emit::MAX_MOVES;
pub use lines::write_lines;
pub use records::RecordsError;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{io, thread};

use shakmaty::Color;

use crate::book::ctg::{BookWriter, WriteError, WriteOptions, Written};
use crate::crew::Panicked;
use crate::games::{Batches, Game, Intake, ReadError, SourceError, Sources, Starts, Tally, Wanted};
pub use crate::games::{EcoRange, Filter, ParseEcoError, has_name};
use crate::notation::Line;
use crate::openings;
use crate::place::Old;
use crate::sort::{Runs, SortError, Sorted};
use crate::watch::{Progress, Stopped, Watch};
use count::{Counter, Extent};
use dedupe::{Duplicates, Lot};
use emit::Rule;
use node::Node;

/// Records are sorted in lots of at most this size: larger ones are no better,
/// smaller ones stay nearer to the processor.
const LARGEST_SORT_BYTES: u64 = 24 << 20;

/// More than this does not help an opening tree.
const LARGEST_TREE_BYTES: u64 = 24 << 20;

/// Games that wait to be known as no duplicates take at most this; then their
/// batch waits for its turn.
const LARGEST_LOT_BYTES: u64 = 2 << 20;

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
    /// What becomes of a file that is there already.
    pub old: Old,
    /// What is made.
    pub product: Product,
    /// Of encrypted archives.
    pub password: Option<String>,
    /// Which games count.
    pub filter: Filter,
    /// Plies of each game that are stored.
    pub max_ply: usize,
    /// Of these, so many plies at most behind the last position that has a name
    /// as an opening.
    pub eco_relative: Option<usize>,
    /// Moves of this side alone are stored.
    pub only: Option<Color>,
    /// Positions and moves of fewer games are left out. A move is played at
    /// most as often as the position behind it is reached, so no move leads
    /// out of the book.
    pub min_games: u32,
    /// Moves of variations are stored too, without numbers.
    pub variations: bool,
    /// Signs of moves and positions become those of the book.
    pub annotations: bool,
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
            old: Old::default(),
            product: Product::Book,
            password: None,
            filter: Filter::default(),
            max_ply: 40,
            eco_relative: None,
            only: None,
            min_games: 1,
            variations: false,
            annotations: false,
            setups: false,
            dedupe: false,
            threads: thread::available_parallelism().map_or(1, usize::from),
            memory: 512 << 20,
            temp: None,
        }
    }
}

impl Job {
    /// Plies of a game that are stored.
    fn plies(&self, game: &Game) -> usize {
        let Some(more) = self.eco_relative else {
            return self.max_ply;
        };
        let kept = game.positions.iter().take(self.max_ply + 1);
        let kept = kept.enumerate().take(LONGEST_OPENING + 1);
        let mut named = kept.rev().filter(|(_, now)| openings::of(now).is_some());
        named
            .next()
            .map_or(0, |(ply, _)| ply)
            .saturating_add(more)
            .min(self.max_ply)
    }
}

/// No opening that has a name is longer, in plies.
const LONGEST_OPENING: usize = 40;

/// What was built.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Games in the book.
    pub games: u64,
    /// Games that were there already.
    pub duplicates: u64,
    /// What became of the games of the sources.
    pub tally: Tally,
    /// Moves that the format cannot hold, as often as they were played.
    pub unstorable: u64,
    /// Bytes that went through temporary files.
    pub sorted_on_disk: u64,
    /// The book; or the records, which have no pages.
    pub written: Written,
}

/// Why there is no book.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The games cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
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
    /// A line holds a move that no book can.
    #[error("{0}: a ChessBase book cannot hold {1} of its moves")]
    Unstorable(Line, u64),
}

impl From<Stopped> for BuildError {
    fn from(stopped: Stopped) -> BuildError {
        BuildError::Read(stopped.into())
    }
}

impl From<SourceError> for BuildError {
    fn from(error: SourceError) -> BuildError {
        BuildError::Read(error.into())
    }
}

/// Makes the book. `watch` hears of the work and may end it.
///
/// # Errors
///
/// There is no book then; what stood in its place still does, and no temporary
/// file is left.
pub fn run(job: &Job, watch: &mut Watch<'_>) -> Result<Summary, BuildError> {
    let sources = Sources::list(job.sources.iter().map(|source| &source.path))?;
    let mut sources = sources.with_password(job.password.as_deref());
    let tables = sources.take(records::is_records);
    // Whether it holds records, and something is asked that only games tell.
    let is_late = |argument: usize| {
        let marked = job.sources.get(argument).is_some_and(|s| s.priority);
        marked || job.dedupe || job.filter != Filter::default()
    };
    if let Some((_, path)) = tables.iter().find(|table| is_late(table.0)) {
        let path = path.clone();
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
            let options = WriteOptions {
                old: job.old,
                ..WriteOptions::default()
            };
            let writer = BookWriter::create(&job.target, options)?;
            BuildTarget::Book(Box::new(writer))
        }
        Product::Records => BuildTarget::Records(records::Table::create(&job.target, job.old)?),
    };
    let mut games = 0;
    if !tables.is_empty() {
        let inputs = records::Inputs {
            paths: &tables.into_iter().map(|table| table.1).collect::<Vec<_>>(),
            threads: job.threads,
            sort_bytes: job.memory / 2 / job.threads.max(1) as u64,
        };
        games = records::read(&inputs, &runs, watch)?;
    }
    let mut counted = count_all(job, &sources, &runs, watch)?;
    counted.games += games;
    let (skipped, filtered) = (counted.tally.skipped, counted.tally.filtered);
    if counted.games == 0 {
        return Err(BuildError::NothingLeft { skipped, filtered });
    }

    let sorted = runs.take();
    let written = match output {
        BuildTarget::Book(writer) => write_book(job, *writer, &sorted, counted.games, watch)?,
        BuildTarget::Records(table) => table.write(&sorted, counted.games, watch)?,
    };
    Ok(Summary {
        sorted_on_disk: runs.bytes_written(),
        written,
        ..counted
    })
}

/// Where what was counted goes.
enum BuildTarget {
    Book(Box<BookWriter>),
    Records(records::Table),
}

fn write_book(
    job: &Job,
    mut writer: BookWriter,
    sorted: &Sorted<Node>,
    games: u64,
    watch: &mut Watch<'_>,
) -> Result<Written, BuildError> {
    let min_games = job.min_games;
    let mut positions = 0;
    emit::emit(sorted, Rule { min_games }, job.threads, |piece| {
        for (order, entry, moves) in piece.entries() {
            writer.push_made(order, entry, moves)?;
        }
        positions += piece.len() as u64;
        Ok(watch.step(Progress::new("writing", "positions", positions, None))?)
    })?;
    if positions == 0 {
        return Err(BuildError::NoPositions { min_games });
    }
    Ok(writer.finish(u32::try_from(games).unwrap_or(u32::MAX))?)
}

/// Reads every source and has every game counted.
fn count_all(
    job: &Job,
    sources: &Sources,
    runs: &Runs<Node>,
    watch: &mut Watch<'_>,
) -> Result<Summary, BuildError> {
    let share = job.memory / 2 / job.threads.max(1) as u64;
    let tree_bytes = (share / 4).min(LARGEST_TREE_BYTES);
    let lot_bytes = (share / 4).min(LARGEST_LOT_BYTES) * u64::from(job.dedupe);
    let sort_bytes = (share - tree_bytes - lot_bytes).min(LARGEST_SORT_BYTES);
    let intake = Intake {
        filter: &job.filter,
        wanted: Wanted {
            // A duplicate is one to the last move.
            plies: if job.dedupe { usize::MAX } else { job.max_ply },
            variations: job.variations,
            notes: false,
            signs: job.annotations,
            heads: false,
        },
        starts: if job.setups {
            Starts::SetUp
        } else {
            Starts::Usual
        },
        threads: job.threads,
    };
    let duplicates = job.dedupe.then(Duplicates::default);
    let unstorable = AtomicU64::new(0);
    let mut summary = Summary::default();
    let worker = |batches: &Batches<'_, (u64, u64), BuildError>| {
        let mut counter = Counter::new(runs, sort_bytes as usize, tree_bytes as usize);
        let mut game = Game::default();
        let mut lot = Lot::default();
        batches.each(|batch| {
            let source = job.sources.get(batch.argument());
            let main = source.is_some_and(|source| source.priority);
            let extent = |game: &Game| Extent {
                max_ply: job.plies(game),
                main,
                only: job.only,
            };
            let (mut games, mut repeated) = (0, 0);
            let Some(duplicates) = &duplicates else {
                while batch.next(&mut game) {
                    games += 1;
                    counter.count(&game, extent(&game))?;
                }
                return Ok((games, repeated));
            };
            loop {
                let more = batch.next(&mut game);
                if more {
                    lot.push(&game, job.max_ply);
                    if lot.bytes() < lot_bytes as usize {
                        continue;
                    }
                }
                if !batch.turn().wait() {
                    return Ok((games, repeated));
                }
                repeated += duplicates.sift(&mut lot);
                if !more {
                    batch.turn().pass();
                }
                lot.play(&mut game, |game| {
                    games += 1;
                    counter.count(game, extent(game))
                })?;
                if !more {
                    return Ok((games, repeated));
                }
            }
        })?;
        unstorable.fetch_add(counter.finish()?, Relaxed);
        Ok(())
    };
    let take = |(games, repeated)| {
        summary.games += games;
        summary.duplicates += repeated;
        Ok(())
    };
    let tally = intake.read(sources, worker, take, watch)?;
    Ok(Summary {
        tally,
        unstorable: unstorable.into_inner(),
        ..summary
    })
}
