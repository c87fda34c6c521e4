//! The engine: its process, its introduction, and what it is doing.
//!
//! | event | down | starting | idle | searching for the GUI | background search | ending a search |
//! |---|---|---|---|---|---|---|
//! | a line for it | lost | waits if nobody else remembers it | sent | sent | waits | waits |
//! | `position` | lost | lost | sent | sent | waits, and replaces one | the same |
//! | `go` | lost | lost | searching | (only after `perft`) searching | waits | waits |
//! | `stop`, `ponderhit` | - | - | - | sent when it has [begun](beginning) | for the `go` that waits | the same |
//! | a background search | - | - | background search | - | - | - |
//! | it has to end | - | - | - | ending | ending | ending |
//! | `bestmove` | - | - | - | idle | ending: fenced | ending: fenced |
//! | a doubtful answer | - | - | - | ending: doubtful | ending: doubtful | ending: doubtful |
//! | `readyok` after the fence | - | - | - | - | - | what waits is sent; searching, or idle |
//! | it is lost | - | lost | lost | lost | lost | lost |
//! | `uciok` | - | its options are tried, or idle | - | - | - | - |
//!
//! An engine that is lost is started again, or replaced, or there is none, within the same
//! event.
//!
//! # Background searches
//!
//! A background search is one that the GUI does not know of: it warms the engine up, or
//! checks a book move that is held. It begins when the engine is idle; a part that wants one
//! waits for that. Such a search, and one that a new `go` has replaced, has to end before
//! anything else is sent to the engine, and none of its output may be taken for an answer
//! to a later command:
//!
//! 1. `stop` is sent, at least [`PAUSE`] after its `go`: engines lose a `stop` that
//!    follows at once, because they begin to search in another thread. As it may be lost
//!    anyway, it is repeated.
//! 2. After its `bestmove` Tabia sends an `isready`, the fence. All output before the
//!    `readyok`, also a second `bestmove`, belongs to the background search.
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
mod backlog;
mod beginning;
mod child;
mod restarts;
mod start;

use std::collections::VecDeque;
use std::time::Duration;

use shakmaty::Chess;

use super::out::Out;
use super::{Analysis, Engines, Profile};
pub(super) use answers::{Answer, shown, unsound};
use backlog::Backlog;
use beginning::{Beginning, Heard, shows_search};
pub use child::ANALYSE_MODE;
pub(super) use child::OPPONENT;
use child::{ChildOptions, Declaration};
use restarts::Restarts;
pub(super) use start::{Introduced, Loss, TimeOver, Trial};
use tabia_uci::engine::EngineOption;
use tabia_uci::gui::{self, GuiCommand, SetOption};
use tabia_uci::message;

/// Shortest time between a `go` and a `stop` that the GUI has not sent.
const PAUSE: Duration = Duration::from_millis(50);

/// When a `stop` is repeated that was sent to an engine that had printed nothing about its
/// search. Not sooner: an engine that has just moved calls the second one an unknown command
/// (Glaurung 2.2), and the program gets that line.
const REPEAT_BLIND: Duration = Duration::from_secs(1);

/// Shortest time until a `stop` is repeated; it grows each time.
const REPEAT: Duration = Duration::from_millis(200);

/// The option by which an engine prints several variations.
const MULTI_PV: &str = "MultiPV";

/// What the engine is doing.
#[derive(Debug)]
enum State {
    /// There is no engine. The one with this index has died too often while idle: it is
    /// tried again when it is to search.
    Down { given_up: Option<usize> },
    /// It has been lost in this step, and another one has not been found yet.
    Lost(Lost),
    /// It has been requested, and has not introduced itself yet.
    Starting(Starting),
    /// It has introduced itself, and does this.
    Up(Process, Work),
}

impl Default for State {
    fn default() -> State {
        State::Down { given_up: None }
    }
}

/// What is left of an engine that has been lost.
#[derive(Debug)]
struct Lost {
    index: usize,
    /// How it was starting, if it was.
    start: Option<Patience>,
    /// All its options had been sent, and it had not answered since.
    options_unanswered: bool,
    /// The option that it got last, if these were sent one by one.
    tried: Option<Vec<u8>>,
    backlog: Backlog,
}

/// An engine that starts.
#[derive(Debug)]
struct Starting {
    index: usize,
    patience: Patience,
    phase: Phase,
    backlog: Backlog,
}

/// How long an engine may take to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// As long as its profile allows.
    First,
    /// It has not introduced itself in that time, and has got the same time again.
    Second,
}

/// How far an engine is that starts.
#[derive(Debug)]
enum Phase {
    /// It does not run yet.
    Requested,
    /// It has got `uci`.
    Introducing,
    /// It gets its options one by one: those that it has got, the last of which it has
    /// not answered yet.
    Trying(Vec<Vec<u8>>),
}

/// An engine that has introduced itself.
#[derive(Debug)]
struct Process {
    index: usize,
    /// Its `readyok` took so long that Tabia has answered the GUI instead.
    silent: bool,
    /// All its options have been sent, and it has not answered since.
    options_unanswered: bool,
    /// The move by which it has ended its last search.
    last_answer: Option<Vec<u8>>,
    /// That move, if it is illegal in the position of the present search: some engines
    /// print it a second time.
    stray: Option<Vec<u8>>,
    /// Whether its searches show when they begin.
    heard: Heard,
}

/// What an engine does that has introduced itself.
#[derive(Debug, Default)]
enum Work {
    /// It waits for commands.
    #[default]
    Idle,
    /// It searches for the GUI, since its `go` was sent; its `stop` may be repeated.
    Searching {
        went: Duration,
        beginning: Beginning,
        stop_again: Option<Duration>,
    },
    /// It makes a background search, since its `go` was sent; these lines wait for its end.
    Background { went: Duration, backlog: Backlog },
    /// It has to end a search before anything else is sent to it.
    Ending(Ending),
}

impl Work {
    /// The lines that wait for its end.
    fn into_backlog(self) -> Backlog {
        match self {
            Work::Idle => Backlog::default(),
            Work::Searching { mut beginning, .. } => beginning.end(),
            Work::Background { backlog, .. } | Work::Ending(Ending { backlog, .. }) => backlog,
        }
    }
}

/// The end of a search.
#[derive(Debug)]
struct Ending {
    /// When its `go` was sent.
    went: Duration,
    /// Since when it has to end.
    since: Duration,
    stage: Stage,
    /// The lines that wait for its end.
    backlog: Backlog,
}

/// How far the end of a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The next `stop` is sent at this time; one has been `sent` already, or not.
    Stopping { next: Duration, sent: bool },
    /// The search may have ended: after the `stop` of this time it counts as ended.
    Doubtful { next: Duration },
    /// It has ended; the engine has still to send `readyok`.
    Fenced,
}

/// The purpose of an `isready` that the engine has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadyFor {
    Gui,
    /// Tabia's own `isready` after a background search.
    Fence,
    /// An `isready` of the GUI that Tabia has answered already.
    Answered,
}

/// The `readyok`s that are due.
#[derive(Debug, Default)]
struct Ready {
    /// The purpose of each, in order.
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
    /// One by one, because the last engine may have died of one.
    OneByOne,
}

/// What a `readyok` of the engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadyOk {
    /// The answer to an `isready` of the GUI.
    OfGui,
    /// The end of a background search: the lines that have waited have been sent.
    Free,
    /// Nobody waits for it.
    OfNobody,
}

/// How the engine hears lines now, and how its own are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// There is none, or it does not run yet: a line can only be of the one before.
    Nobody,
    /// It introduces itself.
    Introduction,
    /// It gets its options one by one.
    Trial,
    /// It can do whatever it is asked.
    Service,
}

/// Whether the engine can check a book move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// There is none.
    Down,
    Starting,
    /// It does not answer `isready`.
    Silent,
    Up,
}

/// The engine as this session sees it.
#[derive(Debug, Default)]
pub(super) struct Engine {
    engines: Engines,
    state: State,
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

    // What it is doing.

    pub(super) const fn hearing(&self) -> Hearing {
        match &self.state {
            State::Down { .. } | State::Lost(_) => Hearing::Nobody,
            State::Starting(starting) => match starting.phase {
                Phase::Requested => Hearing::Nobody,
                Phase::Introducing => Hearing::Introduction,
                Phase::Trying(_) => Hearing::Trial,
            },
            State::Up(..) => Hearing::Service,
        }
    }

    pub(super) const fn readiness(&self) -> Readiness {
        match &self.state {
            State::Down { .. } | State::Lost(_) => Readiness::Down,
            State::Starting(_) => Readiness::Starting,
            State::Up(Process { silent: true, .. }, _) => Readiness::Silent,
            State::Up(..) => Readiness::Up,
        }
    }

    pub(super) const fn is_down(&self) -> bool {
        matches!(self.state, State::Down { .. } | State::Lost(_))
    }

    pub(super) const fn is_starting(&self) -> bool {
        matches!(self.state, State::Starting(_))
    }

    pub(super) const fn is_up(&self) -> bool {
        matches!(self.state, State::Up(..))
    }

    /// It can begin a background search.
    pub(super) const fn is_idle(&self) -> bool {
        matches!(self.state, State::Up(_, Work::Idle))
    }

    /// It makes a background search that does not have to end yet.
    pub(super) const fn is_in_background(&self) -> bool {
        matches!(self.state, State::Up(_, Work::Background { .. }))
    }

    /// Its output is not for the GUI: it makes a background search, or ends a search.
    pub(super) const fn is_hidden(&self) -> bool {
        self.is_in_background() || matches!(self.state, State::Up(_, Work::Ending(_)))
    }

    /// An engine has introduced itself in this session.
    pub(super) const fn was_up(&self) -> bool {
        self.was_up
    }

    /// Bytes of the lines that wait for it.
    pub(super) const fn backlog(&self) -> usize {
        match &self.state {
            State::Starting(Starting { backlog, .. })
            | State::Up(_, Work::Background { backlog, .. })
            | State::Up(_, Work::Ending(Ending { backlog, .. })) => backlog.bytes(),
            State::Up(_, Work::Searching { beginning, .. }) => match beginning.held() {
                Some(held) => held.bytes(),
                None => 0,
            },
            _ => 0,
        }
    }

    /// Its profile; that of the first engine while there is none.
    pub(super) fn profile(&self) -> Option<&Profile> {
        let index = match &self.state {
            State::Down { .. } => 0,
            State::Lost(Lost { index, .. })
            | State::Starting(Starting { index, .. })
            | State::Up(Process { index, .. }, _) => *index,
        };
        self.engines.profiles.get(index)
    }

    const fn process(&mut self) -> Option<&mut Process> {
        match &mut self.state {
            State::Up(process, _) => Some(process),
            State::Down { .. } | State::Lost(_) | State::Starting(_) => None,
        }
    }

    /// The lines that wait for the end of a search, or for the beginning of one that is to
    /// end.
    const fn waiting(&mut self) -> Option<&mut Backlog> {
        match &mut self.state {
            State::Up(_, Work::Background { backlog, .. })
            | State::Up(_, Work::Ending(Ending { backlog, .. })) => Some(backlog),
            State::Up(_, Work::Searching { beginning, .. }) => beginning.held_mut(),
            _ => None,
        }
    }

    // Lines for it.

    /// A line for the engine: now, or when it can take it.
    pub(super) fn send(&mut self, line: &[u8], out: &mut Out<'_>) {
        if let Some(backlog) = self.waiting() {
            return backlog.put(line);
        }
        match &mut self.state {
            // A starting engine gets its lines later, from the state of the session;
            // lines that are not part of that state are stored here.
            State::Starting(starting) if is_unremembered(line) => starting.backlog.put(line),
            State::Down { .. } | State::Lost(_) | State::Starting(_) => {}
            State::Up(..) => out.engine(line.trim_ascii_end()),
        }
    }

    /// A `position` line that it has to know.
    pub(super) fn send_position(&mut self, line: &[u8], out: &mut Out<'_>) {
        self.position_sent = true;
        self.repeat_position(line, out);
    }

    /// The same line once more.
    pub(super) fn repeat_position(&mut self, line: &[u8], out: &mut Out<'_>) {
        if let Some(backlog) = self.waiting() {
            backlog.put_position(line);
        } else if self.is_up() {
            out.engine(line.trim_ascii_end());
        }
    }

    /// A `position` line that it gets only if it has to search there: current Stockfish
    /// ends on an illegal one.
    pub(super) const fn withhold_position(&mut self) {
        self.position_sent = false;
    }

    /// Whether it has, or will get, the last `position` line.
    pub(super) const fn has_position(&self) -> bool {
        self.position_sent
    }

    /// The last `position` line, if it was withheld and is needed now.
    pub(super) fn send_withheld(&mut self, line: &[u8], out: &mut Out<'_>) {
        // A starting engine gets it later.
        if self.is_up() && !self.position_sent && !line.is_empty() {
            self.send_position(line, out);
        }
    }

    /// The `go` of a search for the GUI.
    pub(super) fn send_go(&mut self, now: Duration, line: &[u8], out: &mut Out<'_>) {
        if let Some(backlog) = self.waiting() {
            return backlog.put_go(line);
        }
        let State::Up(process, work) = &mut self.state else {
            return;
        };
        *work = Work::Searching {
            went: now,
            beginning: Beginning::new(now, process.heard, Backlog::default()),
            stop_again: None,
        };
        out.engine(line.trim_ascii_end());
    }

    /// Ends the search that the GUI waits for, when it has begun.
    pub(super) fn stop(&mut self, now: Duration, out: &mut Out<'_>) {
        self.tell_search(now, b"stop", out);
    }

    /// The opponent has played the move on which the engine ponders: it gets to know that
    /// when its search has begun.
    pub(super) fn ponder_hit(&mut self, now: Duration, out: &mut Out<'_>) {
        self.tell_search(now, b"ponderhit", out);
    }

    fn tell_search(&mut self, now: Duration, word: &'static [u8], out: &mut Out<'_>) {
        let State::Up(_, work) = &mut self.state else {
            return;
        };
        match work {
            Work::Idle => {}
            Work::Searching { beginning, .. } => beginning.tell(now, word, out),
            Work::Background { backlog, .. } | Work::Ending(Ending { backlog, .. }) => {
                if backlog.has_go() {
                    backlog.put_for_search(word);
                }
            }
        }
    }

    /// Handles an `info` line of the search that the GUI waits for: what has waited until the
    /// search has begun is sent.
    pub(super) fn receive(&mut self, now: Duration, info: &[u8], out: &mut Out<'_>) {
        if let State::Up(
            process,
            Work::Searching {
                went, beginning, ..
            },
        ) = &mut self.state
            && matches!(beginning, Beginning::Awaited { .. })
            && shows_search(info)
        {
            process.heard = process.heard.after_line(now.saturating_sub(*went));
            beginning.end().send(out);
        }
    }

    // Searches.

    /// Begins a background search; the engine has to be idle.
    pub(super) fn search_in_background(&mut self, now: Duration, go: &[u8], out: &mut Out<'_>) {
        debug_assert!(self.is_idle(), "a background search beside another");
        if let State::Up(_, work) = &mut self.state {
            *work = Work::Background {
                went: now,
                backlog: Backlog::default(),
            };
        }
        out.engine(go.trim_ascii_end());
    }

    /// A background search has to end.
    pub(super) fn end_background(&mut self, now: Duration, out: &mut Out<'_>) {
        if self.is_in_background() {
            self.end_search(now, false, out);
        }
    }

    /// The search that the GUI waited for has to end, because another one replaces it.
    pub(super) fn abandon(&mut self, now: Duration, out: &mut Out<'_>) {
        let had_not_begun = self.waiting().is_some_and(Backlog::remove_go);
        if !had_not_begun {
            self.end_search(now, false, out);
        }
    }

    /// The engine has answered what cannot be the answer to its search, which it may still
    /// make.
    pub(super) fn doubt(&mut self, now: Duration, out: &mut Out<'_>) {
        if self.stage() != Some(Stage::Fenced) {
            self.end_search(now, true, out);
        }
    }

    fn end_search(&mut self, now: Duration, doubtful: bool, out: &mut Out<'_>) {
        let State::Up(_, work) = &mut self.state else {
            return;
        };
        let (went, since, backlog) = match std::mem::take(work) {
            Work::Searching {
                went,
                mut beginning,
                ..
            } => {
                beginning.end().send_after_search(out);
                (went, now, Backlog::default())
            }
            Work::Background { went, backlog } => (went, now, backlog),
            Work::Ending(ending) if doubtful => (ending.went, ending.since, ending.backlog),
            other => {
                *work = other;
                return;
            }
        };
        let next = went.saturating_add(PAUSE).max(now);
        *work = Work::Ending(Ending {
            went,
            since,
            stage: match doubtful {
                true => Stage::Doubtful { next },
                false => Stage::Stopping { next, sent: false },
            },
            backlog,
        });
        self.due_stop(now, out);
    }

    const fn ending(&self) -> Option<&Ending> {
        match &self.state {
            State::Up(_, Work::Ending(ending)) => Some(ending),
            _ => None,
        }
    }

    fn stage(&self) -> Option<Stage> {
        self.ending().map(|ending| ending.stage)
    }

    /// When the next `stop` is due.
    pub(super) fn stop_due(&self) -> Option<Duration> {
        match (&self.state, self.stage()) {
            (
                State::Up(
                    _,
                    Work::Searching {
                        beginning,
                        stop_again,
                        ..
                    },
                ),
                _,
            ) => beginning.due().or(*stop_again),
            (_, Some(Stage::Stopping { next, .. } | Stage::Doubtful { next })) => Some(next),
            _ => None,
        }
    }

    /// Sends the `stop` that is due.
    pub(super) fn due_stop(&mut self, now: Duration, out: &mut Out<'_>) {
        if self.stop_due().is_none_or(|due| due > now) {
            return;
        }
        match &mut self.state {
            State::Up(
                _,
                Work::Searching {
                    beginning,
                    stop_again,
                    ..
                },
            ) => {
                let held = beginning.end();
                let again = now.saturating_add(REPEAT_BLIND);
                *stop_again = held.stops().then_some(again);
                match held.is_empty() {
                    true => out.engine(b"stop"),
                    false => held.send(out),
                }
            }
            State::Up(_, Work::Ending(ending)) => match &mut ending.stage {
                Stage::Stopping { next, sent } => {
                    out.engine(b"stop");
                    let pause = now.saturating_sub(ending.since).max(REPEAT);
                    *next = now.saturating_add(pause);
                    *sent = true;
                }
                Stage::Doubtful { .. } => {
                    out.engine(b"stop");
                    self.fence(out);
                }
                Stage::Fenced => {}
            },
            _ => {}
        }
    }

    /// The search that has to end has ended; its output has not.
    fn fence(&mut self, out: &mut Out<'_>) {
        let State::Up(process, Work::Ending(ending)) = &mut self.state else {
            return;
        };
        debug_assert_ne!(ending.stage, Stage::Fenced, "two fences");
        ending.stage = Stage::Fenced;
        process.stray = None;
        self.ready.awaited.push_back(ReadyFor::Fence);
        out.engine(b"isready");
    }

    /// How late the first `stop` of a search is that has to end.
    pub(super) fn first_stop_late(&self, now: Duration) -> Option<Duration> {
        match self.stage()? {
            Stage::Stopping { next, sent: false } | Stage::Doubtful { next } => {
                now.checked_sub(next)
            }
            Stage::Stopping { sent: true, .. } | Stage::Fenced => None,
        }
    }

    /// The time since which a search has to end.
    pub(super) fn ending_since(&self) -> Option<Duration> {
        self.ending().map(|ending| ending.since)
    }

    /// A search for the GUI may end without an answer (`perft`): nothing waits for one.
    pub(super) fn forget_search(&mut self, out: &mut Out<'_>) {
        let State::Up(_, work) = &mut self.state else {
            return;
        };
        match work {
            Work::Idle => {}
            Work::Searching { beginning, .. } => {
                beginning.end().send_after_search(out);
                *work = Work::Idle;
            }
            Work::Background { backlog, .. } | Work::Ending(Ending { backlog, .. }) => {
                backlog.forget_go();
            }
        }
    }

    // Its answers.

    /// Call this before the engine begins to search here.
    pub(super) fn expect_answer(&mut self, position: Option<&Chess>) {
        if self.is_hidden() {
            return;
        }
        let Some(process) = self.process() else {
            return;
        };
        let last = process.last_answer.take();
        process.stray = last
            .zip(position)
            .filter(|(word, position)| answers::is_foreign(word, position))
            .map(|(word, _)| word);
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
    pub(super) fn has_answered(&mut self, word: &[u8], out: &mut Out<'_>) {
        self.note_answer(word);
        self.restarts.engine_answers();
        if let Some(process) = self.process() {
            process.heard = process.heard.after_answer();
        }
        self.forget_search(out);
    }

    /// Handles the `bestmove` of a search that the GUI does not know of.
    pub(super) fn on_hidden_answer(&mut self, now: Duration, out: &mut Out<'_>) {
        // It may end by itself.
        if let State::Up(_, work) = &mut self.state
            && let Work::Background { went, backlog } = work
        {
            *work = Work::Ending(Ending {
                went: *went,
                since: now,
                stage: Stage::Stopping {
                    next: now,
                    sent: false,
                },
                backlog: std::mem::take(backlog),
            });
        }
        match self.stage() {
            Some(Stage::Stopping { .. }) => self.fence(out),
            // A second `bestmove` of the same search, or one that is doubtful as well.
            Some(Stage::Doubtful { .. } | Stage::Fenced) | None => {}
        }
    }

    // `isready` and `readyok`.

    /// Handles an `isready` of the GUI.
    pub(super) fn ask_ready(&mut self, now: Duration, out: &mut Out<'_>) {
        self.ready.awaited.push_back(ReadyFor::Gui);
        self.ready.since.get_or_insert(now);
        // It must not overtake a `stop`.
        if let State::Up(_, Work::Searching { beginning, .. }) = &mut self.state
            && let Some(held) = beginning.held_mut()
        {
            held.put(b"isready");
        } else if self.is_up() {
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
            Some(ReadyFor::Fence) => self.end_of_fence(now, out),
            Some(ReadyFor::Answered) | None => ReadyOk::OfNobody,
        }
    }

    fn end_of_fence(&mut self, now: Duration, out: &mut Out<'_>) -> ReadyOk {
        if self.stage() != Some(Stage::Fenced) {
            return ReadyOk::OfNobody;
        }
        let State::Up(process, work) = &mut self.state else {
            return ReadyOk::OfNobody;
        };
        if let Some(held) = std::mem::take(work).into_backlog().flush(out) {
            *work = Work::Searching {
                went: now,
                beginning: Beginning::new(now, process.heard, held),
                stop_again: None,
            };
        }
        ReadyOk::Free
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

    /// There is no limit for its `readyok` any more.
    pub(super) const fn wait_for_ready(&mut self) {
        self.ready.since = None;
    }

    /// Adds a time in which the engine's output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let State::Up(_, Work::Ending(ending)) = &mut self.state {
            ending.since = ending.since.saturating_add(time);
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

    /// Sets an option of the engine, unless the value is certainly wrong.
    pub(super) fn set_option(&mut self, line: &[u8], option: &SetOption, out: &mut Out<'_>) {
        if self.options.is_left_out(&option.name) {
            return;
        }
        // A starting engine has declared nothing yet: the option is checked later.
        if let Some(wrong) = self.declared.option_error(option, true) {
            return self.leave_out(&wrong, out);
        }
        let expected = self.declared.line_to_set(option);
        let noted = expected.as_deref().unwrap_or(line).trim_ascii();
        let value = match gui::parse(noted) {
            GuiCommand::SetOption(option) => option.value,
            _ => option.value.clone(),
        };
        self.options.note(&option.name, value.as_deref(), noted);
        match expected {
            Some(expected) => self.send(&expected, out),
            None => self.send(line, out),
        }
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

    /// Has it print two variations.
    pub(super) fn compare(&mut self, out: &mut Out<'_>) {
        let line = message::set_option(MULTI_PV, Some("2"));
        self.send(line.as_bytes(), out);
    }

    /// Restores the `MultiPV` that the GUI has set.
    pub(super) fn end_comparison(&mut self, out: &mut Out<'_>) {
        let known = self.options.line(MULTI_PV).map(<[u8]>::to_vec);
        let line = known.unwrap_or_else(|| message::set_option(MULTI_PV, Some("1")).into_bytes());
        self.send(&line, out);
    }

    // Invariants.

    /// What must hold between two events, and what must not.
    pub(super) fn check_state(&self, is_searched_for: bool) {
        debug_assert!(
            !matches!(self.state, State::Lost(_)),
            "nobody has replaced a lost engine"
        );
        let is_made = match &self.state {
            State::Up(_, Work::Idle) => Some(false),
            State::Up(_, Work::Searching { .. }) => Some(true),
            State::Up(_, Work::Background { backlog, .. })
            | State::Up(_, Work::Ending(Ending { backlog, .. })) => Some(backlog.has_go()),
            State::Down { .. } | State::Lost(_) | State::Starting(_) => None,
        };
        debug_assert!(
            is_made.is_none_or(|is_made| is_made == is_searched_for),
            "the GUI waits for a search that nobody makes, or the other way round: {:?}",
            self.state
        );
        let fences = self.ready.awaited.iter();
        let fences = fences.filter(|reason| **reason == ReadyFor::Fence).count();
        debug_assert!(
            fences <= 1 || !self.is_up(),
            "more than one search is being ended"
        );
    }

    /// Whether an option is not sent to the engine, because it dies of it.
    #[cfg(test)]
    pub(super) fn leaves_out(&self, name: &str) -> bool {
        self.options.is_left_out(name)
    }
}

/// Whether the session does not store this line for a restarted engine: non-UCI commands,
/// and buttons.
fn is_unremembered(line: &[u8]) -> bool {
    match gui::parse(line) {
        GuiCommand::Other => true,
        GuiCommand::SetOption(option) => option.value.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
