//! The adapter in the configuration of other programs: text in, text out.
//!
//! Six programs store their engines in a file that can be edited, JSON in all but GNOME
//! Chess ([`EditedFor`]); for the others [`PrintedFor`] has exactly what to type.
//! Nothing here reads or writes files.
//!
//! | program | key of an engine | arguments |
//! |---|---|---|
//! | Cute Chess | `name` in an array | none possible |
//! | BanksiaGUI | `app.name` in an array | `app.arguments` |
//! | PyChess | `name` in an array | `args`, and a script for each entry: it tells engines apart by the hash of the file |
//! | Nibbler | path of the program in an object | `args` |
//! | GNOME Chess | group of a key file | `arg-easy-0` |
//! | En Croissant | `name` in an array | none possible |
//!
//! (Sources: the programs' own source code; for BanksiaGUI, whose source is
//! not open, that of its command line sister Banksia.)

mod json;
mod keyfile;
mod lines;
mod others;
mod own_book;
mod programs;
#[cfg(test)]
mod tests;

use serde_json::Value;
use tabia_uci::message::UciOptionConfig;

pub(crate) use lines::PrintedFor;
pub(crate) use own_book::{with_own_book, without_own_book};
pub(crate) use programs::EditedFor;

/// The adapter as an engine of another program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registration {
    /// The engine's name in the program.
    pub name: String,
    /// Full path of the program to start.
    pub command: String,
    /// Folder to start it in.
    pub folder: String,
    /// Arguments, one word each as the adapter gets them, without the books.
    pub args: Vec<String>,
    /// Value of the UCI option `Book File`; `None` does not set it.
    pub books: Option<String>,
    /// The value of `Book File` that an earlier registration wrote: without `books` it goes,
    /// and any other is the user's.
    pub earlier_books: Option<String>,
    /// The adapter's own options with their announced values, for programs that store a
    /// list of them.
    pub options: Vec<UciOptionConfig>,
}

impl Registration {
    /// Whether a value of `Book File` is that of an earlier registration, which is no longer
    /// wanted.
    fn is_outdated(&self, book: Option<&Value>) -> bool {
        let book = book.and_then(Value::as_str);
        self.books.is_none() && book.is_some() && book == self.earlier_books.as_deref()
    }

    /// The arguments including the books, for programs in which options cannot be preset.
    #[must_use]
    pub(crate) fn args_with_books(&self) -> Vec<String> {
        let books = self.books.iter().flat_map(|books| books.split(';'));
        let books = books.map(|book| format!("--book={}", book.trim()));
        self.args.iter().cloned().chain(books).collect()
    }
}

/// Whether a command starts any copy of Tabia, by its name, or a script that `register`
/// has made.
fn is_our_program(command: &str) -> bool {
    let stem = std::path::Path::new(command).file_stem();
    stem.is_some_and(|stem| stem.to_string_lossy().to_lowercase().contains("tabia"))
}
