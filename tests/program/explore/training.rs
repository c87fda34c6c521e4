//! Training: pages send events, and get what is known of each position.

use super::*;
use std::fs;
use std::path::Path;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const AFTER: &str = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";

fn training_of(book: &Path, read_only: bool, address: &str) -> Explorer {
    let access = Access::new(address.parse().unwrap(), TOKEN.into());
    let books = vec![ExploredBook::from_file(book).unwrap(), starter()];
    Explorer::new(books, access, Options::default(), read_only)
}

fn deck(explorer: &Explorer, number: usize) -> String {
    let view = ask(explorer, &format!("/api/position?books={number}"));
    view["books"][0]["deck"].as_str().unwrap().to_owned()
}

fn send(explorer: &Explorer, deck: &str, since: Option<&str>, events: &Value) -> Value {
    let body = json!({"deck": deck, "since": since, "events": events});
    let answer = post(explorer, "/api/training", &body);
    assert_eq!(answer.status(), StatusCode::OK, "{:?}", answer.body());
    value(&answer)
}

fn answer(id: &str, time: u64, fen: &str, line: &str, right: bool) -> Value {
    json!({"id": id, "time": time, "kind": "answer", "fen": fen, "right": right,
        "way": {"line": line, "opening": "Sicilian"}})
}

fn copy(folder: &Folder, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::copy(STARTER, &path).unwrap();
    path
}

#[test]
fn an_event_counts_once_for_all_programs_and_pages() {
    let folder = Folder::new();
    let path = copy(&folder, "book.ctg");
    let programs = [(); 2].map(|()| training_of(&path, false, ADDRESS));
    let deck = deck(&programs[0], 0);
    let events = json!([
        answer("a", 10, START, "", true),
        answer("b", 20, AFTER, "e2e4,c7c5", false)
    ]);
    let first = send(&programs[0], &deck, None, &events);
    assert_eq!(
        (&first["stored"], &first["whole"], &first["problem"]),
        (&json!(true), &json!(true), &Value::Null)
    );
    // Sent again, by another page to another program.
    let second = send(&programs[1], &deck, None, &events);
    assert_eq!(first["cards"], second["cards"]);
    let card = &second["cards"][0];
    assert_eq!(
        card["at"]["fen"],
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -"
    );
    assert_eq!(
        (&card["right"], &card["wrong"], &card["due"]),
        (&json!(0), &json!(1), &json!(20))
    );
    assert_eq!(
        card["line"],
        json!([{"uci": "e2e4", "san": "e4"}, {"uci": "c7c5", "san": "c5"}])
    );
    let file = path.with_added_extension("training.jsonl");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 3);
    // Only what has changed since, also by the other program.
    let mark = first["mark"].as_str();
    let choice = json!([{"id": "c", "time": 30, "kind": "choose", "fen": AFTER, "move": "g1f3"}]);
    send(&programs[1], &deck, None, &choice);
    let changed = send(&programs[0], &deck, mark, &json!([]));
    assert_eq!(
        (
            &changed["whole"],
            changed["cards"].as_array().unwrap().len()
        ),
        (&json!(false), 1)
    );
    assert_eq!(changed["moves"][0][2], "g1f3");
    let mark = changed["mark"].as_str();
    assert_eq!(
        send(&programs[0], &deck, mark, &json!([]))["cards"],
        json!([])
    );
    // Forgetting is undone by another event.
    let forget = json!([{"id": "d", "time": 40, "kind": "forget"}]);
    let forgotten = send(&programs[0], &deck, mark, &forget);
    assert_eq!(
        (
            &forgotten["whole"],
            &forgotten["cards"],
            &forgotten["moves"]
        ),
        (&json!(true), &json!([]), &json!([]))
    );
    let undo = json!([{"id": "e", "time": 50, "kind": "undo", "event": "d"}]);
    assert_eq!(
        send(&programs[0], &deck, None, &undo)["cards"],
        first["cards"]
    );
    // What is invalid is refused, with its reason, and the rest is stored.
    let mixed = json!([
        answer("f", 60, START, "e2e4", true),
        answer("g", 60, "nonsense", "", true),
        answer("h i", 60, START, "", true),
        {"id": "j", "time": 60, "kind": "choose", "fen": START, "move": "e2e5"},
        {"id": "k", "time": 60, "kind": "other"},
        7,
        answer("l", 60, START, "", true),
    ]);
    let refused = send(&programs[0], &deck, None, &mixed);
    let reasons = refused["refused"].as_array().unwrap();
    let ids: Vec<&str> = reasons
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["f", "g", "h i", "j", "k", ""]);
    assert_eq!(
        reasons[0]["reason"]["code"],
        "its moves do not lead to its position"
    );
    assert_eq!(refused["cards"][1]["right"], 2);
    let unknown = json!({"deck": "0", "events": []});
    assert_eq!(
        post(&programs[0], "/api/training", &unknown).status(),
        StatusCode::NOT_FOUND
    );
}

#[test]
fn what_cannot_be_stored_is_still_scheduled_and_other_machines_see_nothing() {
    let folder = Folder::new();
    let path = copy(&folder, "book.ctg");
    let events = json!([answer("a", 10, START, "", true)]);
    let usual = training_of(&path, false, ADDRESS);
    let deck = deck(&usual, 0);
    send(&usual, &deck, None, &events);
    let file = path.with_added_extension("training.jsonl");
    let before = fs::read(&file).unwrap();
    let more = json!([answer("b", 20, START, "", true)]);
    let sent = send(&training_of(&path, true, ADDRESS), &deck, None, &more);
    assert_eq!(
        (&sent["stored"], &sent["cards"][0]["right"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(
        sent["problem"]["code"],
        "the explorer was started read-only"
    );
    // A page on another machine gets an answer from what it sends alone.
    let open = training_of(&path, false, "0.0.0.0:8000");
    let mut request = request(
        Method::POST,
        "/api/training",
        &json!({"deck": deck, "events": more}).to_string(),
    );
    request
        .headers_mut()
        .insert("host", "192.168.1.5:8000".parse().unwrap());
    let sent = value(&open.answer(&request));
    assert_eq!(
        (&sent["stored"], &sent["cards"][0]["right"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(fs::read(&file).unwrap(), before);
    // Without the token of a page nothing is taken.
    request.headers_mut().remove("x-tabia-token");
    assert_eq!(open.answer(&request).status(), StatusCode::FORBIDDEN);
    // The starter book has no file: without a folder of the user it is not stored.
    let starter = super::training::deck(&usual, 1);
    let sent = send(&usual, &starter, None, &events);
    assert!(
        sent["problem"]["code"]
            .as_str()
            .unwrap()
            .contains("XDG_DATA_HOME"),
        "{sent}"
    );
    let data = folder.join("data");
    let usual = usual.with_user_data(Some(data.clone()));
    assert_eq!(send(&usual, &starter, None, &events)["stored"], true);
    assert_eq!(fs::read_dir(data.join("training")).unwrap().count(), 1);
}

#[test]
fn the_training_of_a_renamed_book_is_found_and_two_books_of_one_name_share_none() {
    let folder = Folder::new();
    fs::create_dir(folder.join("other")).unwrap();
    let path = copy(&folder, "book.ctg");
    let same = copy(&folder, "other/book.ctg");
    let events = json!([answer("a", 10, START, "", true)]);
    let explorer = training_of(&path, false, ADDRESS);
    let first = deck(&explorer, 0);
    send(&explorer, &first, None, &events);
    let other = training_of(&same, false, ADDRESS);
    assert_ne!(deck(&other, 0), first);
    let empty = send(&other, &deck(&other, 0), None, &json!([]));
    assert_eq!(
        (&empty["cards"], &empty["left_behind"]),
        (&json!([]), &json!([]))
    );
    let renamed = folder.join("renamed.ctg");
    fs::rename(&path, &renamed).unwrap();
    let explorer = training_of(&renamed, false, ADDRESS);
    let deck = deck(&explorer, 0);
    let found = send(&explorer, &deck, None, &json!([]));
    assert_eq!(
        (&found["cards"], &found["left_behind"]),
        (&json!([]), &json!(["book.ctg"]))
    );
    let adopt = |book: &str| {
        value(&post(
            &explorer,
            "/api/training",
            &json!({"deck": deck, "events": [], "adopt": book}),
        ))
    };
    for nonsense in ["", "../book.ctg", "renamed.ctg"] {
        assert_eq!(adopt(nonsense)["cards"], json!([]), "{nonsense}");
    }
    let adopted = adopt("book.ctg");
    assert_eq!(
        (&adopted["cards"][0]["right"], &adopted["left_behind"]),
        (&json!(1), &json!([]))
    );
    assert!(!path.with_added_extension("training.jsonl").exists());
    assert!(renamed.with_added_extension("training.jsonl").exists());
}
