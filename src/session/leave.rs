//! The end of a session: what is still owed is said first.

use std::time::Duration;

use super::search::Search;
use super::{Outlet, Request, Session};

/// How long the GUI's `quit` may wait for answers that are still owed to
/// commands before it, so that a script that sends everything at once gets
/// them. GUIs kill two to five seconds after `quit`.
const LEAVE_LIMIT: Duration = Duration::from_millis(500);

/// The same while the engine still starts, which takes some of them most of
/// a second.
const LEAVE_LIMIT_AT_START: Duration = Duration::from_millis(1500);

impl Session {
    pub(super) fn begin_to_leave(&mut self, out: &mut dyn Outlet) {
        if !self.leaving {
            self.leaving = true;
            self.game_over(out);
            let starting = self.link.is_starting();
            out.request(Request::WakeUp(if starting {
                LEAVE_LIMIT_AT_START
            } else {
                LEAVE_LIMIT
            }));
        }
    }

    /// Ends when nothing is owed any more.
    pub(super) fn try_to_leave(&mut self, now: Duration, out: &mut dyn Outlet) {
        if let Search::Engine(running) = &mut self.search {
            if !running.stopped && !self.link.is_starting() {
                running.stop(now);
                self.link.tell(b"stop", out);
            }
            return;
        }
        let starting = self.link.is_starting() && (self.uci_wanted || !self.deferred.is_empty());
        if !starting && !self.opening && self.deferred.is_empty() && self.link.ready_owed == 0 {
            self.exit(0, out);
        }
    }

    pub(super) fn exit(&mut self, code: u8, out: &mut dyn Outlet) {
        self.ended = true;
        out.request(Request::Exit(code));
    }
}
