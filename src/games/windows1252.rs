//! Texts of programs for Windows that do not say how they are encoded.

/// Windows-1252 from 0x80 to 0x9f; five bytes mean nothing.
const HIGH: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
    '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}',
    'ž', 'Ÿ',
];

/// Adds the text of a field to `out`: up to the first zero, without blanks at
/// its ends. The files do not say how their texts are encoded; western ones
/// are Windows-1252, and so are all taken.
pub(super) fn push(field: &[u8], out: &mut String) {
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    let start = out.len();
    out.extend(text.iter().map(|&byte| decode(byte)));
    let kept = out.trim_end().len().max(start);
    out.truncate(kept);
    let blanks = out
        .get(start..)
        .map_or(0, |text| text.len() - text.trim_start().len());
    out.replace_range(start..start + blanks, "");
}

pub(super) fn decode(byte: u8) -> char {
    match HIGH.get(usize::from(byte.wrapping_sub(0x80))) {
        Some(high) => *high,
        None => char::from(byte),
    }
}

/// Text that is UTF-8 or, if it cannot be, Windows-1252.
pub(super) fn or_utf8(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| decode(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::push;

    #[test]
    fn a_field_ends_at_its_zero_and_is_trimmed() {
        let mut text = "Last, ".to_owned();
        push(b" L\xe9k\xf3 \0garbage", &mut text);
        assert_eq!(text, "Last, L\u{e9}k\u{f3}");
        for (field, expected) in [
            (&b""[..], ""),
            (b"\0\0", ""),
            (b"   ", ""),
            (b"\xa0x\x80\x9f\x81", "x\u{20ac}\u{178}\u{fffd}"),
        ] {
            let mut text = String::new();
            push(field, &mut text);
            assert_eq!(text, expected);
        }
    }
}
