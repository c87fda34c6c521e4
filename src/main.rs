//! Tabia lets any UCI chess engine play from ChessBase opening books
//! (`.ctg`; Polyglot's `.bin` and Arena's `.abk` too), looks into such books,
//! and makes them.
//!
//! # From a `go` line to a book move
//!
//! ```text
//! GUI line -> relay -> Session::step -> session/answer.rs -> book::Probe
//!                                                               |
//!             bestmove <- policy::pick <- policy::weigh <-------+
//! ```
//!
//! 1. [`cli`] reads the command line and the configuration, and hands a
//!    `tabia_adapter::session::Session` to `tabia_adapter::relay::run`.
//! 2. The relay waits for bytes of the GUI and of the engine and feeds them,
//!    line by line, to the session: a state machine without input and output.
//! 3. Where the book may answer, `session/answer.rs` asks the books
//!    (`tabia_book::Probe`), and `tabia_book::policy` turns what they know into
//!    probabilities (`weigh`) and draws a move (`pick`).
//! 4. Everything else goes to the engine, bytes unchanged.
//!
//! # Packages, from the ground up
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
//! Beside them, `tabia-starter` (in `books`) holds the bytes of the starter book.

#[cfg(feature = "builtin-engine")]
mod builtin;
mod cli;
mod register;
mod setup;
mod text_file;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
