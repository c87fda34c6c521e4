//! The link to the engine: its state, what has been sent to it, which answers it
//! owes, and which lines wait to be sent to it.
//!
//! # Background searches
//!
//! The engine may make a search that the GUI knows nothing of: one that warms it up
//! or looks at a book move that is held, or one that the GUI has given up for
//! another. Such a search has to end before anything else is sent to the engine, and
//! none of its output may be taken for an answer to what comes later:
//!
//! 1. `stop` is sent, no sooner than [`PAUSE`] after its `go`: engines lose a `stop`
//!    that follows at once, because they begin to search in another thread. As it may
//!    be lost all the same, it is repeated.
//! 2. After its `bestmove` Tabia sends an `isready`. Whatever comes before the
//!    `readyok`, a second `bestmove` too, is of the background search.
//! 3. Only then are the lines sent that have waited.

use std::collections::VecDeque;
use std::time::Duration;

use super::Outlet;
use super::child::{ChildOptions, Hello};
use super::restarts::Restarts;
use tabia_uci::gui::{self, GuiCommand};

/// How long an engine searches at least before Tabia sends a `stop` that the GUI has
/// not sent.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// Shortest time until a `stop` is repeated; each time it grows.
const REPEAT: Duration = Duration::from_millis(200);

/// State of the child engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Engine {
    /// Asked for; no `uciok` yet.
    Starting { index: usize, late: bool },
    /// Ready for commands.
    Up { index: usize },
    /// None to be had.
    #[default]
    None,
}

/// A search that the GUI knows nothing of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Background {
    #[default]
    None,
    /// It goes on while a book move is held.
    Warming,
    /// It has to end, `since` this time. `stop` is sent at the time `stop`; if
    /// `stop_sent`, it has been sent already and is repeated then.
    Ending {
        since: Duration,
        stop: Duration,
        stop_sent: bool,
    },
    /// It has ended; the engine still owes the `readyok`.
    Ended { since: Duration },
}

/// What a `readyok` of the engine answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Gui,
    /// Our own `isready` after a background search.
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

/// The engine as seen from here.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) state: Engine,
    /// The process runs.
    pub(super) runs: bool,
    /// Some engine has sent `uciok` in this session.
    pub(super) was_up: bool,
    pub(super) restarts: Restarts,
    /// The engine that has died too often while nothing was asked of it.
    pub(super) given_up: Option<usize>,
    /// The engine in whose place the built-in one plays.
    pub(super) stands_in_for: Option<String>,
    pub(super) hello: Hello,
    pub(super) options: ChildOptions,
    background: Background,
    outbound: VecDeque<Outgoing>,
    /// Bytes in `outbound`.
    pub(super) backlog: usize,
    /// A `stop` has to follow the `go` in `outbound`.
    stop_waits: bool,
    /// When a `go` was last sent to it.
    went: Option<Duration>,
    /// When the `stop` of a search that the GUI waits for is repeated.
    stop_again: Option<Duration>,
    /// What each `readyok` that it owes answers, in order.
    ready: VecDeque<Asker>,
    /// When the GUI asked for the `readyok` that it waits for; `None` when it
    /// waits for none, or may wait as long as it takes.
    pub(super) ready_since: Option<Duration>,
    /// It owes a `readyok` for so long that the GUI was given it without it.
    pub(super) silent: bool,
    /// All its options were sent to it, and it has answered nothing since.
    pub(super) options_unanswered: bool,
    /// The engine before it ended in that way: this one gets its options one by one.
    pub(super) tries_options: bool,
    /// The options that have been sent to it one by one; it has not answered the last
    /// of them yet. `None` at other times.
    pub(super) tried: Option<Vec<Vec<u8>>>,
    /// It has been given the last `position` line.
    pub(super) position_sent: bool,
}

impl Link {
    pub(super) const fn is_starting(&self) -> bool {
        matches!(self.state, Engine::Starting { .. })
    }

    /// The GUI has not got `uciok` yet, because no engine has started.
    pub(super) const fn is_unknown(&self) -> bool {
        !self.was_up && matches!(self.state, Engine::Starting { late: false, .. })
    }

    /// It has had the time to start that its profile gives it.
    pub(super) const fn is_late(&self) -> bool {
        matches!(self.state, Engine::Starting { late: true, .. })
    }

    pub(super) const fn is_up(&self) -> bool {
        matches!(self.state, Engine::Up { .. })
    }

    /// It makes, or ends, a search that the GUI knows nothing of.
    pub(super) fn searches_in_background(&self) -> bool {
        self.background != Background::None
    }

    /// It makes such a search, which does not have to end yet.
    pub(super) fn is_warming(&self) -> bool {
        self.background == Background::Warming
    }

    // What is sent to it.

    /// Sends a line, now or when a background search has ended.
    pub(super) fn send(&mut self, line: &[u8], out: &mut dyn Outlet) {
        match self.state {
            Engine::Up { .. } if !self.searches_in_background() => {
                out.engine(line.trim_ascii_end())
            }
            Engine::Up { .. } => self.put(Kind::Other, line),
            // An engine that starts gets everything when it is up, from the state
            // that the session has; lines that are not part of that state are stored
            // here.
            Engine::Starting { .. } if is_unremembered(line) => self.put(Kind::Other, line),
            Engine::None | Engine::Starting { .. } => {}
        }
    }

    /// Sends a `position` line; one that still waits is superseded.
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

    /// Ends the search that the GUI waits for. If the search has only just begun,
    /// `stop` is repeated.
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

    /// Sends the lines that wait.
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

    /// Begins a search that the GUI knows nothing of.
    pub(super) fn warm_up(&mut self, now: Duration, go: &[u8], out: &mut dyn Outlet) {
        self.send_go(now, go, out);
        self.background = Background::Warming;
    }

    /// Ends the search by which it warms up.
    pub(super) fn end_warming(&mut self, now: Duration, out: &mut dyn Outlet) {
        if self.background == Background::Warming {
            self.end_background(now, out);
        }
    }

    /// The GUI waits no more for the search under way.
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

    fn end_background(&mut self, now: Duration, out: &mut dyn Outlet) {
        let earliest = self.went.map_or(now, |went| went.saturating_add(PAUSE));
        self.background = Background::Ending {
            since: now,
            stop: earliest.max(now),
            stop_sent: false,
        };
        self.send_due_stop(now, out);
    }

    /// When a `stop` has to be sent.
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
        if let Background::Ending {
            since,
            stop,
            stop_sent,
        } = &mut self.background
        {
            let pause = now.saturating_sub(*since).max(REPEAT);
            *stop = now.saturating_add(pause);
            *stop_sent = true;
        }
    }

    /// By how much we are late with the first `stop` of a background search.
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

    /// Since when a background search has to end.
    pub(super) const fn ending_since(&self) -> Option<Duration> {
        match self.background {
            Background::Ending { since, .. } | Background::Ended { since } => Some(since),
            Background::None | Background::Warming => None,
        }
    }

    /// For some time its output could not be read.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let Background::Ending { since, .. } | Background::Ended { since } = &mut self.background
        {
            *since = since.saturating_add(time);
        }
        self.ready_since = self.ready_since.map(|since| since.saturating_add(time));
    }

    /// It has sent a `bestmove`; true if the GUI must not see it.
    pub(super) fn ignores_answer(&mut self, now: Duration, out: &mut dyn Outlet) -> bool {
        self.stop_again = None;
        match self.background {
            Background::None => return false,
            // A second answer.
            Background::Ended { .. } => return true,
            Background::Warming => self.background = Background::Ended { since: now },
            Background::Ending { since, .. } => self.background = Background::Ended { since },
        }
        self.ready.push_back(Asker::Fence);
        out.engine(b"isready");
        true
    }

    // Whether it is ready.

    /// The GUI asks whether it is ready.
    pub(super) fn ask_ready(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.ready.push_back(Asker::Gui);
        self.ready_since.get_or_insert(now);
        self.send_if_up(b"isready", out);
    }

    /// Whether the GUI waits for a `readyok`.
    pub(super) fn owes_ready(&self) -> bool {
        self.ready.contains(&Asker::Gui)
    }

    /// It has sent `readyok`.
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

    /// Gives the GUI each `readyok` without the engine.
    pub(super) fn answer_ready(&mut self, out: &mut dyn Outlet) {
        self.ready_since = None;
        for asker in &mut self.ready {
            if *asker == Asker::Gui {
                *asker = Asker::Answered;
                out.gui(b"readyok");
            }
        }
    }

    // Its beginning and end.

    /// Another engine is to take its place, which has searched nothing yet: of the
    /// lines that wait, those stay that it would not get in another way.
    pub(super) fn begin_again(&mut self, index: usize, late: bool) {
        self.state = Engine::Starting { index, late };
        self.forget_process();
        self.hello.begin();
        self.outbound.retain(|next| is_unremembered(&next.line));
        self.backlog = self.outbound.iter().map(|next| next.line.len()).sum();
        self.ready.retain(|asker| *asker == Asker::Gui);
    }

    /// There is no engine any more.
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
    }

    /// The lines that have waited for an engine that is up now, and each
    /// `isready`.
    pub(super) fn catch_up(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.flush(now, out);
        for _ in &self.ready {
            out.engine(b"isready");
        }
        self.ready_since = self.owes_ready().then_some(now);
    }
}

/// Whether the session stores this line nowhere else for an engine that is started
/// again: the engine's special commands, and buttons.
fn is_unremembered(line: &[u8]) -> bool {
    match gui::parse(line) {
        GuiCommand::Other => true,
        GuiCommand::SetOption(option) => option.value.is_none(),
        _ => false,
    }
}
