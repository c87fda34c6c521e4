//! Merges runs into the entries of the book, in order, with two or more threads.

use std::cmp::Reverse;

use super::BuildError;
use super::node::{self, Node};
use tabia_book::ctg::{BookWriter, Key, encode_entry};
use tabia_book::{Annotation, PositionRecord};
use tabia_io::sort::{Merge, Sorted};

/// The most moves of an entry: the limit of old readers.
pub const MAX_MOVES: usize = 50;

/// The raw recommendation of a main move.
const MAIN_MOVE: u8 = 0x80;

/// What of the nodes is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// Positions and moves of fewer games are left out.
    pub(super) min_games: u32,
    /// All counts are divided by it.
    pub(super) divisor: u64,
}

impl Default for Stored {
    fn default() -> Stored {
        Stored {
            min_games: 1,
            divisor: 1,
        }
    }
}

/// Appends the entry of a node, if it has enough games; returns the number of its
/// moves.
fn entry(node: &Node, stored: Stored, scratch: &mut Scratch, out: &mut Vec<u8>) -> Option<usize> {
    let least = u64::from(stored.min_games);
    // Positions of variations have no games; they are stored unless more than one game
    // is required.
    let admitted = |games: u64| games >= least || games == 0 && least <= 1;
    if !admitted(node.tally.games) {
        return None;
    }
    let Scratch { played, moves } = scratch;
    let annotated = |byte| (byte, Annotation(node.nag(Some(byte))));
    moves.clear();
    match *node.moves {
        // By far the most frequent case.
        [(byte, games)] => moves.extend(admitted(games).then(|| annotated(byte))),
        _ => {
            played.clear();
            played.extend(node.moves.iter().filter(|(_, games)| admitted(*games)));
            played.sort_unstable_by_key(|&(byte, games)| (Reverse(games), byte));
            let first = played.iter().take(MAX_MOVES);
            moves.extend(first.map(|&(byte, _)| annotated(byte)));
        }
    }
    let (stats, points) = node::fitted(&node::divided(&node.tally, stored.divisor));
    let record = PositionRecord {
        stats,
        points,
        recommendation: u8::from(node.main) * MAIN_MOVE,
        learn_value: 0,
        commentary: node.nag(None),
    };
    let key = Key::from_padded(node.place.key);
    encode_entry(&key, moves, &record, out);
    Some(moves.len())
}

/// Buffers of [`entry`].
#[derive(Default)]
struct Scratch {
    played: Vec<(u8, u64)>,
    moves: Vec<(u8, Annotation)>,
}

/// Consecutive entries, in order.
#[derive(Default)]
pub(super) struct Piece {
    bytes: Vec<u8>,
    entries: Vec<Made>,
}

/// Properties of an entry.
struct Made {
    order: u32,
    bytes: u16,
    moves: u8,
}

impl Piece {
    /// The place of the last entry in the order: its bit-reversed hash.
    pub(super) fn last_order(&self) -> u32 {
        self.entries.last().map_or(u32::MAX, |made| made.order)
    }

    /// Writes the entries into a book; returns their number.
    pub(super) fn write(&self, writer: &mut BookWriter) -> Result<u64, BuildError> {
        let mut rest = self.bytes.as_slice();
        for made in &self.entries {
            let (entry, after) = rest.split_at(usize::from(made.bytes));
            rest = after;
            writer.push_made(made.order, entry, usize::from(made.moves))?;
        }
        Ok(self.entries.len() as u64)
    }
}

/// Merges the runs with several threads and passes the entries to `sink` in order.
pub(super) fn emit(
    sorted: &Sorted<Node>,
    stored: Stored,
    threads: usize,
    sink: impl FnMut(Piece) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let make = |mut merge: Merge<Node>| {
        let mut piece = Piece::default();
        let mut scratch = Scratch::default();
        while let Some(node) = merge.next()? {
            let start = piece.bytes.len();
            if let Some(moves) = entry(node, stored, &mut scratch, &mut piece.bytes) {
                piece.entries.push(Made {
                    order: node.place.order,
                    bytes: (piece.bytes.len() - start) as u16,
                    // At most MAX_MOVES.
                    moves: moves as u8,
                });
            }
        }
        Ok(piece)
    };
    sorted.in_threads(threads, make, sink)
}
