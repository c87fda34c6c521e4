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
//! any; and a book has a move that the policy allows. Any other `go` is passed to the
//! engine unchanged.
//!
//! # States
//!
//! | search | the GUI's `go` is | left by |
//! |---|---|---|
//! | `Idle` | answered | `go` |
//! | `Held` | answered, but the answer may not be sent yet (`go ponder`, `Book Delay`, `Book Verify`, or an engine that ended `go infinite` by itself) | its time, `ponderhit`, `stop`, `quit`; dropped by `go` alone |
//! | `Engine` | in the engine's hands | its `bestmove` |
//!
//! The engine's own state (`link`) is independent of that: starting, up, or none. Lines
//! of the GUI are interpreted when they come, and the books answer whatever the engine
//! does; lines for an engine that starts or ends a background search wait until they may
//! be sent.
//!
//! A few lines of the GUI have to wait, in order (`queue`): all of them until the first
//! engine has introduced itself or its time is over, and while books are being opened
//! (two seconds at most); while the engine searches, those that must not reach a
//! searching engine: a new `position` or `go`, and options (Stockfish stops reading its
//! input when one comes during a search).
//!
//! An engine that dies is started again, and one that has used up its clock is killed and
//! counts as dead ([`Session::deadline`]). If restarting fails, the program ends with
//! exit code 2, unless the built-in engine may replace the lost one. If no engine of
//! engines.toml starts at all, the built-in engine plays where the books have no move.
//!
//! The output depends only on the events, their times, the books and the seed, so that a
//! recorded session can be replayed.

mod answer;
mod child;
mod chooser;
mod clock;
mod cover;
mod event;
mod game;
mod handshake;
mod learn;
mod leave;
mod link;
mod opening;
mod options;
mod queue;
mod record;
mod reply;
mod restart;
mod restarts;
mod search;
mod seed;
mod trial;
mod verify;
mod why;

use std::time::Duration;

pub use child::ANALYSE_MODE;
pub use event::{Engines, Event, IfNoneStarts, Outlet, Profile, Request, Speaker};
pub use learn::Note;
pub use record::{GameRecord, RecordKind};

use crate::book_set::BookSet;
use crate::conditions::GameConditions;
use crate::settings::Settings;
use chooser::BookChooser;
use game::{Game, Step};
use learn::Learner;
use link::{Engine, Link};
use opening::Books;
use queue::Queue;
use record::Recorder;
use search::Search;
use tabia_uci::gui::{self, GuiCommand};
use tabia_uci::line;

/// The context of an event: its time, the books at that time, and where the output goes.
struct Moment<'a> {
    now: Duration,
    book_set: &'a BookSet,
    out: &'a mut dyn Outlet,
}

/// The adapter's state: see the [module](self).
#[derive(Debug)]
pub struct Session {
    engines: Engines,
    link: Link,
    /// Number of `uci` commands of the GUI that wait for the engine's `uciok`.
    uci_wanted: u32,
    /// Messages to send once the GUI may get them (after `uciok`).
    notices: Vec<String>,
    queue: Queue,
    books: Books,
    settings: Settings,
    game: Game,
    search: Search,
    chooser: BookChooser,
    /// The GUI has sent `debug on`.
    debug: bool,
    learner: Learner,
    /// Collects the record of the game, if games are recorded.
    recorder: Option<Recorder>,
    /// Properties of the game for the choice of books.
    conditions: GameConditions,
    /// A move of this game has been asked for.
    game_has_begun: bool,
    /// The opponent named meanwhile, who counts from the next game on.
    next_opponent: Option<String>,
    /// The books for this game have been reported.
    books_reported: bool,
    /// The seed of the game from `Book Seed File`.
    seed: seed::GameSeed,
    cover: cover::Cover,
    /// The seed of random choices while `Book Seed` is 0.
    entropy: u64,
    /// The GUI has sent `quit` or closed Tabia's input.
    leaving: bool,
    ended: bool,
    /// The reason, if the end is not ordinary.
    end_reason: Option<String>,
}

impl Session {
    /// A session that has not started. `entropy` seeds the choice of moves while `Book
    /// Seed` is 0.
    #[must_use]
    pub fn new(engines: Engines, entropy: u64) -> Session {
        let settings = engines
            .profiles
            .first()
            .map(|profile| profile.settings.announced())
            .unwrap_or_default();
        Session {
            recorder: engines.record_games.then(Recorder::default),
            conditions: GameConditions::default(),
            game_has_begun: false,
            next_opponent: None,
            books_reported: false,
            seed: seed::GameSeed::default(),
            cover: cover::Cover::default(),
            engines,
            link: Link::default(),
            uci_wanted: 0,
            notices: Vec::new(),
            queue: Queue::default(),
            books: Books::default(),
            settings,
            game: Game::default(),
            search: Search::Idle,
            chooser: BookChooser::default(),
            debug: false,
            learner: Learner::default(),
            entropy,
            leaving: false,
            ended: false,
            end_reason: None,
        }
    }

    /// Starts the session: requests the first engine.
    pub fn start(&mut self, out: &mut dyn Outlet) {
        if self.engines.chain == 0 {
            self.notices
                .push("no engine is configured: name one in engines.toml".to_owned());
        } else {
            self.adopt(0);
            self.start_engine(0, out);
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The reason why the session has ended, if the end is not ordinary.
    #[must_use]
    pub fn end_reason(&self) -> Option<&str> {
        self.end_reason.as_deref()
    }

    /// Handles an event. `now` is the time since any fixed moment; it never decreases.
    pub fn step(
        &mut self,
        now: Duration,
        event: Event<'_>,
        book_set: &BookSet,
        out: &mut dyn Outlet,
    ) {
        let at = &mut Moment { now, book_set, out };
        if self.ended {
            return;
        }
        match event {
            Event::Gui(_) if self.leaving => {}
            Event::Gui(line) => self.on_gui(line, at),
            Event::GuiClosed => self.begin_to_leave(at.out),
            Event::Engine(line) => self.on_engine(line, at),
            Event::EngineUp => {
                self.link.runs = true;
                at.out.engine(b"uci");
            }
            Event::EngineGone(reason) => self.on_engine_gone(reason, at),
            Event::BooksOpened(messages) => self.on_books_opened(messages, at),
            Event::Seed(taken) => self.on_seed(taken, at),
            Event::Cover(read) => self.on_cover(read, at),
            Event::WakeUp if self.leaving => self.leave(at.out),
            Event::WakeUp => self.on_wake_up(at),
            Event::Overdue => self.on_overdue(at),
            Event::OutputPaused(time) => self.on_output_paused(time),
            Event::Overlong(side) => self.notice(
                match side {
                    Speaker::Gui => "a line longer than 2 MiB was ignored",
                    Speaker::Engine => "the engine sent a line longer than 2 MiB; it was ignored",
                },
                at.out,
            ),
        }
        if self.leaving && !self.ended {
            self.try_to_leave(at.now, at.out);
        }
    }

    /// Sends a message to the GUI; before it has got `uciok`, the message waits.
    fn notice(&mut self, text: &str, out: &mut dyn Outlet) {
        if self.link.hello.announced {
            info_string(text, out);
        } else {
            self.notices.push(text.to_owned());
        }
    }

    // Lines of the GUI.

    fn on_gui(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let line = gui::from_command(line);
        let command = gui::parse(line);
        match command {
            GuiCommand::Blank => {}
            GuiCommand::Quit => self.begin_to_leave(at.out),
            GuiCommand::Uci if self.link.is_starting() && !self.link.is_late() => {
                self.uci_wanted += 1;
            }
            GuiCommand::Uci => self.send_uci(at.out),
            command if self.must_wait(&command) => self.defer(line, command, at),
            command => self.handle(line, command, at),
        }
    }

    fn handle(&mut self, line: &[u8], command: GuiCommand, at: &mut Moment<'_>) {
        match command {
            GuiCommand::Uci => self.send_uci(at.out),
            GuiCommand::IsReady => self.on_is_ready(line, at),
            GuiCommand::NewGame => {
                self.leave_position(at.now, at.out);
                self.record_game(at.out);
                self.chooser.new_game();
                self.begin_game();
                if self.chooser.count_game() {
                    self.seed = seed::GameSeed::Untaken;
                }
                self.game_over(at.out);
                self.books.fresh = false;
                self.link.send(line, at.out);
            }
            GuiCommand::SetOption(option) => self.on_set_option(line, option, at.out),
            GuiCommand::Position => self.on_position(line, at),
            GuiCommand::Go(go) => {
                let waits = self.open_books(at.now, at.out)
                    || self.take_seed(at.out)
                    || self.read_cover(&go, at);
                match waits {
                    true => self.queue.push_front(at.now, line, GuiCommand::Go(go)),
                    false => self.on_go(line, go, at),
                }
            }
            GuiCommand::Stop => self.on_stop(at.now, at.out),
            GuiCommand::PonderHit => self.on_ponder_hit(at.now, at.out),
            GuiCommand::Other => {
                let mut words = line::words(line);
                if words.next() == Some(b"debug") {
                    self.debug = words.next() == Some(b"on");
                }
                self.link.send(line, at.out);
            }
            GuiCommand::Blank | GuiCommand::Quit => {}
        }
    }

    fn on_is_ready(&mut self, line: &[u8], at: &mut Moment<'_>) {
        if self.search.is_idle() && self.open_books(at.now, at.out) {
            return self.queue.push_front(at.now, line, GuiCommand::IsReady);
        }
        let without_engine = match self.link.state {
            Engine::Up { .. } => self.link.silent && self.is_in_book(at.book_set),
            Engine::Starting { .. } => self.is_in_book(at.book_set),
            Engine::None => true,
        };
        if without_engine {
            at.out.gui(b"readyok");
        } else {
            self.link.ask_ready(at.now, at.out);
        }
    }

    /// Whether a book, and no engine, answers next.
    fn is_in_book(&mut self, book_set: &BookSet) -> bool {
        !self.search.is_engine() && self.has_book_move(book_set)
    }

    fn profile(&self) -> Option<&Profile> {
        match self.link.state {
            Engine::Starting { index, .. } | Engine::Up { index } => {
                self.engines.profiles.get(index)
            }
            Engine::None => self.engines.profiles.first(),
        }
    }

    fn on_position(&mut self, line: &[u8], at: &mut Moment<'_>) {
        self.leave_position(at.now, at.out);
        self.chooser.forget_position();
        self.cover.forget_position();
        self.learn_position(line, at);
        if self.game.update(line) == Step::Anew {
            self.record_game(at.out);
            self.chooser.new_game();
            self.begin_game();
        }
        self.record_position(line);
        if let Some(trouble) = self.position_trouble() {
            // Current Stockfish ends on such a line: it is passed on only with a `go`
            // that needs it.
            let text = format!("position: {trouble}; the book is silent until the next one");
            self.link.position_sent = false;
            self.notice(&text, at.out);
        } else {
            self.link.position_sent = true;
            self.link.send_position(line, at.out);
        }
    }

    /// What is wrong with the last `position` line. Illegal moves may be legal in a
    /// variant.
    fn position_trouble(&self) -> Option<&str> {
        let is_judged = !self.conditions.has_other_rules() || self.game.is_missing();
        self.game.trouble().filter(|_| is_judged)
    }

    /// The present position, if it is one of chess and could be read.
    fn judged_position(&self) -> Option<&shakmaty::Chess> {
        let position = self.game.position();
        position.filter(|_| !self.conditions.has_other_rules())
    }
}

/// Sends an `info string` to the GUI at once.
fn info_string(text: &str, out: &mut dyn Outlet) {
    let mut line = b"info string ".to_vec();
    // It must stay one line without control characters: names come from files.
    line.extend(text.bytes().map(|byte| match byte {
        byte if byte.is_ascii_control() => b' ',
        byte => byte,
    }));
    out.gui(&line);
}

#[cfg(test)]
mod tests;
