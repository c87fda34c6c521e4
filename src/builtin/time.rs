//! Time management.

use tabia_uci::gui::{Clock, Go};

/// Expected number of remaining moves if the GUI does not send it.
const MOVES_LEFT: u64 = 28;

/// The time for a move, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// No new iteration begins after this.
    pub(super) soft_ms: u64,
    /// The search is aborted after this.
    pub(super) hard_ms: u64,
    /// `movetime`: it is used completely, and starts at `ponderhit`.
    pub(super) fixed: bool,
}

impl Budget {
    /// The time for a move, or `None` if the GUI gives no clock.
    ///
    /// `overhead_ms` is the time that a move costs besides thinking: pipes, scheduling, a
    /// slow GUI.
    pub(super) fn new(go: &Go, white: bool, overhead_ms: u64) -> Option<Self> {
        let clocks = &go.clocks;
        if let Some(movetime) = clocks.move_time {
            let movetime = not_negative(movetime);
            let ms = movetime
                .saturating_sub(overhead_ms.min(movetime / 8))
                .max(1);
            return Some(Self {
                soft_ms: ms,
                hard_ms: ms,
                fixed: true,
            });
        }
        let (ours, theirs) = match white {
            true => (clocks.white, clocks.black),
            false => (clocks.black, clocks.white),
        };
        // A GUI that gives only the opponent's clock expects a similar thinking time.
        let clock = [ours, theirs].into_iter().find(is_given)?;
        // An increment without a clock means a clock at zero.
        let time = not_negative(clock.time.unwrap_or(0));
        let increment = not_negative(clock.increment);
        let usable = time.saturating_sub(overhead_ms).max(time / 8);
        let moves = match go.limits.moves_to_go {
            Some(moves @ 1..) => not_negative(moves).min(50),
            _ => MOVES_LEFT,
        };
        // At most a third of the remaining time plus increment, because that is added
        // only after the move. The last move before a time control may take nearly all.
        let most = if moves == 1 {
            usable / 10 * 8 + usable % 10
        } else {
            usable * 3 / 10
        };
        let share = usable / moves + increment / 4 * 3;
        let soft = (share / 10 * 6 + 1).min(most);
        let hard = share.saturating_mul(3).min(most);
        Some(Self {
            soft_ms: soft.max(1),
            hard_ms: hard.max(1),
            fixed: false,
        })
    }
}

/// Whether a clock is given.
fn is_given(clock: &Clock) -> bool {
    clock.time.is_some() || clock.increment != 0
}

/// Whether a `go` has no limit that would end the search.
pub(super) fn is_endless(go: &Go) -> bool {
    let limits = &go.limits;
    let others = [limits.depth, limits.nodes, limits.mate, go.clocks.move_time];
    let clocks = [go.clocks.white, go.clocks.black];
    go.infinite || !clocks.iter().any(is_given) && others.iter().all(Option::is_none)
}

/// Negative numbers become zero: GUIs that do not forfeit on time send negative clocks.
/// Limited so that sums do not overflow.
pub(super) fn not_negative(number: i64) -> u64 {
    number.clamp(0, i64::MAX / 8).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(text: &str) -> Go {
        match tabia_uci::gui::parse(format!("go {text}").as_bytes()) {
            tabia_uci::gui::GuiCommand::Go(go) => go,
            other => panic!("{other:?}"),
        }
    }

    fn budget(text: &str) -> Option<Budget> {
        Budget::new(&go(text), true, 30)
    }

    #[test]
    fn only_limits_that_end_a_search_count() {
        for (text, endless) in [
            ("", true),
            ("infinite depth 3", true),
            ("searchmoves e2e4", true),
            ("movestogo 3", true),
            ("depth 3", false),
            ("btime 1", false),
            ("movetime 0", false),
            ("mate 2", false),
        ] {
            assert_eq!(is_endless(&go(text)), endless, "{text}");
        }
    }

    #[test]
    fn the_time_for_a_move_is_never_more_than_the_clock() {
        for time in [1, 2, 5, 10, 29, 30, 31, 50, 100, 200, 1000, 60_000, 1 << 40] {
            for increment in [0, 1, 10, 1000, 100_000, u64::from(u32::MAX)] {
                for moves in ["", " movestogo 0", " movestogo 1", " movestogo 40"] {
                    let go = format!("wtime {time} winc {increment}{moves}");
                    let budget = budget(&go).unwrap();
                    assert!(budget.hard_ms <= time.max(1), "{go}: {budget:?}");
                    assert!(budget.soft_ms <= budget.hard_ms, "{go}: {budget:?}");
                    assert!(budget.soft_ms > 0, "{go}: {budget:?}");
                    if time > 50 {
                        assert!(budget.hard_ms + 25 < time, "{go}: {budget:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn zero_negative_and_missing_clocks_get_a_budget() {
        let least = Some(Budget {
            soft_ms: 1,
            hard_ms: 1,
            fixed: false,
        });
        for (go, expected) in [
            ("", None),
            ("depth 3", None),
            ("wtime 0", least),
            ("wtime -500 winc 0", least),
            ("winc 1000", least),
        ] {
            assert_eq!(budget(go), expected, "{go}");
        }
        assert_eq!(budget("btime 1000"), budget("wtime 1000"));
        let fixed = budget("movetime 1000 wtime 1").unwrap();
        assert_eq!((fixed.soft_ms, fixed.hard_ms), (970, 970));
    }
}
