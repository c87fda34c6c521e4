//! Joins parts of an index.
//!
//! Each addition of games is a part with separate tables, and an answer is the sum
//! over all parts. To limit their number, parts of a level are joined when games are
//! added: there are at most three of each level; levels are powers of four. A
//! hundred equal months make four parts, and each month was written three
//! times. Entries with the same key are joined; other entries are copied, and games
//! are not moved.

use crate::Error;
use crate::POSITIONS;
use crate::position::{PositionWriter, read_rows};
use crate::posting::Posting;
use crate::row::Row;
use crate::table::{self, Entries};
use tabia_games::tgx::{Directory, GAMES, Segment, TableWriter, TgxFile, TgxWriter};
use tabia_io::input::bytes::Cursor;
use tabia_io::progress::{Progress, Watch};

/// Number of parts of a level that are joined.
const ALIKE: usize = 4;

/// Parts of fewer than four times as many games are on the lowest level.
const SMALLEST_GAMES: u64 = 1 << 14;

/// How many of the last parts are joined, from the numbers of their games; 1 if
/// the last one is not joined.
pub(crate) fn due(parts: &[u64]) -> usize {
    let level = |games: u64| (games / SMALLEST_GAMES).max(1).ilog(ALIKE as u64);
    let mut joined = 1;
    loop {
        let (older, last) = parts.split_at(parts.len().saturating_sub(joined));
        let here = level(last.iter().sum());
        let alike = older.iter().rev().take_while(|part| level(**part) <= here);
        match alike.count() {
            few if few + 1 < ALIKE => return joined,
            many => joined += many,
        }
    }
}

/// Separates the filters of joined parts.
const BETWEEN: &str = "; ";

/// The filter of a joined part that had none.
const ALL: &str = "all";

/// The segment that joins several parts, without tables.
pub(crate) fn merged_segment(parts: &[Segment]) -> Segment {
    let mut filters: Vec<&str> = Vec::new();
    for filter in parts.iter().flat_map(|part| part.filter.split(BETWEEN)) {
        let filter = if filter.is_empty() { ALL } else { filter };
        if !filters.contains(&filter) {
            filters.push(filter);
        }
    }
    Segment {
        first_game: parts.first().map_or(0, |part| part.first_game),
        games: parts.iter().map(|part| part.games).sum(),
        // An upper bound: writing counts shared positions and moves once.
        positions: parts.iter().map(|part| part.positions).sum(),
        moves: parts.iter().map(|part| part.moves).sum(),
        last_month: parts.iter().map(|part| part.last_month).max().unwrap_or(0),
        sources: parts.iter().flat_map(|part| part.sources.clone()).collect(),
        filter: match filters.as_slice() {
            [ALL] => String::new(),
            filters => filters.join(BETWEEN),
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        tables: Vec::new(),
    }
}

/// A table that is being written, joined with older tables.
pub(crate) struct Joined<'f> {
    older: Vec<Entries<'f>>,
    join: Join,
    table: TableWriter,
    /// Number of entries so far.
    pub(crate) entries: u64,
    /// Number of moves that several parts had.
    pub(crate) shared_moves: u64,
    buffer: Vec<u8>,
}

/// Appends the sum of the values of a key in several parts. Returns how many moves
/// were in more than one; `None` if the bytes are invalid.
type Join = fn(&[&[u8]], &mut Vec<u8>) -> Option<u64>;

impl<'f> Joined<'f> {
    /// Starts a table, joined with the tables of the last `parts` older parts.
    pub(crate) fn new(
        name: &'static str,
        older: Option<&'f TgxFile>,
        parts: usize,
    ) -> Result<Joined<'f>, Error> {
        let mut joined = Joined {
            older: Vec::new(),
            join: if name == POSITIONS {
                join_rows
            } else {
                join_postings
            },
            table: TableWriter::default(),
            entries: 0,
            shared_moves: 0,
            buffer: Vec::new(),
        };
        if let Some(file) = older {
            for (_, directory) in last_tables(file, name, parts) {
                joined.older.push(Entries::new(file, directory)?);
            }
        }
        Ok(joined)
    }

    /// Adds the older entries up to a key, then the entry; keys must ascend.
    pub(crate) fn put(
        &mut self,
        key: u64,
        bytes: &[u8],
        writer: &mut TgxWriter,
    ) -> Result<(), Error> {
        while let Some(first) = self.first().filter(|first| *first < key) {
            self.entry(first, None, writer)?;
        }
        self.entry(key, Some(bytes), writer)
    }

    /// Adds the remaining older entries and completes the table.
    pub(crate) fn finish(
        mut self,
        name: &str,
        writer: &mut TgxWriter,
        watch: &mut Watch<'_>,
    ) -> Result<Finished, Error> {
        while let Some(first) = self.first() {
            self.entry(first, None, writer)?;
            let joined = Progress::new("joining", "entries", self.entries, None);
            watch.step(joined)?;
        }
        Ok(Finished {
            bytes: writer.end_table(name, self.table)?,
            entries: self.entries,
            shared_moves: self.shared_moves,
        })
    }

    /// The lowest key of the older entries.
    fn first(&self) -> Option<u64> {
        self.older.iter().filter_map(Entries::key).min()
    }

    /// Adds the joined entry of a key, and moves past it.
    fn entry(&mut self, key: u64, new: Option<&[u8]>, writer: &mut TgxWriter) -> Result<(), Error> {
        self.entries += 1;
        if self.older.is_empty()
            && let Some(new) = new
        {
            return table::put(&mut self.table, key, new, writer);
        }
        let here = |older: &&Entries<'_>| older.key() == Some(key);
        let mut all = self
            .older
            .iter()
            .filter(here)
            .map(Entries::bytes)
            .chain(new);
        match (all.next(), all.next()) {
            (Some(only), None) => table::put(&mut self.table, key, only, writer)?,
            (Some(first), Some(second)) => {
                let all: Vec<&[u8]> = [first, second].into_iter().chain(all).collect();
                self.buffer.clear();
                let Some(shared) = (self.join)(&all, &mut self.buffer) else {
                    let damaged = self.older.iter().find(here).map(Entries::damaged);
                    return damaged.map_or(Ok(()), Err);
                };
                self.shared_moves += shared;
                table::put(&mut self.table, key, &self.buffer, writer)?;
            }
            (None, _) => {}
        }
        for older in &mut self.older {
            if older.key() == Some(key) {
                older.advance()?;
            }
        }
        Ok(())
    }
}

/// Counts for a completed table.
pub(crate) struct Finished {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
    pub(crate) shared_moves: u64,
}

/// The tables of a name in the last parts.
fn last_tables<'f>(
    file: &'f TgxFile,
    name: &'static str,
    parts: usize,
) -> impl Iterator<Item = (&'f Segment, &'f Directory)> {
    let first = file
        .root()
        .segments
        .iter()
        .rev()
        .nth(parts.saturating_sub(1));
    let first = first.map_or(0, |part| part.first_game);
    file.tables(name)
        .filter(move |(part, _)| parts > 0 && part.first_game >= first)
}

/// Adds the games of the last parts, without copying them.
pub(crate) fn include_earlier_games(games: &mut TableWriter, file: &TgxFile, parts: usize) {
    let mut older: Vec<_> = last_tables(file, GAMES, parts).collect();
    older.reverse();
    for (part, directory) in older {
        let table = part.tables.iter().find(|table| table.name == GAMES);
        games.include_before(directory, table.map_or(0, |table| table.bytes));
    }
}

fn join_rows(all: &[&[u8]], out: &mut Vec<u8>) -> Option<u64> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut row, mut moves) = (Row::default(), 0);
    for bytes in all {
        let mut last = None;
        read_rows(bytes, &mut row, |row| {
            moves += u64::from(last.replace(row.mv) != Some(row.mv));
            rows.push(row.clone());
        })?;
    }
    rows.sort_by_key(|row| (row.mv, row.bucket));
    let mut written = PositionWriter::default();
    let mut kept = 0;
    for same in rows.chunk_by_mut(|a, b| (a.mv, a.bucket) == (b.mv, b.bucket)) {
        let (first, others) = same.split_first_mut()?;
        others.iter().for_each(|other| first.merge(other));
        kept += u64::from(written.push(first));
    }
    out.extend_from_slice(&written.bytes);
    Some(moves - kept)
}

fn join_postings(all: &[&[u8]], out: &mut Vec<u8>) -> Option<u64> {
    let (mut sum, mut posting) = (Posting::default(), Posting::default());
    for bytes in all {
        posting.decode_games(&mut Cursor::new(bytes))?;
        sum.merge(&posting);
    }
    sum.encode_games(out);
    Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of the parts after a number of equal additions, and the number of
    /// games written for them.
    fn grown(additions: u64, games: u64) -> (Vec<u64>, u64) {
        let (mut parts, mut written) = (Vec::new(), 0);
        for _ in 0..additions {
            parts.push(games);
            let last = parts.split_off(parts.len() - due(&parts));
            parts.push(last.iter().sum());
            written += parts.last().unwrap();
        }
        (parts, written)
    }

    #[test]
    fn parts_stay_few_and_are_seldom_written_again() {
        for games in [1, 20_000, 90_000_000] {
            let (parts, written) = grown(12, games);
            assert_eq!(parts.len(), 3, "{parts:?}");
            assert!(written <= 3 * 12 * games, "{written}");
        }
        let (parts, written) = grown(300, 1_000_000);
        assert!(
            parts.len() <= 12 && written <= 5 * 300_000_000,
            "{parts:?} {written}"
        );
        // Small parts after a large one are joined; the large one is not.
        assert_eq!(due(&[50_000_000, 1000, 1000, 1000]), 1);
        assert_eq!(due(&[50_000_000, 1000, 1000, 1000, 1000]), 4);
        assert_eq!(due(&[1000, 1000, 1000, 50_000_000]), 4);
        assert_eq!(due(&[7]), 1);
    }
}
