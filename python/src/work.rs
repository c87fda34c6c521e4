//! Makes books from games and from books, with the program's own functions, without the
//! interpreter's lock; Ctrl-C cancels.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use tabia_book::convert as converter;
use tabia_book::ctg::{CtgBook, OpenOptions, RewriteOptions, Salvage};
use tabia_book::mark::{self as marks, Filter, MarkJob, MarkTarget, Selection, words};
use tabia_book::{Annotation, BookEditor, EditOptions, MarkEdit, ctg};
use tabia_build::{self as builder, GameFilter, PolyglotRule, Product};
use tabia_games::{FilterOption, ParseError, Takes, TextEncoding, ValueKind};
use tabia_io::atomic::{self, Previous, TempFolder};
use tabia_io::input::path::has_extension;
use tabia_io::parallel::MOST_THREADS;
use tabia_io::progress::{Progress, Watch};
use tabia_notation::Line;
use tabia_notation::kind::{BookKind, Kind};

use crate::error;
use crate::policy::{Policy, unknown_argument};

/// The endings of the names of game files, in lower case.
#[pyfunction]
pub fn game_endings() -> Vec<&'static str> {
    tabia_games::game_endings().collect()
}

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

/// Warns of what could not be read of a book.
fn warn_of(py: Python<'_>, unread: &Salvage) -> PyResult<()> {
    for text in unread.messages.iter().chain(&unread.parts) {
        let warning = py.import("tabia.errors")?.getattr("BookWarning")?;
        PyErr::warn(py, &warning, &CString::new(&**text).unwrap_or_default(), 1)?;
    }
    Ok(())
}

/// convert(source, target, *, weights='probability', all=False, keep_never=False,
/// policy=Policy(), max_ply=None, min_games=None, lines=False, report=None,
/// game_moves=None, comments=None, force=False, strict=False, progress=None)
/// --
///
/// Converts a book to the format of `target`'s extension: reads .ctg, .bin, .abk, .bkt,
/// .obk and .jsonl, writes .ctg, .bin, .abk, .jsonl, .pgn and .csv.
///
/// `weights` is the source of a move's weight in a .bin: "probability", "games" or
/// "score". `all` writes every form of a position to a .bin, `keep_never` the moves that
/// are never played, with weight 0. `max_ply` to `comments` are those of `tabia convert`
/// for a .pgn; `comments` is "none", "short" or "full". An existing file is an error unless `force`; then it
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
    policy=None, max_ply=None, min_games=None, lines=false, report=None, game_moves=None,
    comments=None, force=false, strict=false, progress=None))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: PathBuf,
    target: PathBuf,
    weights: &str,
    all: bool,
    keep_never: bool,
    policy: Option<Policy>,
    max_ply: Option<u32>,
    min_games: Option<u32>,
    lines: bool,
    report: Option<PathBuf>,
    game_moves: Option<u32>,
    comments: Option<&str>,
    force: bool,
    strict: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let usual = converter::PgnOptions::default();
    let fewest = if lines {
        converter::LINE_GAMES
    } else {
        usual.min_games
    };
    let pgn = usual
        .plies(max_ply.unwrap_or(usual.plies))
        .min_games(min_games.unwrap_or(fewest))
        .lines(lines)
        .game_moves(game_moves.unwrap_or(usual.game_moves))
        .comments(match comments {
            None | Some("full") => converter::Comments::Full,
            Some("short") => converter::Comments::Short,
            Some("none") => converter::Comments::None,
            Some(other) => {
                let wanted = "\"none\", \"short\" or \"full\"";
                return Err(value_error("comments", other, wanted));
            }
        });
    let is_typed = pgn != usual || [max_ply, min_games, game_moves].iter().any(Option::is_some);
    if (is_typed || report.is_some() || comments.is_some()) && !has_extension(&target, "pgn") {
        return Err(PyValueError::new_err(
            "max_ply, min_games, lines, report, game_moves and comments are for a .pgn; `tabia \
             convert` shortens other books",
        ));
    }
    if report.is_some() && !lines {
        return Err(PyValueError::new_err("report is for lines=True"));
    }
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
        .pgn(pgn)
        .report(report)
        .old(old(force))
        .strict(strict);
    let done = watched(py, progress.as_ref(), |watch| converter::run(&job, watch))?;
    let done = done.map_err(|error| error::of_conversion(py, &error, &job.target))?;
    warn_of(py, &done.salvage)?;
    let mut notes = done.salvage.notes();
    notes.extend(done.notes);
    let summary = PyDict::new(py);
    summary.set_item("positions", done.positions)?;
    summary.set_item("moves", done.moves)?;
    summary.set_item("games", done.games)?;
    summary.set_item("bytes", done.bytes)?;
    summary.set_item("notices", done.notices)?;
    summary.set_item("notes", notes)?;
    Ok(summary)
}

/// build(sources, target, *, max_ply=40, min_games=1, ..., **conditions)
/// --
///
/// Makes a .ctg or .bin book from games: .pgn (also .gz .zst .bz2 .zip), databases, or
/// folders of them; or .ctg books, to whose numbers the games are added. `sources` is one path or
/// several. The options are those of `tabia
/// build`; `conditions` are those on games, such as min_elo=2400, since=2020, titles=["GM"].
/// An existing file is an error unless `force`; then it becomes a .bak. `progress` is called
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
#[pyo3(signature = (sources, target, *, priority=Vec::new(), max_ply=40, min_games=1, only=None,
    eco_relative=None, variations=false, annotations=false, setups=false, dedupe=false,
    uniform=false, min_score=None, threads=None, memory=512 << 20, temp=None, password=None,
    encoding=None, force=false, progress=None, **conditions))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn build<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyAny>,
    target: PathBuf,
    priority: Vec<PathBuf>,
    max_ply: usize,
    min_games: u32,
    only: Option<&str>,
    eco_relative: Option<usize>,
    variations: bool,
    annotations: bool,
    setups: bool,
    dedupe: bool,
    uniform: bool,
    min_score: Option<f64>,
    threads: Option<usize>,
    memory: u64,
    temp: Option<PathBuf>,
    password: Option<String>,
    encoding: Option<&str>,
    force: bool,
    progress: Option<Py<PyAny>>,
    conditions: Option<&Bound<'py, PyDict>>,
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
    let filter = filter(py, conditions)?;
    let product = product(&target, uniform, min_score)?;
    let is_book = |path: &PathBuf| {
        product == Product::Book && Kind::of_file(path) == Some(Kind::Book(BookKind::Ctg))
    };
    let (books, paths): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(is_book);
    let plain = paths.into_iter().map(builder::Source::new);
    if product != Product::Book && (variations || annotations || marked.len() > 0) {
        return Err(PyValueError::new_err(
            "variations, annotations and priority are for a .ctg book: a .bin has only moves of \
             games and their weights",
        ));
    }
    let usual = builder::BuildJob::new(marked.chain(plain).collect(), target).product(product);
    let threads = threads.unwrap_or(usual.threads).max(1);
    if threads > MOST_THREADS.into() {
        let wanted = format!("1 to {MOST_THREADS}");
        return Err(value_error("threads", &threads.to_string(), &wanted));
    }
    let job = usual
        .filter(filter)
        .old(old(force))
        .password(password)
        .encoding(encoding.map(text_encoding).transpose()?)
        .temp(temp)
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
    let done = match books.is_empty() {
        true => {
            let done = watched(py, progress.as_ref(), |watch| builder::run(&job, watch))?;
            done.map_err(|error| error::of_build(py, &error, &job.target))?
        }
        false => add_to_books(py, job, books, progress.as_ref())?,
    };
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
        ("cut_sources", done.tally.cut_sources),
        ("left_out", done.tally.left_out),
        ("unstorable", done.unstorable),
    ] {
        summary.set_item(name, value)?;
    }
    Ok(summary)
}

/// Adds the games to books, as `tabia build` does.
fn add_to_books(
    py: Python<'_>,
    mut job: builder::BuildJob,
    mut books: Vec<PathBuf>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<builder::Summary> {
    let target = job.target.clone();
    let failed = |error| error::of_conversion(py, &error, &target);
    atomic::check(&target, &["cto", "ctb"], job.old).map_err(|error| failed(error.into()))?;
    if job.min_games > 1 && books.iter().any(|book| *book != target) {
        return Err(PyValueError::new_err(
            "min_games: a .ctg source does not say how often each of its moves was played",
        ));
    }
    for book in &books {
        let opened = CtgBook::open(book, &OpenOptions::default());
        let side = opened.map_err(|error| error::of_book(py, &error))?.only();
        if *book == target {
            job.only = job.only.or(side);
        }
        if job
            .only
            .is_some_and(|only| side != Some(only) && (*book != target || side.is_some()))
        {
            let text = format!("only: {} is for another side, or both", book.display());
            return Err(PyValueError::new_err(text));
        }
    }
    let beside = TempFolder::beside(&target);
    let beside = beside.map_err(|error| error::not_made(py, &error.to_string(), &target))?;
    let options = RewriteOptions::default()
        .old(job.old)
        .memory(job.memory)
        .whole(books.contains(&target));
    let mut done = builder::Summary::default();
    if !job.sources.is_empty() {
        job.target = beside.path().join("games.ctg");
        done = watched(py, progress, |watch| builder::run(&job, watch))?
            .map_err(|error| error::of_build(py, &error, &target))?;
        books.push(job.target);
    }
    let sum = watched(py, progress, |watch| {
        ctg::merge(&target, &books, &options, watch)
    })?;
    let sum = sum.map_err(failed)?;
    warn_of(py, &sum.salvage)?;
    (done.games, done.written) = (sum.games.into(), sum.written);
    Ok(done)
}

/// undo_mark(book, *, dry_run=False)
/// --
///
/// Undoes the last `mark`, as `tabia mark --undo`, unless the book was changed since. Returns
/// the number of marks.
///
/// >>> import tabia
/// >>> _ = tabia.mark("tabia.ctg", "d4", mark="main")
/// >>> tabia.undo_mark("tabia.ctg")
/// 1
#[pyfunction]
#[pyo3(signature = (book, *, dry_run=false))]
pub(crate) fn undo_mark(py: Python<'_>, book: PathBuf, dry_run: bool) -> PyResult<u64> {
    let options = EditOptions::default().dry_run(dry_run);
    py.detach(|| BookEditor::undo(&book, &options, dry_run))
        .map_err(|error| error::of_conversion(py, &error, &book))
}

/// verify(book, *, progress=None)
/// --
///
/// Checks every byte of a .ctg book and its index: the object of `tabia verify --json`, as a
/// dict. `problems` has each one with `file`, `page`, `offset`, `kind` and `text`.
///
/// >>> import tabia
/// >>> tabia.verify("tabia.ctg")["problems"]
/// []
#[pyfunction]
#[pyo3(signature = (book, *, progress=None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    book: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut problems = Vec::new();
    let mut found = |problem| problems.push(problem);
    let verified = watched(py, progress.as_ref(), |watch| {
        ctg::verify(&book, true, watch, &mut found)
    })?;
    let verified = verified.map_err(|error| error::of_book(py, &error))?;
    let list = PyList::empty(py);
    for problem in &problems {
        let entry = PyDict::new(py);
        entry.set_item("file", problem.file.display().to_string())?;
        entry.set_item("page", problem.page)?;
        entry.set_item("offset", problem.offset)?;
        entry.set_item("kind", problem.kind.as_str())?;
        entry.set_item("text", &problem.text)?;
        list.append(entry)?;
    }
    let summary = PyDict::new(py);
    summary.set_item("problems", list)?;
    summary.set_item("positions", verified.positions)?;
    summary.set_item("moves", verified.moves)?;
    summary.set_item("pages", verified.pages)?;
    summary.set_item("problem_count", verified.problems)?;
    summary.set_item("notes", verified.notes)?;
    Ok(summary)
}

/// mark(book, moves='', *, fen='', mark=None, annotation=None, learn_value=None,
/// commentary=None, weight=None, clear=False, clean=False, where=None, colour=None,
/// all=False, dry_run=False, strict=False, progress=None)
/// --
///
/// Changes marks of a book in place: of the last of `moves` ("1.e4 c5"), of the position
/// `fen`, or of the moves of the whole book that `where` ("games<10") and `colour` choose,
/// or of `all`. `mark` is "main", "avoid" or "none"; `annotation` "!", "??" or another
/// symbol; `clean` removes what no program uses. Returns how many moves or positions were chosen, and how many marks changed.
///
/// >>> import tabia
/// >>> tabia.mark("tabia.ctg", "d4", mark="main", annotation="!")["chosen"]
/// 1
/// >>> tabia.open_book("tabia.ctg").find(tabia.START).mark
/// 'main'
/// >>> tabia.mark("tabia.ctg", where="games<0", learn_value=-20, dry_run=True)["changes"]
/// 0
#[pyfunction]
#[pyo3(signature = (book, moves="", *, fen="", mark=None, annotation=None, learn_value=None,
    commentary=None, weight=None, clear=false, clean=false, r#where=None, colour=None, all=false,
    dry_run=false, strict=false, progress=None))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
pub(crate) fn mark<'py>(
    py: Python<'py>,
    book: PathBuf,
    moves: &str,
    fen: &str,
    mark: Option<&str>,
    annotation: Option<&str>,
    learn_value: Option<i8>,
    commentary: Option<&str>,
    weight: Option<u16>,
    clear: bool,
    clean: bool,
    r#where: Option<&str>,
    colour: Option<&str>,
    all: bool,
    dry_run: bool,
    strict: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut edit = match clear {
        true => MarkEdit::clear(),
        false => MarkEdit::default(),
    };
    if let Some(text) = mark {
        let mark = words::mark(text);
        edit.recommendation =
            Some(mark.ok_or_else(|| value_error("mark", text, "\"main\", \"avoid\" or \"none\""))?);
    }
    if let Some(text) = annotation {
        let symbol = Annotation::from_symbol(text);
        edit.annotation = Some(symbol.ok_or_else(|| {
            value_error(
                "annotation",
                text,
                "! ? !! ?? !? ?! none, or a NAG number below 32",
            )
        })?);
    }
    if let Some(text) = commentary {
        let number = words::commentary(text);
        edit.commentary = Some(number.ok_or_else(|| {
            value_error(
                "commentary",
                text,
                "none, a NAG number or one of = += =+ +/- -/+ +- -+",
            )
        })?);
    }
    if let Some(value) = learn_value {
        if !(-125..=125).contains(&value) {
            return Err(value_error(
                "learn_value",
                &value.to_string(),
                "-125 to 125",
            ));
        }
        edit.learn_value = Some(value);
    }
    (edit.weight, edit.clean) = (weight, clean);
    if edit == MarkEdit::default() {
        return Err(PyValueError::new_err(
            "nothing to do: give mark, annotation, learn_value, commentary, weight, clear or clean",
        ));
    }
    let filter = r#where.map(|text| {
        Filter::parse(text).map_err(|error| value_error("where", text, &error.to_string()))
    });
    let selection = Selection::default()
        .edit(edit)
        .filter(filter.transpose()?)
        .colour(
            colour
                .map(|text| self::colour("colour", text))
                .transpose()?,
        );
    let line =
        Line::read(fen, moves).map_err(|error| error::no_position(py, &error.to_string()))?;
    let is_free = selection.filter.is_none() && selection.colour.is_none();
    let named = !moves.is_empty() || !fen.is_empty();
    let target = match (line.plies(), fen.is_empty()) {
        _ if named && (all || !is_free) => {
            let text = "either moves or fen, or where, colour or all of the whole book";
            return Err(PyValueError::new_err(text));
        }
        (1.., _) => MarkTarget::Moves(vec![line]),
        (_, false) => MarkTarget::Position(line),
        _ if is_free && !all => {
            let text = "name the moves: moves, fen, where, colour, or all=True for the whole book";
            return Err(PyValueError::new_err(text));
        }
        _ if selection.is_one_sided() => {
            let text = "commentary: an advantage can be given to one position or line only";
            return Err(PyValueError::new_err(text));
        }
        _ => MarkTarget::Book,
    };
    if matches!(target, MarkTarget::Position(_)) && annotation.is_some() {
        return Err(PyValueError::new_err(
            "annotation is for a move: name it with moves",
        ));
    }
    let job = MarkJob::new(target, selection)
        .dry_run(dry_run)
        .strict(strict)
        .undoable(true);
    let edit = job.selection.edit;
    let options = EditOptions::default().dry_run(dry_run);
    let done = watched(py, progress.as_ref(), |watch| {
        let editor = BookEditor::open_for(&book, &edit, &options)?;
        marks::mark(editor, &job, watch, &mut |_| Ok(()))
    })?;
    let done = done.map_err(|error| error::of_marks(py, &error, &book))?;
    warn_of(py, &done.unread)?;
    let summary = PyDict::new(py);
    summary.set_item("chosen", done.chosen)?;
    summary.set_item("changes", done.changes)?;
    Ok(summary)
}

/// The kind of book, by its name.
fn product(target: &Path, uniform: bool, min_score: Option<f64>) -> PyResult<Product> {
    if has_extension(target, "bin") {
        let min_score = min_score.unwrap_or(0.0);
        if !(0.0..=100.0).contains(&min_score) {
            return Err(value_error(
                "min_score",
                &min_score.to_string(),
                "0 to 100 per cent",
            ));
        }
        let rule = PolyglotRule::default();
        return Ok(Product::Polyglot(
            rule.uniform(uniform).min_score(min_score),
        ));
    }
    match uniform || min_score.is_some() {
        true => Err(PyValueError::new_err(
            "uniform and min_score are for a .bin book",
        )),
        false => Ok(Product::Book),
    }
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

fn text_encoding(name: &str) -> PyResult<TextEncoding> {
    name.parse()
        .map_err(|error: ParseError| value_error("encoding", name, &error.to_string()))
}

/// The conditions on games, by the table of [`GameFilter`].
fn filter(py: Python<'_>, conditions: Option<&Bound<'_, PyDict>>) -> PyResult<GameFilter> {
    let mut filter = GameFilter::default();
    for (key, value) in conditions.into_iter().flatten() {
        let key: String = key.extract()?;
        let options = GameFilter::OPTIONS;
        let Some(option) = options.iter().find(|option| option.key == key) else {
            let keys: Vec<&str> = options.iter().map(|option| option.key).collect();
            return Err(unknown_argument(py, "build", &key, &keys)?);
        };
        if value.is_none() {
            continue;
        }
        for text in texts(option, &value)? {
            filter
                .set(option.condition, &text)
                .map_err(|error| value_error(&key, &text, &error.to_string()))?;
        }
    }
    match (filter.colour, &filter.player) {
        (Some(_), None) => Err(PyValueError::new_err(
            "player_colour is that of a player: name it with player; only=\"white\" stores the \
             moves of one side",
        )),
        _ => Ok(filter),
    }
}

/// The values of a condition, as they are typed.
fn texts(option: &FilterOption, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let wrong = |expected: &str| {
        let shown = value.repr().map(|shown| shown.to_string());
        let shown = shown.unwrap_or_default();
        PyTypeError::new_err(format!("{}={shown}: {expected}", option.key))
    };
    let text = |value: &Bound<'_, PyAny>| match option.value {
        ValueKind::Number => {
            let number = value.extract::<i64>();
            number
                .map(|number| number.to_string())
                .map_err(|_| wrong("an int"))
        }
        ValueKind::Month => match value.extract::<i64>() {
            Ok(year) => Ok(year.to_string()),
            Err(_) => value.extract().map_err(|_| wrong("an int or a str")),
        },
        ValueKind::Words(_) | ValueKind::Name | ValueKind::Text => {
            value.extract().map_err(|_| wrong("a str"))
        }
    };
    match option.takes {
        Takes::Nothing => {
            let is_set = value.extract::<bool>().map_err(|_| wrong("a bool"))?;
            Ok(is_set.then(String::new).into_iter().collect())
        }
        Takes::One => Ok(vec![text(value)?]),
        // A text is a sequence too, of its letters.
        Takes::List | Takes::Each if value.is_instance_of::<PyString>() => Err(wrong("a sequence")),
        Takes::List | Takes::Each => {
            let values = value.try_iter().map_err(|_| wrong("a sequence"))?;
            values.map(|value| text(&value?)).collect()
        }
    }
}
