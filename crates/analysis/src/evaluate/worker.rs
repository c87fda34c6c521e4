//! A worker: one engine, and the positions that it searches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use shakmaty::{Chess, Color, Position as _, uci::UciMove};

use super::Outcome;
use tabia_book::eval::{Evaluation, MoveValue, Value};
use tabia_uci::process::{Analyst, AnalystError, Effort, EngineCommand, Question};

/// What is to be evaluated, and how.
#[derive(Clone, Debug)]
pub struct EnginePlan {
    /// How to start the engine.
    pub command: EngineCommand,
    /// Its options, in order.
    pub options: Vec<(String, String)>,
    /// How long it may take to say `uciok`.
    pub start_timeout: Duration,
    /// How long it searches each position.
    pub effort: Effort,
    /// How many lines it looks for.
    pub lines: u16,
    /// After how long without an answer it counts as hung.
    pub patience: Duration,
    /// How many engines work at a time.
    pub jobs: usize,
}

/// So many positions in a row without an answer, and an engine is no use.
const MOST_FAULTS: u32 = 5;

/// One engine, started when it is needed, and started again when it ends or
/// hangs.
pub(crate) struct Worker<'a> {
    plan: &'a EnginePlan,
    engine: Option<Analyst>,
    /// Positions in a row without an answer.
    faults: u32,
    /// Engines that were started again, of all workers.
    restarts: &'a AtomicU64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(plan: &'a EnginePlan, restarts: &'a AtomicU64) -> Worker<'a> {
        Worker {
            plan,
            engine: None,
            faults: 0,
            restarts,
        }
    }

    /// What a position is worth, and its best moves among `only`, which is all
    /// when empty. A game that has ended needs no engine. One that does not
    /// answer is started again and asked once more.
    pub(crate) fn ask(
        &mut self,
        position: &Chess,
        only: &[UciMove],
    ) -> Result<Evaluation, AnalystError> {
        self.ask_with(self.plan.effort, position, only)
    }

    /// The same by a search of another effort than that of the plan.
    pub(crate) fn ask_with(
        &mut self,
        effort: Effort,
        position: &Chess,
        only: &[UciMove],
    ) -> Result<Evaluation, AnalystError> {
        if let Some(value) = over(position) {
            return Ok(Evaluation {
                depth: u16::MAX,
                source: "rules".into(),
                ..Evaluation::from(value)
            });
        }
        let question = Question {
            position,
            only,
            lines: if only.is_empty() { self.plan.lines } else { 1 },
            afresh: true,
        };
        let mut again = false;
        loop {
            let running = match &mut self.engine {
                Some(running) => running,
                engine => engine.insert(Analyst::start(
                    &self.plan.command,
                    &self.plan.options,
                    self.plan.start_timeout,
                )?),
            };
            match running.evaluate(question, effort, self.plan.patience) {
                Ok(found) => {
                    self.faults = 0;
                    return Ok(found);
                }
                Err(error @ AnalystError::NoScore) => return Err(error),
                Err(error) => {
                    self.engine = None;
                    if std::mem::replace(&mut again, true) {
                        return Err(error);
                    }
                    self.restarts.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// The best of some moves, with what it is worth.
    pub(crate) fn best_of(
        &mut self,
        position: &Chess,
        only: &[UciMove],
    ) -> Result<Option<MoveValue>, AnalystError> {
        let best = self.ask(position, only)?;
        let found = best.moves.first().copied();
        Ok(found.map(|found| MoveValue {
            value: best.value,
            ..found
        }))
    }

    /// What becomes of a position about which the engine was asked; an error if the work
    /// cannot go on.
    pub(crate) fn outcome<T>(
        &mut self,
        position: &Chess,
        asked: Result<T, AnalystError>,
    ) -> Result<Outcome<T>, AnalystError> {
        let error = match asked {
            Ok(found) => return Ok(Outcome::Found(found)),
            Err(error) => error,
        };
        self.faults += 1;
        match matches!(error, AnalystError::Start(_)) || self.faults >= MOST_FAULTS {
            true => Err(error),
            false => Ok(Outcome::Failed(position.clone(), error)),
        }
    }
}

/// The value of a game that has ended.
fn over(position: &Chess) -> Option<Value> {
    if position.is_checkmate() {
        Some(Value::mate_of_mover(position.turn(), 0))
    } else if position.is_stalemate() || position.is_insufficient_material() {
        Some(Value::cp_of_mover(Color::White, 0))
    } else {
        None
    }
}
