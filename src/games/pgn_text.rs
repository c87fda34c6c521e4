//! What tags and comments of PGN say.

use pgn_reader::RawTag;

use super::{Tags, encodings};

/// Puts comments from a semicolon to the end of the line in braces, for the
/// reader passes over them. Every byte keeps its place, but for those line ends.
pub(super) fn put_in_braces(text: &mut [u8]) {
    let (mut in_braces, mut in_tag, mut in_comment) = (false, false, false);
    let mut before = b'\n';
    for byte in &mut *text {
        let this = *byte;
        match this {
            b'\n' if in_comment => {
                in_comment = false;
                *byte = b'}';
            }
            b'}' | b'{' if in_comment => *byte = if this == b'}' { b')' } else { b'(' },
            _ if in_comment => {}
            b'}' => in_braces = false,
            _ if in_braces => {}
            b'\n' => in_tag = false,
            b'[' | b'%' if before == b'\n' => in_tag = true,
            _ if in_tag => {}
            b'{' => in_braces = true,
            b';' => {
                in_comment = true;
                *byte = b'{';
            }
            _ => {}
        }
        before = this;
    }
    if in_comment && let Some(last) = text.last_mut() {
        *last = b'}';
    }
}

/// Keeps a tag, word for word. The result, and what says that there is a
/// position, stand elsewhere.
pub(super) fn note_tag(tags: &mut Tags, name: &[u8], value: &RawTag<'_>) {
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

/// A tag's text: `\"` and `\\` without the first backslash. (The library's own
/// function loses every second of several backslashes in a row.)
pub(super) fn text_of(value: &RawTag<'_>, out: &mut String) {
    out.clear();
    let text = encodings::text(value.as_bytes());
    if !text.contains('\\') {
        out.push_str(&text);
        return;
    }
    let mut text = text.chars().peekable();
    while let Some(c) = text.next() {
        let escaped = text.next_if(|&next| c == '\\' && matches!(next, '"' | '\\'));
        out.push(escaped.unwrap_or(c));
    }
}

/// A rating: digits, at most four; anything else is none.
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

/// The year that a date begins with.
pub(super) fn year(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.trim_ascii().get(..4)?;
    let year = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (year > 0).then_some(year)
}

/// The month of a date such as `2025.06.24`; 0 if it says none.
pub(super) fn month(bytes: &[u8]) -> u8 {
    let digits = bytes.trim_ascii().get(5..7);
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    let month = digits.and_then(|digits| digits.parse().ok());
    month.filter(|month| (1..=12).contains(month)).unwrap_or(0)
}
