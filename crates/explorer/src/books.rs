//! The books of the program. Each stays open, and is reopened when its file has changed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::content::{Content, Open, OpenError};
use super::edit::{EditHistory, reason_not_to_edit};
use super::filter::{Filters, GamesFilter, UnderFilter};
use super::message::{Message, translatable};
use super::training::Deck;
use tabia_book::{Book, OpenOptions};
use tabia_io::input::bytes::{FNV_START, fnv1a};
use tabia_io::input::path::file_name;
use tabia_io::input::state::Identity;
use tabia_io::parallel::lock;

/// Opens the book again.
pub type Reopen = Box<dyn Fn() -> Result<Open, OpenError> + Send + Sync>;

/// A book in the explorer.
pub struct ExploredBook {
    name: String,
    notices: Vec<String>,
    open: Mutex<Content>,
    reopen: Reopen,
    /// The changes made to it, or why it cannot be changed.
    history: Result<EditHistory, Message>,
    /// How often it has been reopened.
    times_reopened: AtomicU64,
    /// Whether learn values include what was learned while playing.
    learns: bool,
    /// The files that it is read from and that are checked for changes.
    files: Vec<PathBuf>,
    /// The state of these files when it was last opened.
    seen: Mutex<Vec<Option<Identity>>>,
    /// Of a book that consists of games.
    filters: Option<Filters>,
    /// Number of plies of its games.
    depth: Option<u16>,
    /// The games of which its index was made.
    source: Option<Source>,
}

/// The games of which an index was made, as they were then.
#[derive(PartialEq, Eq)]
pub struct Source(Origin);

#[derive(PartialEq, Eq)]
enum Origin {
    File {
        path: PathBuf,
        state: Identity,
    },
    /// The checksum of what a page has sent.
    Sent(u64),
}

impl Source {
    /// The file as it is now; `None` if it cannot be found.
    #[must_use]
    pub fn now(path: &Path) -> Option<Source> {
        let path = path.canonicalize().ok()?;
        let state = Identity::from_metadata(&path.metadata().ok()?);
        Some(Source(Origin::File { path, state }))
    }

    /// Games that a page sends, with the name of their file.
    pub(super) fn sent(name: &str, games: &[u8]) -> Source {
        let sum = fnv1a(fnv1a(FNV_START, name.as_bytes()), games);
        Source(Origin::Sent(sum))
    }
}

/// The state of each file now; `None` for a missing one. No content is read.
fn states(files: &[PathBuf]) -> Vec<Option<Identity>> {
    let state = |path: &PathBuf| {
        path.metadata()
            .ok()
            .map(|found| Identity::from_metadata(&found))
    };
    files.iter().map(state).collect()
}

impl ExploredBook {
    /// The book in a file of any format, under the name of the file. Pages may change it.
    ///
    /// # Errors
    ///
    /// The file is not a book, or cannot be read.
    pub fn from_file(path: &Path) -> Result<ExploredBook, tabia_book::Error> {
        let book = Arc::new(Book::open(path, &OpenOptions::default())?);
        let again = path.to_owned();
        let reopen =
            Box::new(move || Ok(Arc::new(Book::open(&again, &OpenOptions::default())?) as Open));
        let name = file_name(path).into_owned();
        Ok(ExploredBook::new(name, Vec::new(), book.clone(), reopen)
            .with_editing(Some(&book))
            .with_files(vec![path.to_owned()]))
    }

    /// A book that is `open` now and can be reopened. `name` is for users; `notices`
    /// describe problems. It cannot be changed.
    #[must_use]
    pub fn new(name: String, notices: Vec<String>, open: Open, reopen: Reopen) -> ExploredBook {
        ExploredBook {
            name,
            notices,
            open: Mutex::new((open, Arc::default())),
            reopen,
            history: Err(translatable!("this book cannot be changed")),
            times_reopened: AtomicU64::new(0),
            learns: false,
            files: Vec::new(),
            seen: Mutex::default(),
            filters: None,
            depth: None,
            source: None,
        }
    }

    /// Lets pages change its file, if that is possible; `None` if it is the book within
    /// the program.
    #[must_use]
    pub fn with_editing(self, file: Option<&Book>) -> ExploredBook {
        let history = match (file, reason_not_to_edit(file.map(Book::path))) {
            (Some(book), None) if book.format().is_writable() => Ok(EditHistory::new(book)),
            (_, reason) => reason.map_or(self.history, Err),
        };
        ExploredBook { history, ..self }
    }

    /// The changes made to it.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be changed.
    pub(super) const fn history(&self) -> Result<&EditHistory, &Message> {
        self.history.as_ref()
    }

    /// Adds a filter, for a book that consists of games, of which each has `depth` plies.
    pub(super) fn with_filter(self, depth: u16, make: UnderFilter) -> ExploredBook {
        ExploredBook {
            depth: Some(depth),
            filters: Some(Filters::new(make)),
            history: Err(translatable!("an index of games has no marks")),
            ..self
        }
    }

    /// Whether game filters apply to it.
    pub(super) const fn has_games(&self) -> bool {
        self.filters.is_some()
    }

    /// The file that it is read from, unless it is within the program.
    pub(super) fn file(&self) -> Option<&Path> {
        self.files.first().map(PathBuf::as_path)
    }

    /// The deck of its training: beside the file that the user knows, be it the games of an
    /// index that lasts as long as the program.
    pub(super) fn deck(&self) -> Deck {
        match (self.source.as_ref().map(|source| &source.0), self.file()) {
            (Some(Origin::File { path, .. }), _) => Deck::beside(path),
            (Some(Origin::Sent(sum)), _) => Deck::named(&format!("{} {sum:016x}", self.name)),
            (None, Some(file)) => Deck::beside(file),
            (None, None) => Deck::named(&self.name),
        }
    }

    /// Number of plies of each game that it has, if it consists of games.
    pub(super) const fn depth(&self) -> Option<u16> {
        self.depth
    }

    /// Whether it is read from this file, or from an index of the games that the file has
    /// now; `path` has no links.
    pub(super) fn is_read_from(&self, path: &Path) -> bool {
        let own = self.file().and_then(|own| own.canonicalize().ok());
        own.is_some_and(|own| own == path)
            || Source::now(path).is_some_and(|now| self.is_made_of(&now))
    }

    /// Whether it is an index of these games.
    pub(super) fn is_made_of(&self, games: &Source) -> bool {
        self.source.as_ref() == Some(games)
    }

    /// Sets the games of which its index was made: pages that open them get this book.
    #[must_use]
    pub fn with_source(self, source: Option<Source>) -> ExploredBook {
        ExploredBook { source, ..self }
    }

    /// Reopens the book when one of these files changes: those that it is read from, and
    /// those that may be created later.
    #[must_use]
    pub fn with_files(self, files: Vec<PathBuf>) -> ExploredBook {
        let seen = Mutex::new(states(&files));
        ExploredBook {
            files,
            seen,
            ..self
        }
    }

    /// Sets `learns`: whether results learned while playing are added to its learn
    /// values, so that they differ from those of the file.
    #[must_use]
    pub fn with_learning(self, learns: bool) -> ExploredBook {
        ExploredBook { learns, ..self }
    }

    pub(super) const fn learns(&self) -> bool {
        self.learns
    }

    /// Reopens the book if one of its files has changed since the last check; reads
    /// nothing otherwise.
    pub(super) fn reload_changed(&self) {
        let now = states(&self.files);
        let is_known = *lock(&self.seen) == now;
        if !is_known {
            // If it cannot be opened, the next change leads to another attempt.
            let _ = self.reopen();
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The book as it is on disk now. If its file cannot be opened, the one that is open
    /// stays.
    pub(super) fn current(&self) -> Open {
        self.content().0
    }

    /// The present book, with cached data about it.
    pub(super) fn content(&self) -> Content {
        let known = || lock(&self.open).clone();
        let (open, cache) = known();
        if open.is_current() || self.reopen().is_err() {
            return (open, cache);
        }
        known()
    }

    /// The present content; of an index, the games that match a filter.
    pub(super) fn under(&self, filter: &GamesFilter) -> Result<Content, OpenError> {
        let content = self.content();
        match &self.filters {
            Some(filters) if *filter != GamesFilter::default() => {
                filters.content(filter, self.times_reopened())
            }
            _ => Ok(content),
        }
    }

    /// A number that changes with each change of the content.
    pub(super) fn generation(&self) -> u64 {
        let _ = self.current();
        self.times_reopened()
    }

    /// How often it has been reopened.
    pub(super) fn times_reopened(&self) -> u64 {
        self.times_reopened.load(Ordering::Acquire)
    }

    /// Reopens the book.
    pub(super) fn reopen(&self) -> Result<(), OpenError> {
        // Any later change of the files is detected next time.
        let now = states(&self.files);
        *lock(&self.seen) = now;
        let open = (self.reopen)()?;
        *lock(&self.open) = (open, Arc::default());
        self.times_reopened.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn an_index_belongs_to_games_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let [games, other] = ["games.pgn", "other.pgn"].map(|name| folder.path().join(name));
        std::fs::write(&games, "1. e4 1-0").unwrap();
        std::fs::write(&other, "1. e4 1-0").unwrap();
        let starter = || Arc::new(tabia_choice::book_set::starter().unwrap()) as Open;
        let book = |source| {
            let again = Box::new(move || Ok(starter()));
            ExploredBook::new("games".into(), Vec::new(), starter(), again).with_source(source)
        };
        let [path, other] = [games.canonicalize(), other.canonicalize()].map(Result::unwrap);
        let made = book(Source::now(&games));
        assert!(made.is_read_from(&path) && !made.is_read_from(&other));
        std::fs::write(&games, "1. e4 1-0 1. d4 1-0").unwrap();
        assert!(!made.is_read_from(&path));
        assert!(!book(None).is_read_from(&folder.path().join("missing")));
    }

    #[test]
    fn files_are_read_again_once_for_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let [book, beside] = ["book.ctg", "book.evals"].map(|name| folder.path().join(name));
        std::fs::write(&book, "1").unwrap();
        let starter = || Arc::new(tabia_choice::book_set::starter().unwrap()) as Open;
        let opened = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&opened);
        let readable = book.clone();
        let reopen = Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let text = std::fs::read_to_string(&readable)?;
            match text.as_str() {
                "broken" => Err(text.into()),
                _ => Ok(starter()),
            }
        });
        let explored = ExploredBook::new("book".into(), Vec::new(), starter(), reopen)
            .with_files(vec![book.clone(), beside.clone()]);
        let look = || {
            (0..100).for_each(|_| explored.reload_changed());
            (opened.load(Ordering::Relaxed), explored.times_reopened())
        };
        assert_eq!(look(), (0, 0));
        std::fs::write(&book, "22").unwrap();
        assert_eq!(look(), (1, 1));
        // A new file that is deleted again.
        std::fs::write(&beside, "").unwrap();
        assert_eq!(look(), (2, 2));
        std::fs::remove_file(&beside).unwrap();
        assert_eq!(look(), (3, 3));
        // Another file with the same name and length.
        let other = folder.path().join("other");
        std::fs::write(&other, "33").unwrap();
        std::fs::rename(&other, &book).unwrap();
        assert_eq!(look(), (4, 4));
        // A file that cannot be read is not tried again and again.
        std::fs::write(&book, "broken").unwrap();
        assert_eq!(look(), (5, 4));
        std::fs::write(&book, "whole again").unwrap();
        assert_eq!(look(), (6, 5));
        // A change that the page has loaded itself is not reported.
        std::fs::write(&book, "by the page").unwrap();
        assert!(explored.reopen().is_ok());
        assert_eq!(look(), (7, 6));
    }
}
