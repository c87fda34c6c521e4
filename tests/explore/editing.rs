//! Moves and lines into a book on disk and out of it, and the way back.

use std::path::Path;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::{book_on_disk, explorer_at, explorer_of, get, post, value};
use tabia::explore::Explorer;

/// The moves that the book holds after a line.
fn moves(explorer: &Explorer, play: &str) -> Vec<String> {
    let view = value(&get(explorer, &format!("/api/position?play={play}")));
    let moves = view["books"][0]["moves"].as_array().unwrap();
    let stored = moves.iter().filter(|mv| mv["transposition"] == false);
    stored
        .map(|mv| mv["uci"].as_str().unwrap().to_owned())
        .collect()
}

fn files(path: &Path) -> Vec<Vec<u8>> {
    let of = |ending| std::fs::read(path.with_extension(ending)).unwrap();
    ["ctg", "cto", "ctb"].map(of).into()
}

fn done(explorer: &Explorer, path: &str, body: &Value) -> Value {
    let response = post(explorer, path, body);
    assert_eq!(
        response.status(),
        StatusCode::OK,
        "{path} {body}: {}",
        value(&response)
    );
    value(&response)
}

#[test]
fn a_line_comes_in_and_goes_byte_for_byte() {
    let (folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    assert!(!moves(&explorer, "").contains(&"h2h4".to_owned()));
    let line = json!({"play": "h2h4,h7h5,h1h3", "signs": [[0, 6]]});
    let told = done(&explorer, "/api/add", &json!({"book": 0, "lines": [line]}));
    assert_eq!(told["last_change"], "added 1.h4 h5 2.Rh3");
    assert!(moves(&explorer, "").contains(&"h2h4".to_owned()));
    assert_eq!(moves(&explorer, "h2h4,h7h5"), ["h1h3"]);
    // What was there keeps its figures.
    let view = value(&get(&explorer, "/api/position"));
    let of = |uci: &str| {
        let moves = view["books"][0]["moves"].as_array().unwrap();
        moves.iter().find(|mv| mv["uci"] == uci).unwrap().clone()
    };
    assert!(of("e2e4")["games"].as_u64().unwrap() > 1000);
    assert_eq!(
        (&of("h2h4")["games"], &of("h2h4")["annotation"]),
        (&json!(0), &json!("?!"))
    );
    let undone = done(&explorer, "/api/undo", &json!({"book": 0}));
    assert_eq!(undone["taken_back"], "added 1.h4 h5 2.Rh3");
    assert_eq!(files(&path), before);
    done(&explorer, "/api/redo", &json!({"book": 0}));
    assert_eq!(moves(&explorer, "h2h4,h7h5"), ["h1h3"]);
    drop(explorer);
    let left: Vec<_> = folder.path().read_dir().unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_move_goes_or_what_lies_below_it() {
    let (_folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    let replies = moves(&explorer, "e2e4,c7c5");
    assert!(replies.len() > 2);
    let body = json!({"book": 0, "play": "e2e4,c7c5", "below": true});
    done(&explorer, "/api/remove", &body);
    assert!(moves(&explorer, "e2e4").contains(&"c7c5".to_owned()));
    assert_eq!(moves(&explorer, "e2e4,c7c5"), Vec::<String>::new());
    let told = done(
        &explorer,
        "/api/remove",
        &json!({"book": 0, "play": "e2e4"}),
    );
    assert_eq!(
        (&told["undo"], &told["last_change"]),
        (&json!(2), &json!("deleted 1.e4"))
    );
    assert!(!moves(&explorer, "").contains(&"e2e4".to_owned()));
    // A mark between two of them is taken back in its turn.
    let mark = json!({"book": 0, "uci": "d2d4", "change": "mark", "value": "main"});
    done(&explorer, "/api/edit", &mark);
    for _ in 0..3 {
        done(&explorer, "/api/undo", &json!({"book": 0}));
    }
    assert_eq!(moves(&explorer, "e2e4,c7c5"), replies);
    assert_eq!(files(&path), before);
    for (body, status) in [
        (json!({"book": 0, "play": "h2h4"}), StatusCode::CONFLICT),
        (json!({"book": 0, "play": ""}), StatusCode::BAD_REQUEST),
        (
            json!({"book": 0, "play": "h2h4", "below": true}),
            StatusCode::BAD_REQUEST,
        ),
        (json!({"book": 0, "play": "e2e5"}), StatusCode::BAD_REQUEST),
    ] {
        assert_eq!(
            post(&explorer, "/api/remove", &body).status(),
            status,
            "{body}"
        );
    }
    assert_eq!(files(&path), before);
}

#[test]
fn what_somebody_else_changed_since_is_not_overwritten() {
    let (_folder, path) = book_on_disk();
    let explorer = explorer_of(&path);
    let line = json!({"play": "h2h4"});
    done(
        &explorer,
        "/api/add",
        &json!({"book": 0, "lines": [line], "client": "a"}),
    );
    let mark = json!({"book": 0, "uci": "h2h4", "change": "mark", "value": "avoid", "client": "b"});
    done(&explorer, "/api/edit", &mark);
    let now = files(&path);
    let refused = post(&explorer, "/api/undo", &json!({"book": 0, "client": "a"}));
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    assert!(
        value(&refused)["error"]
            .as_str()
            .unwrap()
            .contains("changed since")
    );
    assert_eq!(files(&path), now);
    done(&explorer, "/api/undo", &json!({"book": 0, "client": "b"}));
    done(&explorer, "/api/undo", &json!({"book": 0, "client": "a"}));
    assert!(!moves(&explorer, "").contains(&"h2h4".to_owned()));
}

#[test]
fn a_whole_line_is_marked_and_a_commentary_is_set() {
    let (_folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    let mark_of = |play: &str, uci: &str, field: &str| {
        let view = value(&get(&explorer, &format!("/api/position?play={play}")));
        let moves = view["books"][0]["moves"].as_array().unwrap();
        moves.iter().find(|mv| mv["uci"] == uci).unwrap()[field].clone()
    };
    let along = json!({"book": 0, "play": "e2e4,c7c5,g1f3", "along": "white",
        "change": "mark", "value": "main"});
    done(&explorer, "/api/edit", &along);
    assert_eq!(mark_of("", "e2e4", "mark"), "main");
    assert_eq!(mark_of("e2e4", "c7c5", "mark"), "none");
    assert_eq!(mark_of("e2e4,c7c5", "g1f3", "mark"), "main");
    let comment = json!({"book": 0, "play": "e2e4", "uci": "c7c5", "change": "commentary",
        "value": "+=", "seen": "none"});
    done(&explorer, "/api/edit", &comment);
    assert_eq!(mark_of("e2e4", "c7c5", "commentary"), 14);
    // Seen otherwise than it is now.
    assert_eq!(
        post(&explorer, "/api/edit", &comment).status(),
        StatusCode::CONFLICT
    );
    for _ in 0..2 {
        done(&explorer, "/api/undo", &json!({"book": 0}));
    }
    assert_eq!(files(&path), before);
}

#[test]
fn nothing_comes_in_or_goes_without_right() {
    let (_folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    for lines in [
        json!([]),
        json!([{"play": ""}]),
        json!([{"play": "e2e5"}]),
        json!([{"play": "e2e4,0000"}]),
        json!(vec![json!({"play": "e2e4"}); 501]),
    ] {
        let response = post(&explorer, "/api/add", &json!({"book": 0, "lines": lines}));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{lines}");
    }
    assert_eq!(files(&path), before);
    for path in ["/api/add", "/api/remove"] {
        let body = match path {
            "/api/add" => json!({"book": 0, "lines": [{"play": "e2e4"}]}),
            _ => json!({"book": 0, "play": "e2e4"}),
        };
        let closed = explorer_at(super::ADDRESS, None, false);
        assert_eq!(post(&closed, path, &body).status(), StatusCode::FORBIDDEN);
        assert_eq!(
            get(&explorer, path).status(),
            StatusCode::METHOD_NOT_ALLOWED
        );
    }
}
