//! Builds a graph from a book.

use shakmaty::Chess;

use super::{BookGraph, GraphMove, NodeId};
use crate::error::{Error, too_large};
use tabia_book::ctg::{BookEntry, CanonicalBoard, Key};
use tabia_book::evals::EvalKey;
use tabia_book::{self as book, Book, BookPosition, PositionRecord};
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
                |all: &mut Vec<Result<NewNode, book::Error>>, entry| {
                    let read = entry.map(|(place, entry)| {
                        let found =
                            BookPosition::from_entry(&BookEntry::from_entry(place, &entry)?)?;
                        NewNode::new(&found)
                    });
                    all.extend(read.transpose());
                    Ok(())
                },
                Ok,
                |all| {
                    all.into_iter().try_for_each(|read| match read {
                        Ok(read) => making.add(read),
                        Err(error) => {
                            damaged(&error);
                            Ok(())
                        }
                    })
                },
            )?,
            None => {
                for (done, found) in book.positions().enumerate() {
                    watch.position("reading", done as u64, None)?;
                    if let Some(read) = NewNode::new(&found?) {
                        making.add(read)?;
                    }
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

/// A position that is being added to a graph.
struct NewNode {
    key: Key,
    record: PositionRecord,
    /// The moves, with the target of each.
    moves: Vec<(GraphMove, EvalKey)>,
}

impl NewNode {
    /// `None` with castling rights of Chess960.
    fn new(found: &BookPosition) -> Option<NewNode> {
        let board = CanonicalBoard::from_position(&found.position)?;
        let moves = found.moves.iter().filter_map(|known| {
            let child = after(&found.position, known.mv)?;
            let mv = known.mv.to_uci(shakmaty::CastlingMode::Chess960);
            let mv = GraphMove {
                mv: board.orientation().apply_to_move(mv),
                to: OPEN,
                annotation: known.annotation,
                preference: known.preference,
            };
            Some((mv, EvalKey::from_board_key(&child)))
        });
        Some(NewNode {
            key: board.key(),
            record: found.record,
            moves: moves.collect(),
        })
    }
}

impl Making {
    fn add(&mut self, read: NewNode) -> Result<(), Error> {
        // Only books that do not exchange colours store a position twice: the first one
        // is used.
        if self.graph.number(&read.key)?.is_none() {
            return Ok(());
        }
        self.graph.records.push(read.record);
        for (mv, target) in read.moves {
            self.targets.push(target);
            self.graph.moves.push(mv);
        }
        let end = u32::try_from(self.graph.moves.len()).map_err(too_large)?;
        self.graph.move_begins.push(end);
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
