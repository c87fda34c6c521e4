//! The end of a session: pending answers are sent first.

use std::time::Duration;

use super::search::Search;
use super::{IfNoneStarts, Outlet, Request, Session};

/// How long `quit` may wait for pending answers to earlier commands, so that a script
/// that sends everything at once gets them. GUIs kill two to five seconds after `quit`.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

/// The same limit while the engine starts, because some need most of a second.
const LEAVE_LIMIT_AT_START: Duration = Duration::from_millis(1500);

impl Session {
    pub(super) fn begin_to_leave(&mut self, out: &mut dyn Outlet) {
        if !self.leaving {
            self.leaving = true;
            self.record_game(out);
            self.game_over(out);
            out.request(Request::WakeUp(if self.link.is_starting() {
                LEAVE_LIMIT_AT_START
            } else {
                LEAVE_LIMIT
            }));
        }
    }

    /// Ends the session if no answer is pending.
    pub(super) fn try_to_leave(&mut self, now: Duration, out: &mut dyn Outlet) {
        match &mut self.search {
            Search::Idle => {}
            Search::Held(_) => self.release(now, out),
            Search::Engine(running) => {
                if !running.stopped && !self.link.is_starting() {
                    running.stop(now);
                    self.link.send_stop(now, out);
                }
                return;
            }
        }
        // An engine named on the command line is tried in any case: whoever named it wrongly
        // is told.
        let tries = !self.link.was_up && self.engines.if_none_starts == IfNoneStarts::End;
        let waits = self.uci_wanted > 0 || tries;
        let owes = self.link.owes_ready() || (self.link.is_starting() && waits);
        if !owes && !self.books.opening && self.queue.is_empty() {
            self.exit(0, out);
        }
    }

    /// Ends the session when the time limit for `quit` is over.
    pub(super) fn leave(&mut self, out: &mut dyn Outlet) {
        if self.link.is_starting() {
            // The engine did not answer in time; waiting for its end would take longer.
            out.request(Request::KillEngine);
        }
        self.exit(0, out);
    }

    pub(super) fn exit(&mut self, code: u8, out: &mut dyn Outlet) {
        self.record_game(out);
        self.ended = true;
        out.request(Request::Exit(code));
    }
}
