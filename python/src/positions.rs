//! All positions of a book, one after the other.

use std::sync::mpsc::{Receiver, RecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tabia_book::{Book, Error};
use tabia_notation as notation;

use crate::error;

/// Positions that wait for the caller.
const AHEAD: usize = 1024;

/// A walk over a book, which another thread does.
#[pyclass(frozen, module = "tabia._native")]
pub(crate) struct Positions {
    found: Mutex<Option<Receiver<Step>>>,
    /// The process of the thread: a fork of it has no such thread, and would wait for ever.
    process: u32,
}

/// What the walk has found.
enum Step {
    Fen(String),
    Damage(Error),
    /// Positions of a Polyglot book to which no line leads.
    Unreached(u64),
}

impl Positions {
    pub(crate) fn new(book: Arc<Book>) -> PyResult<Positions> {
        let (give, found) = sync_channel(AHEAD);
        let walk = move || {
            let mut positions = book.positions();
            for here in &mut positions {
                let step = match here {
                    Ok(here) => Step::Fen(notation::fen(&here.position)),
                    Err(error) => Step::Damage(error),
                };
                // Nobody wants more.
                if give.send(step).is_err() {
                    return;
                }
            }
            if positions.unreached() > 0 {
                let _ = give.send(Step::Unreached(positions.unreached()));
            }
        };
        let thread = std::thread::Builder::new().name("positions".to_owned());
        thread
            .spawn(walk)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Positions {
            found: Mutex::new(Some(found)),
            process: std::process::id(),
        })
    }

    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }
}

impl Drop for Positions {
    fn drop(&mut self) {
        if self.is_forked() {
            // Closing it could wait for the thread to finish a message.
            let found = self.found.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(found.take());
        }
    }
}

#[pymethods]
impl Positions {
    fn __iter__(slf: Py<Positions>) -> Py<Positions> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        if self.is_forked() {
            return Err(PyRuntimeError::new_err(
                "positions() was called in another process, before os.fork(): call it in this one",
            ));
        }
        let next = py.detach(|| {
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.as_ref().map(Receiver::recv)
        });
        match next.unwrap_or(Err(RecvError)) {
            Ok(Step::Fen(fen)) => Ok(Some(fen)),
            Ok(Step::Damage(error)) => Err(error::of_book(py, &error)),
            Ok(Step::Unreached(1)) => Err(error::book_error(
                py,
                "1 position was left out: no line of moves to it was found",
            )),
            Ok(Step::Unreached(number)) => Err(error::book_error(
                py,
                &format!("{number} positions were left out: no line of moves to them was found"),
            )),
            // The walk has ended.
            Err(_) => Ok(None),
        }
    }
}
