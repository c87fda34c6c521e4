//! What goes into a session and what comes out of it.

use std::fmt;
use std::time::Duration;

use super::{GameRecord, Note};
use crate::book_set::BookSpec;
use crate::settings::Settings;

/// What happens to the adapter.
#[derive(Debug)]
pub enum Event<'a> {
    /// A line of the GUI, without its line end.
    Gui(&'a [u8]),
    /// The GUI closed our input: the same as `quit`.
    GuiClosed,
    /// A line of the engine, without its line end.
    Engine(&'a [u8]),
    /// The engine asked for runs; it has not sent anything yet.
    EngineUp,
    /// The engine could not be started or has ended; the text is the reason.
    EngineGone(&'a str),
    /// The books asked for are open as far as they can be; with messages about them.
    BooksOpened(&'a [String]),
    /// The seed that was asked for, or why there is none.
    Seed(Result<u32, &'a str>),
    /// What has been added to the file of played lines since it was read last, or why
    /// that is not known.
    Cover(Result<&'a str, &'a str>),
    /// The time of a [`Request::WakeUp`] has come.
    WakeUp,
    /// The [deadline](super::Session::deadline) is reached.
    Overdue,
    /// For this long the engine's output was not read, because the GUI did not read ours.
    HeldUp(Duration),
    /// A line was too long to be taken in, and is lost.
    Overlong(Speaker),
}

/// One of the two that talk to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The chess program.
    Gui,
    /// The engine.
    Engine,
}

/// What the session wants done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Start the engine of this profile; whatever engine still runs is to be
    /// killed first. Answered by `EngineUp` or `EngineGone`.
    StartEngine(usize),
    /// Kill the engine, which has shown no sign of life.
    KillEngine,
    /// Open these books, in this order; those that are open and have not
    /// changed on disk stay as they are. Answered by `BooksOpened`.
    OpenBooks(Vec<BookSpec>),
    /// Take the next seed of this file. Answered by `Seed`, before anything else
    /// happens.
    TakeSeed(String),
    /// Lock the file of played lines of this book and read what is new in it. Answered by
    /// `Cover`, before anything else happens; the lock is held until the session has
    /// taken that in.
    ReadCover(String),
    /// Add a line to it; nothing answers.
    AddCover(String),
    /// Note a game in the side file of its book; nothing answers.
    NoteGame(Note),
    /// Add a line to the record of games; nothing answers.
    Record(Box<GameRecord>),
    /// Send `WakeUp` after this time. A later request replaces an earlier.
    WakeUp(Duration),
    /// End the engine and then the program with this exit code.
    Exit(u8),
}

/// As transcripts have it: `start 0`, `kill`, `open 1`, `wake 8000`, `exit 0`;
/// of a game that is recorded, the book and the line of its side file.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::StartEngine(index) => write!(f, "start {index}"),
            Request::KillEngine => f.write_str("kill"),
            Request::OpenBooks(books) => match books.iter().filter(|book| book.learns()).count() {
                0 => write!(f, "open {}", books.len()),
                learning => write!(f, "open {}, {learning} learning", books.len()),
            },
            Request::TakeSeed(path) => write!(f, "seed {path}"),
            Request::NoteGame(note) => write!(f, "note {}: {}", note.book, note.game.line(0)),
            Request::Record(record) => write!(f, "record {}", record.line()),
            Request::ReadCover(book) => write!(f, "cover {book}"),
            Request::AddCover(line) => write!(f, "covered {line}"),
            Request::WakeUp(after) => write!(f, "wake {}", after.as_millis()),
            Request::Exit(code) => write!(f, "exit {code}"),
        }
    }
}

/// Where the session's words go.
pub trait Outlet {
    /// A line for the GUI, without line end.
    fn gui(&mut self, line: &[u8]);
    /// A line for the engine, without line end.
    fn engine(&mut self, line: &[u8]);
    /// Something to be done outside.
    fn request(&mut self, request: Request);
}

/// An engine that may be asked to play, and how it is to be used.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Its name, for messages.
    pub name: String,
    /// Options to set before anything else, in order.
    pub options: Vec<(String, String)>,
    /// The adapter's own options with this engine.
    pub settings: Settings,
    /// Books in use while `Book File` is
    /// [`CONFIGURED`](crate::settings::CONFIGURED).
    pub books: Vec<BookSpec>,
    /// How long it may take to send `uciok`.
    pub start_timeout: Duration,
}

/// The engines of a session: the first of `chain` that starts plays.
#[derive(Clone, Debug, Default)]
pub struct Engines {
    /// Tried in this order.
    pub profiles: Vec<Profile>,
    /// Index of the one that may replace an engine lost in a game (`Engine
    /// Stand-in`); may lie in `profiles` after the first `chain`.
    pub stand_in: Option<usize>,
    /// How many of `profiles` are tried at the start.
    pub chain: usize,
    /// Games and restarts are recorded.
    pub record_games: bool,
}
