//! The conditions of a game: speed, rated or not, titles of the players.

use std::fmt;
use std::str::FromStr;

use shakmaty::ByColor;

use crate::ParseError;

tabia_notation::named! {
    /// Speeds as lichess divides them: by the time of each side for forty moves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Speed {
        /// Less than 30 seconds.
        UltraBullet = "ultrabullet",
        /// Less than 3 minutes.
        Bullet = "bullet",
        /// Less than 8 minutes.
        Blitz = "blitz",
        /// Less than 25 minutes.
        Rapid = "rapid",
        /// 25 minutes or more.
        Classical = "classical",
        /// Days, or no time limit.
        Correspondence = "correspondence",
    }
}

impl Speed {
    /// The speed of a `TimeControl` tag: `300+3`, `-`, `40/7200:3600`, and as programs write
    /// it: `300+0.5`, `600 + 5`, `0:05:00+0:00:02`, `5 min + 3 s`. Only the first period
    /// counts.
    fn from_time_control(text: &[u8]) -> Option<Speed> {
        match usual_time_control(text) {
            Some((base, increment)) => Some(Speed::of_forty_moves(base + 40 * increment)),
            None => Speed::from_odd_time_control(text),
        }
    }

    #[cold]
    fn from_odd_time_control(text: &[u8]) -> Option<Speed> {
        let text = std::str::from_utf8(text).ok()?.trim();
        // cutechess-cli writes "inf".
        if text == "-" || text.eq_ignore_ascii_case("inf") {
            return Some(Speed::Correspondence);
        }
        // A sandclock.
        let text = text.strip_prefix('*').unwrap_or(text).trim_start();
        let (moves, time) = match text.split_once('/') {
            Some((moves, time)) if !moves.contains([':', '+']) => {
                (moves.trim().parse::<u32>().ok()?, time)
            }
            _ => (0, text),
        };
        let (base, rest) = seconds(time)?;
        let increment = match rest.trim_start().strip_prefix('+') {
            Some(increment) => seconds(increment)?,
            None => (0.0, rest),
        };
        let (increment, rest) = increment;
        // The next period. No first one is shorter than a minute.
        let rest = rest.trim_start();
        if !(rest.is_empty() || rest.starts_with(':') && base >= 60.0) {
            return None;
        }
        let forty = match moves {
            0 => base,
            1 if base >= 86_400.0 => return Some(Speed::Correspondence),
            moves => base * 40.0 / f64::from(moves),
        };
        let seconds = (forty + increment * 40.0).min(1e9);
        Some(Speed::of_forty_moves(seconds as u32))
    }

    /// The speed by the seconds of a side for forty moves.
    const fn of_forty_moves(seconds: u32) -> Speed {
        match seconds {
            0..30 => Speed::UltraBullet,
            30..180 => Speed::Bullet,
            180..480 => Speed::Blitz,
            480..1500 => Speed::Rapid,
            1500..21_600 => Speed::Classical,
            _ => Speed::Correspondence,
        }
    }
}

/// The seconds of `300+3`, as servers write it.
#[inline]
fn usual_time_control(text: &[u8]) -> Option<(u32, u32)> {
    let plus = text.iter().position(|byte| *byte == b'+')?;
    let (base, increment) = text.split_at_checked(plus)?;
    let number = |digits: &[u8]| {
        let is_short = (1..=6).contains(&digits.len());
        digits
            .iter()
            .filter(|_| is_short)
            .try_fold(0, |number, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| 10 * number + u32::from(digit - b'0'))
            })
            .filter(|_| is_short)
    };
    Some((number(base)?, number(increment.get(1..)?)?))
}

/// The time at the start of a text in seconds, and the rest: `300`, `0.5`, `5:00`, `0:05:00`,
/// `5 min`, `1h 30m`.
fn seconds(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    if let Some(found) = clock(text) {
        return Some(found);
    }
    let (mut total, mut rest) = (0.0, text);
    loop {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c)).unwrap_or(rest.len()));
        let number = number.parse::<f64>().ok().filter(|n| *n < 1e8)?;
        let word = after.trim_start();
        let is_unit = |c: char| c.is_alphabetic() || matches!(c, '\'' | '"' | '′' | '″');
        let (unit, after_unit) = word.split_at(word.find(|c| !is_unit(c)).unwrap_or(word.len()));
        let factor = match &*unit.to_lowercase() {
            "" => return Some((total + number, after)),
            "s" | "sec" | "secs" | "second" | "seconds" | "\"" | "''" | "″" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" | "'" | "′" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return None,
        };
        total += number * factor;
        rest = after_unit.trim_start();
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Some((total, rest));
        }
    }
}

/// Hours, minutes and seconds, or minutes and seconds, at the start of a text: in seconds, and
/// the rest. The colon of the standard, between periods, has larger numbers around it.
fn clock(text: &str) -> Option<(f64, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || c == ':' || c == '.';
    let (clock, rest) = text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()));
    let fields: Vec<&str> = clock.split(':').collect();
    let is_sixtieth = |field: &&str| {
        let whole = field.split('.').next().unwrap_or_default();
        whole.len() == 2 && whole.parse().is_ok_and(|number: u8| number < 60)
    };
    let (first, others) = fields.split_first()?;
    if !matches!(others.len(), 1 | 2)
        || !(1..=2).contains(&first.len())
        || !others.iter().all(is_sixtieth)
        || rest.starts_with('/')
    {
        return None;
    }
    let mut total = 0.0;
    for field in &fields {
        total = total * 60.0 + field.parse::<f64>().ok()?;
    }
    Some((total, rest))
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Speed {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Speed, ParseError> {
        let mut all = Speed::ALL.iter().copied();
        let found = all.find(|speed| text.trim().eq_ignore_ascii_case(speed.as_str()));
        found.ok_or(ParseError(
            "expected one of ultrabullet, bullet, blitz, rapid, classical, correspondence",
        ))
    }
}

/// A title such as `GM`, `WIM` or `BOT`, padded with zeros; all zeros if there is none.
pub type Title = [u8; 3];

/// Reads a title; `None` if it is too long for one.
#[must_use]
pub fn title(text: &[u8]) -> Option<Title> {
    let text = text.trim_ascii();
    let mut title = [0; 3];
    let place = title.get_mut(..text.len())?;
    place.copy_from_slice(text);
    place.make_ascii_uppercase();
    Some(title)
}

/// The conditions of play, from the tags of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The speed, if the tags state it.
    pub speed: Option<Speed>,
    /// Whether the game was rated.
    pub rated: Option<bool>,
    /// Titles of the players.
    pub titles: ByColor<Title>,
    /// The result does not come from the moves, by the tag `Termination`: time forfeit,
    /// disconnect, illegal move and the like.
    pub forfeited: bool,
}

/// Words in `Termination` of games whose result does not come from the moves, from
/// the PGN standard and from match managers and servers.
const FORFEITS: [&str; 10] = [
    "time forfeit",
    "abandoned",
    "disconnect",
    "stall",
    "illegal",
    "rules infraction",
    "unterminated",
    "death",
    "emergency",
    "crash",
];

impl Conditions {
    /// Reads a tag. Lichess writes the speed, and whether a game is rated, into
    /// `Event`; a time control is more exact.
    pub(super) fn read_tag(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"Event" => {
                let mut words = value.split(|byte| *byte == b' ');
                self.rated = match words.next() {
                    Some(b"Rated") => Some(true),
                    Some(b"Casual") => Some(false),
                    _ => return,
                };
                let speed = words.next().and_then(|word| std::str::from_utf8(word).ok());
                let speed = speed.and_then(|word| word.parse().ok());
                self.speed = self.speed.or(speed);
            }
            b"TimeControl" => self.speed = Speed::from_time_control(value).or(self.speed),
            b"Termination" => {
                let value = String::from_utf8_lossy(value).to_ascii_lowercase();
                self.forfeited = FORFEITS.iter().any(|word| value.contains(word));
            }
            b"WhiteTitle" => self.titles.white = title(value).unwrap_or_default(),
            b"BlackTitle" => self.titles.black = title(value).unwrap_or_default(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_are_divided_as_lichess_does() {
        for (text, expected) in [
            ("15+0", Some(Speed::UltraBullet)),
            ("60+0", Some(Speed::Bullet)),
            ("120+1", Some(Speed::Bullet)),
            ("180+0", Some(Speed::Blitz)),
            ("300+3", Some(Speed::Blitz)),
            ("600+0", Some(Speed::Rapid)),
            ("1800+0", Some(Speed::Classical)),
            ("40/7200:20/3600:900+30", Some(Speed::Classical)),
            ("1/10", Some(Speed::Blitz)),
            ("1/259200", Some(Speed::Correspondence)),
            ("-", Some(Speed::Correspondence)),
            ("?", None),
            ("", None),
            ("99999999999", None),
            ("60+0.5", Some(Speed::Bullet)),
            ("5+0.05", Some(Speed::UltraBullet)),
            ("1800+7.5", Some(Speed::Classical)),
            ("299.9+4.5", Some(Speed::Blitz)),
            ("300 + 2", Some(Speed::Blitz)),
            (" 600 +5 ", Some(Speed::Rapid)),
            ("*120", Some(Speed::Bullet)),
            ("* 900", Some(Speed::Rapid)),
            ("0:03:00", Some(Speed::Blitz)),
            ("1:30:00+0:00:30", Some(Speed::Classical)),
            ("00:01:00+00:00:01.5", Some(Speed::Bullet)),
            ("15:00", Some(Speed::Rapid)),
            ("40/1:30:00:0:15:00", None),
            ("40/1:30:00", Some(Speed::Classical)),
            ("40/60+0.6", Some(Speed::Bullet)),
            ("60:30", Some(Speed::Classical)),
            ("600:30", Some(Speed::Rapid)),
            ("5 min + 3 s", Some(Speed::Blitz)),
            ("3'+2''", Some(Speed::Blitz)),
            ("1h 30m + 30s", Some(Speed::Classical)),
            ("90 minutes", Some(Speed::Classical)),
            ("inf", Some(Speed::Correspondence)),
            ("3 days", Some(Speed::Correspondence)),
            ("300+", None),
            ("300+x", None),
            ("300 moves", None),
            ("1.2.3", None),
        ] {
            assert_eq!(
                Speed::from_time_control(text.as_bytes()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_result_of_the_moves() {
        for (text, expected) in [
            ("normal", false),
            ("Normal", false),
            ("adjudication", false),
            ("time forfeit", true),
            ("Time forfeit", true),
            ("rules infraction", true),
            ("illegal move", true),
            ("abandoned", true),
            ("stalled connection", true),
            ("unterminated", true),
            ("", false),
        ] {
            let mut conditions = Conditions::default();
            conditions.read_tag(b"Termination", text.as_bytes());
            assert_eq!(conditions.forfeited, expected, "{text}");
        }
    }

    #[test]
    fn the_event_of_lichess_contains_rating_and_speed() {
        let mut conditions = Conditions::default();
        conditions.read_tag(b"Event", b"Rated Blitz tournament https://lichess.org/x");
        assert_eq!(
            (conditions.rated, conditions.speed),
            (Some(true), Some(Speed::Blitz))
        );
        conditions.read_tag(b"TimeControl", b"60+0");
        conditions.read_tag(b"BlackTitle", b"wgm");
        assert_eq!(conditions.speed, Some(Speed::Bullet));
        assert_eq!(&conditions.titles.black, b"WGM");
        let mut other = Conditions::default();
        other.read_tag(b"Event", b"Linares");
        assert_eq!(other, Conditions::default());
        assert_eq!(title(b"GRANDMASTER"), None);
    }
}
