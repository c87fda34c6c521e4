//! Writes the merged runs as a table.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::super::how_far::writing;
use super::super::node::Node;
use super::super::{BuildError, Written};
use super::{COUNTERS, NO_MOVE};
use tabia_book::ctg::Key;
use tabia_io::atomic::NewFile;
use tabia_io::parallel::{self, Coordinator};
use tabia_io::progress::Watch;
use tabia_io::sort::Sorted;

/// Rows of a row group. Query engines distribute a file by row groups; each takes about
/// six megabytes of memory here until it is written.
const GROUP_ROWS: usize = 1 << 16;

/// Writes all runs into a temporary file. The caller renames it.
pub(in super::super) fn write(
    file: &NewFile,
    sorted: &Sorted<Node>,
    games: u64,
    watch: &mut Watch<'_>,
) -> Result<Written, BuildError> {
    let mut written = Written::default();
    // One thread adds up, the other compresses.
    parallel::run(
        1,
        |jobs| {
            let failed = |error| BuildError::from(file.failed(into_io(error)));
            let mut table = open(file.as_file()).map_err(failed)?;
            jobs.each(|rows: Rows, _| rows.write(&mut table).map_err(failed))?;
            table.close().map(drop).map_err(failed)
        },
        |coordinator| send_rows(sorted, games, &mut written, coordinator, watch),
    )?;
    Ok(written)
}

/// Divides the merged runs into row groups for the other thread.
fn send_rows(
    sorted: &Sorted<Node>,
    games: u64,
    written: &mut Written,
    coordinator: &mut Coordinator<'_, Rows, (), (), BuildError>,
    watch: &mut Watch<'_>,
) -> Result<(), BuildError> {
    let mut rows = Rows::default();
    rows.push(&[], NO_MOVE, &[games, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut merge = sorted.merge()?;
    while let Some(node) = merge.next()? {
        rows.push_node(node);
        written.positions += 1;
        written.moves += node.moves.len() as u64;
        if rows.len() >= GROUP_ROWS {
            let positions = written.positions;
            watch.step(writing(positions, node.place.order))?;
            coordinator.give(std::mem::take(&mut rows));
            while coordinator.ready()?.is_some() {}
        }
    }
    coordinator.give(rows);
    while coordinator.rest()?.is_some() {}
    Ok(())
}

/// Rows, stored by columns.
#[derive(Default)]
struct Rows {
    keys: Vec<u8>,
    key_lengths: Vec<u8>,
    moves: Vec<i32>,
    counters: [Vec<i64>; COUNTERS.len()],
}

impl Rows {
    fn len(&self) -> usize {
        self.moves.len()
    }

    fn push(&mut self, key: &[u8], byte: i32, counters: &[u64; COUNTERS.len()]) {
        self.keys.extend_from_slice(key);
        self.key_lengths.push(key.len() as u8);
        self.moves.push(byte);
        for (column, &value) in self.counters.iter_mut().zip(counters) {
            column.push(i64::try_from(value).unwrap_or(i64::MAX));
        }
    }

    fn push_node(&mut self, node: &Node) {
        let key = Key::from_padded(node.place.key);
        let t = &node.tally;
        let counters = [
            t.games,
            t.wins,
            t.draws,
            t.losses,
            t.own_rated,
            t.own_rating_sum,
            t.other_rated,
            t.other_rating_sum,
            u64::from(node.main),
        ];
        self.push(key.as_bytes(), NO_MOVE, &counters);
        for &(byte, games) in &node.moves {
            let counters = [games, 0, 0, 0, 0, 0, 0, 0, 0];
            self.push(key.as_bytes(), byte.into(), &counters);
        }
    }

    fn write(self, table: &mut SerializedFileWriter<&File>) -> Result<(), ParquetError> {
        let mut group = table.next_row_group()?;
        let whole = ByteArray::from(self.keys);
        let mut at = 0;
        let keys: Vec<ByteArray> = self
            .key_lengths
            .iter()
            .map(|&length| {
                let key = whole.slice(at, length.into());
                at += usize::from(length);
                key
            })
            .collect();
        if let Some(mut column) = group.next_column()? {
            column
                .typed::<ByteArrayType>()
                .write_batch(&keys, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column
                .typed::<Int32Type>()
                .write_batch(&self.moves, None, None)?;
            column.close()?;
        }
        for values in &self.counters {
            if let Some(mut column) = group.next_column()? {
                column
                    .typed::<Int64Type>()
                    .write_batch(values, None, None)?;
                column.close()?;
            }
        }
        group.close().map(drop)
    }
}

fn open(file: &File) -> Result<SerializedFileWriter<&File>, ParquetError> {
    let column = |name: &str, physical| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .build()
            .map(Arc::new)
    };
    let mut columns = vec![
        column("key", Physical::BYTE_ARRAY)?,
        column("move", Physical::INT32)?,
    ];
    for name in COUNTERS {
        columns.push(column(name, Physical::INT64)?);
    }
    let schema = Type::group_type_builder("records")
        .with_fields(columns)
        .build()?;
    let properties = WriterProperties::builder()
        .set_created_by(concat!("tabia ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        // A key rarely occurs except in consecutive rows.
        .set_column_dictionary_enabled(ColumnPath::from("key"), false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
