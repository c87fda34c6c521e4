//! All runs of one sort, and reading them in order.

use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::run::{BLOCK_BYTES, MakeStore, Run, RunWriter};
use super::{Merge, PARTS, Record, SortError};
use crate::atomic;
use crate::parallel::{self, Panicked, lock};

/// Number of runs in files that are merged into one.
pub(super) const FAN_IN: usize = 48;

/// Bytes of runs that a merging thread takes at once, if the parts are small enough.
const SPAN_BYTES: u64 = 1 << 20;

/// The runs of a sort. Several threads may add runs.
pub struct Runs<R> {
    /// Bytes still free for runs in memory.
    room: AtomicU64,
    /// The folder for the files.
    folder: PathBuf,
    make: MakeStore,
    memory: Mutex<Vec<Run>>,
    /// Runs in files, by the number of earlier merges.
    files: Mutex<Vec<Vec<Run>>>,
    /// Bytes written to files in total.
    written: AtomicU64,
    of: PhantomData<fn() -> R>,
}

impl<R: Record> Runs<R> {
    /// Keeps runs of at most `room` bytes in memory, and the others in files in `folder`.
    #[must_use]
    pub fn new(room: u64, folder: &Path) -> Runs<R> {
        Runs::with_files(room, folder, |folder| {
            Ok(Box::new(atomic::unnamed_file(folder)?))
        })
    }

    pub(super) fn with_files(room: u64, folder: &Path, make: MakeStore) -> Runs<R> {
        Runs {
            room: AtomicU64::new(room),
            folder: folder.to_owned(),
            make,
            memory: Mutex::default(),
            files: Mutex::default(),
            written: AtomicU64::new(0),
            of: PhantomData,
        }
    }

    /// Bytes written to files so far.
    pub fn bytes_written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        lock(&self.memory).is_empty() && lock(&self.files).iter().all(Vec::is_empty)
    }

    pub(super) fn failed(&self, source: std::io::Error) -> SortError {
        SortError::new(&self.folder, source)
    }

    /// Makes a run of at most `estimate` bytes from what `fill` pushes, in
    /// ascending order.
    ///
    /// # Errors
    ///
    /// The error of `fill`, or a file cannot be written.
    pub fn add<E: From<SortError>>(
        &self,
        estimate: u64,
        fill: impl FnOnce(&mut dyn FnMut(&R) -> Result<(), SortError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut writer = self.begin(estimate)?;
        fill(&mut |record| writer.push(record).map_err(|error| self.failed(error)))?;
        Ok(self.finish(writer)?)
    }

    /// Begins a run. If it does not fit into memory, merges the runs there into one file: the
    /// larger the runs in files, the fewer times they are merged.
    pub(super) fn begin(&self, estimate: u64) -> Result<RunWriter<R>, SortError> {
        if self.reserve(estimate) {
            return Ok(RunWriter::new(None, estimate));
        }
        let full = std::mem::take(&mut *lock(&self.memory));
        if full.len() > 1 {
            let run = self.join(&full)?;
            let freed = full.iter().map(Run::bytes).sum();
            drop(full);
            self.room.fetch_add(freed, Relaxed);
            self.add_file(run, 0)?;
            if self.reserve(estimate) {
                return Ok(RunWriter::new(None, estimate));
            }
        } else {
            lock(&self.memory).extend(full);
        }
        self.begin_file()
    }

    fn reserve(&self, bytes: u64) -> bool {
        self.room
            .try_update(Relaxed, Relaxed, |room| room.checked_sub(bytes))
            .is_ok()
    }

    /// Merges runs into one file.
    fn join(&self, runs: &[Run]) -> Result<Run, SortError> {
        let mut writer = self.begin_file()?;
        let readers = runs.iter().map(|run| run.read(0..PARTS));
        let mut merge = Merge::<R>::new(readers, &self.folder)?;
        while let Some(record) = merge.next()? {
            writer.push(record).map_err(|error| self.failed(error))?;
        }
        let run = writer.finish().map_err(|error| self.failed(error))?;
        self.written.fetch_add(run.bytes(), Relaxed);
        Ok(run)
    }

    fn begin_file(&self) -> Result<RunWriter<R>, SortError> {
        let file = (self.make)(&self.folder).map_err(|source| self.failed(source))?;
        Ok(RunWriter::new(Some(file), 2 * BLOCK_BYTES as u64))
    }

    /// Adds a finished run, and merges files when there are many.
    pub(super) fn finish(&self, writer: RunWriter<R>) -> Result<(), SortError> {
        let reserved = writer.reserved;
        let run = writer.finish().map_err(|source| self.failed(source))?;
        if run.is_in_memory() {
            let unused = reserved.saturating_sub(run.bytes());
            self.room.fetch_add(unused, Relaxed);
            lock(&self.memory).push(run);
            return Ok(());
        }
        self.written.fetch_add(run.bytes(), Relaxed);
        self.add_file(run, 0)
    }

    fn add_file(&self, run: Run, level: usize) -> Result<(), SortError> {
        let many = {
            let mut files = lock(&self.files);
            if files.len() <= level {
                files.resize_with(level + 1, Vec::new);
            }
            let Some(runs) = files.get_mut(level) else {
                return Ok(());
            };
            runs.push(run);
            if runs.len() < FAN_IN {
                return Ok(());
            }
            std::mem::take(runs)
        };
        let run = self.join(&many)?;
        drop(many);
        self.add_file(run, level + 1)
    }

    /// Takes everything that was added, for reading; the runs are empty afterwards.
    #[must_use]
    pub fn take(&self) -> Sorted<R> {
        let mut runs = std::mem::take(&mut *lock(&self.memory));
        let files = std::mem::take(&mut *lock(&self.files));
        runs.extend(files.into_iter().flatten());
        Sorted {
            runs,
            folder: self.folder.clone(),
            span_bytes: SPAN_BYTES,
            of: PhantomData,
        }
    }
}

/// Sorted records, not merged yet.
pub struct Sorted<R> {
    pub(super) runs: Vec<Run>,
    folder: PathBuf,
    /// Bytes of runs that a thread takes at once.
    span_bytes: u64,
    of: PhantomData<fn() -> R>,
}

impl<R: Record> Sorted<R> {
    /// For work that is slow for each record: makes the spans so short that every thread
    /// gets some, even if there are few records.
    pub fn finely(mut self, threads: usize) -> Sorted<R> {
        let all: u64 = self.runs.iter().map(Run::bytes).sum();
        self.span_bytes = (all / (8 * threads.max(1) as u64)).clamp(1 << 10, SPAN_BYTES);
        self
    }

    /// Returns all records in order.
    ///
    /// # Errors
    ///
    /// A sort file cannot be read.
    pub fn merge(&self) -> Result<Merge<R>, SortError> {
        self.part(0..PARTS)
    }

    /// Returns the records of some [parts](PARTS) of the order.
    pub(super) fn part(&self, parts: Range<usize>) -> Result<Merge<R>, SortError> {
        let readers = self.runs.iter().map(|run| run.read(parts.clone()));
        Merge::new(readers, &self.folder)
    }

    /// Calls `make` in several threads, each time with the records of one span of the
    /// order, and passes the results to `sink` in order.
    ///
    /// # Errors
    ///
    /// Stops at the first error and returns it.
    pub fn in_threads<P: Send, E: From<SortError> + From<Panicked> + Send>(
        &self,
        threads: usize,
        make: impl Fn(Merge<R>) -> Result<P, E> + Sync,
        sink: impl FnMut(P) -> Result<(), E>,
    ) -> Result<(), E> {
        parallel::each_in_order(threads, self.spans(), |span| make(self.part(span)?), sink)
    }

    /// Divides the order into spans for the threads: neighbouring parts, together not much
    /// larger than `span_bytes`.
    fn spans(&self) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for part in 0..PARTS {
            let more: u64 = self.runs.iter().map(|run| run.part_bytes(part)).sum();
            if bytes > 0 && bytes + more > self.span_bytes {
                spans.push(start..part);
                (start, bytes) = (part, 0);
            }
            bytes += more;
        }
        spans.push(start..PARTS);
        spans
    }
}
