//! Writing a file: a new one beside its place, or at the end of one that is
//! there.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::file::{
    Directory, FRAME_HEAD, HEAD_BYTES, MAGIC, Root, SLOTS, Segment, Slot, TableRoot, TgxFile,
};
use crate::Error;
use tabia_io::atomic::{LOCK_WAIT, Locked, NewFile, Old};

/// Blocks of sorted tables are closed when they reach this size.
const BLOCK_BYTES: usize = 16 << 10;

/// So much is written at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Adds one segment to a file.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    /// A new file, which goes in its place at the end.
    beside: Option<NewFile>,
    file: Locked,
    buffer: Vec<u8>,
    /// Where the next frame goes.
    at: u64,
    root: Root,
    slot: usize,
    generation: u64,
    tables: Vec<TableRoot>,
}

impl Writer {
    /// Begins a new file.
    ///
    /// # Errors
    ///
    /// It is there and refused, or none can be made in its folder.
    pub fn create(path: &Path, old: Old, max_ply: u16) -> Result<Writer, Error> {
        let beside = NewFile::create(path, old)?;
        let failed = |error| Error::io(path, error);
        let mut file = Locked(beside.as_file().try_clone().map_err(failed)?);
        let mut head = vec![0; HEAD_BYTES as usize];
        head[..MAGIC.len()].copy_from_slice(MAGIC);
        file.write_all(&head).map_err(failed)?;
        Ok(Writer {
            path: path.to_owned(),
            beside: Some(beside),
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            at: HEAD_BYTES,
            root: Root {
                max_ply,
                ..Root::default()
            },
            slot: 0,
            generation: 1,
            tables: Vec::new(),
        })
    }

    /// Goes on at the end of a file, which is given too, as it was before. What
    /// a writer that was ended has left there is overwritten.
    ///
    /// # Errors
    ///
    /// It is no games index, cannot be written, or another program is adding to it.
    pub fn append(path: &Path) -> Result<(Writer, TgxFile), Error> {
        let failed = |error| Error::io(path, error);
        let mut file = lock(path)?;
        let before = TgxFile::open(path, false)?;
        let (slot, generation) = before.slot()?;
        let root = before.root().clone();
        file.seek(SeekFrom::Start(root.end)).map_err(failed)?;
        let writer = Writer {
            path: path.to_owned(),
            beside: None,
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            at: root.end,
            root,
            slot: 1 - slot.min(1),
            generation: generation + 1,
            tables: Vec::new(),
        };
        Ok((writer, before))
    }

    /// What the file contained before.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Takes the last segments out: the one that is being written holds what
    /// they hold.
    pub fn replace_last(&mut self, count: usize) -> Vec<Segment> {
        let segments = &mut self.root.segments;
        segments.split_off(segments.len().saturating_sub(count))
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        let at = self.at;
        self.buffer.extend((bytes.len() as u32).to_le_bytes());
        self.buffer.extend(crc32fast::hash(bytes).to_le_bytes());
        self.buffer.extend_from_slice(bytes);
        self.at += FRAME_HEAD + bytes.len() as u64;
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(at)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_all(&self.buffer);
        written.map_err(|error| Error::io(&self.path, error))?;
        self.buffer.clear();
        Ok(())
    }

    /// Ends a table; gives the bytes of its blocks.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn end_table(&mut self, name: &str, mut table: TableWriter) -> Result<u64, Error> {
        table.close(self)?;
        let directory = self.frame(&table.directory.encode())?;
        self.tables.push(TableRoot {
            name: name.to_owned(),
            directory,
            bytes: table.bytes,
        });
        Ok(table.bytes)
    }

    /// Ends the segment; only now the file holds it. Gives its length.
    ///
    /// # Errors
    ///
    /// The file cannot be written; it is as it was then.
    pub fn finish(mut self, segment: Segment) -> Result<u64, Error> {
        let tables = std::mem::take(&mut self.tables);
        self.root.segments.push(Segment { tables, ..segment });
        let mut root = self.root.clone();
        root.end = self.at;
        let mut text = serde_json::to_vec(&root).unwrap_or_default();
        // The end is after the root, whose length depends on that number.
        loop {
            root.end = self.at + FRAME_HEAD + text.len() as u64;
            let again = serde_json::to_vec(&root).unwrap_or_default();
            let is_same = again.len() == text.len();
            text = again;
            if is_same {
                break;
            }
        }
        let at = self.frame(&text)?;
        self.flush()?;
        let path = self.path.clone();
        let failed = |error| Error::io(&path, error);
        self.file.set_len(self.at).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        let slot = Slot {
            generation: self.generation,
            root: at,
        };
        let place = SLOTS.get(self.slot).copied().unwrap_or(SLOTS[0]);
        self.file.seek(SeekFrom::Start(place)).map_err(failed)?;
        self.file.write_all(&slot.encode()).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        if let Some(beside) = self.beside {
            beside.put()?;
        }
        Ok(self.at)
    }
}

/// Opens a file for adding to it. As long as it is open no other program can do so.
///
/// # Errors
///
/// It cannot be written, or another program is adding to it.
pub(crate) fn lock(path: &Path) -> Result<Locked, Error> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = opened.map_err(|error| Error::io(path, error))?;
    Locked::within(LOCK_WAIT, file).ok_or_else(|| Error::Busy {
        path: path.to_owned(),
    })
}

/// A table that is being written: its entries come in ascending order of
/// their keys.
#[derive(Debug, Default)]
pub struct TableWriter {
    directory: Directory,
    block: Vec<u8>,
    /// First key of the block.
    first: Option<u64>,
    /// Last key.
    last: u64,
    bytes: u64,
}

impl TableWriter {
    /// Begins an entry: gives where its bytes are to be appended, and the key
    /// of the entry before it in the block; `None` if it is the first.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn entry(
        &mut self,
        key: u64,
        writer: &mut Writer,
    ) -> Result<(&mut Vec<u8>, Option<u64>), Error> {
        if self.block.len() >= BLOCK_BYTES {
            self.close(writer)?;
        }
        let before = self.first.map(|_| self.last);
        self.first.get_or_insert(key);
        self.last = key;
        Ok((&mut self.block, before))
    }

    /// Adds a block that is complete.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn block(&mut self, key: u64, bytes: &[u8], writer: &mut Writer) -> Result<(), Error> {
        let at = writer.frame(bytes)?;
        self.directory.push(key, at);
        self.bytes += bytes.len() as u64 + FRAME_HEAD;
        Ok(())
    }

    /// Takes in, before everything else, the blocks of a table that the file
    /// has already, where they are.
    pub fn keep_before(&mut self, directory: &Directory, bytes: u64) {
        self.directory.put_before(directory);
        self.bytes += bytes;
    }

    fn close(&mut self, writer: &mut Writer) -> Result<(), Error> {
        if let Some(first) = self.first.take() {
            let mut block = std::mem::take(&mut self.block);
            self.block(first, &block, writer)?;
            block.clear();
            self.block = block;
        }
        Ok(())
    }
}
