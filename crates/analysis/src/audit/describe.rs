//! What an audit found, described: lines as players read them, values with their
//! searches, and what the book is worth where it ends.

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};

use super::{AuditOptions, Examined, Losing, Worth, sign_of};
use crate::graph::{GraphMove, NodeId};
use tabia_book::evals::EvalKey;
use tabia_book::{Annotation, Mark};
use tabia_notation as notation;

/// A value, and the search that it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchedValue {
    /// Centipawns from the view of the player that the finding is about.
    pub value: i32,
    /// Nodes of the search, if known.
    pub nodes: Option<u64>,
    /// Depth of the search in plies, if known.
    pub depth: Option<u16>,
    /// The engine or collection that the value comes from, if known.
    pub engine: Option<String>,
}

/// A move on the board of a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayedMove {
    /// The line to it and itself, as players read it.
    pub line: String,
    /// The position that it is played in.
    pub fen: String,
    /// The move.
    pub san: String,
    /// The same as UCI has it.
    pub uci: String,
    /// Who plays it: `white` or `black`.
    pub side: &'static str,
}

/// A move that loses more than it may.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LosingMove {
    /// The move.
    #[serde(flatten)]
    pub played: PlayedMove,
    /// The best move that is known in its place.
    pub better: Option<String>,
    /// The same as UCI has it.
    pub better_uci: Option<String>,
    /// Centipawns for its player with the best that is known.
    pub best: i32,
    /// After it.
    pub value: i32,
    /// The difference.
    pub loss: u32,
    /// How likely play comes to it and makes it, 0 to 1.
    pub likelihood: f64,
    /// The annotation that it deserves, if any.
    pub sign: &'static str,
    /// It is marked green.
    pub green: bool,
    /// Position, move and better move have all been searched for as long as a
    /// confirmation takes.
    pub confirmed: bool,
    /// What a search of the position says.
    pub position_search: Option<SearchedValue>,
    /// What a search of the position after the move says.
    pub move_search: Option<SearchedValue>,
    /// What a search of the position after the better move says.
    pub better_search: Option<SearchedValue>,
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
    /// The position has been searched for as long as a confirmation takes.
    pub confirmed: bool,
    /// What that search says.
    pub position_search: Option<SearchedValue>,
}

/// A move that punishes an error, and that nothing in the book points out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refutation {
    /// The move.
    #[serde(flatten)]
    pub played: PlayedMove,
    /// Centipawns for its player after it.
    pub value: i32,
    /// How much the other moves of the book give away at least.
    pub others_lose: u32,
    /// How likely play comes to the position, 0 to 1.
    pub likelihood: f64,
    /// The position and all that moves of the book lead to have been searched
    /// for as long as a confirmation takes.
    pub confirmed: bool,
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
pub(super) const BARS: usize = 24;
/// Centipawns of one.
pub(super) const BAR: i32 = 25;

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
    /// Nodes of a search that confirms a finding, where that was asked for.
    pub confirmation_nodes: Option<u64>,
    /// Searches that were to confirm and got no answer, where that was asked for.
    pub unanswered_searches: Option<usize>,
    /// Moves that lose more, how many.
    pub losing_count: usize,
    /// How many of them are green.
    pub green_count: usize,
    /// How many of them are confirmed, where that was asked for.
    pub confirmed_count: Option<usize>,
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
    /// Exits with White to move; `None` if no value of one is known.
    pub white_exits: Option<Exits>,
    /// Exits with Black to move.
    pub black_exits: Option<Exits>,
}

impl Audit {
    /// Whether anything is wrong.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.losing_count + self.bad_end_count + self.refutation_count == 0
    }
}

impl<'a> Examined<'a> {
    /// Looks for all that is wrong.
    #[must_use]
    pub fn audit(&self, options: &AuditOptions) -> Audit {
        let mut audit = Audit {
            positions: self.graph.in_book(),
            max_loss: options.max_loss,
            confirmation_nodes: self.deep.map(|deep| deep.nodes),
            unanswered_searches: self.deep.map(|deep| deep.unanswered),
            ..Audit::default()
        };
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

        let all_losing = self.losing(options.max_loss);
        let losing = self.unmarked_losing(&all_losing, options);
        audit.losing_count = losing.len();
        let is_green =
            |&&(node, n, ..): &&Losing| self.mark_of(&self.graph.moves(node)[n]) == Mark::Main;
        audit.green_count = losing.iter().filter(is_green).count();
        audit.confirmed_count = self.deep.map(|_| {
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

    fn describe_losing(&self, &(node, n, worth, likelihood): &Losing) -> LosingMove {
        let mv = &self.graph.moves(node)[n];
        let (played, before) = self.line_of(node, mv);
        let here = self.graph.key(node);
        // An engine may name the very move whose position it then finds worse: that is
        // no better one.
        let better_key = self.better(node).map(|(_, key)| key);
        let better_key = better_key.filter(|key| *key != self.graph.key(mv.to));
        let shown = better_key.and_then(|key| step_to_key(&before, key));
        LosingMove {
            played,
            better: shown.map(|mv| notation::san(&before, mv)),
            better_uci: shown.map(uci),
            best: worth.best,
            value: worth.value,
            loss: worth.loss(),
            likelihood,
            sign: sign_of(worth).map_or("", Annotation::symbol),
            green: self.mark_of(mv) == Mark::Main,
            confirmed: self.deep.is_some() && self.may_mark(node, mv),
            position_search: self.search_of(here, 1),
            move_search: self.search_of(self.graph.key(mv.to), -1),
            better_search: better_key.and_then(|key| self.search_of(key, -1)),
        }
    }

    fn describe_refutation(
        &self,
        &(node, mv, worth, others_lose): &(NodeId, &'a GraphMove, Worth, u32),
    ) -> Refutation {
        let after = self.graph.moves(node).iter().map(|mv| mv.to);
        Refutation {
            played: self.line_of(node, mv).0,
            value: worth.value,
            others_lose,
            likelihood: self.reach.probability[node as usize],
            confirmed: after
                .chain([node])
                .all(|node| self.deep(self.graph.key(node)).is_some()),
        }
    }

    fn describe_end(&self, &(node, value, likelihood): &(NodeId, i32, f64)) -> BadEnd {
        let line = self.line_to(node);
        let key = self.graph.key(node);
        BadEnd {
            fen: notation::fen(line.last()),
            side: name(line.last().turn()),
            line: line.to_string(),
            value,
            likelihood,
            confirmed: self.deep(key).is_some(),
            position_search: self.search_of(key, 1),
        }
    }

    /// What is known of a canonical board, times `sign`.
    fn search_of(&self, key: EvalKey, sign: i32) -> Option<SearchedValue> {
        let known = self.table.canonical(key)?;
        Some(SearchedValue {
            value: sign * known.value.clamped(Color::White),
            nodes: Some(known.nodes).filter(|nodes| *nodes > 0),
            depth: Some(known.depth).filter(|depth| ![0, u16::MAX].contains(depth)),
            engine: Some(known.source.to_string()).filter(|name| !name.is_empty()),
        })
    }

    /// The line to a position, and the position at its end on the board of a
    /// game; one that play cannot come to is alone.
    fn line_to(&self, node: NodeId) -> notation::Line {
        match self.reach.path(node) {
            Some(path) => self.graph.line(&path),
            None => notation::Line::from_start(self.graph.position(node)),
        }
    }

    /// A move with the line to it, and the position that it is played in.
    fn line_of(&self, node: NodeId, mv: &GraphMove) -> (PlayedMove, Chess) {
        let mut line = self.line_to(node);
        let before = line.last().clone();
        let played = self.graph.step(&before, mv.to);
        played.into_iter().for_each(|played| line.push(played));
        let stored = || mv.mv.to_string();
        let played = PlayedMove {
            line: line.to_string(),
            fen: notation::fen(&before),
            san: played.map_or_else(stored, |played| notation::san(&before, played)),
            uci: played.map_or_else(stored, uci),
            side: name(self.turn(node)),
        };
        (played, before)
    }
}

/// The move from a position to one with this key.
fn step_to_key(position: &Chess, key: EvalKey) -> Option<Move> {
    let mut legal = position.legal_moves().into_iter();
    legal.find(|mv| EvalKey::of(&notation::after(position, *mv)) == key)
}

fn uci(mv: Move) -> String {
    mv.to_uci(CastlingMode::Standard).to_string()
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

    /// The means; `None` without any value.
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

const fn name(side: Color) -> &'static str {
    match side {
        Color::White => "white",
        Color::Black => "black",
    }
}
