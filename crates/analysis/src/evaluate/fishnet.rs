//! Tables of evaluations published by lichess (`Lichess/fishnet-evals`).
//!
//! Parquet, a row for each position of an analysed game: `fen` (six fields), `cp` or
//! `mate` (integers from White's view, one of them null), and the move played, which is
//! not used. A position has a row for each time it occurred; the median is used.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::Type as Physical;
use parquet::schema::types::ColumnDescriptor;
use shakmaty::{Chess, Position as _};

use super::collected::CollectedValues;
use crate::error::{Error, about};
use crate::graph::BookGraph;
use tabia_book::eval::Value;
use tabia_book::evals::{EvalKey, Imported, lichess};
use tabia_build::parquet::{Row, RowGroup, Table};
use tabia_io::parallel;
use tabia_io::progress::{Progress, Watch};

/// The result for a row group, and the first bad row with its fault.
type Piece = (Imported, Option<(u64, &'static str)>);

/// Reads a table's evaluations of positions of the graph.
pub(super) fn read(
    path: &Path,
    graph: &BookGraph,
    watch: &mut Watch<'_>,
) -> Result<(Imported, CollectedValues), Error> {
    let unreadable = |text: String| about(path, format!("cannot be read as Parquet: {text}"));
    let table = Arc::new(open(path).map_err(unreadable)?);
    let total = table.groups().map(|group| group.bytes).sum();
    let mut read = Imported::default();
    let mut first_bad: Option<(u64, &'static str)> = None;
    let stop = watch.stop();
    let take = |(piece, bad): Piece| {
        read.bytes += piece.bytes;
        read.lines += piece.lines;
        read.hits += piece.hits;
        read.bad_lines += piece.bad_lines;
        // Pieces come in the order of the rows.
        first_bad = first_bad.or(bad);
        let progress = Progress::reading("rows", read.lines, read.bytes, Some(total));
        Ok(watch.step(progress)?)
    };
    let ((), collected) = parallel::run(
        parallel::threads(),
        |jobs| {
            let mut collected = CollectedValues::default();
            jobs.each(|group: RowGroup, _| {
                let (mut piece, mut bad) = Piece::default();
                piece.bytes = group.bytes;
                table.each_row(&group, stop, unreadable, |number, row| {
                    piece.lines += 1;
                    match evaluation(row, graph) {
                        Ok(Some((position, key, value))) => {
                            piece.hits += 1;
                            collected.add(&position, key, value, 0);
                        }
                        Ok(None) => {}
                        Err(fault) => {
                            piece.bad_lines += 1;
                            bad.get_or_insert((number, fault));
                        }
                    }
                    Ok(())
                })?;
                Ok::<_, Error>((piece, bad))
            })?;
            Ok(collected)
        },
        |lead| lead.each(table.groups().map(Ok), take),
    )?;
    read.first_bad = first_bad.map(|(row, fault)| format!("row {row}: {fault}"));
    let mut all = CollectedValues::default();
    collected
        .into_iter()
        .for_each(|collected| all.join(collected));
    Ok((read, all))
}

/// Opens a table: text in column 0, centipawns in 1, full moves to a mate in 2.
fn open(path: &Path) -> Result<Table, String> {
    let mut table = Table::open(path).map_err(|error| error.to_string())?;
    for name in ["fen", "cp", "mate"] {
        let is_text = match table.want(name).map(ColumnDescriptor::physical_type) {
            Ok(Physical::BYTE_ARRAY) => Some(true),
            Ok(Physical::INT32 | Physical::INT64 | Physical::DOUBLE) => Some(false),
            Ok(_) => None,
            Err(wrong) => {
                return Err(format!(
                    "column {name} {wrong}: a table of evaluations has fen, cp and mate"
                ));
            }
        };
        if is_text != Some(name == "fen") {
            return Err(format!("wrong type of column {name}"));
        }
    }
    Ok(table)
}

/// The evaluation of a row, if the position is wanted.
fn evaluation(
    row: Row<'_>,
    graph: &BookGraph,
) -> Result<Option<(Chess, EvalKey, Value)>, &'static str> {
    let fen = row.bytes(0).unwrap_or_default();
    let position = lichess::position(fen).ok_or("not a legal position")?;
    let limited = |n: i64| n.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let value = match (row.number(1), row.number(2)) {
        (Some(cp), None) => Value::cp(limited(cp)),
        (None, Some(mate)) => Value::mate_of_white(position.turn(), limited(mate)),
        _ => return Err("neither a value nor a mate"),
    };
    let key = EvalKey::from_position(&position);
    Ok(graph.holds(key).then_some((position, key, value)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use tabia_book::{Book, OpenOptions};
    use tabia_notation::{Line, fen};

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
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {}).unwrap()
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
            // Black mates in 3, whichever side is to move.
            (&*c5, None, Some(-3)),
            (&*e4, Some(90), None),
            (&*e4, None, None),
            ("nonsense", Some(1), None),
        ];
        write(&path, &rows);
        let graph = graph();
        let mut table = tabia_book::evals::EvalTable::default();
        let file = tabia_book::evals::EvalFile::open(&folder.path().join("x.evals")).unwrap();
        let watch = &mut Watch::default();
        let gathered = super::super::gather(&path, &graph, &mut table, &file, watch).unwrap();
        let read = &gathered.read;
        assert_eq!((read.lines, read.hits, read.bad_lines), (8, 5, 2));
        let first = read.first_bad.as_deref();
        assert_eq!(first, Some("row 7: neither a value nor a mate"));
        assert_eq!((gathered.from.as_str(), gathered.new), ("rows", 3));
        let value = |moves: &str| {
            let line = Line::read("", moves).unwrap();
            table.get(line.last()).map(|evaluation| evaluation.value)
        };
        // The median of three.
        assert_eq!(value("e4"), Some(Value::Cp(40)));
        assert_eq!(value("e4 e5"), Some(Value::Cp(-25)));
        let mate = Value::Mate {
            winner: shakmaty::Color::Black,
            moves: 3,
        };
        assert_eq!(value("e4 c5"), Some(mate));
    }

    /// Written by polars 2.1 (zstd is its default), pyarrow 26 and Spark 4.3.
    #[test]
    fn every_usual_compression_is_read() {
        let graph = graph();
        for name in [
            "polars_zstd",
            "arrow_gzip",
            "arrow_zstd_v2",
            "arrow_lz4",
            "spark_lz4",
        ] {
            let path = format!("../../tests/data/parquet/{name}.parquet");
            let path = Path::new(&path);
            let (read, collected) = read(path, &graph, &mut Watch::default()).unwrap();
            assert_eq!(
                (read.lines, read.hits, read.bad_lines),
                (300, 300, 0),
                "{name}"
            );
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("x.evals");
            let file = tabia_book::evals::EvalFile::open(&file).unwrap();
            let mut table = tabia_book::evals::EvalTable::default();
            assert_eq!(
                collected.add_to(&mut table, &file, name).unwrap(),
                3,
                "{name}"
            );
            let value = |moves: &str| {
                let line = Line::read("", moves).unwrap();
                table.get(line.last()).map(|evaluation| evaluation.value)
            };
            assert_eq!(value("e4"), Some(Value::Cp(42)), "{name}");
            assert_eq!(value("e4 e5"), Some(Value::Cp(-23)), "{name}");
            // A damaged page is an error, and never a value.
            let mut bytes = std::fs::read(path).unwrap();
            let cut = folder.path().join("cut.parquet");
            for at in (4..bytes.len() / 2).step_by(7) {
                bytes[at] ^= 0x55;
            }
            std::fs::write(&cut, bytes).unwrap();
            let damaged = super::read(&cut, &graph, &mut Watch::default());
            assert!(damaged.is_err() || damaged.unwrap().0.hits < 300, "{name}");
        }
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
        // The name of a column, in schema and metadata.
        let at = |bytes: &[u8]| bytes.windows(4).position(|part| part == b"mate");
        let mut other = whole.clone();
        while let Some(at) = at(&other) {
            other[at] = b'f';
        }
        let missing = fault(&other).unwrap_err();
        assert!(missing.contains("column mate is missing"), "{missing}");
    }
}
