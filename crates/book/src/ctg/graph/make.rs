//! Makes a graph: a pass over the file finds the entries and hashes of the positions after
//! their moves, a pass over the moves where they lead; transpositions need the file again.

use std::collections::HashSet;
use std::ops::Range;

use shakmaty::{Chess, Move, Position as _};

use super::ahead::{AheadMove, ByMover, Groups, groups, hash};
use super::numbers::{Known, Numbers};
use super::sieve::{Census, Sieve};
use super::{ASKED_AT_ONCE, Arrival, BookGraph, Contents, EntryNumber, GraphMove, Link};
use crate::ctg::{
    CanonicalBoard, CtgBook, Entry, EntryAddress, Error, Key, KeyFault, Salvage, moves,
    owners::Owners, reader::Reading, step::Step,
};
#[cfg(feature = "json")]
use crate::evals::EvalKey;
use crate::polyglot::PackedMove;
use crate::{Annotation, position_of};
use tabia_io::parallel::in_order;
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
        let wants_more = contents.transpositions || contents.unfound;
        let parts = if wants_more { [400, 500] } else { [800, 1000] };
        let mut made = self.read_graph(contents, &mut watch.part(0, parts[0]))?;
        let table = Table::new(&made.signs);
        made.signs = Signs::default();
        made.graph.found = table.numbers.len() as u64;
        self.link(&mut made, &table, &mut watch.part(parts[0], parts[1]))?;
        if wants_more {
            let watch = &mut watch.part(parts[1], 1000);
            self.add_leaps(&mut made.graph, &table, contents, watch)?;
        }
        Ok((made.graph, made.salvage))
    }

    /// Reads all entries, with the positions after their moves as hashes.
    fn read_graph(&self, contents: Contents, watch: &mut Watch<'_>) -> Result<Making, Error> {
        let owners = Owners::read(self)?;
        let mut made = Making::default();
        // Reported after the damaged pages.
        let mut bad_keys = Salvage::default();
        self.each_block(
            "indexing",
            watch,
            |found: &mut Making, entry| {
                match entry {
                    Ok((place, entry)) => {
                        let Some(fault) = found.add(place, &entry, &owners, contents) else {
                            return Ok(());
                        };
                        let path = self.path().display();
                        let at = place.file_offset();
                        let text = || format!("{path}: file byte {at}: left out: {fault}");
                        found.bad_keys.bad_key(text);
                    }
                    Err(fault) => found.salvage.bad_page(fault),
                }
                Ok(())
            },
            Ok::<_, Error>,
            |found| {
                let entries = made.graph.len() + found.graph.len();
                let moves = made.graph.moves.len() + found.graph.moves.len();
                if entries >= Link::MOST as usize || u32::try_from(moves).is_err() {
                    return Err(Error::refused(self.path(), "has too many entries or moves"));
                }
                bad_keys.add(made.append(found));
                Ok(())
            },
        )?;
        made.salvage.add(bad_keys);
        made.graph.first.push(made.graph.moves.len() as u32);
        made.graph.block_pages = made.graph.pages_of_blocks();
        Ok(made)
    }

    /// Looks up the entries after the moves.
    fn link(&self, made: &mut Making, table: &Table, watch: &mut Watch<'_>) -> Result<(), Error> {
        let (after, moves) = (std::mem::take(&mut made.after), &mut made.graph.moves);
        let mut several = Vec::new();
        let mut done = 0;
        let chunk = |n: u32| (n * AT_ONCE) as usize..;
        in_order(
            (after.len() as u32).div_ceil(AT_ONCE),
            |n| {
                let hashes = after.get(chunk(n)).unwrap_or_default().iter();
                let found = hashes.take(AT_ONCE as usize).map(|hash| table.only(*hash));
                Ok(found.collect::<Vec<Known>>())
            },
            |found: Vec<Known>| {
                watch.position("following", done as u64, Some(after.len() as u64))?;
                for known in found {
                    if let Some(GraphMove { to, .. }) = moves.get_mut(done) {
                        match known {
                            Known::None => *to = to.unless_open(),
                            Known::One(entry) => *to = Link::new(entry, to.is_mirrored()),
                            Known::Several => several.push(done as u32),
                        }
                    }
                    done += 1;
                }
                Ok::<_, Error>(())
            },
        )?;
        drop(after);
        let mut reading = self.positional_reading()?;
        let mut found = Vec::new();
        let mut linker = Linker {
            graph: &made.graph,
            table,
            reading: &mut reading,
        };
        for at in several {
            let board = linker.board_after(at)?;
            found.push((
                at,
                board
                    .map(|board| linker.find(&board))
                    .transpose()?
                    .flatten(),
            ));
        }
        for (at, board) in &made.unclear {
            found.push((*at, linker.find(board)?));
        }
        made.graph.start = match CanonicalBoard::from_position(&Chess::default()) {
            Some(board) => linker.find(&board)?.map(|to| to.entry),
            None => None,
        };
        for (at, to) in found {
            if let Some(mv) = made.graph.moves.get_mut(at as usize) {
                mv.to = to.map_or(Link::NOWHERE, |to| Link::new(to.entry, to.mirrored));
            }
            let passant = to.and_then(|to| to.pinned_en_passant);
            made.graph.passants.extend(passant.map(|file| (at, file)));
        }
        Ok(())
    }

    /// Finds what has to be looked for with all entries known.
    fn add_leaps(
        &self,
        graph: &mut BookGraph,
        table: &Table,
        contents: Contents,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        let known = &*graph;
        let (mut leaps, mut passants) = (Vec::new(), Vec::new());
        let mut unfound = HashSet::default();
        self.each_block(
            "following",
            watch,
            |block: &mut LeapBlock, entry| {
                if let Ok((place, entry)) = entry
                    && let Some(number) = known.number(place)
                {
                    block.add(number, &entry);
                }
                Ok(())
            },
            |mut block| {
                let mut reading = self.positional_reading()?;
                let mut linker = Linker {
                    graph: known,
                    table,
                    reading: &mut reading,
                };
                if contents.unfound {
                    block.find_unfound(&mut linker)?;
                }
                if contents.transpositions {
                    block.find_leaps(&mut linker)?;
                }
                Ok::<_, Error>(block)
            },
            |block| {
                let before = leaps.len() as u32;
                leaps.extend(block.leaps);
                let more = block.passants.iter();
                passants.extend(more.map(|&(n, file)| (before + n, file)));
                unfound.extend(block.unfound);
                Ok(())
            },
        )?;
        let moves = graph.moves.len() as u32;
        let passants = passants.into_iter().map(|(n, file)| (moves + n, file));
        graph.passants.extend(passants);
        let mut before = 0;
        for block in 0..graph.len().div_ceil(64) {
            let of_block = leaps.iter().skip(before).map(|(entry, _, _)| *entry);
            let of_block = of_block.take_while(|entry| *entry as usize / 64 == block);
            let (mut bits, first) = (0, before as u32);
            for entry in of_block {
                bits |= 1 << (entry % 64);
                before += 1;
            }
            graph.leaping.push((bits, first));
        }
        (graph.leaps, graph.unfound) = (leaps, unfound);
        Ok(())
    }
}

/// Boards whose moves are sifted together, so that the waits for the memory overlap.
const SIFTED_AT_ONCE: usize = 16;

/// Moves that one thread looks up at a time.
const AT_ONCE: u32 = 1 << 16;

/// A graph of some pages, or of all, whose links are open.
#[derive(Default)]
struct Making {
    graph: BookGraph,
    /// The page of the first entry, from which `before_page` counts.
    first_page: Option<u32>,
    signs: Signs,
    /// The hash of the position after each move, or [`NO_HASH`] if `to` has the position
    /// already, or the move is in `unclear`.
    after: Vec<u64>,
    /// The positions after moves that a [`Step`] does not make, by the numbers of the moves.
    unclear: Vec<(u32, CanonicalBoard)>,
    salvage: Salvage,
    bad_keys: Salvage,
}

impl Making {
    /// Adds an entry; returns the fault of its key, if it is not a position.
    fn add(
        &mut self,
        place: EntryAddress,
        entry: &Entry<'_>,
        owners: &Owners,
        contents: Contents,
    ) -> Option<KeyFault> {
        let graph = &mut self.graph;
        let first = graph.moves.len();
        graph.first.push(first as u32);
        let entries = graph.offsets.len() as u32;
        let page = place.page - *self.first_page.get_or_insert(place.page);
        graph.before_page.resize(page as usize + 1, entries);
        graph.offsets.push(place.offset);
        graph
            .moves
            .extend(entry.moves().map(|(byte, annotation)| GraphMove {
                to: Link::ILLEGAL,
                byte,
                annotation: annotation.0,
            }));
        self.after.resize(graph.moves.len(), NO_HASH);
        if contents.records {
            graph.records.push(entry.record_bytes());
        }
        let key = entry.key();
        let board = key.map(|key| CanonicalBoard::from_key(&key));
        #[cfg(feature = "json")]
        if contents.keys {
            let key = key.map(|key| eval_key(&key, board.as_ref().and_then(|b| b.as_ref().ok())));
            self.graph.keys.push(key.unwrap_or(EvalKey(0)));
        }
        let found = match (&board, &key) {
            (Some(Ok(board)), Some(key)) if owners.lead_to(place, key) => Some(board),
            _ => None,
        };
        let sign = found.map_or(NO_HASH, |board| hash(board, board.en_passant()));
        self.signs.hashes.push(sign);
        if contents.transpositions {
            self.signs.groups.extend(found.map(groups));
        }
        match (board, key) {
            (Some(Ok(board)), Some(key)) => self.add_moves(first, &board, key),
            (Some(Err(fault)), _) => {
                self.graph.impossible.insert(entries);
                return Some(fault);
            }
            _ => {}
        }
        None
    }

    /// Finds the positions after the moves of the entry that was added last.
    fn add_moves(&mut self, first: usize, board: &CanonicalBoard, key: Key) {
        let moves = self.graph.moves.get_mut(first..).unwrap_or_default();
        if moves.is_empty() {
            return;
        }
        // Most entries need no rules of chess.
        let mut rules = Rules::new(key);
        let is_plain = board.is_surely_legal();
        if !is_plain && rules.position().is_none() {
            return;
        }
        for n in 0..moves.len() {
            let Some((GraphMove { byte, to, .. }, earlier)) =
                moves.get_mut(..=n).and_then(|moves| moves.split_last_mut())
            else {
                return;
            };
            let byte = *byte;
            let step = match is_plain {
                true => board.after(byte),
                false => Step::Unclear,
            };
            let (link, hash) = match step {
                Step::Illegal => (Link::ILLEGAL, NO_HASH),
                _ if earlier
                    .iter()
                    .any(|known| moves::are_equal(known.byte, byte)) =>
                {
                    (Link::REPEATED, NO_HASH)
                }
                Step::To(after) => {
                    let link = Link::open(after.orientation().mirrored);
                    (link, hash(&after, None))
                }
                Step::Unclear => match rules.after(byte) {
                    None => (Link::ILLEGAL, NO_HASH),
                    Some((_, after)) => {
                        self.unclear.push(((first + n) as u32, after));
                        (Link::NOWHERE, NO_HASH)
                    }
                },
            };
            *to = link;
            if let Some(after) = self.after.get_mut(first + n) {
                *after = hash;
            }
        }
    }

    /// Adds the entries of the next pages; returns their bad keys.
    fn append(&mut self, mut next: Making) -> Salvage {
        let (all, some) = (&mut self.graph, &mut next.graph);
        let (entries, moves) = (all.offsets.len() as u32, all.moves.len() as u32);
        // Pages without entries are between the last page and the next one.
        let next_page = next.first_page.map_or(0, |page| page as usize);
        all.before_page
            .resize(all.before_page.len().max(next_page), entries);
        let pages = some.before_page.iter();
        all.before_page.extend(pages.map(|before| entries + before));
        all.offsets.append(&mut some.offsets);
        all.first
            .extend(some.first.iter().map(|first| moves + first));
        all.moves.append(&mut some.moves);
        all.records.append(&mut some.records);
        #[cfg(feature = "json")]
        all.keys.append(&mut some.keys);
        let more = some.impossible.iter().map(|entry| entries + entry);
        all.impossible.extend(more);
        self.signs.hashes.append(&mut next.signs.hashes);
        self.signs.groups.append(&mut next.signs.groups);
        self.after.append(&mut next.after);
        let unclear = next.unclear.into_iter();
        self.unclear
            .extend(unclear.map(|(at, board)| (moves + at, board)));
        self.salvage.add(next.salvage);
        next.bad_keys
    }
}

/// The key of a position, without a capture en passant that is illegal.
#[cfg(feature = "json")]
fn eval_key(key: &Key, board: Option<&CanonicalBoard>) -> EvalKey {
    let passant = board.and_then(CanonicalBoard::en_passant);
    match passant.and_then(|_| position_of(key)) {
        Some((_, position)) => EvalKey::from_position(&position),
        None => EvalKey::from_board_key(key),
    }
}

/// Hashes of the entries, by which positions are recognized.
#[derive(Default)]
struct Signs {
    /// The hash of each entry, or [`NO_HASH`].
    hashes: Vec<u64>,
    /// The groups of the entries that look-ups find, if transpositions are asked for.
    groups: Vec<Groups>,
}

/// No look-up finds the entry. (A position with this hash would not be found.)
const NO_HASH: u64 = 0;

/// The entries by the hashes of their positions.
struct Table {
    numbers: Numbers,
    /// Rejects nearly all hashes that are not in the table, by one access to the memory.
    sieve: Sieve,
    /// Counts positions by groups.
    census: Census,
}

impl Table {
    fn new(signs: &Signs) -> Table {
        let hashes = (0..).zip(signs.hashes.iter().copied());
        let hashes = hashes.filter(|(_, hash)| *hash != NO_HASH);
        let numbers = Numbers::new(hashes.clone());
        let mut sieve = Sieve::with_room(signs.groups.len());
        let mut census = Census::with_room(2 * signs.groups.len());
        if !signs.groups.is_empty() {
            hashes.for_each(|(_, hash)| sieve.add(hash));
        }
        for Groups { pieces, pawns } in &signs.groups {
            census.add(*pieces);
            census.add(*pawns);
        }
        Table {
            numbers,
            sieve,
            census,
        }
    }

    /// The entry of a hash, if it is the only one.
    #[inline]
    fn only(&self, hash: u64) -> Known {
        match hash {
            NO_HASH => Known::None,
            _ => self.numbers.only(hash),
        }
    }
}

/// The entries of some pages, and their transpositions.
#[derive(Default)]
struct LeapBlock {
    entries: Vec<(EntryNumber, Key)>,
    leaps: Vec<(EntryNumber, PackedMove, Link)>,
    /// By the numbers of the leaps.
    passants: Vec<(u32, u8)>,
    unfound: Vec<EntryNumber>,
}

impl LeapBlock {
    fn add(&mut self, number: EntryNumber, entry: &Entry<'_>) {
        self.entries.extend(entry.key().map(|key| (number, key)));
    }

    fn find_unfound(&mut self, linker: &mut Linker<'_, '_>) -> Result<(), Error> {
        for (number, key) in &self.entries {
            let board =
                position_of(key).and_then(|(_, position)| CanonicalBoard::from_position(&position));
            let found = board
                .map(|board| linker.find(&board))
                .transpose()?
                .flatten();
            if found.is_none_or(|to| to.entry != *number) {
                self.unfound.push(*number);
            }
        }
        Ok(())
    }

    fn find_leaps(&mut self, linker: &mut Linker<'_, '_>) -> Result<(), Error> {
        let Table { sieve, census, .. } = linker.table;
        let boards = self.entries.iter().filter_map(|(number, key)| {
            let board = normal_board(key)?;
            Some((*number, board.groups_ahead(), board))
        });
        let boards: Vec<LeapBoard> = boards.collect();
        let mut buffers = LeapBuffers::default();
        for boards in boards.chunks(ASKED_AT_ONCE) {
            let groups = || boards.iter().filter_map(|(_, groups, _)| *groups);
            census.ask_for(groups().map(|groups| groups.pieces));
            census.ask_for(groups().map(|groups| groups.pawns));
            for boards in boards.chunks(SIFTED_AT_ONCE) {
                buffers.list(boards, linker);
                sieve.ask_for(buffers.ahead.iter().map(|(hash, _)| *hash));
                for ((number, _, board), range) in boards.iter().zip(&buffers.ranges) {
                    let ahead = buffers.ahead.get(range.clone()).unwrap_or_default();
                    let suspects = ahead.iter().filter(|(hash, _)| sieve.may_have(*hash));
                    self.find_leaps_among(suspects, *number, board, linker)?;
                }
            }
        }
        Ok(())
    }

    /// The transpositions of an entry; `suspects` are the moves that passed the sieve.
    fn find_leaps_among<'s>(
        &mut self,
        suspects: impl Iterator<Item = &'s (u64, AheadMove)>,
        number: EntryNumber,
        board: &CanonicalBoard,
        linker: &mut Linker<'_, '_>,
    ) -> Result<(), Error> {
        let suspects: Vec<&(u64, AheadMove)> = suspects.collect();
        let stored: Vec<PackedMove> = match suspects.is_empty() && board.en_passant.is_none() {
            true => return Ok(()),
            false => linker.graph.stored_squares(number, board).collect(),
        };
        let suspects = suspects.into_iter().map(|(hash, mv)| (hash, mv.packed()));
        let suspects = suspects.filter(|(_, mv)| !stored.contains(mv));
        let suspects = suspects.filter(|(hash, _)| linker.table.numbers.has(**hash));
        let suspects: Vec<PackedMove> = suspects.map(|(_, mv)| mv).collect();
        if suspects.is_empty() && board.en_passant.is_none() {
            return Ok(());
        }
        let mut rules = Rules::new(board.key());
        let Some((_, position)) = rules.position() else {
            return Ok(());
        };
        for mv in position.legal_moves() {
            let packed = PackedMove::from_move(mv);
            let is_passant = matches!(mv, Move::EnPassant { .. });
            if stored.contains(&packed) || !is_passant && !suspects.contains(&packed) {
                continue;
            }
            let after = notation::after(position, mv);
            let Some(after) = CanonicalBoard::from_position(&after) else {
                continue;
            };
            if let Some(to) = linker.find_exactly(&after)? {
                let leap = self.leaps.len() as u32;
                let passant = to.pinned_en_passant;
                self.passants.extend(passant.map(|file| (leap, file)));
                let link = Link::new(to.entry, to.mirrored);
                self.leaps.push((number, packed, link));
            }
        }
        Ok(())
    }
}

/// An entry, the groups of the positions after its quiet moves, and its board.
type LeapBoard = (EntryNumber, Option<Groups>, CanonicalBoard);

#[derive(Default)]
struct LeapBuffers {
    /// The positions ahead of some boards, and the range of each board.
    ahead: Vec<(u64, AheadMove)>,
    ranges: Vec<Range<usize>>,
}

impl LeapBuffers {
    /// Lists the positions ahead of some boards that may be in the book.
    fn list(&mut self, boards: &[LeapBoard], linker: &Linker<'_, '_>) {
        self.ahead.clear();
        self.ranges.clear();
        for (number, groups, board) in boards {
            let start = self.ahead.len();
            let quiet = linker.may_leap_quietly(*number, *groups, board);
            board.each_ahead(quiet, |hash, mv| self.ahead.push((hash, mv)));
            self.ranges.push(start..self.ahead.len());
        }
    }
}

/// The board of a key as readers use it.
fn normal_board(key: &Key) -> Option<CanonicalBoard> {
    let board = CanonicalBoard::from_key(key).ok()?;
    match board.is_normal() {
        true => Some(board),
        false => Some(CanonicalBoard::from_position(&position_of(key)?.1)?.unturned()),
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

impl Entry<'_> {
    /// Shows the legal stored moves of an ordinary position with the keys of the positions after
    /// them, and returns its key; castling is king takes rook. `None` for a position whose moves
    /// need the rules of chess: use [`crate::BookPosition::from_entry`].
    pub fn each_step(&self, mut found: impl FnMut(PackedMove, Annotation, Key)) -> Option<Key> {
        let key = self.key()?;
        let board = CanonicalBoard::from_key(&key).ok()?;
        let men = (board.own | board.other).count_ones();
        if men > 32 || !board.is_surely_legal() {
            return None;
        }
        let mut rules = Rules::new(key);
        for (byte, annotation) in self.moves() {
            let step = match board.after(byte) {
                Step::To(after) => board.squares_of(byte).map(|mv| (mv, after)),
                Step::Illegal => None,
                Step::Unclear => {
                    let step = rules.after(byte);
                    step.map(|(mv, after)| (PackedMove::from_move(mv), after))
                }
            };
            if let Some((mv, after)) = step {
                found(mv, annotation, after.key());
            }
        }
        Some(board.key())
    }
}

/// Finds the entries of positions.
struct Linker<'g, 'b> {
    graph: &'g BookGraph,
    table: &'g Table,
    reading: &'g mut Reading<'b>,
}

impl Linker<'_, '_> {
    /// Which moves without a capture may be transpositions.
    fn may_leap_quietly(
        &self,
        number: EntryNumber,
        groups: Option<Groups>,
        board: &CanonicalBoard,
    ) -> ByMover<bool> {
        let most = groups.map(|groups| ByMover {
            pieces: self.table.census.most(groups.pieces),
            pawns: self.table.census.most(groups.pawns),
        });
        let all = ByMover {
            pieces: true,
            pawns: true,
        };
        let Some(most) = most else {
            return all;
        };
        let moves = self
            .graph
            .moves(number)
            .filter(|(_, to)| to.entry().is_some());
        let known = board.count_quiet(moves.filter_map(|(byte, _)| board.squares_of(byte)));
        ByMover {
            pieces: most.pieces != Some(known.pieces),
            pawns: most.pawns != Some(known.pawns),
        }
    }

    /// The entry of a position, as look-ups find it: with the capture en passant that it
    /// has, or else with one that is illegal.
    fn find(&mut self, board: &CanonicalBoard) -> Result<Option<Arrival>, Error> {
        self.find_by(board, |linker, hash, key| {
            match linker.table.numbers.only(hash) {
                Known::None => Ok(None),
                Known::One(entry) => Ok(Some(entry)),
                Known::Several => linker.with_key(hash, &key()),
            }
        })
    }

    /// The entry of a position, with its key compared: never by the hash alone.
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

    /// The position after a move, by the number of the move.
    fn board_after(&mut self, at: u32) -> Result<Option<CanonicalBoard>, Error> {
        let first = &self.graph.first;
        let entry = first
            .partition_point(|first| *first <= at)
            .saturating_sub(1);
        let byte = self.graph.moves.get(at as usize).map(|mv| mv.byte);
        let (Some(place), Some(byte)) = (self.graph.place(entry as u32), byte) else {
            return Ok(None);
        };
        let key = self.reading.entry(place)?.key();
        let board = key.and_then(|key| CanonicalBoard::from_key(&key).ok());
        Ok(match board.map(|board| board.after(byte)) {
            Some(Step::To(after)) => Some(after),
            Some(Step::Illegal | Step::Unclear) | None => None,
        })
    }

    /// The first entry of the file with a key.
    fn with_key(&mut self, hash: u64, key: &Key) -> Result<Option<EntryNumber>, Error> {
        let mut first: Option<EntryNumber> = None;
        for number in self.table.numbers.of(hash) {
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
