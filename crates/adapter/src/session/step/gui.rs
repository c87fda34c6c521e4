//! Lines of the GUI.
//!
//! Lines are interpreted when they come, and the books answer whatever the engine does. A few
//! have to wait, in order: all of them until the first engine has introduced itself or its time
//! is over, and while books are being opened (two seconds at most); while the engine searches,
//! the lines that must not reach a searching engine: a new `position` or `go`, and options
//! (Stockfish stops reading its input when one comes during a search).

use super::{Moment, Parts, about, configured, scene_of};
use crate::session::engine::Readiness;
use crate::session::game::Continuation;
use crate::session::out::Out;
use crate::session::queue::ForSearch;
use tabia_choice::book_set::BookSet;
use tabia_choice::settings::OptionId;
use tabia_uci::gui::{self, GuiCommand};
use tabia_uci::line;

impl Parts {
    pub(super) fn on_gui(&mut self, line: &[u8], at: &mut Moment<'_>) {
        let line = gui::from_command(line);
        let command = gui::parse(line);
        match command {
            GuiCommand::Blank => {}
            GuiCommand::Quit => self.begin_to_leave(at),
            GuiCommand::Uci if self.engine.is_starting() && !self.engine.is_late() => {
                at.out.contact.defer_uci();
            }
            GuiCommand::Uci => self.send_uci(&mut at.out),
            command => match self.must_wait(&command) {
                true => self.defer(line, command, at),
                false => self.handle(line, command, at),
            },
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
                self.send(line, &mut at.out);
            }
            GuiCommand::Blank | GuiCommand::Quit => {}
        }
    }

    /// No line can be interpreted before the engine is known, or answered before the
    /// books are open.
    fn all_waits(&self) -> bool {
        self.engine.is_unknown() || self.books.are_awaited()
    }

    /// Whether a line has to wait.
    fn must_wait(&self, command: &GuiCommand) -> bool {
        if self.all_waits() {
            return true;
        }
        if self.queue.is_empty() {
            return self.turn.delays(command, sets_own_option(command));
        }
        match command {
            // These belong to the current search, unless another one waits after it.
            GuiCommand::Stop | GuiCommand::PonderHit => self.queue.has_go(),
            // The engine answers during a search. After a `stop` the waiting lines follow
            // soon, and they come first.
            GuiCommand::IsReady => self.turn.is_stopped(),
            _ => true,
        }
    }

    /// A line waits.
    fn defer(&mut self, line: &[u8], command: GuiCommand, at: &mut Moment<'_>) {
        let is_go = matches!(command, GuiCommand::Go(_));
        self.queue.push(at.now, line, command);
        // A `stop` that waits before the `go` is for the current search, which is then
        // answered and not replaced.
        if is_go && self.turn.is_searching() && self.handle_waiting(at) {
            self.go_on(at);
        }
    }

    /// Handles the waiting lines, as far as that is possible now.
    pub(super) fn go_on(&mut self, at: &mut Moment<'_>) {
        while !at.out.contact.has_ended() && !self.all_waits() {
            let Some(command) = self.queue.front() else {
                return;
            };
            let is_delayed = self.turn.delays(command, sets_own_option(command));
            if is_delayed && !self.handle_waiting(at) {
                return;
            }
            let Some(next) = self.queue.pop(at.now, self.game.white_moves()) else {
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
            match self.queue.for_search() {
                Some(ForSearch::Replace) => {
                    let (turn, mut to) = self.turn(at);
                    return turn.abandon(&mut to);
                }
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
        if self.turn.is_idle()
            && let Some(request) = self.books.open(at.now, configured(&self.engine))
        {
            at.out.request(request);
            return self.queue.push_front(at.now, line, GuiCommand::IsReady);
        }
        let without_engine = match self.engine.readiness() {
            Readiness::Up => false,
            Readiness::Silent | Readiness::Starting => self.is_in_book(at.book_set),
            Readiness::Down => true,
        };
        match without_engine {
            true => at.out.gui(b"readyok"),
            false => {
                let (turn, mut to) = self.turn(at);
                turn.ask_ready(&mut to);
            }
        }
    }

    /// Whether a book, and no engine, answers next.
    pub(super) fn is_in_book(&mut self, book_set: &BookSet) -> bool {
        let scene = scene_of(&self.game, &self.engine, book_set);
        !self.turn.is_searching() && self.books.have_move(scene)
    }

    /// Answers each `isready` that waits, without the engine.
    pub(super) fn answer_ready(&mut self, out: &mut Out<'_>) {
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
        self.send(line, &mut at.out);
    }

    /// Another game begins; `before_position`: its first `position` is still to come.
    fn begin_game(&mut self, before_position: bool) {
        self.books.new_game();
        if self.game.begin(before_position) {
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
        // Stockfish 19 ends on some lines: they are passed on only with a `go` that
        // needs it.
        if let Some(trouble) = self.game.problem() {
            self.engine.withhold_position();
            let text = format!("position: {trouble}; the book is not used until the next one");
            return at.out.notice(&text);
        }
        if self.game.is_risky() {
            return self.engine.withhold_position();
        }
        let (turn, mut to) = self.turn(at);
        turn.send_position(&mut to);
    }

    /// Handles `book`, which a user types at the console.
    fn on_book(&mut self, line: &[u8], at: &mut Moment<'_>) {
        if let Some(request) = self.books.open(at.now, configured(&self.engine)) {
            at.out.request(request);
            return self.queue.push_front(at.now, line, GuiCommand::Other);
        }
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        self.books.report(scene, &mut at.out);
    }
}

fn sets_own_option(command: &GuiCommand) -> bool {
    matches!(command, GuiCommand::SetOption(option) if OptionId::by_name(&option.name).is_some())
}
