//! Probabilities of the positions of a book.

use shakmaty::Chess;

use super::{BookGraph, NodeId};
use tabia_book::policy::Policy;

/// The probability of each position of a graph, from the start of a game.
#[derive(Clone, Debug, Default)]
pub struct Probabilities {
    /// 0 to 1 for each position; the sum over all paths to it, without cycles.
    pub probability: Vec<f64>,
    /// The position before it on the most probable path; `NodeId::MAX` for the start and
    /// for unreachable positions.
    before: Vec<NodeId>,
    /// The reachable positions, each after all positions before it.
    order: Vec<NodeId>,
}

/// No position.
const NONE: NodeId = NodeId::MAX;

impl Probabilities {
    /// The positions reachable by moves of the book from the start, even by moves that
    /// are never played; each after those that lead to it, except in cycles.
    #[must_use]
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The position before it on the most probable path; `None` for the start, and for
    /// unreachable positions.
    #[must_use]
    pub fn before(&self, node: NodeId) -> Option<NodeId> {
        self.before
            .get(node as usize)
            .copied()
            .filter(|before| *before != NONE)
    }

    /// The most probable path to a position, without the start and including the
    /// position; `None` if it is unreachable.
    #[must_use]
    pub fn path(&self, node: NodeId) -> Option<Vec<NodeId>> {
        let mut path = vec![node];
        let mut at = node;
        loop {
            at = *self.before.get(at as usize)?;
            if at == NONE {
                break;
            }
            path.push(at);
        }
        path.reverse();
        // Unreachable positions have no position before them, nor has the start.
        let start = self.order.first()?;
        (path.first() == Some(start)).then(|| path.split_off(1))
    }
}

impl BookGraph {
    /// The probability of each position when both sides play as the adapter does under
    /// `policy`.
    #[must_use]
    pub fn probabilities_by(&self, policy: &Policy) -> Probabilities {
        self.probabilities(|node| {
            let verdicts = self.weighed(node, policy);
            verdicts.iter().map(|verdict| verdict.probability).collect()
        })
    }

    /// The probability of each position when moves are played with the probabilities that
    /// the function returns, in the order of [`BookGraph::moves`]. Moves that close a
    /// cycle are skipped: a repetition leads to nothing new.
    pub fn probabilities(&self, mut shares: impl FnMut(NodeId) -> Vec<f64>) -> Probabilities {
        let target = |node, n: usize| self.moves(node).get(n).map(|mv| mv.to);
        let played = |node, here| match here > 0.0 {
            true => shares(node),
            // The moves after it are never played either.
            false => Vec::new(),
        };
        flow(self.len(), self.node(&Chess::default()), target, played)
    }
}

/// The probability of each of `count` positions. `target` returns the target of the n-th
/// move of a position; `played` the probabilities of its moves, given that of the
/// position; missing ones are 0.
pub(crate) fn flow(
    count: usize,
    start: Option<NodeId>,
    target: impl Fn(NodeId, usize) -> Option<NodeId>,
    mut played: impl FnMut(NodeId, f64) -> Vec<f64>,
) -> Probabilities {
    let mut reach = Probabilities {
        probability: vec![0.0; count],
        before: vec![NONE; count],
        order: Vec::new(),
    };
    let Some(start) = start else {
        return reach;
    };
    reach.order = order(count, start, &target);
    let mut place = vec![u32::MAX; count];
    for (n, &node) in reach.order.iter().enumerate() {
        place[node as usize] = n as u32;
    }
    // The probability of the path through the position before; a position that is never
    // played still has a line.
    let mut share = vec![-1.0_f64; count];
    reach.probability[start as usize] = 1.0;
    for &node in &reach.order {
        let here = reach.probability[node as usize];
        let played = played(node, here);
        let targets = (0..).map_while(|n| target(node, n));
        for (n, to) in targets.enumerate() {
            let at = to as usize;
            if place[at] <= place[node as usize] {
                continue;
            }
            let part = here * played.get(n).copied().unwrap_or(0.0);
            reach.probability[at] += part;
            if part > share[at] {
                share[at] = part;
                reach.before[at] = node;
            }
        }
    }
    reach
}

/// The reachable positions, in reverse postorder of a depth-first search: only moves that
/// close a cycle lead back.
fn order(
    count: usize,
    start: NodeId,
    target: impl Fn(NodeId, usize) -> Option<NodeId>,
) -> Vec<NodeId> {
    let mut visited = vec![false; count];
    visited[start as usize] = true;
    let mut order = Vec::new();
    let mut open = vec![(start, 0_usize)];
    while let Some((node, next)) = open.last_mut() {
        match target(*node, *next) {
            Some(to) => {
                *next += 1;
                if !std::mem::replace(&mut visited[to as usize], true) {
                    open.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
