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
    /// Whether it may be sent.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.kind.is_free() && self.due.is_none_or(|due| due <= now)
    }

    pub(super) fn check(&self) -> Option<&Check> {
        match &self.look {
            Some(Look::Check(check)) => Some(check),
            Some(Look::WarmUp(_) | Look::Warming(_)) | None => None,
        }
    }

    /// When the next action for it is due.
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

    /// The GUI changes to another position: a held answer has no delay any more.
    pub(super) const fn end_delay(&mut self) {
        if let Turn::Held(held) = self {
            held.due = None;
        }
    }

    // Answers.

    /// The engine searches for the answer to this `go`.
    pub(super) fn begin(
        &mut self,
        now: Duration,
        go: (&[u8], Go),
        game: &Game,
        engine: &mut Engine,
        out: &mut Out<'_>,
    ) {
        debug_assert!(self.is_idle(), "two answers at once: {self:?}");
        *self = Turn::Searching(Search::begin(now, go, game, engine, out));
    }

    /// Another answer of a book takes the place of the one that is held.
    pub(super) fn replace_answer(&mut self, lines: Vec<Vec<u8>>) {
        if let Turn::Held(held) = self {
            held.answer = lines;
        }
    }

    /// The engine looks, or goes on looking, while the answer is held.
    pub(super) fn look(&mut self, look: Look) {
        if let Turn::Held(held) = self {
            held.look = Some(look);
        }
    }

    /// Why the check of the held answer has no result when its time is over.
    pub(super) fn lateness(&self) -> Unchecked {
        match self {
            Turn::Held(held) => held.check().map_or(Unchecked::Late, Check::lateness),
            Turn::Idle | Turn::Searching(_) => Unchecked::Late,
        }
    }

    /// Handles an `info` line of the search.
    pub(super) fn receive(
        &mut self,
        now: Duration,
        info: &[u8],
        engine: &mut Engine,
        out: &mut Out<'_>,
    ) {
        if let Turn::Searching(search) = self {
            search.receive(now, info, engine, out);
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

    /// The last answer of the engine has come once more: true if it may be ignored.
    pub(super) fn may_ignore_repeat(&mut self) -> bool {
        match self {
            Turn::Searching(search) => search.may_ignore_repeat(),
            Turn::Idle | Turn::Held(_) => false,
        }
    }

    /// The search has an answer that counts.
    pub(super) fn has_answered(&mut self, out: &mut Out<'_>) {
        if let Turn::Searching(search) = self {
            search.has_answered(out);
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

    fn answer<'a>(
        &mut self,
        line: &'a [u8],
        kind: SearchKind,
        may_be_sent: bool,
    ) -> Option<&'a [u8]> {
        let held = || Held {
            answer: vec![line.to_vec()],
            kind,
            due: None,
            look: None,
        };
        *self = match may_be_sent {
            true => Turn::Idle,
            false => Turn::Held(held()),
        };
        may_be_sent.then_some(line)
    }

    /// What is done about an answer that cannot be the one to the search.
    pub(super) fn reject(&mut self) -> Retry {
        match self {
            Turn::Searching(search) => search.reject(),
            Turn::Idle | Turn::Held(_) => Retry::None,
        }
    }

    /// The engine searches again, because its answer was none.
    pub(super) fn search_again(
        &mut self,
        now: Duration,
        game: &Game,
        engine: &mut Engine,
        out: &mut Out<'_>,
    ) {
        let Turn::Searching(search) = self else {
            return;
        };
        search.doubt(now, engine, out);
        let position_line = game.for_engine();
        if !position_line.is_empty() {
            engine.send_position(&position_line, false, out);
        }
        search.again(now, game, engine, out);
    }

    // The engine.

    /// A line for the engine: now, or when it can take it.
    pub(super) fn send(&mut self, line: &[u8], engine: &mut Engine, out: &mut Out<'_>) {
        match self.waiting() {
            Some(waiting) => waiting.put(line),
            None => engine.send(line, self.is_looking(), out),
        }
    }

    /// An `isready` for the engine.
    pub(super) fn ask_ready(&mut self, now: Duration, engine: &mut Engine, out: &mut Out<'_>) {
        // It must not overtake a `stop`.
        let waits = match self {
            Turn::Searching(search) => search.delays_ready(),
            Turn::Idle | Turn::Held(_) => false,
        };
        engine.ask_ready(now, waits, out);
    }

    /// Lines after the `go`, which have to wait as something for that search waits.
    fn waiting(&mut self) -> Option<&mut Backlog> {
        match self {
            Turn::Searching(search) => search.waiting(),
            Turn::Idle | Turn::Held(_) => None,
        }
    }

    /// The last `position` line: the engine has to know it.
    pub(super) fn send_position(&self, game: &Game, engine: &mut Engine, out: &mut Out<'_>) {
        engine.send_position(&game.for_engine(), self.is_looking(), out);
    }

    /// Bytes of the lines that wait for the engine to begin.
    pub(super) fn backlog(&self) -> usize {
        self.search().map_or(0, Search::backlog)
    }

    /// Its output is not for the GUI: it makes a look, or ends a search.
    pub(super) fn hides(&self, engine: &Engine) -> bool {
        self.is_looking() || engine.is_ending()
    }

    /// The engine makes a look.
    pub(super) const fn is_looking(&self) -> bool {
        matches!(self, Turn::Held(Held { look: Some(look), .. }) if look.went().is_some())
    }

    /// Takes the look that the engine makes, with the time of its `go`.
    pub(super) fn take_begun_look(&mut self) -> Option<(Duration, Look)> {
        let Turn::Held(held) = self else { return None };
        let went = held.look.as_ref()?.went()?;
        Some((went, held.look.take()?))
    }

    /// Takes the look, begun or not.
    pub(super) const fn take_look(&mut self) -> Option<Look> {
        match self {
            Turn::Held(held) => held.look.take(),
            Turn::Idle | Turn::Searching(_) => None,
        }
    }

    /// Takes the check of the held answer.
    pub(super) fn take_check(&mut self) -> Option<Box<Check>> {
        let Turn::Held(held) = self else { return None };
        match held.look.take_if(|look| matches!(look, Look::Check(_)))? {
            Look::Check(check) => Some(check),
            Look::WarmUp(_) | Look::Warming(_) => None,
        }
    }

    /// The engine has ended what had to end first: a `go` that waits is sent.
    pub(super) fn engine_is_free(
        &mut self,
        now: Duration,
        game: &Game,
        engine: &mut Engine,
        out: &mut Out<'_>,
    ) {
        if let Turn::Searching(search) = self {
            search.engine_is_free(now, game, engine, out);
        }
    }

    /// The engine is lost: returns the lines that have waited for it. What it looked at is
    /// left as it is.
    pub(super) fn lose_engine(&mut self) -> Backlog {
        match self {
            Turn::Searching(search) => search.lose_engine(),
            Turn::Idle | Turn::Held(_) => Backlog::default(),
        }
    }

    /// The engine has started: it gets the unanswered `go`, with the time that is left.
    pub(super) fn engine_has_started(
        &mut self,
        now: Duration,
        game: &Game,
        engine: &mut Engine,
        out: &mut Out<'_>,
    ) {
        if let Turn::Searching(search) = self {
            engine.send_withheld(&game.for_engine(), out);
            search.again(now, game, engine, out);
        }
    }

    // The GUI.

    /// Handles `stop`; true if a held answer is sent.
    pub(super) fn stop(&mut self, now: Duration, out: &mut Out<'_>) -> bool {
        if let Turn::Searching(search) = self {
            search.stop(now, out);
        }
        self.is_held()
    }

    /// Handles `ponderhit`; a check has at most the time `wanted`.
    pub(super) fn ponder_hit(
        &mut self,
        now: Duration,
        game: &Game,
        wanted: Duration,
        out: &mut Out<'_>,
    ) -> PonderHitTarget {
        match self {
            Turn::Idle => PonderHitTarget::Nothing,
            Turn::Held(held) => held.ponder_hit(now, game, wanted),
            Turn::Searching(search) => {
                search.ponder_hit(now, game, out);
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
    pub(super) fn forget_perft(&mut self, engine: &mut Engine, out: &mut Out<'_>) -> bool {
        let perft = self.take_search(|search| !search.is_exclusive());
        perft.map(|perft| perft.forget(engine, out)).is_some()
    }

    /// A later `go` replaces the search, unless it was stopped, because then the GUI waits
    /// for its answer. True if it is replaced.
    pub(super) fn abandon(
        &mut self,
        now: Duration,
        engine: &mut Engine,
        out: &mut Out<'_>,
    ) -> bool {
        // A `perft` is no search for a move: nothing replaces it, and its end would not show.
        if self.forget_perft(engine, out) {
            return true;
        }
        let search = self.take_search(|search| !search.is_stopped());
        search
            .map(|search| search.abandon(now, engine, out))
            .is_some()
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
    pub(super) fn due_stop(&mut self, now: Duration, engine: &mut Engine, out: &mut Out<'_>) {
        if let Turn::Searching(search) = self {
            search.due_stop(now, out);
        }
        engine.due_stop(now, out);
    }

    /// Extends the engine's limits by a time in which its output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let Turn::Searching(search) = self {
            search.hold_up(time);
        }
    }
}

#[cfg(test)]
mod tests;
