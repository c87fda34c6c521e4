//! Tags and numbers of PGN.

use shakmaty::fen::{Fen, ParseFenError};

use crate::date::DateDoubt;
use crate::{Date, Tags, encodings};

/// Stores a tag, unchanged. The result, and the tags of a set-up position, are
/// stored in other fields.
pub(super) fn note_tag(tags: &mut Tags, name: &[u8], value: &[u8]) {
    let Ok(name) = std::str::from_utf8(name.trim_ascii()) else {
        return;
    };
    if name.is_empty() || matches!(name, "Result" | "SetUp" | "FEN" | "Variant") {
        return;
    }
    let mut text = String::new();
    text_of(value, &mut text);
    tags.set(name, text);
}

/// Whether a text has to be decoded by a guess.
#[cold]
pub(super) fn is_guessed(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_err()
}

/// The text of a tag: one line; `\"` and `\\` lose the first backslash.
pub(super) fn text_of(value: &[u8], out: &mut String) {
    out.clear();
    let text = encodings::text(value);
    if !text.contains(['\\', '\n']) {
        out.push_str(&text);
        return;
    }
    let mut lines = text.lines().map(str::trim);
    let mut line = lines.next().unwrap_or_default().to_owned();
    for more in lines {
        line.push(' ');
        line.push_str(more);
    }
    let mut text = line.chars().peekable();
    while let Some(c) = text.next() {
        let escaped = text.next_if(|&next| c == '\\' && matches!(next, '"' | '\\'));
        out.push(escaped.unwrap_or(c));
    }
}

/// A value with plain blanks for those of Unicode.
#[cold]
pub(super) fn with_plain_blanks(value: &[u8]) -> String {
    let is_wide = |c: char| c.is_whitespace() && !c.is_ascii();
    encodings::text(value).replace(is_wide, " ")
}

/// The position of a tag `FEN`, also with Unicode blanks; `None` if it states none.
pub(super) fn fen_of(value: &[u8]) -> Option<Result<Fen, ParseFenError>> {
    let value = value.trim_ascii();
    let read = Fen::from_ascii(value);
    if read.is_ok() {
        return Some(read);
    }
    let mut plain = String::new();
    text_of(with_plain_blanks(value).as_bytes(), &mut plain);
    match plain.trim() {
        "" | "?" | "-" | "*" | "startpos" => None,
        plain => Some(Fen::from_ascii(plain.as_bytes())),
    }
}

/// A rating of one to four digits; 0 for anything else.
pub(super) fn number(bytes: &[u8]) -> u16 {
    let digits = bytes.trim_ascii();
    if digits.len() > 4 {
        return 0;
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

/// Year and month of a date, 0 if unknown, and what is doubtful.
pub(super) fn year_and_month(bytes: &[u8]) -> (u16, u8, DateDoubt) {
    // Nearly all are of this form.
    if let [a, b, c, d, b'.', e, f, b'.', ..] = *bytes.trim_ascii()
        && [a, b, c, d].iter().all(u8::is_ascii_digit)
    {
        let digit = |byte: u8| u16::from(byte - b'0');
        let year = 1000 * digit(a) + 100 * digit(b) + 10 * digit(c) + digit(d);
        let month = match (e, f) {
            (b'0', b'1'..=b'9') => f - b'0',
            (b'1', b'0'..=b'2') => 10 + (f - b'0'),
            _ => 0,
        };
        return (year, month, DateDoubt::Nothing);
    }
    other_date(bytes)
}

#[cold]
fn other_date(bytes: &[u8]) -> (u16, u8, DateDoubt) {
    let (date, doubt) = Date::read(&encodings::text(bytes));
    (date.year, date.month, doubt)
}

/// The value of a tag in quotation marks of another kind, and the offset of the text after
/// it; the text begins with the mark.
#[cold]
pub(super) fn odd_value(text: &[u8]) -> Option<(&[u8], usize)> {
    let (length, _) = quote(text)?;
    let value = text.get(length..)?;
    let line = value.get(..memchr::memchr(b'\n', value).unwrap_or(value.len()))?;
    // Before a bracket or, without one, at the end of the line.
    let mut brackets = memchr::memchr_iter(b']', line).map(|at| line.split_at(at).0);
    let whole = brackets.find(|before| unquoted_end(before).is_some());
    let whole = whole.unwrap_or_else(|| {
        let end = memchr::memrchr(b']', line).unwrap_or(line.len());
        line.split_at(end).0
    });
    let inside = match unquoted_end(whole) {
        Some(inside) => inside,
        // An apostrophe.
        None if text.starts_with(b"'") || text.starts_with(b"`") => return None,
        None => whole.trim_ascii(),
    };
    Some((inside, length + whole.len()))
}

/// The name at the start of a tag, after white space, and the offset of the text after it.
pub(super) fn odd_name(text: &[u8]) -> Option<(&[u8], usize)> {
    let start = blanks(text);
    let rest = text.get(start..)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte);
    let length = rest.iter().take_while(|byte| is_name(byte)).count();
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    Some((name, start + length))
}

/// Length of white space of every kind at the start of a text.
pub(super) fn blanks(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += match byte {
            _ if byte.is_ascii_whitespace() => 1,
            0x80.. => match space_in_utf8(text.get(at..).unwrap_or_default()) {
                Some(length) => length,
                // In Latin-1.
                None if *byte == 0xa0 => 1,
                None => break,
            },
            _ => break,
        };
    }
    at
}

/// Quotation marks of all languages.
const QUOTES: [&str; 18] = [
    "“", "”", "„", "‟", "«", "»", "‹", "›", "‘", "’", "‚", "‛", "″", "＂", "「", "」", "『", "』",
];

/// Quotation marks of Windows-1252, and others of one byte.
const BYTE_QUOTES: &[u8] = b"\x93\x94\x84\xab\xbb\x91\x92\x82'`";

/// Length of the quotation mark at the start of a text, and whether it is that of PGN.
pub(super) fn quote(text: &[u8]) -> Option<(usize, bool)> {
    let first = text.first()?;
    if *first == b'"' {
        return Some((1, true));
    }
    let mut quotes = QUOTES.iter();
    if let Some(quote) = quotes.find(|quote| text.starts_with(quote.as_bytes())) {
        return Some((quote.len(), false));
    }
    BYTE_QUOTES.contains(first).then_some((1, false))
}

/// The text before a closing quotation mark and white space; `None` without one.
pub(super) fn unquoted_end(text: &[u8]) -> Option<&[u8]> {
    let mut text = text.trim_ascii_end();
    loop {
        let space = (2..=3).find(|length| {
            let start = text.len().checked_sub(*length);
            let end = start
                .and_then(|start| text.get(start..))
                .unwrap_or_default();
            space_in_utf8(end) == Some(*length)
        });
        let Some(length) = space else { break };
        text = text.get(..text.len() - length)?.trim_ascii_end();
    }
    let mut quotes = QUOTES.iter();
    let long = quotes.find_map(|quote| text.strip_suffix(quote.as_bytes()));
    long.or_else(|| match text.split_last()? {
        // A byte of a letter in UTF-8 is not one.
        (b'"' | b'\'' | b'`', rest) => Some(rest),
        (last, rest) if BYTE_QUOTES.contains(last) && std::str::from_utf8(text).is_err() => {
            Some(rest)
        }
        _ => None,
    })
}

/// Length of a Unicode space, an invisible character or an ellipsis; `None` for other text.
pub(super) fn space_in_utf8(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        0xc2 => 2,
        0xe1..=0xe3 | 0xef => 3,
        _ => return None,
    };
    let first = std::str::from_utf8(text.get(..length)?)
        .ok()?
        .chars()
        .next()?;
    let is_space = first.is_whitespace()
        || matches!(
            first,
            '…' | '\u{ad}' | '\u{feff}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        )
        || matches!(first, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}');
    is_space.then_some(length)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_quotation_marks_of_all_languages_are_known() {
        for (text, length) in [
            ("\u{a0}", 2),
            ("\u{ad}", 2),
            ("\u{180e}", 3),
            ("\u{2009}", 3),
            ("\u{200b}", 3),
            ("\u{200f}", 3),
            ("\u{2010}", 0),
            ("…", 3),
            ("\u{202a}", 3),
            ("\u{202e}", 3),
            ("\u{2060}", 3),
            ("\u{2069}", 3),
            ("\u{206a}", 0),
            ("\u{3000}", 3),
            ("\u{feff}", 3),
            ("é", 0),
            ("–", 0),
            ("x", 0),
            ("", 0),
        ] {
            let found = space_in_utf8(text.as_bytes()).unwrap_or(0);
            assert_eq!(found, length, "{text:?}");
            assert_eq!(blanks(format!("{text}x").as_bytes()), length, "{text:?}");
            let marked = format!("a\"{text}\t");
            let whole = (length > 0 || text.is_empty()).then_some(&b"a"[..]);
            assert_eq!(unquoted_end(marked.as_bytes()), whole, "{text:?}");
        }
        assert_eq!(space_in_utf8(b"\xe2\x80"), None);
        assert_eq!(blanks(" \t\n\u{2009} \u{a0}é ".as_bytes()), 9);
        assert_eq!(
            [blanks(b"\xa0 x"), blanks(b"\x80"), blanks(b" ")],
            [2, 0, 1]
        );
        for (text, length) in [("“x", 3), ("«x", 2), ("'x", 1), ("`", 1), ("＂x", 3)] {
            assert_eq!(quote(text.as_bytes()), Some((length, false)), "{text}");
        }
        assert_eq!(quote(b"\"x"), Some((1, true)));
        assert_eq!(quote(b"\x93x"), Some((1, false)));
        assert_eq!([quote(b"x\""), quote(b"")], [None; 2]);
        for text in [
            "a”",
            "a'",
            "a`",
            "a» ",
            "a\"\u{2009}\u{a0}",
            "a\" \u{2009} ",
        ] {
            assert_eq!(unquoted_end(text.as_bytes()), Some(&b"a"[..]), "{text}");
        }
        assert_eq!(unquoted_end(b"\xe9\x94"), Some(&b"\xe9"[..]));
        // The last byte of Ò is a mark of Windows-1252.
        for text in ["Ò", "a", ""] {
            assert_eq!(unquoted_end(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn odd_tags_are_taken_apart() {
        for (text, found) in [
            (" White_1+#=:- “x”", Some(("White_1+#=:-", 13))),
            ("\u{2009}A", Some(("A", 4))),
            ("“A", None),
            ("", None),
        ] {
            let found = found.map(|(name, at)| (name.as_bytes(), at));
            assert_eq!(odd_name(text.as_bytes()), found, "{text}");
        }
        for (text, found) in [
            ("“x”] y", Some(("x", 7))),
            ("“x” ] [B “y”]", Some(("x", 8))),
            ("“x]y” ]", Some(("x]y", 10))),
            ("“ x ] y ] z\n]", Some(("x ] y", 10))),
            ("“ x \n”]", Some(("x", 6))),
            ("'x'] y", Some(("x", 3))),
            ("'x]", None),
            ("`x", None),
            ("x", None),
        ] {
            let found = found.map(|(value, at)| (value.as_bytes(), at));
            assert_eq!(odd_value(text.as_bytes()), found, "{text}");
        }
    }

    #[test]
    fn texts_and_numbers_of_tags_are_read() {
        let text = |value: &str| {
            let mut text = "old".to_owned();
            text_of(value.as_bytes(), &mut text);
            text
        };
        assert_eq!(text("a b"), "a b");
        assert_eq!(text(r#"\"a\" \\ \b \"#), r#""a" \ \b \"#);
        assert_eq!(text("a \n  b\nc\\\\"), "a b c\\");
        for (text, expected) in [
            ("2400", 2400),
            (" 99 ", 99),
            ("9999", 9999),
            ("10000", 0),
            ("12a", 0),
            ("", 0),
        ] {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
        for (text, year, month) in [
            ("2020.01.06", 2020, 1),
            (" 1987.09.1", 1987, 9),
            ("2020.10.", 2020, 10),
            ("2020.12.31", 2020, 12),
            ("2020.13.01", 2020, 0),
            ("2020.00.01", 2020, 0),
            ("2020.20.01", 2020, 0),
            ("2020.??.??", 2020, 0),
            ("24.06.2025", 2025, 6),
            ("????.??.??", 0, 0),
        ] {
            let found = year_and_month(text.as_bytes());
            assert_eq!(found, (year, month, DateDoubt::Nothing), "{text}");
        }
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for fen in [
            start.to_owned(),
            format!(" {start} "),
            start.replace(' ', "\u{a0}"),
        ] {
            assert!(fen_of(fen.as_bytes()).unwrap().is_ok(), "{fen}");
        }
        for nothing in ["", " ", "?", "-", "*", "startpos"] {
            assert!(fen_of(nothing.as_bytes()).is_none(), "{nothing}");
        }
        assert!(fen_of(b"x").unwrap().is_err());
    }
}
