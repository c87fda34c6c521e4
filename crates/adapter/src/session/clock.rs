//! What the clocks of a `go` say: how long an engine may think, and what is
//! left of its time when it has to begin again.
//!
//! An engine that hangs looks like one that thinks. Only the clock tells
//! them apart, and only when it has run out: the numbers here are such that
//! no engine which could still win its game is taken for a hung one.

use std::time::Duration;

use tabia_uci::line::{text, words};

/// What an engine has beyond its clock, its increment or its `movetime`.
/// Managers forgive some milliseconds, GUIs up to some seconds; who is ten
/// seconds late has lost wherever time counts.
pub(super) const MARGIN: Duration = Duration::from_secs(10);

/// How long a `stop` may go unanswered. The slowest engines take a second or
/// two (a batch on a graphics card); programs give up after 5 to 15.
pub(super) const STOP_LIMIT: Duration = Duration::from_secs(30);

/// An alarm that comes later than this after its time says that we were not
/// running ourselves: the machine slept, or was stopped in a debugger.
pub(super) const ASLEEP: Duration = Duration::from_secs(1);

/// From this long a wait on, a `go` that had to wait is passed on with
/// shorter clocks. Below, it keeps its bytes.
pub(super) const WORTH_TELLING: Duration = Duration::from_millis(20);

/// Time and increment of a player, in milliseconds, as the line has them.
#[derive(Clone, Copy, Default)]
struct Clock {
    time: Option<i64>,
    increment: i64,
}

impl Clock {
    /// The longest thought that the clock allows. A clock of zero is none:
    /// programs without clocks write it, and engines take it so.
    fn longest(self) -> Option<i64> {
        let time = self.time.filter(|time| *time != 0)?;
        Some(time.max(0).saturating_add(self.increment.max(0)))
    }
}

/// How long the answer to a `go` may take before the engine counts as hung;
/// `None` when nothing in the line sets a time.
pub(super) fn allowance(go: &[u8], white_moves: Option<bool>) -> Option<Duration> {
    Some(longest(go, white_moves)?.saturating_add(MARGIN))
}

/// How long a `go` may wait because the engine has still to end a search of
/// which the GUI knows nothing. That is not the GUI's fault: it gets no more
/// than a small part of the mover's time, and never a second too late.
pub(super) fn patience(go: &[u8], white_moves: Option<bool>) -> Option<Duration> {
    const LEAST: Duration = Duration::from_millis(250);
    const MOST: Duration = Duration::from_secs(5);
    Some((longest(go, white_moves)? / 8).clamp(LEAST, MOST))
}

/// The longest thought that a `go` allows. Without knowing whose move it is,
/// the longer clock counts.
fn longest(go: &[u8], white_moves: Option<bool>) -> Option<Duration> {
    let (mut white, mut black) = (Clock::default(), Clock::default());
    let mut move_time = None;
    let mut list = words(go);
    while let Some(word) = list.next() {
        let mut number = || {
            let word = list.next().map(text)?;
            word.parse::<i64>().ok()
        };
        match word {
            b"infinite" | b"perft" => return None,
            b"wtime" => white.time = number(),
            b"btime" => black.time = number(),
            b"winc" => white.increment = number().unwrap_or(0),
            b"binc" => black.increment = number().unwrap_or(0),
            b"movetime" => move_time = number().filter(|time| *time > 0),
            _ => {}
        }
    }
    let clock = match white_moves {
        Some(true) => white.longest(),
        Some(false) => black.longest(),
        None => white.longest().max(black.longest()),
    };
    let longest = clock.max(move_time)?;
    Some(Duration::from_millis(longest.unsigned_abs()))
}

/// The `go` line for a search that begins, or begins again, when `spent` of
/// its time is gone: the mover's clock and the time for the move are shorter
/// by that, but stay above nothing. A `ponder` that the GUI has taken back
/// is left out.
pub(super) fn with_time_left(
    go: &[u8],
    white_moves: bool,
    spent: Duration,
    ponders: bool,
) -> Vec<u8> {
    let spent = i64::try_from(spent.as_millis()).unwrap_or(i64::MAX);
    let clock: &[u8] = if white_moves { b"wtime" } else { b"btime" };
    let mut line = Vec::with_capacity(go.len());
    let mut shorten = false;
    for word in words(go) {
        if word == b"ponder" && !ponders {
            continue;
        }
        if !line.is_empty() {
            line.push(b' ');
        }
        match text(word).parse::<i64>() {
            // What is not above nothing already is no time to be shortened.
            Ok(time) if shorten && time > 0 => {
                let left = time.saturating_sub(spent).max(1);
                line.extend_from_slice(left.to_string().as_bytes());
            }
            _ => line.extend_from_slice(word),
        }
        shorten = word == clock || word == b"movetime";
    }
    line
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn time_spent_comes_off_the_movers_clock() {
        let left = |go: &str, white, ponders| {
            let spent = Duration::from_millis(1200);
            String::from_utf8(with_time_left(go.as_bytes(), white, spent, ponders)).unwrap()
        };
        let go = "go ponder wtime 5000 btime  4000 winc 10 movetime 900";
        assert_eq!(
            left(go, true, true),
            "go ponder wtime 3800 btime 4000 winc 10 movetime 1"
        );
        assert_eq!(
            left(go, false, false),
            "go wtime 5000 btime 2800 winc 10 movetime 1"
        );
        assert_eq!(left("go depth 9", true, false), "go depth 9");
        // No clock, and one that has run out: not to be made into one.
        assert_eq!(
            left("go wtime 0 depth 9", true, false),
            "go wtime 0 depth 9"
        );
        assert_eq!(left("go wtime -30", true, false), "go wtime -30");
    }

    #[test]
    fn only_a_clock_makes_an_engine_late() {
        let seconds =
            |go: &str, white| allowance(go.as_bytes(), white).map(|time| time.as_millis());
        let margin = MARGIN.as_millis();
        for (go, white, expected) in [
            ("go wtime 5000 btime 900 winc 100", Some(true), Some(5100)),
            ("go wtime 5000 btime 900 winc 100", Some(false), Some(900)),
            ("go wtime 5000 btime 900 winc 100", None, Some(5100)),
            ("go movetime 70", Some(true), Some(70)),
            ("go depth 9 movetime 70 wtime 50", Some(true), Some(70)),
            ("go depth 9 wtime 50", Some(true), Some(50)),
            ("go wtime -200 winc 100", Some(true), Some(100)),
            (
                "go wtime 9223372036854775807 winc 5",
                Some(true),
                Some(9_223_372_036_854_775_807),
            ),
            ("go btime 5000", Some(true), None),
            ("go wtime 0 btime 0 depth 30", Some(true), None),
            ("go movetime 0", Some(true), None),
            ("go wtime x", Some(true), None),
            ("go infinite wtime 5000", Some(true), None),
            ("go depth 30", Some(true), None),
            ("go nodes 1", None, None),
            ("go mate 3", None, None),
            ("go perft 9 movetime 10", None, None),
            ("go", None, None),
        ] {
            let expected = expected.map(|time: u128| time + margin);
            assert_eq!(seconds(go, white), expected, "{go}");
        }
    }
}
