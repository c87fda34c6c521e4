//! Tables into runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::super::BuildError;
use super::super::node::{Node, Place};
use super::{COUNTERS, NO_MOVE, RecordsError};
use crate::book::ctg::{CanonicalBoard, Key, Totals, decode_move_byte};
use crate::crew;
use crate::input::parquet::{self as table, At, said};
use crate::sort::{Runs, SortError, Sorter};
use crate::watch::{Progress, Stop, Watch};

/// Rows that are read at once.
const BATCH_ROWS: usize = 4096;

/// No honest sum is larger; with the limit, thousands of rows of one position
/// add up without going over.
const MOST: u64 = 1 << 52;

/// What is to be read, and with what.
pub(in super::super) struct Inputs<'j> {
    pub(in super::super) paths: &'j [PathBuf],
    /// Threads that read.
    pub(in super::super) threads: usize,
    /// Bytes of each of them for sorting.
    pub(in super::super) sort_bytes: u64,
}

/// Reads tables, in any order of rows, and gives the number of their games.
pub(in super::super) fn read(
    inputs: &Inputs<'_>,
    runs: &Arc<Runs<Node>>,
    watch: &mut Watch<'_>,
) -> Result<u64, BuildError> {
    let mut total = 0;
    for path in inputs.paths {
        total += std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    }
    let (mut bytes, mut games) = (0, None);
    let stop = watch.stop();
    let hear = |(more, counted): (u64, Option<u64>)| {
        bytes += more;
        if let Some(counted) = counted {
            games = Some(games.unwrap_or(0) + counted);
        }
        let games = games.unwrap_or(0);
        Ok(watch.step(Progress::reading("games", games, bytes, Some(total)))?)
    };
    crew::run(
        inputs.threads,
        |jobs| {
            let mut gatherer = Gatherer::new(runs, inputs.sort_bytes);
            jobs.each(|(table, group): (Arc<Table>, usize), _| {
                let games = table.read_group(group, &mut gatherer, stop)?;
                let metadata = table.reader.metadata().row_group(group);
                Ok::<_, BuildError>((metadata.compressed_size().unsigned_abs(), games))
            })?;
            Ok(gatherer.finish()?)
        },
        |lead| {
            let jobs = inputs
                .paths
                .iter()
                .flat_map(|path| match Table::open(path) {
                    Ok(table) => {
                        let table = Arc::new(table);
                        let groups = 0..table.starts.len();
                        groups.map(|group| Ok((table.clone(), group))).collect()
                    }
                    Err(error) => vec![Err(error.into())],
                });
            lead.each(jobs, hear)
        },
    )?;
    match (inputs.paths.first(), games) {
        (Some(path), None) => {
            let path = path.clone();
            Err(RecordsError::NoGames { path }.into())
        }
        _ => Ok(games.unwrap_or(0)),
    }
}

/// A file that is being read.
struct Table {
    path: PathBuf,
    reader: SerializedFileReader<At>,
    /// Places of the columns: key, move, counters.
    columns: Vec<usize>,
    /// Rows before each row group.
    starts: Vec<u64>,
}

impl Table {
    fn open(path: &Path) -> Result<Table, RecordsError> {
        let unreadable = |text: String| RecordsError::Unreadable {
            path: path.to_owned(),
            text,
        };
        let reader = table::open(path).map_err(unreadable)?;
        let mut columns = Vec::new();
        for name in ["key", "move"].into_iter().chain(COUNTERS) {
            let column = find_column(&reader, name).map_err(|text| RecordsError::Column {
                path: path.to_owned(),
                column: name,
                text,
            })?;
            columns.push(column);
        }
        let mut starts = Vec::new();
        let mut rows = 0;
        for group in reader.metadata().row_groups() {
            starts.push(rows);
            rows = group.num_rows().unsigned_abs().saturating_add(rows);
        }
        Ok(Table {
            path: path.to_owned(),
            reader,
            columns,
            starts,
        })
    }

    /// Reads a row group. Gives the number of games if there is a row that
    /// says it.
    fn read_group(
        &self,
        group: usize,
        gatherer: &mut Gatherer,
        stop: Stop<'_>,
    ) -> Result<Option<u64>, BuildError> {
        let unreadable = |error: ParquetError| RecordsError::Unreadable {
            path: self.path.clone(),
            text: said(&error),
        };
        let reader = self.reader.get_row_group(group).map_err(unreadable)?;
        let mut columns = Columns::open(&*reader, &self.columns).map_err(unreadable)?;
        let mut row = self.starts.get(group).copied().unwrap_or(0);
        let mut left = reader.metadata().num_rows().unsigned_abs();
        let mut games = None;
        while left > 0 {
            stop.go_on()?;
            let count = left.min(BATCH_ROWS as u64) as usize;
            columns.fill(count).map_err(|fault| match fault {
                Fault::Parquet(error) => unreadable(error),
                Fault::Null(column, at) => RecordsError::Row {
                    path: self.path.clone(),
                    row: row + at as u64 + 1,
                    text: format!("{column} is null"),
                },
            })?;
            for at in 0..count {
                let told = columns.row(at).and_then(|row| gatherer.push(row));
                let told = told.map_err(|text| RecordsError::Row {
                    path: self.path.clone(),
                    row: row + at as u64 + 1,
                    text,
                })?;
                if let Some(more) = told {
                    games = Some(games.unwrap_or(0) + more);
                }
                gatherer.settle()?;
            }
            row += count as u64;
            left -= count as u64;
        }
        Ok(games)
    }
}

/// The place of a column, or what is wrong with it.
fn find_column(reader: &SerializedFileReader<At>, name: &str) -> Result<usize, String> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let at = schema
        .columns()
        .iter()
        .position(|column| column.path().parts() == [name])
        .ok_or("is missing")?;
    let column = schema.column(at);
    if column.max_rep_level() > 0 {
        return Err("is a list; one value a row is wanted".to_owned());
    }
    let decimal = column.converted_type() == ConvertedType::DECIMAL
        || matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    let physical = column.physical_type();
    match (name, physical) {
        ("key", Physical::BYTE_ARRAY) if !decimal => Ok(at),
        ("key", _) => Err(format!("its type is {physical}; BYTE_ARRAY is wanted")),
        (_, Physical::INT32 | Physical::INT64) if !decimal => Ok(at),
        _ => {
            let kind = if decimal {
                "DECIMAL"
            } else {
                &physical.to_string()
            };
            Err(format!(
                "its type is {kind}; an integer of 64 bits is wanted: CAST(SUM({name}) AS BIGINT)"
            ))
        }
    }
}

/// A row, checked as far as its columns go.
struct Row<'c> {
    key: &'c [u8],
    byte: i64,
    counters: [u64; COUNTERS.len()],
}

/// The columns of a row group, some rows at a time.
struct Columns {
    keys: Filled<parquet::data_type::ByteArrayType>,
    numbers: Vec<Numbers>,
}

enum Numbers {
    Short(Filled<parquet::data_type::Int32Type>),
    Long(Filled<parquet::data_type::Int64Type>),
}

struct Filled<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
    /// Level of a value that is not null, if there may be nulls.
    full: i16,
}

enum Fault {
    Parquet(ParquetError),
    Null(&'static str, usize),
}

impl<T: DataType> Filled<T> {
    fn new(reader: ColumnReaderImpl<T>, full: i16) -> Filled<T> {
        Filled {
            reader,
            values: Vec::with_capacity(BATCH_ROWS),
            levels: Vec::new(),
            full,
        }
    }

    fn fill(&mut self, count: usize, name: &'static str) -> Result<(), Fault> {
        self.values.clear();
        self.levels.clear();
        let mut rows = 0;
        while rows < count {
            let levels = (self.full > 0).then_some(&mut self.levels);
            let (more, _, _) = self
                .reader
                .read_records(count - rows, levels, None, &mut self.values)
                .map_err(Fault::Parquet)?;
            if more == 0 {
                let text = format!("column {name} ends early");
                return Err(Fault::Parquet(ParquetError::EOF(text)));
            }
            rows += more;
        }
        match self.levels.iter().position(|&level| level < self.full) {
            Some(at) => Err(Fault::Null(name, at)),
            None => Ok(()),
        }
    }
}

impl Columns {
    fn open(reader: &dyn RowGroupReader, places: &[usize]) -> Result<Columns, ParquetError> {
        let wrong = || ParquetError::General("a column has changed its type".to_owned());
        let mut keys = None;
        let mut numbers = Vec::new();
        for &place in places {
            let schema = reader.metadata().schema_descr();
            let full = schema.column(place).max_def_level();
            match reader.get_column_reader(place)? {
                ColumnReader::ByteArrayColumnReader(column) => {
                    keys = Some(Filled::new(column, full));
                }
                ColumnReader::Int32ColumnReader(column) => {
                    numbers.push(Numbers::Short(Filled::new(column, full)));
                }
                ColumnReader::Int64ColumnReader(column) => {
                    numbers.push(Numbers::Long(Filled::new(column, full)));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(Columns {
            keys: keys.ok_or_else(wrong)?,
            numbers,
        })
    }

    fn fill(&mut self, count: usize) -> Result<(), Fault> {
        self.keys.fill(count, "key")?;
        let names = std::iter::once("move").chain(COUNTERS);
        for (column, name) in self.numbers.iter_mut().zip(names) {
            match column {
                Numbers::Short(column) => column.fill(count, name)?,
                Numbers::Long(column) => column.fill(count, name)?,
            }
        }
        Ok(())
    }

    fn row(&self, at: usize) -> Result<Row<'_>, String> {
        let key = self.keys.values.get(at).map_or(&[][..], ByteArray::data);
        let mut numbers = self.numbers.iter().map(|column| match column {
            Numbers::Short(column) => column.values.get(at).map_or(0, |&value| value.into()),
            Numbers::Long(column) => column.values.get(at).copied().unwrap_or(0),
        });
        let byte = numbers.next().unwrap_or(0);
        let mut counters = [0; COUNTERS.len()];
        for ((to, value), name) in counters.iter_mut().zip(numbers).zip(COUNTERS) {
            *to = u64::try_from(value)
                .ok()
                .filter(|&value| value <= MOST)
                .ok_or_else(|| format!("{name} cannot be {value}"))?;
        }
        Ok(Row {
            key,
            byte,
            counters,
        })
    }
}

/// Sorts rows into runs.
struct Gatherer {
    sorter: Sorter<Node>,
    /// The position of the last row: the next one is often about the same.
    node: Node,
    any: bool,
    /// There is one that is complete, to be laid aside.
    full: Option<Node>,
}

impl Gatherer {
    fn new(runs: &Arc<Runs<Node>>, sort_bytes: u64) -> Gatherer {
        Gatherer {
            sorter: Sorter::new(Arc::clone(runs), sort_bytes),
            node: Node::default(),
            any: false,
            full: None,
        }
    }

    /// Takes a row; gives the number of games if the row says it.
    fn push(&mut self, row: Row<'_>) -> Result<Option<u64>, String> {
        if row.key.is_empty() {
            return match row.byte {
                byte if byte == i64::from(NO_MOVE) => Ok(row.counters.first().copied()),
                byte => Err(format!("a row without a key has the move {byte}")),
            };
        }
        let here = Key::from_padded(self.node.place.key);
        if !self.any || here.as_bytes() != row.key {
            let key = check_key(row.key)?;
            let next = Node::new(Place::of(&key));
            let last = std::mem::replace(&mut self.node, next);
            if std::mem::replace(&mut self.any, true) {
                self.full = Some(last);
            }
        }
        let [games, rest @ ..] = row.counters;
        if row.byte != i64::from(NO_MOVE) {
            let byte = u8::try_from(row.byte).ok();
            let byte = byte.filter(|&byte| decode_move_byte(byte).is_some());
            let byte = byte.ok_or_else(|| format!("{} is no move", row.byte))?;
            self.node.add_move(byte, games);
            return Ok(None);
        }
        let [
            wins,
            draws,
            losses,
            own_rated,
            own_sum,
            other_rated,
            other_sum,
            main,
        ] = rest;
        if wins + draws + losses > games {
            return Err("more results than games".to_owned());
        }
        for (rated, sum) in [(own_rated, own_sum), (other_rated, other_sum)] {
            // Every rating is between 1 and 65535.
            if rated > games || sum < rated || sum / u64::from(u16::MAX) > rated {
                return Err("ratings that cannot be".to_owned());
            }
        }
        self.node.tally.join(&Totals {
            games,
            wins,
            draws,
            losses,
            own_rated,
            own_rating_sum: own_sum,
            other_rated,
            other_rating_sum: other_sum,
            points: 0,
        });
        self.node.main |= main > 0;
        Ok(None)
    }

    /// Lays aside what is complete.
    fn settle(&mut self) -> Result<(), SortError> {
        match self.full.take() {
            Some(node) => self.sorter.push(&node),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<(), SortError> {
        if self.any {
            self.sorter.push(&self.node)?;
        }
        self.sorter.finish()
    }
}

fn check_key(bytes: &[u8]) -> Result<Key, String> {
    Key::from_prefix(bytes)
        .filter(|key| key.as_bytes() == bytes)
        .filter(|key| CanonicalBoard::from_key(key).is_ok_and(|board| board.key() == *key))
        .ok_or_else(|| {
            let hex: String = bytes
                .iter()
                .take(40)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("the key {hex} stands for no position")
        })
}
