//! Lines with fields.

/// All field names.
const NAMES: [&str; 12] = [
    "Keycode",
    "Source",
    "White",
    "Black",
    "Title",
    "Elo",
    "Place",
    "Round",
    "Year",
    "Result",
    "Info",
    "Annotator",
];

/// Names of fields that can begin a game.
const FIRST: [&str; 3] = ["Keycode", "Source", "White"];

/// The fields of a line, in its order; none if the line does not begin with a field.
pub(super) fn fields(line: &str) -> Vec<(&'static str, &str)> {
    let mut places: Vec<(usize, &'static str)> = Vec::new();
    for name in NAMES {
        for (at, _) in line.match_indices(name) {
            let after = line.get(at + name.len()..).unwrap_or_default();
            let before = line.get(..at).unwrap_or_default();
            if after.starts_with(':') && (before.is_empty() || before.ends_with([' ', '\t'])) {
                places.push((at, name));
            }
        }
    }
    places.sort_unstable();
    let begins = line.len() - line.trim_start().len();
    if places.first().is_none_or(|(at, _)| *at != begins) {
        return Vec::new();
    }
    // Here the rest of the line is text.
    if matches!(places.first(), Some((_, "Info" | "Annotator" | "Source"))) {
        places.truncate(1);
    }
    let ends = places.iter().skip(1).map(|(at, _)| *at).chain([line.len()]);
    let ends: Vec<usize> = ends.collect();
    places
        .iter()
        .zip(ends)
        .map(|((at, name), end)| {
            let value = line.get(at + name.len() + 1..end).unwrap_or_default();
            (*name, value.trim())
        })
        .collect()
}

/// Whether a line begins a new game, provided that the current game has moves.
pub(super) fn begins_game(line: &str) -> bool {
    fields(line)
        .first()
        .is_some_and(|(name, _)| FIRST.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_several_fields() {
        assert_eq!(
            fields("White: Kramnik,Vladimir  Title: IGM  Elo: 2725"),
            [
                ("White", "Kramnik,Vladimir"),
                ("Title", "IGM"),
                ("Elo", "2725")
            ]
        );
        assert_eq!(
            fields("Info: Place: Groningen"),
            [("Info", "Place: Groningen")]
        );
        assert!(fields("1.d4 d5 Elo: 3").is_empty());
        assert!(fields("Whitehead: x").is_empty());
        assert!(begins_game("Keycode: SL 5.5") && !begins_game("Black: A"));
    }
}
