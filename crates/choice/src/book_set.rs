//! The books in use: which file is for which colour and uses which settings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::Color;

use crate::conditions::BookConditions;
use crate::learn::{self, LearnedBook, NO_DATA_FOLDER, data_folder};
use crate::settings::{
    BookFiles, EvaluationFile, OptionId, Options, Paths, STARTER, Scope, Setting,
};
use tabia_book::ctg::CtgBook;
use tabia_book::evals::{self, EvalTable, EvaluatedBook};
use tabia_book::{Book, Error, OpenOptions, Probe};
use tabia_io::input::path::{file_name, from_home, from_text};

/// A book to play from, as the settings name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BookSpec {
    /// A path, or [`STARTER`].
    pub path: String,
    /// The colour that uses it; `None` is both.
    pub colour: Option<Color>,
    /// Options that this book sets to other values than the general ones.
    pub overrides: Vec<Setting>,
    /// The games that use it.
    pub conditions: BookConditions,
}

tabia_io::setters!(BookSpec {
    colour: Option<Color>,
    overrides: Vec<Setting>,
    conditions: BookConditions,
});

impl BookSpec {
    /// A book for both colours and all games, without options of its own.
    #[must_use]
    pub fn new(path: impl Into<String>) -> BookSpec {
        BookSpec {
            path: path.into(),
            ..BookSpec::default()
        }
    }

    /// Whether its own options have games played from it recorded.
    #[must_use]
    pub fn learns(&self) -> bool {
        self.options(&Options::default()).learn
    }

    /// A sentence for the user if games played from it cannot be recorded, though its options
    /// want that: the starter book has no folder of its own, and perhaps the system has none.
    #[must_use]
    pub fn why_not_learning(&self) -> Option<String> {
        let has_no_place = self.learns() && self.path == STARTER && data_folder().is_none();
        has_no_place.then(|| {
            format!("Book Learn: games of the starter book are not recorded: {NO_DATA_FOLDER}")
        })
    }

    /// The file of evaluations that the book's own options name.
    #[must_use]
    pub fn evaluations(&self) -> EvaluationFile {
        self.options(&Options::default()).evaluations
    }

    /// The books of these paths.
    pub fn list(paths: &Paths, colour: Option<Color>) -> impl Iterator<Item = BookSpec> {
        paths.0.iter().map(move |path| BookSpec {
            colour,
            ..BookSpec::new(path)
        })
    }

    /// The books that the options name, in the order in which they are asked;
    /// `configured` are those of engines.toml.
    #[must_use]
    pub fn wanted(options: &Options, configured: &[BookSpec]) -> Vec<BookSpec> {
        let mut books: Vec<BookSpec> = BookSpec::list(&options.white_file, Some(Color::White))
            .chain(BookSpec::list(&options.black_file, Some(Color::Black)))
            .collect();
        match &options.file {
            BookFiles::Configured => books.extend_from_slice(configured),
            BookFiles::Listed(paths) => books.extend(BookSpec::list(paths, None)),
        }
        // The book's own options decide what happens when it is opened.
        let usual = Options::default();
        let opening = OptionId::ALL
            .iter()
            .filter(|id| id.spec().scope == Scope::Opening);
        for id in opening.filter(|id| options.get(**id) != usual.get(**id)) {
            let is_set = |book: &BookSpec| book.overrides.iter().any(|own| own.id() == *id);
            for book in books.iter_mut().filter(|book| !is_set(book)) {
                book.overrides.push(options.get(*id));
            }
        }
        books
    }

    /// The general options, overridden by those of this book.
    #[must_use]
    pub fn options(&self, general: &Options) -> Options {
        general.with(&self.overrides)
    }
}

/// An open book.
#[non_exhaustive]
pub struct OpenBook {
    /// File name, for messages.
    pub name: String,
    /// The settings it was opened with.
    pub spec: BookSpec,
    /// The book itself.
    pub book: Arc<dyn Probe + Send + Sync>,
    /// Problems of the book, one sentence each.
    pub notices: Vec<String>,
    /// The side file that records games played from it, if it learns.
    pub side_file: Option<PathBuf>,
    /// The evaluations used with it, as they were when the file was read.
    pub evaluations: Option<Evaluations>,
}

tabia_io::setters!(OpenBook {
    name: String,
    side_file: Option<PathBuf>,
});

impl OpenBook {
    /// A book from anywhere, which neither learns nor has evaluations.
    #[must_use]
    pub fn new(spec: BookSpec, book: Arc<dyn Probe + Send + Sync>) -> OpenBook {
        OpenBook {
            name: short_name(&spec.path),
            spec,
            book,
            notices: Vec::new(),
            side_file: None,
            evaluations: None,
        }
    }
}

/// A file of evaluations for a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluations {
    path: PathBuf,
    /// Length of the file, and time of its modification.
    state: (u64, Option<std::time::SystemTime>),
}

impl Evaluations {
    /// The evaluation file of a book, if there is one.
    fn find(opener: &Opener, book: &str, wanted: &EvaluationFile) -> Option<Evaluations> {
        let places = match wanted {
            EvaluationFile::None => return None,
            EvaluationFile::Beside if book == STARTER => return None,
            EvaluationFile::Beside => opener
                .candidates(book)
                .iter()
                .map(|path| evals::beside(path))
                .collect(),
            EvaluationFile::Named(path) => opener.candidates(path),
        };
        places.into_iter().find_map(|path| {
            let found = std::fs::metadata(&path)
                .ok()
                .filter(|data| data.is_file())?;
            let state = (found.len(), found.modified().ok());
            Some(Evaluations { path, state })
        })
    }

    /// Reads the evaluations, and returns a sentence if they have a problem.
    fn read(&self) -> Result<(EvalTable, Option<String>), String> {
        let read = evals::read(&self.path).map_err(|error| error.to_string())?;
        let notice = read.first_bad.map(|first| {
            let path = self.path.display();
            let lines = match read.bad_lines {
                1 => "1 line".to_owned(),
                count => format!("{count} lines"),
            };
            format!("{path}: {lines} skipped; {first}")
        });
        Ok((read.table, notice))
    }
}

impl fmt::Debug for OpenBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenBook")
            .field("name", &self.name)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

/// Books in the order in which they are asked; the first that has the position answers.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BookSet {
    /// The first that has the position answers.
    pub books: Vec<OpenBook>,
}

impl From<Vec<OpenBook>> for BookSet {
    fn from(books: Vec<OpenBook>) -> BookSet {
        BookSet { books }
    }
}

impl BookSet {
    /// Whether games played from any of these books are recorded.
    #[must_use]
    pub fn learns(&self) -> bool {
        self.books.iter().any(|book| book.side_file.is_some())
    }
}

/// Finds and opens books.
#[derive(Clone, Debug)]
pub struct Opener {
    /// Where relative paths are searched, in this order.
    pub folders: Vec<PathBuf>,
    /// Whether large books are mapped into memory.
    pub mmap: bool,
    /// Whether an interrupted replacement of a book is completed first; otherwise it is
    /// only reported.
    pub settles: bool,
}

impl Opener {
    /// For books that a user names on the command line, and that are only read.
    #[must_use]
    pub const fn here(mmap: bool) -> Opener {
        Opener {
            folders: Vec::new(),
            mmap,
            settles: false,
        }
    }

    /// Opens the books of a list. Books that are open in `present` and have not changed
    /// on disk stay open. The messages name each book that could not be opened, and
    /// problems of the others.
    ///
    /// ```
    /// use shakmaty::Chess;
    /// use tabia_book::policy::choose;
    /// use tabia_choice::book_set::{BookSet, BookSpec, Opener};
    /// use tabia_choice::settings::{Options, STARTER};
    ///
    /// let specs = ["missing.ctg", STARTER].map(BookSpec::new);
    /// let (books, messages) = Opener::here(true).book_set(&specs, &BookSet::default());
    /// assert!(messages[0].contains("missing.ctg"));
    /// // The first book that has the position answers; each may have options of its own.
    /// let answers = books.books.iter().any(|book| {
    ///     let rules = book.spec.options(&Options::default()).rules();
    ///     let found = choose(&*book.book, &Chess::default(), &[], &rules);
    ///     found.is_ok_and(|found| found.best().is_some())
    /// });
    /// assert!(answers);
    /// ```
    #[must_use]
    pub fn book_set(&self, specs: &[BookSpec], present: &BookSet) -> (BookSet, Vec<String>) {
        let mut book_set = BookSet::default();
        let mut messages = Vec::new();
        for spec in specs {
            let known = present.books.iter().find(|open| {
                open.spec.path == spec.path
                    && open.side_file.is_some() == spec.learns()
                    && open.evaluations == Evaluations::find(self, &spec.path, &spec.evaluations())
                    && open.book.is_current()
            });
            let opened = match known {
                Some(open) => Ok((
                    (Arc::clone(&open.book), open.side_file.clone()),
                    open.evaluations.clone(),
                    open.notices.clone(),
                )),
                None => self.open(&spec.path).map(|book| {
                    let mut notices = book.notices().to_vec();
                    let (book, side_file) = as_played(Arc::new(book), spec.learns());
                    notices.extend(spec.why_not_learning());
                    let (book, evaluations) =
                        self.evaluated(book, &spec.path, &spec.evaluations(), &mut notices);
                    ((book, side_file), evaluations, notices)
                }),
            };
            match opened {
                Ok(((book, side_file), evaluations, notices)) => {
                    messages.extend(notices.iter().cloned());
                    book_set.books.push(OpenBook {
                        name: short_name(&spec.path),
                        spec: spec.clone(),
                        book,
                        notices,
                        side_file,
                        evaluations,
                    });
                }
                Err(error) => messages.push(format!("book {error}; playing without it")),
            }
        }
        (book_set, messages)
    }

    /// Adds evaluations to a book, if there are any.
    #[must_use]
    pub fn evaluated(
        &self,
        book: Arc<dyn Probe + Send + Sync>,
        path: &str,
        wanted: &EvaluationFile,
        notices: &mut Vec<String>,
    ) -> (Arc<dyn Probe + Send + Sync>, Option<Evaluations>) {
        let Some(found) = Evaluations::find(self, path, wanted) else {
            if let Some(path) = wanted.path() {
                notices.push(format!("no evaluations: there is no file {path}"));
            }
            return (book, None);
        };
        match found.read() {
            Ok((table, notice)) => {
                notices.extend(notice);
                (
                    Arc::new(EvaluatedBook::new(book, Arc::new(table))),
                    Some(found),
                )
            }
            Err(error) => {
                notices.push(format!("no evaluations: {error}"));
                (book, None)
            }
        }
    }

    /// Opens one book: a path, or [`STARTER`].
    ///
    /// # Errors
    ///
    /// The file does not exist, or is not a readable book.
    pub fn open(&self, path: &str) -> Result<Book, Error> {
        if path == STARTER {
            return starter();
        }
        let options = OpenOptions::default().mmap(self.mmap);
        let mut first_error = None;
        for candidate in self.candidates(path) {
            let settled = self.settled(&candidate);
            if !candidate.exists() && first_error.is_some() {
                continue;
            }
            match Book::open(&candidate, &options) {
                Ok(book) => return Ok(book.with_notices(settled)),
                // A file that exists and cannot be read is the one that the user named.
                Err(error) if candidate.exists() => return Err(error),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        // There is always at least one candidate.
        Err(first_error
            .unwrap_or_else(|| Error::io(PathBuf::from(path), std::io::ErrorKind::NotFound.into())))
    }

    /// Completes or takes back interrupted replacements of the files that a path may name,
    /// if this opener does that; returns what was done.
    #[must_use]
    pub fn settle(&self, path: &str) -> Vec<String> {
        if path == STARTER {
            return Vec::new();
        }
        let files = self.candidates(path);
        files.iter().flat_map(|file| self.settled(file)).collect()
    }

    /// Without permission the book is read as it is, and reports what is missing.
    fn settled(&self, file: &Path) -> Vec<String> {
        match self.settles {
            true => tabia_book::settle(file).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    /// The file of the lines that have been played from a book (`Book Cover`).
    #[must_use]
    pub fn cover_file(&self, path: &str) -> Option<PathBuf> {
        let beside = |book: &Path| book.with_added_extension("cover");
        if path == STARTER {
            return Some(data_folder()?.join(beside(Path::new("starter.ctg"))));
        }
        let files = self.candidates(path);
        files
            .iter()
            .find(|file| file.is_file())
            .map(|file| beside(file))
    }

    /// A word that identifies the version of a file, not its content: it changes when the
    /// file changes.
    #[must_use]
    pub fn identity(&self, path: &str) -> String {
        if path == STARTER {
            return format!("tabia-{}", env!("CARGO_PKG_VERSION"));
        }
        let found = self
            .candidates(path)
            .iter()
            .find_map(|file| std::fs::metadata(file).ok());
        let Some(found) = found else {
            return "missing".to_owned();
        };
        let modified = found
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .unwrap_or_default();
        format!("{}-{:x}", found.len(), modified.as_nanos())
    }

    /// The files that a path may name, one for each folder.
    pub(crate) fn candidates(&self, path: &str) -> Vec<PathBuf> {
        let names: Vec<PathBuf> = from_text(path).iter().map(|name| from_home(name)).collect();
        if names.iter().all(|name| name.is_absolute()) {
            return names;
        }
        self.folders
            .iter()
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .chain(names.iter().cloned())
            .collect()
    }
}

/// The files of the book within the program, by their extensions.
pub static STARTER_FILES: [(&str, &[u8]); 3] = [
    ("ctg", tabia_starter::CTG),
    ("cto", tabia_starter::CTO),
    ("ctb", tabia_starter::CTB),
];

/// The book that comes with the program.
///
/// # Errors
///
/// None in a correct build.
pub fn starter() -> Result<Book, Error> {
    let [ctg, cto, ctb] = STARTER_FILES.map(|(_, bytes)| bytes);
    let book = CtgBook::from_static(STARTER, ctg, cto, ctb)?;
    Ok(Book::Ctg(book))
}

/// Opens a book for play: if it learns, with what it has learned and its side file.
#[must_use]
pub fn as_played(book: Arc<Book>, learns: bool) -> (Arc<dyn Probe + Send + Sync>, Option<PathBuf>) {
    match learns.then(|| side_file(book.path())).flatten() {
        Some(side) => (Arc::new(LearnedBook::new(book, &side)), Some(side)),
        None => (book, None),
    }
}

/// Where games played from a book are recorded: in a file next to it; for the starter
/// book, in the user's data folder.
fn side_file(book: &Path) -> Option<PathBuf> {
    if book == Path::new(STARTER) {
        return Some(data_folder()?.join("starter.ctg.learn"));
    }
    Some(learn::side_path(book))
}

/// The last part of a path; for [`STARTER`], its name.
fn short_name(path: &str) -> String {
    if path == STARTER {
        return "starter".to_owned();
    }
    file_name(Path::new(path)).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;
    use shakmaty::Chess;
    use tabia_book::evals::EvalFile;
    use tabia_book::{Lookup, Wanted};
    use tabia_notation::value::known;

    /// A folder with the starter book as `main.ctg`, and what opens books there.
    fn folder() -> (tempfile::TempDir, Opener) {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("main.ctg", tabia_starter::CTG),
            ("main.cto", tabia_starter::CTO),
            ("main.ctb", tabia_starter::CTB),
        ] {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let opener = Opener {
            folders: vec![folder.path().to_owned()],
            ..Opener::here(true)
        };
        (folder, opener)
    }

    #[test]
    fn evaluations_beside_a_book_are_used_as_far_as_they_are_read() {
        let (folder, opener) = folder();
        let specs = [BookSpec::new("main.ctg")];
        let (without, messages) = opener.book_set(&specs, &BookSet::default());
        assert!(messages.is_empty() && without.books[0].evaluations.is_none());

        let path = evals::beside(&folder.path().join("main.ctg"));
        let file = EvalFile::open(&path).unwrap();
        let moves = known(20, &[("e2e4", 35), ("a2a3", -70)]);
        file.add(&Chess::default(), &moves).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "nothing\n").unwrap();
        let (with, messages) = opener.book_set(&specs, &without);
        assert!(messages[0].contains("1 line skipped"), "{messages:?}");
        let mut found = Lookup::default();
        let start = Chess::default();
        with.books[0]
            .book
            .probe(&start, Wanted::Stored, &mut found)
            .unwrap();
        let losses: Vec<u32> = found
            .moves
            .iter()
            .filter_map(|mv| Some(mv.evaluation?.loss))
            .collect();
        assert!(losses.contains(&0), "{losses:?}");
        let (again, _) = opener.book_set(&specs, &with);
        assert!(Arc::ptr_eq(&again.books[0].book, &with.books[0].book));
    }

    #[test]
    fn a_book_that_has_not_changed_stays_open_and_a_missing_one_is_named() {
        let (folder, opener) = folder();
        let mut specs = vec![BookSpec::new("main.ctg")];
        let (first, _) = opener.book_set(&specs, &BookSet::default());
        specs.insert(0, BookSpec::new("none.ctg"));
        let (second, messages) = opener.book_set(&specs, &first);
        assert!(messages[0].contains("none.ctg"), "{messages:?}");
        assert!(Arc::ptr_eq(&second.books[0].book, &first.books[0].book));
        let path = folder.path().join("main.ctg");
        fs::rename(&path, folder.path().join("old.ctg")).unwrap();
        fs::write(&path, tabia_starter::CTG).unwrap();
        let (third, _) = opener.book_set(&specs, &second);
        assert!(!Arc::ptr_eq(&third.books[0].book, &first.books[0].book));
        assert!(!third.learns());
    }
}
