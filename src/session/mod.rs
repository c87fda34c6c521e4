//! The conversation: GUI on one side, engine on the other, books in between.
//!
//! [`Session::step`] is the whole adapter as a pure state machine: an event
//! goes in, lines and requests come out. No process, file, thread or clock
//! is known here; the time comes in with the event, the books are a
//! parameter, and what has to be done outside (start an engine, open books,
//! wake me later, end) is asked for as a [`Request`].
//!
//! # Who answers a `go`
//!
//! The book, when all of this holds: `OwnBook` is on; the game was followed
//! to its end and every move is legal; the `go` is neither `infinite` (a bare
//! `go` counts as that) nor `mate`, `perft` or with an unknown word; the
//! engine is not set to analyse (`UCI_AnalyseMode`, `MultiPV` above 1); the
//! move is among `searchmoves` if there are any; and a book has a move that
//! the policy admits. Anything else goes to the engine, bytes unchanged.
//!
//! # States
//!
//! | search | the GUI's `go` is | left by |
//! |---|---|---|
//! | `Idle` | answered | `go` |
//! | `Held` | answered, but it is not time to say so (`go ponder`, or an engine that ended `go infinite` by itself) | `ponderhit`, `stop`; dropped by `position`, `go`, `ucinewgame` |
//! | `Engine` | in the engine's hands | its `bestmove` |
//!
//! Beside that runs the engine's own state: starting, up, or none. While it
//! starts, or books are being opened, lines of the GUI wait in order.
//! While it searches, so do those that may not reach a searching engine: a
//! new `position` or `go`, and options (Stockfish stops reading its input
//! when one comes during a search).
//! When we stop the engine for reasons of our own, its `bestmove` is
//! ignored and lines meant for it wait till then.
//!
//! An engine that dies is started again, and one that has used up its clock
//! is ended and counts as dead ([`Session::deadline`]). What cannot be
//! repaired ends the program with exit code 2, unless the built-in engine
//! may stand in.
//!
//! Everything that happens here follows from the events, their times, the
//! books and the seed: a conversation that is written down can be had again.

mod answer;
mod clock;
mod game;
mod handshake;
mod learn;
mod options;
mod queue;
mod restart;
mod search;
mod why;

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

pub use learn::Note;

use crate::book_set::{BookSet, BookSpec};
use crate::settings::Settings;
use crate::uci::engine::EngineReply;
use crate::uci::gui::{self, GuiCommand};
use crate::uci::{engine, line};
use answer::Librarian;
use game::{Game, Step};
use handshake::{ChildOptions, Hello};
use learn::Learner;
use queue::Waiting;
use restart::Restarts;
use search::Search;

/// What happens to the adapter.
#[derive(Debug)]
pub enum Event<'a> {
    /// A line of the GUI, without its line end.
    Gui(&'a [u8]),
    /// The GUI closed our input: the same as `quit`.
    GuiClosed,
    /// A line of the engine, without its line end.
    Engine(&'a [u8]),
    /// The engine asked for runs; it has not said anything yet.
    EngineUp,
    /// The engine could not be started or has ended; the text says why.
    EngineGone(&'a str),
    /// The books asked for are open as far as they can be; what there is to
    /// say about them.
    BooksOpened(&'a [String]),
    /// The time of a [`Request::WakeUp`] has come.
    WakeUp,
    /// The [deadline](Session::deadline) is reached.
    Overdue,
    /// For this long the engine was not heard, because the GUI did not read.
    HeldUp(Duration),
    /// A line was too long to be taken in, and is lost.
    Overlong(Side),
}

/// One of the two that talk to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
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
    /// Note a game in the side file of its book; nothing answers.
    NoteGame(Note),
    /// Send `WakeUp` after this time. A later request replaces an earlier.
    WakeUp(Duration),
    /// End the engine and then the program with this exit code.
    Exit(u8),
}

/// As transcripts have it: `start 0`, `kill`, `open 1`, `wake 8000`, `exit 0`;
/// of a game that is noted, the book and the line of its side file.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::StartEngine(index) => write!(f, "start {index}"),
            Request::KillEngine => f.write_str("kill"),
            Request::OpenBooks(books) => match books.iter().filter(|book| book.learns()).count() {
                0 => write!(f, "open {}", books.len()),
                learning => write!(f, "open {}, {learning} learning", books.len()),
            },
            Request::NoteGame(note) => write!(f, "note {}: {}", note.book, note.game.line(0)),
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
    /// How long it may take to say `uciok`.
    pub start_timeout: Duration,
}

/// The engines of a session: the first of `chain` that starts plays.
#[derive(Clone, Debug, Default)]
pub struct Engines {
    /// Tried in this order.
    pub profiles: Vec<Profile>,
    /// Index of the one that may stand in for an engine lost in a game
    /// (`Engine Stand-in`); may lie in `profiles` behind `chain`.
    pub stand_in: Option<usize>,
    /// How many of `profiles` are tried at the start.
    pub chain: usize,
}

/// State of the child engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// Asked for; no `uciok` yet.
    Starting { index: usize, late: bool },
    /// Ready for commands.
    Up { index: usize },
    /// None to be had.
    None,
}

/// The adapter's state: see the [module](self).
#[derive(Debug)]
pub struct Session {
    engines: Engines,
    engine: Engine,
    /// Some engine has said `uciok` in this session.
    was_up: bool,
    restarts: Restarts,
    /// The engine in whose place the built-in one plays.
    stands_in_for: Option<String>,
    hello: Hello,
    child_options: ChildOptions,
    /// The GUI's `uci` waits for the engine's `uciok`.
    uci_wanted: bool,
    /// Things to say once the GUI may hear them.
    notices: Vec<String>,
    /// Lines of the GUI that wait, oldest first.
    deferred: VecDeque<Waiting>,
    /// Lines for the engine that wait until it has ended a search that the
    /// GUI knows nothing of.
    outbound: VecDeque<Vec<u8>>,
    /// Answers of the engine that nobody is to see.
    ignored_bestmoves: u32,
    /// `isready` commands that the engine has still to answer.
    ready_owed: u32,
    /// Books are being opened.
    opening: bool,
    /// The books on the book set may not be those that the settings name: the
    /// settings have changed, or a new game begins and the files may have.
    books_stale: bool,
    /// What was said when they were last opened.
    book_messages: Vec<String>,
    settings: Settings,
    game: Game,
    /// The engine has been given the last `position` line.
    position_sent: bool,
    search: Search,
    librarian: Librarian,
    /// The GUI has said `debug on`.
    debug: bool,
    learner: Learner,
    rng: Xoshiro256PlusPlus,
    entropy: u64,
    /// The GUI has said `quit` or closed our input.
    leaving: bool,
    ended: bool,
    /// Why we end, when it is no ordinary end.
    farewell: Option<String>,
}

/// How long the GUI's `quit` may wait for answers that are still owed to
/// commands before it, so that a script that sends everything at once gets
/// them. GUIs kill two to five seconds after `quit`.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

/// The same while the engine still starts, which takes some of them most of
/// a second.
const LEAVE_LIMIT_AT_START: Duration = Duration::from_millis(1500);

impl Session {
    /// A session that has not begun. `entropy` seeds the choice of moves
    /// while `Book Seed` is 0.
    #[must_use]
    pub fn new(engines: Engines, entropy: u64) -> Session {
        let settings = engines
            .profiles
            .first()
            .map(|profile| profile.settings.clone())
            .unwrap_or_default();
        let mut session = Session {
            engines,
            engine: Engine::None,
            was_up: false,
            restarts: Restarts::default(),
            stands_in_for: None,
            hello: Hello::default(),
            child_options: ChildOptions::default(),
            uci_wanted: false,
            notices: Vec::new(),
            deferred: VecDeque::new(),
            outbound: VecDeque::new(),
            ignored_bestmoves: 0,
            ready_owed: 0,
            opening: false,
            books_stale: true,
            book_messages: Vec::new(),
            settings,
            game: Game::default(),
            position_sent: false,
            search: Search::Idle,
            librarian: Librarian::default(),
            debug: false,
            learner: Learner::default(),
            rng: Xoshiro256PlusPlus::seed_from_u64(entropy),
            entropy,
            leaving: false,
            ended: false,
            farewell: None,
        };
        session.reseed();
        session
    }

    /// Begins: asks for the first engine.
    pub fn start(&mut self, out: &mut dyn Outlet) {
        if self.engines.chain == 0 {
            self.notices
                .push("no engine is configured: name one in engines.toml".to_owned());
        } else {
            self.start_engine(0, out);
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Why the session has ended, when it is no ordinary end.
    #[must_use]
    pub fn farewell(&self) -> Option<&str> {
        self.farewell.as_deref()
    }

    /// Takes in an event. `now` is the time since any fixed moment; it never
    /// runs backwards.
    pub fn step(
        &mut self,
        now: Duration,
        event: Event<'_>,
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        if self.ended {
            return;
        }
        match event {
            Event::Gui(_) if self.leaving => {}
            Event::Gui(line) => self.on_gui(now, line, book_set, out),
            Event::GuiClosed => self.begin_to_leave(out),
            Event::Engine(line) => self.on_engine(now, line, book_set, out),
            Event::EngineUp => out.engine(b"uci"),
            Event::EngineGone(reason) => self.on_engine_gone(now, reason, book_set, out),
            Event::BooksOpened(messages) => {
                self.opening = false;
                self.librarian.settings_changed();
                self.librarian.forget_position();
                if self.book_messages != messages {
                    self.book_messages = messages.to_vec();
                    for message in messages {
                        self.notice(message, out);
                    }
                }
                self.go_on(now, book_set, out);
            }
            Event::WakeUp if self.leaving => {
                if matches!(self.engine, Engine::Starting { .. }) {
                    // It had its time; "quit" would only cost more.
                    out.request(Request::KillEngine);
                }
                self.exit(0, out);
            }
            Event::WakeUp => self.on_wake_up(now, book_set, out),
            Event::Overdue => self.on_overdue(now, book_set, out),
            Event::HeldUp(time) => self.on_held_up(time),
            Event::Overlong(side) => self.notice(
                match side {
                    Side::Gui => "a line longer than 2 MiB was ignored",
                    Side::Engine => "the engine sent a line longer than 2 MiB; it was ignored",
                },
                out,
            ),
        }
        if self.leaving && !self.ended {
            self.try_to_leave(now, out);
        }
    }

    fn begin_to_leave(&mut self, out: &mut dyn Outlet) {
        if !self.leaving {
            self.leaving = true;
            self.game_over(out);
            let starting = matches!(self.engine, Engine::Starting { .. });
            out.request(Request::WakeUp(if starting {
                LEAVE_LIMIT_AT_START
            } else {
                LEAVE_LIMIT
            }));
        }
    }

    /// Ends when nothing is owed any more.
    fn try_to_leave(&mut self, now: Duration, out: &mut dyn Outlet) {
        if let Search::Engine(running) = &mut self.search {
            if !running.stopped && !matches!(self.engine, Engine::Starting { .. }) {
                running.stop(now);
                self.tell_engine(b"stop", out);
            }
            return;
        }
        let starting = matches!(self.engine, Engine::Starting { .. })
            && (self.uci_wanted || !self.deferred.is_empty());
        if !starting && !self.opening && self.deferred.is_empty() && self.ready_owed == 0 {
            self.exit(0, out);
        }
    }

    fn exit(&mut self, code: u8, out: &mut dyn Outlet) {
        self.ended = true;
        out.request(Request::Exit(code));
    }

    /// Says something to the GUI; before it has been told `uciok`, later.
    fn notice(&mut self, text: &str, out: &mut dyn Outlet) {
        if self.hello.told {
            info_string(text, out);
        } else {
            self.notices.push(text.to_owned());
        }
    }

    // Lines of the GUI.

    fn on_gui(&mut self, now: Duration, line: &[u8], book_set: &BookSet, out: &mut dyn Outlet) {
        let line = gui::from_command(line);
        let command = gui::parse(line);
        match command {
            GuiCommand::Blank => {}
            GuiCommand::Quit => self.begin_to_leave(out),
            GuiCommand::Uci => match self.engine {
                Engine::Starting { late: false, .. } if !self.hello.complete => {
                    self.uci_wanted = true;
                }
                _ => self.tell_uci(out),
            },
            command if self.must_wait(&command) => self.defer(now, line, &command, out),
            command => self.handle(now, line, command, book_set, out),
        }
    }

    fn handle(
        &mut self,
        now: Duration,
        line: &[u8],
        command: GuiCommand<'_>,
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        match command {
            GuiCommand::Uci => self.tell_uci(out),
            GuiCommand::IsReady => self.on_is_ready(now, line, out),
            GuiCommand::NewGame => {
                self.drop_held(out);
                self.librarian.new_game();
                self.game_over(out);
                self.books_stale = true;
                self.tell_engine(line, out);
            }
            GuiCommand::SetOption(option) => self.on_set_option(line, &option, out),
            GuiCommand::Position => self.on_position(line, book_set, out),
            GuiCommand::Go(go) => {
                if self.open_books(now, line, out) {
                    return;
                }
                self.on_go(now, line, go, book_set, out);
            }
            GuiCommand::Stop => self.on_stop(now, out),
            GuiCommand::PonderHit => self.on_ponder_hit(now, out),
            GuiCommand::Other => {
                let mut words = line::words(line);
                if words.next() == Some(b"debug") {
                    self.debug = words.next() == Some(b"on");
                }
                self.tell_engine(line, out);
            }
            GuiCommand::Blank | GuiCommand::Quit => {}
        }
    }

    fn on_is_ready(&mut self, now: Duration, line: &[u8], out: &mut dyn Outlet) {
        if self.search.is_idle() && self.open_books(now, line, out) {
            return;
        }
        if matches!(self.engine, Engine::Up { .. }) {
            self.ready_owed += 1;
            out.engine(b"isready");
        } else {
            out.gui(b"readyok");
        }
    }

    fn profile(&self) -> Option<&Profile> {
        match self.engine {
            Engine::Starting { index, .. } | Engine::Up { index } => {
                self.engines.profiles.get(index)
            }
            Engine::None => self.engines.profiles.first(),
        }
    }

    fn on_position(&mut self, line: &[u8], book_set: &BookSet, out: &mut dyn Outlet) {
        self.drop_held(out);
        self.librarian.forget_position();
        self.learn_position(line, book_set, out);
        if self.game.update(line) == Step::Anew {
            self.librarian.new_game();
        }
        if let Some(trouble) = self.game.trouble() {
            // Current Stockfish ends itself on such a line: it is forwarded
            // only when the GUI wants it searched.
            let text = format!("position: {trouble}; the book is silent until the next one");
            self.position_sent = false;
            self.notice(&text, out);
        } else {
            self.position_sent = true;
            self.tell_engine(line, out);
            self.look_ahead(book_set);
        }
    }

    /// Sends a line to the engine, now or when it has ended a search that
    /// only we know of.
    fn tell_engine(&mut self, line: &[u8], out: &mut dyn Outlet) {
        match self.engine {
            // One that starts is told everything when it is up.
            Engine::None | Engine::Starting { .. } => {}
            Engine::Up { .. } if self.ignored_bestmoves > 0 || self.search.is_warming() => {
                self.outbound.push_back(line.to_vec());
            }
            Engine::Up { .. } => out.engine(line::trimmed_end(line)),
        }
    }

    // Lines of the engine.

    fn on_engine(&mut self, now: Duration, line: &[u8], book_set: &BookSet, out: &mut dyn Outlet) {
        let reply = engine::parse(line);
        if matches!(self.engine, Engine::Starting { .. }) && !self.hello.complete {
            return self.on_hello(now, line, reply, book_set, out);
        }
        match reply {
            EngineReply::Info => {
                // Infos of a search that the GUI does not know of would be
                // taken for those of another.
                if self.ignored_bestmoves == 0 && !self.search.is_warming() {
                    self.learner.hear(line);
                    out.gui(line);
                }
            }
            EngineReply::BestMove => self.on_best_move(now, line, book_set, out),
            EngineReply::ReadyOk => {
                if self.ready_owed > 0 {
                    self.ready_owed -= 1;
                    out.gui(b"readyok");
                    self.go_on(now, book_set, out);
                }
            }
            EngineReply::Id | EngineReply::Option | EngineReply::UciOk => {}
            EngineReply::Protection | EngineReply::Other => out.gui(line),
        }
    }

    fn on_best_move(
        &mut self,
        now: Duration,
        line: &[u8],
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        if self.ignored_bestmoves > 0 {
            self.ignored_bestmoves -= 1;
            if self.ignored_bestmoves == 0 {
                self.flush_outbound(out);
            }
            return;
        }
        if matches!(&self.search, Search::Engine(running) if !running.replaced) {
            self.learn_answer(line);
        }
        match &mut self.search {
            // A second answer, or one to nothing.
            Search::Idle | Search::Held(search::Held { warming: false, .. }) => {}
            // The warming search has ended by itself.
            Search::Held(held) => {
                held.warming = false;
                self.flush_outbound(out);
            }
            Search::Engine(running) => {
                self.restarts.engine_answers();
                let kind = running.kind;
                let (replaced, may_answer) = (running.replaced, running.may_answer());
                self.search = Search::Idle;
                if !replaced {
                    self.tell_stand_in(out);
                    if may_answer {
                        out.gui(line);
                    } else {
                        self.search = Search::hold(line.to_vec(), kind);
                    }
                }
                self.go_on(now, book_set, out);
            }
        }
    }

    fn flush_outbound(&mut self, out: &mut dyn Outlet) {
        while let Some(line) = self.outbound.pop_front() {
            out.engine(line::trimmed_end(&line));
        }
    }
}

/// Says something to the GUI at once.
fn info_string(text: &str, out: &mut dyn Outlet) {
    let mut line = b"info string ".to_vec();
    // One line it has to stay, and nothing that a terminal obeys: names come
    // from files.
    line.extend(text.bytes().map(|byte| match byte {
        byte if byte.is_ascii_control() => b' ',
        byte => byte,
    }));
    out.gui(&line);
}
