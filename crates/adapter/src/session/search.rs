//! A `go` and its answer: which answer is due, and when it may be sent.

use std::time::Duration;

use shakmaty::{Color, Position};

use super::answer::Answer;
use super::clock::{STOP_LIMIT, allowance, patience};
use super::link::Engine;
use super::verify::{Check, Unchecked};
use super::{Moment, Outlet, Session, info_string};
use tabia_uci::gui::Go;

/// What must happen before a `go` may be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchKind {
    /// Wait for `ponderhit` or `stop`.
    pub(super) ponder: bool,
    /// Wait for `stop`.
    pub(super) infinite: bool,
}

impl SearchKind {
    const fn of(go: &Go) -> SearchKind {
        SearchKind {
            ponder: go.ponder,
            infinite: go.infinite,
        }
    }
}

/// The answer that the GUI waits for.
#[derive(Debug, Default)]
pub(super) enum Search {
    /// Nothing.
    #[default]
    Idle,
    /// An answer that is known but may not be sent yet.
    Held(Held),
    /// An answer that the engine searches for.
    Engine(Running),
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
    /// The engine's check of it, while that runs.
    pub(super) check: Option<Box<Check>>,
}

impl Held {
    /// Whether it may be sent.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.kind == SearchKind::default() && self.due.is_none_or(|due| due <= now)
    }

    /// When the next action for it is due.
    fn next_due(&self) -> Option<Duration> {
        let check = self.check.as_ref().map(|check| check.until);
        check.or(self.due.filter(|_| self.kind == SearchKind::default()))
    }
}

/// A search of the engine.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) kind: SearchKind,
    /// The `go` line as it came.
    pub(super) go: Vec<u8>,
    /// Its parsed content.
    pub(super) parsed: Go,
    /// When the mover's clock began to run for it.
    pub(super) since: Duration,
    /// When the engine counts as hung; `None` without a limit.
    pub(super) due: Option<Duration>,
    /// The same limit, if the engine has not begun because it has to end another search
    /// first.
    pub(super) begin_due: Option<Duration>,
    /// `stop` has been sent to the engine.
    pub(super) stopped: bool,
    /// The engine's first answer was none, so that it has been asked again.
    pub(super) has_searched_again: bool,
    /// The engine's last answer, printed once more, has been ignored.
    pub(super) has_ignored: bool,
}

impl Running {
    /// Whether a `bestmove` may be passed on now.
    pub(super) fn may_answer(&self) -> bool {
        self.stopped || self.kind == SearchKind::default()
    }

    /// Starts the mover's clock.
    fn start_clock(&mut self, now: Duration, white_moves: Option<bool>) {
        self.since = now;
        self.due = allowance(&self.parsed, white_moves).map(|time| now.saturating_add(time));
        self.begin_due = patience(&self.parsed, white_moves).map(|time| now.saturating_add(time));
    }

    /// Call this before `stop` is sent to the engine.
    pub(super) fn stop(&mut self, now: Duration) {
        if !self.stopped {
            self.stopped = true;
            let limit = now.saturating_add(STOP_LIMIT);
            self.due = Some(self.due.map_or(limit, |due| due.min(limit)));
        }
    }
}

impl Search {
    /// Holds a `bestmove` line.
    pub(super) fn hold(best_move: Vec<u8>, kind: SearchKind) -> Search {
        Search::Held(Held {
            answer: vec![best_move],
            kind,
            due: None,
            check: None,
        })
    }

    pub(super) const fn is_idle(&self) -> bool {
        matches!(self, Search::Idle)
    }

    pub(super) const fn is_engine(&self) -> bool {
        matches!(self, Search::Engine(_))
    }

    /// Whether this search has to end before anything else may be sent to the engine.
    pub(super) const fn is_exclusive(&self) -> bool {
        matches!(self, Search::Engine(running) if !running.parsed.perft)
    }

    pub(super) const fn is_stopped(&self) -> bool {
        matches!(self, Search::Engine(Running { stopped: true, .. }))
    }
}

impl Session {
    pub(super) fn on_go(&mut self, line: &[u8], go: Go, at: &mut Moment<'_>) {
        self.drop_held(at.now, at.out);
        self.send_notices(at.out);
        self.learner.begin_search(go.ponder, None);
        let analysis = go.infinite || go.engine_only || self.link.options.analysing();
        if !analysis {
            self.game_has_begun = true;
            self.see_clock(&go.clocks, at);
            self.record_go(go.ponder);
        }
        if !analysis && let Some(answer) = self.ask_books(&go, &[], at) {
            return self.answer_from_book(line, &go, answer, at);
        }
        if self.link.state != Engine::None {
            self.report_no_answer(&go, at);
            self.report_own_book(at.out);
        }
        self.have_engine_search(line, go, analysis, at);
    }

    /// Sends an answer from a book, or holds it until it may be sent.
    fn answer_from_book(&mut self, line: &[u8], go: &Go, answer: Answer, at: &mut Moment<'_>) {
        let due = (!answer.delay.is_zero()).then(|| at.now.saturating_add(answer.delay));
        let held = Held {
            answer: answer.lines,
            kind: SearchKind::of(go),
            due,
            check: None,
        };
        let Err(held) = self.begin_check(line, go, answer.mv, held, at) else {
            return;
        };
        if held.is_due(at.now) {
            return send_all(&held.answer, at.out);
        }
        // Not while the engine still ends the last warm-up: the line would wait.
        if go.ponder
            && self.answering().think_ahead
            && self.link.is_up()
            && !self.link.searches_in_background()
        {
            self.expect_answer();
            self.link.warm_up(at.now, line, at.out);
        }
        self.search = Search::Held(held);
    }

    /// When the next action for the held answer is due.
    pub(super) fn held_due(&self) -> Option<Duration> {
        match &self.search {
            Search::Held(held) => held.next_due(),
            _ => None,
        }
    }

    /// Handles the held answer when its time has come.
    pub(super) fn on_held_due(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.end_late_check(now, out);
        self.play_held(now, out);
    }

    /// Passes a `go` to the engine.
    pub(super) fn have_engine_search(
        &mut self,
        line: &[u8],
        go: Go,
        analysis: bool,
        at: &mut Moment<'_>,
    ) {
        let kind = SearchKind::of(&go);
        if analysis {
            self.show_books(&go, at);
        }
        if self.game.is_missing() {
            info_string("there is no position to search", at.out);
            let is_due = kind == SearchKind::default();
            return self.answer_when_due(b"bestmove 0000".to_vec(), kind, is_due, at.out);
        }
        if let Some(score) = self.final_score().filter(|_| !go.perft) {
            // Some engines do not answer where there is no move, and some crash.
            at.out.gui(format!("info depth 0 score {score}").as_bytes());
            let is_due = kind == SearchKind::default();
            return self.answer_when_due(b"bestmove 0000".to_vec(), kind, is_due, at.out);
        }
        if self.link.state == Engine::None
            && !self.stand_in(at.out)
            && !self.try_again(at.out)
            && !self.last_resort(at.out)
        {
            return self.give_up("the engine is gone and the book has no move", at.out);
        }
        self.send_position(at.out);
        self.expect_answer();
        self.link.send_go(at.now, line, at.out);
        let turn = self.white_moves().map_or(Color::White, Color::from_white);
        let wanted = Session::learns(at.book_set)
            || self.chooser.exits_by_value()
            || self.recorder.is_some();
        let counts = !analysis && wanted;
        if !analysis {
            self.record_search();
        }
        self.learner.begin_search(go.ponder, counts.then_some(turn));
        let mut running = Running {
            kind,
            go: line.to_vec(),
            parsed: go,
            since: at.now,
            due: None,
            begin_due: None,
            stopped: false,
            has_searched_again: false,
            has_ignored: false,
        };
        if !kind.ponder {
            running.start_clock(at.now, self.white_moves());
        }
        self.search = Search::Engine(running);
    }

    /// The score of checkmate or stalemate, as engines print it; `None` elsewhere.
    fn final_score(&self) -> Option<&'static str> {
        let position = self.judged_position()?;
        if position.is_checkmate() {
            return Some("mate 0");
        }
        position.is_stalemate().then_some("cp 0")
    }

    /// Sends the last `position` line if it was not sent at once.
    pub(super) fn send_position(&mut self, out: &mut dyn Outlet) {
        // A starting engine gets it later.
        if self.link.is_up() && !self.link.position_sent && !self.game.raw().is_empty() {
            self.link.send_position(self.game.raw(), out);
            self.link.position_sent = true;
        }
    }

    /// Whether White is to move, if that is known.
    pub(super) fn white_moves(&self) -> Option<bool> {
        self.game.white_moves()
    }

    pub(super) fn on_stop(&mut self, now: Duration, out: &mut dyn Outlet) {
        match &mut self.search {
            Search::Idle => {}
            Search::Held(_) => self.release(now, out),
            Search::Engine(running) => {
                // Passed on again, because the engine may have missed the first one.
                running.stop(now);
                self.link.send_stop(now, out);
            }
        }
    }

    pub(super) fn on_ponder_hit(&mut self, now: Duration, out: &mut dyn Outlet) {
        let white_moves = self.white_moves();
        self.learner.pondering = false;
        if let Some(recorder) = &mut self.recorder {
            recorder.pondering = false;
        }
        self.guess_came_true(out);
        self.cover.guess_came_true(out);
        match &mut self.search {
            Search::Idle => {}
            Search::Held(held) => {
                held.kind.ponder = false;
                held.due = None;
                if !held.kind.infinite && !self.check_on_our_clock(now, out) {
                    self.release(now, out);
                }
            }
            Search::Engine(running) => {
                // A second `ponderhit` does not reset the clock.
                if std::mem::take(&mut running.kind.ponder) && !running.stopped {
                    running.start_clock(now, white_moves);
                }
                self.link.send(b"ponderhit", out);
            }
        }
    }

    /// Sends the held answer.
    pub(super) fn release(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.forget_check(Some(Unchecked::Stopped), now, out);
        if let Search::Held(held) = std::mem::take(&mut self.search) {
            send_all(&held.answer, out);
            self.link.end_warming(now, out);
        }
    }

    /// The GUI changes to another position or game. A held answer stays due: engines send
    /// it at the next `stop` or `ponderhit`.
    pub(super) fn leave_position(&mut self, now: Duration, out: &mut dyn Outlet) {
        match &mut self.search {
            Search::Held(held) => {
                held.due = None;
                self.forget_check(Some(Unchecked::Stopped), now, out);
                self.link.end_warming(now, out);
                self.play_held(now, out);
            }
            // `perft` may end without a `bestmove`: nothing may wait for one.
            Search::Engine(running) if running.parsed.perft => self.search = Search::Idle,
            Search::Engine(_) | Search::Idle => {}
        }
    }

    /// Drops a held answer, because a new `go` replaces its own.
    fn drop_held(&mut self, now: Duration, out: &mut dyn Outlet) {
        match &self.search {
            Search::Held(_) => {
                self.forget_check(None, now, out);
                self.link.end_warming(now, out);
                self.search = Search::Idle;
            }
            Search::Engine(_) | Search::Idle => self.leave_position(now, out),
        }
    }

    /// Replaces the current search by a later `go`, unless it was stopped, because then
    /// the GUI waits for its answer. True if it was replaced.
    pub(super) fn abandon_search(&mut self, now: Duration, out: &mut dyn Outlet) -> bool {
        if !matches!(&self.search, Search::Engine(running) if !running.stopped) {
            return false;
        }
        self.search = Search::Idle;
        self.link.abandon(now, out);
        true
    }

    /// When a background search has delayed the GUI for too long, or the engine has been
    /// silent for too long.
    pub(super) fn background_due(&self) -> Option<Duration> {
        let due = self.link.ending_since()?.saturating_add(STOP_LIMIT);
        let begin_due = match &self.search {
            Search::Engine(running) => running.begin_due,
            Search::Idle | Search::Held(_) => None,
        };
        Some(begin_due.map_or(due, |begin_due| begin_due.min(due)))
    }

    /// Sends an answer, or holds it until it may be sent.
    pub(super) fn answer_when_due(
        &mut self,
        answer: Vec<u8>,
        kind: SearchKind,
        is_due: bool,
        out: &mut dyn Outlet,
    ) {
        if is_due {
            self.search = Search::Idle;
            out.gui(&answer);
        } else {
            self.search = Search::hold(answer, kind);
        }
    }
}

fn send_all(lines: &[Vec<u8>], out: &mut dyn Outlet) {
    for line in lines {
        out.gui(line);
    }
}
