//! Texts of programs that do not store the encoding.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, Encoding, WINDOWS_1252};
use oem_cp::code_table::DECODING_TABLE_CP_MAP;
use oem_cp::code_table_type::TableType;

use crate::ParseError;

/// The encoding of texts that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding(Charset);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charset {
    /// Of Windows, Unix, Macintosh or East Asia.
    Other(&'static Encoding),
    /// The number of a code page of DOS.
    Dos(u16),
}

/// Windows-1252.
impl Default for TextEncoding {
    fn default() -> TextEncoding {
        TextEncoding(Charset::Other(WINDOWS_1252))
    }
}

/// By the names that browsers know (`windows-1251`, `cp1250`, `koi8-r`, `iso-8859-5`, `gbk`,
/// ...), and the code pages of DOS (`cp437`, `850`, `ibm866`).
impl FromStr for TextEncoding {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<TextEncoding, ParseError> {
        let name = text.trim().to_ascii_lowercase().replace('_', "-");
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number: Option<u16> = digits.parse().ok();
        let prefix = name.split_at(name.len() - digits.len()).0;
        let is_page = [
            "", "cp", "cp-", "ibm", "ibm-", "dos", "dos-", "oem", "oem-", "windows",
        ];
        let number = number.filter(|_| is_page.contains(&prefix));
        let windows = number.map(|number| format!("windows-{number}"));
        let labels = [Some(name.clone()), windows].into_iter().flatten();
        let mut known =
            labels.filter_map(|label| Encoding::for_label_no_replacement(label.as_bytes()));
        if let Some(encoding) = known.next() {
            return Ok(TextEncoding(Charset::Other(encoding)));
        }
        match number.filter(|number| DECODING_TABLE_CP_MAP.contains_key(number)) {
            Some(number) => Ok(TextEncoding(Charset::Dos(number))),
            None => Err(ParseError(
                "expected an encoding, as windows-1251, windows-1250, koi8-r, cp866, cp437, \
                 cp850, cp852 or gbk",
            )),
        }
    }
}

impl TextEncoding {
    /// Text that is UTF-8 or, if it cannot be, in this encoding.
    pub(super) fn text(self, bytes: &[u8]) -> Cow<'_, str> {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => self.decode(bytes),
        }
    }

    /// Text in this encoding.
    pub(super) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self.0 {
            Charset::Other(encoding) if encoding == WINDOWS_1252 => windows1252(bytes),
            Charset::Other(encoding) => encoding.decode_without_bom_handling(bytes).0,
            Charset::Dos(number) => {
                let table = DECODING_TABLE_CP_MAP.get(&number);
                let letter = |byte: u8| {
                    let place = usize::from(byte & 0x7f);
                    match (byte, table?) {
                        (0..0x80, _) => Some(char::from(byte)),
                        (_, TableType::Complete(letters)) => letters.get(place).copied(),
                        (_, TableType::Incomplete(letters)) => letters.get(place).copied()?,
                    }
                };
                let letters = bytes.iter().map(|byte| letter(*byte));
                letters.map(|letter| letter.unwrap_or('\u{fffd}')).collect()
            }
        }
    }

    /// A stream as UTF-8: each line that is not UTF-8 is in this encoding, and each other one
    /// too if most lines at its beginning are: short texts in it may happen to be UTF-8.
    pub(super) fn lines(self, from: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        match self.0 {
            Charset::Other(encoding) if !encoding.is_ascii_compatible() => {
                Box::new(Decoded::new(encoding, from))
            }
            _ => Box::new(Lines {
                encoding: self,
                from: BufReader::with_capacity(64 << 10, from),
                has_utf8: None,
                text: Vec::new(),
                at: 0,
            }),
        }
    }
}

/// Greatest length of a line that is decoded as a whole.
const LONGEST_LINE: u64 = 1 << 20;

/// A stream whose lines are UTF-8 or in another encoding, as UTF-8.
struct Lines {
    encoding: TextEncoding,
    from: BufReader<Box<dyn Read + Send>>,
    /// Whether lines may be UTF-8; `None` before the first one.
    has_utf8: Option<bool>,
    /// The decoded line, and how many of its bytes were read.
    text: Vec<u8>,
    at: usize,
}

/// Whether at least half of the lines with other letters than ASCII are UTF-8.
fn is_mostly_utf8(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n');
    let (utf8, other): (Vec<_>, Vec<_>) = lines
        .filter(|line| !line.is_ascii())
        .partition(|line| std::str::from_utf8(line).is_ok());
    utf8.len() >= other.len()
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.text.len() {
            let has_utf8 = match self.has_utf8 {
                Some(known) => known,
                None => *self.has_utf8.insert(is_mostly_utf8(self.from.fill_buf()?)),
            };
            let mut line = Vec::new();
            self.from
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            self.text = match std::str::from_utf8(&line) {
                Ok(text) if has_utf8 || text.is_ascii() => line,
                _ => self.encoding.decode(&line).into_owned().into_bytes(),
            };
            self.at = 0;
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = { rest }.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// A stream in an encoding, as UTF-8: for UTF-16, whose lines cannot be told apart by their
/// bytes.
pub(super) struct Decoded {
    decoder: Decoder,
    from: Box<dyn Read + Send>,
    text: Vec<u8>,
    at: usize,
    at_end: bool,
}

impl Decoded {
    pub(super) fn new(encoding: &'static Encoding, from: Box<dyn Read + Send>) -> Decoded {
        Decoded {
            decoder: encoding.new_decoder_with_bom_removal(),
            from,
            text: Vec::new(),
            at: 0,
            at_end: false,
        }
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.text.len() && !self.at_end {
            let mut bytes = vec![0; 64 << 10];
            let count = self.from.read(&mut bytes)?;
            self.at_end = count == 0;
            let bytes = bytes.get(..count).unwrap_or_default();
            let most = self.decoder.max_utf8_buffer_length(count).unwrap_or(0);
            self.text.resize(most, 0);
            let (_, _, length, _) = self
                .decoder
                .decode_to_utf8(bytes, &mut self.text, self.at_end);
            self.text.truncate(length);
            self.at = 0;
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = { rest }.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// The kind of UTF-16 in which a text begins, with or without a byte order mark.
pub(super) fn utf16(start: &[u8]) -> Option<&'static Encoding> {
    match *start {
        [0xff, 0xfe, ..] => Some(encoding_rs::UTF_16LE),
        [0xfe, 0xff, ..] => Some(encoding_rs::UTF_16BE),
        _ => {
            // The first letters are those of a tag or a move.
            let pairs: Vec<&[u8]> = start.chunks_exact(2).take(8).collect();
            let is = |zero: usize| {
                let fits = |pair: &&[u8]| {
                    pair.get(zero) == Some(&0)
                        && pair
                            .get(1 - zero)
                            .is_some_and(|byte| (9..0x7f).contains(byte))
                };
                pairs.len() >= 4 && pairs.iter().all(fits)
            };
            if is(1) {
                Some(encoding_rs::UTF_16LE)
            } else {
                is(0).then_some(encoding_rs::UTF_16BE)
            }
        }
    }
}

/// Text that is UTF-8 or, if it cannot be, Windows-1252: of which Latin-1, the
/// letters of PGN before Unicode, is a part.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    TextEncoding::default().text(bytes)
}

/// The text of a field of fixed length: up to the first zero, trimmed. It is encoded as in
/// [`text`]: ChessBase writes UTF-8 since version 13, and Windows-1252 in older Western
/// files.
pub(super) fn field(bytes: &[u8], encoding: TextEncoding) -> String {
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
    encoding.text(whole.unwrap_or(found)).trim().to_owned()
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
            assert_eq!(field(bytes, TextEncoding::default()), expected);
        }
        let cyrillic = "windows-1251".parse().unwrap();
        assert_eq!(field(b"\xd2\xe0\xeb\xfc\0", cyrillic), "Таль");
        assert_eq!(field("Таль\0".as_bytes(), cyrillic), "Таль");
    }

    #[test]
    fn encodings_have_many_names() {
        let tal = "Таль";
        for (names, bytes) in [
            (
                &["windows-1251", "cp1251", "1251", "Windows_1251"][..],
                &b"\xd2\xe0\xeb\xfc"[..],
            ),
            (&["koi8-r", "KOI8-R"], b"\xf4\xc1\xcc\xd8"),
            (&["cp866", "ibm866", "866", "dos-866"], b"\x92\xa0\xab\xec"),
            (&["iso-8859-5"], b"\xc2\xd0\xdb\xec"),
            (&["cp855", "ibm855"], b"\xe6\xa0\xd0\xed"),
        ] {
            for name in names {
                let encoding: TextEncoding = name.parse().unwrap();
                assert_eq!(encoding.text(bytes), tal, "{name}");
                assert_eq!(encoding.text(tal.as_bytes()), tal, "{name}");
            }
        }
        let hubner: TextEncoding = "cp437".parse().unwrap();
        assert_eq!(hubner.text(b"H\x81bner"), "Hübner");
        let polish: TextEncoding = "852".parse().unwrap();
        assert_eq!(polish.text(b"\x9dukasz"), "Łukasz");
        let thai: TextEncoding = "cp857".parse().unwrap();
        assert_eq!(thai.text(b"\x81\xd5"), "ü\u{fffd}");
        for unknown in ["", "cp", "cp9999", "klingon", "cp-", "12x"] {
            assert!(unknown.parse::<TextEncoding>().is_err(), "{unknown}");
        }
    }

    #[test]
    fn streams_are_decoded_whatever_the_size_of_the_reads() {
        let text = "[White \"Таль\"]\n\n1. e4 {Ё} *\n".repeat(3000);
        let (cyrillic, _, _) = encoding_rs::WINDOWS_1251.encode(&text);
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(utf16(&le), Some(encoding_rs::UTF_16LE));
        assert_eq!(utf16(&be), Some(encoding_rs::UTF_16BE));
        assert_eq!(utf16(text.as_bytes()), None);
        assert_eq!(utf16(b"\0\0\0\0\0\0\0\0"), None);
        for (name, bytes) in [
            ("windows-1251", cyrillic.into_owned()),
            ("windows-1251", text.clone().into_bytes()),
            ("utf-16le", le),
            ("utf-16be", be),
        ] {
            for size in [1, 7, 4096, 1 << 20] {
                let mut found = Vec::new();
                let encoding: TextEncoding = name.parse().unwrap();
                let mut stream = encoding.lines(Box::new(io::Cursor::new(bytes.clone())));
                let mut buffer = vec![0; size];
                loop {
                    match stream.read(&mut buffer).unwrap() {
                        0 => break,
                        count => found.extend_from_slice(&buffer[..count]),
                    }
                    if size == 1 && found.len() > 500 {
                        break;
                    }
                }
                let all = size > 1;
                assert!(if all {
                    found == text.as_bytes()
                } else {
                    text.as_bytes().starts_with(&found)
                });
            }
        }
    }

    #[test]
    fn other_texts_are_utf_8_if_they_can_be() {
        assert_eq!(text("Łódź".as_bytes()), "Łódź");
        assert_eq!(text(b"\x8at\xfcrz"), "Štürz");
        assert_eq!(to_windows1252("Š\u{20ac}Łü"), b"\x8a\x80?\xfc");
    }
}
