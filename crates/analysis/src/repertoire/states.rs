//! The positions that may occur, each with the side to move, and the probabilities of the
//! opponent's replies.

use std::collections::{BinaryHeap, HashMap, hash_map::Entry};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::RepertoireOptions;
use super::estimate::{among_equals, shrunk};
use crate::Error;
use crate::prune::not_stored;
use tabia_book::eval::model::{EVALUATION_GAMES, expected};
use tabia_book::evals::{EvalKey, EvalTable};
use tabia_book::tree::weight;
use tabia_book::{Annotation, Book, Lookup, Mark, PositionRecord, Probe as _, Wanted};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// The sources of a repertoire.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Knowledge<'a> {
    /// The book from which moves are chosen.
    pub book: &'a Book,
    /// A book of what opponents play; if it is missing, or does not have a position,
    /// `book` is used.
    pub opponents: Option<&'a Book>,
    /// Evaluations.
    pub evaluations: &'a EvalTable,
}

/// A move from a [`State`].
#[derive(Clone, Copy, Debug)]
pub(super) struct StateMove {
    pub(super) mv: Move,
    pub(super) annotation: Annotation,
    /// The position after it; `None` if it is not in the book.
    pub(super) to: Option<u32>,
    /// The probability that the opponent plays it.
    pub(super) share: f64,
    /// Whether the repertoire may choose it.
    pub(super) is_sound: bool,
    /// Whether it is green: the choice of the book's author.
    pub(super) is_main: bool,
}

/// A position, and which side is to move.
#[derive(Debug)]
pub(super) struct State {
    pub(super) position: Chess,
    pub(super) is_own: bool,
    pub(super) record: PositionRecord,
    pub(super) steps: Vec<StateMove>,
    /// The probability that the opponent plays a move that was never played.
    pub(super) other: f64,
    /// The position's own results and evaluation.
    pub(super) known: StateEstimate,
    /// Whether it is before the end of the line with which the repertoire begins.
    pub(super) is_given: bool,
}

/// All states; the start is the first.
pub(super) struct StateSearch<'a> {
    knowledge: Knowledge<'a>,
    options: &'a RepertoireOptions,
    pub(super) states: Vec<State>,
    numbers: HashMap<(EvalKey, bool), u32, FxBuildHasher>,
    /// The moves of the line with which the repertoire begins.
    given: HashMap<(EvalKey, bool), Move, FxBuildHasher>,
    /// Sorted by the probability of the most probable way to the state: the bits of a
    /// positive float have the same order as its value.
    open: BinaryHeap<(u64, u32)>,
    likely: Vec<f64>,
}

/// Games added to those of a position, spread evenly over its moves.
const KAPPA: f64 = 10.0;

/// Positions that are rarer than those of the repertoire by this factor still count in
/// its values.
const BEYOND: f64 = 20.0;

impl<'a> StateSearch<'a> {
    /// Walks from the start position along all lines that are probable enough.
    pub(super) fn find_states(
        knowledge: Knowledge<'a>,
        options: &'a RepertoireOptions,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<State>, Error> {
        let mut given = HashMap::default();
        for (position, mv) in options.line.moves() {
            let place = (
                EvalKey::from_position(position),
                position.turn() == options.colour,
            );
            given.insert(place, mv);
        }
        let mut walk = StateSearch {
            knowledge,
            options,
            given,
            states: Vec::new(),
            numbers: HashMap::default(),
            open: BinaryHeap::new(),
            likely: Vec::new(),
        };
        let start = Chess::default();
        let mut found = Lookup::default();
        knowledge.book.probe(&start, Wanted::Stored, &mut found)?;
        let record = found
            .here
            .ok_or_else(|| Error::NotInBook("the start position is not in the book".to_owned()))?;
        let missing = not_stored(knowledge.book, &options.line, |entry| entry.after.is_some())?;
        if let Some(name) = missing {
            return Err(Error::NotInBook(format!("{name} is not in the book")));
        }
        walk.reach(&start, &record, 1.0, StateEstimate::EVEN);
        let least = 1.0 / (options.one_in * BEYOND);
        let mut done = 0;
        while let Some((likely, number)) = walk.open.pop() {
            let likely = f64::from_bits(likely);
            if walk.likely.get(number as usize) > Some(&likely) {
                continue;
            }
            if likely < least {
                break;
            }
            done += 1;
            watch.position("walking", done, None)?;
            walk.expand(number, likely, &mut found)?;
        }
        Ok(walk.states)
    }

    /// The number of a reached position.
    fn reach(
        &mut self,
        position: &Chess,
        record: &PositionRecord,
        likely: f64,
        prior: StateEstimate,
    ) -> u32 {
        let is_own = position.turn() == self.options.colour;
        let next = self.states.len() as u32;
        match self
            .numbers
            .entry((EvalKey::from_position(position), is_own))
        {
            Entry::Occupied(known) => {
                let number = *known.get();
                if let Some(before) = self.likely.get_mut(number as usize)
                    && *before < likely
                {
                    *before = likely;
                    self.open.push((likely.to_bits(), number));
                }
                number
            }
            Entry::Vacant(place) => {
                place.insert(next);
                self.likely.push(likely);
                self.open.push((likely.to_bits(), next));
                self.states.push(State {
                    position: position.clone(),
                    is_own,
                    record: *record,
                    steps: Vec::new(),
                    other: 1.0,
                    known: self
                        .knowledge
                        .estimate(position, record, self.options, prior),
                    is_given: self
                        .given
                        .contains_key(&(EvalKey::from_position(position), is_own)),
                });
                next
            }
        }
    }

    fn expand(&mut self, number: u32, likely: f64, found: &mut Lookup) -> Result<(), Error> {
        let Some(state) = self.states.get(number as usize) else {
            return Ok(());
        };
        let (position, is_own, prior) = (state.position.clone(), state.is_own, state.known);
        self.knowledge
            .book
            .probe(&position, Wanted::Stored, found)?;
        let mut steps: Vec<(StateMove, f64, Option<PositionRecord>)> = Vec::new();
        let all: f64 = found.moves.iter().map(weight).sum();
        for known in &found.moves {
            let games = known.stats().games;
            let is_bad = known.mark() == Mark::Avoid
                || matches!(known.annotation, Annotation::MISTAKE | Annotation::BLUNDER)
                || known.preference.is_never();
            let after = notation::after(&position, known.mv);
            let known_enough = games >= self.options.min_games
                && weight(known) >= self.options.min_share * all
                || self.knowledge.evaluations.contains(&after)
                || known.mark() == Mark::Main;
            let step = StateMove {
                mv: known.mv,
                annotation: known.annotation,
                to: None,
                share: 0.0,
                is_sound: !is_bad && known_enough,
                is_main: !is_bad && known.mark() == Mark::Main,
            };
            steps.push((step, weight(known), known.after));
        }
        if !is_own && let Some(opponents) = self.knowledge.opponents {
            let mut theirs = Lookup::default();
            opponents.probe(&position, Wanted::Stored, &mut theirs)?;
            if theirs.moves.iter().any(|mv| weight(mv) > 0.0) {
                for step in &mut steps {
                    step.1 = 0.0;
                }
                for known in &theirs.moves {
                    match steps.iter_mut().find(|(step, ..)| step.mv == known.mv) {
                        Some(step) => step.1 = weight(known),
                        None => {
                            let after = notation::after(&position, known.mv);
                            self.knowledge.book.probe(&after, Wanted::Stored, found)?;
                            let step = StateMove {
                                mv: known.mv,
                                annotation: Annotation::default(),
                                to: None,
                                share: 0.0,
                                is_sound: false,
                                is_main: false,
                            };
                            steps.push((step, weight(known), found.here));
                        }
                    }
                }
            }
        }
        let given = self
            .given
            .get(&(EvalKey::from_position(&position), is_own))
            .copied();
        if let Some(given) = given {
            steps.retain(|(step, ..)| step.mv == given);
        }
        let all: f64 = steps.iter().map(|(_, games, _)| games).sum();
        // All moves never played count as one game.
        let games = all + KAPPA + 1.0;
        let uniform = KAPPA / steps.len().max(1) as f64;
        let other = match (given, steps.is_empty()) {
            (Some(_), _) => 0.0,
            (None, true) => 1.0,
            (None, false) => 1.0 / games,
        };
        let mut made = Vec::with_capacity(steps.len());
        for (mut step, played, record) in steps {
            step.share = match given {
                Some(_) => 1.0,
                None => (played + uniform) / games,
            };
            let after = notation::after(&position, step.mv);
            let share = if is_own { 1.0 } else { step.share };
            step.to = record.map(|record| self.reach(&after, &record, likely * share, prior));
            made.push(step);
        }
        if let Some(state) = self.states.get_mut(number as usize) {
            state.steps = made;
            state.other = other;
        }
        Ok(())
    }
}

impl<'a> Knowledge<'a> {
    /// A book and evaluations of its positions; opponents play as in the book.
    #[must_use]
    pub fn new(book: &'a Book, evaluations: &'a EvalTable) -> Knowledge<'a> {
        Knowledge {
            book,
            opponents: None,
            evaluations,
        }
    }

    /// Results among equals, shrunk towards the evaluation, or towards the results of the
    /// other moves of the position before. (Not towards all its results: a few games of
    /// one line would count again at every move.)
    fn estimate(
        &self,
        position: &Chess,
        record: &PositionRecord,
        options: &RepertoireOptions,
        before: StateEstimate,
    ) -> StateEstimate {
        let side = options.colour;
        let (points, games) = points(record, position.turn() == side);
        let (prior, weight) = match self.evaluations.get(position) {
            Some(found) => (
                expected(found.value, side),
                options.shrinkage_games * EVALUATION_PART,
            ),
            None => {
                let others = (before.games - games).max(0.0);
                let rest = (before.points - points).clamp(0.0, others);
                (
                    shrunk(rest, others, before.prior, before.weight),
                    options.shrinkage_games,
                )
            }
        };
        StateEstimate {
            points,
            games,
            prior,
            weight,
        }
    }
}

/// Points among equals and games of a position, for the side to move or the other side.
pub(super) fn points(record: &PositionRecord, is_to_move: bool) -> (f64, f64) {
    let stats = match is_to_move {
        true => record.stats,
        false => record.stats.reversed(),
    };
    let results = stats.results();
    let difference = stats.average_elo().zip(stats.opponents_elo());
    let games = results.games() as f64;
    // Games without ratings count as games among equals; few rated games say little about
    // the others.
    let rated = f64::from(stats.own_rated.min(stats.other_rated)) / games.max(1.0);
    let difference = difference.map_or(0.0, |(own, other)| (own - other) * rated.min(1.0));
    (
        games * among_equals(results.score().unwrap_or(0.5), difference),
        games,
    )
}

/// The weight of an evaluation as a part of [`RepertoireOptions::shrinkage_games`]: it is a
/// better estimate for a move than the other moves, but does not show how people play the
/// position.
const EVALUATION_PART: f64 = 0.25;

/// The results and evaluation of a position, for one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateEstimate {
    points: f64,
    games: f64,
    prior: f64,
    weight: f64,
}

impl StateEstimate {
    /// A position without any information.
    const EVEN: StateEstimate = StateEstimate {
        points: 0.0,
        games: 0.0,
        prior: 0.5,
        weight: EVALUATION_GAMES,
    };

    /// Points a game.
    pub(super) fn estimate(self) -> f64 {
        shrunk(self.points, self.games, self.prior, self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;
    use tabia_book::OpenOptions;

    #[test]
    fn the_replies_of_a_state_are_those_of_one_game() {
        let book = Book::open("../../tests/data/small.ctg", &OpenOptions::default()).unwrap();
        let evaluations = EvalTable::default();
        let options = RepertoireOptions::new(Color::White);
        let knowledge = Knowledge::new(&book, &evaluations);
        let watch = &mut Watch::default();
        let states = StateSearch::find_states(knowledge, &options, watch).unwrap();
        let replied = states.iter().filter(|state| !state.steps.is_empty());
        assert!(replied.clone().count() > 20);
        for state in replied {
            let shares = state.steps.iter().map(|step| step.share);
            let all: f64 = shares.sum::<f64>() + state.other;
            assert!((all - 1.0).abs() < 1e-9, "{all}");
        }
    }
}
