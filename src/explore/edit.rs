//! Changes to a book, one at a time, each of which can be taken back.

use std::sync::{Mutex, PoisonError};

use shakmaty::{Chess, Move};

use crate::book::Annotation;
use crate::book::ctg::MarkEdit;
use crate::mark::words;

/// Steps that can be taken back; the oldest is forgotten first.
const MOST_STEPS: usize = 1000;

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
    fn change(
        &self,
        position: &Chess,
        mv: Move,
        change: &MarkEdit,
    ) -> Result<Option<Undo>, EditError>;
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
        change: &MarkEdit,
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
pub(super) fn read_change(kind: &str, value: &str) -> Result<MarkEdit, String> {
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
            let value = value.ok_or("a learn value is a whole number from -125 to 125")?;
            edit.factor = Some(value);
        }
        _ => return Err("mark, annotation and factor can be changed".to_owned()),
    }
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Mark;
    use shakmaty::Position;
    use std::sync::Arc;

    /// Keeps the last mark in memory.
    struct Memory(Arc<Mutex<Vec<MarkEdit>>>);

    fn mark(mark: Mark) -> MarkEdit {
        MarkEdit {
            recommendation: Some(mark),
            ..MarkEdit::default()
        }
    }

    fn value(factor: i8) -> MarkEdit {
        MarkEdit {
            factor: Some(factor),
            ..MarkEdit::default()
        }
    }

    fn sign(annotation: Annotation) -> MarkEdit {
        MarkEdit {
            annotation: Some(annotation),
            ..MarkEdit::default()
        }
    }

    impl Editor for Memory {
        fn change(&self, _: &Chess, _: Move, change: &MarkEdit) -> Result<Option<Undo>, EditError> {
            if *change == value(1) {
                return Err(EditError("no".into()));
            }
            self.0.lock().unwrap().push(*change);
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
        let make = |change: MarkEdit, what: &str| desk.change(&start, mv, &change, what.to_owned());
        make(mark(Mark::Main), "first").unwrap();
        make(value(5), "second").unwrap();
        assert!(make(value(1), "refused").is_err());
        assert_eq!(desk.last(), (2, Some("second".into())));
        assert_eq!(desk.undo().unwrap().as_deref(), Some("second"));
        assert_eq!(*list.lock().unwrap(), [mark(Mark::Main)]);
        assert_eq!(desk.undo().unwrap().as_deref(), Some("first"));
        assert_eq!(desk.undo().unwrap(), None);
    }

    #[test]
    fn only_known_words_are_changes() {
        assert_eq!(read_change("mark", "avoid"), Ok(mark(Mark::Avoid)));
        assert_eq!(
            read_change("annotation", "?!"),
            Ok(sign(Annotation::DUBIOUS))
        );
        assert_eq!(read_change("annotation", "none"), Ok(sign(Annotation(0))));
        assert_eq!(read_change("factor", "-125"), Ok(value(-125)));
        for (kind, value) in [
            ("mark", "blue"),
            ("annotation", "!!!"),
            ("annotation", "32"),
            ("factor", "126"),
            ("factor", "x"),
            ("file", "/etc/passwd"),
        ] {
            assert!(read_change(kind, value).is_err(), "{kind} {value}");
        }
    }
}
