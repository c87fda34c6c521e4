//! Writes the merged runs as a table.

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Repetition, Type as Physical};
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::super::how_far::writing;
use super::super::node::Node;
use super::super::{BuildError, Written};
use super::checksum::Checksum;
use super::part::{GamesRow, NOTE, hex};
use super::{COUNTERS, NO_MOVE, Part};
use crate::packing::{Compression, Pages};
use tabia_book::ctg::Key;
use tabia_io::atomic::NewFile;
use tabia_io::parallel::{self, Coordinator};
use tabia_io::progress::Watch;
use tabia_io::sort::Sorted;

/// Rows of a row group. Query engines distribute a file by row groups; each takes about
/// six megabytes of memory here until it is written.
const GROUP_ROWS: usize = 1 << 16;

/// Writes all runs into a temporary file. The caller renames it. The checksum of `part` is
/// made here.
pub(in super::super) fn write(
    file: &NewFile,
    sorted: &Sorted<Node>,
    mut part: Part,
    compression: Compression,
    watch: &mut Watch<'_>,
) -> Result<Written, BuildError> {
    let mut written = Written::default();
    // One thread adds up, the other compresses.
    parallel::run(
        1,
        |jobs| {
            let failed = |error| BuildError::from(file.failed(into_io(error)));
            let mut table = open(file.as_file()).map_err(failed)?;
            jobs.each(|rows: Rows, _| {
                if let Some(note) = &rows.note {
                    table.append_key_value_metadata(KeyValue::new(NOTE.to_owned(), note.clone()));
                }
                rows.write(&mut table, compression).map_err(failed)
            })?;
            table.close().map(drop).map_err(failed)
        },
        |coordinator| send_rows(sorted, &mut part, &mut written, coordinator, watch),
    )?;
    Ok(written)
}

/// Divides the merged runs into row groups for the other thread. The row that counts games is
/// the last: it has the checksum.
fn send_rows(
    sorted: &Sorted<Node>,
    part: &mut Part,
    written: &mut Written,
    coordinator: &mut Coordinator<'_, Rows, (), (), BuildError>,
    watch: &mut Watch<'_>,
) -> Result<(), BuildError> {
    let mut rows = Rows::default();
    let mut checksum = Checksum::default();
    let mut merge = sorted.merge()?;
    while let Some(node) = merge.next()? {
        rows.push_node(node, &mut checksum);
        written.positions += 1;
        written.moves += node.moves.len() as u64;
        if rows.len() >= GROUP_ROWS {
            let positions = written.positions;
            watch.step(writing(positions, node.place.order))?;
            coordinator.give(std::mem::take(&mut rows));
            while coordinator.ready()?.is_some() {}
        }
    }
    let count = GamesRow::new(part.games, &part.conditions);
    checksum.begin(&[]);
    checksum.add(NO_MOVE.into(), &count.counters());
    let count = count.with_checksum(checksum.sum());
    rows.push(&[], NO_MOVE, &count.counters());
    part.checksum = hex(checksum.sum());
    // Numbers and texts always have a form in JSON.
    rows.note = serde_json::to_string(part).ok();
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
    /// With the last rows: what the footer says.
    note: Option<String>,
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

    fn push_node(&mut self, node: &Node, checksum: &mut Checksum) {
        let key = Key::from_padded(node.place.key);
        checksum.begin(key.as_bytes());
        let mut push = |byte: i32, counters: &[u64; COUNTERS.len()]| {
            checksum.add(byte.into(), counters);
            self.push(key.as_bytes(), byte, counters);
        };
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
        push(NO_MOVE, &counters);
        for &(byte, games) in &node.moves {
            let counters = [games, 0, 0, 0, 0, 0, 0, 0, 0];
            push(byte.into(), &counters);
        }
    }

    fn write(
        self,
        table: &mut SerializedFileWriter<&File>,
        compression: Compression,
    ) -> Result<(), ParquetError> {
        let whole = Bytes::from(self.keys);
        let mut at = 0;
        let keys: Vec<ByteArray> = self
            .key_lengths
            .iter()
            .map(|&length| {
                let end = at + usize::from(length);
                let key = whole.slice(std::mem::replace(&mut at, end)..end);
                key.into()
            })
            .collect();
        let columns = table.schema_descr().columns().to_vec();
        let properties = Arc::clone(table.properties());
        let mut group = table.next_row_group()?;
        let mut counters = self.counters.iter();
        for column in columns {
            let mut out = Vec::new();
            let pages = Pages {
                out: &mut out,
                compression,
            };
            let mut writer = get_column_writer(column, Arc::clone(&properties), Box::new(pages));
            match &mut writer {
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    writer.write_batch(&keys, None, None)?
                }
                ColumnWriter::Int32ColumnWriter(writer) => {
                    writer.write_batch(&self.moves, None, None)?
                }
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let values = counters.next().map(Vec::as_slice);
                    writer.write_batch(values.unwrap_or_default(), None, None)?
                }
                _ => 0,
            };
            let mut closed = writer.close()?;
            let metadata = closed.metadata.into_builder();
            closed.metadata = metadata.set_compression(compression.codec()).build()?;
            group.append_column(&Bytes::from(out), closed)?;
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
