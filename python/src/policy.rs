//! The policy for choosing book moves, as a Python object.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tabia_book::policy::Judgement;

/// The policy for choosing moves of a position: the adapter's options for that, with
/// their names in `engines.toml`. Immutable.
///
/// >>> import tabia
/// >>> tabia.Policy(variety=0).variety
/// 0
/// >>> tabia.Policy(variety=0) == tabia.Policy()
/// False
/// >>> tabia.Policy(variety=101)
/// Traceback (most recent call last):
/// ...
/// ValueError: variety=101: 0 to 100
#[pyclass(frozen, eq, hash, module = "tabia", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Policy {
    /// 0 plays the move with the greatest weight, 50 by weight, 100 all alike.
    #[pyo3(get)]
    variety: u32,
    /// Least number of games of the position after the move.
    #[pyo3(get)]
    minimum_games: u32,
    /// Least score for the player of the move, 0 to 100 per cent.
    #[pyo3(get)]
    minimum_score: u32,
    /// Least share of the position's weight, 0 to 1000 per mille.
    #[pyo3(get)]
    minimum_share: u32,
    /// Whether green and red marks decide.
    #[pyo3(get)]
    tournament: bool,
    /// Whether annotations (!, ? and so on) decide.
    #[pyo3(get)]
    annotations: bool,
    /// 0 to 100: how strongly learn values change the weights.
    #[pyo3(get)]
    learn_influence: u32,
    /// Whether moves count that are not stored but lead into the book.
    #[pyo3(get)]
    transpositions: bool,
    /// 0 to 2000: centipawns that a move may lose, if evaluations are known; 0 is no
    /// limit.
    #[pyo3(get)]
    maximum_loss: u32,
    /// The source of weights, if evaluations are known.
    judgement: Judgement,
}

/// The names of the sources of weights.
const JUDGEMENTS: [(&str, Judgement); 3] = [
    ("results", Judgement::Results),
    ("evaluations", Judgement::Evaluations),
    ("both", Judgement::Both),
];

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (*, variety=50, minimum_games=1, minimum_score=0, minimum_share=5,
        tournament=true, annotations=true, learn_influence=50, transpositions=true,
        maximum_loss=0, judgement="results"))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
    fn new(
        variety: u32,
        minimum_games: u32,
        minimum_score: u32,
        minimum_share: u32,
        tournament: bool,
        annotations: bool,
        learn_influence: u32,
        transpositions: bool,
        maximum_loss: u32,
        judgement: &str,
    ) -> PyResult<Policy> {
        for (name, value, most) in [
            ("variety", variety, 100),
            ("minimum_games", minimum_games, 1_000_000),
            ("minimum_score", minimum_score, 100),
            ("minimum_share", minimum_share, 1000),
            ("learn_influence", learn_influence, 100),
            ("maximum_loss", maximum_loss, 2000),
        ] {
            if value > most {
                return Err(PyValueError::new_err(format!(
                    "{name}={value}: 0 to {most}"
                )));
            }
        }
        let known = JUDGEMENTS.iter().find(|(word, _)| *word == judgement);
        let Some(&(_, judgement)) = known else {
            return Err(PyValueError::new_err(format!(
                "judgement={judgement:?}: results, evaluations or both"
            )));
        };
        Ok(Policy {
            variety,
            minimum_games,
            minimum_score,
            minimum_share,
            tournament,
            annotations,
            learn_influence,
            transpositions,
            maximum_loss,
            judgement,
        })
    }

    /// The source of weights, if evaluations are known: "results", "evaluations" or
    /// "both".
    #[getter]
    fn judgement(&self) -> &'static str {
        let known = JUDGEMENTS
            .iter()
            .find(|(_, known)| *known == self.judgement);
        known.map_or("results", |(word, _)| word)
    }

    fn __repr__(&self) -> String {
        let word = |yes: bool| if yes { "True" } else { "False" };
        format!(
            "Policy(variety={}, minimum_games={}, minimum_score={}, minimum_share={}, \
             tournament={}, annotations={}, learn_influence={}, transpositions={}, \
             maximum_loss={}, judgement='{}')",
            self.variety,
            self.minimum_games,
            self.minimum_score,
            self.minimum_share,
            word(self.tournament),
            word(self.annotations),
            self.learn_influence,
            word(self.transpositions),
            self.maximum_loss,
            self.judgement(),
        )
    }
}

impl Policy {
    /// Whether evaluations are used.
    pub(crate) fn judges(self) -> bool {
        self.maximum_loss > 0 || self.judgement != Judgement::Results
    }

    pub(crate) fn native(self) -> tabia_book::policy::Policy {
        tabia_book::policy::Policy {
            variety: self.variety,
            minimum_games: self.minimum_games,
            minimum_score: self.minimum_score,
            minimum_share: self.minimum_share,
            tournament: self.tournament,
            annotations: self.annotations,
            learn_influence: self.learn_influence,
            transpositions: self.transpositions,
            maximum_loss: self.maximum_loss,
            judgement: self.judgement,
        }
    }
}
