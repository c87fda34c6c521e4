//! Probabilities of the positions of a book.

use shakmaty::Chess;

use super::{BookGraph, NodeId, Weighing};
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
        let mut weighing = Weighing::default();
        self.probabilities(|node, shares| {
            let verdicts = weighing.weigh(self, node, policy);
            shares.extend(verdicts.iter().map(|verdict| verdict.probability));
        })
    }

    /// The probability of each position when moves are played with the probabilities that
    /// the function adds to a list, in the order of [`BookGraph::moves`]. Moves that close a
    /// cycle are skipped: a repetition leads to nothing new.
    pub fn probabilities(&self, mut shares: impl FnMut(NodeId, &mut Vec<f64>)) -> Probabilities {
        let target = |node, n: usize| self.moves(node).get(n).map(|mv| mv.to);
        let played = |node, here, played: &mut Vec<f64>| {
            // Otherwise the moves after it are never played either.
            if here > 0.0 {
                shares(node, played);
            }
        };
        let ask = |nodes: &[NodeId]| {
            let moves = nodes.iter().flat_map(|node| self.moves(*node));
            let records = moves.filter_map(|mv| self.record(mv.to));
            let ends = records.map(|record| record.stats.games ^ u32::from(record.commentary));
            std::hint::black_box(ends.fold(0, |all, end| all ^ end));
        };
        flow(
            self.len(),
            self.node(&Chess::default()),
            target,
            ask,
            played,
        )
    }
}

/// What is known of a position while probabilities flow.
#[derive(Clone, Copy)]
struct Reached {
    probability: f64,
    /// The probability of the path through the position before; a position that is never
    /// played still has a line.
    share: f64,
    before: NodeId,
    /// Whether its moves are done: what leads to it now closes a cycle.
    is_done: bool,
}

/// Positions whose moves are asked for together.
const ASKED_AT_ONCE: usize = 256;

/// The probability of each of `count` positions. `target` returns the target of the n-th
/// move of a position; `played` adds the probabilities of its moves, given that of the
/// position, to a list; missing ones are 0. `ask` loads what `played` needs of some positions,
/// so that the waits for the memory overlap.
pub(crate) fn flow(
    count: usize,
    start: Option<NodeId>,
    target: impl Fn(NodeId, usize) -> Option<NodeId>,
    ask: impl Fn(&[NodeId]),
    mut played: impl FnMut(NodeId, f64, &mut Vec<f64>),
) -> Probabilities {
    let order = start.map_or_else(Vec::new, |start| order(count, start, &target));
    let mut all = vec![
        Reached {
            probability: 0.0,
            share: -1.0,
            before: NONE,
            is_done: false,
        };
        count
    ];
    if let Some(start) = start {
        all[start as usize].probability = 1.0;
    }
    let target = &target;
    let targets = |node| (0..).map_while(move |n| target(node, n));
    let mut shares = Vec::new();
    for nodes in order.chunks(ASKED_AT_ONCE) {
        ask(nodes);
        let near = nodes.iter().flat_map(|node| targets(*node));
        std::hint::black_box(near.fold(false, |any, to| any ^ all[to as usize].is_done));
        for &node in nodes {
            let here = &mut all[node as usize];
            here.is_done = true;
            let here = here.probability;
            shares.clear();
            played(node, here, &mut shares);
            for (n, to) in targets(node).enumerate() {
                let to = &mut all[to as usize];
                let part = here * shares.get(n).copied().unwrap_or(0.0);
                if to.is_done {
                    continue;
                }
                to.probability += part;
                if part > to.share {
                    (to.share, to.before) = (part, node);
                }
            }
        }
    }
    Probabilities {
        probability: all.iter().map(|reached| reached.probability).collect(),
        before: all.iter().map(|reached| reached.before).collect(),
        order,
    }
}

/// The reachable positions, in reverse postorder of a depth-first search: only moves that
/// close a cycle lead back.
fn order(
    count: usize,
    start: NodeId,
    target: impl Fn(NodeId, usize) -> Option<NodeId>,
) -> Vec<NodeId> {
    const VISITED: u32 = u32::MAX;
    // What a step needs of a position is in one place, because it waits for the memory: its
    // number of moves, and the first target.
    let head = |node| {
        let moves = (0..).take_while(|n| target(node, *n).is_some());
        (moves.count() as u32, target(node, 0).unwrap_or(NONE))
    };
    let mut heads: Vec<(u32, NodeId)> = (0..count as NodeId).map(head).collect();
    let mut order = Vec::new();
    let mut open = Vec::new();
    let mut next = Some(start);
    loop {
        if let Some(node) = next.take() {
            let (moves, first) = &mut heads[node as usize];
            let moves = std::mem::replace(moves, VISITED);
            if moves != VISITED {
                open.push((node, *first, 0, moves));
            }
        }
        let Some((node, first, done, moves)) = open.last_mut() else {
            break;
        };
        if done == moves {
            order.push(*node);
            open.pop();
            continue;
        }
        next = match *done {
            0 => Some(*first),
            n => target(*node, n as usize),
        };
        *done += 1;
    }
    order.reverse();
    order
}
