//! The result of reading a file of evaluations.

use crate::Error;
use tabia_book::evals::Imported;

/// The result of reading a file of evaluations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// What was read.
    pub read: Imported,
    /// The unit of its `lines`: "lines", "games" or "rows".
    pub unit: &'static str,
    /// New evaluations.
    pub new: u64,
}

/// Adds to the error of cancelled work that the file has some evaluations already.
pub(super) fn cancelled(error: Error) -> Error {
    match error {
        Error::Stopped => {
            Error::Text("interrupted; what was found so far is in the file".to_owned())
        }
        error => error,
    }
}
