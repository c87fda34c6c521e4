//! What a repertoire has no answer to, most frequent first.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::{Chess, Color, Move, Position as _};

use crate::departures::{NamedMove, named_line, own_moves, text_of};
use tabia_book::evals::EvalKey;
use tabia_book::policy::Policy;
use tabia_book::tree::shares;
use tabia_book::{BookMove, Error, Lookup, Probe, Wanted};
use tabia_notation::{self as notation, Line, openings};

/// How far is looked.
#[derive(Clone, Copy, Debug)]
pub struct CoverageLimits {
    /// The least share of games by which a position must come up, 0 to 1.
    pub least: f64,
    /// Plies from the start position.
    pub plies: usize,
    /// Positions that are looked up.
    pub positions: usize,
}

/// A position in which the repertoire has no move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hole {
    /// The position.
    pub fen: String,
    /// The likeliest moves to it, as text.
    pub line: String,
    /// The same moves one by one.
    pub moves: Vec<NamedMove>,
    /// The code of the opening, empty if it has none.
    pub eco: String,
    /// Its name.
    pub opening: String,
    /// The share of games that come there if the repertoire is played, 0 to 1.
    pub share: f64,
}

/// A position on the way: the moves to it, and the share of games that come there.
struct Reached {
    position: Chess,
    line: Vec<Move>,
    share: f64,
}

/// Positions of one ply; those that are reached by several lines are there once.
#[derive(Default)]
struct Reaches {
    numbers: HashMap<EvalKey, usize, FxBuildHasher>,
    all: Vec<Reached>,
}

impl Reaches {
    fn add(&mut self, reached: Reached) {
        let next = self.all.len();
        let number = *self
            .numbers
            .entry(EvalKey::of(&reached.position))
            .or_insert(next);
        match self.all.get_mut(number) {
            Some(known) => {
                // The line is that by which most games come.
                if reached.share > known.share {
                    known.line = reached.line;
                }
                known.share += reached.share;
            }
            None => self.all.push(reached),
        }
    }
}

/// The positions to which the opponents' moves lead and in which the book has no move
/// of a colour. Opponents play as in `opponents`, and as in the book where that knows
/// nothing.
///
/// # Errors
///
/// A book cannot be read.
pub fn holes(
    book: &dyn Probe,
    opponents: Option<&dyn Probe>,
    colour: Color,
    policy: &Policy,
    limits: CoverageLimits,
) -> Result<Vec<Hole>, Error> {
    let mut found = Lookup::default();
    let mut level = Reaches::default();
    level.add(Reached {
        position: Chess::default(),
        line: Vec::new(),
        share: 1.0,
    });
    let mut holes = Reaches::default();
    let mut asked = 0;
    for _ in 0..=limits.plies {
        let mut next = Reaches::default();
        // What is likeliest first, in case there are too many positions.
        level.all.sort_by(|a, b| b.share.total_cmp(&a.share));
        for here in level.all {
            asked += 1;
            if asked > limits.positions {
                break;
            }
            book.probe(&here.position, Wanted::Transpositions, &mut found)?;
            let moves = match here.position.turn() == colour {
                true => own_or_transposed(&found, policy),
                false => {
                    if let Some(opponents) = opponents {
                        let mut played = Lookup::default();
                        opponents.probe(&here.position, Wanted::Stored, &mut played)?;
                        if !played.moves.is_empty() {
                            found = played;
                        }
                    }
                    found.moves.retain(|mv| !mv.transposition);
                    found.moves.iter().zip(shares(&found.moves)).collect()
                }
            };
            if here.position.turn() == colour && moves.is_empty() && !here.position.is_game_over() {
                holes.add(here);
                continue;
            }
            for (mv, share) in moves {
                let share = here.share * share;
                if share >= limits.least {
                    next.add(Reached {
                        position: notation::after(&here.position, mv.mv),
                        line: [&here.line[..], &[mv.mv]].concat(),
                        share,
                    });
                }
            }
        }
        level = next;
    }
    let mut holes = holes.all;
    holes.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ok(holes.iter().map(described).collect())
}

/// The moves of the repertoire, else those that lead back into the book.
fn own_or_transposed<'f>(found: &'f Lookup, policy: &Policy) -> Vec<(&'f BookMove, f64)> {
    let own = own_moves(found, policy);
    if !own.is_empty() {
        return own;
    }
    let others = found.moves.iter().filter(|mv| mv.transposition);
    let share = 1.0 / others.clone().count() as f64;
    others.map(|mv| (mv, share)).collect()
}

fn described(hole: &Reached) -> Hole {
    let mut line = Line::from_start(Chess::default());
    hole.line.iter().for_each(|&mv| line.push(mv));
    let opening = openings::of_line(line.positions());
    Hole {
        fen: notation::fen(&hole.position),
        line: text_of(line.positions(), &hole.line),
        moves: named_line(&line),
        eco: opening.map_or("", |opening| opening.eco).to_owned(),
        opening: opening.map_or("", |opening| opening.name).to_owned(),
        share: hole.share,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::departures::tests::Written;

    const LIMITS: CoverageLimits = CoverageLimits {
        least: 0.01,
        plies: 20,
        positions: 1000,
    };

    fn found(book: &Written, opponents: Option<&dyn Probe>, colour: Color) -> Vec<(String, u32)> {
        let holes = holes(book, opponents, colour, &Policy::default(), LIMITS).unwrap();
        let seen = |hole: &Hole| (hole.line.clone(), (1000.0 * hole.share).round() as u32);
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
            lines(&[
                ("1. e4 e5 2. Nf3 Nc6", 450),
                ("1. e4 e5 2. Nf3 d6", 150),
                ("1. e4 e6", 100),
            ])
        );
        // Opponents play what the book does not know.
        const OTHERS: Written = Written(&[("e4", "e5", 1, false), ("e4", "d5", 3, false)]);
        assert_eq!(
            found(&BOOK, Some(&OTHERS), Color::White),
            lines(&[
                ("1. e4 d5", 750),
                ("1. e4 e5 2. Nf3 Nc6", 188),
                ("1. e4 e5 2. Nf3 d6", 63),
            ])
        );
        assert_eq!(
            found(&BOOK, None, Color::Black),
            lines(&[("1. d4", 900), ("1. e4 c5 2. Nc3", 31)])
        );
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
        ]);
        assert_eq!(
            found(&BOOK, None, Color::White),
            [("1. Nf3 d5 2. g3 Nf6".to_owned(), 1000)]
        );
    }
}
