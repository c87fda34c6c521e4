//! Writes each line of a tree as a game, and a table of the moves that are in none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use shakmaty::{Chess, Position as _};

use super::cut::Game;
use super::lines::interval;
use super::tree::PgnTree;
use crate::Stats;
use crate::convert::Converted;
use tabia_notation as notation;

/// A game for each end of the tree.
pub(super) fn games(tree: &PgnTree) -> Vec<Game> {
    let nodes = 1..tree.nodes.len() as u32;
    let ends = nodes.filter(|node| tree.children(*node).is_empty());
    ends.map(|node| Game { node, moves: 0..0 }).collect()
}

/// Counts the moves that were not taken, by their reasons.
pub(super) fn note(tree: &PgnTree, summary: &mut Converted) {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for refused in &tree.refused {
        *kinds.entry(refused.why.kind()).or_default() += 1;
    }
    for (kind, count) in kinds {
        summary.note(count, &format!("moves not taken: {kind}"));
    }
}

/// The table of the moves that were not taken: a row for each.
pub(super) fn report(tree: &PgnTree, text: &mut String) {
    text.push_str("line,move,games,score,low,high,reason\n");
    for refused in &tree.refused {
        let mut position = Chess::default();
        let mut line = String::new();
        for node in tree.path(refused.after) {
            let Some((entry, _)) = tree.move_of(node, &position) else {
                continue;
            };
            if position.turn().is_white() {
                let _ = write!(line, "{}.", position.fullmoves());
            }
            let _ = write!(line, "{} ", notation::san(&position, entry.mv));
            position.play_unchecked(entry.mv);
        }
        let Stats { games, .. } = refused.stats;
        let san = notation::san(&position, refused.mv);
        let _ = write!(text, "{},{san},{games},", line.trim_end());
        let [low, high] = interval(refused.stats);
        match refused.stats.score() {
            Some(score) => {
                let _ = write!(text, "{score:.3},{low:.3},{high:.3}");
            }
            None => text.push_str(",,"),
        }
        let _ = writeln!(text, ",\"{}\"", refused.why.shown(&position));
    }
}
