//! Changes of a book that were interrupted: what is reported of them, and how they are
//! completed.

use std::path::Path;

use super::journal::{self, Examined, State};
use crate::ctg::lock;
use crate::{Error, Format};
use tabia_io::atomic::{self, InterruptedSet, SetState};

/// An interrupted change of marks that is not completely in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// The next change of the book completes it first.
    Interrupted(MarksLeft),
    /// The book was restored or copied since: somebody has to decide.
    Restored(MarksLeft),
    /// The book was changed since so that it does not fit any more.
    Other(MarksLeft),
}

/// Numbers of an interrupted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarksLeft {
    /// Marks of the change.
    pub marks: u64,
    /// Marks that are not in the book yet.
    pub left: u64,
}

/// What to do with an interrupted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolve {
    /// Make it.
    Apply,
    /// Forget it.
    Drop,
}

impl Pending {
    /// `None` if the whole change is in the book.
    pub(super) fn from_examined(examined: Examined) -> Option<Pending> {
        let Examined { state, marks, left } = examined;
        let numbers = MarksLeft { marks, left };
        match state {
            State::Interrupted => (left > 0).then_some(Pending::Interrupted(numbers)),
            State::Restored => Some(Pending::Restored(numbers)),
            State::Other => Some(Pending::Other(numbers)),
        }
    }

    /// The interrupted change of a book; `None` if there is none, or if its program still
    /// runs. Nothing is changed.
    ///
    /// # Errors
    ///
    /// The book or the journal beside it cannot be read.
    pub fn of_file(path: &Path) -> Result<Option<Pending>, Error> {
        if !journal::path_of(path).exists() || lock::is_held(path) {
            return Ok(None);
        }
        let examined = journal::examine(path, Format::recognize(path)?)?;
        Ok(examined.and_then(Pending::from_examined))
    }

    /// One sentence for programs that read the book.
    fn notice(self, path: &Path) -> String {
        let path = path.display();
        match self {
            Pending::Interrupted(MarksLeft { marks, left }) => format!(
                "{path}: a change of {} was interrupted: {left} of them {} not in the book yet; \
                 the next change of the book completes it (or `tabia mark {path} --pending apply`)",
                count(marks),
                are(left)
            ),
            Pending::Restored(_) | Pending::Other(_) => {
                format!("{path}: {}", self.refusal(&path.to_string()))
            }
        }
    }

    /// Why the book is not changed, and what can be done.
    pub(super) fn refusal(self, path: &str) -> String {
        let drop = format!("`tabia mark {path} --pending drop` forgets it");
        match self {
            Pending::Interrupted(MarksLeft { marks, left }) => format!(
                "a change of {} was interrupted: {left} of them {} not in the book yet",
                count(marks),
                are(left)
            ),
            Pending::Restored(MarksLeft { marks, left }) => format!(
                "a change of {} was interrupted, and the book has been restored or copied since: \
                 {left} of them {} not in it; `tabia mark {path} --pending apply` makes it, {drop}",
                count(marks),
                are(left)
            ),
            Pending::Other(MarksLeft { marks, .. }) => format!(
                "a change of {} was interrupted, and the book has been changed since: the rest of \
                 it does not fit any more; {drop}",
                count(marks)
            ),
        }
    }
}

pub(super) fn count(marks: u64) -> String {
    match marks {
        1 => "1 mark".to_owned(),
        marks => format!("{marks} marks"),
    }
}

const fn are(left: u64) -> &'static str {
    match left {
        1 => "is",
        _ => "are",
    }
}

/// Unfinished changes of a book, one sentence each; for programs that only read it.
#[must_use]
pub fn pending_changes(path: &Path) -> Vec<String> {
    let sets = atomic::interrupted(path);
    let mut notices: Vec<String> = sets.iter().map(|set| interrupted(path, set)).collect();
    match Pending::of_file(path) {
        Ok(pending) => notices.extend(pending.map(|pending| pending.notice(path))),
        Err(error) => notices.push(error.to_string()),
    }
    notices
}

/// Completes an interrupted replacement of a book, or takes it back, and returns one
/// sentence for each; for programs that may write. Nothing happens to a sound book.
///
/// # Errors
///
/// The folder of the book cannot be written.
pub fn settle(path: &Path) -> Result<Vec<String>, Error> {
    // A backup may have been cut short, too.
    atomic::settle(&atomic::backup_of(path))?;
    let settled = atomic::settle(path)?;
    Ok(settled.iter().map(|set| done(path, set)).collect())
}

fn interrupted(path: &Path, set: &InterruptedSet) -> String {
    let (path, folder, files) = (path.display(), set.folder.display(), set.away.join(", "));
    match set.state {
        SetState::OldFile => format!(
            "{path}: a replacement of this book was interrupted: the old book is in place, and \
             {files} of it in {folder}; the next change of the book puts them back"
        ),
        SetState::NewFile => format!(
            "{path}: a replacement of this book was interrupted: the new book is in place, and \
             {files} in {folder}; the next change of the book puts them in place"
        ),
        SetState::OtherFile => format!(
            "{path}: a replacement of this book was interrupted, and the book has been changed \
             since; what is left of it is in {folder}, and `tabia mark {path} --pending drop` \
             deletes it; `tabia compact` writes a new index if the book has none"
        ),
    }
}

fn done(path: &Path, set: &InterruptedSet) -> String {
    let files = set.away.join(", ");
    match set.state {
        SetState::OldFile => format!(
            "{}: an interrupted replacement was undone: {files} of the old book \
             put back",
            path.display()
        ),
        SetState::NewFile => format!(
            "{}: an interrupted replacement was completed: {files} put in place",
            path.display()
        ),
        SetState::OtherFile => interrupted(path, set),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs that read the book say what was interrupted, and name what helps.
    #[test]
    fn what_is_interrupted_is_said_with_its_book() {
        let path = Path::new("x.ctg");
        let left = |marks, left| MarksLeft { marks, left };
        for (pending, start, help) in [
            (
                Pending::Interrupted(left(1, 1)),
                "x.ctg: a change of 1 mark was interrupted: 1 of them is not in the book yet",
                "--pending apply",
            ),
            (
                Pending::Interrupted(left(9, 2)),
                "x.ctg: a change of 9 marks was interrupted: 2 of them are not in the book yet",
                "--pending apply",
            ),
            (
                Pending::Restored(left(9, 9)),
                "x.ctg: a change of 9 marks was interrupted, and the book has been restored",
                "--pending drop",
            ),
            (
                Pending::Other(left(9, 3)),
                "x.ctg: a change of 9 marks was interrupted, and the book has been changed",
                "--pending drop",
            ),
        ] {
            let text = pending.notice(path);
            assert!(text.starts_with(start), "{text}");
            let help = format!("`tabia mark x.ctg {help}`");
            assert!(text.contains(&help), "{text}");
        }
        for (state, start) in [
            (
                SetState::OldFile,
                "interrupted: the old book is in place, and x.cto, x.ctb of it",
            ),
            (
                SetState::NewFile,
                "interrupted: the new book is in place, and x.cto, x.ctb in",
            ),
            (
                SetState::OtherFile,
                "interrupted, and the book has been changed since",
            ),
        ] {
            let set = InterruptedSet {
                state,
                folder: "away".into(),
                away: vec!["x.cto".to_owned(), "x.ctb".to_owned()],
            };
            let text = interrupted(path, &set);
            let start = format!("x.ctg: a replacement of this book was {start}");
            assert!(text.starts_with(&start) && text.contains("away"), "{text}");
        }
    }
}
