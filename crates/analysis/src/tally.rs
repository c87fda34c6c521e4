//! Games with their results, and how certain the score is.

use serde::Serialize;

use tabia_notation::Results;

/// Games and their results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    pub games: u64,
    /// Games with a result.
    #[serde(flatten)]
    pub results: Results,
}

impl Tally {
    /// Counts a game by the half points of the player.
    pub fn count(&mut self, half_points: Option<u8>) {
        self.games += 1;
        if let Some(half_points) = half_points {
            self.results.count_points(half_points);
        }
    }

    /// The 95 % interval of the points per game: [`Results::interval`].
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.results.interval()
    }

    /// Points below half of all points.
    #[must_use]
    pub fn deficit(&self) -> f64 {
        (self.results.losses as f64 - self.results.wins as f64) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(wins: u64, draws: u64, losses: u64) -> Tally {
        let results = Results::new(wins, draws, losses);
        Tally {
            games: results.games(),
            results,
        }
    }

    #[test]
    fn draws_tell_more_than_wins_and_losses() {
        let [low, _] = score(90, 0, 10).interval().unwrap();
        assert!((low - 0.8256).abs() < 0.0001, "{low}");
        let [low, _] = score(3, 4, 3).interval().unwrap();
        assert!((low - 0.284).abs() < 0.001, "{low}");
    }

    proptest! {
        #[test]
        fn the_score_lies_in_its_interval(wins in 0_u64..500, draws in 0_u64..500, losses in 0_u64..500) {
            let score = score(wins, draws, losses);
            let Some([low, high]) = score.interval() else {
                prop_assert_eq!(wins + draws + losses, 0);
                return Ok(());
            };
            let share = score.results.score().unwrap();
            prop_assert!(0.0 <= low + 1e-9 && low <= share + 1e-9);
            prop_assert!(share <= high + 1e-9 && high <= 1.0 + 1e-9);
        }
    }
}
