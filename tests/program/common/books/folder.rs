//! A folder for the files of a test.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::copy;

/// A folder that is deleted after the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// Makes a folder with a copy of a book, `book.ctg`.
    pub fn with(book: &str) -> Folder {
        let folder = Folder::new();
        copy(book, &folder.join("book.ctg"));
        folder
    }

    /// Writes a file.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The text of a file.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap()
    }

    /// The sorted names of its files.
    pub fn names(&self) -> Vec<String> {
        names(self)
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// The sorted names of the files in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // The lock of a book is a separate file there, and stays.
        .filter(|name| cfg!(unix) || !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}
