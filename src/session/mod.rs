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
mod event;
mod game;
mod handshake;
mod learn;
mod leave;
mod link;
mod options;
mod queue;
mod reply;
mod restart;
mod search;
mod why;

use std::collections::VecDeque;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

pub use event::{Engines, Event, Outlet, Profile, Request, Side};
pub use learn::Note;

use crate::book_set::BookSet;
use crate::settings::Settings;
use crate::uci::gui::{self, GuiCommand};
use crate::uci::line;
use answer::Librarian;
use game::{Game, Step};
use learn::Learner;
use link::{Engine, Link};
use queue::Waiting;
use search::Search;

/// The adapter's state: see the [module](self).
#[derive(Debug)]
pub struct Session {
    engines: Engines,
    link: Link,
    /// The GUI's `uci` waits for the engine's `uciok`.
    uci_wanted: bool,
    /// Things to say once the GUI may hear them.
    notices: Vec<String>,
    /// Lines of the GUI that wait, oldest first.
    deferred: VecDeque<Waiting>,
    /// Books are being opened.
    opening: bool,
    /// The books on the book set may not be those that the settings name: the
    /// settings have changed, or a new game begins and the files may have.
    books_stale: bool,
    /// What was said when they were last opened.
    book_messages: Vec<String>,
    settings: Settings,
    game: Game,
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

impl Session {
    /// A session that has not begun. `entropy` seeds the choice of moves
    /// while `Book Seed` is 0.
    #[must_use]
    pub fn new(engines: Engines, entropy: u64) -> Session {
        let settings = engines
            .profiles
            .first()
            .map(|profile| profile.settings.announced())
            .unwrap_or_default();
        let mut session = Session {
            engines,
            link: Link::default(),
            uci_wanted: false,
            notices: Vec::new(),
            deferred: VecDeque::new(),
            opening: false,
            books_stale: true,
            book_messages: Vec::new(),
            settings,
            game: Game::default(),
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
                if self.link.is_starting() {
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

    /// Says something to the GUI; before it has been told `uciok`, later.
    fn notice(&mut self, text: &str, out: &mut dyn Outlet) {
        if self.link.hello.told {
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
            GuiCommand::Uci => match self.link.state {
                Engine::Starting { late: false, .. } if !self.link.hello.complete => {
                    self.uci_wanted = true;
                }
                _ => self.tell_uci(out),
            },
            command if self.must_wait(&command) => self.defer(now, line, command, out),
            command => self.handle(now, line, command, book_set, out),
        }
    }

    fn handle(
        &mut self,
        now: Duration,
        line: &[u8],
        command: GuiCommand,
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
                self.link.tell(line, out);
            }
            GuiCommand::SetOption(option) => self.on_set_option(line, option, out),
            GuiCommand::Position => self.on_position(line, book_set, out),
            GuiCommand::Go(go) => match self.open_books(out) {
                true => self.wait_first(now, line, GuiCommand::Go(go)),
                false => self.on_go(now, line, go, book_set, out),
            },
            GuiCommand::Stop => self.on_stop(now, out),
            GuiCommand::PonderHit => self.on_ponder_hit(now, out),
            GuiCommand::Other => {
                let mut words = line::words(line);
                if words.next() == Some(b"debug") {
                    self.debug = words.next() == Some(b"on");
                }
                self.link.tell(line, out);
            }
            GuiCommand::Blank | GuiCommand::Quit => {}
        }
    }

    fn on_is_ready(&mut self, now: Duration, line: &[u8], out: &mut dyn Outlet) {
        if self.search.is_idle() && self.open_books(out) {
            return self.wait_first(now, line, GuiCommand::IsReady);
        }
        if self.link.is_up() {
            self.link.ready_owed += 1;
            out.engine(b"isready");
        } else {
            out.gui(b"readyok");
        }
    }

    fn profile(&self) -> Option<&Profile> {
        match self.link.state {
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
            self.link.position_sent = false;
            self.notice(&text, out);
        } else {
            self.link.position_sent = true;
            self.link.tell(line, out);
            self.look_ahead(book_set);
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
