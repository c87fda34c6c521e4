//! The file format: blocks that never change, and a root that lists the valid ones.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | [`MAGIC`] |
//! | 512..544, 1024..1056 | two slots: generation (8 bytes), offset of the root (8), CRC-32 of both (4), unused (4); the valid one with the higher generation counts |
//! | from 4096 on | frames: length (4), CRC-32 of the bytes (4), the bytes |
//!
//! Numbers are little-endian. A frame contains a block of a table, the directory of
//! a table, or a root (JSON, [`Root`]). A program that adds games writes them after
//! the end that the current root names and flushes them to the disk. Then it writes a
//! new root, and last the unused slot. So a writer that is interrupted leaves the
//! file unchanged, and programs that have the file open continue to read the old
//! content.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use tabia_io::input::bytes::{Cursor, put_varint};
use tabia_io::input::file::DataFile;
use tabia_io::input::path::has_extension;
use tabia_io::input::state::Change;

/// First bytes of every file.
pub const MAGIC: &[u8; 8] = b"tabiaGX1";

/// Whether a file is a games index, by its beginning or its name.
#[must_use]
pub fn is_index(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC || has_extension(path, "tgx")
}

/// Offset of the first frame.
pub(super) const HEAD_BYTES: u64 = 4096;

/// Offsets of the slots.
pub(super) const SLOTS: [u64; 2] = [512, 1024];

/// Bytes of a slot.
const SLOT_BYTES: usize = 24;

/// Bytes up to the end of the last slot.
const HEAD: usize = SLOTS[1] as usize + SLOT_BYTES;

/// Length of a frame's header.
pub(super) const FRAME_HEAD: u64 = 8;

/// Greatest length of a frame; a greater one means damage.
const LARGEST_FRAME: u32 = 1 << 30;

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Offset of the next frame.
    pub end: u64,
    /// Number of plies of each game that are indexed.
    pub max_ply: u16,
    /// Segments: one for each time that games were added.
    pub segments: Vec<Segment>,
}

impl Root {
    /// Games in all segments.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.segments.iter().map(|segment| segment.games).sum()
    }
}

/// Games that were added together, and their tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Number of the first game, from 0 over the whole file.
    pub first_game: u64,
    /// Games in the segment.
    pub games: u64,
    /// Number of different positions.
    pub positions: u64,
    /// Number of different moves in them.
    pub moves: u64,
    /// The month of the newest game, as `year * 12 + month - 1`; 0 if
    /// unknown.
    pub last_month: u32,
    /// The source files, as the user named them.
    pub sources: Vec<String>,
    /// The filter of the games, as options of the command line.
    pub filter: String,
    /// Version of the writing program.
    pub version: String,
    /// The tables of the segment.
    pub tables: Vec<TableRoot>,
}

/// The location of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRoot {
    /// Name of the table.
    pub name: String,
    /// Offset of the frame with its directory.
    pub directory: u64,
    /// Length of its blocks in bytes.
    pub bytes: u64,
}

/// The first key and the offset of each block of a table, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory(Vec<(u64, u64)>);

impl Directory {
    pub(super) fn push(&mut self, key: u64, at: u64) {
        self.0.push((key, at));
    }

    pub(super) fn put_before(&mut self, older: &Directory) {
        self.0.splice(..0, older.0.iter().copied());
    }

    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The block that can contain a key.
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

    /// Offset of a block.
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

/// An open games index.
#[derive(Debug)]
pub struct TgxFile {
    data: DataFile,
    root: Root,
    /// The directories of each segment, in the order of its tables.
    directories: Vec<Vec<Directory>>,
}

impl TgxFile {
    /// Opens a games index.
    ///
    /// # Errors
    ///
    /// The file is unreadable, not a games index, or its root is damaged.
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
            return Err(file.damaged(SLOTS[0], "the root is missing"));
        };
        let mut buffer = Vec::new();
        let root = file.frame(slot.root, &mut buffer)?;
        file.root = serde_json::from_slice(root)
            .map_err(|_| file.damaged(slot.root, "the root cannot be read"))?;
        for segment in &file.root.segments {
            let tables = segment.tables.iter().map(|table| {
                let directory = Directory::decode(file.frame(table.directory, &mut buffer)?);
                directory.ok_or_else(|| {
                    file.damaged(table.directory, "the directory of a table is missing")
                })
            });
            let tables = tables.collect::<Result<_, _>>()?;
            file.directories.push(tables);
        }
        Ok(file)
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.data.path()
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.data.len()
    }

    /// Whether the file contains no game.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.games() == 0
    }

    /// The root as read at opening.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Number of games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.root.games()
    }

    /// Whether the file at the path is still the one that was opened.
    #[must_use]
    pub fn is_current(&self) -> bool {
        matches!(self.data.change(), Change::None | Change::Gone)
    }

    /// The tables of a name, in order: at most one of each segment.
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

    /// Reads a block of a table.
    ///
    /// # Errors
    ///
    /// The block cannot be read, or is damaged.
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

    /// Reads the frame at an offset.
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

    /// The error for invalid bytes at an offset.
    #[must_use]
    pub fn damaged(&self, at: u64, what: &'static str) -> Error {
        Error::Damaged {
            path: self.path().to_owned(),
            at,
            what,
        }
    }

    /// An error for invalid bytes in a block.
    #[must_use]
    pub fn damaged_block(&self, directory: &Directory, block: usize) -> Error {
        let at = directory.place(block).unwrap_or(0);
        self.damaged(at, "its content is invalid")
    }

    /// The number of the slot in use, and its generation.
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

/// A slot, which points to the root.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_is_in_the_last_block_that_does_not_begin_after_it(
            firsts in prop::collection::btree_set(0..50_u64, 0..8),
            key in 0..50_u64,
        ) {
            let mut directory = Directory::default();
            for (first, at) in firsts.iter().zip(0..) {
                directory.push(*first, at);
            }
            prop_assert_eq!(directory.len(), firsts.len());
            prop_assert_eq!(directory.is_empty(), firsts.is_empty());
            let found = directory.find(key).and_then(|block| directory.first_key(block));
            prop_assert_eq!(found, firsts.range(..=key).next_back().copied());
        }
    }
}
