//! A book as a tree: what is played in a position, what is seldom played
//! folded away.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::Chess;

use crate::{BookMove, Error, Lookup, Preference, Probe, Wanted, polyglot};
use tabia_notation as notation;

/// What is shown of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeLimits {
    /// Plies from the first position.
    pub plies: u32,
    /// Share of the first position's games, 0 to 1, below which a move is
    /// folded.
    pub min_share: f64,
}

/// One move of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The move and what the book says about it.
    pub mv: BookMove,
    /// How often this line is played, 0 to 1: the product of each of its
    /// moves' share of the games (or of the weight) in its position.
    pub share: f64,
    /// The position after it.
    pub after: Chess,
    /// That position's moves are elsewhere in the tree, further up.
    pub shown_above: bool,
}

/// The moves of a position of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Branches {
    /// The moves that are shown, most played first.
    pub shown: Vec<Branch>,
    /// How many are folded.
    pub folded: usize,
    /// Their share together.
    pub folded_share: f64,
}

/// A tree that is walked from the root, each position's moves when it is
/// their turn: memory for one key for each position shown.
pub struct Tree<'b> {
    book: &'b dyn Probe,
    limits: TreeLimits,
    expanded: HashSet<u64, FxBuildHasher>,
    found: Lookup,
}

impl<'b> Tree<'b> {
    /// The tree of a book below a position.
    #[must_use]
    pub fn new(book: &'b dyn Probe, limits: TreeLimits) -> Tree<'b> {
        Tree {
            book,
            limits,
            expanded: HashSet::default(),
            found: Lookup::default(),
        }
    }

    /// The moves of a position that is `ply` plies deep in the tree and
    /// has this share; to be asked in the order in which the tree is shown.
    /// None beyond the limits.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn branches(&mut self, position: &Chess, ply: u32, share: f64) -> Result<Branches, Error> {
        let mut branches = Branches::default();
        if ply >= self.limits.plies {
            return Ok(branches);
        }
        self.expanded.insert(polyglot::key(position));
        self.book
            .probe(position, Wanted::Transpositions, &mut self.found)?;
        let parts = shares(&self.found.moves);
        let parts = parts.into_iter().map(|part| share * part);
        let mut moves: Vec<(f64, BookMove)> = parts.zip(self.found.moves.drain(..)).collect();
        moves.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        for (share, mv) in moves {
            if share < self.limits.min_share {
                branches.folded += 1;
                branches.folded_share += share;
                continue;
            }
            let after = notation::after(position, mv.mv);
            branches.shown.push(Branch {
                shown_above: self.expanded.contains(&polyglot::key(&after)),
                mv,
                share,
                after,
            });
        }
        Ok(branches)
    }

    /// Whether the moves of a position were asked for since its branch was
    /// made: then they are further up.
    #[must_use]
    pub fn is_shown(&self, branch: &Branch) -> bool {
        branch.shown_above || self.expanded.contains(&polyglot::key(&branch.after))
    }
}

/// How often a move is played: games, or what else the book has.
#[must_use]
pub fn weight(mv: &BookMove) -> f64 {
    match mv.preference {
        Preference::Weight(weight) => f64::from(weight),
        _ => f64::from(mv.stats().games),
    }
}

/// How much of the play in a position each of its moves has, by [`weight`]; all
/// the same where nothing was counted.
#[must_use]
pub fn shares(moves: &[BookMove]) -> Vec<f64> {
    let total: f64 = moves.iter().map(weight).sum();
    let part = |mv| match total > 0.0 {
        true => weight(mv) / total,
        false => 1.0 / moves.len() as f64,
    };
    moves.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Book, OpenOptions};

    #[test]
    fn shares_are_those_of_the_lines_and_small_ones_are_folded() {
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let limits = TreeLimits {
            plies: 2,
            min_share: 0.05,
        };
        let mut tree = Tree::new(&book, limits);
        let root = tree.branches(&Chess::default(), 0, 1.0).unwrap();
        let shown: f64 = root.shown.iter().map(|branch| branch.share).sum();
        assert!((shown + root.folded_share - 1.0).abs() < 1e-9);
        assert!(root.folded > 10);
        let first = root.shown.first().unwrap();
        assert_eq!(first.mv.mv.to_string(), "e2-e4");
        let below = tree.branches(&first.after, 1, first.share).unwrap();
        let sum: f64 = below.shown.iter().map(|branch| branch.share).sum();
        assert!((sum + below.folded_share - first.share).abs() < 1e-9);
        assert!(below.shown.iter().all(|branch| branch.share >= 0.05));
        let deeper = &below.shown.first().unwrap().after;
        assert_eq!(tree.branches(deeper, 2, 1.0).unwrap(), Branches::default());
    }
}
