//! Writes a games index: a new file, or a segment at the end of an existing
//! one.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::file::{
    Directory, FRAME_HEAD, HEAD_BYTES, MAGIC, Root, SLOTS, Segment, Slot, TableRoot, TgxFile,
};
use crate::{Error, is_game_file};
use tabia_io::atomic::{LOCK_WAIT, Locked, NewFile, Previous, remove_leftovers};
use tabia_io::input::path::has_extension;
use tabia_notation::kind::BookKind;

/// Blocks of sorted tables are closed at this size.
const BLOCK_BYTES: usize = 16 << 10;

/// Bytes that are written in one call.
const BUFFER_BYTES: usize = 1 << 20;

/// Adds one segment to a file.
#[derive(Debug)]
pub struct TgxWriter {
    path: PathBuf,
    /// A new file, which is moved into place at the end.
    beside: Option<NewFile>,
    file: Locked,
    buffer: Vec<u8>,
    /// Offset of the next frame.
    at: u64,
    root: Root,
    slot: usize,
    generation: u64,
    tables: Vec<TableRoot>,
    /// The end of the file without the new segment, until that is valid.
    cut_to: Option<u64>,
}

/// Whatever the reason, such as a full disk: nothing of the segment stays in the file.
impl Drop for TgxWriter {
    fn drop(&mut self) {
        if let Some(end) = self.cut_to {
            let _ = self.file.set_len(end);
        }
    }
}

impl TgxWriter {
    /// Starts a new file.
    ///
    /// # Errors
    ///
    /// The file exists and `old` refuses it, or its folder is not writable.
    pub fn create(path: &Path, old: Previous, max_ply: u16) -> Result<TgxWriter, Error> {
        let beside = NewFile::create(path, old)?;
        let failed = |error| Error::io(path, error);
        let mut file = Locked(beside.second_handle().map_err(failed)?);
        let mut head = vec![0; HEAD_BYTES as usize];
        head[..MAGIC.len()].copy_from_slice(MAGIC);
        file.write_all(&head).map_err(failed)?;
        Ok(TgxWriter {
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
            cut_to: None,
        })
    }

    /// Checks the name of a new index: one of another format would mislead whoever opens it.
    ///
    /// # Errors
    ///
    /// It is the name of a book, of games or of a table.
    pub fn check_name(path: &Path) -> Result<(), Error> {
        const OTHERS: [&str; 6] = ["cto", "ctb", "csv", "epd", "evals", "parquet"];
        let has = |extension: &str| has_extension(path, extension);
        let is_other = BookKind::of_name(path).is_some()
            || is_game_file(path) && !has("tgx")
            || OTHERS.into_iter().any(has);
        match is_other {
            true => Err(Error::Format {
                path: path.to_owned(),
                text: "an index of games has another format than this name says: its name ends \
                       with .tgx; nothing was written"
                    .to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Opens a file to add a segment at its end; returns the file's old content too.
    /// What a killed writer has left is cut off, and its temporary files are removed.
    ///
    /// # Errors
    ///
    /// It is not a games index, is not writable, or another program is adding to it.
    pub fn append(path: &Path) -> Result<(TgxWriter, TgxFile), Error> {
        let failed = |error| Error::io(path, error);
        let mut file = open_locked(path)?;
        let before = TgxFile::open(path, false)?;
        let (slot, generation) = before.slot()?;
        let root = before.root().clone();
        file.set_len(root.end).map_err(failed)?;
        remove_leftovers(path);
        file.seek(SeekFrom::Start(root.end)).map_err(failed)?;
        let writer = TgxWriter {
            path: path.to_owned(),
            beside: None,
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            at: root.end,
            root,
            slot: 1 - slot.min(1),
            generation: generation + 1,
            tables: Vec::new(),
            cut_to: Some(before.root().end),
        };
        Ok((writer, before))
    }

    /// The root of the file before this segment.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The length of the file so far, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// Removes the last segments from the root; the new segment contains their
    /// games.
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

    /// Completes a table; returns the length of its blocks in bytes.
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

    /// Completes the segment and makes it valid. Returns the file's length.
    ///
    /// # Errors
    ///
    /// The file cannot be written; its content is unchanged.
    pub fn finish(mut self, segment: Segment) -> Result<u64, Error> {
        let tables = std::mem::take(&mut self.tables);
        self.root.segments.push(Segment { tables, ..segment });
        let mut root = self.root.clone();
        root.end = self.at;
        let mut text = serde_json::to_vec(&root).unwrap_or_default();
        // The root contains the end of the file, which depends on the root's length.
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
        // From now on the segment may be valid.
        self.cut_to = None;
        let slot = Slot {
            generation: self.generation,
            root: at,
        };
        let place = SLOTS.get(self.slot).copied().unwrap_or(SLOTS[0]);
        self.file.seek(SeekFrom::Start(place)).map_err(failed)?;
        self.file.write_all(&slot.encode()).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        if let Some(beside) = self.beside.take() {
            beside.commit()?;
        }
        Ok(self.at)
    }
}

/// Opens a file for adding games and locks it against other writers, until the result is
/// dropped.
///
/// # Errors
///
/// The file is not writable, or another program is adding to it.
pub fn lock(path: &Path) -> Result<impl Sized + use<>, Error> {
    open_locked(path)
}

fn open_locked(path: &Path) -> Result<Locked, Error> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = opened.map_err(|error| Error::io(path, error))?;
    Locked::within(LOCK_WAIT, file).ok_or_else(|| Error::Busy {
        path: path.to_owned(),
    })
}

/// A table that is being written. Its entries must be added in ascending order
/// of their keys.
#[derive(Debug, Default)]
pub struct TableWriter {
    directory: Directory,
    block: Vec<u8>,
    /// First key of the current block.
    first: Option<u64>,
    /// Last key that was added.
    last: u64,
    bytes: u64,
}

impl TableWriter {
    /// Starts an entry: returns the buffer for its bytes, and the key of the entry
    /// before it in the block; `None` if it is the first.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn entry(
        &mut self,
        key: u64,
        writer: &mut TgxWriter,
    ) -> Result<(&mut Vec<u8>, Option<u64>), Error> {
        if self.block.len() >= BLOCK_BYTES {
            self.close(writer)?;
        }
        let before = self.first.map(|_| self.last);
        self.first.get_or_insert(key);
        self.last = key;
        Ok((&mut self.block, before))
    }

    /// Adds a complete block.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn block(&mut self, key: u64, bytes: &[u8], writer: &mut TgxWriter) -> Result<(), Error> {
        let at = writer.frame(bytes)?;
        self.directory.push(key, at);
        self.bytes += bytes.len() as u64 + FRAME_HEAD;
        Ok(())
    }

    /// Adds the blocks that an older table already has in the file, before all
    /// others. They are not copied.
    pub fn include_before(&mut self, directory: &Directory, bytes: u64) {
        self.directory.put_before(directory);
        self.bytes += bytes;
    }

    fn close(&mut self, writer: &mut TgxWriter) -> Result<(), Error> {
        if let Some(first) = self.first.take() {
            let mut block = std::mem::take(&mut self.block);
            self.block(first, &block, writer)?;
            block.clear();
            self.block = block;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_games(mut writer: TgxWriter, games: u64) -> TgxWriter {
        let mut table = TableWriter::default();
        for key in 0..games {
            let (block, _) = table.entry(key, &mut writer).unwrap();
            block.extend([7; 5000]);
        }
        writer.end_table("games", table).unwrap();
        writer
    }

    /// No name of a book, of other games or of what is written beside them.
    #[test]
    fn the_name_of_an_index_is_not_that_of_something_else() {
        for name in ["a.tgx", "a", "a.idx", "pgn", "a.pgn.idx"] {
            assert!(TgxWriter::check_name(Path::new(name)).is_ok(), "{name}");
        }
        for name in [
            "a.pgn",
            "a.CBH",
            "a.ctg",
            "a.bin",
            "a.cto",
            "a.csv",
            "a.epd",
            "a.parquet",
        ] {
            assert!(TgxWriter::check_name(Path::new(name)).is_err(), "{name}");
        }
    }

    /// Whoever gives up writes nothing that stays, and what a killed program has left goes.
    #[test]
    fn a_segment_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tgx");
        let new = with_games(TgxWriter::create(&path, Previous::Refuse, 9).unwrap(), 100);
        new.finish(Segment::default()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let bytes = || std::fs::metadata(&path).unwrap().len();

        let writer = with_games(TgxWriter::append(&path).unwrap().0, 900);
        assert!(bytes() > whole.len() as u64);
        drop(writer);
        assert!(std::fs::read(&path).unwrap() == whole);

        // A killed program cuts nothing off, and a sort file may keep its name.
        let sort_file = folder.path().join(".tabia-0123456789abcdef.tmp");
        std::fs::write(&sort_file, b"").unwrap();
        let mut writer = with_games(TgxWriter::append(&path).unwrap().0, 900);
        writer.cut_to = None;
        drop(writer);
        assert!(bytes() > whole.len() as u64);
        drop(TgxWriter::append(&path).unwrap());
        assert!(std::fs::read(&path).unwrap() == whole);
        assert!(!sort_file.exists());

        let writer = with_games(TgxWriter::append(&path).unwrap().0, 3);
        let end = writer.finish(Segment::default()).unwrap();
        assert_eq!(bytes(), end);
        assert_eq!(
            TgxFile::open(&path, false).unwrap().root().segments.len(),
            2
        );
    }
}
