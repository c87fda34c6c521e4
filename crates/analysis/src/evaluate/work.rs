//! Evaluates positions of a book with engines.

use shakmaty::{CastlingMode, Chess, Position as _, uci::UciMove};

use super::search::{Searched, each};
use super::worker::Outcome;
use super::{EnginePlan, Worker};
use crate::Error;
use crate::graph::{BookGraph, NodeId, Probabilities};
use tabia_book::eval::{Evaluation, MoveValue};
use tabia_book::evals::{EvalFile, EvalTable};
use tabia_engine::AnalystError;
use tabia_io::progress::{Progress, Watch};

/// A position of a book to be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// The position.
    pub node: NodeId,
    /// Whether its value must be found; otherwise only the value of leaving the book.
    pub value: bool,
}

/// All positions, the most probable first; those that are never reached at the end.
#[must_use]
pub fn likeliest_first(graph: &BookGraph, reach: &Probabilities) -> Vec<NodeId> {
    let likely = |node: &NodeId| reach.probability.get(*node as usize).copied();
    let mut nodes: Vec<NodeId> = graph.nodes().collect();
    nodes.sort_by(|a, b| {
        let (a, b) = (likely(a).unwrap_or(0.0), likely(b).unwrap_or(0.0));
        b.total_cmp(&a)
    });
    nodes
}

/// The tasks for some positions, in their order: positions without a value or whose value
/// `is_enough` rejects, and those for which the value of leaving the book is unknown.
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

/// Whether the value of leaving is unknown and can be found.
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

/// Does tasks with engines; also returns how many of them needed a separate search for
/// the value of leaving the book. Results are written to `file` at once.
///
/// # Errors
///
/// No engine works, or the file cannot be written.
pub fn work(
    plan: &EnginePlan,
    graph: &BookGraph,
    table: &EvalTable,
    tasks: &[Task],
    file: &EvalFile,
    watch: &mut Watch<'_>,
) -> Result<(Searched, u64), Error> {
    let stop = watch.stop();
    let one = |index: usize, worker: &mut Worker<'_>| {
        let Some(task) = tasks.get(index).filter(|_| stop.go_on().is_ok()) else {
            return Ok(Outcome::Stopped);
        };
        let position = graph.position(task.node);
        let answer = evaluation(graph, table, *task, &position, worker);
        let outcome = worker.outcome(&position, answer)?;
        if let Outcome::Found((evaluation, _)) = &outcome {
            file.add(&position, evaluation)?;
        }
        Ok(outcome)
    };
    let total = tasks.len() as u64;
    let (mut worked, mut leaving, mut done) = (Searched::default(), 0, 0);
    let take = |outcome| {
        done += 1;
        let found = worked.count(outcome);
        leaving += u64::from(found.is_some_and(|(_, is_leaving)| is_leaving));
        // The workers see the cancel flag as well, and finish what they have begun.
        let _ = watch.step(Progress::new("evaluating", "positions", done, Some(total)));
        Ok(())
    };
    let restarts = each(plan, tasks.len(), one, take)?;
    worked.restarts = restarts;
    worked.stopped |= watch.go_on().is_err();
    file.sync()?;
    Ok((worked, leaving))
}

/// Evaluates a position; also returns whether leaving the book needed a separate search.
fn evaluation(
    graph: &BookGraph,
    table: &EvalTable,
    task: Task,
    position: &Chess,
    worker: &mut Worker<'_>,
) -> Result<(Evaluation, bool), AnalystError> {
    let known = table.canonical(graph.key(task.node));
    let mut evaluation = match known.filter(|_| !task.value) {
        Some(known) => known.clone(),
        None => worker.ask(position, &[])?,
    };
    let others = others(graph, task.node, position);
    let is_book = |known: &MoveValue| !others.contains(&known.mv);
    if graph.moves(task.node).is_empty()
        || others.is_empty()
        || !evaluation.moves.iter().all(is_book)
    {
        return Ok((evaluation, false));
    }
    evaluation.moves.extend(worker.best_of(position, &others)?);
    Ok((evaluation, true))
}
