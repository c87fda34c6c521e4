//! Shredder opening books (.bkt).
//!
//! No description of the format is public. What follows was measured on one genuine book,
//! against the same author's books of the same lines in other formats. Numbers are
//! little-endian, except the key.
//!
//! Blocks of 1,552 bytes: 32 cells of 48 bytes, and 16 bytes that name blocks of overflow.
//! Blocks 0 to 255 are buckets: the number is the low seven bits of the first byte of the
//! key, plus 128 if Black is to move. The others are overflow. An empty cell is zeros:
//!
//! | offset | size | field of a cell |
//! |---|---|---|
//! | 0 | 8 | key of the position, big-endian |
//! | 8 | 4 | move |
//! | 12 | 4 | bits 16-17: 1 preferred, 3 held back, 0 and 2 neither (a guess from how the same moves are weighted in another format); 0 in nine of ten cells |
//! | 16 | 32 | zeros |
//!
//! | bits | of a move |
//! |---|---|
//! | 0-6, 7-13 | source and target square, a1 = 1, b1 = 2 ... h8 = 64 |
//! | 14-17 | promotion as a piece (a guess: the book had none); a queen if 0 |
//! | 18-21 | captured piece |
//! | 22-25 | moving piece: 1 king, 2 pawn, 3 knight, 5 bishop, 6 rook, 7 queen, and 8 for Black |
//! | 27 | castling, as e1g1 |
//! | 29 | a pawn moves two squares |
//!
//! The key is an XOR of constants, as Polyglot's, but the constants are not known. They are
//! found from the book itself, from the differences that the same moves make.

mod linear;
mod solve;

use shakmaty::{Color, Role, Square};

use super::{Found, Loader, Notice, Repeats, whole};
use crate::Error;
use tabia_io::input::bytes::{be_u64_at, le_u32_at};
use tabia_io::input::file::DataFile;

/// Bytes of a cell.
pub const CELL_BYTES: usize = 48;

const BLOCK_BYTES: usize = 1552;
const BLOCK_CELLS: usize = 32;
const BUCKETS: usize = 256;

/// The key of the start position, in any book.
const START_KEY: u64 = 0xbcee_2376_da2f_d45f;

/// Weights of preferred moves, of those held back, and of the others: in the order of the
/// marks, in no exact proportion.
const WEIGHTS: [u32; 4] = [50, 100, 50, 20];

/// A move as a cell has it, and as a legal move is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CellMove {
    from: Square,
    to: Square,
    role: Role,
    captured: Option<Role>,
    promotion: Option<Role>,
}

/// A move of a position.
#[derive(Clone, Copy, Debug)]
struct Cell {
    key: u64,
    side: Color,
    mv: CellMove,
    weight: u32,
    offset: u64,
}

fn role(code: u32) -> Option<Role> {
    Some(match code & 7 {
        1 => Role::King,
        2 => Role::Pawn,
        3 => Role::Knight,
        5 => Role::Bishop,
        6 => Role::Rook,
        7 => Role::Queen,
        _ => return None,
    })
}

impl Cell {
    /// Reads a cell; `None` if it is not a move of a position.
    fn read(bytes: &[u8], offset: u64) -> Option<Cell> {
        let (key, mv) = (be_u64_at(bytes, 0)?, le_u32_at(bytes, 8)?);
        let value = le_u32_at(bytes, 12)?;
        let square = |bits: u32| Square::try_from((mv >> bits & 0x7f).checked_sub(1)?).ok();
        let piece = mv >> 22 & 15;
        let (to, moving) = (square(7)?, role(piece)?);
        let is_last = moving == Role::Pawn && u8::from(to.rank()).is_multiple_of(7);
        Some(Cell {
            key,
            side: Color::from_white(piece & 8 == 0),
            mv: CellMove {
                from: square(0)?,
                to,
                role: moving,
                captured: role(mv >> 18 & 15),
                promotion: is_last.then(|| role(mv >> 14 & 15).unwrap_or(Role::Queen)),
            },
            weight: WEIGHTS.get((value >> 16 & 3) as usize).copied()?,
            offset,
        })
    }
}

/// How such a book is read.
pub(crate) const LOADER: Loader = Loader {
    maker: "Shredder",
    read,
    repeats: Repeats::Greatest,
    entry_bytes: CELL_BYTES,
    finds_every_position: false,
};

fn read(file: &DataFile) -> Result<Found, Error> {
    let bytes = whole(file)?;
    let mut cells = Vec::new();
    let (mut broken, mut misplaced) = ((0, 0), (0, 0));
    let count = |(count, first): &mut (u64, u64), offset| {
        *first = if *count == 0 { offset } else { *first };
        *count += 1;
    };
    for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
        for (n, bytes) in block
            .as_chunks::<CELL_BYTES>()
            .0
            .iter()
            .take(BLOCK_CELLS)
            .enumerate()
        {
            let offset = (number * BLOCK_BYTES + n * CELL_BYTES) as u64;
            if bytes.iter().all(|byte| *byte == 0) {
                continue;
            }
            let Some(cell) = Cell::read(bytes, offset) else {
                count(&mut broken, offset);
                continue;
            };
            let bucket = (cell.key >> 56) as usize & 0x7f | usize::from(cell.side.is_black()) << 7;
            if number < BUCKETS && number != bucket {
                count(&mut misplaced, offset);
                continue;
            }
            cells.push(cell);
        }
    }
    let mut found = Found::default();
    let rest = bytes.len() % BLOCK_BYTES;
    if rest != 0 || bytes.len() < BUCKETS * BLOCK_BYTES {
        found.notices.push(Notice::Loss(format!(
            "cut off at file byte {}: not {BUCKETS} blocks of {BLOCK_BYTES} bytes or more",
            bytes.len()
        )));
    }
    for ((count, first), what) in [
        (broken, "cells without a move"),
        (misplaced, "cells in a bucket of other keys"),
    ] {
        let text = || format!("{what} were skipped: {count}; the first at file byte {first}");
        found
            .notices
            .extend((count > 0).then(|| Notice::Loss(text())));
    }
    let solved = solve::solve(cells);
    found.notices.extend(solved.notices());
    found.moves = solved.moves;
    found.unreached = solved.unreached;
    Ok(found)
}

#[cfg(test)]
pub(crate) mod tests;
