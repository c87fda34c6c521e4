//! Reads tables and sorts their rows into runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};

use super::super::BuildError;
use super::super::node::{BookOrder, Node};
use super::{COUNTERS, Inputs, NO_MOVE, RecordsError};
use crate::parquet::{Row, RowGroup, Table, TableError};
use tabia_book::ctg::{CanonicalBoard, Key, Totals, decode_move_byte};
use tabia_io::parallel;
use tabia_io::progress::{Progress, Watch};
use tabia_io::sort::{Runs, SortError, Sorter};

/// Largest accepted sum. No real sum is larger, and thousands of rows of one position
/// can be added without overflow.
const MOST: u64 = 1 << 52;

/// Reads tables, whose rows may be in any order, and returns the number of their games.
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
    let collect = |(more, counted): (u64, Option<u64>)| {
        bytes += more;
        if let Some(counted) = counted {
            games = Some(games.unwrap_or(0) + counted);
        }
        let games = games.unwrap_or(0);
        Ok(watch.step(Progress::reading("games", games, bytes, Some(total)))?)
    };
    parallel::run(
        inputs.threads,
        |jobs| {
            let mut sorter = RowSorter::new(runs, inputs.sort_bytes);
            jobs.each(
                |(path, table, group): (&PathBuf, Arc<Table>, RowGroup), _| {
                    let mut games = None;
                    let unreadable = |text| RecordsError::unreadable(path, text).into();
                    table.each_row(&group, stop, unreadable, |row, cells| {
                        let stated = sorter.push(cells).map_err(|text| RecordsError::Row {
                            path: path.clone(),
                            row,
                            text,
                        })?;
                        if let Some(more) = stated {
                            games = Some(games.unwrap_or(0) + more);
                        }
                        Ok::<_, BuildError>(sorter.flush()?)
                    })?;
                    Ok::<_, BuildError>((group.bytes, games))
                },
            )?;
            Ok(sorter.finish()?)
        },
        |coordinator| {
            let jobs = inputs.paths.iter().flat_map(|path| match open(path) {
                Ok(table) => {
                    let table = Arc::new(table);
                    let groups = table.groups();
                    groups
                        .map(|group| Ok((path, Arc::clone(&table), group)))
                        .collect()
                }
                Err(error) => vec![Err(error.into())],
            });
            coordinator.each(jobs, collect)
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

/// Opens a table with the key as column 0, the move as column 1, then the counters.
fn open(path: &Path) -> Result<Table, RecordsError> {
    let unreadable = |error: TableError| RecordsError::unreadable(path, error.to_string());
    let mut table = Table::open(path).map_err(unreadable)?;
    for column in ["key", "move"].into_iter().chain(COUNTERS) {
        want(&mut table, column).map_err(|text| RecordsError::Column {
            path: path.to_owned(),
            column,
            text,
        })?;
    }
    Ok(table)
}

/// Finds a column, or returns what is wrong with it.
fn want(table: &mut Table, name: &str) -> Result<(), String> {
    let column = table.want(name).map_err(|error| error.to_string())?;
    let decimal = column.converted_type() == ConvertedType::DECIMAL
        || matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    let physical = column.physical_type();
    match (name, physical) {
        ("key", Physical::BYTE_ARRAY) if !decimal => Ok(()),
        ("key", _) => Err(format!("its type is {physical}; BYTE_ARRAY is expected")),
        (_, Physical::INT32 | Physical::INT64) if !decimal => Ok(()),
        _ => {
            let kind = if decimal {
                "DECIMAL"
            } else {
                &physical.to_string()
            };
            Err(format!(
                "its type is {kind}; an integer of 64 bits is expected: CAST(SUM({name}) AS BIGINT)"
            ))
        }
    }
}

/// Sorts rows into runs.
struct RowSorter {
    sorter: Sorter<Node>,
    /// Collects the rows of one position, which usually follow each other.
    node: Node,
    any: bool,
    /// A finished position that is not yet in the sorter.
    full: Option<Node>,
}

impl RowSorter {
    fn new(runs: &Arc<Runs<Node>>, sort_bytes: u64) -> RowSorter {
        RowSorter {
            sorter: Sorter::new(Arc::clone(runs), sort_bytes),
            node: Node::default(),
            any: false,
            full: None,
        }
    }

    /// Adds a row; returns the number of games if the row contains it.
    fn push(&mut self, row: Row<'_>) -> Result<Option<u64>, String> {
        let key = row.bytes(0).ok_or("key is null")?;
        let byte = row.number(1).ok_or("move is null")?;
        let mut counters = [0; COUNTERS.len()];
        for ((place, to), name) in counters.iter_mut().enumerate().zip(COUNTERS) {
            let number = row.number(2 + place);
            let number = number.ok_or_else(|| format!("{name} is null"))?;
            *to = u64::try_from(number)
                .ok()
                .filter(|&number| number <= MOST)
                .ok_or_else(|| format!("{name} cannot be {number}"))?;
        }
        if key.is_empty() {
            return match byte {
                byte if byte == i64::from(NO_MOVE) => Ok(counters.first().copied()),
                byte => Err(format!("a row without a key has the move {byte}")),
            };
        }
        let here = Key::from_padded(self.node.place.key);
        if !self.any || here.as_bytes() != key {
            let key = check_key(key)?;
            let next = Node::new(BookOrder::from_key(&key));
            let last = std::mem::replace(&mut self.node, next);
            if std::mem::replace(&mut self.any, true) {
                self.full = Some(last);
            }
        }
        let [games, rest @ ..] = counters;
        if byte != i64::from(NO_MOVE) {
            let mv = u8::try_from(byte).ok();
            let mv = mv.filter(|&mv| decode_move_byte(mv).is_some());
            let mv = mv.ok_or_else(|| format!("{byte} is not a move"))?;
            self.node.add_move(mv, games);
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
                return Err("impossible ratings".to_owned());
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

    /// Moves the finished position into the sorter.
    fn flush(&mut self) -> Result<(), SortError> {
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
            format!("the key {hex} is not the key of a position")
        })
}
