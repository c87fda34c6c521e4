//! Passes over the whole book: its numbers, and all its entries.

use shakmaty::Color;

use super::{
    CanonicalBoard, CtgBook, EntryAddress, Error, Key, page::PAGE_BYTES, pages::PageReader,
    reader::Index,
};
use crate::{Annotation, Mark, PositionRecord};

/// Numbers of a book.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BookInfo {
    /// Games, from the header.
    pub games: u32,
    /// Positions, counted.
    pub positions: u64,
    /// Positions, from the header: a little too high in genuine books.
    pub header_positions: u32,
    /// Stored moves, counted.
    pub moves: u64,
    /// The side that the book plays for; `None` for both.
    pub only: Option<Color>,
    /// Data pages in the file.
    pub pages: u32,
    /// Data pages that were read; if fewer than all, the counts are of these pages.
    pub read_pages: u32,
    /// Length of the .ctg file in bytes.
    pub bytes: u64,
    /// Bytes used of the fullest page, at most 4096.
    pub largest_page_bytes: usize,
    /// Share of the bytes of the pages that is used, 0 to 1.
    pub average_fill: f64,
    /// Bounds of the .ctb file (0 and the number of slots if it is unusable); `None`
    /// without a usable .cto file.
    pub bounds: Option<super::Bounds>,
    /// Slots of the .cto file; `None` if it is unusable.
    pub slots: Option<u64>,
    /// Positions marked as main move (green).
    pub main_marks: u64,
    /// Positions marked as not for tournaments (red).
    pub avoid_marks: u64,
    /// Moves by NAG of their annotation, 0 = none.
    pub annotations: [u64; 32],
    /// Positions with a commentary.
    pub commentaries: u64,
    /// Move bytes of unknown meaning.
    pub unknown_move_bytes: u64,
    /// Keys that are not positions.
    pub bad_keys: u64,
    /// Pages that cannot be read to their end.
    pub bad_pages: u64,
    /// Pages whose entry count is wrong.
    pub miscounted_pages: u64,
    /// The first of these problems, in words.
    pub problems: Vec<String>,
}

/// Highest number of texts in [`BookInfo::problems`].
const MAX_PROBLEMS: usize = 20;

impl CtgBook {
    /// Counts everything in one pass over the file, without a mapping. Takes as long as
    /// reading the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read. Damage in it is counted, not returned.
    pub fn info(&self) -> Result<BookInfo, Error> {
        self.count_pages(0..self.pages.pages_in_use(), self.pages.walker())
    }

    /// As [`CtgBook::info`] for at most `pages` pages, spread evenly over the book: an
    /// estimate for a book that takes long to read.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::info`].
    pub fn glance(&self, pages: u32) -> Result<BookInfo, Error> {
        let pages_in_use = self.pages.pages_in_use();
        if pages_in_use <= pages {
            return self.info();
        }
        let place = |n: u32| u64::from(pages_in_use) * u64::from(n) / u64::from(pages.max(1));
        let numbers = (0..pages).map(|n| u32::try_from(place(n)).unwrap_or(0));
        self.count_pages(numbers, self.pages.positional_reader())
    }

    fn count_pages(
        &self,
        numbers: impl Iterator<Item = u32>,
        mut reader: PageReader<'_>,
    ) -> Result<BookInfo, Error> {
        let header = self.header();
        let mut info = BookInfo {
            games: header.games,
            header_positions: header.positions,
            only: header.only,
            bytes: self.pages.file().len(),
            pages: self.pages.pages_in_use(),
            ..BookInfo::default()
        };
        if let Index::Slots(slots) = &self.index {
            info.bounds = Some(slots.bounds);
            info.slots = Some(slots.slots());
        }
        info.problems.extend(self.notices().iter().cloned());
        let mut used = 0_u64;
        for number in numbers {
            info.read_pages += 1;
            let (mut count, mut whole) = (0, true);
            let usage = reader.each_entry(number, |entry| {
                match entry {
                    Ok((place, entry)) => {
                        count += 1;
                        info.count(place, &entry);
                    }
                    Err(fault) => {
                        whole = false;
                        info.bad_pages += 1;
                        info.problem(|| fault.to_string());
                    }
                }
                Ok(())
            })?;
            let Some(usage) = usage else {
                continue;
            };
            used += usage.used as u64;
            info.largest_page_bytes = info.largest_page_bytes.max(usage.used);
            if whole && count != u32::from(usage.announced) {
                info.miscounted_pages += 1;
                let announced = usage.announced;
                info.problem(|| {
                    format!("page {number}: {count} entries, its header says {announced}")
                });
            }
        }
        let there = f64::from(info.read_pages) * PAGE_BYTES as f64;
        info.average_fill = if there > 0.0 {
            used as f64 / there
        } else {
            0.0
        };
        Ok(info)
    }

    /// All entries in file order, read without a mapping. After damage the iteration goes
    /// on with the next page; after any other error it ends.
    #[must_use]
    pub fn entries(&self) -> BookEntries<'_> {
        BookEntries {
            reader: self.pages.walker(),
            book: self,
            page: 0,
            queue: Vec::new().into_iter(),
        }
    }
}

impl BookInfo {
    /// Whether every page was read.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.read_pages >= self.pages
    }

    /// Scales a number counted in the pages that were read to all pages; exact if all
    /// were read.
    #[must_use]
    pub fn for_all_pages(&self, counted: u64) -> u64 {
        let read = u128::from(self.read_pages.max(1));
        let all = u128::from(counted) * u128::from(self.pages.max(self.read_pages)) / read;
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    fn problem(&mut self, text: impl FnOnce() -> String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(text());
        }
    }

    fn count(&mut self, place: EntryAddress, entry: &super::Entry<'_>) {
        self.positions += 1;
        for (byte, annotation) in entry.moves() {
            self.moves += 1;
            if let Some(count) = self.annotations.get_mut(usize::from(annotation.nag())) {
                *count += 1;
            }
            if super::decode_move_byte(byte).is_none() {
                self.unknown_move_bytes += 1;
                self.problem(|| {
                    format!(
                        "file byte {}: unknown move byte {byte:#04x} in the entry",
                        place.file_offset()
                    )
                });
            }
        }
        let record = entry.record();
        match record.mark() {
            Mark::Main => self.main_marks += 1,
            Mark::Avoid => self.avoid_marks += 1,
            Mark::None => {}
        }
        self.commentaries += u64::from(record.commentary != 0);
        let board = entry.key().map(|key| CanonicalBoard::from_key(&key));
        if let Some(Err(fault)) = board {
            self.bad_keys += 1;
            self.problem(|| format!("file byte {}: {fault}", place.file_offset()));
        }
    }
}

/// An entry, copied from the book.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BookEntry {
    /// Where it is.
    pub place: EntryAddress,
    /// The position; [`CanonicalBoard::from_key`] reads it.
    pub key: Key,
    /// Move bytes with annotations, in stored order.
    pub moves: Vec<(u8, Annotation)>,
    /// The statistics.
    pub record: PositionRecord,
}

/// See [`CtgBook::entries`].
pub struct BookEntries<'b> {
    book: &'b CtgBook,
    reader: PageReader<'b>,
    /// The next page to read.
    page: u32,
    /// Remaining entries of the page before.
    queue: std::vec::IntoIter<Result<BookEntry, Error>>,
}

impl BookEntries<'_> {
    fn read_page(&mut self, number: u32) -> Result<Vec<Result<BookEntry, Error>>, Error> {
        let mut entries = Vec::new();
        self.reader.each_entry(number, |entry| {
            entries.extend(
                entry
                    .map(|(place, entry)| BookEntry::from_entry(place, &entry))
                    .transpose(),
            );
            Ok(())
        })?;
        Ok(entries)
    }
}

impl BookEntry {
    /// Copies an entry; never `None` for an entry of a page.
    pub fn from_entry(place: EntryAddress, entry: &super::Entry<'_>) -> Option<BookEntry> {
        Some(BookEntry {
            place,
            key: entry.key()?,
            moves: entry.moves().collect(),
            record: entry.record(),
        })
    }
}

impl Iterator for BookEntries<'_> {
    type Item = Result<BookEntry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.queue.next() {
                return Some(entry);
            }
            if self.page >= self.book.pages.pages_in_use() {
                return None;
            }
            let number = self.page;
            self.page += 1;
            match self.read_page(number) {
                Ok(entries) => self.queue = entries.into_iter(),
                Err(error) => {
                    self.page = u32::MAX;
                    return Some(Err(error));
                }
            }
        }
    }
}
