//! Writes sorted rows as the table of positions.

use crate::Error;
use crate::POSITIONS;
use crate::partitions::{PARTITIONS, Partitions, rows_of};
use crate::parts::{Finished, Joined};
use crate::position::PositionWriter;
use crate::row::Row;
use tabia_games::tgx::TgxWriter;
use tabia_io::parallel;
use tabia_io::progress::{Progress, Watch};
use tabia_io::sort::{Merge, Runs};

/// Encoded positions in order.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    /// The key of each position, its length in bytes, and its number of moves.
    positions: Vec<(u64, u32, u32)>,
    /// The position that is being written.
    position: PositionWriter,
    key: Option<u64>,
    moves: u32,
}

impl Written {
    fn push(&mut self, row: &Row) {
        if self.key != Some(row.hash) {
            self.end();
            self.key = Some(row.hash);
        }
        self.moves += u32::from(self.position.push(row));
    }

    fn end(&mut self) {
        if let Some(key) = self.key.take() {
            self.bytes.extend_from_slice(&self.position.bytes);
            let length = self.position.bytes.len() as u32;
            self.positions.push((key, length, self.moves));
            self.position.clear();
            self.moves = 0;
        }
    }

    fn from_runs(mut merge: Merge<Row>) -> Result<Written, Error> {
        let mut written = Written::default();
        while let Some(row) = merge.next()? {
            written.push(row);
        }
        written.end();
        Ok(written)
    }

    fn from_partitions(all: &[Partitions], partition: usize) -> Result<Written, Error> {
        let mut written = Written::default();
        rows_of::<Error>(all, partition, |row| {
            written.push(row);
            Ok(())
        })?;
        written.end();
        Ok(written)
    }
}

/// Writes the table of positions from sorted runs and from the records in memory.
/// Without runs, the records go directly into the table. Returns the table's counts
/// and the number of new moves.
pub(crate) fn write_rows(
    threads: usize,
    runs: &Runs<Row>,
    partitions: Vec<Partitions>,
    mut table: Joined<'_>,
    writer: &mut TgxWriter,
    watch: &mut Watch<'_>,
) -> Result<(Finished, u64), Error> {
    let mut all_moves = 0;
    let sink = |written: Written| {
        let mut rest = written.bytes.as_slice();
        for (key, length, moves) in written.positions {
            let (bytes, after) = rest.split_at_checked(length as usize).unwrap_or_default();
            rest = after;
            table.put(key, bytes, writer)?;
            all_moves += u64::from(moves);
        }
        let written = Progress::new("writing", "positions", table.entries, None);
        Ok(watch.step(written)?)
    };
    if runs.is_empty() {
        parallel::each_in_order(
            threads,
            0..PARTITIONS,
            |partition| Written::from_partitions(&partitions, partition),
            sink,
        )?;
    } else {
        let sort = |mut partitions: Partitions| Ok::<_, Error>(partitions.sort_into(runs)?);
        parallel::each_in_order(threads, partitions, sort, |()| Ok(()))?;
        runs.take().in_threads(threads, Written::from_runs, sink)?;
    }
    Ok((table.finish(POSITIONS, writer, watch)?, all_moves))
}
