//! Positions for which a repertoire has no move, most frequent first.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::{Chess, Move, Position as _};

use crate::departures::{PositionWithLine, Repertoire, along};
use tabia_book::evals::EvalKey;
use tabia_book::tree::shares;
use tabia_book::{BookMove, Error, Lookup, Probe, Wanted};
use tabia_notation::{self as notation, Line};

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CoverageLimits {
    /// The lowest share of games with a position, 0 to 1; rarer ones are not listed.
    pub least: f64,
    /// Plies from the start position.
    pub plies: usize,
    /// Highest number of positions that are looked up.
    pub positions: usize,
}

impl Default for CoverageLimits {
    fn default() -> CoverageLimits {
        CoverageLimits {
            least: 0.0005,
            plies: 60,
            positions: 8000,
        }
    }
}

/// A position in which the repertoire has no move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hole {
    /// The position, and the most probable moves to it.
    #[serde(flatten)]
    pub place: PositionWithLine,
    /// The share of games that reach it if the repertoire is played, 0 to 1; at an end
    /// the share of those that go on. `None` if unknown: a move on the way was never
    /// played although others were, for example a move that the player has added.
    pub share: Option<f64>,
    /// Whether the line ends there with the opponent to move: none of the opponent's
    /// moves has an answer.
    pub is_end: bool,
}

/// A position on the way: the moves to it, and the share of games that reach it, 0 if
/// unknown.
struct ReachedPosition {
    position: Chess,
    line: Vec<Move>,
    share: f64,
}

/// The positions of one ply; one that several lines reach is in the list once.
#[derive(Default)]
struct ReachedPositions {
    numbers: HashMap<EvalKey, usize, FxBuildHasher>,
    all: Vec<ReachedPosition>,
}

impl ReachedPositions {
    fn add(&mut self, reached: ReachedPosition) {
        let next = self.all.len();
        let number = *self
            .numbers
            .entry(EvalKey::from_position(&reached.position))
            .or_insert(next);
        match self.all.get_mut(number) {
            Some(known) => {
                // The line with the most games is used.
                if reached.share > known.share {
                    known.line = reached.line;
                }
                known.share += reached.share;
            }
            None => self.all.push(reached),
        }
    }
}

/// Finds the positions after opponents' moves in which the repertoire has no move,
/// although it answers another move of the opponent. If it answers none, the line ends:
/// that is a hole only if `opponents` has games that go on there. Opponents play as in
/// `opponents`, and as in the book if it has no games there. The search, and what shares
/// are of, begins after the line `from`.
///
/// # Errors
///
/// A book cannot be read.
pub fn holes(
    repertoire: Repertoire<'_>,
    from: &Line,
    opponents: Option<&dyn Probe>,
    limits: CoverageLimits,
) -> Result<Vec<Hole>, Error> {
    let mut search = Search {
        repertoire,
        least: limits.least,
        left: [limits.positions; 2],
        holes: ReachedPositions::default(),
        ends: ReachedPositions::default(),
    };
    let root = ReachedPosition {
        position: from.last().clone(),
        line: Vec::new(),
        share: 1.0,
    };
    let mut level = ReachedPositions::default();
    if repertoire.colour == from.last().turn() {
        // Without a first move no line can end.
        if let Some(root) = search.answer(root, &mut level)? {
            search.holes.add(root);
        }
    } else {
        level.add(root);
    }
    for _ in 0..=limits.plies / 2 {
        let mut next = ReachedPositions::default();
        // The most probable positions first, in case there are too many.
        level.all.sort_by(|a, b| b.share.total_cmp(&a.share));
        for here in level.all {
            search.oppose(here, opponents, &mut next)?;
        }
        level = next;
    }
    let described = |all: ReachedPositions, is_end: bool| {
        all.all.into_iter().map(move |reached| Hole {
            place: PositionWithLine::new(&along(from, &reached.line)),
            share: Some(reached.share).filter(|share| *share > 0.0),
            is_end,
        })
    };
    let mut holes: Vec<Hole> = described(search.holes, false).collect();
    holes.extend(described(search.ends, true));
    let share = |hole: &Hole| hole.share.unwrap_or(0.0);
    holes.sort_by(|a, b| share(b).total_cmp(&share(a)));
    Ok(holes)
}

struct Search<'a> {
    repertoire: Repertoire<'a>,
    least: f64,
    /// Remaining positions to look up, with known and unknown share.
    left: [usize; 2],
    holes: ReachedPositions,
    ends: ReachedPositions,
}

impl Search<'_> {
    /// Adds the targets of the player's moves; returns the position if there are none.
    fn answer(
        &mut self,
        here: ReachedPosition,
        next: &mut ReachedPositions,
    ) -> Result<Option<ReachedPosition>, Error> {
        let mut found = Lookup::default();
        let wanted = Wanted::Transpositions;
        self.repertoire
            .book
            .probe(&here.position, wanted, &mut found)?;
        let mut own = self.repertoire.own_moves(&here.position, &found);
        if own.is_empty() {
            // Otherwise, moves that lead back into the book.
            own = found.moves.iter().map(|mv| (mv, 1.0)).collect();
            let share = 1.0 / own.len() as f64;
            own.iter_mut().for_each(|(_, part)| *part = share);
        }
        if own.is_empty() {
            return Ok(Some(here));
        }
        self.add(&here, own, next);
        Ok(None)
    }

    /// Adds the targets of moves, if they are frequent enough or their frequency is
    /// unknown.
    fn add(
        &self,
        here: &ReachedPosition,
        moves: Vec<(&BookMove, f64)>,
        next: &mut ReachedPositions,
    ) {
        for (entry, share) in moves {
            let share = here.share * share;
            if share >= self.least || share == 0.0 {
                next.add(ReachedPosition {
                    position: notation::after(&here.position, entry.mv),
                    line: [&here.line[..], &[entry.mv]].concat(),
                    share,
                });
            }
        }
    }

    /// Follows the opponents' moves and the answers to them.
    fn oppose(
        &mut self,
        here: ReachedPosition,
        opponents: Option<&dyn Probe>,
        next: &mut ReachedPositions,
    ) -> Result<(), Error> {
        let mut found = Lookup::default();
        if let Some(opponents) = opponents {
            opponents.probe(&here.position, Wanted::Stored, &mut found)?;
        }
        let goes_on = !found.moves.is_empty();
        if !goes_on {
            let wanted = Wanted::Transpositions;
            self.repertoire
                .book
                .probe(&here.position, wanted, &mut found)?;
        }
        found.moves.retain(|entry| !entry.transposition);
        let played = found.moves.iter().zip(shares(&found.moves)).collect();
        let mut replies = ReachedPositions::default();
        self.add(&here, played, &mut replies);
        let replies = replies.all;
        let (mut unanswered, mut answered) = (Vec::new(), false);
        for reply in replies {
            let [known, unknown] = &mut self.left;
            let left = if reply.share > 0.0 { known } else { unknown };
            if *left == 0 {
                break;
            }
            *left -= 1;
            if reply.position.is_game_over() {
                continue;
            }
            match self.answer(reply, next)? {
                Some(hole) => unanswered.push(hole),
                None => answered = true,
            }
        }
        if answered {
            unanswered.into_iter().for_each(|hole| self.holes.add(hole));
        } else if goes_on && !unanswered.is_empty() {
            let share = unanswered.iter().map(|hole| hole.share).sum();
            self.ends.add(ReachedPosition { share, ..here });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::departures::ChosenMoves;
    use crate::departures::tests::Written;
    use shakmaty::Color;
    use tabia_book::policy::Policy;

    const LIMITS: CoverageLimits = CoverageLimits {
        least: 0.01,
        plies: 20,
        positions: 1000,
    };

    fn found(book: &Written, opponents: Option<&dyn Probe>, colour: Color) -> Vec<(String, u32)> {
        let repertoire = Repertoire {
            book,
            colour,
            policy: &Policy::default(),
            chosen: &ChosenMoves::default(),
        };
        let holes = holes(repertoire, &Line::default(), opponents, LIMITS).unwrap();
        let seen = |hole: &Hole| {
            let end = if hole.is_end { " ..." } else { "" };
            let line = format!("{}{end}", hole.place.line);
            (line, (1000.0 * hole.share.unwrap_or(0.0)).round() as u32)
        };
        holes.iter().map(seen).collect()
    }

    const BOOK: Written = Written(&[
        ("", "e4", 10, true),
        ("", "d4", 90, false),
        ("e4", "e5", 6, false),
        ("e4", "c5", 3, false),
        ("e4", "e6", 1, false),
        ("e4 e5", "Nf3", 6, false),
        ("e4 e5 Nf3", "Nc6", 3, false),
        ("e4 e5 Nf3", "d6", 1, false),
        ("e4 c5", "Nc3", 0, true),
    ]);

    #[test]
    fn what_opponents_play_and_nothing_answers_is_a_hole() {
        let lines = |all: &[(&str, u32)]| -> Vec<(String, u32)> {
            all.iter()
                .map(|(line, share)| ((*line).to_owned(), *share))
                .collect()
        };
        assert_eq!(
            found(&BOOK, None, Color::White),
            // After 2. Nf3 no move has an answer: the line ends.
            lines(&[("1. e4 e6", 100)])
        );
        // Opponents play moves that are not in the book.
        const OTHERS: Written = Written(&[
            ("e4", "e5", 1, false),
            ("e4", "d5", 3, false),
            ("e4 e5 Nf3", "Nc6", 3, false),
            ("e4 e5 Nf3", "f5", 1, false),
        ]);
        assert_eq!(
            found(&BOOK, Some(&OTHERS), Color::White),
            lines(&[("1. e4 d5", 750), ("1. e4 e5 2. Nf3 ...", 250)])
        );
        assert_eq!(found(&BOOK, None, Color::Black), lines(&[("1. d4", 900)]));
    }

    #[test]
    fn what_the_player_has_added_comes_last_where_it_has_no_answer() {
        const BOOK: Written = Written(&[
            ("", "e4", 9, true),
            ("e4", "e5", 6, false),
            ("e4", "e6", 3, false),
            // Added by hand: no game has this move.
            ("e4", "c5", 0, false),
            ("e4", "d5", 0, false),
            ("e4 e5", "Nf3", 6, true),
            ("e4 c5", "Nf3", 0, true),
            ("e4 c5 Nf3", "d6", 0, false),
            ("e4 c5 Nf3", "Nc6", 0, false),
            ("e4 c5 Nf3 d6", "d4", 0, true),
        ]);
        let lines = [
            ("1. e4 e6", 333),
            ("1. e4 d5", 0),
            ("1. e4 c5 2. Nf3 Nc6", 0),
        ];
        let lines = lines.map(|(line, share)| (line.to_owned(), share));
        assert_eq!(found(&BOOK, None, Color::White), lines);
    }

    #[test]
    fn lines_that_meet_are_one_hole() {
        const BOOK: Written = Written(&[
            ("", "Nf3", 1, true),
            ("Nf3", "d5", 1, false),
            ("Nf3", "Nf6", 1, false),
            ("Nf3 d5", "g3", 1, true),
            ("Nf3 Nf6", "g3", 1, true),
            ("Nf3 d5 g3", "Nf6", 1, false),
            ("Nf3 Nf6 g3", "d5", 1, false),
            ("Nf3 d5 g3", "c5", 1, false),
            ("Nf3 d5 g3 c5", "Bg2", 1, true),
            ("Nf3 Nf6 g3", "c5", 1, false),
            ("Nf3 Nf6 g3 c5", "Bg2", 1, true),
        ]);
        assert_eq!(
            found(&BOOK, None, Color::White),
            [("1. Nf3 d5 2. g3 Nf6".to_owned(), 500)]
        );
    }
}
