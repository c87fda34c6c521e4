//! An open book.
//!
//! A `.bin` is read entry by entry ([`bin`]); the crate's own reader is used only for
//! functions that python-chess does not have.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use shakmaty::{CastlingMode, Chess, Position as _};
use tabia_book::bin::ENTRY_BYTES;
use tabia_book::evals::{self, EvalTable, EvaluatedBook, evaluate_moves};
use tabia_book::policy::{self, Rules, Weighed, choose};
use tabia_book::polyglot::{self, PackedMove};
use tabia_book::view::PositionView;
use tabia_book::{
    Book, BookMove, Error, Format, Lookup, OpenOptions, Probe as _, Wanted, pending_changes,
};
use tabia_io::input::file::DataFile;

use crate::bin;
use crate::board::{self, Asked};
use crate::entry::{Entry, Fields, Known, RawMove, packed_learn};
use crate::error;
use crate::found::Found;
use crate::policy::Policy;
use crate::positions::Positions;

/// An open book, which [`tabia._book.Book`] wraps.
#[pyclass(frozen, module = "tabia._native")]
pub(crate) struct NativeBook {
    /// `None` after it was closed.
    inner: Mutex<Option<Arc<Inner>>>,
}

struct Inner {
    source: Source,
    weights: Weights,
    /// The file of evaluations for the book, which may not exist.
    beside: PathBuf,
    /// The evaluations, read when first needed.
    evaluations: OnceLock<Result<Arc<EvalTable>, Error>>,
}

enum Source {
    Bin {
        file: DataFile,
        /// The same file as the crate reads it, which looks at all entries first: so not before
        /// it is needed. It is open from the beginning, as the path may be another file's then.
        book: LazyLock<Result<Arc<Book>, Error>, Opening>,
    },
    Other {
        book: Arc<Book>,
        /// Its moves sorted by key, collected when first needed.
        rows: OnceLock<Result<Vec<Fields>, Error>>,
    },
}

type Opening = Box<dyn FnOnce() -> Result<Arc<Book>, Error> + Send + Sync>;

/// The source of a move's weight.
#[derive(Clone, Copy)]
enum Weights {
    Probability,
    Games,
    Score,
}

#[pymethods]
impl NativeBook {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, weights: &str) -> PyResult<NativeBook> {
        let weights = match weights {
            "probability" => Weights::Probability,
            "games" => Weights::Games,
            "score" => Weights::Score,
            other => {
                let text = format!("weights={other:?}: \"probability\", \"games\" or \"score\"");
                return Err(PyValueError::new_err(text));
            }
        };
        let source = py
            .detach(|| Source::open(&path))
            .map_err(|error| error::of_book(py, &error))?;
        if let Source::Bin { file, .. } = &source
            && file.len() % ENTRY_BYTES as u64 != 0
        {
            let text = format!(
                "invalid file size: ensure '{}' is a valid polyglot opening book",
                path.display()
            );
            return Err(error::no_book(py, &path, &text));
        }
        // They are read later, perhaps from another working directory.
        let absolute = std::path::absolute(&path).unwrap_or(path);
        let inner = Inner {
            source,
            weights,
            beside: evals::beside(&absolute),
            evaluations: OnceLock::new(),
        };
        Ok(NativeBook {
            inner: Mutex::new(Some(Arc::new(inner))),
        })
    }

    /// The format: "ctg", "bin", "abk", "bkt" or "obk".
    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(match &self.inner()?.source {
            Source::Bin { .. } => Format::Bin.as_str(),
            Source::Other { book, .. } => book.format().as_str(),
        })
    }

    /// Problems of the files, one sentence each.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let inner = self.inner()?;
        Ok(inner.book(py)?.notices().to_vec())
    }

    /// The entries of a position with at least this weight, looked up when the first is
    /// needed. `user._skip` gets the errors of damaged ones.
    fn find(
        slf: Bound<'_, NativeBook>,
        asked: Py<PyAny>,
        policy: Policy,
        minimum_weight: f64,
        user: Py<PyAny>,
    ) -> Found {
        Found::new(slf.unbind(), asked, policy, minimum_weight, user)
    }

    /// All these entries at once.
    pub(crate) fn entries(
        &self,
        py: Python<'_>,
        asked: &Bound<'_, PyAny>,
        policy: Policy,
        minimum_weight: f64,
    ) -> PyResult<Vec<Entry>> {
        let mut entries = self.all_entries(py, asked, policy)?;
        entries.retain(|entry| entry.reaches(minimum_weight));
        Ok(entries)
    }

    /// The entry with the greatest weight, the first among equals.
    fn best(
        &self,
        py: Python<'_>,
        asked: &Bound<'_, PyAny>,
        policy: Policy,
        minimum_weight: f64,
    ) -> PyResult<Option<Entry>> {
        let entries = self.entries(py, asked, policy, minimum_weight)?;
        Ok(entries.into_iter().reduce(|best, next| {
            if next.weight() > best.weight() {
                next
            } else {
                best
            }
        }))
    }

    /// The object of `tabia probe --json`, as text.
    fn probe(&self, py: Python<'_>, asked: &Bound<'_, PyAny>, policy: Policy) -> PyResult<String> {
        let inner = self.inner()?;
        let Asked::Position { position, .. } = board::read_whole(asked)? else {
            return Err(PyTypeError::new_err(
                "probe() takes a position of standard chess: a chess.Board or a FEN",
            ));
        };
        let book = inner.book(py)?;
        let rules = Rules::default().policy(policy.native());
        let evaluations = inner.evaluations(py)?;
        let played = EvaluatedBook::new(Arc::clone(book) as _, Arc::clone(evaluations));
        let found =
            choose(&played, &position, &[], &rules).map_err(|error| error::of_book(py, &error))?;
        let view = PositionView::new(&position, &found)
            .with_games_of(&played, &position, &found)
            .map_err(|error| error::of_book(py, &error))?;
        serde_json::to_string(&view).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The FENs of all positions.
    fn positions(&self, py: Python<'_>) -> PyResult<Positions> {
        Positions::new(Arc::clone(self.inner()?.book(py)?))
    }

    /// The number of entries; not of a .ctg.
    fn len(&self, py: Python<'_>) -> PyResult<u64> {
        self.inner()?.len(py)
    }

    /// The entry at `index`.
    fn at(&self, py: Python<'_>, index: u64) -> PyResult<Entry> {
        let inner = self.inner()?;
        if let Source::Bin { file, .. } = &inner.source {
            let fields = bin::view(py, file).and_then(|view| {
                bin::fields_at(&view, index).map_err(|error| bin::unreadable(py, file, &error))
            })?;
            let fields = fields.ok_or_else(|| PyIndexError::new_err(()))?;
            return Ok(Entry::new(fields, None));
        }
        let rows = inner.rows(py)?;
        let row = usize::try_from(index)
            .ok()
            .and_then(|index| rows.get(index));
        Ok(Entry::new(
            *row.ok_or_else(|| PyIndexError::new_err(()))?,
            None,
        ))
    }

    /// The index of the first entry whose key is not less than `key`.
    fn bisect(&self, py: Python<'_>, key: u64) -> PyResult<u64> {
        let inner = self.inner()?;
        match &inner.source {
            Source::Bin { file, .. } => {
                let view = bin::view(py, file)?;
                bin::lower_bound(file, &view, key)
                    .map_err(|error| bin::unreadable(py, file, &error))
            }
            Source::Other { .. } => Ok(inner.rows(py)?.partition_point(|row| row.key < key) as u64),
        }
    }

    /// Closes the files.
    fn close(&self) {
        self.inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

impl NativeBook {
    /// All entries of a position, with any weight.
    fn all_entries(
        &self,
        py: Python<'_>,
        asked: &Bound<'_, PyAny>,
        policy: Policy,
    ) -> PyResult<Vec<Entry>> {
        let inner = self.inner()?;
        Ok(match (&inner.source, board::read(asked)?) {
            (Source::Bin { file, .. }, Asked::Position { position, mode }) => {
                let evaluations = inner.evaluations_for(py, policy)?;
                bin::stored_for(py, file, &position, mode, policy, evaluations)?
            }
            (Source::Bin { file, .. }, Asked::Foreign(board)) => {
                bin::stored_for_board(py, file, &board)?
            }
            (Source::Bin { file, .. }, Asked::Key(key)) => bin::stored(py, file, key)?
                .iter()
                .map(|fields| Entry::new(*fields, None))
                .collect(),
            (Source::Other { book, .. }, Asked::Position { position, mode }) => {
                let evaluations = inner.evaluations_for(py, policy)?;
                let rows = inner
                    .weighed(book, &position, evaluations.as_deref(), policy.native())
                    .map_err(|error| error::of_book(py, &error))?;
                let fields = rows.iter().map(|row| row.fields(&position, mode));
                let fields: Vec<Option<Fields>> = fields.collect();
                let weighed = rows.into_iter().map(|row| (row.entry, row.verdict)).unzip();
                let known = Arc::new(Known::weighed(position.turn(), mode, weighed));
                let entry = |fields| Entry::new(fields, Some(Arc::clone(&known)));
                fields.into_iter().flatten().map(entry).collect()
            }
            (Source::Other { .. }, Asked::Foreign(_)) => Vec::new(),
            (Source::Other { .. }, Asked::Key(key)) => {
                let rows = inner.rows(py)?;
                let Some(key) = key else {
                    return Ok(Vec::new());
                };
                let first = rows.partition_point(|row| row.key < key);
                let rows = rows.get(first..).unwrap_or_default().iter();
                rows.take_while(|row| row.key == key)
                    .map(|row| Entry::new(*row, None))
                    .collect()
            }
        })
    }

    fn inner(&self) -> PyResult<Arc<Inner>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // The same text as in python-chess.
        inner
            .clone()
            .ok_or_else(|| PyValueError::new_err("mmap closed or invalid"))
    }
}

impl Source {
    fn open(path: &Path) -> Result<Source, Error> {
        let named_bin = path
            .extension()
            .is_some_and(|own| own.eq_ignore_ascii_case("bin"));
        let format = Format::recognize(path);
        // A missing file, or an empty one, which python-chess accepts as a book.
        let is_nothing = || path.metadata().map_or(true, |file| file.len() == 0);
        if matches!(format, Ok(Format::Bin)) || named_bin && is_nothing() {
            let open = || DataFile::open_mapped(path).map_err(|error| Error::io(path, error));
            let (file, again) = (open()?, open()?);
            let notices = pending_changes(path);
            let opening = move || {
                let book = Book::from_files([again])?;
                Ok(Arc::new(book.with_notices(notices)))
            };
            return Ok(Source::Bin {
                file,
                book: LazyLock::new(Box::new(opening)),
            });
        }
        format?;
        let book = Book::open(path, &OpenOptions::default())?;
        Ok(Source::Other {
            book: Arc::new(book),
            rows: OnceLock::new(),
        })
    }
}

impl Inner {
    /// The evaluations for the book; empty if there is no file.
    fn evaluations(&self, py: Python<'_>) -> PyResult<&Arc<EvalTable>> {
        let read = || evals::read(&self.beside).map(|read| Arc::new(read.table));
        py.detach(|| self.evaluations.get_or_init(read))
            .as_ref()
            .map_err(|error| error::of_book(py, error))
    }

    /// The evaluations, if the policy uses them.
    fn evaluations_for(&self, py: Python<'_>, policy: Policy) -> PyResult<Option<Arc<EvalTable>>> {
        match policy.judges() {
            true => Ok(Some(Arc::clone(self.evaluations(py)?))),
            false => Ok(None),
        }
    }

    fn book(&self, py: Python<'_>) -> PyResult<&Arc<Book>> {
        match &self.source {
            Source::Other { book, .. } => Ok(book),
            Source::Bin { book, .. } => py
                .detach(|| LazyLock::force(book))
                .as_ref()
                .map_err(|error| error::of_book(py, error)),
        }
    }

    fn len(&self, py: Python<'_>) -> PyResult<u64> {
        match &self.source {
            Source::Bin { file, .. } => Ok(file.len() / ENTRY_BYTES as u64),
            Source::Other { .. } => Ok(self.rows(py)?.len() as u64),
        }
    }

    /// All moves by key: only for a book that is small enough, and that stores positions
    /// as they are on the board.
    fn rows(&self, py: Python<'_>) -> PyResult<&[Fields]> {
        let Source::Other { book, rows } = &self.source else {
            return Ok(&[]);
        };
        if book.format().stores_positions() {
            return Err(PyTypeError::new_err(
                "a .ctg book is looked up by position: give a chess.Board or a FEN",
            ));
        }
        let collected = py.detach(|| rows.get_or_init(|| self.collect(book)));
        collected
            .as_deref()
            .map_err(|error| error::of_book(py, error))
    }

    fn collect(&self, book: &Book) -> Result<Vec<Fields>, Error> {
        let mut all = Vec::new();
        for here in book.positions() {
            let position = here?.position;
            let policy = tabia_book::policy::Policy::default();
            let moves = self.weighed(book, &position, None, policy)?;
            all.extend(
                moves
                    .iter()
                    .filter_map(|found| found.fields(&position, CastlingMode::Standard)),
            );
        }
        all.sort_by_key(|row: &Fields| row.key);
        Ok(all)
    }

    /// The moves of a position, greatest weight first.
    fn weighed(
        &self,
        book: &Book,
        position: &Chess,
        evaluations: Option<&EvalTable>,
        policy: tabia_book::policy::Policy,
    ) -> Result<Vec<Row>, Error> {
        let mut found = Lookup::default();
        book.probe(position, Wanted::Transpositions, &mut found)?;
        if let Some(evaluations) = evaluations {
            evaluate_moves(evaluations, position, &mut found.moves);
        }
        let mut verdicts = Vec::new();
        policy::weigh(&found.moves, &policy, |_| None, &mut verdicts);
        let value = |entry: &BookMove, verdict: &Weighed| {
            let stats = entry.stats();
            match self.weights {
                _ if verdict.rejection.is_some() => 0.0,
                Weights::Probability => verdict.probability,
                Weights::Games => f64::from(stats.games),
                Weights::Score => stats.results().half_points() as f64,
            }
        };
        let moves = found.moves.into_iter().zip(verdicts);
        let mut rows: Vec<Row> = moves
            .map(|(entry, verdict)| Row {
                value: value(&entry, &verdict),
                entry,
                verdict,
                weight: 0,
            })
            .collect();
        let largest = rows.iter().map(|row| row.value).fold(0.0, f64::max);
        let most = f64::from(u16::MAX);
        // The same scale as in `tabia convert` to a .bin.
        let scale = match self.weights {
            Weights::Probability => most / largest,
            _ if largest > most => most / largest,
            _ => 1.0,
        };
        for row in &mut rows {
            if row.value > 0.0 {
                row.weight = ((row.value * scale).round() as u32).max(1);
            }
        }
        rows.sort_by(|a, b| {
            let text = |row: &Row| tabia_notation::uci(row.entry.mv);
            let heavier = b.weight.cmp(&a.weight);
            heavier.then_with(|| text(a).cmp(&text(b)))
        });
        Ok(rows)
    }
}

/// A move of a book that is not a .bin.
struct Row {
    entry: BookMove,
    verdict: Weighed,
    value: f64,
    weight: u32,
}

impl Row {
    fn fields(&self, position: &Chess, mode: CastlingMode) -> Option<Fields> {
        Some(Fields {
            key: polyglot::key(position),
            raw: PackedMove::from_move(self.entry.mv).0,
            weight: self.weight,
            learn: packed_learn(&self.entry.stats()),
            mv: RawMove::from_move(self.entry.mv, mode)?,
        })
    }
}
