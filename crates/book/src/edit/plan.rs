//! From marks in chess terms to changes of stored values.

use std::path::Path;

use shakmaty::{Chess, Move, Position as _};

use super::entries::unstorable;
use super::{BookEditor, Field, MarkChange, MarkEdit, MarkPlace};
use crate::KeyedEntry;
use crate::bin::BinBook;
use crate::ctg::{CanonicalBoard, CtgBook, Key, encode_move_byte, find_move_byte};
use crate::loaded::LoadedBook;
use crate::traits::{Marks, Reader};
use crate::{Book, Error, Format, Mark, OpenOptions, Preference, polyglot};
use tabia_io::input::file::DataFile;
use tabia_notation as notation;

impl BookEditor {
    /// The changes that give a move its marks; none if it has them. Marks named by
    /// [`Format::lacks`] are ignored.
    ///
    /// In a ChessBase book a move that is not stored has marks too, in the position after
    /// it. Only an annotation needs the move itself: then the move is added.
    ///
    /// # Errors
    ///
    /// The move is not in the book: in a ChessBase book the position after it, or for an
    /// annotation the position before it; or the format has no byte for it.
    ///
    /// [`Format::lacks`]: crate::Format::lacks
    pub fn plan(
        &self,
        position: &Chess,
        mv: Move,
        edit: &MarkEdit,
    ) -> Result<Vec<MarkChange>, Error> {
        let book = match self.book() {
            Book::Ctg(book) => book,
            Book::Bin(_) | Book::Loaded(_) => return self.plan_number(position, mv, edit),
        };
        let after = notation::after(position, mv);
        // A move that leaves the book is not a move of it.
        let mut changes = plan_position(book, &after, edit)?;
        if edit.touches_moves() {
            changes.extend(plan_annotation(book, position, mv, edit)?);
        }
        Ok(changes)
    }

    /// The changes of a position of a ChessBase book, whatever moves lead to it; an
    /// annotation in `edit` is ignored.
    ///
    /// # Errors
    ///
    /// The position is not in the book, or the format stores numbers of moves only.
    pub fn plan_position(
        &self,
        position: &Chess,
        edit: &MarkEdit,
    ) -> Result<Vec<MarkChange>, Error> {
        match self.book() {
            Book::Ctg(book) => plan_position(book, position, edit),
            book @ (Book::Bin(_) | Book::Loaded(_)) => Err(Error::Format {
                path: book.path().into(),
                format: book.format(),
                what: "weights of positions, only of moves",
            }),
        }
    }

    /// The change of a move's weight or priority.
    fn plan_number(
        &self,
        position: &Chess,
        mv: Move,
        edit: &MarkEdit,
    ) -> Result<Vec<MarkChange>, Error> {
        let book = self.book();
        let entries = book.keyed_entries(position, mv)?;
        if entries.is_empty() {
            return Err(Error::NotStored {
                path: book.path().into(),
                san: notation::san(position, mv),
            });
        }
        let never = (edit.recommendation == Some(Mark::Avoid)).then_some(0);
        let Some(mut weight) = edit.weight.or(never) else {
            return Ok(Vec::new());
        };
        let mut changes = Vec::new();
        for entry in entries {
            let place = MarkPlace::Entry(entry.offset);
            let old = match entry.preference {
                Preference::Weight(old) => Some(old),
                // As stored, even if it is none of the ten priorities.
                Preference::Priority(_) | Preference::Statistics => {
                    book.stored(&place, Field::Weight)?.map(|(_, old)| old)
                }
            };
            changes.push(MarkChange {
                place,
                field: Field::Weight,
                old,
                new: Some(weight.into()),
            });
            // The weights of a move that is stored twice are added.
            if let Marks::Numbers(numbers) = &book.format().traits().marks
                && numbers.weights_add
            {
                weight = 0;
            }
        }
        changes.retain(|change| change.old != change.new);
        Ok(changes)
    }
}

fn plan_position(
    book: &CtgBook,
    position: &Chess,
    edit: &MarkEdit,
) -> Result<Vec<MarkChange>, Error> {
    let key = key_of(book, position)?;
    let mut reading = book.reading()?;
    let Some(place) = reading.find(&key, |_| ())? else {
        return Ok(Vec::new());
    };
    let old = reading.entry(place)?.record();
    let new = edit.record(&old, position.turn());
    Ok(old.changes(&new, key).collect())
}

fn plan_annotation(
    book: &CtgBook,
    position: &Chess,
    mv: Move,
    edit: &MarkEdit,
) -> Result<Option<MarkChange>, Error> {
    let wanted = edit.annotation.is_some_and(|sign| sign.nag() != 0);
    let key = match key_of(book, position) {
        Ok(key) => key,
        // Then there is nothing to remove either.
        Err(Error::NotInBook { .. }) if !wanted => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut reading = book.reading()?;
    let (Some(board), Some(place)) = (
        CanonicalBoard::from_position(position),
        reading.find(&key, |_| ())?,
    ) else {
        return Ok(None);
    };
    let legal = position.legal_moves();
    let entry = reading.entry(place)?;
    let stored = entry.moves().find(|(byte, _)| {
        find_move_byte(*byte, &board, &legal).is_ok_and(|n| legal.get(n) == Some(&mv))
    });
    let (byte, old) = match stored {
        Some((byte, annotation)) => (byte, Some(annotation.0)),
        None if !wanted => return Ok(None),
        None => {
            let byte = encode_move_byte(&board, mv);
            let unstorable = || unstorable(book.path(), "the format has no byte for it");
            (byte.ok_or_else(unstorable)?, None)
        }
    };
    let new = edit.annotation_byte(old.unwrap_or(0));
    let change = MarkChange {
        place: MarkPlace::Move {
            key,
            byte,
            at: u8::MAX,
        },
        field: Field::Annotation,
        old: old.map(u32::from),
        new: Some(new.into()),
    };
    Ok((change.old != change.new).then_some(change))
}

/// The key under which the book stores a position.
fn key_of(book: &CtgBook, position: &Chess) -> Result<Key, Error> {
    let Some(board) = CanonicalBoard::from_position(position) else {
        let reason = "the format cannot hold castling rights of Chess960";
        return Err(unstorable(book.path(), reason));
    };
    book.key_of(position)?.ok_or_else(|| Error::NotInBook {
        path: book.path().into(),
        key: board.key(),
    })
}

impl Book {
    /// The entries of a move in a Polyglot or Arena book, in stored order; none in a
    /// ChessBase book.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn keyed_entries(&self, position: &Chess, mv: Move) -> Result<Vec<KeyedEntry>, Error> {
        let key = polyglot::key(position);
        let mut entries = match self {
            Book::Ctg(_) => Vec::new(),
            Book::Bin(book) => book.entries_of(key)?,
            Book::Loaded(book) => book.entries_of(key).collect(),
        };
        let legal = position.legal_moves();
        entries.retain(|entry| entry.mv.find(&legal).and_then(|n| legal.get(n)) == Some(&mv));
        Ok(entries)
    }

    /// A stored number: the offset of its last byte in the file, and its value. `None` if
    /// the book does not have it.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn stored(&self, place: &MarkPlace, field: Field) -> Result<Option<(u64, u32)>, Error> {
        let offset = match (self, place) {
            (Book::Ctg(book), MarkPlace::Position(key)) => {
                let entry = book.entry_of(key)?;
                return Ok(entry.and_then(|entry| entry.mark(field)));
            }
            (_, MarkPlace::Entry(offset)) => *offset,
            (_, MarkPlace::Position(_) | MarkPlace::Move { .. }) => return Ok(None),
        };
        let Some(number) = self.format().number(field) else {
            return Ok(None);
        };
        let raw = match self {
            Book::Ctg(_) => return Ok(None),
            Book::Bin(book) => book.raw_entry(offset)?,
            Book::Loaded(book) => book.raw_entry(offset)?,
        };
        let value = number.read(&raw);
        Ok(value.map(|value| (offset + number.last_byte(), value)))
    }

    /// Opens a book that is read while it is changed: it never returns an old state.
    pub(super) fn open_live(path: &Path) -> Result<Book, Error> {
        let map = || DataFile::open_mapped(path).map_err(|error| Error::io(path, error));
        let format = Format::recognize(path)?;
        Ok(match format.traits().reader {
            // Read by system calls.
            Reader::Ctg => Book::Ctg(CtgBook::open(path, &OpenOptions { mmap: false })?),
            Reader::Bin => Book::Bin(BinBook::new(map()?)?),
            Reader::Loaded(loader) => Book::Loaded(LoadedBook::new(map()?, format, loader)?),
        })
    }
}
