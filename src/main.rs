//! Tabia lets any UCI chess engine play from ChessBase opening books (`.ctg`; Polyglot's
//! `.bin` and Arena's `.abk` too), shows such books, and makes them.
//!
//! # From a `go` line to a book move
//!
//! ```text
//! GUI line -> relay -> Session::step -> session/answer.rs -> book::Probe
//!                                                               |
//!             bestmove <- policy::pick <- policy::weigh <-------+
//! ```
//!
//! 1. [`cli`] reads the command line and the configuration, and passes a
//!    `tabia_adapter::session::Session` to `tabia_adapter::relay::run`.
//! 2. The relay waits for bytes of the GUI and of the engine and passes them, line by
//!    line, to the session: a state machine without I/O.
//! 3. If the book may answer, `session/answer.rs` asks the books (`tabia_book::Probe`),
//!    and `tabia_book::policy` turns their data into probabilities (`weigh`) and draws a
//!    move (`pick`).
//! 4. Everything else goes to the engine unchanged.
//!
//! # Packages, from the lowest level up
//!
//! | package | is for |
//! |---|---|
//! | `tabia-io` | files of any size, atomic replacement, sorting, threads, progress |
//! | `tabia-notation` | positions, moves, lines and values as text; names of openings |
//! | `tabia-uci` | lines of UCI, and engines as child processes |
//! | `tabia-book` | books: read, choose, edit, write |
//! | `tabia-games` | collections of games; games by position |
//! | `tabia-build` | books out of games; learn values |
//! | `tabia-analysis` | what engines and results say about books |
//! | `tabia-adapter` | the adapter as a library |
//! | `tabia-explorer` | books in the browser, and over HTTP |
//! | `tabia` | this program: [`cli`], one file for each command |
//!
//! `tabia-starter` (in `books`) has the bytes of the starter book.

#[cfg(feature = "builtin-engine")]
mod builtin;
mod cli;
mod install;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
