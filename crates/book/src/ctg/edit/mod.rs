//! Changing a book where it stands.
//!
//! ```text
//! marks -> EntryChange -> Editor::apply -> bytes of a few pages
//! Visit -> Touch  -> EditBatch         -> bytes of many pages
//! ```
//!
//! # What can be changed in place
//!
//! Marks are single bytes that every entry has, set or not: recommendation,
//! learn value and commentary stand in the statistics of the position a move
//! leads *to*, the annotation stands beside the move in the position it is
//! played *from*. So no change of these ever makes an entry longer, and a page
//! never has to be split for one. Only those bytes are written; everything
//! else in the three files stays as it was, stale bytes included.
//!
//! An entry that stands for several real positions (colours exchanged, wings
//! exchanged) has its marks once: a mark holds for all of them.
//!
//! # What a running reader sees
//!
//! It goes on reading. A byte is old or new, and pages never look broken. Who
//! has mapped the file sees a mark at the next look; who holds a small book
//! in memory notices the new time of modification and reads from the file
//! ([`tabia_io::input::file`]).
//!
//! # What a crash leaves
//!
//! Bytes within 512 (the smallest piece that any disk writes at once) are
//! written in one go. Everything larger goes through a journal beside the
//! book, `.NAME.ctg.edit`: see the module `journal`. A book in the middle of a
//! change is a sound book in which some entries are new and the others old.
//!
//! # What makes an entry longer
//!
//! To store a move ([`EntryChange::AddMove`]), such as a transposition that gets an
//! annotation, takes two bytes. Then entries move, perhaps to other pages,
//! and no order of writes would keep that from running readers. So the book
//! is written anew beside the old one, with the slots split that have to be
//! and those left split that were, and put in its place as `compact` does:
//! readers keep the old book until they open it again. This takes as long as
//! `compact`, once for all moves given together.
//!
//! # Undoing
//!
//! [`Editor::apply`] returns the changes that take back what it did.

mod batch;
mod error;
mod journal;
mod marks;
mod visit;

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use super::lock::BookLock;
use super::{
    CanonicalBoard, CtgBook, Entry, Key, MAX_MOVES, OpenOptions, Place, encode_entry, rewrite,
};
use crate::{Annotation, Field};
use tabia_io::atomic::{LOCK_WAIT, remove_leftovers};
use tabia_io::progress::Watch;

pub(crate) use batch::ChangedByte;
pub use batch::{Applied, EditBatch};
pub use error::EditError;
pub(super) use visit::stored_moves;
pub use visit::{EntrySet, Pass, Touch, Visit, VisitedEntry, VisitedMove};

/// How to open a book for changes.
#[derive(Clone, Copy, Debug)]
pub struct EditOptions {
    /// How long to wait for another program that changes the book.
    pub wait: Duration,
    /// Memory in bytes for sorting, needed only when a move is stored in a
    /// book whose pages follow no order.
    pub memory: u64,
}

impl Default for EditOptions {
    fn default() -> EditOptions {
        EditOptions {
            wait: LOCK_WAIT,
            memory: 256 << 20,
        }
    }
}

/// One change, in terms of the file: positions by their keys, moves by their
/// bytes, numbers as they are stored (a learn value from the view of the side
/// to move in the position, see [`crate::MarkEdit`] for marks in chess terms).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryChange {
    /// Sets a mark of a position: its recommendation byte, its learn value or
    /// its commentary.
    Mark {
        /// The position.
        key: Key,
        /// Which mark.
        field: Field,
        /// As stored.
        byte: u8,
    },
    /// Sets the byte beside a stored move.
    Annotation {
        /// The position the move is played in.
        key: Key,
        /// The move byte.
        mv: u8,
        /// The whole byte.
        byte: u8,
    },
    /// Stores a move.
    AddMove {
        /// The position the move is played in.
        key: Key,
        /// The move byte.
        mv: u8,
        /// The byte beside it.
        annotation: u8,
        /// Which of the stored moves it is to be; beyond the last is behind it.
        at: u8,
    },
    /// Takes a stored move out. The position after it stays.
    RemoveMove {
        /// The position the move is played in.
        key: Key,
        /// The move byte.
        mv: u8,
    },
}

impl EntryChange {
    /// The position whose entry is changed.
    #[must_use]
    pub const fn key(&self) -> Key {
        match *self {
            EntryChange::Mark { key, .. }
            | EntryChange::Annotation { key, .. }
            | EntryChange::AddMove { key, .. }
            | EntryChange::RemoveMove { key, .. } => key,
        }
    }

    /// Whether the entry becomes longer or shorter.
    #[must_use]
    pub const fn moves_entries(&self) -> bool {
        matches!(
            self,
            EntryChange::AddMove { .. } | EntryChange::RemoveMove { .. }
        )
    }
}

/// A book open for changes. While it exists, no other editor has the book.
///
/// ```
/// use shakmaty::{Chess, uci::UciMove};
/// use tabia_book::{Lookup, Mark, MarkEdit, Probe, Wanted};
/// use tabia_book::ctg::{EditOptions, Editor};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("book.ctg");
/// # for extension in ["ctg", "cto", "ctb"] {
/// #     std::fs::copy(
/// #         format!("tests/data/ctg/simple.{extension}"),
/// #         path.with_extension(extension),
/// #     )?;
/// # }
/// let mut editor = Editor::open(&path, &EditOptions::default())?;
/// let start = Chess::default();
/// let e4 = UciMove::from_ascii(b"e2e4")?.to_move(&start)?;
/// let edit = MarkEdit {
///     recommendation: Some(Mark::Main),
///     ..MarkEdit::default()
/// };
/// let changes = editor.plan(&start, e4, &edit)?;
/// let undo = editor.apply(&changes)?;
///
/// let mut found = Lookup::default();
/// editor.book().probe(&start, Wanted::Stored, &mut found)?;
/// assert_eq!(found.moves[0].mark(), Mark::Main);
/// editor.apply(&undo)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor {
    path: PathBuf,
    options: EditOptions,
    book: CtgBook,
    claim: Claim,
}

/// The file of a book of any format, for one writer.
#[derive(Debug)]
pub(crate) struct Claim {
    file: File,
    /// A change that was cut short has been completed.
    pub(crate) completed: bool,
    /// `None` only while the book is written anew.
    lock: Option<BookLock>,
}

impl Claim {
    /// Waits for other writers, and first completes a change that a crash has
    /// cut short.
    pub(crate) fn take(path: &Path, wait: Duration) -> Result<Claim, EditError> {
        let failed = |error| EditError::io(path, error);
        if std::fs::metadata(path)
            .map_err(failed)?
            .permissions()
            .readonly()
        {
            return Err(EditError::ReadOnly {
                path: path.to_owned(),
            });
        }
        let lock = Some(BookLock::take(path, wait)?);
        remove_leftovers(path);
        let mut options = File::options();
        let file = options.read(true).write(true).open(path).map_err(failed)?;
        let completed = batch::recover(path, &file)?;
        Ok(Claim {
            file,
            completed,
            lock,
        })
    }

    /// Makes the changes of a batch, all or none.
    pub(crate) fn commit(&self, batch: EditBatch) -> Result<Applied, EditError> {
        batch.commit(&self.file)
    }
}

impl Editor {
    /// Opens the book whose .ctg file is `path`, and first completes a change
    /// that a crash has cut short.
    ///
    /// # Errors
    ///
    /// It is no CTG book, may not be written, or another program is changing
    /// it and goes on for longer than we may wait.
    pub fn open(path: &Path, options: &EditOptions) -> Result<Editor, EditError> {
        // Asked of a book that is none, the reader has the better message.
        drop(open_book(path)?);
        let claim = Claim::take(path, options.wait)?;
        Ok(Editor {
            path: path.to_owned(),
            options: *options,
            book: open_book(path)?,
            claim,
        })
    }

    /// The book as it is now. It reads by system calls and never shows an old
    /// state; for passes over the whole book see [`Editor::snapshot`].
    #[must_use]
    pub const fn book(&self) -> &CtgBook {
        &self.book
    }

    /// Whether opening has completed a change that was cut short.
    #[must_use]
    pub const fn completed_a_change(&self) -> bool {
        self.claim.completed
    }

    /// The book opened once more, held in memory or mapped: quicker, but good
    /// only until the next change.
    ///
    /// # Errors
    ///
    /// As for [`CtgBook::open`].
    pub fn snapshot(&self) -> Result<CtgBook, EditError> {
        Ok(CtgBook::open(&self.path, &OpenOptions::default())?)
    }

    /// Makes changes, all or (if it fails) none, and returns those that take
    /// them back, in the order in which they do.
    ///
    /// Changes are made one after the other: a later one sees what an earlier
    /// one did. What is already as it is to be is no change.
    ///
    /// # Errors
    ///
    /// A position or move is not there, or the book cannot be written.
    pub fn apply(&mut self, changes: &[EntryChange]) -> Result<Vec<EntryChange>, EditError> {
        let (entries, undo) = self.changed(changes)?;
        let changed: Vec<&Held> = entries.held.values().filter(|e| e.is_changed()).collect();
        if changed.iter().any(|entry| entry.has_moved()) {
            self.rewrite(&changed)?;
        } else {
            let mut batch = self.batch();
            for entry in changed {
                entry.put(&mut batch)?;
            }
            self.commit(batch)?;
        }
        Ok(undo)
    }

    /// What [`Editor::apply`] would return, without doing it.
    ///
    /// # Errors
    ///
    /// As for [`Editor::apply`], as far as it can be known.
    pub fn rehearse(&self, changes: &[EntryChange]) -> Result<Vec<EntryChange>, EditError> {
        Ok(self.changed(changes)?.1)
    }

    /// The entries as changes make them, and what takes these back.
    fn changed(&self, changes: &[EntryChange]) -> Result<(Entries, Vec<EntryChange>), EditError> {
        let mut entries = Entries::default();
        let mut undo = Vec::new();
        for change in changes {
            let entry = entries.entry(&self.path, &self.book, &change.key())?;
            undo.extend(entry.change(&self.path, change)?);
        }
        undo.reverse();
        Ok((entries, undo))
    }

    /// Begins a change of many bytes.
    #[must_use]
    pub fn batch(&self) -> EditBatch {
        EditBatch::new(&self.path)
    }

    /// Makes the changes of a batch, all or none.
    ///
    /// # Errors
    ///
    /// The book cannot be written, or is not what it was when the batch was
    /// made.
    pub fn commit(&mut self, batch: EditBatch) -> Result<Applied, EditError> {
        self.claim.commit(batch)
    }

    /// Writes the book anew with other entries in place of some.
    fn rewrite(&mut self, changed: &[&Held]) -> Result<(), EditError> {
        let mut by_key: HashMap<Key, Vec<u8>> = HashMap::new();
        for held in changed {
            by_key.insert(held.key, held.encode());
        }
        let stop = AtomicBool::new(false);
        rewrite::rewrite_with(
            &self.path,
            self.options.memory,
            &mut Watch::stopped_by(&stop),
            &mut |key, entry| {
                if let Some(bytes) = by_key.get(key) {
                    entry.clear();
                    entry.extend_from_slice(bytes);
                }
            },
        )?;
        // The book is another file now, with a lock of its own.
        self.claim.lock = None;
        *self = Editor::open(&self.path, &self.options)?;
        Ok(())
    }
}

fn open_book(path: &Path) -> Result<CtgBook, EditError> {
    Ok(CtgBook::open(path, &OpenOptions { mmap: false })?)
}

/// Entries being changed.
#[derive(Default)]
struct Entries {
    held: HashMap<Key, Held>,
}

impl Entries {
    fn entry(&mut self, path: &Path, book: &CtgBook, key: &Key) -> Result<&mut Held, EditError> {
        use std::collections::hash_map::Entry as Slot;
        match self.held.entry(*key) {
            Slot::Occupied(held) => Ok(held.into_mut()),
            Slot::Vacant(slot) => {
                let mut reading = book.reading()?;
                let Some(place) = reading.find(key, |_| ())? else {
                    return Err(EditError::NotInBook {
                        path: path.to_owned(),
                        key: *key,
                    });
                };
                let entry = reading.entry(place)?;
                Ok(slot.insert(Held::of(*key, place, &entry)))
            }
        }
    }
}

/// An entry, and what it was.
struct Held {
    key: Key,
    place: Place,
    old: Vec<u8>,
    moves: Vec<(u8, Annotation)>,
    record: crate::PositionRecord,
    /// Move bytes were taken in or out.
    moved: bool,
}

impl Held {
    fn of(key: Key, place: Place, entry: &Entry<'_>) -> Held {
        Held {
            key,
            place,
            old: entry.bytes().to_vec(),
            moves: entry.moves().collect(),
            record: entry.record(),
            moved: false,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_entry(&self.key, &self.moves, &self.record, &mut bytes);
        bytes
    }

    fn is_changed(&self) -> bool {
        self.encode() != self.old
    }

    fn has_moved(&self) -> bool {
        self.moved && self.is_changed()
    }

    fn find(&self, path: &Path, mv: u8) -> Result<usize, EditError> {
        let found = self.moves.iter().position(|(byte, _)| *byte == mv);
        found.ok_or_else(|| EditError::NoSuchMove {
            path: path.to_owned(),
            key: self.key,
            byte: mv,
        })
    }

    /// Makes a change; what takes it back, if it is one.
    fn change(
        &mut self,
        path: &Path,
        change: &EntryChange,
    ) -> Result<Option<EntryChange>, EditError> {
        let key = self.key;
        Ok(match *change {
            EntryChange::Mark { field, byte, .. } => {
                let mut marks = self.record.marks().into_iter();
                let old = marks.find(|(known, _)| *known == field);
                self.record.set_mark(field, byte);
                old.filter(|(_, old)| *old != byte)
                    .map(|(field, byte)| EntryChange::Mark { key, field, byte })
            }
            EntryChange::Annotation { mv, byte, .. } => {
                let at = self.find(path, mv)?;
                let Some((_, annotation)) = self.moves.get_mut(at) else {
                    return Ok(None);
                };
                let old = std::mem::replace(annotation, Annotation(byte)).0;
                (old != byte).then_some(EntryChange::Annotation { key, mv, byte: old })
            }
            EntryChange::AddMove {
                mv, annotation, at, ..
            } => {
                self.add(path, mv, annotation, at)?;
                Some(EntryChange::RemoveMove { key, mv })
            }
            EntryChange::RemoveMove { mv, .. } => {
                let at = self.find(path, mv)?;
                let (_, annotation) = self.moves.remove(at);
                self.moved = true;
                Some(EntryChange::AddMove {
                    key,
                    mv,
                    annotation: annotation.0,
                    at: u8::try_from(at).unwrap_or(u8::MAX),
                })
            }
        })
    }

    fn add(&mut self, path: &Path, mv: u8, annotation: u8, at: u8) -> Result<(), EditError> {
        let unstorable = |reason| EditError::Unstorable {
            path: path.to_owned(),
            reason,
        };
        if self.moves.iter().any(|(byte, _)| *byte == mv) {
            return Err(unstorable("it is stored already"));
        }
        if super::decode_move_byte(mv).is_none() {
            return Err(unstorable("its byte means nothing"));
        }
        if self.moves.len() >= MAX_MOVES {
            return Err(unstorable("the position has 127 moves, the most it can"));
        }
        let at = usize::from(at).min(self.moves.len());
        self.moves.insert(at, (mv, Annotation(annotation)));
        self.moved = true;
        Ok(())
    }

    /// Hands the bytes that differ to a batch.
    fn put(&self, batch: &mut EditBatch) -> Result<(), EditError> {
        let start = self.place.file_offset();
        for (offset, (old, new)) in (start..).zip(self.old.iter().zip(self.encode())) {
            if *old != new {
                batch.push(ChangedByte {
                    offset,
                    old: *old,
                    new,
                })?;
            }
        }
        Ok(())
    }
}

impl CtgBook {
    /// The key a position is stored under in this book: the usual one, or the
    /// one with the other en passant form. `None` if it is not in the book.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn key_of(&self, position: &shakmaty::Chess) -> Result<Option<Key>, super::Error> {
        let Some(board) = CanonicalBoard::from_position(position) else {
            return Ok(None);
        };
        Ok(self.reading()?.find_position(&board)?.map(|(_, key)| key))
    }

    /// The entry of a key, as passes over the book show it.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn entry_of(&self, key: &Key) -> Result<Option<VisitedEntry>, super::Error> {
        let mut reading = self.reading()?;
        match reading.find(key, |_| ())? {
            None => Ok(None),
            Some(place) => {
                let entry = reading.entry(place)?;
                Ok(Some(VisitedEntry::of(place, *key, &entry)))
            }
        }
    }
}
