//! Games that are counted together.

use crate::tgx::{Facts, rated_number, rated_of, speed_number, speed_of};
use crate::{Date, GROUPS, Speed};

/// Games that queries can distinguish only by their players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(pub(super) u32);

impl Bucket {
    /// Of a game.
    #[must_use]
    pub fn of(facts: Facts) -> Bucket {
        let group = facts.group();
        let group = GROUPS.iter().position(|least| Some(*least) == group);
        let group = group.map_or(0, |place| place as u32 + 1);
        let (speed, rated) = (speed_number(facts.speed), rated_number(facts.rated));
        let date = u32::from(facts.date.year) << 4 | u32::from(facts.date.month);
        Bucket(date << 9 | group << 5 | u32::from(speed) << 2 | u32::from(rated))
    }

    /// Year and month, as far as they are known.
    #[must_use]
    pub fn when(self) -> Date {
        Date {
            year: (self.0 >> 13) as u16,
            month: (self.0 >> 9 & 15) as u8,
            day: 0,
        }
    }

    /// The same for all games of a time: year and month alone.
    #[must_use]
    pub fn date(self) -> Bucket {
        Bucket(self.0 >> 9 << 9)
    }

    /// The place of the rating group among [`GROUPS`].
    #[must_use]
    pub fn group(self) -> Option<usize> {
        (self.0 >> 5 & 15)
            .checked_sub(1)
            .map(|place| place as usize)
    }

    /// How fast the games were.
    #[must_use]
    pub fn speed(self) -> Option<Speed> {
        speed_of((self.0 >> 2 & 7) as u8)
    }

    /// Whether they counted for ratings.
    #[must_use]
    pub fn rated(self) -> Option<bool> {
        rated_of((self.0 & 3) as u8)
    }
}
