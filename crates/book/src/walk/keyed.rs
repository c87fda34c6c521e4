//! What a walk through a book that is probed by keys comes to know.
//!
//! The positions of the book have numbers, in ascending order of their keys; those of
//! positions that only its moves lead to come after them. For a Polyglot book, whose moves
//! need not lead to all of its positions, the moves of each position are kept, and the legal
//! ones that are not stored but lead to other positions of the book: a second walk needs no
//! look-up, and lists no moves.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use crate::polyglot::indexed::Indexed;
use crate::polyglot::{self, KeyAhead, PackedMove, keyed};
use crate::{Book, Error, Lookup, PositionRecord};
use tabia_notation as notation;

/// The number of a position.
pub(crate) type PositionNumber = u32;

/// Positions that may be tried after two and three moves that are not stored: about a
/// second.
pub(super) const MOST_TRIED: u64 = 20_000_000;

/// A move from one position to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) to: PositionNumber,
    pub(super) mv: PackedMove,
    kind: LinkKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkKind {
    Stored,
    /// Not stored; it leads to a position of the book that no stored move was known to lead to.
    Bridge,
    /// After the last move of a position.
    End,
}

/// How walks reach a position of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// The first one, by stored moves.
    ByStored,
    /// A later one, by moves of which some are not stored.
    ByOthers,
    NotYet,
}

/// What walks after the first one need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Later {
    /// There are none.
    Never,
    /// Bridges; they look at every position again.
    Bridges,
    /// Bridges and the moves of every position that was looked at.
    BridgesAndMoves,
}

/// See the [module](self).
pub(super) struct KeyedWalk<'b> {
    book: Indexed<'b>,
    /// The numbers of positions that are not in the book, and the key of each.
    outside: HashMap<u64, PositionNumber, FxBuildHasher>,
    outside_keys: Vec<u64>,
    /// By number, whether a walk has entered it.
    seen: Vec<bool>,
    later: Later,
    /// By number, where the moves of a position begin; empty if they are not kept.
    starts: Vec<u32>,
    /// The moves of all positions, or of the one that was looked at last, if they are not kept.
    links: Vec<Link>,
    /// For each position three of 16 bits or more: nearly all others are rejected by one
    /// access to a small part of the memory. Empty if bridges are not wanted.
    filter: Vec<u64>,
    /// A buffer.
    keys: Vec<(u64, Move)>,
    /// By number, how the positions of the book are reached; `None` on the first walk.
    ways: Option<Vec<Reached>>,
    left: u64,
    /// Lines of several moves that an earlier walk has found, by the position before them.
    lines: HashMap<PositionNumber, Vec<(Vec<Move>, PositionNumber)>, FxBuildHasher>,
    tried: u64,
}

/// No moves are known.
const UNKNOWN: u32 = u32::MAX;

impl<'b> KeyedWalk<'b> {
    /// `None` for a ChessBase book.
    pub(super) fn new(book: &'b Book, later: Later) -> Result<Option<KeyedWalk<'b>>, Error> {
        let Some(indexed) = Indexed::read(book)? else {
            return Ok(None);
        };
        let mut walk = KeyedWalk {
            outside: HashMap::default(),
            outside_keys: Vec::new(),
            seen: vec![false; indexed.count()],
            later,
            starts: Vec::new(),
            links: Vec::new(),
            filter: Vec::new(),
            keys: Vec::new(),
            ways: None,
            left: 0,
            lines: HashMap::default(),
            tried: 0,
            book: indexed,
        };
        if later != Later::Never {
            walk.filter = vec![0; (walk.book.count() / 4).next_power_of_two()];
            for key in walk.book.keys() {
                let (word, bits) = place(*key, walk.filter.len());
                if let Some(word) = walk.filter.get_mut(word) {
                    *word |= bits;
                }
            }
        }
        Ok(Some(walk))
    }

    /// Begins a walk from a position.
    pub(super) fn begin(&mut self, start: &Chess) -> PositionNumber {
        self.seen.fill(false);
        let number = self.enter_key(polyglot::key(start));
        self.enter(number);
        number
    }

    /// Ends the first walk: what it did not come to is missing.
    pub(super) fn find_missing(&mut self) {
        if self.ways.is_none() {
            let seen = self.seen.iter().take(self.book.count());
            let ways = seen.map(|seen| match seen {
                true => Reached::ByStored,
                false => Reached::NotYet,
            });
            let ways: Vec<Reached> = ways.collect();
            self.left = ways.iter().filter(|way| **way == Reached::NotYet).count() as u64;
            self.ways = Some(ways);
        }
    }

    /// The number of positions that no walk has come to; `None` on the first walk.
    pub(super) fn left(&self) -> Option<u64> {
        self.ways.as_ref().map(|_| self.left)
    }

    /// Whether more trials of several moves are allowed.
    pub(super) fn may_try(&self) -> bool {
        self.tried < MOST_TRIED
    }

    /// Whether a position is in the book, and no walk has come to it before; from now on one
    /// has.
    pub(super) fn take(&mut self, number: PositionNumber) -> bool {
        let Some(ways) = &mut self.ways else {
            return (number as usize) < self.book.count();
        };
        match ways.get_mut(number as usize) {
            Some(way @ Reached::NotYet) => {
                *way = Reached::ByOthers;
                self.left -= 1;
                true
            }
            Some(Reached::ByStored | Reached::ByOthers) | None => false,
        }
    }

    /// True if the walk enters a position for the first time.
    pub(super) fn enter(&mut self, number: PositionNumber) -> bool {
        let seen = self.seen.get_mut(number as usize);
        seen.is_some_and(|seen| !std::mem::replace(seen, true))
    }

    /// The number of a key, which is given one if it has none.
    fn enter_key(&mut self, key: u64) -> PositionNumber {
        if let Some(number) = self.book.number(key) {
            return number as PositionNumber;
        }
        let next = (self.book.count() + self.outside_keys.len()) as PositionNumber;
        let number = *self.outside.entry(key).or_insert(next);
        if number == next {
            self.outside_keys.push(key);
            self.seen.push(false);
        }
        number
    }

    fn number(&self, key: u64) -> Option<PositionNumber> {
        match self.book.number(key) {
            Some(number) => Some(number as PositionNumber),
            None => self.outside.get(&key).copied(),
        }
    }

    fn key(&self, number: PositionNumber) -> u64 {
        let outside = (number as usize).checked_sub(self.book.count());
        let key = match outside {
            None => self.book.keys().get(number as usize),
            Some(outside) => self.outside_keys.get(outside),
        };
        key.copied().unwrap_or(0)
    }

    /// Whether the moves of a position are known.
    pub(super) fn knows(&self, number: PositionNumber) -> bool {
        let start = self.starts.get(number as usize);
        start.is_some_and(|start| *start != UNKNOWN)
    }

    fn moves_of(&self, number: PositionNumber) -> &[Link] {
        let start = match self.later {
            Later::BridgesAndMoves => self.starts.get(number as usize).copied(),
            Later::Never | Later::Bridges => Some(0),
        };
        let links = start.and_then(|start| self.links.get(start as usize..));
        let links = links.unwrap_or_default();
        let end = links.iter().position(|link| link.kind == LinkKind::End);
        links.get(..end.unwrap_or(0)).unwrap_or_default()
    }

    /// The stored moves of a position that was looked at, by their numbers, which lead to
    /// positions that no walk has entered; now one has.
    pub(super) fn enter_stored(&mut self, number: PositionNumber) -> Vec<(usize, Link)> {
        let stored = self.moves_of(number).iter();
        let stored = stored
            .take_while(|link| link.kind == LinkKind::Stored)
            .copied();
        let mut stored: Vec<(usize, Link)> = stored.enumerate().collect();
        stored.retain(|(_, link)| self.enter(link.to));
        stored
    }

    /// Looks a position up: `found` gets what is stored about it.
    pub(super) fn look(
        &mut self,
        number: PositionNumber,
        position: &Chess,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        found.clear();
        match self.later {
            Later::BridgesAndMoves => {
                let most = self.starts.len().max(number as usize + 1);
                self.starts.resize(most, UNKNOWN);
                if let Some(start) = self.starts.get_mut(number as usize) {
                    *start = self.links.len() as u32;
                }
            }
            Later::Never | Later::Bridges => self.links.clear(),
        }
        let key = self.key(number);
        let place = self.book.place(number as usize);
        if place.is_some() || self.later != Later::Never {
            let legal = position.legal_moves();
            let ahead = KeyAhead::new(key, position);
            if let Some(place) = place {
                keyed::stored(&self.book, key, place, &legal, found)?;
            }
            for known in &mut found.moves {
                let to = self.enter_key(ahead.after(known.mv));
                if known.after.is_none() && (to as usize) < self.book.count() {
                    known.after = Some(PositionRecord::default());
                }
                self.link(to, known.mv, LinkKind::Stored);
            }
            if self.later != Later::Never {
                let mut keys = std::mem::take(&mut self.keys);
                keys.extend(legal.iter().map(|mv| (ahead.after(*mv), *mv)));
                self.sift(&mut keys);
                for (key, mv) in keys.drain(..) {
                    if let Some(to) = self.book.number(key)
                        && self.is_worth_a_bridge(to)
                        && found.moves.iter().all(|known| known.mv != mv)
                    {
                        self.link(to as PositionNumber, mv, LinkKind::Bridge);
                    }
                }
                self.keys = keys;
            }
        }
        self.links.push(Link {
            to: 0,
            mv: PackedMove(0),
            kind: LinkKind::End,
        });
        Ok(())
    }

    fn link(&mut self, to: PositionNumber, mv: Move, kind: LinkKind) {
        let mv = PackedMove::from_move(mv);
        self.links.push(Link { to, mv, kind });
    }

    /// Whether stored moves may not lead to a position of the book.
    fn is_worth_a_bridge(&self, number: usize) -> bool {
        match &self.ways {
            None => self.seen.get(number) == Some(&false),
            Some(ways) => ways
                .get(number)
                .is_some_and(|way| *way != Reached::ByStored),
        }
    }

    /// Leaves the keys that may be in the book. No branch depends on the filter, so that the
    /// accesses to the memory overlap in time.
    fn sift(&self, keys: &mut Vec<(u64, Move)>) {
        let mut left = 0;
        for n in 0..keys.len() {
            let Some(&(key, mv)) = keys.get(n) else { break };
            if let Some(place) = keys.get_mut(left) {
                *place = (key, mv);
            }
            let (word, bits) = place(key, self.filter.len());
            let word = self.filter.get(word).copied().unwrap_or(0);
            left += usize::from(word & bits == bits);
        }
        keys.truncate(left);
    }

    fn is_missing(&self, number: PositionNumber) -> bool {
        let way = self
            .ways
            .as_ref()
            .and_then(|ways| ways.get(number as usize));
        way == Some(&Reached::NotYet)
    }

    /// The lines of moves, not stored, that lead from a position that was looked at to others
    /// that stored moves do not lead to, which are entered: those that earlier walks have found,
    /// and new ones of at most `plies` moves to missing positions.
    pub(super) fn bridges(
        &mut self,
        number: PositionNumber,
        position: &Chess,
        plies: usize,
    ) -> Vec<Bridge> {
        let links = self.moves_of(number).iter();
        let links = links.filter(|link| {
            link.kind == LinkKind::Bridge && self.is_worth_a_bridge(link.to as usize)
        });
        let single = links.filter_map(|link| Some((vec![link.mv.in_position(position)?], link.to)));
        let several = self.lines.get(&number).into_iter().flatten().cloned();
        let known: Vec<(Vec<Move>, PositionNumber)> = single.chain(several).collect();
        let mut found = Vec::new();
        for (line, to) in known {
            if self.enter(to) {
                let mut after = position.clone();
                line.iter().for_each(|mv| after.play_unchecked(*mv));
                found.push(Bridge {
                    is_new: self.is_missing(to),
                    line,
                    to,
                    position: after,
                });
            }
        }
        if plies > 1 {
            let known = found.len();
            let key = self.key(number);
            self.try_all(position, key, plies, &mut Vec::new(), &mut found);
            let new = found.iter().skip(known);
            let new: Vec<_> = new.map(|bridge| (bridge.line.clone(), bridge.to)).collect();
            if !new.is_empty() {
                self.lines.entry(number).or_default().extend(new);
            }
        }
        found
    }

    /// Tries all lines of at most `plies` moves that begin with `line`.
    fn try_all(
        &mut self,
        position: &Chess,
        key: u64,
        plies: usize,
        line: &mut Vec<Move>,
        found: &mut Vec<Bridge>,
    ) {
        let legal = position.legal_moves();
        // The number of first moves grows with the book only.
        self.tried += if line.is_empty() {
            0
        } else {
            legal.len() as u64
        };
        let ahead = KeyAhead::new(key, position);
        for mv in legal {
            let key = ahead.after(mv);
            let number = self.number(key);
            line.push(mv);
            match number.filter(|number| self.is_missing(*number)) {
                Some(to) => {
                    if self.enter(to) {
                        found.push(Bridge {
                            is_new: true,
                            line: line.clone(),
                            to,
                            position: notation::after(position, mv),
                        });
                    }
                }
                None => {
                    let seen = number.and_then(|number| self.seen.get(number as usize));
                    if plies > 1 && self.may_try() && seen != Some(&true) {
                        let after = notation::after(position, mv);
                        self.try_all(&after, key, plies - 1, line, found);
                    }
                }
            }
            line.pop();
        }
    }
}

/// The word of a filter, and the bits in it.
fn place(key: u64, words: usize) -> (usize, u64) {
    let bits = 1 << (key & 63) | 1 << (key >> 6 & 63) | 1 << (key >> 12 & 63);
    ((key >> 18) as usize & words.wrapping_sub(1), bits)
}

/// Moves, not stored, that lead to a position of the book.
pub(super) struct Bridge {
    /// Whether no walk has come to the position before.
    pub(super) is_new: bool,
    pub(super) line: Vec<Move>,
    pub(super) to: PositionNumber,
    pub(super) position: Chess,
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use super::*;
    use crate::walk::Order;
    use crate::{Probe as _, Wanted, bin};
    use tabia_io::input::file::DataFile;

    /// A Polyglot book of some of the moves of random games.
    fn book_of(seed: u64, parts_of_ten: u64) -> Book {
        let mut entries = BTreeMap::new();
        for game in crate::random::games(seed, 6, 8) {
            for (ply, both) in game.windows(2).enumerate() {
                let (before, after) = (&both[0], &both[1]);
                let mut legal = before.legal_moves().into_iter();
                let mv = legal
                    .find(|mv| notation::after(before, *mv) == *after)
                    .unwrap();
                let key = polyglot::key(before);
                if ply == 0 || (key ^ seed) % 10 < parts_of_ten {
                    entries.insert((key, PackedMove::from_move(mv).0), 1 + ply as u16);
                }
            }
        }
        let bytes = entries.into_iter();
        let bytes =
            bytes.flat_map(|((key, mv), weight)| bin::encode(key, PackedMove(mv), weight, 0));
        let file = DataFile::from_bytes(Path::new("x.bin"), bytes.collect());
        Book::Bin(bin::BinBook::new(file).unwrap())
    }

    /// The keys that at most so many moves in a row that are not stored reach, by trying all.
    fn reached(book: &Book, plies: u32) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        // Positions with the most moves that may still be tried.
        let mut best: BTreeMap<u64, u32> = BTreeMap::new();
        let mut waiting = vec![(Chess::default(), plies)];
        while let Some((position, left)) = waiting.pop() {
            let key = polyglot::key(&position);
            if best.get(&key).is_some_and(|known| *known >= left) {
                continue;
            }
            best.insert(key, left);
            let mut lookup = Lookup::default();
            book.probe(&position, Wanted::Stored, &mut lookup).unwrap();
            if lookup.here.is_some() {
                found.insert(key);
            }
            for mv in position.legal_moves() {
                let after = notation::after(&position, mv);
                let is_stored = lookup.moves.iter().any(|known| known.mv == mv);
                if is_stored || left > 0 && book.contains(&after).unwrap() {
                    waiting.push((after, plies));
                } else if left > 1 {
                    waiting.push((after, left - 1));
                }
            }
        }
        found
    }

    #[test]
    fn a_walk_comes_to_all_that_three_moves_in_a_row_reach() {
        let (mut unreached, mut by_more) = (0, 0);
        for (seed, parts_of_ten) in [(1, 10), (2, 7), (3, 5), (4, 3), (5, 3), (6, 2)] {
            let book = book_of(seed, parts_of_ten);
            let all = Indexed::read(&book).unwrap().unwrap().count();
            let expected = reached(&book, 3);
            by_more += expected.len() - reached(&book, 1).len();
            for order in [Order::Depth, Order::Breadth, Order::Likeliest] {
                let mut walk = book.walk(order);
                let mut found = BTreeSet::new();
                for visited in walk.by_ref() {
                    let visited = visited.unwrap();
                    let mut position = Chess::default();
                    visited
                        .line
                        .iter()
                        .for_each(|mv| position.play_unchecked(*mv));
                    assert_eq!(position.board(), visited.position.board());
                    let mut lookup = Lookup::default();
                    book.probe(&position, Wanted::Stored, &mut lookup).unwrap();
                    assert_eq!(visited.lookup, lookup);
                    assert!(found.insert(polyglot::key(&position)));
                }
                assert_eq!(found, expected, "{order:?} of {seed}");
                assert_eq!(walk.unreached(), (all - found.len()) as u64);
                unreached += walk.unreached();
            }
        }
        assert!(unreached > 0 && by_more > 0, "{unreached} {by_more}");
    }

    #[test]
    fn a_walk_from_a_position_goes_along_stored_moves_only() {
        let book = book_of(2, 5);
        let walk = book.walk_from(&Chess::default(), Order::Breadth);
        let found = walk.map(|here| polyglot::key(&here.unwrap().position));
        assert_eq!(found.collect::<BTreeSet<u64>>(), reached(&book, 0));
    }
}
