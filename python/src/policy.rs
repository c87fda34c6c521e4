//! The policy for choosing book moves, as a Python object.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use pyo3::{IntoPyObjectExt as _, intern};
use tabia_book::options::{OptionKind, OptionValue};
use tabia_book::policy::{self, Judgement};

/// The policy for choosing moves of a position: the adapter's options for that, with
/// their names in `engines.toml`, as keyword arguments. Immutable.
///
/// >>> import tabia
/// >>> tabia.Policy(variety=0).variety
/// 0
/// >>> tabia.Policy(variety=0) == tabia.Policy()
/// False
/// >>> tabia.Policy(variety=101)
/// Traceback (most recent call last):
/// ...
/// ValueError: variety=101: a whole number from 0 to 100
#[pyclass(frozen, eq, hash, module = "tabia", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Policy(policy::Policy);

/// The methods of `Policy`, from the rows of the table: an argument and a property for
/// each option.
macro_rules! methods {
    ($($group:ident { $(
        $(#[$doc:meta])*
        $id:ident $field:ident: $type:ty = $default:expr, $range:expr, $name:literal,
        $topic:ident, $([$($preset:expr),*],)? $help:literal;
    )* })*) => {
        #[pymethods]
        impl Policy {
            #[new]
            #[pyo3(signature = (**options))]
            fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Policy> {
                let mut policy = policy::Policy::default();
                for (key, value) in options.into_iter().flatten() {
                    let key: String = key.extract()?;
                    match key.as_str() {
                        $($(stringify!($field) => set(&mut policy.$field, &key, &value, $range)?,)*)*
                        _ => {
                            let keys = [$($(stringify!($field),)*)*];
                            return Err(unknown_argument(py, "Policy", &key, &keys)?);
                        }
                    }
                }
                Ok(Policy(policy))
            }

            $($(
                #[doc = $help]
                #[getter]
                fn $field<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    value(py, &self.0.$field, $range)
                }
            )*)*

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let mut options = Vec::new();
                for (key, value) in self.options(py)? {
                    options.push(format!("{key}={}", value.repr()?));
                }
                Ok(format!("Policy({})", options.join(", ")))
            }

            /// For `pickle` and `copy`: no arguments, and those with keywords.
            fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
                let options = PyDict::new(py);
                for (key, value) in self.options(py)? {
                    options.set_item(key, value)?;
                }
                Ok(((), options))
            }
        }

        impl Policy {
            fn options<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
                Ok(vec![$($((stringify!($field), self.$field(py)?),)*)*])
            }
        }
    };
}

tabia_book::policy_options! { methods! {} }

impl Policy {
    /// Whether evaluations are used.
    pub(crate) fn judges(self) -> bool {
        self.0.maximum_loss > 0 || self.0.judgement != Judgement::Results
    }

    pub(crate) const fn native(self) -> policy::Policy {
        self.0
    }
}

/// Sets an option to an argument.
fn set<V: OptionValue>(
    option: &mut V,
    key: &str,
    given: &Bound<'_, PyAny>,
    range: V::Range,
) -> PyResult<()> {
    let (text, expected) = match option.kind(&range) {
        OptionKind::Check(_) => (given.extract::<bool>().map(|on| on.to_string()), "a bool"),
        OptionKind::Spin { .. } => {
            // As text, so that the size does not matter.
            let text = match given.cast::<PyInt>() {
                Ok(number) => number.str().map(|text| text.to_string()),
                Err(_) => given.extract::<i64>().map(|number| number.to_string()),
            };
            (text, "an int")
        }
        OptionKind::Combo { .. } | OptionKind::Text | OptionKind::Path | OptionKind::Paths => {
            (given.extract::<String>(), "a str")
        }
    };
    let shown = given.repr()?;
    let text = text.map_err(|_| PyTypeError::new_err(format!("{key}={shown}: {expected}")))?;
    *option = V::read(&text, &range)
        .map_err(|expected| PyValueError::new_err(format!("{key}={shown}: {expected}")))?;
    Ok(())
}

/// The value of an option in Python.
fn value<'py, V: OptionValue>(
    py: Python<'py>,
    option: &V,
    range: V::Range,
) -> PyResult<Bound<'py, PyAny>> {
    match option.kind(&range) {
        OptionKind::Check(on) => on.into_bound_py_any(py),
        OptionKind::Spin { value, .. } => value.into_bound_py_any(py),
        OptionKind::Combo { value, .. } => value.into_bound_py_any(py),
        OptionKind::Text | OptionKind::Path | OptionKind::Paths => {
            option.to_string().into_bound_py_any(py)
        }
    }
}

/// The error for an argument of no option, with the one that was probably meant.
pub(crate) fn unknown_argument(
    py: Python<'_>,
    function: &str,
    key: &str,
    keys: &[&str],
) -> PyResult<PyErr> {
    let like = py
        .import("difflib")?
        .call_method1(intern!(py, "get_close_matches"), (key, keys, 1))?;
    let like: Vec<String> = like.extract()?;
    let like = like
        .first()
        .map(|like| format!(" (did you mean '{like}'?)"));
    Ok(PyTypeError::new_err(format!(
        "{function}() got an unexpected keyword argument '{key}'{}",
        like.unwrap_or_default()
    )))
}
