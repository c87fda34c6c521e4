//! Counts the positions left out at each step of making a suite.

use std::fmt;

/// The steps at which positions are left out, in their order.
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

/// The steps in their order: the option or another name, and what is left out.
const STEPS: [(&str, &str); 21] = [
    ("--plies", "end before that ply"),
    ("--line, --fen", "not below that position"),
    ("--side", "the other side to move"),
    ("--queens", "other queens"),
    ("--men", "other number of men"),
    ("--castled", "other kings"),
    ("--in-check", "in check"),
    ("games that are over", "over"),
    ("--quiet", "not quiet"),
    ("--unique", "again"),
    ("--unique mirror", "mirrors"),
    ("--min-games", "too few games"),
    ("--min-share", "too rare"),
    ("--max-per-line", "more of a line"),
    (
        "--eval, --win or --better without a value",
        "without a value",
    ),
    ("--drop-mates", "decided"),
    ("--better", "the other side better"),
    ("--eval", "outside --eval"),
    ("--win", "outside --win"),
    ("--confirm-nodes", "outside when searched again"),
    ("--count", "more than --count"),
];

/// The number of positions left out at each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Positions examined, each time they occur, and games without a position to examine.
    pub seen: u64,
    lost: [u64; STEPS.len()],
}

impl Funnel {
    /// Counts positions that are left out.
    pub fn lose(&mut self, step: FunnelStep, count: u64) {
        if let Some(lost) = self.lost.get_mut(step as usize) {
            *lost += count;
        }
    }

    /// Adds the counts of another funnel.
    pub fn add(&mut self, other: &Funnel) {
        self.seen += other.seen;
        for (a, b) in self.lost.iter_mut().zip(other.lost) {
            *a += b;
        }
    }

    /// The number of positions left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.seen.saturating_sub(self.lost.iter().sum())
    }

    /// The step that left out the most, by its name.
    #[must_use]
    pub fn worst(&self) -> Option<(&'static str, u64)> {
        let all = STEPS.iter().map(|(name, _)| *name).zip(self.lost);
        // Merging equal positions loses none.
        let all = all.filter(|(name, lost)| *lost > 0 && *name != "--unique");
        all.max_by_key(|(_, lost)| *lost)
    }

    /// The steps that left out some, in their order.
    pub fn rows(&self) -> impl Iterator<Item = FunnelRow> {
        let mut left = self.seen;
        let steps = STEPS.iter().zip(self.lost);
        steps.filter_map(move |(&(option, what), lost)| {
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

/// A step that left out some positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunnelRow {
    /// The option, or another name.
    pub option: &'static str,
    /// What was left out.
    pub what: &'static str,
    /// Number of positions left out.
    pub lost: u64,
    /// Number of positions left.
    pub left: u64,
}

impl fmt::Display for FunnelRow {
    /// In the form `12 left: 3 more of a line (--max-per-line)`.
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
        assert_eq!(FunnelStep::Count as usize, STEPS.len() - 1);
    }
}
