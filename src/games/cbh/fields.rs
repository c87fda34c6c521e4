//! Fields that are the same in the old databases and the new ones.

use std::fmt::Write as _;

use shakmaty::Color;

use crate::games::GameResult;

/// From here on, ECO numbers are those of Chess960 positions.
const FIRST_CHESS960_ECO: u16 = 64576;

/// 0 to 2: lost, drawn, won by White; 4 to 6: the same without play. 3 is a
/// line or unfinished, 7 lost for both; more is not known.
pub(in crate::games) fn result(number: u8) -> GameResult {
    match number {
        0 | 4 => GameResult::Won(Color::Black),
        1 | 5 => GameResult::Draw,
        2 | 6 => GameResult::Won(Color::White),
        _ => GameResult::Unknown,
    }
}

/// 0 if unknown.
pub(in crate::games) fn year(date: u32) -> u16 {
    (date >> 9 & 0xfff) as u16
}

/// As in the `Date` tag: `2003.05.??`.
pub(in crate::games) fn date(date: u32) -> String {
    let (month, day) = (date >> 5 & 15, date & 31);
    let mut text = match year(date) {
        0 => "????".to_owned(),
        year => format!("{year:04}"),
    };
    for part in [month, day] {
        let _ = match part {
            0 => write!(text, ".??"),
            part => write!(text, ".{part:02}"),
        };
    }
    text
}

/// As in the `Round` tag: `3`, `3.1`; `None` if unknown.
pub(in crate::games) fn round(round: u16, part: u16) -> Option<String> {
    match (round, part) {
        (0, _) => None,
        (round, 0) => Some(round.to_string()),
        (round, part) => Some(format!("{round}.{part}")),
    }
}

/// As `C57`; zeros if unknown.
pub(in crate::games) fn eco(value: u16) -> [u8; 3] {
    let number = match (value >> 7).checked_sub(1) {
        Some(number @ 0..500) if value < FIRST_CHESS960_ECO => number,
        _ => return [0; 3],
    };
    let digit = |value: u16| b'0' + (value % 10) as u8;
    [
        b'A' + (number / 100) as u8,
        digit(number / 10),
        digit(number),
    ]
}
