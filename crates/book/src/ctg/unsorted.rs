//! Writes a book from entries in any order.

use std::path::Path;

use shakmaty::Color;

use super::{
    BookWriter, Error, Key, WriteOptions, Written,
    sorted::{EntryStream as _, SortedEntry},
    writer::whole_entry,
};
use tabia_io::progress::Watch;
use tabia_io::sort::Sorter;

/// Takes entries in any order, sorts them in limited memory (and on disk beyond it), and
/// writes the book.
pub struct UnsortedWriter {
    writer: BookWriter,
    sorter: Sorter<SortedEntry>,
    entry: SortedEntry,
}

impl UnsortedWriter {
    /// Starts a book as [`BookWriter::create`] does. `memory`, in bytes, is for sorting.
    ///
    /// # Errors
    ///
    /// As for [`BookWriter::create`].
    pub fn create(
        target: &Path,
        options: WriteOptions,
        memory: u64,
    ) -> Result<UnsortedWriter, Error> {
        let writer = BookWriter::create(target, options)?;
        let sorter = Sorter::alone(&writer.folder(), memory);
        Ok(UnsortedWriter {
            writer,
            sorter,
            entry: SortedEntry::default(),
        })
    }

    /// Takes an entry made by [`super::encode_entry`]. `rank` orders entries of one key.
    ///
    /// # Errors
    ///
    /// The bytes are not an entry, or temporary files cannot be written.
    pub fn push(&mut self, entry: &[u8], rank: u64) -> Result<(), Error> {
        whole_entry(entry)?;
        self.entry.set(entry, rank);
        Ok(self.sorter.push(&self.entry)?)
    }

    /// Sets the side that the book plays for.
    pub fn set_only(&mut self, only: Option<Color>) {
        self.writer.set_only(only);
    }

    /// Writes the book. `join` makes one entry of all those with the same key, often only
    /// one: it gets them in the order of their ranks, with the ranks, and appends to the
    /// buffer. `total` is the expected number of positions.
    ///
    /// # Errors
    ///
    /// As for [`BookWriter::finish`], or `join` fails.
    pub fn finish(
        self,
        games: u32,
        mut join: impl FnMut(&[(u64, Vec<u8>)], &mut Vec<u8>) -> Result<(), Error>,
        watch: &mut Watch<'_>,
        total: Option<u64>,
    ) -> Result<Written, Error> {
        let UnsortedWriter {
            mut writer, sorter, ..
        } = self;
        let mut stream = sorter.merge()?;
        let mut group: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut joined = Vec::new();
        let mut next = Vec::new();
        let mut count = 0;
        let mut key: Option<Key> = None;
        loop {
            let order = stream.next_into(&mut next)?;
            if key.is_some() && order.map(|order| order.key) != key {
                joined.clear();
                join(&group, &mut joined)?;
                writer.push(&joined)?;
                group.clear();
                count += 1;
                watch.position("writing", count, total)?;
            }
            let Some(order) = order else {
                break;
            };
            key = Some(order.key);
            group.push((order.rank, std::mem::take(&mut next)));
        }
        writer.finish(games)
    }
}
