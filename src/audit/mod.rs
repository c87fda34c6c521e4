//! What is wrong with a book, by the evaluations beside it.
//!
//! Values are those that [`crate::graph`] carries through the book: a move
//! loses what it is worth less than the best that is known in its position, in
//! the book or not. What matters most comes first: the loss times how likely
//! the adapter's own play comes to the move and makes it.

mod marks;
mod report;

pub use marks::{Marks, changes};
pub use report::{html, markdown};

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::{Color, Position as _};

use crate::book::Mark;
use crate::eval::{Value, sign};
use crate::evals::{EvalKey, EvalTable};
use crate::graph::{BookGraph, GraphMove, NodeId, Reach};
use crate::notation;
use crate::policy::Policy;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct AuditWishes {
    /// Centipawns that a move may lose, and that a line may end below zero.
    pub max_loss: u32,
    /// Whose moves and ends; `None` is both.
    pub side: Option<Color>,
    /// Findings of each kind that are told with their lines.
    pub told: usize,
}

/// A move that loses more than it may.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LosingMove {
    /// The line to it and itself, as players read it.
    pub line: String,
    /// The position that it is played in.
    pub fen: String,
    /// The move.
    pub san: String,
    /// Who plays it: `white` or `black`.
    pub side: &'static str,
    /// Centipawns for its player with the best that is known.
    pub best: i32,
    /// After it.
    pub value: i32,
    /// The difference.
    pub loss: u32,
    /// How likely play comes to it and makes it, 0 to 1.
    pub likelihood: f64,
    /// The sign that it deserves, if any.
    pub sign: &'static str,
    /// It is marked green.
    pub green: bool,
}

/// A line that ends badly for the side that has to go on without the book.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BadEnd {
    /// The line.
    pub line: String,
    /// Its last position.
    pub fen: String,
    /// Who is to move there.
    pub side: &'static str,
    /// Centipawns for that side.
    pub value: i32,
    /// How likely play comes there, 0 to 1.
    pub likelihood: f64,
}

/// A move that punishes an error, and that nothing in the book points out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refutation {
    /// The line to it and itself.
    pub line: String,
    /// The position that it is played in.
    pub fen: String,
    /// The move.
    pub san: String,
    /// Who plays it.
    pub side: &'static str,
    /// Centipawns for its player after it.
    pub value: i32,
    /// How much the likeliest other move of the book gives away.
    pub others_lose: u32,
    /// How likely play comes to the position, 0 to 1.
    pub likelihood: f64,
}

/// Values where the book ends, from the view of the side that is to move
/// there, by how likely play comes there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exits {
    /// How likely play ends with this side to move at a known value, 0 to 1.
    pub likelihood: f64,
    /// Mean of the values in centipawns.
    pub mean: f64,
    /// Share of them below -50 centipawns.
    pub below_50: f64,
    /// Share of them below -100.
    pub below_100: f64,
    /// Shares by 25 centipawns: the first below -275, the last from 275 up.
    pub histogram: Vec<f64>,
}

/// Bars of a histogram.
const BARS: usize = 24;
/// Centipawns of one.
const BAR: i32 = 25;

/// What was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Audit {
    /// Positions of the book.
    pub positions: usize,
    /// Those with an evaluation of their own.
    pub evaluated: usize,
    /// How likely a position that play comes to is evaluated, weighted by how
    /// likely it comes there.
    pub evaluated_share: f64,
    /// Value of the start position by all of this, in centipawns for White.
    pub start: Option<i32>,
    /// The limit.
    pub max_loss: u32,
    /// Moves that lose more, how many.
    pub losing_count: usize,
    /// How many of them are green.
    pub green_count: usize,
    /// Lines that end worse, how many.
    pub bad_end_count: usize,
    /// Refutations that nothing points out, how many.
    pub refutation_count: usize,
    /// The first of the moves.
    pub losing: Vec<LosingMove>,
    /// The first of the ends.
    pub bad_ends: Vec<BadEnd>,
    /// The first of the refutations.
    pub refutations: Vec<Refutation>,
    /// Exits with White to move.
    pub white_exits: Exits,
    /// Exits with Black to move.
    pub black_exits: Exits,
}

impl Audit {
    /// Whether anything is wrong.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.losing_count + self.bad_end_count + self.refutation_count == 0
    }
}

/// What a move of the graph is worth and loses.
#[derive(Clone, Copy, Debug)]
struct Worth {
    best: i32,
    value: i32,
}

impl Worth {
    const fn loss(self) -> u32 {
        self.best.abs_diff(self.value)
    }
}

/// A graph with all that is known of it.
pub struct Examined<'a> {
    graph: &'a BookGraph,
    table: &'a EvalTable,
    reach: Reach,
    values: Vec<Option<i32>>,
    /// Plies of the likeliest path; tells who is to move.
    plies: Vec<u32>,
    policy: Policy,
}

impl<'a> Examined<'a> {
    /// Carries values and likelihoods through a book.
    #[must_use]
    pub fn new(graph: &'a BookGraph, table: &'a EvalTable, policy: Policy) -> Examined<'a> {
        let reach = graph.reach_by(&policy);
        let values = graph.values(&graph.leaving(table));
        let mut plies = vec![u32::MAX; graph.len()];
        for &node in reach.order() {
            let before = reach
                .before(node)
                .and_then(|before| plies.get(before as usize));
            plies[node as usize] = before.map_or(0, |ply| ply.saturating_add(1));
        }
        Examined {
            graph,
            table,
            reach,
            values,
            plies,
            policy,
        }
    }

    /// Who is to move; White where play never comes.
    fn turn(&self, node: NodeId) -> Color {
        let ply = self.plies[node as usize];
        Color::from_white(ply == u32::MAX || ply.is_multiple_of(2))
    }

    fn value(&self, node: NodeId) -> Option<i32> {
        self.values[node as usize]
    }

    /// The best that is known of a position. What its own evaluation says of
    /// moves is part of what is carried to it: of a move of the book, the
    /// position after it knows better.
    fn best(&self, node: NodeId) -> Option<i32> {
        let own = self.table.canonical(self.graph.key(node));
        let own = own.filter(|known| known.moves.is_empty());
        let own = own.map(|known| known.value.clamped(Color::White));
        own.max(self.value(node))
    }

    fn worth(&self, node: NodeId, mv: &GraphMove) -> Option<Worth> {
        let value = -self.value(mv.to)?;
        let best = self.best(node)?.max(value);
        Some(Worth { best, value })
    }

    /// Moves that lose more than `max_loss` centipawns against the best, by the
    /// positions before and after them.
    #[must_use]
    pub fn losing_moves(&self, max_loss: u32) -> HashSet<(EvalKey, EvalKey), FxBuildHasher> {
        let mut found = HashSet::default();
        for node in self.graph.nodes() {
            for mv in self.graph.moves(node) {
                let worth = self.worth(node, mv);
                if worth.is_some_and(|worth| worth.loss() > max_loss) {
                    found.insert((self.graph.key(node), self.graph.key(mv.to)));
                }
            }
        }
        found
    }

    /// Moves that lose more than `max_loss`, with their likelihoods.
    fn losing(&self, max_loss: u32) -> Vec<(NodeId, usize, Worth, f64)> {
        let mut found = Vec::new();
        for node in self.graph.nodes() {
            let moves = self.graph.moves(node);
            let mut losing: Vec<(usize, Worth)> = Vec::new();
            for (n, mv) in moves.iter().enumerate() {
                let worth = self.worth(node, mv).filter(|worth| worth.loss() > max_loss);
                losing.extend(worth.map(|worth| (n, worth)));
            }
            if losing.is_empty() {
                continue;
            }
            let here = self.reach.probability[node as usize];
            let played = match here > 0.0 {
                true => self.graph.weighed(node, &self.policy),
                false => Vec::new(),
            };
            for (n, worth) in losing {
                let share = played.get(n).map_or(0.0, |verdict| verdict.probability);
                found.push((node, n, worth, here * share));
            }
        }
        found.sort_by(|a, b| {
            let weight = |worth: &Worth, likely: f64| f64::from(worth.loss()) * likely;
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
            .map_or(Mark::None, crate::book::PositionRecord::mark)
    }

    /// The line to a position, and the position at its end on the board of a
    /// game; one that play cannot come to stands alone.
    fn line_to(&self, node: NodeId) -> notation::Line {
        match self.reach.path(node) {
            Some(path) => self.graph.line(&path),
            None => notation::Line::from_start(self.graph.position(node)),
        }
    }

    /// The line to a move and itself; the position before it, and its name.
    fn line_of(&self, node: NodeId, mv: &GraphMove) -> (String, String, String) {
        let mut line = self.line_to(node);
        let fen = notation::fen(line.last());
        let Some(played) = self.graph.step(line.last(), mv.to) else {
            return (line.to_string(), fen, mv.mv.to_string());
        };
        let san = notation::san(line.last(), played);
        line.push(played);
        (line.to_string(), fen, san)
    }

    /// Looks for all that is wrong.
    #[must_use]
    pub fn audit(&self, wanted: &AuditWishes) -> Audit {
        let mut audit = Audit {
            positions: self.graph.in_book(),
            max_loss: wanted.max_loss,
            ..Audit::default()
        };
        let is_side = |node| wanted.side.is_none_or(|side| side == self.turn(node));
        let mut reached = 0.0;
        for node in self.graph.nodes() {
            let likely = self.reach.probability[node as usize];
            reached += likely;
            if self.table.canonical(self.graph.key(node)).is_some() {
                audit.evaluated += 1;
                audit.evaluated_share += likely;
            }
        }
        if reached > 0.0 {
            audit.evaluated_share /= reached;
        }
        let start = self.reach.order().first();
        audit.start = start.and_then(|start| self.value(*start));
        let losing = self.losing(wanted.max_loss);
        for &(node, n, worth, likelihood) in &losing {
            let mv = &self.graph.moves(node)[n];
            let mark = self.mark_of(mv);
            // Who made the book knows.
            let known = mark == Mark::Avoid || mv.annotation.is_doubtful();
            if !is_side(node) || (known && mark != Mark::Main) {
                continue;
            }
            audit.losing_count += 1;
            audit.green_count += usize::from(mark == Mark::Main);
            if audit.losing.len() < wanted.told {
                let (line, fen, san) = self.line_of(node, mv);
                audit.losing.push(LosingMove {
                    line,
                    fen,
                    san,
                    side: name(self.turn(node)),
                    best: worth.best,
                    value: worth.value,
                    loss: worth.loss(),
                    likelihood,
                    sign: sign_of(worth).map_or("", crate::book::Annotation::symbol),
                    green: mark == Mark::Main,
                });
            }
        }
        self.look_for_refutations(&losing, wanted, &mut audit);
        self.look_at_ends(wanted, &mut audit);
        audit
    }

    fn look_for_refutations(
        &self,
        losing: &[(NodeId, usize, Worth, f64)],
        wanted: &AuditWishes,
        audit: &mut Audit,
    ) {
        let mut seen = std::collections::HashSet::new();
        for &(before, n, ..) in losing {
            let node = self.graph.moves(before)[n].to;
            if wanted.side.is_some_and(|side| side != self.turn(node)) || !seen.insert(node) {
                continue;
            }
            let moves = self.graph.moves(node);
            let known: Vec<(&GraphMove, Worth)> = moves
                .iter()
                .filter_map(|mv| Some((mv, self.worth(node, mv)?)))
                .collect();
            let Some((best, worth)) = known.iter().min_by_key(|(_, worth)| worth.loss()) else {
                continue;
            };
            let others = known.iter().filter(|(mv, _)| mv.mv != best.mv);
            let others_lose = others.map(|(_, worth)| worth.loss()).min().unwrap_or(0);
            let is_marked =
                self.mark_of(best) == Mark::Main || matches!(best.annotation.nag(), 1 | 3 | 8);
            if is_marked || worth.loss() > wanted.max_loss || others_lose <= wanted.max_loss {
                continue;
            }
            audit.refutation_count += 1;
            if audit.refutations.len() < wanted.told {
                let (line, fen, san) = self.line_of(node, best);
                audit.refutations.push(Refutation {
                    line,
                    fen,
                    san,
                    side: name(self.turn(node)),
                    value: worth.value,
                    others_lose,
                    likelihood: self.reach.probability[node as usize],
                });
            }
        }
    }

    fn look_at_ends(&self, wanted: &AuditWishes, audit: &mut Audit) {
        let mut ends: Vec<(NodeId, i32, f64)> = Vec::new();
        for &node in self.reach.order() {
            let likely = self.reach.probability[node as usize];
            let goes_on = || {
                let played = self.graph.weighed(node, &self.policy);
                played.iter().any(|verdict| verdict.probability > 0.0)
            };
            if likely <= 0.0 || (!self.graph.moves(node).is_empty() && goes_on()) {
                continue;
            }
            // Where play ends though the book has moves, they are not played.
            let own = self.table.canonical(self.graph.key(node));
            let own = own.map(|known| known.value.clamped(Color::White));
            let Some(value) = own.or(self.value(node)) else {
                continue;
            };
            let exits = match self.turn(node) {
                Color::White => &mut audit.white_exits,
                Color::Black => &mut audit.black_exits,
            };
            exits.add(value, likely);
            if wanted.side.is_none_or(|side| side == self.turn(node))
                && value < -wanted.max_loss.cast_signed()
            {
                ends.push((node, value, likely));
            }
        }
        audit.white_exits.finish();
        audit.black_exits.finish();
        audit.bad_end_count = ends.len();
        ends.sort_by(|a, b| {
            let cost = |end: &(NodeId, i32, f64)| -f64::from(end.1) * end.2;
            cost(b).total_cmp(&cost(a))
        });
        for &(node, value, likelihood) in ends.iter().take(wanted.told) {
            let line = self.line_to(node);
            audit.bad_ends.push(BadEnd {
                fen: notation::fen(line.last()),
                side: name(line.last().turn()),
                line: line.to_string(),
                value,
                likelihood,
            });
        }
    }
}

impl Exits {
    fn add(&mut self, value: i32, likely: f64) {
        self.histogram.resize(BARS, 0.0);
        self.likelihood += likely;
        self.mean += likely * f64::from(value);
        self.below_50 += if value < -50 { likely } else { 0.0 };
        self.below_100 += if value < -100 { likely } else { 0.0 };
        let bar = (value.div_euclid(BAR) + BARS as i32 / 2).clamp(0, BARS as i32 - 1);
        self.histogram[bar as usize] += likely;
    }

    fn finish(&mut self) {
        if self.likelihood <= 0.0 {
            return;
        }
        let sum = self.likelihood;
        let figures = [&mut self.mean, &mut self.below_50, &mut self.below_100];
        for figure in figures.into_iter().chain(&mut self.histogram) {
            *figure /= sum;
        }
    }
}

fn sign_of(worth: Worth) -> Option<crate::book::Annotation> {
    sign::of_move(Value::cp(worth.best), Value::cp(worth.value), Color::White)
}

const fn name(side: Color) -> &'static str {
    match side {
        Color::White => "white",
        Color::Black => "black",
    }
}
