//! Any bytes as one line of printable text, and back.

use std::fmt::Write as _;

/// Writes bytes as text without control sequences for a terminal.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            let reads_as_escape = c == '\\' && chars.peek() == Some(&'x');
            if c.is_control() || reads_as_escape || is_invisible(c) {
                push_hex(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut text);
            } else {
                text.push(c);
            }
        }
        // A backslash at the end of one chunk is followed by an escape, not by a real
        // `x`, and needs no escape.
        push_hex(chunk.invalid(), &mut text);
    }
    text
}

/// Characters that reverse or hide the characters beside them.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn push_hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "\\x{byte:02x}");
    }
}

/// The bytes of a text written by [`escape`].
#[must_use]
pub fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match hex(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = rest.get(4..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The byte of an escape sequence at the start of `rest`.
fn hex(rest: &[u8]) -> Option<u8> {
    let digits = rest.strip_prefix(b"\\x")?.get(..2)?;
    let value = |digit: u8| char::from(digit).to_digit(16);
    let number = value(digits[0])? * 16 + value(digits[1])?;
    u8::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_stays_and_control_characters_do_not() {
        for (bytes, text) in [
            (
                &b"position startpos moves e2e4"[..],
                "position startpos moves e2e4",
            ),
            (b"C:\\Books\\main.ctg", "C:\\Books\\main.ctg"),
            (b"\x1b[2J\x07", "\\x1b[2J\\x07"),
            (b"a\tb\r", "a\\x09b\\x0d"),
            (b"B\xfccher", "B\\xfccher"),
            ("Bücher \u{9b}".as_bytes(), "Bücher \\xc2\\x9b"),
            ("\u{202e}".as_bytes(), "\\xe2\\x80\\xae"),
            (b"\\x41", "\\x5cx41"),
        ] {
            assert_eq!(escape(bytes), text);
            assert_eq!(unescape(text), bytes);
        }
    }

    proptest! {
        #[test]
        fn every_byte_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let text = escape(&bytes);
            prop_assert!(!text.contains(char::is_control));
            prop_assert_eq!(unescape(&text), bytes);
        }

        #[test]
        fn so_does_every_backslash(text in "[\\\\x0-9a-f\u{1b}\u{fc}]{0,12}") {
            prop_assert_eq!(unescape(&escape(text.as_bytes())), text.as_bytes());
        }
    }
}
