//! The result of a look-up, as an iterator.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyList};

use crate::book::NativeBook;
use crate::policy::Policy;

/// An iterator over entries. Like a generator, it looks nothing up before the first is
/// needed.
#[pyclass(frozen, module = "tabia._native")]
pub(crate) struct Found {
    book: Py<NativeBook>,
    asked: Py<PyAny>,
    policy: Policy,
    minimum_weight: f64,
    user: Py<PyAny>,
    /// The iterator of a list, which is faster than our own.
    entries: PyOnceLock<Py<PyIterator>>,
}

impl Found {
    pub(crate) fn new(
        book: Py<NativeBook>,
        asked: Py<PyAny>,
        policy: Policy,
        minimum_weight: f64,
        user: Py<PyAny>,
    ) -> Found {
        Found {
            book,
            asked,
            policy,
            minimum_weight,
            user,
            entries: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Found {
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let entries = self.entries.get_or_try_init(py, || self.look_up(py));
        Ok(entries?.bind(py).clone())
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.__iter__(py)?.next().transpose()
    }
}

impl Found {
    fn look_up(&self, py: Python<'_>) -> PyResult<Py<PyIterator>> {
        let asked = self.asked.bind(py);
        let found = self
            .book
            .get()
            .entries(py, asked, self.policy, self.minimum_weight);
        let entries = match found {
            Ok(entries) => PyList::new(py, entries)?,
            Err(error) => {
                // The user's function raises it again, or warns.
                self.user
                    .call_method1(py, "_skip", (error.into_value(py),))?;
                PyList::empty(py)
            }
        };
        Ok(entries.try_iter()?.unbind())
    }
}
