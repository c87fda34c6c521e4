//! The record of `register`: what each engine has changed in which file, for undoing one of
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::compare::Comparison;
use super::record::{ProgramFile, Record, WrittenFile, path_of};
use crate::install::register::EditedFor;
use crate::install::text_file::{TextFile, make_folder, missing};
use tabia_io::atomic::Previous;
use tabia_io::input::path::to_text;

/// All changes of `register` that were not taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Registered {
    /// Created folders, outermost first.
    folders: Vec<String>,
    /// Created or changed files, one entry for each engine in them.
    files: Vec<WrittenFor>,
}

/// A file that was written for an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WrittenFor {
    /// The engine's name; empty for settings, which all engines of the program share.
    name: String,
    /// Full path of our program when it was registered.
    command: String,
    /// The value of `Book File` that was written: another one is the user's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    books: Option<String>,
    file: WrittenFile,
}

/// An engine in a file of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineIn<'a> {
    /// The engine's name.
    pub name: &'a str,
    /// Full path of our program.
    pub command: &'a str,
    /// The program's file.
    pub path: &'a Path,
    /// The kind of file.
    pub program: ProgramFile,
}

impl EngineIn<'_> {
    /// The settings of PyChess, which all its engines share.
    #[must_use]
    pub(crate) const fn settings(path: &Path) -> EngineIn<'_> {
        EngineIn {
            name: "",
            command: "",
            path,
            program: ProgramFile::PyChessSettings,
        }
    }
}

impl WrittenFor {
    fn is(&self, engine: &EngineIn<'_>) -> bool {
        self.name == engine.name && self.file.path == to_text(engine.path)
    }

    /// The text without what was written; `None` for no file.
    fn without(&self, now: &str) -> Result<Option<String>, String> {
        match self.file.compare_as(&self.name, &self.command, now)? {
            Comparison::Separate { without, .. } => Ok(without),
            Comparison::Entangled { .. } => Ok(Some(now.to_owned())),
        }
    }

    /// Leaves the texts of another change of the same file, which was made before it, or of a
    /// text that had it.
    fn leave(&self, other: &mut WrittenFile) {
        if other.path != self.file.path {
            return;
        }
        if let Some(Ok(before)) = other.before.as_deref().map(|text| self.without(text)) {
            other.before = before;
        }
        if let Ok(Some(after)) = self.without(&other.after) {
            other.after = after;
        }
    }
}

impl Registered {
    /// Reads a record; empty if the file does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a record.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Registered> {
        let file = TextFile::open(path)?;
        if !file.exists() {
            return Ok(Registered::default());
        }
        serde_json::from_str(file.text())
            .with_context(|| format!("{}: this is not what register has written", path.display()))
    }

    /// The text of a file without an engine; no text for no file. `None` if `register` has not
    /// written the engine there.
    ///
    /// # Errors
    ///
    /// The text is not what the program writes.
    pub(crate) fn without(
        &self,
        engine: &EngineIn<'_>,
        now: &str,
    ) -> Result<Option<Option<String>>, String> {
        let written = self.files.iter().find(|written| written.is(engine));
        written.map(|written| written.without(now)).transpose()
    }

    /// The value of `Book File` that an engine was registered with.
    #[must_use]
    pub(crate) fn books(&self, engine: &EngineIn<'_>) -> Option<String> {
        let written = self.files.iter().find(|written| written.is(engine));
        written.and_then(|written| written.books.clone())
    }

    /// Whether an engine that `register` wrote is in a list of this text.
    #[must_use]
    pub(crate) fn is_in(&self, list: &Path, text: &str) -> bool {
        let mut files = self.files.iter();
        files.any(|written| (written.file).is_in(list, [&written.name, &written.command], text))
    }

    /// The settings that were changed for the engines of a program.
    pub(super) fn settings(&self) -> Vec<WrittenFile> {
        let files = self.files.iter().map(|written| &written.file);
        let settings = files.filter(|file| file.program == Some(ProgramFile::PyChessSettings));
        settings.cloned().collect()
    }

    /// The files with engines: what program has which file, and its text before.
    pub(crate) fn lists(&self) -> Vec<(EditedFor, PathBuf, Option<&str>)> {
        let files = self.files.iter().map(|written| &written.file);
        let lists = files.filter_map(|file| match file.program {
            Some(ProgramFile::Engines(program)) => {
                Some((program, file.path(), file.before.as_deref()))
            }
            _ => None,
        });
        lists.collect()
    }

    /// Adds a change, with the value of `Book File` in it; a later undo restores the text that
    /// an undo now would restore.
    ///
    /// # Errors
    ///
    /// The same as for [`Registered::without`].
    pub(crate) fn note(
        &mut self,
        engine: &EngineIn<'_>,
        now: Option<&str>,
        after: &str,
        books: Option<&str>,
        setup: &mut Record,
    ) -> Result<(), String> {
        let before = match now.map(|now| self.without(engine, now)).transpose()? {
            Some(Some(before)) => before,
            _ => now.map(str::to_owned),
        };
        // It becomes the last change of the file: the others were made without it.
        self.forget(engine, None, false, setup);
        self.put(engine, before, after, books);
        self.note_folders(engine.path);
        Ok(())
    }

    /// Adds the folders that must be made for a file.
    pub(crate) fn note_folders(&mut self, path: &Path) {
        for folder in missing(path) {
            let folder = to_text(&folder);
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }

    /// Takes over the change of a program's settings from the record of `setup`.
    pub(super) fn take_over(&mut self, file: &WrittenFile) -> Result<(), String> {
        let (before, none) = (file.before.as_deref(), &mut Record::default());
        let path = file.path();
        let engine = EngineIn::settings(&path);
        self.note(&engine, before, &file.after, None, none)
    }

    /// Takes the change of a program's settings out of the record.
    pub(super) fn forget_settings(&mut self, path: &Path) {
        let none = &mut Record::default();
        self.forget(&EngineIn::settings(path), None, false, none);
    }

    fn put(
        &mut self,
        engine: &EngineIn<'_>,
        before: Option<String>,
        after: &str,
        books: Option<&str>,
    ) {
        self.files.push(WrittenFor {
            name: engine.name.to_owned(),
            command: engine.command.to_owned(),
            books: books.map(str::to_owned),
            file: WrittenFile {
                path: to_text(engine.path),
                program: Some(engine.program),
                before,
                after: after.to_owned(),
            },
        });
    }

    /// Takes an engine out of the record, after its file has become `left`, and out of what
    /// `setup` has recorded. If there `is_still` an engine of this name, it is that of the user
    /// from before: the record knows it as his.
    pub(crate) fn forget(
        &mut self,
        engine: &EngineIn<'_>,
        left: Option<&str>,
        is_still: bool,
        setup: &mut Record,
    ) {
        let Some(at) = self.files.iter().position(|written| written.is(engine)) else {
            return;
        };
        let gone = self.files.remove(at);
        let others = self.files.iter_mut().map(|written| &mut written.file);
        others
            .chain(&mut setup.files)
            .for_each(|other| gone.leave(other));
        if let Some(left) = left.filter(|_| is_still) {
            self.put(engine, Some(left.to_owned()), left, None);
        }
    }

    /// Takes what `setup` has written into a file, and is undone, out of the record.
    pub(super) fn forget_setup(&mut self, file: &WrittenFile, command: &str) {
        let gone = WrittenFor {
            name: super::NAME.to_owned(),
            command: command.to_owned(),
            books: None,
            file: file.clone(),
        };
        let others = self.files.iter_mut().map(|written| &mut written.file);
        others.for_each(|other| gone.leave(other));
    }

    /// Writes the record; without changes it is removed, with the created folders that are
    /// empty.
    ///
    /// # Errors
    ///
    /// The file cannot be written or removed.
    pub(crate) fn save(&mut self, path: &Path) -> anyhow::Result<()> {
        if self.files.is_empty() {
            if path.exists() {
                let shown = path.display();
                fs::remove_file(path).with_context(|| format!("cannot delete {shown}"))?;
            }
            self.remove_folders();
            // Setup may have made it, and was undone first.
            path.parent().map(fs::remove_dir);
            return Ok(());
        }
        self.note_folders(path);
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        TextFile::open(path)?.replace(&text, Previous::Replace)?;
        Ok(())
    }

    /// Removes the created folders that are empty.
    fn remove_folders(&mut self) {
        for folder in self.folders.clone().iter().rev() {
            // A folder with other files is not empty and stays.
            if fs::remove_dir(path_of(folder)).is_ok() {
                self.folders.retain(|other| other != folder);
            }
        }
    }
}
