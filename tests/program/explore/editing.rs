//! Adding and deleting moves and lines of a book on disk, and undoing that.

use std::path::Path;
use std::time::Duration;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::hostile::Running;
use super::{ask, book_on_disk, explorer_at, explorer_of, get, post, value};
use crate::common::{TABIA, command, files, tabia};
use tabia_explorer::{Explorer, Limits};

/// Far more than anything takes here.
const LIMIT: Duration = Duration::from_secs(60);

/// The book moves after a line.
fn moves(explorer: &Explorer, play: &str) -> Vec<String> {
    let view = ask(explorer, &format!("/api/position?play={play}"));
    let moves = view["books"][0]["moves"].as_array().unwrap();
    let stored = moves.iter().filter(|mv| mv["transposition"] == false);
    stored
        .map(|mv| mv["uci"].as_str().unwrap().to_owned())
        .collect()
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
fn an_added_line_can_be_undone_byte_for_byte() {
    let (folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    assert!(!moves(&explorer, "").contains(&"h2h4".to_owned()));
    let line = json!({"play": "h2h4,h7h5,h1h3", "signs": [[0, 6]]});
    let answer = done(&explorer, "/api/add", &json!({"book": 0, "lines": [line]}));
    assert_eq!(answer["last_change"]["args"], json!(["1.h4 h5 2.Rh3"]));
    assert!(moves(&explorer, "").contains(&"h2h4".to_owned()));
    assert_eq!(moves(&explorer, "h2h4,h7h5"), ["h1h3"]);
    // The existing moves keep their figures.
    let view = ask(&explorer, "/api/position");
    let of = |uci: &str| {
        let moves = view["books"][0]["moves"].as_array().unwrap();
        moves.iter().find(|mv| mv["uci"] == uci).unwrap().clone()
    };
    assert!(of("e2e4")["games"].as_u64().unwrap() > 1000);
    assert_eq!(
        json!([of("h2h4")["games"], of("h2h4")["annotation"]]),
        json!([0, "?!"])
    );
    let undone = done(&explorer, "/api/undo", &json!({"book": 0}));
    assert_eq!(undone["taken_back"]["args"], json!(["1.h4 h5 2.Rh3"]));
    assert_eq!(files(&path), before);
    done(&explorer, "/api/redo", &json!({"book": 0}));
    assert_eq!(moves(&explorer, "h2h4,h7h5"), ["h1h3"]);
    drop(explorer);
    assert_eq!(folder.names().len(), 3, "{:?}", folder.names());
}

#[test]
fn a_move_or_only_the_moves_after_it_can_be_deleted() {
    let (_folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    let replies = moves(&explorer, "e2e4,c7c5");
    assert!(replies.len() > 2);
    let body = json!({"book": 0, "play": "e2e4,c7c5", "below": true});
    done(&explorer, "/api/remove", &body);
    assert!(moves(&explorer, "e2e4").contains(&"c7c5".to_owned()));
    assert_eq!(moves(&explorer, "e2e4,c7c5"), Vec::<String>::new());
    let answer = done(
        &explorer,
        "/api/remove",
        &json!({"book": 0, "play": "e2e4"}),
    );
    assert_eq!(
        json!([answer["undo"], answer["last_change"]]),
        json!([2, {"code": "deleted {0}", "args": ["1.e4"]}])
    );
    assert!(!moves(&explorer, "").contains(&"e2e4".to_owned()));
    // A mark between two of them is undone in order.
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

/// Number of positions of a book.
fn positions(path: &Path) -> u64 {
    let info = tabia(&["info", path.to_str().unwrap(), "--json"]).out();
    let info: Value = serde_json::from_str(&info).unwrap();
    info["positions"].as_u64().unwrap()
}

#[test]
fn a_deletion_removes_the_announced_number_of_positions() {
    let (_folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    for (play, below, least) in [
        ("e2e4", true, 1000),
        // Other moves lead there, too.
        ("d2d4,g8f6,c2c4", false, 0),
    ] {
        let body = json!({"book": 0, "play": play, "below": below});
        let counted = done(&explorer, "/api/count-removed", &body)["positions"].clone();
        assert_eq!(files(&path), before, "counting writes nothing");
        let all = positions(&path);
        done(&explorer, "/api/remove", &body);
        assert_eq!(counted, all - positions(&path), "{body}");
        assert!(counted.as_u64() >= Some(least), "{body}: {counted}");
        done(&explorer, "/api/undo", &json!({"book": 0}));
        assert_eq!(files(&path), before);
    }
    for (body, status) in [
        (json!({"book": 0, "play": "h2h4"}), StatusCode::CONFLICT),
        (json!({"book": 0, "play": ""}), StatusCode::BAD_REQUEST),
    ] {
        let refused = post(&explorer, "/api/count-removed", &body);
        assert_eq!(refused.status(), status, "{body}");
    }
}

#[test]
fn pages_are_notified_of_changes_by_other_programs() {
    use std::io::{Read as _, Write as _};
    let (_folder, path) = book_on_disk();
    let beside = path.with_extension("evals");
    let server = Running::with(Limits::default(), |address| {
        super::explorer_watching(&path, &[path.clone(), beside.clone()], address)
    });
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let sent = format!(
        "GET /api/events HTTP/1.1\r\nhost: {}\r\n\r\n",
        server.address
    );
    stream.write_all(sent.as_bytes()).unwrap();
    let mut received = String::new();
    let mut wait_for = |text: &str| {
        let mut piece = [0; 512];
        while !received.contains(text) {
            let read = stream.read(&mut piece).expect("no event");
            assert!(read > 0, "{received}");
            received += std::str::from_utf8(&piece[..read]).unwrap();
        }
        let at = received.find(text).unwrap() + text.len();
        received.drain(..at);
    };
    wait_for("retry");
    let book = path.to_str().unwrap();
    tabia(&["mark", book, "--line", "e4", "avoid"]).out();
    wait_for("event: change");
    std::fs::write(&beside, "").unwrap();
    wait_for("event: change");
    // Another file with the same name.
    tabia(&["compact", book, "--force"]).out();
    wait_for("event: change");
}

#[test]
fn changes_by_others_are_not_overwritten() {
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
    // A mark that another program has set in between.
    let mark = json!({"book": 0, "uci": "e2e4", "change": "mark", "value": "main"});
    done(&explorer, "/api/edit", &mark);
    let book = path.to_str().unwrap();
    tabia(&["mark", book, "--move", "e4", "avoid"]).out();
    let now = files(&path);
    let refused = post(&explorer, "/api/undo", &json!({"book": 0}));
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let error = value(&refused)["error"].to_string();
    assert!(error.contains("its mark is now avoid"), "{error}");
    assert_eq!(files(&path), now);
}

#[test]
fn a_whole_line_is_marked_and_a_commentary_is_set() {
    let (_folder, path) = book_on_disk();
    let before = files(&path);
    let explorer = explorer_of(&path);
    let mark_of = |play: &str, uci: &str, field: &str| {
        let view = ask(&explorer, &format!("/api/position?play={play}"));
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
    // The page shows another value than the present one.
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
fn additions_and_deletions_are_refused_read_only_and_from_other_machines() {
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
        let closed = explorer_at(super::ADDRESS, false);
        assert_eq!(post(&closed, path, &body).status(), StatusCode::FORBIDDEN);
        assert_eq!(
            get(&explorer, path).status(),
            StatusCode::METHOD_NOT_ALLOWED
        );
    }
}

/// A Polyglot book of two moves, one of them stored twice, and an Arena book of the same,
/// each with the weight of its first move.
fn books_with_weights(folder: &Path) -> [(std::path::PathBuf, u64, &'static str); 2] {
    let polyglot = folder.join("book.bin");
    let entries: Vec<u8> = [(731_u16, 5_u16), (796, 10), (796, 7)]
        .iter()
        .flat_map(|(mv, weight)| {
            let key = 0x463b_9618_1691_fc9c_u64.to_be_bytes();
            [&key[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]].concat()
        })
        .collect();
    std::fs::write(&polyglot, entries).unwrap();
    let arena = folder.join("book.abk");
    let mut bytes = vec![0; 900 * 28];
    bytes[..4].copy_from_slice(b"\x03ABK");
    bytes[8] = 28;
    for (from, to, sibling) in [(12, 28, 901_i32), (11, 27, -1)] {
        bytes.extend([from, to, 0, 5]);
        bytes.extend([10_u32, 6, 3, 0].iter().flat_map(|one| one.to_le_bytes()));
        bytes.extend([-1, sibling].iter().flat_map(|one| one.to_le_bytes()));
    }
    std::fs::write(&arena, bytes).unwrap();
    [(polyglot, 17, "stored_weight"), (arena, 5, "priority")]
}

#[test]
fn changes_of_weights_and_priorities_can_be_undone_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    for (path, first, name) in books_with_weights(folder.path()) {
        let before = std::fs::read(&path).unwrap();
        let explorer = explorer_of(&path);
        let number = || {
            let view = ask(&explorer, "/api/position");
            let moves = view["books"][0]["moves"].as_array().unwrap();
            moves.iter().find(|mv| mv["uci"] == "e2e4").unwrap()[name].clone()
        };
        let book = ask(&explorer, "/api/position")["books"][0].clone();
        let most = if name == "priority" { 9 } else { 65535 };
        assert_eq!(
            json!([book["editable"], book["most_weight"]]),
            json!([true, most])
        );
        assert_eq!(number(), first);
        let edit = |weight: &str, seen: &str| json!({"book": 0, "uci": "e2e4", "change": "weight", "value": weight, "seen": seen});
        let answer = done(&explorer, "/api/edit", &edit("3", &first.to_string()));
        assert_eq!(
            (&answer["last_change"]["args"], number()),
            (&json!(["e4", {"code": "3"}]), json!(3))
        );
        // The text of the message is as in the translation tables.
        let above = post(&explorer, "/api/edit", &edit(&(most + 1).to_string(), "3"));
        let range = format!("a weight is a whole number from 0 to {most}");
        assert_eq!(value(&above)["error"], range);
        // A page that shows an old value overwrites nothing.
        let late = edit("9", &first.to_string());
        assert_eq!(
            post(&explorer, "/api/edit", &late).status(),
            StatusCode::CONFLICT
        );
        done(&explorer, "/api/edit", &edit("0", "3"));
        done(&explorer, "/api/undo", &json!({"book": 0}));
        assert_eq!(number(), 3);
        done(&explorer, "/api/redo", &json!({"book": 0}));
        assert_eq!(number(), 0);
        // Avoiding a line means avoiding its moves.
        let avoid = json!({"book": 0, "play": "d2d4", "along": "white", "change": "mark", "value": "avoid"});
        done(&explorer, "/api/edit", &avoid);
        for _ in 0..3 {
            done(&explorer, "/api/undo", &json!({"book": 0}));
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // Values that the format cannot store, and moves that are not in the book.
        let mark = |uci: &str, change: &str, value: &str| json!({"book": 0, "uci": uci, "change": change, "value": value});
        for (target, body) in [
            ("/api/edit", mark("e2e4", "mark", "main")),
            ("/api/edit", mark("e2e4", "annotation", "!")),
            ("/api/edit", mark("e2e4", "learn_value", "5")),
            ("/api/edit", mark("a2a3", "weight", "5")),
            ("/api/add", json!({"book": 0, "lines": [{"play": "e2e4"}]})),
            ("/api/remove", json!({"book": 0, "play": "e2e4"})),
        ] {
            let refused = post(&explorer, target, &body);
            assert_eq!(refused.status(), StatusCode::CONFLICT, "{target} {body}");
            let error = value(&refused)["error"].to_string();
            assert!(error.contains("book."), "{error}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

/// The old books for undo, and their lock, are in a folder beside the book while the page
/// is open.
#[cfg(unix)]
#[test]
fn whoever_asks_the_program_to_end_finds_nothing_left_beside_the_book() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpStream;
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (folder, path) = book_on_disk();
        let arguments = ["explore", "--no-open", path.to_str().unwrap()];
        let mut command = command(&arguments);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut url).unwrap();
        let address = url
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/');
        let ask = |request: String| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(LIMIT)).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let end = "connection: close\r\n\r\n";
        let page = ask(format!("GET / HTTP/1.1\r\nhost: {address}\r\n{end}"));
        let (_, token) = page.split_once("name=\"tabia-token\" content=\"").unwrap();
        let token = &token[..32];
        let body = json!({"book": 0, "lines": [{"play": "h2h4"}]}).to_string();
        let answer = ask(format!(
            "POST /api/add HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             x-tabia-token: {token}\r\ncontent-length: {}\r\n{end}{body}",
            body.len()
        ));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        if signal == Signal::HUP {
            // Its shell sends another one.
            kill_process(pid, signal).unwrap();
        }
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(folder.names().len(), 3, "{signal:?}: {:?}", folder.names());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_outlives_its_terminal_goes_on() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpStream;
    let (_folder, path) = book_on_disk();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" explore --no-open \"$1\""]);
    command.arg(TABIA).arg(&path);
    command
        .env("TABIA_CONFIG", "")
        .env("XDG_CONFIG_HOME", "/nowhere");
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut url).unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    let address = url
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let request = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
