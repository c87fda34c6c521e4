//! The last marks of a book, kept beside it so that they can be taken back.
//!
//! `.NAME.ctg.undo` is a text with one step a line, and an end:
//!
//! ```text
//! tabia-undo 1
//! number 4711 64 0
//! position 0a3f mark 128 0
//! move 0a3f 12 1 annotation - 6
//! end LENGTH MODIFIED
//! ```
//!
//! The end says what the book was like after the change, so that nothing is undone in a
//! book that was changed since. A step has the number that the book has now and the one it
//! gets back; `-` is a move that is not stored.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{BookEditor, EditOptions, Field, MarkChange, MarkPlace};
use crate::Error;
use crate::ctg::Key;
use tabia_io::atomic::{NewFile, Previous};

const FIRST_LINE: &str = "tabia-undo 1";

/// One step back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A number of the file, by the offset of its last byte.
    Number {
        last: u64,
        now: u32,
        before: u32,
    },
    Change(MarkChange),
}

/// The steps of a change that is being made.
pub(crate) struct UndoWriter {
    file: NewFile,
    line: String,
}

/// The file with the steps back from the last change of a book.
fn path_of(book: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(book.file_name().unwrap_or_default());
    name.push(".undo");
    book.with_file_name(name)
}

impl UndoWriter {
    pub(crate) fn create(book: &Path) -> Result<UndoWriter, Error> {
        let mut file = NewFile::create(&path_of(book), Previous::Replace)?;
        file.write_bytes(format!("{FIRST_LINE}\n").as_bytes())?;
        Ok(UndoWriter {
            file,
            line: String::new(),
        })
    }

    /// Adds a number that was changed in the file.
    pub(crate) fn number(&mut self, last: u64, old: u32, new: u32) -> Result<(), Error> {
        self.push(&Step::Number {
            last,
            now: new,
            before: old,
        })
    }

    /// Adds a change that undoes another one.
    pub(crate) fn change(&mut self, undo: &MarkChange) -> Result<(), Error> {
        self.push(&Step::Change(*undo))
    }

    fn push(&mut self, step: &Step) -> Result<(), Error> {
        self.line.clear();
        let _ = writeln!(self.line, "{}", step.to_text());
        Ok(self.file.write_bytes(self.line.as_bytes())?)
    }
}

impl Step {
    fn to_text(self) -> String {
        let number = |number: Option<u32>| number.map_or("-".to_owned(), |n| n.to_string());
        let change = match self {
            Step::Number { last, now, before } => return format!("number {last} {now} {before}"),
            Step::Change(change) => change,
        };
        let hex = |key: Key| -> String {
            let bytes = key.as_bytes().iter();
            bytes.map(|byte| format!("{byte:02x}")).collect()
        };
        let place = match change.place {
            MarkPlace::Position(key) => format!("position {}", hex(key)),
            MarkPlace::Move { key, byte, at } => format!("move {} {byte} {at}", hex(key)),
            MarkPlace::Entry(offset) => format!("entry {offset}"),
        };
        let (field, now, before) = (change.field.as_str(), change.old, change.new);
        format!("{place} {field} {} {}", number(now), number(before))
    }

    fn read(line: &str) -> Option<Step> {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["number", last, now, before] = *words.as_slice() {
            return Some(Step::Number {
                last: last.parse().ok()?,
                now: now.parse().ok()?,
                before: before.parse().ok()?,
            });
        }
        let key = |text: &str| {
            let digits = text.as_bytes().chunks(2);
            let bytes = digits.map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
            Key::from_prefix(&bytes.collect::<Option<Vec<u8>>>()?)
        };
        let (place, rest) = match words.as_slice() {
            ["position", text, rest @ ..] => (MarkPlace::Position(key(text)?), rest),
            ["move", text, byte, at, rest @ ..] => (
                MarkPlace::Move {
                    key: key(text)?,
                    byte: byte.parse().ok()?,
                    at: at.parse().ok()?,
                },
                rest,
            ),
            ["entry", offset, rest @ ..] => (MarkPlace::Entry(offset.parse().ok()?), rest),
            _ => return None,
        };
        let [field, old, new] = *rest else {
            return None;
        };
        let number = |text: &str| match text {
            "-" => Some(None),
            text => text.parse().ok().map(Some),
        };
        Some(Step::Change(MarkChange {
            place,
            field: Field::from_name(field)?,
            old: number(old)?,
            new: number(new)?,
        }))
    }
}

/// The state of a book: its length, and when it was changed.
fn state(book: &File) -> io::Result<String> {
    let metadata = book.metadata()?;
    let since = metadata.modified()?.duration_since(UNIX_EPOCH);
    let since = since.map_or(0, |since| since.as_nanos());
    Ok(format!("end {} {since}", metadata.len()))
}

/// The steps back, and the state of the book to which they belong; `None` if the file is
/// something else, or incomplete.
fn read(path: &Path) -> io::Result<Option<(Vec<Step>, String)>> {
    let mut lines = BufReader::new(File::open(path)?).lines();
    if lines.next().transpose()?.as_deref() != Some(FIRST_LINE) {
        return Ok(None);
    }
    let mut steps = Vec::new();
    for line in lines {
        let line = line?;
        if line.starts_with("end ") {
            return Ok(Some((steps, line)));
        }
        match Step::read(&line) {
            Some(step) => steps.push(step),
            None => return Ok(None),
        }
    }
    Ok(None)
}

impl BookEditor {
    /// Puts the steps back from the change that was just made beside the book.
    pub(crate) fn remember(&self, mut undo: UndoWriter) -> Result<(), Error> {
        let path = self.book.path();
        let end = state(&self.file).map_err(|error| Error::change(path, error))?;
        undo.file.write_bytes(format!("{end}\n").as_bytes())?;
        undo.file.commit()?;
        Ok(())
    }

    /// Undoes the last change that [`mark`](crate::mark::mark()) has kept; `rehearse` only
    /// counts. Returns the number of marks.
    ///
    /// # Errors
    ///
    /// Nothing is kept, or the book was changed since; or as for [`BookEditor::apply`].
    /// Nothing has changed then.
    pub fn undo(path: &Path, options: &EditOptions, rehearse: bool) -> Result<u64, Error> {
        let kept = path_of(path);
        // Locks the book before it is compared: what another program changed in between would
        // be overwritten.
        let editor = BookEditor::open(path, options)?;
        let found = match read(&kept) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => found.map_err(|error| Error::change(&kept, error))?,
        };
        let Some((steps, end)) = found else {
            let text = "there is no mark to undo";
            return Err(Error::refused(path, text));
        };
        let now = state(&editor.file).map_err(|error| Error::change(path, error))?;
        if now != end {
            let text = "the book was changed since its last mark; nothing was undone";
            return Err(Error::refused(path, text));
        }
        let marks = steps.len() as u64;
        if rehearse {
            return Ok(marks);
        }
        let mut batch = editor.batch();
        let mut changes = Vec::new();
        for step in steps {
            match step {
                Step::Number { last, now, before } => batch.set(last, now, before)?,
                Step::Change(change) => changes.push(change),
            }
        }
        match changes.is_empty() {
            true => drop(editor.commit(batch)?),
            false => drop(editor.apply(&changes)?),
        }
        let _ = fs::remove_file(kept);
        Ok(marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is written is read back.
        #[test]
        fn steps_are_read_as_written(
            bytes in prop::collection::vec(any::<u8>(), 31),
            numbers in any::<(u64, u32, u32, u8, u8)>(),
            field in prop::sample::select(Field::ALL),
            missing in any::<[bool; 2]>(),
        ) {
            let (offset, old, new, byte, at) = numbers;
            let mut steps = vec![Step::Number { last: offset, now: old, before: new }];
            let mut places = vec![MarkPlace::Entry(offset)];
            if let Some(key) = Key::from_prefix(&bytes) {
                places.push(MarkPlace::Position(key));
                places.push(MarkPlace::Move { key, byte, at });
            }
            steps.extend(places.into_iter().map(|place| Step::Change(MarkChange {
                place,
                field,
                old: (!missing[0]).then_some(old),
                new: (!missing[1]).then_some(new),
            })));
            for step in steps {
                prop_assert_eq!(Step::read(&step.to_text()), Some(step));
            }
        }
    }
}
