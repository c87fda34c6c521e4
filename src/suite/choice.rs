//! Which positions are taken, and where they stand in the file.

use std::collections::HashMap;

use super::entry::{Ranked, StartPosition, mix, number_of};
use super::funnel::{Funnel, FunnelStep};
use super::{Error, SuiteJob, SuiteOrder, ValueWindow};
use crate::sort::Sorter;

/// The place in the order of choice: by games, then by share; or drawn by
/// weight (each gets the -ln of a random number divided by its weight, the
/// least come first: Efraimidis and Spirakis).
pub(super) fn rank_of_choice(job: &SuiteJob, entry: &StartPosition, share: f64) -> (u32, u64, u64) {
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
    // Positive numbers are in the order of their bits.
    let bits = (-uniform.ln() / weight).to_bits();
    ((bits >> 32) as u32, bits << 32, key)
}

/// The place in the file.
fn rank_of_order(job: &SuiteJob, entry: &StartPosition) -> (u32, u64, u64) {
    let key = number_of(&entry.own);
    let random = mix(key ^ mix(job.seed));
    match job.order {
        SuiteOrder::Random => ((random >> 32) as u32, random, key),
        SuiteOrder::Popular => {
            let games = u32::try_from(entry.games()).unwrap_or(u32::MAX);
            (u32::MAX - games, u64::MAX - entry.share, random)
        }
        SuiteOrder::Eval => {
            let cp = entry
                .worth
                .map_or(u32::MAX, |worth| worth.cp().unsigned_abs());
            (cp, random, key)
        }
        SuiteOrder::File => ((entry.first >> 32) as u32, entry.first, key),
    }
}

/// What was taken so far.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) seen: u64,
    pub(super) taken: u64,
    lines: HashMap<u64, u32>,
}

impl Choice {
    pub(super) fn take(
        &mut self,
        job: &SuiteJob,
        window: ValueWindow,
        entry: StartPosition,
        funnel: &mut Funnel,
        chosen: &mut Sorter<Ranked>,
    ) -> Result<(), Error> {
        self.seen += 1;
        let Some(position) = entry.position() else {
            return Ok(());
        };
        let outside = match &entry.worth {
            Some(worth) => window.refuses(&position, worth),
            None => window.needs_value().then_some(FunnelStep::Unknown),
        };
        if let Some(step) = outside {
            funnel.lose(step, 1);
            return Ok(());
        }
        if let Some((most, plies)) = job.per_line {
            let path = entry.path.get(..2 * plies).unwrap_or(&entry.path);
            let line = [entry.start.as_slice(), path].concat();
            let count = self.lines.entry(number_of(&line)).or_default();
            if *count >= most {
                funnel.lose(FunnelStep::Line, 1);
                return Ok(());
            }
            *count += 1;
        }
        if job.count.is_some_and(|count| self.taken >= count) {
            funnel.lose(FunnelStep::Count, 1);
            return Ok(());
        }
        self.taken += 1;
        let rank = rank_of_order(job, &entry);
        Ok(chosen.push(&Ranked { rank, entry })?)
    }
}
