//! Games that are counted together.

use crate::games::tgx::{Facts, speed_number, speed_of};
use crate::games::{GROUPS, Month, Speed};

/// Games that no question tells apart but by who played them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(pub(super) u32);

impl Bucket {
    /// Of a game.
    #[must_use]
    pub fn of(facts: Facts) -> Bucket {
        let group = facts.group();
        let group = GROUPS.iter().position(|least| Some(*least) == group);
        let group = group.map_or(0, |place| place as u32 + 1);
        let rated = match facts.rated {
            None => 0,
            Some(true) => 1,
            Some(false) => 2,
        };
        let date = u32::from(facts.date.year) << 4 | u32::from(facts.date.month);
        Bucket(date << 9 | group << 5 | u32::from(speed_number(facts.speed)) << 2 | rated)
    }

    /// The year, 0 if unknown.
    #[must_use]
    pub fn year(self) -> u16 {
        (self.0 >> 13) as u16
    }

    /// The month, if it is known.
    #[must_use]
    pub fn month(self) -> Option<Month> {
        let month = (self.0 >> 9 & 15) as u8;
        (self.year() > 0 && month > 0).then(|| Month::new(self.year(), month))
    }

    /// The first and the last month that it may be; `None` if nothing is known.
    #[must_use]
    pub fn months(self) -> Option<(Month, Month)> {
        let year = self.year();
        match self.month() {
            _ if year == 0 => None,
            Some(month) => Some((month, month)),
            None => Some((Month::new(year, 1), Month::new(year, 12))),
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
        match self.0 & 3 {
            1 => Some(true),
            2 => Some(false),
            _ => None,
        }
    }
}
