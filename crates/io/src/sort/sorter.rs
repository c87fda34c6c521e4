//! Records in any order into sorted runs.

use std::path::Path;
use std::sync::Arc;

use super::digits::{PARTITION_BITS, sort_by_order};
use super::{LARGEST_SORT_BYTES, Merge, Record, Runs, SortError};

/// Less makes too many runs.
const SMALLEST_SORT_BYTES: u64 = 64 << 10;

/// Gathers records in one thread.
pub struct Sorter<R> {
    runs: Arc<Runs<R>>,
    /// By the upper bits of the order.
    partitions: Vec<Partition>,
    /// Bytes in them, and how many there may be.
    held: usize,
    most: usize,
}

/// Few enough records to be sorted within the processor's cache.
#[derive(Clone, Default)]
struct Partition {
    /// Encoded records.
    bytes: Vec<u8>,
    /// The order of each, and in the lower half where it begins.
    places: Vec<u64>,
}

impl Partition {
    /// What begins with the record of one of its places.
    #[inline]
    fn from(&self, place: u64) -> &[u8] {
        self.bytes.get(place as u32 as usize..).unwrap_or_default()
    }

    /// Puts the places in order; `other` is where they are sorted by way of.
    fn sort<R: Record>(&mut self, other: &mut Vec<u64>) {
        sort_by_order(&mut self.places, other);
        let mut places = std::mem::take(&mut self.places);
        let (mut one, mut two) = (R::default(), R::default());
        // Few are of one order.
        let alike = |a: &u64, b: &u64| a >> 32 == b >> 32;
        for same in places.chunk_by_mut(alike).filter(|same| same.len() > 1) {
            same.sort_unstable_by(|a, b| {
                one.decode(self.from(*a));
                two.decode(self.from(*b));
                // Equal records stay in the order in which they came, so that lists
                // that are joined are sorted.
                one.compare(&two).then_with(|| a.cmp(b))
            });
        }
        self.places = places;
    }
}

impl<R: Record> Sorter<R> {
    /// Adds to runs that others may add to as well. `memory` in bytes is for
    /// what has not been sorted yet.
    #[must_use]
    pub fn new(runs: Arc<Runs<R>>, memory: u64) -> Sorter<R> {
        Sorter {
            runs,
            partitions: vec![Partition::default(); 1 << PARTITION_BITS],
            held: 0,
            most: memory.clamp(SMALLEST_SORT_BYTES, LARGEST_SORT_BYTES) as usize,
        }
    }

    /// Sorts alone, within about `memory` bytes and with files in `folder` if
    /// that is not enough.
    #[must_use]
    pub fn alone(folder: &Path, memory: u64) -> Sorter<R> {
        // Half for runs; a quarter for what is not sorted and one for the run it becomes.
        Sorter::new(Arc::new(Runs::new(memory / 2, folder)), memory / 4)
    }

    /// Takes a record.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    #[inline]
    pub fn push(&mut self, record: &R) -> Result<(), SortError> {
        let order = record.order();
        let partition = order >> (u32::BITS - PARTITION_BITS);
        if let Some(partition) = self.partitions.get_mut(partition as usize) {
            let start = partition.bytes.len();
            partition.places.push(u64::from(order) << 32 | start as u64);
            record.encode(&mut partition.bytes);
            self.held += partition.bytes.len() - start + size_of::<u64>();
        }
        match self.held >= self.most {
            true => self.sort(),
            false => Ok(()),
        }
    }

    /// Lays down what it holds.
    fn sort(&mut self) -> Result<(), SortError> {
        if self.held == 0 {
            return Ok(());
        }
        let bytes = self
            .partitions
            .iter()
            .map(|partition| partition.bytes.len());
        let (mut last, mut next, mut any) = (R::default(), R::default(), false);
        let mut other = Vec::new();
        self.runs.add(bytes.sum::<usize>() as u64, |push| {
            for partition in &mut self.partitions {
                partition.sort::<R>(&mut other);
                for &place in &partition.places {
                    next.decode(partition.from(place));
                    if any && last.compare(&next).is_eq() && last.join(&next) {
                        continue;
                    }
                    if any {
                        push(&last)?;
                    }
                    std::mem::swap(&mut last, &mut next);
                    any = true;
                }
                partition.bytes.clear();
                partition.places.clear();
            }
            push(&last)
        })?;
        self.held = 0;
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
