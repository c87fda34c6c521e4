//! The file: blocks that are never changed, and a root that names the valid ones.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | [`MAGIC`] |
//! | 512..544, 1024..1056 | two slots: generation (8 bytes), offset of the root (8), CRC-32 of both (4), nothing (4); the valid one of the higher generation counts |
//! | from 4096 on | frames: length (4), CRC-32 of the bytes (4), the bytes |
//!
//! All numbers have their least significant byte first. A frame holds a block of a
//! table, the directory of one, or a root (JSON, [`Root`]). A program that adds games
//! writes after the end that the root names, brings that to the disk, then writes a
//! root, and last the slot that is not in use. So whatever ends a writer leaves the
//! file as it was before, and readers that have it open go on reading what they
//! opened.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use tabia_io::input::bytes::{Cursor, put_varint};
use tabia_io::input::file::DataFile;
use tabia_io::input::state::Change;

/// How every file begins.
pub const MAGIC: &[u8; 8] = b"tabiaGX1";

/// Where frames begin.
pub(super) const HEAD_BYTES: u64 = 4096;

/// Where the slots are.
pub(super) const SLOTS: [u64; 2] = [512, 1024];

/// Bytes of a slot.
const SLOT_BYTES: usize = 24;

/// Bytes up to the end of the last slot.
const HEAD: usize = SLOTS[1] as usize + SLOT_BYTES;

/// Bytes before those of a frame.
pub(super) const FRAME_HEAD: u64 = 8;

/// No frame is longer: a greater length means damage.
const LARGEST_FRAME: u32 = 1 << 30;

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Where the next frame belongs.
    pub end: u64,
    /// Plies of each game that are indexed.
    pub max_ply: u16,
    /// What was written at once, each time.
    pub segments: Vec<Segment>,
}

impl Root {
    /// Games in all segments.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.segments.iter().map(|segment| segment.games).sum()
    }
}

/// Games that were added together, and what is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Number of the first game, from 0 over the whole file.
    pub first_game: u64,
    /// Games in it.
    pub games: u64,
    /// Different positions.
    pub positions: u64,
    /// Different moves in them.
    pub moves: u64,
    /// The last month of a game, as `year * 12 + month - 1`; 0 if none is
    /// known.
    pub last_month: u32,
    /// The files that were read, as they were named.
    pub sources: Vec<String>,
    /// Which games of them counted, in words of the command line.
    pub filter: String,
    /// The version of the program.
    pub version: String,
    /// Its tables.
    pub tables: Vec<TableRoot>,
}

/// Where a table is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRoot {
    /// Its name.
    pub name: String,
    /// Where the frame with its directory is.
    pub directory: u64,
    /// Bytes of its blocks.
    pub bytes: u64,
}

/// The first key of each block and where it is, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory(Vec<(u64, u64)>);

impl Directory {
    pub(super) fn push(&mut self, key: u64, at: u64) {
        self.0.push((key, at));
    }

    pub(super) fn put_before(&mut self, older: &Directory) {
        self.0.splice(..0, older.0.iter().copied());
    }

    /// How many blocks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The block that holds a key if any does.
    #[must_use]
    pub fn find(&self, key: u64) -> Option<usize> {
        self.0
            .partition_point(|(first, _)| *first <= key)
            .checked_sub(1)
    }

    /// The first key of a block.
    #[must_use]
    pub fn first_key(&self, block: usize) -> Option<u64> {
        self.0.get(block).map(|(key, _)| *key)
    }

    /// Where a block is.
    pub(super) fn place(&self, block: usize) -> Option<u64> {
        self.0.get(block).map(|(_, at)| *at)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (mut key, mut at) = (0, 0);
        for &(next_key, next_at) in &self.0 {
            put_varint(next_key - key, &mut out);
            put_varint(next_at - at, &mut out);
            (key, at) = (next_key, next_at);
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<Directory> {
        let mut cursor = Cursor::new(bytes);
        let mut directory = Directory::default();
        let (mut key, mut at) = (0_u64, 0_u64);
        while cursor.remaining() > 0 {
            key = key.checked_add(cursor.varint()?)?;
            at = at.checked_add(cursor.varint()?)?;
            directory.push(key, at);
        }
        Some(directory)
    }
}

/// An open file.
#[derive(Debug)]
pub struct TgxFile {
    data: DataFile,
    root: Root,
    /// Of each segment, by the order of its tables.
    directories: Vec<Vec<Directory>>,
}

impl TgxFile {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, is none, or its root is damaged.
    pub fn open(path: &Path, mmap: bool) -> Result<TgxFile, Error> {
        let data = DataFile::open(path, mmap).map_err(|error| Error::io(path, error))?;
        let head = data.start(HEAD).map_err(|error| Error::io(path, error))?;
        if !head.starts_with(MAGIC) {
            return Err(Error::NoIndex {
                path: path.to_owned(),
            });
        }
        let mut file = TgxFile {
            data,
            root: Root::default(),
            directories: Vec::new(),
        };
        let mut slots: Vec<Slot> = SLOTS
            .iter()
            .filter_map(|at| Slot::read(&head, *at))
            .collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.generation));
        let Some(slot) = slots.first() else {
            return Err(file.damaged(SLOTS[0], "no root is named"));
        };
        let mut buffer = Vec::new();
        let root = file.frame(slot.root, &mut buffer)?;
        file.root = serde_json::from_slice(root)
            .map_err(|_| file.damaged(slot.root, "the root cannot be read"))?;
        for segment in &file.root.segments {
            let tables = segment.tables.iter().map(|table| {
                let directory = Directory::decode(file.frame(table.directory, &mut buffer)?);
                directory.ok_or_else(|| file.damaged(table.directory, "no directory of a table"))
            });
            let tables = tables.collect::<Result<_, _>>()?;
            file.directories.push(tables);
        }
        Ok(file)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.data.path()
    }

    /// Bytes on the disk.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.data.len()
    }

    /// Whether it holds no game.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.games() == 0
    }

    /// What it holds.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Games in it.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.root.games()
    }

    /// Whether the file is still the one that was opened.
    #[must_use]
    pub fn is_current(&self) -> bool {
        matches!(self.data.change(), Change::None | Change::Gone)
    }

    /// A table of each segment that has it, in order.
    pub fn tables<'f>(
        &'f self,
        name: &'f str,
    ) -> impl Iterator<Item = (&'f Segment, &'f Directory)> {
        let segments = self.root.segments.iter().zip(&self.directories);
        segments.filter_map(move |(segment, directories)| {
            let at = segment.tables.iter().position(|table| table.name == name)?;
            Some((segment, directories.get(at)?))
        })
    }

    /// A block of a table.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is damaged.
    pub fn block<'b>(
        &'b self,
        directory: &Directory,
        block: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], Error> {
        let at = directory.place(block);
        let at = at.ok_or_else(|| self.damaged(0, "a block is missing"))?;
        self.frame(at, buffer)
    }

    /// The bytes of a frame.
    fn frame<'b>(&'b self, at: u64, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Error> {
        let failed = |error| Error::io(self.path(), error);
        let view = self.data.view().map_err(failed)?;
        let mut head = [0; FRAME_HEAD as usize];
        let head = view.read(at, &mut head).map_err(failed)?;
        let mut cursor = Cursor::new(head);
        let (Some(length), Some(sum)) = (cursor.le_u32(), cursor.le_u32()) else {
            return Err(self.damaged(at, "the file ends before it"));
        };
        if length > LARGEST_FRAME || at + FRAME_HEAD + u64::from(length) > self.data.len() {
            return Err(self.damaged(at, "the file ends within it"));
        }
        buffer.resize(length as usize, 0);
        let bytes = view.read(at + FRAME_HEAD, buffer).map_err(failed)?;
        if crc32fast::hash(bytes) != sum {
            return Err(self.damaged(at, "its checksum differs"));
        }
        Ok(bytes)
    }

    /// The error that the bytes read at a place make no sense.
    #[must_use]
    pub fn damaged(&self, at: u64, what: &'static str) -> Error {
        Error::Damaged {
            path: self.path().to_owned(),
            at,
            what,
        }
    }

    /// The same of a block.
    #[must_use]
    pub fn damaged_block(&self, directory: &Directory, block: usize) -> Error {
        let at = directory.place(block).unwrap_or(0);
        self.damaged(at, "its content makes no sense")
    }

    /// Which of the two slots is in use, and its generation.
    pub(super) fn slot(&self) -> Result<(usize, u64), Error> {
        let head = self.data.start(HEAD);
        let head = head.map_err(|error| Error::io(self.path(), error))?;
        let generations = SLOTS.map(|at| Slot::read(&head, at).map_or(0, |slot| slot.generation));
        Ok(match generations {
            [first, second] if first >= second => (0, first),
            [_, second] => (1, second),
        })
    }
}

/// What names the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) generation: u64,
    pub(super) root: u64,
}

impl Slot {
    pub(super) fn encode(self) -> [u8; SLOT_BYTES] {
        let mut out = [0; SLOT_BYTES];
        out[..8].copy_from_slice(&self.generation.to_le_bytes());
        out[8..16].copy_from_slice(&self.root.to_le_bytes());
        let sum = crc32fast::hash(&out[..16]);
        out[16..20].copy_from_slice(&sum.to_le_bytes());
        out
    }

    fn read(head: &[u8], at: u64) -> Option<Slot> {
        let bytes = head.get(at as usize..)?.first_chunk::<SLOT_BYTES>()?;
        let mut cursor = Cursor::new(bytes);
        let (generation, root) = (cursor.le_u64()?, cursor.le_u64()?);
        let is_sound = cursor.le_u32()? == crc32fast::hash(bytes.get(..16)?);
        (is_sound && generation > 0).then_some(Slot { generation, root })
    }
}
