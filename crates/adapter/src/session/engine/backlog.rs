//! Lines for the engine that wait until it has ended a background search, or has started.

use std::collections::VecDeque;

use super::super::out::Out;
use super::is_unremembered;

/// A line that waits.
#[derive(Debug, PartialEq, Eq)]
struct Outgoing {
    kind: Kind,
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Position,
    Go,
    /// A `stop` or `ponderhit` for the search before it.
    ForSearch,
    Other,
}

/// The lines that wait, oldest first; at most one of them is a `go`.
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

    /// A `stop` or `ponderhit` for the search that waits, or for the one before these lines;
    /// once is enough.
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

    pub(super) fn put_go(&mut self, line: &[u8]) {
        debug_assert!(!self.has_go(), "two searches wait");
        self.push(Kind::Go, line);
    }

    fn push(&mut self, kind: Kind, line: &[u8]) {
        let line = line.trim_ascii_end().to_vec();
        self.bytes += line.len();
        self.lines.push_back(Outgoing { kind, line });
    }

    pub(super) fn has_go(&self) -> bool {
        self.lines.iter().any(|next| next.kind == Kind::Go)
    }

    /// Nothing waits for an answer to the `go` that waits, which is sent all the same.
    pub(super) fn forget_go(&mut self) {
        self.drop_for_search();
        for next in &mut self.lines {
            if next.kind == Kind::Go {
                next.kind = Kind::Other;
            }
        }
    }

    /// Removes the search that waits, and its `ponderhit`; true if there was one.
    pub(super) fn remove_go(&mut self) -> bool {
        let had_go = self.has_go();
        if had_go {
            self.lines.retain(|next| next.kind != Kind::Go);
            self.drop_for_search();
        }
        had_go
    }

    /// The search has ended: its `stop` and `ponderhit` are not needed any more.
    fn drop_for_search(&mut self) {
        self.lines.retain(|next| next.kind != Kind::ForSearch);
        self.count();
    }

    fn count(&mut self) {
        self.bytes = self.lines.iter().map(|next| next.line.len()).sum();
    }

    /// Keeps only lines that another engine would not get in another way.
    pub(super) fn keep_unremembered(&mut self) {
        self.lines.retain(|next| is_unremembered(&next.line));
        self.count();
    }

    /// Sends all lines, up to the `go` if a `stop` or `ponderhit` follows it. If there is a
    /// `go`, returns the lines that wait until its search has begun.
    pub(super) fn flush(mut self, out: &mut Out<'_>) -> Option<Backlog> {
        let go = self.lines.iter().position(|next| next.kind == Kind::Go);
        let go = go.map(|at| {
            let after = self.lines.split_off(at + 1);
            let mut held = Backlog {
                lines: after,
                bytes: 0,
            };
            if !held.lines.iter().any(|next| next.kind == Kind::ForSearch) {
                self.lines.append(&mut held.lines);
            }
            held.count();
            held
        });
        self.send(out);
        go
    }

    /// Sends all lines, as they are.
    pub(super) fn send(self, out: &mut Out<'_>) {
        self.lines.iter().for_each(|next| out.engine(&next.line));
    }

    /// Sends all lines after the end of the search.
    pub(super) fn send_after_search(mut self, out: &mut Out<'_>) {
        self.drop_for_search();
        self.send(out);
    }

    /// Whether the search is to be stopped.
    pub(super) fn stops(&self) -> bool {
        let is_stop = |next: &Outgoing| next.kind == Kind::ForSearch && next.line == b"stop";
        self.lines.iter().any(is_stop)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::out::written;
    use super::*;

    fn flushed(backlog: Backlog) -> (Option<Backlog>, Vec<String>) {
        written(|out| backlog.flush(out))
    }

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
    fn a_stop_waits_for_the_search_that_waits() {
        assert!(flushed(Backlog::default()).0.is_none());
        let mut backlog = Backlog::default();
        backlog.put(b"d 1");
        backlog.put_go(b"go ponder");
        assert!(backlog.has_go() && !backlog.stops());
        for word in [&b"ponderhit"[..], b"stop", b"stop", b"ponderhit"] {
            backlog.put_for_search(word);
        }
        backlog.put(b"isready");
        let (go, lines) = flushed(backlog);
        assert_eq!(lines, ["d 1", "go ponder"]);
        let held = go.unwrap();
        assert!(held.stops());
        assert_eq!(held.bytes(), 9 + 4 + 7);
        assert_eq!(sent(held), ["ponderhit", "stop", "isready"]);
    }

    #[test]
    fn what_follows_a_search_is_sent_at_once_or_without_it() {
        let mut backlog = Backlog::default();
        backlog.put_go(b"go depth 3");
        backlog.put(b"d 1");
        let (go, lines) = flushed(backlog);
        assert_eq!(lines, ["go depth 3", "d 1"]);
        assert!(go.is_some_and(|held| held.is_empty()));
        let mut backlog = Backlog::default();
        backlog.put_go(b"go depth 3");
        backlog.put_for_search(b"stop");
        backlog.put(b"d 1");
        assert!(backlog.remove_go());
        assert!(!backlog.remove_go());
        assert_eq!(backlog.bytes(), 3);
        assert_eq!(sent(backlog), ["d 1"]);
        let mut held = Backlog::default();
        held.put_for_search(b"stop");
        held.put(b"isready");
        assert_eq!(written(|out| held.send_after_search(out)).1, ["isready"]);
        let mut perft = Backlog::default();
        perft.put_go(b"go perft 1");
        perft.put_for_search(b"stop");
        perft.forget_go();
        let (go, lines) = flushed(perft);
        assert!(go.is_none());
        assert_eq!(lines, ["go perft 1"]);
    }

    #[test]
    fn another_engine_gets_only_what_nobody_remembers() {
        let mut backlog = Backlog::default();
        backlog.put_position(b"position startpos");
        backlog.put(b"setoption name Hash value 4");
        backlog.put(b"setoption name Clear Hash");
        backlog.put_go(b"go infinite");
        backlog.put(b"d 1");
        backlog.keep_unremembered();
        assert_eq!(backlog.bytes(), 25 + 3);
        assert_eq!(sent(backlog), ["setoption name Clear Hash", "d 1"]);
    }
}
