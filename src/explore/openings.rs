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

    #[derive(Clone, Copy, Debug, Serialize)]
    pub(in crate::explore) enum Opening {}

    pub(in crate::explore) fn of(_: &Chess) -> Option<Opening> {
        None
    }

    pub(in crate::explore) fn of_line(_: &[Chess]) -> Option<Opening> {
        None
    }
}

/// An opening that a search found.
#[derive(serde::Serialize)]
pub(super) struct Found {
    eco: &'static str,
    name: &'static str,
    /// Its moves in UCI notation.
    play: Vec<String>,
    /// As people write them.
    line: &'static str,
}

/// Openings that a search lists at most.
#[cfg(feature = "openings")]
const MOST_FOUND: usize = 40;

/// Openings by code or by words of their names, the shortest line first.
#[cfg(feature = "openings")]
pub(super) fn search(words: &str) -> Vec<Found> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<_> = crate::openings::rows()
        .filter(|(opening, _)| {
            let (code, name) = (opening.eco.to_lowercase(), opening.name.to_lowercase());
            words
                .iter()
                .all(|word| code.starts_with(word) || name.contains(word))
        })
        .collect();
    found.sort_by_key(|(opening, line)| (line.split(' ').count(), opening.eco));
    found.truncate(MOST_FOUND);
    let read = |line| crate::notation::Line::read("", line).ok();
    found
        .into_iter()
        .filter_map(|(opening, line)| {
            Some(Found {
                eco: opening.eco,
                name: opening.name,
                play: read(line)?.uci_words(),
                line,
            })
        })
        .collect()
}

#[cfg(not(feature = "openings"))]
pub(super) fn search(_: &str) -> Vec<Found> {
    Vec::new()
}
