//! Chooses positions, and orders them in the file.

use std::collections::HashMap;

use shakmaty::Chess;

use super::entry::{Ranked, StartPosition, mix, number_of};
use super::evaluate::Evaluated;
use super::full_lines::{FullLines, line_of};
use super::job::{SuiteJob, SuiteOrder};
use crate::Error;
use crate::funnel::{Funnel, FunnelStep};
use tabia_io::sort::Sorter;

/// The sort key for the choice: by games, then by share; or drawn by weight (each gets
/// the -ln of a random number divided by its weight, the lowest come first: Efraimidis
/// and Spirakis).
pub(super) fn selection_rank(job: &SuiteJob, entry: &StartPosition, share: f64) -> (u32, u64, u64) {
    let key = number_of(&entry.own);
    if !job.sample {
        let games = u32::try_from(entry.games()).unwrap_or(u32::MAX);
        return (
            u32::MAX - games,
            u64::MAX - entry.share,
            mix(key ^ job.seed),
        );
    }
    let random = mix(key ^ mix(job.seed.wrapping_mul(2).wrapping_add(1)));
    let uniform = ((random >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let weight = match entry.games() {
        0 => share.max(1e-12),
        games => games as f64,
    };
    // Positive numbers have the same order as their bits.
    let bits = (-uniform.ln() / weight).to_bits();
    ((bits >> 32) as u32, bits << 32, key)
}

/// The sort key for the file.
fn order_rank(job: &SuiteJob, entry: &StartPosition) -> (u32, u64, u64) {
    let key = number_of(&entry.own);
    let random = mix(key ^ mix(job.seed));
    match job.order {
        SuiteOrder::Random => ((random >> 32) as u32, random, key),
        SuiteOrder::Popular => {
            let games = u32::try_from(entry.games()).unwrap_or(u32::MAX);
            (u32::MAX - games, u64::MAX - entry.share, random)
        }
        SuiteOrder::Eval => {
            let cp = entry.eval.map_or(u32::MAX, |eval| eval.cp().unsigned_abs());
            (cp, random, key)
        }
        SuiteOrder::File => ((entry.first >> 32) as u32, entry.first, key),
    }
}

/// The positions chosen so far.
pub(super) struct Selection<'a> {
    job: &'a SuiteJob,
    full: &'a FullLines,
    pub(super) seen: u64,
    pub(super) taken: u64,
    /// Number of positions chosen from each line.
    lines: HashMap<u64, u32>,
    /// Numbers of positions that were searched again.
    pub(super) confirmed: Confirmed,
}

impl<'a> Selection<'a> {
    pub(super) fn new(job: &'a SuiteJob, full: &'a FullLines) -> Selection<'a> {
        Selection {
            job,
            full,
            seen: 0,
            taken: 0,
            lines: HashMap::new(),
            confirmed: Confirmed::default(),
        }
    }

    /// Whether more positions are needed.
    pub(super) fn goes_on(&self) -> bool {
        self.job.count.is_none_or(|count| self.taken < count)
    }

    /// Takes the next position in the order of choice, or returns the step that rejects
    /// it.
    pub(super) fn take(
        &mut self,
        evaluated: Evaluated,
        funnel: &mut Funnel,
        chosen: &mut Sorter<Ranked>,
    ) -> Result<(), Error> {
        self.seen += 1;
        let Some(position) = evaluated.entry.position() else {
            return Ok(());
        };
        if let Some(step) = self.refuses(&evaluated, &position) {
            funnel.lose(step, 1);
            return Ok(());
        }
        if let Some((most, line)) = line_of(self.job, &evaluated.entry) {
            let count = self.lines.entry(line).or_default();
            *count += 1;
            if *count >= most {
                self.full.add(line);
            }
        }
        self.taken += 1;
        let entry = evaluated.entry;
        let rank = order_rank(self.job, &entry);
        Ok(chosen.push(&Ranked { rank, entry })?)
    }

    fn refuses(&mut self, evaluated: &Evaluated, position: &Chess) -> Option<FunnelStep> {
        let job = self.job;
        let (most, line) = line_of(job, &evaluated.entry).unwrap_or((u32::MAX, 0));
        if self.lines.get(&line).copied().unwrap_or(0) >= most {
            return Some(FunnelStep::Line);
        }
        let outside = match &evaluated.entry.eval {
            Some(eval) => job.window.refuses(position, eval).or_else(|| {
                job.confirm?;
                let window = job.window.narrowed(job.confirm_margin);
                window.refuses(position, eval)?;
                Some(FunnelStep::Unconfirmed)
            }),
            None => job.window.needs_value().then_some(FunnelStep::Unknown),
        };
        if evaluated.searched_again {
            self.confirmed.screened += 1;
            if outside.is_some() {
                return Some(FunnelStep::Unconfirmed);
            }
            self.confirmed.stayed += 1;
        } else if outside.is_none() && job.confirm.is_some() {
            self.confirmed.known += 1;
        }
        outside
    }
}

/// Numbers of positions whose first value was found with few nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// Positions that met the conditions on values and were searched again.
    pub screened: u64,
    /// How many of them also met the conditions by the new value.
    pub stayed: u64,
    /// Positions accepted by a known value with as many nodes.
    pub known: u64,
}

impl Confirmed {
    /// The share of screened positions that stayed, 0 to 1; `None` without any.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.screened > 0).then(|| self.stayed as f64 / self.screened as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Position as _;

    /// A position of so many games.
    fn entry(number: usize, games: u64) -> StartPosition {
        let start = Chess::default();
        let after = tabia_notation::after(&start, start.legal_moves()[number]);
        StartPosition {
            played: games,
            ..StartPosition::new(&after, None, &[])
        }
    }

    #[test]
    fn positions_are_taken_by_games_or_drawn_in_proportion_to_them() {
        let mut job = SuiteJob::new(Vec::new(), "a.epd".into());
        let (often, rare) = (entry(0, 20), entry(1, 10));
        let is_first = |job: &SuiteJob| {
            let [a, b] = [&often, &rare].map(|entry| selection_rank(job, entry, 0.0));
            a < b
        };
        assert!((0..50).all(|seed| is_first(&SuiteJob {
            seed,
            ..job.clone()
        })));
        job.sample = true;
        let firsts = (0..3000).filter(|&seed| {
            is_first(&SuiteJob {
                seed,
                ..job.clone()
            })
        });
        assert!(firsts.count().abs_diff(2000) < 100);
    }

    #[test]
    fn the_share_that_stayed_is_of_those_searched_again() {
        let mut confirmed = Confirmed::default();
        assert_eq!(confirmed.share(), None);
        confirmed.screened = 4;
        confirmed.stayed = 3;
        assert_eq!(confirmed.share(), Some(0.75));
    }
}
