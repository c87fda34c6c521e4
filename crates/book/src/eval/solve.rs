//! Values backed up from the ends of a book to all its positions.
//!
//! A book is a graph: transpositions join its lines, and moves back and forth make
//! cycles. The side to move may play a move of the book or *leave* it; leaving has the
//! engine's value of the best move that is not in the book. Both sides play for their
//! best; an endless cycle is a draw. The result is the exact value of that game.
//!
//! Sweeping over the positions until nothing changes is not enough: the result depends on
//! the order, may never settle, and gives a side values for which it would have to leave
//! a cycle. Instead, values above zero for one player, the hero, are distributed from the
//! greatest down: a position where the hero moves takes the first that arrives; one where
//! the opponent moves takes the *last* of all its options (the opponent chooses the
//! lowest). Positions that get none have the value zero for the hero.
//!
//! All values are from the view of the side to move, so a position is the same with
//! colours exchanged, as in the books. Either player may be the hero: each node has both
//! roles, and one pass finds the values above zero with the first and those below zero
//! with the second.

/// A position of a [`Graph`].
pub type NodeId = u32;

/// Positions, the moves between them, and the values of leaving.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Centipawns for the side to move; `NO_VALUE` if unknown.
    leaving: Vec<i32>,
    before: Predecessors,
}

/// For each position, those that have a move to it.
#[derive(Clone, Debug, Default)]
pub struct Predecessors {
    /// The index in `from` of the first edge into each node, and the end.
    begins: Vec<u32>,
    /// The sources of the edges, ordered by target node.
    from: Vec<NodeId>,
}

impl Predecessors {
    /// Of `count` positions and the moves from one to another: 4 bytes for each.
    ///
    /// # Panics
    ///
    /// A move leads to a number of `count` or more.
    #[must_use]
    pub fn new(
        count: usize,
        moves: impl Iterator<Item = (NodeId, NodeId)> + Clone,
    ) -> Predecessors {
        let mut begins = vec![0_u32; count + 1];
        for (_, to) in moves.clone() {
            begins[to as usize + 1] += 1;
        }
        for n in 1..begins.len() {
            begins[n] += begins[n - 1];
        }
        let mut next = begins.clone();
        let mut from = vec![0; begins[count] as usize];
        for (before, to) in moves {
            let place = &mut next[to as usize];
            from[*place as usize] = before;
            *place += 1;
        }
        Predecessors { begins, from }
    }

    /// The positions with a move to this one.
    ///
    /// # Panics
    ///
    /// `node` is not below the number of positions.
    #[must_use]
    pub fn of(&self, node: NodeId) -> &[NodeId] {
        let node = node as usize;
        &self.from[self.begins[node] as usize..self.begins[node + 1] as usize]
    }
}

/// Builds a [`Graph`].
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    leaving: Vec<i32>,
    edges: Vec<(NodeId, NodeId)>,
}

const NO_VALUE: i32 = i32::MIN;

impl GraphBuilder {
    /// Adds a position. `leaving` is the value of leaving the book there, in centipawns
    /// for the side to move; `None` if unknown.
    pub fn add(&mut self, leaving: Option<i32>) -> NodeId {
        self.leaving.push(leaving.unwrap_or(NO_VALUE));
        (self.leaving.len() - 1) as NodeId
    }

    /// Adds a move of the book from one position to another.
    pub fn connect(&mut self, from: NodeId, to: NodeId) {
        self.edges.push((from, to));
    }

    /// Returns the graph: 4 bytes for each edge and 8 for each node.
    #[must_use]
    pub fn finish(self) -> Graph {
        Graph {
            before: Predecessors::new(self.leaving.len(), self.edges.iter().copied()),
            leaving: self.leaving,
        }
    }
}

impl Graph {
    /// The number of positions.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.leaving.len()
    }

    fn nodes(&self) -> std::ops::Range<NodeId> {
        0..self.len() as NodeId
    }

    fn leaving(&self, node: NodeId) -> Option<i32> {
        Some(self.leaving[node as usize]).filter(|value| *value != NO_VALUE)
    }

    /// For each position, whether a known value can be reached from it.
    fn known(&self) -> Vec<bool> {
        let mut known: Vec<bool> = self.nodes().map(|n| self.leaving(n).is_some()).collect();
        let mut open: Vec<NodeId> = self.nodes().filter(|n| known[*n as usize]).collect();
        while let Some(node) = open.pop() {
            for &before in self.before.of(node) {
                if !std::mem::replace(&mut known[before as usize], true) {
                    open.push(before);
                }
            }
        }
        known
    }
}

/// The value of every position in centipawns for its side to move; `None` if no known
/// value can be reached from it.
///
/// Moves into such unknown positions are ignored, because nothing is known for or against
/// them.
#[must_use]
pub fn solve(graph: &Graph) -> Vec<Option<i32>> {
    let known = graph.known();
    // By position: options of the opponent that have not arrived yet.
    let mut to_come: Vec<u32> = graph
        .nodes()
        .map(|n| u32::from(graph.leaving(n).is_some()))
        .collect();
    for node in graph.nodes().filter(|n| known[*n as usize]) {
        for &before in graph.before.of(node) {
            to_come[before as usize] += 1;
        }
    }
    let mut leaves: Vec<(u32, NodeId)> = graph
        .nodes()
        .filter_map(|node| {
            let value = graph.leaving(node).filter(|value| *value != 0)?;
            // Positive: the hero moves and leaves; negative: the opponent does.
            Some((value.unsigned_abs(), node))
        })
        .collect();
    leaves.sort_unstable_by(|a, b| b.cmp(a));

    let mut values: Vec<Option<i32>> = known.iter().map(|known| known.then_some(0)).collect();
    // By node and role: whether the value is known.
    let mut hero_moves = vec![false; graph.len()];
    let mut other_moves = vec![false; graph.len()];
    let mut open: Vec<(NodeId, bool)> = Vec::new();
    for (worth, leaf) in leaves {
        let worth = worth as i32;
        open.push((leaf, graph.leaving[leaf as usize] > 0));
        // All positions that depend on this one get the same value.
        while let Some((node, hero)) = open.pop() {
            let at = node as usize;
            if hero {
                if std::mem::replace(&mut hero_moves[at], true) {
                    continue;
                }
                values[at] = Some(worth);
            } else {
                to_come[at] -= 1;
                if to_come[at] > 0 {
                    continue;
                }
                other_moves[at] = true;
                values[at] = Some(-worth);
            }
            debug_assert!(!(hero_moves[at] && other_moves[at]), "good for both");
            open.extend(graph.before.of(node).iter().map(|before| (*before, !hero)));
        }
    }
    values
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    use super::*;

    fn graph(leaving: &[Option<i32>], edges: &[(NodeId, NodeId)]) -> Graph {
        let mut builder = GraphBuilder::default();
        for leaving in leaving {
            builder.add(*leaving);
        }
        for &(from, to) in edges {
            builder.connect(from, to);
        }
        builder.finish()
    }

    #[test]
    fn repetition_is_worth_nothing_to_either_side() {
        let circle = [(0, 1), (1, 0)];
        // White to move at 0, Black at 1; -10 and +30 for White.
        let both = graph(&[Some(-10), Some(-30)], &circle);
        assert_eq!(solve(&both), [Some(0), Some(0)]);
        // Black leaves if that is better than the cycle.
        let leaves = graph(&[Some(-10), Some(5)], &circle);
        assert_eq!(solve(&leaves), [Some(-5), Some(5)]);
    }

    #[test]
    fn unknown_ends_count_as_if_they_were_not_there() {
        let tree = graph(&[None, Some(-20), None, None], &[(0, 1), (0, 2), (2, 3)]);
        assert_eq!(solve(&tree), [Some(20), Some(-20), None, None]);
        let alone = graph(&[None, None], &[(0, 1), (1, 0)]);
        assert_eq!(solve(&alone), [None, None]);
    }

    /// Plays until the result no longer changes: the value of the game with
    /// a draw at the end.
    fn finite_horizon(leaving: &[i32], edges: &[(NodeId, NodeId)], plies: usize) -> Vec<i32> {
        let mut values = vec![0; leaving.len()];
        for _ in 0..plies {
            let after = |node: usize| {
                let moves = edges.iter().filter(|(from, _)| *from as usize == node);
                let moves = moves.map(|(_, to)| -values[*to as usize]);
                moves.chain([leaving[node]]).max().unwrap_or(0)
            };
            values = (0..leaving.len()).map(after).collect();
        }
        values
    }

    #[test]
    fn equal_to_playing_it_out_on_thousands_of_graphs_with_circles() {
        let mut rng = SmallRng::seed_from_u64(5);
        for round in 0..4000 {
            let count: u32 = rng.random_range(1..9);
            let leaving: Vec<i32> = (0..count).map(|_| rng.random_range(-30..31)).collect();
            let edges: Vec<_> = (0..rng.random_range(0..3 * count))
                .map(|_| (rng.random_range(0..count), rng.random_range(0..count)))
                .collect();
            let known: Vec<_> = leaving.iter().copied().map(Some).collect();
            let exact = solve(&graph(&known, &edges));
            let exact: Vec<i32> = exact.into_iter().map(Option::unwrap).collect();
            let played = finite_horizon(&leaving, &edges, 200);
            assert_eq!(exact, played, "{round}: {leaving:?} {edges:?}");
        }
    }
}
