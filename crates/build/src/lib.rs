//! Builds opening books from any number of games.
//!
//! ```text
//! source -> batches -> threads: games -> filter -> count -> sorted runs
//!                                                              |
//!                      book <- writer <- entries <- merge <----+
//! ```
//!
//! Every number is a sum, and sums do not depend on the order: the book is the same
//! byte for byte with any number of threads and any memory. (Polyglot books do depend
//! on the order of the games: see `polyglot`.) A thread counts the first plies in a
//! small opening tree (`tree`), and later ones in records that are sorted by place in
//! the book, added up and stored as a run (`tabia_io::sort`), in memory or on disk. At
//! the end the runs are merged part by part (`emit`) and written into the book, or
//! unchanged into a table (`records`), which can be a source again.
//!
//! Several books can be made in one pass over the games ([`run_all`]): each game is
//! tried with each book's filter, and each book has separate counters and runs
//! (`pass`).
//!
//! Memory: half of the limit for records and opening trees, half for runs, divided
//! equally among several books; in addition a few megabytes for batches and buffers,
//! and with `dedupe` some 20 bytes a game.

#![warn(missing_docs)]

mod count;
mod dedupe;
mod emit;
mod how_far;
mod lines;
mod node;
mod output;
mod packing;
pub mod parquet;
mod pass;
mod polyglot;
mod records;
#[cfg(test)]
mod tests;
mod tree;

pub use emit::MAX_MOVES;
pub use lines::write_lines;
pub use packing::Compression;
pub use polyglot::PolyglotRule;
pub use records::{RecordsError, is_records, verify_records};

use std::path::PathBuf;
use std::slice;

use shakmaty::Color;

use output::Output;
use records::{Conditions, Part, PartSource, Tables};
use tabia_book::ctg::{MAX_COUNT, Written};
// Fields of a job, and a parameter of all long work.
pub use tabia_book::{Previous, progress};
pub use tabia_games::{EcoRange, GameFilter, has_name};
use tabia_games::{Game, Sources, Tally, TextEncoding};
use tabia_io::atomic::WriteFileError;
use tabia_io::parallel::{self, Panicked};
use tabia_io::progress::{Progress, Stopped, Watch};
use tabia_io::sort::SortError;
use tabia_notation::Line;
use tabia_notation::openings;

/// A source of games.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Source {
    /// A file, a folder, or `-` for standard input.
    pub path: PathBuf,
    /// Its moves are marked as main moves.
    pub priority: bool,
}

tabia_io::setters!(Source { priority: bool });

impl Source {
    /// A source whose moves get no marks.
    pub fn new(path: impl Into<PathBuf>) -> Source {
        Source {
            path: path.into(),
            priority: false,
        }
    }
}

/// The kind of file to build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Product {
    /// A ChessBase book.
    Book,
    /// A Polyglot book, equal to the output of `polyglot make-book`. It cannot store
    /// variations, annotations and priorities.
    Polyglot(PolyglotRule),
    /// A table of all counts, to which games can be added later: `min_games` is
    /// ignored.
    ///
    /// ```
    /// use tabia_build::{BuildJob, Product, Source, progress::Watch, run};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let at = |name: &str| folder.path().join(name);
    /// std::fs::write(at("may.pgn"), "1. e4 c5 2. Nf3 1-0\n\n1. e4 e5 0-1\n")?;
    /// let source = |name: &str| Source::new(at(name));
    /// let table = BuildJob::new(vec![source("may.pgn")], at("may.parquet"));
    /// run(&table.product(Product::Records), &mut Watch::default())?;
    /// // A book of the table has the same bytes as one of the games.
    /// let book = BuildJob::new(vec![source("may.parquet")], at("may.ctg"));
    /// assert_eq!(run(&book, &mut Watch::default())?.games, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Records,
}

impl Product {
    /// Whether it is a Polyglot book.
    #[must_use]
    pub const fn is_polyglot(self) -> bool {
        match self {
            Product::Polyglot(_) => true,
            Product::Book | Product::Records => false,
        }
    }
}

tabia_io::options! {
    /// What is to be built.
    #[derive(Clone, Debug)]
    pub struct BuildJob {
        /// The games. Record files (.parquet) are sources too; no filter applies to them.
        sources: Vec<Source>,
        /// The book's .ctg or .bin file, or the records' .parquet file.
        target: PathBuf,
        ;
        /// What happens to an old file of the same name.
        old: Previous = Previous::default(),
        /// The kind of file to build.
        product: Product = Product::Book,
        /// How the pages of records are packed.
        compression: Compression = Compression::default(),
        /// Password of encrypted archives.
        password: Option<String> = None,
        /// Encoding of texts that are not UTF-8.
        encoding: Option<TextEncoding> = None,
        /// The games to count.
        filter: GameFilter = GameFilter::default(),
        /// Number of plies of each game to store.
        max_ply: usize = 40,
        /// At most this number of plies after the last position with an opening name,
        /// within `max_ply`.
        eco_relative: Option<usize> = None,
        /// Only moves of this side are stored.
        only: Option<Color> = None,
        /// Positions and moves of fewer games are left out. The position after a move has
        /// at least as many games as the move, so no move leads out of the book.
        min_games: u32 = 1,
        /// If a ChessBase book has more games than an entry can count, the numbers of all
        /// positions are divided by the same, and keep their proportions. Without it the
        /// numbers of each full entry are scaled by themselves.
        scale_counts: bool = false,
        /// Moves of variations are stored too, without counts.
        variations: bool = false,
        /// Annotations of moves and positions are stored in the book.
        annotations: bool = false,
        /// Games from set-up positions count too.
        setups: bool = false,
        /// Of duplicate games, only the first counts.
        dedupe: bool = false,
        /// Threads that count, 1 or more.
        threads: usize = parallel::threads(),
        /// Memory limit in bytes.
        memory: u64 = 512 << 20,
        /// Folder of temporary files; by default that of the book.
        temp: Option<PathBuf> = None,
    }
}

tabia_io::setters!(BuildJob { target: PathBuf });

impl BuildJob {
    /// Number of plies of a game to store.
    fn plies(&self, game: &Game) -> usize {
        let Some(more) = self.eco_relative else {
            return self.max_ply;
        };
        let positions = game.positions.iter().take(self.max_ply.saturating_add(1));
        let positions = positions.enumerate().take(LONGEST_OPENING + 1);
        let mut named = positions
            .rev()
            .filter(|(_, now)| openings::find(now).is_some());
        named
            .next()
            .map_or(0, |(ply, _)| ply)
            .saturating_add(more)
            .min(self.max_ply)
    }
}

/// Thousandths of a build after which the games are counted, as seen with a million games.
const READ_AT: u16 = 570;

/// Thousandths after which the positions are written, and the file only has to reach the disk.
const WRITTEN_AT: u16 = 950;

/// Plies of the longest opening with a name.
const LONGEST_OPENING: usize = 40;

/// The result of a build.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Games in the book.
    pub games: u64,
    /// Duplicate games.
    pub duplicates: u64,
    /// Games read, skipped and filtered out.
    pub tally: Tally,
    /// Moves that the format cannot store, counted each time they are played.
    pub unstorable: u64,
    /// Bytes that went through temporary files.
    pub sorted_on_disk: u64,
    /// The book; or the records, without pages.
    pub written: Written,
}

/// Why no book was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The games cannot be read.
    #[error(transparent)]
    Read(#[from] tabia_games::Error),
    /// All games were filtered out or skipped.
    #[error("{0}")]
    NothingLeft(String),
    /// No position is left.
    #[error("no position was reached by {min_games} games")]
    NoPositions {
        /// The value of `min_games`.
        min_games: u32,
    },
    /// No move of a Polyglot book is left.
    #[error(
        "no move is left: every move has the wrong colour, too few games, too low a score, or always lost"
    )]
    NoMoves,
    /// A Polyglot book needs results of moves; records only have results of positions.
    #[error("{}: records have no results of moves, which a Polyglot book needs: use the games", path.display())]
    NoResults {
        /// The file of records.
        path: PathBuf,
    },
    /// Records cannot be read or written.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The book, or temporary files, cannot be written.
    #[error(transparent)]
    Write(#[from] tabia_book::Error),
    /// One of several books cannot be made.
    #[error("{}: {error}", path.display())]
    Book {
        /// The book.
        path: PathBuf,
        /// The error.
        error: Box<BuildError>,
    },
    /// A line has a move that the format cannot store.
    #[error("{0}: a ChessBase book cannot store {1} of its moves")]
    Unstorable(Line, u64),
}

impl From<SortError> for BuildError {
    fn from(error: SortError) -> BuildError {
        BuildError::Write(error.into())
    }
}

impl From<WriteFileError> for BuildError {
    fn from(error: WriteFileError) -> BuildError {
        BuildError::Write(error.into())
    }
}

impl From<Panicked> for BuildError {
    fn from(error: Panicked) -> BuildError {
        BuildError::Write(error.into())
    }
}

impl From<Stopped> for BuildError {
    fn from(stopped: Stopped) -> BuildError {
        BuildError::Read(stopped.into())
    }
}

/// Builds the book. `watch` receives the progress and can cancel.
///
/// # Errors
///
/// No book is written; an old file of the same name is unchanged, and no temporary file
/// is left.
pub fn run(job: &BuildJob, watch: &mut Watch<'_>) -> Result<Summary, BuildError> {
    let made = run_all(slice::from_ref(job), watch)?;
    Ok(made.into_iter().next().unwrap_or_default())
}

/// Builds several books in one pass over the games, each the same byte for byte as if
/// built alone. These settings of the first job apply to all: `sources`, `password`,
/// `encoding`, `variations`, `annotations`, `setups`, `threads`, `memory` and `temp`. A game that
/// no book takes counts as filtered in each summary.
///
/// ```
/// use tabia_build::{BuildJob, Source, progress::Watch, run_all};
///
/// let folder = tempfile::tempdir()?;
/// let games = folder.path().join("games.pgn");
/// let text = "[White \"Smith\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2450\"]\n\n1. e4 e5 1-0\n\n\
///             [White \"Jones\"]\n\n1. d4 d5 1/2-1/2\n\n1. c4 1-0\n";
/// std::fs::write(&games, text)?;
/// let source = Source::new(games);
/// let job = |name: &str| BuildJob::new(vec![source.clone()], folder.path().join(name));
/// let (mut strong, mut player) = (job("strong.ctg"), job("jones.ctg"));
/// strong.filter.both_elo = Some(2400);
/// player.filter.player = Some("Jones".to_owned());
/// let made = run_all(&[strong, player], &mut Watch::default())?;
/// assert_eq!([made[0].games, made[1].games], [1, 1]);
/// assert_eq!(made[0].tally.filtered, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As for [`run`]. No target file is replaced before all books are complete.
pub fn run_all(jobs: &[BuildJob], watch: &mut Watch<'_>) -> Result<Vec<Summary>, BuildError> {
    let Some(first) = jobs.first() else {
        return Ok(Vec::new());
    };
    let (tables, sources) = sources_of(jobs, first)?;
    let mut all_sources: Vec<PartSource> = tables.sources().collect();
    if jobs.iter().any(|job| job.product == Product::Records) {
        // A file that cannot be read is an error when its games are.
        let files = sources
            .paths()
            .filter_map(|path| PartSource::of(path).ok()?);
        all_sources.extend(files);
    }
    // Fails before hours of counting if a book cannot be written.
    let part = first.memory / 2 / jobs.len() as u64;
    let outputs = jobs.iter().map(|job| Output::create(job, first, part));
    let outputs: Vec<Output> = outputs.collect::<Result<_, _>>()?;
    let recorded = read_records(jobs, &tables, &sources, &outputs, watch)?;
    // Record files are read before, and have no part of their own: they are rare.
    let mut made = pass::count_all(jobs, &sources, &outputs, &mut watch.part(0, READ_AT))?;
    for (summary, job) in made.iter_mut().zip(jobs) {
        recorded.add_to(summary, job).map_err(named(jobs, job))?;
    }

    let mut complete = Vec::new();
    let outputs = jobs.iter().zip(outputs).zip(&mut made);
    for (n, ((job, output), summary)) in (0..).zip(outputs) {
        // Where the writing of this file begins.
        let at =
            |n: u64| READ_AT + (u64::from(WRITTEN_AT - READ_AT) * n / jobs.len() as u64) as u16;
        let conditions = recorded.conditions.clone();
        let part = Part {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            games: summary.games,
            conditions: conditions.unwrap_or_else(|| Conditions::of_job(job)),
            sources: all_sources.clone(),
            checksum: String::new(),
        };
        let written = output.write(job, part, summary, &mut watch.part(at(n), at(n + 1)));
        complete.push(written.map_err(|error| match error {
            BuildError::NoPositions { .. } | BuildError::NoMoves => named(jobs, job)(error),
            other => other,
        })?);
    }
    let positions = made.iter().map(|made| made.written.positions).sum();
    let saving = Progress::new("saving", "positions", positions, None);
    watch.part(WRITTEN_AT, 1000).step(saving)?;
    for (file, summary) in complete.into_iter().zip(&mut made) {
        file.put(summary)?;
    }
    Ok(made)
}

/// The record files and the games of all jobs; an error if one of the jobs needs more than
/// records have.
fn sources_of(jobs: &[BuildJob], first: &BuildJob) -> Result<(Tables, Sources), BuildError> {
    let named = first.sources.iter().map(|source| &source.path);
    let mut sources = Sources::list_with(named, records::is_records)?
        .with_password(first.password.as_deref())
        .with_encoding(first.encoding);
    let tables = sources.take(records::is_records);
    let is_late = |argument: usize| {
        let marked = first.sources.get(argument).is_some_and(|s| s.priority);
        let chosen = |job: &BuildJob| job.dedupe || job.filter != GameFilter::default();
        marked || jobs.iter().any(chosen)
    };
    if let Some((_, path)) = tables.iter().find(|table| is_late(table.0)) {
        let path = path.clone();
        return Err(RecordsError::Late { path }.into());
    }
    let is_any_polyglot = jobs.iter().any(|job| job.product.is_polyglot());
    if let (Some((_, path)), true) = (tables.first(), is_any_polyglot) {
        let path = path.clone();
        return Err(BuildError::NoResults { path });
    }
    let tables = Tables::open(tables.into_iter().map(|table| table.1).collect())?;
    Ok((tables, sources))
}

/// What record files have given.
#[derive(Default)]
struct Recorded {
    games: u64,
    conditions: Option<Conditions>,
    remarks: Vec<String>,
}

/// Gives the entries of record files to each output.
fn read_records(
    jobs: &[BuildJob],
    tables: &Tables,
    sources: &Sources,
    outputs: &[Output],
    watch: &mut Watch<'_>,
) -> Result<Recorded, BuildError> {
    let mut recorded = Recorded::default();
    let (Some(path), Some(first)) = (tables.first(), jobs.first()) else {
        return Ok(recorded);
    };
    let inputs = records::Inputs {
        threads: first.threads,
        sort_bytes: first.memory / 2 / first.threads.max(1) as u64,
    };
    for (job, output) in jobs.iter().zip(outputs) {
        if let Output::Book(_, runs) | Output::Records(_, runs) = output {
            let read = tables.read(&inputs, Some(runs), &mut watch.part(0, READ_AT))?;
            if let Some(known) = &read.conditions {
                known.check(path, job, sources.paths().next())?;
            }
            recorded = Recorded {
                games: read.games,
                conditions: read.conditions,
                remarks: read.remarks,
            };
        }
    }
    Ok(recorded)
}

impl Recorded {
    /// Completes what was counted of games; an error if nothing was, of either.
    fn add_to(&self, summary: &mut Summary, job: &BuildJob) -> Result<(), BuildError> {
        summary.games += self.games;
        summary.tally.remarks.extend(self.remarks.iter().cloned());
        if job.product == Product::Book && summary.games > u64::from(MAX_COUNT) && !job.scale_counts
        {
            summary.tally.remarks.push(format!(
                "{}: positions of more than {MAX_COUNT} games look as frequent as each other: \
                 --scale-counts keeps the proportions",
                job.target.display()
            ));
        }
        match job.product {
            Product::Book | Product::Polyglot(_) if summary.games == 0 => {
                Err(BuildError::NothingLeft(summary.tally.what_is_left()))
            }
            // Records of no games are one part of many.
            Product::Book | Product::Polyglot(_) | Product::Records => Ok(()),
        }
    }
}

/// Names the book in an error, if there are several.
fn named(jobs: &[BuildJob], job: &BuildJob) -> impl FnOnce(BuildError) -> BuildError {
    let path = (jobs.len() > 1).then(|| job.target.clone());
    |error| match path {
        None => error,
        Some(path) => BuildError::Book {
            path,
            error: Box::new(error),
        },
    }
}

pub mod learn;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
