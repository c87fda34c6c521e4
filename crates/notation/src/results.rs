//! Numbers of won, drawn and lost games, and the performance rating computed from them.

use std::fmt;
use std::ops::Add;

use shakmaty::Color;

/// Won, drawn and lost games from the view of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Results {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl Results {
    /// Makes results from numbers of wins, draws and losses.
    #[must_use]
    pub const fn new(wins: u64, draws: u64, losses: u64) -> Results {
        Results {
            wins,
            draws,
            losses,
        }
    }

    /// Wins, draws and losses, in this order.
    #[must_use]
    pub const fn parts(self) -> [u64; 3] {
        [self.wins, self.draws, self.losses]
    }

    /// The same games from the view of the other side.
    #[must_use]
    pub const fn reversed(self) -> Results {
        Results::new(self.losses, self.draws, self.wins)
    }

    /// The results from White's view, if these are from the view of `side`.
    #[must_use]
    pub fn for_white(self, side: Color) -> Results {
        side.fold_wb(self, self.reversed())
    }

    /// Counts a game of `side` that `winner` won; `None` is a draw.
    pub fn count(&mut self, side: Color, winner: Option<Color>) {
        self.count_points(winner.map_or(1, |winner| 2 * u8::from(winner == side)));
    }

    /// Counts a game by its half points: 0, 1 or 2.
    pub fn count_points(&mut self, half_points: u8) {
        match half_points {
            0 => self.losses += 1,
            1 => self.draws += 1,
            _ => self.wins += 1,
        }
    }

    /// Games with a result.
    #[must_use]
    pub const fn games(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Half points: two for each win, one for each draw.
    #[must_use]
    pub const fn half_points(self) -> u64 {
        2 * self.wins + self.draws
    }

    /// Share of the points, 0 to 1; `None` without games.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        (self.games() > 0).then(|| self.half_points() as f64 / (2 * self.games()) as f64)
    }

    /// The 95 % interval of the points per game: Wilson's interval, narrower if some games,
    /// but not all, are draws. `None` without games.
    #[must_use]
    pub fn interval(self) -> Option<[f64; 2]> {
        let score = self.score()?;
        let [wins, draws, losses] = self.parts().map(|games| games as f64);
        let games = wins + draws + losses;
        let squares = wins * (1.0 - score).powi(2) + draws * (0.5 - score).powi(2);
        let variance = (squares + losses * score.powi(2)) / games;
        let effective = match variance > 0.0 {
            true => games * score * (1.0 - score) / variance,
            false => games,
        };
        let z = 1.96_f64;
        let centre = score + z * z / (2.0 * effective);
        let spread = score * (1.0 - score) / effective + (z / (2.0 * effective)).powi(2);
        let half = z * spread.sqrt();
        let all = 1.0 + z * z / effective;
        Some([(centre - half) / all, (centre + half) / all])
    }

    /// Performance rating against opponents of this mean rating: the mean plus the
    /// difference in FIDE's table for the score.
    #[must_use]
    pub fn performance(self, opponents: f64) -> Option<f64> {
        Some(opponents + rating_difference(self.score()?))
    }
}

impl Add for Results {
    type Output = Results;

    fn add(self, other: Results) -> Results {
        let [wins, draws, losses] = other.parts();
        Results::new(self.wins + wins, self.draws + draws, self.losses + losses)
    }
}

/// `+3 =1 -0`.
impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} ={} -{}", self.wins, self.draws, self.losses)
    }
}

/// The rating difference for scores of 50 to 100 per cent: FIDE's handbook, B.02, table
/// 8.1.1.
const DIFFERENCES: [u16; 51] = [
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158,
    166, 175, 184, 193, 202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366,
    383, 401, 422, 444, 470, 501, 538, 589, 677, 800,
];

/// The rating difference for a score, 0 to 1, by FIDE's table; interpolated between whole
/// per cents, as in lichess's explorer.
#[must_use]
fn rating_difference(score: f64) -> f64 {
    if score < 0.5 {
        return -rating_difference(1.0 - score);
    }
    let percent = (100.0 * score - 50.0).clamp(0.0, 50.0);
    let whole = percent.floor();
    let at = |place: f64| {
        let place = place as usize;
        f64::from(DIFFERENCES.get(place.min(50)).copied().unwrap_or(800))
    };
    at(whole) + (at(whole + 1.0) - at(whole)) * (percent - whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_fide_s_table() {
        for (score, expected) in [
            (1.0, 800.0),
            (0.0, -800.0),
            (0.05, -470.0),
            (0.5, 0.0),
            (0.515, 10.5),
            (0.99, 677.0),
            (0.995, 738.5),
        ] {
            let difference = rating_difference(score);
            assert!((difference - expected).abs() < 1e-9, "{score} {difference}");
        }
    }
    #[test]
    fn a_game_counts_once_for_each_side() {
        let [mut white, mut black] = [Results::default(); 2];
        for winner in [
            Some(Color::White),
            None,
            Some(Color::Black),
            Some(Color::White),
        ] {
            white.count(Color::White, winner);
            black.count(Color::Black, winner);
        }
        assert_eq!(white.parts(), [2, 1, 1]);
        assert_eq!(black.for_white(Color::Black), white);
        assert_eq!((white + black).half_points(), 8);
        assert_eq!(white.score(), Some(0.625));
        assert_eq!(white.to_string(), "+2 =1 -1");
        assert_eq!(white.performance(2000.0), Some(2091.0));
    }

    /// Wilson's interval of decided games; each draw tells as much as two of them.
    #[test]
    fn the_interval_of_a_score_is_wilson_s() {
        let is = |results: Results, low: f64, high: f64| {
            let [from, to] = results.interval().unwrap_or_default();
            let is_near = (from - low).abs() < 5e-5 && (to - high).abs() < 5e-5;
            assert!(is_near, "{results}: {from} {to}");
        };
        for (wins, losses, low, high) in [
            (5, 5, 0.2366, 0.7634),
            (8, 2, 0.4902, 0.9433),
            (10, 0, 0.7225, 1.0),
        ] {
            is(Results::new(wins, 0, losses), low, high);
            is(Results::new(losses, 0, wins), 1.0 - high, 1.0 - low);
        }
        // All alike: there is no variance to go by.
        is(Results::new(0, 10, 0), 0.2366, 0.7634);
        let [from, to] = Results::new(4, 0, 4).interval().unwrap_or_default();
        is(Results::new(1, 2, 1), from, to);
        assert_eq!(Results::default().interval(), None);
    }
}
