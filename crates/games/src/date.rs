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

impl Date {
    /// Reads `2025.06.24`; parts that are not numbers are unknown.
    #[must_use]
    pub fn from_pgn(text: &str) -> Date {
        let mut parts = text.trim().split(['.', '-', '/']);
        let mut part = |most: u16| {
            let number = parts.next().and_then(|part| part.trim().parse().ok());
            number.filter(|number| *number <= most).unwrap_or(0)
        };
        let year = part(4095);
        let month = part(12) as u8;
        let day = part(31) as u8;
        match (year, month) {
            (0, _) => Date::default(),
            (year, 0) => Date {
                year,
                ..Date::default()
            },
            _ => Date { year, month, day },
        }
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
                    let date = Date::from_pgn(&format!("{year}.{month}.{day}"));
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
        for bad in ["", "2025-13", "2025-00", "x", "5000", "0-1", "2025-"] {
            assert!(month(bad).is_err(), "{bad}");
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
}
