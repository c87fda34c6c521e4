//! Changes to a book, one at a time, each of which can be taken back.

use std::sync::{Mutex, PoisonError};

use shakmaty::{Chess, Move};

use crate::book::{Annotation, Mark};

/// Steps that can be taken back; the oldest is forgotten first.
const MOST_STEPS: usize = 1000;

/// What can be changed about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The colour of the move.
    Mark(Mark),
    /// The sign behind the move.
    Annotation(Annotation),
    /// The learn value, seen from the player of the move: -125 to 125.
    Factor(i8),
}

/// A change that could not be made. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EditError(pub String);

/// Takes one change back.
pub type Undo = Box<dyn Fn() -> Result<(), EditError> + Send>;

/// Writes changes to the file of a book, safely: a crash leaves the book as
/// it was before or as it is after.
pub trait Editor: Send + Sync {
    /// Changes what the book says about a move in a position, and returns
    /// the way back; `None` when there was nothing to change.
    ///
    /// # Errors
    ///
    /// The book does not hold the move, or cannot be written.
    fn change(&self, position: &Chess, mv: Move, change: Change)
    -> Result<Option<Undo>, EditError>;
}

/// An editor with the steps made so far.
pub(super) struct Desk {
    editor: Box<dyn Editor>,
    steps: Mutex<Vec<Step>>,
}

/// A change that was made.
struct Step {
    what: String,
    undo: Undo,
}

impl Desk {
    pub(super) fn new(editor: Box<dyn Editor>) -> Desk {
        Desk {
            editor,
            steps: Mutex::default(),
        }
    }

    /// Makes a change; `what` describes it for people. One change at a time:
    /// others wait.
    pub(super) fn change(
        &self,
        position: &Chess,
        mv: Move,
        change: Change,
        what: String,
    ) -> Result<(), EditError> {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(undo) = self.editor.change(position, mv, change)? else {
            return Ok(());
        };
        if steps.len() >= MOST_STEPS {
            steps.remove(0);
        }
        steps.push(Step { what, undo });
        Ok(())
    }

    /// Takes the last change back and tells which it was; `None` when there
    /// is none. A step that cannot be taken back stays.
    pub(super) fn undo(&self) -> Result<Option<String>, EditError> {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(step) = steps.last() else {
            return Ok(None);
        };
        (step.undo)()?;
        Ok(steps.pop().map(|step| step.what))
    }

    /// How many changes can be taken back, and the last of them.
    pub(super) fn last(&self) -> (usize, Option<String>) {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        (steps.len(), steps.last().map(|step| step.what.clone()))
    }
}

/// Reads a change from the words of the page.
pub(super) fn read_change(kind: &str, value: &str) -> Result<Change, String> {
    match (kind, value) {
        ("mark", "main") => Ok(Change::Mark(Mark::Main)),
        ("mark", "avoid") => Ok(Change::Mark(Mark::Avoid)),
        ("mark", "none") => Ok(Change::Mark(Mark::None)),
        ("mark", _) => Err("a mark is main, avoid or none".to_owned()),
        ("annotation", _) => annotation(value)
            .map(Change::Annotation)
            .ok_or_else(|| "an annotation is ! ? !! ?? !? ?! or none".to_owned()),
        ("factor", _) => value
            .parse()
            .ok()
            .filter(|factor| (-125..=125).contains(factor))
            .map(Change::Factor)
            .ok_or_else(|| "a factor is a whole number from -125 to 125".to_owned()),
        _ => Err("mark, annotation and factor can be changed".to_owned()),
    }
}

fn annotation(symbol: &str) -> Option<Annotation> {
    match symbol {
        "none" | "" => Some(Annotation::default()),
        _ => [
            Annotation::GOOD,
            Annotation::MISTAKE,
            Annotation::BRILLIANT,
            Annotation::BLUNDER,
            Annotation::INTERESTING,
            Annotation::DUBIOUS,
            Annotation::ONLY_MOVE,
        ]
        .into_iter()
        .find(|known| known.symbol() == symbol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Position;
    use std::sync::Arc;

    /// Keeps the last mark in memory.
    struct Memory(Arc<Mutex<Vec<Change>>>);

    impl Editor for Memory {
        fn change(&self, _: &Chess, _: Move, change: Change) -> Result<Option<Undo>, EditError> {
            if change == Change::Factor(1) {
                return Err(EditError("no".into()));
            }
            self.0.lock().unwrap().push(change);
            let list = Arc::clone(&self.0);
            Ok(Some(Box::new(move || {
                list.lock().unwrap().pop();
                Ok(())
            })))
        }
    }

    #[test]
    fn steps_are_taken_back_in_reverse_order() {
        let list = Arc::new(Mutex::new(Vec::new()));
        let desk = Desk::new(Box::new(Memory(Arc::clone(&list))));
        let start = Chess::default();
        let mv = start.legal_moves()[0];
        let make = |change, what: &str| desk.change(&start, mv, change, what.to_owned());
        make(Change::Mark(Mark::Main), "first").unwrap();
        make(Change::Factor(5), "second").unwrap();
        assert!(make(Change::Factor(1), "refused").is_err());
        assert_eq!(desk.last(), (2, Some("second".into())));
        assert_eq!(desk.undo().unwrap().as_deref(), Some("second"));
        assert_eq!(*list.lock().unwrap(), [Change::Mark(Mark::Main)]);
        assert_eq!(desk.undo().unwrap().as_deref(), Some("first"));
        assert_eq!(desk.undo().unwrap(), None);
    }

    #[test]
    fn only_known_words_are_changes() {
        assert_eq!(read_change("mark", "avoid"), Ok(Change::Mark(Mark::Avoid)));
        assert_eq!(
            read_change("annotation", "?!"),
            Ok(Change::Annotation(Annotation::DUBIOUS))
        );
        assert_eq!(
            read_change("annotation", "none"),
            Ok(Change::Annotation(Annotation(0)))
        );
        assert_eq!(read_change("factor", "-125"), Ok(Change::Factor(-125)));
        for (kind, value) in [
            ("mark", "green"),
            ("annotation", "!!!"),
            ("factor", "126"),
            ("factor", "x"),
            ("file", "/etc/passwd"),
        ] {
            assert!(read_change(kind, value).is_err(), "{kind} {value}");
        }
    }
}
