//! The tree of a book, in memory.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::lines::{self, Refused};
use crate::convert::{ConvertJob, Converted, Work, source::Source};
use crate::ctg::{CtgBook, EntryNumber};
use crate::policy::{self, Weighed};
use crate::polyglot;
use crate::walk::{Order, Walk};
use crate::{Book, BookMove, BookWalk, Error, Lookup, PositionRecord, Preference, Wanted};

/// More plies than any opening book has in a line.
const MOST_PLIES: u32 = 500;

/// A move of the tree; the first node is the start position.
pub(super) struct PgnNode {
    /// `None` for the start position.
    pub(super) entry: Option<BookMove>,
    pub(super) probability: f64,
    pub(super) parent: u32,
    /// Nodes of the moves after it.
    pub(super) children: Range<u32>,
    /// The node at which this position continues.
    pub(super) goes_on: Option<u32>,
    /// Moves in the subtree, not counting this one.
    pub(super) size: u32,
}

#[derive(Default)]
pub(super) struct PgnTree {
    pub(super) nodes: Vec<PgnNode>,
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

    /// Nodes from the start position to `number`, including it.
    pub(super) fn path(&self, number: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = number;
        while let Some(node) = self.node(at).filter(|node| node.entry.is_some()) {
            path.push(at);
            at = node.parent;
        }
        path.reverse();
        path
    }

    /// Reads the tree of a book.
    pub(super) fn read(
        work: &mut Work<'_, '_>,
        book: &Book,
        summary: &mut Converted,
    ) -> Result<PgnTree, Error> {
        let lines = match book {
            Book::Ctg(_) => Wanted::Lines,
            // The bridges are enough.
            Book::Bin(_) | Book::Loaded(_) => Wanted::Stored,
        };
        let mut source = Source::new(work, book, lines, summary)?;
        let (bridges, without_line, with_line) = match book {
            Book::Ctg(_) => Default::default(),
            Book::Bin(_) | Book::Loaded(_) => BookWalk::bridges(book)?,
        };
        let plies = work.job.pgn.plies.min(MOST_PLIES);
        let only = book.as_ctg().and_then(CtgBook::only);
        let mut tree = PgnTree {
            nodes: vec![PgnNode::new(None, 0.0, 0)],
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
                tree.set(number, |node| node.goes_on = Some(known));
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
            let mut moves = weighed(work.job, &mut found);
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
            let start = tree.nodes.len() as u32;
            for (mv, verdict) in moves {
                let node = PgnNode::new(Some(mv), verdict.probability, number);
                tree.nodes.push(node);
            }
            let end = tree.nodes.len() as u32;
            tree.set(number, |node| node.children = start..end);
            tree.expanded += 1;
            work.step("reading", tree.expanded, None)?;
            for child in (start..end).rev() {
                let Some(entry) = tree.node(child).and_then(|node| node.entry.as_ref()) else {
                    continue;
                };
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

impl PgnNode {
    fn new(entry: Option<BookMove>, probability: f64, parent: u32) -> PgnNode {
        PgnNode {
            entry,
            probability,
            parent,
            children: 0..0,
            goes_on: None,
            size: 0,
        }
    }
}

/// The moves of a position, the most probable first.
fn weighed(job: &ConvertJob, found: &mut Lookup) -> Vec<(BookMove, Weighed)> {
    let mut verdicts = Vec::new();
    policy::weigh(&found.moves, &job.policy, |_| None, &mut verdicts);
    let mut moves: Vec<_> = found.moves.drain(..).zip(verdicts).collect();
    moves.sort_by(|(a, verdict), (b, other)| {
        other
            .probability
            .total_cmp(&verdict.probability)
            .then(b.stats().games.cmp(&a.stats().games))
    });
    moves
}

/// Whether a move has enough games, or its book has none.
fn has_games(job: &ConvertJob, entry: &BookMove) -> bool {
    let has_no_count = entry.preference != Preference::Statistics || entry.transposition;
    let games = entry.stats().games;
    games >= job.pgn.min_games || has_no_count && games == 0
}
