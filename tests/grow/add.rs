//! `tabia add`.

use std::fs;
use std::path::Path;

use shakmaty::Chess;
use tabia::book::{Book, Lookup, OpenOptions, Probe as _, Wanted};

use super::{assert_sound, files, json, ok, starter, tabia};

/// A book in a folder of its own, with some games.
fn begin() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["ctg", "cto", "ctb"] {
        let to = folder.path().join("book").with_extension(ending);
        fs::copy(starter().with_extension(ending), to).unwrap();
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sample.pgn");
    fs::copy(sample, folder.path().join("games.pgn")).unwrap();
    folder
}

#[test]
fn adding_is_building_and_merging() {
    for filter in [
        &["--max-ply", "12"][..],
        &["--min-games", "2", "--result", "1-0"],
    ] {
        let folder = begin();
        let run = |args: &[&str]| ok(&tabia(folder.path(), &[args, filter].concat()));
        run(&["build", "-o", "new.ctg", "games.pgn"]);
        let merge = ["merge", "-o", "sum.ctg", "book.ctg", "new.ctg"];
        ok(&tabia(folder.path(), &merge));
        let open = Book::open(folder.path().join("book.ctg"), &OpenOptions::default()).unwrap();
        let mut before = Lookup::default();
        open.probe(&Chess::default(), Wanted::Stored, &mut before)
            .unwrap();
        run(&["add", "book.ctg", "games.pgn"]);
        let [book, sum] = ["book.ctg", "sum.ctg"].map(|name| files(&folder.path().join(name)));
        assert_eq!(book, sum);
        // Who has the old one open goes on, and knows that there is another.
        let mut after = Lookup::default();
        open.probe(&Chess::default(), Wanted::Stored, &mut after)
            .unwrap();
        assert_eq!(before, after);
        assert!(!open.is_current());
        let names = fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 3 * 3 + 1, "something else was left");
    }
}

#[test]
fn a_line_has_its_signs_and_no_games() {
    let folder = begin();
    let line = "1.e4 c5 2.Ke2! Qb6?! 3.a3 +=";
    let games = |line: &str| {
        json(&tabia(
            folder.path(),
            &["probe", "book.ctg", "--moves", line, "--json"],
        ))
    };
    let old = games("e4 c5");
    ok(&tabia(folder.path(), &["add", "book.ctg", "--line", line]));
    assert_sound(&folder.path().join("book.ctg"));
    let new = games("e4 c5");
    let known = |view: &serde_json::Value| view["moves"].as_array().unwrap().len();
    assert_eq!(
        (known(&new), &new["games"]),
        (known(&old) + 1, &old["games"])
    );
    let moves = new["moves"].as_array().unwrap();
    let added = moves.iter().find(|mv| mv["san"] == "Ke2").unwrap();
    assert_eq!(
        (&added["annotation"], &added["games"]),
        (&"!".into(), &0.into())
    );
    let reply = &games("e4 c5 Ke2")["moves"][0];
    assert_eq!(
        (&reply["san"], &reply["annotation"]),
        (&"Qb6".into(), &"?!".into())
    );
    assert_eq!(games("e4 c5 Ke2 Qb6")["moves"][0]["commentary"], 14);
    let info = json(&tabia(folder.path(), &["info", "book.ctg", "--json"]));
    let before = json(&tabia(
        folder.path(),
        &["info", starter().to_str().unwrap(), "--json"],
    ));
    assert_eq!(info["games"], before["games"]);
}

#[test]
fn what_cannot_be_added_changes_nothing() {
    let folder = begin();
    let book = folder.path().join("book.ctg");
    let before = files(&book);
    for (args, says) in [
        (&["--line", "1.e4 e6 2.Ke3"][..], "2.Ke3"),
        (&["--line", "1.e4 --"], "null"),
        (&["none.pgn"], "none.pgn"),
        (&["--player", "Nobody", "games.pgn"], "no game is left"),
        (&[], "required"),
    ] {
        let output = tabia(folder.path(), &[&["add", "book.ctg"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains(says),
            "{said}"
        );
        assert_eq!(files(&book), before);
    }
    // A damaged book would lose what cannot be read.
    let mut bytes = fs::read(&book).unwrap();
    bytes[4096 + 4] = 0xff;
    fs::write(&book, &bytes).unwrap();
    let output = tabia(folder.path(), &["add", "book.ctg", "--line", "1.e4"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(&book).unwrap(), bytes);
}

/// The lock is the one that every program of ours takes for a change.
#[cfg(unix)]
#[test]
fn nobody_adds_to_a_book_that_is_being_changed() {
    let folder = begin();
    let book = folder.path().join("book.ctg");
    let before = files(&book);
    let held = fs::File::open(&book).unwrap();
    held.lock().unwrap();
    let add = ["add", "book.ctg", "--line", "1.e4"];
    let output = tabia(folder.path(), &add);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("is changing this book"), "{said}");
    assert_eq!(files(&book), before);
    drop(held);
    ok(&tabia(folder.path(), &add));
}
