//! The loss of an engine: another one takes its place, or none
//! ([`Loss`](crate::session::engine::Loss)).

use super::{Cause, Moment, Parts, about};
use crate::session::Request;
use crate::session::engine::Loss;
use crate::session::out::Out;
use crate::session::verify::Unchecked;

impl Parts {
    /// Looks for another engine, after one was lost.
    pub(super) fn replace_engine(
        &mut self,
        reason: &str,
        cause: Cause,
        may_return: bool,
        at: &mut Moment<'_>,
    ) {
        let Some(mut loss) = self.engine.lose() else {
            return;
        };
        loss.keep(self.turn.lose_engine());
        at.out.notice(reason);
        match self.end_check(Unchecked::Gone, at) {
            true => self.play_held(at),
            false => drop(self.turn.held_mut().and_then(|held| held.look.take())),
        }
        // A search that may end without an answer (`perft`) is not repeated.
        self.forget_perft(at);
        // Without the option that crashes it, the engine may be tried again.
        let is_cured = (self.engine).leave_deadly_option_out(&loss, cause, &mut at.out);
        // Nor does one count that has died of its position, which the next one does not get.
        let is_harmful = self.game.problem().is_some() || self.game.is_risky();
        let is_cured = is_cured || (is_harmful && self.engine.had_position(&loss));
        let owes_a_move = self.turn.is_searching();
        if may_return
            && self.options().engine_restart
            && let Some(index) = (self.engine).restart(&loss, at.now, is_cured, owes_a_move)
        {
            at.out.notice("the engine is started again");
            let about = about(&self.game, &self.books);
            (self.observers).restarted(&self.game, about, reason, &mut at.out);
            return self.engine.start(index, Some(&mut loss), &mut at.out);
        }
        if let Some(next) = self.engine.next_of_chain(&loss) {
            self.adopt(next);
            return self.engine.start(next, Some(&mut loss), &mut at.out);
        }
        self.without_engine(reason, loss, at);
    }

    /// No other engine can be started now, for this reason.
    fn without_engine(&mut self, reason: &str, mut loss: Loss, at: &mut Moment<'_>) {
        if self.engine.was_unknown(&loss) {
            self.adopt(0);
        }
        if self.stand_in(Some(&mut loss), &mut at.out) {
            return;
        }
        at.out.request(Request::KillEngine);
        if self.engine.was_required() {
            let reason = format!("the engine of the command line cannot be used: {reason}");
            return self.end_for(&reason, at);
        }
        if self.turn.is_searching() {
            if !self.last_resort(&mut at.out) {
                self.give_up("the engine is gone and owes a move", at);
            }
            return;
        }
        if self.engine.was_up() && self.options().engine_restart {
            self.engine.give_up(&loss);
            at.out
                .notice("the engine died too often: it is started again for the next search");
        }
        self.answer_ready(&mut at.out);
        self.answer_uci(&mut at.out);
        self.go_on(at);
    }

    /// Starts the built-in engine to replace a lost one, if the user allows it and the
    /// built-in engine itself has not been lost.
    pub(super) fn stand_in(&mut self, loss: Option<&mut Loss>, out: &mut Out<'_>) -> bool {
        self.options().engine_stand_in && self.start_builtin(loss, out)
    }

    /// Starts the built-in engine because no engine has ever started and a move is due;
    /// true if it is there. Without restarts a lost engine shall count, and so shall one
    /// that is missing.
    pub(super) fn last_resort(&mut self, out: &mut Out<'_>) -> bool {
        !self.engine.was_up() && self.options().engine_restart && self.start_builtin(None, out)
    }

    fn start_builtin(&mut self, loss: Option<&mut Loss>, out: &mut Out<'_>) -> bool {
        // It plays nothing but chess.
        !self.game.has_other_rules() && self.engine.start_builtin(loss, out)
    }
}
