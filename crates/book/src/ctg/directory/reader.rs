//! Look-ups with a directory.

use shakmaty::{Chess, Move, MoveList, Position as _};

use super::Directory;
use super::hashes::{SideView, of_position};
use crate::ctg::{
    CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Orientation, moves,
    page::{PAGE_BYTES, split_entry},
    reader::MoveSet,
};
use crate::{Annotation, BookMove, Lookup, PositionRecord, Wanted};
use tabia_io::input::file::View;
use tabia_notation as notation;

/// Looks up positions with a [`Directory`]; one for each thread.
pub struct DirectoryReader<'b> {
    directory: &'b Directory,
    book: &'b CtgBook,
    view: View<'b>,
    buffer: Vec<u8>,
    /// Hashes of the positions after the legal moves.
    hashes: Vec<u64>,
    /// The moves of the current entry.
    stored: Vec<(u8, Annotation)>,
    /// The entries after the moves that were found.
    after: Vec<Option<KnownEntry>>,
}

/// The entry of a position in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry {
    /// The place of the entry.
    pub place: EntryAddress,
    /// How the entry's board is turned against that of the position.
    pub orientation: Orientation,
    /// The file, on the board of the entry, of an en passant capture that is illegal
    /// because of a pin or a check and not in the key.
    pub pinned_en_passant: Option<u8>,
}

/// Highest length of an entry.
const LONGEST_ENTRY: usize = 31 + 255 + 33;

impl<'b> DirectoryReader<'b> {
    /// A reader for the book that the directory was made from.
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
        }
    }

    /// The book.
    #[must_use]
    pub fn book(&self) -> &'b CtgBook {
        self.book
    }

    /// The entries after the moves that the last probe found, in the order of the moves.
    #[must_use]
    pub fn after(&self) -> &[Option<KnownEntry>] {
        &self.after
    }

    /// The entry of a position, if it is in the book.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn entry_of(&mut self, position: &Chess) -> Result<Option<KnownEntry>, Error> {
        let found = self.find_with(of_position(position), position, |_| ())?;
        Ok(found.map(|(known, ())| known))
    }

    /// As [`crate::Probe::probe`]; damaged entries count as missing.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn probe(
        &mut self,
        position: &Chess,
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<Option<EntryAddress>, Error> {
        let mut stored = std::mem::take(&mut self.stored);
        stored.clear();
        let own = self.find_with(of_position(position), position, |entry| {
            stored.clear();
            stored.extend(entry.moves());
            entry.record()
        })?;
        let record = own.map(|(_, record)| record);
        if self.book.is_for_opponent_of(position.turn()) {
            stored.clear();
        }
        let board = match stored.is_empty() {
            true => None,
            false => CanonicalBoard::from_position(position),
        };
        let moves = stored.iter().copied();
        let transpositions = wanted.includes_transpositions(self.book.only(), position.turn());
        let filled = self.fill(
            position,
            board.as_ref(),
            moves,
            record,
            transpositions,
            found,
        );
        self.stored = stored;
        filled?;
        Ok(own.map(|(known, _)| known.place))
    }

    /// As [`DirectoryReader::probe`], for a position whose entry and board are known, as if
    /// the book were for both sides.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn probe_entry(
        &mut self,
        (board, position): &(CanonicalBoard, Chess),
        entry: &Entry<'_>,
        wanted: Wanted,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        // Move bytes count pieces on the board that readers use.
        let other = match board.is_normal() {
            true => None,
            false => CanonicalBoard::from_position(position),
        };
        let board = other.as_ref().unwrap_or(board);
        let record = Some(entry.record());
        let transpositions = wanted.includes_transpositions(None, position.turn());
        self.fill(
            position,
            Some(board),
            entry.moves(),
            record,
            transpositions,
            found,
        )
    }

    fn fill(
        &mut self,
        position: &Chess,
        board: Option<&CanonicalBoard>,
        stored: impl Iterator<Item = (u8, Annotation)>,
        record: Option<PositionRecord>,
        transpositions: bool,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        found.clear();
        self.after.clear();
        found.here = record;
        let legal = position.legal_moves();
        let here = &SideView::before_moves(position);
        let mut known = MoveSet::default();
        if let Some(board) = board {
            for (byte, annotation) in stored {
                let Ok(n) = moves::find(byte, board, &legal) else {
                    continue;
                };
                if let Some(&mv) = legal.get(n)
                    && known.insert(n)
                {
                    let hash = here.after(position, mv);
                    let after = self.record_after(position, mv, hash)?;
                    found.moves.push(BookMove::stored(mv, annotation, after));
                }
            }
        }
        if transpositions {
            self.transpositions(position, here, &legal, &known, found)?;
        }
        Ok(())
    }

    fn transpositions(
        &mut self,
        position: &Chess,
        here: &SideView,
        legal: &MoveList,
        known: &MoveSet,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        // All hashes first, so that the memory they lead to is fetched in parallel.
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(legal.iter().map(|mv| here.after(position, *mv)));
        let held = hashes.iter().map(|hash| self.directory.may_hold(*hash));
        let likely: MoveSet = held.collect();
        for n in likely.without(known) {
            let (Some(&mv), Some(&hash)) = (legal.get(n), hashes.get(n)) else {
                continue;
            };
            if self.directory.candidates(hash).next().is_none() {
                continue;
            }
            if let Some(after) = self.record_after(position, mv, hash)? {
                found.moves.push(BookMove::transposition(mv, after));
            } else {
                // It was not one of the moves that were found.
                self.after.pop();
            }
        }
        self.hashes = hashes;
        Ok(())
    }

    /// Finds the record after a move, by the hash of the position; its entry becomes the
    /// last of `self.after`.
    fn record_after(
        &mut self,
        position: &Chess,
        mv: Move,
        hash: u64,
    ) -> Result<Option<PositionRecord>, Error> {
        let after = notation::after(position, mv);
        let found = self.find_with(hash, &after, |entry| entry.record())?;
        let (known, record) = found.unzip();
        self.after.push(known);
        Ok(record)
    }

    /// The entry of a position: its key before its other key; of equal ones the first in
    /// the file.
    fn find_with<T>(
        &mut self,
        hash: u64,
        position: &Chess,
        mut read: impl FnMut(&Entry<'_>) -> T,
    ) -> Result<Option<(KnownEntry, T)>, Error> {
        let directory = self.directory;
        let mut board = None;
        let mut best: Option<(bool, EntryAddress, T)> = None;
        for place in directory.candidates(hash) {
            if board.is_none() {
                let Some(known) = CanonicalBoard::from_position(position) else {
                    return Ok(None);
                };
                board = Some((known.key(), known.other_key(), known));
            }
            let Some((key, other, _)) = &board else {
                continue;
            };
            let file = self.book.pages.file();
            // No entry continues beyond its page.
            let most = LONGEST_ENTRY.min(PAGE_BYTES.saturating_sub(place.offset.into()));
            let bytes = self
                .view
                .read(
                    place.file_offset(),
                    self.buffer.get_mut(..most).unwrap_or_default(),
                )
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
                .is_none_or(|(other, place, _)| rank < (*other, place.page, place.offset))
            {
                best = Some((is_other, place, read(&entry)));
            }
        }
        Ok(best.zip(board).map(|((is_other, place, read), board)| {
            let (_, _, board) = board;
            let known = KnownEntry {
                place,
                orientation: board.orientation,
                pinned_en_passant: board.pinned_en_passant.filter(|_| !is_other),
            };
            (known, read)
        }))
    }
}
