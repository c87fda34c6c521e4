//! Reasons from the game not to play a move, whatever its weight.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use rustc_hash::FxBuildHasher;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::Rejection;
use crate::{BookMove, Lookup, Preference, Probe, Wanted};
use tabia_notation as notation;

/// How many positions are read to find out whether a line continues; more are not needed
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
        tabia_io::parallel::lock(&self.0)
    }

    /// Whether a line of `plies` continues from a position, if cached.
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
        .retain(|entry| entry.after.is_some() || entry.preference != Preference::Statistics);
    // The most played move usually has the longest line.
    found
        .moves
        .sort_by_key(|entry| std::cmp::Reverse(entry.stats().games));
    let goes_on = found.moves.iter().any(|entry| {
        let next = notation::after(position, entry.mv);
        search(book, &next, plies - 1, budget, lines)
    });
    // If the budget ran out, the result is unknown and not cached.
    if goes_on || *budget > 0 {
        lines.note(key, plies, goes_on);
    }
    goes_on
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use shakmaty::{Move, Role, Square};

    use super::*;
    use crate::{Annotation, Error, PositionRecord};

    /// A book of the single steps of some pawns, of both sides, that counts its probes.
    /// The first pawn's steps occurred in most games, and are stored last.
    struct PawnSteps {
        files: u32,
        /// Whether moves have a weight and no position after them, as in a Polyglot book.
        has_weights: bool,
        probes: Cell<u32>,
    }

    impl PawnSteps {
        fn from_files(files: u32) -> PawnSteps {
            PawnSteps {
                files,
                has_weights: false,
                probes: Cell::new(0),
            }
        }

        /// The result of `ask`, and how many positions it has read.
        fn counted<T>(&self, ask: impl FnOnce(&dyn Probe) -> T) -> (T, u32) {
            let before = self.probes.get();
            let result = ask(self);
            (result, self.probes.get() - before)
        }

        fn moves(&self, position: &Chess) -> Vec<BookMove> {
            let is_step = |from: Square, to: Square| {
                let home = position.turn().fold_wb(1, 6);
                u32::from(from.rank()) == home
                    && u32::from(to.rank()).abs_diff(home) == 1
                    && u32::from(from.file()) < self.files
            };
            let legal = position.legal_moves().into_iter();
            let mut moves: Vec<BookMove> = legal
                .filter(|mv| mv.role() == Role::Pawn && !mv.is_capture())
                .filter(|mv| mv.from().is_some_and(|from| is_step(from, mv.to())))
                .map(|mv| {
                    let mut after = PositionRecord::default();
                    after.stats.games = 100 - u32::from(mv.to().file());
                    BookMove::stored(mv, Annotation(0), Some(after))
                })
                .collect();
            moves.sort_by_key(|entry| entry.stats().games);
            if self.has_weights {
                for entry in &mut moves {
                    entry.after = None;
                    entry.preference = Preference::Weight(1);
                }
            }
            moves
        }

        fn longest_line(&self, position: &Chess) -> u32 {
            let moves = self.moves(position).into_iter();
            let lines =
                moves.map(|entry| 1 + self.longest_line(&notation::after(position, entry.mv)));
            lines.max().unwrap_or(0)
        }
    }

    impl Probe for PawnSteps {
        fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
            self.probes.set(self.probes.get() + 1);
            found.clear();
            found.moves = self.moves(position);
            Ok(())
        }

        fn contains(&self, _: &Chess) -> Result<bool, Error> {
            Ok(true)
        }
    }

    /// The longest line of four pawns has 8 plies, and 126 positions are on such lines,
    /// in 2,229 orders.
    const LONGEST: u32 = 8;
    const POSITIONS: u32 = 126;

    #[test]
    fn each_position_of_a_line_is_read_once() {
        let book = PawnSteps::from_files(4);
        let start = Chess::default();
        let lines = LineMemory::default();
        let ask = |plies| book.counted(|book| line_goes_on(book, &start, plies, &lines));
        assert_eq!(ask(LONGEST + 1), (false, POSITIONS));
        assert_eq!(ask(LONGEST + 1), (false, 0), "it is known");
        assert_eq!(ask(LONGEST + 2), (false, 0), "so is what follows from it");
        let (goes_on, probes) = ask(LONGEST);
        assert!(goes_on);
        assert!(probes <= LONGEST, "{probes}");
        for plies in 0..=LONGEST {
            assert_eq!(ask(plies), (true, 0));
        }
    }

    #[test]
    fn the_line_of_most_games_is_tried_first() {
        let book = PawnSteps::from_files(8);
        let lines = LineMemory::default();
        let ask = |book: &dyn Probe| line_goes_on(book, &Chess::default(), 16, &lines);
        assert_eq!(book.counted(ask), (true, 16));
    }

    #[test]
    fn a_search_that_gave_up_is_not_cached() {
        // 12,870 positions are on lines of eight pawns, more than the budget.
        let book = PawnSteps::from_files(8);
        let start = Chess::default();
        let lines = LineMemory::default();
        let ask = |book: &dyn Probe| line_goes_on(book, &start, 17, &lines);
        assert_eq!(book.counted(ask), (false, LINE_BUDGET));
        let Zobrist64(key) = start.zobrist_hash(EnPassantMode::Legal);
        assert_eq!(lines.get(key, 17), None);
    }

    #[test]
    fn a_line_goes_on_over_moves_with_a_weight() {
        let ask = |book: PawnSteps, plies| {
            line_goes_on(&book, &Chess::default(), plies, &LineMemory::default())
        };
        let book = || PawnSteps {
            has_weights: true,
            ..PawnSteps::from_files(1)
        };
        assert!(ask(book(), 2));
        assert!(!ask(book(), 3));
    }

    #[test]
    fn the_cache_is_bounded() {
        let lines = LineMemory::default();
        for key in 0..=MOST_KNOWN as u64 {
            lines.note(key, 1, true);
        }
        let known = lines.known().len();
        assert!((1..=MOST_KNOWN).contains(&known), "{known}");
        assert_eq!(lines.get(MOST_KNOWN as u64, 1), Some(true));
    }

    proptest! {
        /// What is returned was cached or follows from that, and what was cached is returned.
        #[test]
        fn the_cache_never_contradicts_the_book(
            longest in 0_u32..12,
            asked in prop::collection::vec(0_u32..14, 1..8),
        ) {
            let lines = LineMemory::default();
            for (count, plies) in asked.iter().enumerate() {
                lines.note(7, *plies, *plies <= longest);
                for plies in 0..14 {
                    let known = lines.get(7, plies);
                    let truth = plies <= longest;
                    prop_assert!(known.is_none_or(|known| known == truth), "{plies}");
                }
                for plies in &asked[..=count] {
                    prop_assert_eq!(lines.get(7, *plies), Some(*plies <= longest));
                }
            }
            prop_assert_eq!(lines.get(8, 1), None);
        }

        /// A move is rejected if the position after it has occurred, else if its line ends
        /// too soon.
        #[test]
        fn the_game_rejects_repetitions_and_short_lines(
            files in 0_u32..3,
            line_plies in 0_u32..9,
            occurred in prop::option::of(prop::sample::subsequence((0..20).collect::<Vec<_>>(), 0..20)),
        ) {
            let position = Chess::default();
            let legal = position.legal_moves();
            let after = |mv: &Move| notation::after(&position, *mv);
            let occurred: Option<Vec<Chess>> = occurred
                .map(|some| some.into_iter().map(|index: usize| after(&legal[index])).collect());
            let repeats = |next: &Chess| occurred.iter().flatten().any(|chess| chess == next);
            let book = PawnSteps::from_files(files);
            let lines = LineMemory::default();
            let situation = GameSituation {
                position: &position,
                book: &book,
                repeats: occurred.is_some().then_some(&repeats),
                line_plies,
                lines: &lines,
            };
            for mv in &legal {
                let longest = book.longest_line(&after(mv));
                let expected = if repeats(&after(mv)) {
                    Some(Rejection::Repetition)
                } else {
                    (line_plies > longest).then_some(Rejection::LineEnds)
                };
                let candidate = BookMove::stored(*mv, Annotation(0), None);
                prop_assert_eq!(situation.against(&candidate), expected, "{}", mv);
            }
        }
    }
}
