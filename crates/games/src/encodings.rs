//! Texts of programs that do not store the encoding.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// Text that is UTF-8 or, if it cannot be, Windows-1252: of which Latin-1, the
/// letters of PGN before Unicode, is a part.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => windows1252(bytes),
    }
}

/// The text of a field of fixed length: up to the first zero, trimmed. It is encoded as in
/// [`text`]: ChessBase writes UTF-8 since version 13, and Windows-1252 in older Western
/// files.
pub(super) fn field(bytes: &[u8]) -> String {
    let found = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    // A text that is too long is cut after any byte, with or without a zero.
    let is_full = found.len() + 1 >= bytes.len();
    let whole = match std::str::from_utf8(found) {
        Err(error) if is_full && error.error_len().is_none() => {
            let whole = found.get(..error.valid_up_to()).unwrap_or_default();
            // The last byte may be a letter of Windows-1252.
            Some(whole).filter(|whole| !whole.is_ascii())
        }
        _ => None,
    };
    text(whole.unwrap_or(found)).trim().to_owned()
}

fn windows1252(bytes: &[u8]) -> Cow<'_, str> {
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    // The five bytes without a meaning in Windows-1252.
    let is_nothing = |c: char| ('\u{80}'..'\u{a0}').contains(&c);
    match text.contains(is_nothing) {
        true => text.replace(is_nothing, "\u{fffd}").into(),
        false => text,
    }
}

/// Text as Windows-1252, with `?` for letters it does not have.
pub(super) fn to_windows1252(text: &str) -> Vec<u8> {
    let byte = |c: char| match *WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).0 {
        [byte] => byte,
        _ => b'?',
    };
    text.chars().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_at_its_zero_and_is_trimmed() {
        for (bytes, expected) in [
            (&b" L\xe9k\xf3 \0garbage"[..], "L\u{e9}k\u{f3}"),
            (b"", ""),
            (b"\0\0", ""),
            (b"   ", ""),
            (b"\xa0x\x80\x9f\x81", "x\u{20ac}\u{178}\u{fffd}"),
            ("Ångström\0".as_bytes(), "Ångström"),
            ("Łukasz\0\0\0".as_bytes(), "Łukasz"),
            // Cut within the last letter.
            (b"\xc5\x81\xc3\xb3d\xc5\0", "Łód"),
            (b"\xc5\x81\xc3\xb3d\xc5", "Łód"),
            // Not at the end of the field, or perhaps not UTF-8.
            (b"\xc5\x81\xc3\xb3d\xc5\0\0\0", "Å\u{fffd}Ã³dÅ"),
            (b"Andr\xe9", "André"),
        ] {
            assert_eq!(field(bytes), expected);
        }
    }

    #[test]
    fn other_texts_are_utf_8_if_they_can_be() {
        assert_eq!(text("Łódź".as_bytes()), "Łódź");
        assert_eq!(text(b"\x8at\xfcrz"), "Štürz");
        assert_eq!(to_windows1252("Š\u{20ac}Łü"), b"\x8a\x80?\xfc");
    }
}
