//! Groups of games that are counted together.

use tabia_games::tgx::{Facts, rated_number, rated_of, speed_number, speed_of};
use tabia_games::{Date, GROUPS, Speed};

/// Games that queries can distinguish only by their players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(pub(crate) u32);

impl Bucket {
    /// The bucket of a game.
    #[must_use]
    pub fn from_facts(facts: Facts) -> Bucket {
        let group = facts.group();
        let group = GROUPS.iter().position(|least| Some(*least) == group);
        let group = group.map_or(0, |place| place as u32 + 1);
        let (speed, rated) = (speed_number(facts.speed), rated_number(facts.rated));
        let date = u32::from(facts.date.year) << 4 | u32::from(facts.date.month);
        Bucket(date << 9 | group << 5 | u32::from(speed) << 2 | u32::from(rated))
    }

    /// Year and month; 0 if unknown.
    #[must_use]
    pub fn when(self) -> Date {
        Date {
            year: (self.0 >> 13) as u16,
            month: (self.0 >> 9 & 15) as u8,
            day: 0,
        }
    }

    /// The bucket without speed, rating group and rated flag.
    #[must_use]
    pub fn date(self) -> Bucket {
        Bucket(self.0 >> 9 << 9)
    }

    /// Index of the rating group in [`GROUPS`].
    #[must_use]
    pub fn group(self) -> Option<usize> {
        (self.0 >> 5 & 15)
            .checked_sub(1)
            .map(|place| place as usize)
    }

    /// The speed of the games.
    #[must_use]
    pub fn speed(self) -> Option<Speed> {
        speed_of((self.0 >> 2 & 7) as u8)
    }

    /// Whether the games were rated.
    #[must_use]
    pub fn rated(self) -> Option<bool> {
        rated_of((self.0 & 3) as u8)
    }
}
