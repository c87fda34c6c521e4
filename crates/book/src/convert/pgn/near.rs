//! The positions of a graph that are near the start, with what a tree needs of them.
//!
//! A walk line by line waits for the memory at each position of a graph. So the graph is walked
//! ply by ply, which lets these waits overlap, and what is found is copied: a row for each entry,
//! in the order of plies, and in a ply in the order in which lines come to it. A walk line by
//! line then reads each ply from front to back.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Role, Square};

use crate::BookMove;
use crate::ctg::{
    ASKED_AT_ONCE, Arrival, BookGraph, EntryNumber, STATISTICS_BYTES, Target, decode_record,
    move_of_byte,
};
use crate::policy::Weighed;

/// No row, no node.
const NONE: u32 = u32::MAX;

/// The policy does not look at the moves themselves.
const ANY: Move = Move::Put {
    role: Role::Pawn,
    to: Square::A1,
};

#[derive(Default)]
pub(super) struct NearStart {
    rows: Vec<Row>,
    moves: Vec<NearMove>,
}

struct Row {
    /// The end of its moves, which begin where those of the row before end.
    end: u32,
    stored: u8,
}

/// A move that is taken.
pub(super) struct NearMove {
    probability: f64,
    /// Where it leads, if to an entry: with the number of its row.
    to: Option<Arrival>,
    byte: u8,
    annotation: crate::Annotation,
    /// The statistics of the entry.
    record: [u8; STATISTICS_BYTES],
}

/// A position: the row of its entry, and how it is turned against its board.
#[derive(Clone, Copy)]
pub(super) struct NearPosition {
    row: u32,
    /// 1 for colours exchanged, 2 for wings.
    form: u8,
    pinned_en_passant: Option<u8>,
}

impl NearStart {
    /// Walks to entries that are so many plies from the start. `choose` returns the moves of a
    /// position that are taken, by their numbers.
    pub(super) fn read(
        graph: &BookGraph,
        plies: u32,
        choose: impl Fn(&[BookMove]) -> Vec<(usize, Weighed)>,
    ) -> NearStart {
        let mut near = NearStart::default();
        let mut numbers = vec![NONE; graph.len()];
        let mut entries: Vec<EntryNumber> = Vec::new();
        let mut enter =
            |entry: EntryNumber, entries: &mut Vec<_>| match numbers.get_mut(entry as usize) {
                Some(number) => {
                    if *number == NONE {
                        *number = entries.len() as u32;
                        entries.push(entry);
                    }
                    *number
                }
                None => NONE,
            };
        if let Some(start) = graph.start() {
            enter(start, &mut entries);
        }
        let (mut ply, mut end_of_ply) = (0, entries.len());
        let (mut found, mut stored) = (Vec::new(), Vec::new());
        while let Some(&entry) = entries.get(near.rows.len()) {
            let number = near.rows.len();
            if number.is_multiple_of(ASKED_AT_ONCE) {
                let next = entries.iter().skip(number).take(ASKED_AT_ONCE);
                graph.ask_for_moves(next.clone().copied());
                graph.ask_for(next.copied());
            }
            if number == end_of_ply {
                (ply, end_of_ply) = (ply + 1, entries.len());
            }
            let legal =
                |(_, _, to): &(_, _, Target)| !matches!(to, Target::Illegal | Target::Repeated);
            stored.clear();
            stored.extend(graph.stored(entry).filter(legal));
            if ply < plies {
                found.clear();
                found.extend(stored.iter().map(|(_, annotation, to)| {
                    let after = to.entry().map(|entry| graph.record(entry));
                    BookMove::stored(ANY, *annotation, after)
                }));
                for (n, verdict) in choose(&found) {
                    let Some(&(byte, annotation, to)) = stored.get(n) else {
                        continue;
                    };
                    let record = to.entry().and_then(|entry| graph.record_bytes(entry));
                    near.moves.push(NearMove {
                        probability: verdict.probability,
                        to: match to {
                            Target::Entry(to) => Some(Arrival {
                                entry: enter(to.entry, &mut entries),
                                ..to
                            }),
                            Target::Illegal | Target::Repeated | Target::Nowhere => None,
                        },
                        byte,
                        annotation,
                        record: record.unwrap_or([0; STATISTICS_BYTES]),
                    });
                }
            }
            near.rows.push(Row {
                end: near.moves.len() as u32,
                stored: stored.len() as u8,
            });
        }
        near
    }

    pub(super) fn start(&self) -> Option<NearPosition> {
        let start = NearPosition {
            row: 0,
            form: 0,
            pinned_en_passant: None,
        };
        (!self.rows.is_empty()).then_some(start)
    }

    /// Whether the book has moves of a position.
    pub(super) fn has_moves(&self, place: NearPosition) -> bool {
        let row = self.rows.get(place.row as usize);
        row.is_some_and(|row| row.stored > 0)
    }

    /// The numbers of the moves that are taken, and how many are not.
    pub(super) fn moves(&self, place: NearPosition) -> (Range<u32>, u64) {
        let row = place.row as usize;
        let end = |row: &Row| row.end;
        let first = row.checked_sub(1).and_then(|row| self.rows.get(row));
        let row = self.rows.get(row);
        let moves = first.map_or(0, end)..row.map_or(0, end);
        let stored = row.map_or(0, |row| u64::from(row.stored));
        let left_out = stored.saturating_sub(moves.len() as u64);
        (moves, left_out)
    }

    pub(super) fn get(&self, mv: u32) -> Option<&NearMove> {
        self.moves.get(mv as usize)
    }

    /// The position after a move, if it is in the book.
    pub(super) fn after(&self, place: NearPosition, mv: u32) -> Option<NearPosition> {
        let to = self.get(mv)?.to?;
        Some(NearPosition {
            row: to.entry,
            form: place.form ^ 1 ^ u8::from(to.mirrored) << 1,
            pinned_en_passant: to.pinned_en_passant,
        })
    }

    pub(super) fn first_nodes(&self) -> FirstNodes {
        FirstNodes {
            plain: vec![[NONE; 4]; self.rows.len()],
            others: HashMap::default(),
            reached: vec![false; self.rows.len()],
        }
    }
}

impl NearMove {
    /// The move in a position, with its probability.
    pub(super) fn in_position(&self, before: &Chess) -> Option<(BookMove, f64)> {
        let mv = move_of_byte(before, self.byte)?;
        let after = self.to.and_then(|_| decode_record(&self.record));
        Some((
            BookMove::stored(mv, self.annotation, after),
            self.probability,
        ))
    }
}

/// The first node of each position.
pub(super) struct FirstNodes {
    /// By row and form.
    plain: Vec<[u32; 4]>,
    /// Of positions with a capture en passant that is not in the key.
    others: HashMap<(u32, u8, u8), u32, FxBuildHasher>,
    reached: Vec<bool>,
}

impl FirstNodes {
    /// The first node of a position, which is this one if there was none.
    pub(super) fn enter(&mut self, place: NearPosition, node: u32) -> u32 {
        if let Some(reached) = self.reached.get_mut(place.row as usize) {
            *reached = true;
        }
        let plain = self.plain.get_mut(place.row as usize);
        let plain = plain.and_then(|forms| forms.get_mut(usize::from(place.form)));
        match (place.pinned_en_passant, plain) {
            (None, Some(first)) if *first != NONE => *first,
            (None, Some(first)) => {
                *first = node;
                node
            }
            (file, _) => {
                let key = (place.row, place.form, file.unwrap_or(8));
                *self.others.entry(key).or_insert(node)
            }
        }
    }

    /// The number of entries with a node.
    pub(super) fn entries(&self) -> u64 {
        self.reached.iter().filter(|reached| **reached).count() as u64
    }
}
