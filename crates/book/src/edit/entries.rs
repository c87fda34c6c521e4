//! Entries of a ChessBase book during a change.

use std::collections::HashMap;
use std::path::Path;

use super::{EditBatch, MarkChange, MarkPlace};
use crate::ctg::{CtgBook, Entry, EntryAddress, Key, MAX_MOVES, decode_move_byte, encode_entry};
use crate::{Annotation, Error, PositionRecord};

/// Entries by key, read on first use.
#[derive(Default)]
pub(super) struct Entries(HashMap<Key, EntryInEdit>);

impl Entries {
    pub(super) fn entry(&mut self, book: &CtgBook, key: &Key) -> Result<&mut EntryInEdit, Error> {
        use std::collections::hash_map::Entry as Slot;
        match self.0.entry(*key) {
            Slot::Occupied(entry) => Ok(entry.into_mut()),
            Slot::Vacant(slot) => {
                let mut reading = book.reading()?;
                let Some(place) = reading.find(key, |_| ())? else {
                    return Err(Error::NotInBook {
                        path: book.path().into(),
                        key: *key,
                    });
                };
                let entry = reading.entry(place)?;
                Ok(slot.insert(EntryInEdit::from_entry(*key, place, &entry)))
            }
        }
    }

    /// The entries whose bytes have changed.
    pub(super) fn changed(self) -> Vec<EntryInEdit> {
        let mut entries: Vec<EntryInEdit> = self.0.into_values().collect();
        entries.retain(|entry| entry.encode() != entry.old);
        entries
    }
}

/// An entry, and its old bytes.
pub(super) struct EntryInEdit {
    key: Key,
    place: EntryAddress,
    old: Vec<u8>,
    moves: Vec<(u8, Annotation)>,
    record: PositionRecord,
    /// Whether move bytes were added or removed.
    pub(super) moved: bool,
}

impl EntryInEdit {
    fn from_entry(key: Key, place: EntryAddress, entry: &Entry<'_>) -> EntryInEdit {
        EntryInEdit {
            key,
            place,
            old: entry.bytes().to_vec(),
            moves: entry.moves().collect(),
            record: entry.record(),
            moved: false,
        }
    }

    pub(super) const fn key(&self) -> Key {
        self.key
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_entry(&self.key, &self.moves, &self.record, &mut bytes);
        bytes
    }

    /// Makes a change of the book at `path`; returns the change that undoes it, or `None`
    /// if nothing changes.
    pub(super) fn change(
        &mut self,
        path: &Path,
        change: &MarkChange,
    ) -> Result<Option<MarkChange>, Error> {
        let byte = |value: u32| value.to_le_bytes()[0];
        let (old, place) = match (change.place, change.new) {
            (MarkPlace::Move { byte: mv, at, .. }, new) => {
                let known = self.moves.iter().position(|(known, _)| *known == mv);
                let old = match (known, new) {
                    (Some(_), Some(_)) if change.old.is_none() => {
                        return Err(unstorable(path, "it is stored already"));
                    }
                    (Some(n), Some(new)) => {
                        let annotation = self.moves.get_mut(n).map(|(_, annotation)| annotation);
                        let new = Annotation(byte(new));
                        annotation.map(|old| std::mem::replace(old, new).0.into())
                    }
                    (Some(n), None) => {
                        self.moved = true;
                        let (_, old) = self.moves.remove(n);
                        Some(old.0.into())
                    }
                    (None, Some(new)) if change.old.is_none() => {
                        self.add(path, mv, byte(new), at)?;
                        None
                    }
                    (None, _) => {
                        return Err(Error::NoSuchMove {
                            path: path.into(),
                            key: self.key,
                            byte: mv,
                        });
                    }
                };
                let at = known.map_or(at, |n| u8::try_from(n).unwrap_or(u8::MAX));
                let key = self.key;
                (old, MarkPlace::Move { key, byte: mv, at })
            }
            (place, Some(new)) => {
                let mut marks = self.record.marks().into_iter();
                let old = marks.find(|(known, _)| *known == change.field);
                self.record.set_mark(change.field, byte(new));
                (Some(old.map_or(new, |(_, old)| old.into())), place)
            }
            (place, None) => (None, place),
        };
        let made = MarkChange {
            place,
            old,
            ..*change
        };
        Ok((made.old != made.new).then(|| made.reversed()))
    }

    fn add(&mut self, path: &Path, mv: u8, annotation: u8, at: u8) -> Result<(), Error> {
        if decode_move_byte(mv).is_none() {
            return Err(unstorable(path, "its byte has no meaning"));
        }
        if self.moves.len() >= MAX_MOVES {
            let reason = "the position already has 127 moves, the maximum";
            return Err(unstorable(path, reason));
        }
        let at = usize::from(at).min(self.moves.len());
        self.moves.insert(at, (mv, Annotation(annotation)));
        self.moved = true;
        Ok(())
    }

    /// Adds the changed bytes to a batch; the length of the entry must be unchanged.
    pub(super) fn put(&self, batch: &mut EditBatch) -> Result<(), Error> {
        let start = self.place.file_offset();
        for (offset, (old, new)) in (start..).zip(self.old.iter().zip(self.encode())) {
            batch.set(offset, (*old).into(), new.into())?;
        }
        Ok(())
    }
}

pub(super) fn unstorable(path: &Path, reason: &'static str) -> Error {
    let text = format!("the move cannot be stored: {reason}; nothing was changed");
    Error::refused(path, text)
}
