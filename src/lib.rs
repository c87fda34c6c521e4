//! Tabia lets any UCI chess engine play from ChessBase opening books
//! (`.ctg`; Polyglot's `.bin` and Arena's `.abk` too), looks into such books,
//! and makes them.
//!
//! # How a `go` line becomes a book move
//!
//! ```text
//! GUI line -> uci::gui -> Session::step -> book::Probe -> policy -> bestmove
//!                              |  ^
//!                              v  |
//!                          real engine
//! ```
//!
//! The program starts in [`cli`], which reads the configuration
//! ([`config`]) and hands a [`session::Session`] to [`relay::run`]. The relay
//! waits for bytes of the GUI and of the engine and feeds them, line by line,
//! to the session: a state machine without files, processes or clocks. When
//! the book may answer, the session asks the books on its [`book_set`] through
//! [`book::Probe`], lets [`policy::weigh`] turn what they know into
//! probabilities and [`policy::pick`] draw a move. Everything else goes to
//! the engine, bytes unchanged.
//!
//! # How games become a book
//!
//! ```text
//! games::GameSource -> Game -> build: filter, count, sort, merge -> ctg::BookWriter
//! ```
//!
//! The other flow shares only the book format with the first one. [`games`]
//! reads collections of games, [`build`] adds up what was played in every
//! position with as little memory as it is given, and hands the entries, in
//! the order of the book, to the writer.
//!
//! # Modules, from the ground up
//!
//! | module | is for |
//! |---|---|
//! | [`watch`] | how far long work is, and its end |
//! | [`plain`] | text of unknown origin, fit for a terminal |
//! | [`place`] | files written whole or not at all, the old ones kept |
//! | [`input`] | files of any size, numbers out of bytes |
//! | [`notation`] | positions, moves and lines as text |
//! | [`html`] | pages of reports: text, diagrams, plots |
//! | `crew` | work in several threads, in order, failing well |
//! | `sort` | sorting more than memory holds |
//! | [`book`] | what a position holds, and the formats of books; knows nothing of UCI |
//! | [`games`] | collections of games, whatever the format |
//! | [`build`] | from games to a book |
//! | [`index`] | games by position: what an opening explorer answers from |
//! | [`learn`] | learn values from results, of collections and of play |
//! | [`mark`] | which moves of a book get which marks |
//! | [`prune`] | which moves of a book go |
//! | [`policy`] | which book move to play: one pure function |
//! | [`view`] | a position as people are shown it |
//! | [`audit`] | what is wrong with a book by its evaluations |
//! | [`convert`] | books into one another, and into games and tables |
//! | [`uci`] | lines, words and what they mean; knows nothing of books |
//! | [`settings`] | the adapter's own options: one table |
//! | [`consult`] | a position as the adapter would see it |
//! | [`book_set`] | the books in use, and opening them |
//! | [`session`] | the conversation as a pure state machine |
//! | [`explore`] | books in the browser, and over HTTP |
//! | [`transcript`] | conversations written down, and had again |
//! | [`engine`] | a real engine as a child process; checking one |
//! | [`builtin`] | the built-in engine |
//! | [`config`] | `engines.toml` |
//! | [`evaluate`] | evaluations of a book, from files and by engines |
//! | [`prove`] | which of two books hands over better positions |
//! | [`grow`] | books that grow: drop-out expansion |
//! | [`compare`] | what two books disagree about |
//! | [`tree`] | a book as a tree |
//! | [`graph`] | a book as a graph, with how likely and what worth each position is |
//! | [`register`] | the adapter in the configuration of other programs |
//! | [`setup`] | a bare program made to play in the user's chess programs, and back |
//! | [`repertoire`] | one's own moves against what opponents play |
//! | [`relay`] | pipes, processes and clocks around the session |
//! | [`openings`] | what positions are called |
//! | [`suite`] | start positions for matches between engines |
//! | [`cli`] | the command line; the only place that prints for people |
//!
//! # Features
//!
//! Without any (`default-features = false`) the crate is the books: reading
//! and writing `.ctg`, `.bin` and `.abk`, choosing moves ([`book`], [`policy`],
//! [`convert`], [`mark`], [`compare`], [`tree`]).
//!
//! | feature | adds |
//! |---|---|
//! | `games` | collections of games: [`games`] |
//! | `build` | books out of games: [`build`] |
//! | `openings` | names of openings: [`openings`] |
//! | `jsonl` | `.jsonl` in [`convert`] |
//! | `play` | the adapter as a library: [`session`], [`relay`], [`engine`] and what they stand on |
//! | `explore` | books over HTTP: [`explore`] |
//! | `index` | games by position: [`index`] |
//! | `builtin-engine` | an engine: [`builtin`] |
//! | `register` | configurations of other programs: [`register`] |
//! | `cli` | the program: [`cli`] |
//! | `suite` | opening suites: [`suite`] |
//! | `parquet` | sums of games as tables |
//!
//! The default is all but `parquet`.
//!
//! # As a library
//!
//! ```
//! use std::path::Path;
//!
//! use shakmaty::Chess;
//! use tabia::book::{Book, Lookup, OpenOptions, Probe, Wanted};
//! use tabia::policy::{self, Policy};
//!
//! let book = Book::open(Path::new("books/tabia.ctg"), &OpenOptions::default())?;
//! let mut found = Lookup::default();
//! book.probe(&Chess::default(), Wanted::Transpositions, &mut found)?;
//! let mut verdicts = Vec::new();
//! policy::weigh(&found.moves, &Policy::default(), |_| None, &mut verdicts);
//! for (mv, verdict) in found.moves.iter().zip(&verdicts) {
//!     println!("{} {:.1}%", mv.mv, 100.0 * verdict.probability);
//! }
//! # Ok::<(), tabia::book::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
// What nobody asks for in a part of the library is asked for in the whole.
#![cfg_attr(not(feature = "cli"), allow(dead_code))]

#[cfg(feature = "evaluations")]
pub mod audit;
pub mod book;
#[cfg(feature = "play")]
pub mod book_set;
#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "builtin-engine")]
pub mod builtin;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
#[cfg(feature = "play")]
pub mod config;
#[cfg(feature = "play")]
pub mod consult;
pub mod convert;
pub(crate) mod crew;
#[cfg(feature = "play")]
pub mod engine;
pub mod eval;
#[cfg(feature = "evaluations")]
pub mod evals;
#[cfg(all(feature = "games", feature = "play"))]
pub mod evaluate;
#[cfg(feature = "explore")]
pub mod explore;
#[cfg(feature = "games")]
pub mod games;
#[cfg(feature = "evaluations")]
pub mod graph;
#[cfg(all(feature = "build", feature = "play"))]
pub mod grow;
#[cfg(feature = "evaluations")]
pub mod html;
#[cfg(feature = "index")]
pub mod index;
pub mod input;
#[cfg(feature = "play")]
pub mod learn;
pub mod mark;
pub mod notation;
#[cfg(feature = "openings")]
pub mod openings;
pub mod place;
#[cfg(any(feature = "play", feature = "register"))]
pub mod plain;
pub mod policy;
#[cfg(all(feature = "games", feature = "play"))]
pub mod prove;
pub mod prune;
#[cfg(feature = "register")]
pub mod register;
#[cfg(feature = "play")]
pub mod relay;
#[cfg(all(feature = "build", feature = "evaluations"))]
pub mod repertoire;
#[cfg(feature = "play")]
pub mod session;
#[cfg(feature = "play")]
pub mod settings;
#[cfg(all(feature = "cli", feature = "register"))]
pub mod setup;
pub(crate) mod sort;
#[cfg(feature = "suite")]
pub mod suite;
#[cfg(feature = "play")]
pub mod transcript;
pub mod tree;
#[cfg(feature = "play")]
pub mod uci;
pub mod view;
pub mod watch;
