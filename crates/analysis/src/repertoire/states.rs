//! The positions that may occur, each with the side to move, and the probabilities of the
//! opponent's replies.

use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::RepertoireOptions;
use super::estimate::{among_equals, shrunk};
use super::places::{KnownMove, Places, StepMove, Visited, Worth};
use crate::Error;
use crate::prune::not_stored;
use tabia_book::eval::Value;
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
    /// The probability that the opponent plays it.
    pub(super) share: f64,
    /// The position after it; [`NONE`] if it is not in the book.
    target: u32,
    pub(super) mv: StepMove,
    pub(super) annotation: Annotation,
    /// Whether the player may choose it.
    pub(super) is_eligible: bool,
}

impl StateMove {
    /// The position after it; `None` if it is not in the book.
    pub(super) fn to(&self) -> Option<u32> {
        Some(self.target).filter(|target| *target != NONE)
    }
}

/// A position, and which side is to move.
#[derive(Debug)]
pub(super) struct State {
    place: Visited,
    next: Next,
    /// Points a game by the position's own results and evaluation.
    pub(super) estimate: f64,
    pub(super) is_own: bool,
    /// Whether it is before the end of the line with which the repertoire begins.
    pub(super) is_given: bool,
}

/// What follows a state.
#[derive(Debug)]
enum Next {
    /// Nothing was looked at.
    Waiting {
        /// The numbers of the stored moves in the graph of the book.
        stored: u32,
        moves: u8,
        is_evaluated: bool,
        /// What is expected of the position before its results.
        prior: f64,
    },
    Steps {
        first: u32,
        steps: u8,
        /// The probability that the opponent plays a move that was never played.
        other: f64,
    },
}

impl State {
    /// The numbers of the stored moves in the graph of the book, until they are looked at.
    fn stored(&self) -> Range<u32> {
        match self.next {
            Next::Waiting { stored, moves, .. } => stored..stored + u32::from(moves),
            Next::Steps { .. } => 0..0,
        }
    }

    /// The probability that the opponent plays a move that was never played.
    pub(super) fn other(&self) -> f64 {
        match self.next {
            Next::Waiting { .. } => 1.0,
            Next::Steps { other, .. } => other,
        }
    }
}

/// All states; the start is the first.
pub(super) struct States<'a> {
    all: Vec<State>,
    steps: Vec<StateMove>,
    places: Places<'a>,
    numbers: Numbers,
}

/// The states by their positions and sides.
#[derive(Default)]
struct Numbers {
    /// Two for each entry of a graph.
    by_entry: Vec<u32>,
    by_key: HashMap<(EvalKey, bool), u32, FxBuildHasher>,
}

/// There is no such state.
const NONE: u32 = u32::MAX;

impl Numbers {
    /// The number of a state, which is [`NONE`] at first.
    fn place(&mut self, place: &Visited, is_own: bool) -> &mut u32 {
        match place {
            Visited::Position(here) => {
                let key = (EvalKey::from_position(&here.0), is_own);
                self.by_key.entry(key).or_insert(NONE)
            }
            Visited::Entry { number, .. } => {
                let at = 2 * *number as usize + usize::from(is_own);
                if at >= self.by_entry.len() {
                    self.by_entry.resize(at + 1, NONE);
                }
                &mut self.by_entry[at]
            }
        }
    }

    /// Loads the numbers of states of some entries, together, so that the waits for the memory
    /// overlap.
    fn ask_for(&self, entries: &[u32], is_own: bool) {
        let at = |entry: &u32| 2 * *entry as usize + usize::from(is_own);
        let numbers = entries
            .iter()
            .filter_map(|entry| self.by_entry.get(at(entry)));
        std::hint::black_box(numbers.fold(0, |all, number| all ^ number));
    }

    fn get(&self, place: &Visited, is_own: bool) -> Option<u32> {
        let number = match place {
            Visited::Position(here) => self.by_key.get(&(EvalKey::from_position(&here.0), is_own)),
            Visited::Entry { number, .. } => self
                .by_entry
                .get(2 * *number as usize + usize::from(is_own)),
        };
        number.copied().filter(|number| *number != NONE)
    }
}

impl States<'_> {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<&State> {
        self.all.get(number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &State)> + Clone {
        (0..self.len()).zip(&self.all)
    }

    pub(super) fn steps(&self, state: &State) -> &[StateMove] {
        let Next::Steps { first, steps, .. } = state.next else {
            return &[];
        };
        let after = self.steps.get(first as usize..);
        after
            .and_then(|after| after.get(..steps.into()))
            .unwrap_or_default()
    }

    /// The state of a position, on the board on which it is first reached.
    pub(super) fn find(&self, position: &Chess, is_own: bool) -> Result<Option<usize>, Error> {
        let Some((place, _)) = self.places.find(position)? else {
            return Ok(None);
        };
        let number = self
            .numbers
            .get(&place, is_own)
            .map(|number| number as usize);
        let is_same = |number: &usize| {
            let state = self.get(*number);
            state.is_some_and(|state| state.place.is_equal(&place))
        };
        Ok(number.filter(is_same))
    }

    pub(super) fn position(&self, state: &State) -> Result<Chess, Error> {
        self.places.position(&state.place)
    }

    pub(super) fn record(&self, state: &State) -> Result<PositionRecord, Error> {
        self.places.record(&state.place)
    }

    /// The position of a state, and the moves of its steps.
    pub(super) fn moves(&self, state: &State) -> Result<(Chess, Vec<Move>), Error> {
        let position = self.position(state)?;
        let steps = self.steps(state).iter().map(|step| step.mv);
        let moves = self.places.moves(&position, steps)?;
        Ok((position, moves))
    }
}

pub(super) struct StateSearch<'o, 'a> {
    knowledge: Knowledge<'a>,
    options: &'o RepertoireOptions,
    states: States<'a>,
    /// The moves of the line with which the repertoire begins, by their states.
    given: Vec<(Visited, bool, Move)>,
    /// Sorted by the probability of the most probable way to the state: the bits of a
    /// positive float have the same order as its value.
    open: BinaryHeap<(u64, u32)>,
    /// States taken out of `open` before their turn, the next one last: what they need is
    /// loaded together.
    ahead: Vec<(u64, u32)>,
    likely: Vec<f64>,
    /// States of a lower probability are not expanded.
    least: f64,
}

/// States whose positions and moves are asked for together.
const ASKED_AT_ONCE: usize = 64;

/// Games added to those of a position, spread evenly over its moves.
const KAPPA: f64 = 10.0;

/// Positions that are rarer than those of the repertoire by this factor still count in
/// its values.
const BEYOND: f64 = 20.0;

impl<'o, 'a> StateSearch<'o, 'a> {
    /// Walks from the start position along all lines that are probable enough.
    pub(super) fn find_states(
        knowledge: Knowledge<'a>,
        options: &'o RepertoireOptions,
        watch: &mut Watch<'_>,
    ) -> Result<States<'a>, Error> {
        let places = Places::new(knowledge.book, knowledge.evaluations, watch)?;
        StateSearch::walk(places, knowledge, options, watch)
    }

    fn walk(
        places: Places<'a>,
        knowledge: Knowledge<'a>,
        options: &'o RepertoireOptions,
        watch: &mut Watch<'_>,
    ) -> Result<States<'a>, Error> {
        let (start, record) = places
            .find(&Chess::default())?
            .ok_or_else(|| Error::NotInBook("the start position is not in the book".to_owned()))?;
        let missing = not_stored(knowledge.book, &options.line, |entry| entry.after.is_some())?;
        if let Some(name) = missing {
            return Err(Error::NotInBook(format!("{name} is not in the book")));
        }
        let mut given = Vec::new();
        for (position, mv) in options.line.moves() {
            let is_own = position.turn() == options.colour;
            let place = places.find(position)?;
            given.extend(place.map(|(place, _)| (place, is_own, mv)));
        }
        let mut walk = StateSearch {
            knowledge,
            options,
            given,
            states: States {
                all: Vec::new(),
                steps: Vec::new(),
                places,
                numbers: Numbers::default(),
            },
            open: BinaryHeap::new(),
            ahead: Vec::new(),
            likely: Vec::new(),
            least: 1.0 / (options.one_in * BEYOND),
        };
        let is_own = options.colour.is_white();
        walk.reach(start, is_own, &record, 1.0, StateEstimate::EVEN);
        let mut done = 0;
        let mut known = Vec::new();
        while let Some((likely, number)) = walk.next() {
            let likely = f64::from_bits(likely);
            if walk.likely.get(number as usize) > Some(&likely) {
                continue;
            }
            done += 1;
            watch.position("walking", done, None)?;
            walk.expand(number, likely, &mut known)?;
        }
        walk.states.places.forget_records();
        Ok(walk.states)
    }

    /// The number of a reached position.
    fn reach(
        &mut self,
        place: Visited,
        is_own: bool,
        record: &PositionRecord,
        likely: f64,
        prior: StateEstimate,
    ) -> u32 {
        let next = self.likely.len() as u32;
        let number = self.states.numbers.place(&place, is_own);
        if *number != NONE {
            let number = *number;
            if let Some(before) = self.likely.get_mut(number as usize)
                && *before < likely
            {
                *before = likely;
                self.wait(number, likely);
            }
            return number;
        }
        *number = next;
        self.likely.push(likely);
        self.wait(next, likely);
        let evaluation = self.states.places.evaluation(&place);
        let known = self.estimate(evaluation, points(record, is_own), prior);
        let is_given = self.given(&place, is_own).is_some();
        let stored = self.states.places.stored_range(&place);
        self.states.all.push(State {
            place,
            next: Next::Waiting {
                stored: stored.start,
                // At most 127 in an entry.
                moves: stored.len() as u8,
                is_evaluated: evaluation.is_some(),
                prior: known.prior,
            },
            estimate: known.estimate(),
            is_own,
            is_given,
        });
        next
    }

    /// Lets a state be expanded, if it is probable enough.
    fn wait(&mut self, number: u32, likely: f64) {
        if likely < self.least {
            return;
        }
        let waiting = (likely.to_bits(), number);
        // After an own move: no less probable than the position before.
        let is_next = Some(&waiting) > self.ahead.last() && Some(&waiting) > self.open.peek();
        match is_next {
            true => self.ahead.push(waiting),
            false => self.open.push(waiting),
        }
    }

    /// The most probable state that waits; of equal ones the last one reached.
    fn next(&mut self) -> Option<(u64, u32)> {
        if self.ahead.is_empty() {
            let next = std::iter::from_fn(|| self.open.pop());
            self.ahead.extend(next.take(ASKED_AT_ONCE));
            self.ahead.reverse();
            self.ask_for_ahead();
        }
        match self.open.peek() > self.ahead.last() {
            true => self.open.pop(),
            false => self.ahead.pop(),
        }
    }

    /// Loads what the next states need, together, so that the waits for the memory overlap: a
    /// repertoire from 2.8 million positions takes 6.9 s of processors instead of 9.2.
    fn ask_for_ahead(&self) {
        let States {
            all,
            places,
            numbers,
            ..
        } = &self.states;
        let states = self.ahead.iter();
        let states = states.filter_map(|(_, number)| all.get(*number as usize));
        for is_own in [true, false] {
            let states = states.clone().filter(|state| state.is_own == is_own);
            places.ask_for(states.clone().map(|state| &state.place));
            let after = places.ask_for_moves(states.map(State::stored));
            numbers.ask_for(&after, !is_own);
            // These follow at once.
            if is_own {
                let stored = after.iter().map(|entry| places.stored_of_entry(*entry));
                let after = places.ask_for_moves(stored);
                numbers.ask_for(&after, is_own);
            }
        }
    }

    /// The move of the line with which the repertoire begins.
    fn given(&self, place: &Visited, is_own: bool) -> Option<Move> {
        let mut given = self.given.iter().rev();
        let found = given.find(|(known, side, _)| known.is_same(place) && *side == is_own)?;
        Some(found.2)
    }

    fn expand(
        &mut self,
        number: u32,
        likely: f64,
        known: &mut Vec<KnownMove>,
    ) -> Result<(), Error> {
        let Some(state) = self.states.all.get(number as usize) else {
            return Ok(());
        };
        // A more probable way to it would have been taken before.
        let Next::Waiting {
            is_evaluated,
            prior,
            ..
        } = state.next
        else {
            return Ok(());
        };
        let (place, is_own, is_given) = (state.place.clone(), state.is_own, state.is_given);
        let stored = state.stored();
        let (points, games) = points(&self.states.places.record_in_walk(&place), is_own);
        let here = StateEstimate {
            points,
            games,
            prior,
            weight: self.prior_games(is_evaluated),
        };
        self.states.places.known_moves(&place, stored, known)?;
        match (is_own, self.knowledge.opponents) {
            (true, _) => {
                let all: f64 = known.iter().map(|step| step.weight).sum();
                self.judge(known, all);
            }
            (false, Some(opponents)) => self.add_replies(opponents, &place, known)?,
            (false, None) => {}
        }
        if is_given && let Some(given) = self.given(&place, is_own) {
            let position = self.states.places.position(&place)?;
            let steps = known.iter().map(|step| step.mv);
            let moves = self.states.places.moves(&position, steps)?;
            let mut moves = moves.into_iter();
            known.retain(|_| moves.next() == Some(given));
        }
        let all: f64 = known.iter().map(|step| step.weight).sum();
        // All moves never played count as one game.
        let games = all + KAPPA + 1.0;
        let uniform = KAPPA / known.len().max(1) as f64;
        let other = match (is_given, known.is_empty()) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => 1.0 / games,
        };
        let begin = self.states.steps.len() as u32;
        let best = known.iter().map(|step| step.worth).max();
        for step in known.drain(..) {
            let share = match is_given {
                true => 1.0,
                false => (step.weight + uniform) / games,
            };
            let part = if is_own { 1.0 } else { share };
            let made = StateMove {
                mv: step.mv,
                annotation: step.annotation,
                target: NONE,
                share,
                is_eligible: is_own && Some(step.worth) == best && step.after.is_some(),
            };
            let to = step
                .after
                .map(|(place, record)| self.reach(place, !is_own, &record, likely * part, here));
            let target = to.unwrap_or(NONE);
            self.states.steps.push(StateMove { target, ..made });
        }
        let end = self.states.steps.len() as u32;
        if let Some(state) = self.states.all.get_mut(number as usize) {
            state.next = Next::Steps {
                first: begin,
                // A position has 218 legal moves at most.
                steps: (end - begin) as u8,
                other,
            };
        }
        Ok(())
    }

    /// Marks the moves that may be chosen.
    fn judge(&self, known: &mut [KnownMove], all: f64) {
        for step in known {
            let Some((place, record)) = &step.after else {
                continue;
            };
            let mark = record.mark();
            let is_bad = mark == Mark::Avoid
                || matches!(step.annotation, Annotation::MISTAKE | Annotation::BLUNDER)
                || step.is_never;
            let is_known_enough = record.stats.games >= self.options.min_games
                && step.weight >= self.options.min_share * all
                || mark == Mark::Main
                || self.states.places.evaluation(place).is_some();
            step.worth = match (is_bad || !is_known_enough, mark) {
                (true, _) => Worth::InBook,
                (false, Mark::Main) => Worth::Main,
                (false, Mark::None | Mark::Avoid) => Worth::Sound,
            };
        }
    }

    /// Replaces the frequencies of moves by those of a book of opponents that has the
    /// position, and adds its other moves.
    fn add_replies(
        &self,
        opponents: &Book,
        place: &Visited,
        known: &mut Vec<KnownMove>,
    ) -> Result<(), Error> {
        let places = &self.states.places;
        let position = places.position(place)?;
        let mut theirs = Lookup::default();
        opponents.probe(&position, Wanted::Stored, &mut theirs)?;
        if !theirs.moves.iter().any(|mv| weight(mv) > 0.0) {
            return Ok(());
        }
        let stored = places.moves(&position, known.iter().map(|step| step.mv))?;
        for step in &mut *known {
            step.weight = 0.0;
        }
        for their in &theirs.moves {
            let stored = stored.iter().position(|mv| *mv == their.mv);
            match stored.and_then(|n| known.get_mut(n)) {
                Some(step) => step.weight = weight(their),
                None => known.push(KnownMove {
                    mv: StepMove::other(their.mv),
                    annotation: Annotation::default(),
                    is_never: false,
                    weight: weight(their),
                    after: places.find(&notation::after(&position, their.mv))?,
                    worth: Worth::None,
                }),
            }
        }
        Ok(())
    }

    /// Results among equals, shrunk towards the evaluation, or towards the results of the
    /// other moves of the position before. (Not towards all its results: a few games of
    /// one line would count again at every move.)
    fn estimate(
        &self,
        evaluation: Option<Value>,
        (points, games): (f64, f64),
        before: StateEstimate,
    ) -> StateEstimate {
        let prior = match evaluation {
            Some(value) => expected(value, self.options.colour),
            None => {
                let others = (before.games - games).max(0.0);
                let rest = (before.points - points).clamp(0.0, others);
                shrunk(rest, others, before.prior, before.weight)
            }
        };
        StateEstimate {
            points,
            games,
            prior,
            weight: self.prior_games(evaluation.is_some()),
        }
    }

    /// How many games the expected score of a position counts for.
    fn prior_games(&self, is_evaluated: bool) -> f64 {
        let games = self.options.shrinkage_games;
        match is_evaluated {
            true => games * EVALUATION_PART,
            false => games,
        }
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
        let states_and_steps = states.iter().map(|(_, state)| (state, states.steps(state)));
        let replied: Vec<_> = states_and_steps
            .filter(|(_, steps)| !steps.is_empty())
            .collect();
        assert!(replied.len() > 20);
        for (state, steps) in replied {
            let shares = steps.iter().map(|step| step.share);
            let all: f64 = shares.sum::<f64>() + state.other();
            assert!((all - 1.0).abs() < 1e-9, "{all}");
        }
    }

    /// The graph leads where look-ups lead, and a state is found by its position.
    #[test]
    fn the_walk_of_the_graph_is_that_of_look_ups() {
        let book = Book::open("../../tests/data/small.ctg", &OpenOptions::default()).unwrap();
        let evaluations = EvalTable::default();
        for colour in Color::ALL {
            let mut options = RepertoireOptions::new(colour);
            options.line = tabia_notation::Line::read("", "e4 e5").unwrap();
            let knowledge = Knowledge::new(&book, &evaluations);
            let watch = &mut Watch::default();
            let by_graph = StateSearch::find_states(knowledge, &options, watch).unwrap();
            let places = Places::by_look_ups(&book, &evaluations);
            let by_probes = StateSearch::walk(places, knowledge, &options, watch).unwrap();
            assert_eq!(by_graph.len(), by_probes.len());
            assert!(by_graph.len() > 20, "{}", by_graph.len());
            let both = by_graph.iter().zip(by_probes.iter());
            for ((n, state), (_, other)) in both {
                let (position, moves) = by_graph.moves(state).unwrap();
                assert_eq!((position, moves), by_probes.moves(other).unwrap());
                let values = |state: &State| (state.other(), state.estimate, state.is_given);
                assert_eq!(values(state), values(other));
                let steps = |states: &States<'_>, state| {
                    let steps = states.steps(state).iter();
                    let step = |step: &StateMove| (step.to(), step.share, step.is_eligible);
                    steps.map(step).collect::<Vec<_>>()
                };
                assert_eq!(steps(&by_graph, state), steps(&by_probes, other));
                let position = by_graph.position(state).unwrap();
                assert_eq!(by_graph.find(&position, state.is_own).unwrap(), Some(n));
                assert_eq!(by_probes.find(&position, state.is_own).unwrap(), Some(n));
                assert_eq!(
                    by_graph.record(state).unwrap(),
                    by_probes.record(other).unwrap()
                );
            }
        }
    }
}
