//! How long to think.

use super::limits::Limits;

/// Moves the game is expected to last when the GUI does not send a number.
const MOVES_LEFT: u64 = 28;

/// What may be spent on a move, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// After this no new iteration begins.
    pub(super) soft_ms: u64,
    /// Here the search is broken off.
    pub(super) hard_ms: u64,
    /// `movetime`: to be used up, and counted from `ponderhit`.
    pub(super) fixed: bool,
}

impl Budget {
    /// The allowance for a move, or `None` when no clock was given.
    ///
    /// `overhead_ms` is what a move costs beyond thinking: pipes, scheduling,
    /// a slow GUI.
    pub(super) fn new(limits: &Limits, white: bool, overhead_ms: u64) -> Option<Self> {
        if let Some(movetime) = limits.movetime {
            let ms = movetime
                .saturating_sub(overhead_ms.min(movetime / 8))
                .max(1);
            return Some(Self {
                soft_ms: ms,
                hard_ms: ms,
                fixed: true,
            });
        }
        let mut clocks = [(limits.wtime, limits.winc), (limits.btime, limits.binc)];
        if !white {
            clocks.reverse();
        }
        // A GUI that gives only the opponent's clock still wants an answer
        // in a time of that order.
        let [ours, theirs] = clocks;
        let (time, increment) = if ours == (None, None) { theirs } else { ours };
        // An increment alone means a clock at zero.
        let time = match (time, increment) {
            (Some(time), _) => time,
            (None, Some(_)) => 0,
            (None, None) => return None,
        };
        let usable = time.saturating_sub(overhead_ms).max(time / 8);
        let moves = limits
            .movestogo
            .filter(|&n| n > 0)
            .map_or(MOVES_LEFT, |n| n.min(50));
        // Never more than a third of what is left, the increment included:
        // it is added only after the move. The last move before a time
        // control may take nearly all.
        let most = if moves == 1 {
            usable / 10 * 8 + usable % 10
        } else {
            usable * 3 / 10
        };
        let share = usable / moves + increment.unwrap_or(0) / 4 * 3;
        let soft = (share / 10 * 6 + 1).min(most);
        let hard = share.saturating_mul(3).min(most);
        Some(Self {
            soft_ms: soft.max(1),
            hard_ms: hard.max(1),
            fixed: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(go: &str) -> Option<Budget> {
        Budget::new(&Limits::parse(&mut go.split_whitespace()), true, 30)
    }

    #[test]
    fn never_plans_more_than_the_clock_holds() {
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
    fn odd_clocks() {
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
