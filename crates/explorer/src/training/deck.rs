//! Where the training of a book belongs: beside the file that the user knows it by.

use std::path::{Path, PathBuf};

use tabia_choice::learn::file_for;
use tabia_io::input::bytes::{FNV_START, fnv1a};

/// What is added to the name of a book for the file of its training.
pub(crate) const EXTENSION: &str = "training.jsonl";

/// A set of trained positions: those of a book, or of the chapters of PGN files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deck {
    /// By this, pages name it: two books with one name have two.
    pub(crate) id: String,
    /// The file beside the book.
    pub(super) beside: Option<PathBuf>,
    /// The name of the file in the user's data.
    pub(super) elsewhere: String,
}

impl Deck {
    /// The deck of the book in this file. After the file was renamed it is another one: see
    /// [`Deck::left_behind`].
    pub(crate) fn beside(book: &Path) -> Deck {
        let whole = std::path::absolute(book).unwrap_or_else(|_| book.to_owned());
        let beside = whole.with_added_extension(EXTENSION);
        let elsewhere = file_for(&beside).unwrap_or_default();
        Deck {
            id: id_of(whole.as_os_str().as_encoded_bytes()),
            beside: Some(beside),
            elsewhere,
        }
    }

    /// The deck of something without a file of the user.
    pub(crate) fn named(name: &str) -> Deck {
        let id = id_of(name.as_bytes());
        let elsewhere = format!("{id}.{EXTENSION}");
        Deck {
            id,
            beside: None,
            elsewhere,
        }
    }

    /// The deck of the chapters of PGN files, which pages have.
    pub(crate) fn chapters() -> Deck {
        Deck {
            id: "chapters".to_owned(),
            beside: None,
            elsewhere: format!("chapters.{EXTENSION}"),
        }
    }

    /// The books whose training is in this folder, but which are not: probably one was
    /// renamed.
    pub(super) fn left_behind(&self) -> Vec<String> {
        let folder = self.beside.as_deref().and_then(Path::parent);
        let entries = folder.and_then(|folder| folder.read_dir().ok());
        let paths = entries.into_iter().flatten().flatten();
        let books = paths.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let book = name.strip_suffix(EXTENSION)?.strip_suffix('.')?;
            let is_missing = !folder?.join(book).exists();
            is_missing.then(|| book.to_owned())
        });
        let mut books: Vec<String> = books.collect();
        books.sort();
        books
    }

    /// Gives this book the training of one that was left behind.
    ///
    /// # Errors
    ///
    /// The file cannot be renamed, or this book has one.
    pub(super) fn adopt(&self, book: &str) -> std::io::Result<()> {
        let Some(beside) = &self.beside else {
            return Err(std::io::ErrorKind::NotFound.into());
        };
        let old = beside.with_file_name(format!("{book}.{EXTENSION}"));
        // Unlike renaming, a link does not replace a file that came meanwhile; FAT has none.
        match std::fs::hard_link(&old, beside) {
            Ok(()) => std::fs::remove_file(&old),
            Err(_) if !beside.exists() => std::fs::rename(&old, beside),
            Err(error) => Err(error),
        }
    }
}

fn id_of(name: &[u8]) -> String {
    format!("{:016x}", fnv1a(FNV_START, name))
}
