//! What the GUI is owed: the answer to its `go`, that to its `uci`, and the lines that
//! have to wait.
//!
//! | the answer | event | afterwards | returned |
//! |---|---|---|---|
//! | none is due | a book answers, and may | none is due | (sent) |
//! | none is due | a book answers, and may not yet | held | - |
//! | none is due | a `go` for the engine | searched for | - |
//! | held | its time, or that of its check, is over | none is due | the answer |
//! | held | `stop`, `quit` | none is due | the answer |
//! | held | `ponderhit` | held, without delay; none if nothing else holds it | the answer, then |
//! | held | another `position`, `ucinewgame` | held, without delay and check | the answer, if it may be sent |
//! | held | another `go` | searched for, or held | - (it is replaced) |
//! | held | the engine is free, and it waits for that | held | the background search |
//! | searched for | `bestmove` | none is due, or held | the answer, if it may be sent |
//! | searched for | `stop` | stopped, with a limit | `stop` |
//! | searched for | another `go` waits, and it is not stopped | none is due | (the search is replaced) |
//! | searched for | the engine is restarted | searched for | the `go`, with the time that is left |
//! | searched for (`perft`) | `stop` | searched for | `stop` |
//! | searched for (`perft`) | anything that a search waits for | none is due | - |

mod check;
mod clock;
mod queue;

use std::time::Duration;

pub(super) use check::{Budget, Check, Outcome, Unchecked};
pub(super) use clock::{ASLEEP, MARGIN, STOP_LIMIT};
use clock::{allowance, patience};
use queue::Queue;
pub(super) use queue::{ForSearch, Waiting};
use tabia_uci::gui::{Go, GuiCommand, with_time_left};

/// What must happen before a `go` may be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchKind {
    /// Wait for `ponderhit` or `stop`.
    pub(super) ponder: bool,
    /// Wait for `stop`.
    pub(super) infinite: bool,
}

impl SearchKind {
    pub(super) const fn from_go(go: &Go) -> SearchKind {
        SearchKind {
            ponder: go.ponder,
            infinite: go.infinite,
        }
    }

    /// Nothing must happen.
    pub(super) fn is_free(self) -> bool {
        self == SearchKind::default()
    }
}

/// The answer that the GUI waits for.
#[derive(Debug, Default)]
enum Due {
    /// None.
    #[default]
    Nothing,
    /// An answer that is known but may not be sent yet.
    Held(Held),
    /// An answer that the engine searches for.
    Search(Running),
}

/// An answer that may not be sent yet.
#[derive(Debug)]
pub(super) struct Held {
    /// The lines to send, the last of them the `bestmove`.
    pub(super) answer: Vec<Vec<u8>>,
    pub(super) kind: SearchKind,
    /// When the delay is over and the answer is sent (`Book Delay`); `None` without a
    /// delay.
    pub(super) due: Option<Duration>,
    /// The background search that is made while it is held.
    pub(super) search: Option<Background>,
}

/// A background search for an answer that is held.
#[derive(Debug)]
pub(super) enum Background {
    /// The engine warms up with this `go`, when it is free.
    ThinkAhead(Vec<u8>),
    /// The engine checks the answer: it is not sent before that has a result or no time.
    Check(Box<Check>),
}

impl Held {
    /// Whether it may be sent.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.kind.is_free() && self.due.is_none_or(|due| due <= now)
    }

    fn check(&self) -> Option<&Check> {
        match &self.search {
            Some(Background::Check(check)) => Some(check),
            Some(Background::ThinkAhead(_)) | None => None,
        }
    }

    /// When the next action for it is due.
    fn next_due(&self) -> Option<Duration> {
        let check = self.check().map(Check::until);
        check.or(self.due.filter(|_| self.kind.is_free()))
    }
}

/// A search of the engine.
#[derive(Debug)]
pub(super) struct Running {
    kind: SearchKind,
    /// The `go` line as it came.
    go: Vec<u8>,
    /// Its parsed content.
    parsed: Go,
    /// When the mover's clock began to run for it.
    since: Duration,
    /// When the engine counts as hung; `None` without a limit.
    due: Option<Duration>,
    /// The same limit, if the engine has not begun because it has to end another search
    /// first.
    begin_due: Option<Duration>,
    /// `stop` has been sent to the engine.
    stopped: bool,
    trust: Trust,
}

/// What has been wrong with the engine's answers to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trust {
    /// Nothing.
    #[default]
    Full,
    /// Its last answer, printed once more, has been ignored.
    RepeatIgnored,
    /// The first answer was none, so that it has been asked again.
    AskedAgain,
}

impl Running {
    /// Starts the mover's clock.
    fn start_clock(&mut self, now: Duration, white_moves: Option<bool>) {
        self.since = now;
        self.due = allowance(&self.parsed, white_moves).map(|time| now.saturating_add(time));
        self.begin_due = patience(&self.parsed, white_moves).map(|time| now.saturating_add(time));
    }

    /// Call this before `stop` is sent to the engine.
    fn stop(&mut self, now: Duration) {
        // `perft` may end without an answer, so that none is late.
        if !self.stopped && self.parsed.perft.is_none() {
            self.stopped = true;
            let limit = now.saturating_add(STOP_LIMIT);
            self.due = Some(self.due.map_or(limit, |due| due.min(limit)));
        }
    }

    /// The `go` once more, with the time that is left.
    fn again(&mut self, now: Duration, white_moves: Option<bool>) -> Again {
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
        Again {
            line,
            stopped: self.stopped,
        }
    }
}

/// A search that is repeated.
pub(super) struct Again {
    /// Its `go`.
    pub(super) line: Vec<u8>,
    /// It has been stopped.
    pub(super) stopped: bool,
}

/// What a `stop` or the end of the session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopOf {
    /// There is nothing to stop.
    Nothing,
    /// The held answer is sent.
    Held,
    /// The engine stops.
    Search,
}

/// What a `ponderhit` is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HitOf {
    Nothing,
    /// The held answer, which nothing else holds.
    Held,
    /// The held answer is checked first.
    Checked,
    /// There is no time for the check of the held answer.
    Unchecked(Unchecked),
    Search,
}

/// What becomes of an answer of the engine.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// It is sent.
    Send(Vec<u8>),
    /// It is held until it may be sent.
    Hold,
}

/// What is done about an answer that counts as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amends {
    /// Nothing: none is needed.
    None,
    /// The engine searches again.
    SearchAgain,
    /// It has had its second chance.
    GiveUp,
}

/// Everything that the GUI is owed.
#[derive(Debug, Default)]
pub(super) struct Owed {
    answer: Due,
    queue: Queue,
}

impl Owed {
    // The lines that wait.

    /// Bytes of the lines that wait.
    pub(super) const fn backlog(&self) -> usize {
        self.queue.bytes()
    }

    /// Whether no line waits.
    pub(super) fn has_no_lines(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether a line has to wait; `all_wait`: no line can be handled now. `is_own`: it
    /// sets an option of Tabia.
    pub(super) fn must_wait(&self, command: &GuiCommand, all_wait: bool, is_own: bool) -> bool {
        if all_wait {
            return true;
        }
        if self.queue.is_empty() {
            return self.disturbs(command, is_own);
        }
        match command {
            // These belong to the current search, unless another one waits after it.
            GuiCommand::Stop | GuiCommand::PonderHit => self.queue.has_go(),
            // The engine answers during a search. After a `stop` the waiting lines follow
            // soon, and they come first.
            GuiCommand::IsReady => self.is_stopped(),
            _ => true,
        }
    }

    /// Whether a line must not reach the engine during the present search.
    pub(super) fn disturbs(&self, command: &GuiCommand, is_own: bool) -> bool {
        self.is_exclusive()
            && match command {
                GuiCommand::Position | GuiCommand::Go(_) | GuiCommand::NewGame => true,
                GuiCommand::SetOption(_) => !is_own,
                _ => false,
            }
    }

    /// A line waits.
    pub(super) fn defer(&mut self, now: Duration, line: &[u8], command: GuiCommand) {
        self.queue.push(now, line, command);
    }

    /// A line waits before all others.
    pub(super) fn defer_first(&mut self, now: Duration, line: &[u8], command: GuiCommand) {
        self.queue.push_front(now, line, command);
    }

    /// The line that has waited longest.
    pub(super) fn first_line(&self) -> Option<&GuiCommand> {
        self.queue.front()
    }

    /// Takes the line that has waited longest; a `go` has less time than when it came.
    pub(super) fn next_line(
        &mut self,
        now: Duration,
        white_moves: impl FnOnce() -> Option<bool>,
    ) -> Option<Waiting> {
        let mut waiting = self.queue.pop()?;
        if matches!(waiting.command, GuiCommand::Go(_)) {
            waiting.shorten(now, white_moves());
        }
        Some(waiting)
    }

    /// Takes what waits for the present search itself, and not for its end.
    pub(super) fn for_search(&mut self) -> Option<ForSearch> {
        self.queue.for_search()
    }

    // The answer.

    const fn running(&self) -> Option<&Running> {
        match &self.answer {
            Due::Search(running) => Some(running),
            Due::Nothing | Due::Held(_) => None,
        }
    }

    const fn held(&self) -> Option<&Held> {
        match &self.answer {
            Due::Held(held) => Some(held),
            Due::Nothing | Due::Search(_) => None,
        }
    }

    /// No answer is due.
    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self.answer, Due::Nothing)
    }

    /// The engine searches for the answer.
    pub(super) const fn is_searched_for(&self) -> bool {
        self.running().is_some()
    }

    /// The engine has been sent `stop` for it.
    pub(super) fn is_stopped(&self) -> bool {
        self.running().is_some_and(|running| running.stopped)
    }

    /// The search has to end before anything else may be sent to the engine.
    pub(super) fn is_exclusive(&self) -> bool {
        self.running()
            .is_some_and(|running| running.parsed.perft.is_none())
    }

    /// Holds an answer of a book, in place of none or of one that is dropped.
    pub(super) fn hold(&mut self, held: Held) {
        debug_assert!(!self.is_exclusive(), "two answers at once");
        self.answer = Due::Held(held);
    }

    /// Another answer of a book takes the place of the one that is held.
    pub(super) fn replace_answer(&mut self, lines: Vec<Vec<u8>>) {
        if let Due::Held(held) = &mut self.answer {
            held.answer = lines;
        }
    }

    /// The `bestmove` that belongs to no search: sent now, or held until it may be.
    pub(super) fn answer_without(&mut self, line: &[u8], kind: SearchKind) -> Reply {
        self.reply(line.to_vec(), kind, kind.is_free())
    }

    /// The `bestmove` that answers the search under way.
    pub(super) fn found(&mut self, line: &[u8]) -> Option<Reply> {
        let running = self.running()?;
        let (kind, may) = (running.kind, running.stopped || running.kind.is_free());
        Some(self.reply(line.to_vec(), kind, may))
    }

    fn reply(&mut self, line: Vec<u8>, kind: SearchKind, may_be_sent: bool) -> Reply {
        if may_be_sent {
            self.answer = Due::Nothing;
            return Reply::Send(line);
        }
        self.answer = Due::Held(Held {
            answer: vec![line],
            kind,
            due: None,
            search: None,
        });
        Reply::Hold
    }

    /// The engine searches for the answer.
    pub(super) fn search(
        &mut self,
        now: Duration,
        (line, go): (&[u8], Go),
        white_moves: Option<bool>,
    ) {
        debug_assert!(!self.is_exclusive(), "two searches at once");
        let mut running = Running {
            kind: SearchKind::from_go(&go),
            go: line.to_vec(),
            parsed: go,
            since: now,
            due: None,
            begin_due: None,
            stopped: false,
            trust: Trust::Full,
        };
        if !running.kind.ponder {
            running.start_clock(now, white_moves);
        }
        self.answer = Due::Search(running);
    }

    /// The search once more, with the time that is left.
    pub(super) fn search_again(
        &mut self,
        now: Duration,
        white_moves: Option<bool>,
    ) -> Option<Again> {
        match &mut self.answer {
            Due::Search(running) => Some(running.again(now, white_moves)),
            Due::Nothing | Due::Held(_) => None,
        }
    }

    /// The answer cannot be the one to this search.
    pub(super) fn reject(&mut self) -> Amends {
        match &mut self.answer {
            // `perft` ends without an answer.
            Due::Search(running) if running.parsed.perft.is_some() => Amends::None,
            Due::Search(running) => {
                match std::mem::replace(&mut running.trust, Trust::AskedAgain) {
                    Trust::AskedAgain => Amends::GiveUp,
                    Trust::Full | Trust::RepeatIgnored => Amends::SearchAgain,
                }
            }
            Due::Nothing | Due::Held(_) => Amends::None,
        }
    }

    /// The last answer of the engine has come once more: true if it may be ignored. One
    /// that is printed yet again may be meant: that is not an answer either.
    pub(super) fn may_ignore_repeat(&mut self) -> bool {
        match &mut self.answer {
            Due::Search(running) if running.trust == Trust::Full => {
                running.trust = Trust::RepeatIgnored;
                true
            }
            _ => false,
        }
    }

    /// Handles `stop`.
    pub(super) fn stop(&mut self, now: Duration) -> StopOf {
        match &mut self.answer {
            Due::Nothing => StopOf::Nothing,
            Due::Held(_) => StopOf::Held,
            Due::Search(running) => {
                running.stop(now);
                StopOf::Search
            }
        }
    }

    /// Handles `ponderhit`; a check has at most the time `wanted`.
    pub(super) fn ponder_hit(
        &mut self,
        now: Duration,
        white_moves: Option<bool>,
        wanted: Duration,
    ) -> HitOf {
        match &mut self.answer {
            Due::Nothing => HitOf::Nothing,
            Due::Held(held) => {
                held.kind.ponder = false;
                held.due = None;
                if held.kind.infinite {
                    return HitOf::Nothing;
                }
                match &mut held.search {
                    Some(Background::Check(check)) => {
                        match check.on_our_clock(now, wanted, white_moves) {
                            Ok(()) => HitOf::Checked,
                            Err(reason) => HitOf::Unchecked(reason),
                        }
                    }
                    Some(Background::ThinkAhead(_)) | None => HitOf::Held,
                }
            }
            Due::Search(running) => {
                // A second `ponderhit` does not reset the clock.
                if std::mem::take(&mut running.kind.ponder) && !running.stopped {
                    running.start_clock(now, white_moves);
                }
                HitOf::Search
            }
        }
    }

    /// The held answer, if it is to be sent.
    pub(super) fn release(&mut self) -> Option<Vec<Vec<u8>>> {
        match std::mem::take(&mut self.answer) {
            Due::Held(held) => Some(held.answer),
            other => {
                self.answer = other;
                None
            }
        }
    }

    /// Whether the held answer may be sent.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.held().is_some_and(|held| held.is_due(now))
    }

    /// Whether an answer is held.
    pub(super) const fn is_held(&self) -> bool {
        self.held().is_some()
    }

    /// The GUI changes to another position: a held answer has no delay any more.
    pub(super) fn end_delay(&mut self) {
        if let Due::Held(held) = &mut self.answer {
            held.due = None;
        }
    }

    /// No answer is due any more: that of a search that may end without one (`perft`).
    /// True if it was such a search.
    pub(super) fn forget_perft(&mut self) -> bool {
        let is_perft = self.is_searched_for() && !self.is_exclusive();
        if is_perft {
            self.answer = Due::Nothing;
        }
        is_perft
    }

    /// No answer is due any more.
    pub(super) fn forget(&mut self) {
        self.answer = Due::Nothing;
    }

    /// The present search is replaced by a later `go`, unless it was stopped, because then
    /// the GUI waits for its answer. True if it is replaced.
    pub(super) fn abandon(&mut self) -> bool {
        let is_replaced = self.is_searched_for() && !self.is_stopped();
        if is_replaced {
            self.answer = Due::Nothing;
        }
        is_replaced
    }

    // Background searches.

    /// Takes the background search of the held answer.
    pub(super) fn take_background(&mut self) -> Option<Background> {
        match &mut self.answer {
            Due::Held(held) => held.search.take(),
            Due::Nothing | Due::Search(_) => None,
        }
    }

    /// Takes the check of the held answer.
    pub(super) fn take_check(&mut self) -> Option<Box<Check>> {
        match self.take_background()? {
            Background::Check(check) => Some(check),
            Background::ThinkAhead(_) => None,
        }
    }

    /// Takes the background search of the held answer, if that waits for a free engine.
    pub(super) fn take_waiting(&mut self) -> Option<Background> {
        let waits = match self.held()?.search.as_ref()? {
            Background::ThinkAhead(_) => true,
            Background::Check(check) => check.waits(),
        };
        if waits { self.take_background() } else { None }
    }

    /// The held answer is checked, or goes on being checked.
    pub(super) fn check(&mut self, check: Box<Check>) {
        if let Due::Held(held) = &mut self.answer {
            debug_assert!(held.search.is_none(), "two background searches");
            held.search = Some(Background::Check(check));
        }
    }

    /// Handles an `info` line of a background search.
    pub(super) fn receive(&mut self, info: &[u8]) {
        if let Due::Held(Held {
            search: Some(Background::Check(check)),
            ..
        }) = &mut self.answer
        {
            check.receive(info);
        }
    }

    /// Why the check of the held answer has no result when its time is over.
    pub(super) fn lateness(&self) -> Unchecked {
        let check = self.held().and_then(Held::check);
        check.map_or(Unchecked::Late, Check::lateness)
    }

    // Invariants.

    /// What must hold between two events, and what must not.
    pub(super) fn check_state(&self) {
        match &self.answer {
            Due::Nothing => {}
            Due::Held(held) => {
                let answer = held.answer.last();
                debug_assert!(
                    answer.is_some_and(|line| line.starts_with(b"bestmove")),
                    "what is held is not an answer: {held:?}"
                );
                debug_assert!(
                    !held.kind.is_free() || held.due.is_some() || held.check().is_some(),
                    "nothing holds it: {held:?}"
                );
            }
            Due::Search(running) => {
                debug_assert!(
                    !running.stopped || running.due.is_some(),
                    "a stop without a limit: {running:?}"
                );
                debug_assert!(
                    !running.kind.ponder || running.begin_due.is_none(),
                    "a clock that runs for the opponent: {running:?}"
                );
            }
        }
    }

    // Limits.

    /// When the next action for the held answer is due.
    pub(super) fn held_due(&self) -> Option<Duration> {
        self.held().and_then(Held::next_due)
    }

    /// When the engine that searches for the answer counts as hung.
    pub(super) fn search_due(&self) -> Option<Duration> {
        self.running()?.due
    }

    /// The same, while it ends another search first.
    pub(super) fn begin_due(&self) -> Option<Duration> {
        self.running()?.begin_due
    }

    /// How long the answer has been searched for.
    pub(super) fn searched_for(&self, now: Duration) -> Option<Duration> {
        Some(now.saturating_sub(self.running()?.since))
    }

    /// Extends the engine's limits by a time in which its output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let Due::Search(running) = &mut self.answer {
            for due in [&mut running.due, &mut running.begin_due] {
                *due = due.map(|due| due.saturating_add(time));
            }
        }
    }
}

#[cfg(test)]
mod tests;
