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
//! # Parts
//!
//! | part | owns |
//! |---|---|
//! | `game` | the position, its moves and repetitions; what is known of the game |
//! | `owed` | the answer to the `go` under way, lines that wait, messages before `uciok` |
//! | `engine` | process, options, searches, `isready`s, restarts |
//! | `books` | settings in force, opening books, seed, played lines, the choice of a move |
//! | `observers` | the record of the game, and the notes from which books learn |
//!
//! Each part has the table of its states in its module. It gets an event, changes its state
//! and writes to an [`Out`]; it knows no other part, except that all may read the game. The
//! session passes events on: this module is the only one that knows what one part has to do
//! with another.
//!
//! Lines of the GUI are interpreted when they come, and the books answer whatever the
//! engine does; lines for an engine that starts or ends a search wait until they may be
//! sent.
//!
//! A few lines of the GUI have to wait, in order: all of them until the first engine has
//! introduced itself or its time is over, and while books are being opened (two seconds at
//! most); while the engine searches, those that must not reach a searching engine: a new
//! `position` or `go`, and options (Stockfish stops reading its input when one comes during
//! a search).
//!
//! An engine that dies is started again, and one that has used up its clock is killed and
//! counts as dead ([`Session::deadline`]). If restarting fails, the program ends with
//! exit code 2, unless the built-in engine may replace the lost one. If no engine of
//! engines.toml starts at all, the built-in engine plays where the books have no move.
//!
//! The output depends only on the events, their times, the books and the seed, so that a
//! recorded session can be replayed.

mod books;
mod engine;
mod event;
mod game;
mod observers;
mod out;
mod owed;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use shakmaty::{Move, Position};

pub use crate::record::{GameRecord, RecordKind};
pub use engine::ANALYSE_MODE;
pub use event::{Engines, Event, IfNoneStarts, Output, Profile, Request, Side};
pub use observers::Note;

use crate::book_set::{BookSet, BookSpec};
use crate::settings::{Info, OptionId, Options, Settings};
use books::{BookChoice, Books, Scene, have_conditions};
use engine::{Engine, Hearing, Introduced, Loss, OPPONENT, Readiness, ReadyOk, TimeOver, Trial};
use game::{Continuation, Game};
use observers::{About, Observers};
use out::{Contact, Out};
use owed::{
    ASLEEP, Amends, Background, Budget, Check, ForSearch, Held, HitOf, MARGIN, Outcome, Owed,
    Reply, STOP_LIMIT, SearchKind, StopOf, Unchecked,
};
use tabia_book::policy::ChooseMove;
use tabia_engine::itself;
use tabia_uci::engine::{self as uci, EngineReply, check_value};
use tabia_uci::gui::{self, Go, GuiCommand, SetOption};
use tabia_uci::line;

/// How long `quit` may wait for pending answers to earlier commands, so that a script
/// that sends everything at once gets them. GUIs kill two to five seconds after `quit`.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

/// The same limit while the engine starts, because some need most of a second.
const LEAVE_LIMIT_AT_START: Duration = Duration::from_millis(1500);

/// The answer where there is no move, or no position.
const NO_MOVE: &[u8] = b"bestmove 0000";

/// The option by which the GUI has set the engine to analyse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Analysis {
    /// `MultiPV` is above 1.
    MultiPv,
    /// `UCI_AnalyseMode`
    Mode,
}

/// The context of an event: its time, the books at that time, and where the parts write.
struct Moment<'a> {
    now: Duration,
    book_set: &'a BookSet,
    out: Out<'a>,
}

/// The adapter's state: see the [module](self).
#[derive(Debug)]
pub struct Session {
    contact: Contact,
    parts: Parts,
}

/// Everything but how far the session is with the GUI, on which depends what is sent.
#[derive(Debug)]
struct Parts {
    game: Game,
    owed: Owed,
    engine: Engine,
    books: Books,
    observers: Observers,
    /// The GUI has sent `debug on`.
    debug: bool,
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
        let parts = Parts {
            game: Game::default(),
            owed: Owed::default(),
            observers: Observers::new(engines.record_games),
            engine: Engine::new(engines),
            books: Books::new(settings, entropy),
            debug: false,
        };
        Session {
            contact: Contact::default(),
            parts,
        }
    }

    /// Lets a policy of your own decide between the moves of the books: within the options
    /// (`Book Depth`, `searchmoves` and so on), and for the moves of Tabia only, not for the
    /// replies that it expects (`Book Ponder`).
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
        self.parts.owed.backlog() + self.parts.engine.backlog()
    }

    /// Looks the present position up before the `go`, including the reply to the move
    /// that would be drawn. Call this when all lines have been sent and nothing waits.
    /// Sends nothing, and does not change what will be sent.
    pub fn look_ahead(&mut self, book_set: &BookSet) {
        let parts = &mut self.parts;
        let scene = scene_of(&parts.game, &parts.engine, book_set);
        parts.books.look_ahead(scene);
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
            true => self.parts.engine.stop_due(),
            false => self.parts.deadline(),
        }
    }
}

impl Parts {
    fn start(&mut self, out: &mut Out<'_>) {
        if let Some(first) = self.engine.first() {
            self.adopt(first);
            self.start_engine(first, out);
        } else {
            out.notice("no engine is configured: name one in engines.toml");
        }
    }

    fn step(&mut self, event: Event<'_>, at: &mut Moment<'_>) {
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
                self.replace_engine(reason, Loss::Ended, may_return, at);
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
        if cfg!(debug_assertions) && !at.out.contact.has_ended() {
            self.engine.check_state(self.owed.is_searched_for());
            self.owed.check_state();
        }
    }

    // Lines of the GUI.

    fn on_gui(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let line = gui::from_command(line);
        let command = gui::parse(line);
        match command {
            GuiCommand::Blank => {}
            GuiCommand::Quit => self.begin_to_leave(at),
            GuiCommand::Uci if self.engine.is_starting() && !self.engine.is_late() => {
                at.out.contact.defer_uci();
            }
            GuiCommand::Uci => self.send_uci(&mut at.out),
            command => {
                let is_own = sets_own_option(&command);
                match self.owed.must_wait(&command, self.all_waits(), is_own) {
                    true => self.defer(line, command, at),
                    false => self.handle(line, command, at),
                }
            }
        }
    }

    fn handle(&mut self, line: &[u8], command: GuiCommand, at: &mut Moment<'_>) {
        match command {
            GuiCommand::Uci => self.send_uci(&mut at.out),
            GuiCommand::IsReady => self.on_is_ready(line, at),
            GuiCommand::NewGame => self.on_new_game(line, at),
            GuiCommand::SetOption(option) => self.on_set_option(line, option, &mut at.out),
            GuiCommand::Position => self.on_position(line, at),
            GuiCommand::Go(go) => self.on_go(line, go, at),
            GuiCommand::Stop => self.on_stop(at),
            GuiCommand::PonderHit => self.on_ponder_hit(at),
            GuiCommand::Other => {
                let mut words = line::words(line);
                match (words.next(), words.next()) {
                    (Some(b"debug"), value) => self.debug = value == Some(b"on"),
                    (Some(b"book"), None) => return self.on_book(line, at),
                    _ => {}
                }
                self.engine.send(line, &mut at.out);
            }
            GuiCommand::Blank | GuiCommand::Quit => {}
        }
    }

    /// No line can be interpreted before the engine is known, or answered before the
    /// books are open.
    const fn all_waits(&self) -> bool {
        self.engine.is_unknown() || self.books.are_awaited()
    }

    /// A line waits.
    fn defer(&mut self, line: &[u8], command: GuiCommand, at: &mut Moment<'_>) {
        let is_go = matches!(command, GuiCommand::Go(_));
        self.owed.defer(at.now, line, command);
        // A `stop` that waits before the `go` is for the current search, which is then
        // answered and not replaced.
        if is_go && self.owed.is_searched_for() && self.handle_waiting(at) {
            self.go_on(at);
        }
    }

    /// Handles the waiting lines, as far as that is possible now.
    fn go_on(&mut self, at: &mut Moment<'_>) {
        while !at.out.contact.has_ended() && !self.all_waits() {
            let Some(command) = self.owed.first_line() else {
                return;
            };
            let disturbs = self.owed.disturbs(command, sets_own_option(command));
            if disturbs && !self.handle_waiting(at) {
                return;
            }
            let game = &self.game;
            let Some(next) = self.owed.next_line(at.now, || game.white_moves()) else {
                return;
            };
            self.handle(&next.line, next.command, at);
        }
    }

    /// Handles the lines after one that waits for the end of the search: a `stop` or
    /// `ponderhit` belongs to that search, and a `go` replaces it. True if that has ended
    /// it.
    fn handle_waiting(&mut self, at: &mut Moment<'_>) -> bool {
        loop {
            match self.owed.for_search() {
                Some(ForSearch::Replace) => return self.abandon_search(at),
                Some(ForSearch::Stop) => {
                    self.on_stop(at);
                    return false;
                }
                Some(ForSearch::PonderHit) => self.on_ponder_hit(at),
                None => return false,
            }
        }
    }

    fn on_is_ready(&mut self, line: &[u8], at: &mut Moment<'_>) {
        if self.owed.is_nothing()
            && let Some(request) = self.books.open(at.now, configured(&self.engine))
        {
            at.out.request(request);
            return self.owed.defer_first(at.now, line, GuiCommand::IsReady);
        }
        let without_engine = match self.engine.readiness() {
            Readiness::Up => false,
            Readiness::Silent | Readiness::Starting => self.is_in_book(at.book_set),
            Readiness::Down => true,
        };
        match without_engine {
            true => at.out.gui(b"readyok"),
            false => self.engine.ask_ready(at.now, &mut at.out),
        }
    }

    /// Whether a book, and no engine, answers next.
    fn is_in_book(&mut self, book_set: &BookSet) -> bool {
        let scene = scene_of(&self.game, &self.engine, book_set);
        !self.owed.is_searched_for() && self.books.have_move(scene)
    }

    /// Answers each `isready` that waits, without the engine.
    fn answer_ready(&mut self, out: &mut Out<'_>) {
        for _ in 0..self.engine.answer_ready() {
            out.gui(b"readyok");
        }
    }

    fn on_new_game(&mut self, line: &[u8], at: &mut Moment<'_>) {
        self.leave_position(at);
        self.record_game(&mut at.out);
        self.observers.note(&self.game, &mut at.out);
        self.begin_game(true);
        self.books.new_game_is_announced();
        self.engine.send(line, &mut at.out);
    }

    /// Another game begins; `untold`: without a position.
    fn begin_game(&mut self, untold: bool) {
        self.books.new_game();
        if self.game.begin(untold) {
            self.books.opponent_changed();
        }
    }

    fn on_position(&mut self, line: &[u8], at: &mut Moment<'_>) {
        self.leave_position(at);
        self.books.forget_position();
        let before = self.observers.remember(&self.game);
        let step = self.game.update(line);
        let about = about(&self.game, &self.books);
        self.observers
            .position(before, &self.game, step, about, &mut at.out);
        if step == Continuation::Anew {
            self.begin_game(false);
        }
        if let Some(corrected) = self.game.correction_news() {
            at.out.notice(&corrected);
        }
        // Current Stockfish ends on some lines: they are passed on only with a `go` that
        // needs it.
        if let Some(trouble) = self.game.problem() {
            self.engine.withhold_position();
            let text = format!("position: {trouble}; the book is not used until the next one");
            return at.out.notice(&text);
        }
        if self.game.is_risky() {
            return self.engine.withhold_position();
        }
        let position_line = self.game.for_engine();
        self.engine.send_position(&position_line, &mut at.out);
    }

    // Options.

    fn on_set_option(&mut self, line: &[u8], option: SetOption, out: &mut Out<'_>) {
        if let Some(id) = OptionId::by_name(&option.name) {
            let configured = configured(&self.engine);
            if let Err(error) = self.books.set(id, &option.text(), configured) {
                out.notice(&error.to_string());
            }
            let value = option.value.as_deref().unwrap_or_default();
            if let Some(text) = self.books.emptied(id, value) {
                out.notice(text);
            }
            return;
        }
        if let Some(name) = self.engine.without_prefix(&option.name) {
            let mut line = format!("setoption name {name}").into_bytes();
            if let Some(value) = &option.value {
                line.extend_from_slice(b" value ");
                line.extend_from_slice(value);
            }
            return self
                .engine
                .set_option(&line, &SetOption { name, ..option }, out);
        }
        let notation = self.game.castling_mode();
        if self.game.set_rules(&option.name, &option.text()) {
            self.books.rules_changed();
        }
        // Stockfish takes `searchmoves` in the notation that was in force at its last
        // `position`, and castling in the other one for another move. An engine that starts
        // gets its options first.
        if notation != self.game.castling_mode() && self.engine.is_up() {
            self.engine.withhold_position();
        }
        let is_known = self.engine.knows(&option.name);
        if option.name.eq_ignore_ascii_case(OPPONENT) {
            if self.game.name_opponent(option.text()) {
                self.books.opponent_changed();
            }
            if !is_known && self.wants_opponent() {
                return;
            }
        }
        if !is_known && option.name.eq_ignore_ascii_case(ANALYSE_MODE) {
            // Tabia handles this option; the engine does not know it.
            let value = option.value.as_deref().unwrap_or_default();
            if check_value(&option.text()).is_none() {
                let text = format!(
                    "{ANALYSE_MODE} takes true or false, not \"{}\"",
                    option.text()
                );
                out.notice(&text);
            }
            return self.engine.set_mode(ANALYSE_MODE, value);
        }
        if !is_known && let Some(meant) = OptionId::like(&option.name) {
            let text = format!(
                "there is no option \"{}\": did you mean \"{}\"?",
                option.name,
                meant.spec().name
            );
            out.notice(&text);
        }
        self.engine.set_option(line, &option, out);
    }

    /// Whether the opponent's name is needed, so that its option is offered to the GUI.
    fn wants_opponent(&self) -> bool {
        self.observers.records() || have_conditions(configured(&self.engine))
    }

    // A `go` and its answer.

    fn on_go(&mut self, line: &[u8], go: Go, at: &mut Moment<'_>) {
        let rewritten = self.game.searchmoves_for_engine(line);
        let (line, go) = match rewritten
            .as_deref()
            .map(|rewritten| (rewritten, gui::parse(rewritten)))
        {
            Some((rewritten, GuiCommand::Go(go))) => (rewritten, go),
            _ => (line, go),
        };
        let analyses = !self.books.plays(&go) || self.engine.analysis().is_some();
        let has_conditions = have_conditions(configured(&self.engine));
        if !analyses && has_conditions && self.game.see_clock(&go.clocks) {
            self.books.rules_changed();
        }
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        if let Some(request) = self.books.needs(at.now, &go, scene) {
            at.out.request(request);
            return self.owed.defer_first(at.now, line, GuiCommand::Go(go));
        }
        self.drop_held(at);
        at.out.introduce();
        self.observers.ignore_search();
        self.game.search(&go, !analyses);
        if !analyses {
            self.observers.go(&self.game);
            let scene = scene_of(&self.game, &self.engine, at.book_set);
            if let Some(choice) = self.books.answer(&go, scene, &mut at.out) {
                return self.play_book_move(line, &go, choice, at);
            }
        }
        if !self.engine.is_down() {
            self.say_why(&go, at);
        }
        self.have_engine_search(line, go, analyses, at);
    }

    /// Handles `book`, which a user types at the console.
    fn on_book(&mut self, line: &[u8], at: &mut Moment<'_>) {
        if let Some(request) = self.books.open(at.now, configured(&self.engine)) {
            at.out.request(request);
            return self.owed.defer_first(at.now, line, GuiCommand::Other);
        }
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        self.books.tell(scene, &mut at.out);
    }

    /// Reports why this `go` goes to the engine, if the reason is unexpected.
    fn say_why(&mut self, go: &Go, at: &mut Moment<'_>) {
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        self.books.say_why(go, self.debug, scene, &mut at.out);
        if let Some(switch) = self.engine.own_book() {
            self.books.warn_of_own_book(&switch, &mut at.out);
        }
    }

    /// Sends a book's answer, or holds it until it may be sent.
    fn play_book_move(&mut self, line: &[u8], go: &Go, choice: BookChoice, at: &mut Moment<'_>) {
        let delay = self.books.delay(choice, go, self.game.white_moves());
        let mut held = Held {
            answer: self.announce(choice, go, at),
            kind: SearchKind::from_go(go),
            due: (!delay.is_zero()).then(|| at.now.saturating_add(delay)),
            search: None,
        };
        if let Some(check) = self.check_of(line, go, choice.mv, at) {
            held.search = Some(Background::Check(Box::new(check)));
            self.send_withheld(&mut at.out);
        } else if held.is_due(at.now) {
            return send_all(&held.answer, &mut at.out);
        } else if go.ponder && self.thinks_ahead() && self.engine.is_up() {
            held.search = Some(Background::ThinkAhead(line.to_vec()));
            self.send_withheld(&mut at.out);
        }
        self.owed.hold(held);
        self.begin_background(at);
    }

    fn thinks_ahead(&self) -> bool {
        self.books.answering().think_ahead
    }

    /// Sends what a book reports with its answer; returns the lines of the answer.
    fn announce(&mut self, choice: BookChoice, go: &Go, at: &mut Moment<'_>) -> Vec<Vec<u8>> {
        // An `isready` before the `go` is answered before it: the book is ready.
        self.answer_ready(&mut at.out);
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        let lines = self.books.announce(choice, go, scene, &mut at.out);
        if let Some(book) = at.book_set.books.get(choice.book) {
            self.observers.book_moves(&self.game, book, choice.mv);
        }
        lines
    }

    /// Passes a `go` to the engine.
    fn have_engine_search(&mut self, line: &[u8], go: Go, analyses: bool, at: &mut Moment<'_>) {
        if analyses {
            let scene = scene_of(&self.game, &self.engine, at.book_set);
            self.books.show(&go, scene, &mut at.out);
        }
        if self.game.is_missing() {
            at.out.info("there is no position to search");
            if go.perft.is_some() {
                return;
            }
            return self.answer_without_search(SearchKind::from_go(&go), &mut at.out);
        }
        if let Some(score) = self.game.final_score().filter(|_| go.perft.is_none()) {
            // Some engines do not answer where there is no move, and some crash.
            at.out.gui(format!("info depth 0 score {score}").as_bytes());
            return self.answer_without_search(SearchKind::from_go(&go), &mut at.out);
        }
        if self.engine.is_down()
            && !self.stand_in(&mut at.out)
            && !self.try_again(&mut at.out)
            && !self.last_resort(&mut at.out)
        {
            return self.give_up("the engine is gone and the book has no move", &mut at.out);
        }
        self.send_withheld(&mut at.out);
        if go.perft.is_none() {
            self.engine.expect_answer(self.game.judged_position());
        }
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        let of = (line, &go, analyses);
        let narrowed = self.books.forbid(of, scene, &mut at.out);
        let line = narrowed.as_deref().unwrap_or(line);
        self.engine.send_go(at.now, line, &mut at.out);
        if analyses {
            self.observers.ignore_search();
        } else {
            let wanted = at.book_set.learns() || self.books.exit_by_value();
            self.observers.engine_searches(&self.game, wanted);
        }
        let white_moves = self.game.white_moves();
        self.owed.search(at.now, (line, go), white_moves);
    }

    fn answer_without_search(&mut self, kind: SearchKind, out: &mut Out<'_>) {
        if let Reply::Send(line) = self.owed.answer_without(NO_MOVE, kind) {
            out.gui(&line);
        }
    }

    /// Sends the last `position` line if it was not sent at once.
    fn send_withheld(&mut self, out: &mut Out<'_>) {
        let position_line = self.game.for_engine();
        self.engine.send_withheld(&position_line, out);
    }

    fn on_stop(&mut self, at: &mut Moment<'_>) {
        match self.owed.stop(at.now) {
            StopOf::Nothing => {}
            StopOf::Held => self.release(at),
            // Passed on again, because the engine may have missed the first one.
            StopOf::Search => {
                self.engine.stop(at.now, &mut at.out);
            }
        }
    }

    fn on_ponder_hit(&mut self, at: &mut Moment<'_>) {
        self.game.ponder_hit();
        self.books.ponder_hit(&mut at.out);
        let wanted = self.verify_time();
        match self
            .owed
            .ponder_hit(at.now, self.game.white_moves(), wanted)
        {
            HitOf::Nothing | HitOf::Checked => {}
            HitOf::Held => self.release(at),
            HitOf::Unchecked(reason) => self.end_check(reason, at),
            HitOf::Search => {
                self.engine.ponder_hit(at.now, &mut at.out);
            }
        }
    }

    /// Sends the held answer.
    fn release(&mut self, at: &mut Moment<'_>) {
        self.end_background(Some(Unchecked::Stopped), at);
        if let Some(lines) = self.owed.release() {
            send_all(&lines, &mut at.out);
            self.engine.end_background(at.now, &mut at.out);
        }
    }

    /// Sends the held answer if it may be sent.
    fn play_held(&mut self, at: &mut Moment<'_>) {
        if self.owed.is_due(at.now) {
            self.release(at);
        }
    }

    /// The GUI changes to another position or game. A held answer stays due: engines send
    /// it at the next `stop` or `ponderhit`.
    fn leave_position(&mut self, at: &mut Moment<'_>) {
        if self.owed.is_held() {
            self.owed.end_delay();
            self.end_background(Some(Unchecked::Stopped), at);
            self.engine.end_background(at.now, &mut at.out);
            self.play_held(at);
        } else if self.owed.forget_perft() {
            self.engine.forget_search(&mut at.out);
        }
    }

    /// Drops a held answer, because a new `go` replaces its own.
    fn drop_held(&mut self, at: &mut Moment<'_>) {
        if !self.owed.is_held() {
            return self.leave_position(at);
        }
        self.end_background(None, at);
        self.engine.end_background(at.now, &mut at.out);
        self.owed.forget();
    }

    /// Replaces the current search by a later `go`. True if it was replaced.
    fn abandon_search(&mut self, at: &mut Moment<'_>) -> bool {
        let is_replaced = self.owed.abandon();
        if is_replaced {
            self.engine.abandon(at.now, &mut at.out);
        }
        is_replaced
    }

    // Background searches.

    /// Begins the background search that the held answer waits for, if the engine is free.
    fn begin_background(&mut self, at: &mut Moment<'_>) {
        if !self.engine.is_idle() {
            return;
        }
        let line = match self.owed.take_waiting() {
            None => return,
            Some(Background::ThinkAhead(line)) => line,
            Some(Background::Check(mut check)) => {
                let can_compare = self.engine.can_compare();
                let mode = self.game.castling_mode();
                let Some(look) = check.begin(at.now, can_compare, mode) else {
                    self.say_unchecked(check.candidate(), Unchecked::NoTime, &mut at.out);
                    return self.play_held(at);
                };
                self.owed.check(check);
                if look.both {
                    self.engine.compare(&mut at.out);
                }
                look.line.into_bytes()
            }
        };
        self.engine.expect_answer(self.game.judged_position());
        (self.engine).search_in_background(at.now, &line, &mut at.out);
    }

    /// Ends the background search of the held answer; true if it was a check. Without a
    /// reason the move is not played.
    fn end_background(&mut self, reason: Option<Unchecked>, at: &mut Moment<'_>) -> bool {
        let Some(check) = self.owed.take_check() else {
            return false;
        };
        self.engine.end_background(at.now, &mut at.out);
        self.end_comparison(&check, &mut at.out);
        if let Some(reason) = reason {
            self.say_unchecked(check.candidate(), reason, &mut at.out);
        }
        true
    }

    /// The check of a book move, if it is switched on and possible; reports why it is not.
    fn check_of(
        &mut self,
        line: &[u8],
        go: &Go,
        candidate: Move,
        at: &mut Moment<'_>,
    ) -> Option<Check> {
        let wanted = self.verify_time();
        let position = self.game.position().filter(|_| !wanted.is_zero())?;
        let turn = position.turn();
        let left = match go.ponder {
            true => None,
            false => go.left(Some(turn.is_white())),
        };
        let budget = match self.engine.readiness() {
            Readiness::Down => Err(Unchecked::NoEngine),
            Readiness::Starting => Err(Unchecked::Starting),
            Readiness::Silent => Err(Unchecked::Silent),
            Readiness::Up => Budget::new(at.now, wanted, left).ok_or(Unchecked::NoTime),
        };
        match budget {
            Ok(budget) => {
                let scene = scene_of(&self.game, &self.engine, at.book_set);
                let allowed = self.books.allowed(go, scene);
                let of = (candidate, turn);
                Some(Check::new(at.now, (line, go), of, allowed, budget))
            }
            Err(reason) => {
                self.say_unchecked(candidate, reason, &mut at.out);
                None
            }
        }
    }

    fn verify_time(&self) -> Duration {
        Duration::from_millis(self.books.answering().verify.into())
    }

    /// Handles the engine's answer to the search of a check.
    fn on_looked(&mut self, answer: &[u8], at: &mut Moment<'_>) {
        let Some(mut check) = self.owed.take_check() else {
            return;
        };
        let Some(position) = self.game.position() else {
            self.say_unchecked(check.candidate(), Unchecked::Stopped, &mut at.out);
            return self.play_held(at);
        };
        let margin = self.books.answering().verify_margin;
        let compared = check.compares_both();
        let outcome = check.judge(answer, margin, position);
        if compared {
            self.engine.end_comparison(&mut at.out);
        }
        match outcome {
            Outcome::Play => self.play_held(at),
            Outcome::Unchecked(reason) => {
                self.say_unchecked(check.candidate(), reason, &mut at.out);
                self.play_held(at);
            }
            Outcome::Compare => self.owed.check(check),
            Outcome::Veto(book, best) => {
                if self.is_talkative() {
                    let mode = self.game.castling_mode();
                    at.out.info(&check.veto_text(at.now, [book, best], mode));
                }
                self.try_next(check, at);
            }
        }
    }

    /// Draws another book move and checks it; if there is none or no time, the engine
    /// plays.
    fn try_next(&mut self, mut check: Box<Check>, at: &mut Moment<'_>) {
        let next = check.veto(at.now).and_then(|end| {
            let (go, vetoed) = check.question();
            let scene = scene_of(&self.game, &self.engine, at.book_set);
            Some((end, self.books.draw(go, vetoed, scene, &mut at.out)?))
        });
        match next {
            Some((end, choice)) => {
                let lines = self.announce(choice, check.question().0, at);
                self.owed.replace_answer(lines);
                match check.try_next(choice.mv, end) {
                    true => self.owed.check(check),
                    false => self.play_held(at),
                }
            }
            None => {
                self.observers.forget_choice(&self.game);
                self.owed.forget();
                let (line, go) = check.into_go(at.now, self.game.white_moves());
                self.have_engine_search(&line, go, false, at);
            }
        }
    }

    /// Plays the book move, because the engine cannot check it.
    fn end_check(&mut self, reason: Unchecked, at: &mut Moment<'_>) {
        if self.end_background(Some(reason), at) {
            self.play_held(at);
        }
    }

    /// Restores the `MultiPV` that the GUI has set.
    fn end_comparison(&mut self, check: &Check, out: &mut Out<'_>) {
        if check.compares_both() {
            self.engine.end_comparison(out);
        }
    }

    /// Reports that the book move is played, but not because the engine agrees.
    fn say_unchecked(&self, mv: Move, reason: Unchecked, out: &mut Out<'_>) {
        if self.is_talkative() {
            let mv = mv.to_uci(self.game.castling_mode());
            out.info(&format!("Book Verify: {mv} not checked: {reason}"));
        }
    }

    fn is_talkative(&self) -> bool {
        self.books.answering().info != Info::None
    }

    // Lines of the engine.

    fn on_engine(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let reply = uci::parse(line);
        match self.engine.hearing() {
            Hearing::Nobody => {}
            Hearing::Introduction => self.on_introduction(line, reply, at),
            Hearing::Trial => self.on_trial(line, reply, at),
            Hearing::Service => self.on_service(line, reply, at),
        }
    }

    /// Handles a line of an engine that has introduced itself.
    fn on_service(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            // The GUI would take `info` lines of a background search for those of its own.
            EngineReply::Info if self.engine.is_hidden() => self.owed.receive(line),
            EngineReply::Info => {
                self.engine.receive(at.now, line, &mut at.out);
                self.observers.receive(line);
                at.out.gui(line);
            }
            EngineReply::BestMove => {
                self.engine.mark_alive();
                self.on_best_move(line, at);
            }
            EngineReply::ReadyOk => {
                self.engine.mark_alive();
                self.on_ready(at);
            }
            EngineReply::Id | EngineReply::Option | EngineReply::UciOk => {}
            // Of Tabia's own `stop`, which has crossed its answer (Glaurung 2.2).
            EngineReply::Other if self.engine.is_hidden() && uci::complains_of(line, "stop") => {}
            EngineReply::Protection | EngineReply::Other => at.out.gui(line),
        }
    }

    fn on_ready(&mut self, at: &mut Moment<'_>) {
        match self.engine.on_ready_ok(at.now, &mut at.out) {
            ReadyOk::OfGui => at.out.gui(b"readyok"),
            ReadyOk::Free => {
                if self.owed.is_exclusive() {
                    // Its `go` has waited until now. After a `perft` no answer comes.
                    self.engine.expect_answer(self.game.judged_position());
                }
                self.begin_background(at);
            }
            ReadyOk::OfNobody => {}
        }
    }

    fn on_best_move(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let word = line::words(line).nth(1).unwrap_or_default();
        // A search that is being stopped has its own answer soon.
        if self.engine.is_stray(word) && (self.engine.is_hidden() || self.owed.may_ignore_repeat())
        {
            let text = format!(
                "the engine answered {} twice; the second answer is ignored",
                engine::shown(word)
            );
            return at.out.notice(&text);
        }
        let answer = engine::Answer::read(line, word, &self.game);
        if self.engine.is_hidden() {
            return self.on_background_answer(line, answer, at);
        }
        // A second answer, or one without a search.
        if !self.owed.is_searched_for() {
            return;
        }
        let shown_as = |line: &[u8]| engine::shown(line::words(line).nth(1).unwrap_or_default());
        let answer = match answer {
            engine::Answer::Sound(answer) => Cow::Borrowed(answer),
            engine::Answer::Translated(passed_on) => {
                let text = "the engine castles in another notation: ";
                at.out
                    .notice(&format!("{text}{} is passed on", engine::shown(&passed_on)));
                Cow::Owned(passed_on)
            }
            engine::Answer::Converted(passed_on) => {
                let text = format!(
                    "the engine's answer {} is not UCI: {} is passed on",
                    engine::shown(word),
                    shown_as(&passed_on)
                );
                at.out.notice(&text);
                Cow::Owned(passed_on)
            }
            engine::Answer::Illegal => {
                let shown = engine::shown(word);
                let text = format!("the engine's answer {shown} is not legal here");
                self.engine.note_answer(word);
                return self.reject_answer(&text, at);
            }
            engine::Answer::Unreadable => return self.reject_answer(&engine::unsound(line), at),
        };
        self.engine.has_answered(word, &mut at.out);
        let value = self
            .observers
            .answered(&self.game, &answer, at.book_set.learns());
        // The answer to a ponder move that was not played is of another position.
        if let Some(value) = value.filter(|_| !self.game.is_pondering()) {
            self.books.learn_value(value);
        }
        let mv = line::words(&answer).nth(1).unwrap_or_default();
        self.books.disobeyed(mv, &self.game, &mut at.out);
        self.engine.tell_stand_in(&mut at.out);
        if let Some(Reply::Send(line)) = self.owed.found(&answer) {
            at.out.gui(&line);
        }
        self.go_on(at);
    }

    /// Handles an answer to a search that the GUI does not know of.
    fn on_background_answer(
        &mut self,
        line: &[u8],
        answer: engine::Answer<'_>,
        at: &mut Moment<'_>,
    ) {
        let is_checked = self.engine.is_in_background();
        // The position of an abandoned search is not known any more.
        let is_sound = uci::sound_answer(line).is_some();
        let ends_search = match &answer {
            engine::Answer::Sound(_) | engine::Answer::Translated(_) => true,
            engine::Answer::Converted(_) | engine::Answer::Illegal => is_sound && !is_checked,
            engine::Answer::Unreadable => false,
        };
        if ends_search {
            self.engine
                .note_answer(line::words(line).nth(1).unwrap_or_default());
            self.engine.on_hidden_answer(at.now, &mut at.out);
        } else {
            if let engine::Answer::Unreadable = answer {
                at.out.notice(&engine::unsound(line));
            }
            self.engine.doubt(at.now, &mut at.out);
        }
        if is_checked {
            let answer: &[u8] = match &answer {
                engine::Answer::Sound(answer) => answer,
                engine::Answer::Translated(passed_on) | engine::Answer::Converted(passed_on) => {
                    passed_on
                }
                engine::Answer::Illegal | engine::Answer::Unreadable => line,
            };
            self.on_looked(answer, at);
        }
    }

    /// An answer that cannot be the one to this search: the engine searches again.
    fn reject_answer(&mut self, why: &str, at: &mut Moment<'_>) {
        match self.owed.reject() {
            Amends::None => at.out.notice(why),
            Amends::GiveUp => {
                let reason = format!("{why} again: it is ended");
                self.replace_engine(&reason, Loss::Useless, true, at);
            }
            Amends::SearchAgain => {
                at.out.notice(&format!("{why}: it searches again"));
                self.engine.doubt(at.now, &mut at.out);
                let position_line = self.game.for_engine();
                if !position_line.is_empty() {
                    self.engine.repeat_position(&position_line, &mut at.out);
                }
                self.search_again(at);
            }
        }
    }

    // The start of an engine.

    /// Requests the engine of a profile.
    fn start_engine(&mut self, index: usize, out: &mut Out<'_>) {
        self.engine.start(index, out);
    }

    /// Uses the profile of an engine that is tried at the start; no line of the GUI has
    /// been handled yet.
    fn adopt(&mut self, index: usize) {
        if let Some(profile) = self.engine.adopt(index) {
            self.books.adopt(profile.settings.announced());
            self.game.forget_rules();
            for (name, value) in &profile.options {
                self.game.set_rules(name, value);
            }
        }
    }

    /// Handles a line of an engine that has not sent `uciok` yet.
    fn on_introduction(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            EngineReply::Info if itself::is_refusal(line) => {
                at.out.notice(itself::REASON);
                self.end_for(itself::REASON, &mut at.out);
            }
            EngineReply::Id => self.engine.identify(line),
            EngineReply::Option => self.engine.declare(line),
            EngineReply::UciOk => self.on_uci_ok(at),
            EngineReply::Protection => at.out.gui(line),
            EngineReply::Other if self.engine.has_declared_nothing() && uci::is_of_xboard(line) => {
                let reason = self.engine.of_xboard(line);
                self.replace_engine(&reason, Loss::Useless, false, at);
            }
            // Other text is not passed on before `uciok`.
            EngineReply::Info
            | EngineReply::Other
            | EngineReply::ReadyOk
            | EngineReply::BestMove => {}
        }
    }

    fn on_uci_ok(&mut self, at: &mut Moment<'_>) {
        match self.engine.introduce(at.now, &mut at.out) {
            Introduced::Trying => return,
            Introduced::First => {}
            Introduced::Again => self.bring_up_to_date(false, at),
        }
        self.answer_uci(&mut at.out);
        self.go_on(at);
    }

    /// Handles a line of an engine that gets its options one by one.
    fn on_trial(&mut self, line: &[u8], reply: EngineReply, at: &mut Moment<'_>) {
        match reply {
            EngineReply::ReadyOk => match self.engine.survives_option(&mut at.out) {
                Trial::Next => {}
                Trial::Over => {
                    self.bring_up_to_date(true, at);
                    self.answer_uci(&mut at.out);
                    self.go_on(at);
                }
            },
            EngineReply::Info | EngineReply::Other => at.out.gui(line),
            _ => {}
        }
    }

    /// Sends to an engine that was started during a session everything that the last one
    /// got, and repeats its unanswered search. `tried`: the options have been sent already.
    fn bring_up_to_date(&mut self, tried: bool, at: &mut Moment<'_>) {
        let is_harmless = self.game.problem().is_none() && !self.game.is_risky();
        let position_line = self.game.for_engine();
        let position = is_harmless.then_some(&*position_line);
        self.engine.resume(at.now, tried, position, &mut at.out);
        if !is_harmless && self.engine.has_position() {
            return self.skip_position(&mut at.out);
        }
        if self.owed.is_searched_for() {
            self.send_withheld(&mut at.out);
        }
        self.search_again(at);
    }

    /// The last engine has ended after this illegal `position` line: it is not sent to
    /// the next one.
    fn skip_position(&mut self, out: &mut Out<'_>) {
        self.engine.withhold_position();
        let is_perft = self.owed.forget_perft();
        let reply = self.owed.found(NO_MOVE);
        if is_perft || reply.is_some() {
            out.info("the position is not searched again");
        }
        if let Some(Reply::Send(line)) = reply {
            out.gui(&line);
        }
    }

    /// Sends the unanswered `go` of the GUI again, with the time that is left.
    fn search_again(&mut self, at: &mut Moment<'_>) {
        self.engine.expect_answer(self.game.judged_position());
        let white_moves = self.game.white_moves();
        let Some(again) = self.owed.search_again(at.now, white_moves) else {
            return;
        };
        self.engine.send_go(at.now, &again.line, &mut at.out);
        if again.stopped {
            self.engine.stop(at.now, &mut at.out);
        }
    }

    /// Answers each `uci` that waits for the engine.
    fn answer_uci(&mut self, out: &mut Out<'_>) {
        for _ in 0..out.contact.take_uci() {
            self.send_uci(out);
        }
    }

    /// Sends the introduction of Tabia and the engine to the GUI.
    fn send_uci(&mut self, out: &mut Out<'_>) {
        let wants_opponent = self.wants_opponent();
        let settings = self.books.settings();
        self.engine.introduction(settings, wants_opponent, out);
    }

    /// Handles the end of the time that a profile gives its engine to start.
    fn on_wake_up(&mut self, at: &mut Moment<'_>) {
        match self.engine.time_over(&mut at.out) {
            TimeOver::Started => {}
            TimeOver::Late => {
                self.answer_uci(&mut at.out);
                self.go_on(at);
            }
            TimeOver::Useless(text, may_return) => {
                self.replace_engine(&text, Loss::Useless, may_return, at);
            }
        }
    }

    // The loss of an engine.

    /// Looks for another engine, after one was lost.
    fn replace_engine(&mut self, reason: &str, loss: Loss, may_return: bool, at: &mut Moment<'_>) {
        if !self.engine.lose() {
            return;
        }
        at.out.notice(reason);
        if let Some(Background::Check(check)) = self.owed.take_background() {
            self.say_unchecked(check.candidate(), Unchecked::Gone, &mut at.out);
            self.play_held(at);
        }
        // A search that may end without an answer (`perft`) is not repeated.
        self.owed.forget_perft();
        // Without the option that crashes it, the engine may be tried again.
        let is_cured = self.engine.leave_deadly_option_out(loss, &mut at.out);
        // Nor does one count that has died of its position, which the next one does not get.
        let is_harmful = self.game.problem().is_some() || self.game.is_risky();
        let is_cured = is_cured || (is_harmful && self.engine.had_position());
        if may_return
            && self.options().engine_restart
            && let Some(index) = self
                .engine
                .restart(at.now, is_cured, self.owed.is_searched_for())
        {
            at.out.notice("the engine is started again");
            let about = about(&self.game, &self.books);
            self.observers
                .restarted(&self.game, about, reason, &mut at.out);
            return self.start_engine(index, &mut at.out);
        }
        if let Some(next) = self.engine.next_of_chain() {
            self.adopt(next);
            return self.start_engine(next, &mut at.out);
        }
        self.without_engine(reason, at);
    }

    /// No other engine can be started now, for this reason.
    fn without_engine(&mut self, reason: &str, at: &mut Moment<'_>) {
        if self.stand_in(&mut at.out) {
            return;
        }
        if self.engine.was_required() {
            at.out.request(Request::KillEngine);
            let reason = format!("the engine of the command line cannot be used: {reason}");
            return self.end_for(&reason, &mut at.out);
        }
        if self.engine.is_unknown() {
            self.adopt(0);
        }
        let owes_a_move = self.owed.is_searched_for();
        let may_return = self.engine.was_up() && self.options().engine_restart;
        let may_return = self.engine.stay_down(may_return && !owes_a_move);
        at.out.request(Request::KillEngine);
        if owes_a_move {
            if !self.last_resort(&mut at.out) {
                self.give_up("the engine is gone and owes a move", &mut at.out);
            }
            return;
        }
        if may_return {
            at.out
                .notice("the engine died too often: it is started again for the next search");
        }
        self.answer_ready(&mut at.out);
        self.answer_uci(&mut at.out);
        self.go_on(at);
    }

    /// Starts an engine that was given up while idle; true if there is one.
    fn try_again(&mut self, out: &mut Out<'_>) -> bool {
        self.engine.try_again(out)
    }

    /// Starts the built-in engine to replace a lost one, if the user allows it and the
    /// built-in engine itself has not been lost.
    fn stand_in(&mut self, out: &mut Out<'_>) -> bool {
        self.options().engine_stand_in && self.start_builtin(out)
    }

    /// Starts the built-in engine because no engine has ever started and a move is due;
    /// true if it is there. Without restarts a lost engine shall count, and so shall one
    /// that is missing.
    fn last_resort(&mut self, out: &mut Out<'_>) -> bool {
        !self.engine.was_up() && self.options().engine_restart && self.start_builtin(out)
    }

    fn start_builtin(&mut self, out: &mut Out<'_>) -> bool {
        // It plays nothing but chess.
        let is_chess = !self.game.has_other_rules();
        is_chess && self.engine.start_builtin(out)
    }

    fn options(&self) -> &Options {
        self.books.settings().options()
    }

    // Limits of time.

    fn deadline(&self) -> Option<Duration> {
        let dues = [
            self.books.awaited_until(),
            self.engine.stop_due(),
            self.ready_due(),
            self.engine_due(),
            self.owed.held_due(),
        ];
        dues.into_iter().flatten().min()
    }

    /// When the engine counts as hung.
    fn engine_due(&self) -> Option<Duration> {
        let search = self.owed.search_due().into_iter();
        search
            .chain(self.background_due())
            .min()
            .filter(|_| self.engine.is_up())
    }

    /// When a background search has delayed the GUI for too long, or the engine has been
    /// silent for too long.
    fn background_due(&self) -> Option<Duration> {
        let due = self.engine.ending_since()?.saturating_add(STOP_LIMIT);
        Some(self.owed.begin_due().map_or(due, |begin| begin.min(due)))
    }

    /// When the GUI has waited long enough for the `readyok` of an engine that may not be
    /// needed.
    fn ready_due(&self) -> Option<Duration> {
        match self.owed.is_searched_for() {
            true => None,
            false => self.engine.ready_due(),
        }
    }

    /// Handles a reached deadline.
    fn on_overdue(&mut self, at: &mut Moment<'_>) {
        let now = at.now;
        if at.out.contact.is_leaving() {
            return self.engine.due_stop(now, &mut at.out);
        }
        let is_due = |due: Option<Duration>| due.is_some_and(|due| due <= now);
        // While the `stop` is not sent, the engine cannot be late.
        if let Some(late) = self.engine.first_stop_late(now) {
            self.on_output_paused(late);
        }
        if is_due(self.books.awaited_until()) {
            self.books.give_up_waiting(&mut at.out);
            self.go_on(at);
        }
        if let Some(late) = self.engine_due().and_then(|due| now.checked_sub(due)) {
            self.on_engine_late(late, at);
        }
        self.engine.due_stop(now, &mut at.out);
        if is_due(self.owed.held_due()) {
            let reason = self.owed.lateness();
            self.end_check(reason, at);
            self.play_held(at);
        }
        if is_due(self.ready_due()) {
            self.on_ready_late(at);
        }
    }

    /// The engine does not answer `isready`. While the books have a move the GUI need not
    /// wait for it: programs give up after 15 seconds. Otherwise there is no limit,
    /// because no clock runs: the engine may be reading a network.
    fn on_ready_late(&mut self, at: &mut Moment<'_>) {
        self.engine.wait_for_ready();
        if self.is_in_book(at.book_set) {
            self.engine.mark_silent();
            self.answer_ready(&mut at.out);
        }
    }

    fn on_engine_late(&mut self, late: Duration, at: &mut Moment<'_>) {
        if late > ASLEEP {
            // Tabia was not running, so perhaps the engine was not either.
            return self.on_output_paused(late.saturating_add(MARGIN));
        }
        let in_background = self.background_due().is_some_and(|due| due <= at.now);
        let text = match self.owed.searched_for(at.now) {
            _ if in_background => "the engine does not end a search that is no longer needed: \
                 it hangs and is ended"
                .to_owned(),
            Some(_) if self.owed.is_stopped() => {
                "the engine does not answer \"stop\": it hangs and is ended".to_owned()
            }
            Some(time) => format!(
                "the engine has not moved for {} s, {} s beyond its time: \
                 it hangs and is ended",
                time.as_secs(),
                MARGIN.as_secs()
            ),
            None => return,
        };
        self.replace_engine(&text, Loss::Useless, true, at);
    }

    /// Extends the engine's limits by a time in which its output could not be read.
    fn on_output_paused(&mut self, time: Duration) {
        self.owed.hold_up(time);
        self.engine.hold_up(time);
    }

    // The end.

    fn begin_to_leave(&mut self, at: &mut Moment<'_>) {
        if !at.out.contact.leave() {
            return;
        }
        self.record_game(&mut at.out);
        self.observers.note(&self.game, &mut at.out);
        let limit = match self.engine.is_starting() {
            true => LEAVE_LIMIT_AT_START,
            false => LEAVE_LIMIT,
        };
        at.out.request(Request::WakeUp(limit));
    }

    /// Ends the session if no answer is pending.
    fn try_to_leave(&mut self, at: &mut Moment<'_>) {
        if self.owed.is_searched_for() {
            if !self.owed.is_stopped() && !self.engine.is_starting() {
                self.on_stop(at);
            }
            return;
        }
        if self.owed.is_held() {
            self.release(at);
        }
        // An engine named on the command line is tried in any case: the user who named it wrongly
        // gets the reason.
        let waits = at.out.contact.has_uci() || self.engine.was_required();
        let owes = self.engine.owes_ready() || (self.engine.is_starting() && waits);
        if !owes && !self.books.are_opening() && self.owed.has_no_lines() {
            self.exit(0, None, &mut at.out);
        }
    }

    /// Ends the session when the time limit for `quit` is over.
    fn leave(&mut self, out: &mut Out<'_>) {
        if self.engine.is_starting() {
            // The engine did not answer in time; waiting for its end would take longer.
            out.request(Request::KillEngine);
        }
        self.exit(0, None, out);
    }

    /// Ends at once, so that the match program can score the game as lost.
    fn give_up(&mut self, reason: &str, out: &mut Out<'_>) {
        let text = format!("{reason}: giving up");
        out.notice(&text);
        self.end_for(&text, out);
    }

    /// Ends at once with exit code 2, for a reason that the GUI knows.
    fn end_for(&mut self, reason: &str, out: &mut Out<'_>) {
        out.introduce();
        self.exit(2, Some(reason.to_owned()), out);
    }

    fn exit(&mut self, code: u8, reason: Option<String>, out: &mut Out<'_>) {
        self.record_game(out);
        out.exit(code, reason);
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

fn sets_own_option(command: &GuiCommand) -> bool {
    matches!(command, GuiCommand::SetOption(option) if OptionId::by_name(&option.name).is_some())
}

fn send_all(lines: &[Vec<u8>], out: &mut Out<'_>) {
    for line in lines {
        out.gui(line);
    }
}

#[cfg(test)]
mod tests;
