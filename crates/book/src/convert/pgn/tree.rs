//! The tree of a book, in memory.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::lines::{self, Refused};
use super::near::NearStart;
use crate::convert::{ConvertJob, Converted, Work, source::Source};
use crate::ctg::{Contents, CtgBook, EntryNumber};
use crate::policy::{self, Weighed};
use crate::polyglot;
use crate::walk::{Order, Walk};
use crate::{Book, BookMove, BookWalk, Error, Lookup, PositionRecord, Preference, Wanted};

/// More plies than any opening book has in a line.
const MOST_PLIES: u32 = 500;

/// A move of the tree; the first node is the start position.
pub(super) struct PgnNode {
    mv: NodeMove,
    pub(super) parent: u32,
    pub(super) next: Next,
    /// Moves in the subtree, not counting this one.
    pub(super) size: u32,
}

/// The move that leads to a node.
#[derive(Clone, Copy)]
enum NodeMove {
    /// To the start position none.
    None,
    /// A move of [`PgnTree::found`].
    Found(u32),
    /// A move of [`PgnTree::near`].
    Near(u32),
}

/// How a position continues.
#[derive(Clone)]
pub(super) enum Next {
    /// With no move.
    End,
    /// The nodes of its moves.
    Moves(Range<u32>),
    /// At another node, to which another line leads.
    Elsewhere(u32),
}

#[derive(Default)]
pub(super) struct PgnTree {
    pub(super) nodes: Vec<PgnNode>,
    near: NearStart,
    /// Moves that probes returned, with their probabilities, for [`NodeMove::Found`].
    found: Vec<(BookMove, f64)>,
    /// Positions with moves.
    pub(super) expanded: u64,
    /// Moves into positions that continue elsewhere.
    pub(super) transpositions: u64,
    /// Positions that have moves in the book, but none in the tree.
    pub(super) cut: u64,
    /// Moves with too few games.
    pub(super) rare: u64,
    /// Moves that are in no line.
    pub(super) refused: Vec<Refused>,
    /// Positions of a ChessBase book that the tree does not reach.
    pub(super) unreached: u64,
    /// Positions of another book that no line leads to, and that lines lead to.
    pub(super) without_line: u64,
    pub(super) with_line: u64,
}

impl PgnTree {
    pub(super) fn node(&self, number: u32) -> Option<&PgnNode> {
        self.nodes.get(number as usize)
    }

    /// Nodes of the moves after a node.
    pub(super) fn children(&self, number: u32) -> Range<u32> {
        match self.node(number).map(|node| &node.next) {
            Some(Next::Moves(moves)) => moves.clone(),
            Some(Next::End | Next::Elsewhere(_)) | None => 0..0,
        }
    }

    /// Nodes from the start position to `number`, including it.
    pub(super) fn path(&self, number: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = number;
        while let Some(node) = self.node(at).filter(|_| at != 0) {
            path.push(at);
            at = node.parent;
        }
        path.reverse();
        path
    }

    /// The move to a node from the position before it, and its probability.
    pub(super) fn move_of(&self, number: u32, before: &Chess) -> Option<(BookMove, f64)> {
        match self.node(number)?.mv {
            NodeMove::None => None,
            NodeMove::Found(number) => self.found.get(number as usize).cloned(),
            NodeMove::Near(number) => self.near.get(number)?.in_position(before),
        }
    }

    /// Reads the tree of a book.
    pub(super) fn read(
        work: &mut Work<'_, '_>,
        book: &Book,
        summary: &mut Converted,
    ) -> Result<PgnTree, Error> {
        if let Some(ctg) = book.as_ctg()
            && ctg.only().is_none()
            && !work.job.pgn.lines
        {
            return PgnTree::from_graph(work, ctg, summary);
        }
        let lines = match book {
            Book::Ctg(_) => Wanted::Lines,
            // The bridges are enough.
            Book::Bin(_) | Book::Loaded(_) => Wanted::Stored,
        };
        let mut source = Source::new(work, book, lines, summary)?;
        let (bridges, without_line, with_line) = match book {
            Book::Ctg(_) => Default::default(),
            Book::Bin(_) | Book::Loaded(_) => BookWalk::bridges(book, work.watch)?,
        };
        let plies = work.job.pgn.plies.min(MOST_PLIES);
        let only = book.as_ctg().and_then(CtgBook::only);
        let mut tree = PgnTree {
            nodes: vec![PgnNode::new(NodeMove::None, 0)],
            without_line,
            with_line,
            ..PgnTree::default()
        };
        let mut first: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        let start = Chess::default();
        let root = (0_u32, source.start());
        let mut walk = Walk::with_notes(&start, root, Order::Depth).without_lines();
        let (mut found, mut to) = (Lookup::default(), Vec::new());
        while let Some(here) = walk.next() {
            let ((number, entry), ply) = (here.note, here.ply);
            let key = polyglot::key(&here.position);
            let known = *first.entry(key).or_insert(number);
            if known != number {
                tree.set(number, |node| node.next = Next::Elsewhere(known));
                continue;
            }
            source.probe(entry, &here.position, lines, &mut found, &mut to)?;
            for &mv in bridges.get(&key).into_iter().flatten() {
                let after = PositionRecord::default();
                found.moves.push(BookMove::transposition(mv, after));
                to.push(None);
            }
            if ply >= plies {
                tree.cut += u64::from(!found.moves.is_empty());
                if work.job.pgn.lines {
                    lines::too_long(work.job, number, &found.moves, &mut tree.refused);
                }
                continue;
            }
            let moves = found.moves.iter().map(|known| known.mv);
            let after: Vec<(Move, Option<EntryNumber>)> = moves.zip(to.drain(..)).collect();
            let moves = ranked(work.job, &found.moves).into_iter();
            let moves =
                moves.filter_map(|(n, verdict)| Some((found.moves.get(n)?.clone(), verdict)));
            let mut moves: Vec<(BookMove, Weighed)> = moves.collect();
            if work.job.pgn.lines {
                let is_free = only.is_some_and(|only| only != here.position.turn());
                lines::choose(work.job, (number, is_free), &mut moves, &mut tree.refused);
            } else {
                let stored = moves.len();
                moves.retain(|(entry, _)| has_games(work.job, entry));
                tree.rare += (stored - moves.len()) as u64;
            }
            if moves.is_empty() {
                continue;
            }
            let before = tree.found.len() as u32;
            let known = moves
                .iter()
                .map(|(mv, verdict)| (mv.clone(), verdict.probability));
            tree.found.extend(known);
            let numbers = before..tree.found.len() as u32;
            let children = tree.add(number, numbers.map(NodeMove::Found));
            work.step("reading", tree.expanded, None)?;
            for (child, (entry, _)) in children.zip(moves).rev() {
                let mut to = after.iter();
                let to = to.find_map(|(mv, to)| to.filter(|_| *mv == entry.mv));
                let next = tabia_notation::after(&here.position, entry.mv);
                walk.enter(&here, entry.mv, next, (child, to));
            }
        }
        tree.unreached = source.unreached().unwrap_or(0);
        tree.finish();
        Ok(tree)
    }

    /// Reads the tree of a book for both sides: it goes by numbers, and makes no position.
    fn from_graph(
        work: &mut Work<'_, '_>,
        book: &CtgBook,
        summary: &mut Converted,
    ) -> Result<PgnTree, Error> {
        let contents = Contents {
            records: true,
            ..Contents::default()
        };
        let (graph, salvage) = book.graph(contents, &mut work.watch.part(0, 500))?;
        summary.lose(work.job, salvage)?;
        let plies = work.job.pgn.plies.min(MOST_PLIES);
        let job = work.job;
        let near = NearStart::read(&graph, plies, |moves| {
            let mut order = ranked(job, moves);
            order.retain(|(n, _)| moves.get(*n).is_some_and(|known| has_games(job, known)));
            order
        });
        let mut tree = PgnTree {
            nodes: vec![PgnNode::new(NodeMove::None, 0)],
            ..PgnTree::default()
        };
        let found = graph.found();
        drop(graph);
        let mut first = near.first_nodes();
        let mut waiting = vec![(0, near.start(), 0)];
        while let Some((number, place, ply)) = waiting.pop() {
            let Some(place) = place else {
                continue;
            };
            let known = first.enter(place, number);
            if known != number {
                tree.set(number, |node| node.next = Next::Elsewhere(known));
                continue;
            }
            if ply >= plies {
                tree.cut += u64::from(near.has_moves(place));
                continue;
            }
            let (moves, rare) = near.moves(place);
            tree.rare += rare;
            if moves.is_empty() {
                continue;
            }
            let children = tree.add(number, moves.clone().map(NodeMove::Near));
            work.step("reading", tree.expanded, None)?;
            let after = children.zip(moves).rev();
            waiting.extend(after.map(|(child, mv)| (child, near.after(place, mv), ply + 1)));
        }
        tree.unreached = found.saturating_sub(first.entries());
        tree.near = near;
        tree.finish();
        Ok(tree)
    }

    /// Adds nodes after one; returns their numbers.
    fn add(&mut self, parent: u32, moves: impl Iterator<Item = NodeMove>) -> Range<u32> {
        let start = self.nodes.len() as u32;
        self.nodes.extend(moves.map(|mv| PgnNode::new(mv, parent)));
        let children = start..self.nodes.len() as u32;
        self.set(parent, |node| node.next = Next::Moves(children.clone()));
        self.expanded += 1;
        children
    }

    fn set(&mut self, number: u32, change: impl FnOnce(&mut PgnNode)) {
        if let Some(node) = self.nodes.get_mut(number as usize) {
            change(node);
        }
    }

    /// Computes sizes, and removes references to positions without moves.
    fn finish(&mut self) {
        for number in (1..self.nodes.len() as u32).rev() {
            let Some(node) = self.node(number) else {
                continue;
            };
            let (parent, size) = (node.parent, node.size + 1);
            // Children come after their parents.
            self.set(parent, |node| node.size += size);
        }
        for number in 0..self.nodes.len() as u32 {
            let Some(Next::Elsewhere(there)) = self.node(number).map(|node| &node.next) else {
                continue;
            };
            match self.children(*there).is_empty() {
                true => self.set(number, |node| node.next = Next::End),
                false => self.transpositions += 1,
            }
        }
    }
}

impl PgnNode {
    fn new(mv: NodeMove, parent: u32) -> PgnNode {
        PgnNode {
            mv,
            parent,
            next: Next::End,
            size: 0,
        }
    }
}

/// The numbers of the moves of a position, the most probable first.
fn ranked(job: &ConvertJob, moves: &[BookMove]) -> Vec<(usize, Weighed)> {
    let mut verdicts = Vec::new();
    policy::weigh(moves, &job.policy, |_| None, &mut verdicts);
    let mut order: Vec<(usize, Weighed)> = verdicts.into_iter().enumerate().collect();
    let games = |n: usize| moves.get(n).map(|known| known.stats().games);
    order.sort_by(|(a, verdict), (b, other)| {
        other
            .probability
            .total_cmp(&verdict.probability)
            .then_with(|| games(*b).cmp(&games(*a)))
    });
    order
}

/// Whether a move has enough games, or its book has none.
fn has_games(job: &ConvertJob, entry: &BookMove) -> bool {
    let has_no_count = entry.preference != Preference::Statistics || entry.transposition;
    let games = entry.stats().games;
    games >= job.pgn.min_games || has_no_count && games == 0
}
