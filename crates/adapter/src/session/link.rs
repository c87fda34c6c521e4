//! The link to the engine: its state, the lines sent to it, the answers it has still to
//! send, and the lines that wait for it.
//!
//! # Background searches
//!
//! A background search is one that the GUI does not know of: it warms the engine up,
//! checks a book move that is held, or was replaced by a new `go`. Such a search has to
//! end before anything else is sent to the engine, and none of its output may be taken
//! for an answer to a later command:
//!
//! 1. `stop` is sent, at least [`PAUSE`] after its `go`: engines lose a `stop` that
//!    follows at once, because they begin to search in another thread. As it may be lost
//!    anyway, it is repeated.
//! 2. After its `bestmove` Tabia sends an `isready`. All output before the `readyok`,
//!    also a second `bestmove`, belongs to the background search.
//! 3. Only then are the waiting lines sent.

use std::collections::VecDeque;
use std::time::Duration;

use super::Outlet;
use super::child::{ChildOptions, Hello};
use super::restarts::Restarts;
use tabia_uci::gui::{self, GuiCommand};

/// Shortest time between a `go` and a `stop` that the GUI has not sent.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// Shortest time until a `stop` is repeated; it grows each time.
const REPEAT: Duration = Duration::from_millis(200);

/// State of the child engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Engine {
    /// The engine has been requested; no `uciok` yet.
    Starting { index: usize, late: bool },
    /// Ready for commands.
    Up { index: usize },
    /// There is no engine.
    #[default]
    None,
}

/// The state of a background search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Background {
    #[default]
    None,
    /// The search goes on while a book move is held.
    Warming,
    /// The search has to end, `since` this time. The next `stop` is sent at the time
    /// `stop`; `stop_sent` means that one has been sent already. A `doubtful` search may
    /// have ended: it counts as ended after the first `stop`.
    Ending {
        since: Duration,
        stop: Duration,
        stop_sent: bool,
        doubtful: bool,
    },
    /// The search has ended; the engine has still to send `readyok`.
    Ended { since: Duration },
}

/// The purpose of an `isready` that the engine has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Gui,
    /// Tabia's own `isready` after a background search.
    Fence,
    /// An `isready` of the GUI that Tabia has answered already.
    Answered,
}

/// A line that waits until a background search has ended.
#[derive(Debug)]
struct Outgoing {
    kind: Kind,
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Position,
    Go,
    Other,
}

/// The state of the engine as this session sees it.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) state: Engine,
    /// The process runs.
    pub(super) runs: bool,
    /// An engine has sent `uciok` in this session.
    pub(super) was_up: bool,
    pub(super) restarts: Restarts,
    /// The engine that has died too often while idle.
    pub(super) given_up: Option<usize>,
    /// The name of the engine that the built-in one replaces.
    pub(super) stands_in_for: Option<String>,
    pub(super) hello: Hello,
    pub(super) options: ChildOptions,
    background: Background,
    outbound: VecDeque<Outgoing>,
    /// Bytes in `outbound`.
    pub(super) backlog: usize,
    /// A `stop` has to be sent after the `go` in `outbound`.
    stop_waits: bool,
    /// When the last `go` was sent to it.
    went: Option<Duration>,
    /// When the `stop` of a search that the GUI waits for is repeated.
    stop_again: Option<Duration>,
    /// The purpose of each `readyok` that is still due, in order.
    ready: VecDeque<Asker>,
    /// When the GUI asked for the `readyok` that it waits for; `None` if it waits for
    /// none, or if there is no limit.
    pub(super) ready_since: Option<Duration>,
    /// Its `readyok` took so long that Tabia has answered the GUI instead.
    pub(super) silent: bool,
    /// All its options have been sent, and it has not answered since.
    pub(super) options_unanswered: bool,
    /// The engine before it ended then: this one gets its options one by one.
    pub(super) tries_options: bool,
    /// The options that were sent one by one; the last is not answered yet. `None` at
    /// other times.
    pub(super) tried: Option<Vec<Vec<u8>>>,
    /// The last `position` line has been sent to it.
    pub(super) position_sent: bool,
    /// The move by which it has ended its last search.
    pub(super) last_answer: Option<Vec<u8>>,
    /// That move, if it is illegal in the position of the present search: some engines
    /// print it a second time.
    pub(super) stray: Option<Vec<u8>>,
}

impl Link {
    pub(super) const fn is_starting(&self) -> bool {
        matches!(self.state, Engine::Starting { .. })
    }

    /// The GUI has not got `uciok` yet, because no engine has started.
    pub(super) const fn is_unknown(&self) -> bool {
        !self.was_up && matches!(self.state, Engine::Starting { late: false, .. })
    }

    /// The engine has not started in the time that its profile gives it.
    pub(super) const fn is_late(&self) -> bool {
        matches!(self.state, Engine::Starting { late: true, .. })
    }

    pub(super) const fn is_up(&self) -> bool {
        matches!(self.state, Engine::Up { .. })
    }

    /// The engine makes, or ends, a background search.
    pub(super) fn searches_in_background(&self) -> bool {
        self.background != Background::None
    }

    /// It makes a background search that does not have to end yet.
    pub(super) fn is_warming(&self) -> bool {
        self.background == Background::Warming
    }

    // Sending lines.

    /// Sends a line, now or when a background search has ended.
    pub(super) fn send(&mut self, line: &[u8], out: &mut dyn Outlet) {
        match self.state {
            Engine::Up { .. } if !self.searches_in_background() => {
                out.engine(line.trim_ascii_end())
            }
            Engine::Up { .. } => self.put(Kind::Other, line),
            // A starting engine gets its lines later, from the state of the session;
            // lines that are not part of that state are stored here.
            Engine::Starting { .. } if is_unremembered(line) => self.put(Kind::Other, line),
            Engine::None | Engine::Starting { .. } => {}
        }
    }

    /// Sends a `position` line; it replaces one that still waits.
    pub(super) fn send_position(&mut self, line: &[u8], out: &mut dyn Outlet) {
        if !self.is_up() || !self.searches_in_background() {
            return self.send_if_up(line, out);
        }
        if let Some(last) = self.outbound.back()
            && last.kind == Kind::Position
        {
            self.backlog -= last.line.len();
            self.outbound.pop_back();
        }
        self.put(Kind::Position, line);
    }

    /// Sends a `go` line.
    pub(super) fn send_go(&mut self, now: Duration, line: &[u8], out: &mut dyn Outlet) {
        if self.is_up() && self.searches_in_background() {
            self.stop_waits = false;
            return self.put(Kind::Go, line);
        }
        self.went = Some(now);
        self.send_if_up(line, out);
    }

    fn send_if_up(&self, line: &[u8], out: &mut dyn Outlet) {
        if self.is_up() {
            out.engine(line.trim_ascii_end());
        }
    }

    /// Ends the search that the GUI waits for. `stop` is repeated if the search has only
    /// just begun.
    pub(super) fn send_stop(&mut self, now: Duration, out: &mut dyn Outlet) {
        if !self.is_up() {
            return;
        }
        if self.searches_in_background() {
            self.stop_waits = true;
            return;
        }
        out.engine(b"stop");
        let earliest = self.went.map(|went| went.saturating_add(PAUSE));
        self.stop_again = earliest.filter(|at| *at > now);
    }

    fn put(&mut self, kind: Kind, line: &[u8]) {
        let line = line.trim_ascii_end().to_vec();
        self.backlog += line.len();
        self.outbound.push_back(Outgoing { kind, line });
    }

    /// Sends the waiting lines.
    pub(super) fn flush(&mut self, now: Duration, out: &mut dyn Outlet) {
        while let Some(next) = self.outbound.pop_front() {
            self.backlog -= next.line.len();
            out.engine(&next.line);
            if next.kind == Kind::Go {
                self.went = Some(now);
            }
        }
        if std::mem::take(&mut self.stop_waits) {
            self.stop_again = Some(now.saturating_add(PAUSE));
        }
    }

    // Background searches.

    /// Begins a background search.
    pub(super) fn warm_up(&mut self, now: Duration, go: &[u8], out: &mut dyn Outlet) {
        self.send_go(now, go, out);
        self.background = Background::Warming;
    }

    /// Ends a warm-up search.
    pub(super) fn end_warming(&mut self, now: Duration, out: &mut dyn Outlet) {
        if self.background == Background::Warming {
            self.end_background(now, out);
        }
    }

    /// Turns the current search into a background search that has to end.
    pub(super) fn abandon(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.stop_again = None;
        self.stop_waits = false;
        if let Some(at) = self.outbound.iter().position(|next| next.kind == Kind::Go) {
            if let Some(go) = self.outbound.remove(at) {
                self.backlog -= go.line.len();
            }
        } else if self.is_up() {
            self.end_background(now, out);
        }
    }

    /// Ends the engine's search, if it still makes it: its answer cannot be one to this
    /// search.
    pub(super) fn doubt_search(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.stop_again = None;
        match self.background {
            Background::Ended { .. } => {}
            Background::Ending { since, .. } => self.end_search(now, since, true, out),
            Background::None | Background::Warming => self.end_search(now, now, true, out),
        }
    }

    fn end_background(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.end_search(now, now, false, out);
    }

    fn end_search(&mut self, now: Duration, since: Duration, doubtful: bool, out: &mut dyn Outlet) {
        let earliest = self.went.map_or(now, |went| went.saturating_add(PAUSE));
        self.background = Background::Ending {
            since,
            stop: earliest.max(now),
            stop_sent: false,
            doubtful,
        };
        self.send_due_stop(now, out);
    }

    /// When the next `stop` is due.
    pub(super) fn stop_due(&self) -> Option<Duration> {
        match self.background {
            Background::Ending { stop, .. } => Some(stop),
            _ => self.stop_again,
        }
    }

    /// Sends the `stop` that is due.
    pub(super) fn send_due_stop(&mut self, now: Duration, out: &mut dyn Outlet) {
        if self.stop_due().is_none_or(|due| due > now) {
            return;
        }
        out.engine(b"stop");
        self.stop_again = None;
        match &mut self.background {
            Background::Ending {
                since,
                doubtful: true,
                ..
            } => {
                let since = *since;
                self.end_after_fence(since, out);
            }
            Background::Ending {
                since,
                stop,
                stop_sent,
                ..
            } => {
                let pause = now.saturating_sub(*since).max(REPEAT);
                *stop = now.saturating_add(pause);
                *stop_sent = true;
            }
            _ => {}
        }
    }

    /// The background search has ended; its output has not.
    fn end_after_fence(&mut self, since: Duration, out: &mut dyn Outlet) {
        self.background = Background::Ended { since };
        self.stray = None;
        self.ready.push_back(Asker::Fence);
        out.engine(b"isready");
    }

    /// How late the first `stop` of a background search is.
    pub(super) fn first_stop_late(&self, now: Duration) -> Option<Duration> {
        match self.background {
            Background::Ending {
                stop,
                stop_sent: false,
                ..
            } => now.checked_sub(stop),
            _ => None,
        }
    }

    /// The time since which a background search has to end.
    pub(super) const fn ending_since(&self) -> Option<Duration> {
        match self.background {
            Background::Ending { since, .. } | Background::Ended { since } => Some(since),
            Background::None | Background::Warming => None,
        }
    }

    /// Adds a time in which the engine's output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let Background::Ending { since, .. } | Background::Ended { since } = &mut self.background
        {
            *since = since.saturating_add(time);
        }
        self.ready_since = self.ready_since.map(|since| since.saturating_add(time));
    }

    /// The search that the GUI waits for has ended.
    pub(super) fn stop_repeating(&mut self) {
        self.stop_again = None;
    }

    /// Handles the `bestmove` of a background search, which the GUI must not get.
    pub(super) fn ignore_answer(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.stop_again = None;
        match self.background {
            // A second `bestmove` of the same search, or one that is doubtful as well.
            Background::None
            | Background::Ended { .. }
            | Background::Ending { doubtful: true, .. } => {}
            Background::Warming => self.end_after_fence(now, out),
            Background::Ending { since, .. } => self.end_after_fence(since, out),
        }
    }

    /// The engine has ended, or is ended, and its search with it.
    pub(super) fn forget_search(&mut self) {
        self.background = Background::None;
        self.stop_again = None;
    }

    // `isready` and `readyok`.

    /// Handles an `isready` of the GUI.
    pub(super) fn ask_ready(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.ready.push_back(Asker::Gui);
        self.ready_since.get_or_insert(now);
        self.send_if_up(b"isready", out);
    }

    /// Whether the GUI waits for a `readyok`.
    pub(super) fn owes_ready(&self) -> bool {
        self.ready.contains(&Asker::Gui)
    }

    /// Handles a `readyok` of the engine.
    pub(super) fn on_ready(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.silent = false;
        match self.ready.pop_front() {
            Some(Asker::Gui) => {
                out.gui(b"readyok");
                self.ready_since = self.owes_ready().then_some(now);
            }
            Some(Asker::Fence) => {
                if matches!(self.background, Background::Ended { .. }) {
                    self.background = Background::None;
                    self.flush(now, out);
                }
            }
            Some(Asker::Answered) | None => {}
        }
    }

    /// Answers each waiting `isready` without the engine.
    pub(super) fn answer_ready(&mut self, out: &mut dyn Outlet) {
        self.ready_since = None;
        for asker in &mut self.ready {
            if *asker == Asker::Gui {
                *asker = Asker::Answered;
                out.gui(b"readyok");
            }
        }
    }

    // Start and end of the engine.

    /// Another engine is being started, which has searched nothing yet: only waiting
    /// lines that it would not get in another way stay.
    pub(super) fn begin_again(&mut self, index: usize, late: bool) {
        self.state = Engine::Starting { index, late };
        self.forget_process();
        self.hello.begin();
        self.outbound.retain(|next| is_unremembered(&next.line));
        self.backlog = self.outbound.iter().map(|next| next.line.len()).sum();
        self.ready.retain(|asker| *asker == Asker::Gui);
    }

    /// The engine has ended and is not replaced.
    pub(super) fn lose(&mut self) {
        self.state = Engine::None;
        self.forget_process();
        self.hello.complete = false;
        self.outbound.clear();
        self.backlog = 0;
    }

    fn forget_process(&mut self) {
        self.options_unanswered = false;
        self.tried = None;
        self.runs = false;
        self.given_up = None;
        self.background = Background::None;
        self.stop_waits = false;
        self.stop_again = None;
        self.went = None;
        self.silent = false;
        self.last_answer = None;
        self.stray = None;
    }

    /// Sends the lines and each `isready` that waited for the engine to start.
    pub(super) fn catch_up(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.flush(now, out);
        for _ in &self.ready {
            out.engine(b"isready");
        }
        self.ready_since = self.owes_ready().then_some(now);
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
