//! Records in any order into sorted runs.

use std::path::Path;
use std::sync::Arc;

use super::{Merge, Record, Runs, SortError};

/// Lots of at most this size: larger ones are no better, smaller ones stay
/// nearer to the processor.
const LARGEST_LOT_BYTES: u64 = 24 << 20;

/// Less makes too many runs.
const SMALLEST_LOT_BYTES: u64 = 64 << 10;

/// Gathers records in one thread.
pub(crate) struct Sorter<R> {
    runs: Arc<Runs<R>>,
    /// Encoded records.
    bytes: Vec<u8>,
    /// The order of each, and where it begins.
    places: Vec<(u32, u32)>,
    most_bytes: usize,
    most_places: usize,
}

impl<R: Record> Sorter<R> {
    /// Adds to runs that others may add to as well. `memory` in bytes is for
    /// what has not been sorted yet.
    #[must_use]
    pub(crate) fn new(runs: Arc<Runs<R>>, memory: u64) -> Sorter<R> {
        let lot = memory.clamp(SMALLEST_LOT_BYTES, LARGEST_LOT_BYTES) as usize;
        Sorter {
            runs,
            bytes: Vec::new(),
            places: Vec::new(),
            most_bytes: lot / 4 * 3,
            most_places: lot / 4 / size_of::<(u32, u32)>(),
        }
    }

    /// Sorts alone, within about `memory` bytes and with files in `folder` if
    /// that is not enough.
    #[must_use]
    pub(crate) fn alone(folder: &Path, memory: u64) -> Sorter<R> {
        // Half for runs; a quarter for a lot and one for the run it becomes.
        Sorter::new(Arc::new(Runs::new(memory / 2, folder)), memory / 4)
    }

    /// Takes a record.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    pub(crate) fn push(&mut self, record: &R) -> Result<(), SortError> {
        self.places.push((record.order(), self.bytes.len() as u32));
        record.encode(&mut self.bytes);
        if self.bytes.len() >= self.most_bytes || self.places.len() >= self.most_places {
            self.sort()?;
        }
        Ok(())
    }

    /// Lays down what it holds.
    fn sort(&mut self) -> Result<(), SortError> {
        if self.places.is_empty() {
            return Ok(());
        }
        let bytes = &self.bytes;
        let from = |at: u32| bytes.get(at as usize..).unwrap_or_default();
        let (mut one, mut other) = (R::default(), R::default());
        self.places.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| {
                one.decode(from(a.1));
                other.decode(from(b.1));
                // Of one place in the order in which they came, so that
                // whoever joins lists joins sorted ones.
                one.compare(&other).then_with(|| a.1.cmp(&b.1))
            })
        });
        let (mut last, mut next, mut any) = (one, other, false);
        self.runs.add(bytes.len() as u64, |push| {
            for &(_, at) in &self.places {
                next.decode(from(at));
                if any && last.compare(&next).is_eq() && last.join(&next) {
                    continue;
                }
                if any {
                    push(&last)?;
                }
                std::mem::swap(&mut last, &mut next);
                any = true;
            }
            push(&last)
        })?;
        self.bytes.clear();
        self.places.clear();
        Ok(())
    }

    /// Hands everything over to the runs.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    pub(crate) fn finish(mut self) -> Result<(), SortError> {
        self.sort()
    }

    /// All records of its runs, in order, for one that sorts alone.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written or read.
    pub(crate) fn merge(mut self) -> Result<Merge<R>, SortError> {
        self.sort()?;
        self.runs.take().merge()
    }
}
