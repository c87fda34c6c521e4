//! An index of games in the place of a book: one is made for the run.

use std::ops::Deref;
use std::path::Path;

use crate::cli::files;
use crate::cli::print::progress;
use tabia_book::Book;
use tabia_build::{self as build, BuildJob, Source};
use tabia_index::GamesIndex;
use tabia_io::atomic::TempFolder;

/// A book, of games perhaps.
pub(crate) struct BookOrGames {
    book: Book,
    /// Where the book of games is; dropped after it.
    _folder: Option<TempFolder>,
}

impl Deref for BookOrGames {
    type Target = Book;

    fn deref(&self) -> &Book {
        &self.book
    }
}

/// Opens the book of a command, or makes one of all plies of an index of games (.tgx).
pub(crate) fn open(path: &Path, no_mmap: bool) -> anyhow::Result<BookOrGames> {
    if !path.exists() || !files::is_index(path) {
        let book = files::open_book(path, no_mmap)?;
        return Ok(BookOrGames {
            book,
            _folder: None,
        });
    }
    let plies = GamesIndex::open(path, !no_mmap)?.file().root().max_ply;
    let folder = TempFolder::beside(&std::env::temp_dir().join("games.ctg"))?;
    let target = folder.path().join("games.ctg");
    summary!(
        "{}: a book of its games is made for this run",
        path.display()
    );
    let job =
        BuildJob::new(vec![Source::new(path.to_owned())], target.clone()).max_ply(plies.into());
    progress::watched(|watch| build::run(&job, watch))??;
    Ok(BookOrGames {
        book: files::open_book(&target, no_mmap)?,
        _folder: Some(folder),
    })
}
