//! Archives, Scid and the newer ChessBase databases: the output is their content, all
//! give the same book, and damage does no harm.

#![allow(clippy::unwrap_used)]

#[path = "../../crates/games/src/tests/archives.rs"]
pub(crate) mod archives;

use std::fs;
use std::path::Path;

use crate::common::{Folder, assert_has, files, stored};
use archives::{data, pack_cbv, pack_zip, parts};

use serde_json::{Value, json};

/// A source as PGN, and the messages about it.
fn pgn(source: &Path) -> (String, String) {
    let folder = Folder::new();
    let messages = folder.done(&format!("games '{}' -o out.pgn", source.display()));
    (folder.text("out.pgn"), messages)
}

/// The bytes of a book.
fn book(source: &Path, options: &str) -> [Vec<u8>; 3] {
    let folder = Folder::new();
    let source = source.display();
    folder.done(&format!("build '{source}' -o out.ctg {options}"));
    files(folder.join("out.ctg"))
}

#[test]
fn a_book_is_the_same_from_each_form_of_its_games() {
    let folder = Folder::new();
    let other = |source: &str, name: &str| {
        let source = data(source);
        folder.done(&format!("games '{}' -o {name}", source.display()));
        folder.join(name)
    };
    let usual = ["--variations --setups", ""];
    let all = [
        "--max-ply 300 --variations",
        "--eco C00-E99 --dedupe --threads 3",
    ];
    for (database, text, each) in [
        (data("scid/edge.si4"), data("scid/edge.pgn"), usual),
        (data("scid/edge.si5"), data("scid/edge.pgn"), usual),
        (data("cbh2/made.2cbh"), data("cbh2/made.pgn"), usual),
        (data("cbf/sample.cbf"), data("cbf/source.pgn"), usual),
        (other("sample.pgn", "sample.dci"), data("sample.pgn"), usual),
        (
            data("chessbase/Capa.cbh"),
            other("chessbase/Capa.cbh", "Capa.pgn"),
            all,
        ),
        (
            data("chessbase/fob.cbh"),
            other("chessbase/fob.cbh", "fob.pgn"),
            all,
        ),
    ] {
        for options in each {
            let expected = book(&text, options);
            assert!(
                book(&database, options) == expected,
                "{database:?} {options}"
            );
        }
    }
}

#[test]
fn a_book_from_an_archive_is_the_same_as_from_its_files() {
    let folder = Folder::new();
    let files = parts("chessbase/Capa", &["cbh", "cbg", "cbp", "cbt"]);
    let expected = book(&data("chessbase/Capa.cbh"), "");
    let (text, _) = pgn(&data("chessbase/Capa.cbh"));
    let as_pgn = folder.put("games.pgn", &text);
    let cbv = folder.put("x.cbv", pack_cbv(&files));
    let zip = folder.put("x.zip", pack_zip(&files));
    let inner = [("a/b.cbv".to_owned(), pack_cbv(&files))];
    let nested = folder.put("nested.zip", pack_zip(&inner));
    for source in [&as_pgn, &cbv, &zip, &nested] {
        assert!(book(source, "") == expected, "{}", source.display());
    }
    assert_eq!(pgn(&cbv).0, text);
}

/// All files below a folder, by relative path.
fn all_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                found.push((name.replace('\\', "/"), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn archives_are_unpacked_byte_for_byte_into_a_folder() {
    let folder = Folder::new();
    let mut files = parts("chessbase/Capa", &["cbg", "cbh", "cbp", "cbt"]);
    // More bytes than are read at once.
    let large = (0..1_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8);
    files.push(("html/a.jpg".to_owned(), large.collect()));
    for (name, bytes) in [("x.cbv", pack_cbv(&files)), ("y.zip", pack_zip(&files))] {
        folder.put(name, bytes);
        let out = format!("{name} out/");
        folder.done(&["games", name, "-o", &out]);
        assert!(all_files(&folder.join(&out)) == files, "{name}");
        // The second time a file already exists.
        let again = folder.tabia(&["games", name, "-o", &out]);
        again.refused("--force");
    }
}

#[test]
fn of_a_folder_the_readable_files_are_read() {
    let folder = Folder::new();
    let games = folder.join("games");
    std::fs::create_dir(&games).unwrap();
    std::fs::copy(data("cbv/small3.cbz"), games.join("a.cbz")).unwrap();
    folder
        .tabia("build -o x.ctg games")
        .refused("give its password");
    std::fs::write(games.join("b.pgn"), "[Event \"x\"]\n\n1. e4 e5 *\n").unwrap();
    std::fs::write(games.join("c.cbv"), "<!DOCTYPE html><html>").unwrap();
    for (command, code) in [
        ("build -o x.ctg", 0),
        ("build -fo x.ctg --strict", 1),
        ("games -o x.pgn", 0),
    ] {
        let text = folder.tabia(&format!("{command} games")).ends(code);
        assert_has(&text, "a.cbz: an encrypted archive: give its password");
        assert_has(&text, "; skipped");
        assert_has(&text, "c.cbv: this is a web page, not games");
        assert_has(&text, "1 game");
    }
    let whole = "build -fo x.ctg games --password 'my long password'";
    let text = folder.done(whole);
    assert!(!text.contains("a.cbz"), "{text}");
    // A file that is named must be readable.
    folder
        .tabia("build -fo x.ctg games/b.pgn games/a.cbz")
        .refused("give its password");
}

#[test]
fn encrypted_archives_need_their_password() {
    let folder = Folder::new();
    let path = data("cbv/small3.cbz");
    let run = |more: &str| folder.tabia(&format!("games '{}' -o out/ {more}", path.display()));
    run("").refused("give its password");
    run("--password 'my short password'").refused("this is not its password");
    run("--password 'my long password'").ok();
    assert_eq!(all_files(&folder.join("out")).len(), 12);
}

#[test]
fn names_in_an_archive_never_lead_out_of_the_folder() {
    let folder = Folder::new();
    let hostile = [
        "../escaped.cbh",
        "/tmp/tabia-escaped.cbh",
        "a/../../escaped.cbh",
        "C:escaped.cbh",
        "nul",
        "good.cbh",
        "GOOD.cbh",
    ];
    let files: Vec<_> = hostile
        .iter()
        .map(|name| ((*name).to_owned(), b"x".to_vec()))
        .collect();
    for (name, bytes) in [("x.cbv", pack_cbv(&files)), ("y.zip", pack_zip(&files))] {
        folder.put(name, bytes);
        let out = format!("in/{name}/");
        let unpacked = folder.tabia(&["games", name, "-o", &out]);
        unpacked.ends_with(1, "1 file, 1 byte unpacked");
        let found = all_files(&folder.join(&out));
        assert_eq!(found, [("good.cbh".to_owned(), b"x".to_vec())]);
    }
    let names: Vec<String> = all_files(&folder)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        ["in/x.cbv/good.cbh", "in/y.zip/good.cbh", "x.cbv", "y.zip"]
    );
    assert!(!Path::new("/tmp/tabia-escaped.cbh").exists());
}

/// The stored moves of a position in `out.ctg`, in order.
fn moves(folder: &Folder, after: &str) -> String {
    let view = folder.probe("out.ctg", after);
    let names = stored(&view, "san");
    let mut names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names.join(" ")
}

const ONLINE: &str = r#"[Event "Rated Blitz game"]
[White "anna"]
[Black "bob"]
[Result "1-0"]
[WhiteElo "1900"]
[BlackElo "1950"]
[WhiteTitle "WFM"]
[TimeControl "300+0"]

1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. h3 h6 7. g3 g6 8. a3 1-0

[Event "Casual Bullet game"]
[White "carl"]
[Black "anna"]
[Result "1/2-1/2"]
[WhiteElo "2400"]
[BlackElo "1900"]
[TimeControl "60+0"]

1. d4 d5 2. c4 e6 1/2-1/2
"#;

#[test]
fn games_are_chosen_by_rating_speed_title_and_event() {
    let folder = Folder::new();
    folder.put("in.pgn", ONLINE);
    for (options, first) in [
        ("--elo-band 1900..2000", "e4"),
        ("--elo-band ..2200", "d4 e4"),
        ("--max-elo-diff 50", "e4"),
        ("--speeds bullet,rapid", "d4"),
        ("--rated", "e4"),
        ("--title wfm", "e4"),
        ("--not-player Carl", "e4"),
        ("--decisive", "e4"),
        ("", "d4 e4"),
    ] {
        folder.done(&format!("build in.pgn -fo out.ctg {options}"));
        assert_eq!(moves(&folder, ""), first, "{options}");
    }
}

#[test]
fn a_book_of_one_side_has_moves_of_that_side_alone() {
    let folder = Folder::new();
    folder.put("in.pgn", ONLINE);
    let build = |more: &str| folder.done(&format!("build in.pgn -fo out.ctg {more}"));
    build("--only white");
    assert_eq!(moves(&folder, "e2e4"), "");
    assert_eq!(moves(&folder, "e2e4 c7c5"), "Nf3");
    build("--only black");
    assert_eq!(moves(&folder, ""), "");
    assert_eq!(moves(&folder, "e2e4"), "c5");
}

#[test]
fn eco_relative_limits_the_plies_after_the_last_named_opening() {
    let folder = Folder::new();
    folder.put("in.pgn", ONLINE);
    folder.done("build in.pgn -o out.ctg --eco-relative 2");
    // The Najdorf, and its variation with 6. h3, have names.
    let najdorf = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 h2h3";
    assert_eq!(moves(&folder, najdorf), "h6");
    assert_eq!(moves(&folder, &format!("{najdorf} h7h6")), "g3");
    assert_eq!(moves(&folder, &format!("{najdorf} h7h6 g2g3")), "");
}

const SIGNS: &str = r#"[White "a"]
[Black "b"]
[WhiteElo "2000"]
[BlackElo "2000"]

1. e4 $1 c5 $2 $16 (1... e5 $3 $11) 2. Nf3 $5 *

[White "c"]
[Black "d"]
[WhiteElo "2600"]
[BlackElo "2500"]

1. e4 c5 $6 $14 2. Nf3 $7 *

[White "e"]
[Black "f"]

1. e4 $1 c5 2. Nf3 *
"#;

#[test]
fn annotations_of_games_are_stored_in_the_book() {
    let folder = Folder::new();
    folder.put("in.pgn", SIGNS);
    let signs = |options: &str, moves: &str| {
        folder.done(&format!("build in.pgn -fo out.ctg {options}"));
        let view = folder.probe("out.ctg", moves);
        let moves = view["moves"].as_array().unwrap().iter();
        let mut found: Vec<Value> = moves
            .map(|mv| json!([mv["san"], mv["annotation"], mv["commentary"]]))
            .collect();
        found.sort_by_key(Value::to_string);
        Value::Array(found)
    };
    assert_eq!(signs("--annotations", ""), json!([["e4", "!", 0]]));
    // One annotation each: the better player's counts, on the real board.
    assert_eq!(signs("--annotations", "e2e4"), json!([["c5", "?!", 14]]));
    let all = "--annotations --variations";
    for options in [all, &format!("{all} --dedupe --threads 3")] {
        let replies = json!([["c5", "?!", 14], ["e5", "!!", 11]]);
        assert_eq!(signs(options, "e2e4"), replies);
        assert_eq!(signs(options, "e2e4 c7c5"), json!([["Nf3", "□", 0]]));
    }
    assert_eq!(signs("", "e2e4"), json!([["c5", "", 0]]));
}

#[test]
fn annotations_of_a_scid_database_are_those_of_its_pgn() {
    let options = "--variations --setups";
    let signs = format!("{options} --annotations");
    let expected = book(&data("scid/edge.pgn"), &signs);
    assert!(book(&data("scid/edge.si5"), &signs) == expected);
    assert!(book(&data("scid/edge.pgn"), options) != expected);
}
