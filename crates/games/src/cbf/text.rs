//! Texts: the names of players and source.

// DOS in most of Europe used this code page or 437, which has fewer of the same
// letters.
use crate::TextEncoding;
use oem_cp::code_table::DECODING_TABLE_CP850 as CODE_PAGE;

/// Symbols of the pieces, from 0xA2 on.
const FIGURINES: [char; 6] = ['K', 'Q', 'N', 'B', 'R', 'P'];

/// The text of unscrambled bytes, in an encoding that the user has named, if any.
pub(super) fn decode(bytes: &[u8], encoding: Option<TextEncoding>) -> String {
    if let Some(encoding) = encoding {
        let text = encoding.decode(bytes);
        let blank = |c: char| if c.is_control() { ' ' } else { c };
        return text
            .chars()
            .map(blank)
            .collect::<String>()
            .trim()
            .to_owned();
    }

    let letter = |byte: &u8| match byte {
        0xa2..=0xa7 => FIGURINES.get(usize::from(byte - 0xa2)).copied(),
        0x80..=0xff => CODE_PAGE.get(usize::from(byte - 0x80)).copied(),
        0x20..=0x7e => Some(char::from(*byte)),
        _ => Some(' '),
    };
    let text: String = bytes.iter().filter_map(letter).collect();
    text.trim().to_owned()
}

/// White and Black: the texts before and after the first hyphen.
pub(super) fn players(text: &str) -> (&str, &str) {
    let (white, black) = text.split_once('-').unwrap_or((text, ""));
    (white.trim(), black.trim())
}

/// The event and, from parentheses that contain only digits and punctuation, the round.
pub(super) fn source(text: &str) -> (String, &str) {
    for (open, _) in text.match_indices('(') {
        let after = text.get(open + 1..).unwrap_or_default();
        let Some((round, rest)) = after.split_once(')') else {
            continue;
        };
        let is_round = |c: char| c.is_ascii_digit() || ".,/m".contains(c);
        if round.chars().all(is_round) && round.contains(|c: char| c.is_ascii_digit()) {
            let before = text.get(..open).unwrap_or_default();
            let event = format!("{} {}", before.trim(), rest.trim());
            return (event.trim().to_owned(), round);
        }
    }
    (text.to_owned(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rounds_are_taken_apart() {
        assert_eq!(decode(b"H\x81bner - \xa2 ", None), "Hübner - K");
        let russian = "cp866".parse().ok();
        assert_eq!(decode(b"\x92\xa0\xab\xec\0", russian), "Таль");
        assert_eq!(players("Kasparov,G - Karpov,A"), ("Kasparov,G", "Karpov,A"));
        assert_eq!(players("Nobody"), ("Nobody", ""));
        assert_eq!(source("Linares (11)"), ("Linares".to_owned(), "11"));
        assert_eq!(
            source("Wch (m/4) Sevilla"),
            ("Wch Sevilla".to_owned(), "m/4")
        );
        assert_eq!(source("Open (rapid)"), ("Open (rapid)".to_owned(), ""));
    }
}
