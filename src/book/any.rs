//! One type over the formats of books.

use std::path::Path;

use shakmaty::Chess;

use super::{
    Error, Lookup, OpenOptions, Probe, Wanted,
    abk::{self, AbkBook},
    bin::BinBook,
    ctg::CtgBook,
    file::Change,
};

/// A format that can be read and played from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ChessBase, `.ctg`.
    Ctg,
    /// Polyglot, `.bin`.
    Bin,
    /// Arena, `.abk`.
    Abk,
}

impl Format {
    /// The short name, which is the usual extension: "ctg", "bin", "abk".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Ctg => "ctg",
            Format::Bin => "bin",
            Format::Abk => "abk",
        }
    }

    /// What people call such a book.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Format::Ctg => "ChessBase opening book",
            Format::Bin => "Polyglot opening book",
            Format::Abk => "Arena opening book",
        }
    }

    /// Recognises the book at a path: see [`Format::of`]. Of a file that cannot
    /// be read, by its extension.
    #[must_use]
    pub fn detect(path: &Path) -> Format {
        Format::of(path, &beginning(path))
    }

    /// Recognises a book by how the file begins, and where that tells nothing
    /// (Polyglot's has no header), by its extension. What is neither is taken
    /// for a ChessBase book, whose reader then says what it misses.
    #[must_use]
    pub fn of(path: &Path, start: &[u8]) -> Format {
        let is = |extension: &str| {
            path.extension()
                .is_some_and(|own| own.eq_ignore_ascii_case(extension))
        };
        // The index files of a ChessBase book begin alike; its reader knows.
        const CTG: [[u8; 4]; 3] = [[0, 0x20, 0x10, 0], [0, 0x10, 0, 1], [0, 0x0c, 0, 1]];
        let first: Option<[u8; 4]> = start.first_chunk().copied();
        if start.starts_with(abk::MAGIC) {
            Format::Abk
        } else if first.is_some_and(|first| CTG.contains(&first)) {
            Format::Ctg
        } else if is("abk") {
            Format::Abk
        } else if is("bin") {
            Format::Bin
        } else {
            Format::Ctg
        }
    }
}

/// An open book of any format.
#[derive(Debug)]
#[non_exhaustive]
pub enum Book {
    /// ChessBase.
    Ctg(CtgBook),
    /// Polyglot.
    Bin(BinBook),
    /// Arena.
    Abk(AbkBook),
}

impl Book {
    /// Opens a book of whatever format: see [`Format::of`].
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no book that can be.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Book, Error> {
        let path = path.as_ref();
        Ok(match Format::detect(path) {
            Format::Ctg => Book::Ctg(CtgBook::open(path, options)?),
            Format::Bin => Book::Bin(BinBook::open(path, options)?),
            Format::Abk => Book::Abk(AbkBook::open(path, options)?),
        })
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> Format {
        match self {
            Book::Ctg(_) => Format::Ctg,
            Book::Bin(_) => Format::Bin,
            Book::Abk(_) => Format::Abk,
        }
    }

    /// The file that was opened; of a ChessBase book the .ctg.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Book::Ctg(book) => book.path(),
            Book::Bin(book) => book.path(),
            Book::Abk(book) => book.path(),
        }
    }

    /// What the user should know about the files, one sentence each; empty
    /// for a sound book.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        match self {
            Book::Ctg(book) => book.notices(),
            Book::Bin(book) => book.notices(),
            Book::Abk(book) => book.notices(),
        }
    }

    /// Compares the files now behind the path with the open ones.
    #[must_use]
    pub fn change(&self) -> Change {
        match self {
            Book::Ctg(book) => book.change(),
            Book::Bin(book) => book.change(),
            Book::Abk(book) => book.change(),
        }
    }

    /// The ChessBase book that this is, for what only that format has.
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
            Book::Abk(book) => book,
        }
    }
}

/// The first bytes of a file; none of one that cannot be read, which opening
/// it will say.
fn beginning(path: &Path) -> Vec<u8> {
    use std::io::Read as _;
    let mut start = Vec::new();
    // A pipe would wait for its writer.
    if path.metadata().is_ok_and(|data| data.is_file())
        && let Ok(file) = std::fs::File::open(path)
    {
        let _ = file.take(16).read_to_end(&mut start);
    }
    start
}

impl Probe for Book {
    fn probe(&self, position: &Chess, wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        self.probe_of().probe(position, wanted, found)
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        self.probe_of().contains(position)
    }

    fn is_current(&self) -> bool {
        self.probe_of().is_current()
    }
}

impl From<CtgBook> for Book {
    fn from(book: CtgBook) -> Book {
        Book::Ctg(book)
    }
}
