//! What was done, so that it can be undone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::register::EditedFor;
use tabia_io::input::path::{from_text, to_text};

/// All that [`super::carry_out`] has done, over all its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// What our program was called when it was registered: its full path.
    pub command: String,
    /// Folders that were made, outermost first.
    pub folders: Vec<String>,
    /// Files that were made or changed.
    pub files: Vec<WrittenFile>,
}

/// A file that was made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// Its path.
    pub path: String,
    /// Whose engines are in it; `None` for our own configuration.
    pub program: Option<EditedFor>,
    /// What was in it before; `None` when there was no such file.
    pub before: Option<String>,
    /// What was put in it.
    pub after: String,
}

impl Record {
    /// What is known of a file.
    #[must_use]
    pub(crate) fn file(&self, path: &Path) -> Option<&WrittenFile> {
        let path = to_text(path);
        self.files.iter().find(|file| file.path == path)
    }

    /// Adds a written file to the record; `written` has what undo restores.
    pub(super) fn note(&mut self, written: WrittenFile) {
        self.files.retain(|file| file.path != written.path);
        self.files.push(written);
    }

    /// The record once these folders are made.
    pub(super) fn note_folders(&mut self, folders: &[PathBuf]) {
        for folder in folders.iter().map(|folder| to_text(folder)) {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }
}

/// The path that a text of the record means: of several readings the one that
/// exists.
pub(super) fn path_of(text: &str) -> PathBuf {
    let mut readings = from_text(text);
    let there = readings
        .iter()
        .position(|path| path.symlink_metadata().is_ok());
    readings.swap_remove(there.unwrap_or(0))
}
