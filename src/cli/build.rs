//! `tabia build`: from games to a book.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::args::{BuildArgs, Counting};
use super::collection;
use super::progress;
use super::style::counted;
use crate::book::ctg::{RewriteOptions, Written, merge};
use crate::build::{self, Job, Product, Source, Summary};
use crate::input::kind::Kind;
use crate::notation::Line;
use crate::place::{self, Old};

/// So many skipped games are named.
const NAMED: usize = 20;

pub(super) fn run(args: &BuildArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let (product, target) = match (&args.output, &args.records) {
        (_, Some(records)) => (Product::Records, records),
        (Some(book), None) => (Product::Book, book),
        (None, None) => anyhow::bail!("nothing to make: see --output"),
    };
    let job = Job {
        product,
        ..job(&args.games, &args.sources, target, args.force.old())
    };
    let books = books_among(&args.sources)?;
    if books.is_empty() {
        let target = job.target.display().to_string();
        let summary = build_games(&job, &target)?;
        if args.games.json {
            let object = to_json(summary.games, &summary.written, &summary);
            writeln!(out, "{object}")?;
            out.flush()?;
        }
        return Ok(args.games.exit_code(&summary));
    }
    ensure!(args.records.is_none(), "--records takes games, not books");
    place::check(&job.target, &["cto", "ctb"], job.old)?;
    add_to_books(&args.games, job, books, &[], out)
}

/// Those of the sources that are books.
pub(super) fn books_among(sources: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let books: Vec<PathBuf> = sources
        .iter()
        .filter(|path| is_book(path))
        .cloned()
        .collect();
    for book in &books {
        super::convert::only_ctg(book)?;
    }
    Ok(books)
}

/// What was made, and what became of the games of the sources.
fn to_json(games: u64, written: &Written, summary: &Summary) -> serde_json::Value {
    let tally = &summary.tally;
    serde_json::json!({
        "games": games,
        "positions": written.positions,
        "moves": written.moves,
        "bytes": written.bytes,
        "read": tally.read,
        "filtered": tally.filtered,
        "duplicates": summary.duplicates,
        "skipped": tally.skipped,
        "cut": tally.cut,
        "left_out": tally.left_out,
        "unstorable": summary.unstorable,
    })
}

/// The games become a book of their own, and the lines another, which are
/// then added to the others.
pub(super) fn add_to_books(
    args: &Counting,
    mut job: Job,
    mut books: Vec<PathBuf>,
    lines: &[(Line, Vec<(usize, u8)>)],
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    ensure!(
        args.min_games <= 1 || books.iter().all(|book| *book == job.target),
        "--min-games {} cannot be used with a .ctg source: a book does not say how often \
         each of its moves was played",
        args.min_games
    );
    let target = job.target.clone();
    let start = Instant::now();
    let mut games = Summary::default();
    // Beside the target, where there is room for a book.
    let beside = tempfile::Builder::new()
        .prefix(".tabia-")
        .tempdir_in(place::folder_of(&target))
        .with_context(|| target.display().to_string())?;
    let options = RewriteOptions {
        old: job.old,
        memory: args.memory,
        strict: args.strict,
        ..RewriteOptions::default()
    };
    if !job.sources.is_empty() {
        job.target = beside.path().join("games.ctg");
        games = build_games(&job, "the games")?;
        books.push(job.target);
    }
    if !lines.is_empty() {
        let path = beside.path().join("lines.ctg");
        build::write_lines(lines, &path)?;
        books.push(path);
    }
    let done = progress::watched(|watch| merge(&target, &books, &options, watch))??;
    let what = format!(
        "{}: {}",
        target.display(),
        counted(books.len() as u64, "book")
    );
    let code = super::compact::report(&what, &done, start);
    if args.json {
        writeln!(out, "{}", to_json(done.games.into(), &done.written, &games))?;
        out.flush()?;
    }
    Ok(code.max(args.exit_code(&games)))
}

fn build_games(job: &Job, name: &str) -> anyhow::Result<Summary> {
    let start = Instant::now();
    let summary = progress::watched(|watch| build::run(job, watch))??;
    report(name, &summary, start.elapsed());
    Ok(summary)
}

impl Counting {
    fn exit_code(&self, summary: &Summary) -> u8 {
        u8::from(self.strict && summary.tally.skipped + summary.tally.cut > 0)
    }
}

fn is_book(path: &Path) -> bool {
    matches!(Kind::of_file(path), Some(Kind::Book(_)))
}

pub(super) fn job(args: &Counting, sources: &[PathBuf], target: &Path, old: Old) -> Job {
    let source = |priority| {
        move |path: &std::path::PathBuf| Source {
            path: path.clone(),
            priority,
        }
    };
    // A file that is named twice counts once, as a priority.
    let mut all: Vec<Source> = args.priority.iter().map(source(true)).collect();
    let games = sources.iter().filter(|path| !is_book(path));
    all.extend(games.map(source(false)));
    Job {
        old,
        filter: args.filter.filter(),
        password: args.filter.password.clone(),
        max_ply: args.max_ply.into(),
        eco_relative: args.eco_relative.map(usize::from),
        only: args.only.map(shakmaty::Color::from),
        min_games: args.min_games,
        variations: args.variations,
        annotations: args.annotations,
        setups: args.setups,
        dedupe: args.dedupe,
        threads: collection::threads(args.threads),
        memory: args.memory,
        temp: args.temp.clone(),
        ..Job::new(all, target.to_owned())
    }
}

fn report(name: &str, summary: &Summary, time: Duration) {
    let games = &summary.tally;
    collection::report(games, NAMED);
    let extra = collection::counts([
        (games.filtered, "games filtered out"),
        (summary.duplicates, "duplicates"),
        (games.skipped, "games skipped"),
        (games.cut, "games cut short"),
        (games.left_out, "deleted games and texts left out"),
        (
            summary.unstorable,
            "moves left out that the format cannot hold",
        ),
        (summary.sorted_on_disk, "bytes through temporary files"),
    ]);
    let _ = writeln!(
        super::messages(),
        "{}: {} games, {} positions, {} moves, {} bytes in {:.1} s{extra}",
        name,
        summary.games,
        summary.written.positions,
        summary.written.moves,
        summary.written.bytes,
        time.as_secs_f64(),
    );
}
