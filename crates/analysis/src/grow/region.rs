//! The part of a book to grow.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Color, Position as _};

use crate::graph::{BookGraph, NodeId};

/// A position from which a book grows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Root {
    /// The position.
    pub position: Chess,
    /// Plies from the start position.
    pub ply: u32,
}

impl Root {
    /// A position so many plies after the start position.
    #[must_use]
    pub fn new(position: Chess, ply: u32) -> Root {
        Root { position, ply }
    }
}

/// A root in a graph, and the side to move there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entrance {
    pub(super) node: NodeId,
    pub(super) ply: u32,
    pub(super) turn: Color,
}

/// The roots that are in the book, those nearest to the start first; without roots below
/// another root, which covers their lines.
pub(super) fn entrances(graph: &BookGraph, roots: &[Root]) -> Vec<Entrance> {
    let mut held: Vec<Entrance> = roots
        .iter()
        .filter_map(|root| {
            Some(Entrance {
                node: graph.node(&root.position)?,
                ply: root.ply,
                turn: root.position.turn(),
            })
        })
        .collect();
    held.sort_by_key(|root| root.ply);
    let mut below: HashSet<(NodeId, Color), FxBuildHasher> = HashSet::default();
    held.retain(|root| {
        if !below.insert((root.node, root.turn)) {
            return false;
        }
        let mut open = vec![(root.node, root.turn)];
        while let Some((node, turn)) = open.pop() {
            let after = graph.moves(node).iter().map(|mv| (mv.to, !turn));
            open.extend(after.filter(|after| below.insert(*after)));
        }
        true
    });
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::{Book, OpenOptions};
    use tabia_io::progress::Watch;
    use tabia_notation::Line;

    #[test]
    fn positions_below_a_root_are_not_roots() {
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        let graph = BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {}).unwrap();
        let root = |moves: &str| {
            let line = Line::read("", moves).unwrap();
            Root {
                position: line.last().clone(),
                ply: line.plies() as u32,
            }
        };
        let roots = ["e4 c5 Nf3 d6", "e4 c5", "d4 d5", "e4 a6 a3 a5 a4 h5"].map(root);
        let found = entrances(&graph, &roots);
        let nodes: Vec<_> = found.iter().map(|root| Some(root.node)).collect();
        assert_eq!(nodes, [1, 2].map(|n: usize| graph.node(&roots[n].position)));
        assert_eq!(found[0].turn, Color::White);
        assert_eq!(
            entrances(&graph, &[Root::new(Chess::default(), 0), roots[0].clone()]).len(),
            1
        );
    }
}
