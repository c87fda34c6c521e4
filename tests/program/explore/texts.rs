//! The translation tables have exactly the texts of the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::languages::{LANGUAGES, rows};
use super::tokens::{Token, tokens};
use tabia_adapter::settings::DECIDING;
use tabia_book::policy::Rejection;

const HTML: &str = include_str!("../../../crates/explorer/src/page/index.html");

/// Texts that are the same in every language: names, keys, examples to type; and texts
/// that are shown without scripts.
const SAME: [&str; 6] = [
    "Tabia",
    "Cmd",
    "English",
    "e4, Nf3",
    "najdorf, B90, KID, e4 c5",
    "This page needs JavaScript; everything it runs comes from this program.",
];

/// Where a script translates a variable: the file, the argument of `t`, the constants
/// with its possible texts, and other texts.
type Indirect = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const INDIRECT: &[Indirect] = &[
    ("board-input.js", "NAMES[letter]", &["NAMES"], &[]),
    ("edit.js", "text", &["MARKS"], &["None"]),
    // Texts of the page itself.
    ("lang.js", "element.getAttribute(name)", &[], &[]),
    ("lang.js", "PIECES[letter]", &["PIECES"], &[]),
    ("main.js", "JUMPS[to]", &["JUMPS"], &[]),
    ("settings.js", "name", &["COLUMNS"], &[]),
    ("table-input.js", "text", &["MARKS"], &[]),
    ("settings.js", "help", &["COLUMNS"], &[]),
    ("settings.js", "text", &["CHOICES"], &[]),
    ("signs.js", "SIGNS[nag][1]", &["SIGNS"], &[]),
    (
        "table.js",
        "named[kind] ?? name",
        &["COLUMNS", "named"],
        &[],
    ),
    (
        "table.js",
        "named[kind] ?? (help || \"By name\")",
        &["COLUMNS", "named"],
        &["By name"],
    ),
    ("table.js", "short", &["kinds"], &[]),
    ("table.js", "name", &["kinds"], &[]),
];

/// Pieces on squares are described by colour and name.
const SQUARE: (&str, &str) = (
    "board.js",
    "`${letter === letter.toUpperCase() ? \"white\" : \"black\"} ${NAMES[letter.toLowerCase()]}`",
);

/// Strings in those constants that are not shown.
const FOR_SCRIPTS: [&str; 12] = [
    "move", "n", "share", "score", "eval", "av", "perf", "fact", "prob", "results", "main", "avoid",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files of a folder and its subfolders, by name.
fn files(folder: &Path, ending: &str) -> BTreeMap<PathBuf, String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut found = BTreeMap::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|known| known == ending) {
            let text = fs::read_to_string(&path).unwrap();
            found.insert(path, text);
        }
    }
    found
}

/// A text with numbered placeholders, as in the tables.
fn numbered(text: &str) -> String {
    let mut parts = text.split("{}");
    let mut whole = parts.next().unwrap().to_owned();
    for (number, part) in parts.enumerate() {
        whole += &format!("{{{number}}}{part}");
    }
    whole
}

/// The text between brackets; `from` begins after the opening one.
fn argument(from: &str) -> &str {
    let mut depth = 0;
    for (at, c) in from.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return &from[..at],
            ')' => depth -= 1,
            // Further arguments.
            ',' if depth == 0 && !from.starts_with('`') => return &from[..at],
            _ => {}
        }
    }
    from
}

/// The texts that a script translates, and other arguments of `t`.
fn translated(script: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let tokens = tokens(script, true);
    let mut direct = BTreeSet::new();
    let mut indirect = BTreeSet::new();
    for (at, (token, _)) in tokens.iter().enumerate() {
        let is_member = at > 0 && tokens[at - 1].0 == Token::Sign('.');
        let is_declared = at > 0 && tokens[at - 1].0 == Token::Word("function".to_owned());
        if *token != Token::Word("t".to_owned()) || is_member || is_declared {
            continue;
        }
        match (tokens.get(at + 1), tokens.get(at + 2)) {
            (Some((Token::Text(text), _)), _) => {
                direct.insert(numbered(text));
            }
            (Some((Token::Sign('('), _)), Some((Token::Text(text), from)))
                if from.starts_with('"') =>
            {
                direct.insert(text.clone());
            }
            (Some((Token::Sign('('), _)), Some((_, from))) => {
                indirect.insert(argument(from).to_owned());
            }
            _ => {}
        }
    }
    (direct, indirect)
}

/// The texts in a constant.
fn texts_of(script: &str, name: &str) -> Vec<String> {
    let head = format!("const {name} = ");
    let Some(at) = script.find(&head) else {
        return Vec::new();
    };
    let body = tokens(&script[at + head.len()..], true);
    let ends = body
        .iter()
        .position(|(token, _)| *token == Token::Sign(';'));
    let body = body.into_iter().take(ends.unwrap());
    body.filter_map(|(token, _)| match token {
        Token::Text(text) => Some(text),
        _ => None,
    })
    .collect()
}

/// The texts of the page: between tags, and in attributes that the page translates.
fn texts_of_html() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = HTML.split_once("<body>").unwrap().1;
    while let Some((text, tag)) = rest.split_once('<') {
        found.insert(text.trim().to_owned());
        let (tag, after) = tag.split_once('>').unwrap();
        for name in ["title", "aria-label", "placeholder"] {
            let value = tag.split_once(&format!(" {name}=\""));
            let value = value.and_then(|(_, value)| value.split_once('"'));
            found.extend(value.map(|(value, _)| value.to_owned()));
        }
        rest = after;
        if tag.starts_with("script") {
            rest = rest.split_once("</script>").unwrap().1;
        }
    }
    found
        .into_iter()
        .filter(|text| !text.starts_with("{{"))
        .collect()
}

/// Whether there is text to translate: more than symbols or a key's letter.
fn has_words(text: &str) -> bool {
    let bare = text.replace("&nbsp;", "");
    bare.chars().count() > 1 && bare.chars().any(char::is_alphabetic)
}

/// Messages of the position library, and values of marks.
const FROM_VALUES: [&str; 15] = [
    "invalid fen",
    "invalid board part in fen",
    "invalid turn part in fen",
    "invalid castling part in fen",
    "invalid ep square in fen",
    "invalid halfmove clock in fen",
    "invalid fullmove part in fen",
    "empty board",
    "missing king",
    "too many kings",
    "pawns on backrank",
    "opposite check",
    "main",
    "avoid",
    "none",
];

/// All reasons not to play a move; a new one causes a compile error until it is added
/// here.
fn reasons() -> Vec<Rejection> {
    use Rejection::*;
    let after = |reason: &Rejection| {
        Some(match reason {
            NoPosition => Transposition,
            Transposition => WeightZero,
            WeightZero => PastDepth,
            PastDepth => NotAsked,
            NotAsked => Exit { value: 0, limit: 0 },
            Exit { .. } => Repetition,
            Repetition => LineEnds,
            LineEnds => Forbidden,
            Forbidden => FewGames,
            FewGames => LowScore,
            LowScore => LearnedNever,
            LearnedNever => NotTheOnlyMove,
            NotTheOnlyMove => Doubtful,
            Doubtful => NotMain,
            NotMain => NotLearnedAlways,
            NotLearnedAlways => SmallShare,
            SmallShare => LosesTooMuch { loss: 0, limit: 0 },
            LosesTooMuch { .. } => ValueUnknown { limit: 0 },
            ValueUnknown { .. } => return None,
        })
    };
    std::iter::successors(Some(NoPosition), after).collect()
}

/// The codes of the program's messages: of `message!`, of options, and of reasons not to
/// play a move.
fn codes_of_program() -> BTreeSet<String> {
    let mut codes = BTreeSet::from(FROM_VALUES.map(str::to_owned));
    codes.extend(DECIDING.iter().map(|id| id.spec().help.to_owned()));
    let plain = reasons().into_iter().filter(|reason| {
        let has_figures = matches!(
            reason,
            Rejection::LosesTooMuch { .. }
                | Rejection::ValueUnknown { .. }
                | Rejection::Exit { .. }
        );
        !has_figures
    });
    codes.extend(plain.map(|reason| reason.to_string()));
    codes.insert("too many connections".to_owned());
    for text in files(&folder("crates/explorer/src"), "rs").values() {
        let code = text.split("\n#[cfg(test)]").next().unwrap();
        let tokens: Vec<Token> = tokens(code, false)
            .into_iter()
            .map(|(token, _)| token)
            .collect();
        for window in tokens.windows(4) {
            if let [
                Token::Word(word),
                Token::Sign('!'),
                Token::Sign('('),
                Token::Text(code),
            ] = window
                && word == "message"
            {
                codes.insert(code.clone());
            }
        }
    }
    codes
}

#[test]
fn every_text_of_the_page_is_in_every_language_and_nothing_else() {
    let scripts: BTreeMap<String, String> = files(&folder("crates/explorer/src/page"), "js")
        .into_iter()
        .map(|(path, text)| (path.file_name().unwrap().to_str().unwrap().to_owned(), text))
        .collect();
    let mut shown = texts_of_html();
    let mut indirect = BTreeSet::new();
    for (name, script) in &scripts {
        let (direct, others) = translated(script);
        shown.extend(direct);
        indirect.extend(others.into_iter().map(|what| (name.clone(), what)));
    }
    let known = INDIRECT.iter().map(|(name, what, ..)| (*name, *what));
    let known = known.chain([SQUARE]);
    let known: BTreeSet<_> = known.map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    assert_eq!(
        indirect, known,
        "what is translated that is not written there"
    );
    for (_, _, constants, texts) in INDIRECT {
        shown.extend(texts.iter().map(|text| (*text).to_owned()));
        for constant in *constants {
            let found = scripts
                .values()
                .flat_map(|script| texts_of(script, constant));
            let found: Vec<_> = found.collect();
            assert!(!found.is_empty(), "{constant}");
            let is_text = |text: &String| !FOR_SCRIPTS.contains(&&**text);
            shown.extend(found.into_iter().filter(is_text));
        }
    }
    for name in texts_of(&scripts["board.js"], "NAMES") {
        shown.extend(["white", "black"].map(|colour| format!("{colour} {name}")));
    }
    shown.extend(codes_of_program());
    // The name of a column may be one letter, which is not a key.
    let tables = LANGUAGES.map(rows);
    let is_known = |text: &str| tables[0].iter().any(|(from, _)| from == text);
    shown.retain(|text| is_known(text) || has_words(text) && !SAME.contains(&&**text));
    for table in &tables {
        let there: BTreeSet<String> = table.iter().map(|(from, _)| from.clone()).collect();
        assert_eq!(there.len(), table.len(), "a text is there twice");
        let missing: Vec<_> = shown.difference(&there).collect();
        let unused: Vec<_> = there.difference(&shown).collect();
        assert!(missing.is_empty(), "not translated: {missing:#?}");
        assert!(unused.is_empty(), "nothing shows them: {unused:#?}");
    }
}

#[test]
fn every_translation_has_the_placeholders_of_its_text_and_is_short_enough() {
    for (language, table) in ["de", "es", "fr", "ru"].into_iter().zip(LANGUAGES) {
        for (from, to) in rows(table) {
            let places = |text: &str| -> BTreeSet<usize> {
                let all = 0..9;
                all.filter(|n| text.contains(&format!("{{{n}}}"))).collect()
            };
            assert!(!to.trim().is_empty(), "{language}: {from}");
            assert_eq!(places(&from), places(&to), "{language}: {from}: {to}");
            let (long, most) = (to.chars().count(), from.chars().count() * 3 / 2 + 16);
            assert!(
                long <= most,
                "{language}: {long} characters, at most {most}: {to}"
            );
        }
    }
}
