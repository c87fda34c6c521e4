//! The explorer: books in the browser, and over HTTP for programs.
//!
//! ```text
//! socket -> server -> Explorer::answer -> Route -> access -> position, plot, api, ...
//!                      (pure but for the books themselves)
//! ```
//!
//! Each file knows only those further down, and nothing below knows [`Explorer`]:
//!
//! | files | what they own |
//! |---|---|
//! | `server` | sockets and their limits |
//! | `explorer`, `route`, `access` | who may ask, and which function answers |
//! | `position`, `plot`, `find_next`, `api`, `edit_requests` | the answers about books, and changes to them |
//! | `open_books`, `folders` | which books are open, may be opened, may be changed; who waits for a change |
//! | `indexes`, `books`, `edit` | games and books as they are on disk now; the changes made to a book |
//! | `filter`, `content` | which games are meant; one version of a book |
//! | `engine` | the engine of the page, its thread and its searches |
//! | `openings`, `move_names`, `assets`, `cache`, `cors` | names, the files of the page, and what is kept or added for answers |
//! | `query`, `line`, `pasted`, `events`, `reply`, `message` | what is read from a request and written in a reply |
//!
//! [`Explorer::answer`] turns a request into a response without a socket, so that it can
//! be tested as a function; [`serve`] does the I/O, with limits on everything that a
//! client can make grow.
//!
//! The page (`page/`) is plain HTML, CSS and JavaScript, embedded in the program. It has
//! no rules of chess: the answer for a position contains the board, the legal moves, the
//! names and the figures.
//!
//! # What a request can reach
//!
//! The books of the command line, by number, those in the folders that it names
//! ([`OpenFile`]), by identifiers that the program made, and the files of the page, by
//! name from a table. No text of a request becomes a path. [`Access`] refuses requests
//! whose `Host` is not an address of this machine (DNS rebinding), and requests from
//! pages of other sites; changes need a token that only the page has.

mod access;
mod api;
mod assets;
mod books;
mod cache;
mod content;
mod cors;
mod edit;
mod edit_requests;
mod engine;
mod events;
mod explorer;
mod filter;
mod find_next;
mod folders;
mod indexes;
mod line;
mod lock;
mod message;
mod move_names;
mod open_books;
mod openings;
mod options;
mod pasted;
mod plot;
mod position;
mod query;
mod reply;
mod route;
mod server;

pub use access::{Access, AllowedOrigin, machine};
pub use books::{ExploredBook, Reopen};
pub use content::Open;
pub use engine::EngineChoice;
pub use explorer::Explorer;
pub use folders::{OpenFile, OpenedFile};
pub use indexes::Games;
pub use server::{Limits, serve};
/// Stops a server, from any thread.
pub use tokio::sync::Notify;

/// Checks that the example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let all = paths.flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        });
        all.filter(|path| path.extension().is_some_and(|end| end == "rs"))
            .collect()
    }

    /// The other file that a `use` or `mod` in the file `from` names, if this line is one.
    fn used(from: &str, line: &str, texts: &BTreeMap<String, String>) -> Option<String> {
        let (before, mut path) = line.split_once("use ").or(line.split_once("mod "))?;
        if !before.is_empty() && !before.starts_with("pub") {
            return None;
        }
        let mut at = from;
        if let Some(rest) = path.strip_prefix("crate::") {
            (at, path) = ("", rest);
        }
        while let Some(rest) = path.strip_prefix("super::") {
            path = rest;
            at = at.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
        let mut named = at.to_owned();
        for word in path.trim_end_matches(';').split("::") {
            let longer = format!("{named}/{word}");
            let longer = longer.trim_start_matches('/');
            if !texts.contains_key(longer) {
                break;
            }
            named = longer.to_owned();
        }
        Some(named).filter(|named| !named.is_empty() && named != from)
    }

    #[test]
    fn no_file_knows_one_that_knows_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let named = sources(&root).into_iter().map(|path| {
            let name = path.strip_prefix(&root).unwrap().with_extension("");
            let name = name.to_str().unwrap().replace('\\', "/");
            let text = fs::read_to_string(path).unwrap();
            (name.trim_end_matches("/mod").to_owned(), text)
        });
        let texts: BTreeMap<String, String> = named.collect();
        let of_file = |(name, text): (&String, &String)| {
            let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
            let known = lines.filter_map(|line| used(name, line, &texts));
            (name.clone(), known.collect())
        };
        let mut files: BTreeMap<String, Vec<String>> = texts.iter().map(of_file).collect();
        assert!(files["explorer"].contains(&"open_books".to_owned()));
        assert!(files["api"].contains(&"api/games".to_owned()));
        // Those that know no other are taken away, until none or only circles are left.
        loop {
            let count = files.len();
            let left = files.clone();
            files.retain(|_, known| known.iter().any(|name| left.contains_key(name)));
            if files.len() == count {
                break;
            }
        }
        assert!(files.is_empty(), "{files:#?}");
    }
}
