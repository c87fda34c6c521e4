//! The search that the GUI waits for, from its `go` to its answer.
//!
//! | at | event | afterwards |
//! |---|---|---|
//! | unsent: no engine is up | the engine has started | begun |
//! | behind: another search ends first | that has ended | begun |
//! | begun | its first line, or time enough | begun: the lines that waited for that are sent |
//! | begun | an answer that cannot belong to it | behind |
//! | behind, begun | the engine is lost | unsent |
//!
//! # Its beginning
//!
//! Engines search in a thread of their own. A `stop` or `ponderhit` that comes before this
//! thread has begun is lost in some, and Ethereal 12.00 reads nothing more after a `stop`
//! that it has lost: so `stop` in one write with its `go` was in 20 of 20 trials, and one
//! that came 10 ms later in 1 of 20, on a busy machine; after the first line about the search
//! none was. So both wait for that line, or for a time in which every engine has begun. On a
//! busy machine that time is longer than a program should wait each time for an engine that
//! prints nothing: one that has shown that it prints gets more ([`Heard`](super::Heard)).

use std::time::Duration;

use super::clock::{MARGIN, STOP_LIMIT, allowance, patience};
use super::{Outside, SearchKind};
use crate::session::backlog::Backlog;
use crate::session::out::Out;
use tabia_uci::gui::{Go, with_time_left};
use tabia_uci::line;

/// When a `stop` is repeated that was sent to an engine that had printed nothing about its
/// search. Not sooner: an engine that has just moved calls the second one an unknown command
/// (Glaurung 2.2), and the program gets that line.
const REPEAT_BLIND: Duration = Duration::from_secs(1);

/// A search that the GUI waits for.
#[derive(Debug)]
pub(in super::super) struct Search {
    pub(super) kind: SearchKind,
    /// The `go` line as it came.
    go: Vec<u8>,
    /// The parsed `go` line.
    parsed: Go,
    /// When the mover's clock began to run for it.
    since: Duration,
    /// When the engine counts as hung; `None` without a limit.
    due: Option<Duration>,
    /// The same limit while the engine ends another search first.
    begin_due: Option<Duration>,
    /// `stop` has been sent to the engine.
    stopped: bool,
    trust: Trust,
    at: At,
    /// The lines that wait until the search has begun; some of them are for this search.
    then: Backlog,
}

/// How far a search is.
#[derive(Debug)]
enum At {
    /// No engine is up.
    Unsent,
    /// This `go` is sent when the engine has ended another search.
    Behind(Vec<u8>),
    Begun(Begun),
}

/// A search whose `go` has been sent.
#[derive(Debug)]
struct Begun {
    /// When the `go` was sent.
    went: Duration,
    /// A `stop` or `ponderhit` waits until then; `None` if the engine has shown that it
    /// searches, or has had time enough.
    until: Option<Duration>,
    /// When a `stop` is repeated.
    stop_again: Option<Duration>,
}

/// What has been wrong with the engine's answers to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trust {
    /// Nothing.
    #[default]
    Full,
    /// The engine's last answer, printed once more, has been ignored.
    RepeatIgnored,
    /// The first answer was none, so that the engine has been asked again.
    AskedAgain,
}

/// What is done about an answer that counts as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Retry {
    /// Nothing: `perft` needs no answer.
    None,
    /// The engine searches again.
    SearchAgain,
    /// The engine has had its second chance.
    GiveUp,
}

impl Search {
    /// Sends the `go` line of a search, or has it wait.
    pub(super) fn begin((line, go): (&[u8], Go), to: &mut Outside<'_, '_>) -> Search {
        let mut search = Search {
            kind: SearchKind::from_go(&go),
            go: line.to_vec(),
            parsed: go,
            since: to.now,
            due: None,
            begin_due: None,
            stopped: false,
            trust: Trust::Full,
            at: At::Unsent,
            then: Backlog::default(),
        };
        if !search.kind.ponder {
            search.start_clock(to.now, to.game.white_moves());
        }
        search.send(line, to);
        search
    }

    /// Sends a `go` line for this search now, or when the engine can take it.
    fn send(&mut self, line: &[u8], to: &mut Outside<'_, '_>) {
        let line = line.trim_ascii_end();
        self.at = if to.engine.is_free() {
            self.sent(line, to)
        } else if to.engine.is_up() {
            At::Behind(line.to_vec())
        } else {
            At::Unsent
        };
    }

    fn sent(&self, line: &[u8], to: &mut Outside<'_, '_>) -> At {
        // After a `perft` no answer comes.
        if self.is_exclusive() {
            to.engine.expect_answer(to.game.judged_position());
        }
        to.out.engine(line);
        At::Begun(Begun {
            went: to.now,
            until: Some(to.now.saturating_add(to.engine.time_to_begin())),
            stop_again: None,
        })
    }

    /// The engine has ended another search: the `go` that waits is sent, and what follows it
    /// if no `stop` or `ponderhit` is among that.
    pub(in super::super) fn engine_is_free(&mut self, to: &mut Outside<'_, '_>) {
        if let At::Behind(line) = &self.at {
            self.at = self.sent(line, to);
            if !self.then.is_for_search() {
                std::mem::take(&mut self.then).send(to.out);
            }
        }
    }

    /// Sends the `go` once more, with the time that is left.
    pub(super) fn again(&mut self, to: &mut Outside<'_, '_>) {
        let line = self.shorten(to.now, to.game.white_moves());
        self.send(&line, to);
        if self.stopped {
            self.pass_on(b"stop", to);
        }
    }

    /// The `go` with the time that is left, and its new limits.
    fn shorten(&mut self, now: Duration, white_moves: Option<bool>) -> Vec<u8> {
        let ponders = self.kind.ponder;
        // While the opponent's clock runs, none of our time is used.
        let spent = match ponders {
            true => Duration::ZERO,
            false => now.saturating_sub(self.since),
        };
        let white = white_moves.unwrap_or(true);
        let line = with_time_left(&self.go, white, spent, ponders);
        let mut left = self.parsed.clone();
        left.spend(white, spent);
        self.due = match self.stopped {
            true => Some(now.saturating_add(MARGIN)),
            false if ponders => None,
            false => allowance(&left, white_moves).map(|time| now.saturating_add(time)),
        };
        self.begin_due = match ponders {
            true => None,
            false => patience(&left, white_moves).map(|time| now.saturating_add(time)),
        };
        line
    }

    /// Starts the mover's clock.
    fn start_clock(&mut self, now: Duration, white_moves: Option<bool>) {
        self.since = now;
        self.due = allowance(&self.parsed, white_moves).map(|time| now.saturating_add(time));
        self.begin_due = patience(&self.parsed, white_moves).map(|time| now.saturating_add(time));
    }

    /// Ends it early.
    pub(super) fn stop(&mut self, to: &mut Outside<'_, '_>) {
        // `perft` may end without an answer, so that none is late.
        if !self.stopped && self.is_exclusive() {
            self.stopped = true;
            let limit = to.now.saturating_add(STOP_LIMIT);
            self.due = Some(self.due.map_or(limit, |due| due.min(limit)));
        }
        // Passed on again, because the engine may have missed the first one.
        self.pass_on(b"stop", to);
    }

    /// The opponent has played the move on which the engine ponders.
    pub(super) fn ponder_hit(&mut self, to: &mut Outside<'_, '_>) {
        // A second `ponderhit` does not reset the clock.
        if std::mem::take(&mut self.kind.ponder) && !self.stopped {
            self.start_clock(to.now, to.game.white_moves());
        }
        self.pass_on(b"ponderhit", to);
    }

    /// Passes a `stop` or `ponderhit` on: now, or when the search has begun.
    fn pass_on(&mut self, word: &'static [u8], to: &mut Outside<'_, '_>) {
        match &self.at {
            // Its `go` will say so.
            At::Unsent => {}
            At::Begun(begun)
                if self.then.is_empty() && begun.until.is_none_or(|at| at <= to.now) =>
            {
                to.out.engine(word);
            }
            At::Behind(_) | At::Begun(_) => self.then.put_for_search(word),
        }
    }

    /// The lines after which another line has to wait.
    pub(super) fn waiting(&mut self) -> Option<&mut Backlog> {
        let waits = match self.at {
            At::Unsent => false,
            At::Behind(_) => true,
            At::Begun(_) => !self.then.is_empty(),
        };
        waits.then_some(&mut self.then)
    }

    /// An `isready`, which no search ahead of this one delays, but a `stop` that waits does.
    /// True if it waits.
    pub(super) fn delays_ready(&mut self) -> bool {
        let waits = matches!(self.at, At::Begun(_)) && !self.then.is_empty();
        if waits {
            self.then.put(b"isready");
        }
        waits
    }

    /// Bytes of the lines that wait.
    pub(super) const fn backlog(&self) -> usize {
        let go = match &self.at {
            At::Behind(line) => line.len(),
            At::Unsent | At::Begun(_) => 0,
        };
        go + self.then.bytes()
    }

    /// Handles an `info` line of this search. The first line of the search itself releases the
    /// lines that wait for its beginning. An `info string` is not a sign of it: the engine's thread
    /// that reads may send one (Stockfish names its network there).
    pub(in super::super) fn receive(&mut self, info: &[u8], to: &mut Outside<'_, '_>) {
        if let At::Begun(begun) = &mut self.at
            && begun.until.is_some()
            && line::words(info)
                .nth(1)
                .is_some_and(|word| word != b"string")
        {
            begun.until = None;
            to.engine.has_begun(to.now.saturating_sub(begun.went));
            std::mem::take(&mut self.then).send(to.out);
        }
    }

    /// When waiting lines have to be sent, or a `stop` repeated.
    pub(super) fn stop_due(&self) -> Option<Duration> {
        match &self.at {
            At::Begun(begun) if self.then.is_empty() => begun.stop_again,
            At::Begun(begun) => begun.until,
            At::Unsent | At::Behind(_) => None,
        }
    }

    /// Sends what is due.
    pub(super) fn due_stop(&mut self, to: &mut Outside<'_, '_>) {
        if self.stop_due().is_none_or(|due| due > to.now) {
            return;
        }
        if let At::Begun(begun) = &mut self.at {
            let held = std::mem::take(&mut self.then);
            begun.until = None;
            begun.stop_again = held.stops().then(|| to.now.saturating_add(REPEAT_BLIND));
            match held.is_empty() {
                true => to.out.engine(b"stop"),
                false => held.send(to.out),
            }
        }
    }

    /// The search has been answered: lines for it are not needed any more.
    pub(in super::super) fn has_answered(&mut self, out: &mut Out<'_>) {
        std::mem::take(&mut self.then).after_search().send(out);
    }

    /// Nobody waits for the answer any more. A `go` that waits is not sent, and a search that
    /// has begun has to end.
    pub(super) fn abandon(self, to: &mut Outside<'_, '_>) {
        match self.at {
            At::Unsent => {}
            At::Behind(_) => to.engine.wait_for(self.then.after_search()),
            At::Begun(begun) => {
                self.then.after_search().send(to.out);
                to.engine.end_search(to.now, begun.went, false, to.out);
            }
        }
    }

    /// Nobody waits for the end of a `perft`, which comes without an answer: the engine counts
    /// all the same.
    pub(super) fn forget(self, to: &mut Outside<'_, '_>) {
        match self.at {
            At::Unsent => {}
            At::Behind(go) => {
                let mut lines = Backlog::default();
                lines.put(&go);
                lines.append(self.then.after_search());
                to.engine.wait_for(lines);
            }
            At::Begun(_) => self.then.after_search().send(to.out),
        }
    }

    /// The engine's answer cannot belong to this search, which is ended, and made again later.
    pub(super) fn doubt(&mut self, to: &mut Outside<'_, '_>) {
        if let At::Begun(begun) = std::mem::replace(&mut self.at, At::Unsent) {
            std::mem::take(&mut self.then).after_search().send(to.out);
            to.engine.end_search(to.now, begun.went, true, to.out);
        }
    }

    /// The engine is lost: returns the lines that have waited.
    pub(super) fn lose_engine(&mut self) -> Backlog {
        self.at = At::Unsent;
        std::mem::take(&mut self.then)
    }

    /// Rejects an answer that cannot belong to this search; returns what to do about it.
    pub(in super::super) fn reject(&mut self) -> Retry {
        if !self.is_exclusive() {
            return Retry::None;
        }
        match std::mem::replace(&mut self.trust, Trust::AskedAgain) {
            Trust::AskedAgain => Retry::GiveUp,
            Trust::Full | Trust::RepeatIgnored => Retry::SearchAgain,
        }
    }

    /// Whether the engine may answer that there is no move: impossible `searchmoves`, `go mate`
    /// without a mate, and a `stop` before its first thought.
    pub(in super::super) fn may_lack_a_move(&self) -> bool {
        let asks_for_some = self.parsed.searchmoves.is_some() || self.parsed.engine_only;
        asks_for_some || self.stopped || !self.kind.is_free()
    }

    /// The last answer of the engine has come once more: true if it may be ignored. An
    /// answer that is printed a third time may be meant, but is not an answer either.
    pub(in super::super) fn may_ignore_repeat(&mut self) -> bool {
        let may = self.trust == Trust::Full;
        if may {
            self.trust = Trust::RepeatIgnored;
        }
        may
    }

    /// Whether the search has to end before anything else may be sent to the engine. The end
    /// of a `perft` does not show.
    pub(super) const fn is_exclusive(&self) -> bool {
        self.parsed.perft.is_none()
    }

    /// Whether the engine has been sent `stop` for this search.
    pub(in super::super) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether the answer may be sent as soon as it comes.
    pub(super) fn may_be_answered(&self) -> bool {
        self.stopped || self.kind.is_free()
    }

    // Limits.

    /// When the engine counts as hung.
    pub(in super::super) const fn due(&self) -> Option<Duration> {
        self.due
    }

    /// When the engine counts as hung that ends another search first.
    pub(in super::super) const fn begin_due(&self) -> Option<Duration> {
        self.begin_due
    }

    /// How long its answer has been searched for.
    pub(in super::super) fn spent(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// Extends the limits by a time in which the engine's output could not be read.
    pub(in super::super) fn hold_up(&mut self, time: Duration) {
        for due in [&mut self.due, &mut self.begin_due] {
            *due = due.map(|due| due.saturating_add(time));
        }
    }
}
