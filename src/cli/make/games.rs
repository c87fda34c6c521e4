//! `tabia games`: converts game databases to PGN or to a Simple Chess Database.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use clap::builder::Resettable;

use crate::cli::arguments::collection::{self, GameFilterArgs, ReachArgs};
use crate::cli::arguments::common::Force;
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use tabia_games as games;
use tabia_games::{ExportJob, ExportTarget, Exported};

/// The text of `tabia games --help` after the arguments.
pub(crate) const AFTER_HELP: &str = "Examples:\n  \
    tabia games club.dci -o club.pgn\n  \
    tabia games -o all.dci games/ extra.pgn.zst\n  \
    tabia games -o - --player \"Smith, Jane\" --since 2020 club.dci | less\n  \
    tabia games -o plain.pgn --no-variations --no-comments annotated.pgn\n  \
    tabia games -o once.pgn --dedupe broadcast.pgn archive.pgn\n  \
    tabia games -o folder/ club.cbv\n\n\
    The extension of OUT decides what is written: .pgn; .si5 for a Scid database of \
    version 5 (.sn5 and .sg5 are put beside it); or .dci for a Simple Chess \
    Database, whose other four files (.dcn .dcs .dce .dcg) are put beside it. That format \
    keeps moves, variations, comments, annotations, players, ratings, site, event, date, \
    round (a whole number), result and ECO code; other tags are lost. The output appears \
    when it is complete, or not at all. If OUT is a folder (or ends with /), the files in \
    archives (.cbv, .cbz, .zip, .7z) are unpacked into it, byte for byte.\n\n\
    A game must meet all given conditions; a game without a year or a rating meets no condition \
    on it.\n\n\
    Exit codes: 0 done; 1 with --strict: some games were skipped or cut short, or the format \
    cannot hold a part of them; 2 nothing was written. Unpacking: 1 some files could not be unpacked.";

/// Arguments of `games`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct GamesArgs {
    /// Games: .pgn, also .gz, .zst or .bz2; databases (docs/databases.md); a
    /// folder with such files; or `-` for PGN on standard input
    #[arg(value_name = "SOURCE", add = complete::games(), required = true, help_heading = Resettable::Reset)]
    sources: Vec<PathBuf>,
    /// The file to write: .pgn, .dci or .si5; `-` is PGN on standard output; a folder:
    /// unpacks archives
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Leaves out variations
    #[arg(long)]
    no_variations: bool,
    /// Leaves out comments
    #[arg(long)]
    no_comments: bool,
    /// Writes a game once that occurs several times (the same moves, result and family
    /// names), and none that is the beginning of another of these players: the longer one
    /// stays. Reads the games three times
    #[arg(long, help_heading = "Which games")]
    dedupe: bool,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    filter: GameFilterArgs,
    #[command(flatten)]
    reach: ReachArgs,
    /// Threads that decode [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = collection::thread_count(), help_heading = "Work")]
    threads: Option<u16>,
    /// Ends with exit code 1 when games were skipped or cut short, or the format cannot hold
    /// a part of them
    #[arg(long, help_heading = "Work")]
    strict: bool,
}

pub(crate) fn run(args: &GamesArgs, output: &mut dyn Write) -> anyhow::Result<u8> {
    if is_folder(&args.output) {
        return extract(args);
    }
    let job = job(args)?;
    let start = Instant::now();
    let summary = progress::watched(|watch| job.run(output, watch))??;
    let name = match &job.target {
        ExportTarget::Pgn(path) | ExportTarget::Scdb(path) | ExportTarget::Scid(path) => {
            path.display().to_string()
        }
        ExportTarget::Output => "standard output".to_owned(),
    };
    report(&name, &summary, start.elapsed());
    let is_loss = args.strict && summary.losses.iter().next().is_some();
    Ok(collection::exit_code(args.strict, &summary.games).max(u8::from(is_loss)))
}

/// Whether the output is a folder to unpack into, not a file of games.
fn is_folder(output: &Path) -> bool {
    output.is_dir() || output.as_os_str().to_string_lossy().ends_with(['/', '\\'])
}

/// Unpacks archives into a folder.
fn extract(args: &GamesArgs) -> anyhow::Result<u8> {
    let password = args.filter.password.as_deref();
    let mut faults = 0;
    for source in &args.sources {
        let old = args.force.old();
        let done =
            progress::watched(|watch| games::extract(source, &args.output, password, old, watch))??;
        for fault in &done.faults {
            message!("{fault}");
        }
        message!(
            "{}: {}, {} unpacked into {}, {} not",
            source.display(),
            counted(done.files, "file"),
            counted(done.bytes, "byte"),
            args.output.display(),
            done.faults.len()
        );
        faults += done.faults.len();
    }
    Ok(u8::from(faults > 0))
}

fn job(args: &GamesArgs) -> anyhow::Result<ExportJob> {
    // A Scid database has three files.
    files::complete_interrupted(&args.output)?;
    let mut job = ExportJob::new(&args.sources, target(&args.output)?);
    job.old = args.force.old();
    job.password = args.filter.password.clone();
    job.encoding = args.filter.encoding;
    job.filter = args.filter.filter();
    job.filter.reaches = args.reach.position()?;
    job.no_variations = args.no_variations;
    job.no_comments = args.no_comments;
    job.dedupe = args.dedupe;
    job.threads = collection::threads(args.threads);
    Ok(job)
}

fn target(path: &Path) -> anyhow::Result<ExportTarget> {
    if path == Path::new("-") {
        return Ok(ExportTarget::Output);
    }
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let target = match extension.to_str() {
        Some("si5") => ExportTarget::Scid,
        Some("pgn") => ExportTarget::Pgn,
        Some("dci") => ExportTarget::Scdb,
        _ => bail!(
            "{}: games are written as .pgn, .dci or .si5 (`-`: PGN on standard output)",
            path.display()
        ),
    };
    Ok(target(path.to_owned()))
}

fn report(name: &str, summary: &Exported, time: Duration) {
    let games = &summary.games;
    collection::report(games);
    for (loss, count) in summary.losses.iter() {
        message!("{}: the first game with {}", count.first, loss.as_str());
    }
    let extra = collection::counts([
        (games.filtered, "filtered out"),
        (summary.duplicates, "duplicates left out"),
        (summary.beginnings, "beginnings of other games left out"),
        (games.left_out, "deleted games and texts left out"),
        (games.cut, "cut short"),
    ]);
    let losses = summary.losses.iter();
    let lost = losses.map(|(loss, count)| format!("; {} with {}", count.games, loss.as_str()));
    let extra = extra + &lost.collect::<String>();
    summary!(
        "{name}: {} read, {} written, {} skipped in {:.1} s{extra}",
        counted(games.read, "game"),
        summary.written,
        games.skipped,
        time.as_secs_f64(),
    );
}
