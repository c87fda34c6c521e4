//! Changing a book in place, whatever its format.
//!
//! ```text
//! MarkEdit -> BookEditor::plan  -> MarkChange -> BookEditor::apply
//! Visit    -> VisitedEntry::changes -> MarkChange -> EditBatch
//! ```
//!
//! # What can be changed in place
//!
//! Marks are bytes that every entry has, set or not. In a ChessBase book recommendation,
//! learn value and commentary are in the statistics of the position a move leads *to*,
//! the annotation is beside the move in the position it is played *from*. So these
//! changes never make an entry longer, and a page never has to be split. Only those bytes
//! are written; all others in the files stay, including stale ones. Polyglot and Arena
//! books have a number beside each move.
//!
//! An entry for several real positions (colours exchanged, wings exchanged) has its marks
//! once, for all of them.
//!
//! # What a running reader sees
//!
//! It can read on. A byte is old or new, and pages are never broken. A program that has
//! mapped the file sees a mark at the next read; one that has loaded a small book into
//! memory notices the new modification time and reads from the file
//! ([`tabia_io::input::file`]).
//!
//! # What a crash leaves
//!
//! Bytes within 512 (the smallest block of any disk) are written at once. Larger changes
//! use a journal beside the book, `.NAME.ctg.edit`: see the module `journal`. A book in
//! the middle of a change is a sound book in which some entries are new and the others
//! old. Readers report what is missing ([`pending_changes`]), the next change completes it.
//!
//! # What makes an entry longer
//!
//! Storing a move, such as a transposition that gets an annotation, takes two bytes. Then
//! entries move, perhaps to other pages, and running readers would see that in any order
//! of writes. So the book is rewritten beside the old one, with the necessary slots split
//! and the split ones left split, and replaces it as `compact` does: readers keep the old
//! book until they open it again. This takes as long as `compact`, once for all moves
//! together.

mod batch;
mod change;
mod entries;
mod journal;
mod pages;
mod pending;
mod plan;
mod undo;

use std::{collections::HashMap, fs::File, path::Path, sync::atomic::AtomicBool, time::Duration};

use crate::ctg::{Key, OpenOptions, lock, rewrite_with};
use crate::{Book, Error, Format};
use batch::Recovered;
use entries::{Entries, EntryInEdit};
use tabia_io::atomic::{self, LOCK_WAIT, Locked, remove_leftovers};
use tabia_io::input::state::is_read_only;
use tabia_io::progress::Watch;

pub(crate) use undo::UndoWriter;

pub use batch::{Applied, EditBatch};
pub use change::{Field, MarkChange, MarkEdit, MarkPlace};
pub use pending::{MarksLeft, Pending, Resolve, pending_changes, settle};

tabia_io::options! {
    /// Options for opening a book for changes.
    #[derive(Clone, Copy, Debug)]
    pub struct EditOptions {
        /// How long to wait for another program that is changing the book.
        wait: Duration = LOCK_WAIT,
        /// Memory in bytes for sorting, needed only if a move is added to a book whose pages
        /// have no order.
        memory: u64 = 256 << 20,
        /// Whether the changes are only tried: then the book may be read-only.
        dry_run: bool = false,
    }
}

/// A book that is open for changes. While it exists, no other editor can open the book.
///
/// ```
/// use shakmaty::{Chess, uci::UciMove};
/// use tabia_book::{BookEditor, EditOptions, Lookup, Mark, MarkEdit, Probe, Wanted};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("book.ctg");
/// # for extension in ["ctg", "cto", "ctb"] {
/// #     std::fs::copy(
/// #         format!("tests/data/ctg/simple.{extension}"),
/// #         path.with_extension(extension),
/// #     )?;
/// # }
/// let editor = BookEditor::open(&path, &EditOptions::default())?;
/// let start = Chess::default();
/// let e4 = UciMove::from_ascii(b"e2e4")?.to_move(&start)?;
/// let edit = MarkEdit {
///     recommendation: Some(Mark::Main),
///     ..MarkEdit::default()
/// };
/// let changes = editor.plan(&start, e4, &edit)?;
/// let (editor, undo) = editor.apply(&changes)?;
///
/// let mut found = Lookup::default();
/// editor.book().probe(&start, Wanted::Stored, &mut found)?;
/// assert_eq!(found.moves[0].mark(), Mark::Main);
/// let (editor, _) = editor.apply(&undo)?;
/// editor.book().probe(&start, Wanted::Stored, &mut found)?;
/// assert_eq!(found.moves[0].mark(), Mark::None);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BookEditor {
    book: Book,
    options: EditOptions,
    file: File,
    recovered: Recovered,
    /// What was completed when the book was opened, one sentence each.
    messages: Vec<String>,
    lock: Locked,
}

impl BookEditor {
    /// Opens a book of any format, and first completes a change that a crash has
    /// interrupted.
    ///
    /// # Errors
    ///
    /// The file is not a book or not writable, or another program is still changing it after
    /// the waiting time. The interrupted change belongs to another state of the book: see
    /// [`BookEditor::resolve`].
    pub fn open(path: &Path, options: &EditOptions) -> Result<BookEditor, Error> {
        BookEditor::open_and(path, options, None)
    }

    /// Makes or forgets a change that a crash has interrupted; with it goes what is left of
    /// a replacement of an earlier state of the book. Returns the number of marks; `None`
    /// if there was nothing of the kind.
    ///
    /// # Errors
    ///
    /// As for [`BookEditor::open`]; or the book is another one, in which the change cannot
    /// be made.
    pub fn resolve(
        path: &Path,
        options: &EditOptions,
        resolve: Resolve,
    ) -> Result<Option<u64>, Error> {
        let editor = BookEditor::open_and(path, options, Some(resolve))?;
        let discarded = match resolve {
            Resolve::Drop => atomic::discard(path),
            Resolve::Apply => 0,
        };
        Ok(match editor.recovered {
            Recovered::Nothing => (discarded > 0).then_some(0),
            Recovered::NeverBegan => Some(0),
            Recovered::Completed(marks) | Recovered::Dropped(marks) => Some(marks),
        })
    }

    fn open_and(
        path: &Path,
        options: &EditOptions,
        resolve: Option<Resolve>,
    ) -> Result<BookEditor, Error> {
        if let Ok(format) = Format::recognize(path)
            && !format.is_writable()
        {
            return Err(Error::Format {
                path: path.into(),
                format,
                what: "marks that can be changed",
            });
        }
        let mut messages = settle(path)?;
        let (file, lock) = match claim(path, options) {
            Ok(claimed) => claimed,
            Err(error) => {
                // If the file is not a book, the reader has the better message.
                Book::open_live(path)?;
                return Err(error);
            }
        };
        let recovered = batch::recover(path, &file, Format::recognize(path)?, resolve)?;
        let name = path.display();
        match recovered {
            Recovered::Completed(marks @ 1..) => messages.push(format!(
                "{name}: an interrupted change was completed first: {}",
                pending::count(marks)
            )),
            Recovered::NeverBegan => messages.push(format!(
                "{name}: a change that was interrupted before the book was touched was discarded"
            )),
            _ => {}
        }
        Ok(BookEditor {
            book: Book::open_live(path)?,
            options: *options,
            file,
            recovered,
            messages,
            lock,
        })
    }

    /// Opens a book of any format for a given change.
    ///
    /// # Errors
    ///
    /// The format cannot store the change; or as for [`BookEditor::open`].
    pub fn open_for(
        path: &Path,
        edit: &MarkEdit,
        options: &EditOptions,
    ) -> Result<BookEditor, Error> {
        let format = Format::recognize(path)?;
        match format.lacks(edit) {
            Some(what) => Err(Error::Format {
                path: path.into(),
                format,
                what,
            }),
            None => BookEditor::open(path, options),
        }
    }

    /// The book in its current state, never an old one; for passes over the whole book
    /// see [`BookEditor::snapshot`].
    #[must_use]
    pub const fn book(&self) -> &Book {
        &self.book
    }

    /// Whether opening has completed an interrupted change.
    #[must_use]
    pub const fn completed_a_change(&self) -> bool {
        matches!(self.recovered, Recovered::Completed(1..))
    }

    /// What opening has done about interrupted changes, one sentence each.
    #[must_use]
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Opens the book again, in memory or mapped: faster, but valid only until the next
    /// change.
    ///
    /// # Errors
    ///
    /// As for [`Book::open`].
    pub fn snapshot(&self) -> Result<Book, Error> {
        Book::open(self.book.path(), &OpenOptions::default())
    }

    /// Makes all changes, or on failure none. Returns the changes that undo them, in the
    /// order to apply, and the editor, which is closed while a book is replaced: not every
    /// system replaces an open file.
    ///
    /// In a ChessBase book changes are made one after the other, whatever the old values
    /// are: later ones see the results of earlier ones. A value that is already the new
    /// one is not a change.
    ///
    /// # Errors
    ///
    /// A position or move is missing, or the book cannot be written.
    pub fn apply(self, changes: &[MarkChange]) -> Result<(BookEditor, Vec<MarkChange>), Error> {
        let (entries, undo) = self.changed(changes)?;
        if entries.iter().any(|entry| entry.moved) {
            return Ok((self.rewrite(&entries)?, undo));
        }
        let mut batch = self.batch();
        for entry in &entries {
            entry.put(&mut batch)?;
        }
        for change in changes {
            self.put_number(&mut batch, change)?;
        }
        self.commit(batch)?;
        Ok((self, undo))
    }

    /// What [`BookEditor::apply`] would return, without changing anything.
    ///
    /// # Errors
    ///
    /// As for [`BookEditor::apply`], except for failures of writing.
    pub fn rehearse(&self, changes: &[MarkChange]) -> Result<Vec<MarkChange>, Error> {
        Ok(self.changed(changes)?.1)
    }

    /// The changed entries of a ChessBase book, and the changes that undo the changes.
    fn changed(
        &self,
        changes: &[MarkChange],
    ) -> Result<(Vec<EntryInEdit>, Vec<MarkChange>), Error> {
        let mut entries = Entries::default();
        let mut undo = Vec::new();
        for change in changes {
            match (&self.book, change.place.key()) {
                (Book::Ctg(book), Some(key)) => {
                    undo.extend(entries.entry(book, key)?.change(book.path(), change)?);
                }
                (Book::Ctg(_), None) | (Book::Bin(_) | Book::Loaded(_), _) => {
                    undo.push(change.reversed());
                }
            }
        }
        undo.reverse();
        Ok((entries.changed(), undo))
    }

    /// Begins a change of many bytes.
    #[must_use]
    pub fn batch(&self) -> EditBatch {
        EditBatch::new(self.book.path())
    }

    /// Makes the changes of a batch, all or none.
    ///
    /// # Errors
    ///
    /// The book cannot be written, or has changed since the batch was made.
    pub fn commit(&self, batch: EditBatch) -> Result<Applied, Error> {
        batch.commit(&self.file)
    }

    /// Makes the changes of a batch to a whole book, after its old files were copied to
    /// their names with `.bak`. Without changes there is no backup.
    ///
    /// # Errors
    ///
    /// As for [`BookEditor::commit`]; or the backup cannot be written.
    pub fn commit_keeping(&self, batch: EditBatch) -> Result<Applied, Error> {
        if !batch.is_empty() {
            self.back_up()?;
        }
        self.commit(batch)
    }

    /// Copies the files of the book to their names with `.bak`, before many changes.
    ///
    /// # Errors
    ///
    /// The backup cannot be written; an older one is unchanged.
    pub fn back_up(&self) -> Result<(), Error> {
        atomic::back_up(self.book.path(), self.book.format().companions())?;
        Ok(())
    }

    /// Adds a number of a Polyglot or Arena entry to a batch.
    pub(crate) fn put_number(
        &self,
        batch: &mut EditBatch,
        change: &MarkChange,
    ) -> Result<(), Error> {
        match self.number(change) {
            Some((last, old, new)) => batch.set(last, old, new),
            None => Ok(()),
        }
    }

    /// A number of a Polyglot or Arena entry, by the offset of its last byte, before and
    /// after a change.
    pub(crate) fn number(&self, change: &MarkChange) -> Option<(u64, u32, u32)> {
        let number = self.book.format().number(change.field)?;
        match (change.place, change.old, change.new) {
            (MarkPlace::Entry(offset), Some(old), Some(new)) => {
                Some((offset + number.last_byte(), old, new))
            }
            _ => None,
        }
    }

    /// Rewrites the book with some entries replaced.
    fn rewrite(self, changed: &[EntryInEdit]) -> Result<BookEditor, Error> {
        let entries = changed.iter().map(|entry| (entry.key(), entry.encode()));
        let by_key: HashMap<Key, Vec<u8>> = entries.collect();
        let stop = AtomicBool::new(false);
        let BookEditor {
            book,
            options,
            file,
            lock,
            ..
        } = self;
        let path = book.path().to_owned();
        drop((book, file));
        rewrite_with(
            &path,
            options.memory,
            &mut Watch::stopped_by(&stop),
            &mut |key, entry| {
                if let Some(bytes) = by_key.get(key) {
                    entry.clear();
                    entry.extend_from_slice(bytes);
                }
            },
        )?;
        // The book is a new file now, with its own lock.
        drop(lock);
        BookEditor::open(&path, &options)
    }
}

/// Opens and locks a book for one writer, after waiting for others.
fn claim(path: &Path, options: &EditOptions) -> Result<(File, Locked), Error> {
    let failed = |error| Error::change(path, error);
    if !options.dry_run && is_read_only(&path.metadata().map_err(failed)?) {
        let text = "the file is read-only; nothing was changed";
        return Err(Error::refused(path, text));
    }
    let lock = lock::acquire(path, options.wait)?;
    remove_leftovers(path);
    let file = File::options().read(true).write(true).open(path);
    let file = file.or_else(|error| match options.dry_run {
        true => File::open(path),
        false => Err(error),
    });
    Ok((file.map_err(failed)?, lock))
}
