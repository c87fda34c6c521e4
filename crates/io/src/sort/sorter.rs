//! Records in any order into sorted runs.

use std::path::Path;
use std::sync::Arc;

use super::digits::{WHOLE, sort_by_order};
use super::{Merge, Record, Runs, SortError};

/// Chunks of at most this size: larger ones are no better, smaller ones stay
/// nearer to the processor.
const LARGEST_LOT_BYTES: u64 = 24 << 20;

/// Less makes too many runs.
const SMALLEST_LOT_BYTES: u64 = 64 << 10;

/// Gathers records in one thread.
pub struct Sorter<R> {
    runs: Arc<Runs<R>>,
    /// Encoded records.
    bytes: Vec<u8>,
    /// The order of each, and in the lower half where it begins.
    places: Vec<u64>,
    /// Where those are sorted by way of.
    other: Vec<u64>,
    most_bytes: usize,
}

impl<R: Record> Sorter<R> {
    /// Adds to runs that others may add to as well. `memory` in bytes is for
    /// what has not been sorted yet.
    #[must_use]
    pub fn new(runs: Arc<Runs<R>>, memory: u64) -> Sorter<R> {
        let partition = memory.clamp(SMALLEST_LOT_BYTES, LARGEST_LOT_BYTES) as usize;
        Sorter {
            runs,
            bytes: Vec::new(),
            places: Vec::new(),
            other: Vec::new(),
            most_bytes: partition,
        }
    }

    /// Sorts alone, within about `memory` bytes and with files in `folder` if
    /// that is not enough.
    #[must_use]
    pub fn alone(folder: &Path, memory: u64) -> Sorter<R> {
        // Half for runs; a quarter for a partition and one for the run it becomes.
        Sorter::new(Arc::new(Runs::new(memory / 2, folder)), memory / 4)
    }

    /// Takes a record.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    pub fn push(&mut self, record: &R) -> Result<(), SortError> {
        let order = u64::from(record.order());
        self.places.push(order << 32 | self.bytes.len() as u64);
        record.encode(&mut self.bytes);
        let places = 2 * size_of::<u64>() * self.places.len();
        if self.bytes.len() + places >= self.most_bytes {
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
        let from = |place: u64| bytes.get(place as u32 as usize..).unwrap_or_default();
        let (mut one, mut other) = (R::default(), R::default());
        sort_by_order::<WHOLE>(&mut self.places, &mut self.other);
        // Few are of one order.
        let alike = |a: &u64, b: &u64| a >> 32 == b >> 32;
        for same in self
            .places
            .chunk_by_mut(alike)
            .filter(|same| same.len() > 1)
        {
            same.sort_unstable_by(|a, b| {
                one.decode(from(*a));
                other.decode(from(*b));
                // Equal records stay in the order in which they came, so that lists
                // that are joined are sorted.
                one.compare(&other).then_with(|| a.cmp(b))
            });
        }
        let (mut last, mut next, mut any) = (one, other, false);
        self.runs.add(bytes.len() as u64, |push| {
            for &place in &self.places {
                next.decode(from(place));
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
    pub fn finish(mut self) -> Result<(), SortError> {
        self.sort()
    }

    /// All records of its runs, in order, for one that sorts alone.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written or read.
    pub fn merge(mut self) -> Result<Merge<R>, SortError> {
        self.sort()?;
        self.runs.take().merge()
    }
}
