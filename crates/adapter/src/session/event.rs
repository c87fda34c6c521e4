//! The input and output of a session.

use std::fmt;
use std::time::Duration;

use super::{GameRecord, Note};
use tabia_choice::book_set::BookSpec;
use tabia_choice::settings::Settings;

/// An event for the session.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A line of the GUI, without its line end.
    Gui(&'a [u8]),
    /// The GUI closed Tabia's input: the same as `quit`.
    GuiClosed,
    /// A line of the engine, without its line end.
    Engine(&'a [u8]),
    /// The requested engine runs; it has not sent anything yet.
    EngineUp,
    /// The engine could not be started or has ended; the text is the reason.
    EngineGone(&'a str),
    /// The requested books are open, except books with errors; with messages.
    BooksOpened(&'a [String]),
    /// The requested seed, or why there is none.
    Seed(Result<u32, &'a str>),
    /// What has been added to the file of played lines since the last read, or why it
    /// could not be read.
    Cover(Result<&'a str, &'a str>),
    /// The time of a [`Request::WakeUp`] has come.
    WakeUp,
    /// The [deadline](super::Session::deadline) is reached.
    Overdue,
    /// The engine's output was not read for this time, because the GUI did not read ours.
    OutputPaused(Duration),
    /// A line was too long, and is lost.
    Overlong(Side),
}

/// The sender of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The chess program.
    Gui,
    /// The engine.
    Engine,
}

/// A request of the session to its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Start the engine of this profile; first kill an engine that still runs. Answered
    /// by `EngineUp` or `EngineGone`.
    StartEngine(usize),
    /// Kill the engine, which does not respond.
    KillEngine,
    /// Open these books, in this order; books that are open and have not changed on disk
    /// stay open. Answered by `BooksOpened`.
    OpenBooks(Vec<BookSpec>),
    /// Take the next seed of this file. Answered by `Seed`, before any other event.
    TakeSeed(String),
    /// Lock the file of played lines of this book and read the new ones. Answered by
    /// `Cover`, before any other event; the file stays locked until the session has
    /// handled that event.
    ReadCover(String),
    /// Add a line to that file; no answer.
    AddCover(String),
    /// Add a game to the side file of its book; no answer.
    NoteGame(Note),
    /// Add a line to the record of games; no answer.
    Record(Box<GameRecord>),
    /// Send `WakeUp` after this time. A later request replaces an earlier.
    WakeUp(Duration),
    /// End the engine and then the program with this exit code.
    Exit(u8),
}

/// The text in transcripts: `start 0`, `kill`, `open 1`, `wake 8000`, `exit 0`; for a
/// recorded game, the book and the line of its side file.
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

/// Receives the output of a session.
pub trait Output {
    /// A line for the GUI, without line end.
    fn gui(&mut self, line: &[u8]);
    /// A line for the engine, without line end.
    fn engine(&mut self, line: &[u8]);
    /// A request to the environment.
    fn request(&mut self, request: Request);
}

/// How long an engine may take to send `uciok`, unless its profile says otherwise.
pub const START_TIMEOUT: Duration = Duration::from_secs(8);

tabia_io::options! {
    /// An engine and its options.
    #[derive(Clone, Debug)]
    pub struct Profile {
        /// Its name, for messages.
        name: String = String::new(),
        /// Options to set before anything else, in order.
        options: Vec<(String, String)> = Vec::new(),
        /// The adapter's own options for this engine.
        settings: Settings = Settings::default(),
        /// Books in use while `Book File` is
        /// [`CONFIGURED`](tabia_choice::settings::CONFIGURED).
        books: Vec<BookSpec> = Vec::new(),
        /// How long it may take to send `uciok`.
        start_timeout: Duration = START_TIMEOUT,
    }
}

impl Engines {
    /// One engine, which plays alone.
    #[must_use]
    pub fn one(profile: Profile) -> Engines {
        Engines {
            profiles: vec![profile],
            chain: 1,
            ..Engines::default()
        }
    }
}

/// What happens if no engine starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfNoneStarts {
    /// The engines come from engines.toml: the books play, and out of book the built-in
    /// engine.
    #[default]
    PlayOn,
    /// The engine was named on the command line: the session ends with exit code 2.
    End,
}

/// The engines of a session: the first of `chain` that starts plays.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Engines {
    /// Tried in this order.
    pub profiles: Vec<Profile>,
    /// Index of the built-in engine, which may replace one lost in a game (`Engine
    /// Stand-in`) and plays if none starts; it may be in `profiles` after the first
    /// `chain`.
    pub stand_in: Option<usize>,
    /// How many of `profiles` are tried at the start of a session.
    pub chain: usize,
    /// What happens if none of these starts.
    pub if_none_starts: IfNoneStarts,
    /// Whether games and restarts are recorded.
    pub record_games: bool,
    /// The `id name` for the GUI, instead of the engine's name "with Tabia".
    pub announced: Option<String>,
}
