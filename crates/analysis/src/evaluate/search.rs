//! Evaluations of a list of positions.

use std::sync::atomic::AtomicU64;

use shakmaty::Chess;

use super::{EnginePlan, WorkError, Worker};
use tabia_book::eval::Evaluation;
use tabia_book::evals::EvalFile;
use tabia_io::parallel;
use tabia_io::progress::{Progress, Watch};
use tabia_uci::process::AnalystError;

/// What became of a list of positions.
#[derive(Debug, Default)]
pub struct Searched {
    /// Positions with an evaluation.
    pub done: u64,
    /// Positions without an answer.
    pub failed: u64,
    /// The first of these: its index in the list, and what the engine did.
    pub first_fault: Option<(usize, AnalystError)>,
    /// Engines that were started again.
    pub restarts: u64,
    /// Interrupted before all positions were searched.
    pub stopped: bool,
}

/// Has engines search positions, in as many processes as the plan says. Each
/// evaluation is written to `file`, if there is one, and then handed to `found`
/// with the index of its position, in the order of the list.
///
/// # Errors
///
/// The engine does not start or fails at one position after the other, or the
/// file cannot be written.
pub fn search(
    plan: &EnginePlan,
    positions: &[Chess],
    file: Option<&EvalFile>,
    watch: &mut Watch<'_>,
    mut found: impl FnMut(usize, Evaluation),
) -> Result<Searched, WorkError> {
    enum Outcome {
        Found(Evaluation),
        Failed(AnalystError),
        Stopped,
    }
    let restarts = AtomicU64::new(0);
    let stop = watch.stop();
    let one = |index: usize, worker: &mut Worker<'_>| {
        let Some(position) = positions.get(index).filter(|_| stop.go_on().is_ok()) else {
            return Ok(Outcome::Stopped);
        };
        match worker.ask(position, &[]) {
            Ok(evaluation) => {
                if let Some(file) = file {
                    file.add(position, &evaluation)?;
                }
                Ok(Outcome::Found(evaluation))
            }
            Err(error) => Ok(Outcome::Failed(worker.bear(error)?)),
        }
    };
    let total = positions.len() as u64;
    let mut searched = Searched::default();
    let mut next = 0;
    let take = |outcome: Outcome| {
        let index = next;
        next += 1;
        match outcome {
            Outcome::Found(evaluation) => {
                searched.done += 1;
                found(index, evaluation);
            }
            Outcome::Failed(error) => {
                searched.failed += 1;
                searched.first_fault.get_or_insert((index, error));
            }
            Outcome::Stopped => searched.stopped = true,
        }
        // The workers see the flag too, and finish what they have begun.
        let _ = watch.step(Progress::new(
            "searching",
            "positions",
            next as u64,
            Some(total),
        ));
        Ok::<_, WorkError>(())
    };
    parallel::run(
        plan.jobs.min(positions.len()),
        |jobs| {
            let mut worker = Worker::new(plan, &restarts);
            jobs.each(|index: usize, _| one(index, &mut worker))
        },
        |lead| lead.each((0..positions.len()).map(Ok), take),
    )?;
    searched.restarts = restarts.into_inner();
    if let Some(file) = file {
        file.sync()?;
    }
    Ok(searched)
}
