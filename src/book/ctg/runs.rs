//! Sorting more entries than memory holds: sorted runs in one file without a
//! name, then read side by side.

use std::{
    fs::File,
    io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Key, WriteError, hash,
    page::split_entry,
    sorted::{EntryStream, Merge, Ordered, RewriteError},
};

/// Collects entries in any order and gives them back sorted.
#[derive(Debug)]
pub(super) struct Sorter {
    folder: PathBuf,
    /// Bytes the entries in memory may take, with their numbers.
    limit: usize,
    bytes: Vec<u8>,
    index: Vec<Indexed>,
    file: Option<BufWriter<File>>,
    /// Start and end of every run in the file.
    runs: Vec<(u64, u64)>,
    written: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Indexed {
    reversed: u32,
    start: u32,
    length: u16,
    rank: u64,
}

/// Less makes too many runs.
const LEAST_MEMORY: usize = 64 << 10;

/// Rank and length before every entry of a run.
const RECORD_HEADER: usize = 8 + 2;

impl Sorter {
    /// Sorts within about `memory` bytes, with a file in `folder` if that is
    /// not enough.
    pub(super) fn new(folder: &Path, memory: u64) -> Sorter {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        Sorter {
            folder: folder.to_owned(),
            // Places in memory are 32-bit numbers.
            limit: memory.clamp(LEAST_MEMORY, u32::MAX as usize / 2),
            bytes: Vec::new(),
            index: Vec::new(),
            file: None,
            runs: Vec::new(),
            written: 0,
        }
    }

    pub(super) fn push(&mut self, entry: &[u8], key: &Key, rank: u64) -> Result<(), WriteError> {
        let held = self.bytes.len() + self.index.len() * size_of::<Indexed>();
        if held + entry.len() + size_of::<Indexed>() > self.limit {
            self.write_run()?;
        }
        self.index.push(Indexed {
            reversed: hash(key.as_bytes()).reverse_bits(),
            start: self.bytes.len() as u32,
            length: entry.len() as u16,
            rank,
        });
        self.bytes.extend_from_slice(entry);
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.index.sort_unstable_by(|a, b| {
            let keys = || key_at(bytes, a).cmp(key_at(bytes, b));
            a.reversed
                .cmp(&b.reversed)
                .then_with(keys)
                .then(a.rank.cmp(&b.rank))
        });
    }

    fn write_run(&mut self) -> Result<(), WriteError> {
        self.sort();
        let start = self.written;
        let folder = &self.folder;
        let failed = |reason| WriteError::Sort {
            folder: folder.clone(),
            reason,
        };
        if self.file.is_none() {
            let file = tempfile::tempfile_in(folder).map_err(failed)?;
            self.file = Some(BufWriter::with_capacity(256 << 10, file));
        }
        if let Some(file) = &mut self.file {
            for entry in &self.index {
                file.write_all(&entry.rank.to_be_bytes()).map_err(failed)?;
                file.write_all(&entry.length.to_be_bytes())
                    .map_err(failed)?;
                file.write_all(entry_at(&self.bytes, entry))
                    .map_err(failed)?;
                self.written += (RECORD_HEADER + usize::from(entry.length)) as u64;
            }
        }
        self.runs.push((start, self.written));
        self.bytes.clear();
        self.index.clear();
        Ok(())
    }

    /// All entries in order; of equal keys the one of the lowest rank comes
    /// first.
    pub(super) fn finish(mut self) -> Result<SortedRuns, RewriteError> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(SortedRuns::Memory {
                bytes: self.bytes,
                index: self.index.into_iter(),
            });
        }
        self.write_run()?;
        let folder: Arc<Path> = self.folder.into();
        let failed = |reason| WriteError::Sort {
            folder: folder.to_path_buf(),
            reason,
        };
        let Some(file) = self.file else {
            return Err(WriteError::GivenUp.into());
        };
        let file = file
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        let file = Arc::new(file);
        // The memory of the entries is free now and serves as buffers.
        drop((self.bytes, self.index));
        let buffer = (self.limit / self.runs.len()).clamp(4 << 10, 1 << 20);
        let runs = self.runs.into_iter().map(|(start, end)| Run {
            file: Arc::clone(&file),
            folder: Arc::clone(&folder),
            next: start,
            end,
            buffer: Vec::new(),
            at: 0,
            capacity: buffer,
        });
        Ok(SortedRuns::File(Merge::new(runs.collect())?))
    }
}

fn entry_at<'b>(bytes: &'b [u8], entry: &Indexed) -> &'b [u8] {
    let start = entry.start as usize;
    let end = start + usize::from(entry.length);
    bytes.get(start..end).unwrap_or_default()
}

fn key_at<'b>(bytes: &'b [u8], entry: &Indexed) -> &'b [u8] {
    let entry = entry_at(bytes, entry);
    let length = entry.first().map_or(0, |first| first & Key::LENGTH);
    entry.get(..usize::from(length)).unwrap_or_default()
}

/// What [`Sorter::finish`] gives.
#[derive(Debug)]
pub(super) enum SortedRuns {
    Memory {
        bytes: Vec<u8>,
        index: std::vec::IntoIter<Indexed>,
    },
    File(Merge<Run>),
}

impl EntryStream for SortedRuns {
    fn next_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, RewriteError> {
        match self {
            SortedRuns::Memory { bytes, index } => {
                let Some(next) = index.next() else {
                    return Ok(None);
                };
                let source = entry_at(bytes, &next);
                entry.clear();
                entry.extend_from_slice(source);
                Ok(Key::from_prefix(source).map(|key| Ordered {
                    reversed: next.reversed,
                    key,
                    rank: next.rank,
                }))
            }
            SortedRuns::File(merge) => merge.next_into(entry),
        }
    }
}

/// One run, read piece by piece.
#[derive(Debug)]
pub(super) struct Run {
    file: Arc<File>,
    folder: Arc<Path>,
    /// What is in the file but not in the buffer yet.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    capacity: usize,
}

impl Run {
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let room = self.capacity.saturating_sub(self.buffer.len()) as u64;
        let wanted = room.min(self.end - self.next);
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.next))?;
        let read = file.take(wanted).read_to_end(&mut self.buffer)?;
        self.next += read as u64;
        if (read as u64) < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// The next record, if it is in the buffer as a whole.
    fn record(&self) -> Option<(u64, &[u8])> {
        let rest = self.buffer.get(self.at..)?;
        let (rank, rest) = rest.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let entry = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
        Some((u64::from_be_bytes(*rank), entry))
    }
}

impl EntryStream for Run {
    fn next_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, RewriteError> {
        if self.record().is_none() && self.next < self.end {
            self.fill().map_err(|reason| WriteError::Sort {
                folder: self.folder.to_path_buf(),
                reason,
            })?;
        }
        let Some((rank, bytes)) = self.record() else {
            return Ok(None);
        };
        entry.clear();
        entry.extend_from_slice(bytes);
        self.at += RECORD_HEADER + entry.len();
        // It was a whole entry when it was taken in.
        let key = split_entry(entry, 0)
            .ok()
            .and_then(|(entry, _)| entry.key());
        Ok(key.map(|key| Ordered {
            reversed: key.hash().reverse_bits(),
            key,
            rank,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: u32) -> Vec<(Vec<u8>, u64)> {
        (0..count)
            .map(|n| {
                let mut bytes = vec![0x45];
                bytes.extend(n.wrapping_mul(0x9e37_79b1).to_be_bytes());
                bytes.push(1);
                bytes.extend([n as u8; 33]);
                (bytes, u64::from(n))
            })
            .collect()
    }

    fn sorted(entries: &[(Vec<u8>, u64)], memory: u64) -> (Vec<(Vec<u8>, u64)>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), memory);
        for (bytes, rank) in entries {
            let key = Key::from_prefix(bytes).unwrap();
            sorter.push(bytes, &key, *rank).unwrap();
        }
        let runs = sorter.runs.len();
        let mut stream = sorter.finish().unwrap();
        let mut all = Vec::new();
        let mut bytes = Vec::new();
        while let Some(order) = stream.next_into(&mut bytes).unwrap() {
            all.push((bytes.clone(), order.rank));
        }
        let names = || folder.path().read_dir().unwrap().count();
        // On Windows a file has a name as long as it is open.
        assert!(cfg!(windows) || names() == 0);
        drop(stream);
        assert_eq!(names(), 0);
        (all, runs)
    }

    #[test]
    fn the_order_is_the_same_in_memory_and_on_disk() {
        let mut source = entries(20_000);
        // Equal keys: the lower rank comes first.
        source.extend(
            source
                .clone()
                .into_iter()
                .map(|(bytes, rank)| (bytes, rank + 50_000)),
        );
        let (in_memory, runs) = sorted(&source, u64::MAX);
        assert_eq!(runs, 0);
        let order = |entry: &(Vec<u8>, u64)| {
            let key = Key::from_prefix(&entry.0).unwrap();
            (key.hash().reverse_bits(), key, entry.1)
        };
        source.sort_by_key(order);
        assert!(in_memory == source);
        let (on_disk, runs) = sorted(&in_memory, 0);
        assert!(runs > 20);
        assert!(on_disk == source);
    }

    #[test]
    fn nothing_sorted_is_nothing() {
        assert_eq!(sorted(&[], 0).0, []);
    }
}
