//! Marking a book.

use std::io;

use super::error::MarkError;
use super::keyed;
use super::named::{admits, leads_out};
use super::select::{Selection, select};
use super::show;
use super::shown::ShownChange;
use crate::ctg::Salvage;
use crate::edit::UndoWriter;
use crate::{Applied, Book, BookEditor, EditBatch, Error, MarkChange};
use tabia_io::progress::{Progress, Watch};
use tabia_notation::Line;

/// What to mark.
#[derive(Clone, Debug)]
pub enum MarkTarget {
    /// The last move of each line.
    Moves(Vec<Line>),
    /// The position at the end of a line, whatever move leads to it.
    Position(Line),
    /// Everything that the selection admits.
    Book,
}

tabia_io::options! {
    /// A request to mark a book.
    #[derive(Clone, Debug)]
    pub struct MarkJob {
        /// What to mark.
        target: MarkTarget,
        /// The marks, and which moves get them.
        selection: Selection,
        ;
        /// Whether nothing is changed.
        dry_run: bool = false,
        /// Whether damage of a whole book is an error.
        strict: bool = false,
        /// Highest number of changes that a dry run of a whole book shows.
        shown: usize = 0,
        /// Whether what undoes the change is put beside the book, for
        /// [`BookEditor::undo`].
        undoable: bool = false,
    }
}

/// The result of marking.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Marked {
    /// Chosen moves or positions.
    pub chosen: u64,
    /// Marks that changed, or would.
    pub changes: u64,
    /// What was written, when marking a whole book.
    pub applied: Option<Applied>,
    /// Why what undoes the change could not be kept.
    pub not_undoable: Option<String>,
    /// What could not be read, when marking a whole book.
    pub unread: Salvage,
}

/// Marks a book; the old files of a whole book are kept with `.bak`. Calls `shown` with the
/// changes.
///
/// # Errors
///
/// The book cannot be read or written, a given move or position is not in it, the work is
/// cancelled, or `shown` fails.
pub fn mark(
    editor: BookEditor,
    job: &MarkJob,
    watch: &mut Watch<'_>,
    shown: &mut dyn FnMut(&ShownChange) -> io::Result<()>,
) -> Result<Marked, MarkError> {
    keyed::check(editor.book(), job.selection.filter.as_ref())?;
    let edit = &job.selection.edit;
    let mut planned: Vec<(&Line, MarkChange)> = Vec::new();
    let mut chosen = 0;
    match &job.target {
        MarkTarget::Book => return whole_book(&editor, job, watch, shown),
        MarkTarget::Position(line) => {
            let plan = editor.plan_position(line.last(), edit);
            let plan = plan
                .map_err(|error| absent(error, || "the position is not in the book".to_owned()))?;
            planned.extend(plan.into_iter().map(|change| (line, change)));
            chosen = 1;
        }
        MarkTarget::Moves(lines) => {
            for line in lines {
                let Some((position, mv)) = line.moves().next_back() else {
                    continue;
                };
                if !admits(&job.selection, editor.book(), line.last(), position, mv)? {
                    continue;
                }
                chosen += 1;
                let plan = editor.plan(position, mv, edit);
                let plan = plan.map_err(|error| absent(error, || leads_out(position, mv)))?;
                for change in plan {
                    // A line may pass through a position twice.
                    if !planned.iter().any(|(_, known)| *known == change) {
                        planned.push((line, change));
                    }
                }
            }
        }
    }
    let changes: Vec<MarkChange> = planned.iter().map(|(_, change)| *change).collect();
    let not_undoable = match job.dry_run {
        true => {
            editor.rehearse(&changes)?;
            None
        }
        false => {
            let (editor, undo) = editor.apply(&changes)?;
            let keep = || {
                let mut writer = UndoWriter::create(editor.book().path())?;
                undo.iter().try_for_each(|change| writer.change(change))?;
                editor.remember(writer)
            };
            let is_kept = job.undoable && !undo.is_empty();
            is_kept.then(keep).and_then(why_not)
        }
    };
    for (line, change) in planned {
        shown(&ShownChange::new(line.clone(), &change, String::new()))?;
    }
    Ok(Marked {
        chosen,
        changes: changes.len() as u64,
        not_undoable,
        ..Marked::default()
    })
}

/// The change is made, so it has not failed.
fn why_not(kept: Result<(), Error>) -> Option<String> {
    kept.err().map(|error| error.to_string())
}

fn absent(error: Error, what: impl FnOnce() -> String) -> MarkError {
    match error {
        Error::NotInBook { path, .. } | Error::NotStored { path, .. } => {
            MarkError::NotInBook { path, what: what() }
        }
        error => error.into(),
    }
}

fn whole_book(
    editor: &BookEditor,
    job: &MarkJob,
    watch: &mut Watch<'_>,
    shown: &mut dyn FnMut(&ShownChange) -> io::Result<()>,
) -> Result<Marked, MarkError> {
    let mut done = Marked::default();
    let mut unread = editor.book().missing_parts();
    let mut batch = editor.batch();
    let mut listed = Vec::new();
    let mut note = |change: &MarkChange| {
        done.changes += 1;
        if job.dry_run && listed.len() < job.shown {
            listed.push((*change, String::new()));
        }
    };
    let undo = (job.undoable && !job.dry_run).then(|| UndoWriter::create(editor.book().path()));
    let (mut undo, not_undoable) = match undo.transpose() {
        Ok(undo) => (undo, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut set = |batch: &mut EditBatch, last, old, new| {
        if let Some(undo) = &mut undo
            && old != new
        {
            undo.number(last, old, new)?;
        }
        batch.set(last, old, new)
    };
    // Passes over the whole file are faster on a snapshot.
    let snapshot = match editor.book() {
        Book::Ctg(_) => Some(editor.snapshot()?),
        Book::Bin(_) | Book::Loaded(_) => None,
    };
    let book = snapshot.as_ref().unwrap_or(editor.book());
    done.chosen = match book {
        Book::Ctg(book) => select(
            book,
            &job.selection,
            watch,
            &mut |damage| unread.bad_page(damage),
            &mut |change, at| {
                note(change);
                match (job.dry_run, change.old, change.new) {
                    (false, Some(old), Some(new)) => set(&mut batch, at, old, new),
                    _ => Ok(()),
                }
            },
        )?,
        Book::Bin(_) | Book::Loaded(_) => {
            keyed::select(editor, &job.selection, watch, &mut |change| {
                note(change);
                match editor.number(change) {
                    Some((last, old, new)) if !job.dry_run => set(&mut batch, last, old, new),
                    _ => Ok(()),
                }
            })?
        }
    };
    if job.dry_run {
        show(book, listed, watch, shown)?;
    }
    if job.strict && unread.is_loss() {
        return Err(MarkError::Loss(unread.summary_text()));
    }
    done.unread = unread;
    if !job.dry_run {
        drop(snapshot);
        // The last chance: from here on all changes are made.
        let saving = Progress::new("saving", "marks", done.changes, None);
        watch.step(saving).map_err(Error::from)?;
        let is_changed = !batch.is_empty();
        done.applied = Some(editor.commit_keeping(batch)?);
        let kept = undo.filter(|_| is_changed);
        let kept = kept.and_then(|undo| why_not(editor.remember(undo)));
        done.not_undoable = not_undoable.or(kept);
    }
    Ok(done)
}
