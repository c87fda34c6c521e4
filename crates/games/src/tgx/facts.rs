//! The data of a game that statistics use, in eight bytes.

use shakmaty::{ByColor, Color};

use crate::{Date, Game, GameResult, Speed, group_of};

/// Key data of a game for statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The winner; `None` for a draw.
    pub winner: Option<Color>,
    /// Speed; `None` if unknown.
    pub speed: Option<Speed>,
    /// Whether the game was rated.
    pub rated: Option<bool>,
    /// Ratings up to 4095, 0 if unknown.
    pub elo: ByColor<u16>,
    /// Date of the game.
    pub date: Date,
}

impl Facts {
    /// The facts of a game; `None` if it has no result.
    #[must_use]
    pub fn from_game(game: &Game) -> Option<Facts> {
        let winner = match game.result {
            GameResult::Won(winner) => Some(winner),
            GameResult::Draw => None,
            GameResult::Unknown => return None,
        };
        Some(Facts {
            winner,
            speed: game.conditions.speed,
            rated: game.conditions.rated,
            elo: game.elo.map(|elo| elo.min(4095)),
            date: game.date(),
        })
    }

    /// Result of the game.
    #[must_use]
    pub fn result(self) -> GameResult {
        self.winner.map_or(GameResult::Draw, GameResult::Won)
    }

    /// The rating group: the lower bound of the group that contains the mean of both
    /// players' ratings, rounded down. `None` unless both are known.
    #[must_use]
    pub fn group(self) -> Option<u16> {
        let (white, black) = (self.elo.white, self.elo.black);
        (white > 0 && black > 0).then(|| group_of(u16::midpoint(white, black)))
    }

    /// Packs the facts into 52 bits.
    #[must_use]
    pub fn pack(self) -> u64 {
        u64::from(winner_number(self.winner))
            | u64::from(speed_number(self.speed)) << 2
            | u64::from(rated_number(self.rated)) << 5
            | u64::from(self.elo.white & 0xfff) << 7
            | u64::from(self.elo.black & 0xfff) << 19
            | u64::from(self.date.year & 0xfff) << 31
            | u64::from(self.date.month & 0xf) << 43
            | u64::from(self.date.day & 0x1f) << 47
    }

    /// Unpacks facts from 52 bits.
    #[must_use]
    pub fn unpack(bits: u64) -> Facts {
        let part = |at: u32, bits_of: u32| (bits >> at) as u16 & ((1 << bits_of) - 1);
        Facts {
            winner: winner_of(part(0, 2) as u8).flatten(),
            speed: speed_of(part(2, 3) as u8),
            rated: rated_of(part(5, 2) as u8),
            elo: ByColor {
                white: part(7, 12),
                black: part(19, 12),
            },
            date: Date {
                year: part(31, 12),
                month: part(43, 4) as u8,
                day: part(47, 5) as u8,
            },
        }
    }
}

/// The number of a winner.
#[must_use]
pub fn winner_number(winner: Option<Color>) -> u8 {
    match winner {
        Some(Color::White) => 0,
        None => 1,
        Some(Color::Black) => 2,
    }
}

/// The winner of a number; the outer `None` if the number is not valid.
#[must_use]
#[allow(clippy::option_option)]
pub fn winner_of(number: u8) -> Option<Option<Color>> {
    let all = [Some(Color::White), None, Some(Color::Black)];
    all.get(usize::from(number)).copied()
}

/// The number for a rated or unrated game; 0 if unknown.
#[must_use]
pub fn rated_number(rated: Option<bool>) -> u8 {
    rated.map_or(0, |rated| 2 - u8::from(rated))
}

/// Decodes [`rated_number`].
#[must_use]
pub fn rated_of(number: u8) -> Option<bool> {
    matches!(number, 1 | 2).then_some(number == 1)
}

/// The number of a speed, 0 if unknown.
#[must_use]
pub fn speed_number(speed: Option<Speed>) -> u8 {
    speed.map_or(0, |speed| speed as u8 + 1)
}

/// The speed of a number.
#[must_use]
pub fn speed_of(number: u8) -> Option<Speed> {
    let place = usize::from(number).checked_sub(1)?;
    Speed::ALL.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn facts_come_back(bits in 0_u64..1 << 52) {
            let facts = Facts::unpack(bits);
            prop_assert_eq!(Facts::unpack(facts.pack()), facts);
        }
    }

    #[test]
    fn groups_are_those_of_lichess() {
        for (rating, group) in [
            (1, 0),
            (999, 0),
            (1000, 1000),
            (1700, 1600),
            (2199, 2000),
            (2499, 2200),
            (2500, 2500),
            (3600, 2500),
        ] {
            assert_eq!(group_of(rating), group, "{rating}");
        }
        let mut facts = Facts::default();
        facts.elo.white = 1999;
        assert_eq!(facts.group(), None);
        facts.elo.black = 2000;
        assert_eq!(facts.group(), Some(1800));
    }
}
