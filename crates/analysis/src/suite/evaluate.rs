//! Finds values of positions: from files, and by an engine in one stage or two.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use shakmaty::{Chess, Position as _};

use super::entry::StartPosition;
use super::full_lines::FullLines;
use super::job::SuiteJob;
use super::text::text_of;
use super::values::{PositionEval, Values};
use crate::error::{Error, about};
use crate::evaluate::Worker;
use tabia_book::eval::Value;
use tabia_book::evals::{self, EvalFile};
use tabia_engine::Effort;
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// A position after evaluation.
pub(super) struct Evaluated {
    /// The position, with the value that decides.
    pub(super) entry: StartPosition,
    /// Whether that value is from an engine, not from a file.
    pub(super) searched: bool,
    /// Whether the first value met the conditions, and the position was searched again.
    pub(super) searched_again: bool,
}

/// What the workers share.
pub(super) struct Evaluator<'a> {
    pub(super) job: &'a SuiteJob,
    /// Values from files.
    pub(super) values: Values,
    /// The file to which every search is written.
    pub(super) saved: Option<EvalFile>,
    pub(super) full: &'a FullLines,
}

impl Evaluator<'_> {
    /// Finds the value of a position. A value that meets the conditions may do so only
    /// because of its error: if the job says so, the position is searched again with more
    /// nodes, and that value decides.
    pub(super) fn evaluate(
        &self,
        mut entry: StartPosition,
        worker: &mut Option<Worker<'_>>,
    ) -> Result<Evaluated, Error> {
        let job = self.job;
        let (mut searched, mut searched_again) = (false, false);
        let may_have_one = worker.is_some() || self.values.len() > 0;
        if may_have_one
            && !self.full.is_full(job, &entry)
            && let Some(position) = entry.position()
        {
            entry.eval = self.values.get(&position);
            if let (None, Some(worker), Some(plan)) = (entry.eval, &mut *worker, &job.engine) {
                entry.eval = Some(self.search(&position, worker, plan.effort)?);
                searched = true;
            }
            if let (Some(nodes), Some(eval), Some(worker)) = (job.confirm, entry.eval, worker)
                && !eval.took(nodes)
                && job.window.refuses(&position, &eval).is_none()
            {
                entry.eval = Some(self.search(&position, worker, Effort::Nodes(nodes))?);
                (searched, searched_again) = (true, true);
            }
        }
        Ok(Evaluated {
            entry,
            searched,
            searched_again,
        })
    }

    fn search(
        &self,
        position: &Chess,
        worker: &mut Worker<'_>,
        effort: Effort,
    ) -> Result<PositionEval, Error> {
        let found = worker.ask_with(effort, position, &[]);
        let found = found.map_err(|error| {
            Error::Text(format!(
                "the engine, about {}: {error}",
                notation::fen(position)
            ))
        })?;
        if let Some(file) = &self.saved {
            file.add(position, &found)?;
        }
        Ok(PositionEval::new(position, &found))
    }
}

/// Reads the values of wanted positions from a file.
pub(super) fn read_file(
    path: &Path,
    values: &mut Values,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let text = text_of(path)?;
    let mut text = BufReader::with_capacity(1 << 20, text);
    let start = text.fill_buf().map_err(|error| about(path, error))?;
    let first = start
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let first = String::from_utf8_lossy(first.unwrap_or_default()).into_owned();
    if is_table(&first) {
        return read_table(path, text, values, watch);
    }
    let source = path.display().to_string();
    // The set of wanted positions does not change while values are added.
    let found = RefCell::new(values);
    let mut stopped = None;
    let done = evals::import(
        text,
        &source,
        &|key| found.borrow().wants(key),
        &mut |position, evaluation| {
            let eval = PositionEval::new(position, &evaluation);
            found.borrow_mut().add(position, eval);
            true
        },
        &mut |lines| {
            stopped = watch.position("values", lines, None).err();
            stopped.is_none()
        },
    );
    if let Some(stopped) = stopped {
        return Err(stopped.into());
    }
    let done = done.map_err(|error| about(path, error))?;
    if done.lines > 0 && done.bad_lines == done.lines {
        let why = done.first_bad.unwrap_or_default();
        return Err(about(path, format!("no evaluation in it: {why}")));
    }
    Ok(())
}

/// Whether it is a table `FEN,cp`, perhaps with a header line.
fn is_table(first: &str) -> bool {
    let mut fields = fields(first);
    let (Some(fen), Some(cp)) = (fields.next(), fields.next()) else {
        return false;
    };
    fen.eq_ignore_ascii_case("fen") || fen.matches('/').count() == 7 && cp.parse::<f64>().is_ok()
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t'])
        .map(|field| field.trim().trim_matches('"'))
}

/// Reads a table of centipawns for the side to move.
fn read_table(
    path: &Path,
    text: impl std::io::Read,
    values: &mut Values,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut any = false;
    for (number, line) in BufReader::new(text).lines().enumerate() {
        let line = line.map_err(|error| about(path, error))?;
        watch.position("values", number as u64, None)?;
        let mut fields = fields(&line);
        let (Some(fen), Some(cp)) = (fields.next(), fields.next()) else {
            continue;
        };
        if fen.eq_ignore_ascii_case("fen") {
            continue;
        }
        let bad = |what: &str| about(path, format!("line {}: {what}", number + 1));
        let position = notation::position(fen).map_err(|error| bad(&error.to_string()))?;
        let cp: f64 = cp
            .parse()
            .map_err(|_| bad("expected centipawns after the FEN"))?;
        any = true;
        let value = Value::cp_of_mover(position.turn(), cp.clamp(-1e6, 1e6).round() as i32);
        values.add(&position, PositionEval::new(&position, &value.into()));
    }
    match any {
        true => Ok(()),
        false => Err(about(path, "no evaluation in it")),
    }
}
