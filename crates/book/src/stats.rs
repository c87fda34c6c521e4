//! Results and ratings of the games through a position.

/// Results and ratings of the games through a position, from the view of one
/// side: "own" is that side, "other" the opponent.
///
/// `wins + draws + losses` may be less than `games`: games and analysis
/// without a result count only in `games` (genuine books: more than half of
/// the entries).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Games through the position.
    pub games: u32,
    /// Games won by the own side.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost by the own side.
    pub losses: u32,
    /// Games in which the own player had a rating.
    pub own_rated: u32,
    /// Sum of these ratings (Elo).
    pub own_rating_sum: u32,
    /// Games in which the opponent had a rating.
    pub other_rated: u32,
    /// Sum of these ratings (Elo).
    pub other_rating_sum: u32,
}

impl Stats {
    /// The same games seen from the other side of the board.
    #[must_use]
    pub const fn reversed(self) -> Stats {
        Stats {
            games: self.games,
            wins: self.losses,
            draws: self.draws,
            losses: self.wins,
            own_rated: self.other_rated,
            own_rating_sum: self.other_rating_sum,
            other_rated: self.own_rated,
            other_rating_sum: self.own_rating_sum,
        }
    }

    /// Games without a result.
    #[must_use]
    pub const fn unfinished(&self) -> u32 {
        self.games
            .saturating_sub(self.wins)
            .saturating_sub(self.draws)
            .saturating_sub(self.losses)
    }

    /// Share of the points the own side scored, 0 to 1, over the games with a
    /// result; `None` when there is none.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let finished = f64::from(self.wins) + f64::from(self.draws) + f64::from(self.losses);
        (finished > 0.0).then(|| (f64::from(self.wins) + 0.5 * f64::from(self.draws)) / finished)
    }

    /// Mean rating of the own player, where one is known.
    #[must_use]
    pub fn average_elo(&self) -> Option<f64> {
        mean(self.own_rating_sum, self.own_rated)
    }

    /// Mean rating of the opponents, where one is known.
    #[must_use]
    pub fn opponents_elo(&self) -> Option<f64> {
        mean(self.other_rating_sum, self.other_rated)
    }

    /// Performance rating of the own side: the opponents' mean rating plus
    /// [`rating_difference`].
    #[must_use]
    pub fn performance(&self) -> Option<f64> {
        Some(self.opponents_elo()? + rating_difference(self.score()?))
    }
}

/// The difference of ratings for a score of 50 to 100 per cent: FIDE's
/// handbook, B.02, table 8.1.1.
const DIFFERENCES: [u16; 51] = [
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158,
    166, 175, 184, 193, 202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366,
    383, 401, 422, 444, 470, 501, 538, 589, 677, 800,
];

/// The difference of ratings that a score, 0 to 1, means by FIDE's table;
/// between whole per cents in proportion, as lichess's explorer has it.
#[must_use]
pub fn rating_difference(score: f64) -> f64 {
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

fn mean(sum: u32, count: u32) -> Option<f64> {
    (count > 0).then(|| f64::from(sum) / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Stats = Stats {
        games: 10,
        wins: 4,
        draws: 2,
        losses: 2,
        own_rated: 2,
        own_rating_sum: 4800,
        other_rated: 1,
        other_rating_sum: 2300,
    };

    #[test]
    fn unfinished_games_do_not_count_in_the_score() {
        assert_eq!(SAMPLE.unfinished(), 2);
        assert_eq!(SAMPLE.score(), Some(0.625));
        assert_eq!(Stats::default().score(), None);
    }

    #[test]
    fn reversing_twice_changes_nothing() {
        assert_eq!(SAMPLE.reversed().reversed(), SAMPLE);
        assert_eq!(SAMPLE.reversed().score(), Some(0.375));
        assert_eq!(SAMPLE.reversed().average_elo(), Some(2300.0));
    }

    #[test]
    fn performance_is_the_opponents_rating_at_an_even_score() {
        let even = Stats {
            wins: 3,
            losses: 3,
            ..SAMPLE
        };
        assert_eq!(even.performance(), Some(2300.0));
        let all_won = Stats {
            wins: 5,
            losses: 0,
            draws: 0,
            ..SAMPLE
        };
        assert_eq!(all_won.performance(), Some(3100.0));
        assert_eq!(Stats::default().performance(), None);
    }

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
    fn inconsistent_numbers_do_not_underflow() {
        let odd = Stats {
            games: 1,
            wins: 4,
            ..Stats::default()
        };
        assert_eq!(odd.unfinished(), 0);
    }
}
