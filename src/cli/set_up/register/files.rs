//! The files that `register` changes, and the records of what it wrote.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::set_up::file_diff;
use crate::install::{NewFolders, Places, Record, TextFile};
use tabia_io::atomic::Previous;

/// A file that gets another text, or is deleted.
pub(super) struct Edit {
    pub(super) path: PathBuf,
    pub(super) file: TextFile,
    pub(super) after: Option<String>,
    pub(super) previous: Previous,
}

impl Edit {
    pub(super) fn new(
        path: &Path,
        after: Option<String>,
        previous: Previous,
    ) -> anyhow::Result<Edit> {
        Ok(Edit {
            path: path.to_owned(),
            file: TextFile::open(path)?,
            after,
            previous,
        })
    }

    /// The present text; `None` for no file.
    pub(super) fn now(&self) -> Option<&str> {
        self.file.exists().then(|| self.file.text())
    }

    pub(super) fn is_change(&self) -> bool {
        self.now() != self.after.as_deref()
    }
}

/// Shows what changes in the files.
pub(super) fn show(edits: &[Edit], dry_run: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for edit in edits.iter().filter(|edit| edit.is_change()) {
        file_diff::write(&edit.path, edit.now(), edit.after.as_deref(), out)?;
        out.flush()?;
        if dry_run {
            let shown = edit.path.display();
            message!("tabia: {shown}: not changed (--dry-run)");
        }
    }
    Ok(())
}

/// Changes all files, or none if one of them cannot be written; `record` is saved between.
pub(super) fn carry_out(
    edits: Vec<Edit>,
    record: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut folders = NewFolders::default();
    let mut ready = Vec::new();
    for edit in edits.into_iter().filter(Edit::is_change) {
        let new = match &edit.after {
            Some(text) => {
                folders.make_for(&edit.path)?;
                Some(edit.file.prepare(text, edit.previous)?)
            }
            None => None,
        };
        ready.push((edit.path, new));
    }
    record()?;
    for (path, new) in ready {
        let shown = path.display();
        match new {
            Some(new) => {
                if let Some(backup) = new.commit()? {
                    message!("tabia: {shown}: the old file is {}", backup.display());
                }
            }
            None => {
                std::fs::remove_file(&path).with_context(|| format!("cannot delete {shown}"))?
            }
        }
    }
    Ok(())
}

/// A record of what was written; `None` if the system names no folder for it.
pub(super) fn record_path(name: &str) -> Option<PathBuf> {
    Some(Places::of_this_user().of_tabia()?.join(name))
}

/// What `setup` has written.
pub(super) fn of_setup() -> anyhow::Result<Record> {
    match record_path("setup.json") {
        Some(path) => Record::read(&path),
        None => Ok(Record::default()),
    }
}

/// Saves the record of `setup`, of which the texts may have changed.
pub(super) fn save_of_setup(setup: &Record) -> anyhow::Result<()> {
    match record_path("setup.json").filter(|_| of_setup().is_ok_and(|old| old != *setup)) {
        Some(path) => setup.write(&path),
        None => Ok(()),
    }
}
