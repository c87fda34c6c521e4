//! Learning: from collections, and while playing.

#![allow(clippy::unwrap_used)] // A test that stops says where.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use shakmaty::{Chess, Position};
use tabia::book::bin::BinBook;
use tabia::book::ctg::{CtgBook, OpenOptions, Problem, verify};
use tabia::book::polyglot::{self, PackedMove};
use tabia::book::{Lookup, Probe, Wanted};
use tabia::learn::{Evidence, LearnedBook, PlayedGame, append, side_path};
use tabia::watch::Watch;

use common::adapter::Adapter;

const TABIA: &str = env!("CARGO_BIN_EXE_tabia");

/// The main lines of the starter book, to be changed.
fn starter(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = folder.join("book.ctg");
    for extension in ["ctg", "cto", "ctb"] {
        let from = root.join("tests/data/small").with_extension(extension);
        fs::copy(from, to.with_extension(extension)).unwrap();
    }
    to
}

fn learn(book: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(TABIA);
    command.arg("learn").arg(book).args(args);
    // No side file of the user may come in.
    command.env("XDG_DATA_HOME", book.parent().unwrap().join("data"));
    command.output().unwrap()
}

fn ok(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    said
}

fn after(moves: &str) -> Chess {
    let mut position = Chess::default();
    for mv in moves.split_whitespace() {
        position.play_unchecked(common::uci(&position, mv));
    }
    position
}

fn factor(book: &dyn Probe, moves: &str, mv: &str) -> i8 {
    let position = after(moves);
    let mut found = Lookup::default();
    book.probe(&position, Wanted::Transpositions, &mut found)
        .unwrap();
    let wanted = common::uci(&position, mv);
    found
        .moves
        .iter()
        .find(|known| known.mv == wanted)
        .unwrap()
        .factor()
}

fn open(path: &Path) -> CtgBook {
    CtgBook::open(path, &OpenOptions::default()).unwrap()
}

const GAMES: &str = "\
[White \"Winner, A\"]\n[Black \"Loser, B\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
[White \"Loser, B\"]\n[Black \"Winner, A\"]\n[Result \"0-1\"]\n\n1. d4 Nf6 2. c4 e6 0-1\n\n\
[White \"Loser, B\"]\n[Black \"Winner, A\"]\n[Result \"1/2-1/2\"]\n\n1. e4 c5 1/2-1/2\n\n\
[White \"Winner, A\"]\n[Black \"Other, C\"]\n[Result \"*\"]\n\n1. c4 *\n\n";

#[test]
fn results_move_the_values_of_the_moves_played() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let before = fs::read(&book).unwrap();
    let games = folder.path().join("games.pgn");
    fs::write(&games, GAMES).unwrap();
    let games = games.to_str().unwrap();

    let output = learn(&book, &[games, "--dry-run"]);
    let said = ok(&output);
    assert!(said.contains("would change"), "{said}");
    let shown = String::from_utf8(output.stdout).unwrap();
    for line in [
        "1.e4  learn value 0 -> +10 (+1 =1 -0)",
        "1.e4: e5  learn value 0 -> -11 (+0 =0 -1)",
        "1.d4 Nf6: c4  learn value 0 -> -11 (+0 =0 -1)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    let output = learn(&book, &[games, "-n", "--json"]);
    ok(&output);
    let json = String::from_utf8(output.stdout).unwrap();
    assert_eq!(json.lines().count(), shown.lines().count() + 1);
    let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["summary"]["games"], 3);
    assert_eq!(last["summary"]["changes"], shown.lines().count());
    assert_eq!(fs::read(&book).unwrap(), before);

    let said = ok(&learn(&book, &[games]));
    assert!(said.contains("3 games"), "{said}");
    let opened = open(&book);
    // 125 * 1 / 12 for 1.e4 (a win and a draw), 125 / 11 for the others.
    assert_eq!(factor(&opened, "", "e2e4"), 10);
    assert_eq!(factor(&opened, "e2e4", "e7e5"), -11);
    assert_eq!(factor(&opened, "e2e4", "c7c5"), 0);
    assert_eq!(factor(&opened, "", "d2d4"), -11);
    assert_eq!(factor(&opened, "d2d4", "g8f6"), 11);
    assert_eq!(factor(&opened, "", "c2c4"), 0);
    let mut problems: Vec<Problem> = Vec::new();
    verify(&book, true, &mut Watch::default(), &mut |problem| {
        problems.push(problem)
    })
    .unwrap();
    assert!(problems.is_empty(), "{problems:?}");

    // Learning again goes on; fresh, it begins again.
    ok(&learn(&book, &[games]));
    assert_eq!(factor(&open(&book), "", "d2d4"), -22);
    ok(&learn(&book, &[games, "--fresh"]));
    assert_eq!(factor(&open(&book), "", "d2d4"), -11);
}

/// A Polyglot book counts games and twice the points, as Polyglot does.
#[test]
fn a_polyglot_book_counts_and_an_arena_book_says_that_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let ctg = starter(folder.path());
    let book = folder.path().join("book.bin");
    let mut convert = Command::new(TABIA);
    convert.arg("convert").arg(&ctg).arg(&book);
    ok(&convert.output().unwrap());
    let pgn = folder.path().join("games.pgn");
    let games = "1. e4 c5 2. Nf3 d6 1-0\n\n1. e4 c5 2. Nf3 1/2-1/2\n\n1. e4 c5 0-1\n\n";
    fs::write(&pgn, games).unwrap();
    let learnt = |moves: &str, mv: &str| {
        let bin = BinBook::open(&book, &OpenOptions::default()).unwrap();
        let position = after(moves);
        let entries = bin.entries_of(polyglot::key(&position)).unwrap();
        let wanted = PackedMove::of(common::uci(&position, mv));
        let entry = entries.iter().find(|entry| entry.mv == wanted).unwrap();
        (entry.learn >> 16, entry.learn & 0xffff)
    };
    let args = [pgn.to_str().unwrap(), "--dry-run"];
    let output = learn(&book, &args);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains("1.e4  learn counts 0/0 -> 1.5/3 (+1 =1 -1)"),
        "{shown}"
    );
    assert_eq!(learnt("", "e2e4"), (0, 0));
    ok(&learn(&book, &args[..1]));
    assert_eq!(learnt("", "e2e4"), (3, 3));
    assert_eq!(learnt("e2e4", "c7c5"), (3, 3));
    assert_eq!(learnt("e2e4 c7c5", "g1f3"), (2, 3));
    assert_eq!(learnt("", "d2d4"), (0, 0));

    // Games of play come in beside the old counts, or in their place.
    let played = PlayedGame {
        start: None,
        winner: Some(shakmaty::Color::Black),
        evidence: Evidence::Mate,
        moves: vec![("e2e4".into(), true), ("c7c5".into(), false)],
    };
    append(&side_path(&book), &played).unwrap();
    ok(&learn(&book, &["--from-side-file"]));
    assert_eq!(learnt("", "e2e4"), (4, 3));
    ok(&learn(&book, &[args[0], "--fresh"]));
    assert_eq!(learnt("", "e2e4"), (3, 3));

    let output = learn(&book, &[args[0], "--strength", "80"]);
    assert_eq!(output.status.code(), Some(2));
    let arena = folder.path().join("book.abk");
    fs::write(&arena, [b"\x03ABK".as_slice(), &[0; 28 * 900]].concat()).unwrap();
    let output = learn(&arena, &args[..1]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("which has no learn values"), "{said}");
}

#[test]
fn sides_players_results_and_strength_are_heeded() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games.pgn");
    fs::write(&games, GAMES).unwrap();
    let games = games.to_str().unwrap();
    // e4, 1...e5, d4, 1...Nf6
    for (args, expected) in [
        (&["--colour", "white"][..], [10, 0, -11, 0]),
        (&["--colour", "black"], [0, -11, 0, 11]),
        (&["--player", "winner"], [11, 0, 0, 11]),
        (&["--player", "Winner", "--as", "black"], [0, 0, 0, 11]),
        (&["--wins"], [11, 0, 0, 11]),
        (&["--losses"], [0, -11, -11, 0]),
        (&["--strength", "100"], [21, -23, -23, 23]),
        (&["--strength", "0"], [0, 0, 0, 0]),
    ] {
        let book = starter(folder.path());
        ok(&learn(&book, &[&[games], args].concat()));
        let opened = open(&book);
        let lines = [
            ("", "e2e4"),
            ("e2e4", "e7e5"),
            ("", "d2d4"),
            ("d2d4", "g8f6"),
        ];
        let found = lines.map(|(moves, mv)| factor(&opened, moves, mv));
        assert_eq!(found, expected, "{args:?}");
    }
}

#[test]
fn the_order_of_games_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("tests/data/sample.pgn")).unwrap();
    let games: Vec<&str> = text.split("[Event ").skip(1).collect();
    let write = |name: &str, games: Vec<&str>| {
        let path = folder.path().join(name);
        let text: String = games
            .iter()
            .map(|game| format!("[Event {game}\n"))
            .collect();
        fs::write(&path, text).unwrap();
        path
    };
    let forward = write("a.pgn", games.clone());
    let backward = write("b.pgn", games.into_iter().rev().collect());
    let books = [forward, backward].map(|games| {
        let book = starter(folder.path());
        ok(&learn(&book, &[games.to_str().unwrap()]));
        fs::read(&book).unwrap()
    });
    assert!(books[0] == books[1]);
}

const LEARNING: [&str; 2] = ["Book Info=brief", "Book Learn=true"];

/// A game in which Black, who has the book's 1...c5, is mated by a trick of
/// positions: the outcome is on the board.
fn lose(adapter: &mut Adapter) {
    let best = adapter.best("position startpos moves e2e4");
    let reply = best.split_whitespace().nth(1).unwrap().to_owned();
    let tail = match reply.as_str() {
        "c7c5" => "f1c4 a7a6 d1h5 a6a5 h5f7",
        "e7e5" => "f1c4 a7a6 d1h5 a6a5 h5f7",
        other => panic!("an unexpected book move: {other}"),
    };
    adapter.say(&format!("position startpos moves e2e4 {reply} {tail}"));
    adapter.ready();
}

#[test]
fn played_games_are_noted_weighed_shared_and_folded_in() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let before = fs::read(&book).unwrap();
    let side = side_path(&book);
    let mut adapters = [
        Adapter::start(&book, &LEARNING),
        Adapter::start(&book, &LEARNING),
    ];
    for _ in 0..3 {
        for adapter in &mut adapters {
            adapter.say("ucinewgame");
            adapter.ready();
            lose(adapter);
        }
    }
    // 1...c5 has lost six times by now, and both adapters know of it.
    for adapter in &mut adapters {
        adapter.say("ucinewgame");
        adapter.ready();
    }
    let [mut first, second] = adapters;
    second.quit();
    first.say("ucinewgame");
    first.ready();
    first.say("position startpos moves e2e4");
    first.say("go movetime 20");
    let lines = first.until("bestmove").join("\n");
    assert!(lines.contains(", -"), "{lines}");
    first.quit();

    let text = fs::read_to_string(&side).unwrap();
    assert!(text.starts_with("# tabia learn 1\n"), "{text}");
    let games: Vec<PlayedGame> = text
        .lines()
        .skip(1)
        .map(|l| PlayedGame::parse(l).unwrap())
        .collect();
    assert_eq!(games.len(), 6, "{text}");
    assert!(games.iter().all(|game| game.result() == "1-0"), "{text}");
    assert_eq!(
        fs::read(&book).unwrap(),
        before,
        "the book itself is left alone"
    );

    // What lies on top of the book is what is folded into it.
    let learned = LearnedBook::new(std::sync::Arc::new(open(&book)), &side);
    let lines: Vec<(String, String)> = ["c7c5", "e7e5"]
        .map(|mv| ("e2e4".to_owned(), mv.to_owned()))
        .into();
    let on_top: Vec<i8> = lines
        .iter()
        .map(|(moves, mv)| factor(&learned, moves, mv))
        .collect();
    assert!(on_top.iter().any(|factor| *factor < 0), "{on_top:?}");
    let said = ok(&learn(&book, &["--from-side-file"]));
    assert!(said.contains("6 games"), "{said}");
    let opened = open(&book);
    let folded: Vec<i8> = lines
        .iter()
        .map(|(moves, mv)| factor(&opened, moves, mv))
        .collect();
    assert_eq!(folded, on_top);
    assert!(!side.exists());
    let said = ok(&learn(&book, &["--from-side-file"]));
    assert!(said.contains("no game"), "{said}");
}

#[test]
fn an_overlay_takes_up_what_others_add() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let side = side_path(&book);
    let learned = LearnedBook::new(std::sync::Arc::new(open(&book)), &side);
    assert_eq!(factor(&learned, "", "e2e4"), 0);
    let game = |winner| PlayedGame {
        start: None,
        winner,
        evidence: Evidence::Score,
        moves: vec![("e2e4".to_owned(), true)],
    };
    for (winner, expected) in [
        (Some(shakmaty::Color::White), 11),
        (Some(shakmaty::Color::White), 21),
        (Some(shakmaty::Color::Black), 10),
        (None, 9),
    ] {
        append(&side, &game(winner)).unwrap();
        // A new game.
        assert!(learned.is_current());
        assert_eq!(factor(&learned, "", "e2e4"), expected);
    }
    fs::remove_file(&side).unwrap();
    assert!(learned.is_current());
    assert_eq!(factor(&learned, "", "e2e4"), 0);
}

#[test]
fn a_side_file_that_is_broken_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let book = starter(folder.path());
    let side = side_path(&book);
    let mut junk =
        b"# tabia learn 1\ngame 1 1-0 mate startpos e2e5* .\ngame x\n\xff\xfe\n".to_vec();
    junk.extend_from_slice(b"game 1 1-0 mate fen e2e4* .\ngame 1 2-0 mate startpos e2e4* .\n");
    junk.extend_from_slice(
        b"future thing\ngame 1 1-0 mate startpos d2d4* .\ngame 1 1-0 mate start",
    );
    fs::write(&side, junk).unwrap();
    let learned = LearnedBook::new(std::sync::Arc::new(open(&book)), &side);
    assert_eq!(factor(&learned, "", "d2d4"), 11);
    assert_eq!(factor(&learned, "", "e2e4"), 0);
    let mut adapter = Adapter::start(&book, &LEARNING);
    adapter.say("position startpos");
    adapter.say("go movetime 10");
    adapter.until("bestmove");
    adapter.quit();
}
