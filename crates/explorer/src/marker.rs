//! Changes to ChessBase books, by the same ways as `tabia mark`, `add` and
//! `prune`.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Move};

use super::edit::{BookMarker, MarkerError, Undo, failed};
use super::weigher::Weigher;
use tabia_analysis::prune::{self, Conditions};
use tabia_book::ctg::{self, EditOptions, RewriteOptions};
use tabia_book::{Book, Format, MarkEdit};
use tabia_build as build;
use tabia_io::atomic::{self, NewFile, Old, TempFolder};
use tabia_io::input::sibling::sibling;
use tabia_io::progress::Watch;
use tabia_notation::Line;

/// What stands beside a book.
const COMPANIONS: [&str; 2] = ["cto", "ctb"];

/// Writes changes to the files of a book, as its format has a place for them.
#[must_use]
pub fn marker_of(book: &Book) -> Box<dyn BookMarker> {
    let path = book.path().to_owned();
    atomic::remove_leftovers(&path);
    match book.format() {
        Format::Ctg => Box::new(CtgMarker { path }),
        format => Box::new(Weigher::new(path, format)),
    }
}

/// Changes a ChessBase book.
///
/// The book is locked for each change alone, so that other programs can
/// change it, too, while the page is open.
#[derive(Debug)]
struct CtgMarker {
    path: PathBuf,
}

impl CtgMarker {
    /// Writes the book anew; the old one is kept as a backup for undo.
    fn rewrite(
        &self,
        write: impl FnOnce(&Path, &RewriteOptions) -> Result<(), MarkerError>,
    ) -> Result<Option<Undo>, MarkerError> {
        // An interrupted change is carried out first, and a damaged book refused.
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
                let reason = "the book has been changed since; nothing was taken back";
                return Err(MarkerError(reason.to_owned()));
            }
            let _kept_away = open(&path)?;
            before.restore().map_err(|error| unwritten(&path, &error))
        })))
    }
}

impl BookMarker for CtgMarker {
    fn change(
        &self,
        moves: &[(Chess, Move)],
        change: &MarkEdit,
    ) -> Result<Option<Undo>, MarkerError> {
        let mut editor = open(&self.path)?;
        let mut planned = Vec::new();
        for (position, mv) in moves {
            planned.extend(editor.plan(position, *mv, change).map_err(failed)?);
        }
        if planned.is_empty() {
            return Ok(None);
        }
        let back = editor.apply(&planned).map_err(failed)?;
        let path = self.path.clone();
        Ok(Some(Box::new(move || {
            open(&path)?.apply(&back).map_err(failed)?;
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

/// That the last moves of these go.
fn without(lines: &[Line]) -> Conditions {
    Conditions {
        lines: lines.to_vec(),
        unlisted: true,
        ..Conditions::default()
    }
}

/// The files of a book as they were, in a folder beside it that goes with this.
struct Backup {
    _folder: TempFolder,
    /// Where each is kept, and where it stood. The book is the first.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Backup {
    fn of(path: &Path) -> io::Result<Backup> {
        let folder = TempFolder::beside(path)?;
        let companions = COMPANIONS.iter().filter_map(|ending| sibling(path, ending));
        let files: Vec<(PathBuf, PathBuf)> = std::iter::once(path.to_owned())
            .chain(companions)
            .map(|own| (folder.path().join(own.file_name().unwrap_or_default()), own))
            .collect();
        for (kept, own) in &files {
            // The new book gets files of its own, so a second name keeps the old ones.
            if std::fs::hard_link(own, kept).is_err() {
                std::fs::copy(own, kept)?;
            }
        }
        let _folder = folder;
        Ok(Backup { _folder, files })
    }

    /// Puts the old files in place again.
    fn restore(&self) -> io::Result<()> {
        let copied = |(kept, own): &(PathBuf, PathBuf)| -> io::Result<NewFile> {
            let mut new = NewFile::create(own, Old::Replace).map_err(io::Error::other)?;
            io::copy(&mut File::open(kept)?, &mut new)?;
            Ok(new)
        };
        let all: io::Result<Vec<NewFile>> = self.files.iter().map(copied).collect();
        let mut all = all?.into_iter();
        if let Some(book) = all.next() {
            book.put_with(all.collect()).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// Tells contents apart.
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

fn open(path: &Path) -> Result<ctg::Editor, MarkerError> {
    ctg::Editor::open(path, &EditOptions::default()).map_err(failed)
}

fn unwritten(path: &Path, error: &io::Error) -> MarkerError {
    MarkerError(format!("{}: {error}", path.display()))
}
