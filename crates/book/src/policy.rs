//! Which book move to play: one pure function over the moves of a position.
//!
//! [`weigh`] turns moves into probabilities, [`pick`] draws one of them. The
//! adapter plays by exactly the numbers that `tabia probe` prints, because
//! both call these two.
//!
//! # The weight of a move
//!
//! First, moves that may not be played are taken out, each for the first
//! [`Rejection`] reason that applies, in the order in which they are there.
//! What is left gets the weight
//!
//! ```text
//! weight = (2 * wins + draws + unfinished + 1)      points, doubled, plus one
//!        * 2 ^ clamp(elo, -1, 1)                     stronger players count more
//!        * annotation                                ! 2, !! 4 (?! 1/2, ? 1/10, ?? 1/100)
//!        * 16 ^ (factor / 125 * influence / 50)      the learn value
//!
//! elo = (average - mean of all moves left) / 200 * rated / (rated + 10)
//! ```
//!
//! where wins, draws, ratings and factor are those of the player of the move.
//! Points doubled is what Polyglot stores as a weight; the one added keeps a
//! move without a point possible. A book that stores a weight of its own
//! ([`Preference`]) has it in place of this first factor, one with a priority
//! has the factor times priority / 5; a weight or priority of 0 is never
//! played. Such books may not count games at all: minimum games and score pass
//! a move of theirs that has none. Two hundred Elo above the average of the
//! position double a weight at the most, and few rated games count less.
//! Moves below [`Policy::minimum_share`] of the sum then drop out, and
//!
//! ```text
//! probability = weight ^ t / sum of weight ^ t,   t = (100 - variety) / variety
//! ```
//!
//! so that variety 50 plays in proportion to the weights, 100 plays all moves
//! alike, and 0 always the heaviest (of equal ones the one stored first).
//!
//! # Evaluations
//!
//! Where evaluations are known ([`crate::Judged`]) and
//! [`Policy::judgement`] asks for them, weights are made of these:
//!
//! ```text
//! weight = 1000   * e ^ ((E - best E) / 0.02)    by evaluations
//! weight = points * e ^ ((E - best E) / 0.02)    by both
//! ```
//!
//! before annotation and learn value, with E the points, 0 to 1, that the
//! evaluation lets expect ([`crate::eval::model`]). A move 30 centipawns worse
//! than the best, in a level position, has a quarter of its weight. One that
//! has no evaluation has the E of the least of the others.
//!
//! [`Policy::maximum_loss`] comes last of all, after signs, colours and shares:
//! of the moves that are left those over the limit drop out. If there were any,
//! moves without an evaluation drop out with them, so that none of them
//! comes up in the place of one that is known; nothing may be left then.

mod choice;
mod game;
mod judged;

use std::fmt;

use rand::{Rng, RngExt};
use shakmaty::Move;

pub use choice::{Choice, Exit, Rules, chance, choose, choose_knowing};
pub use game::{GameSituation, LineMemory};
pub use judged::learn_value;

use crate::{Annotation, BookMove, Mark, Preference};
use judged::judged_weights;

/// How to choose among book moves: what the user has set.
///
/// The field docs give the range; values outside are treated as the nearest
/// one inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// 0 to 100: 0 the heaviest move only, 50 by weight, 100 all alike.
    pub variety: u32,
    /// Games that the position after the move must have.
    pub minimum_games: u32,
    /// 0 to 100 per cent: what the move must have scored for its player.
    pub minimum_score: u32,
    /// 0 to 1000 per mille of the position's weight: less is dropped.
    pub minimum_share: u32,
    /// Whether green and red marks rule: red never, and where there is a
    /// green move only green ones.
    pub tournament: bool,
    /// Whether annotations rule: doubtful moves only when nothing else is
    /// left, an only move alone.
    pub annotations: bool,
    /// 0 to 100: how far the learn values bend the weights.
    pub learn_influence: u32,
    /// Whether moves that are not stored, but that lead into the book, count.
    pub transpositions: bool,
    /// Centipawns by which a move may be worse than the best, where
    /// evaluations are known; 0 is no limit. Where it takes a move out, moves
    /// without an evaluation are not played either.
    pub maximum_loss: u32,
    /// What the weight is made of, where evaluations are known.
    pub judgement: Judgement,
}

/// What a weight is made of where evaluations are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// Of results, as where none are known.
    #[default]
    Results,
    /// Of evaluations alone.
    Evaluations,
    /// Of results, less what the evaluation takes off.
    Both,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            variety: 50,
            minimum_games: 1,
            minimum_score: 0,
            minimum_share: 5,
            tournament: true,
            annotations: true,
            learn_influence: 50,
            transpositions: true,
            maximum_loss: 0,
            judgement: Judgement::Results,
        }
    }
}

/// Why a move is not played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The position after it is not in the book.
    NoPosition,
    /// It is not stored, and transpositions are off.
    Transposition,
    /// The book gives it the weight or priority 0.
    WeightZero,
    /// The book may answer only earlier moves of the game.
    PastDepth,
    /// It is not among the moves that the GUI asked for (`searchmoves`).
    NotAsked,
    /// The position is worth too little or too much for the book ([`Exit`]).
    Exit {
        /// Centipawns for the side to move.
        value: i32,
        /// The value beyond which the book is silent.
        limit: i32,
    },
    /// It repeats a position of this game.
    Repetition,
    /// The line ends too soon after it.
    LineEnds,
    /// It is marked red.
    Forbidden,
    /// Its position was reached in too few games.
    FewGames,
    /// Its score is too low.
    LowScore,
    /// Its learn value is -125: never.
    LearnedNever,
    /// Another move is annotated as the only one.
    NotTheOnlyMove,
    /// It is annotated ?!, ? or ??, and there are better ones.
    Doubtful,
    /// There are green moves, and it is none.
    NotMain,
    /// Another move has the learn value +125: always.
    NotLearnedAlways,
    /// It has too small a share of the weight.
    SmallShare,
    /// Evaluations say that it loses more centipawns than it may.
    LosesTooMuch {
        /// So many.
        loss: u32,
        /// It may lose so many.
        limit: u32,
    },
    /// It has no evaluation, and one that has loses too much: it is not played
    /// in its place.
    ValueUnknown {
        /// Centipawns that a move may lose.
        limit: u32,
    },
}

/// Half a sentence for people.
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

/// The verdict on one move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weighed {
    /// Its weight; 0 for a move that is not played.
    pub weight: f64,
    /// The probability of being played, 0 to 1; all of them sum up to 1, or
    /// to 0 when no move is left.
    pub probability: f64,
    /// Why it is not played; `None` for a candidate.
    pub rejection: Option<Rejection>,
}

/// Weighs the moves of a position; `verdicts` is cleared and then holds one
/// verdict a move, in the same order.
///
/// `barred` returns what only the game knows: a reason not to play a move.
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

/// Leaves only the moves asked for, of those that may be played: what is left
/// of the verdicts of [`weigh`] shares the probability anew. A move that would
/// never be played is not played for being asked for.
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

/// Reasons that lie in the move alone.
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
    } else if policy.learn_influence > 0 && candidate.factor() <= -125 {
        Some(Rejection::LearnedNever)
    } else {
        None
    }
}

/// Score of the move in per cent over the games with a result, 50 where
/// there is none.
fn score_percent(candidate: &BookMove) -> f64 {
    100.0 * candidate.stats().score().unwrap_or(0.5)
}

fn doubled_points(candidate: &BookMove) -> f64 {
    let stats = candidate.stats();
    stats.results().half_points() as f64 + f64::from(stats.unfinished())
}

/// The weight before ratings, annotation and learning bend it.
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

/// The moves beside their verdicts.
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

    /// Where some candidates are `wanted`, the others drop out.
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
                candidate.factor() >= 125
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
        let judged = judged_weights(&of_candidates, policy.judgement);
        for (n, (candidate, verdict)) in self.candidates_mut().enumerate() {
            let stats = candidate.stats();
            let by_value = judged.get(n).copied();
            let mut weight = by_value.unwrap_or_else(|| base_weight(candidate));
            // Evaluations know no ratings.
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
            let factor = f64::from(candidate.factor()) / 125.0;
            weight *= (4.0 * factor * influence).exp2();
            verdict.weight = weight;
        }
    }

    fn drop_small_shares(&mut self, per_mille: u32) {
        let sum: f64 = self.candidates().map(|(_, verdict)| verdict.weight).sum();
        let least = sum * f64::from(per_mille) / 1000.0;
        for (_, verdict) in self.candidates_mut() {
            // A hair of tolerance: a sole move has the whole share whatever
            // the rounding.
            if verdict.weight < least * (1.0 - 1e-12) {
                verdict.weight = 0.0;
                verdict.rejection = Some(Rejection::SmallShare);
            }
        }
    }

    /// Drops what loses more than `limit` centipawns; if there was any, also
    /// what has no evaluation.
    fn drop_losing(&mut self, limit: u32) {
        let is_over = |candidate: &BookMove| {
            let loss = candidate.judged.map(|judged| judged.loss);
            loss.filter(|loss| limit > 0 && *loss > limit)
        };
        if !self.candidates().any(|(mv, _)| is_over(mv).is_some()) {
            return;
        }
        for (candidate, verdict) in self.candidates_mut() {
            let rejection = match (is_over(candidate), candidate.judged) {
                (Some(loss), _) => Rejection::LosesTooMuch { loss, limit },
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
            // Relative to the heaviest, so that no power overflows.
            verdict.probability = (verdict.weight / heaviest).powf(exponent);
            sum += verdict.probability;
        }
        for (_, verdict) in self.candidates_mut() {
            verdict.probability /= sum;
        }
    }
}

/// Draws a move by its probability: the index into the list that was
/// weighed, `None` when no move may be played.
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
