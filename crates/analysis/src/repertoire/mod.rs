//! Chooses a player's moves from a book, by their value against what opponents really
//! play.
//!
//! * The opponent's replies have their frequencies in a book of games, plus ten games
//!   spread over all known moves, and one game for all unplayed moves.
//! * The ends of lines have the value of their results and evaluations, other positions
//!   the value of the moves from there: the best own move, the mean of the opponent's
//!   moves.
//! * A repertoire is one move (or a few) for every own position that occurs at least once
//!   in a given number of games; a green move if there is one.
//! * A choice by results also prefers moves that were lucky: so results are shrunk
//!   ([`SHRINKAGE_GAMES`]), and other games measure the score of the moves
//!   ([`Repertoire::measure`]).
//!
//! Memory: that of a [graph](tabia_book::ctg::BookGraph) with statistics, and for each position
//! that a side may meet some 70 bytes, for each move from there 20: 490 MB for 2.8 million
//! positions of which both sides meet most.
//!
//! ```
//! use shakmaty::Color;
//! use tabia_analysis::{Watch, repertoire::{Knowledge, Repertoire, RepertoireOptions, one_in}};
//! use tabia_book::{Book, OpenOptions, evals::EvalTable};
//! use tabia_notation::Line;
//!
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
//! let book = Book::open(path, &OpenOptions::default())?;
//! // Without evaluations the results of the games decide.
//! let evaluations = EvalTable::default();
//! let mut options = RepertoireOptions::new(Color::White);
//! options.line = Line::read("", "1. e4")?;
//! options.one_in = 100.0;
//! let knowledge = Knowledge::new(&book, &evaluations);
//! let summary = Repertoire::solve(knowledge, &options, &mut Watch::default())?.summary()?;
//! assert!(summary.expectation > 0.5);
//! // The replies for which it has no move.
//! for gap in summary.gaps.iter().take(5) {
//!     println!("{}: {}", one_in(gap.probability), gap.line);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod estimate;
mod measure;
mod own;
mod places;
mod states;
mod sweeps;
mod write;

use std::cmp::Ordering;

use shakmaty::{Chess, Color, Move};

pub use measure::Measured;
pub use own::{OwnAnswer, OwnRepertoire, SeveralAnswers, Trimmed};
pub use states::Knowledge;
use states::{State, StateMove, StateSearch, States};
use sweeps::Sweeps;
pub use write::{one_in, write_book, write_study};

use crate::Error;
use crate::graph::{NodeId, Probabilities, flow};
use tabia_io::progress::Watch;
use tabia_notation::Line;

/// Options of a repertoire.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RepertoireOptions {
    /// The player's colour.
    pub colour: Color,
    /// Positions that occur less often than once in this many games are left out.
    pub one_in: f64,
    /// Moves for each own position.
    pub moves: usize,
    /// Moves with fewer games are not chosen if there are others, unless they are
    /// evaluated or marked as main moves.
    pub min_games: u32,
    /// As `min_games`, for moves with a smaller share of the games of a position, 0 to 1: the
    /// results of a rare move may be due to the strength of its few players.
    pub min_share: f64,
    /// The weight of the worst reply against the mean in the value of a position: 0 mean
    /// only, 1 worst reply only.
    pub caution: f64,
    /// Plies up to which coverage is counted.
    pub depth: usize,
    /// The repertoire begins after this line, which must be in the book.
    pub line: Line,
    /// Number of games by which results of a position are shrunk towards those of the
    /// other moves of the position before: see [`SHRINKAGE_GAMES`].
    pub shrinkage_games: f64,
}

impl RepertoireOptions {
    /// One move for each position that occurs once in 500 games, from the start position.
    #[must_use]
    pub fn new(colour: Color) -> RepertoireOptions {
        RepertoireOptions {
            colour,
            one_in: 500.0,
            moves: 1,
            min_games: 10,
            min_share: 0.05,
            caution: 0.0,
            depth: 20,
            line: Line::default(),
            shrinkage_games: SHRINKAGE_GAMES,
        }
    }
}

/// The usual number of games for shrinking results. The score of a single game differs
/// from its expected score by some 38 points in a hundred, the moves that people play in
/// a position by little more than 1: (38 / 1.34)^2 are 800. With less, moves are chosen
/// that were lucky, and score less in other games than expected. (They still do with 800,
/// see docs/evaluations.md.)
pub const SHRINKAGE_GAMES: f64 = 800.0;

/// A solved repertoire: see the [module](self).
pub struct Repertoire<'a> {
    options: RepertoireOptions,
    states: States<'a>,
    values: Vec<f64>,
    play: Play,
    converged: bool,
}

/// Indices of the steps that are chosen in each own state; none in the others.
#[derive(Default)]
struct Choices {
    ends: Vec<u32>,
    steps: Vec<u16>,
}

impl Choices {
    fn push(&mut self, steps: impl Iterator<Item = usize>) {
        self.steps.extend(steps.map(|step| step as u16));
        self.ends.push(self.steps.len() as u32);
    }

    fn of(&self, state: usize) -> &[u16] {
        let end = |n: usize| self.ends.get(n).map_or(0, |end| *end as usize);
        let begin = state.checked_sub(1).map_or(0, end);
        self.steps.get(begin..end(state)).unwrap_or_default()
    }
}

/// The result of playing the chosen moves.
#[derive(Default)]
struct Play {
    choices: Choices,
    /// The states that these moves and the opponent's replies lead to, sorted: of four
    /// million some sixty thousand.
    states: Vec<u32>,
    /// The probability of each state, by its index in `states`.
    reach: Probabilities,
}

impl Play {
    fn place(&self, state: u32) -> Option<usize> {
        self.states.binary_search(&state).ok()
    }

    /// The probability of a state.
    fn probability(&self, state: usize) -> f64 {
        let place = self.place(state as u32);
        let known = place.and_then(|place| self.reach.probability.get(place));
        known.copied().unwrap_or(0.0)
    }

    /// The states of the most probable line to a state.
    fn path(&self, state: u32) -> Vec<u32> {
        let place = self.place(state);
        let path = place.and_then(|place| self.reach.path(place as NodeId));
        let state = |place| self.states.get(place as usize).copied();
        path.into_iter().flatten().filter_map(state).collect()
    }
}

/// A position that occurs and has no answer.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The line to it; the last move is the opponent's.
    pub line: Line,
    /// Its probability, 0 to 1.
    pub probability: f64,
}

/// A move of a given repertoire for which there is a better one.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The line up to the move.
    pub line: Line,
    /// The probability of the position, 0 to 1.
    pub probability: f64,
    /// The present move.
    pub played: Move,
    /// Its expected score, 0 to 1; `None` if it is not in the book.
    pub score: Option<f64>,
    /// The better move.
    pub better: Move,
    /// The expected score of the better move.
    pub better_score: f64,
}

/// The differences of a given repertoire from the best one.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// Moves to change, those that cost most first.
    pub repairs: Vec<Repair>,
    /// Positions without a move, the most probable first.
    pub holes: Vec<Gap>,
    /// Positions with different answers in different lines, which are neither of the
    /// repairs nor agreed; the most probable first.
    pub several: Vec<SeveralAnswers>,
    /// Positions with the best move.
    pub agreed: usize,
}

/// The numbers of a repertoire.
#[derive(Clone, Debug, Default)]
pub struct RepertoireSummary {
    /// Expected score a game, 0 to 1.
    pub expectation: f64,
    /// Positions to learn.
    pub positions: usize,
    /// Share of the own positions within the depth that have an answer.
    pub coverage: f64,
    /// Own moves from the repertoire in a game, on average.
    pub plies: f64,
    /// The most probable positions without an answer.
    pub gaps: Vec<Gap>,
    /// Whether the values converged.
    pub converged: bool,
}

/// Highest number of sweeps before values count as not converged.
const SWEEPS: usize = 500;

impl<'a> Repertoire<'a> {
    /// Chooses the moves.
    ///
    /// # Errors
    ///
    /// A book cannot be read or does not have the start position, or the work is
    /// cancelled.
    pub fn solve(
        knowledge: Knowledge<'a>,
        options: &RepertoireOptions,
        watch: &mut Watch<'_>,
    ) -> Result<Repertoire<'a>, Error> {
        let states = StateSearch::find_states(knowledge, options, watch)?;
        let values = states.iter().map(|(_, state)| state.estimate);
        let mut repertoire = Repertoire {
            options: options.clone(),
            values: values.collect(),
            play: Play::default(),
            states,
            converged: false,
        };
        let states = &repertoire.states;
        let moves = states.iter().flat_map(|(n, state)| {
            let after = states.steps(state).iter().filter_map(StateMove::to);
            after.map(move |to| (n as u32, to))
        });
        let mut sweeps = Sweeps::new(states.len(), moves);
        for _ in 0..SWEEPS {
            watch.go_on()?;
            let mut change = 0.0_f64;
            sweeps.sweep(|state| {
                let by = repertoire.back_up(state);
                change = change.max(by);
                by > 0.0
            });
            if change < 1e-6 {
                repertoire.converged = true;
                break;
            }
        }
        drop(sweeps);
        let mut choices = Choices::default();
        for (_, state) in repertoire.states.iter() {
            choices.push(repertoire.choose(state).into_iter());
        }
        repertoire.play = repertoire.play(choices);
        Ok(repertoire)
    }

    fn value(&self, to: Option<u32>) -> Option<f64> {
        self.values.get(to? as usize).copied()
    }

    /// The eligible own moves with their values.
    fn eligible(&self, state: &State) -> impl Iterator<Item = (usize, f64)> {
        let steps = (0..).zip(self.states.steps(state));
        let eligible = steps.filter(|(_, step)| step.is_eligible);
        eligible.map(|(n, step)| (n, self.value(step.to()).unwrap_or(0.0)))
    }

    /// The own moves, best first.
    fn choose(&self, state: &State) -> Vec<usize> {
        if self.options.moves <= 1 {
            return self.best(state).map(|(n, _)| n).into_iter().collect();
        }
        let mut steps: Vec<(usize, f64)> = self.eligible(state).collect();
        steps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        steps.truncate(self.options.moves);
        steps.into_iter().map(|(n, _)| n).collect()
    }

    /// The best own move with its value; of equal ones the first.
    fn best(&self, state: &State) -> Option<(usize, f64)> {
        self.eligible(state)
            .reduce(|best, step| match step.1.total_cmp(&best.1) {
                Ordering::Greater => step,
                Ordering::Equal | Ordering::Less => best,
            })
    }

    /// Gives a state the value of the states after it; returns by how much that changes it.
    fn back_up(&mut self, number: usize) -> f64 {
        let Some(state) = self.states.get(number) else {
            return 0.0;
        };
        let steps = self.states.steps(state);
        if steps.is_empty() {
            return 0.0;
        }
        let new = if state.is_own {
            self.best(state).map_or(state.estimate, |(_, value)| value)
        } else {
            let (mut mean, mut least) = (state.other() * state.estimate, 1.0_f64);
            for step in steps {
                let value = self.value(step.to()).unwrap_or(state.estimate);
                mean += step.share * value;
                least = least.min(value);
            }
            (1.0 - self.options.caution) * mean + self.options.caution * least
        };
        let Some(value) = self.values.get_mut(number) else {
            return 0.0;
        };
        (std::mem::replace(value, new) - new).abs()
    }

    /// The steps that are played: the chosen ones, with equal shares, or the opponent's.
    fn taken<'s>(
        &'s self,
        choices: &'s Choices,
        n: usize,
    ) -> impl Iterator<Item = (usize, &'s StateMove, f64)> {
        let state = self.states.get(n);
        let steps = state.map_or(&[][..], |state| self.states.steps(state));
        let chosen = choices.of(n);
        let share = 1.0 / chosen.len().max(1) as f64;
        let own = chosen.iter().filter_map(move |n| {
            let n = usize::from(*n);
            Some((n, steps.get(n)?, share))
        });
        let others = match state {
            Some(state) if !state.is_own => steps,
            _ => &[],
        };
        let others = others.iter().enumerate();
        own.chain(others.map(|(n, step)| (n, step, step.share)))
    }

    /// The states that occur if these moves are played, and how often.
    fn play(&self, choices: Choices) -> Play {
        let played = |state: u32| {
            let taken = self.taken(&choices, state as usize);
            taken.filter_map(|(_, step, share)| Some((step.to()?, share)))
        };
        let mut is_found = vec![false; self.states.len()];
        let mut states = Vec::new();
        let mut waiting = vec![0];
        while let Some(state) = waiting.pop() {
            if let Some(is_found @ false) = is_found.get_mut(state as usize) {
                *is_found = true;
                states.push(state);
                waiting.extend(played(state).map(|(to, _)| to));
            }
        }
        states.sort_unstable();
        let of_place = |place: NodeId| states.get(place as usize).copied().unwrap_or(0);
        let target = |place, n: usize| {
            let (to, _) = played(of_place(place)).nth(n)?;
            states.binary_search(&to).ok().map(|place| place as NodeId)
        };
        // Moves after a move that is not learned are not learned either.
        let shares = |place, here, shares: &mut Vec<f64>| {
            if self.is_met(here) {
                shares.extend(played(of_place(place)).map(|(_, share)| share));
            }
        };
        let start = (!states.is_empty()).then_some(0);
        let reach = flow(states.len(), start, target, |_| (), shares);
        Play {
            choices,
            states,
            reach,
        }
    }

    /// The most probable line to a state.
    fn line(&self, play: &Play, state: u32) -> Result<Line, Error> {
        let mut line = Line::from_start(Chess::default());
        let mut at = 0;
        for to in play.path(state) {
            let mut taken = self.taken(&play.choices, at);
            let step = taken.find(|(_, step, _)| step.to() == Some(to));
            if let (Some((n, ..)), Some(state)) = (step, self.states.get(at)) {
                let (_, moves) = self.states.moves(state)?;
                moves.get(n).into_iter().for_each(|mv| line.push(*mv));
            }
            at = to as usize;
        }
        Ok(line)
    }

    fn is_met(&self, probability: f64) -> bool {
        probability * self.options.one_in >= 1.0 - 1e-9
    }

    /// The states that are met if the moves are played, with their probabilities.
    fn met<'s>(&'s self, play: &'s Play) -> impl Iterator<Item = (usize, &'s State, f64)> {
        let reached = play.states.iter().zip(&play.reach.probability);
        let met = reached.filter(|(_, reach)| self.is_met(**reach));
        met.filter_map(|(state, reach)| {
            let number = *state as usize;
            Some((number, self.states.get(number)?, *reach))
        })
    }

    /// The numbers of the repertoire.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn summary(&self) -> Result<RepertoireSummary, Error> {
        let mut summary = RepertoireSummary {
            expectation: self.values.first().copied().unwrap_or(0.5),
            converged: self.converged,
            ..RepertoireSummary::default()
        };
        let (mut answered, mut all) = (0.0, 0.0);
        for (n, state, reach) in self.met(&self.play) {
            let line = || self.line(&self.play, n as u32);
            let plies = self.play.path(n as u32).len();
            let is_counted = |plies: usize| plies < self.options.depth;
            if state.is_own {
                let has_answer = !self.play.choices.of(n).is_empty();
                all += reach * f64::from(u8::from(is_counted(plies)));
                if has_answer {
                    summary.positions += 1;
                    summary.plies += reach;
                    answered += reach * f64::from(u8::from(is_counted(plies)));
                } else {
                    summary.gaps.push(Gap {
                        line: line()?,
                        probability: reach,
                    });
                }
                continue;
            }
            let counted = f64::from(u8::from(is_counted(plies + 1)));
            all += reach * state.other() * counted;
            let steps = self.states.steps(state).iter().enumerate();
            for (n, step) in steps.filter(|(_, step)| step.to().is_none()) {
                let probability = reach * step.share;
                all += probability * counted;
                if self.is_met(probability) {
                    let mut line = line()?;
                    let (_, moves) = self.states.moves(state)?;
                    moves.get(n).into_iter().for_each(|mv| line.push(*mv));
                    summary.gaps.push(Gap { line, probability });
                }
            }
        }
        summary.coverage = if all > 0.0 { answered / all } else { 0.0 };
        summary
            .gaps
            .sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Ok(summary)
    }

    /// The differences of a player's own repertoire, if its moves are played.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn differences(&self, mine: &OwnRepertoire) -> Result<Differences, Error> {
        let (played, play) = self.played(mine)?;
        let mut differences = Differences {
            several: self.several_answers(mine, &play)?,
            ..Differences::default()
        };
        for (n, state, probability) in self.met(&play) {
            if !state.is_own || state.is_given {
                continue;
            }
            let steps = self.states.steps(state);
            let best = self.play.choices.of(n).first();
            let best = best.and_then(|n| Some((usize::from(*n), steps.get(usize::from(*n))?)));
            let Some((best, step)) = best else {
                continue;
            };
            let line = self.line(&play, n as u32)?;
            let better_score = self.value(step.to()).unwrap_or(state.estimate);
            let moves = played.get(&n).map_or(&[][..], Vec::as_slice);
            if moves.is_empty() {
                differences.holes.push(Gap { line, probability });
                continue;
            }
            let (position, of_steps) = self.states.moves(state)?;
            if mine.contradicts_itself(&position) {
                continue;
            }
            let Some(&better) = of_steps.get(best) else {
                continue;
            };
            let mut is_agreed = true;
            for mv in moves.iter().filter(|mv| **mv != better) {
                let step = of_steps.iter().position(|known| known == mv);
                let score = step.and_then(|n| self.value(steps.get(n)?.to()));
                if score.is_none_or(|score| better_score - score > WORTH_A_CHANGE) {
                    is_agreed = false;
                    differences.repairs.push(Repair {
                        line: line.clone(),
                        probability,
                        played: *mv,
                        score,
                        better,
                        better_score,
                    });
                }
            }
            differences.agreed += usize::from(is_agreed);
        }
        let cost = |repair: &Repair| {
            repair.probability * (repair.better_score - repair.score.unwrap_or(0.0))
        };
        differences
            .repairs
            .sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        differences
            .holes
            .sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Ok(differences)
    }
}

/// Half a point in a hundred games: smaller gains are noise.
const WORTH_A_CHANGE: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::OpenOptions;
    use tabia_book::{Book, evals::EvalTable};

    /// A player's own first move is agreed upon if it is the best, and else to be changed.
    #[test]
    fn only_other_moves_than_the_best_are_repairs() {
        let book = Book::open("../../tests/data/small.ctg", &OpenOptions::default()).unwrap();
        let evaluations = EvalTable::default();
        let options = RepertoireOptions::new(Color::White);
        let knowledge = Knowledge::new(&book, &evaluations);
        let solved = Repertoire::solve(knowledge, &options, &mut Watch::default()).unwrap();
        let (start, moves) = solved.states.moves(solved.states.get(0).unwrap()).unwrap();
        let best = moves[usize::from(solved.play.choices.of(0)[0])];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.pgn");
        let differences = |mv: Move| {
            let text = format!(
                "[White \"x\"]\n\n1. {} *\n",
                tabia_notation::san(&start, mv)
            );
            std::fs::write(&path, text).unwrap();
            let mine = OwnRepertoire::read(&path, Color::White, &mut Watch::default()).unwrap();
            solved.differences(&mine).unwrap()
        };
        let same = differences(best);
        assert_eq!((same.agreed, same.repairs.len()), (1, 0));
        let bad = tabia_notation::read_move(&start, "a3").unwrap();
        let other = differences(bad);
        assert_eq!(other.agreed, 0);
        let [repair] = &other.repairs[..] else {
            panic!("{:?}", other.repairs);
        };
        assert_eq!((repair.played, repair.better), (bad, best));
    }
}
