//! One's own moves out of a book, by what they are worth against what
//! opponents really play.
//!
//! * The opponent's replies are as frequent as in a book of games, with ten
//!   games more spread over all known moves, and one for what nobody has
//!   played.
//! * The ends of lines are worth what their results and evaluations say, the
//!   other positions what can be reached from them: the best move of one's own,
//!   the mean of the opponent's.
//! * A repertoire is one move (or a few) for every position of one's own that
//!   is met once in so many games; a green one where there is one.
//! * Whatever is chosen by results is chosen for its chance results too: results are held
//!   back ([`HOLD_BACK`]), and other games say what the moves bring
//!   ([`Repertoire::measure`]).

mod estimate;
mod measure;
mod walk;
mod write;

use shakmaty::{Chess, Color, Move};

pub use measure::Measured;
pub use walk::Knowledge;
use walk::{State, Walk};
pub use write::{one_in, write_book, write_study};

use crate::Error;
use crate::graph::{NodeId, Reach, flow};
use tabia_book::{Book, Lookup, Probe as _, Wanted};
use tabia_io::progress::Watch;
use tabia_notation::Line;

/// What kind of repertoire.
#[derive(Clone, Debug)]
pub struct RepertoireOptions {
    /// Whose.
    pub colour: Color,
    /// Positions that are met more seldom than once in so many games are left
    /// out.
    pub one_in: f64,
    /// Moves for each position of one's own.
    pub moves: usize,
    /// Moves of fewer games are not chosen if there are others, unless they
    /// are evaluated or marked as main moves.
    pub min_games: u32,
    /// The same for moves of a smaller part of the games of a position, 0 to 1:
    /// what only some have played may owe its results to who they were.
    pub min_share: f64,
    /// How far the worst reply counts for the value of a position instead of
    /// the mean: 0 not at all, 1 alone.
    pub caution: f64,
    /// Plies up to which coverage is counted.
    pub depth: usize,
    /// The repertoire is for what comes after this line, which the book holds.
    pub line: Line,
    /// Games that the results of a position are held back by, towards those of
    /// the other moves beside it: see [`HOLD_BACK`].
    pub hold_back: f64,
}

/// The usual number of games that results are held back by. A single game differs
/// from what is expected of it by some 38 points in a hundred, moves that people
/// play from one another by little more than 1: (38 / 1.34)^2 are 800. With less, the
/// moves that are chosen are those that were lucky, and bring less in other games
/// than they promise. (They still do with 800, see docs/evaluations.md.)
pub const HOLD_BACK: f64 = 800.0;

/// See the [module](self).
pub struct Repertoire {
    options: RepertoireOptions,
    states: Vec<State>,
    values: Vec<f64>,
    /// Numbers of steps, for states of one's own.
    choices: Vec<Vec<usize>>,
    play: Play,
    settled: bool,
}

/// What comes of choices.
#[derive(Default)]
struct Play {
    /// Where the moves that are taken from each state lead, and how likely
    /// each is.
    targets: Vec<Vec<(NodeId, Move, f64)>>,
    reach: Reach,
}

impl Play {
    /// How likely a state is.
    fn probability(&self, state: usize) -> f64 {
        self.reach.probability.get(state).copied().unwrap_or(0.0)
    }

    /// The likeliest line to a state.
    fn line(&self, state: NodeId) -> Line {
        let mut line = Line::from_start(Chess::default());
        let mut at = 0;
        for to in self.reach.path(state).unwrap_or_default() {
            let mut targets = self.targets.get(at).into_iter().flatten();
            if let Some((_, mv, _)) = targets.find(|(target, ..)| *target == to) {
                line.push(*mv);
            }
            at = to as usize;
        }
        line
    }
}

/// A position that is met without an answer.
#[derive(Clone, Debug)]
pub struct Gap {
    /// The line there; the last move is the opponent's.
    pub line: Line,
    /// How likely it is met, 0 to 1.
    pub probability: f64,
}

/// A move of a given repertoire that another is better than.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The line up to the move.
    pub line: Line,
    /// How likely the position is met, 0 to 1.
    pub probability: f64,
    /// The move that is played now.
    pub played: Move,
    /// What it is expected to bring, 0 to 1; `None` if the book does not hold
    /// it.
    pub brings: Option<f64>,
    /// The better one.
    pub better: Move,
    /// What it is expected to bring.
    pub would_bring: f64,
}

/// What a given repertoire lacks.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// Moves to change, those first that cost most.
    pub repairs: Vec<Repair>,
    /// Positions without a move, the likeliest first.
    pub holes: Vec<Gap>,
    /// Positions with the best move.
    pub agreed: usize,
}

/// The numbers of a repertoire.
#[derive(Clone, Debug, Default)]
pub struct RepertoireSummary {
    /// Points a game that it lets expect, 0 to 1.
    pub expectation: f64,
    /// Positions to learn.
    pub positions: usize,
    /// Share of one's own positions within the depth that have an answer.
    pub coverage: f64,
    /// Own moves a game out of the repertoire.
    pub plies: f64,
    /// The likeliest positions without an answer.
    pub gaps: Vec<Gap>,
    /// The values did not settle.
    pub unsettled: bool,
}

/// Sweeps before values count as unsettled.
const SWEEPS: usize = 500;

impl Repertoire {
    /// Solves it.
    ///
    /// # Errors
    ///
    /// A book cannot be read, does not hold the start position, or who watches
    /// wants an end.
    pub fn solve(
        knowledge: Knowledge<'_>,
        options: &RepertoireOptions,
        watch: &mut Watch<'_>,
    ) -> Result<Repertoire, Error> {
        let states = Walk::of(knowledge, options, watch)?;
        let mut repertoire = Repertoire {
            options: options.clone(),
            values: states.iter().map(|state| state.known.estimate()).collect(),
            choices: Vec::new(),
            play: Play::default(),
            states,
            settled: false,
        };
        for _ in 0..SWEEPS {
            watch.go_on()?;
            if repertoire.sweep() < 1e-6 {
                repertoire.settled = true;
                break;
            }
        }
        repertoire.choices = repertoire
            .states
            .iter()
            .map(|s| repertoire.choose(s))
            .collect();
        repertoire.play = repertoire.play(&repertoire.choices);
        Ok(repertoire)
    }

    fn value(&self, to: Option<u32>) -> Option<f64> {
        self.values.get(to? as usize).copied()
    }

    /// One's own moves, best first.
    fn choose(&self, state: &State) -> Vec<usize> {
        if !state.is_own {
            return Vec::new();
        }
        let in_book = || {
            (0..)
                .zip(&state.steps)
                .filter(|(_, step)| step.to.is_some())
        };
        let mut steps: Vec<usize> = in_book()
            .filter(|(_, s)| s.is_sound)
            .map(|(n, _)| n)
            .collect();
        // Who made a move green has chosen already.
        let is_main = |n: &usize| state.steps.get(*n).is_some_and(|step| step.is_main);
        if steps.iter().any(is_main) {
            steps.retain(is_main);
        }
        if steps.is_empty() {
            steps = in_book().map(|(n, _)| n).collect();
        }
        let value = |n: &usize| state.steps.get(*n).and_then(|step| self.value(step.to));
        steps.sort_by(|a, b| value(b).unwrap_or(0.0).total_cmp(&value(a).unwrap_or(0.0)));
        steps.truncate(self.options.moves.max(1));
        steps
    }

    /// Carries values one step towards the start; gives the greatest change.
    fn sweep(&mut self) -> f64 {
        let mut change = 0.0_f64;
        for n in (0..self.states.len()).rev() {
            let Some(state) = self.states.get(n).filter(|state| !state.steps.is_empty()) else {
                continue;
            };
            let new = if state.is_own {
                let best = self.choose(state).first().and_then(|n| state.steps.get(*n));
                best.and_then(|step| self.value(step.to))
                    .unwrap_or(state.known.estimate())
            } else {
                let (mut mean, mut least) = (state.other * state.known.estimate(), 1.0_f64);
                for step in &state.steps {
                    let value = self.value(step.to).unwrap_or(state.known.estimate());
                    mean += step.share * value;
                    least = least.min(value);
                }
                (1.0 - self.options.caution) * mean + self.options.caution * least
            };
            if let Some(value) = self.values.get_mut(n) {
                change = change.max((*value - new).abs());
                *value = new;
            }
        }
        change
    }

    /// The steps that are taken: those chosen, with equal shares, and the
    /// opponent's.
    fn taken<'s>(&'s self, choices: &'s [Vec<usize>], n: usize) -> Vec<(usize, f64)> {
        let Some(state) = self.states.get(n) else {
            return Vec::new();
        };
        match state.is_own {
            false => state
                .steps
                .iter()
                .map(|step| step.share)
                .enumerate()
                .collect(),
            true => {
                let chosen = choices.get(n).map_or(&[][..], Vec::as_slice);
                let share = 1.0 / chosen.len().max(1) as f64;
                chosen.iter().map(|step| (*step, share)).collect()
            }
        }
    }

    /// What comes of it when these moves are played.
    fn play(&self, choices: &[Vec<usize>]) -> Play {
        let targets = |n: usize| -> Vec<(NodeId, Move, f64)> {
            let steps = self.states.get(n).map_or(&[][..], |state| &state.steps);
            let taken = self.taken(choices, n).into_iter();
            let taken = taken.filter_map(|(step, share)| {
                let step = steps.get(step)?;
                Some((step.to?, step.mv, share))
            });
            taken.collect()
        };
        let targets: Vec<_> = (0..self.states.len()).map(targets).collect();
        let of = |node: NodeId| targets.get(node as usize).map_or(&[][..], Vec::as_slice);
        let target = |node, n: usize| of(node).get(n).map(|(to, ..)| *to);
        // What comes after a move that is not learned is not learned either.
        let shares = |node, here| match self.is_met(here) {
            true => of(node).iter().map(|(.., share)| *share).collect(),
            false => Vec::new(),
        };
        let reach = flow(self.states.len(), Some(0), target, shares);
        Play { targets, reach }
    }

    fn is_met(&self, probability: f64) -> bool {
        probability * self.options.one_in >= 1.0 - 1e-9
    }

    /// Its numbers.
    #[must_use]
    pub fn summary(&self) -> RepertoireSummary {
        let mut summary = RepertoireSummary {
            expectation: self.values.first().copied().unwrap_or(0.5),
            unsettled: !self.settled,
            ..RepertoireSummary::default()
        };
        let (mut answered, mut all) = (0.0, 0.0);
        for (n, state) in self.states.iter().enumerate() {
            let reach = self.play.probability(n);
            if !self.is_met(reach) {
                continue;
            }
            let line = self.play.line(n as NodeId);
            let is_counted = |plies: usize| plies < self.options.depth;
            if state.is_own {
                let has_answer = self.choices.get(n).is_some_and(|chosen| !chosen.is_empty());
                all += reach * f64::from(u8::from(is_counted(line.plies())));
                if has_answer {
                    summary.positions += 1;
                    summary.plies += reach;
                    answered += reach * f64::from(u8::from(is_counted(line.plies())));
                } else {
                    summary.gaps.push(Gap {
                        line,
                        probability: reach,
                    });
                }
                continue;
            }
            let counted = f64::from(u8::from(is_counted(line.plies() + 1)));
            all += reach * state.other * counted;
            for step in state.steps.iter().filter(|step| step.to.is_none()) {
                let probability = reach * step.share;
                all += probability * counted;
                if self.is_met(probability) {
                    let mut line = line.clone();
                    line.push(step.mv);
                    summary.gaps.push(Gap { line, probability });
                }
            }
        }
        summary.coverage = if all > 0.0 { answered / all } else { 0.0 };
        summary
            .gaps
            .sort_by(|a, b| b.probability.total_cmp(&a.probability));
        summary
    }

    /// What a repertoire that is in a book of its own lacks, when its
    /// moves are played.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn differences(&self, mine: &Book) -> Result<Differences, Error> {
        let mut found = Lookup::default();
        let mut played: Vec<Vec<Move>> = Vec::with_capacity(self.states.len());
        let mut choices = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let (mut moves, mut steps) = (Vec::new(), Vec::new());
            if state.is_own {
                mine.probe(&state.position, Wanted::Stored, &mut found)?;
                moves.extend(found.moves.iter().map(|known| known.mv));
                let is_played = |mv: &Move| moves.contains(mv);
                let numbered = state.steps.iter().enumerate();
                let in_book = numbered.filter(|(_, step)| {
                    (is_played(&step.mv) || state.is_given) && step.to.is_some()
                });
                steps.extend(in_book.map(|(n, _)| n));
            }
            played.push(moves);
            choices.push(steps);
        }
        let play = self.play(&choices);
        let mut differences = Differences::default();
        for (n, state) in self
            .states
            .iter()
            .enumerate()
            .filter(|(_, state)| state.is_own && !state.is_given)
        {
            let probability = play.probability(n);
            let best = self
                .choices
                .get(n)
                .and_then(|steps| state.steps.get(*steps.first()?));
            let (Some(best), Some(moves), true) = (best, played.get(n), self.is_met(probability))
            else {
                continue;
            };
            let line = play.line(n as NodeId);
            let would_bring = self.value(best.to).unwrap_or(state.known.estimate());
            if moves.is_empty() {
                differences.holes.push(Gap { line, probability });
                continue;
            }
            let mut is_agreed = true;
            for mv in moves.iter().filter(|mv| **mv != best.mv) {
                let step = state.steps.iter().find(|step| step.mv == *mv);
                let brings = step.and_then(|step| self.value(step.to));
                if brings.is_none_or(|brings| would_bring - brings > WORTH_A_CHANGE) {
                    is_agreed = false;
                    differences.repairs.push(Repair {
                        line: line.clone(),
                        probability,
                        played: *mv,
                        brings,
                        better: best.mv,
                        would_bring,
                    });
                }
            }
            differences.agreed += usize::from(is_agreed);
        }
        let cost = |repair: &Repair| {
            repair.probability * (repair.would_bring - repair.brings.unwrap_or(0.0))
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

/// Half a point in a hundred games: less is noise.
const WORTH_A_CHANGE: f64 = 0.005;
