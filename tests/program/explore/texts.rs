//! Every text of the page is in the tables of its languages, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::languages::{TABLES, rows, told};
use super::tokens::{Token, tokens};

const LANGUAGES: [&str; 4] = [
    include_str!("../../../crates/explorer/src/page/lang-de.js"),
    include_str!("../../../crates/explorer/src/page/lang-es.js"),
    include_str!("../../../crates/explorer/src/page/lang-fr.js"),
    include_str!("../../../crates/explorer/src/page/lang-ru.js"),
];

const HTML: &str = include_str!("../../../crates/explorer/src/page/index.html");

/// What is the same in every language: names, keys, examples to be typed; and
/// what is read where no script runs.
const SAME: [&str; 6] = [
    "Tabia",
    "Cmd",
    "English",
    "e4, Nf3",
    "najdorf, B90, caro advance",
    "This page needs JavaScript; everything it runs comes from this program.",
];

/// Where a script translates what is not written there: the file, what it
/// gives to `t`, the constants whose texts it may be, and other texts.
type Indirect = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const INDIRECT: &[Indirect] = &[
    ("board.js", "NAMES[letter]", &["NAMES"], &[]),
    ("edit.js", "text", &["MARKS"], &["None"]),
    // Texts of the page itself.
    ("lang.js", "element.getAttribute(name)", &[], &[]),
    ("lang.js", "PIECES[letter]", &["PIECES"], &[]),
    ("main.js", "JUMPS[to]", &["JUMPS"], &[]),
    (
        "settings.js",
        "`Theme: ${document.documentElement.dataset.theme}`",
        &[],
        &["Theme: auto", "Theme: light", "Theme: dark"],
    ),
    ("settings.js", "name", &["COLUMNS"], &[]),
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

/// Pieces on squares are told by colour and name.
const SQUARE: (&str, &str) = (
    "board.js",
    "`${letter === letter.toUpperCase() ? \"white\" : \"black\"} ${NAMES[letter.toLowerCase()]}`",
);

/// What stands beside texts in those constants and is for the scripts alone.
const FOR_SCRIPTS: [&str; 12] = [
    "move", "n", "share", "score", "eval", "av", "perf", "fact", "prob", "results", "main", "avoid",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files of a folder and of those in it, by their names.
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

/// A text with the numbers of its places, as the tables have it.
fn numbered(text: &str) -> String {
    let mut parts = text.split("{}");
    let mut whole = parts.next().unwrap().to_owned();
    for (number, part) in parts.enumerate() {
        whole += &format!("{{{number}}}{part}");
    }
    whole
}

/// What is written between brackets, from behind the first one on.
fn argument(from: &str) -> &str {
    let mut depth = 0;
    for (at, c) in from.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return &from[..at],
            ')' => depth -= 1,
            // Arguments that follow.
            ',' if depth == 0 && !from.starts_with('`') => return &from[..at],
            _ => {}
        }
    }
    from
}

/// The texts that a script names where it translates them, and what else it
/// gives to `t`.
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

/// The texts within the constant of a name.
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

/// The texts of the page itself: between its tags, and in the attributes that
/// the page translates.
fn texts_of_html() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = HTML.split_once("<body>").unwrap().1;
    while let Some((text, tag)) = rest.split_once('<') {
        found.insert(text.trim().to_owned());
        let (tag, behind) = tag.split_once('>').unwrap();
        for name in ["title", "aria-label", "placeholder"] {
            let value = tag.split_once(&format!(" {name}=\""));
            let value = value.and_then(|(_, value)| value.split_once('"'));
            found.extend(value.map(|(value, _)| value.to_owned()));
        }
        rest = behind;
        if tag.starts_with("script") {
            rest = rest.split_once("</script>").unwrap().1;
        }
    }
    found
        .into_iter()
        .filter(|text| !text.starts_with("{{"))
        .collect()
}

/// Whether there is anything to translate: more than signs, or the letter of a key.
fn has_words(text: &str) -> bool {
    let bare = text.replace("&nbsp;", "");
    bare.chars().count() > 1 && bare.chars().any(char::is_alphabetic)
}

#[test]
fn every_text_of_the_page_is_in_every_language_and_nothing_else() {
    let scripts: BTreeMap<String, String> = files(&folder("crates/explorer/src/page"), "js")
        .into_iter()
        .map(|(path, text)| (path.file_name().unwrap().to_str().unwrap().to_owned(), text))
        .filter(|(name, _)| !name.starts_with("lang-") && !name.starts_with("program-"))
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
    // A column may be called by one letter, which is no key.
    let tables = LANGUAGES.map(rows);
    let is_known = |text: &str| tables[0].iter().any(|(from, _)| from == text);
    shown.retain(|text| is_known(text) || has_words(text) && !SAME.contains(&&**text));
    for table in &tables {
        let there: BTreeSet<String> = table.iter().map(|(from, _)| from.clone()).collect();
        assert_eq!(there.len(), table.len(), "a text stands there twice");
        let missing: Vec<_> = shown.difference(&there).collect();
        let unused: Vec<_> = there.difference(&shown).collect();
        assert!(missing.is_empty(), "not translated: {missing:#?}");
        assert!(unused.is_empty(), "nothing shows them: {unused:#?}");
    }
}

#[test]
fn every_translation_has_the_places_of_its_text() {
    for table in LANGUAGES.into_iter().chain(TABLES) {
        for (from, to) in rows(table) {
            let places = |text: &str| -> BTreeSet<usize> {
                (0..9)
                    .filter(|n| text.contains(&format!("{{{n}}}")))
                    .collect()
            };
            assert!(!to.trim().is_empty(), "{from}");
            assert_eq!(places(&from), places(&to), "{from}: {to}");
        }
    }
}

/// What is for clients that are no page: what they are told, and what they say.
const FOR_CLIENTS: &[&str] = &[
    "Book Leave Early",
    "GET, HEAD, POST",
    "GET, HEAD, POST, OPTIONS",
    "a commentary is = += =+ +/- -/+ +- -+ unclear, none or a number",
    "a mark is main, avoid or none",
    "an annotation is ! ? !! ?? !? ?! or none",
    "chess960, chess 960, fischerandom, antichess, atomic, crazyhouse, horde, kingofthehill, king of the hill, koth, racingkings, racing kings, threecheck, three-check, three check, 3check, 3-check, giveaway",
    "at most {} positions at once",
    "authorization, accept, cache-control, content-type, if-modified-since, x-requested-with",
    "book: there are {}, from 0",
    "color: expected white or black",
    "expected an origin as https://example.org, or any",
    "expected true or false",
    "local lan home home.arpa internal fritz.box localdomain",
    "mark, annotation, factor, commentary and weight can be changed",
    "modes: expected rated or casual",
    "moves are in UCI notation",
    "only GET, HEAD and POST are known here",
    "player: a name is wanted",
    "player: no name is that long",
    "public, max-age=31536000, immutable",
    "ratings takes whole numbers",
    "standard, chess, fromposition, from position, from_position",
    "the Host header names another machine",
    "the body is no UTF-8",
    "the body must be application/json",
    "the body names no position",
    "the body: expected a list of FENs",
    "the body: {}",
    "the request comes from a page of another site",
    "the request is broken",
    "the request names no host",
    "there is no such game",
    "there is no such page",
    "this is no proxy",
    "this takes POST",
    "to is difference, gap or mark",
    "variant: there is no \"{}\"",
];

/// What the library for positions says.
const SHAKMATY_SAYS: [&str; 13] = [
    "invalid fen",
    "invalid board part in fen",
    "invalid turn part in fen",
    "invalid castling part in fen",
    "invalid ep square in fen",
    "invalid halfmove clock in fen",
    "invalid fullmove part in fen",
    "illegal position: {0}",
    "empty board",
    "missing king",
    "too many kings",
    "pawns on backrank",
    "opposite check",
];

/// Texts of the program's code, with `{}` for what varies; tests aside.
fn texts_of_program(code: &str) -> Vec<String> {
    let code = code.split("\n#[cfg(test)]").next().unwrap();
    let texts = tokens(code, false)
        .into_iter()
        .filter_map(|(token, _)| match token {
            Token::Text(text) => Some(text),
            _ => None,
        });
    texts
        .map(|text| {
            let mut parts = text.split('{');
            let first = parts.next().unwrap().to_owned();
            parts.fold(first, |whole, part| match part.split_once('}') {
                Some((place, rest)) if !place.contains(['"', ' ']) => whole + "{}" + rest,
                _ => whole + "{" + part,
            })
        })
        .collect()
}

#[test]
fn whatever_the_explorer_says_is_in_every_language() {
    let code = files(&folder("crates/explorer/src"), "rs");
    let texts = code.values().flat_map(|text| texts_of_program(text));
    let reads = |text: &String| {
        let words = text.split(' ').filter(|word| {
            word.len() > 1
                && word
                    .chars()
                    .all(|c| c.is_alphabetic() || ",:;.".contains(c))
        });
        words.count() > 1 && !text.starts_with("HTTP/1.1") && !text.starts_with('<')
    };
    let said: BTreeSet<String> = texts.filter(reads).collect();
    let mut missing = BTreeSet::new();
    for table in TABLES {
        let rows = rows(table);
        for text in said.iter().filter(|text| !FOR_CLIENTS.contains(&&***text)) {
            if told(&rows, &text.replace("{}", "7")).is_none() {
                missing.insert(text.clone());
            }
        }
    }
    assert!(missing.is_empty(), "not translated: {missing:#?}");
    for text in FOR_CLIENTS {
        assert!(said.contains(*text), "nothing says it any more: {text}");
    }
}

#[test]
fn no_table_has_what_the_program_never_says() {
    let mut code = files(&folder("src"), "rs");
    code.extend(files(&folder("crates"), "rs"));
    let said: BTreeSet<String> = code
        .values()
        .flat_map(|text| texts_of_program(text))
        .collect();
    let parts = |text: &str| -> Vec<String> {
        let bare = text.split('{');
        let bare = bare.map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
        bare.map(|part| part.trim_matches(|c: char| !c.is_alphabetic()).to_owned())
            .collect()
    };
    // Some are put together of parts, and some are the other library's.
    let is_said = |text: &str| {
        let is_part = |part: &String| said.iter().any(|text| text.contains(&**part));
        parts(text).iter().all(is_part)
    };
    let rows = rows(TABLES[0]).into_iter().map(|(from, _)| from);
    let unused = rows
        .filter(|text| !SHAKMATY_SAYS.contains(&text.trim_end_matches(", {0}")) && !is_said(text));
    assert_eq!(unused.collect::<Vec<_>>(), [""; 0], "nothing says them");
}
