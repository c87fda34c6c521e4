//! Reasons from the game not to play a move, whatever its weight.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxBuildHasher;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::Rejection;
use crate::{BookMove, Lookup, Preference, Probe, Wanted};
use tabia_notation as notation;

/// How many positions are read to find out whether a line goes on; more are not needed
/// even in books with many variations.
const LINE_BUDGET: u32 = 4000;

/// Highest number of positions in the cache of lines.
const MOST_KNOWN: usize = 200_000;

/// A cache of the lengths of a book's lines, so that no position is searched twice. Valid
/// for one content of one book.
#[derive(Debug, Default)]
pub struct LineMemory(Mutex<HashMap<u64, Length, FxBuildHasher>>);

/// Bounds of the longest line from a position, in plies.
#[derive(Clone, Copy, Debug)]
struct Length {
    at_least: u32,
    less_than: u32,
}

impl LineMemory {
    fn known(&self) -> MutexGuard<'_, HashMap<u64, Length, FxBuildHasher>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a line of `plies` goes on from a position, if cached.
    fn get(&self, key: u64, plies: u32) -> Option<bool> {
        let length = *self.known().get(&key)?;
        if plies <= length.at_least {
            return Some(true);
        }
        (plies >= length.less_than).then_some(false)
    }

    fn note(&self, key: u64, plies: u32, goes_on: bool) {
        let mut known = self.known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let length = known.entry(key).or_insert(Length {
            at_least: 0,
            less_than: u32::MAX,
        });
        if goes_on {
            length.at_least = length.at_least.max(plies);
        } else {
            length.less_than = length.less_than.min(plies);
        }
    }
}

/// The conditions of a choice that only the game and the GUI know.
pub struct GameSituation<'a> {
    /// The position to move in.
    pub position: &'a Chess,
    /// The book to use.
    pub book: &'a dyn Probe,
    /// Whether a position has occurred in this game; `None` if it does not matter.
    pub repeats: Option<&'a dyn Fn(&Chess) -> bool>,
    /// Plies that the line must have after the move.
    pub line_plies: u32,
    /// The cache for the book's lines.
    pub lines: &'a LineMemory,
}

impl GameSituation<'_> {
    /// The reason not to play a move, if there is one.
    #[must_use]
    pub fn against(&self, candidate: &BookMove) -> Option<Rejection> {
        if self.repeats.is_none() && self.line_plies == 0 {
            return None;
        }
        let next = notation::after(self.position, candidate.mv);
        if self.repeats.is_some_and(|repeats| repeats(&next)) {
            return Some(Rejection::Repetition);
        }
        (!line_goes_on(self.book, &next, self.line_plies, self.lines))
            .then_some(Rejection::LineEnds)
    }
}

/// Whether the book has a line of at least `plies` plies from here.
#[must_use]
pub(crate) fn line_goes_on(
    book: &dyn Probe,
    position: &Chess,
    plies: u32,
    lines: &LineMemory,
) -> bool {
    let mut budget = LINE_BUDGET;
    search(book, position, plies, &mut budget, lines)
}

fn search(
    book: &dyn Probe,
    position: &Chess,
    plies: u32,
    budget: &mut u32,
    lines: &LineMemory,
) -> bool {
    if plies == 0 {
        return true;
    }
    let Zobrist64(key) = position.zobrist_hash(EnPassantMode::Legal);
    if let Some(known) = lines.get(key, plies) {
        return known;
    }
    let Some(left) = budget.checked_sub(1) else {
        return false;
    };
    *budget = left;
    let mut found = Lookup::default();
    if book.probe(position, Wanted::Lines, &mut found).is_err() {
        return false;
    }
    // Other books store a move without the position after it.
    found
        .moves
        .retain(|mv| mv.after.is_some() || mv.preference != Preference::Statistics);
    // The most played move usually has the longest line.
    found
        .moves
        .sort_by_key(|mv| std::cmp::Reverse(mv.stats().games));
    let goes_on = found.moves.iter().any(|mv| {
        let next = notation::after(position, mv.mv);
        search(book, &next, plies - 1, budget, lines)
    });
    // If the budget ran out, the result is unknown and not cached.
    if goes_on || *budget > 0 {
        lines.note(key, plies, goes_on);
    }
    goes_on
}
