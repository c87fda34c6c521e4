//! The seeds and former findings of the fuzz targets, as plain tests.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

#[test]
fn every_seed_and_former_crash_of_the_fuzz_targets_passes() {
    for (name, body) in fuzz::TARGETS {
        let inputs = fuzz::inputs(name);
        assert!(inputs.len() > 1, "{name} has no seeds");
        inputs.iter().for_each(|input| body(input));
    }
}

/// The first steps of a fuzzer, without one: every seed truncated, and with single bytes
/// changed.
#[test]
fn truncated_and_changed_seeds_of_the_fuzz_targets_pass() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    };
    for (name, body) in fuzz::TARGETS {
        let inputs = fuzz::inputs(name);
        for _ in 0..40 {
            let mut input = inputs[random() % inputs.len()].clone();
            if input.is_empty() {
                continue;
            }
            if random() % 3 == 0 {
                input.truncate(random() % input.len() + 1);
            }
            for _ in 0..random() % 4 {
                let at = random() % input.len();
                input[at] = random().to_le_bytes()[0];
            }
            body(&input);
        }
    }
}
