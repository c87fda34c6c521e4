//! The formats of books, and which of them a file has.

use std::path::Path;

use crate::Error;
use tabia_io::input::file::DataFile;
use tabia_notation::kind::{BookKind, Kind, START_BYTES};

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
        Format::found(path, Kind::of_file(path))
    }

    /// As [`Format::recognize`], for a file that is open, or bytes.
    ///
    /// # Errors
    ///
    /// The file is something else, or cannot be read.
    pub fn of_file(file: &DataFile) -> Result<Format, Error> {
        let start = Error::start_of(file, START_BYTES)?;
        Format::found(file.path(), Some(Kind::recognize(file.path(), &start)))
    }

    /// The format of books of a kind; `None` for those as text, which are not played from.
    #[must_use]
    pub fn of_kind(kind: BookKind) -> Option<Format> {
        let mut formats = Format::ALL.iter();
        formats.find(|format| format.kind() == kind).copied()
    }

    fn found(path: &Path, kind: Option<Kind>) -> Result<Format, Error> {
        let text = match kind {
            // If the file cannot be read, the CTG reader reports it.
            None => return Ok(Format::Ctg),
            Some(Kind::Book(book)) => match Format::of_kind(book) {
                Some(format) => return Ok(format),
                None => "this is a book as text: convert it to a .ctg book first",
            },
            Some(other) => other.no_book().unwrap_or_default(),
        };
        Err(Error::NoBook {
            path: path.into(),
            text: text.into(),
        })
    }
}
