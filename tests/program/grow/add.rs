//! `tabia add`.

use std::fs;

use serde_json::{Value, json};
use shakmaty::Chess;
use tabia_book::{Book, OpenOptions, Probe as _};

use crate::common::{Folder, SMALL, assert_sound, files, look_up, project};

/// A book in a new folder, with some games.
fn begin() -> Folder {
    let folder = Folder::with(SMALL);
    let games = project("tests/data/sample.pgn");
    fs::copy(games, folder.join("games.pgn")).unwrap();
    folder
}

#[test]
fn add_gives_the_same_book_as_build_and_merge() {
    for filter in ["--max-ply 12", "--min-games 2 --result 1-0"] {
        let folder = begin();
        folder.done(&format!("build -o new.ctg games.pgn {filter}"));
        folder.done("merge -o sum.ctg book.ctg new.ctg");
        let open = Book::open(folder.join("book.ctg"), &OpenOptions::default()).unwrap();
        let before = look_up(&open, &Chess::default());
        folder.done(&format!("add book.ctg games.pgn {filter}"));
        let [book, sum] = ["book.ctg", "sum.ctg"].map(|name| files(folder.join(name)));
        assert_eq!(book, sum);
        // A program with the old book open continues, and detects the new one.
        assert_eq!(look_up(&open, &Chess::default()), before);
        assert!(!open.is_current());
        // Three books, the old one as `.bak`, and the games.
        assert_eq!(folder.names().len(), 4 * 3 + 1, "something else was left");
    }
}

#[test]
fn an_added_line_has_its_annotations_and_no_games() {
    let folder = begin();
    let line = "1.e4 c5 2.Ke2! Qb6?! 3.a3 +=";
    let games = |line: &str| folder.probe("book.ctg", line);
    let old = games("e4 c5");
    let before = folder.tabia("info book.ctg --json").json();
    folder.done(&["add", "book.ctg", "--line", line]);
    assert_sound(folder.join("book.ctg"));
    let new = games("e4 c5");
    let known = |view: &Value| view["moves"].as_array().unwrap().len();
    assert_eq!(known(&new), known(&old) + 1);
    assert_eq!(new["games"], old["games"]);
    let moves = new["moves"].as_array().unwrap();
    let added = moves.iter().find(|mv| mv["san"] == "Ke2").unwrap();
    assert_eq!(
        json!([added["annotation"], added["games"]]),
        json!(["!", 0])
    );
    let reply = &games("e4 c5 Ke2")["moves"][0];
    assert_eq!(
        json!([reply["san"], reply["annotation"]]),
        json!(["Qb6", "?!"])
    );
    assert_eq!(games("e4 c5 Ke2 Qb6")["moves"][0]["commentary"], 14);
    let info = folder.tabia("info book.ctg --json").json();
    assert_eq!(info["games"], before["games"]);
}

#[test]
fn add_with_invalid_input_changes_nothing() {
    let folder = begin();
    let book = folder.join("book.ctg");
    let before = files(&book);
    for (what, says) in [
        ("--line '1.e4 e6 2.Ke3'", "2.Ke3"),
        ("--line '1.e4 --'", "null"),
        ("none.pgn", "none.pgn"),
        ("--player Nobody games.pgn", "no game is left"),
        ("", "required"),
    ] {
        folder.tabia(&format!("add book.ctg {what}")).refused(says);
        assert_eq!(files(&book), before);
    }
    // A damaged book would lose its unreadable part.
    let mut bytes = fs::read(&book).unwrap();
    bytes[4096 + 4] = 0xff;
    fs::write(&book, &bytes).unwrap();
    folder.tabia("add book.ctg --line 1.e4").ends(2);
    assert_eq!(fs::read(&book).unwrap(), bytes);
}

/// The lock is the same for all of Tabia's programs.
#[cfg(unix)]
#[test]
fn add_fails_while_another_program_changes_the_book() {
    let folder = begin();
    let book = folder.join("book.ctg");
    let before = files(&book);
    let held = fs::File::open(&book).unwrap();
    held.lock().unwrap();
    let add = "add book.ctg --line 1.e4";
    folder.tabia(add).refused("is changing this book");
    assert_eq!(files(&book), before);
    drop(held);
    folder.done(add);
}
