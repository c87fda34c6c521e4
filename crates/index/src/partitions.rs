//! Records to be sorted, in partitions by the upper bits of their sort key.

use crate::bucket::Bucket;
use crate::row::{GameRef, IndexedMove, Row};
use tabia_io::sort::{Runs, SortError, sort_by_order};

/// A move of a game: a record to be sorted.
#[derive(Clone, Copy)]
pub(crate) struct MoveRecord {
    pub(crate) hash: u64,
    pub(crate) bucket: Bucket,
    /// [`GameRef::pack`].
    pub(crate) bits: u32,
    pub(crate) game: u32,
    pub(crate) mv: IndexedMove,
}

impl MoveRecord {
    /// The sort key: hash, move, bucket.
    #[inline]
    fn place(&self) -> u128 {
        u128::from(self.hash) << 64 | u128::from(self.mv.0) << 32 | u128::from(self.bucket.0)
    }
}

/// Greatest size of one sort. It is more than elsewhere, in four times as many
/// partitions, because merging runs is slow: rows are expensive to read and compare.
/// With 72 MiB two threads took 20 % more time and half as much memory again.
pub(crate) const MOST_SORT_BYTES: u64 = 96 << 20;

/// Upper bits of the sort key that choose a partition.
const PARTITION_BITS: u32 = tabia_io::sort::PARTITION_BITS + 2;

/// Number of partitions.
pub(crate) const PARTITIONS: usize = 1 << PARTITION_BITS;

/// Greatest length of a record in a run, before games are dropped.
const RUN_BYTES: u64 = 28;

/// The partitions of one thread.
pub(crate) struct Partitions {
    partitions: Vec<Vec<MoveRecord>>,
    held: usize,
    most: usize,
}

impl Partitions {
    /// Creates space for `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Partitions {
        Partitions {
            partitions: vec![Vec::new(); PARTITIONS],
            held: 0,
            most: (bytes / size_of::<MoveRecord>()).max(1024),
        }
    }

    /// Whether there is no room for another record.
    pub(crate) fn is_full(&self) -> bool {
        self.held >= self.most
    }

    pub(crate) fn push(&mut self, record: MoveRecord) {
        let partition = (record.hash >> (u64::BITS - PARTITION_BITS)) as usize;
        if let Some(partition) = self.partitions.get_mut(partition) {
            if partition.capacity() == 0 {
                // Reserve the full size: partitions become about equally large.
                partition.reserve(self.most >> PARTITION_BITS);
            }
            partition.push(record);
            self.held += 1;
        }
    }

    /// Sorts all records into a run, and empties the partitions.
    pub(crate) fn sort_into(&mut self, runs: &Runs<Row>) -> Result<(), SortError> {
        if self.held == 0 {
            return Ok(());
        }
        let mut sorting = Sorting::default();
        runs.add(self.held as u64 * RUN_BYTES, |push| {
            for partition in &mut self.partitions {
                sorting.rows(partition, &mut *push)?;
                partition.clear();
            }
            Ok::<_, SortError>(())
        })?;
        self.held = 0;
        Ok(())
    }
}

/// Calls `push` with the sorted rows of one partition of all threads.
pub(crate) fn rows_of<E>(
    all: &[Partitions],
    partition: usize,
    push: impl FnMut(&Row) -> Result<(), E>,
) -> Result<(), E> {
    let mut records = Vec::new();
    for partitions in all {
        records.extend_from_slice(
            partitions
                .partitions
                .get(partition)
                .map_or(&[], Vec::as_slice),
        );
    }
    Sorting::default().rows(&records, push)
}

/// Buffers for sorting a partition.
#[derive(Default)]
struct Sorting {
    sorted: Vec<u64>,
    other: Vec<u64>,
    same: Vec<MoveRecord>,
    row: Row,
}

impl Sorting {
    /// Sorts records and sums them up into rows.
    fn rows<E>(
        &mut self,
        partition: &[MoveRecord],
        mut push: impl FnMut(&Row) -> Result<(), E>,
    ) -> Result<(), E> {
        self.sorted.clear();
        let entries = partition.iter().enumerate();
        self.sorted
            .extend(entries.map(|(n, record)| (record.hash >> 32) << 32 | n as u64));
        sort_by_order(&mut self.sorted, &mut self.other);
        let (same, row) = (&mut self.same, &mut self.row);
        let record = |entry: &u64| partition.get((*entry & u64::from(u32::MAX)) as usize);
        for group in self.sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
            same.clear();
            for entry in group {
                if let Some(record) = record(entry) {
                    same.push(*record);
                }
            }
            if same.len() > 1 {
                same.sort_by_key(MoveRecord::place);
            }
            for games in same.chunk_by(|a, b| a.place() == b.place()) {
                if let Some(first) = games.first() {
                    row.reset(first.hash, first.mv, first.bucket);
                }
                for record in games {
                    if let Some(game) = GameRef::unpack(record.bits, record.game) {
                        row.count(game);
                    }
                }
                row.prune();
                push(row)?;
            }
        }
        Ok(())
    }
}
