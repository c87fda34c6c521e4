//! Which states a sweep looks at.
//!
//! Values are backed up in sweeps, from the last state to the first. The first sweep looks at
//! all states, later ones only at those with a successor that has changed since: some ten
//! thousand of the four million states of a large book, in up to seventy sweeps.

use tabia_book::eval::Predecessors;

/// The states that wait for a sweep.
pub(super) struct Sweeps {
    before: Predecessors,
    /// A bit for each state.
    waiting: Vec<u64>,
}

impl Sweeps {
    /// All of `count` states wait for the first sweep. `moves` are from one to another.
    pub(super) fn new(count: usize, moves: impl Iterator<Item = (u32, u32)> + Clone) -> Sweeps {
        let mut waiting = vec![u64::MAX; count.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (waiting.last_mut(), count % 64) {
            *last = (1 << rest) - 1;
        }
        Sweeps {
            before: Predecessors::new(count, moves),
            waiting,
        }
    }

    /// Looks at the states that wait, the last one first. Where `look` has changed one, those
    /// before it wait again: for this sweep if it has not come to them, else for the next.
    pub(super) fn sweep(&mut self, mut look: impl FnMut(usize) -> bool) {
        for word in (0..self.waiting.len()).rev() {
            let mut to_come = u64::MAX;
            while let bits @ 1.. = self.waiting[word] & to_come {
                let bit = bits.ilog2();
                to_come = (1 << bit) - 1;
                self.waiting[word] &= !(1 << bit);
                let state = 64 * word + bit as usize;
                if look(state) {
                    for before in self.before.of(state as u32) {
                        self.waiting[*before as usize / 64] |= 1 << (before % 64);
                    }
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
        /// After each sweep, the values are those of a sweep over all states.
        #[test]
        fn what_is_not_looked_at_would_not_change(
            count in 1_usize..200,
            moves in prop::collection::vec((0_u32..200, 0_u32..200), 0..600),
            own in prop::collection::vec(0_u32..1000, 200),
        ) {
            let inside = moves.into_iter().map(|(from, to)| (from % count as u32, to % count as u32));
            let moves: Vec<_> = inside.collect();
            let back_up = |values: &[u32], state: usize| {
                let after = moves.iter().filter(|(from, _)| *from as usize == state);
                let after = after.map(|(_, to)| values[*to as usize] / 2);
                after.chain([own[state]]).max().unwrap_or(0)
            };
            let (mut all, mut some) = (vec![0; count], vec![0; count]);
            let mut sweeps = Sweeps::new(count, moves.iter().copied());
            for round in 0..20 {
                for state in (0..count).rev() {
                    all[state] = back_up(&all, state);
                }
                let mut looked = 0;
                sweeps.sweep(|state| {
                    looked += 1;
                    let new = back_up(&some, state);
                    std::mem::replace(&mut some[state], new) != new
                });
                prop_assert_eq!(&all, &some);
                prop_assert!(round > 0 || looked == count);
            }
            let mut looked = 0;
            sweeps.sweep(|_| { looked += 1; false });
            prop_assert_eq!(looked, 0);
        }
    }
}
