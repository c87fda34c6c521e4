//! A `go`, what may happen before its answer, and the answer of a book or the engine.

use super::{Moment, NO_MOVE, Parts, configured, scene_of};
use crate::session::books::{BookChoice, have_conditions};
use crate::session::turn::{Held, Look, PonderHitTarget, SearchKind, Turn};
use crate::session::verify::Unchecked;
use tabia_uci::gui::{self, Go, GuiCommand};

impl Parts {
    pub(super) fn on_go(&mut self, line: &[u8], go: Go, at: &mut Moment<'_>) {
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
            return self.queue.push_front(at.now, line, GuiCommand::Go(go));
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
            look: None,
        };
        if let Some(check) = self.check_of(line, go, choice.mv, at) {
            held.look = Some(Look::Check(Box::new(check)));
            self.send_withheld(at);
        } else if held.is_due(at.now) {
            return held.answer.iter().for_each(|line| at.out.gui(line));
        } else if go.ponder && self.thinks_ahead() && self.engine.is_up() {
            held.look = Some(Look::WarmUp(line.to_vec()));
            self.send_withheld(at);
        }
        self.turn = Turn::Held(held);
        self.begin_look(at);
    }

    fn thinks_ahead(&self) -> bool {
        self.books.answering().think_ahead
    }

    /// Sends what a book reports with its answer; returns the lines of the answer.
    pub(super) fn announce(
        &mut self,
        choice: BookChoice,
        go: &Go,
        at: &mut Moment<'_>,
    ) -> Vec<Vec<u8>> {
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
    pub(super) fn have_engine_search(
        &mut self,
        line: &[u8],
        go: Go,
        analyses: bool,
        at: &mut Moment<'_>,
    ) {
        if analyses {
            let scene = scene_of(&self.game, &self.engine, at.book_set);
            self.books.show(&go, scene, &mut at.out);
        }
        if self.game.is_missing() {
            at.out.info("there is no position to search");
            if go.perft.is_some() {
                return;
            }
            return self.answer_without_search(SearchKind::from_go(&go), at);
        }
        if let Some(score) = self.game.final_score().filter(|_| go.perft.is_none()) {
            // Some engines do not answer where there is no move, and some crash; Toga II 3.0 and
            // GNU Chess 6.2.7 answer `a1a1`.
            at.out.gui(format!("info depth 0 score {score}").as_bytes());
            return self.answer_without_search(SearchKind::from_go(&go), at);
        }
        if self.engine.is_down()
            && !self.stand_in(None, &mut at.out)
            && !self.engine.try_again(&mut at.out)
            && !self.last_resort(&mut at.out)
        {
            return self.give_up("the engine is gone and the book has no move", at);
        }
        self.send_withheld(at);
        let scene = scene_of(&self.game, &self.engine, at.book_set);
        let of = (line, &go, analyses);
        let narrowed = self.books.forbid(of, scene, &mut at.out);
        let line = narrowed.as_deref().unwrap_or(line);
        if analyses {
            self.observers.ignore_search();
        } else {
            let wanted = at.book_set.learns() || self.books.exit_by_value();
            self.observers.engine_searches(&self.game, wanted);
        }
        let (turn, mut to) = self.turn(at);
        turn.begin((line, go), &mut to);
    }

    fn answer_without_search(&mut self, kind: SearchKind, at: &mut Moment<'_>) {
        if let Some(line) = self.turn.answer_without(NO_MOVE, kind) {
            at.out.gui(line);
        }
    }

    /// Sends the last `position` line if it was not sent at once.
    fn send_withheld(&mut self, at: &mut Moment<'_>) {
        self.engine
            .send_withheld(&self.game.for_engine(), &mut at.out);
    }

    pub(super) fn on_stop(&mut self, at: &mut Moment<'_>) {
        let (turn, mut to) = self.turn(at);
        if turn.stop(&mut to) {
            self.release(at);
        }
    }

    pub(super) fn on_ponder_hit(&mut self, at: &mut Moment<'_>) {
        self.game.ponder_hit();
        self.books.ponder_hit(&mut at.out);
        let wanted = self.verify_time();
        let (turn, mut to) = self.turn(at);
        match turn.ponder_hit(wanted, &mut to) {
            PonderHitTarget::Nothing => {}
            PonderHitTarget::Held => self.release(at),
            PonderHitTarget::Unchecked(reason) => {
                self.end_check(reason, at);
                self.play_held(at);
            }
        }
    }

    /// Sends the held answer.
    pub(super) fn release(&mut self, at: &mut Moment<'_>) {
        self.end_check(Unchecked::Stopped, at);
        if let Some(held) = self.turn.release() {
            held.answer.iter().for_each(|line| at.out.gui(line));
            self.end_look(held.look, at);
        }
    }

    /// Sends the held answer if it may be sent.
    pub(super) fn play_held(&mut self, at: &mut Moment<'_>) {
        if self.turn.is_due(at.now) {
            self.release(at);
        }
    }

    /// The GUI changes to another position or game. A held answer stays due: engines send
    /// it at the next `stop` or `ponderhit`.
    pub(super) fn leave_position(&mut self, at: &mut Moment<'_>) {
        self.forget_perft(at);
        self.end_check(Unchecked::Stopped, at);
        if let Some(held) = self.turn.held_mut() {
            held.due = None;
            let look = held.look.take();
            self.end_look(look, at);
            self.play_held(at);
        }
    }

    /// Nothing waits for the end of a `perft`. True if there was one.
    pub(super) fn forget_perft(&mut self, at: &mut Moment<'_>) -> bool {
        let (turn, mut to) = self.turn(at);
        turn.forget_perft(&mut to)
    }

    /// Drops a held answer, because a new `go` replaces its own.
    fn drop_held(&mut self, at: &mut Moment<'_>) {
        self.forget_perft(at);
        if let Some(held) = self.turn.release() {
            self.end_look(held.look, at);
        }
    }
}
