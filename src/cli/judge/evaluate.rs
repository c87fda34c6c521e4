//! `tabia evaluate`: makes the evaluations of a book.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Args;

use super::evaluations;
use crate::cli::arguments::collection;
use crate::cli::arguments::common::Force;
use crate::cli::arguments::complete;
use crate::cli::arguments::engine_args::EngineArgs;
use crate::cli::files;
use crate::cli::print::progress;
use tabia_analysis::audit;
use tabia_analysis::evaluate::{self, EnginePlan, GatheredFrom, Task};
use tabia_analysis::graph::BookGraph;
use tabia_book::evals::{self, EvalFile, EvalKey, EvalTable};
use tabia_book::policy::Policy;
use tabia_io::atomic;
use tabia_io::input::path::file_name;

/// Arguments of `evaluate`.
#[derive(Args, Debug)]
pub(crate) struct EvaluateArgs {
    /// The book
    #[arg(add = complete::books())]
    pub(crate) book: PathBuf,
    /// Reads evaluations from files: EPD, .evals, the export of lichess, text
    /// of chessdb.cn, tables of fishnet (.parquet), games with [%eval]; also .gz,
    /// .zst or .bz2. Only positions of the book are stored
    #[arg(long, value_name = "FILE", num_args = 1..)]
    import: Vec<PathBuf>,
    /// Lines that the engine looks for
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    multipv: u16,
    /// Does part I of N parts of the work, for several machines; --import joins their
    /// results
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Only the N likeliest positions (of the part, with --shard); a second run
    /// continues with the rest of them
    #[arg(long, value_name = "N")]
    positions: Option<usize>,
    /// Also positions whose evaluation took fewer nodes or plies than asked for
    #[arg(long)]
    deeper: bool,
    /// Only the positions in a report of `tabia audit` (.json), and those after the
    /// moves in it
    #[arg(long, value_name = "AUDIT.json", conflicts_with_all = ["positions", "shard", "multipv"])]
    of: Option<PathBuf>,
    /// The file of evaluations [default: beside the book, as BOOK.evals]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Writes the backed-up value of every position (minimax), for `Book Evaluations`
    #[arg(long, value_name = "FILE")]
    carried: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia evaluate book.ctg --engine stockfish --nodes 200000 --jobs 4\n  \
    tabia evaluate book.ctg --import lichess_db_eval.jsonl.zst\n  \
    tabia evaluate book.ctg --engine stockfish --depth 20 --shard 2/3 -o part2.evals\n  \
    tabia evaluate book.ctg --import part1.evals part2.evals part3.evals\n  \
    tabia evaluate book.ctg --engine stockfish --nodes 2000000 --of audit.json\n  \
    tabia evaluate book.ctg --carried book-carried.evals\n\n\
    The likeliest positions come first, by the book's own probabilities. If the best move is in \
    the book, a second search finds the value of the best other move. Every result \
    is in the file at once: an interrupted run continues when it is started again. \
    docs/evaluations.md of the source describes file and numbers.\n\n\
    Exit codes: 0 done; 1 some positions got no answer, or the files of --import have no \
    position of the book, or parts of the book cannot be read; 2 nothing could be done.";

/// One part of the work.
#[derive(Clone, Copy, Debug)]
struct Shard {
    part: u64,
    of: u64,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/');
    let parts = parts.and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((part, of)) if part >= 1 && part <= of => Ok(Shard { part, of }),
        _ => Err("expected I/N as in 1/4, 2/4, 3/4, 4/4".to_owned()),
    }
}

impl EvaluateArgs {
    fn tasks(&self, graph: &BookGraph, table: &EvalTable) -> Vec<Task> {
        let reach = graph.probabilities_by(&Policy::default());
        let mut nodes = evaluate::likeliest_first(graph, &reach);
        if let Some(Shard { part, of }) = self.shard {
            nodes.retain(|node| (graph.key(*node).0 >> 20) % of == part - 1);
        }
        nodes.truncate(self.positions.unwrap_or(usize::MAX));
        evaluate::plan(graph, &nodes, table, |known| {
            !self.deeper || self.engine.effort().is_reached_by(known)
        })
    }
}

/// Searches the positions in the report of an audit, unless they are already evaluated.
fn evaluate_named(
    args: &EvaluateArgs,
    report: &Path,
    plan: &EnginePlan,
    table: &EvalTable,
    file: &EvalFile,
) -> anyhow::Result<u8> {
    let start = Instant::now();
    let shown = report.display();
    let text = std::fs::read_to_string(report).with_context(|| shown.to_string())?;
    let mut positions = audit::positions_in(&text).map_err(|fault| {
        anyhow::anyhow!("{shown}: not the report of an audit as .json: {fault}")
    })?;
    let mut seen = std::collections::HashSet::new();
    positions.retain(|position| seen.insert(EvalKey::from_position(position)));
    let named = positions.len();
    let effort = args.engine.effort();
    positions.retain(|position| {
        let known = table.get(position);
        known.is_none_or(|known| !effort.is_reached_by(&known))
    });
    let searched = progress::watched(|watch| {
        evaluate::search(plan, &positions, Some(file), watch, |_, _| ())
    })??;
    evaluations::report_unanswered(searched.first_fault.as_ref());
    summary!(
        "{shown}: {named} positions, {} of them searched{}; {:.1} s",
        searched.done,
        collection::counts([
            (searched.failed, "without an answer"),
            (searched.restarts, "engines started again"),
        ]),
        start.elapsed().as_secs_f64()
    );
    Ok(match searched.stopped {
        true => 2,
        false => u8::from(searched.failed > 0),
    })
}

pub(crate) fn run(args: &EvaluateArgs) -> anyhow::Result<u8> {
    let with_engine = args.engine.is_given();
    ensure!(
        with_engine || !args.import.is_empty() || args.carried.is_some(),
        "evaluations come from files (--import FILE) or an engine (--engine NAME)"
    );
    let start = Instant::now();
    let path = evaluations::path(args.output.as_deref(), &args.book);
    // Checked before the book is read.
    for import in &args.import {
        import
            .metadata()
            .with_context(|| import.display().to_string())?;
    }
    let read = || args.import.iter().chain([&args.book]).chain(&args.of);
    atomic::check_apart(&path, read())?;
    EvalFile::check(&path)?;
    if let Some(carried) = &args.carried {
        atomic::check_apart(carried, read().chain([&path]))?;
        atomic::check(carried, &[], args.force.old())?;
    }
    let book = files::open_book(&args.book, false)?;
    let (graph, unread) = evaluations::graph(&book)?;
    let lost = u8::from(unread.is_loss());
    let file = EvalFile::open(&path)?;
    let mut table = evaluations::read(&path)?;
    let before = table.len();
    let mut taken = 0;
    for import in &args.import {
        let gathered =
            progress::watched(|watch| evaluate::gather(import, &graph, &mut table, &file, watch))??;
        let read = &gathered.read;
        taken += read.hits;
        let mut bad = match (&read.first_bad, &gathered.from) {
            (None, _) => String::new(),
            (Some(first), GatheredFrom::Games(_)) => {
                format!("; {} comments skipped ({first})", read.bad_lines)
            }
            (Some(first), GatheredFrom::Lines | GatheredFrom::Rows) => {
                format!("; {} lines skipped ({first})", read.bad_lines)
            }
        };
        if let GatheredFrom::Games(tally) = &gathered.from {
            collection::report(tally);
            bad.push_str(&collection::counts([
                (tally.skipped, "games skipped"),
                (tally.cut, "games cut short"),
                (tally.left_out, "deleted games and texts left out"),
            ]));
        }
        evaluations::report_centipawns(&import.display().to_string(), read);
        message!(
            "{}: {} {}, {} evaluations of positions of the book, {} of them new{bad}",
            import.display(),
            read.lines,
            gathered.from.as_str(),
            read.hits,
            gathered.new
        );
    }
    let mut code = lost.max(u8::from(!args.import.is_empty() && taken == 0));
    if with_engine {
        let plan = args.engine.plan(args.multipv)?;
        if let Some(report) = &args.of {
            return Ok(lost.max(evaluate_named(args, report, &plan, &table, &file)?));
        }
        let tasks = args.tasks(&graph, &table);
        let (worked, leaving) = progress::watched(|watch| {
            evaluate::work(&plan, &graph, &table, &tasks, &file, watch)
        })??;
        evaluations::report_unanswered(worked.first_fault.as_ref());
        code |= u8::from(worked.first_fault.is_some());
        let left = tasks.len() as u64 - worked.done - worked.failed;
        let seconds = start.elapsed().as_secs_f64();
        let counts = collection::counts([
            (leaving, "of them with a search for leaving the book"),
            (worked.failed, "without an answer"),
            (worked.restarts, "engines started again"),
            (left, "left for the next time"),
        ]);
        summary!(
            "{}: {} positions evaluated{counts}; {seconds:.1} s",
            path.display(),
            worked.done,
        );
        if worked.stopped {
            return Ok(2);
        }
    } else {
        summary!(
            "{}: {} of {} positions have an evaluation, {} before; {:.1} s",
            path.display(),
            table.len(),
            graph.len(),
            before,
            start.elapsed().as_secs_f64()
        );
    }
    if let Some(target) = &args.carried {
        let name = file_name(&args.book);
        let table = evals::read(&path)?.table;
        let (text, count) = evaluate::backed_up(&graph, &table, &name);
        ensure!(
            count > 0,
            "{}: not written: no position of the book has a value by {}",
            target.display(),
            path.display()
        );
        atomic::write(target, text.as_bytes(), args.force.old())?;
        summary!(
            "{}: {count} of {} positions have a value",
            target.display(),
            graph.len()
        );
    }
    Ok(code)
}
