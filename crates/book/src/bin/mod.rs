//! Polyglot opening books (.bin).
//!
//! Entries of sixteen bytes, big-endian, sorted by key; no header. The description comes
//! from the format's public description and books on which three readers agree:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | key of the position ([`polyglot::key`](super::polyglot::key)) |
//! | 8 | 2 | move ([`PackedMove`]) |
//! | 10 | 2 | weight; 0 = do not play |
//! | 12 | 2 | learn: games that were played with the move; 0 in most books |
//! | 14 | 2 | learn: two for each of them won, one for each drawn |
//!
//! Entries of key 0 at the front are a header of some tools and are skipped. Books that
//! are not sorted exist; they are sorted in memory. There is no magic number: a file is a book
//! if nearly all of its moves are ones that a piece can make, or if it has a legal move near
//! the start position.

mod merge;
mod order;
mod survey;

pub use merge::{MergeOrder, MergedBooks, merge};

use std::ops::Range;
use std::path::Path;

use super::{
    Error, NEAR_PLIES, OpenOptions, Preference, is_near_start,
    polyglot::PackedMove,
    polyglot::keyed::{self, Keyed, KeyedEntry},
};
use crate::ctg::Salvage;
use crate::edit::pending_changes;
use survey::{Landmarks, Survey};
use tabia_io::input::bytes::{be_u16_at, be_u32_at, be_u64_at};
use tabia_io::input::file::{DataFile, View};

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// Entries that a search reads together at its end: copying four times as many took longer than
/// the rest of the search.
const BLOCK: usize = 64;

/// A Polyglot book, open for reading.
///
/// Large files are mapped and searched in place, from some keys on that are kept in memory; one
/// that is not sorted takes 24 bytes of memory for each entry. May be used by any number of
/// threads.
#[derive(Debug)]
pub struct BinBook {
    file: DataFile,
    /// The sorted entries with their numbers, if the file is not sorted.
    sorted: Option<Vec<([u8; ENTRY_BYTES], u32)>>,
    /// Some keys of the file, if it is sorted.
    landmarks: Landmarks,
    /// Whole entries in the file.
    entries: u64,
    /// Entries of key 0, all at the front.
    header_entries: u64,
    pub(super) notices: Vec<String>,
    pub(super) unread: Salvage,
}

impl BinBook {
    /// Opens a book and checks whether it is one and sorted: completely up to 64 MiB, by
    /// 4096 pieces of 4096 bytes in larger files.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has no entry, is not a book, or is not sorted and larger than
    /// 512 MiB.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<BinBook, Error> {
        let file = DataFile::open(path, options.mmap).map_err(|error| Error::io(path, error))?;
        let mut book = BinBook::new(file)?;
        book.notices.extend(pending_changes(path));
        Ok(book)
    }

    /// Opens a book in an open file, or in bytes: see [`DataFile::from_bytes`].
    ///
    /// # Errors
    ///
    /// The file is not a Polyglot book, or cannot be read.
    pub fn new(file: DataFile) -> Result<BinBook, Error> {
        let (book, no_book) = BinBook::entries_in(file)?;
        match no_book {
            None => Ok(book),
            Some(text) => Err(BinBook::refusal(&book.file, text)),
        }
    }

    /// Opens a file for its entries alone. The text is why it is not a book, if it is sorted
    /// like one.
    fn entries_in(file: DataFile) -> Result<(BinBook, Option<String>), Error> {
        let entries = file.len() / ENTRY_BYTES as u64;
        let name = file.path().display();
        let cut_off = keyed::cut_off(&file, ENTRY_BYTES).map(|text| format!("{name}: {text}"));
        let mut notices = Vec::from_iter(cut_off);
        let mut unread = Salvage::default();
        unread.parts.clone_from(&notices);
        let mut sorted = None;
        let mut survey = Survey::of(&file)?;
        let mut landmarks = std::mem::take(&mut survey.landmarks);
        if survey.is_hopeless() {
            return Err(BinBook::refusal(&file, survey.refusal()));
        }
        if let Some(offset) = survey.first_disorder {
            if file.len() > order::SORT_LIMIT {
                let bytes = file.len();
                return Err(Error::Content {
                    path: file.path().clone(),
                    offset,
                    text: format!(
                        "the entries are not sorted by key, and the file ({bytes} bytes) is too \
                         large to be sorted in memory; sort it first, as with `polyglot merge-book`"
                    ),
                });
            }
            notices.push(format!(
                "{name}: file byte {offset}: the entries are not sorted by key (were books put \
                 one behind the other?); they were sorted in memory, other programs will not \
                 find all of them; `tabia compact` sorts the file, and adds up what is there \
                 twice"
            ));
            sorted = Some(order::sort(&file)?);
            landmarks = Landmarks::default();
        }
        let mut book = BinBook {
            file,
            sorted,
            landmarks,
            entries,
            header_entries: 0,
            notices,
            unread,
        };
        book.header_entries = book.search(&book.view()?, 1)?.0;
        if book.is_empty() {
            return Err(Error::no_entries(&book.file, "Polyglot"));
        }
        if !is_near_start(&book)? {
            if !survey.has_moves() {
                let no_book = survey.refusal();
                return match book.is_sorted() {
                    true => Ok((book, Some(no_book))),
                    false => Err(BinBook::refusal(&book.file, no_book)),
                };
            }
            let notice = format!(
                "{}: it has no move in the start position, nor in any that is at most \
                 {NEAR_PLIES} plies after it: it is for other positions, or not a book",
                book.path().display()
            );
            book.notices.push(notice);
        }
        Ok((book, None))
    }

    fn refusal(file: &DataFile, text: String) -> Error {
        Error::NoBook {
            path: file.path().clone(),
            text: text.into(),
        }
    }

    /// The file of the book.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Problems of the file that the user should know, one sentence each.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The number of entries, without those of a header.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.entries - self.header_entries
    }

    /// Whether there are no entries; never so for an open book.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries of key 0 at the front.
    #[must_use]
    pub fn header_entries(&self) -> u64 {
        self.header_entries
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// Whether the entries in the file are sorted.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.sorted.is_none()
    }

    /// Visits every entry with its key, in order of keys.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn for_each(&self, mut visit: impl FnMut(u64, KeyedEntry)) -> Result<(), Error> {
        self.entries().try_for_each(|entry| {
            let (key, entry) = entry?;
            visit(key, entry);
            Ok(())
        })
    }

    /// Every entry with its key, in order of keys.
    pub(super) fn entries(&self) -> Entries<'_> {
        Entries {
            book: self,
            next: self.header_entries,
            buffer: Vec::new(),
            piece: Vec::new(),
        }
    }

    /// The entries with a key, in stored order.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn entries_of(&self, key: u64) -> Result<Vec<KeyedEntry>, Error> {
        let mut entries = Vec::new();
        self.each(key, &mut |entry| entries.push(entry))?;
        Ok(entries)
    }

    /// The bytes of the entry at `offset` of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn raw_entry(&self, offset: u64) -> Result<Vec<u8>, Error> {
        keyed::raw_entry(&self.file, offset, ENTRY_BYTES)
    }

    fn view(&self) -> Result<View<'_>, Error> {
        self.file
            .view()
            .map_err(|error| Error::read(self.file.path(), error))
    }

    /// Entry `n` in sorted order, and its number in the file.
    fn at(&self, view: &View<'_>, n: u64) -> Result<([u8; ENTRY_BYTES], u64), Error> {
        if let Some(sorted) = &self.sorted {
            let place = usize::try_from(n).ok().and_then(|n| sorted.get(n));
            return Ok(place.map_or(([0; ENTRY_BYTES], n), |(bytes, number)| {
                (*bytes, (*number).into())
            }));
        }
        let mut buffer = [0; ENTRY_BYTES];
        let read = view
            .read(n * ENTRY_BYTES as u64, &mut buffer)
            .map_err(|error| Error::read(self.file.path(), error))?;
        Ok((read.first_chunk().copied().unwrap_or_default(), n))
    }

    /// The first index whose key is not below `key`, and whether it is this key.
    fn search(&self, view: &View<'_>, key: u64) -> Result<(u64, bool), Error> {
        if let Some((near, first)) = self.landmarks.near(key)
            && self.key_at(view, near.start)? == first
        {
            let (place, there) =
                self.search_in(view, key, near.start..near.end.min(self.entries))?;
            if there.is_none_or(|there| there >= key) {
                return Ok((place, there == Some(key)));
            }
        }
        // Without landmarks, or the file has been overwritten since they were made.
        let (place, there) = self.search_in(view, key, 0..self.entries)?;
        Ok((place, there == Some(key)))
    }

    fn key_at(&self, view: &View<'_>, number: u64) -> Result<u64, Error> {
        Ok(key_of(&self.at(view, number)?.0))
    }

    /// The place of the first entry of a part of the book that is not below a key, or the end of the part; and the key
    /// of the entry there, if the book has one.
    fn search_in(
        &self,
        view: &View<'_>,
        key: u64,
        part: Range<u64>,
    ) -> Result<(u64, Option<u64>), Error> {
        let Range {
            start: mut low,
            end: mut high,
        } = part;
        let block = if self.is_sorted() { BLOCK as u64 } else { 0 };
        while high - low > block {
            let middle = low + (high - low) / 2;
            match self.key_at(view, middle)? < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let mut buffer = [0; BLOCK * ENTRY_BYTES];
        let size = (high - low) as usize * ENTRY_BYTES;
        let entries = view
            .read(
                low * ENTRY_BYTES as u64,
                buffer.get_mut(..size).unwrap_or_default(),
            )
            .map_err(|error| Error::read(self.file.path(), error))?;
        let (entries, _) = entries.as_chunks();
        let below = entries.partition_point(|entry| key_of(entry) < key);
        let place = low + below as u64;
        let there = match entries.get(below) {
            Some(entry) => Some(key_of(entry)),
            None if place < self.entries => Some(self.key_at(view, place)?),
            None => None,
        };
        Ok((place, there))
    }
}

/// Reads the entries of a book in pieces.
pub(super) struct Entries<'b> {
    book: &'b BinBook,
    /// The index of the next entry.
    next: u64,
    buffer: Vec<u8>,
    /// Entries that were read and come next, in reverse order.
    piece: Vec<([u8; ENTRY_BYTES], u64)>,
}

impl Iterator for Entries<'_> {
    type Item = Result<(u64, KeyedEntry), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.piece.is_empty() {
            if let Err(error) = self.read() {
                self.next = self.book.entries;
                return Some(Err(error));
            }
            self.piece.reverse();
        }
        let (bytes, number) = self.piece.pop()?;
        Some(Ok((key_of(&bytes), decode(&bytes, number))))
    }
}

impl Entries<'_> {
    fn read(&mut self) -> Result<(), Error> {
        const PIECE: u64 = 4096;
        let places = self.next..self.book.entries.min(self.next + PIECE);
        self.next = places.end;
        if let Some(sorted) = &self.book.sorted {
            let places = places.start as usize..places.end as usize;
            let entries = sorted.get(places).unwrap_or_default();
            let entries = entries
                .iter()
                .map(|(bytes, number)| (*bytes, (*number).into()));
            self.piece.extend(entries);
            return Ok(());
        }
        let bytes = (places.end - places.start) as usize * ENTRY_BYTES;
        self.buffer.resize(bytes, 0);
        let view = self.book.file.positional_view();
        let read = view
            .read(places.start * ENTRY_BYTES as u64, &mut self.buffer)
            .map_err(|error| Error::read(self.book.file.path(), error))?;
        let entries = read.as_chunks().0.iter().copied().zip(places);
        self.piece.extend(entries);
        Ok(())
    }
}

fn key_of(bytes: &[u8; ENTRY_BYTES]) -> u64 {
    be_u64_at(bytes, 0).unwrap_or(0)
}

fn decode(bytes: &[u8; ENTRY_BYTES], number: u64) -> KeyedEntry {
    let word = |at| be_u16_at(bytes, at).unwrap_or(0);
    KeyedEntry {
        mv: PackedMove(word(8)),
        preference: Preference::Weight(word(10).into()),
        stats: None,
        learn: be_u32_at(bytes, 12).unwrap_or(0),
        offset: number * ENTRY_BYTES as u64,
    }
}

impl Keyed for BinBook {
    fn file(&self) -> &DataFile {
        &self.file
    }

    fn each_key(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        (self.header_entries..)
            .zip(self.entries())
            .try_for_each(|(place, entry)| {
                visit(entry?.0, place);
                Ok(())
            })
    }

    fn place_of(&self, key: u64) -> Result<Option<u64>, Error> {
        let (place, is_key) = self.search(&self.view()?, key)?;
        Ok((is_key && key != 0).then_some(place))
    }

    fn view(&self) -> Result<Option<View<'_>>, Error> {
        BinBook::view(self).map(Some)
    }

    fn touch(&self, view: Option<&View<'_>>, place: u64) -> u8 {
        let bytes = view.filter(|_| self.sorted.is_none()).and_then(View::bytes);
        let byte = bytes.and_then(|bytes| bytes.get(place as usize * ENTRY_BYTES));
        byte.copied().unwrap_or(0)
    }

    fn each_at(
        &self,
        view: Option<&View<'_>>,
        place: u64,
        key: u64,
        visit: &mut dyn FnMut(KeyedEntry),
    ) -> Result<(), Error> {
        let own;
        let view = match view {
            Some(view) => view,
            None => {
                own = BinBook::view(self)?;
                &own
            }
        };
        for place in place..self.entries {
            let (bytes, number) = self.at(view, place)?;
            if key_of(&bytes) != key {
                break;
            }
            visit(decode(&bytes, number));
        }
        Ok(())
    }
}

/// The sixteen bytes of an entry.
#[must_use]
pub fn encode(key: u64, mv: PackedMove, weight: u16, learn: u32) -> [u8; ENTRY_BYTES] {
    let whole = u128::from(key) << 64
        | u128::from(mv.0) << 48
        | u128::from(weight) << 32
        | u128::from(learn);
    whole.to_be_bytes()
}

#[cfg(test)]
mod tests;
