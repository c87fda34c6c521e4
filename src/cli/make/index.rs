//! `tabia index`: indexes games by position.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::Resettable;

use crate::cli::arguments::collection::{self, GameFilterArgs, ReachArgs, WorkArgs};
use crate::cli::arguments::common::{DryRun, Force};
use crate::cli::arguments::complete;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use tabia_index::{IndexJob, IndexReport};

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia index -o games.tgx lichess_db_2025-01.pgn.zst\n  \
    tabia index -o games.tgx --append lichess_db_2025-02.pgn.zst\n  \
    tabia index -o masters.tgx --both-elo 2200 twic/ mega.cbh\n  \
    tabia explore games.tgx main.ctg\n  \
    tabia build -o blitz.ctg games.tgx --ratings 2000,2200 --speeds blitz\n\n\
    Games without a result are left out. The index holds the games too, without \
    variations, comments and rare tags: every command that reads games reads it.\n\n\
    Exit codes: 0 done; 1 some games were skipped, with --strict; 2 no index was made, or \
    the old one is as it was.";

/// Arguments of `index`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct IndexArgs {
    /// The index to make, or to add to
    #[arg(short, long, value_name = "GAMES.tgx")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
    /// Adds the games to an existing index: all, or after an interruption none
    #[arg(long, conflicts_with = "force")]
    append: bool,
    /// Plies of each game that are indexed [default: 50, or those of the existing
    /// index]
    #[arg(long, aliases = ["plies", "max-plies", "depth"], value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "What is stored")]
    max_ply: Option<u16>,
    /// Games: all that `tabia build` reads
    #[arg(value_name = "SOURCE", add = complete::games(), required = true, help_heading = Resettable::Reset)]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    filter: GameFilterArgs,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    work: WorkArgs,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(crate) fn run(args: &IndexArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let mut job = IndexJob::new(&args.sources, &args.output);
    job.old = args.force.old();
    job.append = args.append;
    job.dry_run = args.dry_run.dry_run;
    job.password = args.filter.password.clone();
    job.encoding = args.filter.encoding;
    job.filter = args.filter.filter();
    job.filter.reaches = args.reach.position()?;
    job.conditions = job.filter.words().join(" ");
    job.max_ply = args.max_ply;
    job.threads = collection::threads(args.work.threads);
    job.memory = args.work.memory;
    job.temp = args.work.temp.clone();
    let start = Instant::now();
    let summary = progress::watched(|watch| job.run(watch))??;
    report(
        &job.target.display().to_string(),
        job.append,
        &summary,
        start.elapsed(),
    );
    args.dry_run.note();
    if args.work.json {
        writeln!(out, "{}", to_json(&summary))?;
        out.flush()?;
    }
    Ok(collection::exit_code(args.work.strict, &summary.tally))
}

/// Reports what was made of the games, under the name of the index or of the games.
pub(crate) fn report(name: &str, append: bool, summary: &IndexReport, time: Duration) {
    let tally = &summary.tally;
    collection::report(tally);
    let filtered = collection::counts([(tally.filtered, "games filtered out")]);
    let extra = collection::counts([
        (summary.without_result, "games without a result left out"),
        (tally.skipped, "games skipped"),
        (tally.cut, "games cut short"),
        (tally.left_out, "deleted games and texts left out"),
        (summary.sorted_on_disk, "bytes through temporary files"),
    ]);
    let extra = format!("{filtered}{}{extra}", collection::unrated(tally));
    let part = &summary.part;
    let all = match append {
        true => format!(" (now {})", counted(summary.games, "game")),
        false => String::new(),
    };
    let added = counted(summary.added, "game");
    let what = format!("{name}: {added}{all},");
    made::made(
        &what,
        [part.positions, part.moves, summary.bytes],
        time,
        &extra,
    );
}

fn to_json(summary: &IndexReport) -> serde_json::Value {
    let tally = &summary.tally;
    let part = &summary.part;
    serde_json::json!({
        "games": summary.games,
        "added": summary.added,
        "positions": part.positions,
        "moves": part.moves,
        "bytes": summary.bytes,
        "position_bytes": summary.position_bytes,
        "read": tally.read,
        "filtered": tally.filtered,
        "without_result": summary.without_result,
        "skipped": tally.skipped,
        "cut_sources": tally.cut_sources,
        "cut": tally.cut,
        "left_out": tally.left_out,
    })
}
