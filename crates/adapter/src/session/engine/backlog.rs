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
    /// A `stop` has come for it meanwhile.
    Go {
        stopped: bool,
    },
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
    /// There is a `go` among them: whether it was stopped.
    pub(super) go: Option<bool>,
}

impl Backlog {
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn put(&mut self, line: &[u8]) {
        self.push(Kind::Other, line);
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
        self.push(Kind::Go { stopped: false }, line);
    }

    fn push(&mut self, kind: Kind, line: &[u8]) {
        let line = line.trim_ascii_end().to_vec();
        self.bytes += line.len();
        self.lines.push_back(Outgoing { kind, line });
    }

    pub(super) fn has_go(&self) -> bool {
        let is_go = |next: &Outgoing| matches!(next.kind, Kind::Go { .. });
        self.lines.iter().any(is_go)
    }

    /// Stops the search that waits.
    pub(super) fn stop(&mut self) {
        for next in &mut self.lines {
            if let Kind::Go { stopped } = &mut next.kind {
                *stopped = true;
            }
        }
    }

    /// Nothing waits for an answer to the `go` that waits, which is sent all the same.
    pub(super) fn forget_go(&mut self) {
        for next in &mut self.lines {
            if matches!(next.kind, Kind::Go { .. }) {
                next.kind = Kind::Other;
            }
        }
    }

    /// Removes the search that waits, and its `ponderhit`; true if there was one.
    pub(super) fn remove_go(&mut self) -> bool {
        let had_go = self.has_go();
        if had_go {
            let is_of_search = |next: &Outgoing| match next.kind {
                Kind::Go { .. } => true,
                Kind::Position => false,
                Kind::Other => next.line == b"ponderhit",
            };
            self.lines.retain(|next| !is_of_search(next));
            self.bytes = self.lines.iter().map(|next| next.line.len()).sum();
        }
        had_go
    }

    /// Keeps only lines that another engine would not get in another way.
    pub(super) fn keep_unremembered(&mut self) {
        self.lines.retain(|next| is_unremembered(&next.line));
        self.bytes = self.lines.iter().map(|next| next.line.len()).sum();
    }

    /// Takes all lines.
    pub(super) fn flush(self) -> Flushed {
        let mut go = None;
        let mut acts = Vec::with_capacity(self.lines.len());
        for next in self.lines {
            if let Kind::Go { stopped } = next.kind {
                go = Some(stopped);
            }
            acts.push(Act::Engine(Cow::Owned(next.line)));
        }
        Flushed { acts, go }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(backlog: Backlog) -> Vec<String> {
        let acts = backlog.flush().acts.into_iter();
        let text = |act| match act {
            Act::Engine(line) => String::from_utf8(line.into_owned()).unwrap(),
            other => panic!("{other:?}"),
        };
        acts.map(text).collect()
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
    fn a_stop_belongs_to_the_search_that_waits() {
        let mut backlog = Backlog::default();
        backlog.stop();
        assert_eq!(Backlog::default().flush().go, None);
        backlog.put_go(b"go infinite");
        assert!(backlog.has_go());
        backlog.stop();
        assert_eq!(backlog.flush().go, Some(true));
        let mut backlog = Backlog::default();
        backlog.put_go(b"go ponder");
        backlog.put(b"ponderhit");
        backlog.put(b"d 1");
        assert!(backlog.remove_go());
        assert!(!backlog.remove_go());
        assert_eq!(
            (backlog.bytes(), lines(backlog)),
            (3, vec!["d 1".to_owned()])
        );
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
