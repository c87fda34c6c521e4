//! What the session does with an event: each file here has one idea, and passes events between
//! the parts, which do not know each other.
//!
//! | file | events |
//! |---|---|
//! | `gui` | lines of the GUI: at once, or when they can be handled |
//! | `options` | `setoption` |
//! | `go` | `go`, `stop`, `ponderhit`, and the answer |
//! | `look` | looks while an answer is held: checks of book moves, warming up |
//! | `answer` | lines of the engine |
//! | `start` | the start of an engine, and its introduction to the GUI |
//! | `loss` | the loss of an engine |
//! | `time` | limits that are reached |
//! | `leave` | the end |

mod answer;
mod go;
mod gui;
mod leave;
mod look;
mod loss;
mod options;
mod start;
mod time;

use std::time::Duration;

use super::books::{Books, Scene, have_conditions};
use super::engine::{Cause, Engine};
use super::event::{Engines, Event, Side};
use super::game::Game;
use super::observers::{About, Observers};
use super::out::Out;
use super::queue::Queue;
use super::turn::{Outside, Turn};
use tabia_choice::book_set::{BookSet, BookSpec};
use tabia_choice::settings::Options;

/// The answer where there is no move, or no position.
const NO_MOVE: &[u8] = b"bestmove 0000";

/// The context of an event: its time, the books at that time, and where the parts write.
pub(super) struct Moment<'a> {
    pub(super) now: Duration,
    pub(super) book_set: &'a BookSet,
    pub(super) out: Out<'a>,
}

/// Everything but how far the session is with the GUI, on which depends what is sent.
#[derive(Debug)]
pub(super) struct Parts {
    game: Game,
    /// The lines of the GUI that wait.
    queue: Queue,
    turn: Turn,
    pub(super) engine: Engine,
    pub(super) books: Books,
    observers: Observers,
    /// The GUI has sent `debug on`.
    debug: bool,
}

impl Parts {
    pub(super) fn new(engines: Engines, entropy: u64) -> Parts {
        let settings = engines
            .profiles
            .first()
            .map(|profile| profile.settings.announced())
            .unwrap_or_default();
        Parts {
            game: Game::default(),
            queue: Queue::default(),
            turn: Turn::default(),
            observers: Observers::new(engines.record_games),
            engine: Engine::new(engines),
            books: Books::new(settings, entropy),
            debug: false,
        }
    }

    pub(super) fn step(&mut self, event: Event<'_>, at: &mut Moment<'_>) {
        let leaving = at.out.contact.is_leaving();
        match event {
            Event::Gui(_) if leaving => {}
            Event::Gui(line) => self.on_gui(line, at),
            Event::GuiClosed => self.begin_to_leave(at),
            Event::Engine(line) => self.on_engine(line, at),
            Event::EngineUp => self.engine.runs(&mut at.out),
            Event::EngineGone(reason) => {
                // An engine that has started but sent no line is tried again. A program
                // that could not be started is not.
                let may_return = self.engine.has_lived();
                self.replace_engine(reason, Cause::Ended, may_return, at);
            }
            Event::BooksOpened(messages) => {
                self.books.opened(messages, &mut at.out);
                self.go_on(at);
            }
            Event::Seed(taken) => {
                self.books.seed_taken(taken, &mut at.out);
                self.go_on(at);
            }
            Event::Cover(read) => {
                self.books.cover_read(read, &mut at.out);
                self.go_on(at);
            }
            Event::WakeUp if leaving => self.leave(&mut at.out),
            Event::WakeUp => self.on_wake_up(at),
            Event::Overdue => self.on_overdue(at),
            Event::OutputPaused(time) => self.on_output_paused(time),
            Event::Overlong(side) => at.out.notice(match side {
                Side::Gui => "a line longer than 2 MiB was ignored",
                Side::Engine => "the engine sent a line longer than 2 MiB; it was ignored",
            }),
        }
        if at.out.contact.is_leaving() {
            self.try_to_leave(at);
        }
    }

    /// Bytes of waiting lines.
    pub(super) fn backlog(&self) -> usize {
        self.queue.bytes() + self.turn.backlog() + self.engine.backlog()
    }

    pub(super) fn look_ahead(&mut self, book_set: &BookSet) {
        let scene = scene_of(&self.game, &self.engine, book_set);
        self.books.look_ahead(scene);
    }

    /// The turn, and the other parts of the session.
    const fn turn<'a, 'b>(&'a mut self, at: &'a mut Moment<'b>) -> (&'a mut Turn, Outside<'a, 'b>) {
        let outside = Outside {
            now: at.now,
            game: &self.game,
            engine: &mut self.engine,
            out: &mut at.out,
        };
        (&mut self.turn, outside)
    }

    /// A line for the engine: now, or when it can take it.
    fn send(&mut self, line: &[u8], out: &mut Out<'_>) {
        self.turn.send(line, &mut self.engine, out);
    }

    fn options(&self) -> &Options {
        self.books.settings().options()
    }

    /// Whether the opponent's name is needed, so that its option is offered to the GUI.
    fn wants_opponent(&self) -> bool {
        self.observers.records() || have_conditions(configured(&self.engine))
    }

    /// Records the game, which is over.
    fn record_game(&mut self, out: &mut Out<'_>) {
        let about = about(&self.game, &self.books);
        self.observers.record(&self.game, about, out);
    }
}

/// What the books are asked about.
fn scene_of<'a>(game: &'a Game, engine: &'a Engine, book_set: &'a BookSet) -> Scene<'a> {
    Scene {
        game,
        book_set,
        configured: configured(engine),
        analysis: engine.analysis(),
        shows_wdl: engine.shows_wdl(),
    }
}

/// The books of engines.toml for this engine.
fn configured(engine: &Engine) -> &[BookSpec] {
    engine.profile().map_or(&[][..], |profile| &profile.books)
}

/// What the record of a game contains besides the game.
fn about<'a>(game: &'a Game, books: &Books) -> About<'a> {
    About {
        opponent: &game.conditions().opponent,
        misses: books.misses(),
    }
}
