//! Records that wait to be sorted, in partitions by the upper bits of their place.

use super::bucket::Bucket;
use super::row::{GameRef, IndexedMove, Row};
use tabia_io::sort::{LARGEST_SORT_BYTES, Runs, SortError, sort_by_order};

/// A move of a game: what is sorted.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) hash: u64,
    pub(super) bucket: Bucket,
    /// [`GameRef::pack`].
    pub(super) bits: u32,
    pub(super) game: u32,
    pub(super) mv: IndexedMove,
}

impl Seen {
    /// Hash, move and bucket.
    #[inline]
    fn place(&self) -> u128 {
        u128::from(self.hash) << 64 | u128::from(self.mv.0) << 32 | u128::from(self.bucket.0)
    }
}

/// So much is sorted at once at most: four times as much as elsewhere, in four
/// times as many partitions, for rows are expensive to read and to compare when runs are
/// merged.
pub(super) const MOST_SORT_BYTES: u64 = 4 * LARGEST_SORT_BYTES;

/// Upper bits of the order that choose a partition.
const PARTITION_BITS: u32 = tabia_io::sort::PARTITION_BITS + 2;

/// How many partitions there are.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;

/// Bytes of a record in a run, at most, until games are dropped.
const RUN_BYTES: u64 = 28;

/// The records of one thread.
pub(super) struct Partitions {
    partitions: Vec<Vec<Seen>>,
    held: usize,
    most: usize,
}

impl Partitions {
    /// For so many bytes of records.
    pub(super) fn new(bytes: usize) -> Partitions {
        Partitions {
            partitions: vec![Vec::new(); PARTITIONS],
            held: 0,
            most: (bytes / size_of::<Seen>()).max(1024),
        }
    }

    /// Whether there is no room for another one.
    pub(super) fn is_full(&self) -> bool {
        self.held >= self.most
    }

    pub(super) fn push(&mut self, seen: Seen) {
        let partition = (seen.hash >> (u64::BITS - PARTITION_BITS)) as usize;
        if let Some(partition) = self.partitions.get_mut(partition) {
            if partition.capacity() == 0 {
                // Never to be moved: a partition is nearly as large as the others.
                partition.reserve(self.most >> PARTITION_BITS);
            }
            partition.push(seen);
            self.held += 1;
        }
    }

    /// Sorts all into a run; there are none then.
    pub(super) fn sort_into(&mut self, runs: &Runs<Row>) -> Result<(), SortError> {
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

/// Calls `push` with the rows of one of the partitions of all threads, in order.
pub(super) fn rows_of<E>(
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

/// What sorting a partition takes.
#[derive(Default)]
struct Sorting {
    sorted: Vec<u64>,
    other: Vec<u64>,
    same: Vec<Seen>,
    row: Row,
}

impl Sorting {
    /// Adds records up to rows.
    fn rows<E>(
        &mut self,
        partition: &[Seen],
        mut push: impl FnMut(&Row) -> Result<(), E>,
    ) -> Result<(), E> {
        self.sorted.clear();
        let entries = partition.iter().enumerate();
        self.sorted
            .extend(entries.map(|(n, seen)| (seen.hash >> 32) << 32 | n as u64));
        sort_by_order(&mut self.sorted, &mut self.other);
        let (same, row) = (&mut self.same, &mut self.row);
        let record = |entry: &u64| partition.get((*entry & u64::from(u32::MAX)) as usize);
        for group in self.sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
            same.clear();
            for entry in group {
                if let Some(seen) = record(entry) {
                    same.push(*seen);
                }
            }
            if same.len() > 1 {
                same.sort_by_key(Seen::place);
            }
            for games in same.chunk_by(|a, b| a.place() == b.place()) {
                if let Some(first) = games.first() {
                    row.reset(first.hash, first.mv, first.bucket);
                }
                for seen in games {
                    if let Some(game) = GameRef::unpack(seen.bits, seen.game) {
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
