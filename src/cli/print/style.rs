//! Colours and columns of the tables.
//!
//! Colours are written unless they are switched off or the output is not seen: writing
//! them and removing them again takes much of the time for long texts.

use std::fmt::{self, Display, Write as _};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};

use tabia_book::Mark;
use tabia_book::mark::words;

/// A learn value with its sign.
pub(crate) use tabia_book::mark::words::learn_value_name as signed;

/// Style of headings.
pub(crate) const HEADING: Style = Style::new().bold();
/// Style of unimportant text.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Style of good results, main moves, added lines.
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
/// Style of bad results, moves to avoid, removed lines.
pub(crate) const RED: Style = AnsiColor::Red.on_default();
/// Style of positions in files.
pub(crate) const PLACE: Style = AnsiColor::Cyan.on_default();

/// A text in a style. Width and alignment ignore the colour codes.
pub(crate) struct Painted<T>(pub(crate) Style, pub(crate) T);

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if ColorChoice::global() == ColorChoice::Never {
            return self.1.fmt(f);
        }
        write!(f, "{}", self.0)?;
        self.1.fmt(f)?;
        write!(f, "{:#}", self.0)
    }
}

/// The style of a move with this mark: green and red, as ChessBase shows it.
pub(crate) fn of_mark(mark: Mark) -> Style {
    match mark {
        Mark::Main => GREEN,
        Mark::Avoid => RED,
        Mark::None => Style::new(),
    }
}

/// A whole number with a comma between the thousands.
pub(crate) fn thousands(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// "1 game", "2 games".
pub(crate) fn counted(number: u64, thing: &str) -> String {
    counted_as(number as usize, thing, &format!("{thing}s"))
}

/// "1 search", "2 searches".
pub(crate) fn counted_as(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// A number without decimals, or `-`.
pub(crate) fn rounded(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.0}"))
}

/// A fraction in per cent with one decimal, or `-`.
pub(crate) fn per_cent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".to_owned(), |part| format!("{:.1}", 100.0 * part))
}

/// A commentary as a symbol, or the number of its NAG; empty for none.
pub(crate) fn commentary_symbol(nag: u8) -> String {
    match nag {
        0 => String::new(),
        nag => words::commentary_name(nag),
    }
}

/// A text wrapped at blanks into rows of at most this width, if its words fit.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let mut rows = Vec::with_capacity(4);
    let mut rest = text;
    // The first character after the row may be a blank.
    while let Some(bytes) = rest.as_bytes().get(..=width) {
        let end = match bytes.is_ascii() {
            true => width + 1,
            false => match rest.char_indices().nth(width) {
                Some((end, beyond)) => end + beyond.len_utf8(),
                None => break,
            },
        };
        let (fits, long) = rest.split_at(end);
        let blank = fits.rfind(' ');
        let Some(blank) = blank.or_else(|| Some(fits.len() + long.find(' ')?)) else {
            break;
        };
        rows.push(&rest[..blank]);
        rest = &rest[blank + 1..];
    }
    rows.push(rest);
    rows
}

/// Appends a text in a style, as [`Painted`] shows it.
pub(crate) fn paint(style: Style, text: &str, out: &mut String) {
    if ColorChoice::global() == ColorChoice::Never {
        return out.push_str(text);
    }
    // Writing to a string does not fail.
    let _ = write!(out, "{}", Painted(style, text));
}

/// Appends a whole number, faster than formatting.
pub(crate) fn push_number(number: u32, out: &mut String) {
    if number > 9 {
        push_number(number / 10, out);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_at_blanks() {
        assert_eq!(wrapped("a bb ccc dddd", 6), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrapped("", 6), [""]);
        assert_eq!(wrapped("longer than six", 6), ["longer", "than", "six"]);
        assert_eq!(wrapped("♔a ♕b ♖c", 5), ["♔a ♕b", "♖c"]);
        assert_eq!(wrapped("♔a ♕b ♖c", 6), ["♔a ♕b", "♖c"]);
        assert_eq!(wrapped("♔a longer ♖c", 3), ["♔a", "longer", "♖c"]);
        assert_eq!(wrapped("12 45", 5), ["12 45"]);
        assert_eq!(wrapped(" two  blanks", 4), [" two", "", "blanks"]);
    }

    #[test]
    fn colour_codes_do_not_count_in_column_widths() {
        let text = format!("[{:>4}]", Painted(GREEN, "e4"));
        assert_eq!(text, "[\u{1b}[32m  e4\u{1b}[0m]");
    }
}
