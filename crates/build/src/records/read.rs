//! Reads tables and sorts their rows into runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};

use super::super::BuildError;
use super::super::node::{BookOrder, Node};
use super::checksum::Checksum;
use super::part::{GamesRow, NOTE, hex};
use super::{COUNTERS, Conditions, Inputs, NO_MOVE, Part, PartSource, RecordsError};
use crate::parquet::{RowGroup, Table, TableError};
use tabia_book::ctg::{CanonicalBoard, Key, Totals, decode_move_byte};
use tabia_io::parallel;
use tabia_io::progress::{Progress, Stop, Watch};
use tabia_io::sort::{Runs, SortError, Sorter};

/// Largest accepted sum. No real sum is larger, and thousands of rows of one position
/// can be added without overflow.
const MOST: u64 = 1 << 52;

/// Bytes of a file that one thread reads at once: those of one of our files become one run of
/// the merge, so there should be few, but enough for all threads.
const SMALLEST_PIECE: u64 = 4 << 20;
const LARGEST_PIECE: u64 = 256 << 20;

/// Two sources may share at most this number of games.
const ALIKE_GAMES: u64 = 20;

/// Tables to be read, with what their footers say.
pub(crate) struct Tables(Vec<(PathBuf, Option<Part>)>);

/// What the rows of tables say about them.
pub(crate) struct TablesRead {
    pub(crate) games: u64,
    /// The conditions under which all tables were counted, if their footers have them.
    pub(crate) conditions: Option<Conditions>,
    pub(crate) remarks: Vec<String>,
}

impl Tables {
    /// Reads the footers, before any work.
    ///
    /// # Errors
    ///
    /// A file cannot be read, was counted under other conditions than another one, or has games
    /// of the same source.
    pub(crate) fn open(paths: Vec<PathBuf>) -> Result<Tables, RecordsError> {
        let mut tables = Vec::new();
        for path in paths {
            let unreadable = |text: String| RecordsError::unreadable(&path, text);
            let table = Table::open(&path).map_err(|error| unreadable(error.to_string()))?;
            let part = match table.note(NOTE) {
                None => None,
                Some(note) => Some(serde_json::from_str(note).map_err(|error| {
                    unreadable(format!("what its footer says cannot be read: {error}"))
                })?),
            };
            tables.push((path, part));
        }
        let tables = Tables(tables);
        tables.check()?;
        Ok(tables)
    }

    pub(crate) fn first(&self) -> Option<&Path> {
        self.0.first().map(|(path, _)| path.as_path())
    }

    /// The tables that say what they hold.
    fn parts(&self) -> impl Iterator<Item = (&Path, &Part)> {
        let parts = self.0.iter();
        parts.filter_map(|(path, part)| Some((path.as_path(), part.as_ref()?)))
    }

    fn check(&self) -> Result<(), RecordsError> {
        let Some((first, known)) = self.parts().next() else {
            return Ok(());
        };
        let mut sources: HashMap<(u64, &str), (&Path, &PartSource)> = HashMap::new();
        let mut checksums: HashMap<&str, &Path> = HashMap::new();
        for (path, part) in self.parts() {
            if !part.conditions.is_as(&known.conditions) {
                let (mine, theirs) = part.conditions.unlike(&known.conditions);
                return Err(unfit(
                    path,
                    format!(
                        "was counted {mine}, but {} {theirs}: count one of them again",
                        first.display()
                    ),
                ));
            }
            let twice = |other: &Path, what: String| {
                let text = format!("{what} in {} too: give one of them", other.display());
                Err(unfit(path, text))
            };
            for source in &part.sources {
                let name = (source.bytes, &*source.digest);
                if let Some((other, named)) = sources.insert(name, (path, source)) {
                    let as_named = match named.path == source.path {
                        true => String::new(),
                        false => format!(" (there {})", named.path),
                    };
                    return twice(other, format!("the games of {}{as_named} are", source.path));
                }
            }
            // Also of a source that is packed otherwise, or was standard input.
            if part.games > ALIKE_GAMES
                && let Some(other) = checksums.insert(&part.checksum, path)
            {
                return twice(other, "the same records are".to_owned());
            }
        }
        Ok(())
    }

    /// What the sources of all are.
    pub(crate) fn sources(&self) -> impl Iterator<Item = PartSource> {
        self.parts().flat_map(|(_, part)| part.sources.clone())
    }

    /// Reads tables, whose rows may be in any order; without `runs` only to test them.
    pub(crate) fn read(
        &self,
        inputs: &Inputs,
        runs: Option<&Arc<Runs<Node>>>,
        watch: &mut Watch<'_>,
    ) -> Result<TablesRead, BuildError> {
        let mut total = 0;
        for (path, _) in &self.0 {
            total += std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        }
        let piece_bytes = total / (4 * inputs.threads.max(1) as u64);
        let piece_bytes = piece_bytes.clamp(SMALLEST_PIECE, LARGEST_PIECE);
        let mut seen = vec![Seen::default(); self.0.len()];
        let (mut bytes, mut games) = (0, 0);
        let stop = watch.stop();
        let collect = |(file, more, rows): (usize, u64, Seen)| {
            bytes += more;
            games += rows.row.games;
            if let Some(seen) = seen.get_mut(file) {
                seen.add(&rows);
            }
            Ok(watch.step(Progress::reading("games", games, bytes, Some(total)))?)
        };
        parallel::run(
            inputs.threads,
            |jobs| {
                let mut sorter =
                    runs.map(|runs| (runs, Sorter::new(Arc::clone(runs), inputs.sort_bytes)));
                jobs.each(|piece: Piece<'_>, _| {
                    let seen = match (&mut sorter, piece.keys) {
                        (None, _) => piece.read(stop, |_| Ok(())),
                        (Some((_, sorter)), Keys::OfAnyProgram) => {
                            piece.read(stop, |node| sorter.push(node))
                        }
                        // Sorted already, as it was written.
                        (Some((runs, sorter)), Keys::OfPart) => {
                            let mut seen = Seen::default();
                            let mut last = BookOrder::default();
                            let bytes = piece.sum(|group| group.unpacked_bytes);
                            runs.add(bytes, |push| {
                                seen = piece.read(stop, |node| {
                                    if node.place <= last {
                                        return sorter.push(node);
                                    }
                                    last = node.place;
                                    push(node)
                                })?;
                                Ok::<_, BuildError>(())
                            })?;
                            Ok(seen)
                        }
                    }?;
                    Ok::<_, BuildError>((piece.file, piece.sum(|group| group.bytes), seen))
                })?;
                Ok(sorter.map_or(Ok(()), |(_, sorter)| sorter.finish())?)
            },
            |coordinator| {
                let files = self.0.iter().enumerate();
                let jobs = files.flat_map(|(file, (path, part))| {
                    let keys = match part {
                        Some(_) => Keys::OfPart,
                        None => Keys::OfAnyProgram,
                    };
                    match open(path) {
                        Ok(table) => Piece::all(file, path, &Arc::new(table), keys, piece_bytes),
                        Err(error) => vec![Err(error.into())],
                    }
                });
                coordinator.each(jobs, collect)
            },
        )?;
        Ok(self.verified(&seen)?)
    }

    /// Compares what was read with the checksums: of each part alone, and of what engines
    /// wrote as a whole.
    fn verified(&self, seen: &[Seen]) -> Result<TablesRead, RecordsError> {
        let mut all = GamesRow::default();
        let mut rest = Seen::default();
        let mut of_rest = None;
        let mut conditions: Option<Conditions> = None;
        for ((path, part), seen) in self.0.iter().zip(seen) {
            all.add(&seen.row);
            let Some(part) = part else {
                rest.add(seen);
                of_rest.get_or_insert(path);
                continue;
            };
            let is_whole = part.games == seen.row.games
                && part.checksum == hex(seen.checksum)
                && seen.row.checksum() == seen.checksum;
            if !is_whole {
                let path = path.clone();
                let text = "damaged: its rows do not have the checksum of its footer; count its \
                            games again"
                    .to_owned();
                return Err(RecordsError::Damaged { path, text });
            }
            conditions.get_or_insert_with(|| part.conditions.clone());
        }
        let mut remarks = Vec::new();
        if let Some(path) = of_rest {
            if rest.count_rows == 0 {
                let path = path.clone();
                return Err(RecordsError::NoGames { path });
            }
            let name = path.display();
            if rest.plain_rows > 0 || rest.row.parts == 0 {
                remarks.push(format!(
                    "{name}: without a checksum, as it is not made of records of this version; \
                     whether it is damaged cannot be tested"
                ));
            } else {
                let known = rest.row.conditions().ok_or_else(|| {
                    unfit(path, "a sum of records of different conditions".to_owned())
                })?;
                if conditions
                    .as_ref()
                    .is_some_and(|other| !other.is_as(&known))
                {
                    let other = conditions.map(|other| other.text()).unwrap_or_default();
                    let text = format!(
                        "was counted with {}, but other records with {other}",
                        known.text()
                    );
                    return Err(unfit(path, text));
                }
                conditions.get_or_insert(known);
                let is_whole = rest.row.checksum() == rest.checksum;
                match rest.least {
                    _ if is_whole => {}
                    Some(least) if least > 1 => remarks.push(format!(
                        "{name}: rows of fewer than {least} games are left out (HAVING), so its \
                         checksum cannot be tested"
                    )),
                    _ => {
                        let path = path.clone();
                        let text = "its rows do not have the sum of the checksums of the \
                                    records: one of them is damaged, or rows or a file of the \
                                    sum are missing; `tabia verify` tests records"
                            .to_owned();
                        return Err(RecordsError::Damaged { path, text });
                    }
                }
            }
        }
        let files = self.0.len();
        let with = conditions.as_ref().map(|c| format!(" ({})", c.text()));
        remarks.push(format!(
            "{files} {} of records: {} {}{}",
            if files == 1 { "file" } else { "files" },
            all.games,
            if all.games == 1 { "game" } else { "games" },
            with.unwrap_or_default()
        ));
        Ok(TablesRead {
            games: all.games,
            conditions,
            remarks,
        })
    }
}

fn unfit(path: &Path, text: String) -> RecordsError {
    let path = path.to_owned();
    RecordsError::Unfit { path, text }
}

/// What was seen in the rows of a table.
#[derive(Clone, Debug, Default)]
struct Seen {
    checksum: u64,
    row: GamesRow,
    /// Rows that count games; `plain_rows`: the ones without a checksum.
    count_rows: u64,
    plain_rows: u64,
    /// The least games of another row.
    least: Option<u64>,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.row.add(&other.row);
        self.count_rows += other.count_rows;
        self.plain_rows += other.plain_rows;
        self.least = match (self.least, other.least) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
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
        ("key", Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) if !decimal => Ok(()),
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

/// Consecutive row groups of a file, which one thread reads.
struct Piece<'p> {
    /// Number of the file.
    file: usize,
    path: &'p Path,
    table: Arc<Table>,
    groups: Vec<RowGroup>,
    keys: Keys,
}

impl<'p> Piece<'p> {
    /// All pieces of a file, of at least so many bytes, but for the last.
    fn all(
        file: usize,
        path: &'p Path,
        table: &Arc<Table>,
        keys: Keys,
        least_bytes: u64,
    ) -> Vec<Result<Piece<'p>, BuildError>> {
        let mut groups = table.groups().peekable();
        let mut all = Vec::new();
        while groups.peek().is_some() {
            let mut piece = Piece {
                file,
                path,
                table: Arc::clone(table),
                groups: Vec::new(),
                keys,
            };
            while piece.sum(|group| group.bytes) < least_bytes
                && let Some(group) = groups.next()
            {
                piece.groups.push(group);
            }
            all.push(Ok(piece));
        }
        all
    }

    fn sum(&self, size: fn(&RowGroup) -> u64) -> u64 {
        self.groups.iter().map(size).fold(0, u64::saturating_add)
    }

    /// Reads the rows, and gives `take` the positions in their order.
    fn read(
        &self,
        stop: Stop<'_>,
        mut take: impl FnMut(&Node) -> Result<(), SortError>,
    ) -> Result<Seen, BuildError> {
        let mut rows = RowReader::new(self.keys);
        // The numbers of each row together: the move and the counters.
        let (mut numbers, mut buffer) = (Vec::new(), Vec::new());
        for group in &self.groups {
            let unreadable = |text| RecordsError::unreadable(self.path, text).into();
            self.table
                .each_batch(group, stop, unreadable, |before, batch| {
                    numbers.resize(batch.rows, [0; COUNTERS.len() + 1]);
                    for column in 0..=COUNTERS.len() {
                        let values = batch.numbers(column + 1, NULL, &mut buffer);
                        for (row, &value) in numbers.iter_mut().zip(values) {
                            if let Some(to) = row.get_mut(column) {
                                *to = value as u64;
                            }
                        }
                    }
                    for (at, [byte, counters @ ..]) in numbers.iter().enumerate() {
                        let bad = |text| RecordsError::Row {
                            path: self.path.to_owned(),
                            row: before + at as u64 + 1,
                            text,
                        };
                        let key = batch.row(at).bytes(0);
                        let key = key.ok_or_else(|| bad("key is null".to_owned()))?;
                        if !rows.has_key(key) {
                            if let Some(node) = rows.node() {
                                take(node)?;
                            }
                            rows.begin(key).map_err(bad)?;
                        }
                        rows.push(*byte as i64, counters).map_err(bad)?;
                    }
                    Ok::<_, BuildError>(())
                })?;
        }
        if let Some(node) = rows.node() {
            take(node)?;
        }
        rows.seen.checksum = rows.checksum.sum();
        Ok(rows.seen)
    }
}

/// Stands for a null; no number of a row may be so low.
const NULL: i64 = i64::MIN;

/// Adds up the rows of one position, which usually follow each other.
struct RowReader {
    keys: Keys,
    /// The key as it is stored in the last row.
    stored: Option<Vec<u8>>,
    /// Their sum, unless the key is empty.
    node: Node,
    is_position: bool,
    checksum: Checksum,
    seen: Seen,
}

impl RowReader {
    fn new(keys: Keys) -> RowReader {
        RowReader {
            keys,
            stored: None,
            node: Node::default(),
            is_position: false,
            checksum: Checksum::default(),
            seen: Seen::default(),
        }
    }

    /// Whether this is the key of the last row.
    #[inline]
    fn has_key(&self, key: &[u8]) -> bool {
        self.stored.as_deref() == Some(key)
    }

    /// The position of the last rows.
    fn node(&self) -> Option<&Node> {
        self.is_position.then_some(&self.node)
    }

    /// Begins the rows of another key. A column of one length is filled up with zeros; the
    /// length of a key is in its first byte.
    fn begin(&mut self, stored: &[u8]) -> Result<(), String> {
        let last = self.stored.get_or_insert_default();
        last.clear();
        last.extend_from_slice(stored);
        let key = Key::from_prefix(stored);
        let bytes = key.as_ref().map_or(&[][..], Key::as_bytes);
        let rest = stored.get(bytes.len()..).unwrap_or_default();
        if rest.iter().any(|&byte| byte != 0) {
            return Err(no_position(stored));
        }
        self.checksum.begin(bytes);
        self.is_position = key.is_some();
        if let Some(key) = &key {
            if self.keys == Keys::OfAnyProgram
                && !CanonicalBoard::from_key(key).is_ok_and(|board| board.key() == *key)
            {
                return Err(no_position(bytes));
            }
            self.node.begin(BookOrder::from_key(key));
        }
        Ok(())
    }

    /// Adds a row of the key.
    #[inline]
    fn push(&mut self, byte: i64, counters: &[u64; COUNTERS.len()]) -> Result<(), String> {
        if byte == NULL {
            return Err("move is null".to_owned());
        }
        // Nearly always none has one of the upper bits; a number below 0 has.
        if counters.iter().fold(0, |all, counter| all | counter) > MOST {
            let mut named = COUNTERS.into_iter().zip(counters);
            if let Some((name, &number)) = named.find(|&(_, &number)| number > MOST) {
                return Err(match number as i64 {
                    NULL => format!("{name} is null"),
                    number => format!("{name} cannot be {number}"),
                });
            }
        }
        if !self.is_position {
            return self.push_games(byte, counters);
        }
        self.checksum.add(byte, counters);
        let [games, rest @ ..] = *counters;
        let least = self.seen.least.get_or_insert(games);
        *least = games.min(*least);
        if byte != i64::from(NO_MOVE) {
            let mv = u8::try_from(byte).ok();
            let mv = mv.filter(|&mv| decode_move_byte(mv).is_some());
            let mv = mv.ok_or_else(|| format!("{byte} is not a move"))?;
            self.node.add_move(mv, games);
            return Ok(());
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
        Ok(())
    }

    /// Adds a row that counts games.
    fn push_games(&mut self, byte: i64, counters: &[u64; COUNTERS.len()]) -> Result<(), String> {
        if byte != i64::from(NO_MOVE) {
            return Err(format!("a row without a key has the move {byte}"));
        }
        let counted = GamesRow::from_counters(counters);
        self.seen.count_rows += 1;
        if counted.parts == 0 {
            let plain = [counted.games, 0, 0, 0, 0, 0, 0, 0, 0];
            if *counters != plain {
                return Err("the row that counts games is damaged".to_owned());
            }
            self.seen.plain_rows += 1;
        }
        let without = counted.with_checksum(0).counters();
        self.checksum.add(byte, &without);
        self.seen.row.add(&counted);
        Ok(())
    }
}

/// Who wrote the keys of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// This program: the checksum in the footer shows, before any book is written, whether the
    /// keys are still what it wrote; checking each position as well would only take time.
    OfPart,
    OfAnyProgram,
}

fn no_position(bytes: &[u8]) -> String {
    let hex: String = bytes
        .iter()
        .take(40)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("the key {hex} is not the key of a position")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::BuildJob;
    use shakmaty::Chess;

    /// A reader after one row of a key.
    fn after(key: &[u8], byte: i64, counters: [u64; 9]) -> Result<RowReader, String> {
        let mut rows = RowReader::new(Keys::OfAnyProgram);
        rows.begin(key)?;
        rows.push(byte, &counters)?;
        Ok(rows)
    }

    fn start() -> Vec<u8> {
        let board = CanonicalBoard::from_position(&Chess::default()).unwrap();
        board.key().as_bytes().to_vec()
    }

    /// On both sides of each limit.
    #[test]
    fn rows_that_no_games_make_are_refused() {
        const NULL: u64 = super::NULL as u64;
        const TOP: u64 = u16::MAX as u64;
        let (key, nothing) = (start(), Vec::new());
        let (results, ratings) = ("more results than games", "impossible ratings");
        let damaged = "the row that counts games is damaged";
        for (key, byte, counters, refused) in [
            (&key, 0x5f, [MOST, 0, 0, 0, 0, 0, 0, 0, 0], ""),
            (
                &key,
                0x5f,
                [MOST + 1, 0, 0, 0, 0, 0, 0, 0, 0],
                "games cannot be 4503599627370497",
            ),
            (
                &key,
                -1,
                [1, 0, 0, 0, 0, 0, 0, 0, MOST + 1],
                "main cannot be 4503599627370497",
            ),
            (&key, -1, [1, 0, 0, NULL, 0, 0, 0, 0, 0], "losses is null"),
            (
                &key,
                -1,
                [1, 0, 0, 0, 0, 0, u64::MAX, 0, 0],
                "other_rated cannot be -1",
            ),
            (&key, super::NULL, [1; 9], "move is null"),
            (&key, 256, [1; 9], "256 is not a move"),
            (&key, -2, [1; 9], "-2 is not a move"),
            (&key, -1, [3, 1, 1, 1, 0, 0, 0, 0, 0], ""),
            (&key, -1, [3, 2, 1, 1, 0, 0, 0, 0, 0], results),
            (&key, -1, [3, 1, 2, 1, 0, 0, 0, 0, 0], results),
            (&key, -1, [3, 1, 1, 2, 0, 0, 0, 0, 0], results),
            (&key, -1, [2, 0, 0, 0, 2, 2, 2, 2 * TOP, 0], ""),
            (&key, -1, [2, 0, 0, 0, 2, 2 * TOP, 2, 2, 0], ""),
            (&key, -1, [2, 0, 0, 0, 3, 3, 0, 0, 0], ratings),
            (&key, -1, [2, 0, 0, 0, 0, 0, 3, 3, 0], ratings),
            (&key, -1, [2, 0, 0, 0, 2, 1, 0, 0, 0], ratings),
            (&key, -1, [2, 0, 0, 0, 0, 0, 2, 1, 0], ratings),
            (&key, -1, [2, 0, 0, 0, 1, 2 * TOP, 0, 0, 0], ratings),
            (&key, -1, [2, 0, 0, 0, 0, 0, 1, 2 * TOP, 0], ratings),
            (&nothing, -1, [7, 0, 0, 0, 0, 0, 0, 0, 0], ""),
            (&nothing, -1, [7, 0, 0, 1, 0, 0, 0, 0, 0], damaged),
            (&nothing, -1, [7, 0, 0, 0, 0, 0, 0, 0, 1], damaged),
            (
                &nothing,
                5,
                [7, 0, 0, 0, 0, 0, 0, 0, 0],
                "a row without a key has the move 5",
            ),
        ] {
            let error = after(key, byte, counters).err().unwrap_or_default();
            assert_eq!(error, refused, "{byte} {counters:?}");
        }
        let mut filled = key.clone();
        filled.resize(40, 0);
        assert!(after(&filled, -1, [1, 0, 0, 0, 0, 0, 0, 0, 0]).is_ok());
        filled[39] = 1;
        filled.push(0);
        let hex: String = filled[..40].iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(
            RowReader::new(Keys::OfPart).begin(&filled).unwrap_err(),
            format!("the key {hex} is not the key of a position")
        );
    }

    #[test]
    fn each_number_of_a_row_has_its_place() {
        let mut rows = after(&start(), -1, [9, 4, 3, 2, 5, 6000, 7, 8000, 1]).unwrap();
        rows.push(0x5f, &[6, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        rows.push(0x9b, &[8, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let tally = Totals {
            games: 9,
            wins: 4,
            draws: 3,
            losses: 2,
            own_rated: 5,
            own_rating_sum: 6000,
            other_rated: 7,
            other_rating_sum: 8000,
            points: 0,
        };
        let node = rows.node().unwrap();
        assert_eq!((node.tally, node.main), (tally, true));
        assert_eq!(node.moves, [(0x5f, 6), (0x9b, 8)]);
        assert_eq!((rows.seen.least, rows.seen.count_rows), (Some(6), 0));
        // Another position has nothing of it; what counts games is none.
        rows.begin(&[]).unwrap();
        assert!(rows.node().is_none() && rows.has_key(&[]));
        rows.push(-1, &[7, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        rows.push(-1, &[3, 1, 5, 25, 40, 0, 0, 0, 0]).unwrap();
        let seen = &rows.seen;
        assert_eq!((seen.count_rows, seen.plain_rows), (2, 1));
        assert_eq!((seen.row.games, seen.row.parts), (10, 1));
        rows.begin(&start()).unwrap();
        assert_eq!(rows.node(), Some(&Node::new(rows.node.place)));
    }

    fn path(n: usize) -> PathBuf {
        format!("{n}.parquet").into()
    }

    fn part(games: u64, checksum: u64, plies: usize, digests: &[&str]) -> Part {
        let job = BuildJob::new(Vec::new(), PathBuf::new()).max_ply(plies);
        let source = |(n, digest): (usize, &&str)| PartSource {
            path: format!("{n}{digest}.pgn"),
            bytes: 9,
            digest: (*digest).to_owned(),
        };
        Part {
            version: String::new(),
            games,
            conditions: Conditions::of_job(&job),
            sources: digests.iter().enumerate().map(source).collect(),
            checksum: hex(checksum),
        }
    }

    #[test]
    fn tables_of_other_conditions_or_of_the_same_games_are_refused() {
        for (one, two, refused) in [
            (
                part(30, 1, 40, &["a", "b"]),
                part(30, 2, 40, &["c", "d"]),
                "",
            ),
            // So few games may be alike.
            (part(20, 1, 40, &[]), part(20, 1, 40, &[]), ""),
            (
                part(21, 1, 40, &[]),
                part(21, 1, 40, &[]),
                "1.parquet: the same records are in 0.parquet too: give one of them",
            ),
            (
                part(30, 1, 40, &["a", "b"]),
                part(30, 2, 40, &["c", "b"]),
                "1.parquet: the games of 1b.pgn are in 0.parquet too: give one of them",
            ),
            (
                part(30, 1, 40, &["a", "b"]),
                part(30, 2, 40, &["b"]),
                "1.parquet: the games of 0b.pgn (there 1b.pgn) are in 0.parquet too: give one of \
                 them",
            ),
            (
                part(30, 1, 40, &[]),
                part(30, 2, 41, &[]),
                "1.parquet: was counted --max-ply 41, but 0.parquet --max-ply 40: count one of \
                 them again",
            ),
        ] {
            let all = [Some(one), None, Some(two)];
            let names = [0, 7, 1].map(path);
            let tables = Tables(names.into_iter().zip(all).collect());
            let error = tables.check().err().map(|error| error.to_string());
            assert_eq!(error.unwrap_or_default(), refused);
        }
    }

    /// What the rows of a table of these games show; without `parts` those of another program.
    fn seen(games: u64, parts: u64, checksum: u64, least: u64) -> Seen {
        let mut row = GamesRow::default();
        let conditions = part(0, 0, 40, &[]).conditions;
        (0..parts).for_each(|_| row.add(&GamesRow::new(0, &conditions)));
        row.games = games;
        let row = row.with_checksum(checksum);
        Seen {
            checksum,
            row,
            count_rows: 1,
            plain_rows: u64::from(parts == 0),
            least: Some(least),
        }
    }

    /// What is said of tables, or why they are refused.
    fn said(all: &[(Option<Part>, Seen)]) -> Vec<String> {
        let tables = all.iter().enumerate();
        let tables = Tables(
            tables
                .map(|(n, (part, _))| (path(n), part.clone()))
                .collect(),
        );
        let seen: Vec<Seen> = all.iter().map(|(_, seen)| seen.clone()).collect();
        match tables.verified(&seen) {
            Ok(read) => read.remarks,
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn what_was_read_is_compared_with_what_was_counted() {
        const HIGH: u64 = 5 << 32;
        let of = |games, checksum| Some(part(games, checksum, 40, &[]));
        let whole = seen(3, 1, HIGH + 7, 1);
        assert_eq!(
            said(&[(of(3, HIGH + 7), whole.clone())]),
            ["1 file of records: 3 games (--max-ply 40)"]
        );
        assert_eq!(
            said(&[(None, seen(1, 2, HIGH, 1)), (None, seen(0, 0, 0, 9))])[1],
            "2 files of records: 1 game"
        );
        let damaged = "damaged: its rows do not have the checksum of its footer";
        let mut other_rows = whole.clone();
        other_rows.checksum += 1;
        let mut other_row = whole.clone();
        other_row.row = other_row.row.with_checksum(7);
        for (part, seen) in [
            (of(4, HIGH + 7), whole.clone()),
            (of(3, HIGH), whole.clone()),
            (of(3, HIGH + 8), other_rows.clone()),
            (of(3, HIGH + 7), other_row),
        ] {
            let said = said(&[(of(3, HIGH + 7), whole.clone()), (part, seen)]);
            assert!(
                said[0].starts_with(&format!("1.parquet: {damaged}")),
                "{said:?}"
            );
        }
        // Of what an engine has added up.
        for (all, expected) in [
            (
                vec![(None, whole.clone())],
                "1 file of records: 3 games (--max-ply 40)",
            ),
            (
                vec![(None, seen(3, 0, 7, 1))],
                "0.parquet: without a checksum",
            ),
            (
                vec![(None, Seen::default())],
                "0.parquet: no file of records has a row",
            ),
            (
                vec![(None, other_rows.clone())],
                "0.parquet: its rows do not have the sum",
            ),
            (
                vec![(
                    None,
                    Seen {
                        least: Some(2),
                        ..other_rows.clone()
                    },
                )],
                "0.parquet: rows of fewer than 2 games are left out (HAVING)",
            ),
            (
                vec![
                    (
                        None,
                        Seen {
                            least: Some(2),
                            ..other_rows.clone()
                        },
                    ),
                    (None, whole.clone()),
                ],
                "0.parquet: its rows do not have the sum",
            ),
            (
                vec![
                    (
                        None,
                        Seen {
                            least: None,
                            ..other_rows.clone()
                        },
                    ),
                    (None, whole.clone()),
                ],
                "0.parquet: its rows do not have the sum",
            ),
            (
                vec![
                    (Some(part(3, HIGH + 7, 41, &[])), whole.clone()),
                    (None, whole.clone()),
                ],
                "1.parquet: was counted with --max-ply 40, but other records with --max-ply 41",
            ),
            (
                vec![(of(3, HIGH + 7), whole.clone()), (None, whole.clone())],
                "2 files of records: 6 games (--max-ply 40)",
            ),
        ] {
            let said = said(&all);
            assert!(said[0].starts_with(expected), "{said:?}");
        }
    }
}
