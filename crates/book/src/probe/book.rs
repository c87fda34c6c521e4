//! One type for all formats of books.

use std::path::Path;

use shakmaty::Chess;

use super::{BookMove, Lookup, MoveGames, Probe, Wanted};
use crate::{Error, OpenOptions, bin::BinBook, ctg::CtgBook, loaded::LoadedBook};
use tabia_notation::kind::{BookKind, Kind};

tabia_notation::named! {
    /// A book format that can be read and played from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// ChessBase, `.ctg`.
        Ctg = "ctg",
        /// Polyglot, `.bin`.
        Bin = "bin",
        /// Arena, `.abk`.
        Abk = "abk",
        /// Shredder, `.bkt`.
        Bkt = "bkt",
        /// Chessmaster, `.obk`.
        Obk = "obk",
    }
}

impl Format {
    /// The usual name of such a book.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.kind().title()
    }

    const fn kind(self) -> BookKind {
        match self {
            Format::Ctg => BookKind::Ctg,
            Format::Bin => BookKind::Bin,
            Format::Abk => BookKind::Abk,
            Format::Bkt => BookKind::Bkt,
            Format::Obk => BookKind::Obk,
        }
    }

    /// The name with its article: "an Arena opening book".
    #[must_use]
    pub const fn with_article(self) -> &'static str {
        self.kind().with_article()
    }

    /// Recognises a book by its content, and if that is ambiguous by its name: see
    /// [`Kind`].
    ///
    /// # Errors
    ///
    /// The file is something else.
    pub fn recognize(path: &Path) -> Result<Format, Error> {
        let kind = Kind::of_file(path);
        let book = match kind {
            // If the file cannot be read, the CTG reader reports it.
            None => Some(BookKind::Ctg),
            Some(Kind::Book(book)) => Some(book),
            Some(_) => None,
        };
        let mut formats = Format::ALL.iter();
        let format = formats.find(|format| Some(format.kind()) == book);
        format.copied().ok_or_else(|| Error::NoBook {
            path: path.into(),
            text: kind
                .and_then(Kind::no_book)
                .unwrap_or("this is a book as text: convert it to a .ctg book first")
                .into(),
        })
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
        Ok(match Format::recognize(path)? {
            Format::Ctg => Book::Ctg(CtgBook::open(path, options)?),
            Format::Bin => Book::Bin(BinBook::open(path, options)?),
            format @ (Format::Abk | Format::Bkt | Format::Obk) => {
                Book::Loaded(LoadedBook::open(path, format, options)?)
            }
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
        matches!(self.format(), Format::Ctg | Format::Abk)
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
            _ => None,
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
