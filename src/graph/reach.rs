//! How often play comes to each position of a book.

use shakmaty::Chess;

use super::{BookGraph, NodeId};
use crate::policy::Policy;

/// How likely each position of a graph is, from the start of a game.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// 0 to 1 for each position; the sum over all paths to it, those that go
    /// in circles left out.
    pub probability: Vec<f64>,
    /// The position before it on the likeliest path; `NodeId::MAX` for the start
    /// and for those that are not reached.
    before: Vec<NodeId>,
    /// The positions that moves lead to, each behind all those before it.
    order: Vec<NodeId>,
}

/// No position.
const NONE: NodeId = NodeId::MAX;

impl Reach {
    /// The positions that moves of the book lead to from the start, also such
    /// as are never played; each behind those that lead to it, circles apart.
    #[must_use]
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The position before it on the likeliest path; `None` for the start, and
    /// where moves of the book do not lead.
    #[must_use]
    pub fn before(&self, node: NodeId) -> Option<NodeId> {
        self.before
            .get(node as usize)
            .copied()
            .filter(|before| *before != NONE)
    }

    /// The likeliest path to a position, without the start and with itself;
    /// `None` if moves of the book do not lead there.
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
        // What is not reached has nothing before it, and neither has the start.
        let start = self.order.first()?;
        (path.first() == Some(start)).then(|| path.split_off(1))
    }
}

impl BookGraph {
    /// How likely each position is when both sides play as the adapter does
    /// under `policy`.
    #[must_use]
    pub fn reach_by(&self, policy: &Policy) -> Reach {
        self.reach(|node| {
            let verdicts = self.weighed(node, policy);
            verdicts.iter().map(|verdict| verdict.probability).collect()
        })
    }

    /// How likely each position is when the moves of each are played with
    /// these probabilities, in the order of [`BookGraph::moves`]. Moves that
    /// close a circle are passed over: who repeats learns nothing new.
    pub fn reach(&self, mut probabilities: impl FnMut(NodeId) -> Vec<f64>) -> Reach {
        let mut reach = Reach {
            probability: vec![0.0; self.len()],
            before: vec![NONE; self.len()],
            order: Vec::new(),
        };
        let Some(start) = self.node(&Chess::default()) else {
            return reach;
        };
        let order = self.order(start);
        let mut place = vec![u32::MAX; self.len()];
        for (n, &node) in order.iter().enumerate() {
            place[node as usize] = n as u32;
        }
        // The share of a position that the path before it brings; one that is
        // never played still has a line.
        let mut share = vec![-1.0_f64; self.len()];
        reach.probability[start as usize] = 1.0;
        for &node in &order {
            let here = reach.probability[node as usize];
            let moves = self.moves(node);
            // Nothing below it is played either.
            let played = match here > 0.0 {
                true => probabilities(node),
                false => Vec::new(),
            };
            for (n, mv) in moves.iter().enumerate() {
                let to = mv.to as usize;
                if place[to] <= place[node as usize] {
                    continue;
                }
                let part = here * played.get(n).copied().unwrap_or(0.0);
                reach.probability[to] += part;
                if part > share[to] {
                    share[to] = part;
                    reach.before[to] = node;
                }
            }
        }
        reach.order = order;
        reach
    }

    /// The positions that moves lead to, in reverse postorder of a walk into
    /// the depth: only moves that close a circle lead back.
    fn order(&self, start: NodeId) -> Vec<NodeId> {
        let mut seen = vec![false; self.len()];
        seen[start as usize] = true;
        let mut order = Vec::new();
        let mut open = vec![(start, 0_usize)];
        while let Some((node, next)) = open.last_mut() {
            match self.moves(*node).get(*next) {
                Some(mv) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[mv.to as usize], true) {
                        open.push((mv.to, 0));
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
}
