//! Changes to the file of a book, by the same functions as `tabia mark`, `add` and
//! `prune`. Polyglot and Arena books have only one weight for each move.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Move, Position as _};

use super::edit::{BookMarker, MarkerError, Undo, failed};
use super::message::{Message, message};
use tabia_analysis::prune::{self, Conditions};
use tabia_book::ctg::{self, RewriteOptions};
use tabia_book::mark::words::commentary_name;
use tabia_book::{
    Book, BookEditor, EditOptions, Format, Lookup, Mark, MarkEdit, Preference, Probe as _, Wanted,
};
use tabia_build as build;
use tabia_io::atomic::{self, NewFile, Old, TempFolder};
use tabia_io::input::sibling::sibling;
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line};

/// Extensions of the files that belong to a book.
const COMPANIONS: [&str; 2] = ["cto", "ctb"];

/// Writes changes to the files of a book.
#[must_use]
pub fn marker_of(book: &Book) -> Box<dyn BookMarker> {
    let path = book.path().to_owned();
    atomic::remove_leftovers(&path);
    let format = book.format();
    Box::new(FileMarker { path, format })
}

/// Why the book in this file cannot be changed, if so; without a file it is the one
/// within the program.
#[must_use]
pub fn reason_not_to_edit(path: Option<&Path>) -> Option<Message> {
    let Some(path) = path else {
        return Some(message!(
            "the book is part of the program: convert or copy it to a file to change it"
        ));
    };
    let is_readonly = |path: &Path| {
        path.metadata()
            .is_ok_and(|file| file.permissions().readonly())
    };
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
        Some(message!("the file is read-only"))
    } else if cfg!(unix) && is_readonly(folder.unwrap_or(Path::new("."))) {
        // A rewritten book is first written to a temporary file in the same folder.
        Some(message!("its folder is read-only"))
    } else {
        None
    }
}

/// Changes a book of any format.
///
/// The book is locked only during a change, so that other programs can change it, too,
/// while the page is open.
#[derive(Debug)]
struct FileMarker {
    path: PathBuf,
    format: Format,
}

impl FileMarker {
    /// Fails if the format allows neither adding nor removing lines.
    fn check_lines(&self) -> Result<(), MarkerError> {
        let (path, title) = (self.path.display(), self.format.title());
        match self.format {
            Format::Ctg => Ok(()),
            Format::Bin | Format::Abk => Err(MarkerError(message!(
                "{0} ({1}): only the numbers beside its moves can be changed; `tabia convert` makes a ChessBase book of it",
                path.to_string(),
                title
            ))),
        }
    }

    /// Rewrites the book; the old one becomes a backup for undo.
    fn rewrite(
        &self,
        write: impl FnOnce(&Path, &RewriteOptions) -> Result<(), MarkerError>,
    ) -> Result<Option<Undo>, MarkerError> {
        self.check_lines()?;
        // An interrupted change is completed first, and a damaged book is refused.
        drop(open(&self.path)?);
        let before = Backup::of(&self.path).map_err(|error| unwritten(&self.path, &error))?;
        let options = RewriteOptions {
            old: Old::Replace,
            ..RewriteOptions::default()
        };
        write(&self.path, &options)?;
        let path = self.path.clone();
        let left = content(&path).map_err(|error| unwritten(&path, &error))?;
        Ok(Some(Box::new(move || {
            let now = content(&path).map_err(|error| unwritten(&path, &error))?;
            if now != left {
                return Err(MarkerError(message!(
                    "the book has been changed since; nothing was taken back"
                )));
            }
            let _kept_away = open(&path)?;
            before.restore().map_err(|error| unwritten(&path, &error))
        })))
    }
}

impl BookMarker for FileMarker {
    fn most_weight(&self) -> Option<u16> {
        self.format.most_weight()
    }

    fn change(
        &self,
        moves: &[(Chess, Move)],
        edit: &MarkEdit,
        seen: Option<&MarkEdit>,
    ) -> Result<Option<Undo>, MarkerError> {
        let options = EditOptions::default();
        let mut editor = BookEditor::open_for(&self.path, edit, &options).map_err(failed)?;
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
        let back = editor.apply(&planned).map_err(failed)?;
        let (path, moves, made) = (self.path.clone(), moves.to_vec(), *edit);
        Ok(Some(Box::new(move || {
            let mut editor = open(&path)?;
            check_unchanged(editor.book(), &moves, &made)?;
            editor.apply(&back).map_err(failed)?;
            Ok(())
        })))
    }

    fn add(&self, lines: &[(Line, Vec<(usize, u8)>)]) -> Result<Option<Undo>, MarkerError> {
        self.rewrite(|path, options| {
            let folder = TempFolder::beside(path).map_err(|error| unwritten(path, &error))?;
            let added = folder.path().join("lines.ctg");
            build::write_lines(lines, &added).map_err(failed)?;
            let books = [path.to_owned(), added];
            ctg::merge(path, &books, options, &mut Watch::default()).map_err(failed)?;
            Ok(())
        })
    }

    fn count_removed(&self, lines: &[Line], stop: &AtomicBool) -> Result<u64, MarkerError> {
        self.check_lines()?;
        let book = ctg::CtgBook::open(&self.path, &ctg::OpenOptions { mmap: false });
        let mut watch = Watch::stopped_by(stop);
        prune::count(&book.map_err(failed)?, &without(lines), &mut watch).map_err(failed)
    }

    fn remove(&self, lines: &[Line]) -> Result<Option<Undo>, MarkerError> {
        let conditions = without(lines);
        self.rewrite(|path, options| {
            prune::prune(path, path, &conditions, options, &mut Watch::default())
                .map_err(failed)?;
            Ok(())
        })
    }
}

/// Fails unless the values of moves in the book are those that a page saw or set.
fn check_unchanged(
    book: &Book,
    moves: &[(Chess, Move)],
    seen: &MarkEdit,
) -> Result<(), MarkerError> {
    let mut found = Lookup::default();
    for (position, mv) in moves {
        book.probe(position, Wanted::Transpositions, &mut found)
            .map_err(failed)?;
        let Some(now) = found.moves.iter().find(|known| known.mv == *mv) else {
            let (path, san) = (book.path().display(), notation::san(position, *mv));
            return Err(MarkerError(message!(
                "{0}: {1} is not in the book; nothing was changed",
                path.to_string(),
                san
            )));
        };
        let never = (seen.recommendation == Some(Mark::Avoid)).then_some(0);
        let changed = |what: Message, now: &str| {
            let now = if now.is_empty() { "none" } else { now };
            Err(MarkerError(message!(
                "somebody else changed it meanwhile: its {0} is {1} now; nothing was written",
                what,
                Message::from(now)
            )))
        };
        let weight = match now.preference {
            Preference::Statistics => None,
            Preference::Weight(weight) => Some(weight.min(u16::MAX.into())),
            Preference::Priority(priority) => Some(priority.into()),
        };
        if let Some(now) = weight {
            // These books have no other values.
            if seen
                .weight
                .or(never)
                .is_some_and(|seen| u32::from(seen) != now)
            {
                return changed(message!("weight"), &now.to_string());
            }
            continue;
        }
        if seen.recommendation.is_some_and(|mark| mark != now.mark()) {
            return changed(message!("mark"), now.mark().as_str());
        }
        if seen
            .annotation
            .is_some_and(|sign| sign.nag() != now.annotation.nag())
        {
            return changed(message!("annotation"), now.annotation.symbol());
        }
        if seen
            .learn_value
            .is_some_and(|learn_value| learn_value != now.learn_value())
        {
            return changed(message!("learn value"), &now.learn_value().to_string());
        }
        let after = now
            .after
            .unwrap_or_default()
            .commentary_for(position.turn().other());
        if seen.commentary.is_some_and(|nag| nag != after) {
            return changed(message!("commentary"), &commentary_name(after));
        }
    }
    Ok(())
}

/// Conditions that remove the last moves of these lines.
fn without(lines: &[Line]) -> Conditions {
    Conditions {
        lines: lines.to_vec(),
        unlisted: true,
        ..Conditions::default()
    }
}

/// Copies of the old files of a book, in a folder next to it; deleted on drop.
struct Backup {
    _folder: TempFolder,
    /// The copy of each file and the path of the original. The book is the first.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Backup {
    fn of(path: &Path) -> io::Result<Backup> {
        let folder = TempFolder::beside(path)?;
        let companions = COMPANIONS.iter().filter_map(|ending| sibling(path, ending));
        let files: Vec<(PathBuf, PathBuf)> = std::iter::once(path.to_owned())
            .chain(companions)
            .map(|file| {
                (
                    folder.path().join(file.file_name().unwrap_or_default()),
                    file,
                )
            })
            .collect();
        for (copy, original) in &files {
            // The new book gets new files, so a hard link preserves the old ones.
            if std::fs::hard_link(original, copy).is_err() {
                std::fs::copy(original, copy)?;
            }
        }
        let _folder = folder;
        Ok(Backup { _folder, files })
    }

    /// Restores the old files.
    fn restore(&self) -> io::Result<()> {
        let restored = |(copy, original): &(PathBuf, PathBuf)| -> io::Result<NewFile> {
            let mut new = NewFile::create(original, Old::Replace).map_err(io::Error::other)?;
            io::copy(&mut File::open(copy)?, &mut new)?;
            Ok(new)
        };
        let all: io::Result<Vec<NewFile>> = self.files.iter().map(restored).collect();
        let mut all = all?.into_iter();
        if let Some(book) = all.next() {
            book.put_with(all.collect()).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// A hash of a file's content.
fn content(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut hasher = DefaultHasher::new();
    let mut piece = vec![0; 256 << 10];
    loop {
        let read = file.read(&mut piece)?;
        match piece.get(..read) {
            Some(bytes) if read > 0 => hasher.write(bytes),
            _ => return Ok(hasher.finish()),
        }
    }
}

fn open(path: &Path) -> Result<BookEditor, MarkerError> {
    BookEditor::open(path, &EditOptions::default()).map_err(failed)
}

fn unwritten(path: &Path, error: &io::Error) -> MarkerError {
    MarkerError(format!("{}: {error}", path.display()).into())
}
