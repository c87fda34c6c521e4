//! The walk over an Arena book.

use shakmaty::{ByColor, Chess, Move, Position as _};

use super::{ENTRY_BYTES, Entry, FIRST_ENTRY, MAX_PLIES};
use crate::loaded::{Found, Moves, Notice, StoredMove};
use crate::polyglot::keyed;
use crate::{Error, Preference, polyglot};
use tabia_io::input::file::{DataFile, View};
use tabia_notation as notation;

/// Entries that were skipped.
#[derive(Default)]
struct Faults {
    links: u64,
    loops: u64,
    moves: u64,
    long: u64,
    /// The number of the first faulty entry.
    first: Option<u32>,
}

impl Faults {
    fn at(&mut self, number: u32) {
        self.first.get_or_insert(number);
    }
}

/// A position of the current line, and the next of its moves.
struct Frame {
    position: Chess,
    key: u64,
    next: i32,
    /// The entry with the link.
    from: u32,
}

/// All moves that can be reached, and messages about the others.
pub(super) fn walk(file: &DataFile) -> Result<Found, Error> {
    let entries = (file.len() / ENTRY_BYTES as u64).min(i32::MAX as u64) as u32;
    let mut walk = AbkWalk {
        view: file.positional_view(),
        piece: Vec::new(),
        piece_start: 0,
        file,
        entries,
        visited: vec![0; entries as usize / 64 + 1],
        moves: ByColor::default(),
        faults: Faults::default(),
    };
    let start = Chess::default();
    let mut line = vec![Frame {
        key: polyglot::key(&start),
        position: start,
        next: if entries > FIRST_ENTRY {
            FIRST_ENTRY as i32
        } else {
            -1
        },
        from: FIRST_ENTRY,
    }];
    while let Some(frame) = line.last_mut() {
        let Some(number) = walk.follow(frame) else {
            line.pop();
            continue;
        };
        let raw = walk.entry(number)?;
        frame.next = raw.next;
        frame.from = number;
        let Some(mv) = walk.file_move(frame, number, &raw) else {
            continue;
        };
        if raw.reply == -1 {
            continue;
        }
        let position = notation::after(&frame.position, mv);
        if line.len() >= MAX_PLIES {
            walk.faults.long += 1;
            walk.faults.at(number);
            continue;
        }
        line.push(Frame {
            key: polyglot::key(&position),
            position,
            next: raw.reply,
            from: number,
        });
    }
    let notices = walk.notices();
    let (moves, links) = by_use(walk.moves);
    Ok(Found {
        moves,
        links,
        unreached: 0,
        notices,
    })
}

/// The moves of the book, and moves that only lead on. A tree for one side needs the moves of
/// the other side, and marks all of them never to be played: a tree for both sides does not.
fn by_use(moves: ByColor<Vec<StoredMove>>) -> (Moves, Moves) {
    let plays = |moves: &Vec<StoredMove>| moves.iter().any(|one| !one.preference.is_never());
    let ByColor { white, black } = moves;
    match (plays(&white), plays(&black)) {
        (true, false) => (Moves(white), Moves(black)),
        (false, true) => (Moves(black), Moves(white)),
        _ => (Moves([white, black].concat()), Moves::default()),
    }
}

struct AbkWalk<'f> {
    file: &'f DataFile,
    view: View<'f>,
    /// A part of the file, and the number of its first entry.
    piece: Vec<u8>,
    piece_start: u32,
    entries: u32,
    /// One bit for each entry.
    visited: Vec<u64>,
    /// By the side to move.
    moves: ByColor<Vec<StoredMove>>,
    faults: Faults,
}

/// Entries read at once: most links lead to a nearby entry.
const PIECE: usize = 256;

impl AbkWalk<'_> {
    /// The entry that the frame's link refers to, if it can be visited.
    fn follow(&mut self, frame: &Frame) -> Option<u32> {
        if frame.next == -1 {
            return None;
        }
        let number = u32::try_from(frame.next)
            .ok()
            .filter(|number| (FIRST_ENTRY..self.entries).contains(number));
        let Some(number) = number else {
            self.faults.links += 1;
            self.faults.at(frame.from);
            return None;
        };
        let word = self.visited.get_mut(number as usize / 64)?;
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            self.faults.loops += 1;
            self.faults.at(frame.from);
            return None;
        }
        *word |= bit;
        Some(number)
    }

    fn entry(&mut self, number: u32) -> Result<Entry, Error> {
        let place = |start: u32| (number.wrapping_sub(start) as usize).saturating_mul(ENTRY_BYTES);
        let held = self
            .piece
            .get(place(self.piece_start)..)
            .and_then(Entry::read);
        if let Some(raw) = held {
            return Ok(raw);
        }
        let mut buffer = [0; PIECE * ENTRY_BYTES];
        let read = self
            .view
            .read(u64::from(number) * ENTRY_BYTES as u64, &mut buffer)
            .map_err(|error| Error::read(self.file.path(), error))?;
        self.piece.clear();
        self.piece.extend_from_slice(read);
        self.piece_start = number;
        Entry::read(&self.piece).ok_or_else(|| Error::Shrunk {
            path: self.file.path().clone(),
            was: self.file.len(),
            now: u64::from(number) * ENTRY_BYTES as u64,
        })
    }

    /// Stores a move under the frame's position, if it is legal there.
    fn file_move(&mut self, frame: &Frame, number: u32, raw: &Entry) -> Option<Move> {
        let legal = frame.position.legal_moves();
        let found = raw
            .mv
            .and_then(|packed| packed.find(&legal))
            .and_then(|n| legal.get(n).copied());
        let Some(mv) = found else {
            self.faults.moves += 1;
            self.faults.at(number);
            return None;
        };
        let (wins, losses) = match frame.position.turn().is_white() {
            true => (raw.won, raw.lost),
            false => (raw.lost, raw.won),
        };
        self.moves.get_mut(frame.position.turn()).push(StoredMove {
            key: frame.key,
            mv: polyglot::PackedMove::from_move(mv),
            preference: Preference::Priority(raw.priority),
            results: [raw.games, wins, losses],
            offset: u64::from(number) * ENTRY_BYTES as u64,
        });
        Some(mv)
    }

    fn notices(&self) -> Vec<Notice> {
        let cut_off = keyed::cut_off(self.file, ENTRY_BYTES).map(Notice::Loss);
        let mut notices = Vec::from_iter(cut_off);
        let faults = &self.faults;
        let mut parts = Vec::new();
        for (count, what) in [
            (faults.links, "links that point outside the file"),
            (faults.loops, "links back to an earlier move"),
            (faults.moves, "illegal moves"),
            (faults.long, "lines beyond 1000 plies"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        if let Some(first) = faults.first {
            notices.push(Notice::Loss(format!(
                "skipped {}; the first at file byte {}",
                parts.join(", "),
                u64::from(first) * ENTRY_BYTES as u64
            )));
        }
        notices
    }
}
