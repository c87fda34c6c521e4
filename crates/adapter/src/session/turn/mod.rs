//! What the GUI waits for: the turn of Tabia, from a `go` to its answer.
//!
//! This is the one place that knows what the GUI waits for, and how far the engine is with it.
//! The [link to the engine](super::engine) knows besides whether a search that nobody waits
//! for has to end first.
//!
//! | the turn | event | afterwards | written |
//! |---|---|---|---|
//! | idle | a book answers, and may | idle | (sent) |
//! | idle | a book answers, and may not yet | held | - |
//! | idle | a `go` for the engine | searching | the `go`, when the engine can take it |
//! | held | its time, or that of its check, is over | idle | the answer |
//! | held | `stop`, `quit` | idle | the answer |
//! | held | `ponderhit` | held, without delay; idle if nothing else holds it | the answer, then |
//! | held | another `position`, `ucinewgame` | held, without delay and look | the answer, if it may be sent |
//! | held | another `go` | searching, or held | - (it is replaced) |
//! | held, with a look | the engine is free | held | the `go` of the look |
//! | held, with a look | the engine has answered it | held | - (it is ended) |
//! | held, with a look | the engine is lost | held, without look | - |
//! | searching | `bestmove` | idle, or held | the answer, if it may be sent |
//! | searching | `stop`, `ponderhit` | searching | the same, when the search has begun |
//! | searching | another `go` waits, and the search is not stopped | idle | `stop` |
//! | searching | the engine is lost, or its answer cannot be meant | searching | the `go`, with the time that is left |
//! | searching (`perft`) | anything that a search waits for | idle | - |
//!
//! How far a search is: see [`search`].
//!
//! # Looks
//!
//! A look is a search that the GUI does not know of: it warms the engine up, or checks a book
//! move that is held ([`verify`](super::verify)). It begins when the engine is free. Lines
//! for the engine wait until it has ended, so that none of its output is taken for an answer
//! to a later command.

mod clock;
mod search;

use std::time::Duration;

use super::backlog::Backlog;
use super::engine::Engine;
use super::game::Game;
use super::out::Out;
use super::verify::{Check, Unchecked};
pub(super) use clock::{ASLEEP, MARGIN, STOP_LIMIT};
pub(super) use search::{Retry, Search};
use tabia_uci::gui::{Go, GuiCommand};

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

/// What the GUI waits for.
#[derive(Debug, Default)]
#[allow(clippy::large_enum_variant)] // A session has one.
pub(super) enum Turn {
    /// No answer.
    #[default]
    Idle,
    /// An answer that is known but may not be sent yet.
    Held(Held),
    /// An answer that the engine searches for.
    Searching(Search),
}

/// The parts of the session that a turn reads, changes and writes to.
pub(super) struct Outside<'a, 'b> {
    pub(super) now: Duration,
    pub(super) game: &'a Game,
    pub(super) engine: &'a mut Engine,
    pub(super) out: &'a mut Out<'b>,
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
    pub(super) look: Option<Look>,
}

/// A search that the GUI does not know of, while an answer is held.
#[derive(Debug)]
pub(super) enum Look {
    /// The engine warms up with this `go` (`Book Think Ahead`), when it is free.
    WarmUp(Vec<u8>),
    /// The engine warms up; its `go` was sent at this time.
    Warming(Duration),
    /// The engine checks the answer: it is not sent before that has a result or no time.
    Check(Box<Check>),
}

impl Look {
    /// When its `go` was sent; `None` while it waits for the engine.
    pub(super) const fn went(&self) -> Option<Duration> {
        match self {
            Look::WarmUp(_) => None,
            Look::Warming(went) => Some(*went),
            Look::Check(check) => check.went(),
        }
    }
}

impl Held {
    /// Whether the answer may be sent.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.kind.is_free() && self.due.is_none_or(|due| due <= now)
    }

    pub(super) fn check(&self) -> Option<&Check> {
        match &self.look {
            Some(Look::Check(check)) => Some(check),
            Some(Look::WarmUp(_) | Look::Warming(_)) | None => None,
        }
    }

    /// When the next action for the held answer is due.
    fn next_due(&self) -> Option<Duration> {
        let check = self.check().map(Check::until);
        check.or(self.due.filter(|_| self.kind.is_free()))
    }

    /// Handles `ponderhit`; a check has at most the time `wanted`.
    fn ponder_hit(&mut self, now: Duration, game: &Game, wanted: Duration) -> PonderHitTarget {
        self.kind.ponder = false;
        self.due = None;
        if self.kind.infinite {
            return PonderHitTarget::Nothing;
        }
        match &mut self.look {
            Some(Look::Check(check)) => match check.on_our_clock(now, wanted, game.white_moves()) {
                Ok(()) => PonderHitTarget::Nothing,
                Err(reason) => PonderHitTarget::Unchecked(reason),
            },
            Some(Look::WarmUp(_) | Look::Warming(_)) | None => PonderHitTarget::Held,
        }
    }
}

/// What is left to do after a `ponderhit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PonderHitTarget {
    /// Nothing: the search gets it, or something else holds the answer.
    Nothing,
    /// The held answer is sent: nothing else holds it.
    Held,
    /// There is no time for the check of the held answer.
    Unchecked(Unchecked),
}

impl Turn {
    // What the GUI waits for.

    pub(super) const fn is_idle(&self) -> bool {
        matches!(self, Turn::Idle)
    }

    pub(super) const fn is_held(&self) -> bool {
        matches!(self, Turn::Held(_))
    }

    pub(super) const fn is_searching(&self) -> bool {
        matches!(self, Turn::Searching(_))
    }

    pub(super) const fn search(&self) -> Option<&Search> {
        match self {
            Turn::Searching(search) => Some(search),
            Turn::Idle | Turn::Held(_) => None,
        }
    }

    pub(super) const fn held_mut(&mut self) -> Option<&mut Held> {
        match self {
            Turn::Held(held) => Some(held),
            Turn::Idle | Turn::Searching(_) => None,
        }
    }

    pub(super) const fn search_mut(&mut self) -> Option<&mut Search> {
        match self {
            Turn::Searching(search) => Some(search),
            Turn::Idle | Turn::Held(_) => None,
        }
    }

    /// The engine has been sent `stop`.
    pub(super) fn is_stopped(&self) -> bool {
        self.search().is_some_and(Search::is_stopped)
    }

    /// Whether a line must not reach the engine during the present search. `is_own`: it sets
    /// an option of Tabia.
    pub(super) fn delays(&self, command: &GuiCommand, is_own: bool) -> bool {
        self.search().is_some_and(Search::is_exclusive)
            && match command {
                GuiCommand::Position | GuiCommand::Go(_) | GuiCommand::NewGame => true,
                GuiCommand::SetOption(_) => !is_own,
                _ => false,
            }
    }

    /// Whether the held answer may be sent.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        matches!(self, Turn::Held(held) if held.is_due(now))
    }

    /// The held answer is sent: takes it.
    pub(super) fn release(&mut self) -> Option<Held> {
        if !self.is_held() {
            return None;
        }
        match std::mem::take(self) {
            Turn::Held(held) => Some(held),
            Turn::Idle | Turn::Searching(_) => None,
        }
    }

    // Answers.

    /// The engine searches for the answer to this `go`.
    pub(super) fn begin(&mut self, go: (&[u8], Go), to: &mut Outside<'_, '_>) {
        debug_assert!(self.is_idle(), "two answers at once: {self:?}");
        *self = Turn::Searching(Search::begin(go, to));
    }

    /// Why the check of the held answer has no result when its time is over.
    pub(super) fn lateness(&self) -> Unchecked {
        match self {
            Turn::Held(held) => held.check().map_or(Unchecked::Late, Check::lateness),
            Turn::Idle | Turn::Searching(_) => Unchecked::Late,
        }
    }

    /// Handles an `info` line of a look.
    pub(super) fn receive_look(&mut self, info: &[u8]) {
        if let Turn::Held(Held {
            look: Some(Look::Check(check)),
            ..
        }) = self
        {
            check.receive(info);
        }
    }

    /// The `bestmove` that no search has brought: returned if it may be sent now.
    pub(super) fn answer_without<'a>(
        &mut self,
        line: &'a [u8],
        kind: SearchKind,
    ) -> Option<&'a [u8]> {
        self.answer(line, kind, kind.is_free())
    }

    /// The `bestmove` that answers the search: returned if it may be sent now.
    pub(super) fn answer_search<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let search = self.search()?;
        let (kind, may) = (search.kind, search.may_be_answered());
        self.answer(line, kind, may)
    }

    fn answer<'a>(&mut self, line: &'a [u8], kind: SearchKind, may: bool) -> Option<&'a [u8]> {
        *self = match may {
            true => Turn::Idle,
            false => Turn::Held(Held {
                answer: vec![line.to_vec()],
                kind,
                due: None,
                look: None,
            }),
        };
        may.then_some(line)
    }

    /// The engine searches again, because its answer was none.
    pub(super) fn search_again(&mut self, to: &mut Outside<'_, '_>) {
        if let Turn::Searching(search) = self {
            search.doubt(to);
            let position_line = to.game.for_engine();
            if !position_line.is_empty() {
                to.engine.send_position(&position_line, false, to.out);
            }
            search.again(to);
        }
    }

    // The engine.

    /// A line for the engine: now, or when it can take it.
    pub(super) fn send(&mut self, line: &[u8], engine: &mut Engine, out: &mut Out<'_>) {
        match self.search_mut().and_then(Search::waiting) {
            Some(waiting) => waiting.put(line),
            None => engine.send(line, self.is_looking(), out),
        }
    }

    /// An `isready` for the engine: it must not overtake a `stop`.
    pub(super) fn ask_ready(&mut self, to: &mut Outside<'_, '_>) {
        let waits = self.search_mut().is_some_and(Search::delays_ready);
        to.engine.ask_ready(to.now, waits, to.out);
    }

    /// The last `position` line: the engine has to know it.
    pub(super) fn send_position(&self, to: &mut Outside<'_, '_>) {
        let line = to.game.for_engine();
        to.engine.send_position(&line, self.is_looking(), to.out);
    }

    /// Bytes of the lines that wait for the engine to begin.
    pub(super) fn backlog(&self) -> usize {
        self.search().map_or(0, Search::backlog)
    }

    /// The engine's output is not for the GUI: it is of a look, or of a search that ends.
    pub(super) fn hides(&self, engine: &Engine) -> bool {
        self.is_looking() || engine.is_ending()
    }

    /// The engine makes a look.
    pub(super) const fn is_looking(&self) -> bool {
        matches!(self, Turn::Held(Held { look: Some(look), .. }) if look.went().is_some())
    }

    /// Takes the look that the engine makes, with the time of its `go`.
    pub(super) fn take_begun_look(&mut self) -> Option<(Duration, Look)> {
        let held = self.held_mut()?;
        let went = held.look.as_ref()?.went()?;
        Some((went, held.look.take()?))
    }

    /// Takes the check of the held answer.
    pub(super) fn take_check(&mut self) -> Option<Box<Check>> {
        let look = &mut self.held_mut()?.look;
        match look.take_if(|look| matches!(look, Look::Check(_)))? {
            Look::Check(check) => Some(check),
            Look::WarmUp(_) | Look::Warming(_) => None,
        }
    }

    /// The engine is lost: returns the lines that have waited for it. The look stays.
    pub(super) fn lose_engine(&mut self) -> Backlog {
        self.search_mut()
            .map_or_else(Backlog::default, Search::lose_engine)
    }

    /// The engine has started: it gets the unanswered `go`, with the time that is left.
    pub(super) fn engine_has_started(&mut self, to: &mut Outside<'_, '_>) {
        if let Turn::Searching(search) = self {
            to.engine.send_withheld(&to.game.for_engine(), to.out);
            search.again(to);
        }
    }

    // The GUI.

    /// Handles `stop`; true if a held answer is sent.
    pub(super) fn stop(&mut self, to: &mut Outside<'_, '_>) -> bool {
        if let Turn::Searching(search) = self {
            search.stop(to);
        }
        self.is_held()
    }

    /// Handles `ponderhit`; a check has at most the time `wanted`.
    pub(super) fn ponder_hit(
        &mut self,
        wanted: Duration,
        to: &mut Outside<'_, '_>,
    ) -> PonderHitTarget {
        match self {
            Turn::Idle => PonderHitTarget::Nothing,
            Turn::Held(held) => held.ponder_hit(to.now, to.game, wanted),
            Turn::Searching(search) => {
                search.ponder_hit(to);
                PonderHitTarget::Nothing
            }
        }
    }

    /// Takes the search, if `is_wanted`: the GUI does not wait for it any more.
    fn take_search(&mut self, is_wanted: impl FnOnce(&Search) -> bool) -> Option<Search> {
        if !self.search().is_some_and(is_wanted) {
            return None;
        }
        match std::mem::take(self) {
            Turn::Searching(search) => Some(search),
            Turn::Idle | Turn::Held(_) => None,
        }
    }

    /// The GUI does not wait for a search that may end without an answer (`perft`). True if
    /// there was one.
    pub(super) fn forget_perft(&mut self, to: &mut Outside<'_, '_>) -> bool {
        let perft = self.take_search(|search| !search.is_exclusive());
        perft.map(|perft| perft.forget(to)).is_some()
    }

    /// A later `go` replaces the search, unless it was stopped, because then the GUI waits
    /// for its answer. True if it is replaced.
    pub(super) fn abandon(&mut self, to: &mut Outside<'_, '_>) -> bool {
        // A `perft` does not search for a move: nothing replaces it, and its end would not show.
        if self.forget_perft(to) {
            return true;
        }
        let search = self.take_search(|search| !search.is_stopped());
        search.map(|search| search.abandon(to)).is_some()
    }

    // Time.

    /// When the next action for the held answer is due.
    pub(super) fn held_due(&self) -> Option<Duration> {
        match self {
            Turn::Held(held) => held.next_due(),
            Turn::Idle | Turn::Searching(_) => None,
        }
    }

    /// When a `stop`, or a line that waits for the beginning of a search, is sent.
    pub(super) fn stop_due(&self, engine: &Engine) -> Option<Duration> {
        let of_search = self.search().and_then(Search::stop_due);
        of_search.or_else(|| engine.stop_due())
    }

    /// Sends what is due.
    pub(super) fn due_stop(&mut self, to: &mut Outside<'_, '_>) {
        if let Turn::Searching(search) = self {
            search.due_stop(to);
        }
        to.engine.due_stop(to.now, to.out);
    }
}

#[cfg(test)]
mod tests;
