//! Tags and numbers of PGN.

use crate::{Tags, encodings};

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

/// The year at the start of a date.
pub(super) fn year(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.trim_ascii().get(..4)?;
    let year = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (year > 0).then_some(year)
}

/// The month of a date such as `2025.06.24`; 0 if unknown.
pub(super) fn month(bytes: &[u8]) -> u8 {
    let digits = bytes.trim_ascii().get(5..7);
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    let month = digits.and_then(|digits| digits.parse().ok());
    month.filter(|month| (1..=12).contains(month)).unwrap_or(0)
}
