//! What a probe finds, from a graph.

use shakmaty::{Chess, Position as _};

use super::{ASKED_AT_ONCE, BookGraph, EntryNumber, Target};
use crate::ctg::page::read_entry;
use crate::ctg::{CanonicalBoard, CtgBook, Entry, Error, likely_of_all, moves};
use crate::polyglot::PackedMove;
use crate::{Annotation, BookMove, Lookup};
use tabia_io::parallel::Panicked;
use tabia_io::progress::Watch;

/// Which moves of an entry a [`BookGraph::probe`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Stored moves.
    Stored,
    /// Stored moves, and then the transpositions.
    All,
    /// Every legal move into the book as a transposition, as in positions where a book for
    /// one side does not play.
    AsTranspositions,
    /// None, in such positions.
    None,
}

/// Entries of some pages, copied.
#[derive(Default)]
pub(crate) struct EntryBlock {
    bytes: Vec<u8>,
    /// The number of each entry, and where its bytes end.
    ends: Vec<(EntryNumber, usize)>,
}

impl EntryBlock {
    /// The entries in the order of the file; the statistics of the entries after their moves
    /// are in the caches.
    pub(crate) fn entries(
        &self,
        graph: &BookGraph,
    ) -> impl Iterator<Item = (EntryNumber, Entry<'_>)> {
        let mut start = 0;
        self.ends
            .iter()
            .enumerate()
            .filter_map(move |(n, &(number, end))| {
                if n.is_multiple_of(ASKED_AT_ONCE) {
                    let next = self.ends.iter().skip(n).take(ASKED_AT_ONCE);
                    graph.ask_for(next.map(|(number, _)| *number));
                }
                let bytes = self.bytes.get(start..end);
                start = end;
                Some((number, read_entry(bytes?).ok()?))
            })
    }
}

impl CtgBook {
    /// As [`CtgBook::each_block`], for the entries of a graph that are `wanted`. Damage, which
    /// the graph has reported, is left out.
    pub(crate) fn each_block_of<T: Send, E>(
        &self,
        graph: &BookGraph,
        stage: &'static str,
        watch: &mut Watch<'_>,
        wanted: impl Fn(EntryNumber) -> bool + Sync,
        work: impl Fn(EntryBlock) -> Result<T, E> + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: From<Error> + From<Panicked> + Send,
    {
        self.each_block(
            stage,
            watch,
            |block: &mut EntryBlock, entry| {
                if let Ok((place, entry)) = entry
                    && let Some(number) = graph.number(place)
                    && wanted(number)
                {
                    block.bytes.extend_from_slice(entry.bytes());
                    block.ends.push((number, block.bytes.len()));
                }
                Ok(())
            },
            work,
            take,
        )
    }
}

impl BookGraph {
    /// As [`crate::Probe::probe`], for a position of an entry. `to` gets the entries after
    /// the moves that are found. Needs statistics, and for transpositions these.
    pub(crate) fn probe(
        &self,
        entry: EntryNumber,
        position: &Chess,
        wanted: Moves,
        found: &mut Lookup,
        to: &mut Vec<Option<EntryNumber>>,
    ) {
        found.clear();
        to.clear();
        found.here = Some(self.record(entry));
        let Some(board) = CanonicalBoard::from_position(position) else {
            return;
        };
        if matches!(wanted, Moves::Stored | Moves::All) {
            self.find_stored(entry, position, &board, found, to);
        }
        let range = self.range(entry);
        let has_moves = wanted == Moves::AsTranspositions && !range.is_empty();
        let has_leaps = matches!(wanted, Moves::All | Moves::AsTranspositions);
        if !(has_moves || has_leaps && self.leaps_near(entry).is_some()) {
            return;
        }
        // On the board of the entry, in the order of the real one.
        let orientation = board.orientation();
        let own = board.unturned();
        let stored = self.stored(entry).filter_map(|(byte, _, target)| {
            let entry = target.entry().filter(|_| has_moves)?;
            Some((own.squares_of(byte)?, entry))
        });
        let leaps = self.transpositions(entry).map(|(mv, to)| (mv, to.entry));
        let into: Vec<(PackedMove, EntryNumber)> = stored.chain(leaps).collect();
        for mv in position.legal_moves() {
            let packed = orientation.apply_to_packed(PackedMove::from_move(mv));
            if let Some((_, entry)) = into.iter().find(|(known, _)| *known == packed) {
                let after = self.record(*entry);
                found.moves.push(BookMove::transposition(mv, after));
                to.push(Some(*entry));
            }
        }
    }

    fn find_stored(
        &self,
        entry: EntryNumber,
        position: &Chess,
        board: &CanonicalBoard,
        found: &mut Lookup,
        to: &mut Vec<Option<EntryNumber>>,
    ) {
        let stored = self.moves.get(self.range(entry)).unwrap_or_default();
        let stored = stored.iter().map(|mv| (mv.byte, Annotation(mv.annotation)));
        let legal = likely_of_all(stored, board, position);
        for (byte, annotation, target) in self.stored(entry) {
            if matches!(target, Target::Illegal | Target::Repeated) {
                continue;
            }
            let mv = moves::find(byte, board, &legal).ok();
            if let Some(mv) = mv.and_then(|n| legal.get(n)) {
                let after = target.entry().map(|entry| self.record(entry));
                found.moves.push(BookMove::stored(*mv, annotation, after));
                to.push(target.entry());
            }
        }
    }
}
