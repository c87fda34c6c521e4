//! A book as a tree of moves; rare moves are folded away.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::Chess;

use crate::{BookMove, Error, Lookup, Probe, Wanted, polyglot};
use tabia_notation as notation;

/// The limits of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TreeLimits {
    /// Plies from the root.
    pub plies: u32,
    /// Moves with a smaller share of the root's games, 0 to 1, are folded.
    pub min_share: f64,
}

impl TreeLimits {
    /// These limits.
    #[must_use]
    pub fn new(plies: u32, min_share: f64) -> TreeLimits {
        TreeLimits { plies, min_share }
    }
}

/// One move of the tree.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Branch {
    /// The move and what the book stores about it.
    pub entry: BookMove,
    /// How often this line is played, 0 to 1: the product of the shares of its moves in
    /// the games (or weights) of their positions.
    pub share: f64,
    /// The position after it.
    pub after: Chess,
    /// Whether the moves of this position are already shown further up.
    pub shown_above: bool,
}

/// The moves of a position of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Branches {
    /// The shown moves, most played first.
    pub shown: Vec<Branch>,
    /// The number of folded moves.
    pub folded: usize,
    /// The sum of their shares.
    pub folded_share: f64,
}

/// A tree that is computed from the root while it is shown. It stores one key for each
/// shown position.
pub struct Tree<'b> {
    book: &'b dyn Probe,
    limits: TreeLimits,
    expanded: HashSet<u64, FxBuildHasher>,
    found: Lookup,
}

impl<'b> Tree<'b> {
    /// The tree of a book from a position.
    #[must_use]
    pub fn new(book: &'b dyn Probe, limits: TreeLimits) -> Tree<'b> {
        Tree {
            book,
            limits,
            expanded: HashSet::default(),
            found: Lookup::default(),
        }
    }

    /// The moves of a position at depth `ply` with this share; to be called in the order
    /// in which the tree is shown. Empty beyond the limits.
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
        probe_lines(self.book, position, &mut self.found)?;
        let parts = shares(&self.found.moves);
        let parts = parts.into_iter().map(|part| share * part);
        let mut moves: Vec<(f64, BookMove)> = parts.zip(self.found.moves.drain(..)).collect();
        moves.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        for (share, entry) in moves {
            if share < self.limits.min_share {
                branches.folded += 1;
                branches.folded_share += share;
                continue;
            }
            let after = notation::after(position, entry.mv);
            branches.shown.push(Branch {
                shown_above: self.expanded.contains(&polyglot::key(&after)),
                entry,
                share,
                after,
            });
        }
        Ok(branches)
    }

    /// Whether the moves of a position were returned after its branch was made: then they
    /// are shown further up.
    #[must_use]
    pub fn is_shown(&self, branch: &Branch) -> bool {
        branch.shown_above || self.expanded.contains(&polyglot::key(&branch.after))
    }
}

/// Fills `found` as for playing; if there are no moves, with those along which the lines of
/// the book continue.
///
/// # Errors
///
/// As for [`Probe::probe`].
pub fn probe_lines(book: &dyn Probe, position: &Chess, found: &mut Lookup) -> Result<(), Error> {
    book.probe(position, Wanted::Transpositions, found)?;
    if found.moves.is_empty() {
        book.probe(position, Wanted::Lines, found)?;
    }
    Ok(())
}

/// How often a move is played: games, or else the stored weight.
#[must_use]
pub fn weight(entry: &BookMove) -> f64 {
    let weight = entry.preference.weight();
    f64::from(weight.unwrap_or_else(|| entry.stats().games))
}

/// The share of each move in the play of a position, by [`weight`]; equal shares if
/// nothing was counted.
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
        assert_eq!(first.entry.mv.to_string(), "e2-e4");
        let below = tree.branches(&first.after, 1, first.share).unwrap();
        let sum: f64 = below.shown.iter().map(|branch| branch.share).sum();
        assert!((sum + below.folded_share - first.share).abs() < 1e-9);
        assert!(below.shown.iter().all(|branch| branch.share >= 0.05));
        let deeper = &below.shown.first().unwrap().after;
        assert_eq!(tree.branches(deeper, 2, 1.0).unwrap(), Branches::default());
    }
}
