//! `tabia audit`: finds errors of a book by its evaluations.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::ensure;
use clap::Args;

use super::evaluations::{self, Form};
use crate::cli::arguments::collection;
use crate::cli::arguments::common::{self, COLOUR, Force, Sides};
use crate::cli::arguments::complete::{self, Of};
use crate::cli::arguments::configuration::ConfigArgs;
use crate::cli::arguments::engine_args::EngineArgs;
use crate::cli::files;
use crate::cli::print::output::print_json;
use crate::cli::print::progress;
use crate::cli::print::report;
use crate::cli::print::style::counted_as;
use tabia_analysis::audit::{
    self, AuditOptions, Confirmation, ConfirmingSearches, Examined, Marks,
};
use tabia_analysis::evaluate;
use tabia_analysis::graph::BookGraph;
use tabia_book::evals::{EvalFile, EvalTable};
use tabia_book::policy::Policy;
use tabia_book::{BookEditor, EditOptions, MarkEdit};
use tabia_io::atomic;

/// Greatest number of findings of each kind in the terminal, and on a page.
const SHOWN: usize = 10;
const WRITTEN: usize = 500;
/// Nodes of a confirming search.
const CONFIRMATION_NODES: u64 = 500_000;

/// Arguments of `audit`.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// The book
    #[arg(add = complete::books())]
    pub(crate) book: PathBuf,
    /// Centipawns that a move may lose against the best known move, and that a line may
    /// end below zero
    #[arg(long, value_name = "CP", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(1..=2000))]
    max_loss: u32,
    /// The colour whose moves and ends of lines are checked
    #[arg(long, aliases = COLOUR, value_name = "COLOUR", value_enum, default_value = "both", ignore_case = true)]
    colour: Sides,
    /// Writes the report to a file as well: .html with diagrams, .md or .json
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Searches the positions of the first findings again with this engine: before the
    /// move, after it, and after the better move. A name from the configuration, or the
    /// path of a program
    #[arg(long, value_name = "ENGINE", add = complete::engines())]
    confirm: Option<String>,
    /// Nodes of each of these searches; moves that still lose are searched again with
    /// twice as many
    #[arg(long, value_name = "N", default_value_t = CONFIRMATION_NODES, requires = "confirm",
          value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Number of findings of each kind that are confirmed, the most costly first
    #[arg(long, value_name = "K", default_value_t = 50, requires = "confirm")]
    top: usize,
    /// Per cent by which a confirmed loss must exceed --max-loss, because the next
    /// search has errors too
    #[arg(long, value_name = "PERCENT", default_value_t = 20, requires = "confirm",
          value_parser = clap::value_parser!(u8).range(..=100))]
    confirm_margin: u8,
    /// Engines that run at the same time [default: one for each processor]
    #[arg(long, value_name = "N", requires = "confirm", value_parser = collection::thread_count())]
    jobs: Option<u16>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Marks confirmed moves that lose too much: red, and ?!, ? or ??
    #[arg(long)]
    mark: bool,
    /// Marks moves by single searches too; many of these marks will be wrong
    #[arg(long, conflicts_with = "confirm")]
    unconfirmed: bool,
    /// Writes the symbols (+=, -+ and the like) of evaluated positions into
    /// their commentary; with --confirm those from +/- on only where they are
    /// confirmed
    #[arg(long)]
    symbols: bool,
    /// Writes learn values: a move of a level position that is 30 centipawns worse
    /// than the best gets a quarter of its weight, one that is 60 worse a sixteenth
    #[arg(long)]
    learn_values: bool,
    /// Replaces marks, symbols and learn values that the book already has
    #[arg(long)]
    over: bool,
    /// Shows how many marks would change, and changes none; what --confirm finds is kept
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    /// The file of evaluations [default: beside the book]
    #[arg(long, value_name = "FILE")]
    evaluations: Option<PathBuf>,
    /// Sets one of the options that decide between moves
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Choice))]
    set: Vec<String>,
}

pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia audit book.ctg\n  \
    tabia audit book.ctg --colour white --max-loss 30 --report book.html\n  \
    tabia audit book.ctg --confirm stockfish --nodes 1000000 --top 20\n  \
    tabia audit book.ctg --confirm stockfish --top 1000 --mark --symbols\n\n\
    The evaluations are those beside the book (tabia evaluate). They are backed up (minimax) \
    from the ends of the book to every position, also over transpositions and repetitions. The \
    report lists moves that lose, lines that end badly, and refutations without a mark, the most \
    costly and likeliest first; and the values of the positions in which the book ends.\n\n\
    A list sorted by loss shows the largest errors of the evaluations first. So --confirm \
    searches the positions of the first findings again, until all of them have been searched \
    with so many nodes, and moves that still lose once more, with twice as many. The results are \
    added to the evaluations beside the book, so an interrupted run continues. Findings that the \
    engine does not confirm are not listed.\n\n\
    --mark, --symbols and --learn-values change existing marks only with --over. After \
    --learn-values leave Book Judgement at results: otherwise the evaluations would count twice.\n\n\
    Exit codes: 0 no findings; 1 findings, or parts of the book cannot be read; 2 the book cannot \
    be read, or has no evaluations.";

impl AuditArgs {
    /// Confirms the first findings, if requested.
    fn confirm(
        &self,
        path: &Path,
        graph: &BookGraph,
        known: &mut EvalTable,
        policy: Policy,
        options: &AuditOptions,
    ) -> anyhow::Result<Option<ConfirmingSearches>> {
        if self.confirm.is_none() {
            return Ok(None);
        }
        let plan = |nodes| {
            let engine = EngineArgs {
                config: self.config.clone(),
                engine: self.confirm.clone(),
                nodes: Some(nodes),
                jobs: self.jobs,
                ..EngineArgs::default()
            };
            engine.plan(1)
        };
        let (first, second) = (plan(self.nodes)?, plan(2 * self.nodes)?);
        let mut confirmation = Confirmation::new(self.nodes);
        confirmation.top = self.top;
        confirmation.symbols = self.symbols;
        confirmation.margin = self.confirm_margin;
        let file = EvalFile::open(path)?;
        let (confirming, searches) = progress::watched(|watch| {
            audit::confirm(
                confirmation,
                graph,
                known,
                policy,
                options,
                |nodes, positions| {
                    let plan = if nodes > self.nodes { &second } else { &first };
                    let mut found = Vec::new();
                    let take = |index, evaluation| found.push((index, evaluation));
                    evaluate::search(plan, positions, Some(&file), watch, take)?;
                    watch.go_on()?;
                    Ok::<_, tabia_analysis::Error>(found)
                },
            )
        })??;
        let searched = counted_as(searches, "position", "positions");
        let unanswered = counted_as(confirming.unanswered, "search", "searches");
        summary!(
            "{}: {searched} searched again; {unanswered} without an answer",
            path.display()
        );
        Ok(Some(confirming))
    }
}

pub(crate) fn run(args: &AuditArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let start = Instant::now();
    ensure!(
        !args.mark || args.confirm.is_some() || args.unconfirmed,
        "--mark marks confirmed moves: give --confirm ENGINE as well, or --unconfirmed to mark \
         moves by single searches, most of which are wrong"
    );
    let is_marking = args.mark || args.symbols || args.learn_values;
    ensure!(
        is_marking || !args.dry_run,
        "--dry-run shows what --mark, --symbols or --learn-values would change: give one of them"
    );
    let form = args.report.as_deref().map(evaluations::form).transpose()?;
    let path = evaluations::path(args.evaluations.as_deref(), &args.book);
    if let Some(report) = &args.report {
        atomic::check_apart(report, [&args.book, &path])?;
        atomic::check(report, &[], args.force.old())?;
    }
    let options = common::choice_options(&args.set)?;
    let book = files::open_book(&args.book, false)?;
    let mut known = evaluations::read(&path)?;
    ensure!(
        !known.is_empty(),
        "{}: no evaluations there; `tabia evaluate` fills it",
        path.display()
    );
    let (graph, unread) = evaluations::graph(&book)?;
    let policy = options.policy;
    let mut options = AuditOptions::default();
    options.max_loss = args.max_loss;
    options.side = args.colour.alone();
    options.described = SHOWN;
    let confirming = args.confirm(&path, &graph, &mut known, policy, &options)?;
    let examined = Examined::new(&graph, &known, policy, confirming.as_ref());
    let found = examined.audit(&options);
    let title = format!("Audit of {}", args.book.display());
    // JSON contains all of them.
    let as_json = |options: &mut AuditOptions| {
        options.described = usize::MAX;
        examined.audit(options)
    };
    if let (Some(path), Some(form)) = (&args.report, form) {
        options.described = WRITTEN;
        let text = match form {
            Form::Html => report::audit::html(&title, &examined.audit(&options)),
            Form::Markdown => report::audit::markdown(&title, &examined.audit(&options)),
            Form::Json => serde_json::to_string_pretty(&as_json(&mut options))? + "\n",
        };
        atomic::write(path, text.as_bytes(), args.force.old())?;
    }
    if args.json {
        print_json(&as_json(&mut options), out)?;
    } else {
        write!(out, "{}", report::audit::markdown(&title, &found))?;
    }
    out.flush()?;
    if is_marking {
        // Removing marks needs a book that has marks.
        let options = EditOptions::default().dry_run(args.dry_run);
        let editor = BookEditor::open_for(&args.book, &MarkEdit::clear(), &options)?;
        files::report_recovered(&editor);
        let mut marks = Marks::default();
        marks.losing = args.mark.then_some(args.max_loss);
        marks.symbols = args.symbols;
        marks.learn_values = args.learn_values;
        marks.over = args.over;
        let changes = audit::changes(&examined, &editor, marks)?;
        let name = args.book.display();
        if args.dry_run {
            let old = editor.rehearse(&changes)?;
            let changed = counted_as(old.len(), "mark", "marks");
            summary!("{name}: {changed} would change; nothing was changed: --dry-run");
        } else {
            if !changes.is_empty() {
                editor.back_up()?;
                files::report_kept(&args.book);
            }
            let (_, old) = editor.apply(&changes)?;
            let changed = counted_as(old.len(), "mark", "marks");
            summary!("{name}: {changed} changed");
        }
    }
    summary!(
        "{}: {}, {}, {}; {:.1} s",
        args.book.display(),
        counted_as(found.losing_count, "move that loses", "moves that lose"),
        counted_as(found.bad_end_count, "bad end", "bad ends"),
        counted_as(found.refutation_count, "refutation", "refutations"),
        start.elapsed().as_secs_f64()
    );
    Ok(u8::from(unread.is_loss() || !found.is_clean()))
}
