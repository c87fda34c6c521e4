//! Builds a graph from a book.

use shakmaty::{Chess, uci::UciMove};

use super::{BookGraph, GraphMove, NodeId};
use crate::error::{Error, too_large};
use tabia_book::ctg::{BookEntry, CanonicalBoard, Entry, EntryAddress, Key};
use tabia_book::evals::EvalKey;
use tabia_book::{self as book, Book, BookPosition, PositionRecord, Preference};
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// The target of a move whose position has no number yet.
const OPEN: NodeId = NodeId::MAX;

impl BookGraph {
    /// The graph of a book. Damaged pages and positions with castling rights of Chess960
    /// are left out and reported to `damaged`.
    ///
    /// # Errors
    ///
    /// The book cannot be read, or the work is cancelled.
    pub fn from_book(
        book: &Book,
        watch: &mut Watch<'_>,
        damaged: &mut dyn FnMut(&book::Error),
    ) -> Result<BookGraph, Error> {
        let mut making = Making::default();
        match book.as_ctg() {
            Some(book) => book.each_block(
                "reading",
                watch,
                |block: &mut Block, entry| {
                    match entry {
                        Ok((place, entry)) => block.add_entry(place, &entry),
                        Err(error) => block.damaged.push(error),
                    }
                    Ok(())
                },
                Ok,
                |block| {
                    block.damaged.iter().for_each(&mut *damaged);
                    making.add(block)
                },
            )?,
            None => {
                for (done, found) in book.positions().enumerate() {
                    watch.position("reading", done as u64, None)?;
                    let mut block = Block::default();
                    block.add(&found?);
                    making.add(block)?;
                }
            }
        }
        making.finish()
    }

    /// Gives a position the next number; `None` if it has one.
    pub(super) fn number(&mut self, key: &Key) -> Result<Option<NodeId>, Error> {
        if self.board_begins.is_empty() {
            self.board_begins.push(0);
            self.move_begins.push(0);
        }
        let number = NodeId::try_from(self.len()).map_err(too_large)?;
        match self.nodes.entry(EvalKey::from_board_key(key)) {
            std::collections::hash_map::Entry::Occupied(_) => Ok(None),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(number);
                self.boards.extend_from_slice(key.as_bytes());
                let end = u32::try_from(self.boards.len()).map_err(too_large)?;
                self.board_begins.push(end);
                Ok(Some(number))
            }
        }
    }
}

#[derive(Default)]
struct Making {
    graph: BookGraph,
    /// The target of each move of the graph.
    targets: Vec<EvalKey>,
}

fn after(position: &Chess, mv: shakmaty::Move) -> Option<Key> {
    let next = notation::after(position, mv);
    Some(CanonicalBoard::from_position(&next)?.key())
}

/// Positions that are being added to a graph.
#[derive(Default)]
struct Block {
    /// Each with the end of its moves.
    nodes: Vec<(Key, PositionRecord, usize)>,
    /// The moves, with the target of each.
    moves: Vec<(GraphMove, EvalKey)>,
    damaged: Vec<book::Error>,
}

impl Block {
    fn add_entry(&mut self, place: EntryAddress, entry: &Entry<'_>) {
        let ordinary = entry.each_step(|mv, annotation, after| {
            let (from, to) = mv.squares();
            let promotion = mv.promotion();
            let mv = GraphMove {
                mv: UciMove::Normal {
                    from,
                    to,
                    promotion,
                },
                to: OPEN,
                annotation,
                preference: Preference::Statistics,
            };
            self.moves.push((mv, EvalKey::from_board_key(&after)));
        });
        match ordinary {
            Some(key) => self.nodes.push((key, entry.record(), self.moves.len())),
            None => {
                let entry = BookEntry::from_entry(place, entry);
                let found = entry.and_then(|entry| BookPosition::from_entry(&entry));
                found.into_iter().for_each(|found| self.add(&found));
            }
        }
    }

    /// Nothing with castling rights of Chess960.
    fn add(&mut self, found: &BookPosition) {
        let Some(board) = CanonicalBoard::from_position(&found.position) else {
            return;
        };
        self.moves.extend(found.moves.iter().filter_map(|known| {
            let child = after(&found.position, known.mv)?;
            let mv = known.mv.to_uci(shakmaty::CastlingMode::Chess960);
            let mv = GraphMove {
                mv: board.orientation().apply_to_move(mv),
                to: OPEN,
                annotation: known.annotation,
                preference: known.preference,
            };
            Some((mv, EvalKey::from_board_key(&child)))
        }));
        let node = (board.key(), found.record, self.moves.len());
        self.nodes.push(node);
    }
}

impl Making {
    fn add(&mut self, block: Block) -> Result<(), Error> {
        let mut start = 0;
        for (key, record, end) in block.nodes {
            let moves = block.moves.get(start..end).unwrap_or_default();
            start = end;
            // Only books that do not exchange colours store a position twice: the first one
            // is used.
            if self.graph.number(&key)?.is_none() {
                continue;
            }
            self.graph.records.push(record);
            self.targets.extend(moves.iter().map(|(_, target)| *target));
            self.graph.moves.extend(moves.iter().map(|(mv, _)| *mv));
            let end = u32::try_from(self.graph.moves.len()).map_err(too_large)?;
            self.graph.move_begins.push(end);
        }
        Ok(())
    }

    /// Numbers the targets of moves; positions that are not in the book come after the
    /// others.
    fn finish(mut self) -> Result<BookGraph, Error> {
        for node in 0..self.graph.records.len() {
            let range =
                self.graph.move_begins[node] as usize..self.graph.move_begins[node + 1] as usize;
            for index in range {
                let target = self.targets[index];
                let to = match self.graph.nodes.get(&target) {
                    Some(to) => *to,
                    None => self.outside(node as NodeId, index)?,
                };
                self.graph.moves[index].to = to;
            }
        }
        Ok(self.graph)
    }

    fn outside(&mut self, node: NodeId, index: usize) -> Result<NodeId, Error> {
        let position = self.graph.position(node);
        let mv = self.graph.moves[index].mv.to_move(&position);
        let key = mv.ok().and_then(|mv| after(&position, mv));
        let number = match key {
            Some(key) => self.graph.number(&key)?,
            None => None,
        };
        // The move was played when its position was new.
        number.ok_or_else(|| too_large(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_book::ctg::{CtgBook, OpenOptions, encode_entry, read_entry};

    /// Also for entries with a wrong bit.
    #[test]
    fn what_is_found_without_the_rules_of_chess_is_found_by_them() {
        let book = CtgBook::open("../../tests/data/small.ctg", &OpenOptions::default()).unwrap();
        let (mut compared, mut state) = (0, 1_usize);
        let mut compare = |place, bytes: &[u8]| {
            let Ok(entry) = read_entry(bytes) else { return };
            let (mut made, mut by_rules) = (Block::default(), Block::default());
            made.add_entry(place, &entry);
            let entry = BookEntry::from_entry(place, &entry).unwrap();
            let found = BookPosition::from_entry(&entry);
            found.into_iter().for_each(|found| by_rules.add(&found));
            assert_eq!((made.nodes, made.moves), (by_rules.nodes, by_rules.moves));
            compared += 1;
        };
        for entry in book.entries() {
            let entry = entry.unwrap();
            let (place, mut bytes) = (entry.place, Vec::new());
            encode_entry(&entry.key, &entry.moves, &entry.record, &mut bytes);
            compare(place, &bytes);
            for _ in 0..8 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let bit = (state >> 33) % (8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
                compare(place, &bytes);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        assert!(compared > 8000, "{compared}");
    }
}
