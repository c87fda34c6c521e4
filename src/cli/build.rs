//! `tabia build`: from games to a book.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use indicatif::{HumanCount, ProgressBar};
use shakmaty::Color;

use super::args::{BuildArgs, PlayerColour};
use super::games::wanted_result;
use super::progress;
use crate::book::Watch;
use crate::book::ctg::merge;
use crate::build::{self, Filter, Job, Product, Progress, Source, Summary};

/// So many skipped games are named.
const NAMED: usize = 20;

pub(super) fn run(args: &BuildArgs) -> anyhow::Result<u8> {
    for book in args.sources.iter().filter(|path| is_other_book(path)) {
        super::convert::only_ctg(book)?;
    }
    let job = job(args)?;
    let stop = super::stopped_by_ctrl_c()?;
    let books: Vec<PathBuf> = args
        .sources
        .iter()
        .filter(|p| is_book(p))
        .cloned()
        .collect();
    if books.is_empty() {
        let target = job.target.display().to_string();
        return Ok(args.exit_code(&build_games(&job, &target, &stop)?));
    }
    add_to_books(args, job, books, &stop)
}

/// The games become a book of their own, which is then added to the others.
fn add_to_books(
    args: &BuildArgs,
    mut job: Job,
    mut books: Vec<PathBuf>,
    stop: &AtomicBool,
) -> anyhow::Result<u8> {
    ensure!(args.records.is_none(), "--records takes games, not books");
    ensure!(
        args.min_games <= 1,
        "--min-games {} cannot be used with a .ctg source: a book does not say how often \
         each of its moves was played",
        args.min_games
    );
    let target = job.target.clone();
    let start = Instant::now();
    let mut code = 0;
    // Beside the target, where there is room for a book.
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let beside = tempfile::Builder::new()
        .prefix(".tabia-")
        .tempdir_in(folder.unwrap_or(Path::new(".")))
        .with_context(|| target.display().to_string())?;
    if !job.sources.is_empty() {
        job.target = beside.path().join("games.ctg");
        code = args.exit_code(&build_games(&job, "the games", stop)?);
        books.push(job.target);
    }
    let done = merge(&target, &books, args.memory, &mut Watch::stopped_by(stop))?;
    let what = format!("{}: {} books", target.display(), books.len());
    super::compact::report(&what, &done, start);
    Ok(code)
}

fn build_games(job: &Job, name: &str, stop: &AtomicBool) -> anyhow::Result<Summary> {
    let start = Instant::now();
    let bar = Bar::new();
    let built = build::run(job, &mut |progress| bar.show(progress), stop);
    bar.line.finish_and_clear();
    let summary = built?;
    report(name, &summary, start.elapsed());
    Ok(summary)
}

impl BuildArgs {
    fn exit_code(&self, summary: &Summary) -> u8 {
        u8::from(self.strict && summary.skipped + summary.cut > 0)
    }
}

/// A book that must be converted first.
fn is_other_book(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let other = ["bin", "abk", "jsonl"];
    extension.is_some_and(|own| other.iter().any(|one| own.eq_ignore_ascii_case(one)))
}

fn is_book(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("ctg"))
}

fn job(args: &BuildArgs) -> anyhow::Result<Job> {
    let source = |priority| {
        move |path: &std::path::PathBuf| Source {
            path: path.clone(),
            priority,
        }
    };
    // A file that is named twice counts once, as a priority.
    let mut sources: Vec<Source> = args.priority.iter().map(source(true)).collect();
    let games = args.sources.iter().filter(|path| !is_book(path));
    sources.extend(games.map(source(false)));
    let result = args.result.as_deref().map(wanted_result).transpose()?;
    let (product, target) = match (&args.output, &args.records) {
        (_, Some(records)) => (Product::Records, records),
        (Some(book), None) => (Product::Book, book),
        (None, None) => anyhow::bail!("nothing to make: see --output"),
    };
    let usual = Job::new(sources, target.clone());
    Ok(Job {
        product,
        filter: Filter {
            min_elo: args.min_elo,
            both_elo: args.both_elo,
            since: args.since,
            until: args.until,
            player: args.player.clone(),
            colour: args.colour.map(|colour| match colour {
                PlayerColour::White => Color::White,
                PlayerColour::Black => Color::Black,
            }),
            result,
            eco: args.eco.clone(),
        },
        max_ply: args.max_ply.into(),
        min_games: args.min_games,
        variations: args.variations,
        setups: args.setups,
        dedupe: args.dedupe,
        threads: args.threads.map_or(usual.threads, |n| n.get().into()),
        memory: args.memory,
        temp: args.temp.clone(),
        ..usual
    })
}

/// What is seen while it lasts, on a terminal only.
struct Bar {
    line: ProgressBar,
    start: Instant,
}

impl Bar {
    fn new() -> Bar {
        Bar {
            line: progress::bar(),
            start: Instant::now(),
        }
    }

    fn show(&self, progress: Progress) {
        if self.line.is_hidden() {
            return;
        }
        match progress {
            Progress::Reading {
                bytes,
                total,
                games,
            } => {
                if self.line.position() == 0 {
                    self.line.set_style(progress::style(match total {
                        Some(_) => "reading {wide_bar} {percent}%  {msg}, {eta} left",
                        None => "reading {spinner} {bytes}  {msg}",
                    }));
                }
                if let Some(total) = total {
                    self.line.set_length(total);
                }
                let seconds = self.start.elapsed().as_secs_f64().max(0.001);
                let speed = HumanCount((games as f64 / seconds) as u64);
                self.line
                    .set_message(format!("{} games, {speed} a second", HumanCount(games)));
                self.line.set_position(bytes.max(1));
            }
            Progress::Writing { positions } => {
                self.line
                    .set_style(progress::style("writing {spinner} {msg}"));
                self.line
                    .set_message(format!("{} positions", HumanCount(positions)));
                self.line.tick();
            }
        }
    }
}

fn report(name: &str, summary: &Summary, time: Duration) {
    let mut stderr = super::messages();
    for skipped in summary.named.iter().take(NAMED) {
        let _ = writeln!(stderr, "{skipped}");
    }
    let unnamed = (summary.skipped + summary.cut).saturating_sub(NAMED as u64);
    if unnamed > 0 {
        let _ = writeln!(stderr, "... and {unnamed} more");
    }
    for remark in &summary.remarks {
        let _ = writeln!(stderr, "{remark}");
    }
    let mut extra = String::new();
    for (count, what) in [
        (summary.filtered, "games filtered out"),
        (summary.duplicates, "duplicates"),
        (summary.skipped, "games skipped"),
        (summary.cut, "games cut short"),
        (summary.left_out, "deleted games and texts left out"),
        (
            summary.unstorable,
            "moves left out that the format cannot hold",
        ),
        (summary.sorted_on_disk, "bytes through temporary files"),
    ] {
        if count > 0 {
            extra += &format!("; {count} {what}");
        }
    }
    let _ = writeln!(
        stderr,
        "{}: {} games, {} positions, {} moves, {} bytes in {:.1} s{extra}",
        name,
        summary.games,
        summary.written.positions,
        summary.written.moves,
        summary.written.bytes,
        time.as_secs_f64(),
    );
}
