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

mod estimate;
mod measure;
mod own;
mod states;
mod write;

use shakmaty::{Chess, Color, Move};

pub use measure::Measured;
pub use own::{OwnAnswer, OwnRepertoire, SeveralAnswers, Trimmed};
pub use states::Knowledge;
use states::{State, StateSearch};
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
    /// The same for moves with a smaller share of the games of a position, 0 to 1: the
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
pub struct Repertoire {
    options: RepertoireOptions,
    states: Vec<State>,
    values: Vec<f64>,
    /// Indices of the chosen steps, for own states.
    choices: Vec<Vec<usize>>,
    play: Play,
    converged: bool,
}

/// The result of playing the chosen moves.
#[derive(Default)]
struct Play {
    /// The targets of the moves played from each state, and their probabilities.
    targets: Vec<Vec<(NodeId, Move, f64)>>,
    reach: Probabilities,
}

impl Play {
    /// The probability of a state.
    fn probability(&self, state: usize) -> f64 {
        self.reach.probability.get(state).copied().unwrap_or(0.0)
    }

    /// The most probable line to a state.
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

impl Repertoire {
    /// Chooses the moves.
    ///
    /// # Errors
    ///
    /// A book cannot be read or does not have the start position, or the work is
    /// cancelled.
    pub fn solve(
        knowledge: Knowledge<'_>,
        options: &RepertoireOptions,
        watch: &mut Watch<'_>,
    ) -> Result<Repertoire, Error> {
        let states = StateSearch::find_states(knowledge, options, watch)?;
        let mut repertoire = Repertoire {
            options: options.clone(),
            values: states.iter().map(|state| state.known.estimate()).collect(),
            choices: Vec::new(),
            play: Play::default(),
            states,
            converged: false,
        };
        for _ in 0..SWEEPS {
            watch.go_on()?;
            if repertoire.sweep() < 1e-6 {
                repertoire.converged = true;
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

    /// The own moves, best first.
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
        // A green move is the choice of the book's author.
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

    /// Backs values up by one step towards the start; returns the greatest change.
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

    /// The steps that are played: the chosen ones, with equal shares, or the opponent's.
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

    /// The targets and probabilities if these moves are played.
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
        // Moves after a move that is not learned are not learned either.
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

    /// The numbers of the repertoire.
    #[must_use]
    pub fn summary(&self) -> RepertoireSummary {
        let mut summary = RepertoireSummary {
            expectation: self.values.first().copied().unwrap_or(0.5),
            converged: self.converged,
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

    /// The differences of a player's own repertoire, if its moves are played.
    #[must_use]
    pub fn differences(&self, mine: &OwnRepertoire) -> Differences {
        let (played, play) = self.played(mine);
        let mut differences = Differences {
            several: self.several_answers(mine, &play),
            ..Differences::default()
        };
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
            let better_score = self.value(best.to).unwrap_or(state.known.estimate());
            if moves.is_empty() {
                differences.holes.push(Gap { line, probability });
                continue;
            }
            if mine.contradicts_itself(&state.position) {
                continue;
            }
            let mut is_agreed = true;
            for mv in moves.iter().filter(|mv| **mv != best.mv) {
                let step = state.steps.iter().find(|step| step.mv == *mv);
                let score = step.and_then(|step| self.value(step.to));
                if score.is_none_or(|score| better_score - score > WORTH_A_CHANGE) {
                    is_agreed = false;
                    differences.repairs.push(Repair {
                        line: line.clone(),
                        probability,
                        played: *mv,
                        score,
                        better: best.mv,
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
        differences
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
        let start = &solved.states[0];
        let best = start.steps[solved.choices[0][0]].mv;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.pgn");
        let differences = |mv: Move| {
            let text = format!(
                "[White \"x\"]\n\n1. {} *\n",
                tabia_notation::san(&start.position, mv)
            );
            std::fs::write(&path, text).unwrap();
            let mine = OwnRepertoire::read(&path, Color::White, &mut Watch::default()).unwrap();
            solved.differences(&mine)
        };
        let same = differences(best);
        assert_eq!((same.agreed, same.repairs.len()), (1, 0));
        let bad = tabia_notation::read_move(&start.position, "a3").unwrap();
        let other = differences(bad);
        assert_eq!(other.agreed, 0);
        let [repair] = &other.repairs[..] else {
            panic!("{:?}", other.repairs);
        };
        assert_eq!((repair.played, repair.better), (bad, best));
    }
}
