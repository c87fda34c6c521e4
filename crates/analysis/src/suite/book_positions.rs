//! Positions of a book, ply by ply from a first position.
//!
//! The positions of each ply are sorted, so that equal ones are merged: their shares are
//! added, and the most probable line to each stays. Memory does not grow with the book.
//! Boards are those of games, so a book that stores mirrored positions once gives both.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use shakmaty::{Chess, Move};

use super::entry::{ALL, StartPosition, bytes_of, number_of};
use super::job::{Cut, Play};
use crate::Error;
use tabia_book::policy::choose;
use tabia_book::tree;
use tabia_book::{Lookup, Probe, Wanted};
use tabia_io::input::bytes::Cursor;
use tabia_io::sort::{Merge, Record, Runs, Sorter};
use tabia_notation as notation;

/// A walk.
pub(super) struct BookPositions<'a> {
    pub(super) book: &'a (dyn Probe + Sync),
    pub(super) play: &'a Play,
    /// The first position, and the moves that led there.
    pub(super) start: Option<&'a Chess>,
    pub(super) moves: &'a [Move],
    pub(super) from: &'a Chess,
    pub(super) cut: Cut,
    pub(super) threads: usize,
    pub(super) memory: u64,
    pub(super) folder: &'a Path,
}

/// A position of one ply.
#[derive(Clone, Debug, Default)]
struct PlyNode {
    key: u64,
    /// Share of its most probable line.
    best: u64,
    entry: StartPosition,
}

impl Record for PlyNode {
    fn order(&self) -> u32 {
        (self.key >> 32) as u32
    }

    fn compare(&self, other: &Self) -> Ordering {
        (self.key, &self.entry.own).cmp(&(other.key, &other.entry.own))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.key.to_be_bytes());
        out.extend(self.best.to_be_bytes());
        self.entry.encode(out);
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut bytes = Cursor::new(bytes);
        self.key = bytes.be_u64()?;
        self.best = bytes.be_u64()?;
        self.entry.decode(&mut bytes)?;
        Some(bytes.position())
    }

    fn join(&mut self, other: &Self) -> bool {
        let share = self.entry.share.saturating_add(other.entry.share);
        let better = (other.best, &self.entry.path) > (self.best, &other.entry.path);
        if better {
            self.clone_from(other);
        }
        self.entry.share = share;
        true
    }
}

/// The result for a part of a ply.
#[derive(Default)]
struct Piece {
    next: Vec<PlyNode>,
    found: Vec<(Chess, StartPosition)>,
}

impl BookPositions<'_> {
    /// Calls `found` with every wanted position.
    pub(super) fn run(
        &self,
        mut found: impl FnMut(&Chess, StartPosition) -> Result<(), Error>,
        mut ply_done: impl FnMut(u32, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (first, last) = self.cut.plies_of_books();
        let mut entry = StartPosition::new(self.from, self.start, self.moves);
        entry.share = ALL;
        entry.book_games = self.games_of(self.from)?;
        let root = PlyNode {
            key: number_of(&entry.own),
            best: ALL,
            entry,
        };
        let mut layer = self.sorter();
        layer.0.push(&root)?;
        let mut count = 1;
        let mut positions = 0;
        let mut ply = self.moves.len() as u32;
        while count > 0 && ply <= last {
            let (sorter, runs) = layer;
            sorter.finish()?;
            let sorted = runs.take().finely(self.threads);
            self.book.reserve(count);
            let mut next = self.sorter();
            count = 0;
            sorted.in_threads(
                self.threads,
                |merge| self.part(merge, ply, first, last),
                |piece: Piece| {
                    for node in &piece.next {
                        next.0.push(node)?;
                    }
                    count += piece.next.len() as u64;
                    positions += piece.found.len() as u64;
                    for (position, entry) in piece.found {
                        found(&position, entry)?;
                    }
                    ply_done(ply, positions)
                },
            )?;
            layer = next;
            ply += 1;
        }
        Ok(())
    }

    fn sorter(&self) -> (Sorter<PlyNode>, Arc<Runs<PlyNode>>) {
        let runs = Arc::new(Runs::new(self.memory / 4, self.folder));
        (Sorter::new(Arc::clone(&runs), self.memory / 8), runs)
    }

    fn games_of(&self, position: &Chess) -> Result<u64, Error> {
        let mut found = Lookup::default();
        self.book.probe(position, Wanted::Stored, &mut found)?;
        Ok(found.here.map_or(0, |here| here.stats.games.into()))
    }

    fn part(
        &self,
        mut merge: Merge<PlyNode>,
        ply: u32,
        first: u32,
        last: u32,
    ) -> Result<Piece, Error> {
        let mut piece = Piece::default();
        let exits = self.cut == Cut::Exit;
        while let Some(node) = merge.next()? {
            let Some(position) = node.entry.position() else {
                continue;
            };
            let mut any = false;
            if ply < last || exits {
                for (mv, part, games) in self.moves_of(&position)? {
                    any = true;
                    if ply < last {
                        piece.next.push(node.after(&position, mv, part, games));
                    }
                }
            }
            if ply >= first && (!exits || !any) {
                piece.found.push((position, node.entry.clone()));
            }
        }
        Ok(piece)
    }

    /// The moves that are played, their frequencies, and the games after each.
    fn moves_of(&self, position: &Chess) -> Result<Vec<(Move, f64, u64)>, Error> {
        let games = |mv: &tabia_book::BookMove| u64::from(mv.stats().games);
        let shares: Vec<(Move, f64, u64)> = match self.play {
            Play::Adapter(rules) => {
                let found = choose(self.book, position, &[], rules)?;
                let rows = found.rows();
                rows.map(|(mv, verdict)| (mv.mv, verdict.probability, games(mv)))
                    .collect()
            }
            Play::Games => {
                let mut found = Lookup::default();
                tree::probe_lines(self.book, position, &mut found)?;
                let moves = found.moves.iter().zip(tree::shares(&found.moves));
                moves.map(|(mv, part)| (mv.mv, part, games(mv))).collect()
            }
        };
        let played = shares.into_iter().filter(|(_, share, _)| *share > 0.0);
        Ok(played.collect())
    }
}

impl PlyNode {
    fn after(&self, position: &Chess, mv: Move, part: f64, games: u64) -> PlyNode {
        let after = notation::after(position, mv);
        let mut entry = StartPosition::new(&after, None, &[]);
        entry.start.clone_from(&self.entry.start);
        entry.path.clone_from(&self.entry.path);
        entry.path.extend(bytes_of(mv));
        let of = |share: u64| (share as f64 * part) as u64;
        entry.share = of(self.entry.share);
        entry.book_games = games;
        PlyNode {
            key: number_of(&entry.own),
            best: of(self.best),
            entry,
        }
    }
}
