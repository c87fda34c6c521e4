//! `tabia grow`: extends a book where games leave it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Args;

use super::evaluations;
use crate::cli::arguments::collection;
use crate::cli::arguments::common::{self, COLOUR, Force, Sides, size};
use crate::cli::arguments::complete;
use crate::cli::arguments::engine_args::EngineArgs;
use crate::cli::arguments::line;
use crate::cli::files;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use shakmaty::Position as _;
use tabia_analysis::Error;
use tabia_analysis::graph::BookGraph;
use tabia_analysis::grow::{self, Costs, End, GrowOptions, MoveFrequencies, Root};
use tabia_book::Book;
use tabia_book::ctg::RewriteOptions;
use tabia_book::evals::{self, EvalFile};
use tabia_games::EcoRange;
use tabia_index::GamesIndex;
use tabia_io::atomic;
use tabia_notation::Line;
use tabia_notation::openings;

/// Arguments of `grow`.
#[derive(Args, Debug)]
pub(crate) struct GrowArgs {
    /// The book
    #[arg(add = complete::books())]
    book: PathBuf,
    /// The book to make; .cto, .ctb and .evals are put beside it
    #[arg(short, long, value_name = "OUT.ctg")]
    output: PathBuf,
    #[command(flatten)]
    force: Force,
    /// The colour that the book is for
    #[arg(long, aliases = COLOUR, value_name = "COLOUR", value_enum, default_value = "both", ignore_case = true)]
    colour: Sides,
    /// Grows only at and below the end of a line of the book; may be given several
    /// times
    #[arg(long, visible_alias = "moves", value_name = "MOVES")]
    line: Vec<String>,
    /// Grows only at and below a position, as FEN
    #[arg(long, value_name = "FEN")]
    fen: Vec<String>,
    /// Grows only at and below openings: B20-B99, C57, D; several with commas
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    eco: Vec<EcoRange>,
    /// Takes the frequencies of the opponent's replies from this book (.ctg, .bin or
    /// .abk) or games index (.tgx); for positions that are not in it, from values of
    /// the engine
    #[arg(long, value_name = "BOOK", add = complete::books_and_indexes())]
    replies: Option<PathBuf>,
    /// Ends after this number of new positions [default: 1000, but no limit with
    /// --minutes or --max-cost]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// Ends after this number of minutes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=525_600))]
    minutes: Option<u64>,
    /// Ends when the cheapest exit costs more, in hundredths of a ply
    #[arg(long, value_name = "COST")]
    max_cost: Option<u64>,
    /// Adds nothing beyond N plies from the start position
    #[arg(long, aliases = common::PLIES, value_name = "N", default_value_t = 80)]
    max_ply: u32,
    /// Cost of a ply, and with --replies of halving the likelihood
    #[arg(long, value_name = "COST", default_value_t = Costs::default().ply)]
    ply_cost: u32,
    /// Cost of a centipawn lost by the side that the book is for
    #[arg(long, value_name = "COST", default_value_t = Costs::default().own)]
    own_cost: u32,
    /// Cost of a centipawn lost by the opponent
    #[arg(long, value_name = "COST", default_value_t = Costs::default().other)]
    other_cost: u32,
    /// Memory for sorting a book with unordered pages, as 64M or 2G
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = size)]
    memory: u64,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia grow book.ctg -o larger.ctg --engine stockfish --positions 10000\n  \
    tabia grow book.ctg -o white.ctg --colour white --replies games.ctg --minutes 600 \
--engine stockfish\n  \
    tabia grow book.ctg -o najdorf.ctg --eco B90-B99 --engine stockfish\n  \
    tabia grow book.ctg -o larger.ctg --max-cost 2500 --nodes 500000 -- ./engine\n\n\
    Every exit of the book has a cost: for each move the cost of a ply, and of its loss against \
    the best move; losses of your side cost more than the opponent's. The cheapest exit becomes \
    a move of the book, again and again, so lines grow deep where both sides play well. In a \
    book for both sides every other position is chosen for White. Decided positions (3.76 pawns) \
    are not added. With --line, --fen or --eco only lines from these positions grow; --max-ply \
    counts from the start position.\n\n\
    Results of the engine are stored in OUT.evals at once, with those beside the old book. The \
    book itself is written at the end; after an interruption the same command continues. Running \
    `tabia evaluate` first saves no time; a book without evaluations is searched along its \
    cheapest lines first.\n\n\
    New moves have no games: set `Book Minimum Games` to 0 to play them, and `Book Judgement` \
    to `evaluations` or `both` to choose between them.\n\n\
    Exit codes: 0 done; 1 there is nothing to add, some positions got no answer, or parts of a \
    book cannot be read; 2 nothing was written.";

pub(crate) fn run(args: &GrowArgs) -> anyhow::Result<u8> {
    files::complete_interrupted(&args.output)?;
    files::only_ctg(&args.book)?;
    atomic::check(&args.output, &["cto", "ctb"], args.force.old())?;
    let start = Instant::now();
    let plan = args.engine.plan(1)?;
    let book = files::open_book(&args.book, false)?;
    let replies = args.replies.as_deref().map(Replies::open).transpose()?;
    let (mut graph, unread) = evaluations::graph(&book)?;
    let beside = evals::beside(&args.output);
    let file = EvalFile::open(&beside)?;
    let mut evaluations = evals::read(&beside)?.table;
    let known = evaluations.len();
    let mut table = evals::read(&evals::beside(&args.book))?.table;
    grow::take_over(&table, &graph, &mut evaluations, &file)?;
    if known > 0 && beside != evals::beside(&args.book) {
        let beside = beside.display();
        summary!("{beside}: continuing with {known} evaluations");
    }
    let until = args
        .minutes
        .map(|minutes| start + Duration::from_secs(60 * minutes));
    let limited = until.is_some() || args.max_cost.is_some();
    let usual = if limited { u64::MAX } else { 1000 };
    let mut options = GrowOptions::new(args.positions.unwrap_or(usual));
    options.side = args.colour.alone();
    options.costs.ply = args.ply_cost;
    options.costs.own = args.own_cost;
    options.costs.other = args.other_cost;
    options.replies = replies.as_ref().map(Replies::frequencies);
    options.until = until;
    options.max_cost = args.max_cost;
    options.max_ply = args.max_ply;
    options.roots = roots(args, &graph)?;
    let grown = progress::watched(|watch| {
        grow::grow(
            &plan,
            &options,
            &mut graph,
            &mut table,
            &evaluations,
            file,
            watch,
        )
    })?;
    let grown = match grown {
        Err(Error::Stopped) => anyhow::bail!(
            "interrupted; the results of the engine are in {}: the same command continues from \
             there",
            beside.display()
        ),
        grown => grown?,
    };
    evaluations::report_unanswered(grown.first_fault.as_ref());
    let lost = u8::from(unread.is_loss()).max(replies.as_ref().map_or(0, Replies::left_out));
    let counts = collection::counts([
        (grown.failed, "without an answer"),
        (grown.restarts, "engines started again"),
    ]);
    let searches = match grown.searches {
        1 => "1 search".to_owned(),
        many => format!("{many} searches"),
    };
    if grown.moves.is_empty() {
        summary!(
            "{}: there is nothing to add; {searches}{counts}",
            args.book.display()
        );
        return Ok(if grown.failed > 0 { 2 } else { 1 });
    }
    let options = RewriteOptions::default()
        .old(args.force.old())
        .memory(args.memory);
    // The old one may be the file that is replaced.
    drop(book);
    let mut written = progress::watched(|watch| {
        grow::write_grown(
            &args.book,
            &args.output,
            &graph,
            &grown.moves,
            &options,
            watch,
        )
    })??;
    let messages = &mut written.salvage.messages;
    messages.retain(|text| !unread.messages.contains(text));
    let why = match grown.end {
        End::Positions | End::Time => "",
        End::Exhausted => "; all that is left costs too much, is too deep, or decided",
    };
    let what = format!(
        "{}: {} more, {} more, the last for {} hundredths of a ply; {searches}{counts}{why}",
        args.output.display(),
        counted(grown.positions, "position"),
        counted(grown.moves.len() as u64, "move"),
        grown.cost,
    );
    let code = made::report(&what, &written, start);
    Ok(code.max(lost).max(u8::from(grown.failed > 0)))
}

/// The positions where growing begins.
fn roots(args: &GrowArgs, graph: &BookGraph) -> anyhow::Result<Vec<Root>> {
    let mut roots = roots_of_openings(args, graph)?;
    let lines = args.line.iter().map(|line| ("--line", line, "", &**line));
    let positions = args.fen.iter().map(|fen| ("--fen", fen, &**fen, ""));
    for (option, text, fen, moves) in lines.chain(positions) {
        let line = line::line_from(fen, moves).with_context(|| format!("{option} \"{text}\""))?;
        ensure!(
            graph.node(line.last()).is_some(),
            "{option} \"{text}\": {} does not hold this position; `tabia add --line` adds a line",
            args.book.display()
        );
        roots.push(root(&line));
    }
    if roots.is_empty() {
        roots.push(Root::new(shakmaty::Chess::default(), 0));
    }
    Ok(roots)
}

/// The first positions of the book in the given openings.
fn roots_of_openings(args: &GrowArgs, graph: &BookGraph) -> anyhow::Result<Vec<Root>> {
    let mut roots = Vec::new();
    for (opening, moves) in openings::rows() {
        if args.eco.iter().any(|range| range.includes(opening.eco)) {
            let line = Line::read("", moves)?;
            roots.extend(graph.node(line.last()).map(|_| root(&line)));
        }
    }
    ensure!(
        args.eco.is_empty() || !roots.is_empty(),
        "--eco: {} holds no position that an opening of these codes begins with",
        args.book.display()
    );
    Ok(roots)
}

fn root(line: &Line) -> Root {
    let before = line.start();
    let whole_moves = before.fullmoves().get().saturating_sub(1);
    let ply = 2 * whole_moves + u32::from(before.turn().is_black()) + line.plies() as u32;
    Root::new(line.last().clone(), ply)
}

/// The source of how often opponents play each move.
enum Replies {
    Book(Box<Book>),
    Games(Box<GamesIndex>),
}

impl Replies {
    fn open(path: &Path) -> anyhow::Result<Replies> {
        Ok(match files::is_index(path) {
            true => Replies::Games(Box::new(GamesIndex::open(path, true)?)),
            false => Replies::Book(Box::new(files::open_book(path, false)?)),
        })
    }

    fn frequencies(&self) -> &dyn MoveFrequencies {
        match self {
            Replies::Book(book) => &**book,
            Replies::Games(games) => &**games,
        }
    }

    /// Reports what cannot be read of it; returns the exit code.
    fn left_out(&self) -> u8 {
        match self {
            Replies::Book(book) => made::left_out(book),
            Replies::Games(_) => 0,
        }
    }
}
