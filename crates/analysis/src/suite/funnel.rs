//! Counts the positions left out at each step of making a suite.

tabia_notation::named! {
    /// The steps at which positions are left out, in their order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FunnelStep {
        /// Lines that end before the first wanted ply.
        Short = "short",
        /// Not below the wanted position.
        Elsewhere = "elsewhere",
        /// The other side is to move.
        Side = "side",
        /// Other queens than wanted.
        Queens = "queens",
        /// More or fewer men than wanted.
        Men = "men",
        /// Kings on other files than wanted.
        Castled = "castled",
        /// The side to move is in check.
        Check = "check",
        /// The game is over.
        Over = "over",
        /// A capture wins material.
        Loud = "loud",
        /// The same position again; merging loses none.
        Duplicate = "duplicate",
        /// The same position with colours exchanged.
        Mirror = "mirror",
        /// Too few games.
        Games = "games",
        /// Reached too rarely.
        Share = "share",
        /// Enough positions of the same line.
        Line = "line",
        /// No value is known.
        Unknown = "unknown",
        /// A mate, or an advantage that decides the game.
        Decided = "decided",
        /// The other side is better.
        Better = "better",
        /// The value is outside the wanted range.
        Cp = "cp",
        /// The predicted wins are outside the wanted range.
        Wins = "wins",
        /// The value of the second search is outside the wanted ranges.
        Unconfirmed = "unconfirmed",
        /// More than wanted.
        Count = "count",
    }
}

/// The number of positions left out at each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Positions examined, each time they occur, and games without a position to examine.
    pub seen: u64,
    lost: [u64; FunnelStep::ALL.len()],
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

    /// The step that left out the most, and how many.
    #[must_use]
    pub fn worst(&self) -> Option<(FunnelStep, u64)> {
        let all = FunnelStep::ALL.iter().copied().zip(self.lost);
        // Merging equal positions loses none.
        let all = all.filter(|(step, lost)| *lost > 0 && *step != FunnelStep::Duplicate);
        all.max_by_key(|(_, lost)| *lost)
    }

    /// The steps that left out some, in their order.
    pub fn rows(&self) -> impl Iterator<Item = FunnelRow> {
        let mut left = self.seen;
        let steps = FunnelStep::ALL.iter().zip(self.lost);
        steps.filter_map(move |(&step, lost)| {
            left = left.saturating_sub(lost);
            (lost > 0).then_some(FunnelRow { step, lost, left })
        })
    }
}

/// A step that left out some positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunnelRow {
    /// The step.
    pub step: FunnelStep,
    /// Number of positions left out.
    pub lost: u64,
    /// Number of positions left.
    pub left: u64,
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
        assert_eq!(funnel.worst(), Some((FunnelStep::Cp, 30)));
        let rows: Vec<_> = funnel
            .rows()
            .map(|row| (row.step, row.lost, row.left))
            .collect();
        assert_eq!(
            rows,
            [
                (FunnelStep::Check, 1, 99),
                (FunnelStep::Duplicate, 60, 39),
                (FunnelStep::Line, 2, 37),
                (FunnelStep::Cp, 30, 7),
            ]
        );
    }
}
