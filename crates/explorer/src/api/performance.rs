//! Performance ratings of counted games.

use shakmaty::Color;

use tabia_book::rating_difference;
use tabia_games::index::Counts;

/// The mean rating of the opponents of a side, rounded, and its performance;
/// zeros where no rating is known.
pub(super) fn against(counts: &Counts, own: Color) -> (i64, i64) {
    let (rated, sum) = (*counts.rated.get(!own), *counts.sum.get(!own));
    let games = counts.games();
    if rated == 0 || games == 0 {
        return (0, 0);
    }
    let mean = sum as f64 / rated as f64;
    let points = *counts.won.get(own) as f64 + counts.draws as f64 / 2.0;
    let performance = mean + rating_difference(points / games as f64);
    (mean.round() as i64, performance.round() as i64)
}
