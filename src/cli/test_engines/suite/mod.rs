//! `tabia suite`: opening suites for engine testers.

mod arguments;
mod check;
mod print;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use clap::{Args, Subcommand};

use crate::cli::arguments::{collection, complete};
use crate::cli::print::progress;
use arguments::MakeArgs;
use print::{json, named, report};
use tabia_analysis::suite;

/// The text of `tabia suite --help` after the arguments.
pub(crate) const AFTER_HELP: &str = "Examples:\n  \
    tabia suite games.pgn -o suite.epd\n  \
    tabia suite masters.pgn.zst -o uho.epd --both-elo 2400 --queens both \\\n    \
        --engine stockfish --nodes 5000 --confirm-nodes 200000 --save-evals uho.evals \\\n    \
        --eval 90..119\n  \
    tabia suite main.ctg -o lines.pgn --exit --min-share 0.01\n  \
    tabia suite old.epd -o new.epd --counters epd --unique mirror --zip\n  \
    tabia suite check suite.epd\n  \
    tabia suite match games.pgn suite.epd\n\n\
    `tabia suite make` is the same as `tabia suite`. Sources are books (.ctg .bin .abk .bkt .obk .jsonl), games (all that `tabia build` reads), suites \
    (.epd, .pgn) and `-` (games or positions on standard input); several are combined. Positions \
    of an .epd are taken unchanged, regardless of --plies. The same sources and seed give the \
    same bytes. docs/suites.md of the source says what makes a good suite.\n\n\
    Exit codes: 0 done; 1 games were skipped with --strict, parts of a book cannot be read, or \
    `check` found a fault; 2 no suite was made.";

/// The words of a line with `make` taken out, which is what `suite` does without a word, and
/// with the options of before as the commands that have replaced them; the second is what to
/// type instead of such an option. A file with the name of a command is a source.
pub(crate) fn with_commands(mut words: Vec<OsString>) -> (Vec<OsString>, Option<String>) {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let mut typed = words.iter().enumerate().skip(1);
    let at = match typed.find(|(_, word)| !is_option(word)) {
        Some((at, command)) if command == "suite" => at + 1,
        _ => return (words, None),
    };
    let first = words.get(at).and_then(|word| word.to_str());
    if let Some(name @ ("make" | "check" | "match")) = first {
        let source = Path::new(name)
            .exists()
            .then(|| Path::new(".").join(name).into());
        if source.is_some() || name == "make" {
            words.splice(at..=at, source);
        }
        return (words, None);
    }
    let is_games = |word: &OsString| word.as_encoded_bytes().starts_with(b"--match");
    if let Some(check) = words.iter().position(|word| word == "--check") {
        words.remove(check);
        words.insert(at, "check".into());
        return (
            words,
            Some("--check is `tabia suite check SUITE...` now".to_owned()),
        );
    }
    if let Some(games) = words.iter().position(is_games) {
        let option = words.remove(games).to_string_lossy().into_owned();
        let file = match option.split_once('=') {
            Some((_, file)) => Some(OsString::from(file)),
            None => (games < words.len()).then(|| words.remove(games)),
        };
        words.splice(at..at, ["match".into()].into_iter().chain(file));
        return (
            words,
            Some("--match is `tabia suite match GAMES SUITE` now".to_owned()),
        );
    }
    (words, None)
}

/// What `suite` does, and its arguments.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    subcommand_help_heading = "Reports"
)]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    report: Option<SuiteReport>,
    #[command(flatten)]
    make: MakeArgs,
}

/// The commands of `suite` that make none.
#[derive(Debug, Subcommand)]
enum SuiteReport {
    /// Reports on suites: lines that make a match manager stop or play another position,
    /// and figures
    #[command(after_help = "Example:\n  tabia suite check suite.epd\n\n\
        Exit code 1 when there is a fault.")]
    Check {
        /// Suites (.epd, .pgn, .zip)
        #[arg(value_name = "SUITE", required = true)]
        suites: Vec<PathBuf>,
        /// The plies that each line should have
        #[arg(long, value_name = "N")]
        plies: Option<u32>,
        /// The report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Reports on a match: draws, bias, pentanomial, dead and repeated openings
    #[command(after_help = "Example:\n  tabia suite match games.pgn suite.epd")]
    Match {
        /// The games of the match
        #[arg(add = complete::games())]
        games: PathBuf,
        /// The suite that they were played from
        suite: PathBuf,
        /// The report as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &SuiteArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    match &args.report {
        None => make(&args.make, out),
        Some(SuiteReport::Check {
            suites,
            plies,
            json,
        }) => check::check(suites, *plies, *json, out),
        Some(SuiteReport::Match { games, suite, json }) => check::played(games, suite, *json, out),
    }
}

fn make(args: &MakeArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let target = args.output.as_ref();
    let job = args.job(target.context("nothing to make: see --output")?)?;
    let start = Instant::now();
    let made = progress::watched(|watch| suite::make(&job, watch))?.map_err(named)?;
    report(&job, &made, start.elapsed());
    if args.json {
        writeln!(out, "{}", json(&job, &made))?;
        out.flush()?;
    }
    let lost = u8::from(made.unread.is_loss());
    Ok(collection::exit_code(args.strict, &made.tally).max(lost))
}
