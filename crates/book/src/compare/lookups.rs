//! Looks up positions in two books.

use std::collections::HashSet;
use std::fmt::Write as _;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Color, File, Move, Position as _};

use super::{Aspect, Aspects, Difference, Side, difference::compare_at};
use crate::ctg::{
    CanonicalBoard, CtgBook, Entry, EntryAddress, EntryReader, EntrySet, Held, Orientation, Pair,
    PairNumber, Tree, fill_from, likely_of_all,
};
use crate::polyglot::{self, PackedMove, indexed::Indexed};
use crate::walk::WalkNode;
use crate::{Book, Bridges, Error, Lookup, Probe, Wanted};
use tabia_notation as notation;

/// The two books, shared by all threads.
#[derive(Clone, Copy)]
pub(super) struct Books<'b> {
    a: &'b Book,
    b: &'b Book,
    /// Both books, or their keys in memory.
    probed: [&'b (dyn Probe + Sync); 2],
    /// Moves that neither book stores, along which the walk continues.
    bridges: &'b Bridges,
    aspects: Aspects,
    stats_of_moves: bool,
    /// Both, if they are ChessBase books: one entry is for up to four positions.
    both: Option<(&'b CtgBook, &'b CtgBook)>,
    /// Both ChessBase books as one graph, if they are sound.
    pub(super) pair: Option<(&'b Pair, &'b Tree)>,
}

/// Identifies a position, and finds it again.
#[derive(Clone, Copy)]
pub(super) enum Id {
    /// A node of the tree of a pair, which has each position once.
    Node(u32),
    /// The places of its entries in two ChessBase books; at least one has it.
    Entries([Option<EntryAddress>; 2]),
    /// Otherwise, and for damaged positions, a key.
    Key {
        /// The key of the position.
        seen: u64,
        /// The key of ChessBase's form, if a book has that and it differs from `seen`.
        normal: Option<u64>,
    },
}

/// The positions visited or waiting.
#[derive(Default)]
pub(super) struct Seen {
    entries: [EntrySet; 2],
    keys: HashSet<u64, FxBuildHasher>,
    normal: HashSet<u64, FxBuildHasher>,
}

/// The look-ups of some positions.
pub(super) struct LookUps {
    pub(super) positions: Vec<PositionLookup>,
    /// The positions after their moves, in the order of the positions.
    pub(super) next: Vec<Next>,
}

/// The look-up of one position.
pub(crate) struct PositionLookup {
    /// Whether at least one book has it.
    pub(super) held: bool,
    pub(super) difference: Option<Difference>,
    /// Damage at this position.
    pub(super) faults: Vec<Error>,
    /// The number of moves along which the walk continues.
    pub(super) moves: usize,
}

/// What the walk notes of a position.
pub(super) struct Note {
    pub(super) id: Id,
    /// The moves to the position as text. To join them for each difference, some 35 moves step
    /// by step, would wait for the memory at every step; all lines of a ply are as long as what
    /// is written of its positions.
    pub(super) line: Box<str>,
}

/// A position after a move.
pub(super) struct Next {
    pub(super) mv: Move,
    pub(super) san: String,
    pub(super) position: Chess,
    pub(super) id: Id,
}

/// What one thread needs for look-ups.
pub(super) struct Probes<'b> {
    /// Readers of ChessBase books.
    entries: [Option<EntryReader<'b>>; 2],
    in_a: Lookup,
    in_b: Lookup,
}

impl Note {
    /// The note of the position after a move from `position`.
    pub(super) fn after(&self, position: &Chess, next: &Next) -> Note {
        // Large enough for a number of two digits.
        let mut line = String::with_capacity(self.line.len() + 6 + next.san.len());
        line.push_str(&self.line);
        if !line.is_empty() {
            line.push(' ');
        }
        let dots = match position.turn() {
            Color::White => ".",
            Color::Black if line.is_empty() => "...",
            Color::Black => "",
        };
        if !dots.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(line, "{}{dots}", position.fullmoves());
        }
        line.push_str(&next.san);
        Note {
            id: next.id,
            line: line.into_boxed_str(),
        }
    }
}

impl Seen {
    /// Adds a position; false if it was there already.
    pub(super) fn enter(&mut self, id: &Id) -> bool {
        match id {
            Id::Node(_) => true,
            Id::Entries(places) => {
                // The first book that has it decides; its entry in the second is also
                // marked as visited.
                let mut new = None;
                for (entries, place) in self.entries.iter_mut().zip(places) {
                    if let Some(place) = place {
                        new.get_or_insert(entries.insert(*place));
                    }
                }
                new.unwrap_or(false)
            }
            Id::Key { seen, normal } => {
                self.normal.extend(normal);
                self.keys.insert(*seen)
            }
        }
    }

    /// As [`Seen::enter`], for a position made from an entry, which may be for others too.
    pub(super) fn enter_entry(&mut self, id: &Id) -> bool {
        match id {
            Id::Key {
                normal: Some(normal),
                ..
            } => self.normal.insert(*normal),
            id => self.enter(id),
        }
    }

    /// Whether [`Seen::enter_entry`] would return false.
    pub(super) fn has_entry(&self, id: &Id) -> bool {
        match id {
            Id::Node(_) => false,
            Id::Entries(places) => {
                let mut places = self.entries.iter().zip(places);
                let first = places.find_map(|(entries, place)| Some((entries, (*place)?)));
                first.is_some_and(|(entries, place)| entries.contains(place))
            }
            Id::Key { seen, normal } => match normal {
                Some(normal) => self.normal.contains(normal),
                None => self.keys.contains(seen),
            },
        }
    }

    /// Whether the walk reached an entry of the first or the second book.
    pub(super) fn has_visited(&self, book: usize, place: EntryAddress, entry: &Entry<'_>) -> bool {
        let entries = self.entries.get(book);
        let normal = || entry.key().map(|key| key.wide_hash());
        entries.is_some_and(|entries| entries.contains(place))
            || !self.normal.is_empty() && normal().is_some_and(|key| self.normal.contains(&key))
    }

    pub(super) fn add(&mut self, other: Seen) {
        for (entries, others) in self.entries.iter_mut().zip(&other.entries) {
            entries.unite(others);
        }
        self.keys.extend(other.keys);
        self.normal.extend(other.normal);
    }
}

/// Returns damage; any other error is an error.
fn damage(error: Error) -> Result<Error, Error> {
    match &error {
        fault if fault.is_damage() => Ok(error),
        _ => Err(error),
    }
}

impl<'b> Books<'b> {
    pub(super) fn new(
        a: &'b Book,
        b: &'b Book,
        indexed: &'b [Option<Indexed<'b>>; 2],
        bridges: &'b Bridges,
        aspects: Aspects,
        pair: Option<(&'b Pair, &'b Tree)>,
    ) -> Books<'b> {
        let probed = |book: &'b Book, indexed: &'b Option<Indexed<'b>>| match indexed {
            Some(indexed) => indexed as &(dyn Probe + Sync),
            None => book,
        };
        let [in_a, in_b] = indexed;
        Books {
            a,
            b,
            probed: [probed(a, in_a), probed(b, in_b)],
            bridges,
            aspects: aspects.between(a.format(), b.format()),
            stats_of_moves: ![a, b].iter().all(|book| book.format().stores_positions()),
            both: a.as_ctg().zip(b.as_ctg()),
            pair,
        }
    }

    /// The smaller of two ChessBase books, or the only one, is probed for all positions that
    /// only the other has: it prepares to reject them fast.
    pub(super) fn expect_misses(&self) {
        let counted = |book: &Book| match book {
            Book::Ctg(book) => book.header().positions.into(),
            Book::Bin(book) => book.len(),
            Book::Loaded(book) => book.positions(),
        };
        let [in_a, in_b] = [self.a, self.b].map(counted);
        for (book, more) in [(self.a, in_b), (self.b, in_a)] {
            let Some(ctg) = book.as_ctg() else { continue };
            match self.both {
                Some(_) => ctg.reserve(more.saturating_sub(counted(book))),
                None => ctg.reserve(more),
            }
        }
    }

    /// The number of positions in the header of the larger book.
    pub(super) fn expected(&self) -> Option<u64> {
        let counted = [self.a, self.b].map(|book| book.as_ctg().map(|ctg| ctg.header().positions));
        counted.into_iter().flatten().max().map(u64::from)
    }

    pub(super) fn probes(&self) -> Result<Probes<'b>, Error> {
        let reader = |book: &'b Book| book.as_ctg().map(CtgBook::entry_reader).transpose();
        Ok(Probes {
            entries: [reader(self.a)?, reader(self.b)?],
            in_a: Lookup::default(),
            in_b: Lookup::default(),
        })
    }

    /// The identity of a position.
    pub(super) fn key_of(&self, position: &Chess) -> Id {
        let normal = || Some(CanonicalBoard::from_position(position)?.key().wide_hash());
        match (self.both, self.a.as_ctg().or(self.b.as_ctg())) {
            (Some(_), _) => Id::Key {
                seen: normal().unwrap_or_else(|| polyglot::key(position)),
                normal: None,
            },
            (None, one) => Id::Key {
                seen: polyglot::key(position),
                normal: one.and_then(|_| normal()),
            },
        }
    }

    /// As [`Books::key_of`], with the look-up in the books; `None` if certainly neither
    /// has it.
    pub(super) fn id(
        &self,
        position: &Chess,
        probes: &mut Probes<'_>,
    ) -> Result<Option<Id>, Error> {
        let [Some(in_a), Some(in_b)] = &mut probes.entries else {
            return Ok(Some(self.key_of(position)));
        };
        let Some(board) = CanonicalBoard::from_position(position) else {
            return Ok(None);
        };
        let key = board.key();
        let mut places = [None; 2];
        for (place, reader) in places.iter_mut().zip([in_a, in_b]) {
            match reader.place_of(&board, &key) {
                Ok(found) => *place = found,
                Err(error) => {
                    damage(error)?;
                    let seen = key.wide_hash();
                    return Ok(Some(Id::Key { seen, normal: None }));
                }
            }
        }
        let held = places != [None; 2];
        Ok(held.then_some(Id::Entries(places)))
    }

    /// Looks up some positions and continues from those at fewer than `plies` plies.
    pub(super) fn look(
        &self,
        share: &[WalkNode<Note>],
        plies: Option<u32>,
    ) -> Result<LookUps, Error> {
        let mut look_ups = LookUps {
            positions: Vec::with_capacity(share.len()),
            next: Vec::with_capacity(share.len() + share.len() / 4),
        };
        let mut probes = self.probes()?;
        if let Some((pair, tree)) = self.pair {
            pair.ask_for(share.iter().filter_map(|here| match here.note.id {
                Id::Node(node) => Some(tree.number(node)),
                Id::Entries(_) | Id::Key { .. } => None,
            }));
        }
        for here in share {
            let position = &here.position;
            if let (Some((pair, tree)), Id::Node(node)) = (self.pair, here.note.id) {
                let before = look_ups.next.len();
                for (packed, to) in tree.after(node) {
                    look_ups.next.extend(Next::along(position, packed, to));
                }
                let mut found = self.look_in_pair(pair, tree.number(node), position, &mut probes);
                found.moves = look_ups.next.len() - before;
                look_ups.positions.push(found);
                continue;
            }
            let mut found = self.look_at(position, &here.note.id, &mut probes)?;
            let goes_on = plies.is_none_or(|plies| here.ply < plies);
            let bridges = match self.bridges.is_empty() {
                true => None,
                false => self.bridges.get(&polyglot::key(position)),
            };
            if goes_on && (found.held || here.ply == 0 || bridges.is_some()) {
                let before = look_ups.next.len();
                let (in_a, in_b) = (&mut probes.in_a, &mut probes.in_b);
                let in_a = std::mem::take(&mut in_a.moves);
                let in_b = std::mem::take(&mut in_b.moves);
                let only_in_b = in_b
                    .iter()
                    .filter(|entry| !in_a.iter().any(|other| other.mv == entry.mv));
                let stored = in_a.iter().chain(only_in_b).map(|entry| entry.mv);
                for mv in stored.chain(bridges.into_iter().flatten().copied()) {
                    let after = notation::after(position, mv);
                    if let Some(id) = self.id(&after, &mut probes)? {
                        look_ups.next.push(Next {
                            mv,
                            san: notation::san_to(position, mv, &after),
                            position: after,
                            id,
                        });
                    }
                }
                found.moves = look_ups.next.len() - before;
                probes.in_a.moves = in_a;
                probes.in_b.moves = in_b;
            }
            look_ups.positions.push(found);
        }
        Ok(look_ups)
    }

    /// Compares what a pair has of a position.
    pub(super) fn look_in_pair(
        &self,
        pair: &Pair,
        number: PairNumber,
        position: &Chess,
        probes: &mut Probes<'_>,
    ) -> PositionLookup {
        let only_in = |side, entry: &Entry<'_>| {
            let moves = pair.stored_moves(number);
            let only = || Difference::only_in(side, position, entry.record(), moves);
            self.aspects.has(Aspect::Positions).then(only)
        };
        let difference = match pair.held(number) {
            Held::Same => None,
            Held::OnlyInA(entry) => only_in(Side::A, &entry),
            Held::OnlyInB(entry) => only_in(Side::B, &entry),
            Held::Both(a, b) => {
                let Probes { in_a, in_b, .. } = probes;
                if let Some(board) = CanonicalBoard::from_position(position) {
                    fill(&a, &board, position, in_a);
                    fill(&b, &board, position, in_b);
                }
                compare_at(position, (in_a, in_b), self.aspects, self.stats_of_moves)
            }
        };
        PositionLookup {
            held: true,
            difference,
            faults: Vec::new(),
            moves: 0,
        }
    }

    pub(super) fn look_at(
        &self,
        position: &Chess,
        id: &Id,
        probes: &mut Probes<'_>,
    ) -> Result<PositionLookup, Error> {
        let Probes {
            entries,
            in_a,
            in_b,
        } = probes;
        let mut faults = Vec::new();
        let mut same = false;
        if let [Some(a), Some(b)] = entries {
            same = look_into([a, b], position, id, [in_a, in_b], &mut faults)?;
        } else {
            let ctg = [self.a, self.b].map(Book::as_ctg);
            let books = self.probed.into_iter().zip(ctg.into_iter().zip(entries));
            for ((book, readable), lookup) in books.zip([&mut *in_a, &mut *in_b]) {
                let looked = match readable {
                    // What is after the moves is not compared.
                    (Some(ctg), Some(reader)) => look_into_one(ctg, reader, position, lookup),
                    _ => book.probe(position, Wanted::Stored, lookup),
                };
                if let Err(error) = looked {
                    lookup.clear();
                    faults.push(damage(error)?);
                }
            }
        }
        let mut found = PositionLookup {
            held: in_a.here.is_some() || in_b.here.is_some(),
            difference: None,
            faults,
            moves: 0,
        };
        if found.faults.is_empty() && !same {
            found.difference =
                compare_at(position, (in_a, in_b), self.aspects, self.stats_of_moves);
        }
        Ok(found)
    }
}

/// Looks up a position in two ChessBase books, without the positions after its moves.
/// Returns whether both entries are equal byte for byte: then only the first is decoded.
fn look_into(
    mut readers: [&mut EntryReader<'_>; 2],
    position: &Chess,
    id: &Id,
    [in_a, in_b]: [&mut Lookup; 2],
    faults: &mut Vec<Error>,
) -> Result<bool, Error> {
    in_a.clear();
    in_b.clear();
    let Some(board) = CanonicalBoard::from_position(position) else {
        return Ok(false);
    };
    let mut places = [None; 2];
    match id {
        Id::Entries(known) => places = *known,
        Id::Key { .. } | Id::Node(_) => {
            let key = board.key();
            for (place, reader) in places.iter_mut().zip(&mut readers) {
                match reader.place_of(&board, &key) {
                    Ok(found) => *place = found,
                    Err(error) => faults.push(damage(error)?),
                }
            }
        }
    }
    let ([a, b], [in_book_a, in_book_b]) = (readers, places);
    let a = in_book_a.map(|place| a.entry(place)).transpose()?;
    let b = in_book_b.map(|place| b.entry(place)).transpose()?;
    let same = match (&a, &b) {
        (Some(a), Some(b)) => a.bytes() == b.bytes(),
        _ => false,
    };
    for (entry, found) in [(a, in_a), (b.filter(|_| !same), in_b)] {
        if let Some(entry) = entry {
            fill(&entry, &board, position, found);
        }
    }
    Ok(same)
}

/// Looks up a position in a ChessBase book, without the positions after its moves.
fn look_into_one(
    book: &CtgBook,
    reader: &mut EntryReader<'_>,
    position: &Chess,
    found: &mut Lookup,
) -> Result<(), Error> {
    found.clear();
    if let Some(board) = CanonicalBoard::from_position(position)
        && let Some(place) = reader.place_of(&board, &board.key())?
    {
        fill(&reader.entry(place)?, &board, position, found);
        if book.is_for_opponent_of(position.turn()) {
            // Those of the position with colours exchanged.
            found.moves.clear();
        }
    }
    Ok(())
}

/// Reads an entry's record and its legal moves.
fn fill(entry: &Entry<'_>, board: &CanonicalBoard, position: &Chess, found: &mut Lookup) {
    found.clear();
    let legal = likely_of_all(entry.moves(), board, position);
    fill_from(entry, board, &legal, found);
}

impl Next {
    /// The position after a legal move, which is given on the board of the entry.
    fn along(position: &Chess, packed: PackedMove, node: u32) -> Option<Next> {
        let king = position.board().king_of(position.turn())?;
        let orientation = Orientation {
            inverted: position.turn().is_black(),
            mirrored: position.castles().castling_rights().is_empty() && king.file() < File::E,
        };
        let mv = orientation.apply_to_packed(packed).in_position(position)?;
        let after = notation::after(position, mv);
        Some(Next {
            mv,
            san: notation::san_to(position, mv, &after),
            position: after,
            id: Id::Node(node),
        })
    }
}
