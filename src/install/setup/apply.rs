//! Carries out a plan. Each change is recorded before it is made, so that every begun
//! change can be undone.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use super::plan::{FileChange, SetupPlan, undone};
use super::record::{Record, WrittenFile, path_of};
use crate::install::text_file::{TextFile, make_folder, missing};
use tabia_io::atomic::Previous;
use tabia_io::input::path::to_text;

impl Record {
    /// Reads a record file; empty if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a record.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Record> {
        let file = TextFile::open(path)?;
        if !file.exists() {
            return Ok(Record::default());
        }
        serde_json::from_str(file.text())
            .with_context(|| format!("{}: this is not what setup has written", path.display()))
    }

    /// Writes the record.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        TextFile::open(path)?.replace(&text, Previous::Replace)?;
        Ok(())
    }
}

impl SetupPlan {
    /// Makes the changes of a plan. They are recorded in the file `record_path`
    /// before the first is made.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or has changed since the plan was made. The earlier changes
    /// are made and recorded.
    pub(crate) fn carry_out(
        &self,
        record: &Record,
        command: &str,
        record_path: &Path,
    ) -> anyhow::Result<()> {
        let mut new = record.clone();
        for change in &self.changes {
            // A later undo restores the text that an undo now would restore.
            let before = match (record.file(&change.path), &change.before) {
                (Some(file), Some(now)) => {
                    undone(file, &record.command, now).map_err(|reason| anyhow::anyhow!(reason))?
                }
                _ => change.before.clone(),
            };
            if let Some(after) = change.after.clone() {
                new.note(WrittenFile {
                    path: to_text(&change.path),
                    program: change.program,
                    before,
                    after,
                });
            }
        }
        command.clone_into(&mut new.command);
        let paths = self.changes.iter().map(|change| change.path.as_path());
        let folders: Vec<PathBuf> = paths.chain([record_path]).flat_map(missing).collect();
        new.note_folders(&folders);
        // The folder of the record comes first: the record must exist before the rest.
        for folder in missing(record_path) {
            make_folder(&folder)?;
        }
        new.write(record_path)?;
        for folder in &folders {
            make_folder(folder)?;
        }
        self.changes.iter().try_for_each(put)
    }

    /// Makes the changes of a plan that undoes a record, and removes the created folders that
    /// are empty. The record keeps `rest`, the files that the plan cannot undo; without any it
    /// is removed.
    ///
    /// # Errors
    ///
    /// The same as for [`SetupPlan::carry_out`]; the record stays then.
    pub(crate) fn take_back(
        &self,
        record: &Record,
        rest: Vec<WrittenFile>,
        record_path: &Path,
    ) -> anyhow::Result<()> {
        self.changes.iter().try_for_each(put)?;
        if rest.is_empty() {
            let shown = record_path.display();
            fs::remove_file(record_path).with_context(|| format!("cannot delete {shown}"))?;
        }
        let mut folders = record.folders.clone();
        for folder in record.folders.iter().rev() {
            // A folder with other files is not empty and stays.
            if fs::remove_dir(path_of(folder)).is_ok() {
                folders.retain(|other| other != folder);
            }
        }
        if rest.is_empty() {
            // `register` may have made it, and was undone first.
            record_path.parent().map(fs::remove_dir);
            return Ok(());
        }
        let left = Record {
            command: record.command.clone(),
            folders,
            files: rest,
        };
        left.write(record_path)
    }
}

/// Replaces the text of a file, which must not have changed.
fn put(change: &FileChange) -> anyhow::Result<()> {
    let path = &change.path;
    let file = TextFile::open(path)?;
    let now = file.exists().then(|| file.text());
    ensure!(
        now == change.before.as_deref(),
        "{} was changed by another program meanwhile: run this again",
        path.display()
    );
    match &change.after {
        Some(text) => file.replace(text, Previous::Replace).map(|_| ()),
        None => {
            drop(file);
            fs::remove_file(path).with_context(|| format!("cannot delete {}", path.display()))
        }
    }
}
