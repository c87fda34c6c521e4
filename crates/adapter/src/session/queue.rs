//! Lines of the GUI that have to wait for their turn.
//!
//! They wait in order until the first engine has introduced itself, while books are
//! being opened, and while the engine searches if they may not reach a searching
//! engine. No line waits here for an engine that is started again or is silent: lines
//! for it wait in the link to the engine, and the books answer meanwhile.

use std::collections::VecDeque;
use std::time::Duration;

use super::clock::LEAST_CORRECTED_WAIT;
use super::{Moment, Outlet, Session};
use crate::settings::OptionId;
use tabia_uci::gui::{GuiCommand, with_time_left};

/// A line that waits.
#[derive(Debug)]
struct Waiting {
    line: Vec<u8>,
    /// What it means.
    command: GuiCommand,
    /// Since when.
    since: Duration,
}

/// Lines of the GUI that wait, oldest first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lines: VecDeque<Waiting>,
    /// Their bytes.
    bytes: usize,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether a `go` is among them.
    fn has_go(&self) -> bool {
        let is_go = |waiting: &Waiting| matches!(waiting.command, GuiCommand::Go(_));
        self.lines.iter().any(is_go)
    }

    /// The last line. A `position` that nothing has used supersedes the one
    /// before it: programs that send one for each move of a game that is not
    /// ours to play shall not fill our memory.
    pub(super) fn push(&mut self, now: Duration, line: &[u8], command: GuiCommand) {
        if matches!(command, GuiCommand::Position) {
            let mut used = false;
            let last = self.lines.iter().enumerate().rev().find(|(_, waiting)| {
                let command = &waiting.command;
                used |= !matches!(command, GuiCommand::IsReady | GuiCommand::Position);
                used || matches!(command, GuiCommand::Position)
            });
            if let Some((at, _)) = last.filter(|_| !used) {
                self.remove(at);
            }
        }
        self.bytes += line.len();
        self.lines.push_back(Waiting {
            line: line.to_vec(),
            command,
            since: now,
        });
    }

    /// A line that comes before all others.
    pub(super) fn push_front(&mut self, now: Duration, line: &[u8], command: GuiCommand) {
        self.bytes += line.len();
        self.lines.push_front(Waiting {
            line: line.to_vec(),
            command,
            since: now,
        });
    }

    fn remove(&mut self, at: usize) {
        if let Some(waiting) = self.lines.remove(at) {
            self.bytes -= waiting.line.len();
        }
    }

    fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.lines.pop_front()?;
        self.bytes -= waiting.line.len();
        Some(waiting)
    }
}

impl Session {
    /// Bytes of lines of the GUI that wait here: while there are too many, no
    /// more should be read.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.queue.bytes + self.link.backlog
    }

    /// Whether a line has to wait for its turn.
    pub(super) fn must_wait(&self, command: &GuiCommand) -> bool {
        if self.all_waits() {
            return true;
        }
        if self.queue.is_empty() {
            return self.disturbs_search(command);
        }
        match command {
            // These belong to the search under way, unless another one is waiting
            // after it.
            GuiCommand::Stop | GuiCommand::PonderHit => self.queue.has_go(),
            // The engine answers in the middle of a search. After a stop it
            // comes to the waiting lines at once, and they come first.
            GuiCommand::IsReady => self.search.is_stopped(),
            _ => true,
        }
    }

    /// Nothing can be understood before the engine is known, and nothing
    /// answered before the books are open.
    pub(super) const fn all_waits(&self) -> bool {
        self.link.is_unknown()
            || self.books.until.is_some()
            || self.seed.is_asked()
            || self.cover.is_asked()
    }

    /// Whether a line may not reach the engine during the search under way.
    fn disturbs_search(&self, command: &GuiCommand) -> bool {
        self.search.is_exclusive()
            && match command {
                GuiCommand::Position | GuiCommand::Go(_) | GuiCommand::NewGame => true,
                GuiCommand::SetOption(option) => OptionId::by_name(&option.name).is_none(),
                _ => false,
            }
    }

    pub(super) fn defer(&mut self, line: &[u8], command: GuiCommand, at: &mut Moment<'_>) {
        let is_go = matches!(command, GuiCommand::Go(_));
        self.queue.push(at.now, line, command);
        // A stop that waits before it is for the search under way, which is
        // then to be answered and not replaced.
        if is_go && self.search.is_engine() && self.handle_waiting(at.now, at.out) {
            self.go_on(at);
        }
    }

    /// Handles the lines that wait, as far as they may go now.
    pub(super) fn go_on(&mut self, at: &mut Moment<'_>) {
        while !self.ended && !self.all_waits() {
            let Some(waiting) = self.queue.lines.front() else {
                return;
            };
            if self.disturbs_search(&waiting.command) && !self.handle_waiting(at.now, at.out) {
                return;
            }
            let Some(mut waiting) = self.queue.pop() else {
                return;
            };
            self.shorten(at.now, &mut waiting);
            self.handle(&waiting.line, waiting.command, at);
        }
    }

    /// Leaves the time that is left to a `go` whose clock has run while it
    /// waited.
    fn shorten(&self, now: Duration, waiting: &mut Waiting) {
        let GuiCommand::Go(go) = &mut waiting.command else {
            return;
        };
        let waited = now.saturating_sub(waiting.since);
        if !go.ponder
            && waited >= LEAST_CORRECTED_WAIT
            && let Some(white_moves) = self.white_moves()
        {
            waiting.line = with_time_left(&waiting.line, white_moves, waited, false);
            go.spend(white_moves, waited);
        }
    }

    /// Handles the lines that are queued after a line that has to wait for the end of
    /// the search: a `stop` or `ponderhit` is for that search, and a `go` replaces
    /// it. True if that has ended it.
    fn handle_waiting(&mut self, now: Duration, out: &mut dyn Outlet) -> bool {
        let mut at = 0;
        while let Some(waiting) = self.queue.lines.get(at) {
            match &waiting.command {
                GuiCommand::Go(_) => return self.abandon_search(now, out),
                GuiCommand::Stop => {
                    self.queue.remove(at);
                    self.on_stop(now, out);
                    return false;
                }
                GuiCommand::PonderHit => {
                    self.queue.remove(at);
                    self.on_ponder_hit(now, out);
                }
                _ => at += 1,
            }
        }
        false
    }
}
