//! The messages of the program are among the texts that are translated.

use std::path::Path;

use serde_json::{Value, json};

use super::{ask, book_on_disk, explorer, explorer_at, explorer_of, post, value};

/// The sources of the explorer, with calls of macros on one line, and the listed messages
/// of libraries: `tests/page/texts.test.js` finds the texts for the translations there.
fn sources() -> String {
    let mut text = String::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/explorer/src")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            match path.extension() {
                None => folders.push(path),
                Some(kind) if kind == "rs" => text += &std::fs::read_to_string(path).unwrap(),
                Some(_) => {}
            }
        }
    }
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "\\")
        .collect();
    words.join(" ").replace("translatable!( ", "translatable!(")
}

/// Whether the page can translate a message and all messages in it.
fn is_listed(sources: &str, message: &Value) -> bool {
    let Some(code) = message["code"].as_str() else {
        return message.is_string();
    };
    let args = message["args"].as_array().into_iter().flatten();
    // A value, such as a sign or a mark, is shown as it is.
    let is_known = !code.contains(' ')
        || sources.contains(&format!("translatable!({code:?}"))
        || super::texts::LISTED.lines().any(|text| text == code);
    is_known && args.into_iter().all(|arg| is_listed(sources, arg))
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
        "/api/games?order=x",
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
        ("learn_value", "-40"),
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
            &change("learn_value", "999", None),
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
fn every_message_to_a_player_can_be_translated() {
    let sources = sources();
    for message in messages() {
        assert!(
            is_listed(&sources, &message),
            "{message} is not made by `translatable!`"
        );
    }
}
