//! Tags, also incorrect ones.

use memchr::{memchr, memchr2, memchr3, memrchr};

use super::{QUOTED_GAME_BYTES, TAG_LINES, is_empty_line};
use crate::pgn::tags::{blanks, quote, unquoted_end};

/// Whether the text begins with a tag, such as `[Event`. A name that begins with a digit
/// must be followed by a value in quotation marks.
pub(in crate::pgn) fn is_tag(text: &[u8]) -> bool {
    let name = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    match name.and_then(<[u8]>::first) {
        Some(first) if first.is_ascii_alphabetic() => true,
        Some(first) if first.is_ascii_digit() => value_of_tag(text).is_some(),
        Some(0x80..) => is_after_blanks(text),
        _ => false,
    }
}

/// Whether the name of a tag follows blanks of Unicode.
#[cold]
fn is_after_blanks(text: &[u8]) -> bool {
    let name = text.get(1..).unwrap_or_default();
    let name = name.get(blanks(name)..).unwrap_or_default();
    name.first().is_some_and(u8::is_ascii_alphabetic)
}

/// The text after the first quotation mark of a tag, such as `x"]` of `[Event "x"]`.
pub(super) fn value_of_tag(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"[")?.trim_ascii_start();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(byte);
    let length = text.iter().take_while(|byte| is_name(byte)).count();
    let (name, rest) = text.split_at_checked(length)?;
    name.first().filter(|first| first.is_ascii_alphanumeric())?;
    let plain = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let value = rest.get(plain.count()..)?;
    match value.first()? {
        b'"' => value.get(1..),
        0x80.. => {
            let value = value.get(blanks(value)..)?;
            value.get(quote(value)?.0..)
        }
        _ => None,
    }
}

/// Whether the first line of a text is a correct tag.
pub(super) fn is_tag_line(text: &[u8]) -> bool {
    let line = text.get(..memchr(b'\n', text).unwrap_or(text.len()));
    let line = line.unwrap_or_default().trim_ascii_end();
    let value = value_of_tag(line).and_then(|value| value.strip_suffix(b"]"));
    let value = value.map(<[u8]>::trim_ascii_end).unwrap_or_default();
    match value.last() {
        Some(b'"') => true,
        Some(0x80..) => unquoted_end(value).is_some(),
        _ => false,
    }
}

/// Whether a line, at an offset, begins the tags of a game: it is a tag, and either the
/// line before is empty, or the next one is a tag, too.
pub(super) fn begins_tags(text: &[u8], at: usize) -> bool {
    let line = text.get(at..).unwrap_or_default();
    is_tag_line(line)
        && (is_after_gap(text, at) || {
            let end = memchr(b'\n', line).map_or(line.len(), |end| end + 1);
            is_tag_line(line.get(end..).unwrap_or_default())
        })
}

/// Whether the line before an offset is empty.
pub(super) fn is_after_gap(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).and_then(|text| text.strip_suffix(b"\n"));
    let before = before.unwrap_or_default();
    let line = before.get(memrchr(b'\n', before).map_or(0, |end| end + 1)..);
    at > 0 && line.unwrap_or_default().trim_ascii().is_empty()
}

/// The offset of the `}` after the tags of a game inside a comment; `None` if the comment
/// has no end. A quoted game has no comments and is not followed by another one: so a
/// forgotten `}` spoils its own game only.
#[cold]
pub(super) fn quoted_tags(tags: &[u8]) -> Option<usize> {
    let window = tags.get(..QUOTED_GAME_BYTES.min(tags.len()))?;
    let end = memchr2(b'{', b'}', window).filter(|at| window.get(*at) == Some(&b'}'))?;
    let quoted = window.get(..end)?;
    let mut lines = memchr::memchr_iter(b'\n', quoted).map(|at| at + 1);
    let another = |at: usize| {
        let line = quoted.get(at..).unwrap_or_default();
        line.starts_with(b"[") && is_tag_line(line) && is_after_gap(quoted, at)
    };
    (!lines.any(another)).then_some(end)
}

/// Where a correct tag value ends: before `"]`.
#[inline]
pub(super) fn closing(value: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr3(b'\\', b'"', b'\n', value.get(at..)?)?;
        match (value.get(at)?, value.get(at + 1)) {
            (b'\\', _) => at += 2,
            (b'"', Some(b']')) => return Some(at),
            (b'"', _) => at += 1,
            _ => return None,
        }
    }
}

/// Where an incorrect tag value ends: before the last quotation mark of its line or,
/// if the value continues there, of one of the next lines; without any, at the last
/// bracket or the end of the line.
#[cold]
pub(super) fn odd_closing(value: &[u8]) -> usize {
    let mut start = 0;
    for count in 0..TAG_LINES {
        let rest = value.get(start..).unwrap_or_default();
        let begins = rest.trim_ascii_start();
        if count > 0 && (is_empty_line(rest) || begins.is_empty() || is_tag(begins)) {
            break;
        }
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default();
        if let Some(bracket) = memrchr(b']', line) {
            let before = line.get(..bracket).unwrap_or_default().trim_ascii_end();
            if before.ends_with(b"\"") {
                return start + before.len() - 1;
            }
        }
        start += length + 1;
    }
    let length = memchr(b'\n', value).unwrap_or(value.len());
    let line = value.get(..length).unwrap_or_default();
    let end = memrchr(b'"', line).or_else(|| memrchr(b']', line));
    end.unwrap_or(line.trim_ascii_end().len())
}
