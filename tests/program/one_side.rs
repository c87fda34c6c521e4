//! Books for one side: they answer nothing for the other, in any format and after any
//! conversion, and nothing is lost on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proptest::prelude::*;
use shakmaty::{Chess, Color, Move, Position as _};
use tabia_book::bin::encode;
use tabia_book::polyglot::{self, PackedMove};
use tabia_book::{Book, Lookup, OpenOptions, Probe as _, Wanted};
use tabia_notation as notation;

use crate::common::{Folder, assert_has, assert_sound, choices, position};

/// Few moves, so that games transpose, also into positions with colours exchanged.
const USUAL: [&str; 16] = [
    "e2e3", "e3e4", "e2e4", "d2d4", "g1f3", "b1c3", "f1c4", "f3g1", "e7e6", "e6e5", "e7e5", "d7d5",
    "g8f6", "b8c6", "f8c5", "f6g8",
];

/// A drawn game of usual moves.
fn game(seed: u64, plies: usize) -> (Vec<Chess>, Vec<Move>) {
    let (mut positions, mut moves) = (vec![Chess::default()], Vec::new());
    for number in choices(seed).take(plies) {
        let now = positions.last().unwrap();
        let mut usual = now.legal_moves();
        usual.retain(|mv| USUAL.contains(&notation::uci(*mv).as_str()));
        if usual.is_empty() {
            break;
        }
        let mv = usual[usize::from(number) % usual.len()];
        positions.push(notation::after(now, mv));
        moves.push(mv);
    }
    (positions, moves)
}

/// The moves that each position has.
type Played = BTreeMap<u64, BTreeSet<String>>;

/// Checks what a book answers in these positions: the moves of one side that were played
/// there. An entry of `both` also has the moves of the position with colours exchanged;
/// those may be left in a book that was made of it.
fn assert_answers(
    book: &Book,
    positions: &[Chess],
    side: Color,
    played: &Played,
    both: Option<&Book>,
) {
    let mut found = Lookup::default();
    let mut moves = |book: &Book, position: &Chess, wanted| -> BTreeSet<String> {
        book.probe(position, wanted, &mut found).unwrap();
        found
            .moves
            .iter()
            .map(|entry| notation::uci(entry.mv))
            .collect()
    };
    for position in positions {
        let place = format!("{:?} {}", book.path(), notation::fen(position));
        let names = moves(book, position, Wanted::Transpositions);
        if position.turn() != side {
            assert!(names.is_empty(), "{place}: {names:?}");
            continue;
        }
        let expected = played.get(&polyglot::key(position));
        let expected = expected.cloned().unwrap_or_default();
        match both {
            None => assert_eq!(names, expected, "{place}"),
            Some(both) => {
                let all = moves(both, position, Wanted::Stored);
                assert!(names.is_superset(&expected), "{place}: {names:?}");
                assert!(names.is_subset(&all), "{place}: {names:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn a_book_for_one_side_answers_for_that_side_only(
        seeds in prop::collection::vec(any::<u64>(), 1..30), plies in 1..10_usize, is_white in any::<bool>(),
    ) {
        let side = Color::from_white(is_white);
        let folder = Folder::new();
        let games: Vec<_> = seeds.iter().map(|seed| game(*seed, plies)).collect();
        let mut text = String::new();
        let mut played = Played::new();
        let mut positions = Vec::new();
        for (before, moves) in &games {
            let mut line = notation::Line::from_start(Chess::default());
            for (position, mv) in before.iter().zip(moves) {
                line.push(*mv);
                if position.turn() == side {
                    played.entry(polyglot::key(position)).or_default().insert(notation::uci(*mv));
                }
            }
            text += &format!("[Event \"?\"]\n[Result \"1/2-1/2\"]\n\n{line} 1/2-1/2\n\n");
            // Also positions near the games.
            for position in before {
                positions.extend(position.legal_moves().into_iter().map(|mv| notation::after(position, mv)));
            }
            positions.extend_from_slice(before);
        }
        prop_assume!(!played.is_empty());
        folder.put("games.pgn", text);
        let name = side.to_string();
        for command in [
            "build -o both.ctg games.pgn",
            "build -o a.ctg games.pgn --only SIDE",
            "build -o a.bin games.pgn --only SIDE --min-games 1",
            "prune both.ctg -o b.ctg --only SIDE",
            "convert a.ctg c.bin",
            "convert c.bin c.ctg",
            "convert c.ctg d.jsonl",
            "convert d.jsonl d.ctg",
            "convert d.ctg d.bin",
            "convert a.bin e.jsonl",
            "convert e.jsonl e.bin",
            "convert a.bin f.bin",
            "build -o a.abk games.pgn --only SIDE",
            "convert a.abk i.bin",
            "convert a.abk i.ctg",
            "convert a.abk i.jsonl",
            "convert i.jsonl j.ctg",
            "convert a.abk j.abk",
            "convert a.bin k.abk",
            "convert k.abk k.ctg",
            "convert a.abk i.csv",
            "merge -o l.ctg a.abk a.ctg",
            "compact b.ctg -o f.ctg",
            "merge -o g.ctg a.ctg b.ctg c.ctg",
            "merge -o g.bin a.bin c.bin",
            "convert a.ctg all.bin --all",
            "convert g.ctg g.csv",
            "convert a.bin h.csv",
            "add f.ctg games.pgn",
        ] {
            folder.done(&command.replace("SIDE", &name));
        }
        let both = Book::open(folder.join("both.ctg"), &OpenOptions::default()).unwrap();
        for (name, both) in [
            ("a.ctg", None), ("c.ctg", None), ("d.ctg", None), ("a.bin", None), ("c.bin", None),
            ("d.bin", None), ("e.bin", None), ("f.bin", None), ("g.bin", None), ("all.bin", None),
            ("a.abk", None), ("i.bin", None), ("i.ctg", None), ("j.ctg", None), ("j.abk", None),
            ("k.abk", None), ("k.ctg", None), ("l.ctg", None),
            ("b.ctg", Some(&both)), ("f.ctg", Some(&both)), ("g.ctg", Some(&both)),
        ] {
            let path = folder.join(name);
            if name.ends_with(".ctg") {
                assert_sound(&path);
            }
            let only = &folder.tabia(&format!("info {name} --json")).json()["only"];
            prop_assert_eq!(only, &side.to_string(), "{}", name);
            let book = Book::open(path, &OpenOptions::default()).unwrap();
            assert_answers(&book, &positions, side, &played, both);
        }
        for table in ["g.csv", "h.csv", "i.csv"] {
            let turn = format!(" {} ", side.char());
            let mut moves = 0;
            for row in folder.text(table).lines().skip(1) {
                prop_assert!(row.contains(&turn), "{}", row);
                moves += 1;
            }
            prop_assert!(moves >= played.values().map(BTreeSet::len).sum::<usize>());
        }
    }
}

/// The moves of one side of some lines, as a Polyglot book, with the number of positions.
fn polyglot_book(lines: &[&str], side: Color) -> (Vec<u8>, usize) {
    let mut entries = BTreeSet::new();
    for line in lines {
        let mut position = Chess::default();
        for name in line.split(' ') {
            let mv = crate::common::uci(&position, name);
            if position.turn() == side {
                entries.insert((polyglot::key(&position), PackedMove::from_move(mv)));
            }
            position.play_unchecked(mv);
        }
    }
    let keys: BTreeSet<u64> = entries.iter().map(|(key, _)| *key).collect();
    let bytes = entries.iter().flat_map(|(key, mv)| encode(*key, *mv, 1, 0));
    (bytes.collect(), keys.len())
}

#[test]
fn every_format_gets_all_positions_of_a_polyglot_book_for_one_side() {
    let folder = Folder::new();
    let lines = [
        "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6",
        "e2e4 c7c5 g1f3 d7d6",
        "d2d4 g8f6 c2c4 g7g6 b1c3 f8g7",
    ];
    for side in Color::ALL {
        let (bytes, positions) = polyglot_book(&lines, side);
        folder.put("x.bin", bytes);
        let info = folder.tabia("info x.bin --json").json();
        assert_eq!(info["reached_positions"], positions);
        assert_eq!(info["only"], side.to_string());
        for format in ["ctg", "jsonl", "pgn", "csv"] {
            let messages = folder.done(&format!("convert x.bin out.{format} -f"));
            assert!(!messages.contains("left out"), "{messages}");
        }
        folder.done("convert out.ctg back.bin -f");
        folder.done("convert x.bin direct.bin -f");
        assert_eq!(
            fs::read(folder.join("back.bin")).unwrap(),
            fs::read(folder.join("direct.bin")).unwrap()
        );
        assert_has(
            &folder.tabia("info out.ctg").printed(),
            &format!("{side} only"),
        );
        let text = folder.text("out.jsonl");
        assert_has(
            text.lines().next().unwrap(),
            &format!("\"only\":\"{side}\""),
        );
        // The lines of the games are whole again.
        let games = folder.text("out.pgn").replace('\n', " ");
        assert_has(&games, "not a move of the book");
        for book in ["x.bin", "out.ctg"] {
            let tree = folder
                .tabia(&format!("tree {book} --ascii --depth 8 --min-share 0"))
                .printed();
            for mv in ["c4", "Bg7"] {
                assert_eq!(tree.contains(mv), mv == "c4" || side.is_black(), "{tree}");
            }
        }
        let same = folder.tabia("diff x.bin direct.bin --only moves").ok();
        assert_has(&same, &format!("{positions} positions compared"));
    }
}

/// The start position has no moves in it then, so its results are those of the moves after it.
#[test]
fn a_book_for_black_from_an_arena_book_has_the_results_of_its_start() {
    let folder = Folder::new();
    let games = [("0-1", "e4 e5"), ("0-1", "d4 d5"), ("1-0", "e4 c5")];
    let games =
        games.map(|(result, moves)| format!("[Result \"{result}\"]\n\n1. {moves} {result}\n\n"));
    folder.put("a.pgn", games.concat());
    folder.done("build -o a.abk a.pgn --only black");
    folder.done("convert a.abk a.ctg");
    let start = folder.probe("a.ctg", "");
    let results = ["games", "wins", "draws", "losses"].map(|name| start[name].as_u64());
    assert_eq!(results, [3, 1, 0, 2].map(Some));
}

/// Two moves of the opponent and one of the own side are unknown.
#[test]
fn the_walk_goes_on_by_several_moves_that_are_not_stored() {
    let folder = Folder::new();
    let far = position("rnbqkbnr/pp2pppp/8/2pp4/3P4/5N2/PPP1PPPP/RNBQKB1R w KQkq - 0 3");
    let mv = crate::common::uci(&far, "c2c3");
    let start = encode(
        polyglot::key(&Chess::default()),
        PackedMove::from_move(crate::common::uci(&Chess::default(), "g1f3")),
        1,
        0,
    );
    let mut entries = [
        start,
        encode(polyglot::key(&far), PackedMove::from_move(mv), 1, 0),
    ];
    entries.sort_unstable();
    folder.put("x.bin", entries.concat());
    let done = folder.done("convert x.bin x.ctg");
    assert!(!done.contains("left out"), "{done}");
    folder.done("convert x.ctg back.bin");
    assert_eq!(folder.tabia("info back.bin --json").json()["positions"], 2);
}

#[test]
fn a_book_most_of_which_cannot_be_reached_is_reported() {
    let folder = Folder::new();
    let entry = |key: u64| encode(key, PackedMove(0o1434), 1, 0);
    let start = encode(
        polyglot::key(&Chess::default()),
        PackedMove::from_move(crate::common::uci(&Chess::default(), "g1f3")),
        1,
        0,
    );
    let mut entries = [start, entry(1), entry(2)];
    entries.sort_unstable();
    folder.put("x.bin", entries.concat());
    for format in ["ctg", "bin", "csv", "pgn", "jsonl"] {
        let made = folder.tabia(&format!("convert x.bin out.{format}"));
        made.ends_with(1, "2 positions left out that cannot be reached");
    }
    let same = folder.tabia("diff x.bin out.bin --only moves").ok();
    assert_has(&same, "; 2 positions of Polyglot books not compared");
    folder.put("y.bin", entries[1..].concat());
    folder
        .tabia("convert y.bin out.csv -f")
        .ends_with(0, "1 position left out");
}

#[test]
fn sides_of_books_are_reported_and_kept() {
    let folder = Folder::new();
    folder.put("a.pgn", "1.e4 e5 2.Nf3 *\n\n1.d4 d5 2.c4 *\n");
    folder.done("build -o white.ctg a.pgn --only white");
    folder.done("build -o both.ctg a.pgn");
    let only = |book: &str| folder.tabia(&["info", book, "--json"]).json()["only"].clone();
    let messages = folder.done("add white.ctg --line '1.c4 e5 2.Nc3'");
    assert_has(&messages, "plays for white only");
    assert_eq!(only("white.ctg"), "white");
    assert_eq!(
        folder.probe("white.ctg", "c4")["moves"],
        serde_json::json!([])
    );
    assert_eq!(folder.probe("white.ctg", "c4 e5")["moves"][0]["san"], "Nc3");
    let messages = folder.done("merge -o all.ctg white.ctg both.ctg");
    assert_has(
        &messages,
        "white.ctg: plays for white only; the new book plays for both sides",
    );
    assert_eq!(only("all.ctg"), serde_json::Value::Null);
    folder
        .tabia("prune white.ctg -o x.ctg --only black")
        .ends_with(1, "for white only");
    folder.done("prune white.ctg -o x.ctg --line '1.d4'");
    assert_eq!(only("x.ctg"), "white");
    assert_eq!(folder.probe("x.ctg", "e4 e5")["moves"][0]["san"], "Nf3");
    assert_eq!(folder.probe("x.ctg", "d4")["in_book"], false);
    folder.done("mark white.ctg --moves e2e4 avoid");
    assert_eq!(only("white.ctg"), "white");
    // The first line of the text form says so, too, and is checked.
    folder.done("convert x.ctg x.jsonl");
    let text = folder.text("x.jsonl").replacen("\"white\"", "\"green\"", 1);
    folder.put("x.jsonl", text);
    folder.tabia("convert x.jsonl y.ctg").refused("line 1");
}
