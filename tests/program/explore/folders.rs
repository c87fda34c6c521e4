//! Books and indexes opened from the page.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tabia_choice::book_set::Opener;
use tabia_choice::settings::Options;
use tabia_explorer::{
    Access, ExploredBook, Explorer, FileOpener, OpenError, OpenFiles, OpenedFile, Reports,
};
use tabia_index::GamesIndex;
use tabia_io::progress::Progress;

use super::{ADDRESS, TOKEN, ask, get, post, request, starter, value};
use crate::common::{Folder, STARTER, tabia};

struct Opening;

impl OpenFiles for Opening {
    fn open(
        &self,
        path: &Path,
        name: String,
        _: &mut dyn FnMut(Progress),
    ) -> Result<OpenedFile, OpenError> {
        open(path, name)
    }

    fn index(
        &self,
        name: &str,
        pgn: &[u8],
        _: &mut dyn FnMut(Progress),
    ) -> Result<GamesIndex, OpenError> {
        assert_eq!(name, "mine.pgn");
        if pgn == b"nonsense" {
            return Err("no game".into());
        }
        let folder = Folder::new();
        let games = folder.put("games.pgn", pgn);
        let index = folder.join("games.tgx");
        let [games, to] = [&games, &index].map(|path| path.to_str().unwrap());
        tabia(&["index", "-o", to, games]).out();
        Ok(GamesIndex::open(&index, false)?)
    }
}

struct Silent;

impl Reports for Silent {}

fn open(path: &Path, name: String) -> Result<OpenedFile, OpenError> {
    if path.extension().is_some_and(|end| end == "tgx") {
        let index = GamesIndex::open(path, true)?;
        return Ok(OpenedFile::Index(index));
    }
    let opener = Opener::here(true);
    let text = path.to_str().unwrap().to_owned();
    let open = move || opener.open(&text);
    let first = Arc::new(open()?);
    let file = Arc::clone(&first);
    let again = Box::new(move || Ok(Arc::new(open()?) as _));
    let book = ExploredBook::new(name, Vec::new(), first, again)
        .with_editing(Some(&file))
        .with_files(vec![path.to_owned()]);
    Ok(OpenedFile::Book(Box::new(book)))
}

fn explorer_of(folders: Vec<PathBuf>, address: &str) -> Explorer {
    let access = Access::new(address.parse().unwrap(), TOKEN.into());
    Explorer::new(vec![starter()], access, Options::default(), false)
        .with_folders(folders, Box::new(Opening))
}

fn id(explorer: &Explorer, name: &str) -> Value {
    let list = ask(explorer, "/api/files");
    let files = list["files"].as_array().unwrap().iter();
    let mut named = files.filter(|file| file["name"] == name);
    named.next().map_or(Value::Null, |file| file["id"].clone())
}

#[test]
fn a_file_of_a_folder_can_be_opened_as_a_book() {
    let folder = Folder::with(STARTER);
    let games = folder.put("games.pgn", "[Result \"1-0\"]\n\n1. a3 a6 1-0\n");
    let index = folder.join("games.tgx");
    tabia(&[
        "index",
        "-o",
        index.to_str().unwrap(),
        games.to_str().unwrap(),
    ])
    .out();
    let explorer = explorer_of(vec![folder.join("")], ADDRESS);
    assert_eq!(ask(&explorer, "/api/start")["folders"], true);
    let list = ask(&explorer, "/api/files");
    let files = list["files"].as_array().unwrap().iter();
    let files: Vec<_> = files
        .map(|file| json!([file["name"], file["kind"]]))
        .collect();
    assert_eq!(
        json!(files),
        json!([
            ["book.ctg", "ctg"],
            ["games.pgn", "games"],
            ["games.tgx", "tgx"]
        ])
    );
    let open = |name: &str| {
        let id = id(&explorer, name);
        post(&explorer, "/api/open", &json!({ "id": id }))
    };
    let before = ask(&explorer, "/api/position");
    assert_eq!(value(&open("book.ctg")), json!({"name": "book.ctg"}));
    assert_eq!(value(&open("games.tgx")), json!({"name": "games.tgx"}));
    // Opening it again gives the same book; it is the first in the recent list.
    assert_eq!(value(&open("book.ctg")), json!({"name": "book.ctg"}));
    let ids = json!([id(&explorer, "book.ctg"), id(&explorer, "games.tgx")]);
    assert_eq!(ask(&explorer, "/api/files")["recent"], ids);
    let start = ask(&explorer, "/api/start");
    let books = start["books"].as_array().unwrap().iter();
    let books: Vec<_> = books
        .map(|book| json!([book["name"], book["editable"]]))
        .collect();
    let expected = json!([["Starter", false], ["book.ctg", true], ["games.tgx", false]]);
    assert_eq!(json!(books), expected);
    let view = ask(&explorer, "/api/position?books=book.ctg/games.tgx");
    assert_eq!(view["books"][0]["moves"], before["books"][0]["moves"]);
    assert_eq!(view["books"][1]["moves"][0]["san"], "a3");
    assert_eq!((&before["open"], &view["open"]), (&json!(1), &json!(3)));
    assert_ne!(before["changes"], view["changes"]);
    // It can be changed like any book, and clients get the games.
    let change = json!({"book": 1, "uci": "e2e4", "change": "mark", "value": "avoid"});
    assert_eq!(
        post(&explorer, "/api/edit", &change).status(),
        StatusCode::OK
    );
    assert_eq!(ask(&explorer, "/lichess")["white"], 1);
}

#[test]
fn only_files_of_the_folders_are_opened_and_a_damaged_one_gives_an_error() {
    let folder = Folder::with(STARTER);
    let outside = Folder::with(STARTER);
    folder.put("broken.ctg", "no book");
    folder.put("broken.tgx", "no index");
    let explorer = explorer_of(vec![folder.join("")], ADDRESS);
    let open = |id: &Value| post(&explorer, "/api/open", &json!({ "id": id }));
    for name in ["broken.ctg", "broken.tgx"] {
        let refused = open(&id(&explorer, name));
        assert!(!refused.status().is_success(), "{name}");
        let error = value(&refused)["error"].as_str().unwrap().to_owned();
        assert!(error.contains(name), "{error}");
    }
    let book = id(&explorer, "book.ctg");
    let outside = outside.join("book.ctg");
    for text in ["", "book.ctg", "../book.ctg", outside.to_str().unwrap()] {
        assert_eq!(open(&json!(text)).status(), StatusCode::NOT_FOUND, "{text}");
    }
    assert_eq!(
        open(&json!({"path": outside})).status(),
        StatusCode::BAD_REQUEST
    );
    // A renamed file is a different file.
    std::fs::rename(folder.join("book.ctg"), folder.join("other.ctg")).unwrap();
    assert_eq!(open(&book).status(), StatusCode::NOT_FOUND);
    let books = ask(&explorer, "/api/start")["books"].clone();
    assert_eq!(books.as_array().unwrap().len(), 1);
    assert_eq!(ask(&explorer, "/api/files")["recent"], json!([]));
}

#[test]
fn without_folders_and_from_other_machines_no_file_can_be_opened() {
    let folder = Folder::with(STARTER);
    for (folders, address) in [
        (Vec::new(), ADDRESS),
        (vec![folder.join("")], "0.0.0.0:8000"),
    ] {
        let explorer = explorer_of(folders, address);
        assert_eq!(ask(&explorer, "/api/start")["folders"], false);
        assert_eq!(get(&explorer, "/api/files").status(), StatusCode::FORBIDDEN);
        let open = post(&explorer, "/api/open", &json!({"id": "0"}));
        assert_eq!(open.status(), StatusCode::FORBIDDEN);
    }
}

/// A bad file is the mistake of its sender; that nothing can be written is not.
#[test]
fn a_bad_file_that_the_page_sends_is_a_bad_request() {
    let folder = Folder::new();
    let files = || {
        let opener = Opener::here(true);
        FileOpener::new(opener, Options::default(), false, Silent)
    };
    let access = || Access::new(ADDRESS.parse().unwrap(), TOKEN.into());
    let explorer = Explorer::new(vec![starter()], access(), Options::default(), false)
        .with_folders(Vec::new(), Box::new(files()))
        .with_user_data(Some(folder.to_path_buf()));
    for (target, body) in [
        ("/api/index?name=a.pgn", "nonsense"),
        ("/api/index?name=a.pgn", ""),
        ("/api/index?name=a.pgn", "[Result \"*\"]\n\n1. e4 *\n"),
        ("/api/open-sent?names=a.ctg&sizes=8", "nonsense"),
        ("/api/open-sent?names=a.tgx&sizes=8", "nonsense"),
        ("/api/open-sent?names=a.pgn&sizes=8", "nonsense"),
        ("/api/open-sent?names=a.bin&sizes=8", "nonsense"),
    ] {
        let refused = explorer.answer(&request(Method::POST, target, body));
        let text = value(&refused)["error"].take();
        assert_eq!(
            refused.status(),
            StatusCode::BAD_REQUEST,
            "{target}: {text}"
        );
    }
    // The folder of the user's data is a file.
    let explorer = Explorer::new(vec![starter()], access(), Options::default(), false)
        .with_folders(Vec::new(), Box::new(files()))
        .with_user_data(Some(folder.put("data", "")));
    let target = "/api/open-sent?names=a.ctg&sizes=8";
    let failed = explorer.answer(&request(Method::POST, target, "nonsense"));
    assert_eq!(failed.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[test]
fn games_that_the_page_sends_are_indexed_once_and_only_on_this_machine() {
    let send = |explorer: &Explorer, name: &str, pgn: &str| {
        let target = format!("/api/index?name={name}");
        explorer.answer(&request(Method::POST, &target, pgn))
    };
    let explorer = explorer_of(Vec::new(), ADDRESS);
    assert_eq!(ask(&explorer, "/api/start")["indexes"], true);
    let white = "[Result \"1-0\"]\n\n1. a3 a6 1-0\n";
    let black = "[Result \"0-1\"]\n\n1. h3 h6 0-1\n";
    for (name, pgn, book) in [
        ("mine.pgn", white, "mine.pgn"),
        // The folder of the user's machine is not part of the name.
        ("C%3A%5Cgames%5Cmine.pgn", white, "mine.pgn"),
        ("mine.pgn", black, "mine.pgn 3"),
        ("..%2Fmine.pgn", black, "mine.pgn 3"),
    ] {
        let sent = send(&explorer, name, pgn);
        assert_eq!(value(&sent), json!({ "name": book }), "{name}");
    }
    let view = ask(&explorer, "/api/position?books=mine.pgn/mine.pgn%203");
    assert_eq!(view["books"][0]["moves"][0]["san"], "a3");
    assert_eq!(view["books"][1]["moves"][0]["san"], "h3");
    assert_eq!(ask(&explorer, "/lichess")["black"], 1);
    let refused = send(&explorer, "mine.pgn", "nonsense");
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let books = ask(&explorer, "/api/start")["books"].clone();
    assert_eq!(books.as_array().unwrap().len(), 3);
    let other = explorer_of(Vec::new(), "0.0.0.0:8000");
    assert_eq!(ask(&other, "/api/start")["indexes"], false);
    let refused = send(&other, "mine.pgn", white);
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
}
