//! `tabia evaluate`: the evaluations beside a book.

use std::ffi::OsString;
use std::io::Write as _;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;

use super::args::ConfigArgs;
use super::collection;
use super::progress;
use crate::engine::Effort;
use crate::evals::{self, EvalFile, EvalTable};
use crate::evaluate::{self, Plan, Task};
use crate::graph::{BookGraph, GraphOptions};
use crate::settings::Settings;

/// Arguments of `evaluate`.
#[derive(Args, Debug)]
pub(super) struct EvaluateArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Takes evaluations out of files: EPD, .evals, the export of lichess, text
    /// of chessdb.cn, games with [%eval]; also .gz, .zst or .bz2. Only
    /// positions of the book are kept
    #[arg(long, value_name = "FILE", num_args = 1..)]
    import: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Evaluates with this engine: a name from the configuration, or the path
    /// of a program
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    engine: Option<String>,
    /// Nodes that the engine searches each position for [default: 100000]
    #[arg(long, value_name = "N", group = "effort",
          value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Plies that it searches each position to
    #[arg(long, value_name = "N", group = "effort",
          value_parser = clap::value_parser!(u16).range(1..))]
    depth: Option<u16>,
    /// Milliseconds that it searches each position for
    #[arg(long, value_name = "MS", group = "effort",
          value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Engines at a time [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroU16>,
    /// Lines that the engine looks for
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    multipv: u16,
    /// Part I of N parts of the work, for several machines; --import joins
    /// what they have found
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Ends after so many positions
    #[arg(long, value_name = "N")]
    positions: Option<usize>,
    /// Also positions whose evaluation took fewer nodes or plies than asked for
    #[arg(long)]
    deeper: bool,
    /// Sets an option of the engine; Threads is 1 and Hash 16 unless set here
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Seconds without an answer after which an engine counts as hung
    /// [default: by nodes, depth or time]
    #[arg(long, value_name = "SECONDS")]
    patience: Option<u64>,
    /// The file of evaluations [default: beside the book, as BOOK.evals]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// An engine with its arguments, instead of a configured one
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) const EXAMPLES: &str = "Examples:\n  \
    tabia evaluate book.ctg --engine stockfish --nodes 200000 --jobs 4\n  \
    tabia evaluate book.ctg --import lichess_db_eval.jsonl.zst\n  \
    tabia evaluate book.ctg --engine stockfish --depth 20 --shard 2/3 -o part2.evals\n  \
    tabia evaluate book.ctg --import part1.evals part2.evals part3.evals\n\n\
    The likeliest positions come first, by the book's own probabilities. Where the best move \
    is one of the book, a second search finds what leaving the book is worth. Every result is \
    in the file at once: what is interrupted, however, goes on where it was when started \
    again. docs/evaluations.md of the source describes file and numbers.\n\n\
    Exit codes: 0 done; 1 some positions got no answer; 2 nothing could be done.";

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
    fn effort(&self) -> Effort {
        match (self.nodes, self.depth, self.movetime) {
            (_, Some(depth), _) => Effort::Depth(depth),
            (_, _, Some(ms)) => Effort::Time(Duration::from_millis(ms)),
            (nodes, ..) => Effort::Nodes(nodes.unwrap_or(100_000)),
        }
    }

    fn patience(&self) -> Duration {
        let seconds = Duration::from_secs;
        match (self.patience, self.effort()) {
            (Some(patience), _) => seconds(patience),
            // 2,000 nodes a second is slow for the slowest of engines.
            (_, Effort::Nodes(nodes)) => seconds(30 + (nodes / 2000).min(86_400)),
            (_, Effort::Depth(_)) => seconds(1800),
            (_, Effort::Time(time)) => time + seconds(30),
        }
    }

    /// The engine, as it is configured but for its share of the machine.
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut options = vec![
            ("Threads".to_owned(), "1".to_owned()),
            ("Hash".to_owned(), "16".to_owned()),
        ];
        let (command, start_timeout) = match self.command.split_first() {
            Some((program, rest)) => (super::command_of(program, rest), None),
            None => {
                let config = super::configuration(&self.config)?;
                let names: Vec<String> = self.engine.iter().cloned().collect();
                let entry = config
                    .engines
                    .iter()
                    .find(|entry| names.contains(&entry.name));
                let of_player = |name: &str| {
                    ["threads", "hash", "multipv", "ponder"].contains(&&*name.to_ascii_lowercase())
                };
                let others = entry.iter().flat_map(|entry| &entry.options);
                options.extend(others.filter(|(name, _)| !of_player(name)).cloned());
                let timeout = entry.map(|entry| entry.start_timeout);
                let command = super::engine_named(&self.config, self.engine.as_deref())?;
                (command, timeout)
            }
        };
        for set in &self.set {
            let (name, value) = set
                .split_once('=')
                .with_context(|| format!("--set \"{set}\" has no \"=\": write NAME=VALUE"))?;
            options.retain(|(known, _)| !known.eq_ignore_ascii_case(name.trim()));
            options.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(Plan {
            command,
            options,
            start_timeout: start_timeout.unwrap_or(Duration::from_secs(8)),
            effort: self.effort(),
            lines: self.multipv,
            patience: self.patience(),
            jobs: collection::threads(self.jobs),
        })
    }

    fn tasks(&self, graph: &BookGraph, table: &EvalTable) -> Vec<Task> {
        let reach = graph.reach_by(&Settings::default().policy());
        let mut tasks = evaluate::plan(graph, &reach, table, |known| {
            !self.deeper
                || match self.effort() {
                    // Engines stop a little early or late.
                    Effort::Nodes(nodes) => known.nodes >= nodes / 10 * 9,
                    Effort::Depth(depth) => known.depth >= depth,
                    Effort::Time(_) => true,
                }
        });
        if let Some(Shard { part, of }) = self.shard {
            tasks.retain(|task| (graph.key(task.node).0 >> 20) % of == part - 1);
        }
        tasks.truncate(self.positions.unwrap_or(usize::MAX));
        tasks
    }
}

pub(super) fn run(args: &EvaluateArgs) -> anyhow::Result<u8> {
    let with_engine = args.engine.is_some() || !args.command.is_empty();
    ensure!(
        with_engine || !args.import.is_empty(),
        "evaluations come from files (--import FILE) or an engine (--engine NAME)"
    );
    let start = Instant::now();
    let path = match &args.output {
        Some(path) => path.clone(),
        None => evals::beside(&args.book),
    };
    let book = super::open_book(&args.book, false)?;
    let graph = progress::watched(|watch| {
        let mut damaged = |error: &crate::book::Error| say(&format!("tabia: {error}"));
        BookGraph::of(&book, GraphOptions::default(), watch, &mut damaged)
    })??;
    let mut file = EvalFile::open(&path)?;
    let known = evals::read(&path)?;
    if let Some(bad) = &known.first_bad {
        let (path, count) = (path.display(), known.bad_lines);
        say(&format!("{path}: {count} lines passed over; {bad}"));
    }
    let mut table = known.table;
    let before = table.len();
    for import in &args.import {
        if import.canonicalize().ok() == path.canonicalize().ok() {
            bail!("{}: these are the evaluations themselves", import.display());
        }
        let gathered = progress::watched(|watch| {
            evaluate::gather(import, &graph, &mut table, &mut file, watch)
        })??;
        let read = &gathered.read;
        let what = if gathered.games { "games" } else { "lines" };
        let bad = match &read.first_bad {
            Some(first) => format!("; {} lines passed over ({first})", read.bad_lines),
            None => String::new(),
        };
        say(&format!(
            "{}: {} {what}, {} evaluations of positions of the book, {} of them new{bad}",
            import.display(),
            read.lines,
            read.hits,
            gathered.new
        ));
    }
    let mut code = 0;
    if with_engine {
        let plan = args.plan()?;
        let tasks = args.tasks(&graph, &table);
        let worked =
            progress::watched(|watch| evaluate::work(&plan, &graph, &table, &tasks, file, watch))??;
        if let Some(fault) = &worked.first_fault {
            let fen = crate::notation::fen(&graph.position(fault.node));
            say(&format!("tabia: no answer about {fen}: {}", fault.error));
            code = 1;
        }
        let left = tasks.len() as u64 - worked.done - worked.failed;
        let seconds = start.elapsed().as_secs_f64();
        let counts = collection::counts([
            (worked.leaving, "of them with a search for leaving the book"),
            (worked.failed, "without an answer"),
            (worked.restarts, "engines started again"),
            (left, "left for the next time"),
        ]);
        say(&format!(
            "{}: {} positions evaluated{counts}; {seconds:.1} s",
            path.display(),
            worked.done,
        ));
        if worked.stopped {
            return Ok(2);
        }
    } else {
        say(&format!(
            "{}: {} of {} positions have an evaluation, {} before; {:.1} s",
            path.display(),
            table.len(),
            graph.len(),
            before,
            start.elapsed().as_secs_f64()
        ));
    }
    Ok(code)
}

fn say(text: &str) {
    // Nothing can be done about a closed standard error.
    let _ = writeln!(super::messages(), "{text}");
}
