//! Limits of time that are reached.

use std::time::Duration;

use super::{Cause, Moment, Parts};
use crate::session::turn::{ASLEEP, MARGIN, STOP_LIMIT, Search};

impl Parts {
    /// When something must be done unless an awaited event comes first; `None` if nothing
    /// is awaited.
    pub(in crate::session) fn deadline(&self) -> Option<Duration> {
        let dues = [
            self.books.awaited_until(),
            self.stop_due(),
            self.ready_due(),
            self.engine_due(),
            self.turn.held_due(),
        ];
        dues.into_iter().flatten().min()
    }

    pub(in crate::session) fn stop_due(&self) -> Option<Duration> {
        self.turn.stop_due(&self.engine)
    }

    /// When the engine counts as hung.
    fn engine_due(&self) -> Option<Duration> {
        let search = self.turn.search().and_then(Search::due).into_iter();
        search
            .chain(self.ending_due())
            .min()
            .filter(|_| self.engine.is_up())
    }

    /// When a search that nobody waits for has delayed the GUI for too long, or the engine has
    /// been silent for too long.
    fn ending_due(&self) -> Option<Duration> {
        let due = self.engine.ending_since()?.saturating_add(STOP_LIMIT);
        let begin = self.turn.search().and_then(Search::begin_due);
        Some(begin.map_or(due, |begin| begin.min(due)))
    }

    /// When the GUI has waited long enough for the `readyok` of an engine that may not be
    /// needed.
    fn ready_due(&self) -> Option<Duration> {
        match self.turn.is_searching() {
            true => None,
            false => self.engine.ready_due(),
        }
    }

    /// Handles a reached deadline.
    pub(super) fn on_overdue(&mut self, at: &mut Moment<'_>) {
        let now = at.now;
        if at.out.contact.is_leaving() {
            return self.due_stop(at);
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
        self.due_stop(at);
        if is_due(self.turn.held_due()) {
            self.end_check(self.turn.lateness(), at);
            self.play_held(at);
        }
        if is_due(self.ready_due()) {
            self.on_ready_late(at);
        }
    }

    fn due_stop(&mut self, at: &mut Moment<'_>) {
        let (turn, mut to) = self.turn(at);
        turn.due_stop(&mut to);
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
        let is_ending = self.ending_due().is_some_and(|due| due <= at.now);
        let text = match self.turn.search() {
            _ if is_ending => "the engine does not end a search that is no longer needed: \
                 it hangs and is ended"
                .to_owned(),
            Some(search) if search.is_stopped() => {
                "the engine does not answer \"stop\": it hangs and is ended".to_owned()
            }
            Some(search) => format!(
                "the engine has not moved for {} s, {} s beyond its time: \
                 it hangs and is ended",
                search.spent(at.now).as_secs(),
                MARGIN.as_secs()
            ),
            None => return,
        };
        self.replace_engine(&text, Cause::Useless, true, at);
    }

    /// Extends the engine's limits by a time in which its output could not be read.
    pub(super) fn on_output_paused(&mut self, time: Duration) {
        if let Some(search) = self.turn.search_mut() {
            search.hold_up(time);
        }
        self.engine.hold_up(time);
    }
}
