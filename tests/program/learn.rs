//! Learning from collections, and while playing.

#![allow(clippy::unwrap_used)] // A test that fails here shows the line.

use std::fs;
use std::sync::Arc;

use shakmaty::Color;
use tabia_book::bin::BinBook;
use tabia_book::polyglot::{self, PackedMove};
use tabia_book::{OpenOptions, Probe};
use tabia_choice::learn::{Evidence, LearnedBook, PlayedGame, append, side_path};

use crate::common::adapter::Adapter;
use crate::common::{Folder, SMALL, after, assert_has, assert_sound, copy, look_up, open, project};

fn learn_value(book: &dyn Probe, moves: &str, mv: &str) -> i8 {
    let position = after(moves);
    let found = look_up(book, &position);
    let wanted = crate::common::uci(&position, mv);
    let mut moves = found.moves.iter();
    moves
        .find(|known| known.mv == wanted)
        .unwrap()
        .learn_value()
}

const GAMES: &str = "\
[White \"Winner, A\"]\n[Black \"Loser, B\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
[White \"Loser, B\"]\n[Black \"Winner, A\"]\n[Result \"0-1\"]\n\n1. d4 Nf6 2. c4 e6 0-1\n\n\
[White \"Loser, B\"]\n[Black \"Winner, A\"]\n[Result \"1/2-1/2\"]\n\n1. e4 c5 1/2-1/2\n\n\
[White \"Winner, A\"]\n[Black \"Other, C\"]\n[Result \"*\"]\n\n1. c4 *\n\n";

#[test]
fn results_move_the_values_of_the_moves_played() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    folder.put("games.pgn", GAMES);
    let dry = folder.tabia("learn book.ctg games.pgn --dry-run");
    dry.ends_with(0, "would change");
    let shown = dry.out();
    for line in [
        "1.e4  learn value 0 -> +10 (+1 =1 -0)",
        "1.e4: e5  learn value 0 -> -11 (+0 =0 -1)",
        "1.d4 Nf6: c4  learn value 0 -> -11 (+0 =0 -1)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    let json = folder.tabia("learn book.ctg games.pgn -n --json").printed();
    assert_eq!(json.lines().count(), shown.lines().count() + 1);
    let last: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["summary"]["games"], 3);
    assert_eq!(last["summary"]["changes"], shown.lines().count());
    assert_eq!(fs::read(&book).unwrap(), before);

    assert_has(&folder.done("learn book.ctg games.pgn"), "3 games");
    let opened = open(&book);
    // 125 * 1 / 12 for 1.e4 (a win and a draw), 125 / 11 for the others.
    assert_eq!(learn_value(&opened, "", "e2e4"), 10);
    assert_eq!(learn_value(&opened, "e2e4", "e7e5"), -11);
    assert_eq!(learn_value(&opened, "e2e4", "c7c5"), 0);
    assert_eq!(learn_value(&opened, "", "d2d4"), -11);
    assert_eq!(learn_value(&opened, "d2d4", "g8f6"), 11);
    assert_eq!(learn_value(&opened, "", "c2c4"), 0);
    assert_sound(&book);

    // Learning again adds up; `--fresh` starts again.
    folder.done("learn book.ctg games.pgn");
    assert_eq!(learn_value(&open(&book), "", "d2d4"), -22);
    folder.done("learn book.ctg games.pgn --fresh");
    assert_eq!(learn_value(&open(&book), "", "d2d4"), -11);
}

/// In a Polyglot book learning counts games and twice the points, as Polyglot does.
#[test]
fn a_polyglot_book_learns_and_an_arena_book_is_refused() {
    let folder = Folder::with(SMALL);
    folder.done("convert book.ctg book.bin");
    let book = folder.join("book.bin");
    let games = "1. e4 c5 2. Nf3 d6 1-0\n\n1. e4 c5 2. Nf3 1/2-1/2\n\n1. e4 c5 0-1\n\n";
    folder.put("games.pgn", games);
    let learnt = |moves: &str, mv: &str| {
        let bin = BinBook::open(&book, &OpenOptions::default()).unwrap();
        let position = after(moves);
        let entries = bin.entries_of(polyglot::key(&position)).unwrap();
        let wanted = PackedMove::from_move(crate::common::uci(&position, mv));
        let entry = entries.iter().find(|entry| entry.mv == wanted).unwrap();
        (entry.learn >> 16, entry.learn & 0xffff)
    };
    let shown = folder.tabia("learn book.bin games.pgn --dry-run").out();
    assert_has(&shown, "1.e4  learn counts 0/0 -> 1.5/3 (+1 =1 -1)");
    assert_eq!(learnt("", "e2e4"), (0, 0));
    folder.done("learn book.bin games.pgn");
    assert_eq!(learnt("", "e2e4"), (3, 3));
    assert_eq!(learnt("e2e4", "c7c5"), (3, 3));
    assert_eq!(learnt("e2e4 c7c5", "g1f3"), (2, 3));
    assert_eq!(learnt("", "d2d4"), (0, 0));

    // New games are added to the old counts, or replace them.
    let played = PlayedGame {
        start: None,
        winner: Some(Color::Black),
        evidence: Evidence::Mate,
        moves: vec![("e2e4".into(), true), ("c7c5".into(), false)],
    };
    append(&side_path(&book), &played).unwrap();
    folder.done("learn book.bin --from-side-file");
    assert_eq!(learnt("", "e2e4"), (4, 3));
    folder.done("learn book.bin games.pgn --fresh");
    assert_eq!(learnt("", "e2e4"), (3, 3));

    folder
        .tabia("learn book.bin games.pgn --strength 80")
        .ends(2);
    folder.put("book.abk", [b"\x03ABK".as_slice(), &[0; 28 * 900]].concat());
    let arena = folder.tabia("learn book.abk games.pgn");
    arena.refused("which has no learn values");
}

#[test]
fn options_for_side_player_result_and_strength_work() {
    let folder = Folder::new();
    folder.put("games.pgn", GAMES);
    let book = folder.join("book.ctg");
    // e4, 1...e5, d4, 1...Nf6
    for (options, expected) in [
        ("--colour white", [10, 0, -11, 0]),
        ("--colour black", [0, -11, 0, 11]),
        ("--player winner", [11, 0, 0, 11]),
        ("--player Winner --as black", [0, 0, 0, 11]),
        ("--wins", [11, 0, 0, 11]),
        ("--losses", [0, -11, -11, 0]),
        ("--strength 100", [21, -23, -23, 23]),
        ("--strength 0", [0, 0, 0, 0]),
    ] {
        copy(SMALL, &book);
        folder.done(&format!("learn book.ctg games.pgn {options}"));
        let opened = open(&book);
        let lines = [
            ("", "e2e4"),
            ("e2e4", "e7e5"),
            ("", "d2d4"),
            ("d2d4", "g8f6"),
        ];
        let found = lines.map(|(moves, mv)| learn_value(&opened, moves, mv));
        assert_eq!(found, expected, "{options}");
    }
}

#[test]
fn the_order_of_games_does_not_matter() {
    let folder = Folder::new();
    let text = fs::read_to_string(project("tests/data/sample.pgn")).unwrap();
    let games = text.split("[Event ").skip(1);
    let mut games: Vec<String> = games.map(|game| format!("[Event {game}\n")).collect();
    let books = ["forward", "backward"].map(|_| {
        let book = folder.join("book.ctg");
        copy(SMALL, &book);
        folder.put("games.pgn", games.concat());
        folder.done("learn book.ctg games.pgn");
        games.reverse();
        fs::read(&book).unwrap()
    });
    assert!(books[0] == books[1]);
}

const LEARNING: [&str; 2] = ["Book Info=brief", "Book Learn=true"];

/// A game in which Black, with the book's 1...c5, is mated by moves of the test: the
/// outcome is known from the board.
fn lose(adapter: &mut Adapter) {
    let best = adapter.best("position startpos moves e2e4");
    let reply = best.split_whitespace().nth(1).unwrap();
    assert!(["c7c5", "e7e5"].contains(&reply), "{best}");
    let tail = "f1c4 a7a6 d1h5 a6a5 h5f7";
    adapter.send(&format!("position startpos moves e2e4 {reply} {tail}"));
    adapter.ready();
}

#[test]
fn played_games_are_recorded_and_change_learn_values_and_are_merged_into_the_book() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let before = fs::read(&book).unwrap();
    let side = side_path(&book);
    let mut adapters: [Adapter; 2] = std::array::from_fn(|_| Adapter::of_book(&book, &LEARNING));
    for _ in 0..3 {
        for adapter in &mut adapters {
            adapter.new_game();
            lose(adapter);
        }
    }
    // 1...c5 has lost six times now, and both adapters have read that.
    for adapter in &mut adapters {
        adapter.new_game();
    }
    let [mut first, mut second] = adapters;
    assert!(second.quit().success());
    first.new_game();
    first.received.clear();
    first.best("position startpos moves e2e4");
    first.assert_received(", -");
    assert!(first.quit().success());

    let text = fs::read_to_string(&side).unwrap();
    assert!(text.starts_with("# tabia learn 1\n"), "{text}");
    let lines = text.lines().skip(1);
    let games: Vec<_> = lines.map(|line| PlayedGame::parse(line).unwrap()).collect();
    assert_eq!(games.len(), 6, "{text}");
    assert!(games.iter().all(|game| game.result() == "1-0"), "{text}");
    assert_eq!(
        fs::read(&book).unwrap(),
        before,
        "the book itself is left alone"
    );

    // Merging writes the same values that were shown on top of the book.
    let learned = LearnedBook::new(Arc::new(open(&book)), &side);
    let replies = |book: &dyn Probe| ["c7c5", "e7e5"].map(|mv| learn_value(book, "e2e4", mv));
    let on_top = replies(&learned);
    assert!(
        on_top.iter().any(|learn_value| *learn_value < 0),
        "{on_top:?}"
    );
    let fold = "learn book.ctg --from-side-file";
    assert_has(&folder.done(fold), "6 games");
    assert_eq!(replies(&open(&book)), on_top);
    assert!(!side.exists());
    assert_has(&folder.done(fold), "no game");
}

#[test]
fn an_overlay_reads_results_added_by_other_programs() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let side = side_path(&book);
    let learned = LearnedBook::new(Arc::new(open(&book)), &side);
    assert_eq!(learn_value(&learned, "", "e2e4"), 0);
    let game = |winner| PlayedGame {
        start: None,
        winner,
        evidence: Evidence::Score,
        moves: vec![("e2e4".to_owned(), true)],
    };
    for (winner, expected) in [
        (Some(Color::White), 11),
        (Some(Color::White), 21),
        (Some(Color::Black), 10),
        (None, 9),
    ] {
        append(&side, &game(winner)).unwrap();
        // A new game.
        assert!(learned.is_current());
        assert_eq!(learn_value(&learned, "", "e2e4"), expected);
    }
    fs::remove_file(&side).unwrap();
    assert!(learned.is_current());
    assert_eq!(learn_value(&learned, "", "e2e4"), 0);
}

#[test]
fn a_damaged_side_file_is_reported_and_ignored() {
    let folder = Folder::with(SMALL);
    let book = folder.join("book.ctg");
    let side = side_path(&book);
    let junk = b"# tabia learn 1\ngame 1 1-0 mate startpos e2e5* .\ngame x\n\xff\xfe\n\
        game 1 1-0 mate fen e2e4* .\ngame 1 2-0 mate startpos e2e4* .\n\
        future thing\ngame 1 1-0 mate startpos d2d4* .\ngame 1 1-0 mate start";
    fs::write(&side, junk).unwrap();
    let learned = LearnedBook::new(Arc::new(open(&book)), &side);
    assert_eq!(learn_value(&learned, "", "d2d4"), 11);
    assert_eq!(learn_value(&learned, "", "e2e4"), 0);
    let mut adapter = Adapter::of_book(&book, &LEARNING);
    adapter.best("position startpos");
    assert!(adapter.quit().success());
}
