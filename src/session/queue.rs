//! Lines of the GUI that have to wait for their turn.
//!
//! They wait in order while the engine starts, while books are being opened,
//! and while the engine searches if they may not reach a searching engine.

use std::time::Duration;

use super::clock::{STOP_LIMIT, WORTH_TELLING, allowance, with_time_left};
use super::{Outlet, Session};
use crate::book_set::BookSet;
use crate::settings::OptionId;
use crate::uci::gui::GuiCommand;

/// A line that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) line: Vec<u8>,
    /// What it means.
    pub(super) command: GuiCommand,
    /// Since when.
    since: Duration,
    /// For how long of that nobody could hear the engine.
    held_up: Duration,
}

impl Waiting {
    pub(super) fn since(now: Duration, line: &[u8], command: GuiCommand) -> Waiting {
        Waiting {
            line: line.to_vec(),
            command,
            since: now,
            held_up: Duration::ZERO,
        }
    }

    pub(super) fn hold_up(&mut self, time: Duration) {
        self.held_up = self.held_up.saturating_add(time);
    }
}

impl Session {
    /// Whether a line has to wait for its turn.
    pub(super) fn must_wait(&self, command: &GuiCommand) -> bool {
        if self.link.is_starting() || self.opening {
            return true;
        }
        let stopped = self.search.is_stopped();
        if self.deferred.is_empty() {
            return self.disturbs_search(command) || self.overtakes_ready(command);
        }
        match command {
            // These belong to the search under way, unless another one is
            // waiting behind it.
            GuiCommand::Stop | GuiCommand::PonderHit => self
                .deferred
                .iter()
                .any(|waiting| matches!(waiting.command, GuiCommand::Go(_))),
            // The engine answers in the middle of a search. After a stop it
            // comes to the waiting lines at once, and they come first.
            GuiCommand::IsReady => stopped,
            _ => true,
        }
    }

    /// Whether a line may not reach the engine during the search under way.
    pub(super) fn disturbs_search(&self, command: &GuiCommand) -> bool {
        self.search.is_exclusive()
            && match command {
                GuiCommand::Position | GuiCommand::Go(_) | GuiCommand::NewGame => true,
                GuiCommand::SetOption(option) => OptionId::by_name(&option.name).is_none(),
                _ => false,
            }
    }

    /// Whether a book's answer to this could come before the engine's
    /// `readyok` to a question that was asked earlier.
    pub(super) const fn overtakes_ready(&self, command: &GuiCommand) -> bool {
        self.link.ready_owed > 0 && !self.search.is_engine() && matches!(command, GuiCommand::Go(_))
    }

    pub(super) fn defer(
        &mut self,
        now: Duration,
        line: &[u8],
        command: GuiCommand,
        out: &mut dyn Outlet,
    ) {
        // A new `go` replaces a search that nobody has stopped: its answer
        // is dropped, and with it the engine's chance to block.
        let replaces = matches!(command, GuiCommand::Go(_)) && self.search.replace(now);
        self.deferred.push_back(Waiting::since(now, line, command));
        if replaces {
            self.link.tell(b"stop", out);
        }
    }

    /// A line waits before all others, to be handled once more.
    pub(super) fn wait_first(&mut self, now: Duration, line: &[u8], command: GuiCommand) {
        self.deferred.push_front(Waiting::since(now, line, command));
    }

    /// Handles the lines that wait, as far as they may go now.
    pub(super) fn go_on(&mut self, now: Duration, book_set: &BookSet, out: &mut dyn Outlet) {
        while !self.ended && !self.opening && !self.link.is_starting() {
            let Some(waiting) = self.deferred.pop_front() else {
                return;
            };
            if self.disturbs_search(&waiting.command) {
                self.deferred.push_front(waiting);
                return self.heed_what_waits(now, out);
            }
            if self.overtakes_ready(&waiting.command) {
                self.deferred.push_front(waiting);
                return;
            }
            // A shorter clock does not change what the line means.
            let line = self.shortened(now, &waiting).unwrap_or(waiting.line);
            self.handle(now, &line, waiting.command, book_set, out);
        }
    }

    /// A `go` whose clock has run while it waited, with the time that is
    /// left.
    fn shortened(&self, now: Duration, waiting: &Waiting) -> Option<Vec<u8>> {
        let GuiCommand::Go(go) = &waiting.command else {
            return None;
        };
        let waited = now.saturating_sub(waiting.since);
        if go.ponder || waited < WORTH_TELLING {
            return None;
        }
        let white_moves = self.white_moves()?;
        Some(with_time_left(&waiting.line, white_moves, waited, false))
    }

    /// When an engine that keeps a `go` waiting counts as hung. Whose move it
    /// is may stand in a line that waits too: the longer clock counts.
    pub(super) fn due_of_waiting_go(&self) -> Option<Duration> {
        let mut due: Option<Duration> = None;
        let mut is_behind_go = false;
        for waiting in &self.deferred {
            let since = waiting.since.saturating_add(waiting.held_up);
            let limit = match &waiting.command {
                GuiCommand::Go(_) if is_behind_go => break,
                GuiCommand::Go(go) => {
                    is_behind_go = true;
                    allowance(&waiting.line, None).filter(|_| !go.ponder)
                }
                GuiCommand::Stop if is_behind_go => Some(STOP_LIMIT),
                _ => None,
            };
            let limit = limit.map(|limit| since.saturating_add(limit));
            due = due.into_iter().chain(limit).min();
        }
        due
    }

    /// Lets the search under way know of what waits behind a line that has
    /// to wait for its end: a `stop` or `ponderhit` is for it, and a `go`
    /// takes its place.
    pub(super) fn heed_what_waits(&mut self, now: Duration, out: &mut dyn Outlet) {
        let mut at = 0;
        while let Some(waiting) = self.deferred.get(at) {
            match &waiting.command {
                GuiCommand::Go(_) => {
                    if self.search.replace(now) {
                        self.link.tell(b"stop", out);
                    }
                    return;
                }
                GuiCommand::Stop => {
                    self.deferred.remove(at);
                    return self.on_stop(now, out);
                }
                GuiCommand::PonderHit => {
                    self.deferred.remove(at);
                    self.on_ponder_hit(now, out);
                }
                _ => at += 1,
            }
        }
    }
}
