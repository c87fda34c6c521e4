//! Writes the three files of version 5.

use std::collections::HashMap;
use std::path::Path;

use super::encode::ScidRecord;
use super::names::{EVENTS, PLAYERS, ROUNDS, SITES};
use tabia_io::atomic::{self, NewFile, Previous, WriteFileError};
use tabia_io::input::bytes::put_varint;

/// Games do not cross multiples of this offset.
const BLOCK_BYTES: u64 = 1 << 17;

/// Writes a database. Its files appear only when [`ScidWriter::finish`] has
/// returned.
pub(crate) struct ScidWriter {
    index: NewFile,
    games: NewFile,
    names: NewFile,
    /// The numbers of the names written so far, by kind.
    known: [HashMap<String, u32>; 4],
    /// Offset of the next game.
    end: u64,
}

impl ScidWriter {
    /// Starts a database with the path of its index. The other files get the
    /// same name and usual extensions, in lower case.
    ///
    /// # Errors
    ///
    /// The folder is not writable, or the file exists and `old` refuses it.
    pub(crate) fn create(index: &Path, old: Previous) -> Result<ScidWriter, WriteFileError> {
        atomic::check(index, &["sn5", "sg5"], old)?;
        Ok(ScidWriter {
            index: NewFile::create(index, old)?,
            games: NewFile::create(&index.with_extension("sg5"), old)?,
            names: NewFile::create(&index.with_extension("sn5"), old)?,
            known: Default::default(),
            end: 0,
        })
    }

    /// Adds a game.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub(crate) fn push(&mut self, record: &ScidRecord) -> Result<(), WriteFileError> {
        let [white, black, event, site, round] = &record.names;
        let mut entry = record.entry;
        // Scid numbers the names in this order.
        entry.event = self.name(EVENTS, event)?;
        entry.site = self.name(SITES, site)?;
        entry.round = self.name(ROUNDS, round)?;
        entry.players.white = self.name(PLAYERS, white)?;
        entry.players.black = self.name(PLAYERS, black)?;
        let left = BLOCK_BYTES - self.end % BLOCK_BYTES;
        if record.bytes.len() as u64 > left {
            self.games.write_bytes(&vec![0; left as usize])?;
            self.end += left;
        }
        entry.offset = self.end;
        self.games.write_bytes(&record.bytes)?;
        self.end += record.bytes.len() as u64;
        self.index.write_bytes(&entry.encode())
    }

    /// The number of a name; a new name is written.
    fn name(&mut self, kind: usize, name: &str) -> Result<u32, WriteFileError> {
        let Some(known) = self.known.get_mut(kind) else {
            return Ok(0);
        };
        if let Some(number) = known.get(name) {
            return Ok(*number);
        }
        let number = known.len() as u32;
        known.insert(name.to_owned(), number);
        let mut bytes = Vec::new();
        put_varint((name.len() << 3 | kind) as u64, &mut bytes);
        bytes.extend(name.as_bytes());
        self.names.write_bytes(&bytes)?;
        Ok(number)
    }

    /// Completes the files and moves them into place.
    ///
    /// # Errors
    ///
    /// Writing failed; no file has changed.
    pub(crate) fn finish(self) -> Result<(), WriteFileError> {
        self.index.commit_with(vec![self.games, self.names])?;
        Ok(())
    }
}
