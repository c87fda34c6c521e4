//! Makes a graph: one pass finds the entries, a second one where their moves lead.

use hashbrown::HashTable;
use shakmaty::{Chess, Move, Position as _};

use super::ahead::{AheadMove, Sign, hash, sign};
use super::sieve::Sieve;
use super::{Arrival, BookGraph, Contents, EntryNumber, Link};
use crate::ctg::{
    CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Key, STATISTICS_BYTES, Salvage, moves,
    owners::Owners, reader::Reading, step::Step,
};
use crate::polyglot::PackedMove;
use crate::position_of;
use tabia_io::progress::Watch;
use tabia_notation as notation;

impl CtgBook {
    /// Reads the whole book as a graph. Damaged pages are read as far as possible, and
    /// reported with keys that are not positions.
    ///
    /// # Errors
    ///
    /// The file cannot be read, the work is cancelled, or there are more than a thousand
    /// million entries.
    pub fn graph(
        &self,
        contents: Contents,
        watch: &mut Watch<'_>,
    ) -> Result<(BookGraph, Salvage), Error> {
        let (mut graph, signs, salvage) = self.entries_of(contents, &mut watch.part(0, 350))?;
        let table = Table::new(&signs);
        graph.found = table.slots.len() as u64;
        drop(signs);
        self.link(&mut graph, &table, contents, &mut watch.part(350, 1000))?;
        Ok((graph, salvage))
    }

    fn entries_of(
        &self,
        contents: Contents,
        watch: &mut Watch<'_>,
    ) -> Result<(BookGraph, Signs, Salvage), Error> {
        let owners = Owners::read(self)?;
        let mut graph = BookGraph::default();
        let mut signs = Signs::default();
        let mut salvage = Salvage::default();
        // Reported after the damaged pages.
        let mut bad_keys = Salvage::default();
        self.each_block(
            "reading",
            watch,
            |found: &mut Found, entry| {
                let (place, entry) = match entry {
                    Ok(entry) => entry,
                    Err(fault) => {
                        found.salvage.bad_page(fault);
                        return Ok(());
                    }
                };
                found.places.push(place);
                if contents.records {
                    found.records.push(entry.record_bytes());
                }
                let Some(key) = entry.key() else {
                    found.signs.hashes.push(NO_HASH);
                    return Ok(());
                };
                let board = CanonicalBoard::from_key(&key);
                let sign = match &board {
                    Ok(board) if owners.lead_to(place, &key) => sign(board, board.en_passant()),
                    _ => Sign::default(),
                };
                found.signs.hashes.push(sign.hash);
                if contents.transpositions {
                    found.signs.groups.push(sign.group);
                }
                match board {
                    Ok(_) => {}
                    Err(fault) => {
                        let path = self.path().display();
                        let at = place.file_offset();
                        let text = || format!("{path}: file byte {at}: left out: {fault}");
                        found.bad_keys.bad_key(text);
                    }
                }
                Ok(())
            },
            Ok::<_, Error>,
            |mut found| {
                let before = graph.len();
                let end = before + found.places.len();
                if end >= Link::MOST as usize {
                    return Err(Error::refused(self.path(), "has too many entries"));
                }
                for place in &found.places {
                    let entries = graph.offsets.len() as u32;
                    graph.before_page.resize(place.page as usize + 1, entries);
                    graph.offsets.push(place.offset);
                }
                graph.records.extend(found.records);
                signs.hashes.append(&mut found.signs.hashes);
                signs.groups.append(&mut found.signs.groups);
                salvage.add(found.salvage);
                bad_keys.add(found.bad_keys);
                Ok(())
            },
        )?;
        salvage.add(bad_keys);
        Ok((graph, signs, salvage))
    }

    fn link(
        &self,
        graph: &mut BookGraph,
        table: &Table,
        contents: Contents,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let entries = graph.len();
        let (mut first, mut to, mut bytes) =
            (Vec::with_capacity(entries + 1), Vec::new(), Vec::new());
        let (mut leaps, mut passants, mut leap_passants) = (Vec::new(), Vec::new(), Vec::new());
        let places = &*graph;
        self.each_block(
            "following",
            watch,
            |block: &mut Block<'_>, entry| match entry {
                Ok((place, entry)) => {
                    block.places.push(place);
                    let reading = match &mut block.reading {
                        Some(reading) => reading,
                        none => none.insert(self.reading()?),
                    };
                    let linker = Linker {
                        graph: places,
                        table,
                        reading,
                    };
                    block.linked.add(linker, &entry, contents)
                }
                Err(_) => Ok(()),
            },
            |mut block| {
                if let Some(reading) = &mut block.reading {
                    block.linked.look_up(
                        Linker {
                            graph: places,
                            table,
                            reading,
                        },
                        &block.places,
                    )?;
                }
                Ok::<_, Error>(block.linked)
            },
            |mut linked| {
                let (entry, mv, leap) = (first.len() as u32, to.len() as u32, leaps.len() as u32);
                first.extend(linked.first.iter().map(|at| mv + at));
                to.append(&mut linked.to);
                bytes.append(&mut linked.bytes);
                let more = linked.leaps.iter();
                leaps.extend(more.map(|&(n, packed, link)| (entry + n, packed, link)));
                passants.extend(linked.passants.iter().map(|&(n, file)| (mv + n, file)));
                let more = linked.leap_passants.iter();
                leap_passants.extend(more.map(|&(n, file)| (leap + n, file)));
                Ok(())
            },
        )?;
        first.push(to.len() as u32);
        let moves = to.len() as u32;
        let leap_passants = leap_passants.into_iter();
        graph.passants.extend(passants);
        graph
            .passants
            .extend(leap_passants.map(|(n, file)| (moves + n, file)));
        graph.start = match CanonicalBoard::from_position(&Chess::default()) {
            Some(board) => Linker {
                graph,
                table,
                reading: &mut self.reading()?,
            }
            .find(&board)?
            .map(|to| to.entry),
            None => None,
        };
        (graph.first, graph.to, graph.bytes, graph.leaps) = (first, to, bytes, leaps);
        Ok(())
    }
}

/// The entries of some pages.
#[derive(Default)]
struct Found {
    places: Vec<EntryAddress>,
    records: Vec<[u8; STATISTICS_BYTES]>,
    signs: Signs,
    salvage: Salvage,
    bad_keys: Salvage,
}

/// The signs of entries; the groups only if there is to be a sieve.
#[derive(Default)]
struct Signs {
    /// The hash of each entry, or [`NO_HASH`].
    hashes: Vec<u64>,
    groups: Vec<u32>,
}

/// No look-up finds the entry. (A position with this hash would not be found.)
const NO_HASH: u64 = 0;

/// The entries by the hashes of their positions.
struct Table {
    slots: HashTable<Slot>,
    /// Rejects nearly all hashes that are not in the table, by one access to the memory.
    sieve: Sieve,
}

/// The table finds a place by the low bits of a hash and compares the highest seven; these
/// are other bits, but in tables of more than 2^25 places.
struct Slot {
    bits: u32,
    number: EntryNumber,
}

impl Table {
    fn bits(hash: u64) -> u32 {
        (hash >> 25) as u32
    }

    fn new(signs: &Signs) -> Table {
        let known = || {
            (0..)
                .zip(&signs.hashes)
                .filter(|(_, hash)| **hash != NO_HASH)
        };
        let mut slots = HashTable::with_capacity(known().count());
        for (number, &hash) in known() {
            let bits = Table::bits(hash);
            // It never grows, so hashes are not needed again.
            slots.insert_unique(hash, Slot { bits, number }, |_| 0);
        }
        let mut sieve = Sieve::with_room(signs.groups.len());
        for (&hash, &group) in signs.hashes.iter().zip(&signs.groups) {
            sieve.add(Sign { group, hash });
        }
        Table { slots, sieve }
    }

    /// The entries that may belong to a hash, in no order.
    fn entries(&self, hash: u64) -> impl Iterator<Item = EntryNumber> {
        let bits = Table::bits(hash);
        let slots = self.slots.iter_hash(hash);
        slots
            .filter(move |slot| slot.bits == bits)
            .map(|slot| slot.number)
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        let bits = Table::bits(hash);
        self.slots.find(hash, |slot| slot.bits == bits).is_some()
    }
}

/// What one thread needs for some pages, and what it finds.
#[derive(Default)]
struct Block<'b> {
    reading: Option<Reading<'b>>,
    places: Vec<EntryAddress>,
    linked: Linked,
}

/// The moves of some entries, numbered from the first of them.
#[derive(Default)]
struct Linked {
    first: Vec<u32>,
    to: Vec<Link>,
    bytes: Vec<u8>,
    leaps: Vec<(u32, PackedMove, Link)>,
    passants: Vec<(u32, u8)>,
    leap_passants: Vec<(u32, u8)>,
    /// Moves whose entries are not looked up yet: number, hash of the position after it, and
    /// whether it is mirrored.
    open: Vec<(u32, u64, bool)>,
    /// Hashes of the positions after the moves of the current entry.
    after: Vec<u64>,
    /// Hashes of all positions ahead of it, and which of them may be in the book.
    ahead: Vec<(Sign, AheadMove)>,
    likely: Vec<u32>,
}

impl Linked {
    fn add(
        &mut self,
        mut linker: Linker<'_, '_>,
        entry: &Entry<'_>,
        contents: Contents,
    ) -> Result<(), Error> {
        let first = self.to.len();
        self.first.push(first as u32);
        self.bytes.extend(entry.moves().map(|(byte, _)| byte));
        self.to.resize(self.bytes.len(), Link::ILLEGAL);
        let Some(key) = entry.key() else {
            return Ok(());
        };
        let Ok(board) = CanonicalBoard::from_key(&key) else {
            return Ok(());
        };
        // Most entries need no rules of chess.
        let mut rules = Rules::new(key);
        let is_plain = board.is_surely_legal();
        if !is_plain && rules.position().is_none() {
            return Ok(());
        }
        self.after.clear();
        for at in first..self.to.len() {
            let known = self.bytes.get(first..at).unwrap_or_default();
            let Some(&byte) = self.bytes.get(at) else {
                continue;
            };
            let step = match is_plain {
                true => board.after(byte),
                false => Step::Unclear,
            };
            let link = match step {
                Step::Illegal => Link::ILLEGAL,
                _ if known.iter().any(|known| moves::are_equal(*known, byte)) => Link::REPEATED,
                Step::To(after) => {
                    let hash = hash(&after, None);
                    self.after.push(hash);
                    self.open
                        .push((at as u32, hash, after.orientation().mirrored));
                    Link::NOWHERE
                }
                Step::Unclear => match rules.after(byte) {
                    None => Link::ILLEGAL,
                    Some((_, after)) => {
                        let to = linker.find(&after)?;
                        self.after
                            .extend(to.map(|_| hash(&after, after.en_passant())));
                        let passant = to.and_then(|to| to.pinned_en_passant);
                        self.passants.extend(passant.map(|file| (at as u32, file)));
                        to.map_or(Link::NOWHERE, |to| Link::new(to.entry, to.mirrored))
                    }
                },
            };
            if let Some(to) = self.to.get_mut(at) {
                *to = link;
            }
        }
        match contents.transpositions {
            true => self.add_transpositions(&mut linker, &board, is_plain, &mut rules),
            false => Ok(()),
        }
    }

    /// Looks up the entries after the moves, together, so that the waits for the memory
    /// overlap.
    fn look_up(
        &mut self,
        mut linker: Linker<'_, '_>,
        places: &[EntryAddress],
    ) -> Result<(), Error> {
        let mut several = Vec::new();
        for &(at, hash, mirrored) in &self.open {
            let mut entries = linker.table.entries(hash);
            if let Some(entry) = entries.next()
                && let Some(to) = self.to.get_mut(at as usize)
            {
                *to = Link::new(entry, mirrored);
                if entries.next().is_some() {
                    several.push((at, hash, mirrored));
                }
            }
        }
        for (at, hash, mirrored) in several {
            let entry = self.first.partition_point(|first| *first <= at) - 1;
            let first = self.first.get(entry).map_or(0, |first| at - first);
            let Some(place) = places.get(entry) else {
                continue;
            };
            let entry = linker.reading.entry(*place)?;
            let byte = entry
                .moves()
                .nth(first as usize)
                .map_or(0, |(byte, _)| byte);
            let board = entry
                .key()
                .and_then(|key| CanonicalBoard::from_key(&key).ok());
            let Some(Step::To(after)) = board.map(|board| board.after(byte)) else {
                continue;
            };
            let found = linker.with_key(hash, &after.key())?;
            if let Some(to) = self.to.get_mut(at as usize) {
                *to = found.map_or(Link::NOWHERE, |entry| Link::new(entry, mirrored));
            }
        }
        Ok(())
    }

    fn add_transpositions(
        &mut self,
        linker: &mut Linker<'_, '_>,
        board: &CanonicalBoard,
        is_plain: bool,
        rules: &mut Rules,
    ) -> Result<(), Error> {
        self.ahead.clear();
        board.each_ahead(|sign, mv| self.ahead.push((sign, mv)));
        let signs = self.ahead.iter().map(|(sign, _)| *sign);
        linker.table.sieve.sift(signs, &mut self.likely);
        let likely = self
            .likely
            .iter()
            .filter_map(|n| self.ahead.get(*n as usize));
        let likely = likely.filter(|(sign, _)| !self.after.contains(&sign.hash));
        let likely = likely.filter(|(sign, _)| linker.table.has(sign.hash));
        let suspects: Vec<PackedMove> = likely.map(|(_, mv)| mv.packed()).collect();
        if suspects.is_empty() && is_plain {
            return Ok(());
        }
        let Some((_, position)) = rules.position() else {
            return Ok(());
        };
        let entry = self.first.len() as u32 - 1;
        for mv in position.legal_moves() {
            let packed = PackedMove::from_move(mv);
            let is_passant = matches!(mv, Move::EnPassant { .. });
            if !is_passant && !suspects.contains(&packed) {
                continue;
            }
            let after = notation::after(position, mv);
            let Some(after) = CanonicalBoard::from_position(&after) else {
                continue;
            };
            if let Some(to) = linker.find_exactly(&after)?
                && !self.after.contains(&hash(&after, after.en_passant()))
            {
                let leap = self.leaps.len() as u32;
                let passant = to.pinned_en_passant;
                self.leap_passants.extend(passant.map(|file| (leap, file)));
                self.leaps
                    .push((entry, packed, Link::new(to.entry, to.mirrored)));
            }
        }
        Ok(())
    }
}

/// The position of an entry, made when the bits of its board are not enough.
pub(in crate::ctg) struct Rules {
    key: Key,
    made: Option<Option<(CanonicalBoard, Chess)>>,
}

impl Rules {
    pub(in crate::ctg) fn new(key: Key) -> Rules {
        Rules { key, made: None }
    }

    /// The position, and its board as readers use it; `None` if it is not legal.
    fn position(&mut self) -> Option<&(CanonicalBoard, Chess)> {
        let make = |key| {
            let (board, position) = position_of(key)?;
            // Move bytes count men on the board that readers use.
            match board.is_normal() {
                true => Some((board, position)),
                false => Some((CanonicalBoard::from_position(&position)?, position)),
            }
        };
        self.made.get_or_insert_with(|| make(&self.key)).as_ref()
    }

    /// Whether it is a legal position for which readers look under this key first.
    pub(in crate::ctg) fn is_normal(&mut self) -> bool {
        let key = self.key;
        self.position().is_some_and(|(_, position)| {
            CanonicalBoard::from_position(position).is_some_and(|board| board.key() == key)
        })
    }

    /// The move of a byte, and the board after it; `None` if it is not legal.
    pub(in crate::ctg) fn after(&mut self, byte: u8) -> Option<(Move, CanonicalBoard)> {
        let (board, position) = self.position()?;
        let legal = moves::likely(byte, board, position);
        let mv = *legal.get(moves::find(byte, board, &legal).ok()?)?;
        let after = CanonicalBoard::from_position(&notation::after(position, mv))?;
        Some((mv, after))
    }
}

/// Finds the entries of positions.
struct Linker<'g, 'b> {
    graph: &'g BookGraph,
    table: &'g Table,
    reading: &'g mut Reading<'b>,
}

impl Linker<'_, '_> {
    /// The entry of a position, as look-ups find it: with the capture en passant that it
    /// has, or else with one that is illegal.
    fn find(&mut self, board: &CanonicalBoard) -> Result<Option<Arrival>, Error> {
        self.find_by(board, |linker, hash, key| {
            let mut entries = linker.table.entries(hash);
            match (entries.next(), entries.next()) {
                (Some(_), Some(_)) => linker.with_key(hash, &key()),
                (entry, _) => Ok(entry),
            }
        })
    }

    /// The same, never by the hash alone.
    fn find_exactly(&mut self, board: &CanonicalBoard) -> Result<Option<Arrival>, Error> {
        self.find_by(board, |linker, hash, key| linker.with_key(hash, &key()))
    }

    fn find_by(
        &mut self,
        board: &CanonicalBoard,
        find: impl Fn(&mut Self, u64, &dyn Fn() -> Key) -> Result<Option<EntryNumber>, Error>,
    ) -> Result<Option<Arrival>, Error> {
        let arrival = |entry, pinned_en_passant| Arrival {
            entry,
            mirrored: board.orientation().mirrored,
            pinned_en_passant,
        };
        let pinned = board.pinned_en_passant;
        let own = find(self, hash(board, board.en_passant()), &|| board.key())?;
        if own.is_some() || pinned.is_none() {
            return Ok(own.map(|entry| arrival(entry, pinned)));
        }
        let key = || board.other_key().unwrap_or_else(|| board.key());
        let other = find(self, hash(board, pinned), &key)?;
        Ok(other.map(|entry| arrival(entry, None)))
    }

    /// The first entry of the file with a key.
    fn with_key(&mut self, hash: u64, key: &Key) -> Result<Option<EntryNumber>, Error> {
        let mut first: Option<EntryNumber> = None;
        for number in self.table.entries(hash) {
            let Some(place) = self.graph.place(number) else {
                continue;
            };
            let entry = self.reading.entry(place)?;
            if entry.key_bytes() == key.as_bytes() && first.is_none_or(|first| number < first) {
                first = Some(number);
            }
        }
        Ok(first)
    }
}
