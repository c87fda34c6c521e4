//! Dates of games.

use std::str::FromStr;

use crate::ParseError;

/// A month of a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(u32);

impl Month {
    /// The last month that can be stored.
    pub const LAST: Month = Month(4095 * 12 + 11);

    /// Creates a month; `month` is from 1 to 12.
    #[must_use]
    pub fn new(year: u16, month: u8) -> Month {
        Month(u32::from(year) * 12 + u32::from(month.clamp(1, 12)) - 1)
    }

    /// Months since January of the year 0.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The inverse of [`Month::number`].
    #[must_use]
    pub fn from_number(number: u32) -> Month {
        Month(number.min(Month::LAST.0))
    }

    /// The next month.
    #[must_use]
    pub fn next(self) -> Month {
        Month(self.0 + 1)
    }

    /// The first and the last month of a text: `2025-01` (also `2025-1`, `2025/01`,
    /// `2025.01`) is one month, `2025` is the whole year.
    ///
    /// # Errors
    ///
    /// The text is neither, or the year has fewer than four digits.
    pub fn range(text: &str) -> Result<(Month, Month), ParseError> {
        const WANTED: ParseError = ParseError("expected a year or a month, as 2025 or 2025-01");
        let text = text.trim();
        let (year, month) = match text.split_once(['-', '/', '.']) {
            Some((year, month)) => (year, Some(month)),
            None => (text, None),
        };
        let digits = year.len();
        let year = u16::from_str(year)
            .ok()
            .filter(|year| (1..4096).contains(year));
        let year = year.ok_or(WANTED)?;
        if digits < 4 {
            return Err(ParseError("a year has four digits, as 1985"));
        }
        let Some(month) = month else {
            return Ok((Month::new(year, 1), Month::new(year, 12)));
        };
        let month = u8::from_str(month)
            .ok()
            .filter(|month| (1..=12).contains(month));
        let month = Month::new(year, month.ok_or(WANTED)?);
        Ok((month, month))
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.0 / 12, self.0 % 12 + 1)
    }
}

/// The date of a game; unknown parts are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// The year, at most 4095.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day, from 1.
    pub day: u8,
}

/// What is doubtful about a date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DateDoubt {
    #[default]
    Nothing,
    /// Day and month may be exchanged: the month is left open.
    Month,
    /// It is not understood.
    Everything,
}

/// Names of months in the languages of many tournaments, by their beginnings.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "янв"],
    &["feb", "fév", "fev", "фев"],
    &["mar", "mär", "mrz", "maa", "мар"],
    &["apr", "avr", "abr", "апр"],
    &["may", "mai", "mag", "mei", "maj", "ма"],
    &["jun", "juin", "giu", "июн"],
    &["jul", "juil", "lug", "июл"],
    &["aug", "aoû", "aou", "ago", "авг"],
    &["sep", "set", "сен"],
    &["oct", "okt", "out", "ott", "окт"],
    &["nov", "ноя"],
    &["dec", "dez", "déc", "dic", "дек"],
];

/// The month that a word names.
fn named_month(word: &str) -> Option<u16> {
    let word = word.to_lowercase();
    let mut months = MONTHS.iter().zip(1..);
    let found = months.find(|(names, _)| names.iter().any(|name| word.starts_with(name)));
    found.map(|(_, number)| number)
}

/// A part of the text of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatePart {
    /// A number, and how many digits it has.
    Number(u32, usize),
    /// Question marks.
    Open,
    /// The name of a month.
    Month(u16),
}

/// How many numbers and names of months a text has.
pub(crate) fn parts_said(text: &str) -> usize {
    let is_known = |part: &&DatePart| match part {
        DatePart::Number(number, _) => *number > 0,
        DatePart::Month(_) => true,
        DatePart::Open => false,
    };
    parts(text).iter().filter(is_known).count()
}

/// The parts of a text, without the words and signs between them.
fn parts(text: &str) -> Vec<DatePart> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same = |c: char| {
            if first.is_ascii_digit() {
                c.is_ascii_digit()
            } else if first == '?' {
                c == '?'
            } else {
                first.is_alphabetic() && c.is_alphabetic()
            }
        };
        let length = rest.find(|c| !is_same(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        rest = after;
        found.extend(match first {
            '0'..='9' => word.parse().ok().map(|n| DatePart::Number(n, word.len())),
            '?' => Some(DatePart::Open),
            _ => named_month(word).map(DatePart::Month),
        });
    }
    found
}

impl Date {
    /// Reads `2025.06.24`, and other forms: `24.06.2025`, `20250624`, `June 24, 2025`. Unknown
    /// parts are open, and so is a month that may be the day: `06/07/2025`.
    #[must_use]
    pub fn from_pgn(text: &str) -> Date {
        Date::read(text).0
    }

    /// As [`Date::from_pgn`], with what is doubtful.
    pub(crate) fn read(text: &str) -> (Date, DateDoubt) {
        use DatePart::{Month, Number, Open};
        let text = text.trim();
        let parts = parts(text);
        let month_named = parts.iter().find_map(|part| match part {
            Month(month) => Some(*month),
            _ => None,
        });
        let number = |part: &DatePart| match part {
            Number(number, 1 | 2) => *number,
            _ => 0,
        };
        let is_short = |part: &DatePart| matches!(part, Open | Number(_, 1 | 2));
        let mut doubt = DateDoubt::Nothing;
        let (year, month, day) = match (month_named, parts.as_slice()) {
            (Some(month), parts) => {
                let mut years = parts.iter().filter_map(|part| match part {
                    Number(year, 4) => Some(*year),
                    _ => None,
                });
                let days = parts.iter().filter(|part| matches!(part, Number(_, 1 | 2)));
                let day = days.map(number).next().unwrap_or(0);
                (years.next().unwrap_or(0), month.into(), day)
            }
            (None, [Number(year, 4), rest @ ..]) => {
                let mut rest = rest.iter().map(number);
                let month = rest.next().unwrap_or(0);
                (*year, month, rest.next().unwrap_or(0))
            }
            (None, [Number(all, 8), ..]) => match (all / 10_000, all / 100 % 100, all % 100) {
                (year @ 1000..=2999, month @ 0..=12, day @ 0..=31) => (year, month, day),
                _ => (all % 10_000, all / 10_000 % 100, all / 1_000_000),
            },
            (None, [Number(all, 6)]) if all % 100 <= 12 => (all / 100, all % 100, 0),
            (None, [month, Number(year, 4)]) if is_short(month) => (*year, number(month), 0),
            (None, [first, second, Number(year, 4), ..]) if is_short(first) && is_short(second) => {
                let (first, second) = (number(first), number(second));
                match (first, second) {
                    // The American order; with a slash, both are in use.
                    (1..=12, 13..=31) => (*year, first, second),
                    (1..=12, 1..=12) if text.contains('/') && first != second => {
                        doubt = DateDoubt::Month;
                        (*year, 0, 0)
                    }
                    _ => (*year, second, first),
                }
            }
            _ => (0, 0, 0),
        };
        let part = |number: u32, most: u32| if number <= most { number as u16 } else { 0 };
        let (year, month, day) = (part(year, 4095), part(month, 12), part(day, 31));
        if year == 0 && text.contains(|c: char| c.is_ascii_digit() && c != '0') {
            doubt = DateDoubt::Everything;
        }
        let date = match (year, month) {
            (0, _) => Date::default(),
            (year, 0) => Date {
                year,
                ..Date::default()
            },
            _ => Date {
                year,
                month: month as u8,
                day: day as u8,
            },
        };
        (date, doubt)
    }

    /// The date in the form of PGN, with `?` for unknown digits.
    #[must_use]
    pub fn to_pgn(self) -> String {
        let part = |number: u16, digits: usize| match number {
            0 => "?".repeat(digits),
            number => format!("{number:0digits$}"),
        };
        let (month, day) = (self.month.into(), self.day.into());
        format!("{}.{}.{}", part(self.year, 4), part(month, 2), part(day, 2))
    }

    /// The month, if year and month are known.
    #[must_use]
    pub fn month(self) -> Option<Month> {
        (self.year > 0 && self.month > 0).then(|| Month::new(self.year, self.month))
    }

    /// The first and the last possible month; `None` if the year is unknown.
    #[must_use]
    pub fn range(self) -> Option<(Month, Month)> {
        let (first, last) = match self.month {
            0 => (1, 12),
            month => (month, month),
        };
        (self.year > 0).then(|| (Month::new(self.year, first), Month::new(self.year, last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_what_its_text_says() {
        for year in [0, 1, 1999, 4095, 4096] {
            for month in 0..=13 {
                for day in [0, 1, 31, 32] {
                    let date = Date::from_pgn(&format!("{year:04}.{month}.{day}"));
                    let has_year = (1..=4095).contains(&year);
                    let has_month = has_year && (1..=12).contains(&month);
                    let has_day = has_month && (1..=31).contains(&day);
                    let part = |is_known, number: u16, width: usize| match is_known {
                        true => format!("{number:0width$}"),
                        false => "?".repeat(width),
                    };
                    let [y, m, d] = [
                        (has_year, year, 4),
                        (has_month, month, 2),
                        (has_day, day, 2),
                    ]
                    .map(|(is_known, number, width)| part(is_known, number, width));
                    assert_eq!(date.to_pgn(), format!("{y}.{m}.{d}"));
                    let text = date.month().map(|month| month.to_string());
                    assert_eq!(text, has_month.then(|| format!("{y}-{m}")));
                    let range = date.range().map(|(first, last)| format!("{first}..{last}"));
                    let (first, last) = match has_month {
                        true => (m.clone(), m),
                        false => ("01".to_owned(), "12".to_owned()),
                    };
                    assert_eq!(range, has_year.then(|| format!("{y}-{first}..{y}-{last}")));
                }
            }
        }
    }

    #[test]
    fn months_and_dates_are_read() {
        assert_eq!(Month::LAST, Month::new(4095, 12));
        let month = |text| Month::range(text).map(|(first, last)| format!("{first}..{last}"));
        assert_eq!(month("2025-1").unwrap(), "2025-01..2025-01");
        assert_eq!(month("2025/12").unwrap(), "2025-12..2025-12");
        assert_eq!(month("2025").unwrap(), "2025-01..2025-12");
        assert_eq!(month("0985.2").unwrap(), "0985-02..0985-02");
        assert_eq!(month("4095").unwrap(), "4095-01..4095-12");
        for bad in [
            "", "2025-13", "2025-00", "x", "4096", "0000-1", "2025-", "985-13", "985",
        ] {
            let why = match bad {
                "985" | "985-13" => "a year has four digits, as 1985",
                _ => "expected a year or a month, as 2025 or 2025-01",
            };
            assert_eq!(month(bad).unwrap_err().to_string(), why, "{bad}");
        }
        for (text, back) in [
            ("2025.06.24", "2025.06.24"),
            ("1951.??.??", "1951.??.??"),
            ("1951.??.07", "1951.??.??"),
            ("1951.02.??", "1951.02.??"),
            ("????.??.??", "????.??.??"),
            ("", "????.??.??"),
            ("1951", "1951.??.??"),
        ] {
            assert_eq!(Date::from_pgn(text).to_pgn(), back, "{text}");
        }
    }

    #[test]
    fn dates_are_read_as_programs_and_people_write_them() {
        for (text, wanted) in [
            ("21.04.2019", "2019.04.21"),
            ("1.4.2019", "2019.04.01"),
            ("21-04-2019", "2019.04.21"),
            ("04/21/2019", "2019.04.21"),
            ("21/04/2019", "2019.04.21"),
            ("04/04/2019", "2019.04.04"),
            ("2019.4.1", "2019.04.01"),
            ("2019-4-1", "2019.04.01"),
            ("2019/04/21", "2019.04.21"),
            ("2019 04 21", "2019.04.21"),
            ("2019-04-21T18:00:01Z", "2019.04.21"),
            ("20190421", "2019.04.21"),
            ("21042019", "2019.04.21"),
            ("201904", "2019.04.??"),
            ("04.2019", "2019.04.??"),
            ("Sun Apr 21 2019", "2019.04.21"),
            ("Sun, 21 Apr 2019 10:00:00 GMT", "2019.04.21"),
            ("April 21st, 2019", "2019.04.21"),
            ("21 april 2019", "2019.04.21"),
            ("21. März 2019", "2019.03.21"),
            ("21 août 2019", "2019.08.21"),
            ("21-Dec-2019", "2019.12.21"),
            ("Apr 2019", "2019.04.??"),
            ("2019 Apr 21", "2019.04.21"),
            ("??.04.2019", "2019.04.??"),
            ("2019.13.40", "2019.??.??"),
            ("1951-1952", "1951.??.??"),
            ("0000.00.00", "????.??.??"),
            ("????", "????.??.??"),
        ] {
            let (date, doubt) = Date::read(text);
            assert_eq!(
                (date.to_pgn().as_str(), doubt),
                (wanted, DateDoubt::Nothing),
                "{text}"
            );
        }
        for (text, wanted, doubt) in [
            ("04/05/2019", "2019.??.??", DateDoubt::Month),
            ("04.05.19", "????.??.??", DateDoubt::Everything),
            ("round 3", "????.??.??", DateDoubt::Everything),
            ("99999999999", "????.??.??", DateDoubt::Everything),
        ] {
            let (date, found) = Date::read(text);
            assert_eq!((date.to_pgn().as_str(), found), (wanted, doubt), "{text}");
        }
    }
}
