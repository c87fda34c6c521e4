//! Performance ratings by the table of FIDE's handbook (B.02, 8.1.1).

use shakmaty::Color;

use tabia_games::index::Counts;

/// The difference of ratings for a score of 50 to 100 per cent.
const DIFFERENCES: [u16; 51] = [
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158,
    166, 175, 184, 193, 202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366,
    383, 401, 422, 444, 470, 501, 538, 589, 677, 800,
];

/// The difference for a score from 0 to 1, between whole per cents in
/// proportion.
fn difference(score: f64) -> f64 {
    if score < 0.5 {
        return -difference(1.0 - score);
    }
    let percent = (100.0 * score - 50.0).clamp(0.0, 50.0);
    let whole = percent.floor();
    let at = |place: f64| {
        let place = place as usize;
        f64::from(DIFFERENCES.get(place.min(50)).copied().unwrap_or(800))
    };
    at(whole) + (at(whole + 1.0) - at(whole)) * (percent - whole)
}

/// The performance of a score against opponents of a mean rating.
#[must_use]
pub(super) fn performance(score: f64, opponents: f64) -> i64 {
    (opponents + difference(score)).round() as i64
}

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
    (
        mean.round() as i64,
        performance(points / games as f64, mean),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_fide_s() {
        for (score, opponents, expected) in [
            (1.0, 1500.0, 2300),
            (0.0, 1500.0, 700),
            (0.05, 0.0, -470),
            (0.0, 1073.0, 273),
            (0.5, 1800.0, 1800),
            (0.515, 0.0, 11),
            (0.995, 0.0, 739),
        ] {
            assert_eq!(performance(score, opponents), expected, "{score}");
        }
    }
}
