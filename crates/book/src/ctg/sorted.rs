//! The entries of whole books in the order of the writer: by bit-reversed hash, then by
//! key.
//!
//! In a sound book the entries of every page are contiguous in this order (see
//! [`super::scan`]). So one pass finds the first and last hash of every page, and a
//! second one reads the pages in that order, which needs twelve bytes for a page and
//! sorts only within each page. Books whose pages overlap are sorted by `tabia_io::sort`.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashSet},
    ops::Range,
    path::Path,
};

use super::{
    CanonicalBoard, EntryAddress, Error, Key, Salvage,
    pages::{PageFile, PageReader},
};

use tabia_io::progress::Watch;
use tabia_io::sort::{self, Record, Sorter};

/// The position of an entry in the order, and where it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ordered {
    pub(super) reversed: u32,
    pub(super) key: Key,
    /// Offset in the source file.
    pub(super) rank: u64,
}

impl Ordered {
    /// Offset of the entry in its file.
    pub(super) fn file_offset(&self) -> u64 {
        self.rank & !UNREACHED
    }

    pub(super) fn new(key: Key, rank: u64) -> Ordered {
        Ordered {
            reversed: key.hash().reverse_bits(),
            key,
            rank,
        }
    }
}

/// An entry for sorting; entries of one key are ordered by rank.
#[derive(Default)]
pub(super) struct SortedEntry {
    reversed: u32,
    rank: u64,
    bytes: Vec<u8>,
}

impl SortedEntry {
    /// Replaces the entry with these bytes.
    pub(super) fn set(&mut self, bytes: &[u8], rank: u64) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.rank = rank;
        self.reversed = super::hash(self.key_bytes()).reverse_bits();
    }

    fn key_bytes(&self) -> &[u8] {
        let length = self.bytes.first().map_or(0, |first| first & Key::LENGTH);
        self.bytes.get(..usize::from(length)).unwrap_or_default()
    }
}

impl Record for SortedEntry {
    fn order(&self) -> u32 {
        self.reversed
    }

    fn compare(&self, other: &SortedEntry) -> Ordering {
        let keys = || self.key_bytes().cmp(other.key_bytes());
        let by_hash = self.reversed.cmp(&other.reversed);
        by_hash.then_with(keys).then(self.rank.cmp(&other.rank))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.reversed.to_be_bytes());
        out.extend_from_slice(&self.rank.to_be_bytes());
        out.extend_from_slice(&(self.bytes.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let (reversed, rest) = bytes.split_first_chunk()?;
        let (rank, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let entry = rest.get(..usize::from(u16::from_be_bytes(*length)))?;
        self.reversed = u32::from_be_bytes(*reversed);
        self.rank = u64::from_be_bytes(*rank);
        self.bytes.clear();
        self.bytes.extend_from_slice(entry);
        Some(bytes.len() - rest.len() + entry.len())
    }
}

impl EntryStream for sort::Merge<SortedEntry> {
    fn next_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, Error> {
        let Some(next) = self.next()? else {
            return Ok(None);
        };
        entry.clear();
        entry.extend_from_slice(&next.bytes);
        Ok(Key::from_prefix(entry).map(|key| Ordered {
            reversed: next.reversed,
            key,
            rank: next.rank,
        }))
    }
}

/// A stream of entries.
pub(super) trait EntryStream {
    /// Copies the next entry into the buffer, replacing its content.
    fn next_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, Error>;
}

/// Merges several sorted streams. Equal keys follow each other, by rank and then by
/// stream.
#[derive(Debug)]
pub(super) struct Merge<S> {
    streams: Vec<(S, Vec<u8>)>,
    heads: BinaryHeap<Reverse<(Ordered, usize)>>,
}

impl<S: EntryStream> Merge<S> {
    pub(super) fn new(streams: Vec<S>) -> Result<Merge<S>, Error> {
        let mut merge = Merge {
            streams: streams.into_iter().map(|s| (s, Vec::new())).collect(),
            heads: BinaryHeap::new(),
        };
        for n in 0..merge.streams.len() {
            merge.advance(n)?;
        }
        Ok(merge)
    }

    pub(super) fn into_streams(self) -> impl Iterator<Item = S> {
        self.streams.into_iter().map(|(stream, _)| stream)
    }

    fn advance(&mut self, n: usize) -> Result<(), Error> {
        if let Some((stream, entry)) = self.streams.get_mut(n)
            && let Some(order) = stream.next_into(entry)?
        {
            self.heads.push(Reverse((order, n)));
        }
        Ok(())
    }
}

impl<S: EntryStream> EntryStream for Merge<S> {
    fn next_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, Error> {
        let Some(Reverse((order, n))) = self.heads.pop() else {
            return Ok(None);
        };
        if let Some((_, head)) = self.streams.get_mut(n) {
            std::mem::swap(head, entry);
        }
        self.advance(n)?;
        Ok(Some(order))
    }
}

/// All entries of one book in order, no key twice.
pub(super) struct SortedBook<'b> {
    source: Source<'b>,
    book: &'b PageFile,
    unreached: HashSet<u32>,
    last: Option<Key>,
    pub(super) salvage: Salvage,
}

enum Source<'b> {
    Pages {
        reader: PageReader<'b>,
        /// The pages in reverse order.
        order: Vec<u32>,
        /// The page, and its remaining entries in reverse order.
        page: u32,
        queue: Vec<(Ordered, Range<usize>)>,
    },
    Sorted(sort::Merge<SortedEntry>),
}

/// The results of a first pass over a book.
pub(super) struct Survey<'b> {
    pub(super) book: &'b PageFile,
    /// Pages with entries, in the order of the file.
    pub(super) spans: Vec<Span>,
    /// Pages that cannot be read to their end.
    pub(super) faults: Vec<(u32, Error)>,
    /// Pages whose entries are used only if no other page has the same key.
    pub(super) unreached: HashSet<u32>,
}

/// The entries of a page in the order of bit-reversed hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) page: u32,
}

/// Whether sorted pages have no hashes in common.
fn are_disjoint(spans: &[Span]) -> bool {
    let mut pairs = spans.iter().zip(spans.iter().skip(1));
    pairs.all(|(span, next)| span.last < next.first)
}

impl<'b> Survey<'b> {
    /// Reads the first `pages` pages.
    pub(super) fn read(
        book: &'b PageFile,
        pages: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Survey<'b>, Error> {
        let mut survey = Survey {
            book,
            spans: Vec::new(),
            faults: Vec::new(),
            unreached: HashSet::new(),
        };
        let mut reader = book.walker();
        for page in 0..pages {
            watch.pages("reading", page, pages)?;
            let mut span: Option<Span> = None;
            reader.each_entry(page, |entry| {
                match entry {
                    Ok((_, entry)) => {
                        let hash = super::hash(entry.key_bytes()).reverse_bits();
                        let known = span.get_or_insert(Span {
                            first: hash,
                            last: hash,
                            page,
                        });
                        known.first = known.first.min(hash);
                        known.last = known.last.max(hash);
                    }
                    Err(error) => survey.faults.push((page, error)),
                }
                Ok(())
            })?;
            survey.spans.extend(span);
        }
        Ok(survey)
    }
}

impl<'b> SortedBook<'b> {
    /// Streams the entries of the surveyed pages. If the pages overlap, they are sorted
    /// within `memory` bytes and a file in `folder`.
    pub(super) fn new(
        survey: Survey<'b>,
        mut salvage: Salvage,
        folder: &Path,
        memory: u64,
    ) -> Result<SortedBook<'b>, Error> {
        let Survey {
            book,
            mut spans,
            faults,
            unreached,
        } = survey;
        for (_, fault) in faults {
            salvage.bad_page(fault);
        }
        let in_order = spans.is_sorted();
        spans.sort_unstable();
        let disjoint = are_disjoint(&spans);
        let mut pages: Vec<u32> = spans.into_iter().map(|span| span.page).collect();
        let source = if disjoint {
            pages.reverse();
            Source::Pages {
                reader: if in_order {
                    book.walker()
                } else {
                    book.positional_reader()
                },
                order: pages,
                page: 0,
                queue: Vec::new(),
            }
        } else {
            pages.sort_unstable();
            let mut reader = book.walker();
            let mut sorter = Sorter::alone(folder, memory);
            let mut sorted = SortedEntry::default();
            for page in pages {
                reader.each_entry(page, |entry| {
                    if let Ok((place, entry)) = entry {
                        sorted.set(entry.bytes(), rank(place, &unreached));
                        sorter.push(&sorted)?;
                    }
                    Ok(())
                })?;
            }
            Source::Sorted(sorter.merge()?)
        };
        Ok(SortedBook {
            source,
            book,
            unreached,
            last: None,
            salvage,
        })
    }

    fn next_of_source(&mut self, out: &mut Vec<u8>) -> Result<Option<Ordered>, Error> {
        let unreached = &self.unreached;
        match &mut self.source {
            Source::Sorted(entries) => entries.next_into(out),
            Source::Pages {
                reader,
                order,
                page,
                queue,
            } => loop {
                if let Some((order, entry)) = queue.pop() {
                    out.clear();
                    let bytes = reader.bytes(*page)?.get(entry);
                    out.extend_from_slice(bytes.unwrap_or_default());
                    return Ok(Some(order));
                }
                let Some(next) = order.pop() else {
                    return Ok(None);
                };
                *page = next;
                reader.each_entry(next, |entry| {
                    // The first pass has reported faults.
                    if let Ok((place, entry)) = entry
                        && let Some(key) = entry.key()
                    {
                        let order = Ordered::new(key, rank(place, unreached));
                        let start = usize::from(place.offset);
                        queue.push((order, start..start + entry.bytes().len()));
                    }
                    Ok(())
                })?;
                queue.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
            },
        }
    }
}

impl SortedBook<'_> {
    /// As [`EntryStream::next_into`], also for a key that is not a position.
    pub(super) fn next_key_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, Error> {
        while let Some(order) = self.next_of_source(entry)? {
            if self.last.replace(order.key) != Some(order.key) {
                return Ok(Some(order));
            }
            let path = self.book.file().path().display();
            self.salvage.repeated += 1;
            self.salvage.message(|| {
                format!(
                    "{path}: file byte {}: left out, its key {} occurs elsewhere too",
                    order.file_offset(),
                    order.key
                )
            });
        }
        Ok(None)
    }

    /// Whether the key is a position; counts those that are not.
    pub(super) fn is_position(&mut self, order: &Ordered) -> bool {
        let fault = CanonicalBoard::from_key(&order.key).err();
        if let Some(fault) = &fault {
            let (path, at) = (self.book.file().path().display(), order.file_offset());
            self.salvage
                .bad_key(|| format!("{path}: file byte {at}: left out: {fault}"));
        }
        fault.is_none()
    }
}

impl EntryStream for SortedBook<'_> {
    fn next_into(&mut self, entry: &mut Vec<u8>) -> Result<Option<Ordered>, Error> {
        while let Some(order) = self.next_key_into(entry)? {
            if self.is_position(&order) {
                return Ok(Some(order));
            }
        }
        Ok(None)
    }
}

/// Flag in the rank of an entry that readers do not find: it sorts after the one that
/// they find.
const UNREACHED: u64 = 1 << 63;

fn rank(place: EntryAddress, unreached: &HashSet<u32>) -> u64 {
    let late = unreached.contains(&place.page);
    place.file_offset() | if late { UNREACHED } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(entries: &[(Vec<u8>, u64)], memory: u64) -> Vec<(Vec<u8>, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::alone(folder.path(), memory);
        let mut sorted = SortedEntry::default();
        for (bytes, rank) in entries {
            sorted.set(bytes, *rank);
            sorter.push(&sorted).unwrap();
        }
        let mut stream = sorter.merge().unwrap();
        let mut all = Vec::new();
        let mut bytes = Vec::new();
        while let Some(order) = stream.next_into(&mut bytes).unwrap() {
            all.push((bytes.clone(), order.rank));
        }
        all
    }

    #[test]
    fn entries_are_sorted_by_hash_key_and_rank_in_memory_and_on_disk() {
        let mut entries: Vec<(Vec<u8>, u64)> = Vec::new();
        for n in 0..20_000_u32 {
            let mut bytes = vec![0x45];
            bytes.extend(n.wrapping_mul(0x9e37_79b1).to_be_bytes());
            bytes.push(1);
            bytes.extend([n as u8; 33]);
            entries.push((bytes.clone(), u64::from(n) + 50_000));
            entries.push((bytes, u64::from(n)));
        }
        let in_memory = sorted(&entries, u64::MAX);
        let on_disk = sorted(&entries, 0);
        entries.sort_by_key(|(bytes, rank)| Ordered::new(Key::from_prefix(bytes).unwrap(), *rank));
        assert!(in_memory == entries);
        assert!(on_disk == entries);
        assert_eq!(sorted(&[], 0), []);
    }
}
