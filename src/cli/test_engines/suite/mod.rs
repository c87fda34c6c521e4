//! `tabia suite`: opening suites for engine testers.

mod check;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::builder::Resettable;
use clap::{Args, Subcommand, ValueEnum};

use crate::cli::arguments::collection::{self, GameFilterArgs};
use crate::cli::arguments::common::{self, Force, Sides, Word, one_of};
use crate::cli::arguments::complete::{self, Of};
use crate::cli::arguments::configuration::ConfigArgs;
use crate::cli::arguments::engine_args::EngineArgs;
use crate::cli::arguments::line;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::report;
use tabia_analysis::evaluate::EnginePlan;
use tabia_analysis::suite::{
    self, BoardFilter, Castled, Confirmed, Counters, Cut, Form, FunnelRow, FunnelStep, MadeSuite,
    Play, Queens, Range, SuiteJob, SuiteOrder, ValueView, ValueWindow,
};
use tabia_io::input::path::has_extension;
use tabia_notation::Line;

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

/// Arguments of `suite` without a word, or with `make`.
#[derive(Args, Debug)]
#[command(mut_arg("player_colour", |arg| arg
    .requires(Resettable::Reset)
    .help("The colour of that player; without --player the colour to move, with it by --side COLOUR")))]
struct MakeArgs {
    /// Books, games, suites, or `-`
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,
    /// The suite to write: .epd or .pgn
    #[arg(short, long, value_name = "OUT", required = true)]
    output: Option<PathBuf>,
    #[command(flatten)]
    lines: LineArgs,
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    values: ValueArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    filter: GameFilterArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Threads that read [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = collection::thread_count())]
    threads: Option<u16>,
    /// Memory for sorting; what does not fit goes to temporary files beside OUT
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = common::size)]
    memory: u64,
    #[command(flatten)]
    force: Force,
    /// Ends with exit code 1 when games were skipped or cut short
    #[arg(long)]
    strict: bool,
    /// The report as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// Which positions of the lines.
#[derive(Args, Debug)]
#[command(next_help_heading = "Positions")]
struct LineArgs {
    /// Positions exactly N plies after the start [default: 16]
    #[arg(long, value_name = "N")]
    plies: Option<u32>,
    /// Positions from this ply on instead, every one of a line
    #[arg(long, value_name = "N", conflicts_with = "plies")]
    min_plies: Option<u32>,
    /// Positions up to this ply instead, every one of a line
    #[arg(long, alias = "max-ply", value_name = "N", conflicts_with = "plies")]
    max_plies: Option<u32>,
    /// The last position of each game, however long it is
    #[arg(long, conflicts_with_all = ["plies", "min_plies", "max_plies", "exit"])]
    end: bool,
    /// Of books: the positions in which they end
    #[arg(long, conflicts_with_all = ["plies", "min_plies", "max_plies"])]
    exit: bool,
    /// Only below this position
    #[arg(long, value_name = "FEN", allow_hyphen_values = true)]
    fen: Option<String>,
    /// Only below this line, as "1.e4 c5"
    #[arg(long, visible_alias = "moves", value_name = "MOVES")]
    line: Option<String>,
    /// Games through a position, at least
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u64,
    /// How often it is reached from the start, in per cent, at least
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    min_share: f64,
    /// How the frequencies of a book's moves are computed: as the adapter plays them,
    /// or by games
    #[arg(long, value_name = "HOW", value_enum, default_value_t = By::Adapter)]
    by: By,
    /// An option of the adapter for that, as "Book Variety=100"
    #[arg(long = "set", value_name = "NAME=VALUE", add = complete::options(Of::Choice))]
    options: Vec<String>,
}

const QUEENS: &[Word<Queens>] = &[
    ("any", "With or without queens", Queens::Any),
    ("both", "One of each colour or more", Queens::Both),
    ("none", "None", Queens::None),
];

const KINGS: &[Word<Castled>] = &[
    ("any", "Anywhere", Castled::Any),
    (
        "opposite",
        "On different wings: one on the files a to c, one on f to h",
        Castled::Opposite,
    ),
    (
        "none",
        "Both in the middle, on the files d and e",
        Castled::None,
    ),
];

const VIEWS: &[Word<ValueView>] = &[
    ("better", "The side that is better", ValueView::Better),
    ("white", "White", ValueView::White),
    ("mover", "The side to move", ValueView::Mover),
];

const ORDERS: &[Word<SuiteOrder>] = &[
    ("random", "At random, by a seed", SuiteOrder::Random),
    ("popular", "The most popular first", SuiteOrder::Popular),
    ("eval", "By the value of the better side", SuiteOrder::Eval),
    ("file", "As the sources have them", SuiteOrder::File),
];

const COUNTERS: &[Word<Counters>] = &[
    ("fen", "Six fields, as the official suites", Counters::Fen),
    (
        "epd",
        "`hmvc 3; fmvn 5;`, which all managers honour",
        Counters::Epd,
    ),
    ("none", "Not at all", Counters::None),
];

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Adapter,
    Games,
}

/// Conditions on the position.
#[derive(Args, Debug)]
#[command(next_help_heading = "Board")]
struct BoardArgs {
    /// The colour to move, also with --player
    #[arg(long, value_name = "COLOUR", value_enum, default_value_t = Sides::Both, ignore_case = true, hide = true)]
    side: Sides,
    /// Queens: of both colours, whatever, or none
    #[arg(long, value_name = "QUEENS", default_value = "any", value_parser = one_of(QUEENS))]
    queens: Queens,
    /// Pieces and pawns on the board, as 20..32
    #[arg(long, value_name = "LO..HI")]
    men: Option<Range>,
    /// Kings: both on the files d and e (none), on different wings (opposite)
    #[arg(long, value_name = "KINGS", default_value = "any", value_parser = one_of(KINGS))]
    castled: Castled,
    /// Whether positions in check are included
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t = YesNo::No)]
    in_check: YesNo,
    /// Only where no capture wins material by static exchange
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum YesNo {
    Yes,
    No,
}

/// Conditions on values.
#[derive(Args, Debug)]
#[command(next_help_heading = "Values")]
struct ValueArgs {
    /// Only positions of these centipawns, as 90..119
    #[arg(long, value_name = "LO..HI", allow_hyphen_values = true)]
    eval: Option<Range>,
    /// Only where this colour is better
    #[arg(long, value_name = "COLOUR", value_enum, default_value_t = Sides::Both, ignore_case = true)]
    better: Sides,
    /// The side from which these centipawns are seen
    #[arg(long, value_name = "WHO", default_value = "better", value_parser = one_of(VIEWS))]
    view: ValueView,
    /// Only positions the better side wins so often in per cent, as predicted
    /// by the engine or by Stockfish's model: 48..52
    #[arg(long, value_name = "LO..HI")]
    win: Option<Range>,
    /// Values by position: lichess's evaluations (.jsonl, .zst), EPD with `ce`,
    /// `FEN ; cdb eval: N`, or `FEN,CP` (of the side to move)
    #[arg(long, value_name = "FILE")]
    eval_file: Vec<PathBuf>,
    /// An engine, by its name in engines.toml, in PATH or as a path, for
    /// positions that no file knows
    #[arg(long, value_name = "NAME", add = complete::engines())]
    engine: Option<String>,
    /// Nodes of each search
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "engine")]
    nodes: u64,
    /// Depth of each search in plies, instead of nodes
    #[arg(long, value_name = "N", requires = "engine", conflicts_with = "nodes")]
    depth: Option<u16>,
    /// Searches positions that meet the conditions on values again, for N nodes; the
    /// next ones replace those that no longer meet them
    #[arg(long, value_name = "N", requires = "engine")]
    confirm_nodes: Option<u64>,
    /// The second value must be inside the ends of --eval and --win by this per cent of
    /// their width, because the next search has errors too
    #[arg(long, value_name = "PERCENT", default_value_t = 20, requires = "confirm_nodes",
          value_parser = clap::value_parser!(u8).range(..50))]
    confirm_margin: u8,
    /// Engines at once [default: one for each processor]
    #[arg(long, value_name = "N", requires = "engine", value_parser = collection::thread_count())]
    jobs: Option<u16>,
    /// Adds the engine's values to this file (EPD); positions in it are not searched
    /// again
    #[arg(long, value_name = "FILE", requires = "engine")]
    save_evals: Option<PathBuf>,
    /// Leaves out mates and more than 20 pawns (--drop-mates=no keeps them)
    #[arg(long, value_name = "YES|NO", value_enum, default_value_t = YesNo::Yes,
        num_args = 0..=1, default_missing_value = "yes", require_equals = true)]
    drop_mates: YesNo,
}

/// Which of them, and in which order.
#[derive(Args, Debug)]
#[command(next_help_heading = "Choice")]
struct ChoiceArgs {
    /// What counts as the same: the position, or also with colours exchanged
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Unique::Position)]
    unique: Unique,
    /// At most N positions below the same first plies
    #[arg(long, value_name = "N")]
    max_per_line: Option<u32>,
    /// These first plies
    #[arg(long, value_name = "M", default_value_t = 4, requires = "max_per_line")]
    line_plies: usize,
    /// Takes N positions, the most popular first
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Takes them at random by their weight instead
    #[arg(long)]
    sample: bool,
    /// The order of the file
    #[arg(long, value_name = "ORDER", default_value = "random", value_parser = one_of(ORDERS))]
    order: SuiteOrder,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Unique {
    Position,
    Mirror,
}

/// What is written.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
struct OutArgs {
    /// epd or pgn [default: by the name of OUT]
    #[arg(long, value_name = "FORM", value_enum)]
    format: Option<FormArg>,
    /// The counters of a FEN: six fields, `hmvc` and `fmvn`, or none
    #[arg(long, value_name = "HOW", default_value = "fen", value_parser = one_of(COUNTERS))]
    counters: Counters,
    /// Adds value, depth and a name to each line (then with --counters epd)
    #[arg(long)]
    ops: bool,
    /// Also packs it, as OUT.zip
    #[arg(long)]
    zip: bool,
    /// Adds or replaces its entry in books.json
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Writes OpenBench's file about it into a folder
    #[arg(long, value_name = "DIR")]
    openbench: Option<PathBuf>,
    /// Address of the archive, for OpenBench
    #[arg(long, value_name = "URL", requires = "openbench")]
    source_url: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormArg {
    Epd,
    Pgn,
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

impl MakeArgs {
    fn job(&self, target: &Path) -> anyhow::Result<SuiteJob> {
        let choice = &self.choice;
        let mut job = SuiteJob::new(self.sources.clone(), target.to_owned());
        job.old = self.force.old();
        job.filter = self.filter.filter();
        job.password = self.filter.password.clone();
        job.encoding = self.filter.encoding;
        job.cut = self.lines.cut()?;
        job.below = self.lines.below()?;
        job.play = self.lines.play()?;
        job.board = self.board.filter();
        let to_move = self.filter.colour_without_player();
        job.board.side = job.board.side.or(to_move.map(shakmaty::Color::from));
        job.min_games = self.lines.min_games;
        job.min_share = self.lines.min_share;
        job.window = self.values.window();
        job.eval_files = self.values.eval_file.clone();
        job.engine = self.engine()?;
        job.confirm = self.values.confirm_nodes;
        job.confirm_margin = f64::from(self.values.confirm_margin) / 100.0;
        job.save = self.values.save_evals.clone();
        job.mirrors = matches!(choice.unique, Unique::Mirror);
        job.per_line = choice.max_per_line.map(|most| (most, choice.line_plies));
        job.count = choice.count;
        job.sample = choice.sample;
        job.order = choice.order;
        job.seed = choice.seed;
        job.form = self.out.form(target)?;
        job.zip = self.out.zip;
        job.metadata = self.out.metadata.clone();
        job.openbench = self.out.openbench.clone();
        job.source_url = self.out.source_url.clone();
        job.threads = collection::threads(self.threads);
        job.memory = self.memory;
        Ok(job)
    }

    fn engine(&self) -> anyhow::Result<Option<EnginePlan>> {
        let values = &self.values;
        let Some(name) = &values.engine else {
            ensure!(
                !values.window().needs_value() || !values.eval_file.is_empty(),
                "--eval, --win and --better need values: give --eval-file FILE or --engine NAME"
            );
            return Ok(None);
        };
        let confirm = values.confirm_nodes.unwrap_or(0);
        ensure!(
            confirm == 0 || values.depth.is_some() || confirm > values.nodes,
            "--confirm-nodes {confirm} is not more than --nodes {} of the first search",
            values.nodes
        );
        let engine = EngineArgs {
            config: self.config.clone(),
            engine: Some(name.clone()),
            nodes: Some(values.nodes),
            depth: values.depth,
            jobs: values.jobs,
            ..EngineArgs::default()
        };
        let again = EngineArgs {
            nodes: Some(confirm),
            ..EngineArgs::default()
        };
        let mut plan = engine.plan(1)?;
        plan.patience = plan.patience.max(again.patience());
        Ok(Some(plan))
    }
}

impl LineArgs {
    fn cut(&self) -> anyhow::Result<Cut> {
        if self.exit {
            return Ok(Cut::Exit);
        }
        if self.end {
            return Ok(Cut::End);
        }
        if self.min_plies.is_none() && self.max_plies.is_none() {
            return Ok(Cut::At(self.plies.unwrap_or(16)));
        }
        let first = self.min_plies.unwrap_or(0);
        let last = self.max_plies.unwrap_or(first.max(16));
        ensure!(
            first <= last,
            "--min-plies {first} is more than --max-plies {last}"
        );
        Ok(Cut::Range(first, last))
    }

    fn below(&self) -> anyhow::Result<Option<Line>> {
        if self.fen.is_none() && self.line.is_none() {
            return Ok(None);
        }
        let fen = self.fen.as_deref().unwrap_or_default();
        let moves = self.line.as_deref().unwrap_or_default();
        Ok(Some(line::line_from(fen, moves)?))
    }

    fn play(&self) -> anyhow::Result<Play> {
        if matches!(self.by, By::Games) {
            return Ok(Play::Games);
        }
        let options = common::choice_options(&self.options)?;
        Ok(Play::Adapter(Box::new(options.rules())))
    }
}

impl BoardArgs {
    fn filter(&self) -> BoardFilter {
        let mut filter = BoardFilter::default();
        filter.side = self.side.alone();
        filter.queens = self.queens;
        filter.men = self.men;
        filter.castled = self.castled;
        filter.in_check = self.in_check == YesNo::Yes;
        filter.quiet = self.quiet;
        filter
    }
}

impl ValueArgs {
    fn window(&self) -> ValueWindow {
        let mut window = ValueWindow::default();
        window.cp = self.eval;
        window.view = self.view;
        window.wins = self.win;
        window.better = self.better.alone();
        window.undecided = self.drop_mates == YesNo::Yes;
        window
    }
}

impl OutArgs {
    fn form(&self, target: &Path) -> anyhow::Result<Form> {
        let forms = [("epd", FormArg::Epd), ("pgn", FormArg::Pgn)];
        let named = forms.iter().find(|form| has_extension(target, form.0));
        let form = self.format.or(named.map(|form| form.1));
        Ok(match form {
            None => bail!(
                "{}: a suite is written as .epd or .pgn (or give --format)",
                target.display()
            ),
            Some(FormArg::Pgn) => Form::Pgn,
            Some(FormArg::Epd) => Form::Epd {
                counters: self.counters,
                operations: self.ops,
            },
        })
    }
}

/// An error that names the option instead of the step.
fn named(error: tabia_analysis::Error) -> anyhow::Error {
    match error {
        tabia_analysis::Error::NoPositionLeft { seen, step, lost } => anyhow::anyhow!(
            "no position is left of {seen}: {} rejected most of them ({lost})",
            words(step).0
        ),
        error => error.into(),
    }
}

/// The option or another name of a step, and what is left out there.
const fn words(step: FunnelStep) -> (&'static str, &'static str) {
    match step {
        FunnelStep::Short => ("--plies", "end before that ply"),
        FunnelStep::Elsewhere => ("--line, --fen", "not below that position"),
        FunnelStep::Side => ("--colour", "the other side to move"),
        FunnelStep::Queens => ("--queens", "other queens"),
        FunnelStep::Men => ("--men", "other number of men"),
        FunnelStep::Castled => ("--castled", "other kings"),
        FunnelStep::Check => ("--in-check", "in check"),
        FunnelStep::Over => ("games that are over", "over"),
        FunnelStep::Loud => ("--quiet", "not quiet"),
        FunnelStep::Duplicate => ("--unique", "again"),
        FunnelStep::Mirror => ("--unique mirror", "mirrors"),
        FunnelStep::Games => ("--min-games", "too few games"),
        FunnelStep::Share => ("--min-share", "too rare"),
        FunnelStep::Line => ("--max-per-line", "more of a line"),
        FunnelStep::Unknown => (
            "--eval, --win or --better without a value",
            "without a value",
        ),
        FunnelStep::Decided => ("--drop-mates", "decided"),
        FunnelStep::Better => ("--better", "the other side better"),
        FunnelStep::Cp => ("--eval", "outside --eval"),
        FunnelStep::Wins => ("--win", "outside --win"),
        FunnelStep::Unconfirmed => ("--confirm-nodes", "outside when searched again"),
        FunnelStep::Count => ("--count", "more than --count"),
    }
}

/// In the form `12 left: 3 more of a line (--max-per-line)`.
fn row_text(row: &FunnelRow) -> String {
    let (option, what) = words(row.step);
    let what = match row.step {
        FunnelStep::Duplicate => "duplicates removed",
        _ => what,
    };
    let text = format!("{:>12} left: {} {what}", row.left, row.lost);
    match option.starts_with("--") && !what.contains(option) {
        true => format!("{text} ({option})"),
        false => text,
    }
}

/// Prints the result on standard error.
fn report(job: &SuiteJob, made: &MadeSuite, time: Duration) {
    collection::report(&made.tally);
    summary!("{:>12} positions examined", made.funnel.seen);
    for row in made.funnel.rows() {
        summary!("{}", row_text(&row));
    }
    let (files, engines) = made.values;
    if files + engines > 0 {
        summary!("values: {files} from files, {engines} from the engine");
    }
    if let Some(nodes) = job.confirm {
        summary!(
            "{}",
            confirmation(nodes, job.confirm_margin, &made.confirmed)
        );
    }
    let found = made.figures.positions;
    if let Some(wanted) = job.count.filter(|wanted| found < *wanted) {
        message!("only {found} of the {wanted} positions of --count: no others are left");
    }
    for line in check::figures(&made.figures) {
        summary!("{line}");
    }
    let tally = &made.tally;
    let extra = collection::counts([
        (tally.filtered, "games filtered out"),
        (tally.skipped, "games or lines skipped"),
        (tally.cut, "games cut short"),
    ]);
    let lost = made::all_lost(&made.unread);
    summary!(
        "{}: {} positions in {:.1} s{extra}{lost}",
        job.target.display(),
        made.figures.positions,
        time.as_secs_f64()
    );
    for file in &made.files {
        summary!("{}: written", file.display());
    }
    // What the archive is for is worth a line to who asks for it.
    let is_asked = |manager| match manager {
        "fishtest" => job.zip || job.metadata.is_some(),
        "OpenBench" => job.openbench.is_some(),
        _ => true,
    };
    for (manager, line) in lines(job, made).into_iter().filter(|line| is_asked(line.0)) {
        summary!("{manager}: {line}");
    }
}

/// Formats `searched again for 100000 nodes, margin 20 %: 60 of 143 stayed (42.0 %)`.
fn confirmation(nodes: u64, margin: f64, confirmed: &Confirmed) -> String {
    let Confirmed {
        screened, stayed, ..
    } = *confirmed;
    let share = confirmed.share();
    let share = share.map_or_else(String::new, |share| format!(" ({:.1} %)", 100.0 * share));
    let known = collection::counts([(confirmed.known, "had such a value before")]);
    let margin = 100.0 * margin;
    format!(
        "searched again for {nodes} nodes, margin {margin:.0} %: {stayed} of {screened} \
         stayed{share}{known}"
    )
}

fn lines(job: &SuiteJob, made: &MadeSuite) -> Vec<(&'static str, String)> {
    let plies = made.row.max_depth.unwrap_or(0);
    report::managers::lines(&job.target, job.form == Form::Pgn, plies, job.seed)
}

fn json(job: &SuiteJob, made: &MadeSuite) -> serde_json::Value {
    let steps: serde_json::Map<String, serde_json::Value> = made
        .funnel
        .rows()
        .map(|row| (words(row.step).1.to_owned(), row.lost.into()))
        .collect();
    let managers: serde_json::Map<String, serde_json::Value> = lines(job, made)
        .into_iter()
        .map(|(manager, line)| (manager.to_owned(), line.into()))
        .collect();
    serde_json::json!({
        "output": job.target.display().to_string(),
        "looked_at": made.funnel.seen,
        "left_out": steps,
        "values": { "files": made.values.0, "engine": made.values.1 },
        "wanted": job.count,
        "confirmation": job.confirm.map(|nodes| {
            let Confirmed { screened, stayed, known } = made.confirmed;
            let share = made.confirmed.share();
            serde_json::json!({
                "nodes": nodes,
                "margin": job.confirm_margin,
                "screened": screened,
                "stayed": stayed,
                "share": share,
                "known": known,
            })
        }),
        "games": {
            "read": made.tally.read,
            "filtered": made.tally.filtered,
            "skipped": made.tally.skipped,
            "cut": made.tally.cut,
        },
        "figures": made.figures,
        "metadata": made.row,
        "managers": managers,
    })
}
