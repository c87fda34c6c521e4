//! Lines of the GUI that have to wait.
//!
//! The lines wait in order until the first engine has introduced itself, while books are being
//! opened, and while the engine searches if they must not reach a searching engine. Lines
//! for an engine that is restarted, or ends a search, wait in the part of the engine
//! instead, and the books answer meanwhile.

use std::collections::VecDeque;
use std::time::Duration;

use tabia_uci::gui::{GuiCommand, with_time_left};

/// A `go` that has waited for at least this time is passed on with shorter clocks.
/// After a shorter wait its bytes are not changed.
const LEAST_CORRECTED_WAIT: Duration = Duration::from_millis(20);

/// A waiting line.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) line: Vec<u8>,
    /// The parsed command of the line.
    pub(super) command: GuiCommand,
    /// When the line began to wait.
    since: Duration,
}

impl Waiting {
    /// Reduces the clock of a `go` by the time that it has waited.
    fn shorten(&mut self, now: Duration, white_moves: Option<bool>) {
        let GuiCommand::Go(go) = &mut self.command else {
            return;
        };
        let waited = now.saturating_sub(self.since);
        if !go.ponder
            && waited >= LEAST_CORRECTED_WAIT
            && let Some(white_moves) = white_moves
        {
            self.line = with_time_left(&self.line, white_moves, waited, false);
            go.spend(white_moves, waited);
        }
    }
}

/// The effect of a waiting line on the search that has to end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForSearch {
    /// The line stops the search.
    Stop,
    /// The ponder move of the search was played.
    PonderHit,
    /// The line begins another search.
    Replace,
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

    /// The oldest line.
    pub(super) fn front(&self) -> Option<&GuiCommand> {
        self.lines.front().map(|waiting| &waiting.command)
    }

    /// Bytes of the waiting lines.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the next waiting line that concerns the running search: `stop` and `ponderhit`
    /// belong to it; a `go` replaces it, and stays.
    pub(super) fn for_search(&mut self) -> Option<ForSearch> {
        let of = |waiting: &Waiting| match waiting.command {
            GuiCommand::Go(_) => Some(ForSearch::Replace),
            GuiCommand::Stop => Some(ForSearch::Stop),
            GuiCommand::PonderHit => Some(ForSearch::PonderHit),
            _ => None,
        };
        let mut lines = self.lines.iter().enumerate();
        let (at, what) = lines.find_map(|(at, waiting)| Some((at, of(waiting)?)))?;
        if what != ForSearch::Replace {
            self.remove(at);
        }
        Some(what)
    }

    /// Whether a `go` is waiting.
    pub(super) fn has_go(&self) -> bool {
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

    /// Takes the oldest line; a `go` has less time than when it came.
    pub(super) fn pop(&mut self, now: Duration, white_moves: Option<bool>) -> Option<Waiting> {
        let mut waiting = self.lines.pop_front()?;
        self.bytes -= waiting.line.len();
        waiting.shorten(now, white_moves);
        Some(waiting)
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
                    _ => drop(queue.pop(Duration::ZERO, None)),
                }
                let lines = waiting(&queue);
                prop_assert_eq!(queue.bytes, lines.iter().map(String::len).sum::<usize>());
            }
        }
    }
}
