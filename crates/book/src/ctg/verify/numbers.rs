//! Checks of the numbers of an entry.

use super::ProblemKind;
use crate::{PositionRecord, Stats};

/// Checks the statistics of an entry; `problem` gets offsets from their begin. Whether there
/// are results but no expected points, as in old books.
pub(super) fn check_numbers(
    record: &PositionRecord,
    problem: &mut dyn FnMut(u64, ProblemKind, String),
) -> bool {
    let stats = record.stats;
    let results = stats.results().games();
    let mut without_points = false;
    if results > stats.games.into() {
        let text = format!(
            "{} wins, {} losses and {} draws are more than {} games",
            stats.wins, stats.losses, stats.draws, stats.games
        );
        problem(0, ProblemKind::Results, text);
    } else {
        let least = 5 * stats.results().half_points();
        let most = least + 10 * u64::from(stats.unfinished());
        let points = u64::from(record.points);
        if points == 0 && least > 0 {
            without_points = true;
        } else if !(least..=most).contains(&points) {
            let text =
                format!("ten times the points are {points}, the results make {least} to {most}");
            problem(12, ProblemKind::Points, text);
        }
    }
    let Stats {
        own_rated,
        own_rating_sum,
        other_rated,
        other_rating_sum,
        ..
    } = stats;
    for (offset, rated, sum) in [
        (16, own_rated, own_rating_sum),
        (23, other_rated, other_rating_sum),
    ] {
        if rated > stats.games {
            let text = format!("{rated} ratings are more than {} games", stats.games);
            problem(offset, ProblemKind::Ratings, text);
        } else if (rated == 0) != (sum == 0) {
            let text = format!("{rated} ratings add up to {sum}");
            problem(offset, ProblemKind::Ratings, text);
        }
    }
    without_points
}
