//! Changes to Polyglot and Arena books, by the same way as `tabia mark`: one
//! number beside each move, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Move};

use super::edit::{BookMarker, MarkerError, Undo, failed};
use tabia_book::ctg::EditOptions;
use tabia_book::mark;
use tabia_book::{BookEditor, Format, KeyedChange, KeyedEditor, MarkEdit};
use tabia_notation::{self as notation, Line};

/// Changes the weights of a Polyglot book or the priorities of an Arena book.
///
/// The book is locked for each change alone, so that other programs can
/// change it, too, while the page is open.
#[derive(Debug)]
pub(super) struct Weigher {
    path: PathBuf,
    format: Format,
}

impl Weigher {
    /// For the book of this format whose file is `path`.
    pub(super) const fn new(path: PathBuf, format: Format) -> Weigher {
        Weigher { path, format }
    }

    /// Says what is to be done instead of changing lines.
    fn takes_no_lines(&self) -> MarkerError {
        let (path, format) = (self.path.display(), self.format.title());
        MarkerError(format!(
            "{path}: a {format}, in which only the numbers beside its moves can be changed; \
             `tabia convert` makes a ChessBase book of it"
        ))
    }
}

fn open(path: &Path, edit: &MarkEdit) -> Result<KeyedEditor, MarkerError> {
    match mark::open(path, edit, &EditOptions::default()).map_err(failed)? {
        BookEditor::Keyed(editor) => Ok(editor),
        BookEditor::Ctg(_) => Err(MarkerError(format!(
            "{}: it has become a ChessBase book; start the explorer anew",
            path.display()
        ))),
    }
}

impl BookMarker for Weigher {
    fn most_weight(&self) -> Option<u16> {
        self.format.most_weight()
    }

    fn change(
        &self,
        moves: &[(Chess, Move)],
        change: &MarkEdit,
    ) -> Result<Option<Undo>, MarkerError> {
        let mut editor = open(&self.path, change)?;
        let mut planned = Vec::new();
        for (position, mv) in moves {
            let plan = editor.plan(position, *mv, change).map_err(failed)?;
            planned.extend(plan.ok_or_else(|| {
                let (path, san) = (self.path.display(), notation::san(position, *mv));
                MarkerError(format!(
                    "{path}: {san} is not in the book; nothing was changed"
                ))
            })?);
        }
        if planned.is_empty() {
            return Ok(None);
        }
        editor.apply(&planned).map_err(failed)?;
        let path = self.path.clone();
        let turned = |made: KeyedChange| KeyedChange {
            old: made.new,
            new: made.old,
            ..made
        };
        let back: Vec<KeyedChange> = planned.into_iter().map(turned).collect();
        Ok(Some(Box::new(move || {
            let mut editor = open(&path, &MarkEdit::default())?;
            editor.apply(&back).map_err(failed)?;
            Ok(())
        })))
    }

    fn add(&self, _lines: &[(Line, Vec<(usize, u8)>)]) -> Result<Option<Undo>, MarkerError> {
        Err(self.takes_no_lines())
    }

    fn count_removed(&self, _lines: &[Line], _stop: &AtomicBool) -> Result<u64, MarkerError> {
        Err(self.takes_no_lines())
    }

    fn remove(&self, _lines: &[Line]) -> Result<Option<Undo>, MarkerError> {
        Err(self.takes_no_lines())
    }
}
