//! From games to learn values in a book.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{Counted, LearnError, SideFile, Tally, tally_games};
use crate::book::ctg::{CtgBook, Editor, Field, Key, MarkEdit};
use crate::book::{Progress, Watch};
use crate::games::{self, Skipped};
use crate::mark::Noted;

/// What games say about the moves of a book.
#[derive(Debug, Default)]
pub struct Lesson {
    /// Results by the position after the move.
    pub tallies: HashMap<Key, Tally>,
    /// Games that counted.
    pub games: u64,
    /// Games of no use.
    pub skipped: u64,
}

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

impl Lesson {
    /// Adds the games of files and folders. `skip` hears of games that are of
    /// no use.
    ///
    /// # Errors
    ///
    /// A source or the book cannot be read, or who watches wants an end.
    pub fn add_sources(
        &mut self,
        book: &CtgBook,
        sources: &[PathBuf],
        counted: &Counted,
        watch: &mut Watch<'_>,
        skip: &mut dyn FnMut(Skipped),
    ) -> Result<(), LearnError> {
        let mut seen = HashSet::new();
        let mut paths = Vec::new();
        for named in sources {
            paths.extend(games::files(named, &mut seen)?);
        }
        let length = |path: &PathBuf| std::fs::metadata(path).ok().map(|data| data.len());
        let total: Option<u64> = paths.iter().map(length).sum();
        let mut before = 0;
        for path in &paths {
            let mut opened = games::open(path)?;
            let skipped = &mut self.skipped;
            let mut skip = |game: Skipped| {
                *skipped += 1;
                skip(game);
            };
            let mut read = |bytes: u64, watch: &mut Watch<'_>| {
                watch.step(Progress {
                    stage: "reading",
                    unit: "bytes",
                    done: before + bytes,
                    total,
                })
            };
            let source = &mut *opened.source;
            let tallies = &mut self.tallies;
            self.games += tally_games(book, source, counted, watch, &mut read, tallies, &mut skip)?;
            before += length(path).unwrap_or(0);
        }
        Ok(())
    }

    /// Adds the games that a side file holds.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn add_side_file(&mut self, path: &Path) -> Result<(), LearnError> {
        let mut side = SideFile::default();
        side.refresh(path).map_err(|source| LearnError::Side {
            path: path.to_owned(),
            source,
        })?;
        self.games += side.games;
        self.skipped += side.bad_lines;
        for (key, tally) in &side.tallies {
            self.tallies.entry(*key).or_default().add_all(tally);
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
    ) -> Result<Taught, LearnError> {
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
