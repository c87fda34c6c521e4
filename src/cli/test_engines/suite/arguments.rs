//! The arguments of `suite make`, and the job that they describe.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::builder::Resettable;
use clap::{Args, ValueEnum};

use crate::cli::arguments::collection::{self, GameFilterArgs};
use crate::cli::arguments::common::{self, Force, Sides, Word, one_of};
use crate::cli::arguments::complete::{self, Of};
use crate::cli::arguments::configuration::ConfigArgs;
use crate::cli::arguments::engine_args::EngineArgs;
use crate::cli::arguments::line;
use tabia_analysis::evaluate::EnginePlan;
use tabia_analysis::suite::{
    BoardFilter, Castled, Counters, Cut, Form, Play, Queens, Range, SuiteJob, SuiteOrder,
    ValueView, ValueWindow,
};
use tabia_io::input::path::has_extension;
use tabia_notation::Line;

/// Arguments of `suite` without a word, or with `make`.
#[derive(Args, Debug)]
#[command(mut_arg("player_colour", |arg| arg
    .requires(Resettable::Reset)
    .help("The colour of that player; without --player the colour to move, with it by --side COLOUR")))]
pub(super) struct MakeArgs {
    /// Books, games, suites, or `-`
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<PathBuf>,
    /// The suite to write: .epd or .pgn
    #[arg(short, long, value_name = "OUT", required = true)]
    pub(super) output: Option<PathBuf>,
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
    pub(super) strict: bool,
    /// The report as JSON on standard output
    #[arg(long)]
    pub(super) json: bool,
}

impl MakeArgs {
    pub(super) fn job(&self, target: &Path) -> anyhow::Result<SuiteJob> {
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormArg {
    Epd,
    Pgn,
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
