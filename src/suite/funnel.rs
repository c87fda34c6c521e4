//! What became of the positions on the way into a suite.

/// Where positions stay behind, in the order in which it is asked.
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
    Unknown,
    Decided,
    Cp,
    Wins,
    Line,
    Count,
}

/// The steps with their names: the option, or what else it is.
pub(super) const STEPS: [(FunnelStep, &str, &str); 19] = [
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
    (
        FunnelStep::Unknown,
        "--eval or --win without a value",
        "without a value",
    ),
    (FunnelStep::Decided, "--drop-mates", "decided"),
    (FunnelStep::Cp, "--eval", "outside --eval"),
    (FunnelStep::Wins, "--win", "outside --win"),
    (FunnelStep::Line, "--max-per-line", "more of a line"),
    (FunnelStep::Count, "--count", "more than --count"),
];

/// How many stayed behind where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Positions that were looked at, equal ones each time, and games that
    /// had none to look at.
    pub seen: u64,
    lost: [u64; STEPS.len()],
}

impl Funnel {
    /// Some stay behind.
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

    /// How many stayed behind at a step.
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

    /// Every step that took some: what stayed behind, and how many are left.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let mut left = self.seen;
        STEPS.iter().filter_map(move |(step, _, what)| {
            let lost = self.lost(*step);
            left = left.saturating_sub(lost);
            (lost > 0).then_some((*what, lost, left))
        })
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
        assert_eq!(funnel.worst(), Some(("--eval", 30)));
        let rows: Vec<_> = funnel.rows().collect();
        assert_eq!(
            rows,
            [
                ("in check", 1, 99),
                ("again", 60, 39),
                ("outside --eval", 30, 9)
            ]
        );
        for (at, (step, ..)) in STEPS.iter().enumerate() {
            assert_eq!(*step as usize, at);
        }
    }
}
