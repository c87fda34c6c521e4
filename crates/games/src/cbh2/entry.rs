//! The `.2cbh` file: one record of 192 bytes for each game, text or analysis.
//!
//! The first 192 bytes are a header; at offset 10 is the size of a record, at 16
//! their number plus one. The record of entry `i`, from 1, begins at `192 * i`;
//! little-endian:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | bit 1: a text; bit 7: deleted |
//! | 2 | 1 | 1: game or text; 2: analysis |
//! | 8, 16 | 8 | offset of its record in `.2cbg`, in `.2cba` |
//! | 24, 32, 40 | 8 | White, Black, tournament: numbers in `.2lid` |
//! | 48 | 8 | annotator, a number of a player |
//! | 88 | 1 | result |
//! | 90, 92 | 2 | round, its part |
//! | 96, 112 | 2 | Elo of White, Black; after each its kind (2): speed in the bits from 3 on |
//! | 128 | 2 | ECO |
//! | 188 | 4 | date |
//!
//! Evidence: published descriptions, measured by their authors on databases of
//! millions of games; no genuine file has been read by this program yet.

use shakmaty::ByColor;

use crate::{SkipReason, Speed};
use tabia_io::input::bytes::{Cursor, le_u16_at, le_u32_at, u8_at};

/// Bytes of a record, and of the header.
pub(super) const RECORD_BYTES: u64 = 192;

/// Whether a file begins like a `.2cbh` file.
pub(super) fn is_header(start: &[u8]) -> bool {
    start.starts_with(&[0; 8]) && le_u16_at(start, 10) == Some(RECORD_BYTES as u16)
}

/// Number of entries according to the header.
pub(super) fn announced(header: &[u8]) -> u64 {
    le_u32_at(header, 16).map_or(0, |next| u64::from(next).saturating_sub(1))
}

/// The record of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cbh2Entry {
    /// Offset of its record in the .2cbg file, in bytes.
    pub(super) offset: u64,
    /// Numbers of names, negative where there is none.
    pub(super) players: ByColor<i64>,
    pub(super) tournament: i64,
    pub(super) annotator: i64,
    pub(super) result: u8,
    pub(super) round: (u16, u16),
    pub(super) elo: ByColor<u16>,
    pub(super) eco: u16,
    pub(super) date: u32,
    /// The kinds of the ratings; see [`Cbh2Entry::speed`].
    kinds: ByColor<u16>,
}

impl Cbh2Entry {
    /// Parses a record, or says why its game is left out; `None` if there are fewer than
    /// 192 bytes.
    pub(super) fn parse(record: &[u8]) -> Option<Result<Cbh2Entry, SkipReason>> {
        let long = |at: usize| Cursor::new(record.get(at..)?).le_u64();
        let number = |at| long(at).map(u64::cast_signed);
        let no_game = |what: &str| Some(Err(SkipReason::NoGame(what.to_owned())));
        match (u8_at(record, 0)?, u8_at(record, 2)?) {
            (_, 2) => return no_game("an analysis"),
            (flags, 1) if flags & 2 != 0 => return no_game("a text"),
            (flags, 1) if flags & 0x80 != 0 => return Some(Err(SkipReason::Deleted)),
            (_, 1) => {}
            _ => return no_game("of an unknown kind"),
        }
        Some(Ok(Cbh2Entry {
            offset: long(8)?,
            players: ByColor {
                white: number(24)?,
                black: number(32)?,
            },
            tournament: number(40)?,
            annotator: number(48)?,
            result: u8_at(record, 88)?,
            round: (le_u16_at(record, 90)?, le_u16_at(record, 92)?),
            elo: ByColor {
                white: le_u16_at(record, 96)?,
                black: le_u16_at(record, 112)?,
            },
            eco: le_u16_at(record, 128)?,
            date: le_u32_at(record, 188)?,
            kinds: ByColor {
                white: le_u16_at(record, 98)?,
                black: le_u16_at(record, 114)?,
            },
        }))
    }

    /// The speed for which White's rating counts, or else Black's.
    pub(super) fn speed(&self) -> Option<Speed> {
        let speed = |kind: u16| match kind >> 3 {
            1 => Some(Speed::Bullet),
            2 => Some(Speed::Blitz),
            3 => Some(Speed::Rapid),
            4 => Some(Speed::Correspondence),
            _ => None,
        };
        speed(self.kinds.white).or(speed(self.kinds.black))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_zeros_and_the_length_of_a_record() {
        let mut header = [0; 20];
        header[10..12].copy_from_slice(&192_u16.to_le_bytes());
        assert!(is_header(&header));
        for (at, byte) in [(0, 1), (7, 1), (10, 0), (10, 191), (11, 1)] {
            let mut other = header;
            other[at] = byte;
            assert!(!is_header(&other), "{at}");
        }
        for end in 0..12 {
            assert!(!is_header(&header[..end]));
        }
    }
}
