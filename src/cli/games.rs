//! `tabia games`: from game databases to PGN or to a Simple Chess Database.

use std::io::Write;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use indicatif::{HumanCount, ProgressBar};
use shakmaty::Color;

use super::args::PlayerColour;
use super::progress;
use crate::games::export::{self, Job, Progress, Summary, Target};
use crate::games::{EcoRange, Filter, GameResult};

/// So many skipped games are named.
const NAMED: usize = 20;

/// What `tabia games --help` says below the arguments.
pub(super) const AFTER_HELP: &str = "Examples:\n  \
    tabia games club.dci -o club.pgn\n  \
    tabia games -o all.dci games/ extra.pgn.zst\n  \
    tabia games -o - --player \"Smith, Jane\" --since 2020 club.dci | less\n  \
    tabia games -o plain.pgn --no-variations --no-comments annotated.pgn\n\n\
    What is written is decided by the ending of OUT: .pgn, or .dci for a Simple Chess \
    Database, whose other four files (.dcn .dcs .dce .dcg) are put beside it. That format \
    keeps moves, variations, comments, annotations, players, ratings, site, event, date, \
    round (a whole number), result and ECO code; other tags are lost. The output appears \
    when it is complete, or not at all.\n\n\
    A game must meet every condition given. What a game does not say about itself \
    (year, rating) never meets one.\n\n\
    Exit codes: 0 done; 1 some games were skipped or cut short, with --strict; 2 nothing \
    was written.";

/// Arguments of `games`.
#[derive(Args, Debug)]
pub(super) struct GamesArgs {
    /// Games: .pgn, also .gz, .zst or .bz2; databases (docs/databases.md); a
    /// folder with such files; or `-` for PGN on standard input
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,
    /// The file to write: .pgn or .dci; `-` is PGN on standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Leaves out variations
    #[arg(long)]
    no_variations: bool,
    /// Leaves out comments
    #[arg(long)]
    no_comments: bool,
    /// Only games in which one player has this rating or more
    #[arg(long, value_name = "N")]
    min_elo: Option<u16>,
    /// Only games in which both players have this rating or more
    #[arg(long, value_name = "N")]
    both_elo: Option<u16>,
    /// Only games of this year or later
    #[arg(long, value_name = "YEAR")]
    since: Option<u16>,
    /// Only games of this year or before
    #[arg(long, value_name = "YEAR")]
    until: Option<u16>,
    /// Only games of a player; every word must be in the name, in any order
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The colour of that player
    #[arg(long = "as", value_name = "COLOUR", requires = "player")]
    colour: Option<PlayerColour>,
    /// Only games that ended so: 1-0, 0-1 or 1/2-1/2
    #[arg(long, value_name = "RESULT")]
    result: Option<String>,
    /// Only games of these openings: B20-B99, C57, D; several with commas
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    eco: Vec<EcoRange>,
    /// Threads that decode [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroU16>,
    /// Ends with exit code 1 when games were skipped or cut short
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &GamesArgs, output: &mut dyn Write) -> anyhow::Result<u8> {
    let job = job(args)?;
    let stop = super::stopped_by_ctrl_c()?;
    let start = Instant::now();
    let bar = Bar::new();
    let done = export::run(&job, output, &mut |progress| bar.show(progress), &stop);
    bar.line.finish_and_clear();
    let summary = done?;
    let name = match &job.target {
        Target::Pgn(path) | Target::Scdb(path) => path.display().to_string(),
        Target::Output => "standard output".to_owned(),
    };
    report(&name, &summary, start.elapsed());
    Ok(u8::from(args.strict && summary.skipped + summary.cut > 0))
}

fn job(args: &GamesArgs) -> anyhow::Result<Job> {
    let result = args.result.as_deref().map(wanted_result).transpose()?;
    Ok(Job {
        sources: args.sources.clone(),
        target: target(&args.output)?,
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
        no_variations: args.no_variations,
        no_comments: args.no_comments,
        threads: match args.threads {
            Some(threads) => threads.get().into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        },
    })
}

fn target(path: &Path) -> anyhow::Result<Target> {
    if path == Path::new("-") {
        return Ok(Target::Output);
    }
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("pgn") {
        Ok(Target::Pgn(path.to_owned()))
    } else if extension.eq_ignore_ascii_case("dci") {
        Ok(Target::Scdb(path.to_owned()))
    } else {
        let path = path.display();
        bail!("{path}: games are written as .pgn or .dci (`-`: PGN on standard output)")
    }
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
        if self.line.position() == 0 {
            let template = match progress.total {
                Some(_) => "writing {wide_bar} {percent}%  {msg}, {eta} left",
                None => "writing {spinner} {bytes}  {msg}",
            };
            self.line.set_style(progress::style(template));
        }
        if let Some(total) = progress.total {
            self.line.set_length(total);
        }
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        let speed = HumanCount((progress.games as f64 / seconds) as u64);
        let games = HumanCount(progress.games);
        self.line
            .set_message(format!("{games} games, {speed} a second"));
        self.line.set_position(progress.bytes.max(1));
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
        (summary.filtered, "filtered out"),
        (summary.left_out, "deleted games and texts left out"),
        (summary.cut, "cut short"),
        (
            summary.tags_lost,
            "with tags that the format has no room for",
        ),
    ] {
        if count > 0 {
            extra += &format!("; {count} {what}");
        }
    }
    let _ = writeln!(
        stderr,
        "{name}: {} games read, {} written, {} skipped in {:.1} s{extra}",
        summary.read,
        summary.written,
        summary.skipped,
        time.as_secs_f64(),
    );
}

/// The result that `--result` names.
pub(super) fn wanted_result(text: &str) -> anyhow::Result<GameResult> {
    match GameResult::from_pgn(text.as_bytes()) {
        GameResult::Unknown if text != "*" => {
            anyhow::bail!("--result {text}: expected 1-0, 0-1 or 1/2-1/2")
        }
        result => Ok(result),
    }
}
