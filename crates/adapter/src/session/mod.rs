//! The session between GUI, engine and books.
//!
//! [`Session::step`] is the whole adapter as a pure state machine: an event goes in,
//! lines and requests come out. There is no process, file, thread or clock here; the time
//! is part of the event, the books are a parameter, and actions outside (start an engine,
//! open books, set an alarm, end) are returned as a [`Request`].
//!
//! # What answers a `go`
//!
//! The book, if all of this is true: `OwnBook` is on; the game could be read and all its
//! moves are legal; the `go` is neither `infinite` (a bare `go` counts as that) nor
//! `mate`, `perft` or with an unknown word; the engine is not set to analyse
//! (`UCI_AnalyseMode`, `MultiPV` above 1); the move is among `searchmoves` if there are
//! any; and a book has a move that the policy allows; with `Book Clock Only` a clock is
//! needed too. Any other `go` is passed to the engine unchanged, but for the moves that
//! `Book Forbid` keeps from it by `searchmoves`, and for castling in the notation that is
//! not in force (see `game`).
//!
//! # One fact, one state
//!
//! What the GUI waits for is one value, the `Turn`:
//!
//! * *idle*: no answer;
//! * *held*: an answer that may not be sent yet, perhaps with a look of the engine under way (a
//!   check of the book move, or warming up);
//! * *searching*: the search for the answer, which is unsent (no engine is up), behind a search
//!   that has to end, or begun.
//!
//! The link to the engine is the other one: *down*, *starting*, *up*, and *up with a search to
//! end*. It knows nothing of answers. Lines that have to wait for the engine stand where they
//! wait: in the link for its start or the end of a search, in the search for its beginning.
//! Lines of the GUI that cannot be interpreted yet stand in a queue before all that.
//!
//! So a `go` waits behind an ending search exactly if the turn says so, and whoever loses,
//! replaces or answers a search changes one value.
//!
//! # Parts
//!
//! | part | owns |
//! |---|---|
//! | `game` | the position, its moves and repetitions; what is known of the game |
//! | `turn` | what the GUI waits for, and the search for it |
//! | `verify` | the check of a book move |
//! | `engine` | the link to the engine, its options, `isready`s, restarts, and what is left of a lost one |
//! | `books` | settings in force, opening books, seed, played lines, the choice of a move |
//! | `observers` | the record of the game, and the notes from which books learn |
//! | `queue`, `backlog` | lines of the GUI, and lines for the engine, that wait |
//! | `out` | what is sent, and how far the session is with the GUI |
//!
//! Each part has the table of its states in its module. It gets an event, changes its state
//! and writes to an `Out`: nothing is carried out later. All may read the game; the turn
//! uses the engine, and the other parts do not know each other. `step` passes events on: it is
//! the only module that knows what one part has to do with another.
//!
//! # Engines that are lost
//!
//! An engine that dies is started again, and one that has used up its clock is killed and
//! counts as dead ([`Session::deadline`]). If restarting fails, the program ends with
//! exit code 2, unless the built-in engine may replace the lost one. If no engine of
//! engines.toml starts at all, the built-in engine plays where the books have no move.
//!
//! The output depends only on the events, their times, the books and the seed, so that a
//! recorded session can be replayed.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod backlog;
mod books;
mod engine;
mod event;
mod game;
mod observers;
mod out;
mod queue;
mod step;
mod turn;
mod verify;

use std::sync::Arc;
use std::time::Duration;

pub use crate::record::{GameRecord, RecordKind};
pub use engine::ANALYSE_MODE;
pub use event::{Engines, Event, IfNoneStarts, Output, Profile, Request, START_TIMEOUT, Side};
pub use observers::Note;

use out::{Contact, Out};
use step::{Moment, Parts};
use tabia_book::policy::ChooseMove;
use tabia_choice::book_set::BookSet;
use tabia_choice::settings::Settings;

/// The option by which the GUI has set the engine to analyse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Analysis {
    /// `MultiPV` is above 1.
    MultiPv,
    /// `UCI_AnalyseMode`
    Mode,
}

/// The adapter's state: see the [module](self).
///
/// # Examples
///
/// Events in, lines out, without processes, files or clocks:
///
/// ```
/// use std::time::Duration;
/// use tabia_adapter::session::{Engines, Event, Output, Profile, Request, Session};
/// use tabia_choice::book_set::{BookSet, Opener};
///
/// /// Keeps the lines, and opens the books that are asked for.
/// #[derive(Default)]
/// struct Kept {
///     lines: Vec<String>,
///     books: Option<BookSet>,
/// }
///
/// impl Output for Kept {
///     fn gui(&mut self, line: &[u8]) {
///         self.lines.push(format!("gui< {}", String::from_utf8_lossy(line)));
///     }
///     fn engine(&mut self, line: &[u8]) {
///         self.lines.push(format!("eng< {}", String::from_utf8_lossy(line)));
///     }
///     fn request(&mut self, request: Request) {
///         if let Request::OpenBooks(specs) = request {
///             self.books = Some(Opener::here(true).book_set(&specs, &BookSet::default()).0);
///         }
///     }
/// }
///
/// let mut session = Session::new(Engines::one(Profile::default()), 1);
/// let (mut out, mut books) = (Kept::default(), BookSet::default());
/// session.start(&mut out);
/// for event in [
///     Event::EngineUp,
///     Event::Gui(b"uci"),
///     Event::Engine(b"id name Example"),
///     Event::Engine(b"uciok"),
///     Event::Gui(b"isready"),
///     Event::BooksOpened(&[]),
///     Event::Engine(b"readyok"),
///     Event::Gui(b"position startpos moves d2d4 d7d5"),
///     Event::Gui(b"go wtime 60000 btime 60000"),
///     // Out of book the engine searches.
///     Event::Gui(b"position startpos moves h2h4 h7h5 a2a4"),
///     Event::Gui(b"go wtime 60000 btime 60000"),
///     Event::Engine(b"bestmove e7e5"),
/// ] {
///     books = out.books.take().unwrap_or(books);
///     session.step(Duration::ZERO, event, &books, &mut out);
/// }
/// let answers = out.lines.iter().filter(|line| line.starts_with("gui< bestmove"));
/// assert!(answers.eq(["gui< bestmove c2c4 ponder e7e6", "gui< bestmove e7e5"]));
/// let searches = out.lines.iter().filter(|line| line.starts_with("eng< go"));
/// assert!(searches.eq(["eng< go wtime 60000 btime 60000"]));
/// ```
#[derive(Debug)]
pub struct Session {
    contact: Contact,
    parts: Parts,
}

impl Session {
    /// A session that has not started. `entropy` seeds the choice of moves while `Book
    /// Seed` is 0.
    #[must_use]
    pub fn new(engines: Engines, entropy: u64) -> Session {
        Session {
            contact: Contact::default(),
            parts: Parts::new(engines, entropy),
        }
    }

    /// Lets a policy of your own decide between the moves of the books: within the options
    /// (`Book Depth`, `searchmoves` and so on), and for the moves of Tabia only, not for the
    /// replies that it expects (`Book Ponder`).
    ///
    /// # Examples
    ///
    /// An engine that plays the move with the most games. With [`relay::standard_streams`] and an
    /// [`EngineCommand`] it is one for a chess program:
    ///
    /// ```
    /// use std::fs::File;
    /// use shakmaty::Chess;
    /// use tabia_adapter::relay::{self, Environment};
    /// use tabia_adapter::session::{Engines, Profile, Session};
    /// use tabia_book::BookMove;
    /// use tabia_book::policy::{ChooseMove, Weighed};
    /// use tabia_choice::book_set::Opener;
    ///
    /// struct MostPlayed;
    ///
    /// impl ChooseMove for MostPlayed {
    ///     fn choose(&self, _: &Chess, moves: &[BookMove], verdicts: &mut [Weighed]) {
    ///         let most = moves.iter().map(|entry| entry.stats().games).max();
    ///         for (entry, verdict) in moves.iter().zip(verdicts) {
    ///             let is_most = Some(entry.stats().games) == most;
    ///             verdict.probability = if is_most { 1.0 } else { 0.0 };
    ///         }
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let [script, answers] = ["script", "answers"].map(|name| folder.path().join(name));
    /// let lines = "uci\nposition startpos moves e2e4\ngo wtime 60000 btime 60000\nquit\n";
    /// std::fs::write(&script, lines)?;
    /// let (input, output) = (File::open(&script)?, File::create(&answers)?);
    /// // The books of `Book File`: the starter book, unless the GUI sets another.
    /// let session = Session::new(Engines::one(Profile::default()), 1).with_policy(MostPlayed);
    /// let environment = Environment::new((input, output), Vec::new(), Opener::here(true));
    /// assert_eq!(relay::run(session, environment)?.code, 0);
    /// let answers = std::fs::read_to_string(&answers)?;
    /// assert!(answers.contains("\ninfo string book starter: c7c5 100% "));
    /// assert!(answers.ends_with("\nbestmove c7c5 ponder g1f3\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// [`relay::standard_streams`]: crate::relay::standard_streams
    /// [`EngineCommand`]: tabia_engine::EngineCommand
    #[must_use]
    pub fn with_policy(mut self, policy: impl ChooseMove + Send + Sync + 'static) -> Session {
        self.parts.books.choose_by(Arc::new(policy));
        self
    }

    /// Starts the session: requests the first engine.
    pub fn start(&mut self, out: &mut dyn Output) {
        self.parts.start(&mut Out::new(out, &mut self.contact));
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.parts.books.settings()
    }

    /// The reason why the session has ended, if the end is not ordinary.
    #[must_use]
    pub fn end_reason(&self) -> Option<&str> {
        self.contact.end_reason()
    }

    /// Number of bytes of waiting lines: if it is too large, no more should be read.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.parts.backlog()
    }

    /// Looks the present position up before the `go`, including the reply to the move
    /// that would be drawn. Call this when all lines have been sent and nothing waits.
    /// Sends nothing, and does not change what will be sent.
    pub fn look_ahead(&mut self, book_set: &BookSet) {
        self.parts.look_ahead(book_set);
    }

    /// Handles an event. `now` is the time since any fixed moment; it never decreases.
    pub fn step(
        &mut self,
        now: Duration,
        event: Event<'_>,
        book_set: &BookSet,
        out: &mut dyn Output,
    ) {
        if !self.contact.has_ended() {
            let out = Out::new(out, &mut self.contact);
            let at = &mut Moment { now, book_set, out };
            self.parts.step(event, at);
        }
    }

    /// When something must be done unless an awaited event comes first; `None` if nothing
    /// is awaited. Same clock as the `now` of [`Session::step`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        match self.contact.is_leaving() {
            // Everything else ends with the alarm that is set.
            true => self.parts.stop_due(),
            false => self.parts.deadline(),
        }
    }
}

#[cfg(test)]
mod tests;
