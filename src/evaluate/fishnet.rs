//! Tables of evaluations as lichess gives them away (`Lichess/fishnet-evals`).
//!
//! Parquet, a row for each position of a game that was analysed: `fen` (six
//! fields), `cp` or `mate` (whole numbers from White's view, one of them null),
//! and what was played, which does not matter here. A position stands there as
//! often as it was met; the middle value counts.

use std::path::Path;
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use shakmaty::{Chess, Position as _};

use super::gathered::GatherError;
use super::said::Said;
use crate::crew;
use crate::eval::Value;
use crate::evals::{EvalKey, Imported, lichess};
use crate::graph::BookGraph;
use crate::input::parquet::{self as table, At, said};
use crate::watch::{Progress, Watch};

/// How such files begin.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// Rows that are read at once.
const BATCH_ROWS: usize = 4096;

/// What was read of a row group, and the first bad row with what is wrong.
type Piece = (Imported, Option<(u64, &'static str)>);

/// What a table says about positions of the graph.
pub(super) fn read(
    path: &Path,
    graph: &BookGraph,
    watch: &mut Watch<'_>,
) -> Result<(Imported, Said), GatherError> {
    let unreadable = |text: String| GatherError::Table {
        path: path.to_owned(),
        text,
    };
    let reader = Arc::new(table::open(path).map_err(unreadable)?);
    let places = places(&reader).map_err(unreadable)?;
    let groups = reader.metadata().row_groups();
    let total = groups
        .iter()
        .map(|g| g.compressed_size().unsigned_abs())
        .sum();
    let mut read = Imported::default();
    let mut first_bad: Option<(u64, &'static str)> = None;
    let stop = watch.stop();
    let hear = |(piece, bad): Piece| {
        read.bytes += piece.bytes;
        read.lines += piece.lines;
        read.hits += piece.hits;
        read.bad_lines += piece.bad_lines;
        // Pieces come in the order of the rows.
        first_bad = first_bad.or(bad);
        let progress = Progress::reading("rows", read.lines, read.bytes, Some(total));
        Ok(watch.step(progress)?)
    };
    let ((), heard) = crew::run(
        crew::threads(),
        |jobs| {
            let mut heard = Said::default();
            jobs.each(|(group, before): (usize, u64), _| {
                let of_group = Group::open(&reader, group, places);
                let mut of_group = of_group.map_err(|error| unreadable(said(&error)))?;
                let mut piece = Piece::default();
                while of_group.left > 0 {
                    stop.go_on()?;
                    let rows = of_group.next().map_err(|error| unreadable(said(&error)))?;
                    for (fen, score) in rows {
                        piece.0.lines += 1;
                        match evaluation(fen.data(), score, graph) {
                            Ok(Some((position, key, value))) => {
                                piece.0.hits += 1;
                                heard.add(&position, key, value, 0);
                            }
                            Ok(None) => {}
                            Err(fault) => {
                                piece.0.bad_lines += 1;
                                piece.1.get_or_insert((before + piece.0.lines, fault));
                            }
                        }
                    }
                }
                let size = reader.metadata().row_group(group).compressed_size();
                piece.0.bytes = size.unsigned_abs();
                Ok::<_, GatherError>(piece)
            })?;
            Ok(heard)
        },
        |lead| {
            let mut behind = 0;
            let jobs = groups.iter().enumerate().map(|(number, group)| {
                let before = behind;
                behind += group.num_rows().unsigned_abs();
                Ok((number, before))
            });
            lead.each(jobs, hear)
        },
    )?;
    read.first_bad = first_bad.map(|(row, fault)| format!("row {row}: {fault}"));
    let mut all = Said::default();
    heard.into_iter().for_each(|heard| all.join(heard));
    Ok((read, all))
}

/// Centipawns, and full moves to a mate, as the row has them.
type Score = (Option<i64>, Option<i64>);

/// What a row says, if the position is wanted.
fn evaluation(
    fen: &[u8],
    score: Score,
    graph: &BookGraph,
) -> Result<Option<(Chess, EvalKey, Value)>, &'static str> {
    let position = lichess::position(fen).ok_or("no legal position")?;
    let limited = |n: i64| n.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let value = match score {
        (Some(cp), None) => Value::cp(limited(cp)),
        (None, Some(mate)) => Value::mate_of_white(position.turn(), limited(mate)),
        _ => return Err("not either a value or a mate"),
    };
    let key = EvalKey::of(&position);
    Ok(graph.holds(key).then_some((position, key, value)))
}

/// The places of the columns that are read.
fn places(reader: &SerializedFileReader<At>) -> Result<[usize; 3], String> {
    let schema = reader.metadata().file_metadata().schema_descr();
    let place = |name: &str| {
        let mut columns = schema.columns().iter();
        let place = columns.position(|column| column.path().parts() == [name]);
        let place = place.ok_or_else(|| {
            format!("there is no column \"{name}\": a table of evaluations has fen, cp and mate")
        })?;
        match schema.column(place).max_rep_level() {
            0 => Ok(place),
            _ => Err(format!(
                "column \"{name}\" is a list; one value a row is wanted"
            )),
        }
    };
    Ok([place("fen")?, place("cp")?, place("mate")?])
}

/// A row group that is being read.
struct Group {
    left: usize,
    fen: Column<ByteArrayType>,
    cp: Numbers,
    mate: Numbers,
}

/// A column of numbers, whatever wrote them.
enum Numbers {
    Short(Column<Int32Type>),
    Long(Column<Int64Type>),
    /// As programs write whole numbers among which some are missing.
    Real(Column<DoubleType>),
}

struct Column<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// Level of a value that is not null; 0 where none can be.
    full: i16,
}

impl Group {
    fn open(
        reader: &SerializedFileReader<At>,
        group: usize,
        [fen, cp, mate]: [usize; 3],
    ) -> Result<Group, ParquetError> {
        let group = reader.get_row_group(group)?;
        let wrong = |name: &str| ParquetError::General(format!("wrong type of column \"{name}\""));
        let full = |place| {
            group
                .metadata()
                .schema_descr()
                .column(place)
                .max_def_level()
        };
        let numbers = |place, name| {
            let full = full(place);
            Ok(match group.get_column_reader(place)? {
                ColumnReader::Int32ColumnReader(reader) => Numbers::Short(Column { reader, full }),
                ColumnReader::Int64ColumnReader(reader) => Numbers::Long(Column { reader, full }),
                ColumnReader::DoubleColumnReader(reader) => Numbers::Real(Column { reader, full }),
                _ => return Err(wrong(name)),
            })
        };
        Ok(Group {
            left: usize::try_from(group.metadata().num_rows()).unwrap_or(0),
            fen: match group.get_column_reader(fen)? {
                ColumnReader::ByteArrayColumnReader(reader) => Column {
                    reader,
                    full: full(fen),
                },
                _ => return Err(wrong("fen")),
            },
            cp: numbers(cp, "cp")?,
            mate: numbers(mate, "mate")?,
        })
    }

    /// The next rows.
    fn next(&mut self) -> Result<impl Iterator<Item = (ByteArray, Score)>, ParquetError> {
        let count = self.left.min(BATCH_ROWS);
        self.left -= count;
        let fens = self.fen.next(count)?.into_iter();
        let fens = fens.map(Option::unwrap_or_default);
        let scores = self.cp.next(count)?.into_iter().zip(self.mate.next(count)?);
        Ok(fens.zip(scores))
    }
}

impl Numbers {
    fn next(&mut self, count: usize) -> Result<Vec<Option<i64>>, ParquetError> {
        Ok(match self {
            Numbers::Short(column) => {
                let values = column.next(count)?.into_iter();
                values.map(|value| value.map(i64::from)).collect()
            }
            Numbers::Long(column) => column.next(count)?,
            Numbers::Real(column) => {
                let values = column.next(count)?.into_iter();
                let whole = |value: f64| (!value.is_nan()).then_some(value as i64);
                values.map(|value| value.and_then(whole)).collect()
            }
        })
    }
}

impl<T: DataType> Column<T> {
    /// The next `count` values.
    fn next(&mut self, count: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
        let (mut values, mut levels) = (Vec::with_capacity(count), Vec::new());
        let mut rows = 0;
        while rows < count {
            let levels = (self.full > 0).then_some(&mut levels);
            let left = count - rows;
            let (more, _, _) = self.reader.read_records(left, levels, None, &mut values)?;
            if more == 0 {
                return Err(ParquetError::EOF("a column ends early".to_owned()));
            }
            rows += more;
        }
        if self.full == 0 {
            return Ok(values.into_iter().map(Some).collect());
        }
        let mut values = values.into_iter();
        let levels = levels.into_iter();
        Ok(levels
            .map(|level| (level == self.full).then(|| values.next()).flatten())
            .collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::File;

    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::book::{Book, OpenOptions};
    use crate::graph::GraphOptions;
    use crate::notation::{Line, fen};

    /// Writes a table in two row groups; a score is `cp` or `mate`, or neither.
    fn write(path: &Path, rows: &[(&str, Option<i32>, Option<i32>)]) {
        let schema = "message evals {
            required binary fen (UTF8); optional int32 cp; optional int32 mate; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let file = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        for rows in rows.chunks(rows.len().div_ceil(2)) {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let fens: Vec<ByteArray> = rows.iter().map(|row| row.0.into()).collect();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&fens, None, None).unwrap();
            column.close().unwrap();
            for pick in [
                |row: &(&str, _, _)| row.1,
                |row: &(&str, _, Option<i32>)| row.2,
            ] {
                let mut column = group.next_column().unwrap().unwrap();
                let values: Vec<i32> = rows.iter().filter_map(pick).collect();
                let levels: Vec<i16> = rows.iter().map(|row| pick(row).is_some().into()).collect();
                let typed = column.typed::<Int32Type>();
                typed.write_batch(&values, Some(&levels), None).unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        writer.close().unwrap();
    }

    fn graph() -> BookGraph {
        let book = Book::open("books/tabia.ctg", &OpenOptions::default()).unwrap();
        let options = GraphOptions::default();
        BookGraph::of(&book, options, &mut Watch::default(), &mut |_| {}).unwrap()
    }

    #[test]
    fn rows_are_seen_from_white_with_either_side_to_move() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let after = |moves: &str| fen(Line::read("", moves).unwrap().last());
        let (e4, e5, c5) = (after("e4"), after("e4 e5"), after("e4 c5"));
        let nowhere = "8/8/8/3k4/8/8/P7/K7 w - - 0 1";
        let rows = [
            (&*e4, Some(40), None),
            (&*e5, Some(-25), None),
            (&*e4, Some(30), None),
            (nowhere, Some(1), None),
            // Black mates in 3, whoever is to move.
            (&*c5, None, Some(-3)),
            (&*e4, Some(90), None),
            (&*e4, None, None),
            ("nonsense", Some(1), None),
        ];
        write(&path, &rows);
        let graph = graph();
        let mut table = crate::evals::EvalTable::default();
        let file = crate::evals::EvalFile::open(&folder.path().join("x.evals")).unwrap();
        let watch = &mut Watch::default();
        let gathered = super::super::gather(&path, &graph, &mut table, &file, watch).unwrap();
        let read = &gathered.read;
        assert_eq!((read.lines, read.hits, read.bad_lines), (8, 5, 2));
        let first = read.first_bad.as_deref();
        assert_eq!(first, Some("row 7: not either a value or a mate"));
        assert_eq!((gathered.unit, gathered.new), ("rows", 3));
        let value = |moves: &str| {
            let line = Line::read("", moves).unwrap();
            table.get(line.last()).map(|evaluation| evaluation.value)
        };
        // The middle one of three.
        assert_eq!(value("e4"), Some(Value::Cp(40)));
        assert_eq!(value("e4 e5"), Some(Value::Cp(-25)));
        let mate = Value::Mate {
            winner: shakmaty::Color::Black,
            moves: 3,
        };
        assert_eq!(value("e4 c5"), Some(mate));
    }

    #[test]
    fn what_is_no_table_of_evaluations_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        write(&path, &[("nonsense", Some(1), None), ("8/8", None, None)]);
        let whole = std::fs::read(&path).unwrap();
        let graph = graph();
        let fault = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let read = read(&path, &graph, &mut Watch::default());
            read.map(|(read, _)| read.bad_lines)
                .map_err(|error| error.to_string())
        };
        assert_eq!(fault(&whole), Ok(2));
        let cut = fault(&whole[..whole.len() - 9]).unwrap_err();
        assert!(
            cut.contains("x.parquet: cannot be read as Parquet: "),
            "{cut}"
        );
        // The name of a column, in schema and metadata alike.
        let at = |bytes: &[u8]| bytes.windows(4).position(|part| part == b"mate");
        let mut other = whole.clone();
        while let Some(at) = at(&other) {
            other[at] = b'f';
        }
        let missing = fault(&other).unwrap_err();
        assert!(missing.contains("no column \"mate\""), "{missing}");
    }
}
