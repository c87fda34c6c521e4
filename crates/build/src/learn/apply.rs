//! What was learnt, put into a book.

use std::io;
use std::path::Path;

use shakmaty::Position as _;

use super::side::read_games;
use super::{LearnTally, Learned, TallyPlace};
use tabia_book::ctg::{CtgBook, EditError, Editor};
use tabia_book::mark::{self, MarkError, Told};
use tabia_book::{Book, BookEditor, Field, KeyedChange, KeyedEditor, MarkEdit};
use tabia_io::progress::Watch;

/// How a book learns.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// How far results move the values, 0 to 100. The counts of a Polyglot
    /// book take every game as it is.
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
#[non_exhaustive]
pub struct Taught {
    /// Learn values that change.
    pub changed: u64,
    /// Those that rise.
    pub raised: u64,
    /// Each of them, as far as they were to be told.
    pub noted: NotedValues,
}

/// Changes of learn values, by their places in the book.
#[derive(Debug)]
pub enum NotedValues {
    /// Of a ChessBase book.
    Ctg(Vec<mark::Noted>),
    /// Of a Polyglot book.
    Keyed(Vec<(KeyedChange, String)>),
}

impl Default for NotedValues {
    fn default() -> NotedValues {
        NotedValues::Ctg(Vec::new())
    }
}

impl NotedValues {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            NotedValues::Ctg(noted) => noted.len(),
            NotedValues::Keyed(noted) => noted.len(),
        }
    }

    /// Tells them by the moves that lead there, shortest lines first.
    ///
    /// # Errors
    ///
    /// The book cannot be read, who watches wants an end, or `found` fails.
    pub fn tell(
        self,
        book: &Book,
        watch: &mut Watch<'_>,
        found: &mut dyn FnMut(&Told) -> Result<(), MarkError>,
    ) -> Result<(), MarkError> {
        match (self, book) {
            (NotedValues::Ctg(noted), Book::Ctg(book)) => mark::tell(book, noted, watch, found),
            (NotedValues::Keyed(noted), book) => mark::tell_keyed(book, noted, watch, found),
            // There is nothing to tell of a book without learn values.
            (NotedValues::Ctg(_), _) => Ok(()),
        }
    }
}

impl Learned {
    /// Adds the games that a side file holds.
    ///
    /// # Errors
    ///
    /// It or the book cannot be read.
    pub fn add_side_file(&mut self, path: &Path, book: &Book) -> io::Result<()> {
        let mut games = Vec::new();
        let (_, bad_lines) = read_games(path, 0, |game| games.push(game))?;
        self.counted += games.len() as u64;
        self.games.skipped += bad_lines;
        for game in games {
            game.each_book_move(|before, mv, after| {
                // Moves of a side file may have left the book.
                if let Some(place) = TallyPlace::of(book, before, mv, after)? {
                    let tally = self.tallies.entry(place).or_default();
                    tally.add(before.turn(), game.winner);
                }
                Ok(())
            })
            .map_err(|error: tabia_book::Error| io::Error::other(error))?;
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
        editor: &mut BookEditor,
        book: &Book,
        method: Method,
    ) -> Result<Taught, EditError> {
        match (editor, book) {
            (BookEditor::Ctg(editor), Book::Ctg(book)) => self.teach_ctg(editor, book, method),
            (BookEditor::Keyed(editor), _) => self.teach_keyed(editor, method),
            (BookEditor::Ctg(_), _) => Ok(Taught::default()),
        }
    }

    fn teach_ctg(
        &self,
        editor: &mut Editor,
        book: &CtgBook,
        method: Method,
    ) -> Result<Taught, EditError> {
        let mut batch = editor.batch();
        let (mut changed, mut raised, mut noted) = (0, 0, Vec::new());
        // In the order of the file pages are written once.
        let mut entries = Vec::with_capacity(self.tallies.len());
        for (place, tally) in &self.tallies {
            if let TallyPlace::After(key) = place {
                entries.extend(book.entry_of(key)?.map(|entry| (entry, *tally)));
            }
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
                changed += 1;
                raised += u64::from(new > old);
                if noted.len() < method.told {
                    noted.push(mark::Noted {
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
        Ok(Taught {
            changed,
            raised,
            noted: NotedValues::Ctg(noted),
        })
    }

    /// Polyglot's way: every game counts one, its points twice.
    fn teach_keyed(&self, editor: &mut KeyedEditor, method: Method) -> Result<Taught, EditError> {
        let mut changes = Vec::new();
        for (place, tally) in &self.tallies {
            if let TallyPlace::Entry(offset) = place {
                let old = editor.learn_counts(*offset)?;
                let new = tally.counts(if method.fresh { 0 } else { old });
                let change = KeyedChange {
                    field: Field::Learn,
                    offset: *offset,
                    old,
                    new,
                };
                changes.extend((new != old).then_some((change, tally)));
            }
        }
        changes.sort_by_key(|(change, _)| change.offset);
        if !method.dry_run {
            let all: Vec<KeyedChange> = changes.iter().map(|(change, _)| *change).collect();
            editor.apply(&all)?;
        }
        let raised = changes
            .iter()
            .filter(|(_, tally)| tally.wins > tally.losses);
        let told = changes.iter().take(method.told);
        Ok(Taught {
            changed: changes.len() as u64,
            raised: raised.count() as u64,
            noted: NotedValues::Keyed(
                told.map(|(change, tally)| (*change, tally.to_string()))
                    .collect(),
            ),
        })
    }
}

impl LearnTally {
    /// Polyglot's learn counts with these games added: the games in the upper
    /// sixteen bits, two for a win and one for a draw in the lower. Both are
    /// halved where one would grow too large.
    fn counts(&self, old: u32) -> u32 {
        let games = u64::from(old >> 16)
            + [self.wins, self.draws, self.losses]
                .map(u64::from)
                .iter()
                .sum::<u64>();
        let points = u64::from(old & 0xffff) + 2 * u64::from(self.wins) + u64::from(self.draws);
        let mut counts = [games, points];
        while counts.iter().any(|count| *count > 0xffff) {
            counts = counts.map(|count| count / 2);
        }
        (counts[0] << 16 | counts[1]) as u32
    }
}
