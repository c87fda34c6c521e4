//! Opens the files of a user: books of any format, and games, of which an index is made for
//! this run of the program.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::books::{ExploredBook, Reopen};
use super::content::{NoIndex, OpenError};
use super::folders::{OpenFiles, OpenedFile};
use tabia_book::evals;
use tabia_choice::book_set::{Opener, as_played};
use tabia_choice::learn;
use tabia_choice::settings::{EvaluationFile, Options, STARTER};
use tabia_games::tgx::is_index;
use tabia_index::{GamesIndex, IndexJob};
use tabia_io::atomic::TempFolder;
use tabia_io::input::path::{from_home, from_text, temporary_folder, to_text};
use tabia_io::input::sibling::sibling;
use tabia_io::parallel::lock;
use tabia_io::progress::{Progress, Watch};
use tabia_notation::kind::Kind;

/// What a program does with the work of a [`FileOpener`]: by default nothing.
pub trait Reports: Send + Sync {
    /// Reports a problem of a book that was opened.
    fn notice(&self, _text: &str) {}

    /// Makes an index; `name` is that of the games, for messages.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    fn index(
        &self,
        job: &IndexJob,
        name: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), OpenError> {
        let made = job.run(&mut Watch::new(progress, &AtomicBool::new(false)));
        made.map_err(|error| NoIndex::new(name, error))?;
        Ok(())
    }
}

/// Opens files as the books of an explorer.
pub struct FileOpener<R> {
    opener: Opener,
    options: Options,
    read_only: bool,
    reports: R,
    /// The folders of the indexes that were made for this run.
    made: Mutex<Vec<TempFolder>>,
}

/// Whether a file is an index of games, or games of which an index can be made.
#[must_use]
pub fn has_games(path: &Path) -> bool {
    if is_index(path) {
        return true;
    }
    match Kind::of_file(path) {
        Some(Kind::Book(_)) => false,
        Some(Kind::Pgn) => true,
        _ => tabia_games::is_game_file(path),
    }
}

impl<R: Reports> FileOpener<R> {
    /// Opens books for play with these options; pages may change them unless they are
    /// `read_only`.
    pub fn new(opener: Opener, options: Options, read_only: bool, reports: R) -> FileOpener<R> {
        FileOpener {
            opener,
            options,
            read_only,
            reports,
            made: Mutex::default(),
        }
    }

    /// Opens an index of games. Of other games one is made, in a hidden folder beside them
    /// or, if that cannot be written, in the system's folder of temporary files; it is
    /// deleted when the program ends.
    ///
    /// # Errors
    ///
    /// The games cannot be read, or an index cannot be written.
    pub fn games(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<GamesIndex, OpenError> {
        if is_index(path) {
            return Ok(GamesIndex::open(path, self.opener.mmap)?);
        }
        let name = path.display().to_string();
        // Before a folder is made for nothing.
        File::open(path).map_err(|error| format!("{name}: {error}"))?;
        let folder = TempFolder::beside(path).or_else(|_| folder_elsewhere());
        let folder = folder.map_err(|error| NoIndex::new(&name, error))?;
        self.indexed(path, &name, folder, progress)
    }

    /// Makes an index of the games of a file in a folder, which is kept until the end.
    fn indexed(
        &self,
        path: &Path,
        name: &str,
        folder: TempFolder,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<GamesIndex, OpenError> {
        let target = folder.path().join("games.tgx");
        let job = IndexJob::new([path], &target);
        self.reports.index(&job, name, progress)?;
        let index = GamesIndex::open(&target, self.opener.mmap)?;
        lock(&self.made).push(folder);
        Ok(index)
    }

    /// Opens a book, a path or [`STARTER`], under this name.
    ///
    /// # Errors
    ///
    /// The file is not a book, or cannot be read.
    pub fn book(&self, path: &str, name: String) -> Result<ExploredBook, tabia_book::Error> {
        let opener = self.opener.clone();
        let first = opener.open(path)?;
        let mut notices = first.notices().to_vec();
        for notice in &notices {
            self.reports.notice(notice);
        }
        let first = Arc::new(first);
        let file = (path != STARTER).then(|| Arc::clone(&first));
        let again = path.to_owned();
        let learns = self.options.learn;
        let evaluations = self.options.evaluations.clone();
        let mut files = files_of(first.path(), &evaluations);
        let (first, side) = as_played(first, learns);
        files.extend(side.iter().filter_map(|side| learn::fallback_path(side)));
        files.extend(side);
        let (first, _) = opener.evaluated(first, path, &evaluations, &mut notices);
        let reopen: Reopen = Box::new(move || {
            let book = opener.open(&again)?;
            let (book, _) = as_played(Arc::new(book), learns);
            Ok(opener
                .evaluated(book, &again, &evaluations, &mut Vec::new())
                .0)
        });
        let book = ExploredBook::new(name, notices, first, reopen)
            .with_files(files)
            .with_learning(learns);
        Ok(match self.read_only {
            true => book,
            false => book.with_editing(file.as_deref()),
        })
    }
}

impl<R: Reports> OpenFiles for FileOpener<R> {
    fn open(
        &self,
        path: &Path,
        name: String,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<OpenedFile, OpenError> {
        Ok(match has_games(path) {
            true => OpenedFile::Index(self.games(path, progress)?),
            false => OpenedFile::Book(Box::new(self.book(&to_text(path), name)?)),
        })
    }

    fn index(
        &self,
        name: &str,
        pgn: &[u8],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<GamesIndex, OpenError> {
        let folder = folder_elsewhere().map_err(|error| NoIndex::new(name, error))?;
        let path = folder.path().join("games.pgn");
        let failed = |error: io::Error| NoIndex::new(&to_text(&path), error);
        fs::write(&path, pgn).map_err(failed)?;
        let index = self.indexed(&path, name, folder, progress)?;
        // The index has the games themselves.
        fs::remove_file(&path).map_err(failed)?;
        Ok(index)
    }
}

/// A folder in that of temporary files.
fn folder_elsewhere() -> io::Result<TempFolder> {
    TempFolder::beside(&temporary_folder().join("tabia"))
}

/// The files that a book is read from, existing or not.
fn files_of(book: &Path, evaluations: &EvaluationFile) -> Vec<PathBuf> {
    let beside = |ending| sibling(book, ending).unwrap_or_else(|| book.with_extension(ending));
    let mut files = vec![book.to_owned(), beside("cto"), beside("ctb")];
    match evaluations {
        EvaluationFile::None => {}
        EvaluationFile::Beside => files.push(evals::beside(book)),
        EvaluationFile::Named(path) => {
            files.extend(from_text(path).iter().map(|path| from_home(path)));
        }
    }
    files
}
