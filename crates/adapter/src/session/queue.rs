//! Lines of the GUI that have to wait.
//!
//! They wait in order until the first engine has introduced itself, while books are being
//! opened, and while the engine searches if they must not reach a searching engine. Lines
//! for an engine that is restarted or silent wait in the link to the engine instead, and
//! the books answer meanwhile.

use std::collections::VecDeque;
use std::time::Duration;

use super::clock::LEAST_CORRECTED_WAIT;
use super::{Moment, Outlet, Session};
use crate::settings::OptionId;
use tabia_uci::gui::{GuiCommand, with_time_left};

/// A waiting line.
#[derive(Debug)]
struct Waiting {
    line: Vec<u8>,
    /// Its parsed command.
    command: GuiCommand,
    /// When it began to wait.
    since: Duration,
}

/// Waiting lines of the GUI, oldest first.
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

    /// Whether a `go` is waiting.
    fn has_go(&self) -> bool {
        let is_go = |waiting: &Waiting| matches!(waiting.command, GuiCommand::Go(_));
        self.lines.iter().any(is_go)
    }

    /// Adds a line at the end. A `position` replaces an unused one before it, because
    /// programs that send one for each move of another game must not fill the memory.
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

    /// Adds a line at the front.
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
    /// Number of bytes of waiting lines: if it is too large, no more should be read.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.queue.bytes + self.link.backlog
    }

    /// Whether a line has to wait.
    pub(super) fn must_wait(&self, command: &GuiCommand) -> bool {
        if self.all_waits() {
            return true;
        }
        if self.queue.is_empty() {
            return self.disturbs_search(command);
        }
        match command {
            // These belong to the current search, unless another one waits after it.
            GuiCommand::Stop | GuiCommand::PonderHit => self.queue.has_go(),
            // The engine answers during a search. After a `stop` the waiting lines follow
            // soon, and they come first.
            GuiCommand::IsReady => self.search.is_stopped(),
            _ => true,
        }
    }

    /// No line can be interpreted before the engine is known, or answered before the
    /// books are open.
    pub(super) const fn all_waits(&self) -> bool {
        self.link.is_unknown()
            || self.books.until.is_some()
            || self.seed.is_requested()
            || self.cover.is_requested()
    }

    /// Whether a line must not reach the engine during the current search.
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
        // A `stop` that waits before the `go` is for the current search, which is then
        // answered and not replaced.
        if is_go && self.search.is_engine() && self.handle_waiting(at.now, at.out) {
            self.go_on(at);
        }
    }

    /// Handles the waiting lines, as far as that is possible now.
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

    /// Reduces the clock of a `go` by the time that it has waited.
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

    /// Handles the lines after one that waits for the end of the search: a `stop` or
    /// `ponderhit` belongs to that search, and a `go` replaces it. True if that has ended
    /// it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tabia_uci::gui;

    const LINES: [&str; 6] = [
        "position startpos",
        "position startpos moves e2e4",
        "isready",
        "stop",
        "go infinite",
        "setoption name Hash value 16",
    ];

    fn push(queue: &mut Queue, line: &str) {
        queue.push(Duration::ZERO, line.as_bytes(), gui::parse(line.as_bytes()));
    }

    fn waiting(queue: &Queue) -> Vec<String> {
        let text = |waiting: &Waiting| String::from_utf8_lossy(&waiting.line).into_owned();
        queue.lines.iter().map(text).collect()
    }

    #[test]
    fn a_position_replaces_the_one_that_nothing_has_used() {
        let mut queue = Queue::default();
        for line in [LINES[0], LINES[2], LINES[1]] {
            push(&mut queue, line);
        }
        assert_eq!(waiting(&queue), [LINES[2], LINES[1]]);
        for line in [LINES[4], LINES[0], LINES[0]] {
            push(&mut queue, line);
        }
        assert_eq!(waiting(&queue), [LINES[2], LINES[1], LINES[4], LINES[0]]);
    }

    proptest! {
        #[test]
        fn the_count_of_bytes_is_that_of_the_waiting_lines(
            steps in prop::collection::vec((0_usize..9, 0_usize..6), 0..200),
        ) {
            let mut queue = Queue::default();
            for (step, line) in steps {
                match step {
                    0..4 => push(&mut queue, LINES[line]),
                    4 => {
                        let line = LINES[line].as_bytes();
                        queue.push_front(Duration::ZERO, line, gui::parse(line));
                    }
                    5 => queue.remove(line),
                    _ => drop(queue.pop()),
                }
                let lines = waiting(&queue);
                prop_assert_eq!(queue.bytes, lines.iter().map(String::len).sum::<usize>());
            }
        }
    }
}
