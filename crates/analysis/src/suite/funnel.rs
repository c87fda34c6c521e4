//! What became of the positions on the way into a suite.

use std::fmt;

/// Where positions are left out, in the order in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FunnelStep {
    Short,
    Elsewhere,
    Side,
    Queens,
    Men,
    Castled,
    Check,
    Over,
    Loud,
    Duplicate,
    Mirror,
    Games,
    Share,
    Line,
    Unknown,
    Decided,
    Better,
    Cp,
    Wins,
    Unconfirmed,
    Count,
}

/// The steps with their names: the option, or what else it is.
pub(super) const STEPS: [(FunnelStep, &str, &str); 21] = [
    (FunnelStep::Short, "--plies", "end before that ply"),
    (
        FunnelStep::Elsewhere,
        "--line, --fen",
        "not below that position",
    ),
    (FunnelStep::Side, "--side", "the other side to move"),
    (FunnelStep::Queens, "--queens", "other queens"),
    (FunnelStep::Men, "--men", "other number of men"),
    (FunnelStep::Castled, "--castled", "other kings"),
    (FunnelStep::Check, "--in-check", "in check"),
    (FunnelStep::Over, "games that are over", "over"),
    (FunnelStep::Loud, "--quiet", "not quiet"),
    (FunnelStep::Duplicate, "--unique", "again"),
    (FunnelStep::Mirror, "--unique mirror", "mirrors"),
    (FunnelStep::Games, "--min-games", "too few games"),
    (FunnelStep::Share, "--min-share", "too rare"),
    (FunnelStep::Line, "--max-per-line", "more of a line"),
    (
        FunnelStep::Unknown,
        "--eval, --win or --better without a value",
        "without a value",
    ),
    (FunnelStep::Decided, "--drop-mates", "decided"),
    (FunnelStep::Better, "--better", "the other side better"),
    (FunnelStep::Cp, "--eval", "outside --eval"),
    (FunnelStep::Wins, "--win", "outside --win"),
    (
        FunnelStep::Unconfirmed,
        "--confirm-nodes",
        "outside when searched again",
    ),
    (FunnelStep::Count, "--count", "more than --count"),
];

/// How many were left out where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Positions that were looked at, equal ones each time, and games that
    /// had none to look at.
    pub seen: u64,
    lost: [u64; STEPS.len()],
}

impl Funnel {
    /// Some are left out.
    pub fn lose(&mut self, step: FunnelStep, count: u64) {
        if let Some(lost) = self.lost.get_mut(step as usize) {
            *lost += count;
        }
    }

    /// Adds another one up.
    pub fn add(&mut self, other: &Funnel) {
        self.seen += other.seen;
        for (a, b) in self.lost.iter_mut().zip(other.lost) {
            *a += b;
        }
    }

    /// How many were left out at a step.
    #[must_use]
    pub fn lost(&self, step: FunnelStep) -> u64 {
        self.lost.get(step as usize).copied().unwrap_or(0)
    }

    /// What is left of what was looked at.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.seen.saturating_sub(self.lost.iter().sum())
    }

    /// What took most, by its name.
    #[must_use]
    pub fn worst(&self) -> Option<(&'static str, u64)> {
        let all = STEPS
            .iter()
            .map(|(step, name, _)| (*name, self.lost(*step)));
        // Equal positions are not lost.
        let all = all.filter(|(name, lost)| *lost > 0 && *name != "--unique");
        all.max_by_key(|(_, lost)| *lost)
    }

    /// Every step that took some, in their order.
    pub fn rows(&self) -> impl Iterator<Item = FunnelRow> {
        let mut left = self.seen;
        STEPS.iter().filter_map(move |&(step, option, what)| {
            let lost = self.lost(step);
            left = left.saturating_sub(lost);
            (lost > 0).then_some(FunnelRow {
                option,
                what,
                lost,
                left,
            })
        })
    }
}

/// A step that took some positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunnelRow {
    /// The option, or what else it is.
    pub option: &'static str,
    /// What was left out.
    pub what: &'static str,
    /// How many.
    pub lost: u64,
    /// How many are left.
    pub left: u64,
}

impl fmt::Display for FunnelRow {
    /// `12 left: 3 more of a line (--max-per-line)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12} left: {} {}", self.left, self.lost, self.what)?;
        match self.option.starts_with("--") && !self.what.contains(self.option) {
            true => write!(f, " ({})", self.option),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_filter_is_named_and_the_others_counted() {
        let mut funnel = Funnel {
            seen: 100,
            ..Funnel::default()
        };
        funnel.lose(FunnelStep::Duplicate, 60);
        funnel.lose(FunnelStep::Cp, 30);
        funnel.lose(FunnelStep::Check, 1);
        funnel.lose(FunnelStep::Line, 2);
        assert_eq!(funnel.worst(), Some(("--eval", 30)));
        let rows: Vec<_> = funnel.rows().map(|row| row.to_string()).collect();
        assert_eq!(
            rows,
            [
                "          99 left: 1 in check (--in-check)",
                "          39 left: 60 again (--unique)",
                "          37 left: 2 more of a line (--max-per-line)",
                "           7 left: 30 outside --eval",
            ]
        );
        for (at, (step, ..)) in STEPS.iter().enumerate() {
            assert_eq!(*step as usize, at);
        }
    }
}
