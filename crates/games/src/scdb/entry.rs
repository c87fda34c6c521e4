//! An entry of the index: 39 bytes for one game.

use std::array;

use shakmaty::ByColor;

use super::{MAGIC_BYTES, NAME_BYTES};
use crate::game::eco_number;
use crate::{Date, GameResult};
use tabia_io::input::bytes::{be_u16_at, be_u32_at, be_u64_at};

/// Length of an entry.
pub(super) const ENTRY_BYTES: usize = 39;

/// Offset of the ECO code in an entry, and its length.
const ECO_AT: usize = 32;
const ECO_BYTES: usize = 3;

/// The content of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScdbEntry {
    /// 0, or 0xFF for a deleted game.
    pub(super) status: u8,
    /// Offset of the game in .dcg.
    pub(super) offset: u64,
    /// Offsets of the players' names in .dcn.
    pub(super) players: ByColor<u32>,
    /// The round, 0 if unknown.
    pub(super) round: u16,
    /// Offset of the site in .dcs.
    pub(super) site: u32,
    /// Offset of the event in .dce.
    pub(super) event: u32,
    /// Ratings, 0 if unknown.
    pub(super) elo: ByColor<u16>,
    pub(super) result: GameResult,
    /// Zeros if unknown.
    pub(super) eco: [u8; 3],
    pub(super) date: Date,
}

impl ScdbEntry {
    /// Reads an entry whose ECO code is too short by `missing` bytes.
    pub(super) fn decode(bytes: &[u8], missing: usize) -> Option<ScdbEntry> {
        let bytes = bytes.get(..ENTRY_BYTES - missing)?;
        let eco_end = ECO_AT + ECO_BYTES - missing;
        let eco: Option<[u8; 3]> = bytes.get(ECO_AT..eco_end)?.try_into().ok();
        Some(ScdbEntry {
            status: *bytes.first()?,
            offset: offset(bytes)?,
            players: ByColor {
                white: be_u32_at(bytes, 9)?,
                black: be_u32_at(bytes, 13)?,
            },
            round: be_u16_at(bytes, 17)?,
            site: be_u32_at(bytes, 19)?,
            event: be_u32_at(bytes, 23)?,
            elo: ByColor {
                white: be_u16_at(bytes, 27)?,
                black: be_u16_at(bytes, 29)?,
            },
            result: GameResult::from_number(*bytes.get(31)?),
            eco: eco
                .filter(|eco| eco_number(*eco).is_some())
                .unwrap_or_default(),
            // Impossible parts of a date are unknown.
            date: Date {
                year: at_most(9999, be_u16_at(bytes, eco_end)?),
                month: at_most(12, *bytes.get(eco_end + 2)?),
                day: at_most(31, *bytes.get(eco_end + 3)?),
            },
        })
    }

    /// Encodes the entry.
    pub(super) fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [&[self.status][..], &self.offset.to_be_bytes()].concat();
        bytes.extend(self.players.white.to_be_bytes());
        bytes.extend(self.players.black.to_be_bytes());
        bytes.extend(self.round.to_be_bytes());
        bytes.extend(self.site.to_be_bytes());
        bytes.extend(self.event.to_be_bytes());
        bytes.extend(self.elo.white.to_be_bytes());
        bytes.extend(self.elo.black.to_be_bytes());
        bytes.push(self.result.number());
        bytes.extend(self.eco);
        bytes.extend(self.date.year.to_be_bytes());
        bytes.extend([self.date.month, self.date.day]);
        let mut bytes = bytes.into_iter();
        array::from_fn(|_| bytes.next().unwrap_or(0))
    }
}

/// Whether the bytes look like an entry; random bytes hardly ever do.
pub(super) fn is_likely(bytes: &[u8], games_end: u64) -> bool {
    let Some(entry) = ScdbEntry::decode(bytes, 0) else {
        return false;
    };
    let is_reference = |place: u32| {
        let past_magic = (place as usize).checked_sub(MAGIC_BYTES);
        place == 0 || past_magic.is_some_and(|bytes| bytes.is_multiple_of(NAME_BYTES))
    };
    matches!(entry.status, 0 | 0xff)
        && (MAGIC_BYTES as u64..games_end).contains(&entry.offset)
        && is_reference(entry.players.white)
        && is_reference(entry.players.black)
        && is_reference(entry.site)
        && is_reference(entry.event)
        && bytes.get(31).is_some_and(|result| *result <= 3)
}

/// The offset of the game in the bytes of an entry.
pub(super) fn offset(bytes: &[u8]) -> Option<u64> {
    be_u64_at(bytes, 1)
}

/// How many bytes are missing in the ECO code of the last entry of a file, from
/// the last bytes of the file. `None` if the ECO code is whole: then the file was
/// cut off.
pub(super) fn short_eco(bytes: &[u8]) -> Option<usize> {
    let missing = ENTRY_BYTES.checked_sub(bytes.len())?;
    if !(1..=ECO_BYTES).contains(&missing) {
        return None;
    }
    let code = bytes.get(ECO_AT..ECO_AT + ECO_BYTES - missing)?;
    let is_code = match code {
        [] => true,
        [letter, digits @ ..] => {
            letter.is_ascii_uppercase() && digits.iter().all(u8::is_ascii_digit)
        }
    };
    // A whole code would be followed by the year, which never begins with a digit.
    let next = bytes.get(ECO_AT + ECO_BYTES - missing)?;
    (is_code && !next.is_ascii_digit() && *next != 0).then_some(missing)
}

fn at_most<T: Default + PartialOrd>(most: T, value: T) -> T {
    if value <= most { value } else { T::default() }
}
