//! The end of the session.

use std::time::Duration;

use super::{Moment, Parts};
use crate::session::Request;
use crate::session::out::Out;

/// How long `quit` may wait for pending answers to earlier commands, so that a script
/// that sends everything at once gets them. GUIs kill two to five seconds after `quit`.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

/// The same limit while the engine starts, because some need most of a second.
const LEAVE_LIMIT_AT_START: Duration = Duration::from_millis(1500);

impl Parts {
    pub(super) fn begin_to_leave(&mut self, at: &mut Moment<'_>) {
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
    pub(super) fn try_to_leave(&mut self, at: &mut Moment<'_>) {
        if self.turn.is_searching() {
            if !self.turn.is_stopped() && !self.engine.is_starting() {
                self.on_stop(at);
            }
            return;
        }
        self.release(at);
        // An engine named on the command line is tried in any case: the user who named it
        // wrongly gets the reason.
        let waits = at.out.contact.has_uci() || self.engine.was_required();
        let owes = self.engine.owes_ready() || (self.engine.is_starting() && waits);
        if !owes && !self.books.are_opening() && self.queue.is_empty() {
            self.exit(0, None, &mut at.out);
        }
    }

    /// Ends the session when the time limit for `quit` is over.
    pub(super) fn leave(&mut self, out: &mut Out<'_>) {
        if self.engine.is_starting() {
            // The engine did not answer in time; waiting for its end would take longer.
            out.request(Request::KillEngine);
        }
        self.exit(0, None, out);
    }

    /// Ends at once, so that the match program can score the game as lost.
    pub(super) fn give_up(&mut self, reason: &str, at: &mut Moment<'_>) {
        let text = format!("{reason}: giving up");
        at.out.notice(&text);
        self.end_for(&text, at);
    }

    /// Ends at once with exit code 2, for a reason that the GUI knows.
    pub(super) fn end_for(&mut self, reason: &str, at: &mut Moment<'_>) {
        at.out.introduce();
        self.exit(2, Some(reason.to_owned()), &mut at.out);
    }

    fn exit(&mut self, code: u8, reason: Option<String>, out: &mut Out<'_>) {
        self.record_game(out);
        out.exit(code, reason);
    }
}
