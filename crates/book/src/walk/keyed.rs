//! Walks through a book that is probed by keys: what they learn of it.
//!
//! The positions of the book are numbered in ascending order of their keys; higher numbers are
//! for positions after its moves that the book does not have. The moves of a Polyglot book need
//! not lead to all of its positions. Then a walk looks for *bridges*: legal moves that are not
//! stored, but lead to a missing position. Later walks follow numbers and look nothing up.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::links::{self, Link, Links, PositionNumber, ReachedCount, To};
use super::{Order, Walk, WalkNode};
use crate::ctg::Sieve;
use crate::polyglot::indexed::Indexed;
use crate::polyglot::{self, KeyAhead, keyed};
use crate::{Book, Error, Lookup, PositionRecord};
use tabia_io::progress::{Stopped, Watch};
use tabia_notation as notation;

/// Positions that may be tried after two and three moves that are not stored: about a
/// second.
pub(super) const MOST_TRIED: u64 = 20_000_000;

/// How walks reach a position of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// The first one, by stored moves.
    ByStored,
    /// A later one, by moves of which some are not stored.
    ByOthers,
    NotYet,
}

/// See the [module](self).
pub(super) struct KeyedWalk<'b> {
    book: Indexed<'b>,
    outside: Outside,
    /// By number, whether a walk has entered it.
    seen: Vec<bool>,
    /// The moves of all positions that were looked at; `None` if they are not kept.
    kept: Option<Kept>,
    /// The moves of the position that was looked at last, if it is not in `kept`.
    last: Vec<Link>,
    /// By number, how the positions of the book are reached; `None` on the first walk.
    ways: Option<Vec<Reached>>,
    left: u64,
    /// Lines of several moves that an earlier walk has found, by the position before them.
    lines: HashMap<PositionNumber, Vec<(Vec<Move>, PositionNumber)>, FxBuildHasher>,
    tried: u64,
    /// Whether a walk comes to all positions; else only to those that lead to bridges.
    all: bool,
    /// A buffer.
    moves: Vec<Move>,
}

/// The moves of all positions that were looked at.
#[derive(Default)]
struct Kept {
    stored: Links,
    bridges: Option<Ahead>,
}

/// Moves that are not stored, to positions that the first walk does not reach.
#[derive(Default)]
struct Ahead {
    bridges: Links,
    /// Bridges that reach their position first, each with the key before it.
    entered: Vec<(u64, Move)>,
    /// By number, whether stored moves lead on to a position with a bridge, or it has one.
    leads: Vec<bool>,
}

/// Positions that are not in the book.
#[derive(Default)]
struct Outside {
    numbers: HashMap<u64, PositionNumber, FxBuildHasher>,
    keys: Vec<u64>,
}

impl Outside {
    /// The number of a key, which is given one if it has none; `inside` are the positions of
    /// the book.
    fn enter(&mut self, key: u64, inside: usize) -> PositionNumber {
        let next = (inside + self.keys.len()) as PositionNumber;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        number
    }
}

/// Marks a number; true if it is for the first time.
fn mark(seen: &mut Vec<bool>, number: PositionNumber) -> bool {
    let number = number as usize;
    if number >= seen.len() {
        seen.resize(number + 1, false);
    }
    let seen = seen.get_mut(number);
    seen.is_some_and(|seen| !std::mem::replace(seen, true))
}

impl<'b> KeyedWalk<'b> {
    /// `None` for a ChessBase book.
    pub(super) fn new(book: &'b Book) -> Result<Option<KeyedWalk<'b>>, Error> {
        Ok(Indexed::read(book)?.map(|book| KeyedWalk {
            outside: Outside::default(),
            seen: vec![false; book.count()],
            kept: None,
            last: Vec::new(),
            ways: None,
            left: 0,
            lines: HashMap::default(),
            tried: 0,
            all: true,
            moves: Vec::new(),
            book,
        }))
    }

    /// The number of positions of the book.
    pub(super) fn count(&self) -> u64 {
        self.book.count() as u64
    }

    /// Begins a walk from a position.
    pub(super) fn begin(&mut self, start: &Chess) -> PositionNumber {
        self.seen.fill(false);
        let number = self.enter_key(polyglot::key(start));
        self.enter(number);
        number
    }

    /// Keeps the moves of all positions from now on, as walks after the first one need them.
    pub(super) fn keep(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// Looks at all positions that walks from `start` come to, on all processors: by stored
    /// moves, and if these do not reach the whole book and `beyond` says so, also by single
    /// moves that are not stored. Counts them.
    pub(super) fn read_ahead(
        &mut self,
        start: &Chess,
        beyond: bool,
        watch: &mut Watch<'_>,
    ) -> Result<ReachedCount, Error> {
        let root = self.begin(start);
        let inside = self.book.count();
        let KeyedWalk {
            book,
            outside,
            seen,
            ..
        } = self;
        let book = &*book;
        let mut done = 0;
        let mut step = |watch: &mut Watch<'_>| {
            done += 1;
            watch.position("following", done, None)
        };
        let (mut stored, mut reached) = (Links::default(), ReachedCount::default());
        let mut walk = Walk::with_notes(start, root, Order::Breadth).without_lines();
        walk.spread(
            |share: &[WalkNode<PositionNumber>]| {
                links::stored(book, share.iter().map(|here| (here.note, &here.position)))
            },
            |walk, share, looked| {
                reached.add(&looked.reached);
                for (here, moves) in share.iter().zip(looked.each()) {
                    for &(mv, to) in moves {
                        if let To::Inside(to) = to
                            && mark(seen, to)
                        {
                            let after = notation::after(&here.position, mv);
                            walk.enter(here, mv, after, to);
                        }
                    }
                    // Only walks by other moves need them again.
                    if beyond {
                        let links = moves.iter().map(|&(mv, to)| match to {
                            To::Inside(to) => Link::new(mv, to),
                            To::Outside(key) => Link::new(mv, outside.enter(key, inside)),
                        });
                        stored.add(here.note, links);
                    }
                    step(watch)?;
                }
                Ok::<_, Error>(())
            },
        )?;
        let mut kept = Kept {
            stored,
            ..Kept::default()
        };
        let missing: Vec<bool> = seen.iter().take(inside).map(|seen| !seen).collect();
        if beyond {
            if missing.contains(&true) {
                reached.add(&self.add_bridges(start, &missing, &mut kept, || step(watch))?);
            }
            self.kept = Some(kept);
        }
        Ok(reached)
    }

    /// Looks for moves that are not stored to what the first walk did not reach, if that is not
    /// done yet.
    pub(super) fn find_bridges(&mut self, start: &Chess) -> Result<(), Error> {
        let mut kept = self.kept.take().unwrap_or_default();
        if kept.bridges.is_none() {
            let ways = self.ways.iter().flatten();
            let missing: Vec<bool> = ways.map(|way| *way == Reached::NotYet).collect();
            self.add_bridges(start, &missing, &mut kept, || Ok(()))?;
        }
        self.kept = Some(kept);
        Ok(())
    }

    /// Adds the moves that are not stored to missing positions, and what is after these; counts
    /// the missing ones that it comes to.
    fn add_bridges(
        &mut self,
        start: &Chess,
        missing: &[bool],
        kept: &mut Kept,
        mut step: impl FnMut() -> Result<(), Stopped>,
    ) -> Result<ReachedCount, Error> {
        let root = (self.begin(start), polyglot::key(start));
        let inside = self.book.count();
        let KeyedWalk {
            book,
            outside,
            seen,
            ..
        } = self;
        let book = &*book;
        let is_missing = |number: PositionNumber| missing.get(number as usize) == Some(&true);
        let count = missing.iter().filter(|missing| **missing).count();
        let mut sieve = Sieve::with_room(count);
        let keys = book.keys().iter().zip(missing);
        let keys = keys.filter(|(_, missing)| **missing);
        keys.for_each(|(key, _)| sieve.add(*key));
        let stored = &kept.stored;
        let mut ahead_of_all = Ahead::default();
        let mut with_bridges = Vec::new();
        let Ahead {
            bridges, entered, ..
        } = &mut ahead_of_all;
        let mut reached = ReachedCount::default();
        let mut more = Links::default();
        let mut walk = Walk::with_notes(start, root, Order::Breadth).without_lines();
        walk.spread(
            |share: &[WalkNode<(PositionNumber, u64)>]| {
                let new = share.iter().filter(|here| stored.of(here.note.0).is_none());
                let new = new.map(|here| (here.note.0, &here.position));
                let all = share.iter().map(|here| (here.note.1, &here.position));
                let ahead = links::to_missing(book, all, &sieve, is_missing);
                Ok((links::stored(book, new)?, ahead))
            },
            |walk, share, (new, ahead)| {
                reached.add(&new.reached);
                let mut new = new.each();
                for (here, ahead) in share.iter().zip(ahead.each()) {
                    let ((number, key), position) = (here.note, &here.position);
                    let keys = KeyAhead::new(key, position);
                    let mut enter = |walk: &mut Walk<_>, mv, to| {
                        let is_new = mark(seen, to);
                        if is_new {
                            let after = notation::after(position, mv);
                            walk.enter(here, mv, after, (to, keys.after(mv)));
                        }
                        is_new
                    };
                    match stored.of(number) {
                        Some(links) => {
                            let links = links.iter();
                            let moves = links
                                .filter_map(|link| Some((link.mv.in_position(position)?, link.to)));
                            for (mv, to) in moves {
                                enter(walk, mv, to);
                            }
                        }
                        None => {
                            more.begin(number);
                            for &(mv, to) in new.next().unwrap_or_default() {
                                let to = match to {
                                    To::Inside(to) => to,
                                    To::Outside(key) => outside.enter(key, inside),
                                };
                                more.push(Link::new(mv, to));
                                enter(walk, mv, to);
                            }
                            more.end();
                        }
                    }
                    let own = stored.of(number).or_else(|| more.of(number));
                    let own = own.unwrap_or_default();
                    let ahead = ahead.iter().filter_map(|(mv, to)| match to {
                        To::Inside(to) => Some((*mv, Link::new(*mv, *to))),
                        To::Outside(_) => None,
                    });
                    let mut ahead = ahead
                        .filter(|(_, link)| own.iter().all(|known| known.mv != link.mv))
                        .peekable();
                    if ahead.peek().is_some() {
                        with_bridges.push(number);
                        bridges.begin(number);
                        for (mv, link) in ahead {
                            bridges.push(link);
                            if enter(walk, mv, link.to) {
                                entered.push((key, mv));
                            }
                        }
                        bridges.end();
                    }
                    step()?;
                }
                Ok::<_, Error>(())
            },
        )?;
        kept.stored.append(more);
        ahead_of_all.leads = kept.stored.lead_to(with_bridges, seen.len());
        kept.bridges = Some(ahead_of_all);
        Ok(reached)
    }

    /// The bridges by which a walk in breadth comes to all that single moves lead to, each with
    /// the key of the position before it.
    pub(super) fn entered(&self) -> &[(u64, Move)] {
        self.ahead().map_or(&[], |ahead| &ahead.entered)
    }

    fn ahead(&self) -> Option<&Ahead> {
        self.kept.as_ref()?.bridges.as_ref()
    }

    /// Whether the next walk comes to all positions, or only to those that lead to bridges.
    pub(super) fn go_to_all(&mut self, all: bool) {
        self.all = all;
    }

    /// Ends the first walk: positions that it did not reach are missing.
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
        mark(&mut self.seen, number)
    }

    /// The number of a key, which is given one if it has none.
    fn enter_key(&mut self, key: u64) -> PositionNumber {
        match links::to(&self.book, key) {
            To::Inside(number) => number,
            To::Outside(key) => self.outside.enter(key, self.book.count()),
        }
    }

    fn number(&self, key: u64) -> Option<PositionNumber> {
        match links::to(&self.book, key) {
            To::Inside(number) => Some(number),
            To::Outside(key) => self.outside.numbers.get(&key).copied(),
        }
    }

    fn key(&self, number: PositionNumber) -> u64 {
        let outside = (number as usize).checked_sub(self.book.count());
        let key = match outside {
            None => self.book.keys().get(number as usize),
            Some(outside) => self.outside.keys.get(outside),
        };
        key.copied().unwrap_or(0)
    }

    /// Whether a position is in the book, and no walk has come to it before.
    pub(super) fn is_new(&self, number: PositionNumber) -> bool {
        match &self.ways {
            None => (number as usize) < self.book.count(),
            Some(_) => self.is_missing(number),
        }
    }

    /// The stored moves of the position that was looked at last, by their numbers, which lead to
    /// positions that no walk has entered; now one has. The first walk goes to positions of the
    /// book only.
    pub(super) fn enter_stored(&mut self, number: PositionNumber) -> Vec<(usize, Link)> {
        let known = self.kept.as_ref();
        let stored = known.and_then(|known| known.stored.of(number));
        let stored = stored.unwrap_or(&self.last).iter().copied();
        let mut stored: Vec<(usize, Link)> = stored.enumerate().collect();
        stored.retain(|(_, link)| self.leads_on(link.to) && self.enter(link.to));
        stored
    }

    /// Whether the walk goes to a position.
    fn leads_on(&self, number: PositionNumber) -> bool {
        let leads = |ahead: &Ahead| ahead.leads.get(number as usize).copied();
        match &self.ways {
            None => self.is_new(number),
            Some(_) if self.all || self.is_missing(number) => true,
            Some(_) => self.ahead().and_then(leads).unwrap_or(true),
        }
    }

    /// Looks a position up: `found` gets what is stored about it, if it `is_asked`.
    pub(super) fn look(
        &mut self,
        number: PositionNumber,
        position: &Chess,
        is_asked: bool,
        found: &mut Lookup,
    ) -> Result<(), Error> {
        found.clear();
        self.last.clear();
        let (key, inside) = (self.key(number), self.book.count());
        let place = self.book.place(number as usize);
        let kept = self.kept.as_ref();
        if let Some(links) = kept.and_then(|kept| kept.stored.of(number)) {
            if let Some(place) = place.filter(|_| is_asked) {
                let moves = links
                    .iter()
                    .filter_map(|link| link.mv.in_position(position));
                self.moves.clear();
                self.moves.extend(moves);
                keyed::stored(&self.book, None, (key, place), &self.moves, found)?;
                for (known, link) in found.moves.iter_mut().zip(links) {
                    let is_inside = (link.to as usize) < inside;
                    known.after = known.after.or(is_inside.then(PositionRecord::default));
                }
            }
            return Ok(());
        }
        let is_first = self.ways.is_none();
        if place.is_none() && is_first {
            return Ok(());
        }
        let legal = position.legal_moves();
        if let Some(place) = place {
            keyed::stored(&self.book, None, (key, place), &legal, found)?;
        }
        let ahead = KeyAhead::new(key, position);
        for known in &mut found.moves {
            let to = self.enter_key(ahead.after(known.mv));
            let is_inside = (to as usize) < inside;
            known.after = known.after.or(is_inside.then(PositionRecord::default));
            self.last.push(Link::new(known.mv, to));
        }
        let Some(mut kept) = self.kept.take() else {
            return Ok(());
        };
        kept.stored.add(number, self.last.iter().copied());
        if let Some(known) = &mut kept.bridges
            && !is_first
        {
            let bridges = legal.iter().filter_map(|&mv| {
                let To::Inside(to) = links::to(&self.book, ahead.after(mv)) else {
                    return None;
                };
                let is_stored = found.moves.iter().any(|known| known.mv == mv);
                let is_bridge = !is_stored && self.is_worth_a_bridge(to as usize);
                is_bridge.then(|| Link::new(mv, to))
            });
            known.bridges.add(number, bridges);
        }
        self.kept = Some(kept);
        Ok(())
    }

    /// Whether stored moves do not lead to a position of the book.
    fn is_worth_a_bridge(&self, number: usize) -> bool {
        let way = self.ways.as_ref().and_then(|ways| ways.get(number));
        way.is_some_and(|way| *way != Reached::ByStored)
    }

    fn is_missing(&self, number: PositionNumber) -> bool {
        let ways = self.ways.as_ref();
        ways.and_then(|ways| ways.get(number as usize)) == Some(&Reached::NotYet)
    }

    /// Lines of moves that are not stored, from this position to positions that stored moves do
    /// not reach; the latter are entered. Lines that earlier walks found, and new ones of at
    /// most `plies` moves to missing positions.
    pub(super) fn bridges(
        &mut self,
        number: PositionNumber,
        position: &Chess,
        plies: usize,
    ) -> Vec<Bridge> {
        let links = self.ahead().and_then(|ahead| ahead.bridges.of(number));
        let links = links.unwrap_or_default().iter();
        let links = links.filter(|link| self.is_worth_a_bridge(link.to as usize));
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
    use crate::{BookWalk, Bridges, Probe as _, Wanted, bin};
    use polyglot::PackedMove;
    use shakmaty::Color;
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
                    entries.insert((key, PackedMove::from_move(mv).0), ply as u16);
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

    /// Looking ahead changes nothing of a walk, and finds the same numbers and bridges.
    #[test]
    fn a_walk_that_looked_ahead_is_the_same() {
        let (mut with_bridges, mut complete) = (0, 0);
        for seed in 1..40 {
            let book = book_of(seed, 10 - seed % 9);
            for order in [Order::Depth, Order::Breadth, Order::Likeliest] {
                let (mut plain, mut ahead) = (book.walk(order), book.walk(order));
                ahead.read_ahead(&mut Watch::default()).unwrap();
                let visited: Vec<_> = plain.by_ref().map(Result::unwrap).collect();
                let again: Vec<_> = ahead.by_ref().map(Result::unwrap).collect();
                assert_eq!(visited, again, "{order:?} of {seed}");
                assert_eq!(plain.unreached(), ahead.unreached());
            }
            let positions: Vec<_> = book.positions().map(Result::unwrap).collect();
            let count = book.count_reached(&mut Watch::default()).unwrap();
            let moves = || positions.iter().flat_map(|position| &position.moves);
            let never = moves().filter(|mv| mv.preference.is_never());
            assert_eq!(count.positions, positions.len() as u64);
            assert_eq!(count.moves, moves().count() as u64);
            assert_eq!(count.never_played, never.count() as u64);
            for color in Color::ALL {
                let of_color = positions.iter().filter(|position| {
                    position.position.turn() == color && !position.moves.is_empty()
                });
                assert_eq!(*count.with_moves.get(color), of_color.count() as u64);
            }

            let (bridges, unreached, reached) =
                BookWalk::bridges(&book, &mut Watch::default()).unwrap();
            let mut one_by_one = book.walk(Order::Breadth);
            one_by_one.bridges = Some(Bridges::default());
            while one_by_one.advance().unwrap().is_some() {}
            assert_eq!(one_by_one.bridges, Some(bridges.clone()), "{seed}");
            assert_eq!(
                (one_by_one.unreached(), one_by_one.met()),
                (unreached, reached)
            );
            with_bridges += usize::from(!bridges.is_empty());
            complete += usize::from(unreached == 0 && !bridges.is_empty());
        }
        assert!(
            with_bridges > 20 && complete > 2,
            "{with_bridges} {complete}"
        );
    }

    #[test]
    fn a_walk_from_a_position_goes_along_stored_moves_only() {
        let book = book_of(2, 5);
        let walk = book.walk_from(&Chess::default(), Order::Breadth);
        let found = walk.map(|here| polyglot::key(&here.unwrap().position));
        assert_eq!(found.collect::<BTreeSet<u64>>(), reached(&book, 0));
    }
}
