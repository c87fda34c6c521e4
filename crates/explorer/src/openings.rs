//! Names of openings, where the program has them.

pub(super) use tabia_notation::openings::{Opening, of, of_line};

/// An opening that a search found.
#[derive(serde::Serialize)]
pub(crate) struct Found {
    eco: &'static str,
    name: &'static str,
    /// Its moves in UCI notation.
    play: Vec<String>,
    /// As people write them.
    line: &'static str,
}

/// Openings that a search lists at most.
const MOST_FOUND: usize = 40;

/// Openings by code or by words of their names, the shortest line first.
pub(super) fn search(words: &str) -> Vec<Found> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<_> = tabia_notation::openings::rows()
        .filter(|(opening, _)| {
            let (code, name) = (opening.eco.to_lowercase(), opening.name.to_lowercase());
            words
                .iter()
                .all(|word| code.starts_with(word) || name.contains(word))
        })
        .collect();
    found.sort_by_key(|(opening, line)| (line.split(' ').count(), opening.eco));
    found.truncate(MOST_FOUND);
    let read = |line| tabia_notation::Line::read("", line).ok();
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
