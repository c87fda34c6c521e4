//! Walks of two books against each other.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Color, Move, Position as _};

use crate::Error;
use tabia_book::Probe;
use tabia_book::evals::EvalKey;
use tabia_book::policy::{LineMemory, Rules, chance, choose_knowing};
use tabia_io::progress::{Progress, Watch};
use tabia_notation::{Line, MOST_PLIES};

/// A book with the options by which its moves are chosen.
pub struct Side<'a> {
    book: &'a dyn Probe,
    rules: Rules,
    seed: u64,
    lines: LineMemory,
}

impl<'a> Side<'a> {
    /// Makes a side with `seed` as its `Book Seed`: the n-th walk has the book moves of
    /// the n-th game of an adapter with this seed.
    #[must_use]
    pub fn new(book: &'a dyn Probe, rules: Rules, seed: u32) -> Side<'a> {
        Side {
            book,
            rules,
            seed: seed.into(),
            lines: LineMemory::default(),
        }
    }

    /// The book move drawn in the last position of a line; `None` out of book.
    fn draw(&self, line: &Line, game: u64) -> Result<Option<Move>, Error> {
        let (position, before) = (line.last(), line.before());
        let found = choose_knowing(self.book, &self.lines, position, before, &self.rules)?;
        let mut random = chance(self.seed, game, position, 0);
        Ok(found.draw(&mut random).map(|drawn| drawn.mv))
    }
}

/// A position in which walks ended.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The position.
    pub position: Chess,
    /// The moves of the first walk that reached it.
    pub moves: Vec<Move>,
    /// Whether the walk ended by the rules (third repetition, or fifty moves without
    /// capture or pawn move), not because a book ended.
    pub drawn: bool,
    /// Walks that ended here with the first side as White, and as Black.
    pub reached: [u32; 2],
}

impl Exit {
    /// The line of the first walk that reached it.
    #[must_use]
    pub fn line(&self) -> Line {
        let mut line = Line::default();
        self.moves.iter().for_each(|mv| line.push(*mv));
        line
    }
}

/// Pairs of walks, and where they ended.
#[derive(Clone, Debug, Default)]
pub struct Walks {
    /// The different exits, in the order in which they were first reached.
    pub exits: Vec<Exit>,
    /// By pair: the exit with the first side as White, and as Black, as indices
    /// into `exits`.
    pub pairs: Vec<[usize; 2]>,
    /// Book moves of the first and of the second side, in all walks.
    pub book_moves: [u64; 2],
}

/// Walks `walks` times from the start position, each time with both colours.
///
/// # Errors
///
/// A book cannot be read, or the work is cancelled.
pub fn walk_pairs(
    sides: &[Side<'_>; 2],
    walks: u32,
    watch: &mut Watch<'_>,
) -> Result<Walks, Error> {
    let mut found = Walks::default();
    let mut known: HashMap<(EvalKey, Color, bool), usize, FxBuildHasher> = HashMap::default();
    for game in 0..u64::from(walks) {
        if game % 16 == 0 {
            watch.step(Progress::new("walking", "walks", game, Some(walks.into())))?;
        }
        let mut pair = [0; 2];
        for (first_is_black, exit) in pair.iter_mut().enumerate() {
            let (line, drawn) = walk(&sides[first_is_black], &sides[1 - first_is_black], game)?;
            let plies = line.plies() as u64;
            found.book_moves[first_is_black] += plies.div_ceil(2);
            found.book_moves[1 - first_is_black] += plies / 2;
            let position = line.last();
            let key = (EvalKey::from_position(position), position.turn(), drawn);
            *exit = *known.entry(key).or_insert_with(|| {
                found.exits.push(Exit {
                    position: position.clone(),
                    moves: line.moves().map(|(_, mv)| mv).collect(),
                    drawn,
                    reached: [0; 2],
                });
                found.exits.len() - 1
            });
            found.exits[*exit].reached[first_is_black] += 1;
        }
        found.pairs.push(pair);
    }
    Ok(found)
}

/// One walk, and whether it ended in a draw by the rules.
fn walk(white: &Side<'_>, black: &Side<'_>, game: u64) -> Result<(Line, bool), Error> {
    let mut line = Line::default();
    loop {
        let position = line.last();
        let times = || line.before().iter().filter(|before| *before == position);
        if position.halfmoves() >= 100 || times().count() >= 2 || line.plies() >= MOST_PLIES {
            return Ok((line, true));
        }
        let side = position.turn().fold_wb(white, black);
        match side.draw(&line, game)? {
            Some(mv) => line.push(mv),
            None => return Ok((line, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::{BookMove, Error, Lookup, PositionRecord, Preference, Wanted};
    use tabia_notation as notation;

    /// A book of some lines, with equal weights for all moves.
    struct Lines(Vec<Line>);

    impl Lines {
        fn new(lines: &[&str]) -> Lines {
            Lines(
                lines
                    .iter()
                    .map(|line| Line::read("", line).unwrap())
                    .collect(),
            )
        }
    }

    impl Probe for Lines {
        fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
            found.clear();
            for (at, mv) in self.0.iter().flat_map(Line::moves) {
                if at == position && found.moves.iter().all(|known| known.mv != mv) {
                    let record = Some(PositionRecord::default());
                    found.moves.push(BookMove {
                        preference: Preference::Weight(1),
                        ..BookMove::stored(mv, Default::default(), record)
                    });
                }
            }
            Ok(())
        }

        fn contains(&self, position: &Chess) -> Result<bool, Error> {
            Ok(self
                .0
                .iter()
                .any(|line| line.positions().contains(position)))
        }
    }

    fn pairs(a: &Lines, b: &Lines, seeds: [u32; 2], rules: &Rules, walks: u32) -> Walks {
        let side = |book, seed| Side::new(book, rules.clone(), seed);
        let sides = [side(a, seeds[0]), side(b, seeds[1])];
        walk_pairs(&sides, walks, &mut Watch::default()).unwrap()
    }

    #[test]
    fn a_walk_ends_where_the_side_to_move_is_out_of_its_book() {
        let a = Lines::new(&["e4 e5 Nf3 Nc6 Bb5", "d4 d5"]);
        let b = Lines::new(&["d4 d5 c4", "e4 c5 Nf3"]);
        let found = pairs(&a, &b, [1, 1], &Rules::default(), 200);
        let mut ends: Vec<String> = found
            .exits
            .iter()
            .map(|exit| exit.line().to_string())
            .collect();
        ends.sort();
        // After 1.d4 d5 White has a move in B's book only, after 1.e4 c5 also, but there
        // A is White or Black.
        assert_eq!(
            ends,
            ["1.d4 d5", "1.d4 d5 2.c4", "1.e4 c5", "1.e4 e5"],
            "{found:?}"
        );
        let reached = |line: &str| {
            let exits = found
                .exits
                .iter()
                .filter(|exit| exit.line().to_string() == line);
            exits.map(|exit| exit.reached).next().unwrap()
        };
        // A has White where White leaves at 1.d4 d5, B where Black does.
        assert_eq!(reached("1.d4 d5")[1], 0);
        assert_eq!(reached("1.d4 d5 2.c4")[0], 0);
        assert_eq!(reached("1.d4 d5")[0] + reached("1.e4 c5")[0], 200);
        assert_eq!(reached("1.d4 d5 2.c4")[1] + reached("1.e4 e5")[1], 200);
        assert!(reached("1.d4 d5")[0].abs_diff(100) < 40);
        assert_eq!(found.pairs.len(), 200);
        let plies: u32 = found
            .exits
            .iter()
            .map(|exit| exit.moves.len() as u32 * exit.reached.iter().sum::<u32>())
            .sum();
        assert_eq!(u64::from(plies), found.book_moves.iter().sum::<u64>());
    }

    #[test]
    fn equal_sides_make_each_walk_twice() {
        let book = Lines::new(&["e4 e5 Nf3", "e4 c5", "d4 d5 c4 e6", "d4 Nf6 c4", "c4"]);
        let same = pairs(&book, &book, [7, 7], &Rules::default(), 100);
        assert!(same.pairs.iter().all(|[white, black]| white == black));
        assert_eq!(same.exits.len(), 5);
        let other = pairs(&book, &book, [7, 8], &Rules::default(), 100);
        assert!(other.pairs.iter().any(|[white, black]| white != black));
        let again = pairs(&book, &book, [7, 8], &Rules::default(), 100);
        assert_eq!(other.pairs, again.pairs);
    }

    #[test]
    fn some_walks_are_reported() {
        let book = Lines::new(&["e4"]);
        let sides = [
            Side::new(&book, Rules::default(), 1),
            Side::new(&book, Rules::default(), 2),
        ];
        let stop = std::sync::atomic::AtomicBool::new(false);
        let mut seen = Vec::new();
        let mut report = |progress: Progress| seen.push((progress.done, progress.total));
        walk_pairs(&sides, 40, &mut Watch::new(&mut report, &stop)).unwrap();
        assert_eq!(seen, [0, 16, 32].map(|done| (done, Some(40))));
    }

    /// A book with an endless cycle is stopped by the rules of chess.
    #[test]
    fn a_third_repetition_is_a_draw() {
        let book = Lines::new(&["Nf3 Nf6 Ng1 Ng8"]);
        let settings = Rules::default().avoid_repetition(false);
        let found = pairs(&book, &book, [1, 1], &settings, 3);
        let [exit] = found.exits.as_slice() else {
            panic!("{found:?}");
        };
        assert!(exit.drawn);
        assert_eq!((exit.moves.len(), exit.reached), (8, [3, 3]));
        // The adapter avoids the first repetition by itself.
        let found = pairs(&book, &book, [1, 1], &Rules::default(), 3);
        assert_eq!(found.exits[0].line().to_string(), "1.Nf3 Nf6 2.Ng1");
        assert!(!found.exits[0].drawn);
        assert!(notation::fen(&found.exits[0].position).contains(" b "));
    }
}
