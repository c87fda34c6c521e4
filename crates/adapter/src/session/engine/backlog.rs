//! Lines for the engine that wait until it has ended a background search, or has started.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::super::act::Act;
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

/// Lines that are sent now.
pub(super) struct Flushed {
    pub(super) acts: Vec<Act<'static>>,
    /// There is a `go` among them: the lines that wait until its search has begun.
    pub(super) go: Option<Backlog>,
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

    /// Takes all lines, up to the `go` if a `stop` or `ponderhit` follows it.
    pub(super) fn flush(mut self) -> Flushed {
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
        Flushed {
            acts: self.all(),
            go,
        }
    }

    /// All lines, as they are.
    pub(super) fn all(self) -> Vec<Act<'static>> {
        let lines = self.lines.into_iter();
        lines
            .map(|next| Act::Engine(Cow::Owned(next.line)))
            .collect()
    }

    /// All lines after the end of the search.
    pub(super) fn after_search(mut self) -> Vec<Act<'static>> {
        self.drop_for_search();
        self.all()
    }

    /// Whether the search is to be stopped.
    pub(super) fn stops(&self) -> bool {
        let is_stop = |next: &Outgoing| next.kind == Kind::ForSearch && next.line == b"stop";
        self.lines.iter().any(is_stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(backlog: Backlog) -> Vec<String> {
        texts(backlog.flush().acts)
    }

    fn texts(acts: Vec<Act<'static>>) -> Vec<String> {
        let text = |act| match act {
            Act::Engine(line) => String::from_utf8(line.into_owned()).unwrap(),
            other => panic!("{other:?}"),
        };
        acts.into_iter().map(text).collect()
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
        assert_eq!(lines(backlog), then);
    }

    #[test]
    fn a_stop_waits_for_the_search_that_waits() {
        assert!(Backlog::default().flush().go.is_none());
        let mut backlog = Backlog::default();
        backlog.put(b"d 1");
        backlog.put_go(b"go ponder");
        assert!(backlog.has_go() && !backlog.stops());
        for word in [&b"ponderhit"[..], b"stop", b"stop", b"ponderhit"] {
            backlog.put_for_search(word);
        }
        backlog.put(b"isready");
        let Flushed { acts, go } = backlog.flush();
        assert_eq!(texts(acts), ["d 1", "go ponder"]);
        let held = go.unwrap();
        assert!(held.stops());
        assert_eq!(held.bytes(), 9 + 4 + 7);
        assert_eq!(texts(held.all()), ["ponderhit", "stop", "isready"]);
    }

    #[test]
    fn what_follows_a_search_is_sent_at_once_or_without_it() {
        let mut backlog = Backlog::default();
        backlog.put_go(b"go depth 3");
        backlog.put(b"d 1");
        let Flushed { acts, go } = backlog.flush();
        assert_eq!(texts(acts), ["go depth 3", "d 1"]);
        assert!(go.is_some_and(|held| held.is_empty()));
        let mut backlog = Backlog::default();
        backlog.put_go(b"go depth 3");
        backlog.put_for_search(b"stop");
        backlog.put(b"d 1");
        assert!(backlog.remove_go());
        assert!(!backlog.remove_go());
        assert_eq!(
            (backlog.bytes(), texts(backlog.all())),
            (3, vec!["d 1".to_owned()])
        );
        let mut held = Backlog::default();
        held.put_for_search(b"stop");
        held.put(b"isready");
        assert_eq!(texts(held.after_search()), ["isready"]);
        let mut perft = Backlog::default();
        perft.put_go(b"go perft 1");
        perft.put_for_search(b"stop");
        perft.forget_go();
        let Flushed { acts, go } = perft.flush();
        assert!(go.is_none());
        assert_eq!(texts(acts), ["go perft 1"]);
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
        assert_eq!(lines(backlog), ["setoption name Clear Hash", "d 1"]);
    }
}
