//! Which book move to play: one pure function over the moves of a position.
//!
//! [`weigh`] turns moves into probabilities, [`pick`] draws one of them. `tabia probe`
//! prints the same numbers that the adapter plays by, because both call these two.
//!
//! # The weight of a move
//!
//! A rejected move has the first [`Rejection`] that applies, in the order of that list:
//! first what the move itself says, then the game, then better moves of the position.
//! Each move that is left gets the weight
//!
//! ```text
//! weight = (2 * wins + draws + unfinished + 1)      points, doubled, plus one
//!        * 2 ^ clamp(elo, -1, 1)                     stronger players count more
//!        * annotation                                ! 2, !! 4 (?! 1/2, ? 1/10, ?? 1/100)
//!        * 16 ^ (learnt / 125 * influence / 50)      the learn value
//!
//! elo = (average - mean of all moves left) / 200 * rated / (rated + 10)
//! ```
//!
//! where wins, draws, ratings and learn value are those of the player of the move.
//! Polyglot also stores doubled points as a weight; with the plus one a move without a
//! point stays possible. If the book stores a weight ([`Preference`]), it replaces the
//! first factor; a stored priority multiplies that factor by priority / 5. A weight or
//! priority of 0 is never played. Such books may not count games: a move of theirs
//! without games passes minimum games and score. Two hundred Elo above the average of the
//! position at most double a weight, and few rated games count less. Then moves below
//! [`Policy::minimum_share`] of the sum are removed, and
//!
//! ```text
//! probability = weight ^ t / sum of weight ^ t,   t = (100 - variety) / variety
//! ```
//!
//! so variety 50 plays in proportion to the weights, 100 plays all moves alike, and 0
//! always the heaviest (of equal ones the one stored first).
//!
//! # Evaluations
//!
//! If evaluations are available ([`crate::MoveEvaluation`]) and [`Policy::judgement`] uses them,
//! they make the weights:
//!
//! ```text
//! weight = 1000   * e ^ ((E - best E) / 0.02)    by evaluations
//! weight = points * e ^ ((E - best E) / 0.02)    by both
//! ```
//!
//! before annotation and learn value. E is the expected score, 0 to 1, of the evaluation
//! ([`crate::eval::model`]). In a level position, a move 30 centipawns worse than the
//! best has a quarter of its weight. A move without an evaluation gets the lowest E of
//! the others.
//!
//! [`Policy::maximum_loss`] is applied last, after annotations, colours and shares: moves
//! over the limit are removed. If there were any, moves without an evaluation are removed
//! too, so that an unknown move cannot replace a known one; no move may be left then.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod choice;
mod evaluated;
mod game;
#[macro_use]
mod table;

use std::fmt;

use rand::{Rng, RngExt};
use shakmaty::Move;

pub use choice::{
    ChooseMove, Exit, Rules, WeighedMoves, chance, choose, choose_by, choose_knowing,
};
pub use evaluated::learn_value;
pub use game::{GameSituation, LineMemory};

use crate::options::OptionKind;
use crate::{Annotation, BookMove, Mark, Preference};
use evaluated::evaluation_weights;

policy_options! { policy! {} }

crate::words! {
    /// What makes a weight if evaluations are available.
    #[derive(Default)]
    pub enum Judgement {
        /// Results only.
        #[default]
        Results = "results",
        /// Evaluations only.
        Evaluations = "evaluations",
        /// Results, reduced by the evaluation.
        Both = "both",
    }
}

/// An option of a [`Policy`], with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyOption {
    /// The name of the field, in engines.toml and in Python.
    pub key: &'static str,
    /// The name in UCI.
    pub name: &'static str,
    /// Its type and its value.
    pub kind: OptionKind,
    /// What it is about.
    pub topic: Topic,
    /// The help text for users.
    pub help: &'static str,
}

/// What an option is about that decides between moves, in an order for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// How a move is drawn by the weights.
    Draw,
    /// What was learned from games.
    Learning,
    /// Marks and annotations of the moves.
    Marks,
    /// What a move must have.
    Minimums,
    /// How far lines are played.
    Line,
    /// Evaluations of engines.
    Evaluations,
    /// The positions that moves lead to.
    Positions,
    /// The values at which the book is left.
    Exit,
}

/// Why a move is not played, in the order in which the reasons are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The position after it is not in the book.
    NoPosition,
    /// It is not stored, and transpositions are off.
    Transposition,
    /// The book gives it the weight or priority 0.
    WeightZero,
    /// It is marked red.
    Forbidden,
    /// Its position was reached in too few games.
    FewGames,
    /// Its score is too low.
    LowScore,
    /// Its learn value is -125: never play.
    LearnedNever,
    /// The game is past the depth of the book.
    PastDepth,
    /// The position's value is outside the limits of the book ([`Exit`]).
    Exit {
        /// Centipawns for the side to move.
        value: i32,
        /// The value beyond which the book is not used.
        limit: i32,
    },
    /// It repeats a position of this game.
    Repetition,
    /// The book line ends too soon after it.
    LineEnds,
    /// Another move is annotated as the only move.
    NotTheOnlyMove,
    /// It is annotated ?!, ? or ??, and there are better moves.
    Doubtful,
    /// There are green moves, and it is not green.
    NotMain,
    /// Another move has the learn value +125: always play.
    NotLearnedAlways,
    /// Its share of the weight is too small.
    SmallShare,
    /// By evaluations it loses more centipawns than allowed.
    LosesTooMuch {
        /// Its loss in centipawns.
        loss: u32,
        /// The allowed loss in centipawns.
        limit: u32,
    },
    /// It has no evaluation, and a move with an evaluation was removed because it loses
    /// too much.
    ValueUnknown {
        /// The allowed loss in centipawns.
        limit: u32,
    },
    /// It is not in the `searchmoves` of the GUI ([`narrow`]).
    NotAsked,
}

/// The reason in words, as part of a sentence.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Rejection::NoPosition => "position after it not in book",
            Rejection::Transposition => "transpositions are off",
            Rejection::WeightZero => "weight 0",
            Rejection::PastDepth => "past Book Depth",
            Rejection::NotAsked => "not among searchmoves",
            Rejection::Exit { value, limit } => {
                return write!(f, "position worth {value} cp, exit at {limit}");
            }
            Rejection::Repetition => "repeats a position",
            Rejection::LineEnds => "line ends too soon",
            Rejection::Forbidden => "marked red",
            Rejection::FewGames => "too few games",
            Rejection::LowScore => "score too low",
            Rejection::LearnedNever => "learn value -125",
            Rejection::NotTheOnlyMove => "there is an only move",
            Rejection::LosesTooMuch { loss, limit } => {
                return write!(f, "loses {loss} cp, limit {limit}");
            }
            Rejection::ValueUnknown { limit } => {
                return write!(f, "value unknown, limit {limit} cp");
            }
            Rejection::Doubtful => "doubtful annotation",
            Rejection::NotMain => "there are green moves",
            Rejection::NotLearnedAlways => "there is a move with learn value +125",
            Rejection::SmallShare => "share too small",
        };
        f.write_str(text)
    }
}

/// The result of [`weigh`] for one move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Weighed {
    /// Its weight; 0 for a rejected move.
    pub weight: f64,
    /// The probability of being played, 0 to 1; the sum is 1, or 0 if no move is left.
    pub probability: f64,
    /// Why it is not played; `None` for a candidate.
    pub rejection: Option<Rejection>,
}

/// Weighs the moves of a position; `verdicts` is cleared and then has one verdict for
/// each move, in the same order.
///
/// `barred` returns a reason of the game not to play a move, such as a repetition.
pub fn weigh(
    moves: &[BookMove],
    policy: &Policy,
    mut barred: impl FnMut(&BookMove) -> Option<Rejection>,
    verdicts: &mut Vec<Weighed>,
) {
    verdicts.clear();
    verdicts.extend(moves.iter().map(|candidate| Weighed {
        rejection: rejected_alone(candidate, policy).or_else(|| barred(candidate)),
        ..Weighed::default()
    }));
    let mut table = Table { moves, verdicts };
    table.drop_by_comparison(policy);
    table.give_weights(policy);
    table.drop_small_shares(policy.minimum_share.min(1000));
    table.drop_losing(policy.maximum_loss);
    table.give_probabilities(policy.variety.min(100));
}

/// Restricts the verdicts of [`weigh`] to the moves in `asked` and distributes the
/// probability among them. Rejected moves stay rejected.
pub fn narrow(moves: &[BookMove], policy: &Policy, asked: &[Move], verdicts: &mut [Weighed]) {
    let mut table = Table { moves, verdicts };
    for (candidate, verdict) in table.candidates_mut() {
        verdict.probability = 0.0;
        if !asked.contains(&candidate.mv) {
            verdict.weight = 0.0;
            verdict.rejection = Some(Rejection::NotAsked);
        }
    }
    table.give_probabilities(policy.variety.min(100));
}

/// Reasons for rejection that depend on the move alone.
fn rejected_alone(candidate: &BookMove, policy: &Policy) -> Option<Rejection> {
    let stats = candidate.stats();
    let counted = candidate.preference == Preference::Statistics || stats.games > 0;
    if candidate.after.is_none() && candidate.preference == Preference::Statistics {
        Some(Rejection::NoPosition)
    } else if candidate.transposition && !policy.transpositions {
        Some(Rejection::Transposition)
    } else if candidate.preference.is_never() {
        Some(Rejection::WeightZero)
    } else if policy.tournament && candidate.mark() == Mark::Avoid {
        Some(Rejection::Forbidden)
    } else if counted && stats.games < policy.minimum_games {
        Some(Rejection::FewGames)
    } else if counted && score_percent(candidate) < f64::from(policy.minimum_score.min(100)) {
        Some(Rejection::LowScore)
    } else if policy.learn_influence > 0 && candidate.learn_value() <= -125 {
        Some(Rejection::LearnedNever)
    } else {
        None
    }
}

/// Why a move is rejected that loses more than `limit` centipawns; 0 means no limit.
fn loses_too_much(candidate: &BookMove, limit: u32) -> Option<Rejection> {
    let loss = candidate.evaluation?.loss;
    (limit > 0 && loss > limit).then_some(Rejection::LosesTooMuch { loss, limit })
}

/// Why a book speaks against a move whoever plays it: its mark, whatever
/// [`Policy::tournament`] says, or its loss beyond [`Policy::maximum_loss`].
#[must_use]
pub fn forbidden(candidate: &BookMove, policy: &Policy) -> Option<Rejection> {
    match candidate.mark() {
        Mark::Avoid => Some(Rejection::Forbidden),
        Mark::Main | Mark::None => loses_too_much(candidate, policy.maximum_loss),
    }
}

/// Score of the move in per cent over the games with a result; 50 without any.
fn score_percent(candidate: &BookMove) -> f64 {
    100.0 * candidate.stats().score().unwrap_or(0.5)
}

fn doubled_points(candidate: &BookMove) -> f64 {
    let stats = candidate.stats();
    stats.results().half_points() as f64 + f64::from(stats.unfinished())
}

/// The weight before the factors for ratings, annotation and learn value.
fn base_weight(candidate: &BookMove) -> f64 {
    match candidate.preference {
        Preference::Statistics => doubled_points(candidate) + 1.0,
        Preference::Weight(weight) => f64::from(weight),
        Preference::Priority(priority) => {
            (doubled_points(candidate) + 1.0) * f64::from(priority) / 5.0
        }
    }
}

const fn annotation_weight(annotation: Annotation) -> f64 {
    match annotation.nag() {
        1 => 2.0,
        2 => 0.1,
        3 => 4.0,
        4 => 0.01,
        6 => 0.5,
        _ => 1.0,
    }
}

/// The moves with their verdicts.
struct Table<'a> {
    moves: &'a [BookMove],
    verdicts: &'a mut [Weighed],
}

impl Table<'_> {
    fn candidates(&self) -> impl Iterator<Item = (&BookMove, &Weighed)> {
        self.moves
            .iter()
            .zip(&*self.verdicts)
            .filter(|(_, verdict)| verdict.rejection.is_none())
    }

    fn candidates_mut(&mut self) -> impl Iterator<Item = (&BookMove, &mut Weighed)> {
        self.moves
            .iter()
            .zip(&mut *self.verdicts)
            .filter(|(_, verdict)| verdict.rejection.is_none())
    }

    /// If some candidates are `wanted`, rejects the others.
    fn keep_if_any(&mut self, reason: Rejection, wanted: impl Fn(&BookMove) -> bool) {
        if self.candidates().any(|(candidate, _)| wanted(candidate)) {
            for (candidate, verdict) in self.candidates_mut() {
                if !wanted(candidate) {
                    verdict.rejection = Some(reason);
                }
            }
        }
    }

    fn drop_by_comparison(&mut self, policy: &Policy) {
        if policy.annotations {
            self.keep_if_any(Rejection::NotTheOnlyMove, |candidate| {
                candidate.annotation.nag() == Annotation::ONLY_MOVE.nag()
            });
            self.keep_if_any(Rejection::Doubtful, |candidate| {
                !candidate.annotation.is_doubtful()
            });
        }
        if policy.tournament {
            self.keep_if_any(Rejection::NotMain, |candidate| {
                candidate.mark() == Mark::Main
            });
        }
        if policy.learn_influence > 0 {
            self.keep_if_any(Rejection::NotLearnedAlways, |candidate| {
                candidate.learn_value() >= 125
            });
        }
    }

    fn give_weights(&mut self, policy: &Policy) {
        let (rating_sum, rated) = self
            .candidates()
            .map(|(candidate, _)| candidate.stats())
            .fold((0.0, 0.0), |(sum, count), stats| {
                (
                    sum + stats.own_rating_sum as f64,
                    count + f64::from(stats.own_rated),
                )
            });
        let influence = f64::from(policy.learn_influence.min(100)) / 50.0;
        let of_candidates: Vec<&BookMove> = match policy.judgement {
            Judgement::Results => Vec::new(),
            _ => self.candidates().map(|(candidate, _)| candidate).collect(),
        };
        let by_evaluation = evaluation_weights(&of_candidates, policy.judgement);
        for (n, (candidate, verdict)) in self.candidates_mut().enumerate() {
            let stats = candidate.stats();
            let by_value = by_evaluation.get(n).copied();
            let mut weight = by_value.unwrap_or_else(|| base_weight(candidate));
            // An evaluation does not depend on ratings.
            if (by_value.is_none() || policy.judgement == Judgement::Both)
                && let Some(average) = stats.average_elo()
            {
                let games = f64::from(stats.own_rated);
                let elo = (average - rating_sum / rated) / 200.0 * games / (games + 10.0);
                weight *= elo.clamp(-1.0, 1.0).exp2();
            }
            if policy.annotations {
                weight *= annotation_weight(candidate.annotation);
            }
            let factor = f64::from(candidate.learn_value()) / 125.0;
            weight *= (4.0 * factor * influence).exp2();
            verdict.weight = weight;
        }
    }

    fn drop_small_shares(&mut self, per_mille: u32) {
        let sum: f64 = self.candidates().map(|(_, verdict)| verdict.weight).sum();
        let least = sum * f64::from(per_mille) / 1000.0;
        for (_, verdict) in self.candidates_mut() {
            // Tolerance: the only move has the whole share, despite rounding.
            if verdict.weight < least * (1.0 - 1e-12) {
                verdict.weight = 0.0;
                verdict.rejection = Some(Rejection::SmallShare);
            }
        }
    }

    /// Rejects moves that lose more than `limit` centipawns and, if there were any, moves
    /// without an evaluation.
    fn drop_losing(&mut self, limit: u32) {
        let is_over = |candidate: &BookMove| loses_too_much(candidate, limit);
        if !self.candidates().any(|(mv, _)| is_over(mv).is_some()) {
            return;
        }
        for (candidate, verdict) in self.candidates_mut() {
            let rejection = match (is_over(candidate), candidate.evaluation) {
                (Some(rejection), _) => rejection,
                (None, None) => Rejection::ValueUnknown { limit },
                (None, Some(_)) => continue,
            };
            verdict.weight = 0.0;
            verdict.rejection = Some(rejection);
        }
    }

    fn give_probabilities(&mut self, variety: u32) {
        let heaviest = self
            .candidates()
            .map(|(_, verdict)| verdict.weight)
            .fold(0.0, f64::max);
        if variety == 0 {
            let first = self
                .candidates_mut()
                .find(|(_, verdict)| verdict.weight >= heaviest);
            if let Some((_, verdict)) = first {
                verdict.probability = 1.0;
            }
            return;
        }
        let exponent = f64::from(100 - variety) / f64::from(variety);
        let mut sum = 0.0;
        for (_, verdict) in self.candidates_mut() {
            // Relative to the heaviest, so that the power cannot overflow.
            verdict.probability = (verdict.weight / heaviest).powf(exponent);
            sum += verdict.probability;
        }
        for (_, verdict) in self.candidates_mut() {
            verdict.probability /= sum;
        }
    }
}

/// Draws a move by its probability. Returns its index in the list, `None` if no move may
/// be played.
pub fn pick(verdicts: &[Weighed], rng: &mut dyn Rng) -> Option<usize> {
    let draw: f64 = rng.random();
    let mut passed = 0.0;
    let mut last = None;
    for (index, verdict) in verdicts.iter().enumerate() {
        if verdict.probability > 0.0 {
            passed += verdict.probability;
            last = Some(index);
            if draw < passed {
                break;
            }
        }
    }
    last
}

/// The index of the most probable move; of equal ones the first.
#[must_use]
pub fn best(verdicts: &[Weighed]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, verdict) in verdicts.iter().enumerate() {
        let better = best.is_none_or(|(_, probability)| verdict.probability > probability);
        if verdict.probability > 0.0 && better {
            best = Some((index, verdict.probability));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests;
