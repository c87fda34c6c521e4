//! The plan of all changes, made without I/O before any of them.

use std::path::{Path, PathBuf};

use super::compare::Comparison;
use super::configuration;
use super::find::Finds;
use super::programs::ChessProgram;
use super::record::{ProgramFile, Record, WrittenFile};
use super::registered::Registered;
use crate::install::register::{EditedFor, Registration, without_own_book};
use tabia_adapter::config::Config;

/// A file to create, change or delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The path of the file.
    pub path: PathBuf,
    /// The kind of a program's file; `None` for Tabia's configuration.
    pub program: Option<ProgramFile>,
    /// The present text; `None` if the file does not exist.
    pub before: Option<String>,
    /// The new text; `None` to delete the file.
    pub after: Option<String>,
}

/// The changes to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetupPlan {
    /// Changes of files, in order.
    pub changes: Vec<FileChange>,
    /// What is not changed, and why: a sentence each.
    pub left: Vec<String>,
    /// For files that are not edited: their or their programs' names, and the lines to
    /// type.
    pub to_type: Vec<(&'static str, String)>,
}

/// The input of a plan besides the finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// Tabia's own configuration file.
    pub configuration: &'a Path,
    /// Another configuration that takes precedence over ours.
    pub other: Option<&'a Path>,
    /// The changes of earlier runs.
    pub record: &'a Record,
    /// The adapter as it is registered.
    pub registration: &'a Registration,
}

/// Returns the text of a file, `None` if it does not exist, or why it cannot be read.
pub(super) type TextOf<'a> = &'a dyn Fn(&Path) -> Result<Option<String>, String>;

impl SetupPlan {
    /// The plan by which these engines and books play in these programs. `finds` has engines
    /// that answer and books that can be opened.
    #[must_use]
    pub(crate) fn new(finds: &Finds, situation: &Situation<'_>, text_of: TextOf<'_>) -> SetupPlan {
        let mut plan = SetupPlan::default();
        match situation.other {
            Some(other) => plan.left.push(format!(
                "{}: engines and books are those of this configuration",
                other.display()
            )),
            None => plan.configure(finds, situation, text_of),
        }
        for program in &finds.programs {
            match program {
                ChessProgram::Edited(program, file) => {
                    plan.register(*program, file, situation.registration, text_of);
                }
                ChessProgram::Printed(program) => {
                    let lines = program.lines(situation.registration);
                    plan.to_type.push((program.title(), lines));
                }
            }
        }
        plan
    }

    /// The plan that undoes everything in the record, and the files that it cannot undo.
    /// `registered` takes over PyChess's settings: its own book stays off while an engine is
    /// registered, and the plan switches it on again without one.
    #[must_use]
    pub(crate) fn undoing(
        record: &Record,
        registered: &mut Registered,
        text_of: TextOf<'_>,
    ) -> (SetupPlan, Vec<WrittenFile>) {
        let mut plan = SetupPlan::default();
        let mut rest = Vec::new();
        for file in record.files.iter().rev() {
            let undone = match file.program {
                Some(ProgramFile::PyChessSettings) => registered.take_over(file),
                _ => plan.undo(file, &record.command, text_of),
            };
            match undone {
                Ok(()) if file.program == Some(ProgramFile::PyChessSettings) => {}
                Ok(()) => registered.forget_setup(file, &record.command),
                Err(reason) => {
                    plan.left.push(reason);
                    rest.insert(0, file.clone());
                }
            }
        }
        for file in registered.settings() {
            let list = file.path().with_file_name("engines.json");
            let text = plan.text_after(&list, text_of).ok().flatten();
            if text.is_some_and(|text| registered.is_in(&list, &text)) {
                continue;
            }
            registered.forget_settings(&file.path());
            if let Err(reason) = plan.undo(&file, &record.command, text_of) {
                plan.left.push(reason);
                rest.insert(0, file);
            }
        }
        (plan, rest)
    }

    /// The text of a file after the plan.
    fn text_after(&self, path: &Path, text_of: TextOf<'_>) -> Result<Option<String>, String> {
        match self.changes.iter().find(|change| change.path == path) {
            Some(change) => Ok(change.after.clone()),
            None => text_of(path),
        }
    }

    /// Adds the undo of a file.
    fn undo(
        &mut self,
        file: &WrittenFile,
        command: &str,
        text_of: TextOf<'_>,
    ) -> Result<(), String> {
        let path = file.path();
        if let Some(now) = text_of(&path)? {
            let after = undone(file, command, &now)?;
            self.change(FileChange {
                path,
                program: file.program,
                before: Some(now),
                after,
            });
        }
        Ok(())
    }

    fn configure(&mut self, finds: &Finds, situation: &Situation<'_>, text_of: TextOf<'_>) {
        let path = situation.configuration;
        let before = match text_of(path) {
            Ok(before) => before,
            Err(reason) => return self.left.push(reason),
        };
        let ours = situation.record.file(path).map(|file| &file.after);
        if before.is_some() && before.as_ref() != ours {
            self.left.push(format!(
                "{}: you have written or changed this file, so it stays as it is; \
                 without it, setup would write a new one",
                path.display()
            ));
            if let Some(Ok(config)) = before.map(|text| Config::parse(&text, path)) {
                let lines = configuration::lacking(&config, &finds.engines, &finds.books);
                if !lines.is_empty() {
                    self.to_type
                        .push(("engines.toml, for what it does not have", lines));
                }
            }
            return;
        }
        self.change(FileChange {
            path: path.to_owned(),
            program: None,
            before,
            after: Some(configuration::write(&finds.engines, &finds.books)),
        });
    }

    fn register(
        &mut self,
        program: EditedFor,
        file: &Path,
        registration: &Registration,
        text_of: TextOf<'_>,
    ) {
        let edited = text_of(file).and_then(|before| {
            let text = match (&before, program.list_of_the_system()) {
                (None, Some(list)) => text_of(list)?.unwrap_or_default(),
                _ => before.clone().unwrap_or_default(),
            };
            let after = program.edit(&text, registration);
            let after = after.map_err(|error| format!("{}: {error}", file.display()))?;
            Ok((before, after))
        });
        match edited {
            Ok((before, after)) => self.change(FileChange {
                path: file.to_owned(),
                program: Some(ProgramFile::Engines(program)),
                before,
                after: Some(after),
            }),
            Err(reason) => return self.left.push(format!("{}: {reason}", program.title())),
        }
        let Some(path) = program.settings_beside(file) else {
            return;
        };
        match text_of(&path) {
            Ok(before) => self.change(FileChange {
                after: Some(without_own_book(before.as_deref().unwrap_or_default())),
                path,
                program: Some(ProgramFile::PyChessSettings),
                before,
            }),
            Err(reason) => self.left.push(format!("{}: {reason}", program.title())),
        }
    }

    fn change(&mut self, change: FileChange) {
        if change.before != change.after {
            self.changes.push(change);
        }
    }
}

/// What a file would be without setup's changes: its text, `None` for no file.
///
/// # Errors
///
/// The changes since cannot be separated from setup's: a sentence with the path.
pub(super) fn undone(
    file: &WrittenFile,
    command: &str,
    now: &str,
) -> Result<Option<String>, String> {
    let path = file.path();
    let path = path.display();
    match file.compare(command, now) {
        Ok(Comparison::Separate { without, .. }) => Ok(without),
        Ok(Comparison::Entangled { line, .. }) => Err(format!(
            "{path}:{line}: you have changed or extended what setup wrote here; delete the file, \
             or the lines that \"tabia setup --dry-run\" marks as setup's, and run this again"
        )),
        Err(reason) => Err(format!("{path}: {reason}")),
    }
}
