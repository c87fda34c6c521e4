//! Weights out of evaluations.

use super::Judgement;
use crate::book::BookMove;
use crate::eval::model::{EVALUATION_GAMES, expected_of_cp};
use crate::eval::stats::{Results, among_equals};

/// Points that make a weight e times as large.
const SCALE: f64 = 0.02;

/// Weights for the candidates of a position, by what they are worth; empty
/// where no evaluation is known, or none is wanted.
pub(super) fn judged_weights(candidates: &[&BookMove], judgement: Judgement) -> Vec<f64> {
    let known = candidates.iter().filter_map(|mv| mv.judged);
    let least = known.map(|judged| judged.value).min();
    let Some(least) = least.filter(|_| judgement != Judgement::Results) else {
        return Vec::new();
    };
    let worth: Vec<f64> = candidates
        .iter()
        .map(|mv| match (mv.judged, judgement) {
            (Some(judged), Judgement::Evaluations) => expected_of_cp(judged.value.into()),
            (Some(judged), _) => blended(mv, expected_of_cp(judged.value.into())),
            // Nobody has looked: no better than the least of the others, but
            // for its results.
            (None, _) => blended(mv, expected_of_cp(least.into())),
        })
        .collect();
    let best = worth.iter().copied().fold(0.0, f64::max);
    let weight = |worth: &f64| 1000.0 * ((worth - best) / SCALE).exp();
    worth.iter().map(weight).collect()
}

/// Results as they would be among equals, with the evaluation as so many games
/// more.
fn blended(mv: &BookMove, evaluation: f64) -> f64 {
    let stats = mv.stats();
    let results = Results::of(&stats);
    let difference = match (stats.average_elo(), stats.opponents_elo()) {
        (Some(own), Some(other)) => own - other,
        _ => 0.0,
    };
    // A score of all points has no odds to correct before it is shrunk.
    let shrunk = results.shrunk(evaluation, EVALUATION_GAMES);
    let share = results.games() / (results.games() + EVALUATION_GAMES);
    among_equals(shrunk, difference * share)
}
