//! Which states a sweep looks at.
//!
//! Values are backed up in sweeps, from the last state to the first. The first sweep looks at
//! all of them; a later one only at states of which one after them has changed since they were
//! looked at: some hundreds of the four million of a large book, in up to seventy sweeps.

use super::states::States;

/// For each state, the states that have a move to it.
struct Before {
    /// Where those of each state begin; one more at the end.
    first: Vec<u32>,
    states: Vec<u32>,
}

impl Before {
    fn new(states: &States<'_>) -> Before {
        let arrivals = || {
            states.iter().flat_map(|(n, state)| {
                let steps = states.steps(state).iter();
                steps.filter_map(move |step| Some((n as u32, step.to()?)))
            })
        };
        let mut first = vec![0; states.len() + 1];
        let mut all = 0;
        for (_, to) in arrivals() {
            first[to as usize] += 1;
            all += 1;
        }
        // Each begins where the one before ends; filling moves the ends to the beginnings.
        let mut end = 0;
        for count in &mut first {
            end += *count;
            *count = end;
        }
        let mut before = vec![0; all];
        for (from, to) in arrivals() {
            let place = &mut first[to as usize];
            *place -= 1;
            before[*place as usize] = from;
        }
        Before {
            first,
            states: before,
        }
    }

    fn of(&self, state: usize) -> &[u32] {
        let place = |n: usize| self.first.get(n).map_or(0, |first| *first as usize);
        let states = self.states.get(place(state)..place(state + 1));
        states.unwrap_or_default()
    }
}

/// The states that wait for a sweep.
pub(super) struct Sweeps {
    before: Before,
    /// A bit for each state.
    waiting: Vec<u64>,
}

impl Sweeps {
    /// All states wait for the first sweep.
    pub(super) fn new(states: &States<'_>) -> Sweeps {
        let mut waiting = vec![u64::MAX; states.len().div_ceil(64)];
        if let (Some(last), rest @ 1..) = (waiting.last_mut(), states.len() % 64) {
            *last = (1 << rest) - 1;
        }
        Sweeps {
            before: Before::new(states),
            waiting,
        }
    }

    /// Looks at the states that wait, the last one first, and at those before one that
    /// `look` has changed: in this sweep if they come later in it, else in the next one.
    pub(super) fn sweep(&mut self, mut look: impl FnMut(usize) -> bool) {
        for word in (0..self.waiting.len()).rev() {
            let mut later = u64::MAX;
            while let bits @ 1.. = self.waiting[word] & later {
                let bit = bits.ilog2();
                later = (1 << bit) - 1;
                self.waiting[word] &= !(1 << bit);
                let state = 64 * word + bit as usize;
                if look(state) {
                    for before in self.before.of(state) {
                        self.waiting[*before as usize / 64] |= 1 << (before % 64);
                    }
                }
            }
        }
    }
}
