//! Tabia lets any UCI chess engine play from ChessBase opening books (`.ctg`; Polyglot's
//! `.bin` and Arena's `.abk` too), shows such books, and makes them.
//!
//! [`cli`] reads the command line and the configuration, and passes a
//! `tabia_adapter::session::Session` to `tabia_adapter::relay::run`.
//! `docs/architecture.md` has the way from a `go` line to a book move, and the packages.

#[cfg(feature = "builtin-engine")]
mod builtin;
mod cli;
mod install;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
