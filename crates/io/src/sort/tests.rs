use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::run::{MakeStore, Store};
use super::runs::FAN_IN;
use super::*;
use crate::parallel::{self, Panicked};

/// A number that was seen so often, with a text of some length.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    number: u32,
    times: u64,
    text: Vec<u8>,
}

/// Shorter and longer than the length that a sorter keeps with the place of a record.
fn text(number: u32) -> Vec<u8> {
    vec![7; number as usize % 200]
}

impl Seen {
    fn new(number: u32) -> Seen {
        Seen {
            number,
            times: 1,
            text: text(number),
        }
    }
}

impl Record for Seen {
    fn order(&self) -> u32 {
        self.number
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.number.cmp(&other.number)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.number.to_be_bytes());
        out.extend(self.times.to_be_bytes());
        out.push(self.text.len() as u8);
        out.extend(&self.text);
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let (number, rest) = bytes.split_first_chunk()?;
        let (times, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first()?;
        self.number = u32::from_be_bytes(*number);
        self.times = u64::from_be_bytes(*times);
        self.text.clear();
        self.text
            .extend_from_slice(rest.get(..usize::from(*length))?);
        Some(13 + self.text.len())
    }

    fn join(&mut self, other: &Self) -> bool {
        self.times += other.times;
        true
    }
}

/// One that does not join.
#[derive(Clone, Default)]
struct Single(u64);

impl Record for Single {
    fn order(&self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.0.to_be_bytes());
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        self.0 = u64::from_be_bytes(*bytes.first_chunk()?);
        Some(8)
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Sort(#[from] SortError),
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

fn names(folder: &Path) -> usize {
    folder.read_dir().unwrap().count()
}

fn numbers(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|n| n.wrapping_mul(0x9e37_79b1))
}

/// More runs than are merged at once, and larger ones than a block, from files
/// and from memory, part by part.
#[test]
fn many_runs_come_back_joined_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let runs = Runs::<Seen>::new(100_000, folder.path());
    let count = 3 * FAN_IN + 5;
    let mut expected: Vec<u32> = numbers(3000).collect();
    expected.sort_unstable();
    assert!(runs.is_empty());
    for run in 0..count {
        let estimate = if run % 50 == 0 { 50_000 } else { 200_000 };
        let add = runs.add(estimate, |push| {
            expected
                .iter()
                .try_for_each(|&number| push(&Seen::new(number)))
        });
        add.unwrap();
        assert!(!runs.is_empty());
    }
    // On Windows a file has a name as long as it is open.
    assert!(cfg!(windows) || names(folder.path()) == 0);
    assert!(runs.bytes_written() > 0);
    let sorted = runs.take();
    assert!(sorted.runs.len() <= FAN_IN + 1);
    let mut found = Vec::new();
    let read = |mut merge: Merge<Seen>| {
        let mut piece = Vec::new();
        while let Some(seen) = merge.next()? {
            assert_eq!(seen.times, count as u64);
            assert_eq!(seen.text, text(seen.number));
            piece.push(seen.number);
        }
        Ok::<_, Failure>(piece)
    };
    let add = |piece: Vec<u32>| {
        found.extend(piece);
        Ok(())
    };
    sorted.in_threads(3, read, add).unwrap();
    assert!(found == expected);
    found.clear();
    for parts in [0..1000, 1000..1001, 1001..PARTS] {
        found.extend(read(sorted.part(parts).unwrap()).unwrap());
    }
    assert!(found == expected);
    {
        let mut pieces = Vec::new();
        let add = |piece: Vec<u32>| {
            pieces.push(piece);
            Ok(())
        };
        sorted.finely(3).in_threads(3, read, add).unwrap();
        assert!(pieces.len() > 12, "{}", pieces.len());
        assert!(pieces.concat() == expected);
    }
}

#[test]
fn the_order_is_the_same_in_memory_and_on_disk() {
    let source: Vec<u64> = numbers(60_000).map(|n| u64::from(n) << 20).collect();
    for memory in [0, 1 << 20, u64::MAX] {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::alone(folder.path(), memory);
        // Each twice: these do not join.
        for number in source.iter().chain(&source) {
            sorter.push(&Single(*number)).unwrap();
        }
        let mut merge = sorter.merge().unwrap();
        let mut found = Vec::new();
        while let Some(Single(number)) = merge.next().unwrap() {
            found.push(*number);
        }
        let mut expected = [&source[..], &source].concat();
        expected.sort_unstable();
        assert!(found == expected, "{memory}");
        assert!(cfg!(windows) || names(folder.path()) == 0);
    }
}

#[test]
fn nothing_sorted_is_nothing() {
    let sorter = Sorter::<Single>::alone(Path::new("nowhere"), 0);
    assert!(sorter.merge().unwrap().next().unwrap().is_none());
}

/// A disk with so much room.
struct Full(File, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.1 -= bytes.len();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Store for Full {
    fn into_file(self: Box<Self>) -> io::Result<File> {
        Ok(self.0)
    }
}

/// However many threads sort, and whichever write is the first to fail.
#[test]
fn a_full_disk_ends_the_work_with_its_message() {
    fn disk<const ROOM: usize>(folder: &Path) -> io::Result<Box<dyn Store>> {
        Ok(Box::new(Full(tempfile::tempfile_in(folder)?, ROOM)))
    }
    let disks: [MakeStore; 3] = [disk::<0>, disk::<70_000>, disk::<300_000>];
    for (make, threads) in disks.into_iter().zip([1, 2, 4]) {
        let folder = tempfile::tempdir().unwrap();
        let mut given = 0;
        let runs = Arc::new(Runs::<Seen>::with_files(100_000, folder.path(), make));
        let done: Result<((), Vec<()>), Failure> = parallel::run(
            threads,
            |jobs| {
                let mut sorter = Sorter::new(Arc::clone(&runs), 0);
                jobs.each(|job: u32, _| {
                    numbers(1000).try_for_each(|n| sorter.push(&Seen::new(n ^ job)))?;
                    Ok(())
                })?;
                Ok(sorter.finish()?)
            },
            |lead| {
                let jobs = (0..1000).inspect(|_| given += 1);
                lead.each(jobs.map(Ok), |()| Ok(()))
            },
        );
        let text = done.unwrap_err().to_string();
        let folder = folder.path().display().to_string();
        assert!(text.starts_with(&folder), "{text}");
        assert!(
            text.contains("sorting") && text.contains("no storage"),
            "{text}"
        );
        assert!(given < 1000, "all was sorted in vain");
    }
}
