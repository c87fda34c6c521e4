//! A worker: one engine, which searches positions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use shakmaty::{Chess, Color, Position as _, uci::UciMove};

use tabia_book::eval::{Evaluation, MoveValue, Value};
use tabia_engine::{Analyst, AnalystError, Effort, EngineCommand, Question};

/// The result for one position.
pub(crate) enum Outcome<T> {
    Found(T),
    Failed(Chess, AnalystError),
    /// There was no time left.
    Stopped,
}

/// What engine to use, and how to search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EnginePlan {
    /// The command that starts the engine.
    pub command: EngineCommand,
    /// The engine's options, in order.
    pub options: Vec<(String, String)>,
    /// How long to wait for `uciok`.
    pub start_timeout: Duration,
    /// The limit of each search.
    pub effort: Effort,
    /// Number of lines (MultiPV).
    pub lines: u16,
    /// An engine without an answer for this long counts as hung.
    pub patience: Duration,
    /// Number of engines running at the same time.
    pub jobs: usize,
}

impl EnginePlan {
    /// One process of an engine without options, with one line. It may take 30 seconds to
    /// start, and five minutes for a search.
    #[must_use]
    pub fn new(command: EngineCommand, effort: Effort) -> EnginePlan {
        EnginePlan {
            command,
            options: Vec::new(),
            start_timeout: Duration::from_secs(30),
            effort,
            lines: 1,
            patience: Duration::from_secs(300),
            jobs: 1,
        }
    }
}

/// After this many positions in a row without an answer the engine is given up.
const MOST_FAULTS: u32 = 5;

/// An engine that is started on first use, and restarted when it ends or hangs.
pub(crate) struct Worker<'a> {
    plan: &'a EnginePlan,
    engine: Option<Analyst>,
    /// Positions in a row without an answer.
    faults: u32,
    /// Engine restarts of all workers.
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

    /// The value of a position and its best moves among `only`, or among all if that is
    /// empty. A finished game needs no engine. An engine that does not answer is
    /// restarted and asked once more.
    pub(crate) fn ask(
        &mut self,
        position: &Chess,
        only: &[UciMove],
    ) -> Result<Evaluation, AnalystError> {
        self.ask_with(self.plan.effort, position, only)
    }

    /// As [`Worker::ask`], with a search limit other than that of the plan.
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
        let question = Question::new(position)
            .only(only)
            .lines(if only.is_empty() { self.plan.lines } else { 1 })
            .afresh(true);
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
                Err(error @ AnalystError::IgnoresNodes { .. }) => {
                    // It searches on.
                    self.engine = None;
                    return Err(error);
                }
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

    /// The best of some moves, with its value.
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

    /// The outcome for a position from the engine's answer; an error if the work cannot
    /// go on.
    pub(crate) fn outcome<T>(
        &mut self,
        position: &Chess,
        answer: Result<T, AnalystError>,
    ) -> Result<Outcome<T>, AnalystError> {
        let error = match answer {
            Ok(found) => return Ok(Outcome::Found(found)),
            Err(error) => error,
        };
        self.faults += 1;
        let is_hopeless = matches!(
            error,
            AnalystError::Start(_) | AnalystError::IgnoresNodes { .. }
        );
        match is_hopeless || self.faults >= MOST_FAULTS {
            true => Err(error),
            false => Ok(Outcome::Failed(position.clone(), error)),
        }
    }
}

/// The value of a finished game.
fn over(position: &Chess) -> Option<Value> {
    if position.is_checkmate() {
        Some(Value::mate_of_mover(position.turn(), 0))
    } else if position.is_stalemate() || position.is_insufficient_material() {
        Some(Value::cp_of_mover(Color::White, 0))
    } else {
        None
    }
}
