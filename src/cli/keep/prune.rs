//! `tabia prune`: removes moves from a book.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;

use super::mark;
use crate::cli::arguments::common::{COLOUR, DryRun, PlayerColour, Rewriting};
use crate::cli::arguments::complete;
use crate::cli::files;
use crate::cli::print::made;
use crate::cli::print::progress;
use crate::cli::print::style::counted;
use tabia_analysis::Error;
use tabia_analysis::audit::{Examined, LosingMoves};
use tabia_analysis::graph::BookGraph;
use tabia_analysis::prune::{self, Conditions};
use tabia_book::evals;
use tabia_book::policy::Policy;
use tabia_io::atomic;
use tabia_io::progress::Watch;
use tabia_notation::Line;

/// Arguments of `prune`.
#[derive(Args, Debug)]
pub(crate) struct PruneArgs {
    /// The book
    #[arg(add = complete::books())]
    book: PathBuf,
    /// The book to make; .cto and .ctb are put beside it
    #[arg(short, long, value_name = "OUT.ctg")]
    output: PathBuf,
    /// Removes moves that meet a condition, as "games<10 and score<40"
    #[arg(long = "where", value_name = "CONDITION")]
    filter: Option<String>,
    /// Removes the last move of a line; may be given several times
    #[arg(long, visible_alias = "moves", value_name = "MOVES")]
    line: Vec<String>,
    /// Removes moves beyond N plies from the start position
    #[arg(long, aliases = ["plies", "max-plies", "depth"], value_name = "N")]
    max_ply: Option<u32>,
    /// Removes positions of fewer games, and the moves into them
    #[arg(long, value_name = "N")]
    min_games: Option<u32>,
    /// Removes moves that lose more than N centipawns against the best, by the
    /// evaluations beside the book (see `tabia evaluate`)
    #[arg(long, value_name = "CP")]
    max_loss: Option<u32>,
    /// Keeps moves of this side only; positions after the other side's moves
    /// stay
    #[arg(long, aliases = COLOUR, value_name = "COLOUR", ignore_case = true)]
    colour: Option<PlayerColour>,
    #[command(flatten)]
    rewriting: Rewriting,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia prune book.ctg -o small.ctg --min-games 5 --max-ply 24\n  \
    tabia prune book.ctg -o open.ctg --line \"1.d4\" --line \"1.c4\"\n  \
    tabia prune book.ctg -o sound.ctg --where \"mark=avoid or annotation=??\"\n  \
    tabia prune book.ctg -o sound.ctg --max-loss 100\n  \
    tabia prune book.ctg -o mine.ctg --colour white\n\n\
    A move is removed if it meets one condition, and then every position that stored moves no \
    longer reach from the start position. The other positions keep their numbers, and their \
    marks except as below. A move without an evaluation counts as losing nothing. Conditions are \
    those of `tabia mark`. The ply of a position is that of the shortest line to it.\n\n\
    The position after a removed move may stay, because other moves lead there. An adapter \
    would then play the move as a transposition. So it stays in the list with an annotation: its \
    own doubtful one, else the one for its loss, at least `?!`. If such a move would still be \
    played because the position has no better one, the position after it becomes red as well, \
    for all moves that lead there. So with the default options no move that met a condition is \
    played from the new book; the counts show what was done. After `--colour` it plays for that \
    side alone.\n\n\
    Exit codes: 0 done; 1 a line is not in the book, or pages cannot be read; 2 wrong usage \
    or files.";

impl PruneArgs {
    fn conditions(&self) -> anyhow::Result<Conditions> {
        let mut lines = Vec::new();
        for text in &self.line {
            let line = Line::read("", text).with_context(|| format!("--line \"{text}\""))?;
            ensure!(
                line.plies() > 0,
                "--line \"{text}\": expected at least one move"
            );
            lines.push(line);
        }
        let mut conditions = Conditions::default();
        conditions.filter = mark::filter(self.filter.as_deref())?;
        conditions.lines = lines;
        conditions.max_ply = self.max_ply;
        conditions.min_games = self.min_games;
        conditions.only = self.colour.map(shakmaty::Color::from);
        ensure!(
            !conditions.is_empty() || self.max_loss.is_some(),
            "name what to remove: --where, --line, --max-ply, --min-games, --max-loss or --colour"
        );
        Ok(conditions)
    }
}

/// The moves that lose too much, by the evaluations next to the book.
fn losing(path: &Path, max_loss: u32) -> anyhow::Result<LosingMoves> {
    let beside = evals::beside(path);
    let evaluations = evals::read(&beside)?.table;
    ensure!(
        !evaluations.is_empty(),
        "--max-loss needs evaluations of the book, and {} has none: `tabia evaluate` first",
        beside.display()
    );
    let book = files::open_quietly(path, false)?;
    let mut quiet = Watch::default();
    // Damaged parts are reported when the book is rewritten.
    let graph = BookGraph::from_book(&book, &mut quiet, &mut |_| ())?;
    let examined = Examined::new(&graph, &evaluations, Policy::default(), None);
    Ok(examined.losing_moves(max_loss))
}

pub(crate) fn run(args: &PruneArgs) -> anyhow::Result<u8> {
    let mut conditions = args.conditions()?;
    files::complete_interrupted(&args.book)?;
    files::complete_interrupted(&args.output)?;
    files::only_ctg(&args.book)?;
    let options = args.rewriting.options();
    atomic::check(&args.output, &["cto", "ctb"], options.old)?;
    if let Some(max_loss) = args.max_loss {
        conditions.losing = Some(losing(&args.book, max_loss)?);
    }
    let start = Instant::now();
    let dry = args.dry_run.place(&args.output)?;
    let target = dry.as_ref().map_or(&args.output, |(_, place)| place);
    let done =
        progress::watched(|watch| prune::prune(&args.book, target, &conditions, &options, watch))?;
    let done = match done {
        Err(error @ Error::NotInBook(_)) => {
            message!("{}: {error}", args.book.display());
            return Ok(1);
        }
        done => done?,
    };
    let mut what = format!(
        "{}: {} removed, and {} with {} more",
        args.output.display(),
        counted(done.moves, "move"),
        counted(done.positions, "position"),
        done.moves_of_removed
    );
    if done.warned > 0 {
        what += &format!(
            "; {} left with a warning annotation, as other moves lead to the same position",
            counted(done.warned, "move")
        );
    }
    if done.red > 0 {
        what += &format!(
            "; {} made red, where no better move was left",
            counted(done.red, "position")
        );
    }
    let code = made::report(&what, &done.rewritten, start);
    args.dry_run.note();
    Ok(code)
}
