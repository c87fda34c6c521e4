//! Errors of the crate as exceptions of `tabia.errors`.

use std::path::Path;

use pyo3::intern;
use pyo3::prelude::*;
use tabia_book::{Error, ctg};

/// What an exception says beside its text.
#[derive(Default)]
struct Where<'a> {
    file: Option<&'a Path>,
    page: Option<u32>,
    byte: Option<u64>,
    errno: Option<i32>,
}

/// An exception of `tabia.errors`.
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
    let text = error.to_string();
    let mut at = Where::default();
    let mut io = |path, reason: &std::io::Error| {
        at.file = Some(path);
        at.errno = reason.raw_os_error();
        reason.kind() == std::io::ErrorKind::NotFound
    };
    let missing = match error {
        Error::Io { path, reason } => io(&**path, reason),
        Error::Page { path, page, fault } => {
            at.file = Some(path);
            at.page = Some(*page);
            at.byte = Some(ctg::file_offset(*page, fault.offset()));
            false
        }
        Error::Slot {
            path, page, offset, ..
        } => {
            at.file = Some(path);
            at.page = u32::try_from(*page).ok();
            at.byte = Some(*offset);
            false
        }
        Error::Unsorted { path, offset, .. } | Error::AbkHeader { path, offset, .. } => {
            at.file = Some(path);
            at.byte = Some(*offset);
            false
        }
        Error::Header { path, .. }
        | Error::Shrunk { path, .. }
        | Error::NoBook { path, .. }
        | Error::NoEntries { path, .. } => {
            at.file = Some(path);
            false
        }
        _ => false,
    };
    if missing {
        // Where the crate noticed it without asking the system.
        at.errno = at.errno.or(Some(2));
        return raise(py, "BookNotFoundError", &text, &at);
    }
    raise(py, "BookError", &text, &at)
}

/// A book that is no book, in a few words.
pub(crate) fn no_book(py: Python<'_>, path: &Path, text: &str) -> PyErr {
    let at = Where {
        file: Some(path),
        ..Where::default()
    };
    raise(py, "BookError", text, &at)
}

/// Text that is no position.
pub(crate) fn no_position(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "PositionError", text, &Where::default())
}

/// A new book that was not made.
pub(crate) fn not_made(py: Python<'_>, text: &str, target: &Path) -> PyErr {
    let at = Where {
        file: Some(target),
        ..Where::default()
    };
    raise(py, "WriteError", text, &at)
}
