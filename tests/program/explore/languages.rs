//! The messages of the program are in the translation tables of the page.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ask, book_on_disk, explorer, explorer_at, explorer_of, post, value};

const LANGUAGES: [&str; 4] = [
    include_str!("../../../crates/explorer/locales/de.json"),
    include_str!("../../../crates/explorer/locales/es.json"),
    include_str!("../../../crates/explorer/locales/fr.json"),
    include_str!("../../../crates/explorer/locales/ru.json"),
];

/// The rows of a table: an English text and its translation. A text may occur twice.
fn rows(table: &str) -> Vec<(String, String)> {
    let rows = table.lines().filter(|line| line.starts_with("  \""));
    rows.map(|row| {
        let row = format!("{{{}}}", row.trim_end_matches(','));
        let row: BTreeMap<String, String> = serde_json::from_str(&row).unwrap();
        row.into_iter().next().unwrap()
    })
    .collect()
}

/// A message as the page shows it (`translated` of `lang.js`).
fn translated(table: &BTreeMap<String, String>, message: &Value) -> String {
    let Some(code) = message["code"].as_str() else {
        return message.as_str().unwrap().to_owned();
    };
    let mut text = table.get(code).cloned().unwrap_or_else(|| {
        let is_value = !code.contains(' ');
        assert!(is_value, "not translated: {code}");
        code.to_owned()
    });
    for (number, arg) in message["args"].as_array().into_iter().flatten().enumerate() {
        text = text.replace(&format!("{{{number}}}"), &translated(table, arg));
    }
    text
}

/// All messages of these requests, in English.
fn messages() -> Vec<Value> {
    let mut messages = Vec::new();
    let mut note = |answer: Value, field: &str| {
        let message = match (field, &answer["message"]) {
            // A message without arguments is its own code.
            ("error", Value::Null) => json!({"code": answer["error"]}),
            ("error", message) => message.clone(),
            _ => answer[field].clone(),
        };
        assert!(message["code"].is_string(), "no {field}: {answer}");
        messages.push(message);
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
        let field = if answer["problem"].is_object() {
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
    let closed = explorer_at(super::ADDRESS, true);
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
    messages
}

#[test]
fn every_message_to_a_player_is_translated() {
    let messages = messages();
    for table in LANGUAGES {
        let table = rows(table).into_iter().collect();
        for message in &messages {
            let other = translated(&table, message);
            assert!(!other.is_empty() && other != message["code"], "{message}");
        }
    }
}
