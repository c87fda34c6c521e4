//! Sorted runs of nodes, in memory while there is room and in files without a
//! name otherwise: whatever ends the program, nothing is left on the disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::merge::merge;
use super::node::{MAX_NODE_BYTES, Node};
use crate::input::file::read_at;

/// Runs know where each of this many equal parts of the order begins, so that
/// several threads can merge, each its own parts.
pub(super) const PARTS: usize = 4096;

/// So many runs in files become one.
const FAN_IN: usize = 48;

/// Bytes that are read or written at once.
const BLOCK_BYTES: usize = 64 << 10;

/// The part that an order falls into.
fn part(order: u32) -> usize {
    order as usize / (u32::MAX as usize / PARTS + 1)
}

/// All runs of a build.
pub(super) struct Runs {
    /// Bytes that runs in memory may still take.
    room: AtomicU64,
    /// Where files are made.
    folder: PathBuf,
    memory: Mutex<Vec<Run>>,
    /// By how often what is in them was merged before.
    files: Mutex<Vec<Vec<Run>>>,
    /// Bytes ever written to files.
    written: AtomicU64,
}

/// A sort file cannot be made, written or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: sorting needs room for temporary files here (see --temp)", folder.display())]
pub struct SortError {
    folder: PathBuf,
    source: io::Error,
}

impl Runs {
    pub(super) fn new(room: u64, folder: &Path) -> Runs {
        Runs {
            room: AtomicU64::new(room),
            folder: folder.to_owned(),
            memory: Mutex::default(),
            files: Mutex::default(),
            written: AtomicU64::new(0),
        }
    }

    /// Bytes written to files so far.
    pub(super) fn bytes_written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    pub(super) fn failed(&self, source: io::Error) -> SortError {
        SortError {
            folder: self.folder.clone(),
            source,
        }
    }

    /// Begins a run of at most `estimate` bytes. Where memory has no room for
    /// it, what is there goes to disk as one run: the larger runs in files
    /// are, the fewer times they are merged.
    pub(super) fn begin(&self, estimate: u64) -> Result<RunWriter, SortError> {
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
        let readers = runs.iter().map(|run| run.read(0..PARTS)).collect();
        merge(readers, &mut |node: &Node| writer.push(node)).map_err(|error| self.failed(error))?;
        let run = writer.finish().map_err(|error| self.failed(error))?;
        self.written.fetch_add(run.bytes(), Relaxed);
        Ok(run)
    }

    fn begin_file(&self) -> Result<RunWriter, SortError> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|source| self.failed(source))?;
        Ok(RunWriter::new(Some(file), 2 * BLOCK_BYTES as u64))
    }

    /// Takes a finished run. If that makes many, it merges some.
    pub(super) fn add(&self, writer: RunWriter) -> Result<(), SortError> {
        let reserved = writer.reserved;
        let run = writer.finish().map_err(|source| self.failed(source))?;
        if let Data::Memory(bytes) = &run.data {
            self.room
                .fetch_add(reserved.saturating_sub(bytes.len() as u64), Relaxed);
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

    /// All runs, at the end.
    pub(super) fn take(&self) -> Vec<Run> {
        let mut all = std::mem::take(&mut *lock(&self.memory));
        all.extend(
            std::mem::take(&mut *lock(&self.files))
                .into_iter()
                .flatten(),
        );
        all
    }
}

/// A thread that panics takes the whole build down, so a poisoned lock is
/// never seen.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Takes nodes in ascending order.
pub(super) struct RunWriter {
    /// Where full blocks go, if not to memory.
    file: Option<File>,
    bytes: Vec<u8>,
    reserved: u64,
    /// Bytes in the file.
    flushed: u64,
    starts: Vec<u64>,
}

impl RunWriter {
    fn new(file: Option<File>, reserved: u64) -> RunWriter {
        RunWriter {
            file,
            bytes: Vec::with_capacity(reserved as usize),
            reserved,
            flushed: 0,
            starts: Vec::with_capacity(PARTS + 1),
        }
    }

    pub(super) fn push(&mut self, node: &Node) -> io::Result<()> {
        let part = part(node.place.order);
        let at = self.flushed + self.bytes.len() as u64;
        while self.starts.len() <= part {
            self.starts.push(at);
        }
        node.encode(&mut self.bytes);
        if let Some(file) = &mut self.file
            && self.bytes.len() >= BLOCK_BYTES
        {
            file.write_all(&self.bytes)?;
            self.flushed += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Run> {
        let end = self.flushed + self.bytes.len() as u64;
        self.starts.resize(PARTS + 1, end);
        let data = match self.file {
            Some(mut file) => {
                file.write_all(&self.bytes)?;
                Data::File(file)
            }
            None => {
                self.bytes.shrink_to_fit();
                Data::Memory(self.bytes)
            }
        };
        Ok(Run {
            starts: self.starts,
            data,
        })
    }
}

enum Data {
    Memory(Vec<u8>),
    File(File),
}

/// A finished run.
pub(super) struct Run {
    /// Where each part begins, and where the last one ends.
    starts: Vec<u64>,
    data: Data,
}

impl Run {
    pub(super) fn bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Bytes of one part.
    pub(super) fn part_bytes(&self, part: usize) -> u64 {
        match self.starts.get(part..part + 2) {
            Some(&[start, end]) => end - start,
            _ => 0,
        }
    }

    /// Reads some of its parts.
    pub(super) fn read(&self, parts: std::ops::Range<usize>) -> RunReader<'_> {
        let place = |part| self.starts.get(part).copied().unwrap_or(0);
        let (start, end) = (place(parts.start), place(parts.end));
        match &self.data {
            Data::Memory(bytes) => RunReader {
                memory: bytes.get(start as usize..end as usize).unwrap_or_default(),
                file: None,
            },
            Data::File(file) => RunReader {
                memory: &[],
                file: Some(FileReader {
                    file,
                    next: start,
                    end,
                    buffer: Vec::new(),
                    at: 0,
                }),
            },
        }
    }
}

/// Reads nodes in ascending order.
pub(super) struct RunReader<'r> {
    memory: &'r [u8],
    file: Option<FileReader<'r>>,
}

struct FileReader<'r> {
    file: &'r File,
    /// What comes behind the buffer.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl RunReader<'_> {
    /// The next node; false at the end.
    pub(super) fn next(&mut self, node: &mut Node) -> io::Result<bool> {
        let rest = match &mut self.file {
            None => self.memory,
            Some(file) => file.rest()?,
        };
        if rest.is_empty() {
            return Ok(false);
        }
        let length = node
            .decode(rest)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a sort file has changed"))?;
        match &mut self.file {
            None => self.memory = self.memory.get(length..).unwrap_or_default(),
            Some(file) => file.at += length,
        }
        Ok(true)
    }
}

impl FileReader<'_> {
    /// The bytes from here on: a whole node at least, unless the run ends.
    fn rest(&mut self) -> io::Result<&[u8]> {
        if self.buffer.len() - self.at < MAX_NODE_BYTES && self.next < self.end {
            self.buffer.drain(..self.at);
            self.at = 0;
            let kept = self.buffer.len();
            let more = (BLOCK_BYTES as u64).min(self.end - self.next) as usize;
            self.buffer.resize(kept + more, 0);
            let mut to = self.buffer.get_mut(kept..).unwrap_or_default();
            while !to.is_empty() {
                let count = read_at(self.file, to, self.next)?;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.next += count as u64;
                to = to.get_mut(count..).unwrap_or_default();
            }
        }
        Ok(self.buffer.get(self.at..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::{Outcome, Place};
    use super::*;

    fn node(order: u32) -> Node {
        let mut key = [0; 31];
        key[..3].copy_from_slice(&[3, order as u8, 7]);
        let mut node = Node::new(Place { order, key });
        node.tally.count(Outcome::Won, 2000, 0);
        node.add_move(order as u8, 1);
        node
    }

    /// More runs than are merged at once, and larger ones than a block, from
    /// files and from memory, part by part.
    #[test]
    fn many_runs_come_back_added_up_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::new(100_000, folder.path());
        let count = 3 * FAN_IN + 5;
        let orders = || (0..4000_u32).map(|n| n.wrapping_mul(1_073_741));
        let mut expected: Vec<u32> = orders().collect();
        expected.sort_unstable();
        expected.dedup();
        for run in 0..count {
            let mut writer = runs
                .begin(if run % 50 == 0 { 50_000 } else { 200_000 })
                .unwrap();
            for &order in &expected {
                writer.push(&node(order)).unwrap();
            }
            runs.add(writer).unwrap();
        }
        // Nothing has a name.
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        assert!(runs.bytes_written() > 0);
        let all = runs.take();
        assert!(all.len() <= FAN_IN + 1);
        let mut found = Vec::new();
        for parts in [0..1000, 1000..1001, 1001..PARTS] {
            let readers = all.iter().map(|run| run.read(parts.clone())).collect();
            merge(readers, &mut |node: &Node| {
                assert_eq!(node.tally.wins, count as u64);
                assert_eq!(node.tally.own_sum, 2000 * count as u64);
                assert_eq!(node.moves, [(node.place.order as u8, count as u64)]);
                found.push(node.place.order);
                Ok::<_, io::Error>(())
            })
            .unwrap();
        }
        assert_eq!(found, expected);
    }
}
