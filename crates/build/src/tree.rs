//! The opening tree: counts the first moves, which most games share.
//!
//! Its positions are counted in place, without normalising them, encoding their
//! keys or sorting, because a sequence of moves identifies a node. A game adds only
//! a few nodes, so the tree contains the lines that are played often. Positions
//! that are reached in two ways have two nodes, which are added up later. The tree
//! saves time only: all numbers are the same without it.

use std::num::NonZeroU32;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move};

use super::node::{self, BookOrder, Node, Outcome};
use tabia_book::Stats;
use tabia_book::ctg::{CanonicalBoard, Key, encode_move_byte};

/// Nodes that one game may add.
const GROWTH: usize = 6;

/// A node of the tree: the data used in every game, in one cache line. Its counters
/// are large enough for [`MOST_GAMES`] games.
#[repr(align(64))]
struct TreeNode {
    stats: Stats,
    /// The first move added after this node, and its node: far from the start usually the
    /// only one, and found faster than in the table.
    first: Option<(u32, NonZeroU32)>,
    /// Number of games in which the move to this node was played.
    played: u32,
    /// [`BookOrder::order`].
    order: u32,
    /// The byte of the move to this node, if the format has one.
    byte: Option<u8>,
}

const _: () = assert!(size_of::<TreeNode>() == 64);

/// Data of a node that only [`Tree::drain`] uses.
struct Origin {
    key: [u8; Key::MAX_BYTES],
    parent: u32,
}

/// Memory for a node with its share of the table, in bytes.
const NODE_BYTES: usize = size_of::<TreeNode>() + size_of::<Origin>() + 32;

/// A tree must be drained after this many games, so that no counter of a node
/// overflows.
const MOST_GAMES: u32 = u32::MAX;

/// The result of following one move.
pub(super) struct FollowedMove {
    /// The node after the move.
    pub(super) node: u32,
    /// The byte of the move.
    pub(super) byte: Option<u8>,
}

/// The tree from the usual start position.
pub(super) struct Tree {
    nodes: Vec<TreeNode>,
    /// Has the same indices as `nodes`.
    origins: Vec<Origin>,
    steps: HashMap<u64, u32, FxBuildHasher>,
    most: usize,
    /// Number of nodes that the current game may still add.
    growth: usize,
}

impl Tree {
    /// Makes a tree of at most `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            origins: Vec::new(),
            steps: HashMap::default(),
            most: bytes / NODE_BYTES,
            growth: 0,
        };
        tree.add_start();
        tree
    }

    fn add_start(&mut self) {
        if let Some(board) = CanonicalBoard::from_position(&Chess::default()) {
            self.push(&board.key(), 0, None);
        }
    }

    fn push(&mut self, key: &Key, parent: u32, byte: Option<u8>) -> u32 {
        self.nodes.push(TreeNode {
            stats: Stats::default(),
            first: None,
            played: 0,
            order: BookOrder::order_of(key),
            byte,
        });
        let key = *key.padded();
        self.origins.push(Origin { key, parent });
        self.nodes.len() as u32 - 1
    }

    /// Whether the tree must be drained before the next game.
    pub(super) fn is_full(&self) -> bool {
        self.nodes
            .first()
            .is_some_and(|start| start.stats.games == MOST_GAMES)
    }

    /// Starts a game; returns the first node.
    pub(super) fn start(&mut self) -> u32 {
        self.growth = GROWTH;
        0
    }

    /// [`BookOrder::order`] of a node.
    pub(super) fn order(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.order)
    }

    /// The key of a node.
    pub(super) fn key(&self, node: u32) -> Key {
        let origin = self.origins.get(node as usize);
        Key::from_padded(origin.map_or([0; Key::MAX_BYTES], |origin| origin.key))
    }

    /// Counts a game at a node.
    pub(super) fn count(&mut self, node: u32, outcome: Outcome, own: u16, other: u16) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node::count(&mut node.stats, outcome, own, other);
        }
    }

    /// Counts a game in which the move to a node was played.
    pub(super) fn count_move(&mut self, node: u32) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.played += 1;
        }
    }

    /// Follows a move, or adds it. `position` is before the move and `next` after it.
    /// Returns `None` where the tree ends.
    pub(super) fn step(
        &mut self,
        node: u32,
        m: Move,
        position: &Chess,
        next: &Chess,
    ) -> Option<FollowedMove> {
        let name = name(m)?;
        let first = self.nodes.get(node as usize)?.first;
        let known = match first {
            Some((first, child)) if first == name => Some(child.get()),
            Some(_) => self
                .steps
                .get(&(u64::from(node) << 32 | u64::from(name)))
                .copied(),
            None => None,
        };
        if let Some(child) = known {
            let byte = self.nodes.get(child as usize)?.byte;
            return Some(FollowedMove { node: child, byte });
        }
        if self.growth == 0 || self.nodes.len() >= self.most {
            return None;
        }
        self.growth -= 1;
        let byte = encode_move_byte(&CanonicalBoard::from_position(position)?, m);
        let key = CanonicalBoard::from_position(next)?.key();
        let child = self.push(&key, node, byte);
        match (self.nodes.get_mut(node as usize), first) {
            (Some(parent), None) => {
                parent.first = NonZeroU32::new(child).map(|child| (name, child));
            }
            _ => {
                self.steps
                    .insert(u64::from(node) << 32 | u64::from(name), child);
            }
        }
        Some(FollowedMove { node: child, byte })
    }

    /// Passes all counts to `sink`, in order, and empties the tree.
    pub(super) fn drain<E>(
        &mut self,
        mut sink: impl FnMut(&Node) -> Result<(), E>,
    ) -> Result<(), E> {
        self.steps = HashMap::default();
        let nodes = std::mem::take(&mut self.nodes);
        let origins = std::mem::take(&mut self.origins);
        self.add_start();
        // (order, node, is move): a node's numbers, and its move at the order of its parent.
        let mut parts: Vec<(u32, u32, bool)> = Vec::with_capacity(2 * nodes.len());
        for (n, (node, origin)) in nodes.iter().zip(&origins).enumerate() {
            if node.stats.games > 0 {
                parts.push((node.order, n as u32, false));
            }
            // The start has no byte.
            if let Some(parent) = nodes.get(origin.parent as usize)
                && node.byte.is_some()
                && node.played > 0
            {
                parts.push((parent.order, n as u32, true));
            }
        }
        parts.sort_unstable();
        // Where the numbers of a part belong in the order.
        let place = |&(order, n, is_move): &(u32, u32, bool)| {
            let mut origin = origins.get(n as usize)?;
            if is_move {
                origin = origins.get(origin.parent as usize)?;
            }
            let key = origin.key;
            Some(BookOrder { order, key })
        };
        for same in parts.chunk_by_mut(|a, b| a.0 == b.0) {
            // Different keys may have the same hash.
            same.sort_by_key(place);
        }
        let mut sum: Option<Node> = None;
        for part in parts {
            let (Some(place), (_, n, is_move)) = (place(&part), part) else {
                continue;
            };
            if sum.as_ref().is_some_and(|sum| sum.place != place)
                && let Some(sum) = sum.take()
            {
                sink(&sum)?;
            }
            let sum = sum.get_or_insert_with(|| Node::new(place));
            let Some(node) = nodes.get(n as usize) else {
                continue;
            };
            match node.byte {
                Some(byte) if is_move => sum.add_move(byte, node.played.into()),
                _ => sum.tally.join(&node.stats.into()),
            }
        }
        sum.as_ref().map_or(Ok(()), sink)
    }
}

/// A number that distinguishes the moves of one position.
fn name(m: Move) -> Option<u32> {
    let promotion = m.promotion().map_or(0, |role| role as u32);
    Some(m.from()?.to_u32() << 9 | m.to().to_u32() << 3 | promotion)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use shakmaty::Position;
    use shakmaty::uci::UciMove;

    /// Follows a game, knights to and fro; returns the number of moves that are in the tree.
    fn followed(tree: &mut Tree) -> usize {
        let (mut node, mut position) = (tree.start(), Chess::default());
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].into_iter().cycle();
        for (n, name) in moves.enumerate() {
            let m: UciMove = name.parse().unwrap();
            let m = m.to_move(&position).unwrap();
            let next = position.clone().play(m).unwrap();
            let Some(step) = tree.step(node, m, &position, &next) else {
                return n;
            };
            (node, position) = (step.node, next);
        }
        unreachable!("the tree grows without end");
    }

    #[test]
    fn a_game_adds_few_nodes_until_there_is_no_room() {
        let mut tree = Tree::new(15 * NODE_BYTES);
        // The start needs room, too.
        for expected in [GROWTH, 2 * GROWTH, 14, 14] {
            assert_eq!(followed(&mut tree), expected);
        }
    }

    #[test]
    fn a_drained_tree_counts_anew() {
        let mut tree = Tree::new(1 << 16);
        for _ in 0..2 {
            let start = tree.start();
            tree.nodes.first_mut().unwrap().stats.games = MOST_GAMES - 1;
            assert!(!tree.is_full());
            tree.count(start, Outcome::Won, 2000, 0);
            assert!(tree.is_full());
            let mut drained = Vec::new();
            let drain = tree.drain(|node| {
                drained.push((node.tally.games, node.tally.wins, node.tally.own_rating_sum));
                Ok::<_, ()>(())
            });
            assert_eq!(drain, Ok(()));
            assert_eq!(drained, [(MOST_GAMES.into(), 1, 2000)]);
            assert!(!tree.is_full());
        }
    }
}
