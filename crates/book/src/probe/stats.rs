//! Results and ratings of the games through a position.

use tabia_notation::Results;

/// Results and ratings of the games through a position, from the view of one side: "own"
/// is that side, "other" the opponent.
///
/// `wins + draws + losses` may be less than `games`: games and analysis without a result
/// count only in `games` (more than half of the entries of genuine books).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct Stats {
    /// Games through the position.
    pub games: u32,
    /// Games won by the own side.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost by the own side.
    pub losses: u32,
    /// Games in which the own player has a rating.
    pub own_rated: u32,
    /// Sum of these ratings (Elo). 32 bits end at two million games of players rated 2150,
    /// which an index of games may have.
    pub own_rating_sum: u64,
    /// Games in which the opponent has a rating.
    pub other_rated: u32,
    /// Sum of these ratings (Elo).
    pub other_rating_sum: u64,
}

impl Stats {
    /// The same games from the opponent's view.
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

    /// The games with a result.
    #[must_use]
    pub const fn results(&self) -> Results {
        Results::new(self.wins as u64, self.draws as u64, self.losses as u64)
    }

    /// Games without a result.
    #[must_use]
    pub const fn unfinished(&self) -> u32 {
        self.games
            .saturating_sub(self.wins)
            .saturating_sub(self.draws)
            .saturating_sub(self.losses)
    }

    /// Share of the points that the own side scored, 0 to 1, over the games with a
    /// result; `None` without any.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.results().score()
    }

    /// Mean rating of the own player, if any is known.
    #[must_use]
    pub fn average_elo(&self) -> Option<f64> {
        mean(self.own_rating_sum, self.own_rated)
    }

    /// Mean rating of the opponents, if any is known.
    #[must_use]
    pub fn opponents_elo(&self) -> Option<f64> {
        mean(self.other_rating_sum, self.other_rated)
    }

    /// [Performance](Results::performance) of the own side.
    #[must_use]
    pub fn performance(&self) -> Option<f64> {
        self.results().performance(self.opponents_elo()?)
    }
}

fn mean(sum: u64, count: u32) -> Option<f64> {
    (count > 0).then(|| sum as f64 / f64::from(count))
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
    fn inconsistent_numbers_do_not_underflow() {
        let odd = Stats {
            games: 1,
            wins: 4,
            ..Stats::default()
        };
        assert_eq!(odd.unfinished(), 0);
    }
}
