//! Writing a book: sorted entries in, three files out.
//!
//! # Layout
//!
//! The index is the smallest trie ([`super::index`]) in which the entries of every slot
//! fit one page, with two deliberate exceptions:
//!
//! * slot 0 is split even if one page would be enough, because some readers (Daydreamer,
//!   Scidb) never read it ([`WriteOptions::split_root`]);
//! * slots that a book has already split may stay split ([`WriteOptions::keep_splits`]):
//!   ChessBase does not join pages again.
//!
//! Measured on three genuine books, their trie is the smallest one except for one slot of
//! 4,132, and it gives their .ctb byte for byte. Pages are numbered as they are written,
//! by bit-reversed hash; genuine books number them as they were allocated over time,
//! which does not matter to readers. A slot without entries gets an empty page.
//!
//! The .cto file is longer than necessary: `upper` + 2^b + 1 slots, where b is the number
//! of binary digits of `upper`. Some readers (DroidFish, Texel, ShashChess, Scidb) read
//! past the end of a shorter one when a position is not in the book. With this length,
//! one slot deeper than any at or below `upper` is still in the file.
//!
//! Constants of unknown meaning are those of the genuine books. Two words at 0x800 are 12
//! and 256 in the large ones and 0 in the one with a single page and an unsplit slot 0;
//! the same values are written here.

use std::{
    io::{self, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use shakmaty::Color;

use super::{
    CTB_HEADER_BYTES, CTO_HEADER_BYTES, Entry, Error, Key, PAGE_BYTES, PAGE_HEADER_BYTES,
    page::split_entry,
    pages::{SIDE_MARK_AT, side_mark},
    trie::{Splits, TrieNode},
};
use tabia_io::atomic::{self, NewFile, Previous};
use tabia_io::input::path::has_extension;

tabia_io::options! {
    /// Options for the layout of a book.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WriteOptions {
        /// Splits slot 0 even if one page is enough (default). Not all readers can read a
        /// book whose slot 0 is not split; a small hand-made book of ChessBase is one.
        split_root: bool = true,
        /// Slots that are split although their entries would fit one page.
        keep_splits: Option<Splits> = None,
        /// What to do with an existing book; by default it is not replaced.
        old: Previous = Previous::default(),
        /// The side that the book plays for; `None` for both.
        only: Option<Color> = None,
    }
}

/// The numbers of a written book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Positions in it.
    pub positions: u64,
    /// Moves in it.
    pub moves: u64,
    /// Data pages.
    pub pages: u32,
    /// Slots of the .cto file.
    pub slots: u64,
    /// Length of all three files together, in bytes.
    pub bytes: u64,
}

fn trailing(bytes: usize) -> Error {
    Error::Entry(format!("{bytes} bytes follow the entry"))
}

/// The entry that these bytes are, without others after it, and its key.
pub(super) fn whole_entry(bytes: &[u8]) -> Result<(Entry<'_>, Key), Error> {
    let (entry, length) = split_entry(bytes, 0).map_err(Error::malformed)?;
    match entry.key() {
        Some(key) if length == bytes.len() => Ok((entry, key)),
        _ => Err(trailing(bytes.len() - length)),
    }
}

/// Bytes for entries in a page.
const ROOM: usize = PAGE_BYTES - PAGE_HEADER_BYTES;

/// Highest size in bytes of the index of a small book. A normal index takes a hundredth
/// of the book; if it is larger than the book itself (or this limit), something is wrong
/// with the hashes.
const TOLERATED_INDEX: u64 = 256 << 20;

/// Writes a book, entry by entry.
///
/// Memory: one page, two write buffers and eight bytes for every page
/// written, sixteen at the end.
///
/// ```
/// use shakmaty::Chess;
/// use tabia_book::{
///     PositionRecord,
///     ctg::{BookWriter, CanonicalBoard, Error, WriteOptions, encode_entry},
/// };
///
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let path = folder.path().join("start.ctg");
/// let mut writer = BookWriter::create(&path, WriteOptions::default())?;
/// let board = CanonicalBoard::from_position(&Chess::default()).expect("no Chess960");
/// let mut entry = Vec::new();
/// encode_entry(&board.key(), &[], &PositionRecord::default(), &mut entry);
/// writer.push(&entry)?;
/// let written = writer.finish(1)?;
/// assert_eq!((written.positions, written.pages), (1, 2));
/// # Ok::<_, Error>(())
/// ```
#[derive(Debug)]
pub struct BookWriter {
    options: WriteOptions,
    ctg: NewFile,
    /// Slots whose entries are still to come; the next one is last.
    ahead: Vec<TrieNode>,
    /// Received entries that are not in a page yet: bytes and numbers.
    bytes: Vec<u8>,
    pending: Vec<Pending>,
    /// The number of pending entries for the next slot, and their length in bytes.
    inside: usize,
    inside_bytes: usize,
    /// Bit-reversed hash and first bytes of the last entry.
    last: Option<(u32, [u8; Key::MAX_BYTES])>,
    /// The slot of every page so far.
    live: Vec<u32>,
    split: Vec<u32>,
    positions: u64,
    moves: u64,
    given_up: bool,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    reversed: u32,
    length: usize,
    rank: u64,
}

impl BookWriter {
    /// Starts a book; [`BookWriter::finish`] moves it to `target` and replaces an older
    /// book. Until then it is in temporary files in the same folder, which are deleted
    /// when the writer is dropped.
    ///
    /// # Errors
    ///
    /// The name does not end with .ctg, or no file can be made in the folder.
    pub fn create(target: &Path, options: WriteOptions) -> Result<BookWriter, Error> {
        if !has_extension(target, "ctg") {
            let text = "the name of a book must end with .ctg or .bin";
            return Err(Error::refused(target, text));
        }
        atomic::check(target, &["cto", "ctb"], options.old)?;
        let mut ctg = NewFile::create(target, options.old)?;
        // Space for the header page; its numbers are written at the end.
        ctg.write_bytes(&[0; PAGE_BYTES])?;
        Ok(BookWriter {
            options,
            ctg,
            ahead: vec![TrieNode::ROOT],
            bytes: Vec::with_capacity(2 * PAGE_BYTES),
            pending: Vec::new(),
            inside: 0,
            inside_bytes: 0,
            last: None,
            live: Vec::new(),
            split: Vec::new(),
            positions: 0,
            moves: 0,
            given_up: false,
        })
    }

    /// Sets the side that the book plays for, as in [`WriteOptions::only`].
    pub fn set_only(&mut self, only: Option<Color>) {
        self.options.only = only;
    }

    /// The folder of the book, for other temporary files.
    pub(super) fn folder(&self) -> PathBuf {
        atomic::folder_of(self.ctg.path()).to_owned()
    }

    /// Takes the next entry, made by [`super::encode_entry`]. Entries must be in
    /// ascending order of (`hash.reverse_bits()`, key bytes); they stay in this order in
    /// a page.
    ///
    /// # Errors
    ///
    /// The bytes are not a whole entry, or out of order, or a duplicate (then the writer is
    /// unchanged); or the book cannot be written, and the writer must be dropped.
    pub fn push(&mut self, entry: &[u8]) -> Result<(), Error> {
        self.push_ranked(entry, 0)
    }

    /// As [`BookWriter::push`], with the entry's rank in its page: lower ranks come
    /// first, equal ones in the order in which they were pushed. No reader needs an order
    /// in a page; with the old offsets as ranks a rewritten book keeps its old order.
    ///
    /// # Errors
    ///
    /// As for [`BookWriter::push`].
    pub fn push_ranked(&mut self, entry: &[u8], rank: u64) -> Result<(), Error> {
        let (whole, key) = whole_entry(entry)?;
        self.append(key.hash().reverse_bits(), entry, whole.moves().len(), rank)
    }

    /// As [`BookWriter::push`], for a caller that has just made the entry, with its
    /// bit-reversed hash and number of moves.
    pub fn push_made(&mut self, reversed: u32, entry: &[u8], moves: usize) -> Result<(), Error> {
        debug_assert_eq!(
            Some(reversed),
            Key::from_prefix(entry).map(|key| key.hash().reverse_bits())
        );
        self.append(reversed, entry, moves, 0)
    }

    fn append(
        &mut self,
        reversed: u32,
        entry: &[u8],
        moves: usize,
        rank: u64,
    ) -> Result<(), Error> {
        if self.given_up {
            return Err(Error::GivenUp);
        }
        // An entry is longer than any key.
        let start = entry.first_chunk().ok_or_else(|| trailing(entry.len()))?;
        // Usually the first number decides.
        if let Some((last, before)) = &self.last
            && *last >= reversed
            && let (Some(before), Some(key)) = (Key::from_prefix(before), Key::from_prefix(start))
        {
            if *last == reversed && before == key {
                return Err(Error::Entry(format!(
                    "the entry with key {key} occurs twice"
                )));
            }
            if *last > reversed || before.as_bytes() > key.as_bytes() {
                return Err(Error::Entry(format!(
                    "the entry with key {key} is out of order"
                )));
            }
        }
        self.last = Some((reversed, *start));
        self.positions += 1;
        self.moves += moves as u64;
        self.bytes.extend_from_slice(entry);
        self.pending.push(Pending {
            reversed,
            length: entry.len(),
            rank,
        });
        self.write_complete_slots(false)
            .inspect_err(|_| self.given_up = true)
    }

    /// Splits or writes slots as far as the received entries allow.
    fn write_complete_slots(&mut self, ended: bool) -> Result<(), Error> {
        while let Some(&node) = self.ahead.last() {
            let rest = self.pending.get(self.inside..).unwrap_or_default();
            for entry in rest.iter().take_while(|entry| node.holds(entry.reversed)) {
                self.inside += 1;
                self.inside_bytes += entry.length;
            }
            if self.must_split(node) {
                let Some([zero, one]) = node.children() else {
                    let hash = self.pending.first().map_or(0, |entry| entry.reversed);
                    return Err(Error::HashRun {
                        hash: hash.reverse_bits(),
                        bytes: self.inside_bytes,
                        most: ROOM,
                    });
                };
                self.split.push(node.slot);
                self.ahead.pop();
                self.ahead.extend([one, zero]);
                (self.inside, self.inside_bytes) = (0, 0);
            } else if ended || self.inside < self.pending.len() {
                self.write_page(node.slot)?;
                self.ahead.pop();
            } else {
                break;
            }
        }
        Ok(())
    }

    fn must_split(&self, node: TrieNode) -> bool {
        let kept = |splits: &Splits| splits.contains(node.slot.into());
        self.inside_bytes > ROOM
            || node.level == 0 && self.options.split_root
            || self.options.keep_splits.as_ref().is_some_and(kept)
    }

    /// Writes the page of the next slot.
    fn write_page(&mut self, slot: u32) -> Result<(), Error> {
        if self.live.len() >= i32::MAX as usize {
            return Err(Error::TooManyPages);
        }
        self.live.push(slot);
        let entries = self.pending.get(..self.inside).unwrap_or_default();
        let bytes = self.bytes.get(..self.inside_bytes).unwrap_or_default();
        // An entry takes at least 35 bytes, so both numbers are small.
        self.ctg
            .write_bytes(&(entries.len() as u16).to_be_bytes())?;
        self.ctg
            .write_bytes(&((bytes.len() + PAGE_HEADER_BYTES) as u16).to_be_bytes())?;
        if entries.is_sorted_by_key(|entry| entry.rank) {
            self.ctg.write_bytes(bytes)?;
        } else {
            let mut rest = bytes;
            let cut = |entry: &Pending| {
                let (bytes, tail) = rest.split_at_checked(entry.length).unwrap_or_default();
                rest = tail;
                (entry.rank, bytes)
            };
            let mut ranked: Vec<(u64, &[u8])> = entries.iter().map(cut).collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            for (_, bytes) in ranked {
                self.ctg.write_bytes(bytes)?;
            }
        }
        self.ctg
            .write_bytes([0; ROOM].get(bytes.len()..).unwrap_or_default())?;
        self.pending.drain(..self.inside);
        self.bytes.drain(..self.inside_bytes);
        (self.inside, self.inside_bytes) = (0, 0);
        Ok(())
    }

    /// Completes the three files, syncs them to disk, and replaces an older book, in an
    /// order in which a kill at any moment leaves the old book or the new one. `games` is
    /// the number in the header.
    ///
    /// # Errors
    ///
    /// The book cannot be written. An older book is unchanged.
    pub fn finish(mut self, games: u32) -> Result<Written, Error> {
        if self.given_up {
            return Err(Error::GivenUp);
        }
        self.write_complete_slots(true)?;
        let BookWriter {
            options,
            mut ctg,
            mut live,
            mut split,
            positions,
            moves,
            ..
        } = self;
        let pages = live.len() as u32;
        let shape = Shape::from_pages(&live, &split);
        let written = Written {
            positions,
            moves,
            pages,
            slots: shape.slots,
            bytes: shape.book_bytes(pages) + shape.cto_bytes() + shape.ctb_bytes(),
        };
        if shape.cto_bytes() > shape.book_bytes(pages).max(TOLERATED_INDEX) {
            return Err(Error::DeepIndex {
                index_bytes: shape.cto_bytes(),
                book_bytes: shape.book_bytes(pages),
            });
        }
        let header = header_page(pages, positions, games, split.is_empty(), options.only);
        ctg.seek(SeekFrom::Start(0))
            .map_err(|error| ctg.failed(error))?;
        ctg.write_bytes(&header)?;

        let mut pages_by_slot: Vec<(u32, u32)> = live.drain(..).zip(0..).collect();
        pages_by_slot.sort_unstable();
        split.sort_unstable();
        // In lower case, whatever the book's is: most readers replace the extension as a
        // whole.
        let sibling =
            |extension| NewFile::create(&ctg.path().with_extension(extension), options.old);
        let mut ctb = sibling("ctb")?;
        write_ctb(&mut ctb, &shape, &split).map_err(|error| ctb.failed(error))?;
        let mut cto = sibling("cto")?;
        write_cto(&mut cto, &shape, &pages_by_slot).map_err(|error| cto.failed(error))?;
        ctg.commit_with(vec![ctb, cto])?;
        Ok(written)
    }
}

/// The sizes and bounds of an index.
struct Shape {
    lower: u32,
    upper: u32,
    slots: u64,
}

impl Shape {
    fn from_pages(live: &[u32], split: &[u32]) -> Shape {
        let lowest = live.iter().min().copied().unwrap_or(0);
        let highest = live.iter().max().copied().unwrap_or(0);
        let upper = match split.iter().max() {
            // A split slot is on level 30 or above, so this fits.
            Some(highest) => (highest + 1).next_multiple_of(8),
            None => 0,
        };
        let mut slots = u64::from(highest) + 1;
        if upper > 0 {
            let digits = u32::BITS - upper.leading_zeros();
            let reachable = u64::from(upper) + (1 << digits) + 1;
            slots = slots.max(reachable).min(u32::MAX.into());
        }
        Shape {
            lower: lowest / 8 * 8,
            upper,
            slots,
        }
    }

    fn book_bytes(&self, pages: u32) -> u64 {
        (u64::from(pages) + 1) * PAGE_BYTES as u64
    }

    fn cto_bytes(&self) -> u64 {
        CTO_HEADER_BYTES + 4 * self.slots
    }

    fn ctb_bytes(&self) -> u64 {
        CTB_HEADER_BYTES + u64::from(self.upper / 8)
    }
}

fn header_page(
    pages: u32,
    positions: u64,
    games: u32,
    single: bool,
    only: Option<Color>,
) -> [u8; PAGE_BYTES] {
    let mut page = [0; PAGE_BYTES];
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in page.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    };
    put(0, &[0x00, 0x20, 0x10, 0x00, 0, 1, 0, 1, 0, 0, 0x10, 0]);
    put(12, &[0x7f, 0xff, 0x7f, 0xff]);
    put(16, &pages.to_be_bytes());
    put(20, &[0xff; 4]);
    let positions = u32::try_from(positions).unwrap_or(u32::MAX);
    put(24, &positions.to_be_bytes());
    put(28, &games.to_be_bytes());
    let words: [u16; 12] = [1, 5, 1, 0x7fff, 3, 0x7fff, 5, 30, 6, 2, 7, 1];
    for (n, word) in words.iter().enumerate() {
        put(0x400 + 2 * n, &word.to_be_bytes());
    }
    if !single {
        put(0x800, &12_u32.to_be_bytes());
        put(0x804, &256_u32.to_be_bytes());
    }
    if let Some(side) = only {
        put(SIDE_MARK_AT, side_mark(side));
    }
    page
}

fn write_cto(file: &mut impl Write, shape: &Shape, pages: &[(u32, u32)]) -> io::Result<()> {
    file.write_all(&[0, CTO_HEADER_BYTES as u8, 0, 1])?;
    file.write_all(&(shape.slots as u32).to_be_bytes())?;
    file.write_all(&[0; 4])?;
    file.write_all(&shape.lower.to_be_bytes())?;
    let mut next = 0_u64;
    for &(slot, page) in pages {
        fill(file, 0xff, 4 * (u64::from(slot) - next))?;
        file.write_all(&page.to_be_bytes())?;
        next = u64::from(slot) + 1;
    }
    fill(file, 0xff, 4 * (shape.slots - next))
}

fn write_ctb(file: &mut impl Write, shape: &Shape, split: &[u32]) -> io::Result<()> {
    file.write_all(&[0, CTB_HEADER_BYTES as u8, 0, 1])?;
    file.write_all(&shape.lower.to_be_bytes())?;
    file.write_all(&shape.upper.to_be_bytes())?;
    let mut next = 0_u64;
    for same_byte in split.chunk_by(|a, b| a / 8 == b / 8) {
        let at = same_byte.first().map_or(0, |slot| u64::from(slot / 8));
        let byte = same_byte
            .iter()
            .fold(0, |byte, slot| byte | 1 << (slot % 8));
        fill(file, 0, at - next)?;
        file.write_all(&[byte])?;
        next = at + 1;
    }
    fill(file, 0, u64::from(shape.upper / 8) - next)
}

fn fill(file: &mut impl Write, byte: u8, count: u64) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(byte), count), file).map(drop)
}
