//! The search for the next place where two books differ, where a book ends, or where
//! marks are set. The likeliest places come first.

use std::collections::HashSet;

use shakmaty::{Chess, Move, Position as _};

use super::content::Open;
use super::message::translatable;
use super::move_names::MoveNames;
use super::open_books::{OpenBooks, content};
use super::query::Query;
use super::reply::{Answer, Refusal, bad, json, unreadable};
use tabia_book::tree;
use tabia_book::walk::{Order, Walk};
use tabia_book::{BookMove, Error, Lookup, Mark, Wanted};
use tabia_notation::{self as notation, Line};

/// Greatest number of positions searched for one answer.
const MOST_POSITIONS: u64 = 20_000;

/// Greatest search depth in plies.
const MOST_PLIES: u32 = 80;

/// The kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// Moves that only one of two books has, or different marks.
    Difference,
    /// A position after a book move that the book has no moves for.
    Gap,
    /// A position with a marked or annotated move.
    Mark,
}

impl Goal {
    fn by_name(name: &str) -> Option<Goal> {
        match name {
            "difference" => Some(Goal::Difference),
            "gap" => Some(Goal::Gap),
            "mark" => Some(Goal::Mark),
            _ => None,
        }
    }
}

/// The moves to the next place of a kind.
pub(super) fn answer(open: &OpenBooks, query: &Query) -> Answer {
    let line = query.line().map_err(bad)?;
    let kind = query.get("to").and_then(Goal::by_name);
    let kind = kind.ok_or_else(|| bad("to: expected difference, gap or mark"))?;
    let books = open.shown(query)?;
    if kind == Goal::Difference && books.len() < 2 {
        return Err(bad(translatable!("a comparison needs two books")));
    }
    let books = books.iter().map(|(_, book)| Ok(content(book, query)?.0));
    let books: Vec<_> = books.collect::<Result<_, Refusal>>()?;
    let skip = query.number("skip", 0).map_err(bad)?;
    let found = find(&books, &line, kind, skip).map_err(unreadable)?;
    let names = found.map(|moves| MoveNames::of_moves(line.last(), &moves));
    Ok(json(&names))
}

/// The moves from the end of a line to the `skip`th later place of a kind; `None` if no
/// more is found among the likeliest positions. The end of the line itself does not
/// count. The last book is the second of two.
fn find(
    books: &[Open],
    from: &Line,
    kind: Goal,
    mut skip: usize,
) -> Result<Option<Vec<Move>>, Error> {
    let (Some(first), Some(last)) = (books.first(), books.last()) else {
        return Ok(None);
    };
    let mut walk = Walk::new(from.last(), Order::Likeliest);
    let mut seen: HashSet<Chess> = from.positions().iter().cloned().collect();
    let (mut here, mut there) = (Lookup::default(), Lookup::default());
    while let Some(node) = walk.next() {
        let position = &node.position;
        first.probe(position, Wanted::Stored, &mut here)?;
        let is_found = match kind {
            Goal::Gap => here.moves.is_empty() && !position.is_game_over(),
            Goal::Mark => (here.moves.iter())
                .any(|entry| entry.mark() != Mark::None || entry.annotation.nag() != 0),
            Goal::Difference => {
                last.probe(position, Wanted::Stored, &mut there)?;
                differ(&here.moves, &there.moves)
            }
        };
        if is_found && node.ply > 0 {
            if skip == 0 {
                return Ok(Some(walk.line(&node)));
            }
            skip -= 1;
        }
        if node.ply >= MOST_PLIES || walk.entered() > MOST_POSITIONS {
            continue;
        }
        // If only one book has a move, that was a difference; later moves belong to it.
        let shared = |entry: &&BookMove| {
            kind != Goal::Difference || there.moves.iter().any(|other| other.mv == entry.mv)
        };
        let all: f64 = here.moves.iter().map(weight).sum();
        for entry in here.moves.iter().filter(shared) {
            let after = notation::after(position, entry.mv);
            if seen.insert(after.clone()) {
                let share = node.share * weight(entry) / all;
                walk.enter_with_share(&node, entry.mv, share, after, ());
            }
        }
    }
    Ok(None)
}

/// The weight of a move; never zero, so that moves without games are followed, too.
fn weight(mv: &BookMove) -> f64 {
    tree::weight(mv) + 0.01
}

fn differ(here: &[BookMove], there: &[BookMove]) -> bool {
    let same = |entry: &BookMove, other: &BookMove| {
        entry.mv == other.mv
            && entry.mark() == other.mark()
            && entry.annotation.nag() == other.annotation.nag()
    };
    here.len() != there.len()
        || here
            .iter()
            .any(|mv| !there.iter().any(|other| same(mv, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn starter() -> Open {
        Arc::new(tabia_choice::book_set::starter().unwrap())
    }

    #[test]
    fn the_found_gaps_are_positions_without_book_moves() {
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
    fn a_book_does_not_differ_from_itself_and_outside_it_nothing_is_found() {
        let same = [starter(), starter()];
        let start = Line::default();
        assert_eq!(find(&same, &start, Goal::Difference, 0).unwrap(), None);
        // Positions outside the book have no further moves.
        let outside = Line::read("", "a2a4,h7h5,a4a5,h5h4,a5a6,h4h3").unwrap();
        assert_eq!(find(&same, &outside, Goal::Gap, 0).unwrap(), None);
    }
}
