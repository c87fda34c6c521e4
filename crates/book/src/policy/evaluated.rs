//! Weights from evaluations.

use super::{Judgement, base_weight};
use crate::BookMove;
use crate::eval::model::expected_of_cp;

/// Gain of expected score that makes a weight e times as large.
const SCALE: f64 = 0.02;

/// The weight of the best candidate by evaluations alone.
const BEST: f64 = 1000.0;

/// The learn value that reduces the weight of a move as much as [`Judgement::Both`] does:
/// `value` and `best` are centipawns, of the move and of the best one. Never -125, which
/// would forbid the move.
#[must_use]
pub fn learn_value(value: i32, best: i32) -> i8 {
    let log_share = (expected_of_cp(value.into()) - expected_of_cp(best.into())) / SCALE;
    (125.0 * log_share / 16_f64.ln()).round().clamp(-124.0, 0.0) as i8
}

/// Weights for the candidates of a position by their evaluations; empty if there are
/// none, or the policy does not use them. A candidate without an evaluation counts like
/// the lowest of the others: a few games against weak players are no reason to trust it.
pub(super) fn evaluation_weights(candidates: &[&BookMove], judgement: Judgement) -> Vec<f64> {
    let known = candidates.iter().filter_map(|entry| entry.evaluation);
    let known: Vec<i32> = known.map(|known| known.value).collect();
    let (Some(least), Some(best)) = (known.iter().min(), known.iter().max()) else {
        return Vec::new();
    };
    if judgement == Judgement::Results {
        return Vec::new();
    }
    let best = expected_of_cp(f64::from(*best));
    let weight = |entry: &&BookMove| {
        let value = entry.evaluation.map_or(*least, |known| known.value);
        let share = ((expected_of_cp(value.into()) - best) / SCALE).exp();
        match judgement {
            Judgement::Both => base_weight(entry) * share,
            _ => BEST * share,
        }
    };
    candidates.iter().map(weight).collect()
}
