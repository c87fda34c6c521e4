//! Changes that pages make to a book, one at a time, each of which can be undone.

mod file;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::message::{Message, translatable};
use tabia_io::parallel::lock;

use file::{BookFile, Undo};
pub(super) use file::{Change, failed, reason_not_to_edit};
use tabia_book::mark::words;
use tabia_book::{Annotation, Book, MarkEdit};
use tabia_notation::Line;

/// Greatest number of undo steps; the oldest is dropped first.
const MOST_STEPS: usize = 1000;

/// Greatest number of these steps for which an old book is stored on disk.
const MOST_REWRITES: usize = 20;

/// The file of a book, and the changes made to it so far.
pub(super) struct EditHistory {
    file: BookFile,
    /// Locked during a change: other changes wait.
    changing: Mutex<()>,
    /// Locked only briefly, so that reading never waits for a change.
    steps: Mutex<Steps>,
    counts: Counts,
}

#[derive(Default)]
struct Steps {
    /// Changes that were made, oldest first.
    made: Vec<(RecordedChange, Undo)>,
    /// Undone changes that can be redone, oldest first.
    undone: Vec<RecordedChange>,
}

/// A change that a page requested.
#[derive(Clone)]
pub(super) struct RecordedChange {
    /// The page; each page can only undo its own changes.
    pub(super) client: String,
    pub(super) change: Change,
    pub(super) description: Message,
    /// The gesture that made it: ten steps of one slider are one change.
    pub(super) gesture: Option<String>,
}

/// What a page can undo and redo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Undoable {
    undo: usize,
    redo: usize,
    last_change: Option<Message>,
}

impl EditHistory {
    pub(super) fn new(book: &Book) -> EditHistory {
        EditHistory {
            file: BookFile::new(book),
            changing: Mutex::default(),
            steps: Mutex::default(),
            counts: Counts::default(),
        }
    }

    /// The greatest weight in a book that has one weight for each move and no marks;
    /// `None` for a book with marks, to which lines can be added.
    pub(super) fn most_weight(&self) -> Option<u16> {
        self.file.format.most_weight()
    }

    /// Number of positions that a deletion would remove.
    pub(super) fn count_removed(&self, client: &str, lines: &[Line]) -> Result<u64, Message> {
        let count = |stop: &AtomicBool| self.file.count_removed(lines, stop);
        self.counts.count(client, count)
    }

    /// Makes a change, after other changes have ended; returns whether it is a step of its own
    /// for undo.
    pub(super) fn change(&self, step: RecordedChange) -> Result<bool, Message> {
        let _changing = lock(&self.changing);
        let client = step.client.clone();
        let is_new = self.make(step)?;
        lock(&self.steps).undone.retain(|old| old.client != client);
        Ok(is_new)
    }

    /// Makes a change; the caller has locked `changing`.
    fn make(&self, step: RecordedChange) -> Result<bool, Message> {
        match self.file.change(&step.change)? {
            Some(undo) => Ok(lock(&self.steps).add(step, undo)),
            // The book has it already: undo would do nothing.
            None => Ok(false),
        }
    }

    /// Undoes the last change of a page and returns its description; `None` if there is
    /// none. A step that cannot be undone stays.
    pub(super) fn undo(&self, client: &str) -> Result<Option<Message>, Message> {
        let _changing = lock(&self.changing);
        let last = {
            let mut steps = lock(&self.steps);
            let at = steps
                .made
                .iter()
                .rposition(|(step, _)| step.client == client);
            at.map(|at| (at, steps.made.remove(at)))
        };
        let Some((at, (step, undo))) = last else {
            return Ok(None);
        };
        let undone = self.file.undo(&step.change, &undo);
        let mut steps = lock(&self.steps);
        if let Err(error) = undone {
            // No other change is possible meanwhile, so its index is the same.
            steps.made.insert(at, (step, undo));
            return Err(error);
        }
        let description = step.description.clone();
        steps.undone.push(step);
        Ok(Some(description))
    }

    /// Redoes the last undone change of a page, if there is one; returns whether undo takes it
    /// back alone.
    pub(super) fn redo(&self, client: &str) -> Result<bool, Message> {
        let _changing = lock(&self.changing);
        let last = {
            let steps = lock(&self.steps);
            let mut undone = steps.undone.iter().enumerate();
            let last = undone.rfind(|(_, step)| step.client == client);
            last.map(|(at, step)| (at, step.clone()))
        };
        let Some((at, step)) = last else {
            return Ok(false);
        };
        let is_new = self.make(step)?;
        lock(&self.steps).undone.remove(at);
        Ok(is_new)
    }

    pub(super) fn undoable(&self, client: &str) -> Undoable {
        let steps = lock(&self.steps);
        let made = steps.made.iter().map(|(step, _)| step);
        let mut made = made.filter(|step| step.client == client);
        let last = made.next_back();
        let undone = steps.undone.iter();
        Undoable {
            undo: made.count() + usize::from(last.is_some()),
            redo: undone.filter(|step| step.client == client).count(),
            last_change: last.map(|step| step.description.clone()),
        }
    }
}

impl Steps {
    /// Adds a change that was made, or lengthens the last one if it is of the same gesture;
    /// returns whether it was added. Drops the oldest if there are too many.
    fn add(&mut self, step: RecordedChange, undo: Undo) -> bool {
        if let Some((last, Undo::Marks(_))) = self.made.last_mut()
            && step.gesture.is_some()
            && (&last.gesture, &last.client) == (&step.gesture, &step.client)
        {
            // Undo brings the value before the first one back.
            *last = step;
            return false;
        }
        let is_rewrite = |(_, undo): &(RecordedChange, Undo)| matches!(undo, Undo::Files { .. });
        self.made.push((step, undo));
        if self.made.iter().filter(|made| is_rewrite(made)).count() > MOST_REWRITES {
            // Without the oldest rewrite no step before it can be undone.
            let oldest = self.made.iter().position(is_rewrite);
            self.made.drain(..=oldest.unwrap_or_default());
        }
        if self.made.len() > MOST_STEPS {
            self.made.remove(0);
        }
        true
    }
}

/// The running count of each page, with what stops it.
#[derive(Default)]
struct Counts(Mutex<HashMap<String, Arc<AtomicBool>>>);

impl Counts {
    /// Counts, and stops the last count of this page, whose result is no longer needed.
    fn count<T>(&self, client: &str, count: impl FnOnce(&AtomicBool) -> T) -> T {
        let stop = Arc::<AtomicBool>::default();
        let last = lock(&self.0).insert(client.to_owned(), Arc::clone(&stop));
        if let Some(last) = last {
            last.store(true, Ordering::Relaxed);
        }
        let counted = count(&stop);
        lock(&self.0).retain(|_, other| !Arc::ptr_eq(other, &stop));
        counted
    }
}

/// The value of a move that a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EditKind {
    Mark,
    Annotation,
    #[serde(alias = "factor")]
    LearnValue,
    Commentary,
    Weight,
}

impl EditKind {
    /// The name of a change to a move or to a line, for undo.
    pub(super) fn description(self, name: String, value: &str) -> Message {
        let value = Message::from(value);
        match self {
            EditKind::Mark => translatable!("{0}: mark {1}", name, value),
            EditKind::Annotation => translatable!("{0}: annotation {1}", name, value),
            EditKind::LearnValue => translatable!("{0}: learn value {1}", name, value),
            EditKind::Commentary => translatable!("{0}: commentary {1}", name, value),
            EditKind::Weight => translatable!("{0}: weight {1}", name, value),
        }
    }
}

/// Parses a value that the page sends; weights go up to `most_weight`.
pub(super) fn parse_edit(
    kind: EditKind,
    value: &str,
    most_weight: u16,
) -> Result<MarkEdit, Message> {
    let mut edit = MarkEdit::default();
    match kind {
        EditKind::Mark => {
            let mark = words::mark(value).ok_or("a mark is main, avoid or none")?;
            edit.recommendation = Some(mark);
        }
        EditKind::Annotation => {
            let annotation = Annotation::from_symbol(value);
            let annotation = annotation.ok_or("an annotation is ! ? !! ?? !? ?! or none")?;
            edit.annotation = Some(annotation);
        }
        EditKind::LearnValue => {
            let value = value.parse().ok();
            let value = value.filter(|value| (-125..=125).contains(value));
            let range = || {
                translatable!(
                    "a learn value is a whole number from {0} to {1}",
                    "-125",
                    "125"
                )
            };
            edit.learn_value = Some(value.ok_or_else(range)?);
        }
        EditKind::Weight => {
            let value = value.parse().ok().filter(|value| *value <= most_weight);
            let most = most_weight.to_string();
            let range = || translatable!("a weight is a whole number from {0} to {1}", "0", most);
            edit.weight = Some(value.ok_or_else(range)?);
        }
        EditKind::Commentary => {
            let nag = words::commentary(value);
            let nag =
                nag.ok_or("a commentary is = += =+ +/- -/+ +- -+ unclear, none or a number")?;
            edit.commentary = Some(nag);
        }
    }
    Ok(edit)
}

#[cfg(test)]
mod tests;
