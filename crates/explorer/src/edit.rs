//! Changes to a book, one at a time, each of which can be undone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use shakmaty::{Chess, Move};

use super::message::{Message, message};

use tabia_book::Annotation;
use tabia_book::MarkEdit;
use tabia_book::mark::words;
use tabia_notation::Line;

/// Greatest number of undo steps; the oldest is dropped first.
const MOST_STEPS: usize = 1000;

/// Greatest number of these steps for which an old book is stored on disk.
const MOST_REWRITES: usize = 20;

/// A change that could not be made. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MarkerError(pub Message);

pub(super) fn failed(error: impl std::error::Error) -> MarkerError {
    MarkerError(error.to_string().into())
}

/// Undoes one change.
pub type Undo = Box<dyn Fn() -> Result<(), MarkerError> + Send>;

/// Writes changes to the file of a book safely: after a crash the book is in its old or
/// its new state.
pub trait BookMarker: Send + Sync {
    /// The greatest weight in a book that has one weight for each move and no marks;
    /// `None` for a book with marks, to which lines can be added.
    fn most_weight(&self) -> Option<u16> {
        None
    }

    /// Changes the values of moves, each in its position, and returns how to undo it;
    /// `None` if nothing changes. `seen` is what the page showed before.
    ///
    /// # Errors
    ///
    /// The book does not have one of the moves, has other values than the page showed, or
    /// cannot be written.
    fn change(
        &self,
        moves: &[(Chess, Move)],
        edit: &MarkEdit,
        seen: Option<&MarkEdit>,
    ) -> Result<Option<Undo>, MarkerError>;

    /// Adds lines, with the annotations of their moves as for [`build::write_lines`].
    ///
    /// # Errors
    ///
    /// The book cannot store a move, or cannot be written.
    ///
    /// [`build::write_lines`]: tabia_build::write_lines
    fn add(&self, lines: &[(Line, Vec<(usize, u8)>)]) -> Result<Option<Undo>, MarkerError>;

    /// Number of positions that [`BookMarker::remove`] would delete. Nothing is written;
    /// counting stops when `stop` is true.
    ///
    /// # Errors
    ///
    /// The book does not have a line, cannot be read, or `stop` became true.
    fn count_removed(&self, lines: &[Line], stop: &AtomicBool) -> Result<u64, MarkerError>;

    /// Deletes the last move of each line, and positions that can no longer be reached.
    ///
    /// # Errors
    ///
    /// The book does not have a line, or cannot be written.
    fn remove(&self, lines: &[Line]) -> Result<Option<Undo>, MarkerError>;
}

/// An editor with the steps made so far.
pub(super) struct Edits {
    editor: Box<dyn BookMarker>,
    /// Locked during a change: other changes wait.
    at_work: Mutex<()>,
    /// Locked only briefly, so that reading never waits for a change.
    steps: Mutex<Steps>,
    /// Stops the counts of each page.
    counting: Mutex<HashMap<String, Arc<AtomicBool>>>,
}

#[derive(Default)]
struct Steps {
    made: Vec<Step>,
    /// Undone changes that can be redone, oldest first.
    taken_back: Vec<Change>,
}

/// A change that was made, with its undo.
struct Step {
    change: Change,
    undo: Undo,
}

/// A change: the page that asked for it, and what it does.
#[derive(Clone)]
pub(super) struct Change {
    /// The page that requested it; each page can only undo its own changes.
    pub(super) client: String,
    pub(super) kind: ChangeKind,
    /// A description for users.
    pub(super) what: Message,
}

/// The kind of a change.
#[derive(Clone)]
pub(super) enum ChangeKind {
    /// Mark moves.
    Mark {
        moves: Vec<(Chess, Move)>,
        edit: MarkEdit,
        seen: Option<MarkEdit>,
    },
    /// Add lines with annotations.
    Add(Vec<(Line, Vec<(usize, u8)>)>),
    /// Delete the last moves of these lines.
    Remove(Vec<Line>),
}

impl ChangeKind {
    /// Whether the whole book is rewritten, and the old one stored for undo.
    const fn rewrites(&self) -> bool {
        !matches!(self, ChangeKind::Mark { .. })
    }
}

/// What a page can undo and redo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct History {
    pub(super) undo: usize,
    pub(super) redo: usize,
    pub(super) last_change: Option<Message>,
}

impl Edits {
    pub(super) fn new(editor: Box<dyn BookMarker>) -> Edits {
        Edits {
            editor,
            at_work: Mutex::default(),
            steps: Mutex::default(),
            counting: Mutex::default(),
        }
    }

    /// See [`BookMarker::most_weight`].
    pub(super) fn most_weight(&self) -> Option<u16> {
        self.editor.most_weight()
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> MutexGuard<'_, ()> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of positions that a deletion would remove. A new count of a page stops its
    /// last one, whose result is no longer needed.
    pub(super) fn count_removed(&self, client: &str, lines: &[Line]) -> Result<u64, MarkerError> {
        let stop = Arc::<AtomicBool>::default();
        let counting = || self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        let last = counting().insert(client.to_owned(), Arc::clone(&stop));
        if let Some(last) = last {
            last.store(true, Ordering::Relaxed);
        }
        let counted = self.editor.count_removed(lines, &stop);
        counting().retain(|_, other| !Arc::ptr_eq(other, &stop));
        counted
    }

    /// Makes a change, after other changes have ended.
    pub(super) fn change(&self, change: Change) -> Result<(), MarkerError> {
        let _at_work = self.work();
        let client = change.client.clone();
        self.make(change)?;
        self.steps().taken_back.retain(|old| old.client != client);
        Ok(())
    }

    /// Makes a change; the caller has locked `at_work`.
    fn make(&self, change: Change) -> Result<(), MarkerError> {
        let done = match &change.kind {
            ChangeKind::Mark { moves, edit, seen } => {
                self.editor.change(moves, edit, seen.as_ref())?
            }
            ChangeKind::Add(lines) => self.editor.add(lines)?,
            ChangeKind::Remove(lines) => self.editor.remove(lines)?,
        };
        let Some(undo) = done else {
            return Ok(());
        };
        let mut steps = self.steps();
        let made = steps.made.iter();
        if change.kind.rewrites()
            && made.filter(|step| step.change.kind.rewrites()).count() >= MOST_REWRITES
        {
            // Steps up to the oldest of them cannot be undone without it.
            let oldest = steps
                .made
                .iter()
                .position(|step| step.change.kind.rewrites());
            steps.made.drain(..=oldest.unwrap_or_default());
        }
        if steps.made.len() >= MOST_STEPS {
            steps.made.remove(0);
        }
        steps.made.push(Step { change, undo });
        Ok(())
    }

    /// Undoes the last change of a page and returns its description; `None` if there is
    /// none. A step that cannot be undone stays.
    pub(super) fn undo(&self, client: &str) -> Result<Option<Message>, MarkerError> {
        let _at_work = self.work();
        let of_client = |step: &Step| step.change.client == client;
        let taken = {
            let mut steps = self.steps();
            let at = steps.made.iter().rposition(of_client);
            at.map(|at| (at, steps.made.remove(at)))
        };
        let Some((at, step)) = taken else {
            return Ok(None);
        };
        let undone = (step.undo)();
        let mut steps = self.steps();
        if let Err(error) = undone {
            // No other change is possible meanwhile, so its index is the same.
            steps.made.insert(at, step);
            return Err(error);
        }
        let what = step.change.what.clone();
        steps.taken_back.push(step.change);
        Ok(Some(what))
    }

    /// Redoes the last undone change.
    pub(super) fn redo(&self, client: &str) -> Result<Option<Message>, MarkerError> {
        let _at_work = self.work();
        let known = {
            let steps = self.steps();
            let mut old = steps.taken_back.iter();
            let at = old.rposition(|change| change.client == client);
            at.and_then(|at| Some((at, steps.taken_back.get(at)?.clone())))
        };
        let Some((at, change)) = known else {
            return Ok(None);
        };
        let what = change.what.clone();
        self.make(change)?;
        self.steps().taken_back.remove(at);
        Ok(Some(what))
    }

    /// What a page can undo and redo.
    pub(super) fn history(&self, client: &str) -> History {
        let steps = self.steps();
        let made = || {
            steps
                .made
                .iter()
                .filter(|step| step.change.client == client)
        };
        let taken_back = steps.taken_back.iter();
        History {
            undo: made().count(),
            redo: taken_back.filter(|change| change.client == client).count(),
            last_change: made().next_back().map(|step| step.change.what.clone()),
        }
    }
}

/// Parses a change that the page sends; weights go up to `most_weight`.
pub(super) fn read_change(kind: &str, value: &str, most_weight: u16) -> Result<MarkEdit, Message> {
    let mut edit = MarkEdit::default();
    match kind {
        "mark" => {
            let mark = words::mark(value).ok_or("a mark is main, avoid or none")?;
            edit.recommendation = Some(mark);
        }
        "annotation" => {
            let sign = Annotation::from_symbol(value);
            let sign = sign.ok_or("an annotation is ! ? !! ?? !? ?! or none")?;
            edit.annotation = Some(sign);
        }
        "factor" => {
            let value = value.parse().ok();
            let value = value.filter(|value| (-125..=125).contains(value));
            let range = || {
                message!(
                    "a learn value is a whole number from {0} to {1}",
                    "-125",
                    "125"
                )
            };
            let value = value.ok_or_else(range)?;
            edit.learn_value = Some(value);
        }
        "weight" => {
            let value = value.parse().ok().filter(|value| *value <= most_weight);
            let most = most_weight.to_string();
            let range = || message!("a weight is a whole number from {0} to {1}", "0", most);
            edit.weight = Some(value.ok_or_else(range)?);
        }
        "commentary" => {
            let nag = words::commentary(value);
            let nag =
                nag.ok_or("a commentary is = += =+ +/- -/+ +- -+ unclear, none or a number")?;
            edit.commentary = Some(nag);
        }
        _ => {
            let known = "mark, annotation, factor, commentary and weight can be changed";
            return Err(known.into());
        }
    }
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Position;
    use tabia_book::Mark;

    /// Stores the last mark in memory.
    struct Memory(Arc<Mutex<Vec<MarkEdit>>>);

    fn mark(mark: Mark) -> MarkEdit {
        MarkEdit {
            recommendation: Some(mark),
            ..MarkEdit::default()
        }
    }

    fn value(learn_value: i8) -> MarkEdit {
        MarkEdit {
            learn_value: Some(learn_value),
            ..MarkEdit::default()
        }
    }

    fn sign(annotation: Annotation) -> MarkEdit {
        MarkEdit {
            annotation: Some(annotation),
            ..MarkEdit::default()
        }
    }

    impl BookMarker for Memory {
        fn add(&self, _: &[(Line, Vec<(usize, u8)>)]) -> Result<Option<Undo>, MarkerError> {
            Ok(Some(Box::new(|| Ok(()))))
        }

        fn count_removed(&self, _: &[Line], _: &AtomicBool) -> Result<u64, MarkerError> {
            Ok(0)
        }

        fn remove(&self, _: &[Line]) -> Result<Option<Undo>, MarkerError> {
            Ok(None)
        }

        fn change(
            &self,
            _: &[(Chess, Move)],
            change: &MarkEdit,
            seen: Option<&MarkEdit>,
        ) -> Result<Option<Undo>, MarkerError> {
            if seen.is_some() {
                return Err(MarkerError("no".into()));
            }
            let change = *change;
            self.0.lock().unwrap().push(change);
            let list = Arc::clone(&self.0);
            Ok(Some(Box::new(move || {
                let mut list = list.lock().unwrap();
                let last = list.pop_if(|last| *last == change);
                let changed = || MarkerError("changed since".into());
                last.map(|_| ()).ok_or_else(changed)
            })))
        }
    }

    #[test]
    fn each_page_takes_back_its_own_steps_and_does_them_again() {
        let list = Arc::new(Mutex::new(Vec::new()));
        let edits = Edits::new(Box::new(Memory(Arc::clone(&list))));
        let start = Chess::default();
        let mv = start.legal_moves()[0];
        let make_seen = |client: &str, edit: MarkEdit, seen, what: &str| {
            let change = Change {
                client: client.to_owned(),
                kind: ChangeKind::Mark {
                    moves: vec![(start.clone(), mv)],
                    edit,
                    seen,
                },
                what: what.into(),
            };
            edits.change(change)
        };
        let make = |client: &str, edit, what: &str| make_seen(client, edit, None, what);
        make("a", mark(Mark::Main), "first").unwrap();
        make("a", value(5), "second").unwrap();
        assert!(make_seen("a", value(1), Some(value(2)), "refused").is_err());
        assert_eq!(edits.history("a").last_change, Some("second".into()));
        assert_eq!(edits.history("b"), History::default());
        assert_eq!(edits.undo("b").unwrap(), None);
        list.lock().unwrap().push(value(7));
        assert!(edits.undo("a").is_err());
        list.lock().unwrap().pop();
        let undo = || edits.undo("a").unwrap();
        assert_eq!(undo(), Some("second".into()));
        assert_eq!(*list.lock().unwrap(), [mark(Mark::Main)]);
        assert_eq!(undo(), Some("first".into()));
        assert_eq!(undo(), None);
        assert_eq!(edits.redo("b").unwrap(), None);
        assert_eq!(edits.redo("a").unwrap(), Some("first".into()));
        assert_eq!(*list.lock().unwrap(), [mark(Mark::Main)]);
        assert_eq!((edits.history("a").undo, edits.history("a").redo), (1, 1));
        // A new change removes the redo steps.
        make("a", value(9), "third").unwrap();
        assert_eq!(edits.redo("a").unwrap(), None);
    }

    #[test]
    fn the_number_of_stored_old_books_is_limited() {
        let edits = Edits::new(Box::new(Memory(Arc::default())));
        let made = |kind: ChangeKind| {
            let change = Change {
                client: "a".to_owned(),
                kind,
                what: Message::default(),
            };
            edits.change(change).unwrap();
        };
        for _ in 0..MOST_REWRITES + 5 {
            made(ChangeKind::Add(Vec::new()));
        }
        assert_eq!(edits.history("a").undo, MOST_REWRITES);
        // A change without effect is no step.
        made(ChangeKind::Remove(Vec::new()));
        assert_eq!(edits.history("a").undo, MOST_REWRITES);
    }

    /// A counter that runs until it is stopped, or has finished.
    struct Counter {
        begun: std::sync::mpsc::SyncSender<()>,
    }

    impl BookMarker for Counter {
        fn add(&self, _: &[(Line, Vec<(usize, u8)>)]) -> Result<Option<Undo>, MarkerError> {
            Ok(None)
        }

        fn count_removed(&self, lines: &[Line], stop: &AtomicBool) -> Result<u64, MarkerError> {
            if lines.is_empty() {
                return Ok(3);
            }
            self.begun.send(()).unwrap();
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Err(MarkerError("stopped".into()))
        }

        fn remove(&self, _: &[Line]) -> Result<Option<Undo>, MarkerError> {
            Ok(None)
        }

        fn change(
            &self,
            _: &[(Chess, Move)],
            _: &MarkEdit,
            _: Option<&MarkEdit>,
        ) -> Result<Option<Undo>, MarkerError> {
            Ok(None)
        }
    }

    #[test]
    fn a_page_counts_once_at_a_time() {
        let (begun, has_begun) = std::sync::mpsc::sync_channel(0);
        let edits = Edits::new(Box::new(Counter { begun }));
        let long = [Line::default()];
        std::thread::scope(|scope| {
            let [a, b] = ["a", "b"].map(|client| {
                let counting = scope.spawn(|| edits.count_removed(client, &long));
                has_begun.recv().unwrap();
                counting
            });
            assert_eq!(edits.count_removed("a", &[]), Ok(3));
            assert!(a.join().unwrap().is_err());
            assert!(!b.is_finished());
            assert_eq!(edits.count_removed("b", &[]), Ok(3));
            assert!(b.join().unwrap().is_err());
        });
        assert!(edits.counting.lock().unwrap().is_empty());
    }

    #[test]
    fn only_known_words_are_changes() {
        assert_eq!(
            read_change("mark", "avoid", u16::MAX),
            Ok(mark(Mark::Avoid))
        );
        assert_eq!(
            read_change("annotation", "?!", u16::MAX),
            Ok(sign(Annotation::DUBIOUS))
        );
        assert_eq!(
            read_change("annotation", "none", u16::MAX),
            Ok(sign(Annotation(0)))
        );
        assert_eq!(read_change("factor", "-125", u16::MAX), Ok(value(-125)));
        for (kind, value) in [
            ("mark", "blue"),
            ("annotation", "!!!"),
            ("annotation", "32"),
            ("factor", "126"),
            ("factor", "x"),
            ("weight", "-1"),
            ("weight", "65536"),
            ("file", "/etc/passwd"),
        ] {
            assert!(
                read_change(kind, value, u16::MAX).is_err(),
                "{kind} {value}"
            );
        }
    }
}
