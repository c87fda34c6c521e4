//! Evaluations by engines.

use std::sync::atomic::AtomicU64;

use shakmaty::{CastlingMode, Chess, Position as _, uci::UciMove};

use super::{EnginePlan, Worker};
use crate::graph::{BookGraph, NodeId, Reach};
use tabia_book::eval::{Evaluation, MoveValue};
use tabia_book::evals::{EvalFile, EvalFileError, EvalTable};
use tabia_io::parallel::{self, Panicked};
use tabia_io::progress::{Progress, Stop, Stopped, Watch};
use tabia_uci::process::AnalystError;

/// A position of a book about which something is to be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Which one.
    pub node: NodeId,
    /// Its value is not known well enough; else only that of leaving the book.
    pub value: bool,
}

/// A position that could not be evaluated.
#[derive(Debug)]
pub struct Unanswered {
    /// Which one.
    pub node: NodeId,
    /// What the engine did.
    pub error: AnalystError,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Worked {
    /// Positions that got something new.
    pub done: u64,
    /// How many of them got a value of leaving the book by a search of its own.
    pub leaving: u64,
    /// Positions without an answer, the first of them with what happened.
    pub failed: u64,
    /// The first of these.
    pub first_fault: Option<Unanswered>,
    /// Engines that were started again.
    pub restarts: u64,
    /// The work was cancelled before all was done.
    pub stopped: bool,
}

/// Why nothing more can be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The engine does not start, or fails at one position after the other.
    #[error(transparent)]
    Engine(#[from] AnalystError),
    /// The evaluations cannot be written.
    #[error(transparent)]
    File(#[from] EvalFileError),
    /// A thread met a fault of this program.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// The work was cancelled.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// All positions, the likeliest first; those that play never comes to be at
/// the end.
#[must_use]
pub fn likeliest_first(graph: &BookGraph, reach: &Reach) -> Vec<NodeId> {
    let likely = |node: &NodeId| reach.probability.get(*node as usize).copied();
    let mut nodes: Vec<NodeId> = graph.nodes().collect();
    nodes.sort_by(|a, b| {
        let (a, b) = (likely(a).unwrap_or(0.0), likely(b).unwrap_or(0.0));
        b.total_cmp(&a)
    });
    nodes
}

/// What there is to do about some positions, in their order: those without a
/// value, those whose value `is_enough` refuses, and those where the value of
/// leaving the book is unknown.
#[must_use]
pub fn plan(
    graph: &BookGraph,
    nodes: &[NodeId],
    table: &EvalTable,
    is_enough: impl Fn(&Evaluation) -> bool,
) -> Vec<Task> {
    let wanted = |&node: &NodeId| {
        let value = table
            .canonical(graph.key(node))
            .is_none_or(|known| !is_enough(known));
        (value || is_open(graph, node, table)).then_some(Task { node, value })
    };
    nodes.iter().filter_map(wanted).collect()
}

/// Whether the value of leaving can be found and is not known.
fn is_open(graph: &BookGraph, node: NodeId, table: &EvalTable) -> bool {
    graph.leaving_is_unknown(node, table) && !others(graph, node, &graph.position(node)).is_empty()
}

/// The legal moves that are not in the book.
pub(crate) fn others(graph: &BookGraph, node: NodeId, position: &Chess) -> Vec<UciMove> {
    let of_book = graph.moves(node);
    let legal = position.legal_moves();
    let legal = legal.iter().map(|mv| mv.to_uci(CastlingMode::Chess960));
    legal
        .filter(|mv| of_book.iter().all(|known| known.mv != *mv))
        .collect()
}

/// Does tasks with engines. What is found is in `file` at once.
///
/// # Errors
///
/// No engine works, or the file cannot be written.
pub fn work(
    plan: &EnginePlan,
    graph: &BookGraph,
    table: &EvalTable,
    tasks: &[Task],
    file: EvalFile,
    watch: &mut Watch<'_>,
) -> Result<Worked, WorkError> {
    let restarts = AtomicU64::new(0);
    let bench = Bench {
        graph,
        table,
        file,
        stop: watch.stop(),
    };
    let total = tasks.len() as u64;
    let mut worked = Worked::default();
    let mut seen = 0;
    let take = |made: Made| {
        seen += 1;
        match made {
            Made::Done { leaving } => {
                worked.done += 1;
                worked.leaving += u64::from(leaving);
            }
            Made::Failed(fault) => {
                worked.failed += 1;
                worked.first_fault.get_or_insert(fault);
            }
            Made::Stopped => worked.stopped = true,
        }
        // The workers see the flag as well: what they have begun they finish.
        let _ = watch.step(Progress::new("evaluating", "positions", seen, Some(total)));
        Ok::<_, WorkError>(())
    };
    parallel::run(
        plan.jobs,
        |jobs| {
            let mut worker = Worker::new(plan, &restarts);
            jobs.each(|task: Task, _| bench.do_task(task, &mut worker))
        },
        |lead| lead.each(tasks.iter().copied().map(Ok), take),
    )?;
    worked.stopped |= watch.go_on().is_err();
    worked.restarts = restarts.into_inner();
    bench.file.sync()?;
    Ok(worked)
}

/// What became of a task.
enum Made {
    Done { leaving: bool },
    Failed(Unanswered),
    Stopped,
}

/// What the workers share.
struct Bench<'a> {
    graph: &'a BookGraph,
    table: &'a EvalTable,
    file: EvalFile,
    stop: Stop<'a>,
}

impl Bench<'_> {
    fn do_task(&self, task: Task, worker: &mut Worker<'_>) -> Result<Made, WorkError> {
        if self.stop.go_on().is_err() {
            return Ok(Made::Stopped);
        }
        let position = self.graph.position(task.node);
        match self.evaluation(task, &position, worker) {
            Ok((evaluation, leaving)) => {
                self.file.add(&position, &evaluation)?;
                Ok(Made::Done { leaving })
            }
            Err(error) => Ok(Made::Failed(Unanswered {
                node: task.node,
                error: worker.bear(error)?,
            })),
        }
    }

    /// What is found about a position, and whether leaving the book took a
    /// search of its own.
    fn evaluation(
        &self,
        task: Task,
        position: &Chess,
        worker: &mut Worker<'_>,
    ) -> Result<(Evaluation, bool), AnalystError> {
        let known = self.table.canonical(self.graph.key(task.node));
        let mut evaluation = match known.filter(|_| !task.value) {
            Some(known) => known.clone(),
            None => worker.ask(position, &[])?,
        };
        let others = others(self.graph, task.node, position);
        let is_book = |known: &MoveValue| !others.contains(&known.mv);
        if self.graph.moves(task.node).is_empty()
            || others.is_empty()
            || !evaluation.moves.iter().all(is_book)
        {
            return Ok((evaluation, false));
        }
        evaluation.moves.extend(worker.best_of(position, &others)?);
        Ok((evaluation, true))
    }
}
