//! The explorer: requests as function calls, then over sockets.

#![allow(clippy::unwrap_used)]

mod editing;
mod engine;
mod folders;
mod games;
mod hostile;
mod languages;
mod lichess;
mod texts;
mod training;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::{Folder, STARTER, files, tabia};
use hyper::body::Bytes;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tabia_choice::book_set::Opener;
use tabia_choice::settings::Options;
use tabia_explorer::{Access, ExploredBook, Explorer};

pub(crate) const ADDRESS: &str = "127.0.0.1:8000";
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn starter() -> ExploredBook {
    let open = || Arc::new(tabia_choice::book_set::starter().unwrap());
    let reopen = Box::new(move || Ok(open() as _));
    ExploredBook::new("Starter".into(), Vec::new(), open(), reopen)
}

pub(crate) fn explorer_at(address: &str, read_only: bool) -> Explorer {
    let access = Access::new(address.parse().unwrap(), TOKEN.into());
    Explorer::new(vec![starter()], access, Options::default(), read_only)
}

pub(crate) fn explorer() -> Explorer {
    explorer_at(ADDRESS, false)
}

pub(crate) fn request(method: Method, target: &str, body: &str) -> Request<Bytes> {
    Request::builder()
        .method(method)
        .uri(target)
        .header("host", ADDRESS)
        .header("content-type", "application/json")
        .header("x-tabia-token", TOKEN)
        .body(Bytes::copy_from_slice(body.as_bytes()))
        .unwrap()
}

pub(crate) fn get(explorer: &Explorer, target: &str) -> Response<Bytes> {
    explorer.answer(&request(Method::GET, target, ""))
}

pub(crate) fn value(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}

/// The answer to a request as JSON.
pub(crate) fn ask(explorer: &Explorer, target: &str) -> Value {
    value(&get(explorer, target))
}

fn post(explorer: &Explorer, target: &str, body: &Value) -> Response<Bytes> {
    explorer.answer(&request(Method::POST, target, &body.to_string()))
}

/// The output of `tabia probe --json` for the starter book.
fn probe(moves: &str, sets: &[&str]) -> Value {
    let mut words = vec!["probe", STARTER, "--json", "--moves", moves];
    words.extend(sets.iter().flat_map(|set| ["--set", set]));
    serde_json::from_str(&tabia(&words).out()).unwrap()
}

#[test]
fn the_explorer_shows_the_numbers_of_probe() {
    let explorer = explorer();
    for (moves, sets) in [
        ("", vec![]),
        ("e2e4 c7c5", vec![]),
        (
            "e2e4 c7c5",
            vec!["Book Variety=100", "Book Minimum Games=200"],
        ),
        ("e2e4 c7c5 g1f3", vec!["Book Preset=Optimize"]),
        ("e2e4", vec!["Book Depth=0"]),
        ("e2e4", vec!["Book Variety=0", "Book Leave Early=5"]),
        ("g1f3 g8f6 f3g1", vec!["Book Minimum Games=0"]),
        ("a2a3 h7h6 a3a4 h6h5 a1a3", vec![]),
    ] {
        let options: String = sets
            .iter()
            .map(|set| format!("&{}", set.replace(' ', "+")))
            .collect();
        let target = format!("/api/position?play={}{options}", moves.replace(' ', ","));
        let view = ask(&explorer, &target);
        let expected = probe(moves, &sets);
        let book = &view["books"][0];
        for field in ["in_book", "games", "draws", "commentary"] {
            assert_eq!(book[field], expected[field], "{target} {field}");
        }
        let shown = book["moves"].as_array().unwrap();
        let probed = expected["moves"].as_array().unwrap();
        assert_eq!(shown.len(), probed.len(), "{target}");
        for (shown, probed) in shown.iter().zip(probed) {
            for (field, expected) in probed.as_object().unwrap() {
                // Without a result `probe` prints 0.5, and the page has no value.
                if field != "score" || !shown[field].is_null() {
                    assert_eq!(&shown[field], expected, "{target} {field}");
                }
            }
        }
    }
}

#[test]
fn one_answer_has_all_data_of_a_page() {
    let view = ask(&explorer(), "/api/position?play=e2e4,c7c5,g1f3&at=2");
    assert_eq!(
        view["fen"],
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    );
    assert_eq!(json!([view["at"], view["turn"]]), json!([2, "white"]));
    assert_eq!(view["start"], Value::Null);
    assert_eq!(
        view["opening"],
        json!({"eco": "B20", "name": "Sicilian Defense"})
    );
    assert_eq!(view["line"][2], json!({"uci": "g1f3", "san": "Nf3"}));
    assert_eq!(view["legal"].as_array().unwrap().len(), 30);
    let options = view["options"].as_array().unwrap().len();
    assert_eq!(options, tabia_choice::settings::OptionId::deciding().len());
    assert_eq!(view["books"][0]["editable"], false);
}

#[test]
fn a_first_visit_transfers_few_bytes() {
    let explorer = explorer();
    let page = get(&explorer, "/").into_body();
    let html = std::str::from_utf8(&page).unwrap();
    let named = html.split('"').filter(|part| part.starts_with("/page/"));
    let files: BTreeSet<&str> = named.collect();
    let compressed = |file: &&str| {
        let mut sent = request(Method::GET, file, "");
        let gzip = "gzip".parse().unwrap();
        sent.headers_mut().insert("accept-encoding", gzip);
        explorer.answer(&sent).body().len()
    };
    let all: usize = files.iter().chain(&["/"]).map(compressed).sum();
    assert!(files.len() > 30 && all < 180_000, "{all} bytes: {files:?}");
    assert!(html.contains("\"books\":[{"), "the first answer is there");
}

#[test]
fn result_bars_are_from_the_view_of_white() {
    let explorer = explorer();
    let white = ask(&explorer, "/api/position");
    let black = ask(&explorer, "/api/position?play=e2e4");
    let e4 = white["books"][0]["moves"].as_array().unwrap();
    let e4 = e4.iter().find(|mv| mv["uci"] == "e2e4").unwrap();
    for field in ["white", "draws", "black", "games"] {
        assert_eq!(e4[field], black["books"][0][field], "{field}");
    }
    let reply = &black["books"][0]["moves"][0];
    assert_eq!(
        (&reply["white"], &reply["black"]),
        (&reply["losses"], &reply["wins"])
    );
}

#[test]
fn ends_of_games_are_named() {
    let explorer = explorer();
    let mate = ask(&explorer, "/api/position?play=f2f3,e7e5,g2g4,d8h4");
    assert_eq!(
        json!([mate["end"], mate["check"]]),
        json!(["checkmate", true])
    );
    let stale = ask(
        &explorer,
        "/api/position?fen=7k/5Q2/6K1/8/8/8/8/8%20b%20-%20-%200%201",
    );
    assert_eq!(
        json!([stale["end"], stale["check"]]),
        json!(["stalemate", false])
    );
    assert_eq!(stale["start"], "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
}

#[test]
fn an_invalid_address_shows_its_valid_part() {
    let explorer = explorer();
    let strict = get(&explorer, "/api/position?play=e2e4,c7c5,e4e6");
    assert_eq!(strict.status(), StatusCode::BAD_REQUEST);
    for (address, plies) in [
        ("play=e2e4,c7c5,e4e6,g1f3", 2),
        ("play=e2e4&books=gone.ctg", 1),
        ("play=e2e4&Book+Variety=x", 1),
        ("fen=nonsense", 0),
    ] {
        let target = format!("/api/position?lenient=1&{address}");
        let view = ask(&explorer, &target);
        assert!(view["problem"]["code"].is_string(), "{address}");
        assert_eq!(view["line"].as_array().unwrap().len(), plies, "{address}");
        assert_eq!(view["books"][0]["name"], "Starter");
    }
    let view = ask(&explorer, "/api/position?lenient=1&books=Starter");
    assert_eq!(view["problem"], Value::Null);
}

#[test]
fn the_main_line_has_the_most_likely_moves() {
    let explorer = explorer();
    let view = ask(&explorer, "/api/position?ahead=6");
    let ahead = view["ahead"].as_array().unwrap().iter();
    let ahead: Vec<&str> = ahead.map(|mv| mv["uci"].as_str().unwrap()).collect();
    assert_eq!(ahead.len(), 6);
    let line = ask(&explorer, "/api/line");
    for (index, uci) in ahead.iter().enumerate() {
        assert_eq!(&line["points"][index + 1]["uci"], uci);
        // Each move is the likeliest of its own position.
        let walked = ahead[..index].join(",");
        let view = ask(&explorer, &format!("/api/position?ahead=1&play={walked}"));
        assert_eq!(&view["ahead"][0]["uci"], uci);
    }
}

#[test]
fn castling_of_chess960_is_the_king_taking_the_rook() {
    let fen = "1k2r3/8/8/8/8/8/8/5KR1%20w%20G%20-%200%201";
    let view = ask(&explorer(), &format!("/api/position?fen={fen}"));
    let legal = view["legal"].as_array().unwrap();
    let castles = legal.iter().find(|mv| mv["san"] == "O-O").unwrap();
    assert_eq!(
        json!([castles["uci"], castles["rook"]]),
        json!(["f1g1", "g1"])
    );
    let usual = "4k3/8/8/8/8/8/8/4K2R%20w%20K%20-%200%201";
    for castling in ["e1g1", "e1h1", "O-O"] {
        let target = format!("/api/position?fen={usual}&play={castling}");
        assert_eq!(ask(&explorer(), &target)["line"][0]["san"], "O-O");
    }
}

#[test]
fn openings_are_found_by_code_and_by_name() {
    let found = |q: &str| ask(&explorer(), &format!("/api/openings?q={q}"));
    assert_eq!(found("najdorf")[0]["eco"], "B90");
    assert_eq!(found("B90")[0]["play"].as_array().unwrap().len(), 10);
    assert_eq!(found("sicilian+dragon")[0]["eco"], "B70");
    assert_eq!(found("zzz"), json!([]));
    assert_eq!(found(""), json!([]));
}

#[test]
fn pasted_games_become_lines() {
    let explorer = explorer();
    let read = |text: &str| post(&explorer, "/api/read", &json!({ "text": text }));
    let line = value(&read("[Event \"x\"]\n\n1. e4 c5 2. Nf3 *"));
    assert_eq!(line["fen"], Value::Null);
    assert_eq!(line["play"], json!(["e2e4", "c7c5", "g1f3"]));
    assert_eq!(line["nodes"].as_array().unwrap().len(), 3);
    let fen = "8/8/8/8/8/4k3/8/4K2R w K - 0 1";
    assert_eq!(value(&read(fen))["fen"], fen);
    let nonsense = read("to be or not to be");
    assert_eq!(nonsense.status(), StatusCode::BAD_REQUEST);
    assert_eq!(
        value(&nonsense)["error"],
        "this is neither a FEN nor a game in PGN: move 1 (to) is not a move"
    );
}

#[test]
fn a_change_and_its_undo_are_reported_and_nonsense_is_refused() {
    let (_folder, path) = book_on_disk();
    let explorer = explorer_of(&path);
    let change = |uci: &str, change: &str, value: &str| {
        let body = json!({"book": 0, "play": "e2e4", "uci": uci, "change": change, "value": value});
        post(&explorer, "/api/edit", &body)
    };
    let done = change("c7c5", "mark", "avoid");
    let message = json!({
        "code": "{0}: mark {1}",
        "args": ["c5", {"code": "avoid"}],
    });
    assert_eq!(
        value(&done),
        json!({"undo": 1, "redo": 0, "last_change": message, "taken_back": null, "is_step": true})
    );
    assert_eq!(
        change("e7e5", "learn_value", "-20").status(),
        StatusCode::OK
    );
    let changed = files(&path);
    let view = ask(&explorer, "/api/position");
    let book = &view["books"][0];
    assert_eq!(json!([book["editable"], book["undo"]]), json!([true, 2]));
    // The answer within the page is for no client: the page learns from this one.
    for (client, undo) in [("", 2), ("?client=other", 0)] {
        let start = ask(&explorer, &format!("/api/start{client}"));
        assert_eq!(start["books"][0]["undoable"]["undo"], undo);
    }
    for nonsense in [
        change("e2e4", "mark", "main"),
        change("c7c5", "mark", "blue"),
        change("c7c5", "learn_value", "200"),
        change("", "mark", "main"),
        post(
            &explorer,
            "/api/edit",
            &json!({"book": 1, "uci": "e2e4", "change": "mark", "value": "main"}),
        ),
        post(&explorer, "/api/edit", &json!({"book": "/etc/passwd"})),
    ] {
        assert_eq!(nonsense.status(), StatusCode::BAD_REQUEST);
    }
    assert_eq!(files(&path), changed);
    let undo = post(&explorer, "/api/undo", &json!({"book": 0}));
    let undone = json!({"code": "{0}: learn value {1}", "args": ["e5", {"code": "-20"}]});
    assert_eq!(value(&undo)["taken_back"], undone);
    let other = json!({"book": 0, "client": "another tab"});
    let others = post(&explorer, "/api/undo", &other);
    assert_eq!(value(&others)["taken_back"], Value::Null);
}

#[test]
fn changes_are_refused_read_only_and_from_other_machines() {
    for (address, read_only) in [(ADDRESS, true), ("0.0.0.0:8000", false)] {
        let (_folder, path) = book_on_disk();
        let before = files(&path);
        let access = Access::new(address.parse().unwrap(), TOKEN.into());
        let books = vec![editable_book(&path, &[])];
        let explorer = Explorer::new(books, access, Options::default(), read_only);
        let body = json!({"book": 0, "uci": "e2e4", "change": "mark", "value": "main"});
        let refused = post(&explorer, "/api/edit", &body);
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
        assert_eq!(files(&path), before);
        assert_eq!(ask(&explorer, "/api/start")["read_only"], true);
    }
    let fixed = post(&explorer(), "/api/undo", &json!({"book": 0}));
    assert_eq!(value(&fixed)["error"], "this book cannot be changed");
}

/// The starter book as files.
fn book_on_disk() -> (Folder, std::path::PathBuf) {
    let folder = Folder::with(STARTER);
    let path = folder.join("book.ctg");
    (folder, path)
}

/// An explorer of an editable book.
fn explorer_of(path: &std::path::Path) -> Explorer {
    explorer_watching(path, &[], ADDRESS)
}

/// An explorer that reopens its book when one of these files changes.
fn explorer_watching(
    path: &std::path::Path,
    files: &[std::path::PathBuf],
    address: &str,
) -> Explorer {
    let access = Access::new(address.parse().unwrap(), TOKEN.into());
    let books = vec![editable_book(path, files)];
    Explorer::new(books, access, Options::default(), false)
}

fn editable_book(path: &std::path::Path, files: &[std::path::PathBuf]) -> ExploredBook {
    let opener = Opener::here(true);
    let name = path.to_str().unwrap().to_owned();
    let open = Arc::new(opener.open(&name).unwrap());
    let file = Arc::clone(&open);
    let reopen = Box::new(move || Ok(Arc::new(opener.open(&name)?) as _));
    ExploredBook::new("book.ctg".into(), Vec::new(), open, reopen)
        .with_editing(Some(&file))
        .with_files(files.to_vec())
}

#[test]
fn temporary_files_of_a_killed_server_are_removed_by_the_next_one() {
    let (folder, path) = book_on_disk();
    let before = folder.names();
    folder.put(".book.ctg.Ab3dEf.tmp", "");
    folder.put(".book.cto.Ab3dEf.tmp", "");
    folder.put(".tabia-Ab3dEf.lock", "");
    std::fs::create_dir(folder.join(".tabia-Ab3dEf")).unwrap();
    folder.put(".tabia-Ab3dEf/book.ctg", "");
    drop(explorer_of(&path));
    assert_eq!(folder.names(), before);
}

#[test]
fn a_change_of_a_book_on_disk_can_be_undone_byte_for_byte() {
    let (_folder, path) = book_on_disk();
    let before = std::fs::read(&path).unwrap();
    let explorer = explorer_of(&path);
    let change = |what: &str, value: &str| {
        let body =
            json!({"book": 0, "play": "e2e4", "uci": "c7c5", "change": what, "value": value});
        let response = post(&explorer, "/api/edit", &body);
        assert_eq!(response.status(), StatusCode::OK, "{what}");
    };
    let c5 = || {
        let view = ask(&explorer, "/api/position?play=e2e4");
        let moves = view["books"][0]["moves"].as_array().unwrap().clone();
        moves.into_iter().find(|mv| mv["uci"] == "c7c5").unwrap()
    };
    assert!(c5()["probability"].as_f64().unwrap() > 0.0);
    change("learn_value", "-30");
    change("annotation", "!?");
    change("mark", "avoid");
    // A change without effect cannot be undone.
    change("mark", "avoid");
    let now = c5();
    assert_eq!(
        json!([now["mark"], now["annotation"]]),
        json!(["avoid", "!?"])
    );
    assert_eq!(
        json!([now["learn_value"], now["probability"]]),
        json!([-30, 0.0])
    );
    assert_eq!(now["not_played"], "marked red");
    for _ in 0..3 {
        let undone = post(&explorer, "/api/undo", &json!({"book": 0}));
        assert!(value(&undone)["taken_back"].is_object());
    }
    assert_eq!(c5()["mark"], "none");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // Redo, then undo once more.
    let redo = post(&explorer, "/api/redo", &json!({"book": 0}));
    assert_eq!(value(&redo)["redo"], 2);
    assert_eq!(c5()["learn_value"], -30);
    let undone = post(&explorer, "/api/undo", &json!({"book": 0}));
    assert!(value(&undone)["taken_back"].is_object());
    // A page that shows an old value does not overwrite a newer one, and does not undo
    // later changes.
    let write = |client: &str, seen: &str, value: &str| {
        let body = json!({"book": 0, "play": "e2e4", "uci": "c7c5", "change": "mark",
            "value": value, "seen": seen, "client": client});
        post(&explorer, "/api/edit", &body)
    };
    assert_eq!(write("a", "none", "main").status(), StatusCode::OK);
    let stale = write("b", "none", "avoid");
    assert_eq!(stale.status(), StatusCode::CONFLICT);
    let reason = value(&stale)["error"].as_str().unwrap().to_owned();
    assert!(reason.contains("its mark is now main"), "{reason}");
    assert_eq!(write("b", "main", "avoid").status(), StatusCode::OK);
    let undo = |client: &str| {
        let body = json!({"book": 0, "client": client});
        post(&explorer, "/api/undo", &body).status()
    };
    assert_eq!(undo("a"), StatusCode::CONFLICT);
    assert_eq!((undo("b"), undo("a")), (StatusCode::OK, StatusCode::OK));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let body =
        json!({"book": 0, "play": "a2a4,h7h5", "uci": "a4a5", "change": "mark", "value": "main"});
    let nowhere = post(&explorer, "/api/edit", &body);
    assert_eq!(nowhere.status(), StatusCode::CONFLICT);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
