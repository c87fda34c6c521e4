//! Describes the findings of an audit: lines in SAN, values with their searches, and the
//! values at the ends of the book.

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};

use super::{AuditOptions, Examined, Losing, MoveComparison, annotation_of};
use crate::graph::{GraphMove, NodeId};
use tabia_book::evals::EvalKey;
use tabia_book::{Annotation, Mark};
use tabia_notation as notation;

/// A value, and the search that found it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchedValue {
    /// Centipawns from the view of the player of the finding.
    pub value: i32,
    /// Nodes of the search, if known.
    pub nodes: Option<u64>,
    /// Depth of the search in plies, if known.
    pub depth: Option<u16>,
    /// The engine or collection that the value is from, if known.
    pub engine: Option<String>,
}

/// A move on the board of a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayedMove {
    /// The line up to and including the move.
    pub line: String,
    /// The position before the move.
    pub fen: String,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// Its player: `white` or `black`.
    pub side: &'static str,
}

/// A move that loses more than the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LosingMove {
    #[serde(flatten)]
    pub played: PlayedMove,
    /// The best known move in its place.
    pub better: Option<String>,
    /// The better move in UCI notation.
    pub better_uci: Option<String>,
    /// Best known value in centipawns for its player.
    pub best: i32,
    /// Value after the move in centipawns for its player.
    pub value: i32,
    /// The difference in centipawns.
    pub loss: u32,
    /// The probability that play reaches and plays it, 0 to 1.
    pub likelihood: f64,
    /// The annotation for the move, if any.
    pub sign: &'static str,
    /// Whether it is marked green.
    pub green: bool,
    /// Whether position, move and better move all have a search as long as a confirmation
    /// takes.
    pub confirmed: bool,
    /// The search of the position.
    pub position_search: Option<SearchedValue>,
    /// The search of the position after the move.
    pub move_search: Option<SearchedValue>,
    /// The search of the position after the better move.
    pub better_search: Option<SearchedValue>,
}

/// A line that ends badly for the side that must go on without the book.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BadEnd {
    pub line: String,
    /// Its last position.
    pub fen: String,
    /// The side to move there.
    pub side: &'static str,
    /// Centipawns for that side.
    pub value: i32,
    /// The probability that play reaches it, 0 to 1.
    pub likelihood: f64,
    /// Whether the position has a search as long as a confirmation takes.
    pub confirmed: bool,
    /// That search.
    pub position_search: Option<SearchedValue>,
}

/// A move that refutes an error and has no mark in the book.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refutation {
    #[serde(flatten)]
    pub played: PlayedMove,
    /// Value after it in centipawns for its player.
    pub value: i32,
    /// The lowest loss of the other moves of the book, in centipawns.
    pub others_lose: u32,
    /// The probability that play reaches the position, 0 to 1.
    pub likelihood: f64,
    /// Whether the position and those after all its book moves have searches as long as a
    /// confirmation takes.
    pub confirmed: bool,
}

/// Values at the ends of the book, from the view of the side to move there, weighted by
/// the probability that play reaches them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exits {
    /// The probability that play ends with this side to move and a known value, 0 to 1.
    pub likelihood: f64,
    /// Mean of the values in centipawns.
    pub mean: f64,
    /// Share of values below -50 centipawns.
    pub below_50: f64,
    /// Share of values below -100 centipawns.
    pub below_100: f64,
    /// Shares in steps of 25 centipawns: the first below -275, the last from 275 up.
    pub histogram: Vec<f64>,
}

/// Bars of a histogram.
const BARS: usize = 24;
/// Width of a bar in centipawns.
pub const BAR: i32 = 25;

/// The findings of an audit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Audit {
    /// Positions of the book.
    pub positions: usize,
    /// Positions with their own evaluation.
    pub evaluated: usize,
    /// Share of reached positions with an evaluation, weighted by the probability of
    /// each.
    pub evaluated_share: f64,
    /// Backed-up value of the start position, in centipawns for White.
    pub start: Option<i32>,
    /// The limit of the loss in centipawns.
    pub max_loss: u32,
    /// Nodes of a search that confirms a finding, if confirmation was requested.
    pub confirmation_nodes: Option<u64>,
    /// Confirming searches without an answer, if confirmation was requested.
    pub unanswered_searches: Option<usize>,
    /// Number of moves that lose more than the limit.
    pub losing_count: usize,
    /// Number of losing moves that are green.
    pub green_count: usize,
    /// Number of losing moves that were confirmed, if that was requested.
    pub confirmed_count: Option<usize>,
    /// Number of lines that end below the limit.
    pub bad_end_count: usize,
    /// Number of refutations without a mark.
    pub refutation_count: usize,
    /// The first of the moves.
    pub losing: Vec<LosingMove>,
    /// The first of the ends.
    pub bad_ends: Vec<BadEnd>,
    /// The first of the refutations.
    pub refutations: Vec<Refutation>,
    /// Ends with White to move; `None` if none has a known value.
    pub white_exits: Option<Exits>,
    /// Ends with Black to move.
    pub black_exits: Option<Exits>,
}

impl Audit {
    /// Whether there are findings.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.losing_count + self.bad_end_count + self.refutation_count == 0
    }
}

impl<'a> Examined<'a> {
    /// Makes the description of all findings.
    #[must_use]
    pub fn audit(&self, options: &AuditOptions) -> Audit {
        let mut audit = Audit {
            positions: self.graph.in_book(),
            max_loss: options.max_loss,
            confirmation_nodes: self.confirming.map(|confirming| confirming.nodes),
            unanswered_searches: self.confirming.map(|confirming| confirming.unanswered),
            ..Audit::default()
        };
        let mut reached = 0.0;
        for node in self.graph.nodes() {
            let likely = self.reach.probability[node as usize];
            reached += likely;
            if self.known[node as usize].is_some() {
                audit.evaluated += 1;
                audit.evaluated_share += likely;
            }
        }
        if reached > 0.0 {
            audit.evaluated_share /= reached;
        }
        let start = self.reach.order().first();
        audit.start = start.and_then(|start| self.value(*start));

        let all_losing = self.losing(options.max_loss);
        let losing = self.unmarked_losing(&all_losing, options);
        audit.losing_count = losing.len();
        let is_green =
            |&&(node, n, ..): &&Losing| self.mark_of(&self.graph.moves(node)[n]) == Mark::Main;
        audit.green_count = losing.iter().filter(is_green).count();
        audit.confirmed_count = self.confirming.map(|_| {
            let may_mark =
                |&&(node, n, ..): &&Losing| self.may_mark(node, &self.graph.moves(node)[n]);
            losing.iter().filter(may_mark).count()
        });
        let described = losing.iter().take(options.described);
        audit.losing = described.map(|found| self.describe_losing(found)).collect();

        let refutations = self.refutations(&all_losing, options);
        audit.refutation_count = refutations.len();
        let described = refutations.iter().take(options.described);
        audit.refutations = described
            .map(|found| self.describe_refutation(found))
            .collect();

        let ends = self.ends();
        let (mut white_exits, mut black_exits) = (Exits::default(), Exits::default());
        for &(node, value, likely) in &ends {
            let exits = match self.turn(node) {
                Color::White => &mut white_exits,
                Color::Black => &mut black_exits,
            };
            exits.add(value, likely);
        }
        audit.white_exits = white_exits.finish();
        audit.black_exits = black_exits.finish();
        let bad = self.bad_ends(&ends, options);
        audit.bad_end_count = bad.len();
        let described = bad.iter().take(options.described);
        audit.bad_ends = described.map(|found| self.describe_end(found)).collect();
        audit
    }

    fn describe_losing(&self, &(node, n, comparison, likelihood): &Losing) -> LosingMove {
        let mv = &self.graph.moves(node)[n];
        let (played, before) = self.line_of(node, mv);
        let here = self.graph.key(node);
        // An engine may name the same move as best whose position it then finds worse:
        // that is not a better move.
        let better_key = self.better(node).map(|(_, key)| key);
        let better_key = better_key.filter(|key| *key != self.graph.key(mv.to));
        let shown = better_key.and_then(|key| step_to_key(&before, key));
        LosingMove {
            played,
            better: shown.map(|mv| notation::san(&before, mv)),
            better_uci: shown.map(uci),
            best: comparison.best,
            value: comparison.value,
            loss: comparison.loss(),
            likelihood,
            sign: annotation_of(comparison).map_or("", Annotation::symbol),
            green: self.mark_of(mv) == Mark::Main,
            confirmed: self.confirming.is_some() && self.may_mark(node, mv),
            position_search: self.search_of(here, 1),
            move_search: self.search_of(self.graph.key(mv.to), -1),
            better_search: better_key.and_then(|key| self.search_of(key, -1)),
        }
    }

    fn describe_refutation(
        &self,
        &(node, mv, comparison, others_lose): &(NodeId, &'a GraphMove, MoveComparison, u32),
    ) -> Refutation {
        let after = self.graph.moves(node).iter().map(|mv| mv.to);
        Refutation {
            played: self.line_of(node, mv).0,
            value: comparison.value,
            others_lose,
            likelihood: self.reach.probability[node as usize],
            confirmed: after.chain([node]).all(|node| self.deep_of(node).is_some()),
        }
    }

    fn describe_end(&self, &(node, value, likelihood): &(NodeId, i32, f64)) -> BadEnd {
        let line = self.line_to(node);
        let key = self.graph.key(node);
        BadEnd {
            fen: notation::fen(line.last()),
            side: line.last().turn().fold_wb("white", "black"),
            line: line.to_string(),
            value,
            likelihood,
            confirmed: self.deep(key).is_some(),
            position_search: self.search_of(key, 1),
        }
    }

    /// The evaluation of a canonical board, times `sign`.
    fn search_of(&self, key: EvalKey, sign: i32) -> Option<SearchedValue> {
        let known = self.table.canonical(key)?;
        Some(SearchedValue {
            value: sign * known.value.clamped(Color::White),
            nodes: Some(known.nodes).filter(|nodes| *nodes > 0),
            depth: Some(known.depth).filter(|depth| ![0, u16::MAX].contains(depth)),
            engine: Some(known.source.to_string()).filter(|name| !name.is_empty()),
        })
    }

    /// The line to a position, and its last position on the board of a game; an
    /// unreachable position is alone.
    fn line_to(&self, node: NodeId) -> notation::Line {
        match self.reach.path(node) {
            Some(path) => self.graph.line(&path),
            None => notation::Line::from_start(self.graph.position(node)),
        }
    }

    /// A move with the line to it, and its position.
    fn line_of(&self, node: NodeId, entry: &GraphMove) -> (PlayedMove, Chess) {
        let mut line = self.line_to(node);
        let before = line.last().clone();
        let played = self.graph.step(&before, entry.to);
        played.into_iter().for_each(|played| line.push(played));
        let stored = || entry.mv.to_string();
        let played = PlayedMove {
            line: line.to_string(),
            fen: notation::fen(&before),
            san: played.map_or_else(stored, |played| notation::san(&before, played)),
            uci: played.map_or_else(stored, uci),
            side: self.turn(node).fold_wb("white", "black"),
        };
        (played, before)
    }
}

/// The move from a position to one with this key.
fn step_to_key(position: &Chess, key: EvalKey) -> Option<Move> {
    let mut legal = position.legal_moves().into_iter();
    legal.find(|mv| EvalKey::from_position(&notation::after(position, *mv)) == key)
}

fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Standard).to_string()
}

impl Exits {
    /// The bars of the histogram: the lower end of each in centipawns, and its share. The
    /// first has no lower end, the last no upper one.
    pub fn bars(&self) -> impl Iterator<Item = (i32, f64)> {
        let begin = |bar: usize| (bar as i32 - BARS as i32 / 2) * BAR;
        let shares = self.histogram.iter().enumerate();
        shares.map(move |(bar, share)| (begin(bar), *share))
    }

    fn add(&mut self, value: i32, likely: f64) {
        self.histogram.resize(BARS, 0.0);
        self.likelihood += likely;
        self.mean += likely * f64::from(value);
        self.below_50 += if value < -50 { likely } else { 0.0 };
        self.below_100 += if value < -100 { likely } else { 0.0 };
        let bar = (value.div_euclid(BAR) + BARS as i32 / 2).clamp(0, BARS as i32 - 1);
        self.histogram[bar as usize] += likely;
    }

    /// Computes the means; `None` without any value.
    fn finish(mut self) -> Option<Exits> {
        if self.likelihood <= 0.0 {
            return None;
        }
        let sum = self.likelihood;
        let figures = [&mut self.mean, &mut self.below_50, &mut self.below_100];
        for figure in figures.into_iter().chain(&mut self.histogram) {
            *figure /= sum;
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_are_weighed_by_how_often_play_ends_there() {
        assert_eq!(Exits::default().finish(), None);
        let mut exits = Exits::default();
        for (value, likely) in [(-400, 0.1), (-60, 0.1), (10, 0.1), (20, 0.1), (300, 0.4)] {
            exits.add(value, likely);
        }
        let exits = exits.finish().unwrap();
        let is = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found}");
        is(exits.likelihood, 0.8);
        is(exits.mean, 96.25);
        is(exits.below_50, 0.25);
        is(exits.below_100, 0.125);
        let bars: Vec<(i32, f64)> = exits.bars().filter(|(_, share)| *share > 0.0).collect();
        assert_eq!(
            bars.iter().map(|bar| bar.0).collect::<Vec<_>>(),
            [-300, -75, 0, 275]
        );
        is(bars[2].1, 0.25);
        is(bars[3].1, 0.5);
    }
}
