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
//! | `server`, `work` | sockets and their limits; what is answered at once |
//! | `explorer`, `route`, `access` | who may ask, and which function answers |
//! | `position`, `plot`, `api`, `copy`, `edit_requests` | the answers about books, their copies, and changes to them |
//! | `open_books`, `folders`, `uploads` | which books are open, may be opened, may be changed; who waits for a change |
//! | `indexes`, `books`, `edit` | games and books as they are on disk now; the changes made to a book |
//! | `opener` | how files become books and indexes |
//! | `training` | what users have trained: events, their files, and what follows from them |
//! | `filter`, `content` | which games are meant; one version of a book |
//! | `engine` | the engine of the page, its thread and its searches |
//! | `openings`, `move_names`, `assets`, `cache`, `cors` | names, the files of the page, and what is kept or added for answers |
//! | `query`, `line`, `pasted`, `events`, `reply`, `message` | what is read from a request and written in a reply |
//!
//! [`Explorer::answer`] turns a request into a response without a socket, so that it can
//! be tested as a function; [`serve`] does the I/O, with limits on everything that a
//! client can make grow.
//!
//! The page (`page/`) is plain HTML, CSS and JavaScript, embedded in the program. The answer
//! for a position contains the board, the legal moves, the names and the figures; until it
//! comes, the page shows the board by the rules of chess (`rules.js`). No package has these
//! rules: `cargo build` must do without npm.
//!
//! # What a request can reach
//!
//! The books of the command line, by number, those in the folders that it names or offers
//! ([`OpenFiles`]), by identifiers that the program made, and the files of the page, by
//! name from a table. No text of a request becomes a path, but for the names of files that
//! the page itself sends, in a folder of their own. [`Access`] refuses requests
//! whose `Host` is not an address of this machine (DNS rebinding), and requests from
//! pages of other sites; changes need a token that only the page has.

#![cfg_attr(
    not(feature = "server"),
    allow(
        dead_code,
        reason = "only a server limits its clients and notifies them"
    )
)]

mod access;
mod api;
mod assets;
mod books;
mod cache;
mod content;
mod copy;
mod cors;
mod edit;
mod edit_requests;
mod engine;
#[cfg(feature = "server")]
mod events;
mod explorer;
mod filter;
mod folders;
mod indexes;
mod line;
mod message;
mod move_names;
mod open_books;
mod opener;
mod openings;
mod options;
mod pasted;
mod plot;
mod position;
mod query;
mod reply;
mod route;
#[cfg(feature = "server")]
mod server;
mod training;
mod uploads;
mod work;

pub use access::{Access, AllowedOrigin, ParseOriginError, machine};
pub use books::{ExploredBook, Reopen, Source};
pub use content::{NoIndex, Open, OpenError};
pub use engine::EngineChoice;
pub use explorer::Explorer;
pub use folders::{OpenFiles, OpenedFile};
/// Requests and responses are those of this version.
pub use hyper;
pub use indexes::{Games, book_of_games};
pub use opener::{FileOpener, Reports, has_games};
#[cfg(feature = "server")]
pub use server::{Limits, serve};
pub use tabia_choice::settings::Options;
/// Stops a server, from any thread.
pub use tokio::sync::Notify;

/// Checks that the example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
