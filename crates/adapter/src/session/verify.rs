//! `Book Verify`: the engine checks a book move before it is played.
//!
//! The move is held, and the engine makes up to two background searches. The first has no
//! `searchmoves`: if its move is the book's, or it prints no score, the book move is
//! played. Otherwise the second compares both: by `searchmoves` with `MultiPV` 2, or, in
//! an engine without that option, only the book move. A move that loses more than `Book
//! Verify Margin` is vetoed: the next book move is drawn and compared with the engine's
//! move; if none or no time is left, the engine plays.
//!
//! While the engine still ends another search, the check waits for that. After
//! `ponderhit` it goes on, on the clock that then runs.
//!
//! If a check has no result in time, the book move is played: an engine that is silent,
//! ends, or ignores `searchmoves` vetoes nothing. An `info string` says that the move was
//! not checked, and why. All checks of one `go` together take at most a tenth of the
//! clock.

use std::fmt;
use std::time::Duration;

use shakmaty::{Move, Position};

use super::link::Engine;
use super::search::{Held, Search};
use super::{Moment, Outlet, Session, info_string};
use crate::settings::Info;
use tabia_notation as notation;
use tabia_uci::gui::{Go, with_time_left};
use tabia_uci::{info, line, message};

/// With less time than this the book move is played without a check.
const LEAST: Duration = Duration::from_millis(20);

/// The time for the checks of one `go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// For the first book move: both searches and the transmission time.
    look: Duration,
    /// When all checks have to be over; `None` if no clock runs.
    end: Option<Duration>,
}

impl Budget {
    /// `longest` is the longest thinking time that the clock allows, `None` if no clock
    /// runs. Returns `None` if there is no time for a check.
    pub(super) fn new(now: Duration, wanted: Duration, longest: Option<Duration>) -> Option<Self> {
        let tenth = longest.map(|longest| longest / 10);
        let look = tenth.map_or(wanted, |tenth| tenth.min(wanted));
        (look >= LEAST).then_some(Budget {
            look,
            end: tenth.map(|tenth| now.saturating_add(tenth)),
        })
    }

    /// When the check of the first move has to be over.
    fn first_end(self, now: Duration) -> Duration {
        now.saturating_add(self.look)
    }

    /// What is left of it when the engine is free for the check of the first move, if
    /// that is enough.
    fn at(self, now: Duration) -> Option<Budget> {
        let left = self.end.map(|end| end.saturating_sub(now));
        let look = left.map_or(self.look, |left| left.min(self.look));
        (look >= LEAST).then_some(Budget { look, ..self })
    }

    /// When the check of a further move has to be over, if there is time for it.
    fn next_end(self, now: Duration) -> Option<Duration> {
        let end = now.saturating_add(self.look * 3 / 5);
        let end = self.end.map_or(end, |last| last.min(end));
        comparison(now, end).map(|_| end)
    }

    /// How long the first search lasts.
    fn free(self) -> Duration {
        self.look * 2 / 5
    }
}

/// How long a comparison that has to be over at `end` may search.
fn comparison(now: Duration, end: Duration) -> Option<Duration> {
    let time = end.saturating_sub(now) * 2 / 3;
    (time >= LEAST / 5).then_some(time)
}

/// Whether a book move with the value `book` is vetoed if the best move has the value
/// `best`, both in centipawns for the side to move.
const fn is_vetoed(book: i32, best: i32, margin: u32) -> bool {
    best > book && best.abs_diff(book) > margin
}

/// Why a book move is played without a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unchecked {
    NoEngine,
    Starting,
    Silent,
    NoTime,
    Busy,
    Late,
    Stopped,
    Gone,
    NoScore,
    NoMove,
    NotCompared,
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unchecked::NoEngine => "there is no engine",
            Unchecked::Starting => "the engine is starting",
            Unchecked::Silent => "the engine does not answer \"isready\"",
            Unchecked::NoTime => "there is no time for it",
            Unchecked::Busy => "the engine has not ended its last search",
            Unchecked::Late => "the engine had no result in time",
            Unchecked::Stopped => "the chess program did not wait for it",
            Unchecked::Gone => "the engine has ended",
            Unchecked::NoScore => "the engine printed no score",
            Unchecked::NoMove => "the engine's answer is not a legal move",
            Unchecked::NotCompared => "the engine did not compare the moves",
        })
    }
}

/// The engine's check of a book move.
#[derive(Debug)]
pub(super) struct Check {
    /// The `go` line, for the engine if it has to play.
    line: Vec<u8>,
    go: Go,
    /// When the `go` came; after `ponderhit`, when that came.
    since: Duration,
    budget: Budget,
    /// The book move that is held.
    candidate: Move,
    vetoed: Vec<Move>,
    /// The engine's move, and its value for the side to move.
    best: Option<(Move, i32)>,
    stage: Stage,
    /// The engine's output about its search.
    search: info::Search,
    /// The book move is played if there is no result by then.
    pub(super) until: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The engine still ends another search.
    Waiting,
    /// The engine searches without `searchmoves`.
    Free,
    /// The engine still ends a search; the comparison follows.
    Between,
    /// The engine compares the book move with its own; `both`: with `MultiPV` 2.
    Comparing { both: bool },
}

/// The result of a check.
enum Outcome {
    /// The book move is played.
    Play,
    /// The same, but the engine has not judged it.
    Unchecked(Unchecked),
    /// The book move is compared with the engine's move next.
    Compare,
    /// The book move is not played: its value and that of the engine's move.
    Veto(i32, i32),
}

impl Check {
    /// Handles an `info` line of the engine.
    pub(super) fn receive(&mut self, info: &[u8]) {
        self.search.add(&line::text(info));
    }

    /// The search for the engine's own move, if there is time for it.
    fn look(&mut self, now: Duration) -> Option<String> {
        self.budget = self.budget.at(now)?;
        self.until = self.budget.first_end(now);
        self.stage = Stage::Free;
        let mut line = format!("go movetime {}", self.budget.free().as_millis());
        if let Some(moves) = &self.go.searchmoves {
            line += " searchmoves ";
            line += &moves.join(" ");
        }
        Some(line)
    }

    /// Evaluates the engine's answer `played`.
    fn compare(
        &mut self,
        played: Option<Move>,
        margin: u32,
        position: &shakmaty::Chess,
    ) -> Outcome {
        let turn = position.turn();
        let found: Vec<(Option<Move>, i32)> = self
            .search
            .results()
            .flatten()
            .map(|found| {
                let first = found.moves.first();
                let mv = first.and_then(|mv| mv.to_move(position).ok());
                (mv, found.value.for_side(turn))
            })
            .collect();
        let of = |mv: Move| found.iter().find(|(known, _)| *known == Some(mv));
        match self.stage {
            Stage::Free => match (played, found.first()) {
                (None, _) => Outcome::Unchecked(Unchecked::NoMove),
                (Some(mv), _) if mv == self.candidate => Outcome::Play,
                (Some(mv), Some((_, value))) => {
                    self.best = Some((mv, *value));
                    Outcome::Compare
                }
                (Some(_), None) => Outcome::Unchecked(Unchecked::NoScore),
            },
            // No search of the check has begun.
            Stage::Waiting | Stage::Between => Outcome::Unchecked(Unchecked::Late),
            Stage::Comparing { both } => {
                let Some((best, value)) = self.best else {
                    return Outcome::Unchecked(Unchecked::Late);
                };
                let values = match both {
                    true => of(self.candidate).zip(of(best)).map(|(a, b)| (a.1, b.1)),
                    // An engine that plays another move has ignored `searchmoves`.
                    false => found
                        .first()
                        .filter(|_| played == Some(self.candidate))
                        .map(|(_, book)| (*book, value)),
                };
                match values {
                    Some((book, best)) if is_vetoed(book, best, margin) => {
                        Outcome::Veto(book, best)
                    }
                    Some(_) => Outcome::Play,
                    None => Outcome::Unchecked(Unchecked::NotCompared),
                }
            }
        }
    }
}

impl Session {
    /// Starts the check of a book move, if it is switched on and possible, and holds the
    /// answer. Returns the answer otherwise, and reports that it is not checked.
    pub(super) fn begin_check(
        &mut self,
        line: &[u8],
        go: &Go,
        candidate: Move,
        held: Held,
        at: &mut Moment<'_>,
    ) -> Result<(), Held> {
        let wanted = self.verify_time();
        let Some(position) = self.game.position().filter(|_| !wanted.is_zero()) else {
            return Err(held);
        };
        let turn = position.turn();
        let longest = match go.ponder {
            true => None,
            false => go.longest(Some(turn.is_white())),
        };
        let budget = match self.link.state {
            Engine::None => Err(Unchecked::NoEngine),
            Engine::Starting { .. } => Err(Unchecked::Starting),
            Engine::Up { .. } if self.link.silent => Err(Unchecked::Silent),
            Engine::Up { .. } => Budget::new(at.now, wanted, longest).ok_or(Unchecked::NoTime),
        };
        let budget = match budget {
            Ok(budget) => budget,
            Err(reason) => {
                self.report_unchecked(candidate, reason, at.out);
                return Err(held);
            }
        };
        let check = Check {
            line: line.to_vec(),
            go: go.clone(),
            since: at.now,
            budget,
            candidate,
            vetoed: Vec::new(),
            best: None,
            stage: Stage::Waiting,
            search: info::Search::new(turn, 2),
            until: budget.first_end(at.now),
        };
        self.send_position(at.out);
        self.search = Search::Held(Held {
            check: Some(Box::new(check)),
            ..held
        });
        self.go_on_checking(at.now, at.out);
        Ok(())
    }

    fn verify_time(&self) -> Duration {
        Duration::from_millis(self.answering().verify.into())
    }

    /// The opponent has played the expected move while a check is running: it goes on, on
    /// our clock. False if there is no check.
    pub(super) fn check_on_our_clock(&mut self, now: Duration, out: &mut dyn Outlet) -> bool {
        let white_moves = self.white_moves();
        let wanted = self.verify_time();
        let Search::Held(Held {
            check: Some(check), ..
        }) = &mut self.search
        else {
            return false;
        };
        if !std::mem::take(&mut check.go.ponder) {
            return true;
        }
        check.since = now;
        match Budget::new(now, wanted, check.go.longest(white_moves)) {
            Some(budget) => {
                check.budget = budget;
                let last = budget.end.unwrap_or(check.until);
                check.until = match check.stage {
                    Stage::Waiting => budget.first_end(now),
                    _ => check.until.min(last),
                };
            }
            None => self.end_check(Unchecked::NoTime, now, out),
        }
        true
    }

    /// Handles the engine's answer to its background search.
    pub(super) fn on_looked(&mut self, answer: &[u8], at: &mut Moment<'_>) {
        let Some(mut check) = self.take_check() else {
            return;
        };
        let Some(position) = self.game.position() else {
            return self.play_unchecked(&check, Unchecked::Stopped, at.now, at.out);
        };
        let played = line::words(answer).nth(1);
        let played = played.and_then(|word| notation::find_uci(position, word));
        let margin = self.answering().verify_margin;
        let outcome = check.compare(played, margin, position);
        self.end_comparison(&check, at.out);
        match outcome {
            Outcome::Play => self.play_held(at.now, at.out),
            Outcome::Unchecked(reason) => self.play_unchecked(&check, reason, at.now, at.out),
            Outcome::Compare => {
                check.stage = Stage::Between;
                self.put_check(check);
            }
            Outcome::Veto(book, best) => {
                self.report_veto(&check, [book, best], at);
                self.try_next(check, at);
            }
        }
    }

    /// Continues the check when lines can be sent to the engine again.
    pub(super) fn go_on_checking(&mut self, now: Duration, out: &mut dyn Outlet) {
        let waits = matches!(
            &self.search,
            Search::Held(Held { check: Some(check), .. })
                if matches!(check.stage, Stage::Waiting | Stage::Between)
        );
        if !waits || self.link.searches_in_background() {
            return;
        }
        let Some(mut check) = self.take_check() else {
            return;
        };
        let line = match check.stage {
            Stage::Waiting => check.look(now),
            _ => self.compare_moves(&mut check, now, out),
        };
        let Some(line) = line else {
            return self.play_unchecked(&check, Unchecked::NoTime, now, out);
        };
        check.search = info::Search::new(check.search.turn, 2);
        self.expect_answer();
        self.link.warm_up(now, line.as_bytes(), out);
        self.put_check(check);
    }

    /// The search that compares the book move with the engine's, if there is time for it.
    fn compare_moves(
        &mut self,
        check: &mut Check,
        now: Duration,
        out: &mut dyn Outlet,
    ) -> Option<String> {
        let (best, _) = check.best?;
        let time = comparison(now, check.until)?;
        let mode = self.castling_mode();
        let mut line = format!(
            "go movetime {} searchmoves {}",
            time.as_millis(),
            check.candidate.to_uci(mode)
        );
        let both = self.link.hello.option(MULTI_PV).is_some();
        if both {
            line += &format!(" {}", best.to_uci(mode));
            let set = message::set_option(MULTI_PV, Some("2"));
            self.link.send(set.as_bytes(), out);
        }
        check.stage = Stage::Comparing { both };
        Some(line)
    }

    /// Draws another book move and checks it; if there is none or no time, the engine
    /// plays.
    fn try_next(&mut self, mut check: Box<Check>, at: &mut Moment<'_>) {
        check.vetoed.push(check.candidate);
        let end = check.budget.next_end(at.now);
        let next = end.and_then(|end| {
            let answer = self.ask_books(&check.go, &check.vetoed, at)?;
            Some((end, answer))
        });
        let Some((end, answer)) = next else {
            self.learner.forget_choice();
            self.search = Search::Idle;
            let spent = at.now.saturating_sub(check.since);
            let (mut line, mut go) = (check.line, check.go);
            if !go.ponder
                && let Some(white) = self.white_moves()
            {
                line = with_time_left(&line, white, spent, false);
                go.spend(white, spent);
            }
            return self.have_engine_search(&line, go, false, at);
        };
        if let Search::Held(held) = &mut self.search {
            held.answer = answer.lines;
        }
        check.candidate = answer.mv;
        if check.best.is_some_and(|(best, _)| best == answer.mv) {
            return self.play_held(at.now, at.out);
        }
        check.until = end;
        check.stage = Stage::Between;
        self.put_check(check);
    }

    /// Plays the book move, because the time is over.
    pub(super) fn end_late_check(&mut self, now: Duration, out: &mut dyn Outlet) {
        let stage = match &self.search {
            Search::Held(held) => held.check.as_ref().map(|check| check.stage),
            _ => None,
        };
        let reason = match stage {
            Some(Stage::Waiting) => Unchecked::Busy,
            _ => Unchecked::Late,
        };
        self.end_check(reason, now, out);
    }

    /// Plays the book move, because the engine has ended.
    pub(super) fn lose_check(&mut self, now: Duration, out: &mut dyn Outlet) {
        self.link.forget_search();
        if let Some(check) = self.take_check() {
            self.play_unchecked(&check, Unchecked::Gone, now, out);
        }
    }

    /// Plays the book move, because the engine cannot check it.
    fn end_check(&mut self, reason: Unchecked, now: Duration, out: &mut dyn Outlet) {
        if self.forget_check(Some(reason), now, out) {
            self.play_held(now, out);
        }
    }

    /// Ends the check of the held book move; true if there was one. Without a reason the
    /// move is not played.
    pub(super) fn forget_check(
        &mut self,
        reason: Option<Unchecked>,
        now: Duration,
        out: &mut dyn Outlet,
    ) -> bool {
        let Some(check) = self.take_check() else {
            return false;
        };
        self.link.end_warming(now, out);
        self.end_comparison(&check, out);
        if let Some(reason) = reason {
            self.report_unchecked(check.candidate, reason, out);
        }
        true
    }

    /// The book move is played, but not because the engine agrees.
    fn play_unchecked(
        &mut self,
        check: &Check,
        reason: Unchecked,
        now: Duration,
        out: &mut dyn Outlet,
    ) {
        self.report_unchecked(check.candidate, reason, out);
        self.play_held(now, out);
    }

    fn report_unchecked(&self, mv: Move, reason: Unchecked, out: &mut dyn Outlet) {
        if self.answering().info != Info::None {
            let mv = mv.to_uci(self.castling_mode());
            info_string(&format!("Book Verify: {mv} not checked: {reason}"), out);
        }
    }

    /// The held answer is final; sends it if it is due.
    pub(super) fn play_held(&mut self, now: Duration, out: &mut dyn Outlet) {
        if matches!(&self.search, Search::Held(held) if held.is_due(now)) {
            self.release(now, out);
        }
    }

    /// Restores the `MultiPV` that the GUI has set.
    fn end_comparison(&mut self, check: &Check, out: &mut dyn Outlet) {
        if check.stage != (Stage::Comparing { both: true }) {
            return;
        }
        let known = self.link.options.line(MULTI_PV).map(<[u8]>::to_vec);
        let line = known.unwrap_or_else(|| message::set_option(MULTI_PV, Some("1")).into_bytes());
        self.link.send(&line, out);
    }

    fn report_veto(&self, check: &Check, [book, best]: [i32; 2], at: &mut Moment<'_>) {
        if self.answering().info == Info::None {
            return;
        }
        let mode = self.castling_mode();
        let own = check.best.map(|(mv, _)| mv.to_uci(mode).to_string());
        let text = format!(
            "Book Verify: {} vetoed, {book:+} cp against {best:+} of {}, {} ms",
            check.candidate.to_uci(mode),
            own.unwrap_or_default(),
            at.now.saturating_sub(check.since).as_millis()
        );
        info_string(&text, at.out);
    }

    fn take_check(&mut self) -> Option<Box<Check>> {
        match &mut self.search {
            Search::Held(held) => held.check.take(),
            _ => None,
        }
    }

    fn put_check(&mut self, check: Box<Check>) {
        if let Search::Held(held) = &mut self.search {
            held.check = Some(check);
        }
    }
}

/// The option by which an engine prints several variations.
const MULTI_PV: &str = "MultiPV";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn looks_take_no_more_than_a_tenth_of_the_clock(
            wanted in 1_u64..10_000,
            longest in prop::option::of(0_u64..1_000_000),
            begun in 0_u64..100_000,
            steps in prop::collection::vec(0_u64..500, 0..12),
        ) {
            let millis = Duration::from_millis;
            let (begun, longest) = (millis(begun), longest.map(millis));
            let Some(budget) = Budget::new(begun, millis(wanted), longest) else {
                prop_assert!(millis(wanted) < LEAST || longest.unwrap() / 10 < LEAST);
                return Ok(());
            };
            let mut ends = vec![begun + budget.free(), budget.first_end(begun)];
            prop_assert!(ends[0] < ends[1]);
            let mut now = begun;
            for step in steps {
                now += millis(step);
                ends.extend(budget.next_end(now));
                ends.extend(budget.at(now).map(|left| left.first_end(now)));
                let is_left = longest.is_none_or(|longest| (now - begun) * 20 <= longest);
                prop_assert!(!is_left || budget.next_end(now).is_some(), "half of it is left");
            }
            for end in ends {
                prop_assert!(longest.is_none_or(|longest| (end - begun) * 10 <= longest));
                prop_assert!(comparison(now, end).is_none_or(|time| now + time <= end));
            }
        }

        #[test]
        fn only_a_move_that_loses_more_than_the_margin_is_vetoed(
            book in -30_000..30_000,
            best in -30_000..30_000,
            margin in 0_u32..2000,
        ) {
            let loss = best - book;
            prop_assert_eq!(is_vetoed(book, best, margin), loss > margin.cast_signed());
        }
    }
}
