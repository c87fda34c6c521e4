//! Lines for the engine that wait until it has ended a search, begun one, or started.

use std::collections::VecDeque;

use super::out::Out;
use tabia_uci::gui::{self, GuiCommand};

/// A line that waits.
#[derive(Debug, PartialEq, Eq)]
struct Outgoing {
    kind: Kind,
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Position,
    /// A `stop` or `ponderhit` for the search before it.
    ForSearch,
    Other,
}

/// The lines that wait, oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Backlog {
    lines: VecDeque<Outgoing>,
    bytes: usize,
}

impl Backlog {
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(super) fn put(&mut self, line: &[u8]) {
        self.push(Kind::Other, line);
    }

    /// A `stop` or `ponderhit` for the search before these lines; once is enough.
    pub(super) fn put_for_search(&mut self, word: &'static [u8]) {
        let is_same = |next: &Outgoing| next.kind == Kind::ForSearch && next.line == word;
        if !self.lines.iter().any(is_same) {
            self.push(Kind::ForSearch, word);
        }
    }

    /// A `position` replaces one that nothing has used.
    pub(super) fn put_position(&mut self, line: &[u8]) {
        if let Some(last) = self.lines.back()
            && last.kind == Kind::Position
        {
            self.bytes -= last.line.len();
            self.lines.pop_back();
        }
        self.push(Kind::Position, line);
    }

    fn push(&mut self, kind: Kind, line: &[u8]) {
        let line = line.trim_ascii_end().to_vec();
        self.bytes += line.len();
        self.lines.push_back(Outgoing { kind, line });
    }

    /// Adds lines that have waited for another reason.
    pub(super) fn append(&mut self, mut other: Backlog) {
        self.lines.append(&mut other.lines);
        self.bytes += other.bytes;
    }

    /// The lines that are not for the search, which has ended or is not made.
    pub(super) fn after_search(mut self) -> Backlog {
        self.keep(|next| next.kind != Kind::ForSearch);
        self
    }

    /// The lines that a restarted engine would not get otherwise: non-UCI commands, buttons.
    pub(super) fn unremembered(mut self) -> Backlog {
        self.keep(|next| is_unremembered(&next.line));
        self
    }

    fn keep(&mut self, is_kept: impl FnMut(&Outgoing) -> bool) {
        self.lines.retain(is_kept);
        self.bytes = self.lines.iter().map(|next| next.line.len()).sum();
    }

    /// Sends all lines.
    pub(super) fn send(self, out: &mut Out<'_>) {
        self.lines.iter().for_each(|next| out.engine(&next.line));
    }

    /// Whether a `stop` or `ponderhit` is among the lines.
    pub(super) fn is_for_search(&self) -> bool {
        self.lines.iter().any(|next| next.kind == Kind::ForSearch)
    }

    /// Whether a `stop` is among the lines.
    pub(super) fn stops(&self) -> bool {
        let is_stop = |next: &Outgoing| next.kind == Kind::ForSearch && next.line == b"stop";
        self.lines.iter().any(is_stop)
    }
}

/// Whether the session does not store this line for a restarted engine: non-UCI commands,
/// and buttons.
pub(super) fn is_unremembered(line: &[u8]) -> bool {
    match gui::parse(line) {
        GuiCommand::Other => true,
        GuiCommand::SetOption(option) => option.value.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::out::written;
    use super::*;

    fn sent(backlog: Backlog) -> Vec<String> {
        written(|out| backlog.send(out)).1
    }

    #[test]
    fn a_position_replaces_only_the_line_before_it() {
        let mut backlog = Backlog::default();
        backlog.put_position(b"position startpos ");
        backlog.put_position(b"position startpos moves e2e4");
        backlog.put(b"d 1");
        backlog.put_position(b"position startpos");
        assert_eq!(backlog.bytes(), 28 + 3 + 17);
        let then = ["position startpos moves e2e4", "d 1", "position startpos"];
        assert_eq!(sent(backlog), then);
    }

    #[test]
    fn what_is_for_a_search_waits_once_and_ends_with_it() {
        let mut backlog = Backlog::default();
        backlog.put(b"d 1");
        assert!(!backlog.is_for_search() && !backlog.stops());
        for word in [&b"ponderhit"[..], b"stop", b"stop", b"ponderhit"] {
            backlog.put_for_search(word);
        }
        assert!(backlog.is_for_search() && backlog.stops());
        let mut all = Backlog::default();
        all.put(b"d 0");
        all.append(backlog);
        assert_eq!(all.bytes(), 3 + 3 + 9 + 4);
        let all = all.after_search();
        assert_eq!(all.bytes(), 6);
        assert_eq!(sent(all), ["d 0", "d 1"]);
    }

    #[test]
    fn another_engine_gets_only_what_nobody_remembers() {
        let mut backlog = Backlog::default();
        backlog.put_position(b"position startpos");
        backlog.put(b"setoption name Hash value 4");
        backlog.put(b"setoption name Clear Hash");
        backlog.put(b"go perft 1");
        backlog.put(b"d 1");
        let backlog = backlog.unremembered();
        assert_eq!(backlog.bytes(), 25 + 3);
        assert_eq!(sent(backlog), ["setoption name Clear Hash", "d 1"]);
    }
}
