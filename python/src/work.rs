//! Makes books from games and from books, with the program's own functions, without the
//! interpreter's lock; Ctrl-C cancels.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tabia_book::convert as converter;
use tabia_build::{self as builder, GameFilter};
use tabia_games::{self as games, GameResult, Month, ParseError, Title};
use tabia_io::atomic::Previous;
use tabia_io::progress::{Progress, Watch};

use crate::error;
use crate::policy::Policy;

/// Does long work without the interpreter's lock, calling `progress`; Ctrl-C and errors
/// of `progress` cancel it.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut Watch<'_>) -> T + Send,
) -> PyResult<T> {
    let (stop, mut failed) = (AtomicBool::new(false), None);
    let done = py.detach(|| {
        let mut report = |now: Progress| {
            // Progress of files is in bytes: their games have not been counted.
            let (done, total) = now.bytes.unwrap_or((now.done, now.total));
            let called = Python::attach(|py| {
                py.check_signals()?;
                let call = progress.map(|progress| progress.call1(py, (now.stage, done, total)));
                call.transpose()
            });
            if let Err(error) = called {
                failed.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
        };
        work(&mut Watch::new(&mut report, &stop))
    });
    failed.map_or(Ok(done), Err)
}

/// convert(source, target, *, weights='probability', all=False,
/// keep_never=False, policy=Policy(), force=False, strict=False, progress=None)
/// --
///
/// Converts a book to the format of `target`'s extension: reads .ctg, .bin, .abk, .bkt,
/// .obk and .jsonl, writes .ctg, .bin, .abk, .jsonl, .pgn and .csv.
///
/// `weights` is the source of a move's weight in a .bin: "probability", "games" or
/// "score". `all` writes every form of a position to a .bin, `keep_never` the moves that
/// are never played, with weight 0. An existing file is an error unless `force`; then it
/// becomes a .bak. With `strict` unreadable parts are an error. `progress` is called as
/// progress(stage, done, total), total may be None. Returns the numbers of the new file
/// as a dict.
///
/// >>> import tabia
/// >>> tabia.convert("tabia.ctg", "small.bin")["moves"] > 100
/// True
/// >>> tabia.convert("tabia.ctg", "small.bin")  # doctest: +ELLIPSIS
/// Traceback (most recent call last):
/// ...
/// tabia.errors.WriteError: small.bin: ...
#[pyfunction]
#[pyo3(signature = (source, target, *, weights="probability", all=false, keep_never=false,
    policy=None, force=false, strict=false, progress=None))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: PathBuf,
    target: PathBuf,
    weights: &str,
    all: bool,
    keep_never: bool,
    policy: Option<Policy>,
    force: bool,
    strict: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let job = converter::ConvertJob::new(source, target)
        .weights(match weights {
            "probability" => converter::Weights::Probability,
            "games" => converter::Weights::Games,
            "score" => converter::Weights::Score,
            other => {
                return Err(value_error(
                    "weights",
                    other,
                    "\"probability\", \"games\" or \"score\"",
                ));
            }
        })
        .all_forms(all)
        .keep_never(keep_never)
        .policy(policy.map_or_else(Default::default, Policy::native))
        .old(old(force))
        .strict(strict);
    let done = watched(py, progress.as_ref(), |watch| converter::run(&job, watch))?;
    let done = done.map_err(|error| error::of_conversion(py, &error, &job.target))?;
    let summary = PyDict::new(py);
    summary.set_item("positions", done.positions)?;
    summary.set_item("moves", done.moves)?;
    summary.set_item("games", done.games)?;
    summary.set_item("bytes", done.bytes)?;
    summary.set_item("notices", done.notices)?;
    summary.set_item("notes", done.notes)?;
    Ok(summary)
}

/// build(sources, target, *, max_ply=40, min_games=1, min_elo=None, ...)
/// --
///
/// Makes a .ctg book from games: .pgn (also .gz .zst .bz2 .zip), databases, or folders of
/// them; `sources` is one path or several. The options are those of `tabia build`. An
/// existing file is an error unless `force`; then it becomes a .bak. `progress` is called
/// as progress(stage, done, total). Returns the numbers of the new book as a dict.
///
/// >>> import tabia
/// >>> with open("two.pgn", "w") as file:
/// ...     _ = file.write("1. e4 e5 2. Nf3 1-0\n\n1. e4 c5 0-1\n")
/// >>> tabia.build("two.pgn", "two.ctg", max_ply=2)["games"]
/// 2
/// >>> tabia.open_book("two.ctg").find(tabia.START).games
/// 2
#[pyfunction]
#[pyo3(signature = (sources, target, *, priority=Vec::new(), max_ply=40, min_games=1, min_elo=None,
    both_elo=None, since=None, until=None, player=None, player_colour=None, result=None,
    eco=Vec::new(), elo_band=None, max_elo_diff=None, speeds=Vec::new(), rated=false,
    titles=Vec::new(), not_players=Vec::new(), decisive=false, only=None, eco_relative=None,
    variations=false, annotations=false, setups=false, dedupe=false, threads=None,
    memory=512 << 20, password=None, force=false, progress=None))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn build<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyAny>,
    target: PathBuf,
    priority: Vec<PathBuf>,
    max_ply: usize,
    min_games: u32,
    min_elo: Option<u16>,
    both_elo: Option<u16>,
    since: Option<u16>,
    until: Option<u16>,
    player: Option<String>,
    player_colour: Option<&str>,
    result: Option<&str>,
    eco: Vec<String>,
    elo_band: Option<&str>,
    max_elo_diff: Option<u16>,
    speeds: Vec<String>,
    rated: bool,
    titles: Vec<String>,
    not_players: Vec<String>,
    decisive: bool,
    only: Option<&str>,
    eco_relative: Option<usize>,
    variations: bool,
    annotations: bool,
    setups: bool,
    dedupe: bool,
    threads: Option<usize>,
    memory: u64,
    password: Option<String>,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let paths = match sources.extract::<PathBuf>() {
        Ok(path) => vec![path],
        Err(_) => sources
            .try_iter()?
            .map(|path| path?.extract())
            .collect::<PyResult<Vec<PathBuf>>>()?,
    };
    let marked = priority
        .into_iter()
        .map(|path| builder::Source::new(path).priority(true));
    let plain = paths.into_iter().map(builder::Source::new);
    let mut filter = GameFilter::default();
    filter.min_elo = min_elo;
    filter.both_elo = both_elo;
    filter.since = since.map(|year| Month::new(year, 1));
    filter.until = until.map(|year| Month::new(year, 12));
    filter.player = player;
    filter.colour = player_colour
        .map(|text| colour("player_colour", text))
        .transpose()?;
    filter.result = result.map(game_result).transpose()?;
    filter.eco = parsed("eco", &eco)?;
    filter.elo_band = elo_band
        .map(|text| {
            text.parse()
                .map_err(|error: ParseError| value_error("elo_band", text, &error.to_string()))
        })
        .transpose()?;
    filter.max_elo_diff = max_elo_diff;
    filter.speeds = parsed("speeds", &speeds)?;
    filter.rated = rated;
    filter.titles = titles
        .iter()
        .map(|text| title(text))
        .collect::<PyResult<_>>()?;
    filter.not_players = not_players;
    filter.decisive = decisive;
    let usual = builder::BuildJob::new(marked.chain(plain).collect(), target);
    let threads = threads.unwrap_or(usual.threads).max(1);
    let job = usual
        .filter(filter)
        .old(old(force))
        .password(password)
        .max_ply(max_ply)
        .eco_relative(eco_relative)
        .only(only.map(|text| colour("only", text)).transpose()?)
        .min_games(min_games)
        .variations(variations)
        .annotations(annotations)
        .setups(setups)
        .dedupe(dedupe)
        .threads(threads)
        .memory(memory);
    let done = watched(py, progress.as_ref(), |watch| builder::run(&job, watch))?;
    let done = done.map_err(|error| error::not_made(py, &error.to_string(), &job.target))?;
    let summary = PyDict::new(py);
    for (name, value) in [
        ("games", done.games),
        ("positions", done.written.positions),
        ("moves", done.written.moves),
        ("bytes", done.written.bytes),
        ("read", done.tally.read),
        ("filtered", done.tally.filtered),
        ("duplicates", done.duplicates),
        ("skipped", done.tally.skipped),
        ("cut", done.tally.cut),
        ("left_out", done.tally.left_out),
        ("unstorable", done.unstorable),
    ] {
        summary.set_item(name, value)?;
    }
    Ok(summary)
}

fn old(force: bool) -> Previous {
    if force {
        Previous::Keep
    } else {
        Previous::default()
    }
}

fn value_error(name: &str, text: &str, wanted: &str) -> PyErr {
    PyValueError::new_err(format!("{name}={text:?}: {wanted}"))
}

fn colour(name: &str, text: &str) -> PyResult<shakmaty::Color> {
    text.parse()
        .map_err(|_| value_error(name, text, "\"white\" or \"black\""))
}

fn game_result(text: &str) -> PyResult<GameResult> {
    match GameResult::from_pgn(text.as_bytes()) {
        GameResult::Unknown if text != "*" => {
            Err(value_error("result", text, "1-0, 0-1 or 1/2-1/2"))
        }
        result => Ok(result),
    }
}

fn title(text: &str) -> PyResult<Title> {
    let found = games::title(text.as_bytes()).filter(|title| *title != Title::default());
    found.ok_or_else(|| value_error("titles", text, "a title as GM, IM, WGM or BOT"))
}

fn parsed<T: std::str::FromStr>(name: &str, texts: &[String]) -> PyResult<Vec<T>>
where
    T::Err: std::fmt::Display,
{
    let parse = |text: &String| {
        text.parse()
            .map_err(|error: T::Err| value_error(name, text, &error.to_string()))
    };
    texts.iter().map(parse).collect()
}
