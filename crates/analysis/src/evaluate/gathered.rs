//! What a file of evaluations gave.

use crate::Error;
use tabia_book::evals::Imported;

/// What a file gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// What was read.
    pub read: Imported,
    /// What its `lines` are: "lines", "games" or "rows".
    pub unit: &'static str,
    /// Evaluations that were new.
    pub new: u64,
}

/// Cancelled work has left something in the file.
pub(super) fn cancelled(error: Error) -> Error {
    match error {
        Error::Stopped(_) => {
            Error::Text("interrupted; what was found until now is in the file".to_owned())
        }
        error => error,
    }
}
