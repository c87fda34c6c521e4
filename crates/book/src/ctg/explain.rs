//! Explains an answer of the book, down to the bytes.

use std::path::PathBuf;

use shakmaty::{Chess, Move, Position as _};

use super::{
    CanonicalBoard, CtgBook, EntryAddress, Error, Key, LookupStep, MoveFault, Orientation, moves,
    reader::{Index, Reading},
};
use crate::{Annotation, PositionRecord};
use tabia_notation as notation;

/// How the book gets its answer for a position.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The .ctg file.
    pub ctg: PathBuf,
    /// The .cto file; `None` if the index was made by reading the whole book.
    pub cto: Option<PathBuf>,
    /// The look-up of the position itself.
    pub here: Trace,
    /// Every stored move in stored order, unusable ones too.
    pub stored: Vec<StoredMove>,
    /// The look-ups of the positions after all legal moves, in the order of
    /// [`Probe::probe`](crate::Probe::probe): stored moves, then the others, found or
    /// not.
    pub after: Vec<(Move, Trace)>,
}

/// The steps of one look-up.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// How the canonical board is turned; `None` if the format cannot express the
    /// position (Chess960 castling rights).
    pub orientation: Option<Orientation>,
    /// The last key looked for, and its hash.
    pub key: Option<(Key, u32)>,
    /// Whether the second key was tried, which has an en passant file although every such
    /// capture is illegal: the first was not found.
    pub other_en_passant_form: bool,
    /// Slots and pages visited.
    pub steps: Vec<LookupStep>,
    /// The entry, if there is one.
    pub found: Option<FoundEntry>,
}

/// An entry and where it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundEntry {
    /// Page, and offset in it.
    pub place: EntryAddress,
    /// Offset of the entry in the .ctg file.
    pub file_offset: u64,
    /// The bytes of the entry: key, moves, statistics.
    pub bytes: Vec<u8>,
    /// The statistics, decoded.
    pub record: PositionRecord,
}

/// A stored move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredMove {
    /// The move byte.
    pub byte: u8,
    /// The byte after it.
    pub annotation: Annotation,
    /// The legal move, or why there is none.
    pub meaning: Result<Move, MoveFault>,
}

impl CtgBook {
    /// Looks up a position and all its moves as a probe does, and records every step.
    ///
    /// # Errors
    ///
    /// As for [`Probe::probe`](crate::Probe::probe).
    pub fn explain(&self, position: &Chess) -> Result<Explanation, Error> {
        let mut reading = self.reading()?;
        let legal = position.legal_moves();
        let here = trace(&mut reading, position)?;
        let mut stored = Vec::new();
        let mut order = Vec::new();
        if let (Some(found), Some(board)) = (&here.found, CanonicalBoard::from_position(position)) {
            for (byte, annotation) in reading.entry(found.place)?.moves() {
                let meaning = match moves::find(byte, &board, &legal) {
                    Ok(n) if order.contains(&n) => Err(MoveFault::Repeated(byte)),
                    Ok(n) => {
                        order.push(n);
                        legal.get(n).copied().ok_or(MoveFault::Illegal(byte))
                    }
                    Err(fault) => Err(fault),
                };
                stored.push(StoredMove {
                    byte,
                    annotation,
                    meaning,
                });
            }
        }
        let others: Vec<usize> = (0..legal.len()).filter(|n| !order.contains(n)).collect();
        let mut traces = Vec::new();
        for m in order.iter().chain(&others).filter_map(|&n| legal.get(n)) {
            let after = notation::after(position, *m);
            traces.push((*m, trace(&mut reading, &after)?));
        }
        Ok(Explanation {
            ctg: self.path().to_owned(),
            cto: match &self.index {
                Index::Slots(slots) => Some(slots.file().path().to_path_buf()),
                Index::Scan(_) => None,
            },
            here,
            stored,
            after: traces,
        })
    }
}

fn trace(reading: &mut Reading<'_>, position: &Chess) -> Result<Trace, Error> {
    let mut trace = Trace::default();
    let Some(board) = CanonicalBoard::from_position(position) else {
        return Ok(trace);
    };
    trace.orientation = Some(board.orientation());
    for (key, other) in [(Some(board.key()), false), (board.other_key(), true)] {
        let Some(key) = key.filter(|_| trace.found.is_none()) else {
            break;
        };
        trace.key = Some((key, key.hash()));
        trace.other_en_passant_form = other;
        let place = reading.find(&key, |step| trace.steps.push(step))?;
        if let Some(place) = place {
            let entry = reading.entry(place)?;
            trace.found = Some(FoundEntry {
                place,
                file_offset: place.file_offset(),
                bytes: entry.bytes().to_vec(),
                record: entry.record(),
            });
        }
    }
    Ok(trace)
}
