//! Changes to ChessBase books, by the same way as `tabia mark`.

use std::path::PathBuf;

use shakmaty::{Chess, Move};

use super::edit::{EditError, Editor, Undo};
use crate::book::ctg::{self, EditOptions, MarkEdit};

/// Marks moves in a ChessBase book.
///
/// The book is locked for each change alone, so that other programs can
/// change it, too, while the page is open.
#[derive(Debug)]
pub struct CtgMarker {
    path: PathBuf,
}

impl CtgMarker {
    /// For the book whose .ctg file is `path`.
    #[must_use]
    pub const fn new(path: PathBuf) -> CtgMarker {
        CtgMarker { path }
    }
}

impl Editor for CtgMarker {
    fn change(
        &self,
        position: &Chess,
        mv: Move,
        change: &MarkEdit,
    ) -> Result<Option<Undo>, EditError> {
        let mut editor = open(&self.path)?;
        let planned = editor.plan(position, mv, change).map_err(failed)?;
        if planned.is_empty() {
            return Ok(None);
        }
        let back = editor.apply(&planned).map_err(failed)?;
        let path = self.path.clone();
        Ok(Some(Box::new(move || {
            open(&path)?.apply(&back).map_err(failed)?;
            Ok(())
        })))
    }
}

fn open(path: &std::path::Path) -> Result<ctg::Editor, EditError> {
    ctg::Editor::open(path, &EditOptions::default()).map_err(failed)
}

fn failed(error: ctg::EditError) -> EditError {
    EditError(error.to_string())
}
