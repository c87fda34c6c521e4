//! Sorts records into runs.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::digits::{PARTITION_BITS, sort_by_order};
use super::run::RunWriter;
use super::{LARGEST_SORT_BYTES, Merge, Record, Runs, SortError};

/// A smaller limit makes too many runs.
const SMALLEST_SORT_BYTES: u64 = 64 << 10;

/// Collects records in one thread.
pub struct Sorter<R> {
    runs: Arc<Runs<R>>,
    /// Indexed by the upper bits of the order.
    partitions: Vec<Partition>,
    /// Bytes in the partitions, and their limit.
    held: usize,
    most: usize,
}

/// A partition small enough to be sorted in the processor's cache.
#[derive(Clone, Default)]
struct Partition {
    /// Encoded records.
    bytes: Vec<u8>,
    /// The order of each record; in the lower half its offset and length, or [`LONG`].
    places: Vec<u64>,
}

/// Bits of a record's length in its place, and the value that marks longer records.
const LENGTH_BITS: u32 = 7;
const LONG: usize = (1 << LENGTH_BITS) - 1;

// A record may begin at the last byte.
const _: () = assert!(LARGEST_SORT_BYTES < 1 << (u32::BITS - LENGTH_BITS));

impl Partition {
    #[inline]
    fn add(&mut self, order: u32, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        encode(&mut self.bytes);
        let length = self.bytes.len() - start;
        let at = (start as u64) << LENGTH_BITS | length.min(LONG) as u64;
        self.places.push(u64::from(order) << 32 | at);
        length
    }

    /// The bytes from the record of a place on.
    #[inline]
    fn from(&self, place: u64) -> &[u8] {
        let start = place as u32 >> LENGTH_BITS;
        self.bytes.get(start as usize..).unwrap_or_default()
    }

    /// Writes the records in order and joins those that can be joined. `scratch` is for
    /// two records, `other` for places.
    fn write<R: Record>(
        &mut self,
        (last, next): &mut (R, R),
        other: &mut Vec<u64>,
        writer: &mut RunWriter<R>,
    ) -> io::Result<()> {
        sort_by_order(&mut self.places, other);
        let mut places = std::mem::take(&mut self.places);
        for same in places.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if let &mut [place] = same {
                let length = place as usize & LONG;
                // Most records are single and are copied unchanged.
                if length < LONG {
                    writer.push_encoded((place >> 32) as u32, self.from(place), length)?;
                    continue;
                }
            }
            same.sort_unstable_by(|a, b| {
                last.decode(self.from(*a));
                next.decode(self.from(*b));
                // Equal records stay in their input order, so that joined lists are
                // sorted.
                last.compare(next).then_with(|| a.cmp(b))
            });
            let mut places = same.iter();
            if let Some(&first) = places.next() {
                last.decode(self.from(first));
            }
            for &place in places {
                next.decode(self.from(place));
                if last.compare(next).is_eq() && last.join(next) {
                    continue;
                }
                writer.push(last)?;
                std::mem::swap(last, next);
            }
            writer.push(last)?;
        }
        places.clear();
        self.places = places;
        self.bytes.clear();
        Ok(())
    }
}

impl<R: Record> Sorter<R> {
    /// Adds to runs that other sorters may share. `memory` is the limit in bytes for
    /// unsorted records.
    #[must_use]
    pub fn new(runs: Arc<Runs<R>>, memory: u64) -> Sorter<R> {
        Sorter {
            runs,
            partitions: vec![Partition::default(); 1 << PARTITION_BITS],
            held: 0,
            most: memory.clamp(SMALLEST_SORT_BYTES, LARGEST_SORT_BYTES) as usize,
        }
    }

    /// A sorter with its own runs, with about `memory` bytes, and files in `folder` if
    /// that is not enough.
    #[must_use]
    pub fn alone(folder: &Path, memory: u64) -> Sorter<R> {
        // Half for runs; a quarter for unsorted records, and one for the run made of
        // them.
        Sorter::new(Arc::new(Runs::new(memory / 2, folder)), memory / 4)
    }

    /// Takes a record.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    #[inline]
    pub fn push(&mut self, record: &R) -> Result<(), SortError> {
        self.push_encoded(record.order(), |out| record.encode(out))
    }

    /// Takes a record of this order that `encode` appends as [`Record::encode`] would:
    /// for records that are quickly made only as bytes.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    #[inline]
    pub fn push_encoded(
        &mut self,
        order: u32,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), SortError> {
        let number = order >> (u32::BITS - PARTITION_BITS);
        if let Some(partition) = self.partitions.get_mut(number as usize) {
            if partition.bytes.capacity() == 0 {
                // Never to be moved: a partition is nearly as large as the others, and
                // memory that is not written to is not there.
                let share = self.most >> PARTITION_BITS;
                partition.bytes.reserve(share + share / 8);
            }
            self.held += partition.add(order, encode) + size_of::<u64>();
        }
        match self.held >= self.most {
            true => self.sort(),
            false => Ok(()),
        }
    }

    /// Writes what it has gathered as a run.
    fn sort(&mut self) -> Result<(), SortError> {
        if self.held == 0 {
            return Ok(());
        }
        let partitions = self.partitions.iter();
        let bytes: usize = partitions.map(|partition| partition.bytes.len()).sum();
        let mut writer = self.runs.begin(bytes as u64)?;
        let (mut scratch, mut other) = Default::default();
        for partition in &mut self.partitions {
            let written = partition.write(&mut scratch, &mut other, &mut writer);
            written.map_err(|error| self.runs.failed(error))?;
        }
        self.held = 0;
        self.runs.finish(writer)
    }

    /// Writes what it has gathered so far into the runs and frees its memory.
    ///
    /// # Errors
    ///
    /// A sort file cannot be written.
    pub fn flush(&mut self) -> Result<(), SortError> {
        self.sort()?;
        self.partitions.fill(Partition::default());
        Ok(())
    }

    /// Writes everything into the runs.
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
