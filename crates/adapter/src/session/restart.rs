//! The end of the engine: restarting it, replacing it by the built-in engine, giving up.

use std::time::Duration;

use super::clock::{ASLEEP, MARGIN, allowance, patience};
use super::link::Engine;
use super::restarts::Restarts;
use super::search::Search;
use super::{IfNoneStarts, Moment, Outlet, Request, Session, info_string};
use tabia_uci::gui::with_time_left;

/// How an engine was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// It could not be started, or has ended.
    Ended,
    /// It runs, but is of no use: it hangs, or does not answer as it should.
    Useless,
}

impl Session {
    /// Requests the engine of a profile.
    pub(super) fn start_engine(&mut self, index: usize, out: &mut dyn Outlet) {
        // A GUI that has got `uciok` without an engine does not get another one.
        let late = self.link.is_late() && !self.link.was_up;
        self.link.begin_again(index, late);
        out.request(Request::StartEngine(index));
        // A session that is ending has set another alarm.
        if let Some(profile) = self.engines.profiles.get(index)
            && !self.leaving
        {
            out.request(Request::WakeUp(profile.start_timeout));
        }
    }

    /// Handles an engine that could not be started, or has ended.
    pub(super) fn on_engine_gone(&mut self, reason: &str, at: &mut Moment<'_>) {
        // An engine that has started but sent no line is tried again. A program that
        // could not be started is not.
        let may_return = self.link.was_up || self.link.runs;
        self.replace_engine(reason, Loss::Ended, may_return, at);
    }

    /// Looks for another engine, after one was lost.
    pub(super) fn replace_engine(
        &mut self,
        reason: &str,
        loss: Loss,
        may_return: bool,
        at: &mut Moment<'_>,
    ) {
        let index = match self.link.state {
            Engine::None => return,
            Engine::Starting { index, .. } | Engine::Up { index } => index,
        };
        self.notice(reason, at.out);
        self.lose_check(at.now, at.out);
        // A search that may end without an answer (`perft`) is not repeated.
        if matches!(&self.search, Search::Engine(running) if running.parsed.perft) {
            self.search = Search::Idle;
        }
        // Without the option that crashes it, the engine may be tried again.
        let is_cured = self.leave_deadly_option_out(loss, at);
        if may_return
            && self.settings.options().engine_restart
            && (is_cured || self.link.restarts.allow(at.now, self.search.is_engine()))
        {
            self.notice("the engine is started again", at.out);
            self.record_restart(reason, at.out);
            return self.start_engine(index, at.out);
        }
        let next = index + 1;
        if self.link.is_unknown() && next < self.engines.chain {
            self.link.restarts = Restarts::default();
            self.adopt(next);
            return self.start_engine(next, at.out);
        }
        self.without_engine(index, reason, at);
    }

    /// No other engine can be started now, for this reason.
    fn without_engine(&mut self, index: usize, reason: &str, at: &mut Moment<'_>) {
        if self.stand_in(at.out) {
            return;
        }
        if !self.link.was_up && self.engines.if_none_starts == IfNoneStarts::End {
            at.out.request(Request::KillEngine);
            let reason = format!("the engine of the command line cannot be used: {reason}");
            return self.end_for(&reason, at.out);
        }
        if self.link.is_unknown() {
            self.adopt(0);
        }
        self.link.lose();
        at.out.request(Request::KillEngine);
        if self.search.is_engine() {
            if !self.last_resort(at.out) {
                self.give_up("the engine is gone and owes a move", at.out);
            }
            return;
        }
        if self.link.was_up && self.settings.options().engine_restart {
            self.link.given_up = Some(index);
            self.notice(
                "the engine has died too often: it is tried again when it is to search",
                at.out,
            );
        }
        self.link.answer_ready(at.out);
        self.answer_uci(at.out);
        self.go_on(at);
    }

    /// Starts an engine that was given up while idle; true if there is one.
    pub(super) fn try_again(&mut self, out: &mut dyn Outlet) -> bool {
        let Some(index) = self.link.given_up else {
            return false;
        };
        self.link.restarts = Restarts::default();
        self.notice("the engine is started again", out);
        self.start_engine(index, out);
        true
    }

    /// Starts the built-in engine to replace a lost one, if the user allows it and the
    /// built-in engine itself has not been lost.
    pub(super) fn stand_in(&mut self, out: &mut dyn Outlet) -> bool {
        self.settings.options().engine_stand_in && self.start_builtin(out)
    }

    /// Starts the built-in engine because no engine has ever started and a move is due;
    /// true if it is there. Without restarts a lost engine shall count, and so shall one
    /// that is missing.
    pub(super) fn last_resort(&mut self, out: &mut dyn Outlet) -> bool {
        !self.link.was_up && self.settings.options().engine_restart && self.start_builtin(out)
    }

    fn start_builtin(&mut self, out: &mut dyn Outlet) -> bool {
        let Some(index) = self.engines.stand_in else {
            return false;
        };
        // It plays nothing but chess.
        if self.link.stands_in_for.is_some() || self.conditions.has_other_rules() {
            return false;
        }
        let lost = self.profile().filter(|_| self.engines.chain > 0);
        let lost = lost.map(|profile| profile.name.clone());
        self.link.stands_in_for = Some(lost.unwrap_or_default());
        // Its own crashes are counted from zero.
        self.link.restarts = Restarts::default();
        self.notice("the built-in engine stands in", out);
        self.start_engine(index, out);
        true
    }

    /// Reports, with every move of the built-in engine, which engine it replaces.
    pub(super) fn report_stand_in(&self, out: &mut dyn Outlet) {
        if let Some(lost) = &self.link.stands_in_for {
            let text = match lost.as_str() {
                "" => "the built-in engine's move: no engine is configured".to_owned(),
                lost => format!("the built-in engine's move, in place of {lost}"),
            };
            info_string(&text, out);
        }
    }

    /// Ends at once, so that the match program can score the game as lost.
    pub(super) fn give_up(&mut self, reason: &str, out: &mut dyn Outlet) {
        let text = format!("{reason}: giving up");
        self.notice(&text, out);
        self.end_for(&text, out);
    }

    /// Ends at once with exit code 2, for a reason that the GUI has been told.
    pub(super) fn end_for(&mut self, reason: &str, out: &mut dyn Outlet) {
        self.send_notices(out);
        self.end_reason = Some(reason.to_owned());
        self.exit(2, out);
    }

    /// Sends to an engine that was started during a session everything that the last one
    /// got, and repeats its unanswered search. `with_options` is false if the options
    /// have been sent already.
    pub(super) fn bring_up_to_date(
        &mut self,
        now: Duration,
        with_options: bool,
        out: &mut dyn Outlet,
    ) {
        if with_options {
            for (_, line) in &self.link.options.lines {
                out.engine(line);
            }
            self.link.options_unanswered = !self.link.options.lines.is_empty();
        }
        out.engine(b"ucinewgame");
        let readable = self.position_trouble().is_none();
        if self.link.position_sent && readable {
            out.engine(self.game.raw());
        }
        self.link.catch_up(now, out);
        if !readable && self.link.position_sent {
            return self.skip_position(out);
        }
        if !readable && self.search.is_engine() {
            self.send_position(out);
        }
        self.search_again(now, out);
    }

    /// The last engine has ended after this illegal `position` line: it is not sent to
    /// the next one.
    fn skip_position(&mut self, out: &mut dyn Outlet) {
        self.link.position_sent = false;
        let Search::Engine(running) = &self.search else {
            return;
        };
        let (kind, is_due) = (running.kind, running.may_answer());
        info_string("the position is not searched again", out);
        self.answer_when_due(b"bestmove 0000".to_vec(), kind, is_due, out);
    }

    /// Sends the unanswered `go` of the GUI again, with the time that is left.
    pub(super) fn search_again(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.expect_answer();
        let white_moves = self.white_moves();
        match &mut self.search {
            Search::Idle | Search::Held(_) => {}
            Search::Engine(running) => {
                let ponders = running.kind.ponder;
                // While the opponent's clock runs, none of our time is used.
                let spent = if ponders {
                    Duration::ZERO
                } else {
                    now.saturating_sub(running.since)
                };
                let white = white_moves.unwrap_or(true);
                let go = with_time_left(&running.go, white, spent, ponders);
                let mut parsed = running.parsed.clone();
                parsed.spend(white, spent);
                running.due = match running.stopped {
                    true => Some(now.saturating_add(MARGIN)),
                    false if ponders => None,
                    false => allowance(&parsed, white_moves).map(|time| now.saturating_add(time)),
                };
                running.begin_due = match ponders {
                    true => None,
                    false => patience(&parsed, white_moves).map(|time| now.saturating_add(time)),
                };
                let stopped = running.stopped;
                self.link.send_go(now, &go, out);
                if stopped {
                    self.link.send_stop(now, out);
                }
            }
        }
    }

    /// When something must be done unless an awaited event comes first; `None` if nothing
    /// is awaited. Same clock as the `now` of [`Session::step`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.leaving {
            // Everything else ends with the alarm that is set.
            return self.link.stop_due();
        }
        let dues = [
            self.books.until,
            self.link.stop_due(),
            self.ready_due(),
            self.engine_due(),
            self.held_due(),
        ];
        dues.into_iter().flatten().min()
    }

    /// When the engine counts as hung.
    fn engine_due(&self) -> Option<Duration> {
        if !self.link.is_up() {
            return None;
        }
        let search = match &self.search {
            Search::Engine(running) => running.due,
            _ => None,
        };
        search.into_iter().chain(self.background_due()).min()
    }

    /// When the GUI has waited long enough for the `readyok` of an engine that may not be
    /// needed.
    fn ready_due(&self) -> Option<Duration> {
        if !self.link.is_up() || self.search.is_engine() {
            return None;
        }
        let limit = self.profile()?.start_timeout;
        Some(self.link.ready_since?.saturating_add(limit))
    }

    /// Handles a reached deadline.
    pub(super) fn on_overdue(&mut self, at: &mut Moment<'_>) {
        let now = at.now;
        if self.leaving {
            return self.link.send_due_stop(now, at.out);
        }
        let is_due = |due: Option<Duration>| due.is_some_and(|due| due <= now);
        // While the `stop` is not sent, the engine cannot be late.
        if let Some(late) = self.link.first_stop_late(now) {
            self.on_output_paused(late);
        }
        if is_due(self.books.until) {
            self.on_books_late(at);
        }
        if let Some(late) = self.engine_due().and_then(|due| at.now.checked_sub(due)) {
            self.on_engine_late(late, at);
        }
        self.link.send_due_stop(at.now, at.out);
        if is_due(self.held_due()) {
            self.on_held_due(at.now, at.out);
        }
        if is_due(self.ready_due()) {
            self.on_ready_late(at);
        }
    }

    /// The engine does not answer `isready`. While the books have a move the GUI need not
    /// wait for it: programs give up after 15 seconds. Otherwise there is no limit,
    /// because no clock runs: the engine may be reading a network.
    fn on_ready_late(&mut self, at: &mut Moment<'_>) {
        self.link.ready_since = None;
        if self.is_in_book(at.book_set) {
            self.link.silent = true;
            self.link.answer_ready(at.out);
        }
    }

    fn on_engine_late(&mut self, late: Duration, at: &mut Moment<'_>) {
        if late > ASLEEP {
            // Tabia was not running, so perhaps the engine was not either.
            return self.on_output_paused(late.saturating_add(MARGIN));
        }
        let in_background = self.background_due().is_some_and(|due| due <= at.now);
        let text = match &self.search {
            _ if in_background => "the engine does not end a search that nobody waits for: \
                 it hangs and is ended"
                .to_owned(),
            Search::Engine(running) if running.stopped => {
                "the engine does not answer \"stop\": it hangs and is ended".to_owned()
            }
            Search::Engine(running) => format!(
                "the engine has not moved for {} s, {} s beyond its time: \
                 it hangs and is ended",
                at.now.saturating_sub(running.since).as_secs(),
                MARGIN.as_secs()
            ),
            Search::Idle | Search::Held(_) => return,
        };
        self.replace_engine(&text, Loss::Useless, true, at);
    }

    /// Extends the engine's limits by a time in which its output could not be read.
    pub(super) fn on_output_paused(&mut self, time: Duration) {
        if let Search::Engine(running) = &mut self.search {
            for due in [&mut running.due, &mut running.begin_due] {
                *due = due.map(|due| due.saturating_add(time));
            }
        }
        self.link.hold_up(time);
    }
}
