//! Evaluates a list of positions.

use std::sync::atomic::AtomicU64;

use shakmaty::Chess;

use super::{EnginePlan, Outcome, Worker};
use crate::Error;
use tabia_book::eval::Evaluation;
use tabia_book::evals::EvalFile;
use tabia_engine::AnalystError;
use tabia_io::parallel;
use tabia_io::progress::{Progress, Watch};

/// The result for a list of positions.
#[derive(Debug, Default)]
pub struct Searched {
    /// Positions with an answer.
    pub done: u64,
    /// Positions without an answer.
    pub failed: u64,
    /// The first of these, and the fault of the engine.
    pub first_fault: Option<(Chess, AnalystError)>,
    /// Engines that were started again.
    pub restarts: u64,
    /// Whether it was interrupted before all positions were searched.
    pub stopped: bool,
}

impl Searched {
    /// Counts a result; returns what was found.
    pub(crate) fn count<T>(&mut self, outcome: Outcome<T>) -> Option<T> {
        match outcome {
            Outcome::Found(found) => {
                self.done += 1;
                return Some(found);
            }
            Outcome::Failed(position, error) => {
                self.failed += 1;
                self.first_fault.get_or_insert((position, error));
            }
            Outcome::Stopped => self.stopped = true,
        }
        None
    }
}

/// Does `count` pieces of work with as many engine processes as the plan says, and passes
/// the results to `take`, in order. Returns the number of engine restarts.
pub(crate) fn each<T: Send>(
    plan: &EnginePlan,
    count: usize,
    one: impl Fn(usize, &mut Worker<'_>) -> Result<Outcome<T>, Error> + Sync,
    take: impl FnMut(Outcome<T>) -> Result<(), Error>,
) -> Result<u64, Error> {
    let restarts = AtomicU64::new(0);
    parallel::run(
        plan.jobs.min(count),
        |jobs| {
            let mut worker = Worker::new(plan, &restarts);
            jobs.each(|index: usize, _| one(index, &mut worker))
        },
        |lead| lead.each((0..count).map(Ok), take),
    )?;
    Ok(restarts.into_inner())
}

/// Searches positions with engines. Each evaluation is written to `file`, if there is
/// one, and then passed to `found` with the index of its position, in the order of the
/// list.
///
/// # Errors
///
/// The engine does not start or fails at several positions in a row, or the file cannot
/// be written.
pub fn search(
    plan: &EnginePlan,
    positions: &[Chess],
    file: Option<&EvalFile>,
    watch: &mut Watch<'_>,
    mut found: impl FnMut(usize, Evaluation),
) -> Result<Searched, Error> {
    let stop = watch.stop();
    let one = |index: usize, worker: &mut Worker<'_>| {
        let Some(position) = positions.get(index).filter(|_| stop.go_on().is_ok()) else {
            return Ok(Outcome::Stopped);
        };
        let answer = worker.ask(position, &[]);
        let outcome = worker.outcome(position, answer)?;
        if let (Outcome::Found(evaluation), Some(file)) = (&outcome, file) {
            file.add(position, evaluation)?;
        }
        Ok(outcome)
    };
    let mut searched = Searched::default();
    let mut next = 0;
    let take = |outcome| {
        if let Some(evaluation) = searched.count(outcome) {
            found(next, evaluation);
        }
        next += 1;
        // The workers see the cancel flag too, and finish what they have begun.
        let (done, total) = (next as u64, positions.len() as u64);
        let _ = watch.step(Progress::new("searching", "positions", done, Some(total)));
        Ok(())
    };
    let restarts = each(plan, positions.len(), one, take)?;
    searched.restarts = restarts;
    if let Some(file) = file {
        file.sync()?;
    }
    Ok(searched)
}
