//! What the program says is in the tables of the page's languages.

use serde_json::{Value, json};

use super::{ask, book_on_disk, explorer, explorer_at, explorer_of, post, value};

pub(crate) const TABLES: [&str; 4] = [
    include_str!("../../../crates/explorer/src/page/program-de.js"),
    include_str!("../../../crates/explorer/src/page/program-es.js"),
    include_str!("../../../crates/explorer/src/page/program-fr.js"),
    include_str!("../../../crates/explorer/src/page/program-ru.js"),
];

/// The rows of a table: a text in English and what it becomes.
pub(crate) fn rows(table: &str) -> Vec<(String, String)> {
    let rows = table.lines().filter_map(|line| line.strip_prefix("  \""));
    let plain = |text: &str| text.replace("\\\"", "\"");
    rows.map(|row| {
        let (from, to) = row.trim_end_matches("\",").split_once("\": \"").unwrap();
        (plain(from), plain(to))
    })
    .collect()
}

/// What stands in the places of a text, each as long as it can be.
fn places<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let Some((head, rest)) = pattern.split_once('{') else {
        return (pattern == text).then(Vec::new);
    };
    let rest = &rest[2..];
    let text = text.strip_prefix(head)?;
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
    ends.push(text.len());
    ends.into_iter().rev().find_map(|end| {
        let mut found = places(rest, &text[end..])?;
        found.insert(0, &text[..end]);
        Some(found)
    })
}

/// As the page does it (`told` of `lang.js`).
pub(crate) fn told(rows: &[(String, String)], text: &str) -> Option<String> {
    if let Some((_, to)) = rows.iter().find(|(from, _)| from == text) {
        return Some(to.clone());
    }
    let with_places = rows.iter().filter(|(from, _)| from.contains("{0}"));
    let (places, to) = with_places
        .filter_map(|(from, to)| Some((places(from, text)?, to)))
        .next()?;
    let mut said = to.clone();
    for (number, place) in places.into_iter().enumerate() {
        let inner = told(rows, place).unwrap_or_else(|| place.to_owned());
        said = said.replace(&format!("{{{number}}}"), &inner);
    }
    Some(said)
}

/// All that a program says to a player who does these things, in English.
fn said() -> Vec<String> {
    let mut said = Vec::new();
    let mut note = |answer: Value, field: &str| {
        let text = answer[field].as_str();
        said.push(
            text.unwrap_or_else(|| panic!("no {field}: {answer}"))
                .to_owned(),
        );
    };
    let looked = explorer();
    for address in [
        "/api/position?lenient=1&play=e2e5",
        "/api/position?lenient=1&play=e2e4,x",
        "/api/position?lenient=1&play=e2e4,c7c5,e4e6",
        "/api/position?lenient=1&fen=nonsense",
        "/api/position?lenient=1&fen=8/8/8/8/8/8/8/8+w+-+-+0+1",
        "/api/position?lenient=1&fen=kk6/8/8/8/8/8/8/K6P+w+-+-+0+1",
        "/api/position?lenient=1&books=none.ctg",
        "/api/position?lenient=1&books=0,0,0,0,0",
    ] {
        note(ask(&looked, address), "problem");
    }
    for address in [
        "/api/line?play=e2e5",
        "/api/position?at=x",
        "/api/jump?to=difference",
    ] {
        note(ask(&looked, address), "error");
    }
    for text in [
        "",
        "nonsense",
        "http://example.org/nothing",
        "1. e4 e5 2. Ke3",
        "8/8/8/8/8/8/8 w - - 0 1",
    ] {
        let answer = value(&post(&looked, "/api/read", &json!({ "text": text })));
        let field = if answer["problem"].is_string() {
            "problem"
        } else {
            "error"
        };
        note(answer, field);
    }
    for text in ["1. e4 *\n\n[Event \"b\"]\n\n1. d4 *", "1. e4 e5 2. Ke3 *"] {
        let answer = value(&post(&looked, "/api/read", &json!({ "text": text })));
        note(answer, "problem");
    }
    let asks = |line: &str| json!({"lines": 1, "play": line});
    note(value(&post(&looked, "/api/engine", &asks(""))), "error");
    let change = |what: &str, to: &str, seen: Option<&str>| json!({"book": 0, "client": "a", "play": "", "uci": "e2e4", "change": what, "value": to, "seen": seen});
    let mark = change("mark", "avoid", None);
    note(value(&post(&looked, "/api/edit", &mark)), "error");
    let closed = explorer_at(super::ADDRESS, None, true);
    note(value(&post(&closed, "/api/edit", &mark)), "error");
    let (_folder, path) = book_on_disk();
    let editable = explorer_of(&path);
    for (what, to) in [
        ("mark", "avoid"),
        ("annotation", "!"),
        ("factor", "-40"),
        ("commentary", "13"),
    ] {
        let answer = value(&post(&editable, "/api/edit", &change(what, to, None)));
        note(answer, "last_change");
    }
    let heavy = change("weight", "65536", None);
    note(value(&post(&editable, "/api/edit", &heavy)), "error");
    let stale = change("mark", "main", Some("main"));
    note(value(&post(&editable, "/api/edit", &stale)), "error");
    note(
        value(&post(
            &editable,
            "/api/edit",
            &change("factor", "999", None),
        )),
        "error",
    );
    let remove = json!({"book": 0, "client": "a", "play": "", "below": false});
    note(value(&post(&editable, "/api/remove", &remove)), "error");
    let add = |lines: &[&str]| {
        let lines = lines.iter().map(|line| json!({"play": line, "signs": []}));
        json!({"book": 0, "client": "a", "lines": lines.collect::<Vec<_>>()})
    };
    note(value(&post(&editable, "/api/add", &add(&[]))), "error");
    note(
        value(&post(&editable, "/api/add", &add(&["a2a3,a7a6"]))),
        "last_change",
    );
    note(
        value(&post(&editable, "/api/add", &add(&["h2h3", "h2h4"]))),
        "last_change",
    );
    let remove = |below| json!({"book": 0, "client": "a", "play": "a2a3", "below": below});
    note(
        value(&post(&editable, "/api/remove", &remove(true))),
        "last_change",
    );
    note(
        value(&post(&editable, "/api/remove", &remove(false))),
        "last_change",
    );
    said
}

#[test]
fn nothing_that_a_player_is_told_is_english_alone() {
    let said = said();
    for table in TABLES {
        let rows = rows(table);
        for text in &said {
            let other = told(&rows, text).unwrap_or_else(|| panic!("not translated: {text}"));
            assert!(!other.is_empty() && other != *text, "{text}");
            // What stands in its places is translated, too, but for moves,
            // names and numbers.
            let english = [
                "is not legal",
                "is no move",
                "invalid",
                "missing",
                "cannot",
                "nothing",
                "avoid",
            ];
            assert!(
                english.iter().all(|word| !other.contains(word)),
                "{text}: {other}"
            );
        }
    }
}
