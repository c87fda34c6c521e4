//! The index entry of a game.
//!
//! Version 4, `.si4`: 47 bytes, big-endian.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 4 | offset of the game in `.sg4` |
//! | 4, 6 | 2, 1 | its length: low 16 bits; bit 7 of the second: bit 16 |
//! | 7 | 2 | flags 0 to 15; 3: deleted |
//! | 9, 10, 12 | 1, 2, 2 | White, Black: 4 high bits each, then 16 low ones each |
//! | 14, 15, 17, 19 | 1, 2, 2, 2 | event, site, round: 3, 3 and 2 high bits, then 16 low ones each |
//! | 21 | 2 | high 4 bits: result |
//! | 23 | 2 | ECO |
//! | 25 | 4 | date (20 low bits), date of the event (12 bits, relative) |
//! | 29, 31 | 2 | ratings: 12 bits; 4 high bits: kind of rating |
//! | 37, 38 | 1 | plies: low 8 bits; bits 8, 9 in the upper bits of the second |
//!
//! Version 5, `.si5`: 14 little-endian words, their fields from the top:
//!
//! | word | fields in bits |
//! |---|---|
//! | 0, 1, 2 | 4 counts of comments, variations, NAGs; 28 White, Black, event |
//! | 3, 4 | 32 site; 1 Chess960, 31 round |
//! | 5, 6 | 12 rating of White, Black; 20 date, date of the event |
//! | 7 | 10 plies (modulo 1024), 22 flags |
//! | 8, 9 | 17 length, 15 high bits of the offset in `.sg5`; 32 low ones |
//! | 10 | 8 stored opening line, 24 material in the last position |
//! | 11 | 8 pawn moves, 3 and 3 kinds of the ratings, 2 result, 16 ECO |
//! | 12, 13 | more of the pawn moves |
//!
//! Material, stored line and pawn moves only speed up searches; they are not read.
//! Checked with Scid itself on twenty databases, half of them genuine.

use std::fmt::Write as _;

use shakmaty::{ByColor, Color};

use super::keys::Keys;
use crate::cbh::fields;
use crate::{Date, GameResult, game};
use tabia_io::input::bytes::{be_u16_at, be_u32_at, le_u32_at, u8_at};

/// Bytes of a record of version 4, and of version 5.
pub(super) const OLD_BYTES: u64 = 47;
pub(super) const NEW_BYTES: u64 = 56;

/// Flag of a deleted game.
const DELETED: u32 = 1 << 3;

/// The highest year: it has eleven bits.
pub(super) const LAST_YEAR: u16 = 0x7ff;

/// Kinds of ratings by number: the end of the tag's name.
pub(super) const RATING_KINDS: [&str; 7] = ["Elo", "Rating", "Rapid", "ICCF", "USCF", "DWZ", "ECF"];

/// The entry of a game. Names are numbers in the file of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScidEntry {
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) flags: u32,
    pub(super) chess960: bool,
    pub(super) players: ByColor<u32>,
    pub(super) event: u32,
    pub(super) site: u32,
    pub(super) round: u32,
    pub(super) result: GameResult,
    pub(super) eco: u16,
    pub(super) date: Date,
    pub(super) event_date: Date,
    pub(super) ratings: ByColor<u16>,
    /// Indexes of [`RATING_KINDS`].
    pub(super) kinds: ByColor<u8>,
    /// Plies of the main line; used only for writing, modulo 1024.
    pub(super) plies: u16,
    /// Numbers of comments, variations, NAGs; used only for writing, rounded.
    pub(super) counts: [u32; 3],
    /// Used only for writing.
    pub(super) keys: Keys,
}

/// Parses the date of a tag; a part that is not a number is unknown. The format has no later
/// year than [`LAST_YEAR`].
pub(super) fn date_of(text: &str) -> Date {
    let known = Date::from_pgn(text);
    if known != Date::default() {
        let year = if known.year > LAST_YEAR {
            0
        } else {
            known.year
        };
        return Date { year, ..known };
    }
    // Without a year, as in `????.05.01`.
    let mut parts = text.trim().split('.');
    let mut part = |most| {
        let value = parts
            .next()
            .and_then(|part| part.trim().parse::<u16>().ok());
        value.filter(|value| *value <= most).unwrap_or(0)
    };
    Date {
        year: part(LAST_YEAR),
        month: part(12) as u8,
        day: part(31) as u8,
    }
}

impl ScidEntry {
    /// Whether the game is marked as deleted.
    pub(super) fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    /// Reads a record of version 4.
    pub(super) fn parse_old(record: &[u8]) -> Option<ScidEntry> {
        let byte = |at| u8_at(record, at).map(u32::from);
        let word = |at| be_u16_at(record, at).map(u32::from);
        let length = byte(6)?;
        let (players, others) = (byte(9)?, byte(14)?);
        let (date, ratings) = (be_u32_at(record, 25)?, [word(29)?, word(31)?]);
        let day = fields::date(date & 0xf_ffff);
        let of = |at: usize| ratings.get(at).copied().unwrap_or_default();
        Some(ScidEntry {
            offset: be_u32_at(record, 0)?.into(),
            length: length >> 7 << 16 | word(4)?,
            flags: (length & 63) << 16 | word(7)?,
            chess960: false,
            players: ByColor {
                white: players >> 4 << 16 | word(10)?,
                black: (players & 15) << 16 | word(12)?,
            },
            event: others >> 5 << 16 | word(15)?,
            site: (others >> 2 & 7) << 16 | word(17)?,
            round: (others & 3) << 16 | word(19)?,
            result: GameResult::from_number((word(21)? >> 12) as u8),
            eco: be_u16_at(record, 23)?,
            date: day,
            event_date: relative_date(day, date >> 20),
            ratings: ByColor {
                white: (of(0) & 0xfff) as u16,
                black: (of(1) & 0xfff) as u16,
            },
            kinds: ByColor {
                white: (of(0) >> 12) as u8,
                black: (of(1) >> 12) as u8,
            },
            ..ScidEntry::default()
        })
    }

    /// Reads a record of version 5.
    pub(super) fn parse_new(record: &[u8]) -> Option<ScidEntry> {
        let mut words = [0; 12];
        for (index, word) in words.iter_mut().enumerate() {
            *word = le_u32_at(record, 4 * index)?;
        }
        let [w0, w1, w2, site, w4, w5, w6, w7, w8, low, _, w11] = words;
        Some(ScidEntry {
            offset: u64::from(w8 & 0x7fff) << 32 | u64::from(low),
            length: w8 >> 15,
            flags: w7 & 0x3f_ffff,
            chess960: w4 >> 31 != 0,
            players: ByColor {
                white: w0 & 0xfff_ffff,
                black: w1 & 0xfff_ffff,
            },
            event: w2 & 0xfff_ffff,
            site,
            round: w4 & 0x7fff_ffff,
            result: GameResult::from_number((w11 >> 16 & 3) as u8),
            eco: (w11 & 0xffff) as u16,
            date: fields::date(w5 & 0xf_ffff),
            event_date: fields::date(w6 & 0xf_ffff),
            ratings: ByColor {
                white: (w5 >> 20) as u16,
                black: (w6 >> 20) as u16,
            },
            kinds: ByColor {
                white: (w11 >> 21 & 7) as u8,
                black: (w11 >> 18 & 7) as u8,
            },
            ..ScidEntry::default()
        })
    }

    /// Encodes a record of version 5.
    pub(super) fn encode(&self) -> [u8; NEW_BYTES as usize] {
        let [comments, variations, nags] = self.counts.map(|count| rounded_count(count) << 28);
        let Keys {
            material,
            left,
            pawns,
        } = self.keys;
        let kind = |color| u32::from(*self.kinds.get(color) & 7);
        let result = u32::from(self.result.number());
        let [p0, p1, p2, p3, p4, p5, p6, p7] = pawns;
        let words = [
            comments | self.players.white,
            variations | self.players.black,
            nags | self.event,
            self.site,
            u32::from(self.chess960) << 31 | self.round,
            u32::from(self.ratings.white) << 20 | fields::date_bits(self.date),
            u32::from(self.ratings.black) << 20 | fields::date_bits(self.event_date),
            u32::from(self.plies & 0x3ff) << 22 | self.flags,
            self.length << 15 | (self.offset >> 32) as u32,
            self.offset as u32,
            material,
            u32::from(left) << 24
                | kind(Color::White) << 21
                | kind(Color::Black) << 18
                | result << 16
                | u32::from(self.eco),
            u32::from_le_bytes([p0, p1, p2, p3]),
            u32::from_le_bytes([p4, p5, p6, p7]),
        ];
        let mut bytes = [0; NEW_BYTES as usize];
        for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }
}

/// Rounds a count to four bits.
fn rounded_count(count: u32) -> u32 {
    match count {
        0..=10 => count,
        11..=12 => 10,
        13..=17 => 11,
        18..=24 => 12,
        25..=34 => 13,
        35..=44 => 14,
        _ => 15,
    }
}

/// Decodes the date of an event of version 4: its year is relative to that of the
/// game.
fn relative_date(day: Date, event: u32) -> Date {
    let years = event >> 9;
    if years == 0 {
        return Date::default();
    }
    Date {
        year: (u32::from(day.year) + years).saturating_sub(4) as u16,
        ..fields::date(event & 0x1ff)
    }
}

/// The ECO code with Scid's subdivisions: `B36`, `B36f`, `B36f2`. `None` if
/// there is none.
pub(super) fn eco(value: u16) -> Option<String> {
    let mut text: String = eco_code(value)?.map(char::from).iter().collect();
    if let Some(fine) = ((value - 1) % 131).checked_sub(1) {
        text.push(char::from(b'a' + (fine / 5) as u8));
        if fine % 5 != 0 {
            let _ = write!(text, "{}", fine % 5);
        }
    }
    Some(text)
}

/// The first three letters of the ECO code: `B36`.
pub(super) fn eco_code(value: u16) -> Option<[u8; 3]> {
    let number = value.checked_sub(1)? / 131;
    (number < 500).then(|| game::eco_code(Some(number)))
}

/// Scid's number of an ECO code, 0 if the text is not one.
pub(super) fn eco_value(text: &str) -> u16 {
    let read = || {
        let (code, fine) = text.as_bytes().split_first_chunk()?;
        let code = game::eco_number(*code)?;
        let fine = match fine {
            [letter @ b'a'..=b'z'] => 1 + 5 * u16::from(letter - b'a'),
            [letter @ b'a'..=b'z', part @ b'1'..=b'4'] => {
                1 + 5 * u16::from(letter - b'a') + u16::from(part - b'0')
            }
            _ => 0,
        };
        Some(1 + 131 * code + fine)
    };
    read().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bits of each word of version 5 that are read.
    const READ: [u32; 14] = [
        0x0fff_ffff,
        0x0fff_ffff,
        0x0fff_ffff,
        u32::MAX,
        u32::MAX,
        u32::MAX,
        u32::MAX,
        0x003f_ffff,
        u32::MAX,
        u32::MAX,
        0,
        0x00ff_ffff,
        0,
        0,
    ];

    proptest! {
        #[test]
        fn what_is_read_of_version_5_is_written_so(words in any::<[u32; 14]>()) {
            let record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let written = ScidEntry::parse_new(&record).unwrap().encode();
            let (written, _) = written.as_chunks::<4>();
            for ((written, word), mask) in written.iter().zip(words).zip(READ) {
                prop_assert_eq!(u32::from_le_bytes(*written) & mask, word & mask);
            }
        }

        /// Written as its description says; most fields have their high bits elsewhere.
        #[test]
        fn what_is_stored_in_version_4_is_read(
            (offset, length, flags) in (any::<u32>(), 0..1_u32 << 17, 0..1_u32 << 22),
            (white, black) in (0..1_u32 << 20, 0..1_u32 << 20),
            (event, site, round) in (0..1_u32 << 19, 0..1_u32 << 19, 0..1_u32 << 18),
            (result, eco) in (0..4_u8, any::<u16>()),
            (year, month, day) in (10..2000_u16, 0..16_u8, 0..32_u8),
            (later, event_month, event_day) in (0..8_u16, 0..16_u8, 0..32_u8),
            ratings in any::<[u16; 2]>(),
        ) {
            let low = |number: u32| ((number & 0xffff) as u16).to_be_bytes();
            let mut record = offset.to_be_bytes().to_vec();
            record.extend(low(length));
            record.push((length >> 16) as u8 * 128 + (flags >> 16) as u8);
            record.extend(low(flags));
            record.push((white >> 16) as u8 * 16 + (black >> 16) as u8);
            record.extend([low(white), low(black)].concat());
            record.push((event >> 16) as u8 * 32 + (site >> 16) as u8 * 4 + (round >> 16) as u8);
            record.extend([low(event), low(site), low(round)].concat());
            record.extend((u16::from(result) << 12).to_be_bytes());
            record.extend(eco.to_be_bytes());
            let bits = |years: u16, month: u8, day: u8| {
                u32::from(years) * 512 + u32::from(month) * 32 + u32::from(day)
            };
            let event_date = bits(later, event_month, event_day);
            record.extend((bits(year, month, day) + (event_date << 20)).to_be_bytes());
            record.extend(ratings.map(u16::to_be_bytes).concat());
            record.resize(OLD_BYTES as usize, 0);
            let by_color = |[white, black]: [u16; 2]| ByColor { white, black };
            let expected = ScidEntry {
                offset: offset.into(),
                length,
                flags,
                players: ByColor { white, black },
                event,
                site,
                round,
                result: GameResult::from_number(result),
                eco,
                date: Date { year, month, day },
                event_date: match later {
                    0 => Date::default(),
                    _ => Date {
                        year: year + later - 4,
                        month: event_month,
                        day: event_day,
                    },
                },
                ratings: by_color(ratings.map(|rating| rating % 4096)),
                kinds: by_color(ratings.map(|rating| rating / 4096)).map(|kind| kind as u8),
                ..ScidEntry::default()
            };
            prop_assert_eq!(ScidEntry::parse_old(&record), Some(expected));
        }
    }

    /// Every number of an opening is that of its text, and each text has its own.
    #[test]
    fn openings_come_back_from_their_texts() {
        let mut last = String::new();
        for value in 1..=500 * 131 {
            let text = eco(value).unwrap();
            assert_eq!(eco_value(&text), value, "{text}");
            assert!(text > last, "{last} {text}");
            last = text;
        }
        assert_eq!((eco(0), eco(500 * 131 + 1)), (None, None));
        assert_eq!(eco_value("F00"), 0);
    }

    #[test]
    fn the_worked_example_of_version_4() {
        let record = [
            0, 0, 0, 0, 0, 0xa8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x30, 0, 0x45, 0xb3,
            0x98, 0xff, 0xcd, 0x93, 0x09, 0x44, 0x09, 0x73, 0x9c, 0x29, 0x72, 0x87, 0x25, 9, 0xb5,
            0xc1, 0xd4, 0xae, 0x70, 0, 0, 0,
        ];
        let entry = ScidEntry::parse_old(&record).unwrap();
        assert_eq!((entry.offset, entry.length, entry.flags), (0, 168, 0));
        assert_eq!(entry.players, ByColor { white: 0, black: 1 });
        assert_eq!(entry.result, GameResult::Draw);
        assert_eq!(eco(entry.eco).unwrap(), "B36f");
        assert_eq!(entry.date.to_pgn(), "2022.12.19");
        assert_eq!(entry.event_date.to_pgn(), "2022.12.15");
        assert_eq!(entry.ratings.white, 2372);
    }

    #[test]
    fn the_worked_example_of_version_5() {
        let words = [
            0x6000_0000_u32,
            0x4000_0001,
            0x3000_0000,
            0,
            0,
            0x000f_d071,
            0,
            0x0180_0010,
            0x0033_8000,
            0,
            0xbe6a_86a8,
            0x0300_0000,
            0,
            0,
        ];
        let record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let entry = ScidEntry::parse_new(&record).unwrap();
        assert_eq!((entry.offset, entry.length, entry.flags), (0, 103, 16));
        assert_eq!(entry.players, ByColor { white: 0, black: 1 });
        assert_eq!(entry.result, GameResult::Unknown);
        assert_eq!(entry.date.to_pgn(), "2024.03.17");
        assert_eq!(entry.event_date, Date::default());
        assert_eq!(eco(entry.eco), None);
    }
}
