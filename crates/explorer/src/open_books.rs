//! The open books: those of the command line, and those that pages open from the user's
//! folders; whether they may be changed, and who waits for that.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hyper::StatusCode;
use serde::{Deserialize, Serialize};

use super::books::{ExploredBook, Source};
use super::content::{Content, OpenError};
use super::filter::GamesFilter;
use super::folders::{Folders, Indexing, ListedFile, OpenedFile};
use super::indexes::Games;
use super::message::translatable;
use super::query::Query;
use super::reply::{Refusal, bad, not_opened, unreadable};
use super::training::Deck;
use super::uploads::SentFile;
use tabia_index::GamesIndex;
use tabia_io::parallel::lock;
use tokio::sync::watch;

/// Greatest number of books shown at once.
const MOST_SHOWN: usize = 4;

/// Greatest number of open books before a page may not open another.
const MOST_OPEN: usize = 100;

/// A request to open a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRequest {
    /// Its identifier in the list.
    id: String,
}

/// The name of a book that a page has opened.
#[derive(Serialize)]
pub(super) struct OpenedBook {
    name: String,
}

/// The open books, and what pages may do with them.
pub(super) struct OpenBooks {
    /// Books may be added, but are never removed.
    books: Mutex<Vec<Arc<ExploredBook>>>,
    pub(super) games: Games,
    folders: Option<Folders>,
    /// Locked while a file is opened.
    opening: Mutex<()>,
    pub(super) read_only: bool,
    /// Sends the number of changes to books to waiting pages. It starts at an arbitrary
    /// number, so that a page can detect a restart of the program.
    changes: watch::Sender<u64>,
    first_change: u64,
}

impl OpenBooks {
    /// These books; nothing can be changed if they are `read_only`.
    pub(super) fn new(books: Vec<ExploredBook>, read_only: bool) -> OpenBooks {
        let first_change = rand::random::<u32>().into();
        let open = OpenBooks {
            books: Mutex::new(books.into_iter().map(Arc::new).collect()),
            games: Games::default(),
            folders: None,
            opening: Mutex::default(),
            read_only,
            changes: watch::Sender::new(first_change),
            first_change,
        };
        // A page repeats its request if its answer has another number.
        open.announce();
        open
    }

    /// Adds folders whose files pages may open.
    pub(super) fn with_folders(self, folders: Folders) -> OpenBooks {
        OpenBooks {
            folders: Some(folders),
            ..self
        }
    }

    /// Adds a folder of the user's data: what pages send is kept there.
    pub(super) fn with_data(self, data: Option<PathBuf>) -> OpenBooks {
        let folders = self.folders.map(|folders| match data {
            Some(data) => folders.with_data(data),
            None => folders,
        });
        OpenBooks { folders, ..self }
    }

    /// Receives the number of changes at each change to a book.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether a page waits for changes.
    pub(super) fn is_watched(&self) -> bool {
        self.changes.receiver_count() > 0
    }

    /// Reopens books that other programs have changed, and notifies pages.
    pub(super) fn reload_changed(&self) {
        self.books().iter().for_each(|book| book.reload_changed());
        self.announce();
    }

    /// Notifies pages if a book has been reopened since the last notification.
    pub(super) fn announce(&self) {
        let now = self.changes_now();
        self.changes
            .send_if_modified(|sent| std::mem::replace(sent, now) != now);
    }

    /// How often books have been opened or reopened.
    pub(super) fn changes_now(&self) -> u64 {
        let changes = self.books();
        let changes = changes.iter().map(|book| 1 + book.times_reopened());
        self.first_change + changes.sum::<u64>()
    }

    /// The books that are open now.
    pub(super) fn books(&self) -> Vec<Arc<ExploredBook>> {
        lock(&self.books).clone()
    }

    /// The books that a request names: by number, or by names separated by "/", which no
    /// file name contains.
    pub(super) fn shown(&self, query: &Query) -> Result<Vec<(usize, Arc<ExploredBook>)>, Refusal> {
        let requested = query.get("books").unwrap_or("0");
        let is_separator =
            |c: char| c == '/' || (c == ',' && requested.bytes().all(|b| !b.is_ascii_alphabetic()));
        let books = self.books();
        let mut shown = Vec::new();
        for word in requested.split(is_separator) {
            let named = books.iter().position(|book| book.name() == word);
            let number = named.or_else(|| word.parse().ok());
            let number = number.ok_or_else(|| self.no_such_book())?;
            shown.push((number, self.book(number)?));
        }
        if shown.len() > MOST_SHOWN {
            return Err(bad(translatable!(
                "at most {0} books are shown at once",
                MOST_SHOWN
            )));
        }
        Ok(shown)
    }

    pub(super) fn book(&self, number: usize) -> Result<Arc<ExploredBook>, Refusal> {
        let books = self.books();
        let book = books.get(number).map(Arc::clone);
        book.ok_or_else(|| self.no_such_book())
    }

    /// The deck with this identifier: of an open book, or of chapters.
    pub(super) fn deck(&self, id: &str) -> Result<Deck, Refusal> {
        let decks = self.books().into_iter().map(|book| book.deck());
        let mut decks = decks.chain([Deck::chapters()]);
        let deck = decks.find(|deck| deck.id == id);
        let reason = || translatable!("the book of this training is not open");
        deck.ok_or_else(|| (StatusCode::NOT_FOUND, reason()))
    }

    /// The book with this number, if it may be changed.
    pub(super) fn editable(&self, number: usize) -> Result<Arc<ExploredBook>, Refusal> {
        if self.read_only {
            let reason = translatable!("the explorer was started read-only");
            return Err((StatusCode::FORBIDDEN, reason));
        }
        self.book(number)
    }

    /// Numbers that change with the contents of the books.
    pub(super) fn generations(&self) -> Vec<u64> {
        let books = self.books();
        let books = books.iter().map(|book| book.generation());
        books.chain([self.games.generation()]).collect()
    }

    fn no_such_book(&self) -> Refusal {
        let last = self.books().len().saturating_sub(1);
        bad(translatable!(
            "no such book is open: expected a name, or a number from {0} to {1}",
            0,
            last
        ))
    }

    pub(super) fn folders(&self) -> Result<&Folders, Refusal> {
        let reason =
            || translatable!("no folder was named when the program was started: --folder DIR");
        let folders = self.folders.as_ref();
        let folders = folders.filter(|folders| folders.are_named());
        folders.ok_or_else(|| (StatusCode::FORBIDDEN, reason()))
    }

    /// Whether pages may send games.
    pub(super) fn can_index(&self) -> bool {
        self.folders.is_some()
    }

    /// How far the index is that is being made.
    pub(super) fn indexing(&self) -> Indexing {
        let folders = self.folders.as_ref();
        folders.map(Folders::indexing).unwrap_or_default()
    }

    /// Opens an index of the games that a page sends, under the name of their file. The
    /// same games sent again get the book that they have.
    pub(super) fn index_games(&self, file: &str, pgn: &[u8]) -> Result<OpenedBook, Refusal> {
        let reason = || translatable!("only pages on this machine may send games");
        let folders = self.folders.as_ref();
        let folders = folders.ok_or_else(|| (StatusCode::FORBIDDEN, reason()))?;
        let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
        let file: String = file.chars().filter(|c| !c.is_control()).collect();
        let source = Source::sent(&file, pgn);
        let _opening = lock(&self.opening);
        let name = match self.known(|book| book.is_made_of(&source)) {
            Some(name) => name,
            None => {
                let name = self.unused_name(&file, "")?;
                let index = folders.index(&file, pgn).map_err(not_opened)?;
                self.add_index(index, &name, Some(source));
                name
            }
        };
        self.announce();
        Ok(OpenedBook { name })
    }

    /// Opens a file of the folders as a book, unless it is open already.
    pub(super) fn open_file(&self, request: &FileRequest) -> Result<OpenedBook, Refusal> {
        let folders = self.folders()?;
        let Some(file) = folders.find(&request.id) else {
            let reason = translatable!("this file is no longer in the folders of the program");
            return Err((StatusCode::NOT_FOUND, reason));
        };
        self.open_found(folders, &file, unreadable)
    }

    /// Stores files that a page sends, and opens the one that is a book or has games.
    pub(super) fn open_sent(&self, files: &[SentFile<'_>]) -> Result<OpenedBook, Refusal> {
        let folders = self.folders()?;
        let none = || bad(translatable!("none of these files is a book, or has games"));
        folders.store(files, |file| {
            self.open_found(folders, &file.ok_or_else(none)?, not_opened)
        })
    }

    fn open_found(
        &self,
        folders: &Folders,
        file: &ListedFile,
        refusal: fn(OpenError) -> Refusal,
    ) -> Result<OpenedBook, Refusal> {
        // Two pages that open the same file get one book.
        let _opening = lock(&self.opening);
        let name = match self.known(|book| book.is_read_from(&file.path)) {
            Some(name) => name,
            None => {
                let folder = file.folder.rsplit('/').next().unwrap_or_default();
                let name = self.unused_name(&file.name, folder)?;
                // Before the games are read: later changes make another index.
                let source = Source::now(&file.path);
                match folders.open(file, name.clone()).map_err(refusal)? {
                    OpenedFile::Book(book) => lock(&self.books).push(Arc::new(*book)),
                    OpenedFile::Index(index) => self.add_index(index, &name, source),
                }
                name
            }
        };
        folders.add_recent(file.id.clone());
        self.announce();
        Ok(OpenedBook { name })
    }

    fn add_index(&self, index: GamesIndex, name: &str, of: Option<Source>) {
        let book = self.games.add_as_book(index, name.to_owned());
        lock(&self.books).push(Arc::new(book.with_source(of)));
    }

    /// The name of the first open book of which something holds.
    fn known(&self, holds: impl Fn(&ExploredBook) -> bool) -> Option<String> {
        let books = self.books();
        let found = books.iter().find(|book| holds(book))?;
        Some(found.name().to_owned())
    }

    /// The name of a file, with its folder or a number if a book has that name already.
    fn unused_name(&self, file: &str, folder: &str) -> Result<String, Refusal> {
        let books = self.books();
        if books.len() >= MOST_OPEN {
            return Err(bad(translatable!("at most {0} books are open", MOST_OPEN)));
        }
        let is_used = |name: &String| books.iter().any(|book| book.name() == name);
        let in_folder = (!folder.is_empty()).then(|| format!("{file} ({folder})"));
        let named = [file.to_owned()].into_iter().chain(in_folder);
        let numbered = (books.len() + 1..).map(|number| format!("{file} {number}"));
        let mut names = named.chain(numbered);
        Ok(names.find(|name| !is_used(name)).unwrap_or_default())
    }
}

/// The content of a book for a request: an index may be filtered.
pub(super) fn content(book: &ExploredBook, query: &Query) -> Result<Content, Refusal> {
    let filter = GamesFilter::read(query).map_err(bad)?;
    book.under(&filter).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(name: &str) -> ExploredBook {
        let open = || Arc::new(tabia_choice::book_set::starter().unwrap()) as _;
        ExploredBook::new(
            name.into(),
            Vec::new(),
            open(),
            Box::new(move || Ok(open())),
        )
    }

    fn three() -> OpenBooks {
        OpenBooks::new(["a", "b,1", "c"].map(book).into(), false)
    }

    #[test]
    fn books_are_named_by_numbers_or_names() {
        let open = three();
        let shown = |requested: &str| {
            let shown = open
                .shown(&Query::read(&format!("books={requested}")))
                .ok()?;
            Some(shown.into_iter().map(|(number, _)| number).collect())
        };
        for (requested, numbers) in [
            ("", Some(vec![0])),
            ("2", Some(vec![2])),
            ("2,0", Some(vec![2, 0])),
            ("c/a/1", Some(vec![2, 0, 1])),
            // A name may have a comma.
            ("b,1", Some(vec![1])),
            ("0/1/2/0", Some(vec![0, 1, 2, 0])),
            ("0/1/2/0/1", None),
            ("3", None),
            ("d", None),
            ("0/", None),
        ] {
            assert_eq!(shown(requested), numbers, "{requested}");
        }
    }

    #[test]
    fn only_books_that_are_not_read_only_can_be_changed() {
        let status = |open: &OpenBooks, number| open.editable(number).err().map(|(why, _)| why);
        let open = three();
        assert_eq!(status(&open, 2), None);
        assert_eq!(status(&open, 3), Some(StatusCode::BAD_REQUEST));
        let locked = OpenBooks::new(vec![book("a")], true);
        assert_eq!(status(&locked, 0), Some(StatusCode::FORBIDDEN));
        // Nothing can be opened without folders.
        let folders = locked.folders().err().map(|(why, _)| why);
        assert_eq!(folders, Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn pages_are_notified_once_of_each_change() {
        let open = three();
        assert!(!open.is_watched());
        let mut page = open.changes();
        assert!(open.is_watched());
        let first = *page.borrow_and_update();
        assert_eq!(first, open.changes_now());
        open.announce();
        assert!(!page.has_changed().unwrap());
        let before = open.generations();
        open.book(1).unwrap().reopen().unwrap();
        open.announce();
        open.announce();
        assert!(page.has_changed().unwrap());
        assert_eq!(*page.borrow_and_update(), first + 1);
        assert!(!page.has_changed().unwrap());
        let after = open.generations();
        let changed: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
        assert_eq!(changed, [false, true, false, false]);
        drop(page);
        assert!(!open.is_watched());
    }
}
