//! Performance ratings of counted games.

use shakmaty::Color;

use tabia_games::index::Counts;

/// The rounded mean rating of the opponents of a side, and its performance; zeros if no
/// rating is known.
pub(super) fn against(counts: &Counts, own: Color) -> (i64, i64) {
    let (rated, sum) = (*counts.rated.get(!own), *counts.sum.get(!own));
    let mean = sum as f64 / rated.max(1) as f64;
    match counts.results(own).performance(mean) {
        Some(performance) if rated > 0 => (mean.round() as i64, performance.round() as i64),
        _ => (0, 0),
    }
}
