//! The tree of a book, in memory.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Position as _};

use crate::book::polyglot;
use crate::book::{Book, BookMove, Lookup, Preference, Probe as _, Wanted};
use crate::convert::{Error, Work};
use crate::policy;

/// More plies than any opening book has in a line.
const MOST_PLIES: u32 = 500;

/// A move of the tree; the first node is the start position.
pub(super) struct Node {
    /// `None` for the start position.
    pub(super) mv: Option<BookMove>,
    pub(super) probability: f64,
    pub(super) parent: u32,
    pub(super) ply: u32,
    /// Nodes of the moves after it.
    pub(super) children: Range<u32>,
    /// The node where this position goes on.
    pub(super) goes_on: Option<u32>,
    /// Moves in the subtree, this one not counted.
    pub(super) size: u32,
}

pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Positions with moves.
    pub(super) expanded: u64,
    /// Moves into positions that go on elsewhere.
    pub(super) transpositions: u64,
    /// Positions that have moves in the book, and none in the tree.
    pub(super) cut: u64,
}

impl Tree {
    pub(super) fn node(&self, number: u32) -> Option<&Node> {
        self.nodes.get(number as usize)
    }

    /// Nodes from the start position to `number`, that one included.
    pub(super) fn path(&self, number: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = number;
        while let Some(node) = self.node(at).filter(|node| node.mv.is_some()) {
            path.push(at);
            at = node.parent;
        }
        path.reverse();
        path
    }

    /// Reads the tree of a book.
    pub(super) fn read(work: &mut Work<'_, '_>, book: &Book) -> Result<Tree, Error> {
        let plies = work.job.pgn.plies.min(MOST_PLIES);
        let mut tree = Tree {
            nodes: vec![Node::new(None, 0.0, 0, 0)],
            expanded: 0,
            transpositions: 0,
            cut: 0,
        };
        let mut first: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        let mut ahead = vec![(0_u32, Chess::default())];
        let mut found = Lookup::default();
        while let Some((number, position)) = ahead.pop() {
            let key = polyglot::key(&position);
            let known = *first.entry(key).or_insert(number);
            if known != number {
                tree.set(number, |node| node.goes_on = Some(known));
                continue;
            }
            let ply = tree.node(number).map_or(0, |node| node.ply);
            if ply >= plies {
                book.probe(&position, Wanted::Stored, &mut found)?;
                tree.cut += u64::from(!found.moves.is_empty());
                continue;
            }
            let moves = ordered(work, book, &position, &mut found)?;
            if moves.is_empty() {
                continue;
            }
            let start = tree.nodes.len() as u32;
            for (mv, probability) in moves {
                tree.nodes
                    .push(Node::new(Some(mv), probability, number, ply + 1));
            }
            let end = tree.nodes.len() as u32;
            tree.set(number, |node| node.children = start..end);
            tree.expanded += 1;
            work.step("reading", tree.expanded, None)?;
            for child in (start..end).rev() {
                let Some(mv) = tree.node(child).and_then(|node| node.mv.as_ref()) else {
                    continue;
                };
                let mut next = position.clone();
                next.play_unchecked(mv.mv);
                ahead.push((child, next));
            }
        }
        tree.settle();
        Ok(tree)
    }

    fn set(&mut self, number: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(number as usize) {
            change(node);
        }
    }

    /// Sizes, and transpositions that have nothing to go on with.
    fn settle(&mut self) {
        for number in (1..self.nodes.len() as u32).rev() {
            let Some(node) = self.node(number) else {
                continue;
            };
            let (parent, size) = (node.parent, node.size + 1);
            // Children come after their parents.
            self.set(parent, |node| node.size += size);
        }
        for number in 0..self.nodes.len() as u32 {
            let Some(there) = self.node(number).and_then(|node| node.goes_on) else {
                continue;
            };
            if self
                .node(there)
                .is_some_and(|node| node.children.is_empty())
            {
                self.set(number, |node| node.goes_on = None);
            } else {
                self.transpositions += 1;
            }
        }
    }
}

impl Node {
    fn new(mv: Option<BookMove>, probability: f64, parent: u32, ply: u32) -> Node {
        Node {
            mv,
            probability,
            parent,
            ply,
            children: 0..0,
            goes_on: None,
            size: 0,
        }
    }
}

/// The stored moves of a position, the likeliest first.
fn ordered(
    work: &Work<'_, '_>,
    book: &Book,
    position: &Chess,
    found: &mut Lookup,
) -> Result<Vec<(BookMove, f64)>, Error> {
    book.probe(position, Wanted::Stored, found)?;
    let mut verdicts = Vec::new();
    policy::weigh(&found.moves, &work.job.policy, |_| None, &mut verdicts);
    let least = work.job.pgn.min_games;
    let mut moves: Vec<(BookMove, f64)> = found
        .moves
        .drain(..)
        .zip(verdicts.iter().map(|verdict| verdict.probability))
        .filter(|(mv, _)| {
            mv.stats().games >= least
                || mv.preference != Preference::Statistics && mv.stats().games == 0
        })
        .collect();
    moves.sort_by(|(a, chance), (b, other)| {
        other
            .total_cmp(chance)
            .then(b.stats().games.cmp(&a.stats().games))
    });
    Ok(moves)
}
