//! What the game has against a move, whatever its weight.

use shakmaty::{Chess, Move, Position};

use super::Rejection;
use crate::book::{BookMove, Lookup, Preference, Probe, Wanted};

/// How many positions are looked at to find out whether a line goes on; more
/// than that are not needed even in bushy books.
const LINE_BUDGET: u32 = 4000;

/// The circumstances of a choice: what only the game and the GUI know.
pub struct Circumstances<'a> {
    /// The position to move in.
    pub position: &'a Chess,
    /// The book that is asked.
    pub book: &'a dyn Probe,
    /// The moves to choose from; `None` is all.
    pub asked: Option<&'a [Move]>,
    /// Tells whether a position has been in this game; `None` when it does
    /// not matter.
    pub repeats: Option<&'a dyn Fn(&Chess) -> bool>,
    /// Plies that the line must have after the move.
    pub line_plies: u32,
}

impl Circumstances<'_> {
    /// The reason against a move, if there is one.
    #[must_use]
    pub fn against(&self, candidate: &BookMove) -> Option<Rejection> {
        if self
            .asked
            .is_some_and(|asked| !asked.contains(&candidate.mv))
        {
            return Some(Rejection::NotAsked);
        }
        if self.repeats.is_none() && self.line_plies == 0 {
            return None;
        }
        let mut next = self.position.clone();
        next.play_unchecked(candidate.mv);
        if self.repeats.is_some_and(|repeats| repeats(&next)) {
            return Some(Rejection::Repetition);
        }
        (!line_goes_on(self.book, &next, self.line_plies)).then_some(Rejection::LineEnds)
    }
}

/// Whether the book has a line of at least `plies` plies from here.
#[must_use]
pub fn line_goes_on(book: &dyn Probe, position: &Chess, plies: u32) -> bool {
    let mut budget = LINE_BUDGET;
    search(book, position, plies, &mut budget)
}

fn search(book: &dyn Probe, position: &Chess, plies: u32, budget: &mut u32) -> bool {
    if plies == 0 {
        return true;
    }
    let Some(left) = budget.checked_sub(1) else {
        return false;
    };
    *budget = left;
    let mut found = Lookup::default();
    if book.probe(position, Wanted::Stored, &mut found).is_err() {
        return false;
    }
    // Other books store a move without the position after it.
    found
        .moves
        .retain(|mv| mv.after.is_some() || mv.preference != Preference::Statistics);
    // The most played move has the longest line, mostly.
    found
        .moves
        .sort_by_key(|mv| std::cmp::Reverse(mv.stats().games));
    found.moves.iter().any(|mv| {
        let mut next = position.clone();
        next.play_unchecked(mv.mv);
        search(book, &next, plies - 1, budget)
    })
}
