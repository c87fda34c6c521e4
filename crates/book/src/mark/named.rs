//! Moves given by the user, as a selection sees them.

use shakmaty::{Chess, Move, Position as _};

use super::filter::{Filter, Subject};
use super::select::Selection;
use crate::{BookMove, Error, Lookup, Probe, Wanted};
use tabia_notation as notation;

/// The message for a move that is not in the book.
pub(super) fn leads_out(position: &Chess, mv: Move) -> String {
    notation::number(position) + &notation::san(position, mv) + " leads out of the book"
}

/// Whether a selection admits a given move.
pub(super) fn admits(
    selection: &Selection,
    book: &dyn Probe,
    after: &Chess,
    position: &Chess,
    mv: Move,
) -> Result<bool, Error> {
    if selection.colour.is_some_and(|c| c != position.turn()) {
        return Ok(false);
    }
    let Some(filter) = &selection.filter else {
        return Ok(true);
    };
    let mut found = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut found)?;
    let known = found.moves.iter().find(|known| known.mv == mv);
    // If it is not in the book, planning reports that.
    Ok(known.is_none_or(|known| filter_admits(filter, known, &found, after)))
}

pub(super) fn filter_admits(
    filter: &Filter,
    entry: &BookMove,
    found: &Lookup,
    after: &Chess,
) -> bool {
    let games = |entry: &BookMove| f64::from(entry.stats().games);
    let stored = found.moves.iter().filter(|entry| !entry.transposition);
    let all: f64 = stored.map(games).sum();
    let plies = notation::ply(after.fullmoves().get(), after.turn());
    let commentary = |record: crate::PositionRecord| record.commentary_for(after.turn());
    filter.admits(&Subject {
        stats: entry.stats(),
        learn_value: entry.learn_value(),
        mark: entry.mark(),
        commentary: entry.after.map_or(0, commentary),
        annotation: Some(entry.annotation),
        share: (all > 0.0).then(|| 100.0 * games(entry) / all),
        ply: Some(plies),
        preference: entry.preference,
    })
}
