//! `tabia prove`: compares the positions in which two books end.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{bail, ensure};
use clap::Args;
use serde_json::{Value as Json, json};

use super::evaluations;
use crate::cli::arguments::collection;
use crate::cli::arguments::common;
use crate::cli::arguments::complete::{self, Of};
use crate::cli::arguments::engine_args::EngineArgs;
use crate::cli::files;
use crate::cli::print::columns::{Table, cell, left, right};
use crate::cli::print::style::{counted, thousands};
use crate::cli::print::{made, progress};
use shakmaty::{Chess, Color, Position as _};
use tabia_analysis::evaluate;
use tabia_analysis::prove::{
    self, DecidingExit, Exit, Figures, Interval, PointsSource, Share, Side, Walks, points_of_white,
};
use tabia_book::eval::{Evaluation, Value};
use tabia_book::evals::{EvalFile, EvalKey, EvalTable};
use tabia_engine::Effort;
use tabia_io::atomic;
use tabia_io::input::path::file_name;
use tabia_notation as notation;

/// Arguments of `prove`.
#[derive(Args, Debug)]
pub(crate) struct ProveArgs {
    /// The first book, A
    #[arg(add = complete::books())]
    book_a: PathBuf,
    /// The second book, B; may be the same file
    #[arg(add = complete::books())]
    book_b: PathBuf,
    /// Sets an option of the adapter for A, as "Book Judgement=both"
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Choice))]
    set_a: Vec<String>,
    /// Sets an option of the adapter for B
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Choice))]
    set_b: Vec<String>,
    /// Walks, each made twice with colours exchanged
    #[arg(long, value_name = "K", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    walks: u32,
    /// `Book Seed` of both sides: walk N is game N of adapters with this seed
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    seed: u32,
    /// Difference of B's seed to A's; with 0 both draw equal choices alike, which makes
    /// the intervals narrow
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=1_000_000_000))]
    apart: u32,
    /// Adds the engine's results to this file (EPD); positions in it are not searched
    /// again, so an interrupted run continues
    #[arg(long, value_name = "FILE")]
    evaluations: Option<PathBuf>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia prove new.ctg old.ctg --engine stockfish --nodes 150000 --evaluations exits.evals\n  \
    tabia prove main.ctg main.ctg --set-a \"Book Judgement=both\" --engine stockfish\n  \
    tabia prove a.ctg b.ctg --walks 5000 --json -- ./engine\n\n\
    Both books play against each other by the probabilities of the adapter, until the side to \
    move is out of its book; the engine searches each different exit once. Use an engine (or \
    version, or net) that did not choose the moves, and more nodes than the evaluations of \
    the books took. Not measured are how an engine plays the resulting positions, and the time \
    that a book saves.\n\n\
    Exit codes: 0 done; 1 some exits got no answer, or parts of a book cannot be read; 2 no \
    result.";

/// Greatest number of shown exits.
const SHOWN: usize = 10;

pub(crate) fn run(args: &ProveArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let start = Instant::now();
    ensure!(
        args.engine.is_given(),
        "exits are evaluated by an engine: --engine NAME, or -- COMMAND"
    );
    let path = args.evaluations.as_deref();
    if let Some(path) = path {
        atomic::check_apart(path, [&args.book_a, &args.book_b])?;
        EvalFile::check(path)?;
    }
    let plan = args.engine.plan(1)?;
    let options_a = common::choice_options(&args.set_a)?;
    let options_b = common::choice_options(&args.set_b)?;
    let (book_a, played_a) = files::open_as_played(&args.book_a, &options_a, false)?;
    let (book_b, played_b) = files::open_as_played(&args.book_b, &options_b, false)?;
    let sides = [
        Side::new(&*played_a, options_a.rules(), args.seed),
        Side::new(&*played_b, options_b.rules(), args.seed + args.apart),
    ];
    let walks = progress::watched(|watch| prove::walk_pairs(&sides, args.walks, watch))??;

    let file = path.map(EvalFile::open).transpose()?;
    let mut table = path.map(evaluations::read).transpose()?.unwrap_or_default();
    let to_search = to_search(&walks, &table, plan.effort);
    let searched = progress::watched(|watch| {
        evaluate::search(&plan, &to_search, file.as_ref(), watch, |index, found| {
            if let Some(position) = to_search.get(index) {
                table.add(position, &found);
            }
        })
    })??;
    if searched.stopped {
        match path {
            Some(path) => bail!(
                "interrupted; {} of {} exits are in {}: the same command continues from there",
                searched.done,
                to_search.len(),
                path.display()
            ),
            None => bail!("interrupted; with --evaluations FILE nothing would be lost"),
        }
    }
    evaluations::report_unanswered(searched.first_fault.as_ref());
    let values: Vec<Option<Evaluation>> = walks
        .exits
        .iter()
        .map(|exit| value_of(exit, &table))
        .collect();
    let Some(figures) = prove::figures(&walks, &values) else {
        bail!("no walk has an exit with a value");
    };
    let report = Report {
        args,
        walks: &walks,
        values: &values,
        figures: &figures,
        searched: searched.done,
        unanswered: searched.failed,
    };
    match args.json {
        true => writeln!(out, "{}", report.json())?,
        false => report.print(out)?,
    }
    out.flush()?;
    if let (Effort::Nodes(limit), Some((_, nodes))) = (plan.effort, report.median())
        && nodes < limit / 10 * 9
    {
        message!(
            "tabia: half of the searches ended within {nodes} nodes instead of {limit}: if the \
             engine does not obey \"go nodes\", use --depth or --movetime"
        );
    }
    summary!(
        "{} with both colours, {} searched{}; {:.1} s",
        counted(args.walks.into(), "walk"),
        counted(searched.done, "exit"),
        collection::counts([
            (searched.failed, "without an answer"),
            (searched.restarts, "engines started again"),
        ]),
        start.elapsed().as_secs_f64()
    );
    let code = made::left_out(&book_a).max(made::left_out(&book_b));
    Ok(code.max(u8::from(searched.failed > 0)))
}

/// The positions to search, each once.
fn to_search(walks: &Walks, known: &EvalTable, effort: Effort) -> Vec<Chess> {
    let mut keys = std::collections::HashSet::new();
    let exits = walks.exits.iter().filter(|exit| !exit.drawn);
    let exits = exits.filter(|exit| {
        let key = EvalKey::from_position(&exit.position);
        let is_known = known
            .canonical(key)
            .is_some_and(|known| effort.is_reached_by(known));
        !is_known && keys.insert(key)
    });
    exits.map(|exit| exit.position.clone()).collect()
}

/// The value of an exit; a draw by the rules needs no engine.
fn value_of(exit: &Exit, table: &EvalTable) -> Option<Evaluation> {
    match exit.drawn {
        true => Some(Evaluation {
            source: "rules".into(),
            ..Evaluation::from(Value::Cp(0))
        }),
        false => table.get(&exit.position),
    }
}

struct Report<'a> {
    args: &'a ProveArgs,
    walks: &'a Walks,
    values: &'a [Option<Evaluation>],
    figures: &'a Figures,
    searched: u64,
    unanswered: u64,
}

impl Report<'_> {
    /// Numbers of exits by the source of their values.
    fn sources(&self) -> BTreeMap<&str, u64> {
        let mut sources = BTreeMap::new();
        for value in self.values.iter().flatten() {
            *sources.entry(&*value.source).or_default() += 1;
        }
        sources
    }

    /// The median depth and nodes of the searched exits; `None` if no engine was needed.
    fn median(&self) -> Option<(u16, u64)> {
        let of_engine = self.walks.exits.iter().zip(self.values);
        let of_engine = of_engine
            .filter(|(exit, _)| !exit.drawn && !exit.position.is_game_over())
            .filter_map(|(_, value)| value.as_ref());
        let (mut depths, mut nodes): (Vec<u16>, Vec<u64>) =
            of_engine.map(|value| (value.depth, value.nodes)).unzip();
        depths.sort_unstable();
        nodes.sort_unstable();
        let middle = depths.len() / 2;
        Some((*depths.get(middle)?, *nodes.get(middle)?))
    }

    fn limit(&self) -> (&'static str, u64) {
        match self.args.engine.effort() {
            Effort::Nodes(nodes) => ("nodes", nodes),
            Effort::Depth(depth) => ("plies", depth.into()),
            Effort::Time(time) => ("ms", time.as_millis().try_into().unwrap_or(u64::MAX)),
        }
    }

    fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (args, figures) = (self.args, self.figures);
        let side = |letter: char, book: &Path, sets: &[String]| {
            let sets = match sets {
                [] => String::new(),
                sets => format!(" ({})", sets.join(", ")),
            };
            format!("{letter}: {}{sets}", file_name(book))
        };
        writeln!(out, "{}", side('A', &args.book_a, &args.set_a))?;
        writeln!(out, "{}", side('B', &args.book_b, &args.set_b))?;
        let mut list = Table::list(0, 14);
        let walks = thousands(args.walks.into());
        list.add(
            "walks",
            format_args!("{walks} with both colours, seed {}", args.seed),
        );
        let (unit, limit) = self.limit();
        let sources = self.sources().into_iter();
        let sources = sources.map(|(name, count)| format!("{name} {count}"));
        let exits = format!(
            "{} different, by {} {unit}: {}",
            thousands(self.walks.exits.len() as u64),
            thousands(limit),
            sources.collect::<Vec<_>>().join(", ")
        );
        list.add("exits", exits);
        if let Some((depth, nodes)) = self.median() {
            let nodes = thousands(nodes);
            list.add(
                "searches",
                format_args!("depth {depth}, {nodes} nodes (medians)"),
            );
        }
        if figures.without_value > 0 {
            let walks = counted(figures.without_value as u64, "walk");
            list.add(
                "not counted",
                format_args!("{walks} without a value for an exit"),
            );
        }
        let [a_moves, b_moves] = figures.book_moves;
        let [a_first, b_first] = figures.leaves_first.map(|share| 100.0 * share);
        let in_book = format!(
            "{:.1} plies: {a_moves:.1} moves of A, {b_moves:.1} of B; A leaves first in \
             {a_first:.1} %, B in {b_first:.1} %",
            figures.plies,
        );
        list.add("in book", in_book);
        let [white, black] = figures.value_by_colour.map(signed);
        let value = signed(figures.value);
        list.add(
            "value for A",
            format_args!("{value} cp; with White {white}, with Black {black}"),
        );
        for (label, Share { a, b }) in [
            ("below -50 cp", figures.below_50),
            ("below -100 cp", figures.below_100),
        ] {
            let (a, b) = (plain(a, 100.0, 1), plain(b, 100.0, 1));
            list.add(label, format_args!("A {a} %, B {b} %"));
        }
        let by: Vec<&str> = (figures.points_by.keys())
            .map(|source| words_of(*source))
            .collect();
        let points = plain(figures.points, 1.0, 4);
        list.add("points of A", format_args!("{points} ({})", by.join(", ")));
        let elo = figures.elo;
        let interval = match (elo.low, elo.high) {
            (Some(low), Some(high)) => format!(" ({low:+.1} to {high:+.1})"),
            _ => String::new(),
        };
        list.add(
            "A - B",
            format_args!("{:+.1} Elo{interval}", elo.difference),
        );
        let error = 10.0 * figures.search_error_factor;
        let single = "an error of 10 cp in each search moves the value for A by";
        list.add("single values", format_args!("{single} {error:.1} cp"));
        write!(out, "\n{list}")?;
        self.print_deciding(out)
    }

    fn print_deciding(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.figures.deciding.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "\nExits that decide: what each adds to A's points, how often A and B come to it with \
             White, its value for White"
        )?;
        let games = self.walks.pairs.len() as f64;
        let columns = [0, 10, 10, 7].map(right);
        let mut table = Table::new(2, [&columns[..], &[left(0)]].concat());
        for DecidingExit { exit, points, .. } in self.figures.deciding.iter().take(SHOWN) {
            let (Some(exit), Some(Some(value))) =
                (self.walks.exits.get(*exit), self.values.get(*exit))
            else {
                continue;
            };
            let [a, b] = exit.reached.map(|count| 100.0 * f64::from(count) / games);
            table.row([
                cell(format_args!("{points:+.4}")),
                cell(format_args!("A {a:>5.1} %")),
                cell(format_args!("B {b:>5.1} %")),
                cell(value.value),
                cell(format_args!(" {}", exit.line())),
            ]);
        }
        write!(out, "{table}")?;
        Ok(())
    }

    fn json(&self) -> Json {
        let args = self.args;
        let side = |book: &Path, sets: &[String]| json!({"book": book, "options": sets});
        let (unit, limit) = self.limit();
        let mut report = json!({
            "a": side(&args.book_a, &args.set_a),
            "b": side(&args.book_b, &args.set_b),
            "walks": args.walks,
            "seed": args.seed,
            "apart": args.apart,
            "limit": {"unit": unit, "number": limit},
            "searched": self.searched,
            "unanswered": self.unanswered,
            "sources": self.sources(),
            "median_depth": self.median().map(|(depth, _)| depth),
            "median_nodes": self.median().map(|(_, nodes)| nodes),
            "different_exits": self.walks.exits.len(),
            "exits": self.exits(),
            "walk_exits": self.walks.pairs,
        });
        let figures = serde_json::to_value(self.figures).unwrap_or_default();
        if let (Json::Object(report), Json::Object(mut figures)) = (&mut report, figures) {
            report.append(&mut figures);
        }
        report
    }

    fn exits(&self) -> Vec<Json> {
        let exits = self.walks.exits.iter().zip(self.values);
        let one = |(exit, value): (&Exit, &Option<Evaluation>)| {
            let line = exit.line();
            let points = value.as_ref().map(|value| points_of_white(exit, value));
            let cp = value
                .as_ref()
                .map(|value| value.value.for_side(Color::White));
            json!({
                "fen": notation::fen(&exit.position),
                "line": line.to_string(),
                "moves": line.uci_words(),
                "leaves": if exit.drawn || exit.position.is_game_over() {
                    Json::Null
                } else {
                    json!(exit.position.turn().to_string())
                },
                "a_white": exit.reached[0],
                "b_white": exit.reached[1],
                "value": value.as_ref().map(|value| value.value.to_string()),
                "cp": cp.filter(|cp| cp.abs() <= 10_000),
                "wdl": value.as_ref().and_then(|value| value.wdl),
                "depth": value.as_ref().map(|value| value.depth),
                "nodes": value.as_ref().map(|value| value.nodes),
                "source": value.as_ref().map(|value| &*value.source),
                "points": points.map(|(points, _)| points),
                "points_by": points.map(|(_, by)| by),
            })
        };
        exits.map(one).collect()
    }
}

const fn words_of(source: PointsSource) -> &'static str {
    match source {
        PointsSource::Engine => "the engine's wdl",
        PointsSource::Model => "Stockfish's model",
        PointsSource::Rules => "rules of chess",
    }
}

/// A value as "+1.1 +-2.1".
fn signed(interval: Interval) -> String {
    let sign = if interval.mean.is_sign_negative() {
        ""
    } else {
        "+"
    };
    format!("{sign}{}", plain(interval, 1.0, 1))
}

/// A value as "8.1 +-1.2".
fn plain(Interval { mean, error }: Interval, unit: f64, digits: usize) -> String {
    let error = error.map(|error| format!(" +-{:.digits$}", unit * error));
    format!("{:.digits$}{}", unit * mean, error.unwrap_or_default())
}
