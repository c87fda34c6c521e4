//! Converts errors of the crate to exceptions of `tabia.errors`.

use std::path::Path;

use pyo3::intern;
use pyo3::prelude::*;
use tabia_book::Error;
use tabia_book::mark::MarkError;
use tabia_build::BuildError;

/// The attributes of an exception besides its text.
#[derive(Default)]
struct Where<'a> {
    file: Option<&'a Path>,
    page: Option<u32>,
    byte: Option<u64>,
    errno: Option<i32>,
}

/// Makes an exception of `tabia.errors`.
fn raise(py: Python<'_>, class: &str, text: &str, at: &Where<'_>) -> PyErr {
    let made = py
        .import(intern!(py, "tabia.errors"))
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((text, at.file, at.page, at.byte, at.errno)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A book that cannot be opened or read.
pub(crate) fn of_book(py: Python<'_>, error: &Error) -> PyErr {
    of_reading(py, error).unwrap_or_else(|at| raise(py, "BookError", &error.to_string(), &at))
}

/// A book that cannot be read, or a new one that could not be made from it.
pub(crate) fn of_conversion(py: Python<'_>, error: &Error, target: &Path) -> PyErr {
    of_reading(py, error).unwrap_or_else(|_| not_made(py, &error.to_string(), target))
}

/// A book that could not be made of games.
pub(crate) fn of_build(py: Python<'_>, error: &BuildError, target: &Path) -> PyErr {
    let text = error.to_string();
    match error {
        BuildError::Read(tabia_games::Error::Io { name, reason })
            if reason.kind() == std::io::ErrorKind::NotFound =>
        {
            let at = Where {
                file: Some(Path::new(name)),
                errno: reason.raw_os_error().or(Some(2)),
                ..Where::default()
            };
            raise(py, "BookNotFoundError", &text, &at)
        }
        _ => not_made(py, &text, target),
    }
}

/// A book that could not be marked.
pub(crate) fn of_marks(py: Python<'_>, error: &MarkError, book: &Path) -> PyErr {
    match error {
        MarkError::Book(error) => of_conversion(py, error, book),
        other => not_made(py, &other.to_string(), book),
    }
}

/// The exception if a book cannot be read, otherwise where the error is.
fn of_reading<'e>(py: Python<'_>, error: &'e Error) -> Result<PyErr, Where<'e>> {
    let place = error.place();
    if place.file.is_none() {
        return Err(Where::default());
    }
    let at = Where {
        file: place.file,
        page: place.page,
        byte: place.byte,
        errno: match error {
            Error::Io { reason, .. } | Error::Evaluations { reason, .. } => reason.raw_os_error(),
            _ => None,
        },
    };
    let text = error.to_string();
    Ok(match error {
        Error::Io { reason, .. } if reason.kind() == std::io::ErrorKind::NotFound => {
            // The crate detected it without a system call.
            let errno = at.errno.or(Some(2));
            raise(py, "BookNotFoundError", &text, &Where { errno, ..at })
        }
        _ => raise(py, "BookError", &text, &at),
    })
}

/// The file is not a book, with a short reason.
pub(crate) fn no_book(py: Python<'_>, path: &Path, text: &str) -> PyErr {
    let at = Where {
        file: Some(path),
        ..Where::default()
    };
    raise(py, "BookError", text, &at)
}

/// A fault of a book that is in no certain place.
pub(crate) fn book_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "BookError", text, &Where::default())
}

/// The text is not a position.
pub(crate) fn no_position(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "PositionError", text, &Where::default())
}

/// The new book could not be made.
pub(crate) fn not_made(py: Python<'_>, text: &str, target: &Path) -> PyErr {
    let at = Where {
        file: Some(target),
        ..Where::default()
    };
    raise(py, "WriteError", text, &at)
}
