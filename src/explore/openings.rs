//! Names of openings, where the program has them.

#[cfg(feature = "openings")]
pub(super) use crate::openings::{Opening, of, of_line};

#[cfg(not(feature = "openings"))]
pub(super) use none::{Opening, of, of_line};

/// Nothing has a name.
#[cfg(not(feature = "openings"))]
mod none {
    use serde::Serialize;
    use shakmaty::Chess;

    #[derive(Clone, Copy, Serialize)]
    pub(in crate::explore) enum Opening {}

    pub(in crate::explore) fn of(_: &Chess) -> Option<Opening> {
        None
    }

    pub(in crate::explore) fn of_line(_: &[Chess]) -> Option<Opening> {
        None
    }
}
