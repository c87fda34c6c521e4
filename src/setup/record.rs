//! What was done, so that it can be undone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::input::path::{from_text, to_text};
use crate::register::EditedFor;

/// All that [`super::carry_out`] has done, over all its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What our program was called when it was registered: its full path.
    pub command: String,
    /// Folders that were made, outermost first.
    pub folders: Vec<String>,
    /// Files that were made or changed.
    pub files: Vec<WrittenFile>,
}

/// A file that was made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// Its path.
    pub path: String,
    /// Whose engines are in it; `None` for our own configuration.
    #[serde(with = "program")]
    pub program: Option<EditedFor>,
    /// What was in it before; `None` when there was no such file.
    pub before: Option<String>,
    /// What was put in it.
    pub after: String,
}

impl Record {
    /// What is known of a file.
    #[must_use]
    pub fn file(&self, path: &Path) -> Option<&WrittenFile> {
        let path = to_text(path);
        self.files.iter().find(|file| file.path == path)
    }

    /// The record once this file is written; what it says was before is what
    /// undoing it shall bring back.
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

/// Programs by their names.
mod program {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::EditedFor;

    const ALL: [EditedFor; 4] = [
        EditedFor::CuteChess,
        EditedFor::Banksia,
        EditedFor::PyChess,
        EditedFor::Nibbler,
    ];

    #[expect(clippy::ref_option, reason = "serde gives a reference")]
    pub(super) fn serialize<S: Serializer>(
        program: &Option<EditedFor>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        program.map(EditedFor::title).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<EditedFor>, D::Error> {
        let Some(title) = Option::<String>::deserialize(deserializer)? else {
            return Ok(None);
        };
        let program = ALL.into_iter().find(|program| program.title() == title);
        let unknown = || serde::de::Error::custom(format!("unknown program \"{title}\""));
        program.map(Some).ok_or_else(unknown)
    }
}
