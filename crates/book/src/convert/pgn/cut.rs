//! Cuts a tree into games of limited size.

use std::ops::Range;

use super::tree::PgnTree;

/// A game: some of the moves after a node, with all moves after them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Game {
    /// The node before them; the game begins with the moves to it.
    pub(super) node: u32,
    /// The nodes of its moves, the main line first.
    pub(super) moves: Range<u32>,
}

/// Cuts the tree into games of about `most` moves. A subtree that fits is one game; of a
/// larger one, moves that fit are put together, and the others are cut further.
pub(super) fn games(tree: &PgnTree, most: u32) -> Vec<Game> {
    let mut games = Vec::new();
    if tree.node(0).is_some_and(|start| start.size > 0) {
        below(tree, 0, most, &mut games);
    }
    games
}

/// Recursive; its depth is at most the length of the longest line.
fn below(tree: &PgnTree, number: u32, most: u32, games: &mut Vec<Game>) {
    let Some(node) = tree.node(number) else {
        return;
    };
    if node.size <= most {
        games.push(Game {
            node: number,
            moves: tree.children(number),
        });
        return;
    }
    let children = tree.children(number);
    let mut together = children.start..children.start;
    let mut size = 0_u32;
    let put = |moves: Range<u32>, games: &mut Vec<Game>| {
        if !moves.is_empty() {
            games.push(Game {
                node: number,
                moves,
            });
        }
    };
    for child in children {
        let subtree = tree.node(child).map_or(0, |child| child.size + 1);
        if size + subtree > most {
            put(together, games);
            (together, size) = (child..child, 0);
        }
        if subtree > most {
            below(tree, child, most, games);
            together = child + 1..child + 1;
            continue;
        }
        together.end = child + 1;
        size += subtree;
    }
    put(together, games);
}

/// The game of each node. A node that only leads to several games is in the first of
/// them.
pub(super) fn places(tree: &PgnTree, games: &[Game]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut places = vec![NONE; tree.nodes.len()];
    for (game, number) in games.iter().zip(0..) {
        for node in game.moves.clone() {
            if let Some(place) = places.get_mut(node as usize) {
                *place = number;
            }
        }
    }
    // Parents come before their children.
    for number in 1..tree.nodes.len() {
        let parent = tree.nodes.get(number).map_or(0, |node| node.parent);
        let above = places.get(parent as usize).copied().unwrap_or(NONE);
        if let Some(place) = places.get_mut(number)
            && *place == NONE
        {
            *place = above;
        }
    }
    for (game, number) in games.iter().zip(0..) {
        for node in tree.path(game.node) {
            if let Some(place) = places.get_mut(node as usize)
                && *place == NONE
            {
                *place = number;
            }
        }
    }
    places
}
