//! Lines of which a suite has enough positions.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::SuiteJob;
use super::entry::{StartPosition, number_of};

/// Lines that have brought as many positions as they may. Whoever chooses adds
/// to them, whoever evaluates looks there: a line that is full stays full.
#[derive(Default)]
pub(super) struct FullLines(Mutex<HashSet<u64>>);

impl FullLines {
    fn lock(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing more is wanted of this line.
    pub(super) fn add(&self, line: u64) {
        self.lock().insert(line);
    }

    /// Whether nothing more is wanted of the line of a position.
    pub(super) fn holds(&self, job: &SuiteJob, entry: &StartPosition) -> bool {
        line_of(job, entry).is_some_and(|(_, line)| self.lock().contains(&line))
    }
}

/// How many positions the line of a position may bring, and a number for it.
pub(super) fn line_of(job: &SuiteJob, entry: &StartPosition) -> Option<(u32, u64)> {
    let (most, plies) = job.per_line?;
    let path = entry.path.get(..2 * plies).unwrap_or(&entry.path);
    let line = [entry.start.as_slice(), path].concat();
    Some((most, number_of(&line)))
}
