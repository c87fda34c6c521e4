//! Look-ups by a directory.

use std::ops::Range;

use shakmaty::{Chess, Move, MoveList, Position as _};

use super::Directory;
use super::hashes::{base_hash, hash_after};
use crate::book::ctg::{
    BookEntry, CanonicalBoard, CtgBook, Entry, Error, Place, moves, page::split_entry,
    reader::MoveSet,
};
use crate::book::{Annotation, BookMove, Lookup, PositionRecord, Wanted};
use crate::input::file::View;
use crate::notation;

/// Looks positions up by a [`Directory`]; one for each thread.
pub struct DirectoryReader<'b> {
    directory: &'b Directory,
    book: &'b CtgBook,
    view: View<'b>,
    buffer: Vec<u8>,
    /// Hashes of the positions after the legal moves.
    hashes: Vec<u64>,
    /// The moves of the entry at hand.
    stored: Vec<(u8, Annotation)>,
    /// Where the entries after the moves that were found stand, and their
    /// bytes.
    after: Vec<Option<(KnownEntry, Range<usize>)>>,
    entries: Vec<u8>,
}

/// Where the book holds a position.
#[derive(Clone, Copy, Debug)]
pub struct KnownEntry {
    /// Its number in the directory.
    pub number: usize,
    /// Where its entry stands.
    pub place: Place,
}

/// An entry is not longer.
const LONGEST_ENTRY: usize = 31 + 255 + 33;

impl<'b> DirectoryReader<'b> {
    /// For look-ups in the book that the directory was made of.
    #[must_use]
    pub fn new(directory: &'b Directory, book: &'b CtgBook) -> DirectoryReader<'b> {
        DirectoryReader {
            directory,
            book,
            view: book.pages.file().positional_view(),
            buffer: vec![0; LONGEST_ENTRY],
            hashes: Vec::new(),
            stored: Vec::new(),
            after: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// The entry after move `n` of those that the last probe found, if the
    /// book holds it: where it stands, and its bytes.
    #[must_use]
    pub fn after(&self, n: usize) -> Option<(KnownEntry, &[u8])> {
        let (known, range) = self.after.get(n)?.as_ref()?;
        Some((*known, self.entries.get(range.clone())?))
    }

    /// Where a position stands, if the book holds it.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn entry_of(&mut self, position: &Chess) -> Result<Option<(KnownEntry, Vec<u8>)>, Error> {
        self.find_with(base_hash(position), position, |entry| {
            entry.bytes().to_vec()
        })
    }

    /// As [`crate::book::Probe::probe`]; what is damaged is not there.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn probe(
        &mut self,
        position: &Chess,
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<Option<Place>, Error> {
        let here = base_hash(position);
        let mut stored = std::mem::take(&mut self.stored);
        stored.clear();
        let own = self.find_with(here, position, |entry| {
            stored.clear();
            stored.extend(entry.moves());
            entry.record()
        })?;
        let record = own.map(|(_, record)| record);
        let filled = self.fill(position, here, &stored, record, wanted, found);
        self.stored = stored;
        filled?;
        Ok(own.map(|(known, _)| known.place))
    }

    /// As [`DirectoryReader::probe`], of a position whose entry's bytes are at
    /// hand.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn probe_known(
        &mut self,
        position: &Chess,
        entry: &[u8],
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        let mut stored = std::mem::take(&mut self.stored);
        stored.clear();
        let mut record = None;
        if let Ok((entry, _)) = split_entry(entry, 0) {
            stored.extend(entry.moves());
            record = Some(entry.record());
        }
        let here = base_hash(position);
        let filled = self.fill(position, here, &stored, record, wanted, found);
        self.stored = stored;
        filled
    }

    /// As [`DirectoryReader::probe`], of a position whose entry is at hand.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn probe_entry(
        &mut self,
        position: &Chess,
        entry: &BookEntry,
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        let here = base_hash(position);
        self.fill(
            position,
            here,
            &entry.moves,
            Some(entry.record),
            wanted,
            found,
        )
    }

    fn fill(
        &mut self,
        position: &Chess,
        here: u64,
        stored: &[(u8, Annotation)],
        record: Option<PositionRecord>,
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        found.clear();
        self.after.clear();
        self.entries.clear();
        found.here = record;
        let legal = position.legal_moves();
        let mut known = MoveSet::default();
        if !stored.is_empty()
            && let Some(board) = CanonicalBoard::from_position(position)
        {
            for &(byte, annotation) in stored {
                let Ok(n) = moves::find(byte, &board, &legal) else {
                    continue;
                };
                if let Some(&mv) = legal.get(n)
                    && known.insert(n)
                {
                    let after = self.record_after(position, here, mv)?;
                    found.moves.push(BookMove::stored(mv, annotation, after));
                }
            }
        }
        if wanted == Wanted::Transpositions {
            self.transpositions(position, here, &legal, &known, found)?;
        }
        Ok(())
    }

    fn transpositions(
        &mut self,
        position: &Chess,
        here: u64,
        legal: &MoveList,
        known: &MoveSet,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        // All hashes first: the places they lead to are then fetched side by
        // side.
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(legal.iter().map(|mv| hash_after(position, here, *mv)));
        let mut likely = MoveSet::default();
        for (n, hash) in hashes.iter().enumerate() {
            if self.directory.may_hold(*hash) {
                likely.insert(n);
            }
        }
        for (n, (&mv, &hash)) in legal.iter().zip(&hashes).enumerate() {
            if !likely.contains(n) || known.contains(n) {
                continue;
            }
            if self.directory.candidates(hash).next().is_none() {
                continue;
            }
            if let Some(after) = self.record_after(position, here, mv)? {
                found.moves.push(BookMove::transposition(mv, after));
            } else {
                // Not one of the moves that were found.
                self.after.pop();
            }
        }
        self.hashes = hashes;
        Ok(())
    }

    /// What stands after a move; it becomes the last of `self.after`.
    fn record_after(
        &mut self,
        position: &Chess,
        here: u64,
        mv: Move,
    ) -> Result<Option<PositionRecord>, Error> {
        let after = notation::after(position, mv);
        let hash = hash_after(position, here, mv);
        let mut entries = std::mem::take(&mut self.entries);
        let found = self.find_with(hash, &after, |entry| {
            let start = entries.len();
            entries.extend_from_slice(entry.bytes());
            (start..entries.len(), entry.record())
        });
        self.entries = entries;
        let (known, record) = match found? {
            Some((known, (range, record))) => (Some((known, range)), Some(record)),
            None => (None, None),
        };
        self.after.push(known);
        Ok(record)
    }

    /// The entry of a position: its key before its other key, and of equal
    /// ones the first in the file.
    fn find_with<T>(
        &mut self,
        hash: u64,
        position: &Chess,
        mut read: impl FnMut(&Entry<'_>) -> T,
    ) -> Result<Option<(KnownEntry, T)>, Error> {
        let directory = self.directory;
        let mut keys = None;
        let mut best: Option<(bool, Place, usize, T)> = None;
        for (number, place) in directory.candidates(hash) {
            if keys.is_none() {
                let Some(board) = CanonicalBoard::from_position(position) else {
                    return Ok(None);
                };
                keys = Some((board.key(), board.other_key()));
            }
            let Some((key, other)) = &keys else { continue };
            let file = self.book.pages.file();
            let bytes = self
                .view
                .read(place.file_offset(), &mut self.buffer)
                .map_err(|error| Error::read(file.path(), error))?;
            let Ok((entry, _)) = split_entry(bytes, 0) else {
                continue;
            };
            let is_other = entry.key_bytes() != key.as_bytes();
            if is_other && other.is_none_or(|other| other.as_bytes() != entry.key_bytes()) {
                continue;
            }
            let rank = (is_other, place.page, place.offset);
            if best
                .as_ref()
                .is_none_or(|(other, place, ..)| rank < (*other, place.page, place.offset))
            {
                best = Some((is_other, place, number, read(&entry)));
            }
        }
        Ok(best.map(|(_, place, number, read)| (KnownEntry { number, place }, read)))
    }
}
