//! How long a book move waits before it is sent.

use std::fmt;
use std::ops::RangeFull;
use std::time::Duration;

use tabia_book::options::{Expected, OptionKind, OptionValue};

/// The value of `Book Delay`: fixed milliseconds plus a random part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Delay {
    /// Fixed part, in milliseconds.
    pub least: u32,
    /// Greatest value of the random part in milliseconds, uniformly distributed.
    pub spread: u32,
}

impl Delay {
    /// The greatest value of each part, in milliseconds.
    pub const MOST: u32 = 60_000;

    /// Reads `800` or `800+400`; empty text is no delay.
    fn parse(text: &str) -> Option<Delay> {
        let part = |text: &str| -> Option<u32> {
            let number = text.trim();
            let digits = number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|_| digits)?;
            (number <= Delay::MOST).then_some(number)
        };
        let (least, spread) = match text.split_once('+') {
            None if matches!(text, "" | super::NONE) => return Some(Delay::default()),
            None => (text, "0"),
            Some(parts) => parts,
        };
        Some(Delay {
            least: part(least)?,
            spread: part(spread)?,
        })
    }

    /// The delay of a move. `drawn` is from 0 to 1; `left` is what the clock has.
    /// The delay is at most a twentieth of it.
    #[must_use]
    pub fn wait(self, drawn: f64, left: Option<Duration>) -> Duration {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let more = (f64::from(self.spread) * drawn.clamp(0.0, 1.0)) as u32;
        let wait = Duration::from_millis((self.least + more).into());
        left.map_or(wait, |left| wait.min(left / 20))
    }
}

impl OptionValue for Delay {
    type Range = RangeFull;

    fn read(text: &str, _: &RangeFull) -> Result<Delay, Expected> {
        let most = Delay::MOST;
        Delay::parse(text.trim())
            .ok_or_else(|| Expected::new(format!("milliseconds up to {most}, 800 or 800+400")))
    }

    fn kind(&self, _: &RangeFull) -> OptionKind {
        OptionKind::Text
    }
}

/// The text form that is read.
impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.spread {
            0 => write!(f, "{}", self.least),
            spread => write!(f, "{}+{spread}", self.least),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_delay_is_one_number_or_two() {
        let read = |text: &str| Delay::read(text, &..).ok();
        let delay = |least, spread| Some(Delay { least, spread });
        assert_eq!(read("0"), delay(0, 0));
        assert_eq!(read(""), delay(0, 0));
        assert_eq!(read(" 800 "), delay(800, 0));
        assert_eq!(read("800 + 400"), delay(800, 400));
        for wrong in ["x", "-5", "800+", "+400", "1+2+3", "60001", "0.5"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_move_waits_for_the_given_delay_but_no_twentieth_of_the_clock(
            least in 0..=Delay::MOST,
            spread in 0..=Delay::MOST,
            drawn in 0.0..1.0,
            longest in prop::option::of(0_u64..10_000_000),
        ) {
            let delay = Delay { least, spread };
            let longest = longest.map(Duration::from_millis);
            let wait = delay.wait(drawn, longest);
            let millis = |millis: u32| Duration::from_millis(u64::from(millis));
            prop_assert!(wait <= millis(least + spread));
            prop_assert!(longest.is_none_or(|longest| wait * 20 <= longest));
            let limited = longest.is_some_and(|longest| longest / 20 < millis(least));
            prop_assert!(limited || wait >= millis(least));
            prop_assert_eq!(Delay::read(&delay.to_string(), &..), Ok(delay));
        }
    }
}
