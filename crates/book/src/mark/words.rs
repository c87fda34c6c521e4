//! Marks as text.

use crate::{Annotation, Mark};

/// NAG numbers and their symbols; the first symbol of a number is used for writing.
const COMMENTARIES: [(&str, u8); 12] = [
    ("none", 0),
    ("=", 10),
    ("=", 11),
    ("unclear", 13),
    ("+=", 14),
    ("=+", 15),
    ("+/-", 16),
    ("-/+", 17),
    ("+-", 18),
    ("-+", 19),
    ("+/=", 14),
    ("=/+", 15),
];

/// The symbols that are not made of letters, for the tokenizer.
pub(super) const SYMBOLS: [&str; 9] = ["=", "+=", "=+", "+/-", "-/+", "+-", "-+", "+/=", "=/+"];

/// Reads a colour: main, avoid or none.
#[must_use]
pub fn mark(text: &str) -> Option<Mark> {
    match text.to_ascii_lowercase().as_str() {
        "main" | "green" => Some(Mark::Main),
        "avoid" | "red" => Some(Mark::Avoid),
        "none" => Some(Mark::None),
        _ => None,
    }
}

/// Reads a commentary: a symbol, `none`, or a NAG number.
#[must_use]
pub fn commentary(text: &str) -> Option<u8> {
    let known = COMMENTARIES.iter().find(|(symbol, _)| *symbol == text);
    known
        .map(|(_, nag)| *nag)
        .or_else(|| text.strip_prefix('$').unwrap_or(text).parse().ok())
}

/// Writes a commentary.
#[must_use]
pub fn commentary_name(nag: u8) -> String {
    let known = COMMENTARIES.iter().find(|(_, known)| *known == nag);
    known.map_or_else(|| format!("${nag}"), |(symbol, _)| (*symbol).to_owned())
}

/// Writes a recommendation byte: the colour, and other bits.
#[must_use]
pub fn mark_name(byte: u8) -> String {
    let mark = Mark::from_byte(byte).as_str();
    match byte {
        0 | 0x40 | 0x80 => mark.to_owned(),
        _ => format!("{mark} ({byte:#04x})"),
    }
}

/// Writes an annotation byte: the annotation, and other bits.
#[must_use]
pub(crate) fn annotation_name(byte: u8) -> String {
    let symbol = match Annotation(byte & 0x1f) {
        Annotation(0) => "none".to_owned(),
        sign => sign.symbol().to_owned(),
    };
    match byte & 0xe0 {
        0 => symbol,
        _ => format!("{symbol} ({byte:#04x})"),
    }
}

/// Writes a learn value from the view of the player of the move.
#[must_use]
pub fn learn_value_name(value: i8) -> String {
    match value {
        0 => "0".to_owned(),
        value => format!("{value:+}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte is shown as a name alone only if the name says all of it.
    #[test]
    fn unusual_bits_are_shown() {
        let marks = [(0, Mark::None), (0x40, Mark::Avoid), (0x80, Mark::Main)];
        for byte in 0..=255 {
            let usual = marks.iter().find(|(known, _)| *known == byte);
            let name = Mark::from_byte(byte).as_str();
            match usual {
                Some((_, mark)) => {
                    assert_eq!((mark_name(byte).as_str(), name), (mark.as_str(), name))
                }
                None => assert_eq!(mark_name(byte), format!("{name} ({byte:#04x})")),
            }
            let sign = match byte % 32 {
                0 => "none",
                sign => Annotation(sign).symbol(),
            };
            match byte / 32 {
                0 => assert_eq!(annotation_name(byte), sign),
                _ => assert_eq!(annotation_name(byte), format!("{sign} ({byte:#04x})")),
            }
            let value = byte.cast_signed();
            let text = learn_value_name(value);
            assert_eq!(text.parse(), Ok(value));
            assert_eq!(text.starts_with('+'), value > 0);
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for nag in 0..=255 {
            let name = commentary_name(nag);
            let read = commentary(&name).unwrap();
            assert!(read == nag || (nag, read) == (11, 10), "{name}");
        }
        for symbol in SYMBOLS {
            assert!(commentary(symbol).is_some(), "{symbol}");
        }
        assert_eq!(commentary(""), None);
        assert_eq!(commentary("good"), None);
    }
}
