//! `tabia verify`: its output for sound and damaged books.

use serde_json::{Value, json};

use crate::common::{Folder, SIMPLE, assert_has, tabia};

#[test]
fn verify_reports_each_problem_and_its_exit_code() {
    let sound = tabia(&["verify", SIMPLE]);
    assert_eq!(sound.printed(), "");
    assert_has(&sound.err(), "4 positions, 3 moves, 1 page in");
    assert_has(&sound.err(), "no problem");

    let folder = Folder::new();
    let mut bytes = crate::common::files(SIMPLE)[0].clone();
    // The first move of the second entry.
    bytes[4096 + 60 + 23] = 0x02;
    folder.put("book.ctg", bytes);
    let bad = folder.tabia("verify book.ctg");
    bad.ends_with(1, "3 problems");
    let out = bad.out();
    let lines: Vec<&str> = out.lines().collect();
    let ends = [
        "index: the index file is missing (book.cto: byte 0)",
        "index: the index file is missing (book.ctb: byte 0)",
        "unknown-move: move byte 0x02 has no known meaning (book.ctg: page 0, byte 4179)",
    ];
    assert_eq!(lines, ends);

    let json = folder.tabia("verify --json book.ctg").negative();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json!([json["positions"], json["moves"]]), json!([4, 3]));
    let problems = json["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 3);
    let last = json!({"file": "book.ctg", "page": 0, "offset": 4179, "kind": "unknown-move"});
    for (field, value) in last.as_object().unwrap() {
        assert_eq!(problems[2][field], *value, "{field}");
    }
    assert_eq!(problems[0]["page"], Value::Null);
    let sound = tabia(&["verify", "--json", SIMPLE]).json();
    assert_eq!(sound["problems"], json!([]));

    let none = tabia("verify Cargo.toml");
    let messages = none.refused("not an opening book");
    assert_eq!((none.out().as_str(), messages.lines().count()), ("", 1));
}
