//! The .cbh file: one record of 46 bytes for each game or text.
//!
//! The first 46 bytes are a header, big-endian as everything here:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | 0 |
//! | 1 | 2 | 0x24 in old files, 0x2c in newer ones |
//! | 3 | 2 | bytes of a record: 46 |
//! | 6 | 4 | entries + 1 |
//! | 40 | 4 | the same again, or 0 in old files |
//!
//! The record of entry `i`, from 1, begins at `46 * i`:
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 1 | bit 0: in use (no filter: there are files without it); bit 1: a text; bit 7: deleted |
//! | 1 | 4 | offset of its block in the .cbg file |
//! | 9, 12 | 3 | White, Black: numbers in the .cbp file |
//! | 15 | 3 | tournament: number in the .cbt file |
//! | 24 | 3 | date: day in 5 bits, month in 4, year in 12 |
//! | 27 | 1 | result, see `fields` |
//! | 29, 30 | 1 | round and its part, 0 if none |
//! | 31, 33 | 2 | Elo of White and Black, 0 if none |
//! | 35 | 2 | ECO: 128 * (number + 1), and a finer division in the low bits |
//!
//! Evidence: eleven genuine databases, and two other readers.

use shakmaty::ByColor;

use super::fields;
use crate::{Date, GameResult, SkipReason};
use tabia_io::input::bytes::{Cursor, be_u16_at, be_u32_at};

/// Bytes of a record, and of the header.
pub(super) const RECORD_BYTES: u64 = 46;

/// The two known beginnings of a file.
pub(super) const MAGIC: [[u8; 5]; 2] = [[0, 0, 0x24, 0, 46], [0, 0, 0x2c, 0, 46]];

/// Number of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Entries to read.
    pub(super) entries: u64,
    /// Entries according to the header.
    pub(super) announced: u64,
    /// Entries according to the length of the file.
    pub(super) present: u64,
}

/// Reads the header of a file of `len` bytes.
///
/// # Errors
///
/// It has another format.
pub(super) fn parse_header(header: &[u8], len: u64) -> Result<Extent, String> {
    if len < RECORD_BYTES {
        return Err(format!("not a .cbh file: only {len} bytes long"));
    }
    let size = be_u16_at(header, 3).unwrap_or(0);
    if u64::from(size) != RECORD_BYTES {
        return Err(format!(
            "not a readable .cbh file: a record has {size} bytes by its header, \
             expected {RECORD_BYTES}"
        ));
    }
    let count = |at| be_u32_at(header, at).map_or(0, |next| u64::from(next.saturating_sub(1)));
    let (announced, copy) = (count(6), count(40));
    let present = len / RECORD_BYTES - 1;
    // If the two numbers differ, one is damaged; then use the length of the file.
    let is_certain = copy == 0 || announced == copy;
    Ok(Extent {
        entries: if is_certain {
            announced.min(present)
        } else {
            present
        },
        announced,
        present,
    })
}

/// The record of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CbhEntry {
    /// Offset of the block in the .cbg file, in bytes.
    pub(super) offset: u64,
    pub(super) players: ByColor<u32>,
    pub(super) tournament: u32,
    pub(super) date: Date,
    pub(super) result: GameResult,
    /// As in the `Round` tag: `3`, `3.1`; `None` if unknown.
    pub(super) round: Option<String>,
    pub(super) elo: ByColor<u16>,
    /// As `C57`; zeros if unknown.
    pub(super) eco: [u8; 3],
}

impl CbhEntry {
    /// Parses a record, or says why its game is left out; `None` if there are fewer than
    /// 46 bytes.
    pub(super) fn parse(record: &[u8]) -> Option<Result<CbhEntry, SkipReason>> {
        let mut cursor = Cursor::new(record);
        let flags = cursor.u8()?;
        let offset = cursor.be_u32()?.into();
        cursor.take(4)?;
        let (white, black, tournament) = (cursor.be_u24()?, cursor.be_u24()?, cursor.be_u24()?);
        cursor.take(6)?;
        let (date, result) = (cursor.be_u24()?, cursor.u8()?);
        cursor.take(1)?;
        let (round, part) = (cursor.u8()?, cursor.u8()?);
        let elo = ByColor {
            white: cursor.be_u16()?,
            black: cursor.be_u16()?,
        };
        let eco = cursor.be_u16()?;
        cursor.take(9)?;
        if flags & 2 != 0 {
            return Some(Err(SkipReason::NoGame("a text".to_owned())));
        }
        if flags & 0x80 != 0 {
            return Some(Err(SkipReason::Deleted));
        }
        Some(Ok(CbhEntry {
            offset,
            players: ByColor { white, black },
            tournament,
            date: fields::date(date),
            result: fields::result(result),
            round: fields::round(round.into(), part.into()),
            elo: fields::elo(elo),
            eco: fields::eco(eco),
        }))
    }
}
