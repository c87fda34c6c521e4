//! Marks put into a book.

use std::io;
use std::path::{Path, PathBuf};

use super::keyed;
use super::named::{admits, leads_out};
use super::select::{Selection, select};
use super::tell::{Told, tell};
use crate::ctg::{Applied, EditError, EditOptions, Editor, EntryChange, Error};
use crate::{BookEditor, Field, Format, MarkEdit, Panicked};
use tabia_io::progress::Watch;
use tabia_notation::Line;

/// What is to be marked.
#[derive(Clone, Debug)]
pub enum MarkTarget {
    /// The last move of each line.
    Moves(Vec<Line>),
    /// The position at the end of a line, whatever move leads there.
    Position(Line),
    /// Whatever the selection admits.
    Book,
}

/// How a book is marked.
#[derive(Clone, Debug)]
pub struct MarkJob {
    /// What is to be marked.
    pub target: MarkTarget,
    /// The marks, and which moves get them.
    pub selection: Selection,
    /// Nothing is changed.
    pub dry_run: bool,
    /// What cannot be read of a whole book is an error.
    pub strict: bool,
    /// So many changes of a whole book are told.
    pub told: usize,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Marked {
    /// Moves or positions that were chosen.
    pub chosen: u64,
    /// Marks that changed, or would.
    pub changes: u64,
    /// What was written for them, of a whole book.
    pub applied: Option<Applied>,
}

/// A book that was not marked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarkError {
    /// The format has no place for it.
    #[error(
        "{}: a {}, which has no {what}: {}",
        path.display(), format.title(), format.has_instead()
    )]
    Format {
        /// The book.
        path: PathBuf,
        /// What it is.
        format: Format,
        /// What it has not.
        what: &'static str,
    },
    /// It is no book.
    #[error(transparent)]
    Book(#[from] crate::Error),
    /// A move or the position is not in the book.
    #[error("{}: {what}; nothing was changed", path.display())]
    NotInBook {
        /// The book.
        path: PathBuf,
        /// Which.
        what: String,
    },
    /// Some of the book cannot be read, and that was to be an error.
    #[error("damaged pages not read to their end: {0}; nothing was changed (--strict)")]
    Loss(u64),
    /// The book cannot be changed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Nobody hears what is told.
    #[error("cannot write the list")]
    Output(#[from] io::Error),
}

/// Opens a book that is to be changed in a way, whatever its format: one that
/// has no place for it says so.
///
/// # Errors
///
/// That; or as for [`BookEditor::open`].
pub fn open(path: &Path, edit: &MarkEdit, options: &EditOptions) -> Result<BookEditor, MarkError> {
    let format = Format::of_file(path)?;
    match format.lacks(edit) {
        Some(what) => Err(MarkError::Format {
            path: path.to_owned(),
            format,
            what,
        }),
        None => Ok(BookEditor::open(path, options)?),
    }
}

/// Opens a ChessBase book that is to get marks that no other has.
///
/// # Errors
///
/// As for [`open()`].
pub fn open_ctg(path: &Path, options: &EditOptions) -> Result<Editor, MarkError> {
    match open(path, &MarkEdit::clear(), options)? {
        BookEditor::Ctg(editor) => Ok(editor),
        // What takes marks away has said so.
        BookEditor::Keyed(editor) => Err(MarkError::Format {
            path: path.to_owned(),
            format: editor.book().format(),
            what: "marks",
        }),
    }
}

/// Marks a book. `told` hears of the changes, `lost` of pages that cannot be
/// read.
///
/// # Errors
///
/// The book cannot be read or written, what is named is not in it, who
/// watches wants an end, or `told` fails.
pub fn mark(
    editor: &mut BookEditor,
    job: &MarkJob,
    watch: &mut Watch<'_>,
    lost: &mut dyn FnMut(Error),
    told: &mut dyn FnMut(&Told) -> io::Result<()>,
) -> Result<Marked, MarkError> {
    let editor = match editor {
        BookEditor::Ctg(editor) => editor,
        BookEditor::Keyed(editor) => return keyed::mark(editor, job, watch, told),
    };
    match &job.target {
        MarkTarget::Book => whole_book(editor, job, watch, lost, told),
        MarkTarget::Position(line) => {
            let plan = editor.plan_position(line.last(), &job.selection.edit);
            let plan = plan
                .map_err(|error| absent(error, || "the position is not in the book".to_owned()))?;
            let planned = plan.into_iter().map(|change| (line.clone(), change));
            carry_out(editor, job, 1, planned.collect(), told)
        }
        MarkTarget::Moves(lines) => {
            let mut planned: Vec<(Line, EntryChange)> = Vec::new();
            let mut chosen = 0;
            for line in lines {
                let Some((position, mv)) = line.moves().next_back() else {
                    continue;
                };
                if !admits(&job.selection, editor.book(), line.last(), position, mv)? {
                    continue;
                }
                chosen += 1;
                let plan = editor.plan(position, mv, &job.selection.edit);
                let plan = plan.map_err(|error| absent(error, || leads_out(position, mv)))?;
                for change in plan {
                    // A line may pass through a position twice.
                    if !planned.iter().any(|(_, known)| *known == change) {
                        planned.push((line.clone(), change));
                    }
                }
            }
            carry_out(editor, job, chosen, planned, told)
        }
    }
}

impl From<Panicked> for MarkError {
    fn from(panicked: Panicked) -> MarkError {
        MarkError::Edit(panicked.into())
    }
}

fn absent(error: EditError, what: impl FnOnce() -> String) -> MarkError {
    match error {
        EditError::NotInBook { path, .. } => MarkError::NotInBook { path, what: what() },
        error => error.into(),
    }
}

fn carry_out(
    editor: &mut Editor,
    job: &MarkJob,
    chosen: u64,
    planned: Vec<(Line, EntryChange)>,
    told: &mut dyn FnMut(&Told) -> io::Result<()>,
) -> Result<Marked, MarkError> {
    let changes: Vec<EntryChange> = planned.iter().map(|(_, change)| *change).collect();
    let undo = match job.dry_run {
        true => editor.rehearse(&changes)?,
        false => editor.apply(&changes)?,
    };
    for ((line, change), old) in planned.into_iter().zip(undo.iter().rev()) {
        told(&of_change(line, change, old))?;
    }
    Ok(Marked {
        chosen,
        changes: changes.len() as u64,
        applied: None,
    })
}

/// A change and that which takes it back, at the end of a line.
fn of_change(line: Line, change: EntryChange, old: &EntryChange) -> Told {
    let (field, new, old) = match (change, *old) {
        (EntryChange::Mark { field, byte, .. }, EntryChange::Mark { byte: old, .. }) => {
            (field, byte, old)
        }
        (EntryChange::Annotation { byte, .. }, EntryChange::Annotation { byte: old, .. }) => {
            (Field::Annotation, byte, old)
        }
        (EntryChange::AddMove { annotation, .. }, _) => (Field::Annotation, annotation, 0),
        (_, _) => (Field::Annotation, 0, 0),
    };
    Told {
        is_stored: matches!(change, EntryChange::AddMove { .. }),
        ..Told::new(line, field, [old, new])
    }
}

fn whole_book(
    editor: &mut Editor,
    job: &MarkJob,
    watch: &mut Watch<'_>,
    lost: &mut dyn FnMut(Error),
    told: &mut dyn FnMut(&Told) -> io::Result<()>,
) -> Result<Marked, MarkError> {
    let book = editor.snapshot()?;
    let mut done = Marked::default();
    let mut losses = 0;
    let mut count = |damage| {
        losses += 1;
        lost(damage);
    };
    let lost = &mut count;
    if job.dry_run {
        let mut noted = Vec::new();
        done.chosen = select(&book, &job.selection, watch, lost, &mut |chosen| {
            done.changes += 1;
            if noted.len() < job.told {
                noted.push(chosen.noted());
            }
            Ok(())
        })?;
        tell(&book, noted, watch, &mut |one| {
            told(one).map_err(MarkError::from)
        })?;
        checked(job, losses)?;
        return Ok(done);
    }
    let mut batch = editor.batch();
    done.chosen = select(&book, &job.selection, watch, lost, &mut |chosen| {
        done.changes += 1;
        batch.set(&chosen.touch)
    })?;
    checked(job, losses)?;
    drop(book);
    done.applied = Some(editor.commit(batch)?);
    Ok(done)
}

fn checked(job: &MarkJob, losses: u64) -> Result<(), MarkError> {
    match job.strict && losses > 0 {
        true => Err(MarkError::Loss(losses)),
        false => Ok(()),
    }
}

impl Selection {
    /// Whether marks of a whole book would mean one thing with White to move
    /// and another with Black: an advantage is that of one side, and an entry
    /// stands for both.
    #[must_use]
    pub fn is_one_sided(&self) -> bool {
        let MarkEdit { commentary, .. } = self.edit;
        commentary.is_some_and(|nag| (14..=19).contains(&nag))
    }
}
