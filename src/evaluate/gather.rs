//! Evaluations out of files: whatever holds some, by its content.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use shakmaty::{Chess, Position as _};

use crate::crew::Panicked;
use crate::eval::{Evaluation, Value};
use crate::evals::{self, EvalFile, EvalFileError, EvalKey, EvalTable, Imported};
use crate::games::{
    self, Batches, Filter, Game, Intake, Item, ReadError, SourceError, Sources, Starts, Wanted,
};
use crate::graph::BookGraph;
use crate::watch::{Progress, Stopped, Watch};

/// What a file gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Lines, or games.
    pub read: Imported,
    /// Whether these were games.
    pub games: bool,
    /// Evaluations that told something new.
    pub new: u64,
}

/// Why a file gives nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is something else.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Games cannot be read.
    #[error(transparent)]
    Games(#[from] ReadError),
    /// The evaluations cannot be written.
    #[error(transparent)]
    File(#[from] EvalFileError),
    /// A thread met a fault of this program.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// Somebody wanted an end. What was found has been written.
    #[error("interrupted; what was found until now is in the file")]
    Stopped,
}

impl From<Stopped> for GatherError {
    fn from(_: Stopped) -> GatherError {
        GatherError::Stopped
    }
}

/// Reads a file of evaluations, plain or compressed (EPD, `.evals`, text of
/// chessdb.cn, the export of lichess), or games whose comments hold
/// `[%eval ...]`, and adds what it says about positions of `graph` to `table`
/// and, where that is new, to `file`.
///
/// # Errors
///
/// What went wrong; what was found before is in the file.
pub fn gather(
    path: &Path,
    graph: &BookGraph,
    table: &mut EvalTable,
    file: &mut EvalFile,
    watch: &mut Watch<'_>,
) -> Result<Gathered, GatherError> {
    let failed = |error| GatherError::Io {
        path: path.to_owned(),
        error,
    };
    let mut text = games::unpacked(path).map_err(failed)?;
    let mut start = Vec::new();
    let begun = (&mut text.plain).take(1024).read_to_end(&mut start);
    begun.map_err(failed)?;
    if !is_lines(&start) {
        return from_games(path, graph, table, file, watch);
    }
    let source = path.file_name().map(|name| name.to_string_lossy());
    let source = source.unwrap_or_default().into_owned();
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
    watch.go_on()?;
    Ok(Gathered {
        read,
        games: false,
        new,
    })
}

/// Whether a text that begins so has an evaluation a line.
fn is_lines(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let mut lines = text.lines().map(str::trim);
    let Some(line) = lines.find(|line| !line.is_empty() && !line.starts_with('#')) else {
        return false;
    };
    let is_board = |word: &str| word.split('/').count() == 8;
    line.starts_with("{\"fen\"")
        || line.starts_with("{ \"fen\"")
        || line.split_whitespace().next().is_some_and(is_board)
}

/// What games say about one position.
type Said = HashMap<EvalKey, (Chess, Vec<(Value, u16)>)>;

fn from_games(
    path: &Path,
    graph: &BookGraph,
    table: &mut EvalTable,
    file: &mut EvalFile,
    watch: &mut Watch<'_>,
) -> Result<Gathered, GatherError> {
    let sources = Sources::list([&path.to_owned()])?;
    let intake = Intake {
        filter: &Filter::default(),
        wanted: Wanted::EVERYTHING,
        starts: Starts::SetUp,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let all = Mutex::new((Said::default(), 0));
    let worker = |batches: &Batches<'_, (), GatherError>| {
        let mut said = Said::default();
        let mut game = Game::default();
        let mut hits = 0;
        batches.each(|batch| {
            while batch.next(&mut game) {
                hits += add_game(&game, graph, &mut said);
            }
            Ok(())
        })?;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.1 += hits;
        for (key, (position, values)) in said {
            let known = all.0.entry(key).or_insert((position, Vec::new()));
            known.1.extend(values);
        }
        Ok(())
    };
    let tally = intake.read(&sources, worker, |()| Ok(()), watch)?;
    let (said, hits) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    let source = path.file_name().map(|name| name.to_string_lossy());
    let source: Arc<str> = Arc::from(source.unwrap_or_default());
    let mut said: Vec<_> = said.into_iter().collect();
    said.sort_unstable_by_key(|(key, _)| *key);
    let mut new = 0;
    for (_, (position, values)) in said {
        let (value, depth) = median(position.turn(), values);
        let evaluation = Evaluation {
            depth,
            source: Arc::clone(&source),
            ..Evaluation::from(value)
        };
        if table.add(&position, &evaluation) {
            new += 1;
            file.add(&position, &evaluation)?;
        }
    }
    file.sync()?;
    Ok(Gathered {
        read: Imported {
            lines: tally.read,
            hits,
            ..Imported::default()
        },
        games: true,
        new,
    })
}

/// The middle one of the deepest values.
fn median(turn: shakmaty::Color, mut values: Vec<(Value, u16)>) -> (Value, u16) {
    let deepest = values.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    values.retain(|(_, depth)| *depth == deepest);
    values.sort_by_key(|(value, _)| value.for_side(turn));
    let middle = values.get(values.len() / 2);
    middle.copied().unwrap_or((Value::Cp(0), 0))
}

/// Adds the `[%eval]` of a game's moves, variations included; gives how many
/// were about positions that are wanted.
fn add_game(game: &Game, graph: &BookGraph, said: &mut Said) -> u64 {
    let Some(first) = game.positions.first().filter(|_| !game.chess960) else {
        return 0;
    };
    // The position on the board, and the one before the last move, to which
    // variations are alternatives.
    let (mut now, mut before) = (first.clone(), first.clone());
    let mut outside = Vec::new();
    let mut hits = 0;
    for item in &game.movetext {
        match item {
            Item::Move(mv) => {
                before = now.clone();
                now.play_unchecked(*mv);
            }
            Item::Null => {
                before = now.clone();
                match now.clone().swap_turn() {
                    Ok(passed) => now = passed,
                    Err(_) => break,
                }
            }
            Item::Begin => {
                outside.push((now.clone(), before.clone()));
                now = before.clone();
            }
            Item::End => match outside.pop() {
                Some(known) => (now, before) = known,
                None => break,
            },
            Item::Nag(_) => {}
            Item::Comment(text) => {
                let Some(found) = evaluation_in(now.turn(), text) else {
                    continue;
                };
                let key = EvalKey::of(&now);
                if graph.holds(key) {
                    hits += 1;
                    // As seen on the board of the first game that has it.
                    let known = said.entry(key).or_insert_with(|| (now.clone(), Vec::new()));
                    let turned = known.0.turn() != now.turn();
                    let value = if turned { found.0.reversed() } else { found.0 };
                    known.1.push((value, found.1));
                }
            }
        }
    }
    hits
}

/// The value in a comment, from White's view, and its depth or 0.
fn evaluation_in(turn: shakmaty::Color, comment: &str) -> Option<(Value, u16)> {
    let (_, rest) = comment.split_once("[%eval ")?;
    let (text, _) = rest.split_once(']')?;
    let (value, depth) = Value::from_pgn(turn, text.trim())?;
    Some((value, depth.unwrap_or(0)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use crate::book::{Book, OpenOptions};
    use crate::graph::GraphOptions;
    use crate::notation::Line;
    use crate::watch::Watch;

    fn graph() -> BookGraph {
        let book = Book::open("books/tabia.ctg", &OpenOptions::default()).unwrap();
        BookGraph::of(
            &book,
            GraphOptions::default(),
            &mut Watch::default(),
            &mut |_| {},
        )
        .unwrap()
    }

    fn value(table: &EvalTable, moves: &str) -> Option<Value> {
        let line = Line::read("", moves).unwrap();
        table.get(line.last()).map(|evaluation| evaluation.value)
    }

    /// Whatever says it, 1.e4 is good for White and 1.e4 e5 for Black.
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
                    let mut file = EvalFile::open(&side).unwrap();
                    gather(&path, &graph, &mut table, &mut file, &mut Watch::default()).unwrap()
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

    #[test]
    fn of_many_games_the_middle_value_counts() {
        let values = [10, 500, -20, 30, 12].map(|cp| (Value::Cp(cp), 0)).to_vec();
        assert_eq!(median(shakmaty::Color::Black, values).0, Value::Cp(12));
        let deep = vec![(Value::Cp(1), 0), (Value::Cp(7), 20)];
        assert_eq!(median(shakmaty::Color::White, deep), (Value::Cp(7), 20));
    }
}
