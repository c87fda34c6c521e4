//! Changing the numbers beside the moves of Polyglot and Arena books, in place
//! and as safely as the marks of ChessBase books.

use std::path::Path;

use shakmaty::{Chess, Move, Position as _};

use super::ctg::{Applied, ChangedByte, Claim, EditBatch, EditError, EditOptions};
use super::keyed::KeyedEntry;
use super::{Book, Error, Field, Format, Mark, MarkEdit, Preference, polyglot};

/// A Polyglot or Arena book open for changes.
#[derive(Debug)]
pub struct KeyedEditor {
    book: Book,
    claim: Claim,
}

/// A number beside a move that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedChange {
    /// [`Field::Weight`], or in a Polyglot book [`Field::Learn`].
    pub field: Field,
    /// Where the entry stands in the file, in bytes.
    pub offset: u64,
    /// What the number is.
    pub old: u32,
    /// What it is to be.
    pub new: u32,
}

impl Book {
    /// The entries of a move of a Polyglot or Arena book, in stored order; none
    /// of a ChessBase book.
    ///
    /// # Errors
    ///
    /// The file cannot be read any more.
    pub fn keyed_entries(&self, position: &Chess, mv: Move) -> Result<Vec<KeyedEntry>, Error> {
        let key = polyglot::key(position);
        let mut entries = match self {
            Book::Ctg(_) => Vec::new(),
            Book::Bin(book) => book.entries_of(key)?,
            Book::Abk(book) => book.entries_of(key).collect(),
        };
        let legal = position.legal_moves();
        entries.retain(|entry| entry.mv.find(&legal).and_then(|n| legal.get(n)) == Some(&mv));
        Ok(entries)
    }
}

impl KeyedEditor {
    /// Opens a book, and first completes a change that a crash has cut short.
    ///
    /// # Errors
    ///
    /// It is no book, may not be written, or another program is changing it
    /// and goes on for longer than we may wait.
    pub fn open(path: &Path, options: &EditOptions) -> Result<KeyedEditor, EditError> {
        // Mapped, so that what is written is read at once.
        let open = || Book::open_mapped(path);
        // Asked of a book that is none, the reader has the better message.
        drop(open()?);
        let claim = Claim::take(path, options.wait)?;
        let book = open()?;
        Ok(KeyedEditor { book, claim })
    }

    /// The book as it was opened.
    #[must_use]
    pub const fn book(&self) -> &Book {
        &self.book
    }

    /// Whether opening has completed a change that was cut short.
    #[must_use]
    pub const fn completed_a_change(&self) -> bool {
        self.claim.completed
    }

    /// The changes that give a move its weight; none if it has it or nothing
    /// is said of weights, `None` if the book does not hold the move. Of what
    /// [`Format::lacks`] names nothing is done.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn plan(
        &self,
        position: &Chess,
        mv: Move,
        edit: &MarkEdit,
    ) -> Result<Option<Vec<KeyedChange>>, EditError> {
        let entries = self.book.keyed_entries(position, mv)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let never = (edit.recommendation == Some(Mark::Avoid)).then_some(0);
        let mut changes = Vec::new();
        if let Some(mut weight) = edit.weight.or(never) {
            for entry in entries {
                let old = match (&self.book, entry.preference) {
                    (_, Preference::Weight(old)) => old,
                    // As it stands there, where that is none of the ten.
                    (Book::Abk(book), _) => book
                        .raw_entry(entry.offset)?
                        .get(3)
                        .map_or(0, |old| (*old).into()),
                    _ => continue,
                };
                changes.push(KeyedChange {
                    field: Field::Weight,
                    offset: entry.offset,
                    old,
                    new: weight.into(),
                });
                // Weights of a move that is stored twice are added up.
                if self.book.format() == Format::Bin {
                    weight = 0;
                }
            }
        }
        changes.retain(|change| change.old != change.new);
        Ok(Some(changes))
    }

    /// The learn counts of the entry at an offset of a Polyglot book.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn learn_counts(&self, offset: u64) -> Result<u32, EditError> {
        match &self.book {
            Book::Bin(book) => Ok(book.learn_at(offset)?),
            _ => Ok(0),
        }
    }

    /// Makes changes, all or none.
    ///
    /// # Errors
    ///
    /// The book cannot be written, or is not what it was when they were
    /// planned.
    pub fn apply(&mut self, changes: &[KeyedChange]) -> Result<Applied, EditError> {
        let mut batch = EditBatch::new(self.book.path());
        for change in changes {
            let (at, bytes) = match (self.book.format(), change.field) {
                (Format::Abk, _) => (3, 1),
                (_, Field::Learn) => (12, 4),
                _ => (10, 2),
            };
            let [old, new] = [change.old, change.new].map(u32::to_be_bytes);
            let pairs = old.into_iter().zip(new).skip(4 - bytes);
            for (offset, (old, new)) in (change.offset + at..).zip(pairs) {
                if old != new {
                    batch.push(ChangedByte { offset, old, new })?;
                }
            }
        }
        self.claim.commit(batch)
    }
}
