//! All runs of one sort, and reading them.

use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::run::{BLOCK_BYTES, MakeStore, Run, RunWriter};
use super::{Merge, PARTS, Record, SortError};
use crate::atomic;
use crate::parallel::{self, Panicked};

/// So many runs in files become one.
pub(super) const FAN_IN: usize = 48;

/// Bytes of runs that one turn of a merging thread takes, if the parts are
/// fine enough.
const SPAN_BYTES: u64 = 1 << 20;

/// The runs of a sort, which several threads may add to.
pub struct Runs<R> {
    /// Bytes that runs in memory may still take.
    room: AtomicU64,
    /// Where files are made.
    folder: PathBuf,
    make: MakeStore,
    memory: Mutex<Vec<Run>>,
    /// By how often what is in them was merged before.
    files: Mutex<Vec<Vec<Run>>>,
    /// Bytes ever written to files.
    written: AtomicU64,
    of: PhantomData<fn() -> R>,
}

impl<R: Record> Runs<R> {
    /// Keeps runs of at most `room` bytes in memory, the others in files in
    /// `folder`.
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

    /// Makes a run of at most `estimate` bytes of what `fill` pushes, in
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

    /// Begins a run. Where memory has no room for it, what is there goes to
    /// disk as one run: the larger runs in files are, the fewer times they are
    /// merged.
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

    /// Merges runs into one on disk.
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

    /// Takes a finished run. If that makes many, it merges some.
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

    /// Everything that was added, to be read; the runs are empty then.
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

/// Runs are whole or not there, so a panic elsewhere makes none of them bad.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sorted records, not yet merged.
pub struct Sorted<R> {
    pub(super) runs: Vec<Run>,
    folder: PathBuf,
    /// Bytes of runs that one turn of a thread takes.
    span_bytes: u64,
    of: PhantomData<fn() -> R>,
}

impl<R: Record> Sorted<R> {
    /// For work that takes long for each record: each thread's turns are so
    /// short that all have some, however few records there are.
    pub fn finely(mut self, threads: usize) -> Sorted<R> {
        let all: u64 = self.runs.iter().map(Run::bytes).sum();
        self.span_bytes = (all / (8 * threads.max(1) as u64)).clamp(1 << 10, SPAN_BYTES);
        self
    }

    /// All records in order.
    ///
    /// # Errors
    ///
    /// A sort file cannot be read.
    pub fn merge(&self) -> Result<Merge<R>, SortError> {
        self.part(0..PARTS)
    }

    /// The records of some [parts](PARTS) of the order.
    pub(super) fn part(&self, parts: Range<usize>) -> Result<Merge<R>, SortError> {
        let readers = self.runs.iter().map(|run| run.read(parts.clone()));
        Merge::new(readers, &self.folder)
    }

    /// Has `make` called in some threads, each time with the records of another
    /// stretch of the order, and hands what it makes to `sink`, in order.
    ///
    /// # Errors
    ///
    /// The first that happens; nothing goes on then.
    pub fn in_threads<P: Send, E: From<SortError> + From<Panicked> + Send>(
        &self,
        threads: usize,
        make: impl Fn(Merge<R>) -> Result<P, E> + Sync,
        sink: impl FnMut(P) -> Result<(), E>,
    ) -> Result<(), E> {
        parallel::each_in_order(threads, self.spans(), |span| make(self.part(span)?), sink)
    }

    /// Cuts the order into spans for the threads: neighbouring parts, together
    /// not much larger than one turn should be.
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
