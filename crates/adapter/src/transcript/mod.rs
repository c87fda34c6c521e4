//! Recorded sessions in files, and their replay.
//!
//! What a [`Session`](crate::session::Session) does depends only on its events, their
//! times, the books and the seed. A transcript contains all of these, and the output of
//! the session, one line each, in order:
//!
//! ```text
//! tabia-log 1
//! version 0.1.0
//! seed 7350285619350721
//! engine stockfish
//! timeout 8000
//! set Book Variety=20
//! stand-in builtin
//!     0.000000 ask< start 0
//!     0.000114 gui> uci
//!     0.001021 up
//!     0.001021 eng< uci
//! ```
//!
//! A file has one or more sessions, the oldest first; a blank line before the next one says
//! that the line before was cut short.
//!
//! First the header: words and values; lines with `#` are comments. Then the session:
//! seconds since the start with six decimals, and a word for the event.
//!
//! | word | event |
//! |---|---|
//! | `gui> LINE`, `eng> LINE` | a line of the GUI, of the engine |
//! | `eof` | the GUI closed our input |
//! | `up`, `gone REASON` | the engine runs, has ended |
//! | `told MESSAGE`, `book_set IDENTITY PATH` | messages about the books, and the books that are open; then |
//! | `opened` | the books are open |
//! | `seed NUMBER`, `no-seed REASON` | the seed that was asked for |
//! | `cover LINES`, `no-cover REASON` | what is new in the file of played lines |
//! | `wake` | the alarm that was asked for |
//! | `overdue` | the engine has used up its time |
//! | `heldup MICROSECONDS` | the GUI did not read for so long |
//! | `overlong gui`, `overlong eng` | a line was too long |
//!
//! | word | output |
//! |---|---|
//! | `gui< LINE`, `eng< LINE` | a line sent to the GUI, to the engine |
//! | `ask< REQUEST` | `start N`, `kill`, `open N`, `record LINE`, `seed FILE`, `cover BOOK`, `covered LINE`, `wake MS`, `exit CODE` |
//!
//! Control characters, bytes that are not UTF-8, and a backslash before an `x` are
//! written as `\x` and two hexadecimal digits, so that a log is safe to show in a
//! terminal and still has every byte.

mod file;
mod read;
mod replay;
mod text;
mod write;

pub use file::{check_log, create};
pub use read::{LogEntry, LogError, LogEvent, LogFault, LoggedLine, Recording};
pub use replay::{Difference, Replayed, replay};
pub use text::{escape, unescape};
pub use write::{LogHeader, Transcript};

/// The first word of a transcript.
const MAGIC: &str = "tabia-log";
/// The version of the format.
const FORMAT: &str = "1";
