//! Results of pairs of games with colours exchanged, and the strength that they show.

use serde::Serialize;

use tabia_book::eval::model::elo;

/// Results of pairs: both games of an opening, with colours exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// Pairs by points of the first player: 0, 0.5, 1, 1.5, 2.
    pub pentanomial: [u64; 5],
    /// Games won, drawn and lost by the first player.
    pub games: [u64; 3],
}

/// The strength of two players computed from pairs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Strength {
    /// Points per game, 0 to 1.
    pub score: f64,
    /// Variance of the score of a pair.
    pub variance: f64,
    /// Elo, and half of its 95 % interval.
    pub elo: [f64; 2],
    /// Normalized Elo, and half of its 95 % interval.
    pub nelo: [f64; 2],
    /// Likelihood that the first player is stronger.
    pub los: f64,
    /// Root mean square of the openings' bias, in Elo.
    pub rms_bias: f64,
}

impl Pairs {
    /// Counts a pair by the half points of the first player in each game.
    pub fn add(&mut self, half_points: [u8; 2]) {
        for half_points in half_points {
            self.games[usize::from(2 - half_points)] += 1;
        }
        self.pentanomial[usize::from(half_points.iter().sum::<u8>())] += 1;
    }

    /// The number of pairs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.pentanomial.iter().sum()
    }

    /// The strength; `None` without pairs.
    #[must_use]
    pub fn strength(&self) -> Option<Strength> {
        let pairs = self.count() as f64;
        if pairs == 0.0 {
            return None;
        }
        let points = || (0..5).map(|n| f64::from(n) / 4.0).zip(self.pentanomial);
        let score = points().map(|(s, n)| s * n as f64).sum::<f64>() / pairs;
        let variance = points()
            .map(|(s, n)| (s - score).powi(2) * n as f64)
            .sum::<f64>()
            / pairs;
        let error = (variance / pairs).sqrt();
        let games = 2.0 * pairs;
        let of_games = [1.0, 0.5, 0.0].iter().zip(self.games);
        let of_games = of_games
            .map(|(s, n)| (s - score).powi(2) * n as f64)
            .sum::<f64>()
            / games;
        let bias = (of_games - 2.0 * variance).max(0.0).sqrt();
        const NELO: f64 = 800.0 / std::f64::consts::LN_10;
        let deviation = (2.0 * variance).sqrt();
        let nelo = |s: f64| match deviation > 0.0 {
            true => (s - 0.5) / deviation * NELO,
            false => 0.0,
        };
        let half = 1.96 * error;
        Some(Strength {
            score,
            variance,
            elo: [elo(score), (elo(score + half) - elo(score - half)) / 2.0],
            nelo: [nelo(score), nelo(0.5 + half)],
            los: normal((score - 0.5) / error.max(1e-12)),
            rms_bias: elo(0.5 + bias.min(0.499)),
        })
    }
}

/// The normal distribution function (Abramowitz and Stegun 7.1.26, to 1.5e-7).
fn normal(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = series * (-z * z).exp() / 2.0;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_genuine_match_has_its_published_figures() {
        let pairs = Pairs {
            pentanomial: [18, 462, 1026, 473, 21],
            games: [1048, 1921, 1031],
        };
        let strength = pairs.strength().unwrap();
        assert!((strength.score - 0.5021).abs() < 1e-4);
        assert!((strength.variance - 0.0341).abs() < 1e-4);
        assert!((strength.elo[1] - 5.6).abs() < 0.05);
        assert!((strength.nelo[0] - 2.8).abs() < 0.05);
        assert!((strength.rms_bias - 189.0).abs() < 1.0);
        assert!((0.65..0.75).contains(&strength.los));
        assert!(Pairs::default().strength().is_none());
        assert!((normal(1.96) - 0.975).abs() < 1e-4 && (normal(-1.96) - 0.025).abs() < 1e-4);
    }
}
