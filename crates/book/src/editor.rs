//! A book open for changes, whatever its format.

use std::path::Path;

use super::ctg::{EditError, EditOptions, Editor};
use super::{Book, Format, KeyedEditor};

/// A book open for changes. While it exists, no other editor has the book.
#[derive(Debug)]
pub enum BookEditor {
    /// ChessBase.
    Ctg(Editor),
    /// Polyglot or Arena.
    Keyed(KeyedEditor),
}

impl BookEditor {
    /// Opens a book of whatever format, and first completes a change that a
    /// crash has cut short.
    ///
    /// # Errors
    ///
    /// It is no book, may not be written, or another program is changing it
    /// and goes on for longer than we may wait.
    pub fn open(path: &Path, options: &EditOptions) -> Result<BookEditor, EditError> {
        Ok(match Format::of_file(path)? {
            Format::Ctg => BookEditor::Ctg(Editor::open(path, options)?),
            Format::Bin | Format::Abk => BookEditor::Keyed(KeyedEditor::open(path, options)?),
        })
    }

    /// Whether opening has completed a change that was cut short.
    #[must_use]
    pub const fn completed_a_change(&self) -> bool {
        match self {
            BookEditor::Ctg(editor) => editor.completed_a_change(),
            BookEditor::Keyed(editor) => editor.completed_a_change(),
        }
    }

    /// The book opened once more, good until the next change.
    ///
    /// # Errors
    ///
    /// As for [`Book::open`].
    pub fn snapshot(&self) -> Result<Book, EditError> {
        match self {
            BookEditor::Ctg(editor) => Ok(editor.snapshot()?.into()),
            BookEditor::Keyed(editor) => Ok(Book::open(editor.book().path(), &Default::default())?),
        }
    }
}

impl From<Editor> for BookEditor {
    fn from(editor: Editor) -> BookEditor {
        BookEditor::Ctg(editor)
    }
}
