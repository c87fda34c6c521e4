//! Lines that have the allowed number of positions in a suite.

use std::collections::HashSet;
use std::sync::Mutex;

use super::entry::{StartPosition, number_of};
use super::job::SuiteJob;
use tabia_io::parallel::lock;

/// Lines that have given the allowed number of positions. The choice adds to them, the
/// evaluation looks them up; a line never leaves the set.
#[derive(Default)]
pub(super) struct FullLines(Mutex<HashSet<u64>>);

impl FullLines {
    /// Adds a full line.
    pub(super) fn add(&self, line: u64) {
        lock(&self.0).insert(line);
    }

    /// Whether the line of a position is full.
    pub(super) fn is_full(&self, job: &SuiteJob, entry: &StartPosition) -> bool {
        line_of(job, entry).is_some_and(|(_, line)| lock(&self.0).contains(&line))
    }
}

/// The highest number of positions for the line of a position, and a hash of the line.
pub(super) fn line_of(job: &SuiteJob, entry: &StartPosition) -> Option<(u32, u64)> {
    let (most, plies) = job.per_line?;
    let path = entry.path.get(..2 * plies).unwrap_or(&entry.path);
    let line = [entry.start.as_slice(), path].concat();
    Some((most, number_of(&line)))
}
