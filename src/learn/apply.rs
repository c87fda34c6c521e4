//! What was learnt, put into a book.

use std::io;
use std::path::Path;

use super::{Learned, SideFile};
use crate::book::ctg::{CtgBook, EditError, Editor, Field, MarkEdit};
use crate::mark::Noted;

/// How a book learns.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// How far results move the values, 0 to 100.
    pub strength: u32,
    /// The old values of these moves are forgotten first.
    pub fresh: bool,
    /// Nothing is changed.
    pub dry_run: bool,
    /// So many changes are told.
    pub told: usize,
}

/// What a book has learnt, or would.
#[derive(Debug, Default)]
pub struct Taught {
    /// Learn values that change.
    pub changed: u64,
    /// Those that rise.
    pub raised: u64,
    /// Each of them, as far as they were to be told; for [`crate::mark::tell`].
    pub noted: Vec<Noted>,
}

impl Learned {
    /// Adds the games that a side file holds.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn add_side_file(&mut self, path: &Path) -> io::Result<()> {
        let mut side = SideFile::default();
        side.refresh(path)?;
        self.counted += side.games;
        self.games.skipped += side.bad_lines;
        for (key, tally) in &side.tallies {
            self.tallies.entry(*key).or_default().join(tally);
        }
        Ok(())
    }

    /// Changes the learn values of a book.
    ///
    /// # Errors
    ///
    /// The book cannot be read or written; nothing was changed.
    pub fn teach(
        &self,
        editor: &mut Editor,
        book: &CtgBook,
        method: Method,
    ) -> Result<Taught, EditError> {
        let mut batch = editor.batch();
        let mut taught = Taught::default();
        // In the order of the file pages are written once.
        let mut entries = Vec::with_capacity(self.tallies.len());
        for (key, tally) in &self.tallies {
            // Positions of a side file may have left the book.
            entries.extend(book.entry_of(key)?.map(|entry| (entry, *tally)));
        }
        entries.sort_by_key(|(entry, _)| entry.place.file_offset());
        for (entry, tally) in entries {
            let old = entry.record.factor.saturating_neg();
            let known = if method.fresh { 0 } else { old };
            let new = tally.learned(known, method.strength);
            let edit = MarkEdit {
                factor: Some(new),
                ..MarkEdit::default()
            };
            entry.touches(&edit, |touch| {
                taught.changed += 1;
                taught.raised += u64::from(new > old);
                if taught.noted.len() < method.told {
                    taught.noted.push(Noted {
                        key: entry.key,
                        after: None,
                        field: Field::Factor,
                        old: touch.old,
                        new: touch.new,
                        note: tally.to_string(),
                    });
                }
                batch.set(&touch)
            })?;
        }
        if !method.dry_run {
            editor.commit(batch)?;
        }
        Ok(taught)
    }
}
