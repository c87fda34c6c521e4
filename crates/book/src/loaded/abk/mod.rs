//! Arena opening books (.abk).
//!
//! A tree of moves, not positions: the same position may occur in several places. So a
//! book is walked once when it is opened, every move is stored under the key of its
//! position, and the numbers of equal moves are added. The description comes from readers
//! that agree, and from one real book of 140,787 moves. Little-endian; entry n is at byte
//! 28 n; entries 0 to 899 are the header, entry 900 is the first move of the start
//! position.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | source square, a1 = 0, b1 = 1, ... h8 = 63 |
//! | 1 | 1 | target square |
//! | 2 | 1 | promotion: 0 none, 1 rook, 2 knight, 3 bishop, 4 queen; some negative for Black |
//! | 3 | 1 | priority 0 to 9: 0 never, 5 usual |
//! | 4 | 4 | games |
//! | 8 | 4 | won by White (as far as readers agree) |
//! | 12 | 4 | lost by White |
//! | 16 | 4 | a number like a ply; meaning unsure, not used |
//! | 20 | 4 | first reply, -1 none |
//! | 24 | 4 | next alternative to this move, -1 none |
//!
//! The other games are drawn.
//!
//! # Damage
//!
//! Every entry is visited at most once, whatever the links are: a link out of range, a
//! link to an entry visited before (a loop), and an illegal move are skipped and counted in
//! [`LoadedBook::notices`](super::LoadedBook::notices). Lines longer than [`MAX_PLIES`] are
//! cut. Memory is 40 bytes for each entry of the file and a few hundred for each ply of the longest line.

mod walk;

use shakmaty::{Role, Square};

use super::{Found, Loader, Repeats};
use crate::{Error, polyglot::PackedMove};
use tabia_io::input::bytes::{le_u32_at, u8_at};
use tabia_io::input::file::DataFile;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 28;

/// The first entry that is a move.
pub const FIRST_ENTRY: u32 = 900;

/// Highest number of plies read of a line.
pub const MAX_PLIES: usize = 1000;

/// The first bytes of every book: 3, "AB", and a letter for the kind.
const MAGIC: &[u8] = &[3, b'A', b'B'];

/// The kinds with the layout above. The second was seen once, in a book of 9,142 moves
/// that is read correctly in this way.
const KINDS: [u8; 2] = [b'K', b'2'];

/// How such a book is read.
pub(crate) const LOADER: Loader = Loader {
    maker: "Arena",
    read,
    repeats: Repeats::Added,
    entry_bytes: ENTRY_BYTES,
    finds_every_position: true,
};

/// Walks a book.
fn read(file: &DataFile) -> Result<Found, Error> {
    check_header(file)?;
    walk::walk(file)
}

fn check_header(file: &DataFile) -> Result<(), Error> {
    let start = Error::start_of(file, 12)?;
    let fault = |offset: usize, expected| {
        let found = start.get(offset..offset + 4).unwrap_or_default();
        Error::Content {
            path: file.path().clone(),
            offset: offset as u64,
            text: format!(
                "not an Arena book: {found:02x?} where {expected} is expected; \
                 is it a book of another format, or damaged?"
            ),
        }
    };
    if !start.starts_with(MAGIC) || !u8_at(&start, 3).is_some_and(|kind| KINDS.contains(&kind)) {
        return Err(fault(0, "[03, 41, 42, 4b] or [03, 41, 42, 32]"));
    }
    if le_u32_at(&start, 8) != Some(ENTRY_BYTES as u32) {
        return Err(fault(8, "[1c, 00, 00, 00]"));
    }
    Ok(())
}

/// An entry as in the file.
#[derive(Default)]
pub(crate) struct Entry {
    /// `None` if its squares are none.
    pub(crate) mv: Option<PackedMove>,
    pub(crate) priority: u8,
    pub(crate) games: u32,
    pub(crate) won: u32,
    pub(crate) lost: u32,
    pub(crate) reply: i32,
    pub(crate) next: i32,
}

impl Entry {
    fn read(bytes: &[u8]) -> Option<Entry> {
        let byte = |at| u8_at(bytes, at);
        let number = |at| le_u32_at(bytes, at);
        let square = |at| Square::try_from(u32::from(u8_at(bytes, at)?)).ok();
        let promotion = match byte(2)?.cast_signed().unsigned_abs() {
            1 => Some(Role::Rook),
            2 => Some(Role::Knight),
            3 => Some(Role::Bishop),
            4 => Some(Role::Queen),
            _ => None,
        };
        let squares = square(0).zip(square(1));
        Some(Entry {
            mv: squares.map(|(from, to)| PackedMove::new(from, to, promotion)),
            priority: byte(3)?.min(9),
            games: number(4)?,
            won: number(8)?,
            lost: number(12)?,
            reply: number(20)?.cast_signed(),
            next: number(24)?.cast_signed(),
        })
    }

    /// The bytes of the entry. Castling is e1g1 and the like, as Arena has it.
    #[cfg(feature = "json")]
    pub(crate) fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mv = self.mv.unwrap_or_default();
        let promotion = match mv.promotion() {
            Some(Role::Rook) => 1,
            Some(Role::Knight) => 2,
            Some(Role::Bishop) => 3,
            Some(Role::Queen) => 4,
            _ => 0,
        };
        let mut bytes = [0; ENTRY_BYTES];
        let mut put = |at: usize, part: &[u8]| {
            if let Some(place) = bytes.get_mut(at..at + part.len()) {
                place.copy_from_slice(part);
            }
        };
        let (from, to) = mv.squares();
        put(0, &[from as u8, to as u8, promotion, self.priority]);
        for (at, number) in [(4, self.games), (8, self.won), (12, self.lost)] {
            put(at, &number.to_le_bytes());
        }
        put(20, &self.reply.to_le_bytes());
        put(24, &self.next.to_le_bytes());
        bytes
    }
}

/// The header of a book with lines of so many plies and so many moves. The places of the
/// two numbers are those of a genuine book, whose other fields are unknown or may be 0.
#[cfg(feature = "json")]
pub(crate) fn header(plies: u32, moves: u32) -> Vec<u8> {
    let mut bytes = vec![0; FIRST_ENTRY as usize * ENTRY_BYTES];
    for (at, part) in [
        (0, *b"\x03ABK"),
        (8, (ENTRY_BYTES as u32).to_le_bytes()),
        (214, plies.to_le_bytes()),
        (218, moves.to_le_bytes()),
    ] {
        if let Some(place) = bytes.get_mut(at..at + part.len()) {
            place.copy_from_slice(&part);
        }
    }
    bytes
}

#[cfg(test)]
mod tests;
