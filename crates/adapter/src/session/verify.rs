//! `Book Verify`: the engine checks a book move before it is played.
//!
//! The move is held, and the engine makes up to two looks. The first has no `searchmoves`,
//! unless `Book Forbid` forbids moves: if its move is the book's, or it prints no score, the
//! book move is played. Otherwise the second compares both: by `searchmoves` with `MultiPV` 2,
//! or, in an engine without that option, only the book move. A move that loses more than
//! `Book Verify Margin` is vetoed: the next book move is drawn and compared with the engine's
//! move; if none or no time is left, the engine plays.
//!
//! | stage | event | afterwards |
//! |---|---|---|
//! | waiting: the engine ends another search | it is free ([`Check::begin`]) | free; over without time |
//! | free: it looks for its own move | its answer ([`Check::judge`]) | between, or over |
//! | between | it is free | comparing; over without time |
//! | comparing | its answer | over, or vetoed |
//! | vetoed | there is another book move, and time ([`Check::try_next`]) | between; over if it is the engine's |
//! | any | `ponderhit` ([`Check::on_our_clock`]) | the same, on the clock that then runs |
//! | any | its time is over ([`Check::until`]) | over |
//!
//! If a check has no result in time, the book move is played: an engine that is silent,
//! ends, or ignores `searchmoves` vetoes nothing. An `info string` reports that the move was
//! not checked, and why. All checks of one `go` together take at most a tenth of the
//! clock.

use std::fmt;
use std::time::Duration;

use shakmaty::{CastlingMode, Chess, Color, Move, Position};

use tabia_notation as notation;
use tabia_uci::gui::{Go, with_time_left};
use tabia_uci::{info, line};

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
    /// `left` is what the clock has, `None` if no clock runs. Returns `None` if there is no
    /// time for a check.
    pub(super) fn new(now: Duration, wanted: Duration, left: Option<Duration>) -> Option<Self> {
        let tenth = left.map(|left| left / 10);
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

    /// The time that is left when the engine is free for the check of the first move, if
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
    /// The moves that the engine may prefer, if a book forbids others.
    allowed: Option<Vec<Move>>,
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
    until: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The engine still ends another search.
    Waiting,
    /// The engine searches without `searchmoves`, since its `go` was sent.
    Free { went: Duration },
    /// The engine still ends a search; the comparison follows.
    Between,
    /// The engine compares the book move with its own; `both`: with `MultiPV` 2.
    Comparing { went: Duration, both: bool },
}

/// The result of a check.
pub(super) enum Outcome {
    /// The book move is played.
    Play,
    /// The book move is played, although the engine has not judged it.
    Unchecked(Unchecked),
    /// The book move is compared with the engine's move next.
    Compare,
    /// The book move is not played: its value and that of the engine's move.
    Veto(i32, i32),
}

impl Check {
    /// The check of a book move for side `turn`; it waits until the engine is free.
    pub(super) fn new(
        now: Duration,
        (line, go): (&[u8], &Go),
        (candidate, turn): (Move, Color),
        allowed: Option<Vec<Move>>,
        budget: Budget,
    ) -> Check {
        Check {
            line: line.to_vec(),
            go: go.clone(),
            allowed,
            since: now,
            budget,
            candidate,
            vetoed: Vec::new(),
            best: None,
            stage: Stage::Waiting,
            search: info::Search::new(turn, 2),
            until: budget.first_end(now),
        }
    }

    /// The book move that is checked.
    pub(super) const fn candidate(&self) -> Move {
        self.candidate
    }

    /// When it has to be over.
    pub(super) const fn until(&self) -> Duration {
        self.until
    }

    /// How long the `go` has been answered by now.
    pub(super) fn spent(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// Why there is no result when the time is over.
    pub(super) const fn lateness(&self) -> Unchecked {
        match self.stage {
            Stage::Waiting => Unchecked::Busy,
            Stage::Free { .. } | Stage::Between | Stage::Comparing { .. } => Unchecked::Late,
        }
    }

    /// When the `go` of its look was sent; `None` while it waits for the engine.
    pub(super) const fn went(&self) -> Option<Duration> {
        match self.stage {
            Stage::Waiting | Stage::Between => None,
            Stage::Free { went } | Stage::Comparing { went, .. } => Some(went),
        }
    }

    /// Whether the engine prints two variations for it.
    pub(super) const fn compares_both(&self) -> bool {
        matches!(self.stage, Stage::Comparing { both: true, .. })
    }

    /// Handles an `info` line of the engine.
    pub(super) fn receive(&mut self, info: &[u8]) {
        self.search.add(&line::text(info));
    }

    /// The engine is free: the `go` of the next look, if there is time for it. `can_compare`:
    /// the engine can print two variations.
    pub(super) fn begin(
        &mut self,
        now: Duration,
        can_compare: bool,
        mode: CastlingMode,
    ) -> Option<String> {
        let line = match self.stage {
            Stage::Waiting => self.look(now, mode),
            Stage::Free { .. } | Stage::Between | Stage::Comparing { .. } => {
                self.comparison(now, can_compare, mode)
            }
        }?;
        self.search = info::Search::new(self.search.turn, 2);
        Some(line)
    }

    /// The search for the engine's own move.
    fn look(&mut self, now: Duration, mode: CastlingMode) -> Option<String> {
        self.budget = self.budget.at(now)?;
        self.until = self.budget.first_end(now);
        self.stage = Stage::Free { went: now };
        let mut line = format!("go movetime {}", self.budget.free().as_millis());
        let words =
            |moves: &Vec<Move>| moves.iter().map(|mv| mv.to_uci(mode).to_string()).collect();
        let asked = self.go.searchmoves.clone();
        if let Some(moves) = asked.or_else(|| self.allowed.as_ref().map(words)) {
            line += " searchmoves ";
            line += &moves.join(" ");
        }
        Some(line)
    }

    /// The search that compares the book move with the engine's.
    fn comparison(&mut self, now: Duration, both: bool, mode: CastlingMode) -> Option<String> {
        let (best, _) = self.best?;
        let time = comparison(now, self.until)?;
        let mut line = format!(
            "go movetime {} searchmoves {}",
            time.as_millis(),
            self.candidate.to_uci(mode)
        );
        if both {
            line += &format!(" {}", best.to_uci(mode));
        }
        self.stage = Stage::Comparing { went: now, both };
        Some(line)
    }

    /// The opponent has played the expected move: the check goes on, on our clock. An
    /// error if there is no time for it.
    pub(super) fn on_our_clock(
        &mut self,
        now: Duration,
        wanted: Duration,
        white_moves: Option<bool>,
    ) -> Result<(), Unchecked> {
        if !std::mem::take(&mut self.go.ponder) {
            return Ok(());
        }
        self.since = now;
        let budget = Budget::new(now, wanted, self.go.left(white_moves));
        let budget = budget.ok_or(Unchecked::NoTime)?;
        self.budget = budget;
        let last = budget.end.unwrap_or(self.until);
        self.until = match self.stage {
            Stage::Waiting => budget.first_end(now),
            Stage::Free { .. } | Stage::Between | Stage::Comparing { .. } => self.until.min(last),
        };
        Ok(())
    }

    /// Handles the engine's answer to its search. A comparison that follows waits until
    /// the engine is free.
    pub(super) fn judge(&mut self, answer: &[u8], margin: u32, at: &Chess) -> Outcome {
        let played = line::words(answer).nth(1);
        let played = played.and_then(|word| notation::find_uci(at, word));
        let outcome = self.compare(played, margin, at);
        if matches!(outcome, Outcome::Compare) {
            self.stage = Stage::Between;
        }
        outcome
    }

    /// The book move is not played: until when another one may be checked, if there is
    /// time for it.
    pub(super) fn veto(&mut self, now: Duration) -> Option<Duration> {
        self.vetoed.push(self.candidate);
        self.budget.next_end(now)
    }

    /// The `go`, and the moves that are not played.
    pub(super) fn question(&self) -> (&Go, &[Move]) {
        (&self.go, &self.vetoed)
    }

    /// Checks another book move until `end`; false if it is the engine's, and is played
    /// without.
    pub(super) fn try_next(&mut self, candidate: Move, end: Duration) -> bool {
        self.candidate = candidate;
        if self.best.is_some_and(|(best, _)| best == candidate) {
            return false;
        }
        self.until = end;
        self.stage = Stage::Between;
        true
    }

    /// The `go` for the engine, which plays: with the time that is left.
    pub(super) fn into_go(mut self, now: Duration, white_moves: Option<bool>) -> (Vec<u8>, Go) {
        let spent = self.spent(now);
        if !self.go.ponder
            && let Some(white) = white_moves
        {
            self.line = with_time_left(&self.line, white, spent, false);
            self.go.spend(white, spent);
        }
        (self.line, self.go)
    }

    /// The message about a veto: the values of the book move and of the engine's.
    pub(super) fn veto_text(
        &self,
        now: Duration,
        [book, best]: [i32; 2],
        mode: CastlingMode,
    ) -> String {
        let own = self.best.map(|(mv, _)| mv.to_uci(mode).to_string());
        format!(
            "Book Verify: {} vetoed, {book:+} cp against {best:+} of {}, {} ms",
            self.candidate.to_uci(mode),
            own.unwrap_or_default(),
            self.spent(now).as_millis()
        )
    }

    /// Evaluates the engine's answer `played`.
    fn compare(&mut self, played: Option<Move>, margin: u32, position: &Chess) -> Outcome {
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
            Stage::Free { .. } => match (played, found.first()) {
                (None, _) => Outcome::Unchecked(Unchecked::NoMove),
                (Some(mv), _) if mv == self.candidate => Outcome::Play,
                // The engine has ignored `searchmoves`.
                (Some(mv), _) if self.allowed.as_ref().is_some_and(|all| !all.contains(&mv)) => {
                    Outcome::Unchecked(Unchecked::NotCompared)
                }
                (Some(mv), Some((_, value))) => {
                    self.best = Some((mv, *value));
                    Outcome::Compare
                }
                (Some(_), None) => Outcome::Unchecked(Unchecked::NoScore),
            },
            // No search of the check has begun.
            Stage::Waiting | Stage::Between => Outcome::Unchecked(Unchecked::Late),
            Stage::Comparing { both, .. } => {
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
