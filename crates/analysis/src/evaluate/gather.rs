//! Reads evaluations from files of any known kind, recognised by content.

use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::Ordering;

use super::collected::{Gathered, GatheredFrom, cancelled};
use super::fishnet::read as fishnet;
use super::from_games;
use crate::error::{Error, about};
use crate::graph::BookGraph;
use tabia_book::evals::{self, EvalFile, EvalTable};
use tabia_games::{self as games, GameFilter, Sources};
use tabia_io::input::path::file_name;
use tabia_io::progress::{Progress, Watch};

/// Reads a file of evaluations, plain or compressed (EPD, `.evals`, text of chessdb.cn,
/// the export of lichess), a table of fishnet (Parquet), or games with `[%eval ...]`
/// comments, and adds its evaluations of positions of `graph` to `table` and, if new, to
/// `file`.
///
/// # Errors
///
/// The file cannot be read; what was found before the error is in `file`.
pub fn gather(
    path: &Path,
    graph: &BookGraph,
    table: &mut EvalTable,
    file: &EvalFile,
    watch: &mut Watch<'_>,
) -> Result<Gathered, Error> {
    let failed = |error| about(path, error);
    let mut text = games::unpacked(path).map_err(failed)?;
    let mut start = Vec::new();
    let begun = (&mut text.plain).take(1024).read_to_end(&mut start);
    begun.map_err(failed)?;
    let source = file_name(path);
    let is_table = start.starts_with(b"PAR1");
    if is_table || !is_lines(&start) {
        let (from, read, collected) = match is_table {
            true => {
                let (read, collected) = fishnet(path, graph, watch)?;
                (GatheredFrom::Rows, read, collected)
            }
            false => {
                let sources = Sources::list([&path.to_owned()])?;
                let (all, holds) = (GameFilter::default(), |_: &_, key| graph.holds(key));
                let (read, tally, collected) = from_games::read(&sources, &all, &holds, watch)?;
                (GatheredFrom::Games(Box::new(tally)), read, collected)
            }
        };
        let new = collected.add_to(table, file, &source)?;
        return Ok(Gathered { read, from, new });
    }
    let mut new = 0;
    let mut fault = None;
    let plain = io::Cursor::new(start).chain(text.plain);
    let read = evals::import(
        plain,
        &source,
        &|key| graph.holds(key),
        &mut |position, evaluation| {
            if table.add(position, &evaluation) {
                new += 1;
                fault = file.add(position, &evaluation).err();
            }
            fault.is_none()
        },
        &mut |lines| {
            let bytes = text.read.load(Ordering::Relaxed);
            let progress = Progress::reading("lines", lines, bytes, text.size);
            watch.step(progress).is_ok()
        },
    );
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    let read = read.map_err(failed)?;
    file.sync()?;
    watch
        .go_on()
        .map_err(|stopped| cancelled(stopped.into(), file.path()))?;
    Ok(Gathered {
        read,
        from: GatheredFrom::Lines,
        new,
    })
}

/// Whether a text with this beginning has an evaluation in each line: one of the first lines
/// is so, perhaps after a damaged one, and the first is not a tag of a game.
fn is_lines(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_board = |word: &str| word.split('/').count() == 8;
    let is_evaluation = |line: &str| {
        let object = line.strip_prefix('{').map(str::trim_start);
        // A comment of a game also begins with a brace, but usually goes on differently.
        object.is_some_and(|inside| inside.starts_with('"'))
            || line.split_whitespace().next().is_some_and(is_board)
    };
    let first = lines.next();
    first.is_some_and(|first| {
        is_evaluation(first) || !first.starts_with('[') && lines.any(is_evaluation)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use tabia_book::eval::Value;
    use tabia_book::{Book, OpenOptions};
    use tabia_io::progress::Watch;
    use tabia_notation::Line;

    fn graph() -> BookGraph {
        let book = Book::open("../../books/tabia.ctg", &OpenOptions::default()).unwrap();
        BookGraph::from_book(&book, &mut Watch::default(), &mut |_| {}).unwrap()
    }

    fn value(table: &EvalTable, moves: &str) -> Option<Value> {
        let line = Line::read("", moves).unwrap();
        table.get(line.last()).map(|evaluation| evaluation.value)
    }

    /// In every format 1.e4 is good for White and 1.e4 e5 for Black.
    #[test]
    fn every_reader_sees_from_white_with_either_side_to_move() {
        let graph = graph();
        let e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        let e5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -";
        let nowhere = "8/8/8/3k4/8/8/P7/K7 w - -";
        let lichess = |fen: &str, cp: i32| {
            format!(
                "{{\"fen\":\"{fen}\",\"evals\":[{{\"pvs\":[{{\"cp\":{cp},\"line\":\"\"}}],\
                 \"knodes\":7,\"depth\":9}}]}}\n"
            )
        };
        let files = [
            (
                "x.epd",
                format!("{e4} ce -40; acd 3;\n{e5} ce -25;\n{nowhere} ce 1;\n"),
            ),
            (
                "x.jsonl",
                lichess(e4, 40) + &lichess(e5, -25) + &lichess(nowhere, 3),
            ),
            // With spaces, as most writers of JSON have them.
            (
                "blanks.jsonl",
                [(e4, 40), (e5, -25), (nowhere, 3)]
                    .map(|(fen, cp)| lichess(fen, cp).replace(":", ": ").replace(",", ", "))
                    .concat(),
            ),
            (
                "evals_first.jsonl",
                [(e4, 40), (e5, -25)]
                    .map(|(fen, cp)| {
                        format!(
                            "{{\"evals\": [{{\"depth\": 9, \"knodes\": 7, \"pvs\": \
                             [{{\"cp\": {cp}, \"line\": \"\"}}]}}], \"fen\": \"{fen}\"}}\n"
                        )
                    })
                    .concat(),
            ),
            (
                "cdb.txt",
                format!("{e4} ; cdb eval: -40, ply: 1;\n{e5} ; cdb eval: -25, ply: 2;\n"),
            ),
            (
                "x.pgn",
                "[Event \"?\"]\n\n1. e4 { [%eval 0.40] [%clk 0:01:00] } 1... e5 { [%eval -0.25,8] } \
                 ( 1... c5 2. Nf3 ) 2. a3 *\n\n"
                    .to_owned(),
            ),
        ];
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            for packed in [false, true] {
                let mut path = folder.path().join(name);
                let mut bytes = text.clone().into_bytes();
                if packed {
                    path.as_mut_os_string().push(".gz");
                    let mut gz = flate2::write::GzEncoder::new(Vec::new(), Default::default());
                    gz.write_all(&bytes).unwrap();
                    bytes = gz.finish().unwrap();
                }
                fs::write(&path, bytes).unwrap();
                let side = path.with_extension("evals");
                let mut table = EvalTable::default();
                let mut run = || {
                    let file = EvalFile::open(&side).unwrap();
                    gather(&path, &graph, &mut table, &file, &mut Watch::default()).unwrap()
                };
                let first = run();
                assert_eq!((first.read.hits, first.new), (2, 2), "{name}: {first:?}");
                // Nothing is written twice.
                assert_eq!(run().new, 0, "{name}");
                for table in [table, evals::read(&side).unwrap().table] {
                    assert_eq!(value(&table, "e4"), Some(Value::Cp(40)), "{name}");
                    assert_eq!(value(&table, "e4 e5"), Some(Value::Cp(-25)), "{name}");
                    assert_eq!(table.len(), 2);
                }
                fs::remove_file(&side).unwrap();
            }
        }
    }
}
