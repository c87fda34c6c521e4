//! Reads the index from start to end.
//!
//! The author's program writes the ECO code of the PGN unchanged, so a code of
//! fewer than three letters shifts all entries after it. This is detected where the
//! next entry is impossible, but one that begins 1 to 3 bytes earlier is possible
//! and has the offset at which the current game ends.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use super::MAGIC_BYTES;
use super::entry::{self, ENTRY_BYTES, ScdbEntry};
use super::length;
use tabia_io::input::reader::FileReader;

/// Bytes before the first entry: magic, version, number of the game to open first.
pub(super) const HEADER_BYTES: usize = 19;

/// Bytes that are read in one call.
const CHUNK_BYTES: usize = 64 << 10;

/// Reads the entries of a `.dci` file one after the other.
pub(super) struct Index {
    file: BufReader<FileReader>,
    games: GameEnds,
    /// Bytes read; not yet returned from `at` on.
    ahead: Vec<u8>,
    at: usize,
    at_end: bool,
    /// Bytes of the entries returned, and of the header.
    pub(super) bytes_read: u64,
    /// Number of entries that were too short.
    displaced: u64,
    /// Bytes after the last entry that are not an entry.
    tail_bytes: usize,
    /// Highest offset of a game.
    last_offset: u64,
}

impl Index {
    /// Reads entries from `file`, which is positioned after the header.
    pub(super) fn new(file: BufReader<FileReader>, games: FileReader, games_end: u64) -> Index {
        Index {
            file,
            games: GameEnds {
                file: BufReader::with_capacity(64, games),
                end: games_end,
            },
            ahead: Vec::new(),
            at: 0,
            at_end: false,
            bytes_read: HEADER_BYTES as u64,
            displaced: 0,
            tail_bytes: 0,
            last_offset: 0,
        }
    }

    /// The next entry.
    pub(super) fn next(&mut self) -> io::Result<Option<ScdbEntry>> {
        // This entry, and the next wherever it begins.
        self.fill(2 * ENTRY_BYTES)?;
        let rest = self.ahead.get(self.at..).unwrap_or_default();
        if rest.len() < ENTRY_BYTES {
            let missing = entry::short_eco(rest).filter(|_| self.at_end);
            let last = missing.and_then(|missing| ScdbEntry::decode(rest, missing));
            if last.is_some() {
                self.displaced += 1;
            } else {
                // Another call at the end finds nothing left.
                self.tail_bytes += rest.len();
            }
            self.bytes_read += rest.len() as u64;
            self.at = self.ahead.len();
            return Ok(last);
        }
        let missing = self.games.missing_bytes(rest)?;
        let entry = ScdbEntry::decode(rest, missing);
        if let Some(entry) = &entry
            && entry.offset < self.games.end
        {
            self.last_offset = self.last_offset.max(entry.offset);
        }
        self.displaced += u64::from(missing > 0);
        self.at += ENTRY_BYTES - missing;
        self.bytes_read += (ENTRY_BYTES - missing) as u64;
        Ok(entry)
    }

    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while !self.at_end && self.ahead.len() - self.at < wanted {
            self.ahead.drain(..self.at);
            self.at = 0;
            let mut more = self.file.by_ref().take(CHUNK_BYTES as u64);
            self.at_end = more.read_to_end(&mut self.ahead)? == 0;
        }
        Ok(())
    }

    /// Closes the files; returns what is wrong with them.
    pub(super) fn close(mut self) -> Vec<String> {
        let last_end = self.games.game_end(self.last_offset).ok().flatten();
        let unnamed_bytes = last_end.map_or(0, |end| self.games.end.saturating_sub(end));
        let faults = [
            (
                unnamed_bytes,
                "bytes in .dcg are after the last game that it names",
            ),
            (
                self.tail_bytes as u64,
                "bytes at its end are not an entry and were skipped",
            ),
            (
                self.displaced,
                "entries were too short, and those after them displaced; they were found again",
            ),
        ];
        let faults = faults.into_iter().filter(|(count, _)| *count > 0);
        faults
            .map(|(count, text)| format!("{count} {text}"))
            .collect()
    }
}

/// Finds the ends of games.
struct GameEnds {
    file: BufReader<FileReader>,
    end: u64,
}

impl GameEnds {
    /// How many bytes are missing in the entry at the start of `bytes`.
    fn missing_bytes(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let next = bytes.get(ENTRY_BYTES..).unwrap_or_default();
        if next.is_empty() || entry::is_likely(next, self.end) {
            return Ok(0);
        }
        let Some(end) = self.game_end(entry::offset(bytes).unwrap_or(0))? else {
            return Ok(0);
        };
        let is_next = |missing: &usize| {
            let from = bytes.get(ENTRY_BYTES - missing..).unwrap_or_default();
            entry::is_likely(from, self.end) && entry::offset(from) == Some(end)
        };
        Ok((1..=3).find(is_next).unwrap_or(0))
    }

    /// The offset at which the game at `offset` ends.
    fn game_end(&mut self, offset: u64) -> io::Result<Option<u64>> {
        if !(MAGIC_BYTES as u64..self.end).contains(&offset) {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(offset))?;
        let mut start = Vec::new();
        self.file
            .by_ref()
            .take(length::MOST_BYTES as u64)
            .read_to_end(&mut start)?;
        Ok(length::read(&start)
            .map(|(length, rest)| offset + (start.len() - rest.len()) as u64 + length as u64))
    }
}
