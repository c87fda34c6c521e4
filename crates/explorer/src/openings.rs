//! Names of openings, and the search for them.

use std::collections::HashMap;
use std::sync::LazyLock;

use shakmaty::Chess;

pub(super) use tabia_notation::openings::{Opening, find, find_in_line};

use super::assets;
use super::content::Open;
use tabia_book::{Lookup, Wanted};
use tabia_notation::Line;

/// An opening that a search found.
#[derive(serde::Serialize)]
pub(crate) struct FoundOpening {
    eco: &'static str,
    name: &'static str,
    /// Its moves in UCI notation.
    play: Vec<String>,
    /// Its moves in readable notation.
    line: &'static str,
    /// Number of games with its position in the requested books.
    games: u64,
}

/// Greatest number of openings in a search result.
const MOST_FOUND: usize = 40;

/// Least number of letters that are matched as the beginning of a foreign name.
const LEAST_PREFIX: usize = 4;

/// A row of the table of names, prepared for searching.
struct Row {
    opening: Opening,
    moves: &'static str,
    /// The words of its name, in English and in the languages in which it has another one.
    names: Vec<Vec<String>>,
    line: Line,
}

/// The texts of the page in another language, by the English ones; one that changes with a
/// number has several forms.
type Texts = HashMap<String, serde_json::Value>;

static LANGUAGES: LazyLock<Vec<Texts>> = LazyLock::new(|| {
    let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
    assets::tables().map(read).collect()
});

/// The name of an opening as the page shows it: `openingName` in `lang.js`.
fn translated(name: &str, texts: &Texts) -> String {
    let each = |text: &str, sign, of: &dyn Fn(&str) -> String| {
        text.split(sign).map(of).collect::<Vec<_>>().join(sign)
    };
    let part = |part: &str| {
        let text = texts.get(part).and_then(|text| text.as_str());
        text.unwrap_or(part).to_owned()
    };
    each(name, ": ", &|list| each(list, ", ", &part))
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = tabia_notation::openings::rows();
    rows.filter_map(|(opening, moves)| {
        let line = Line::read("", moves).ok()?;
        let mut names = vec![words(opening.name)];
        for language in LANGUAGES.iter() {
            let name = words(&translated(opening.name, language));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Some(Row {
            opening,
            moves,
            names,
            line,
        })
    })
    .collect()
});

/// Alternative names of openings: the words of each, and those of the English name.
static ALIASES: LazyLock<Vec<(Vec<String>, Vec<String>)>> = LazyLock::new(|| {
    let lines = include_str!("../locales/openings.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let named = lines.filter_map(|line| line.split_once(": "));
    named
        .flat_map(|(english, others)| {
            let english = words(english);
            let others = others.split(", ");
            others.map(move |other| (words(other), english.clone()))
        })
        .collect()
});

/// Words of names in the other languages, and the English word that stands in names of
/// variations; those for a whole opening are left out of what is searched.
const COMMON: &[(&str, &str)] = &[
    (
        "defensa verteidigung защита apertura ouverture eroffnung дебют начало partida partie партия",
        "",
    ),
    ("variante вариант", "variation"),
    ("ataque attaque angriff атака", "attack"),
    ("sistema systeme система", "system"),
    ("gambito гамбит", "gambit"),
];

/// The words without those that are [`COMMON`] in other languages.
fn plain_words(words: &[String]) -> Vec<String> {
    let english = |word: &String| {
        let is_listed = |(others, _): &&(&str, &str)| others.split(' ').any(|other| other == word);
        COMMON
            .iter()
            .find(is_listed)
            .map_or(word.as_str(), |(_, english)| english)
            .to_owned()
    };
    words
        .iter()
        .map(english)
        .filter(|word| !word.is_empty())
        .collect()
}

/// How well a name matches the typed text; the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The name itself, perhaps without its last word ("Defense").
    Whole,
    /// Each word begins a word of the name.
    Starts,
    /// Each word is somewhere in the name.
    Parts,
}

/// Searches openings by code, by moves, or by words of their names in five languages: the
/// best match first, then those with the most games in these books.
pub(super) fn search(typed: &str, books: &[Open]) -> Vec<FoundOpening> {
    let typed_words = words(typed);
    if typed_words.is_empty() {
        return Vec::new();
    }
    let by_moves = Line::read("", typed).ok().filter(|line| line.plies() > 0);
    let plain = plain_words(&typed_words);
    let meant = [
        english(&typed_words),
        Some(plain).filter(|words| !words.is_empty()),
    ];
    let fits = |row: &Row| match &by_moves {
        Some(line) => continues(&row.line, line),
        None => {
            let code = row.opening.eco.to_lowercase();
            let of_words = |words: &[String]| {
                let names = row.names.iter();
                names.filter_map(|name| fit(words, &code, name)).min()
            };
            meant
                .iter()
                .flatten()
                .chain([&typed_words])
                .filter_map(|words| of_words(words))
                .min()
        }
    };
    let mut found: Vec<_> = ROWS
        .iter()
        .filter_map(|row| {
            let games = |fit| (fit, games(books, row.line.last()), row);
            fits(row).map(games)
        })
        .collect();
    found.sort_by_key(|(fit, games, row)| {
        (
            *fit,
            std::cmp::Reverse(*games),
            row.line.plies(),
            row.opening.eco,
        )
    });
    found.truncate(MOST_FOUND);
    found
        .into_iter()
        .map(|(_, games, row)| FoundOpening {
            eco: row.opening.eco,
            name: row.opening.name,
            play: row.line.uci_words(),
            line: row.moves,
            games,
        })
        .collect()
}

/// Whether a line continues another one, or reaches its position.
fn continues(line: &Line, from: &Line) -> Option<Fit> {
    let at = line.positions().get(from.plies())?;
    (at == from.last()).then(|| match line.plies() == from.plies() {
        true => Fit::Whole,
        false => Fit::Starts,
    })
}

fn fit(typed: &[String], code: &str, name: &[String]) -> Option<Fit> {
    if name.starts_with(typed) && name.len() <= typed.len() + 1 {
        return Some(Fit::Whole);
    }
    let starts =
        |word: &String| code.starts_with(word) || name.iter().any(|part| part.starts_with(word));
    let is_part = |word: &String| starts(word) || name.iter().any(|part| part.contains(word));
    if typed.iter().all(starts) {
        Some(Fit::Starts)
    } else {
        typed.iter().all(is_part).then_some(Fit::Parts)
    }
}

/// Replaces an alternative name in the typed words by the English words: the longest name
/// that is complete, or that the last words begin.
fn english(typed: &[String]) -> Option<Vec<String>> {
    let mut best: Option<(usize, usize, Vec<String>)> = None;
    for (alias, english) in ALIASES.iter() {
        let windows = typed.windows(alias.len());
        let is_meant = |window: &[String]| {
            let (Some(last), Some(typed_last)) = (alias.last(), window.last()) else {
                return false;
            };
            let length = |word: &String| word.chars().count();
            let begins = length(typed_last) >= LEAST_PREFIX && last.starts_with(typed_last);
            // With an ending: "sizilianische".
            let ends = length(last) > LEAST_PREFIX
                && typed_last.starts_with(last)
                && length(typed_last) <= length(last) + 2;
            let (heads, typed_heads) = (alias.len() - 1, window.len() - 1);
            alias.get(..heads) == window.get(..typed_heads)
                && (last == typed_last || begins || ends)
        };
        let found = windows.enumerate().find(|(_, window)| is_meant(window));
        let Some((at, window)) = found else {
            continue;
        };
        // Complete names before beginnings, more words before fewer.
        let weight = 2 * window.len() + usize::from(window == alias.as_slice());
        if best.as_ref().is_none_or(|(known, ..)| weight > *known) {
            let (before, rest) = typed.split_at(at);
            let after = rest.get(alias.len()..).unwrap_or_default();
            let words = [
                &plain_words(before),
                english.as_slice(),
                &plain_words(after),
            ]
            .concat();
            best = Some((weight, at, words));
        }
    }
    best.map(|(.., words)| words)
}

/// The number of games with a position, from the book with the most.
fn games(books: &[Open], position: &Chess) -> u64 {
    let of_book = |book: &Open| {
        let mut found = Lookup::default();
        // A book that cannot be read does not count.
        book.probe(position, Wanted::Stored, &mut found).ok()?;
        Some(u64::from(found.here?.stats.games))
    };
    books.iter().filter_map(of_book).max().unwrap_or_default()
}

/// The words of a text, in lower case without accents, apostrophes and hyphens.
pub(super) fn words(text: &str) -> Vec<String> {
    let text: String = text.to_lowercase().chars().map(plain).collect();
    let text = text.replace(['\'', '’', '\u{301}'], "").replace("ss", "s");
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A letter without its accent.
fn plain(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'ç' | 'č' => 'c',
        'è' | 'é' | 'ê' | 'ë' | 'ě' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => 'o',
        'š' => 's',
        'ß' => 's',
        'ù' | 'ú' | 'û' | 'ü' | 'ű' => 'u',
        'ž' => 'z',
        'ё' => 'е',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use tabia_choice::book_set::Opener;

    /// What a player types, and the first opening found.
    const MEANT: &[(&str, &str)] = &[
        ("kings indian", "King's Indian Defense"),
        ("king's indian", "King's Indian Defense"),
        ("grunfeld", "Grünfeld Defense"),
        ("Grünfeld", "Grünfeld Defense"),
        ("gruenfeld", "Grünfeld Defense"),
        ("ruy", "Ruy Lopez"),
        ("spanish", "Ruy Lopez"),
        ("Spanisch", "Ruy Lopez"),
        ("испанская", "Ruy Lopez"),
        ("española", "Ruy Lopez"),
        ("berlin", "Ruy Lopez: Berlin Defense"),
        ("marshall", "Ruy Lopez: Marshall Attack"),
        ("QGD", "Queen's Gambit Declined"),
        ("QGA", "Queen's Gambit Accepted"),
        ("KID", "King's Indian Defense"),
        ("e4 c5", "Sicilian Defense"),
        ("1.d4 Nf6 2.c4 e6 3.Nc3 Bb4", "Nimzo-Indian Defense"),
        ("sizilianisch", "Sicilian Defense"),
        ("sizil", "Sicilian Defense"),
        ("sicilienne", "Sicilian Defense"),
        ("siciliana", "Sicilian Defense"),
        ("defensa siciliana", "Sicilian Defense"),
        ("Sizilianische Verteidigung", "Sicilian Defense"),
        ("défense sicilienne", "Sicilian Defense"),
        ("сицилианская защита", "Sicilian Defense"),
        ("apertura española", "Ruy Lopez"),
        // As the page shows them.
        (
            "Defensa siciliana: Variante Najdorf, Ataque inglés",
            "Sicilian Defense: Najdorf Variation, English Attack",
        ),
        (
            "Französische Verteidigung: Vorstoßvariante",
            "French Defense: Advance Variation",
        ),
        ("Partie du cavalier roi", "King's Knight Opening"),
        ("Принятый ферзевый гамбит", "Queen's Gambit Accepted"),
        (
            "siciliana variante najdorf",
            "Sicilian Defense: Najdorf Variation",
        ),
        ("Englische Eröffnung", "English Opening"),
        ("caro", "Caro-Kann Defense"),
        ("london", "London System"),
        ("сицилианская", "Sicilian Defense"),
        ("najdorf", "Sicilian Defense: Najdorf Variation"),
        ("Najdorf", "Sicilian Defense: Najdorf Variation"),
        ("B90", "Sicilian Defense: Najdorf Variation"),
        ("caro advance", "Caro-Kann Defense: Advance Variation"),
        ("caro-kann", "Caro-Kann Defense"),
        ("französisch", "French Defense"),
        ("italian", "Italian Game"),
        ("dragon", "Sicilian Defense: Dragon Variation"),
        ("londoner", "London System"),
        ("damengambit", "Queen's Gambit"),
        ("slav", "Slav Defense"),
        ("petroff", "Petrov's Defense"),
        ("russisch", "Petrov's Defense"),
        ("scandi", "Scandinavian Defense"),
        ("nimzo", "Nimzo-Indian Defense"),
    ];

    #[test]
    fn the_first_result_is_the_expected_opening() {
        let starter = Opener::here(false).open(tabia_choice::settings::STARTER);
        let book: Open = Arc::new(starter.unwrap());
        let missed: Vec<_> = MEANT
            .iter()
            .map(|(typed, meant)| {
                let found = search(typed, std::slice::from_ref(&book));
                (
                    *typed,
                    *meant,
                    found.first().map_or("nothing", |found| found.name),
                )
            })
            .filter(|(_, meant, found)| *meant != *found)
            .collect();
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn names_are_found_without_any_book_and_nonsense_is_not() {
        let first = |typed: &str| search(typed, &[]).first().map(|found| found.name);
        assert_eq!(first("ruy lopez"), Some("Ruy Lopez"));
        assert_eq!(first("e4"), Some("King's Pawn Game"));
        assert_eq!(first("qqq"), None);
        assert_eq!(first(" ' - "), None);
    }

    #[test]
    fn every_alias_names_an_opening() {
        for (alias, english) in ALIASES.iter() {
            let known = ROWS
                .iter()
                .any(|row| fit(english, "", &row.names[0]).is_some_and(|fit| fit < Fit::Parts));
            assert!(known && !alias.is_empty(), "{alias:?}: {english:?}");
        }
    }
}
