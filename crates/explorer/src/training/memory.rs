//! How well a position is known, and when it is asked again: FSRS 4.5, by its published
//! [formulas and default parameters](https://github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm).
//!
//! The crates were tried. `fsrs` 6.6 computes these two numbers and trains its own
//! parameters: 40 more crates (ndarray, rayon, snafu, strum) for the formulas below. `rs-fsrs`
//! 1.2 reads the clock when its parameters are made, through chrono, which a WebAssembly
//! module without wasm-bindgen cannot, and names no licence in its manifest. Both count whole
//! days, while a position that was missed is asked again within minutes.

/// The published default parameters.
const W: [f64; 17] = [
    0.4872, 1.4003, 3.7145, 13.8206, 5.1618, 1.2298, 0.8975, 0.031, 1.6474, 0.1367, 1.0461, 2.1072,
    0.0793, 0.3246, 1.587, 0.2272, 2.8755,
];

/// Greatest delay of a position, in days.
pub(super) const LONGEST: f64 = 365.0;

/// The memory of a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Memory {
    /// The days after which it is known with a probability of 90 %; 0 if it was never asked.
    pub(super) stability: f64,
    /// From 1 to 10.
    pub(super) difficulty: f64,
}

/// The memory of a position that was never asked.
pub(super) const UNASKED: Memory = Memory {
    stability: 0.0,
    difficulty: W[4],
};

impl Memory {
    /// The memory after an answer, `days` after the last one.
    #[must_use]
    pub(super) fn after(self, right: bool, days: f64) -> Memory {
        // The grades "good" and "again".
        let grade = if right { 3.0 } else { 1.0 };
        let Memory {
            stability,
            difficulty,
        } = self;
        if stability == 0.0 {
            return Memory {
                stability: if right { W[2] } else { W[0] },
                difficulty: W[4] - (grade - 3.0) * W[5],
            };
        }
        let forgotten = 1.0 - (1.0 + 19.0 / 81.0 * days / stability).powf(-0.5);
        let next = if right {
            let growth = (W[10] * forgotten).exp_m1();
            stability * (1.0 + W[8].exp() * (11.0 - difficulty) * stability.powf(-W[9]) * growth)
        } else {
            let relearnt = W[11]
                * difficulty.powf(-W[12])
                * ((stability + 1.0).powf(W[13]) - 1.0)
                * (W[14] * forgotten).exp();
            relearnt.min(stability)
        };
        let changed = difficulty - W[6] * (grade - 3.0);
        Memory {
            stability: next.clamp(0.1, LONGEST),
            difficulty: (W[7] * W[4] + (1.0 - W[7]) * changed).clamp(1.0, 10.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(value: f64, expected: f64, what: &str) {
        let most = 1e-4 * expected.max(1.0);
        assert!(
            (value - expected).abs() < most,
            "{what}: {value}, not {expected}"
        );
    }

    /// The days after which a position with this stability is known with this probability.
    fn days_for(probability: f64, stability: f64) -> f64 {
        (probability.powi(-2) - 1.0) * stability * 81.0 / 19.0
    }

    // The figures are those of the tests of fsrs-rs at version 4.5 (its src/model.rs, commit
    // 2c8c951), and of ts-fsrs.
    #[test]
    fn positions_are_scheduled_as_fsrs_4_5_publishes_it() {
        let steps = [
            // Right or wrong, days since the last answer, difficulty and stability after it.
            (false, 0.0, 7.6214, 0.4872),
            (true, 0.0, 7.5452, 0.4872),
            (true, 1.0, 7.4713, 2.4661),
            (true, 3.0, 7.3997, 7.7127),
            (true, 8.0, 7.3303, 20.1432),
            (true, 21.0, 7.2631, 49.2964),
        ];
        let mut memory = UNASKED;
        for (right, days, difficulty, stability) in steps {
            memory = memory.after(right, days);
            near(memory.difficulty, difficulty, "difficulty");
            near(memory.stability, stability, "stability");
        }
        let twice = |right| UNASKED.after(right, 0.0).after(right, 1.0);
        near(twice(false).stability, 0.327_360_1, "wrong twice");
        near(twice(false).difficulty, 9.284_508, "wrong twice");
        near(twice(true).stability, 6.731_071_5, "right twice");
        near(twice(true).difficulty, 5.1618, "right twice");
        let of = |stability, difficulty| Memory {
            stability,
            difficulty,
        };
        let recalled = of(5.0, 3.0).after(true, days_for(0.7, 5.0));
        near(recalled.stability, 66.459_66, "recalled");
        let forgotten = of(5.0, 1.0).after(false, days_for(0.9, 5.0));
        near(forgotten.stability, 1.948_293_4, "forgotten");
        near(
            of(5.0, 5.0).after(false, 1.0).difficulty,
            6.744_371,
            "wrong",
        );
        near(of(5.0, 5.0).after(true, 1.0).difficulty, 5.005_016, "right");
    }

    proptest! {
        #[test]
        fn a_right_answer_never_shortens_and_a_wrong_one_never_lengthens_the_delay(
            answers in proptest::collection::vec((any::<bool>(), 0.0..60.0_f64), 1..30),
        ) {
            let mut memory = UNASKED;
            for (is_right, days) in answers {
                let [right, wrong] = [true, false].map(|right| memory.after(right, days));
                if memory.stability > 0.0 {
                    prop_assert!(right.stability >= memory.stability.min(LONGEST));
                    prop_assert!(wrong.stability <= memory.stability.max(0.1));
                    prop_assert!(wrong.difficulty >= right.difficulty);
                }
                memory = if is_right { right } else { wrong };
                prop_assert!((0.1..=LONGEST).contains(&memory.stability));
                prop_assert!((1.0..=10.0).contains(&memory.difficulty));
            }
        }
    }
}
