//! Selection of games for a query.

use crate::bucket::Bucket;
use tabia_games::tgx::speed_number;
use tabia_games::{GROUPS, GameResult, Month, Speed, group_of};

/// Conditions on games; all that are set must be met. A missing tag never meets one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GameSelection {
    /// Played in this month or later.
    pub since: Option<Month>,
    /// Played in this month or before.
    pub until: Option<Month>,
    /// A bit for each speed, by its number; `None` for any.
    speeds: Option<u8>,
    /// A bit for each rating group, by its index; `None` for any.
    groups: Option<u16>,
    /// Whether rated games, and casual ones, are selected; `None` for any.
    modes: Option<(bool, bool)>,
    /// The result; `None` for any.
    pub result: Option<GameResult>,
}

impl GameSelection {
    /// Only games of these months.
    #[must_use]
    pub fn between(since: Option<Month>, until: Option<Month>) -> GameSelection {
        GameSelection {
            since,
            until,
            ..GameSelection::default()
        }
    }

    /// Only games of these speeds. All speeds together are no condition and include
    /// games without a known speed.
    #[must_use]
    pub fn with_speeds(self, speeds: &[Speed]) -> GameSelection {
        let bits = |speeds: &[Speed]| {
            let bit = |speed: &Speed| 1 << speed_number(Some(*speed));
            speeds.iter().map(bit).fold(0, |bits, bit| bits | bit)
        };
        let chosen = bits(speeds);
        GameSelection {
            speeds: (chosen != bits(Speed::ALL)).then_some(chosen),
            ..self
        }
    }

    /// Only games of the groups that contain these ratings. All groups together are
    /// no condition. The highest group is that of 2500 to 2799 and includes all higher
    /// ratings; 2800 and more select no group.
    #[must_use]
    pub fn with_ratings(self, ratings: &[u16]) -> GameSelection {
        let known = ratings.iter().filter(|rating| **rating < 2800);
        let places = known.filter_map(|rating| {
            let group = group_of(*rating);
            GROUPS.iter().position(|least| *least == group)
        });
        let bits = places.fold(0_u16, |bits, place| bits | 1 << place);
        GameSelection {
            groups: (bits != (1 << GROUPS.len()) - 1).then_some(bits),
            ..self
        }
    }

    /// Only rated games, only casual ones, or (with both) all games.
    #[must_use]
    pub fn with_modes(self, rated: bool, casual: bool) -> GameSelection {
        GameSelection {
            modes: (!(rated && casual)).then_some((rated, casual)),
            ..self
        }
    }

    /// Whether the games meet all conditions except that on the result.
    #[must_use]
    pub fn admits(&self, games: Bucket) -> bool {
        let months = games.when().range();
        let speed = 1_u8 << speed_number(games.speed());
        self.since
            .is_none_or(|since| months.is_some_and(|(first, _)| first >= since))
            && self
                .until
                .is_none_or(|until| months.is_some_and(|(_, last)| last <= until))
            && self.speeds.is_none_or(|bits| bits & speed & !1 != 0)
            && self.groups.is_none_or(|bits| {
                let group = games.group();
                group.is_some_and(|place| bits >> place & 1 != 0)
            })
            && self
                .modes
                .is_none_or(|(rated, casual)| match games.rated() {
                    Some(true) => rated,
                    Some(false) => casual,
                    None => false,
                })
    }

    /// Index of the lowest group with possible top games, as at lichess: the groups from
    /// the highest selected one down to the first gap, not below 2000. `None` if the highest
    /// group is not selected.
    #[must_use]
    pub fn least_top_group(&self) -> Option<usize> {
        let is_wanted = |place: usize| self.groups.is_none_or(|bits| bits >> place & 1 != 0);
        let places = (0..GROUPS.len()).rev();
        places
            .take_while(|place| is_wanted(*place) && GROUPS.get(*place) >= Some(&2000))
            .last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_games::tgx::Facts;

    fn bucket(date: &str, speed: Option<Speed>, elo: u16, rated: Option<bool>) -> Bucket {
        Bucket::from_facts(Facts {
            speed,
            rated,
            elo: shakmaty::ByColor {
                white: elo,
                black: elo,
            },
            date: tabia_games::Date::from_pgn(date),
            ..Facts::default()
        })
    }

    #[test]
    fn games_meet_conditions_by_what_they_say() {
        let blitz = bucket("2025.05.01", Some(Speed::Blitz), 1700, Some(true));
        let old = bucket("1951.??.??", None, 0, None);
        let any = GameSelection::default();
        assert!(any.admits(blitz) && any.admits(old));
        let month = |text| Month::range(text).unwrap();
        let since = |text| GameSelection {
            since: Some(month(text).0),
            ..any
        };
        let until = |text| GameSelection {
            until: Some(month(text).1),
            ..any
        };
        assert!(since("2025-05").admits(blitz) && !since("2025-06").admits(blitz));
        assert!(until("2025-05").admits(blitz) && !until("2025-04").admits(blitz));
        // It may be any month of that year, so only the whole year matches.
        assert!(since("1951").admits(old) && !since("1951-02").admits(old));
        assert!(until("1951").admits(old) && !until("1951-11").admits(old));
        let speeds = |list: &[Speed]| any.with_speeds(list);
        assert!(speeds(&[Speed::Blitz]).admits(blitz) && !speeds(&[Speed::Rapid]).admits(blitz));
        assert!(speeds(&[Speed::Blitz; 2]).admits(blitz));
        assert!(!speeds(&[Speed::Blitz]).admits(old) && !speeds(&[]).admits(blitz));
        assert!(speeds(Speed::ALL).admits(old));
        let ratings = |list: &[u16]| any.with_ratings(list);
        assert!(ratings(&[1600]).admits(blitz) && ratings(&[1799]).admits(blitz));
        assert!(ratings(&[1600, 1700]).admits(blitz));
        assert!(!ratings(&[1800]).admits(blitz) && !ratings(&[1600]).admits(old));
        assert!(!ratings(&[2800]).admits(bucket("", None, 2850, None)));
        assert!(ratings(&[2500]).admits(bucket("", None, 2850, None)));
        assert!(ratings(&GROUPS).admits(old));
        assert!(any.with_modes(true, false).admits(blitz));
        assert!(!any.with_modes(false, true).admits(blitz));
        assert!(!any.with_modes(true, false).admits(old) && any.with_modes(true, true).admits(old));
    }

    #[test]
    fn top_games_are_those_of_the_highest_groups() {
        let least = |list: &[u16]| {
            GameSelection::default()
                .with_ratings(list)
                .least_top_group()
        };
        assert_eq!(GameSelection::default().least_top_group(), Some(6));
        assert_eq!(least(&[2500]), Some(8));
        assert_eq!(least(&[2500, 2000]), Some(8));
        assert_eq!(least(&[2500, 2200, 2000, 1800]), Some(6));
        assert_eq!(least(&[2200, 2000]), None);
        assert_eq!(least(&[]), None);
    }
}
