//! Whether a book is for games from the start position.

use shakmaty::{Chess, Position as _};

use super::{Lookup, Probe, Wanted};
use crate::Error;
use tabia_notation as notation;

/// How far from the start position a book for ordinary games begins at most, in plies: one
/// for a side begins at ply 0 or 1; some leave out the first move of both.
pub const NEAR_PLIES: u32 = 3;

/// Whether a book has a legal move in the start position, or in one at most [`NEAR_PLIES`]
/// after it. Without any, all 9,323 sequences of moves are tried.
///
/// # Errors
///
/// As for [`Probe::probe`].
pub fn is_near_start(book: &dyn Probe) -> Result<bool, Error> {
    let mut found = Lookup::default();
    let mut level = vec![Chess::default()];
    for ply in 0..=NEAR_PLIES {
        for position in &level {
            book.probe(position, Wanted::Stored, &mut found)?;
            if !found.moves.is_empty() {
                return Ok(true);
            }
        }
        if ply < NEAR_PLIES {
            let next = level.iter().flat_map(|position| {
                let moves = position.legal_moves().into_iter();
                moves.map(|mv| notation::after(position, mv))
            });
            level = next.collect();
        }
    }
    Ok(false)
}
