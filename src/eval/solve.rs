//! Values carried from the ends of a book to all its positions.
//!
//! A book is a graph: transpositions join its lines, and moves back and forth
//! close circles. The side to move may play a move of the book or *leave* it;
//! leaving is worth what an engine says about the best move that is not in the
//! book. Both sides play for their best; who walks in circles for ever gets a
//! draw. What follows is the exact value of that game.
//!
//! Sweeping over the positions until nothing changes is not enough: it
//! depends on the order, may never settle, and credits sides with values that
//! they would have to leave a circle for. Instead, for one side at a time,
//! values above zero are dealt out from the greatest down: a position where
//! that side moves takes the first that arrives; one where the opponent moves
//! takes the *last* of all his options (he keeps to what is least). Positions
//! that get nothing for either side are drawn. Each edge is looked at once for
//! each side.

use shakmaty::Color;

/// A position of a [`Graph`].
pub type Node = u32;

/// Positions, the moves between them, and what leaving is worth.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    white_to_move: Vec<bool>,
    /// Centipawns for White; `NO_VALUE` where nobody knows.
    leaving: Vec<i32>,
    /// Where the edges into a node begin in `from`; one more than nodes.
    begins: Vec<u32>,
    /// Where the edges into the nodes come from.
    from: Vec<Node>,
}

/// Collects a [`Graph`].
#[derive(Clone, Debug, Default)]
pub struct GraphBuilder {
    white_to_move: Vec<bool>,
    leaving: Vec<i32>,
    edges: Vec<(Node, Node)>,
}

const NO_VALUE: i32 = i32::MIN;

impl GraphBuilder {
    /// Adds a position. `leaving` is what it is worth to leave the book there,
    /// in centipawns for White; `None` where nobody knows.
    pub fn add(&mut self, turn: Color, leaving: Option<i32>) -> Node {
        self.white_to_move.push(turn.is_white());
        self.leaving.push(leaving.unwrap_or(NO_VALUE));
        (self.leaving.len() - 1) as Node
    }

    /// Adds a move of the book from one position to another.
    pub fn connect(&mut self, from: Node, to: Node) {
        self.edges.push((from, to));
    }

    /// The graph, 4 bytes for each edge and 9 for each node.
    #[must_use]
    pub fn finish(self) -> Graph {
        let mut begins = vec![0_u32; self.leaving.len() + 1];
        for &(_, to) in &self.edges {
            begins[to as usize + 1] += 1;
        }
        for n in 1..begins.len() {
            begins[n] += begins[n - 1];
        }
        let mut next = begins.clone();
        let mut from = vec![0; self.edges.len()];
        for (before, to) in self.edges {
            let place = &mut next[to as usize];
            from[*place as usize] = before;
            *place += 1;
        }
        Graph {
            white_to_move: self.white_to_move,
            leaving: self.leaving,
            begins,
            from,
        }
    }
}

impl Graph {
    /// How many positions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.leaving.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leaving.is_empty()
    }

    fn before(&self, node: Node) -> &[Node] {
        let node = node as usize;
        &self.from[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// The positions from which some known value can be reached at all.
    fn known(&self) -> Vec<bool> {
        let mut known: Vec<bool> = self
            .leaving
            .iter()
            .map(|value| *value != NO_VALUE)
            .collect();
        let mut open: Vec<Node> = (0..self.len() as Node)
            .filter(|n| known[*n as usize])
            .collect();
        while let Some(node) = open.pop() {
            for &before in self.before(node) {
                if !std::mem::replace(&mut known[before as usize], true) {
                    open.push(before);
                }
            }
        }
        known
    }
}

/// The value of every position in centipawns for White; `None` where no known
/// value can be reached from it.
///
/// Moves into such unknown positions count as if they were not there: nothing
/// is known that speaks for or against them.
#[must_use]
pub fn solve(graph: &Graph) -> Vec<Option<i32>> {
    let known = graph.known();
    // Options of each node: leaving, and moves into known positions.
    let mut options: Vec<u32> = graph
        .leaving
        .iter()
        .map(|value| u32::from(*value != NO_VALUE))
        .collect();
    for node in (0..graph.len() as Node).filter(|n| known[*n as usize]) {
        for &before in graph.before(node) {
            options[before as usize] += 1;
        }
    }
    let mut values: Vec<Option<i32>> = known.iter().map(|known| known.then_some(0)).collect();
    for hero in [Color::White, Color::Black] {
        deal_out(graph, hero, &options, &mut values);
    }
    values
}

/// Sets the values of the positions that are better than a draw for `hero`.
fn deal_out(graph: &Graph, hero: Color, options: &[u32], values: &mut [Option<i32>]) {
    let sign = hero.fold_wb(1, -1);
    let mut leaves: Vec<(i32, Node)> = (0..graph.len() as Node)
        .filter_map(|node| {
            let value = Some(graph.leaving[node as usize]).filter(|value| *value != NO_VALUE)?;
            (sign * value > 0).then_some((sign * value, node))
        })
        .collect();
    leaves.sort_unstable_by(|a, b| b.cmp(a));
    let mut to_come = options.to_vec();
    let mut dealt = vec![false; graph.len()];
    let mut open = Vec::new();
    for (worth, leaf) in leaves {
        open.push(leaf);
        // All that hangs on this leaf is worth the same.
        while let Some(node) = open.pop() {
            let at = node as usize;
            if dealt[at] {
                continue;
            }
            to_come[at] -= 1;
            if graph.white_to_move[at] != hero.is_white() && to_come[at] > 0 {
                continue;
            }
            dealt[at] = true;
            values[at] = Some(sign * worth);
            open.extend_from_slice(graph.before(node));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    use super::*;
    use Color::{Black, White};

    fn graph(nodes: &[(Color, Option<i32>)], edges: &[(Node, Node)]) -> Graph {
        let mut builder = GraphBuilder::default();
        for &(turn, leaving) in nodes {
            builder.add(turn, leaving);
        }
        for &(from, to) in edges {
            builder.connect(from, to);
        }
        builder.finish()
    }

    #[test]
    fn repetition_is_worth_nothing_to_either_side() {
        let circle = [(0, 1), (1, 0)];
        let both = graph(&[(White, Some(-10)), (Black, Some(30))], &circle);
        assert_eq!(solve(&both), [Some(0), Some(0)]);
        // Black leaves when that is better for him than going round.
        let leaves = graph(&[(White, Some(-10)), (Black, Some(-5))], &circle);
        assert_eq!(solve(&leaves), [Some(-5), Some(-5)]);
    }

    #[test]
    fn unknown_ends_count_as_if_they_were_not_there() {
        let tree = graph(
            &[
                (White, None),
                (Black, Some(20)),
                (Black, None),
                (White, None),
            ],
            &[(0, 1), (0, 2), (2, 3)],
        );
        assert_eq!(solve(&tree), [Some(20), Some(20), None, None]);
        let alone = graph(&[(White, None), (Black, None)], &[(0, 1), (1, 0)]);
        assert_eq!(solve(&alone), [None, None]);
    }

    /// Plays so many moves that nothing changes any more: the value of the
    /// game that is called a draw then.
    fn finite_horizon(
        nodes: &[(Color, Option<i32>)],
        edges: &[(Node, Node)],
        plies: usize,
    ) -> Vec<i32> {
        let mut values = vec![0; nodes.len()];
        for _ in 0..plies {
            let after = |node: usize| {
                let (turn, leaving) = nodes[node];
                let moves = edges.iter().filter(|(from, _)| *from as usize == node);
                let options = moves.map(|(_, to)| values[*to as usize]).chain(leaving);
                turn.fold_wb(options.clone().max(), options.min())
                    .unwrap_or(0)
            };
            values = (0..nodes.len()).map(after).collect();
        }
        values
    }

    #[test]
    fn equal_to_playing_it_out_on_thousands_of_graphs_with_circles() {
        let mut rng = SmallRng::seed_from_u64(5);
        for round in 0..4000 {
            let count: u32 = rng.random_range(1..9);
            let nodes: Vec<_> = (0..count)
                .map(|_| {
                    let turn = if rng.random() { White } else { Black };
                    (turn, Some(rng.random_range(-30..31)))
                })
                .collect();
            let edges: Vec<_> = (0..rng.random_range(0..3 * count))
                .map(|_| (rng.random_range(0..count), rng.random_range(0..count)))
                .collect();
            let exact: Vec<i32> = solve(&graph(&nodes, &edges))
                .into_iter()
                .map(Option::unwrap)
                .collect();
            assert_eq!(
                exact,
                finite_horizon(&nodes, &edges, 400),
                "{round}: {nodes:?} {edges:?}"
            );
        }
    }
}
