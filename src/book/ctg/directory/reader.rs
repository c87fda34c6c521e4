//! Look-ups by a directory.

use shakmaty::{Chess, Move, MoveList, Position as _};

use super::Directory;
use super::hashes::{base_hash, hash_after};
use crate::book::ctg::{
    BookEntry, CanonicalBoard, CtgBook, Entry, Error, Place, moves, page::split_entry,
};
use crate::book::{Annotation, BookMove, Lookup, PositionRecord, Preference, Wanted};
use crate::input::file::View;

/// Looks positions up by a [`Directory`]; one for each thread.
pub struct DirectoryReader<'b> {
    directory: &'b Directory,
    book: &'b CtgBook,
    view: View<'b>,
    buffer: Vec<u8>,
    /// Hashes of the positions after the legal moves.
    after: Vec<u64>,
    numbers: Vec<usize>,
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
            after: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// The numbers of the positions after the moves that the last probe found,
    /// [`usize::MAX`] where the book holds none.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// The number of a position, if the book holds it.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn number_of(&mut self, position: &Chess) -> Result<Option<usize>, Error> {
        let found = self.find(base_hash(position), position)?;
        Ok(found.map(|(number, ..)| number))
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
        let own = self.find(here, position)?;
        let (moves, record) = match &own {
            Some((_, _, entry)) => (entry.moves.as_slice(), Some(entry.record)),
            None => (&[][..], None),
        };
        self.fill(position, here, moves, record, wanted, found)?;
        Ok(own.map(|(_, place, _)| place))
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
        self.numbers.clear();
        found.here = record;
        let legal = position.legal_moves();
        let mut known = [0_u64; 4];
        if !stored.is_empty()
            && let Some(board) = CanonicalBoard::from_position(position)
        {
            for &(byte, annotation) in stored {
                let Ok(n) = moves::find(byte, &board, &legal) else {
                    continue;
                };
                let (Some(&mv), Some(word)) = (legal.get(n), known.get_mut(n / 64)) else {
                    continue;
                };
                if *word >> (n % 64) & 1 != 0 {
                    continue;
                }
                *word |= 1 << (n % 64);
                let after = self.entry_after(position, here, mv)?;
                self.numbers
                    .push(after.map_or(usize::MAX, |(number, _)| number));
                found.moves.push(BookMove {
                    mv,
                    annotation,
                    after: after.map(|(_, record)| record),
                    transposition: false,
                    preference: Preference::Statistics,
                    judged: None,
                });
            }
        }
        if wanted == Wanted::Transpositions {
            self.transpositions(position, here, &legal, known, found)?;
        }
        Ok(())
    }

    fn transpositions(
        &mut self,
        position: &Chess,
        here: u64,
        legal: &MoveList,
        known: [u64; 4],
        found: &mut Lookup,
    ) -> Result<(), Error> {
        // All hashes first: the places they lead to are then fetched side by
        // side.
        let mut after = std::mem::take(&mut self.after);
        after.clear();
        after.extend(legal.iter().map(|mv| hash_after(position, here, *mv)));
        let mut likely = [0_u64; 4];
        for (n, hash) in after.iter().enumerate() {
            if let Some(word) = likely.get_mut(n / 64) {
                *word |= u64::from(self.directory.may_hold(*hash)) << (n % 64);
            }
        }
        for (n, (&mv, &hash)) in legal.iter().zip(&after).enumerate() {
            let bit = |words: &[u64; 4]| words.get(n / 64).map_or(0, |word| word >> (n % 64) & 1);
            if bit(&likely) == 0 || bit(&known) != 0 {
                continue;
            }
            if self.directory.candidates(hash).next().is_none() {
                continue;
            }
            if let Some((number, after)) = self.entry_after(position, here, mv)? {
                self.numbers.push(number);
                found.moves.push(BookMove {
                    mv,
                    annotation: Annotation::default(),
                    after: Some(after),
                    transposition: true,
                    preference: Preference::Statistics,
                    judged: None,
                });
            }
        }
        self.after = after;
        Ok(())
    }

    fn entry_after(
        &mut self,
        position: &Chess,
        here: u64,
        mv: Move,
    ) -> Result<Option<(usize, PositionRecord)>, Error> {
        let mut after = position.clone();
        after.play_unchecked(mv);
        let found = self.find_with(hash_after(position, here, mv), &after, |entry| {
            entry.record()
        })?;
        Ok(found.map(|(number, _, record)| (number, record)))
    }

    fn find(
        &mut self,
        hash: u64,
        position: &Chess,
    ) -> Result<Option<(usize, Place, BookEntry)>, Error> {
        let found = self.find_with(hash, position, |entry| {
            (entry.moves().collect::<Vec<_>>(), entry.record())
        })?;
        Ok(found.and_then(|(number, place, (moves, record))| {
            let key = CanonicalBoard::from_position(position)?.key();
            Some((
                number,
                place,
                BookEntry {
                    place,
                    key,
                    moves,
                    record,
                },
            ))
        }))
    }

    /// The entry of a position: its key before its other key, and of equal
    /// ones the first in the file.
    fn find_with<T>(
        &mut self,
        hash: u64,
        position: &Chess,
        read: impl Fn(&Entry<'_>) -> T,
    ) -> Result<Option<(usize, Place, T)>, Error> {
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
        Ok(best.map(|(_, place, number, read)| (number, place, read)))
    }
}
