//! One type for all formats of books.

use std::{path::Path, sync::Arc};

use shakmaty::Chess;

use super::{BookMove, Lookup, MoveGames, Probe, Wanted};
use crate::ctg::{CtgBook, Salvage};
use crate::traits::Reader;
use crate::{Error, Format, OpenOptions, bin::BinBook, loaded::LoadedBook};
use tabia_io::input::{file::DataFile, path::has_extension};

fn no_book(path: &Arc<Path>, text: &'static str) -> Error {
    Error::NoBook {
        path: Arc::clone(path),
        text: text.into(),
    }
}

/// An open book of any format.
#[derive(Debug)]
pub enum Book {
    /// ChessBase.
    Ctg(CtgBook),
    /// Polyglot.
    Bin(BinBook),
    /// Arena, Shredder, Chessmaster.
    Loaded(LoadedBook),
}

impl Book {
    /// Opens a book of any format: see [`Format::recognize`].
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a book of a known format.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Book, Error> {
        let path = path.as_ref();
        let format = Format::recognize(path)?;
        Ok(match format.traits().reader {
            Reader::Ctg => Book::Ctg(CtgBook::open(path, options)?),
            Reader::Bin => Book::Bin(BinBook::open(path, options)?),
            Reader::Loaded(loader) => {
                Book::Loaded(LoadedBook::open(path, format, loader, options)?)
            }
        })
    }

    /// Opens a book of any format in files that are open, or in bytes: one file, or for a
    /// ChessBase book also its `.cto` and `.ctb`, in any order. Their names, which need not
    /// exist, tell them apart.
    ///
    /// ```
    /// use std::path::Path;
    /// use tabia_book::{Book, DataFile};
    ///
    /// // As a browser, an archive or a download has them.
    /// let files = [
    ///     ("simple.cto", &include_bytes!("../../tests/data/ctg/simple.cto")[..]),
    ///     ("simple.ctb", include_bytes!("../../tests/data/ctg/simple.ctb")),
    ///     ("simple.ctg", include_bytes!("../../tests/data/ctg/simple.ctg")),
    /// ];
    /// let open = |(name, bytes): (&str, &[u8])| DataFile::from_bytes(Path::new(name), bytes.to_vec());
    /// let book = Book::from_files(files.map(open))?;
    /// assert_eq!((book.path(), book.notices().len()), (Path::new("simple.ctg"), 0));
    /// # Ok::<_, tabia_book::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Book::open`]; or there is not one book among the files.
    pub fn from_files(files: impl IntoIterator<Item = DataFile>) -> Result<Book, Error> {
        let (mut book, mut cto, mut ctb) = (None, None, None);
        for file in files {
            let place = match file.path() {
                path if has_extension(path, "cto") => &mut cto,
                path if has_extension(path, "ctb") => &mut ctb,
                _ => &mut book,
            };
            if let Some(first) = place.replace(file) {
                let text = "another such file is given with it: open one book at a time";
                return Err(no_book(first.path(), text));
            }
        }
        let index = cto.as_ref().or(ctb.as_ref()).map(DataFile::path);
        let Some(book) = book else {
            let text = "this is the index of a book: give its .ctg file with it";
            return Err(match index {
                Some(index) => no_book(index, text),
                None => no_book(&Path::new("no file").into(), "no book is given"),
            });
        };
        let format = Format::of_file(&book)?;
        if let Some(index) = index
            && format.companions().is_empty()
        {
            let text = "this is the index of a ChessBase book, the book with it is another";
            return Err(no_book(index, text));
        }
        Ok(match format.traits().reader {
            Reader::Ctg => Book::Ctg(CtgBook::from_files(book, cto, ctb)?),
            Reader::Bin => Book::Bin(BinBook::new(book)?),
            Reader::Loaded(loader) => Book::Loaded(LoadedBook::new(book, format, loader)?),
        })
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> Format {
        match self {
            Book::Ctg(_) => Format::Ctg,
            Book::Bin(_) => Format::Bin,
            Book::Loaded(book) => book.format(),
        }
    }

    /// Whether the format has results of games, not weights alone.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.format().has_results()
    }

    /// The path of the opened file; for a ChessBase book the .ctg.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Book::Ctg(book) => book.path(),
            Book::Bin(book) => book.path(),
            Book::Loaded(book) => book.path(),
        }
    }

    /// Problems of the files that the user should know, one sentence each; empty for a
    /// sound book.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        match self {
            Book::Ctg(book) => book.notices(),
            Book::Bin(book) => book.notices(),
            Book::Loaded(book) => book.notices(),
        }
    }

    /// Losses: parts that cannot be read. For a ChessBase book those that look-ups met so far,
    /// for others those found at opening.
    #[must_use]
    pub fn unread(&self) -> Salvage {
        match self {
            Book::Ctg(book) => book.unread(),
            Book::Bin(_) | Book::Loaded(_) => self.missing_parts(),
        }
    }

    /// What opening the book found missing or damaged. Nothing of a ChessBase book: who reads
    /// it whole meets each damaged page.
    #[must_use]
    pub fn missing_parts(&self) -> Salvage {
        match self {
            Book::Ctg(_) => Salvage::default(),
            Book::Bin(book) => book.unread.clone(),
            Book::Loaded(book) => book.unread.clone(),
        }
    }

    /// Adds problems that the user should know, such as those of opening it.
    #[must_use]
    pub fn with_notices(mut self, notices: Vec<String>) -> Book {
        match &mut self {
            Book::Ctg(book) => book.notices.extend(notices),
            Book::Bin(book) => book.notices.extend(notices),
            Book::Loaded(book) => book.notices.extend(notices),
        }
        self
    }

    /// The ChessBase book, for features that only this format has.
    #[must_use]
    pub fn as_ctg(&self) -> Option<&CtgBook> {
        match self {
            Book::Ctg(book) => Some(book),
            Book::Bin(_) | Book::Loaded(_) => None,
        }
    }

    fn probe_of(&self) -> &dyn Probe {
        match self {
            Book::Ctg(book) => book,
            Book::Bin(book) => book,
            Book::Loaded(book) => book,
        }
    }
}

impl Probe for Book {
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        self.probe_of().probe(position, wanted, found)
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        self.probe_of().contains(position)
    }

    fn games_of(&self, position: &Chess, entry: &BookMove) -> Result<MoveGames, Error> {
        self.probe_of().games_of(position, entry)
    }

    fn is_current(&self) -> bool {
        self.probe_of().is_current()
    }

    fn reserve(&self, probes: u64) {
        self.probe_of().reserve(probes);
    }
}

impl From<CtgBook> for Book {
    fn from(book: CtgBook) -> Book {
        Book::Ctg(book)
    }
}
