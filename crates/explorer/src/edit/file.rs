//! Changes to the file of a book, by the same functions as `tabia mark`, `add` and
//! `prune`. Polyglot and Arena books have only one weight for each move. After a crash the
//! book is in its old or its new state.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Move, Position as _};

use crate::message::{Message, translatable};
use tabia_analysis::prune::{self, Conditions};
use tabia_book::ctg::{self, RewriteOptions};
use tabia_book::mark::words::commentary_name;
use tabia_book::{
    Book, BookEditor, EditOptions, Format, Lookup, Mark, MarkChange, MarkEdit, Preference,
    Probe as _, Wanted,
};
use tabia_build as build;
use tabia_io::atomic::{self, NewFile, Previous, TempFolder};
use tabia_io::input::sibling::sibling;
use tabia_io::input::state::is_read_only;
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line};

/// Extensions of the files that belong to a book.
const COMPANIONS: [&str; 2] = ["cto", "ctb"];

/// A change to a book.
#[derive(Clone)]
pub(crate) enum Change {
    /// New values for moves, each in its position.
    Mark {
        moves: Vec<(Chess, Move)>,
        edit: MarkEdit,
        /// What the page showed before.
        seen: Option<MarkEdit>,
    },
    /// Add lines, with the annotations of their moves as for [`build::write_lines`].
    Add(Vec<(Line, Vec<(usize, u8)>)>),
    /// Delete the last moves of these lines, and positions that can no longer be reached.
    Remove(Vec<Line>),
}

/// What undoes a change.
pub(super) enum Undo {
    /// The old values of moves.
    Marks(Vec<MarkChange>),
    /// The old files of the book, and the hash of the new one.
    Files { old: Backup, new: u64 },
}

/// Why the file of a book cannot be changed, if so; without a file the book is the one
/// within the program.
pub(crate) fn reason_not_to_edit(path: Option<&Path>) -> Option<Message> {
    let Some(path) = path else {
        return Some(translatable!(
            "the book is part of the program: convert or copy it to a file to change it"
        ));
    };
    let is_readonly = |path: &Path| path.metadata().is_ok_and(|file| is_read_only(&file));
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let opened = File::options().write(true).open(path);
    let is_refused = opened.is_err_and(|error| {
        let kinds = [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
        ];
        kinds.contains(&error.kind())
    });
    if is_readonly(path) || is_refused {
        Some(translatable!("the file is read-only"))
    } else if cfg!(unix) && is_readonly(folder.unwrap_or(Path::new("."))) {
        // A rewritten book is first written to a temporary file in the same folder.
        Some(translatable!("its folder is read-only"))
    } else {
        None
    }
}

/// The file of a book of any format.
///
/// The book is locked only during a change, so that other programs can change it, too,
/// while the page is open.
pub(super) struct BookFile {
    path: PathBuf,
    pub(super) format: Format,
}

impl BookFile {
    pub(super) fn new(book: &Book) -> BookFile {
        let path = book.path().to_owned();
        atomic::remove_leftovers(&path);
        let format = book.format();
        BookFile { path, format }
    }

    /// Makes a change, and returns what undoes it; `None` if nothing changes.
    ///
    /// # Errors
    ///
    /// The book lacks a move, cannot store one, has other values than the page showed, or
    /// cannot be written. Nothing has changed then.
    pub(super) fn change(&self, change: &Change) -> Result<Option<Undo>, Message> {
        match change {
            Change::Mark { moves, edit, seen } => self.mark(moves, edit, seen.as_ref()),
            Change::Add(lines) => self.rewrite(|path, options| {
                let folder = TempFolder::beside(path).map_err(|error| self.io_error(&error))?;
                let added = folder.path().join("lines.ctg");
                build::write_lines(lines, &added, options.only).map_err(failed)?;
                let books = [path.to_owned(), added];
                ctg::merge(path, &books, options, &mut Watch::default()).map_err(failed)?;
                Ok(())
            }),
            Change::Remove(lines) => self.rewrite(|path, options| {
                let conditions = without(lines);
                prune::prune(path, path, &conditions, options, &mut Watch::default())
                    .map_err(failed)?;
                Ok(())
            }),
        }
    }

    /// Undoes a change, unless the book has been changed since.
    pub(super) fn undo(&self, change: &Change, undo: &Undo) -> Result<(), Message> {
        match undo {
            Undo::Files { old, new } => {
                // Compared while it is locked: another program may be changing it.
                let _locked = self.open()?;
                if self.hash()? != *new {
                    return Err(translatable!(
                        "the book has been changed since; nothing was undone"
                    ));
                }
                old.restore().map_err(|error| self.io_error(&error))
            }
            Undo::Marks(changes) => {
                let editor = self.open()?;
                if let Change::Mark { moves, edit, .. } = change {
                    check_unchanged(editor.book(), moves, edit)?;
                }
                editor.apply(changes).map_err(failed)?;
                Ok(())
            }
        }
    }

    /// Number of positions that [`Change::Remove`] would delete. Nothing is written;
    /// counting fails when `stop` is true.
    pub(super) fn count_removed(&self, lines: &[Line], stop: &AtomicBool) -> Result<u64, Message> {
        self.check_lines()?;
        let book = ctg::CtgBook::open(&self.path, &ctg::OpenOptions::default().mmap(false));
        let mut watch = Watch::stopped_by(stop);
        prune::count(&book.map_err(failed)?, &without(lines), &mut watch).map_err(failed)
    }

    fn mark(
        &self,
        moves: &[(Chess, Move)],
        edit: &MarkEdit,
        seen: Option<&MarkEdit>,
    ) -> Result<Option<Undo>, Message> {
        let options = EditOptions::default();
        let editor = BookEditor::open_for(&self.path, edit, &options).map_err(failed)?;
        if let Some(seen) = seen {
            check_unchanged(editor.book(), moves, seen)?;
        }
        let mut planned = Vec::new();
        for (position, mv) in moves {
            planned.extend(editor.plan(position, *mv, edit).map_err(failed)?);
        }
        if planned.is_empty() {
            return Ok(None);
        }
        let (_, undo) = editor.apply(&planned).map_err(failed)?;
        Ok(Some(Undo::Marks(undo)))
    }

    /// Rewrites the book; the old one becomes a backup for undo.
    fn rewrite(
        &self,
        write: impl FnOnce(&Path, &RewriteOptions) -> Result<(), Message>,
    ) -> Result<Option<Undo>, Message> {
        self.check_lines()?;
        // An interrupted change is completed first, and a damaged book is refused.
        let editor = self.open()?;
        let only = editor.book().as_ctg().and_then(ctg::CtgBook::only);
        drop(editor);
        let old = Backup::copy(&self.path).map_err(|error| self.io_error(&error))?;
        let options = RewriteOptions::default().old(Previous::Replace).only(only);
        write(&self.path, &options)?;
        let new = self.hash()?;
        Ok(Some(Undo::Files { old, new }))
    }

    /// Fails if the format allows neither adding nor removing lines.
    fn check_lines(&self) -> Result<(), Message> {
        let (path, title) = (self.path.display(), self.format.title());
        match self.format.has_lines_to_change() {
            true => Ok(()),
            false => Err(translatable!(
                "{0} ({1}): only the numbers beside its moves can be changed; `tabia convert` makes a ChessBase book of it",
                path.to_string(),
                title
            )),
        }
    }

    fn open(&self) -> Result<BookEditor, Message> {
        BookEditor::open(&self.path, &EditOptions::default()).map_err(failed)
    }

    /// A hash of the file's content.
    fn hash(&self) -> Result<u64, Message> {
        let hash = || {
            let mut file = File::open(&self.path)?;
            let mut hasher = DefaultHasher::new();
            let mut piece = vec![0; 256 << 10];
            loop {
                let read = file.read(&mut piece)?;
                match piece.get(..read) {
                    Some(bytes) if read > 0 => hasher.write(bytes),
                    _ => return Ok(hasher.finish()),
                }
            }
        };
        hash().map_err(|error| self.io_error(&error))
    }

    fn io_error(&self, error: &io::Error) -> Message {
        format!("{}: {error}", self.path.display()).into()
    }
}

/// Fails unless the values of moves in the book are those that a page saw or set.
fn check_unchanged(book: &Book, moves: &[(Chess, Move)], seen: &MarkEdit) -> Result<(), Message> {
    let mut found = Lookup::default();
    for (position, mv) in moves {
        book.probe(position, Wanted::Transpositions, &mut found)
            .map_err(failed)?;
        let Some(now) = found.moves.iter().find(|known| known.mv == *mv) else {
            let (path, san) = (book.path().display(), notation::san(position, *mv));
            return Err(translatable!(
                "{0}: {1} is not in the book; nothing was changed",
                path.to_string(),
                san
            ));
        };
        let changed = |what: Message, now: &str| {
            let now = if now.is_empty() { "none" } else { now };
            Err(translatable!(
                "it has been changed elsewhere: its {0} is now {1}; nothing was written",
                what,
                Message::from(now)
            ))
        };
        let weight = match now.preference {
            Preference::Statistics => None,
            Preference::Weight(weight) => Some(weight.min(u16::MAX.into())),
            Preference::Priority(priority) => Some(priority.into()),
        };
        if let Some(now) = weight {
            // These books have no other values.
            let never = (seen.recommendation == Some(Mark::Avoid)).then_some(0);
            let seen = seen.weight.or(never);
            if seen.is_some_and(|seen| u32::from(seen) != now) {
                return changed(translatable!("weight"), &now.to_string());
            }
            continue;
        }
        if seen.recommendation.is_some_and(|mark| mark != now.mark()) {
            return changed(translatable!("mark"), now.mark().as_str());
        }
        let annotation = now.annotation.nag();
        if seen.annotation.is_some_and(|seen| seen.nag() != annotation) {
            return changed(translatable!("annotation"), now.annotation.symbol());
        }
        let learn_value = now.learn_value();
        if seen.learn_value.is_some_and(|seen| seen != learn_value) {
            return changed(translatable!("learn value"), &learn_value.to_string());
        }
        let after = now.after.unwrap_or_default();
        let commentary = after.commentary_for(position.turn().other());
        if seen.commentary.is_some_and(|seen| seen != commentary) {
            return changed(translatable!("commentary"), &commentary_name(commentary));
        }
    }
    Ok(())
}

/// Conditions that remove the last moves of these lines.
fn without(lines: &[Line]) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.lines = lines.to_vec();
    conditions.unlisted = true;
    conditions
}

/// Copies of the old files of a book, in a folder next to it; deleted on drop.
pub(super) struct Backup {
    _folder: TempFolder,
    /// The copy of each file and the path of the original. The book is the first.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Backup {
    fn copy(path: &Path) -> io::Result<Backup> {
        let _folder = TempFolder::beside(path)?;
        let companions = COMPANIONS.iter().filter_map(|ending| sibling(path, ending));
        let mut files = Vec::new();
        for original in std::iter::once(path.to_owned()).chain(companions) {
            let name = original.file_name().unwrap_or_default();
            let copy = _folder.path().join(name);
            // The new book gets new files, so a hard link preserves the old ones.
            if std::fs::hard_link(&original, &copy).is_err() {
                std::fs::copy(&original, &copy)?;
            }
            files.push((copy, original));
        }
        Ok(Backup { _folder, files })
    }

    /// Restores the old files.
    fn restore(&self) -> io::Result<()> {
        let restored = |(copy, original): &(PathBuf, PathBuf)| {
            NewFile::copy_of(copy, original, Previous::Replace).map_err(io::Error::other)
        };
        let all: io::Result<Vec<NewFile>> = self.files.iter().map(restored).collect();
        let mut all = all?.into_iter();
        if let Some(book) = all.next() {
            // The old book had perhaps no index, and that of the new one is not its own.
            let gone: Vec<PathBuf> = COMPANIONS
                .iter()
                .filter_map(|ending| sibling(book.path(), ending))
                .filter(|path| !self.files.iter().any(|(_, original)| original == path))
                .collect();
            book.commit_without(all.collect(), &gone)
                .map_err(io::Error::other)?;
        }
        Ok(())
    }
}

pub(crate) fn failed(error: impl std::error::Error) -> Message {
    error.to_string().into()
}
