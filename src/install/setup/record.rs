//! The record of changes, for undoing them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::install::register::{EditedFor, Registration};
use tabia_io::input::path::{from_text, to_text};

/// All changes of [`super::SetupPlan::carry_out`] in all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Full path of our program when it was registered.
    pub command: String,
    /// Created folders, outermost first.
    pub folders: Vec<String>,
    /// Created or changed files.
    pub files: Vec<WrittenFile>,
}

/// A file of a chess program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ProgramFile {
    /// PyChess's settings, for its own opening book.
    #[serde(rename = "PyChess, its own book")]
    PyChessSettings,
    /// The engines of a program.
    #[serde(untagged)]
    Engines(EditedFor),
}

/// A created or changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenFile {
    /// The path of the file.
    pub path: String,
    /// The kind of a program's file; `None` for Tabia's configuration.
    pub program: Option<ProgramFile>,
    /// The text before; `None` if the file did not exist.
    pub before: Option<String>,
    /// The new text.
    pub after: String,
}

impl Record {
    /// The entry of a file.
    #[must_use]
    pub(crate) fn file(&self, path: &Path) -> Option<&WrittenFile> {
        let path = to_text(path);
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether setup's engine is in a list of this text.
    #[must_use]
    pub(crate) fn is_in(&self, list: &Path, text: &str) -> bool {
        let mut files = self.files.iter();
        files.any(|file| file.is_in(list, [super::NAME, &self.command], text))
    }

    /// Adds a written file to the record; `written` has what undo restores.
    pub(super) fn note(&mut self, written: WrittenFile) {
        self.files.retain(|file| file.path != written.path);
        self.files.push(written);
    }

    /// Adds created folders to the record.
    pub(super) fn note_folders(&mut self, folders: &[PathBuf]) {
        for folder in folders.iter().map(|folder| to_text(folder)) {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }
}

impl WrittenFile {
    /// The path of the file.
    #[must_use]
    pub(crate) fn path(&self) -> PathBuf {
        path_of(&self.path)
    }

    /// Whether it is this list, and the engine that was written into it is in the text. One
    /// that was there before is the user's.
    pub(super) fn is_in(&self, list: &Path, [name, command]: [&str; 2], text: &str) -> bool {
        let Some(ProgramFile::Engines(program)) = self.program else {
            return false;
        };
        let ours = Registration {
            name: name.to_owned(),
            command: command.to_owned(),
            ..Registration::default()
        };
        self.path == to_text(list)
            && self.before.as_ref() != Some(&self.after)
            && program.has(text, &ours)
    }
}

/// The path that a text of the record means: of several possible ones, the existing one.
pub(super) fn path_of(text: &str) -> PathBuf {
    let mut readings = from_text(text);
    let there = readings
        .iter()
        .position(|path| path.symlink_metadata().is_ok());
    readings.swap_remove(there.unwrap_or(0))
}
