//! Many sorted runs as one sequence.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::path::{Path, PathBuf};

use super::run::RunReader;
use super::{Record, SortError};

/// A run with the record that it offers.
struct Front<R> {
    record: R,
    reader: RunReader,
}

impl<R: Record> Ord for Front<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.record.compare(&other.record)
    }
}

impl<R: Record> PartialOrd for Front<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Record> PartialEq for Front<R> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<R: Record> Eq for Front<R> {}

/// All records of some runs, in order; those of one place joined if they can
/// be.
pub struct Merge<R> {
    // By pointer: a record may be large to move.
    heap: BinaryHeap<Reverse<Box<Front<R>>>>,
    current: R,
    folder: PathBuf,
}

impl<R: Record> Merge<R> {
    pub(super) fn new(
        readers: impl Iterator<Item = RunReader>,
        folder: &Path,
    ) -> Result<Merge<R>, SortError> {
        let mut heap = BinaryHeap::new();
        for mut reader in readers {
            let mut record = R::default();
            let is_there = reader.next(&mut record);
            if is_there.map_err(|source| SortError::new(folder, source))? {
                heap.push(Reverse(Box::new(Front { record, reader })));
            }
        }
        Ok(Merge {
            heap,
            current: R::default(),
            folder: folder.to_owned(),
        })
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// A sort file cannot be read.
    // No `Iterator`: the record is lent.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&R>, SortError> {
        match self.advance() {
            Ok(true) => Ok(Some(&self.current)),
            Ok(false) => Ok(None),
            Err(source) => Err(SortError::new(&self.folder, source)),
        }
    }

    fn advance(&mut self) -> io::Result<bool> {
        let Some(mut top) = self.heap.peek_mut() else {
            return Ok(false);
        };
        // The old record's buffers go to the reader.
        std::mem::swap(&mut self.current, &mut top.0.record);
        step(top)?;
        while let Some(top) = self.heap.peek_mut() {
            let is_same = self.current.compare(&top.0.record).is_eq();
            if !is_same || !self.current.join(&top.0.record) {
                break;
            }
            step(top)?;
        }
        Ok(true)
    }
}

/// Reads on in the run that is first.
fn step<R: Record>(mut top: PeekMut<'_, Reverse<Box<Front<R>>>>) -> io::Result<()> {
    let Front { record, reader } = &mut *top.0;
    if !reader.next(record)? {
        PeekMut::pop(top);
    }
    Ok(())
}
