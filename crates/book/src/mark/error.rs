//! Why a book is not marked.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::Error;
use tabia_io::parallel::Panicked;

/// Why a book was not marked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarkError {
    /// The move or position is not in the book.
    #[error("{}: {what}; nothing was changed", path.display())]
    NotInBook {
        /// The book.
        path: Arc<Path>,
        /// The move or position.
        what: String,
    },
    /// Part of the book cannot be read, and `strict` is set.
    #[error("{0}; nothing was changed (strict)")]
    Loss(String),
    /// The book cannot be read or changed.
    #[error(transparent)]
    Book(#[from] Error),
    /// Writing the list of changes failed.
    #[error("cannot write the list")]
    Output(#[from] io::Error),
}

impl From<Panicked> for MarkError {
    fn from(panicked: Panicked) -> MarkError {
        MarkError::Book(panicked.into())
    }
}
