//! Two ChessBase books as one graph, for their comparison.
//!
//! Most entries of two states of a book are equal byte for byte. So the second book is read
//! for hashes of its keys and entries. Then the first is read: each entry is decoded once, and
//! the hashes tell whether the second book has an equal one. Only for the other entries the
//! second book is read again. Positions are numbered: those of the first book in the order of
//! the file, then those only in the second.
//!
//! ```text
//! row       0      1      2      3 ...           of each position; then for those with two
//!                                                entries, what only the second has
//! first     0      2      2      5 ...           where its moves begin
//! at        -      -      0      -  ...          its bytes in `kept`, if entries are not equal
//!
//! move      0      1      2      3  ...          legal moves only, each once
//! packed    e2e4   d2d4   g1f3   ...             on the board of the entry
//! to        17     3      -      ...             the position after it
//!
//! node      0      1      2      3  ...          the tree of first lines, in breadth
//! number    81     17     3      44 ...          its position
//! children  1      3      3      4  ...          the first node after it
//! ```
//!
//! # Size
//!
//! Twenty bytes for every position, eight for every move, and the bytes of entries that are
//! not equal; while it is made, 30 more for every position. For books of 2.8 and 1.6 million
//! positions, half of them equal, 250 MB.
//!
//! # Exactness
//!
//! Whether entries are equal is decided by hashes of 64 bits. There is a pair only of sound
//! books, in which look-ups find every entry. Of others, of large ones, and where captures en
//! passant that are illegal make two entries of a position, look-ups must tell.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::ops::Range;

use rustc_hash::FxBuildHasher;
use shakmaty::Chess;

use super::graph::{ASKED_AT_ONCE, ahead::hash, make::Rules, numbers::Numbers};
use super::{
    CanonicalBoard, CtgBook, Entry, Error, moves, owners::Owners, page::split_entry, step::Step,
};
use crate::polyglot::PackedMove;
use crate::position_of;
use tabia_io::progress::Watch;

/// Pages of both books: 1 GiB. If nothing is equal, a pair takes twice that.
const MOST_PAGES: u32 = 1 << 18;

/// The number of a position of one or both books.
pub(crate) type PairNumber = u32;

/// No position, no bytes.
const NONE: u32 = u32::MAX;

/// The entry of the second book is equal to one of the first.
const SAME: u32 = u32::MAX - 1;

/// See the [module](self).
pub(crate) struct Pair {
    rows: Rows,
    /// The second row of a position.
    second: HashMap<PairNumber, u32, FxBuildHasher>,
    /// Positions of the first book.
    in_a: u32,
    /// Positions of both.
    count: u32,
    root: PairNumber,
}

/// The entries of a position in both books.
pub(crate) enum Held<'p> {
    /// Equal entries.
    Same,
    /// Only the first book has it.
    OnlyInA(Entry<'p>),
    /// Only the second.
    OnlyInB(Entry<'p>),
    /// Entries that are not equal.
    Both(Entry<'p>, Entry<'p>),
}

/// The tree of the first lines to positions.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// For each node whether it or a node below it has unequal entries.
    needed: Vec<bool>,
    /// For each position whether it has a node.
    pub(crate) reached: Vec<bool>,
}

#[derive(Clone, Copy)]
struct Node {
    number: PairNumber,
    children: u32,
    packed: PackedMove,
}

/// Entries with their legal moves.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    hashes: Vec<u64>,
    kept: Vec<u8>,
    moves: Vec<PairMove>,
    /// Hashes of the positions after the moves.
    after: Vec<u64>,
    /// The other hash, by the number of the move, if that position has two forms.
    others: Vec<(u32, u64)>,
}

#[derive(Clone, Copy)]
struct Row {
    first: u32,
    at: u32,
}

#[derive(Clone, Copy)]
struct PairMove {
    to: PairNumber,
    packed: PackedMove,
}

fn hash_of(bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one(bytes)
}

/// Sorted by these, entries are as in a book: by the bits of the hash, the lowest first.
fn sign_of(hash: u32, entry: &Entry<'_>) -> u64 {
    u64::from(hash.reverse_bits()) << 32 | hash_of(entry.key_bytes()) >> 32
}

impl Pair {
    /// Reads two books; `None` if look-ups must tell, or neither has the position `from`.
    pub(crate) fn new(
        [a, b]: [&CtgBook; 2],
        from: &Chess,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Pair>, Error> {
        let pages = [a, b].map(|book| (book.pages.pages_in_use(), book.pages.page_count()));
        let are_whole = pages.iter().all(|(used, all)| used == all);
        let root = CanonicalBoard::from_position(from);
        let root = root.filter(|board| board.pinned_en_passant.is_none());
        let (Some(root), true) = (root, are_whole) else {
            return Ok(None);
        };
        if pages.iter().map(|(used, _)| u64::from(*used)).sum::<u64>() > MOST_PAGES.into() {
            return Ok(None);
        }
        // Signs of the keys and hashes of the entries of the second book, in the order of both
        // files: so each look-up ends near the one before.
        let mut in_b: Vec<(u64, u64)> = Vec::new();
        let read_b = |block: &mut Vec<_>, hash: u32, entry: &Entry<'_>| {
            block.push((sign_of(hash, entry), hash_of(entry.bytes())));
            true
        };
        let mut are_sound = read(b, &mut watch.part(0, 150), read_b, |mut block| {
            in_b.append(&mut block);
        })?;
        in_b.sort_unstable();
        are_sound &= in_b.is_sorted_by(|(sign, _), (next, _)| sign < next);
        if !are_sound {
            return Ok(None);
        }
        // `near`: where the last look-up ended.
        let find_in_b = |hash: u32, entry: &Entry<'_>, near: &mut usize| {
            let found = search_near(&in_b, *near, sign_of(hash, entry))?;
            *near = found;
            Some((found, in_b.get(found)?.1))
        };
        // What the first book has, by the number in the second.
        let mut of_b = vec![NONE; in_b.len()];
        let mut rows = Rows::default();
        type BlockOfA = (Rows, Vec<Option<usize>>, usize);
        let read_a = |(rows, numbers, near): &mut BlockOfA, hash: u32, entry: &Entry<'_>| {
            let found = find_in_b(hash, entry, near);
            numbers.push(found.map(|(number, _)| number));
            let is_same = found.is_some_and(|(_, whole)| whole == hash_of(entry.bytes()));
            rows.enter(entry, None, !is_same)
        };
        are_sound &= read(
            a,
            &mut watch.part(150, 500),
            read_a,
            |(block, numbers, _)| {
                let entries = (rows.rows.len() as u32..).zip(&block.rows);
                for ((entry, row), number) in entries.zip(numbers) {
                    if let Some(of_b) = number.and_then(|number| of_b.get_mut(number)) {
                        *of_b = if row.at == NONE { SAME } else { entry };
                    }
                }
                rows.append(block);
            },
        )?;
        if !are_sound {
            return Ok(None);
        }
        let in_a = rows.rows.len() as u32;
        let (mut only_b, mut more) = (Rows::default(), Rows::default());
        let mut second = HashMap::default();
        if of_b.iter().any(|entry| *entry != SAME) {
            type BlockOfB = (Rows, Vec<u32>, Rows, usize);
            let read_b =
                |(only, twice, more, near): &mut BlockOfB, hash: u32, entry: &Entry<'_>| {
                    let found = find_in_b(hash, entry, near);
                    match found.and_then(|(number, _)| of_b.get(number).copied()) {
                        None => false,
                        Some(SAME) => true,
                        Some(NONE) => only.enter(entry, None, true),
                        Some(of_a) => {
                            twice.push(of_a);
                            more.enter(entry, rows.entry(of_a).as_ref(), true)
                        }
                    }
                };
            are_sound &= read(
                b,
                &mut watch.part(500, 600),
                read_b,
                |(only, twice, extra, _)| {
                    second.extend(twice.into_iter().zip(more.rows.len() as u32..));
                    only_b.append(only);
                    more.append(extra);
                },
            )?;
        }
        drop((in_b, of_b));
        rows.append(only_b);
        let count = rows.rows.len() as u32;
        second.values_mut().for_each(|row| *row += count);
        rows.append(more);
        let mut pair = Pair {
            rows,
            second,
            in_a,
            count,
            root: NONE,
        };
        Ok((are_sound && pair.link(&root)).then_some(pair))
    }

    /// Finds the positions after the moves; false if look-ups may find others, or not the
    /// root.
    fn link(&mut self, root: &CanonicalBoard) -> bool {
        let mut hashes = std::mem::take(&mut self.rows.hashes);
        hashes.truncate(self.count as usize);
        let Some(numbers) = Numbers::unique(hashes.drain(..)) else {
            return false;
        };
        drop(hashes);
        let find = |hash| numbers.any(hash).unwrap_or(NONE);
        let after = std::mem::take(&mut self.rows.after);
        for (mv, hash) in self.rows.moves.iter_mut().zip(after) {
            mv.to = find(hash);
        }
        for (number, hash) in std::mem::take(&mut self.rows.others) {
            let other = find(hash);
            let mv = self.rows.moves.get_mut(number as usize);
            if let Some(mv) = mv.filter(|_| other != NONE) {
                match mv.to {
                    NONE => mv.to = other,
                    _ => return false,
                }
            }
        }
        self.root = find(hash(root, root.en_passant()));
        self.root != NONE
    }

    /// The number of positions.
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    /// Loads what is kept of some positions, so that the waits for the memory overlap.
    pub(crate) fn ask_for(&self, numbers: impl Iterator<Item = PairNumber>) {
        let places: Vec<u32> = numbers.map(|number| self.rows.row(number).at).collect();
        let bytes = places.iter().flat_map(|at| {
            let at = *at as usize;
            [at, at.saturating_add(64)].map(|at| self.rows.kept.get(at).copied().unwrap_or(0))
        });
        std::hint::black_box(bytes.fold(0, |all, byte| all | byte));
    }

    pub(crate) fn held(&self, number: PairNumber) -> Held<'_> {
        let second = self
            .second
            .get(&number)
            .and_then(|row| self.rows.entry(*row));
        match (self.rows.entry(number), second) {
            (None, _) => Held::Same,
            (Some(a), Some(b)) => Held::Both(a, b),
            (Some(a), None) if number < self.in_a => Held::OnlyInA(a),
            (Some(b), None) => Held::OnlyInB(b),
        }
    }

    /// The position of an entry that was kept, as it is stored; others have no difference, and
    /// need none.
    pub(crate) fn position(&self, number: PairNumber) -> Chess {
        let key = self.rows.entry(number).and_then(|entry| entry.key());
        let made = key.and_then(|key| position_of(&key));
        made.map(|(_, position)| position).unwrap_or_default()
    }

    /// The number of legal moves of the first or only entry.
    pub(crate) fn stored_moves(&self, number: PairNumber) -> usize {
        self.rows.moves_of(number).len()
    }

    /// The tree of lines of at most so many plies. Its node 0 is the root.
    pub(crate) fn tree(&self, plies: Option<u32>) -> Tree {
        let node = |number, packed| Node {
            number,
            packed,
            children: 0,
        };
        let mut nodes = vec![node(self.root, PackedMove(0))];
        let mut needed = Vec::new();
        let mut reached = vec![false; self.count as usize];
        if let Some(root) = reached.get_mut(self.root as usize) {
            *root = true;
        }
        let (mut ply, mut end_of_ply) = (0, 1);
        while let Some(here) = nodes.get(needed.len()).copied() {
            if needed.len().is_multiple_of(ASKED_AT_ONCE) {
                let ahead = nodes.iter().skip(needed.len()).take(ASKED_AT_ONCE);
                let rows: Vec<Row> = ahead.map(|node| self.rows.row(node.number)).collect();
                let moves = rows
                    .iter()
                    .map(|row| self.rows.moves.get(row.first as usize));
                std::hint::black_box(moves.flatten().fold(0, |all, mv| all | mv.to));
            }
            if needed.len() == end_of_ply {
                ply += 1;
                end_of_ply = nodes.len();
            }
            let children = nodes.len() as u32;
            if let Some(here) = nodes.get_mut(needed.len()) {
                here.children = children;
            }
            let is_kept = self.rows.row(here.number).at != NONE;
            needed.push(is_kept);
            if plies.is_some_and(|plies| ply >= plies) {
                continue;
            }
            // Moves of the first book come before moves that only the second has.
            let second = if is_kept {
                self.second.get(&here.number)
            } else {
                None
            };
            let second = second.map(|row| self.rows.moves_of(*row));
            let moves = self.rows.moves_of(here.number).iter();
            for mv in moves.chain(second.unwrap_or_default()) {
                if let Some(reached @ false) = reached.get_mut(mv.to as usize) {
                    *reached = true;
                    nodes.push(node(mv.to, mv.packed));
                }
            }
        }
        let mut tree = Tree {
            nodes,
            needed,
            reached,
        };
        for n in (0..tree.nodes.len()).rev() {
            let children = tree.needed.get(tree.children(n)).unwrap_or_default();
            let is_needed = children.contains(&true);
            if let Some(needed) = tree.needed.get_mut(n) {
                *needed |= is_needed;
            }
        }
        tree
    }
}

impl Tree {
    fn children(&self, node: usize) -> Range<usize> {
        let first = |node: usize| self.nodes.get(node).map(|node| node.children as usize);
        first(node).unwrap_or(0)..first(node + 1).unwrap_or(self.nodes.len())
    }

    /// The position of a node.
    pub(crate) fn number(&self, node: u32) -> PairNumber {
        self.nodes
            .get(node as usize)
            .map_or(NONE, |node| node.number)
    }

    /// The moves to the nodes after a node, and these; without those from which no line leads
    /// to unequal entries.
    pub(crate) fn after(&self, node: u32) -> impl Iterator<Item = (PackedMove, u32)> {
        let children = self.children(node as usize);
        let needed = self.needed.get(children.clone()).unwrap_or_default();
        let nodes = self.nodes.get(children.clone()).unwrap_or_default();
        let numbered = (children.start as u32..).zip(nodes.iter().zip(needed));
        let needed = numbered.filter(|(_, (_, needed))| **needed);
        needed.map(|(n, (node, _))| (node.packed, n))
    }
}

/// Finds a sign in a sorted list, sooner if it is not far after `near`: for two books with
/// 1.3 million differences 8.8 in place of 9.7 processor seconds in all.
fn search_near(sorted: &[(u64, u64)], near: usize, sign: u64) -> Option<usize> {
    let at = |n: usize| sorted.get(n).map(|(sign, _)| *sign);
    let is_after = |n: usize| at(n).is_none_or(|other| other >= sign);
    let range = match is_after(near) {
        true => 0..near + 1,
        false => {
            let steps = std::iter::successors(Some(1), |step| Some(2 * step));
            let step = steps
                .map(|step: usize| near + step)
                .find(|n| is_after(*n))?;
            near..step + 1
        }
    };
    let range = range.start..range.end.min(sorted.len());
    let found = sorted
        .get(range.clone())?
        .binary_search_by_key(&sign, |(sign, _)| *sign);
    Some(range.start + found.ok()?)
}

/// Reads a book in blocks; `take` gets them in the order of the file, and `each` the hashes of the keys. False if look-ups may
/// not find all entries, or `each` says so.
fn read<T: Default + Send>(
    book: &CtgBook,
    watch: &mut Watch<'_>,
    each: impl Fn(&mut T, u32, &Entry<'_>) -> bool + Sync,
    mut take: impl FnMut(T),
) -> Result<bool, Error> {
    let owners = Owners::read(book)?;
    let mut are_sound = true;
    book.each_block(
        "reading",
        watch,
        |(block, is_damaged): &mut (T, bool), entry| {
            *is_damaged |= match entry {
                Ok((place, entry)) => {
                    let hash = super::hash(entry.key_bytes());
                    !owners.lead_surely_to(book, place, hash)? || !each(block, hash, &entry)
                }
                Err(_) => true,
            };
            Ok(())
        },
        Ok::<_, Error>,
        |(block, is_damaged)| {
            are_sound &= !is_damaged;
            take(block);
            Ok(())
        },
    )?;
    Ok(are_sound)
}

impl Rows {
    fn append(&mut self, mut other: Rows) {
        let (moves, kept) = (self.moves.len() as u32, self.kept.len() as u32);
        self.rows.extend(other.rows.iter().map(|row| Row {
            first: row.first + moves,
            at: if row.at == NONE { NONE } else { row.at + kept },
        }));
        let others = other.others.iter();
        self.others
            .extend(others.map(|(at, hash)| (at + moves, *hash)));
        self.hashes.append(&mut other.hashes);
        self.kept.append(&mut other.kept);
        self.moves.append(&mut other.moves);
        self.after.append(&mut other.after);
    }

    fn row(&self, number: u32) -> Row {
        let past = Row {
            first: self.moves.len() as u32,
            at: NONE,
        };
        self.rows.get(number as usize).copied().unwrap_or(past)
    }

    fn moves_of(&self, row: u32) -> &[PairMove] {
        let range = self.row(row).first as usize..self.row(row + 1).first as usize;
        self.moves.get(range).unwrap_or_default()
    }

    /// The entry of a row, if it was kept.
    fn entry(&self, row: u32) -> Option<Entry<'_>> {
        let at = self.row(row).at;
        Some(split_entry(&self.kept, at as usize).ok()?.0).filter(|_| at != NONE)
    }

    /// Adds a row, of the moves that `known` does not have; false if look-ups may not find the
    /// entry under its key, or it is not a legal position.
    fn enter(&mut self, entry: &Entry<'_>, known: Option<&Entry<'_>>, is_kept: bool) -> bool {
        self.rows.push(Row {
            first: self.moves.len() as u32,
            at: match is_kept {
                true => self.kept.len() as u32,
                false => NONE,
            },
        });
        if is_kept {
            self.kept.extend_from_slice(entry.bytes());
        }
        let decoded = entry
            .key()
            .and_then(|key| Some((key, CanonicalBoard::from_key(&key).ok()?)));
        let Some((key, board)) = decoded.filter(|(key, board)| board.key() == *key) else {
            self.hashes.push(0);
            return false;
        };
        self.hashes.push(hash(&board, board.en_passant()));
        let is_plain = board.is_surely_legal() && (board.own | board.other).count_ones() <= 32;
        let mut rules = Rules::new(key);
        if !is_plain && !rules.is_normal() {
            return false;
        }
        for (n, (byte, _)) in entry.moves().enumerate() {
            let earlier = entry.moves().take(n);
            let mut earlier = earlier.chain(known.into_iter().flat_map(Entry::moves));
            if !earlier.any(|(known, _)| moves::are_equal(known, byte)) {
                self.enter_move(&board, byte, is_plain, &mut rules);
            }
        }
        true
    }

    fn enter_move(&mut self, board: &CanonicalBoard, byte: u8, is_plain: bool, rules: &mut Rules) {
        let step = match is_plain {
            true => board.after(byte),
            false => Step::Unclear,
        };
        let (packed, hash) = match step {
            Step::Illegal => return,
            Step::To(after) => match board.squares_of(byte) {
                Some(packed) => (packed, hash(&after, None)),
                None => return,
            },
            Step::Unclear => {
                let Some((mv, after)) = rules.after(byte) else {
                    return;
                };
                if let Some(file) = after.pinned_en_passant {
                    let other = hash(&after, Some(file));
                    self.others.push((self.moves.len() as u32, other));
                }
                (PackedMove::from_move(mv), hash(&after, after.en_passant()))
            }
        };
        self.moves.push(PairMove { to: NONE, packed });
        self.after.push(hash);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ctg::{OpenOptions, PAGE_BYTES};

    const BOOK: &str = "../../books/tabia.ctg";

    #[test]
    fn a_book_is_equal_to_itself() {
        let book = CtgBook::open(BOOK, &OpenOptions::default()).unwrap();
        let pair = Pair::new([&book, &book], &Chess::default(), &mut Watch::default());
        let pair = pair.unwrap().unwrap();
        assert_eq!(u64::from(pair.len()), book.info().unwrap().positions);
        let all_same = (0..pair.len()).all(|number| matches!(pair.held(number), Held::Same));
        assert!(all_same);
        let tree = pair.tree(None);
        assert!(tree.nodes.len() > 10_000);
        assert_eq!(tree.after(0).count(), 0);
        assert_eq!(
            pair.tree(Some(1)).nodes.len(),
            1 + pair.stored_moves(pair.root)
        );
    }

    /// An entry that look-ups do not find.
    #[test]
    fn a_book_that_is_not_sound_has_no_pair() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.ctg");
        let sound = CtgBook::open(BOOK, &OpenOptions::default()).unwrap();
        for extension in ["cto", "ctb"] {
            let to = path.with_extension(extension);
            std::fs::copy(std::path::Path::new(BOOK).with_extension(extension), to).unwrap();
        }
        let bytes = std::fs::read(BOOK).unwrap();
        // A key of length 0, one bit of a board, and no key's slot.
        for (at, value) in [(4, 0), (7, 0xff), (5, 0x5a)] {
            let mut bytes = bytes.clone();
            bytes[3 * PAGE_BYTES + at] = value;
            std::fs::write(&path, bytes).unwrap();
            let damaged = CtgBook::open(&path, &OpenOptions::default()).unwrap();
            for books in [[&damaged, &sound], [&sound, &damaged]] {
                let pair = Pair::new(books, &Chess::default(), &mut Watch::default());
                assert!(pair.unwrap().is_none());
            }
        }
    }
}
