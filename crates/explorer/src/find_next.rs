//! The search for the next place where two books differ, where a book ends, or
//! where marks are set. The likeliest come first.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use shakmaty::{Chess, Move, Position as _};

use super::books::Open;
use tabia_book::tree;
use tabia_book::{BookMove, Error, Lookup, Mark, Wanted};
use tabia_notation::{self as notation, Line};

/// Positions that are looked at for one answer.
const MOST_POSITIONS: usize = 20_000;

/// Plies that are gone at most.
const MOST_PLIES: usize = 80;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Moves that only one of two books has, or marks otherwise.
    Difference,
    /// A position of the book without a move in it.
    Gap,
    /// A position with a marked or annotated move.
    Mark,
}

impl Goal {
    pub(super) fn by_name(name: &str) -> Option<Goal> {
        match name {
            "difference" => Some(Goal::Difference),
            "gap" => Some(Goal::Gap),
            "mark" => Some(Goal::Mark),
            _ => None,
        }
    }
}

/// A position that waits to be looked at.
struct Waiting {
    /// How often it comes up from the first one, by the games of its moves.
    reach: f64,
    /// In which order it was found: ties go by that.
    number: usize,
    /// The moves that lead there.
    line: Vec<Move>,
    position: Chess,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        let by_reach = self.reach.total_cmp(&other.reach);
        by_reach.then(other.number.cmp(&self.number))
    }
}

/// The moves from the end of a line to the place of a kind that is the
/// `skip`th after it; `None` when no more is found among the likeliest
/// positions. The end of the line itself does not count. The last book is the
/// other one of two.
pub(super) fn find(
    books: &[Open],
    from: &Line,
    kind: Goal,
    mut skip: usize,
) -> Result<Option<Vec<Move>>, Error> {
    let (Some(first), Some(last)) = (books.first(), books.last()) else {
        return Ok(None);
    };
    let mut waiting = BinaryHeap::new();
    waiting.push(Waiting {
        reach: 1.0,
        number: 0,
        line: Vec::new(),
        position: from.last().clone(),
    });
    let mut seen: HashSet<Chess> = from.positions().iter().cloned().collect();
    let (mut here, mut there) = (Lookup::default(), Lookup::default());
    let mut number = 0;
    while let Some(next) = waiting.pop() {
        first.probe(&next.position, Wanted::Stored, &mut here)?;
        let is_found = match kind {
            Goal::Gap => here.moves.is_empty() && !next.position.is_game_over(),
            Goal::Mark => here.moves.iter().any(is_marked),
            Goal::Difference => {
                last.probe(&next.position, Wanted::Stored, &mut there)?;
                differ(&here.moves, &there.moves)
            }
        };
        if is_found && !next.line.is_empty() {
            if skip == 0 {
                return Ok(Some(next.line));
            }
            skip -= 1;
        }
        if next.line.len() >= MOST_PLIES || number >= MOST_POSITIONS {
            continue;
        }
        // A move of only one book was a difference; the moves after it belong to the same one.
        let shared = |mv: &&BookMove| {
            kind != Goal::Difference || there.moves.iter().any(|other| other.mv == mv.mv)
        };
        let all: f64 = here.moves.iter().map(weight).sum();
        for mv in here.moves.iter().filter(shared) {
            let position = notation::after(&next.position, mv.mv);
            if !seen.insert(position.clone()) {
                continue;
            }
            number += 1;
            let mut line = next.line.clone();
            line.push(mv.mv);
            waiting.push(Waiting {
                reach: next.reach * weight(mv) / all,
                number,
                line,
                position,
            });
        }
    }
    Ok(None)
}

/// How much of the games goes this way; never nothing, so that moves without
/// games are gone, too.
fn weight(mv: &BookMove) -> f64 {
    tree::weight(mv) + 0.01
}

fn is_marked(mv: &BookMove) -> bool {
    mv.mark() != Mark::None || mv.annotation.nag() != 0
}

fn differ(here: &[BookMove], there: &[BookMove]) -> bool {
    let same = |mv: &BookMove, other: &BookMove| {
        mv.mv == other.mv
            && mv.mark() == other.mark()
            && mv.annotation.nag() == other.annotation.nag()
    };
    here.len() != there.len()
        || here
            .iter()
            .any(|mv| !there.iter().any(|other| same(mv, other)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn starter() -> Open {
        Arc::new(tabia_adapter::book_set::starter().unwrap())
    }

    #[test]
    fn gaps_come_by_their_likelihood_and_are_gaps() {
        let book = starter();
        let from = Line::read("", "e2e4,c7c5").unwrap();
        let books = [Arc::clone(&book)];
        let mut found = Vec::new();
        for skip in 0..5 {
            let moves = find(&books, &from, Goal::Gap, skip).unwrap().unwrap();
            let mut line = from.clone();
            moves.iter().for_each(|&mv| line.push(mv));
            let mut lookup = Lookup::default();
            book.probe(line.last(), Wanted::Stored, &mut lookup)
                .unwrap();
            assert!(lookup.moves.is_empty(), "{line}");
            assert!(!found.contains(&moves), "{line}");
            found.push(moves);
        }
    }

    #[test]
    fn a_book_does_not_differ_from_itself_and_nothing_leads_on_outside_it() {
        let same = [starter(), starter()];
        let start = Line::default();
        assert_eq!(find(&same, &start, Goal::Difference, 0).unwrap(), None);
        // Outside the book nothing leads on.
        let outside = Line::read("", "a2a4,h7h5,a4a5,h5h4,a5a6,h4h3").unwrap();
        assert_eq!(find(&same, &outside, Goal::Gap, 0).unwrap(), None);
    }
}
