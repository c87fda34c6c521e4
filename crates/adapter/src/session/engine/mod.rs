//! The link to the engine: its process, its introduction, and the end of a search that nobody
//! waits for.
//!
//! What the GUI waits for, and the search for it, is [its turn](super::turn).
//!
//! | event | down | starting | up | ending a search |
//! |---|---|---|---|---|
//! | a line for it | lost | waits if nobody else remembers it | sent | waits |
//! | `position` | lost | lost | sent | waits, and replaces one |
//! | a search has to end | - | - | ending | - |
//! | `bestmove` | - | - | (that of the turn) | fenced |
//! | `readyok` after the fence | - | - | - | up: what waits is sent |
//! | it is lost | - | down | down | down |
//! | it is started | starting | - | - | - |
//! | `uciok` | - | its options are tried, or up | - | - |
//!
//! # The end of a search
//!
//! A look, and a search that a new `go` has replaced, has to end before anything else is sent
//! to the engine, and none of its output may be taken for an answer to a later command:
//!
//! 1. `stop` is sent, at least [`PAUSE`] after its `go`: engines lose a `stop` that
//!    follows at once, because they begin to search in another thread. As it may be lost
//!    anyway, it is repeated.
//! 2. After its `bestmove` Tabia sends an `isready`, the fence. All output before the
//!    `readyok`, also a second `bestmove`, belongs to the ended search.
//! 3. Only then are the waiting lines sent.
//!
//! # Options that crash an engine
//!
//! Some engines end on an option: Debian's Ethereal on `SyzygyPath`, with any value.
//! Programs that set all options send it before every game. If a restarted engine gets
//! its options and ends again without an answer, the options are sent one by one the next
//! time, each followed by `isready`. The one that it does not answer is not sent any
//! more. No search can be under way then: the engine is still starting.

mod answers;
mod child;
mod ending;
mod heard;
mod loss;
mod restarts;
mod start;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Duration;

use shakmaty::Chess;

use super::backlog::{Backlog, is_unremembered};
use super::out::Out;
use super::{Analysis, Engines, Profile};
pub(super) use answers::{Answer, shown, unsound};
pub use child::ANALYSE_MODE;
pub(super) use child::OPPONENT;
use child::{ChildOptions, Declaration};
use ending::Ending;
use heard::Heard;
pub(super) use loss::{Cause, Loss};
use restarts::Restarts;
pub(super) use start::{Introduced, TimeOver, Trial};
use tabia_uci::engine::EngineOption;
use tabia_uci::gui::{self, GuiCommand, SetOption};
use tabia_uci::message;

/// Shortest time between a `go` and a `stop` that the GUI has not sent. Ethereal 12.00 lost a
/// `stop` after 10 ms in one of 20 trials, and then read nothing more.
const PAUSE: Duration = Duration::from_millis(50);

/// The option by which an engine prints several variations.
const MULTI_PV: &str = "MultiPV";

/// The link to the engine.
#[derive(Debug)]
enum Link {
    /// There is no engine. The engine with this index has died too often while idle: it is
    /// tried again at the next `go` for the engine.
    Down { given_up: Option<usize> },
    /// An engine has been requested, and has not sent `uciok` yet.
    Starting(Starting),
    /// An engine has sent `uciok` and got its options.
    Up(Process),
}

impl Default for Link {
    fn default() -> Link {
        Link::Down { given_up: None }
    }
}

/// An engine that starts.
#[derive(Debug)]
struct Starting {
    index: usize,
    patience: Patience,
    phase: Phase,
    /// The lines that wait for its start.
    waiting: Backlog,
}

/// How long an engine may take to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// As long as the engine's profile allows.
    First,
    /// The engine has not sent `uciok` in its first time, and gets as much again.
    Second,
}

/// How far an engine is that starts.
#[derive(Debug)]
enum Phase {
    /// The process does not run yet.
    Requested,
    /// The engine has got `uci`.
    Introducing,
    /// The engine gets its options one by one: the lines so far. The `isready` after the last
    /// line is not answered yet.
    Trying(Vec<Vec<u8>>),
}

/// An engine that has introduced itself.
#[derive(Debug)]
struct Process {
    index: usize,
    /// Tabia has answered `isready` in place of the engine, which took too long.
    silent: bool,
    /// The engine has got all its options, and has sent no `readyok` or `bestmove` since.
    options_unanswered: bool,
    /// The move of the last `bestmove`.
    last_answer: Option<Vec<u8>>,
    /// The move of the last `bestmove`, if it is illegal in the position of the present
    /// search: some engines print each `bestmove` twice.
    stray: Option<Vec<u8>>,
    /// Whether searches of this engine show when they begin.
    heard: Heard,
    /// The search that has to end before anything else is sent.
    ending: Option<Ending>,
    /// The lines that wait for the end of that search, or of a look.
    waiting: Backlog,
}

/// The purpose of an `isready` that the engine has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadyFor {
    Gui,
    /// Tabia's own `isready` after a search that had to end.
    Fence,
    /// An `isready` of the GUI that Tabia has answered already.
    Answered,
}

/// The `readyok`s that are due.
#[derive(Debug, Default)]
struct Ready {
    /// The purpose of each `isready`, in order.
    awaited: VecDeque<ReadyFor>,
    /// When the GUI asked for the `readyok` that it waits for; `None` if it waits for
    /// none, or if there is no limit.
    since: Option<Duration>,
}

/// How the options are sent to the next engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sending {
    #[default]
    Together,
    /// One by one, because the last engine may have died of an option.
    OneByOne,
}

/// What a `readyok` of the engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadyOk {
    /// The answer to an `isready` of the GUI.
    OfGui,
    /// The end of a search that had to end: the lines that have waited have been sent.
    Free,
    /// Nobody waits for this `readyok`.
    OfNobody,
}

/// How a line of the engine is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// Nothing: no engine runs yet, so that the line is of the engine before. Written just before
    /// it was killed, it once counted for the next one.
    Nobody,
    /// The introduction of the engine, before `uciok`.
    Introduction,
    /// The answer to one option, while the engine gets its options one by one.
    Trial,
    /// Anything that an engine sends after `uciok`.
    Service,
}

/// Whether the engine can check a book move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Down,
    Starting,
    /// The engine does not answer `isready`.
    Silent,
    Up,
}

/// The engine as this session sees it.
#[derive(Debug, Default)]
pub(super) struct Engine {
    engines: Engines,
    link: Link,
    declared: Declaration,
    options: ChildOptions,
    sending: Sending,
    restarts: Restarts,
    ready: Ready,
    /// The name of the engine that the built-in one replaces.
    stands_in_for: Option<String>,
    /// An engine has introduced itself in this session.
    was_up: bool,
    /// The last `position` line has been sent to it, or will be when it has started.
    position_sent: bool,
}

impl Engine {
    pub(super) fn new(engines: Engines) -> Engine {
        Engine {
            engines,
            ..Engine::default()
        }
    }

    // How far it is.

    pub(super) const fn hearing(&self) -> Hearing {
        match &self.link {
            Link::Down { .. } => Hearing::Nobody,
            Link::Starting(starting) => match starting.phase {
                Phase::Requested => Hearing::Nobody,
                Phase::Introducing => Hearing::Introduction,
                Phase::Trying(_) => Hearing::Trial,
            },
            Link::Up(_) => Hearing::Service,
        }
    }

    pub(super) const fn readiness(&self) -> Readiness {
        match &self.link {
            Link::Down { .. } => Readiness::Down,
            Link::Starting(_) => Readiness::Starting,
            Link::Up(Process { silent: true, .. }) => Readiness::Silent,
            Link::Up(_) => Readiness::Up,
        }
    }

    pub(super) const fn is_down(&self) -> bool {
        matches!(self.link, Link::Down { .. })
    }

    pub(super) const fn is_starting(&self) -> bool {
        matches!(self.link, Link::Starting(_))
    }

    pub(super) const fn is_up(&self) -> bool {
        matches!(self.link, Link::Up(_))
    }

    /// The engine is up, and has no search to end.
    pub(super) const fn is_free(&self) -> bool {
        matches!(self.link, Link::Up(Process { ending: None, .. }))
    }

    /// The engine ends a search that nobody waits for.
    pub(super) const fn is_ending(&self) -> bool {
        self.ending().is_some()
    }

    /// An engine has introduced itself in this session.
    pub(super) const fn was_up(&self) -> bool {
        self.was_up
    }

    /// Bytes of the lines that wait for the engine.
    pub(super) const fn backlog(&self) -> usize {
        match &self.link {
            Link::Down { .. } => 0,
            Link::Starting(Starting { waiting, .. }) | Link::Up(Process { waiting, .. }) => {
                waiting.bytes()
            }
        }
    }

    /// The profile of the engine; while there is none, that of the first.
    pub(super) fn profile(&self) -> Option<&Profile> {
        let index = match &self.link {
            Link::Down { .. } => 0,
            Link::Starting(Starting { index, .. }) | Link::Up(Process { index, .. }) => *index,
        };
        self.engines.profiles.get(index)
    }

    const fn process(&mut self) -> Option<&mut Process> {
        match &mut self.link {
            Link::Up(process) => Some(process),
            Link::Down { .. } | Link::Starting(_) => None,
        }
    }

    // Lines for it.

    /// The lines that wait for the end of a search; `is_looking`: of one that the engine makes.
    fn waiting(&mut self, is_looking: bool) -> Option<&mut Backlog> {
        let process = self.process()?;
        (is_looking || process.ending.is_some()).then_some(&mut process.waiting)
    }

    /// Sends a line, now or after the search that has to end. (Lines that have to wait for the
    /// search of the GUI do so in the turn.)
    pub(super) fn send(&mut self, line: &[u8], is_looking: bool, out: &mut Out<'_>) {
        if let Some(waiting) = self.waiting(is_looking) {
            return waiting.put(line);
        }
        match &mut self.link {
            // A starting engine gets its lines later, from the state of the session;
            // lines that are not part of that state are stored here.
            Link::Starting(starting) if is_unremembered(line) => starting.waiting.put(line),
            Link::Down { .. } | Link::Starting(_) => {}
            Link::Up(_) => out.engine(line.trim_ascii_end()),
        }
    }

    /// Lines that are sent after the search that has to end.
    pub(super) fn wait_for(&mut self, lines: Backlog) {
        if let Some(process) = self.process() {
            process.waiting.append(lines);
        }
    }

    /// Sends a `position` line that the engine has to know, now or later.
    pub(super) fn send_position(&mut self, line: &[u8], is_looking: bool, out: &mut Out<'_>) {
        self.position_sent = true;
        if let Some(waiting) = self.waiting(is_looking) {
            waiting.put_position(line);
        } else if self.is_up() {
            out.engine(line.trim_ascii_end());
        }
    }

    /// The last `position` line is not sent before a `go` needs it: Stockfish 19 ends on an
    /// illegal one.
    pub(super) const fn withhold_position(&mut self) {
        self.position_sent = false;
    }

    /// Whether the engine has, or will get, the last `position` line.
    pub(super) const fn has_position(&self) -> bool {
        self.position_sent
    }

    /// Sends the last `position` line, if it was withheld: a `go` needs it now.
    pub(super) fn send_withheld(&mut self, line: &[u8], out: &mut Out<'_>) {
        // A starting engine gets it later.
        if self.is_up() && !self.position_sent && !line.is_empty() {
            self.send_position(line, false, out);
        }
    }

    // The end of a search.

    const fn ending(&self) -> Option<&Ending> {
        match &self.link {
            Link::Up(Process { ending, .. }) => ending.as_ref(),
            Link::Down { .. } | Link::Starting(_) => None,
        }
    }

    /// A search has to end whose `go` was sent then; `doubtful`: it has brought an answer that
    /// cannot be meant.
    pub(super) fn end_search(
        &mut self,
        now: Duration,
        went: Duration,
        doubtful: bool,
        out: &mut Out<'_>,
    ) {
        if let Some(process) = self.process() {
            let ending = process.ending.insert(Ending::new(now, went));
            if doubtful {
                ending.doubt(now);
            }
            self.due_stop(now, out);
        }
    }

    /// The search that has to end has brought an answer that cannot be meant.
    pub(super) fn doubt(&mut self, now: Duration, out: &mut Out<'_>) {
        if let Some(ending) = self.process().and_then(|process| process.ending.as_mut()) {
            ending.doubt(now);
            self.due_stop(now, out);
        }
    }

    /// A look whose `go` was sent then has ended by itself.
    pub(super) fn look_has_ended(&mut self, now: Duration, went: Duration, out: &mut Out<'_>) {
        if let Some(process) = self.process() {
            process.ending = Some(Ending::new(now, went));
            self.fence(out);
        }
    }

    /// Handles the `bestmove` of the search that has to end.
    pub(super) fn has_ended_search(&mut self, out: &mut Out<'_>) {
        if self.ending().is_some_and(Ending::is_answered) {
            self.fence(out);
        }
    }

    /// When the next `stop` is due.
    pub(super) fn stop_due(&self) -> Option<Duration> {
        self.ending()?.stop_due()
    }

    /// Sends the `stop` that is due.
    pub(super) fn due_stop(&mut self, now: Duration, out: &mut Out<'_>) {
        let ending = self.process().and_then(|process| process.ending.as_mut());
        if ending.is_some_and(|ending| ending.due_stop(now, out)) {
            self.fence(out);
        }
    }

    /// The search that has to end has ended; its output has not.
    fn fence(&mut self, out: &mut Out<'_>) {
        if let Link::Up(process) = &mut self.link
            && let Some(ending) = &mut process.ending
        {
            ending.fence();
            process.stray = None;
            self.ready.awaited.push_back(ReadyFor::Fence);
            out.engine(b"isready");
        }
    }

    /// How late the first `stop` of the search is that has to end.
    pub(super) fn first_stop_late(&self, now: Duration) -> Option<Duration> {
        self.ending()?.first_stop_late(now)
    }

    /// The time since which a search has to end.
    pub(super) fn ending_since(&self) -> Option<Duration> {
        self.ending().map(Ending::since)
    }

    // Its answers.

    /// Call this when a `go` is sent whose answer is for this position.
    pub(super) fn expect_answer(&mut self, position: Option<&Chess>) {
        let Some(process) = self.process() else {
            return;
        };
        let last = process.last_answer.take();
        process.stray = last
            .zip(position)
            .filter(|(word, position)| answers::is_foreign(word, position))
            .map(|(word, _)| word);
    }

    /// How long the next search of this engine may take to begin.
    pub(super) const fn time_to_begin(&self) -> Duration {
        match &self.link {
            Link::Up(process) => process.heard.limit(),
            Link::Down { .. } | Link::Starting(_) => Duration::ZERO,
        }
    }

    /// A search has shown that it has begun, so long after its `go`.
    pub(super) fn has_begun(&mut self, time: Duration) {
        if let Some(process) = self.process() {
            process.heard = process.heard.after_line(time);
        }
    }

    /// Whether an answer can only be that to the last search, printed again.
    pub(super) fn is_stray(&mut self, word: &[u8]) -> bool {
        let process = self.process();
        process.is_some_and(|process| process.stray.as_deref() == Some(word))
    }

    /// Remembers an answer, which may be printed again.
    pub(super) fn note_answer(&mut self, word: &[u8]) {
        if let Some(process) = self.process() {
            process.last_answer = Some(word.to_vec());
        }
    }

    /// The search for the GUI has ended with an answer that counts.
    pub(super) fn has_answered(&mut self, word: &[u8]) {
        self.note_answer(word);
        self.restarts.engine_answers();
        if let Some(process) = self.process() {
            process.heard = process.heard.after_answer();
        }
    }

    // `isready` and `readyok`.

    /// Handles an `isready` of the GUI; `waits`: it is sent after a `stop` that waits.
    pub(super) fn ask_ready(&mut self, now: Duration, waits: bool, out: &mut Out<'_>) {
        self.ready.awaited.push_back(ReadyFor::Gui);
        self.ready.since.get_or_insert(now);
        if self.is_up() && !waits {
            out.engine(b"isready");
        }
    }

    /// Whether the GUI waits for a `readyok`.
    pub(super) fn owes_ready(&self) -> bool {
        self.ready.awaited.contains(&ReadyFor::Gui)
    }

    /// Handles a `readyok` of the engine.
    pub(super) fn on_ready_ok(&mut self, now: Duration, out: &mut Out<'_>) -> ReadyOk {
        if let Some(process) = self.process() {
            process.silent = false;
        }
        match self.ready.awaited.pop_front() {
            Some(ReadyFor::Gui) => {
                self.ready.since = self.owes_ready().then_some(now);
                ReadyOk::OfGui
            }
            Some(ReadyFor::Fence) => self.end_of_fence(out),
            Some(ReadyFor::Answered) | None => ReadyOk::OfNobody,
        }
    }

    fn end_of_fence(&mut self, out: &mut Out<'_>) -> ReadyOk {
        match self.process() {
            Some(process) if process.ending.as_ref().is_some_and(Ending::is_fenced) => {
                process.ending = None;
                std::mem::take(&mut process.waiting).send(out);
                ReadyOk::Free
            }
            _ => ReadyOk::OfNobody,
        }
    }

    /// How many `isready` of the GUI wait: they are answered without the engine.
    pub(super) fn answer_ready(&mut self) -> usize {
        self.ready.since = None;
        let mut count = 0;
        for reason in &mut self.ready.awaited {
            if *reason == ReadyFor::Gui {
                *reason = ReadyFor::Answered;
                count += 1;
            }
        }
        count
    }

    /// The GUI need not wait for this engine to answer `isready`.
    pub(super) fn mark_silent(&mut self) {
        if let Some(process) = self.process() {
            process.silent = true;
        }
    }

    /// When the GUI has waited long enough for the `readyok` of an engine that may not be
    /// needed.
    pub(super) fn ready_due(&self) -> Option<Duration> {
        let limit = self.profile().filter(|_| self.is_up())?.start_timeout;
        Some(self.ready.since?.saturating_add(limit))
    }

    /// The `readyok` has no limit any more.
    pub(super) const fn wait_for_ready(&mut self) {
        self.ready.since = None;
    }

    /// Adds a time in which the engine's output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let Some(ending) = self.process().and_then(|process| process.ending.as_mut()) {
            ending.hold_up(time);
        }
        self.ready.since = self.ready.since.map(|since| since.saturating_add(time));
    }

    /// The engine has answered something: its options have not killed it.
    pub(super) fn mark_alive(&mut self) {
        if let Some(process) = self.process() {
            process.options_unanswered = false;
        }
    }

    // Its options.

    /// Why the engine is set to analyse, if it is.
    pub(super) const fn analysis(&self) -> Option<Analysis> {
        self.options.analysis()
    }

    /// Notes an option of the engine, unless the value is certainly wrong; returns the line to
    /// send.
    pub(super) fn set_option<'a>(
        &mut self,
        line: &'a [u8],
        option: &SetOption,
        out: &mut Out<'_>,
    ) -> Option<Cow<'a, [u8]>> {
        if self.options.is_left_out(&option.name) {
            return None;
        }
        // A starting engine has declared nothing yet: the option is checked later.
        if let Some(wrong) = self.declared.option_error(option, true) {
            self.leave_out(&wrong, out);
            return None;
        }
        let expected = self.declared.line_to_set(option);
        let noted = expected.as_deref().unwrap_or(line).trim_ascii();
        let value = match gui::parse(noted) {
            GuiCommand::SetOption(option) => option.value,
            _ => option.value.clone(),
        };
        self.options.note(&option.name, value.as_deref(), noted);
        Some(expected.map_or(Cow::Borrowed(line), Cow::Owned))
    }

    /// Handles an option of the engine that it does not know, and Tabia does.
    pub(super) fn set_mode(&mut self, name: &str, value: &[u8]) {
        self.options.apply(name, value);
    }

    /// Whether the engine has an option of this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.declared.option(name).is_some()
    }

    /// The name of the engine's option that the GUI knows by this name with a prefix.
    pub(super) fn without_prefix(&self, name: &str) -> Option<String> {
        self.declared.without_prefix(name).map(str::to_owned)
    }

    /// The name by which the GUI can switch off the engine's own book, which is on.
    pub(super) fn own_book(&self) -> Option<String> {
        let name = self.declared.own_book()?;
        let is_set = self.options.line(name).is_some();
        (!is_set).then(|| Declaration::announced_name(name))
    }

    /// Whether it can print several variations.
    pub(super) fn can_compare(&self) -> bool {
        let most = |option: &EngineOption| option.field("max")?.parse::<i64>().ok();
        let option = self.declared.option(MULTI_PV);
        // XBoard engines behind an adapter declare the option with a maximum of 1.
        option.is_some_and(|option| most(option).is_none_or(|most| most >= 2))
    }

    /// Whether the GUI wants the chances of a win, a draw and a loss with each score.
    pub(super) const fn shows_wdl(&self) -> bool {
        self.options.show_wdl()
    }

    /// The line that has it print two variations.
    pub(super) fn two_variations() -> Vec<u8> {
        message::set_option(MULTI_PV, Some("2")).into_bytes()
    }

    /// The line that restores the `MultiPV` that the GUI has set.
    pub(super) fn as_many_variations(&self) -> Vec<u8> {
        let known = self.options.line(MULTI_PV).map(<[u8]>::to_vec);
        known.unwrap_or_else(|| message::set_option(MULTI_PV, Some("1")).into_bytes())
    }

    /// Whether an option is not sent to the engine, because it dies of it.
    #[cfg(test)]
    pub(super) fn leaves_out(&self, name: &str) -> bool {
        self.options.is_left_out(name)
    }
}

#[cfg(test)]
pub(super) mod tests;
