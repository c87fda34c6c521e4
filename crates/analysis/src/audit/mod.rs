//! Finds errors in a book, by the evaluations beside it.
//!
//! Values are those that [`crate::graph`] backs up through the book: the loss of a move
//! is the difference from the best known value of its position, in the book or not.
//! Findings are sorted by importance: the loss times the probability that the adapter's
//! own play reaches and plays the move.
//!
//! A list sorted by loss shows the largest errors of the evaluations first. Therefore a
//! finding is only *confirmed* when position, move and better move have been searched
//! again, deeply ([`confirm()`]); such an evaluation replaces the backed-up value of its
//! position. A confirmed loss must exceed the limit by a margin: moves were selected
//! because their loss exceeded a limit, and the true loss of those just above it is as
//! likely to be just below it.
//!
//! ```
//! use tabia_analysis::audit::{AuditOptions, Examined};
//! use tabia_analysis::{Watch, evaluate::gather, graph::BookGraph};
//! use tabia_book::evals::{EvalFile, EvalTable};
//! use tabia_book::{Book, OpenOptions, policy::Policy};
//!
//! let books = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books");
//! let book = Book::open(format!("{books}/tabia.ctg"), &OpenOptions::default())?;
//! let graph = BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {})?;
//!
//! // Evaluations in any known format; only those of positions of the book are taken.
//! let folder = tempfile::tempdir()?;
//! let file = EvalFile::open(&folder.path().join("tabia.evals"))?;
//! let (mut table, source) = (EvalTable::default(), format!("{books}/evaluations.epd.zst"));
//! gather(source.as_ref(), &graph, &mut table, &file, &mut Watch::default())?;
//!
//! let mut options = AuditOptions::default();
//! options.max_loss = 20;
//! let audit = Examined::new(&graph, &table, Policy::default(), None).audit(&options);
//! assert!(audit.losing.iter().all(|found| found.loss > 20));
//! let first = &audit.losing[0];
//! println!("{}: {:?} is {} better", first.played.line, first.better, first.loss);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod confirm;
mod describe;
mod marks;
mod report;

pub use confirm::{Confirmation, confirm};
pub use describe::{Audit, BAR, BadEnd, Exits, LosingMove, PlayedMove, Refutation, SearchedValue};
pub use marks::{Marks, changes};
pub use report::{ReportError, positions_in};

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Color};

use crate::graph::{BookGraph, GraphMove, NodeId, Probabilities, Weighing};
use tabia_book::eval::{Evaluation, MoveValue, Value, annotation};
use tabia_book::evals::{EvalKey, EvalTable};
use tabia_book::policy::Policy;
use tabia_book::{Annotation, Mark};
use tabia_notation as notation;

/// Options of an audit.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Highest accepted loss of a move, and deficit of a line's end, in centipawns: 50
    /// unless another limit is set.
    pub max_loss: u32,
    /// The side whose moves and ends are checked; `None` for both.
    pub side: Option<Color>,
    /// Highest number of findings of each kind that are described; 50 if it is not set.
    pub described: usize,
}

impl Default for AuditOptions {
    fn default() -> AuditOptions {
        AuditOptions {
            max_loss: 50,
            side: None,
            described: 50,
        }
    }
}

/// The value of a move of the graph, and the best value in its position.
#[derive(Clone, Copy, Debug)]
struct MoveComparison {
    best: i32,
    value: i32,
}

impl MoveComparison {
    const fn loss(self) -> u32 {
        self.best.abs_diff(self.value)
    }
}

/// Which searches confirm a finding.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConfirmingSearches {
    /// Evaluations with at least this many nodes confirm.
    pub nodes: u64,
    /// Per cent by which a confirmed loss must exceed the limit.
    pub margin: u8,
    /// Evaluations of these positions confirm.
    pub searched: HashSet<EvalKey, FxBuildHasher>,
    /// Positions that were searched again, for twice as long.
    pub searched_twice: HashSet<EvalKey, FxBuildHasher>,
    /// Number of searches without an answer.
    pub unanswered: usize,
}

impl ConfirmingSearches {
    fn confirms(&self, key: EvalKey, evaluation: &Evaluation) -> bool {
        // Engines stop slightly early or late.
        evaluation.nodes >= self.nodes / 10 * 9 || self.searched.contains(&key)
    }

    /// Whether it is from a search as long as the second one: a move listed because of
    /// its first search may be there because of an error of that search.
    fn is_second(&self, key: EvalKey, evaluation: &Evaluation) -> bool {
        evaluation.nodes >= 2 * self.nodes / 10 * 9 || self.searched_twice.contains(&key)
    }

    /// The limit for a confirmed loss.
    fn limit(&self, max_loss: u32) -> u32 {
        max_loss + max_loss * u32::from(self.margin) / 100
    }
}

/// Moves by the positions before and after them, each with its annotation.
pub type LosingMoves = HashMap<(EvalKey, EvalKey), Annotation, FxBuildHasher>;

/// A graph with values and probabilities.
pub struct Examined<'a> {
    graph: &'a BookGraph,
    table: &'a EvalTable,
    confirming: Option<&'a ConfirmingSearches>,
    /// The evaluation of each position.
    known: Vec<Option<&'a Evaluation>>,
    reach: Probabilities,
    /// Whether play goes on in each position that it reaches.
    goes_on: Vec<bool>,
    values: Vec<Option<i32>>,
    /// The best known value of each position.
    best: Vec<Option<i32>>,
    /// Plies of the most probable path; odd if Black is to move.
    plies: Vec<u32>,
    policy: Policy,
}

/// A losing move of the graph: position, index of the move, its value, its probability.
type Losing = (NodeId, usize, MoveComparison, f64);

impl<'a> Examined<'a> {
    /// Backs values up through a book and adds probabilities.
    ///
    /// A `deep` evaluation is the value of its position, whatever follows it in the book.
    #[must_use]
    pub fn new(
        graph: &'a BookGraph,
        table: &'a EvalTable,
        policy: Policy,
        confirming: Option<&'a ConfirmingSearches>,
    ) -> Examined<'a> {
        let mut goes_on = vec![false; graph.len()];
        let mut weighing = Weighing::default();
        let reach = graph.probabilities(|node, shares| {
            let verdicts = weighing.weigh(graph, node, &policy);
            shares.extend(verdicts.iter().map(|verdict| verdict.probability));
            goes_on[node as usize] = shares.iter().any(|played| *played > 0.0);
        });
        let mut plies = vec![u32::MAX; graph.len()];
        for &node in reach.order() {
            let before = reach
                .before(node)
                .and_then(|before| plies.get(before as usize));
            plies[node as usize] = before.map_or(0, |ply| ply.saturating_add(1));
        }
        let mut examined = Examined {
            graph,
            table,
            confirming,
            known: graph.known(table),
            reach,
            goes_on,
            values: Vec::new(),
            best: Vec::new(),
            plies,
            policy,
        };
        examined.values = graph.values_given(&graph.leaving(table), |node| {
            let deep = examined.deep_of(node)?;
            Some(deep.value.clamped(Color::White))
        });
        examined.best = graph.nodes().map(|node| examined.best_of(node)).collect();
        examined
    }

    /// The evaluation of a canonical board, if it is deep.
    fn deep(&self, key: EvalKey) -> Option<&'a Evaluation> {
        let confirming = self.confirming?;
        let known = self.table.canonical(key)?;
        confirming.confirms(key, known).then_some(known)
    }

    /// The evaluation of a position, if it is deep.
    fn deep_of(&self, node: NodeId) -> Option<&'a Evaluation> {
        let confirming = self.confirming?;
        let known = self.known[node as usize]?;
        confirming
            .confirms(self.graph.key(node), known)
            .then_some(known)
    }

    /// Whether the evaluation of a position is deep, or need not be.
    fn is_confirmed(&self, node: NodeId) -> bool {
        self.confirming.is_none() || self.deep_of(node).is_some()
    }

    /// Whether the evaluations of position, move and better move are deep, or need not
    /// be.
    fn is_searched(&self, node: NodeId, mv: &GraphMove) -> bool {
        let better = || self.better(node).map(|(_, key)| key);
        self.confirming.is_none()
            || (self.is_confirmed(node)
                && self.is_confirmed(mv.to)
                && better().is_none_or(|key| self.deep(key).is_some()))
    }

    /// Those positions of a losing move that have not been searched twice: before it,
    /// after it, and after the better move.
    fn not_searched_twice(&self, node: NodeId, mv: &GraphMove) -> Vec<(EvalKey, Chess)> {
        let Some(confirming) = self.confirming else {
            return Vec::new();
        };
        let mut positions = vec![self.canonical(node), self.canonical(mv.to)];
        positions.extend(self.better(node).map(|(after, key)| (key, after)));
        positions.retain(|&(key, _)| {
            let known = self.table.canonical(key);
            !known.is_some_and(|known| confirming.is_second(key, known))
        });
        positions
    }

    /// Whether a move may be marked: position, move and better move are confirmed by a
    /// second search, or need not be.
    fn may_mark(&self, node: NodeId, mv: &GraphMove) -> bool {
        self.is_searched(node, mv) && self.not_searched_twice(node, mv).is_empty()
    }

    /// Whether a move loses more than `max_loss`, by a margin if losses are confirmed.
    fn is_losing(
        &self,
        node: NodeId,
        mv: &GraphMove,
        comparison: MoveComparison,
        max_loss: u32,
    ) -> bool {
        let is_clear =
            |confirming: &ConfirmingSearches| comparison.loss() > confirming.limit(max_loss);
        comparison.loss() > max_loss
            && (self.confirming.is_none_or(is_clear) || !self.is_searched(node, mv))
    }

    /// The side to move; White in unreachable positions.
    fn turn(&self, node: NodeId) -> Color {
        let ply = self.plies[node as usize];
        Color::from_white(ply == u32::MAX || ply.is_multiple_of(2))
    }

    fn value(&self, node: NodeId) -> Option<i32> {
        self.values[node as usize]
    }

    /// The best known value of a position. Its own evaluation of moves is part of the
    /// backed-up value; for a book move the position after it has the better evaluation.
    /// The value of a deep evaluation and that after its best move are two estimates of
    /// the same value: the lower one is used, so that no move seems to lose because of an
    /// error in one of them.
    fn best_of(&self, node: NodeId) -> Option<i32> {
        if self.deep_of(node).is_some() {
            let value = self.value(node)?;
            let better = self.better(node);
            let after = better.and_then(|(_, key)| self.deep(key));
            return Some(
                after.map_or(value, |after| value.min(-after.value.clamped(Color::White))),
            );
        }
        let own = self.known[node as usize];
        let own = own.filter(|known| known.moves.is_empty());
        let own = own.map(|known| known.value.clamped(Color::White));
        own.max(self.value(node))
    }

    /// The best known move of a position: the position after it, and its key.
    fn better(&self, node: NodeId) -> Option<(Chess, EvalKey)> {
        let own = self.known[node as usize];
        let named = own.and_then(|known| known.moves.first());
        let best = match (self.deep_of(node), named) {
            (Some(_), Some(named)) => named.mv,
            _ => {
                let moves = self.graph.moves(node);
                let of_book = moves
                    .iter()
                    .filter_map(|entry| Some((-self.value(entry.to)?, entry.mv)));
                let is_other = |entry: &&MoveValue| moves.iter().all(|known| known.mv != entry.mv);
                let others = own.into_iter().flat_map(|known| &known.moves);
                let others = others
                    .filter(is_other)
                    .map(|known| (known.value.clamped(Color::White), known.mv));
                of_book.chain(others).max_by_key(|(value, _)| *value)?.1
            }
        };
        let position = self.graph.position(node);
        let after = notation::after(&position, best.to_move(&position).ok()?);
        let key = EvalKey::from_position(&after);
        Some((after, key))
    }

    fn comparison(&self, node: NodeId, mv: &GraphMove) -> Option<MoveComparison> {
        let value = -self.value(mv.to)?;
        let best = self.best[node as usize]?.max(value);
        Some(MoveComparison { best, value })
    }

    /// Moves that lose more than `max_loss` centipawns against the best, by the positions
    /// before and after them, each with its annotation.
    #[must_use]
    pub fn losing_moves(&self, max_loss: u32) -> LosingMoves {
        let mut found = LosingMoves::default();
        for node in self.graph.nodes() {
            for mv in self.graph.moves(node) {
                let comparison = self
                    .comparison(node, mv)
                    .filter(|comparison| comparison.loss() > max_loss);
                if let Some(comparison) = comparison {
                    let annotation = annotation_of(comparison).unwrap_or(Annotation::DUBIOUS);
                    found.insert((self.graph.key(node), self.graph.key(mv.to)), annotation);
                }
            }
        }
        found
    }

    /// Moves that lose more than `max_loss`, with their probabilities.
    fn losing(&self, max_loss: u32) -> Vec<Losing> {
        let mut found = Vec::new();
        let mut weighing = Weighing::default();
        for node in self.graph.nodes() {
            let moves = self.graph.moves(node);
            let mut losing: Vec<(usize, MoveComparison)> = Vec::new();
            for (n, mv) in moves.iter().enumerate() {
                let comparison = self.comparison(node, mv);
                let comparison =
                    comparison.filter(|comparison| self.is_losing(node, mv, *comparison, max_loss));
                losing.extend(comparison.map(|comparison| (n, comparison)));
            }
            if losing.is_empty() {
                continue;
            }
            let here = self.reach.probability[node as usize];
            let played = match here > 0.0 {
                true => weighing.weigh(self.graph, node, &self.policy),
                false => &[],
            };
            for (n, comparison) in losing {
                let share = played.get(n).map_or(0.0, |verdict| verdict.probability);
                found.push((node, n, comparison, here * share));
            }
        }
        found.sort_by(|a, b| {
            let weight =
                |comparison: &MoveComparison, likely: f64| f64::from(comparison.loss()) * likely;
            weight(&b.2, b.3)
                .total_cmp(&weight(&a.2, a.3))
                .then(b.2.loss().cmp(&a.2.loss()))
                .then(a.0.cmp(&b.0))
        });
        found
    }

    fn mark_of(&self, mv: &GraphMove) -> Mark {
        self.graph
            .record(mv.to)
            .map_or(Mark::None, tabia_book::PositionRecord::mark)
    }

    /// Whether the side to move is one of those that are checked.
    fn is_wanted(&self, options: &AuditOptions, node: NodeId) -> bool {
        options.side.is_none_or(|side| side == self.turn(node))
    }

    /// Losing moves that the book does not mark as bad, and green ones.
    fn unmarked_losing(&self, losing: &[Losing], options: &AuditOptions) -> Vec<Losing> {
        let is_news = |&&(node, n, ..): &&Losing| {
            let entry = &self.graph.moves(node)[n];
            let mark = self.mark_of(entry);
            let is_known = mark == Mark::Avoid || entry.annotation.is_doubtful();
            self.is_wanted(options, node) && (!is_known || mark == Mark::Main)
        };
        losing.iter().filter(is_news).copied().collect()
    }

    /// Moves that refute losing moves and have no mark: each with its position, and the
    /// lowest loss of the other moves.
    fn refutations(
        &self,
        losing: &[Losing],
        options: &AuditOptions,
    ) -> Vec<(NodeId, &'a GraphMove, MoveComparison, u32)> {
        let mut visited = HashSet::new();
        let mut found = Vec::new();
        for &(before, n, ..) in losing {
            let node = self.graph.moves(before)[n].to;
            if !self.is_wanted(options, node) || !visited.insert(node) {
                continue;
            }
            let moves = self.graph.moves(node);
            let known: Vec<(&GraphMove, MoveComparison)> = moves
                .iter()
                .filter_map(|mv| Some((mv, self.comparison(node, mv)?)))
                .collect();
            let Some(&(best, comparison)) =
                known.iter().min_by_key(|(_, comparison)| comparison.loss())
            else {
                continue;
            };
            let others = known.iter().filter(|(entry, _)| entry.mv != best.mv);
            let others_lose = others
                .map(|(_, comparison)| comparison.loss())
                .min()
                .unwrap_or(0);
            let is_marked =
                self.mark_of(best) == Mark::Main || matches!(best.annotation.nag(), 1 | 3 | 8);
            if !is_marked && comparison.loss() <= options.max_loss && others_lose > options.max_loss
            {
                found.push((node, best, comparison, others_lose));
            }
        }
        found
    }

    /// The ends of play: position, value, probability.
    fn ends(&self) -> Vec<(NodeId, i32, f64)> {
        let mut ends = Vec::new();
        for &node in self.reach.order() {
            let likely = self.reach.probability[node as usize];
            if likely <= 0.0 || (!self.graph.moves(node).is_empty() && self.goes_on[node as usize])
            {
                continue;
            }
            // If play ends although the book has moves, these are never played.
            let own = self.known[node as usize];
            let own = own.map(|known| known.value.clamped(Color::White));
            ends.extend(own.or(self.value(node)).map(|value| (node, value, likely)));
        }
        ends
    }

    /// The ends that are bad for the side to move, the costliest first.
    fn bad_ends(
        &self,
        ends: &[(NodeId, i32, f64)],
        options: &AuditOptions,
    ) -> Vec<(NodeId, i32, f64)> {
        let is_bad = |&&(node, value, _): &&(NodeId, i32, f64)| {
            let confirming = self.confirming.filter(|_| self.is_confirmed(node));
            let limit = confirming.map_or(options.max_loss, |confirming| {
                confirming.limit(options.max_loss)
            });
            self.is_wanted(options, node) && value < -limit.cast_signed()
        };
        let mut bad: Vec<_> = ends.iter().filter(is_bad).copied().collect();
        let cost = |end: &(NodeId, i32, f64)| -f64::from(end.1) * end.2;
        bad.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        bad
    }

    /// The positions whose evaluations decide the first `top` findings of each kind and
    /// are not deep, on canonical boards. With `symbols`, also positions whose symbol
    /// would show a clear or decisive advantage.
    pub(super) fn unconfirmed(
        &self,
        options: &AuditOptions,
        top: usize,
        symbols: bool,
    ) -> Vec<(EvalKey, Chess)> {
        let mut wanted = Vec::new();
        let all_losing = self.losing(options.max_loss);
        for &(node, n, ..) in self.unmarked_losing(&all_losing, options).iter().take(top) {
            wanted.extend([node, self.graph.moves(node)[n].to].map(|node| self.canonical(node)));
            // After a deep search the best move may be another one.
            if self.deep_of(node).is_some() {
                wanted.extend(self.better(node).map(|(after, key)| (key, after)));
            }
        }
        for (node, ..) in self.refutations(&all_losing, options).into_iter().take(top) {
            let after = self.graph.moves(node).iter().map(|mv| mv.to);
            wanted.extend(after.chain([node]).map(|node| self.canonical(node)));
        }
        let bad = self.bad_ends(&self.ends(), options);
        wanted.extend(bad.iter().take(top).map(|(node, ..)| self.canonical(*node)));
        if symbols {
            let decided = self.graph.nodes().filter(|&node| {
                let value = self.value(node).map(symbol_of);
                self.graph.record(node).is_some() && value.is_some_and(is_decisive)
            });
            let mut decided: Vec<NodeId> = decided.collect();
            let likely = |node: &NodeId| self.reach.probability[*node as usize];
            decided.sort_by(|a, b| likely(b).total_cmp(&likely(a)));
            wanted.extend(decided.iter().take(top).map(|node| self.canonical(*node)));
        }
        let mut visited = HashSet::new();
        wanted.retain(|(key, _)| self.deep(*key).is_none() && visited.insert(*key));
        wanted
    }

    /// The positions to be searched a second time: those of the first `top` moves that
    /// still lose after the first search.
    pub(super) fn searched_once(
        &self,
        options: &AuditOptions,
        top: usize,
    ) -> Vec<(EvalKey, Chess)> {
        let all_losing = self.losing(options.max_loss);
        let first = self.unmarked_losing(&all_losing, options).into_iter();
        let moves = first
            .take(top)
            .map(|(node, n, ..)| (node, &self.graph.moves(node)[n]));
        moves
            .filter(|(node, mv)| self.is_searched(*node, mv))
            .flat_map(|(node, mv)| self.not_searched_twice(node, mv))
            .collect()
    }

    fn canonical(&self, node: NodeId) -> (EvalKey, Chess) {
        (self.graph.key(node), self.graph.position(node))
    }
}

/// The symbol for a value from the view of White, who is to move.
fn symbol_of(value: i32) -> u8 {
    annotation::of_position(Value::cp_of_mover(Color::White, value))
}

/// Whether a symbol (a NAG) means a clear or decisive advantage.
const fn is_decisive(nag: u8) -> bool {
    matches!(nag, 16..=19)
}

fn annotation_of(comparison: MoveComparison) -> Option<Annotation> {
    annotation::of_move(
        Value::cp(comparison.best),
        Value::cp(comparison.value),
        Color::White,
    )
}
