//! Merges many sorted runs into one sequence.

use std::io;
use std::path::{Path, PathBuf};

use super::run::RunReader;
use super::{Record, SortError};

/// A run and its next record.
struct RunHead<R> {
    record: R,
    reader: RunReader,
}

/// Runs in descending order: the next record is that of the last one.
struct RunHeads<R> {
    /// The orders of their records, separate so that the processor compares several at
    /// once.
    orders: Vec<u32>,
    /// Boxed, because moving a large record is slow.
    heads: Vec<Box<RunHead<R>>>,
}

impl<R: Record> RunHeads<R> {
    fn pop(&mut self) -> Option<Box<RunHead<R>>> {
        self.orders.pop();
        self.heads.pop()
    }

    /// Reads the next record of a run and inserts the run in order, unless it has ended.
    fn read_on(&mut self, mut head: Box<RunHead<R>>) -> io::Result<()> {
        let RunHead { record, reader } = &mut *head;
        if reader.next(record)? {
            let order = record.order();
            // Not a binary search, whose branches the processor cannot predict.
            let mut at = self.orders.iter().filter(|&&other| other > order).count();
            while self.orders.get(at) == Some(&order)
                && let Some(other) = self.heads.get(at)
                && other.record.compare(record).is_gt()
            {
                at += 1;
            }
            self.orders.insert(at, order);
            self.heads.insert(at, head);
        }
        Ok(())
    }
}

/// Iterates over all records of some runs, in order. Records with the same key are
/// joined if possible.
pub struct Merge<R> {
    heads: RunHeads<R>,
    /// The run of the last record returned.
    current: Option<Box<RunHead<R>>>,
    folder: PathBuf,
}

impl<R: Record> Merge<R> {
    pub(super) fn new(
        readers: impl Iterator<Item = RunReader>,
        folder: &Path,
    ) -> Result<Merge<R>, SortError> {
        let mut heads = RunHeads {
            orders: Vec::new(),
            heads: Vec::new(),
        };
        for reader in readers {
            let record = R::default();
            heads
                .read_on(Box::new(RunHead { record, reader }))
                .map_err(|source| SortError::new(folder, source))?;
        }
        Ok(Merge {
            heads,
            current: None,
            folder: folder.to_owned(),
        })
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// A sort file cannot be read.
    // Not an `Iterator`, because the record is borrowed.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&R>, SortError> {
        match self.advance() {
            Ok(()) => Ok(self.current.as_ref().map(|head| &head.record)),
            Err(source) => Err(SortError::new(&self.folder, source)),
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        if let Some(head) = self.current.take() {
            self.heads.read_on(head)?;
        }
        self.current = self.heads.pop();
        let Some(RunHead { record, .. }) = self.current.as_deref_mut() else {
            return Ok(());
        };
        while let Some(other) = self.heads.heads.last()
            && record.compare(&other.record).is_eq()
            && record.join(&other.record)
            && let Some(other) = self.heads.pop()
        {
            self.heads.read_on(other)?;
        }
        Ok(())
    }
}
