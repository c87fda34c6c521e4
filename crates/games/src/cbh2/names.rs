//! The `.2lid` file: players, tournaments and more.
//!
//! A header, big-endian: its own length (4 bytes), the number of kinds (4), and for
//! each kind the bytes of a record (4), the number of records (8), the first deleted
//! one (8). Blocks follow; block i contains record i of each kind: players,
//! tournaments, and kinds that are not read here.
//!
//! A record, little-endian: the bytes that follow (4; 0 if it is empty), then texts,
//! each after its length (4): family and first name of a player; place and title of a
//! tournament, then its date (4).

use crate::cbh::fields;
use crate::encodings;
use tabia_io::input::bytes::{Cursor, be_u32_at, be_u64_at};
use tabia_io::input::file::DataFile;

/// Kinds in the order of the file.
pub(super) const PLAYERS: usize = 0;
pub(super) const TOURNAMENTS: usize = 1;
const KINDS: usize = 6;

/// Bytes of the header that are read, and its least length.
const HEADER_BYTES: usize = 8 + 20 * KINDS;

/// The bytes of a deleted entry, after its length.
const DELETED: [u8; 8] = [0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99];

/// Larger records are damage, or of kinds that are not read here.
const LARGEST_ROOM: u64 = 1 << 16;

/// An open file of names.
#[derive(Debug)]
pub(super) struct Names {
    file: DataFile,
    first_at: u64,
    block_bytes: u64,
    kinds: [Rooms; KINDS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Rooms {
    /// Offset in the block.
    at: u64,
    bytes: u64,
    count: u64,
}

impl Names {
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn open(file: DataFile) -> Result<Names, String> {
        let header = file.start(HEADER_BYTES);
        let header = header.map_err(|error| error.to_string())?;
        Names::parse(&header, file).ok_or_else(|| "its header is damaged".to_owned())
    }

    fn parse(header: &[u8], file: DataFile) -> Option<Names> {
        let first_at = u64::from(be_u32_at(header, 0)?);
        if first_at < HEADER_BYTES as u64 || be_u32_at(header, 4)? != KINDS as u32 {
            return None;
        }
        let mut kinds = [Rooms::default(); KINDS];
        let mut at = 0;
        for (index, rooms) in kinds.iter_mut().enumerate() {
            let place = 8 + 20 * index;
            let bytes = u64::from(be_u32_at(header, place)?);
            let count = be_u64_at(header, place + 4)?;
            *rooms = Rooms { at, bytes, count };
            at += bytes;
        }
        let is_sound = kinds
            .iter()
            .take(2)
            .all(|rooms| (4..=LARGEST_ROOM).contains(&rooms.bytes));
        is_sound.then_some(Names {
            file,
            first_at,
            block_bytes: at,
            kinds,
        })
    }

    /// The bytes of a record, without its length.
    fn room(&self, kind: usize, number: i64, buffer: &mut Vec<u8>) -> Option<()> {
        let rooms = self.kinds.get(kind)?;
        let number = u64::try_from(number).ok().filter(|n| *n < rooms.count)?;
        let at = number.checked_mul(self.block_bytes)?;
        let at = at.checked_add(self.first_at + rooms.at)?;
        buffer.resize(rooms.bytes as usize, 0);
        let view = self.file.view().ok()?;
        let count = view.copy(at, buffer).ok()?;
        buffer.truncate(count);
        let length = Cursor::new(buffer).le_u32()? as usize;
        // The length itself takes four bytes of the record.
        if length == 0 || length + 4 > buffer.len() {
            return None;
        }
        buffer.truncate(length + 4);
        buffer.drain(..4);
        (length != 16 || !buffer.starts_with(&DELETED)).then_some(())
    }

    /// `Last, First`, or the only one given; empty if unknown.
    pub(super) fn player(&self, number: i64, buffer: &mut Vec<u8>) -> String {
        let found = self.room(PLAYERS, number, buffer).and_then(|()| {
            let mut cursor = Cursor::new(buffer);
            Some((text(&mut cursor)?, text(&mut cursor)?))
        });
        let (last, first) = found.unwrap_or_default();
        fields::full_name(last, &first)
    }

    /// Title, place and date.
    pub(super) fn tournament(
        &self,
        number: i64,
        buffer: &mut Vec<u8>,
    ) -> Option<(String, String, Option<String>)> {
        self.room(TOURNAMENTS, number, buffer)?;
        let mut cursor = Cursor::new(buffer);
        let (place, title) = (text(&mut cursor)?, text(&mut cursor)?);
        let date = cursor.le_u32().filter(|date| *date > 0);
        Some((title, place, date.map(|date| fields::date(date).to_pgn())))
    }
}

/// The next text: UTF-8 or, if it is not valid, Windows-1252.
fn text(cursor: &mut Cursor<'_>) -> Option<String> {
    let length = usize::try_from(cursor.le_u32()?).ok()?;
    let bytes = cursor.take(length)?;
    Some(encodings::text(bytes).into_owned())
}
