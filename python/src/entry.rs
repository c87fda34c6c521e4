//! The entries for users.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{IntoPyObjectExt as _, intern};
use shakmaty::{CastlingMode, Chess, Color, Move, Role, Square};
use tabia_book::evals::{EvalTable, evaluate_moves};
use tabia_book::policy::{self, Policy, Weighed};
use tabia_book::{Annotation, BookMove, Mark, Preference, Stats};

/// Data about the moves of a position besides the five fields of their entries, stored
/// once for all entries.
pub(crate) struct Known {
    turn: Color,
    mode: CastlingMode,
    weights: Vec<(Move, u32)>,
    /// Position and evaluations, if the policy uses these.
    evaluations: Option<(Chess, Arc<EvalTable>)>,
    policy: Policy,
    weighed: OnceLock<WeighedMoves>,
}

/// Moves, and a verdict on each.
type WeighedMoves = (Vec<BookMove>, Vec<Weighed>);

impl Known {
    /// From moves with their verdicts, in the same order.
    pub(crate) fn weighed(turn: Color, mode: CastlingMode, weighed: WeighedMoves) -> Known {
        Known {
            turn,
            mode,
            weights: Vec::new(),
            evaluations: None,
            policy: Policy::default(),
            weighed: weighed.into(),
        }
    }

    /// From moves that have only a weight, weighed by a policy.
    pub(crate) fn new(
        turn: Color,
        mode: CastlingMode,
        weights: Vec<(Move, u32)>,
        evaluations: Option<(Chess, Arc<EvalTable>)>,
        policy: Policy,
    ) -> Known {
        Known {
            turn,
            mode,
            weights,
            evaluations,
            policy,
            weighed: OnceLock::new(),
        }
    }

    fn weighed_moves(&self) -> &WeighedMoves {
        self.weighed.get_or_init(|| {
            let moves = self.weights.iter().map(|(mv, weight)| BookMove {
                mv: *mv,
                annotation: Annotation::default(),
                after: None,
                evaluation: None,
                transposition: false,
                preference: Preference::Weight(*weight),
            });
            let mut moves: Vec<BookMove> = moves.collect();
            if let Some((position, evaluations)) = &self.evaluations {
                evaluate_moves(evaluations, position, &mut moves);
            }
            let mut verdicts = Vec::with_capacity(moves.len());
            policy::weigh(&moves, &self.policy, |_| None, &mut verdicts);
            (moves, verdicts)
        })
    }

    /// The data about a move.
    fn find(&self, mv: RawMove) -> Option<(&BookMove, &Weighed)> {
        let (moves, verdicts) = self.weighed_moves();
        let mut both = moves.iter().zip(verdicts);
        both.find(|(known, _)| RawMove::from_move(known.mv, self.mode) == Some(mv))
    }
}

/// A move of a position.
///
/// Its five fields (`key`, `raw_move`, `weight`, `learn`, `move`) are those of
/// `chess.polyglot.Entry`: it compares equal to one and unpacks like one.
/// All other values are for the player of the move.
///
/// >>> import tabia
/// >>> entry = tabia.open_book("tabia.ctg").find(tabia.START)
/// >>> entry.games >= entry.wins + entry.draws + entry.losses
/// True
/// >>> key, raw_move, weight, learn, move = entry
/// >>> weight, 0 < entry.probability < 1
/// (65535, True)
#[pyclass(frozen, module = "tabia")]
pub(crate) struct Entry {
    fields: Fields,
    /// The data about the position; `None` if it was looked up by key, or restored.
    known: Option<Arc<Known>>,
    facts: OnceLock<Facts>,
    mv: PyOnceLock<Py<PyAny>>,
}

/// An entry that was pickled.
type Reduced = (Fields, Facts);

/// The entry that `pickle` has stored.
#[pyfunction]
pub(crate) fn restored_entry(fields: Fields, facts: Facts) -> Entry {
    Entry {
        facts: facts.into(),
        ..Entry::new(fields, None)
    }
}

/// What is known of a move besides the fields of its entry.
#[derive(Clone, Default, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Facts {
    games: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    score: Option<f64>,
    average_elo: Option<f64>,
    performance: Option<f64>,
    learn_value: i8,
    mark: String,
    recommendation: u8,
    annotation: String,
    commentary: u8,
    transposition: bool,
    probability: Option<f64>,
    not_played: Option<String>,
}

impl Facts {
    /// Of an entry that was looked up by key: nothing is known.
    fn none() -> Facts {
        Facts {
            mark: Mark::None.as_str().to_owned(),
            ..Facts::default()
        }
    }

    fn new(turn: Color, entry: &BookMove, verdict: &Weighed) -> Facts {
        let (stats, after) = (entry.stats(), entry.after.unwrap_or_default());
        Facts {
            games: stats.games,
            wins: stats.wins,
            draws: stats.draws,
            losses: stats.losses,
            score: stats.score(),
            average_elo: stats.average_elo(),
            performance: stats.performance(),
            learn_value: entry.learn_value(),
            mark: entry.mark().as_str().to_owned(),
            recommendation: after.recommendation,
            annotation: entry.annotation.symbol().to_owned(),
            commentary: after.commentary_for(turn.other()),
            transposition: entry.transposition,
            probability: Some(verdict.probability),
            not_played: verdict.rejection.map(|reason| reason.to_string()),
        }
    }
}

#[pymethods]
impl Entry {
    #[classattr]
    fn _fields(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, ["key", "raw_move", "weight", "learn", "move"])
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        Entry::_fields(py)
    }

    /// The Polyglot key of the position.
    #[getter]
    fn key(&self) -> u64 {
        self.fields.key
    }

    /// The move as a 16-bit Polyglot value.
    #[getter]
    fn raw_move(&self) -> u16 {
        self.fields.raw
    }

    /// Stored in a `.bin`; in other formats from the policy, 0 if it never plays the
    /// move.
    #[getter]
    pub(crate) fn weight(&self) -> u32 {
        self.fields.weight
    }

    /// Stored in a `.bin`; in other formats the performance in bits 20 to 31, the share
    /// of wins in 10 to 19 and of draws in 0 to 9, each times 1020.
    #[getter]
    fn learn(&self) -> u32 {
        self.fields.learn
    }

    /// The `chess.Move`; without python-chess its text, as `"e2e4"`.
    #[getter]
    fn r#move<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self
            .mv
            .get_or_try_init(py, || self.fields.mv.to_python(py).map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    /// Number of games with the move; 0 if the format has none (`.bin`).
    #[getter]
    fn games(&self) -> u32 {
        self.facts().games
    }

    /// Number of games won by the player of the move.
    #[getter]
    fn wins(&self) -> u32 {
        self.facts().wins
    }

    /// Number of drawn games.
    #[getter]
    fn draws(&self) -> u32 {
        self.facts().draws
    }

    /// Number of games lost by the player of the move.
    #[getter]
    fn losses(&self) -> u32 {
        self.facts().losses
    }

    /// Score, 0 to 1; `None` without results.
    #[getter]
    fn score(&self) -> Option<f64> {
        self.facts().score
    }

    /// Mean rating of the players of the move, if known.
    #[getter]
    fn average_elo(&self) -> Option<f64> {
        self.facts().average_elo
    }

    /// Their performance rating, if ratings are known.
    #[getter]
    fn performance(&self) -> Option<f64> {
        self.facts().performance
    }

    /// The learn value, -125 to 125: positive values favour the move.
    #[getter]
    fn learn_value(&self) -> i8 {
        self.facts().learn_value
    }

    /// The old name of `learn_value`, which new programs should use.
    #[getter]
    fn factor(&self) -> i8 {
        self.learn_value()
    }

    /// "main" (green), "avoid" (red) or "none".
    #[getter]
    fn mark(&self) -> &str {
        &self.facts().mark
    }

    /// The stored byte of `mark`.
    #[getter]
    fn recommendation(&self) -> u8 {
        self.facts().recommendation
    }

    /// "!", "?" and so on; empty for none.
    #[getter]
    fn annotation(&self) -> &str {
        &self.facts().annotation
    }

    /// NAG number of the position after the move, 0 for none.
    #[getter]
    fn commentary(&self) -> u8 {
        self.facts().commentary
    }

    /// Whether the move is not stored, but leads to a position of the book.
    #[getter]
    fn transposition(&self) -> bool {
        self.facts().transposition
    }

    /// The probability with which the adapter would play the move under the policy of the
    /// look-up, 0 to 1; `None` for an entry that was looked up by key.
    #[getter]
    fn probability(&self) -> Option<f64> {
        self.facts().probability
    }

    /// Why the policy does not play it.
    #[getter]
    fn not_played(&self) -> Option<&str> {
        self.facts().not_played.as_deref()
    }

    /// The fields by name, as for a named tuple.
    fn _asdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, value) in Entry::_fields(py)?.iter().zip(&self.tuple(py)?) {
            fields.set_item(name, value)?;
        }
        Ok(fields)
    }

    /// For `pickle` and `copy`: all values, without the rest of the position.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Reduced)> {
        let restore = py.import("tabia._native")?.getattr("restored_entry")?;
        Ok((restore, (self.fields, self.facts().clone())))
    }

    fn __len__(&self) -> usize {
        5
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.tuple(py)?.as_any().get_item(index)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.tuple(py)?.try_iter()?.into_any())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.tuple(py)?.hash()
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        how: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let own = self.tuple(py)?;
        match other.cast::<Entry>() {
            Ok(other) => own.rich_compare(other.get().tuple(py)?, how),
            Err(_) if other.is_instance_of::<PyTuple>() => own.rich_compare(other, how),
            Err(_) => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Fields {
            key,
            raw,
            weight,
            learn,
            ..
        } = self.fields;
        let mv = self.r#move(py)?.repr()?;
        Ok(format!(
            "Entry(key={key}, raw_move={raw}, weight={weight}, learn={learn}, move={mv})"
        ))
    }
}

impl Entry {
    pub(crate) fn new(fields: Fields, known: Option<Arc<Known>>) -> Entry {
        Entry {
            fields,
            known,
            facts: OnceLock::new(),
            mv: PyOnceLock::new(),
        }
    }

    /// Compares as python-chess does: true unless less.
    pub(crate) fn reaches(&self, weight: f64) -> bool {
        f64::from(self.fields.weight).partial_cmp(&weight) != Some(std::cmp::Ordering::Less)
    }

    fn facts(&self) -> &Facts {
        let known = || {
            let known = self.known.as_ref()?;
            let (mv, verdict) = known.find(self.fields.mv)?;
            Some(Facts::new(known.turn, mv, verdict))
        };
        self.facts
            .get_or_init(|| known().unwrap_or_else(Facts::none))
    }

    fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Fields {
            key,
            raw,
            weight,
            learn,
            ..
        } = self.fields;
        (key, raw, weight, learn, self.r#move(py)?).into_pyobject(py)
    }
}

/// The learn field as used by some programs and BotLi: performance in bits 20 to 31, wins
/// in 10 to 19, draws in 0 to 9, the latter two as shares of 1020. 0 without results.
pub(crate) fn packed_learn(stats: &Stats) -> u32 {
    let finished = stats.results().games();
    if finished == 0 {
        return 0;
    }
    let share = |games: u32| ((u64::from(games) * 1020 + finished / 2) / finished) as u32;
    let performance = stats
        .performance()
        .unwrap_or(0.0)
        .round()
        .clamp(0.0, 4095.0) as u32;
    performance << 20 | share(stats.wins) << 10 | share(stats.draws)
}

/// A move in the form of python-chess.
#[derive(Clone, Copy, PartialEq, Eq, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RawMove {
    pub(crate) from: u16,
    pub(crate) to: u16,
    /// 2 knight, 3 bishop, 4 rook, 5 queen; not checked, so up to 8.
    pub(crate) promotion: Option<u16>,
    pub(crate) drop: Option<u16>,
}

impl RawMove {
    /// Decodes sixteen bits as python-chess does, valid or not.
    pub(crate) fn from_bits(bits: u16) -> RawMove {
        let (to, from, part) = (bits & 63, bits >> 6 & 63, bits >> 12 & 7);
        let piece = (part > 0).then_some(part + 1);
        let is_drop = from == to;
        RawMove {
            from,
            to,
            promotion: piece.filter(|_| !is_drop),
            drop: piece.filter(|_| is_drop),
        }
    }

    /// A legal move in the notation of this castling mode.
    pub(crate) fn from_move(mv: Move, mode: CastlingMode) -> Option<RawMove> {
        match mv.to_uci(mode) {
            shakmaty::uci::UciMove::Normal {
                from,
                to,
                promotion,
            } => Some(RawMove {
                from: from.to_u32() as u16,
                to: to.to_u32() as u16,
                promotion: promotion.map(|role: Role| u16::from(role)),
                drop: None,
            }),
            _ => None,
        }
    }

    /// Converts castling from king takes rook to e1g1 and the like.
    pub(crate) fn castling_by_target(self, kings: u64) -> RawMove {
        let to = match (self.from, self.to) {
            (4, 7) => 6,
            (4, 0) => 2,
            (60, 63) => 62,
            (60, 56) => 58,
            _ => return self,
        };
        if self.promotion.is_some() || self.drop.is_some() || kings >> self.from & 1 == 0 {
            return self;
        }
        RawMove { to, ..self }
    }

    /// A `chess.Move`; without python-chess the move in UCI.
    pub(crate) fn to_python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(class) = move_class(py) else {
            let square = |n: u16| Square::new(u32::from(n));
            let letter = self
                .promotion
                .and_then(|n| b"?pnbrqk??".get(usize::from(n)));
            let mut text = format!("{}{}", square(self.from), square(self.to));
            text.extend(letter.map(|byte| char::from(*byte)));
            return text.into_bound_py_any(py);
        };
        match (self.promotion, self.drop) {
            (None, None) => class.call1((self.from, self.to)),
            (promotion, drop) => class.call1((self.from, self.to, promotion, drop)),
        }
    }
}

/// `chess.Move`, where python-chess is installed.
fn move_class(py: Python<'_>) -> Option<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let class = CLASS.get_or_init(py, || {
        let module = py.import(intern!(py, "chess")).ok()?;
        module.getattr(intern!(py, "Move")).ok().map(Bound::unbind)
    });
    class.as_ref().map(|class| class.bind(py))
}

/// The five fields of an entry.
#[derive(Clone, Copy, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Fields {
    pub(crate) key: u64,
    pub(crate) raw: u16,
    pub(crate) weight: u32,
    pub(crate) learn: u32,
    pub(crate) mv: RawMove,
}

/// The kings of a position, for castling.
pub(crate) fn kings(position: &Chess) -> u64 {
    use shakmaty::Position as _;
    position.board().kings().0
}
