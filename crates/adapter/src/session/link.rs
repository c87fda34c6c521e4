//! The link to the engine: what state it is in, what it has been told, what
//! it owes, and what waits to be told to it.
//!
//! # Background searches
//!
//! The engine may make a search that the GUI knows nothing of: one that warms
//! it up or looks at a book move that is held, or one that the GUI has given up
//! for another. Such a search has to end before the engine is told of anything
//! else, and nothing of it may be taken for an answer to what comes later:
//!
//! 1. It is told to `stop`, no sooner than [`PAUSE`] after its `go`: engines
//!    lose a `stop` that follows at once, because they begin to search in
//!    another thread. As it may be lost all the same, it is repeated.
//! 2. Its `bestmove` is followed by an `isready` of ours. Whatever comes before
//!    the `readyok`, a second `bestmove` too, is of the background search.
//! 3. Only then are the lines sent that have waited.

use std::collections::VecDeque;
use std::time::Duration;

use super::Outlet;
use super::child::{ChildOptions, Hello};
use super::restarts::Restarts;
use tabia_uci::gui::{self, GuiCommand};
use tabia_uci::line;

/// How long an engine has searched at least before it is told to stop for
/// reasons of our own.
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
    /// It is to end, `since` then; `stop` is said, or, once it is `told`, said
    /// again, at `stop`.
    Ending {
        since: Duration,
        stop: Duration,
        told: bool,
    },
    /// It has ended; the engine has still to say `readyok`.
    Ended { since: Duration },
}

/// Who waits for a `readyok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Gui,
    /// We do, behind a background search.
    Fence,
    /// The GUI has had its answer already.
    Nobody,
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
    /// Some engine has said `uciok` in this session.
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
    backlog: usize,
    /// Behind the `go` in `outbound` comes a `stop`.
    stop_waits: bool,
    /// When it was last told to `go`.
    went: Option<Duration>,
    /// When the `stop` of a search that the GUI waits for is repeated.
    stop_again: Option<Duration>,
    /// Who waits for its `readyok`, in order.
    ready: VecDeque<Asker>,
    /// When the GUI asked for the `readyok` that it waits for; `None` when it
    /// waits for none, or may wait as long as it takes.
    ready_since: Option<Duration>,
    /// It owes a `readyok` for so long that the GUI was given it without it.
    pub(super) silent: bool,
    /// It was told all its options and has answered nothing since.
    pub(super) options_unanswered: bool,
    /// The one before it ended in that way: it is told its options one by one.
    pub(super) tries_options: bool,
    /// The options that it has been told one by one, the last of them not
    /// answered yet; `None` while it is not.
    pub(super) tried: Option<Vec<Vec<u8>>>,
    /// It has been given the last `position` line.
    pub(super) position_sent: bool,
}

impl Link {
    pub(super) const fn is_starting(&self) -> bool {
        matches!(self.state, Engine::Starting { .. })
    }

    /// The GUI has not been told `uciok`, for want of an engine.
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
    pub(super) fn is_aside(&self) -> bool {
        self.background != Background::None
    }

    /// It makes such a search, which nobody has told it to end.
    pub(super) fn is_warming(&self) -> bool {
        self.background == Background::Warming
    }

    /// Bytes that wait to be told to it.
    pub(super) const fn backlog(&self) -> usize {
        self.backlog
    }

    // What it is told.

    /// Sends a line, now or when a background search has ended.
    pub(super) fn tell(&mut self, line: &[u8], out: &mut dyn Outlet) {
        match self.state {
            Engine::Up { .. } if !self.is_aside() => out.engine(line::trimmed_end(line)),
            Engine::Up { .. } => self.put(Kind::Other, line),
            // One that starts is told everything when it is up, from what is
            // known; the rest has to be kept.
            Engine::Starting { .. } if is_unremembered(line) => self.put(Kind::Other, line),
            Engine::None | Engine::Starting { .. } => {}
        }
    }

    /// Sends a `position` line; one that still waits is superseded.
    pub(super) fn tell_position(&mut self, line: &[u8], out: &mut dyn Outlet) {
        if !self.is_up() || !self.is_aside() {
            return self.tell_if_up(line, out);
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
    pub(super) fn tell_go(&mut self, now: Duration, line: &[u8], out: &mut dyn Outlet) {
        if self.is_up() && self.is_aside() {
            self.stop_waits = false;
            return self.put(Kind::Go, line);
        }
        self.went = Some(now);
        self.tell_if_up(line, out);
    }

    fn tell_if_up(&self, line: &[u8], out: &mut dyn Outlet) {
        if self.is_up() {
            out.engine(line::trimmed_end(line));
        }
    }

    /// Ends the search that the GUI waits for. One that has hardly begun is
    /// told so again.
    pub(super) fn tell_stop(&mut self, now: Duration, out: &mut dyn Outlet) {
        if !self.is_up() {
            return;
        }
        if self.is_aside() {
            self.stop_waits = true;
            return;
        }
        out.engine(b"stop");
        let earliest = self.went.map(|went| went.saturating_add(PAUSE));
        self.stop_again = earliest.filter(|at| *at > now);
    }

    fn put(&mut self, kind: Kind, line: &[u8]) {
        let line = line::trimmed_end(line).to_vec();
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
        self.tell_go(now, go, out);
        self.background = Background::Warming;
    }

    /// Ends the search by which it warms up.
    pub(super) fn end_warming(&mut self, now: Duration, out: &mut dyn Outlet) {
        if self.background == Background::Warming {
            self.end_aside(now, out);
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
            self.end_aside(now, out);
        }
    }

    fn end_aside(&mut self, now: Duration, out: &mut dyn Outlet) {
        let earliest = self.went.map_or(now, |went| went.saturating_add(PAUSE));
        self.background = Background::Ending {
            since: now,
            stop: earliest.max(now),
            told: false,
        };
        self.say_stop(now, out);
    }

    /// When a `stop` is to be said.
    pub(super) fn stop_due(&self) -> Option<Duration> {
        match self.background {
            Background::Ending { stop, .. } => Some(stop),
            _ => self.stop_again,
        }
    }

    /// Says the `stop` that is due.
    pub(super) fn say_stop(&mut self, now: Duration, out: &mut dyn Outlet) {
        if self.stop_due().is_none_or(|due| due > now) {
            return;
        }
        out.engine(b"stop");
        self.stop_again = None;
        if let Background::Ending { since, stop, told } = &mut self.background {
            let pause = now.saturating_sub(*since).max(REPEAT);
            *stop = now.saturating_add(pause);
            *told = true;
        }
    }

    /// By how much we are late with the first `stop` of a background search.
    pub(super) fn first_stop_late(&self, now: Duration) -> Option<Duration> {
        match self.background {
            Background::Ending {
                stop, told: false, ..
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

    /// For some time it could not be heard.
    pub(super) fn hold_up(&mut self, time: Duration) {
        if let Background::Ending { since, .. } | Background::Ended { since } = &mut self.background
        {
            *since = since.saturating_add(time);
        }
        self.ready_since = self.ready_since.map(|since| since.saturating_add(time));
    }

    /// It has answered; true if nobody is to see that.
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
        self.tell_if_up(b"isready", out);
    }

    /// Whether the GUI waits for a `readyok`.
    pub(super) fn owes_ready(&self) -> bool {
        self.ready.contains(&Asker::Gui)
    }

    /// It has said `readyok`.
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
            Some(Asker::Nobody) | None => {}
        }
    }

    /// Since when the GUI waits for its `readyok`, unless it may take its time.
    pub(super) const fn ready_since(&self) -> Option<Duration> {
        self.ready_since
    }

    /// The `readyok` for which the GUI waits may take its time.
    pub(super) fn wait_for_ready(&mut self) {
        self.ready_since = None;
    }

    /// Gives the GUI each `readyok` without the engine.
    pub(super) fn answer_ready(&mut self, out: &mut dyn Outlet) {
        self.ready_since = None;
        for asker in &mut self.ready {
            if *asker == Asker::Gui {
                *asker = Asker::Nobody;
                out.gui(b"readyok");
            }
        }
    }

    // Its beginning and end.

    /// Another engine is to take its place, which has searched nothing yet:
    /// of the lines that wait, those stay that it would not be told anyway.
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

/// Whether nothing else remembers a line for an engine that is started again:
/// commands of its own, and buttons.
fn is_unremembered(line: &[u8]) -> bool {
    match gui::parse(line) {
        GuiCommand::Other => true,
        GuiCommand::SetOption(option) => option.value.is_none(),
        _ => false,
    }
}
