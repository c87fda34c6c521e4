//! Polyglot books made from games.

use super::*;
use tabia_book::bin::encode;
use tabia_book::polyglot::{self, PackedMove};

/// Moves of a position with their games and twice their points, in the order in which
/// they were first played.
type Counts = BTreeMap<u64, Vec<(u16, u32, u16)>>;

/// The counts of `polyglot make-book` for these games.
fn count<'g>(games: impl IntoIterator<Item = &'g TestGame>, max_ply: usize) -> Counts {
    let mut counts = Counts::new();
    for game in games {
        for (position, mv) in game.positions.iter().zip(&game.moves).take(max_ply) {
            let points = match (game.result, position.turn()) {
                ("1-0", Color::White) | ("0-1", Color::Black) => 2,
                ("1-0" | "0-1", _) => 0,
                _ => 1,
            };
            let PackedMove(packed) = PackedMove::from_move(*mv);
            let moves = counts.entry(polyglot::key(position)).or_default();
            let place = moves.iter().position(|known| known.0 == packed);
            let place = place.unwrap_or_else(|| {
                moves.push((packed, 0, 0));
                moves.len() - 1
            });
            moves[place].1 += 1;
            moves[place].2 += points;
            if moves[place].1 == 16384 {
                for (_, games, points) in moves {
                    *games = games.div_ceil(2);
                    *points = points.div_ceil(2);
                }
            }
        }
    }
    counts
}

/// The book with these counts.
fn book(counts: &Counts, uniform: bool, wanted: impl Fn(u32, u16) -> bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, moves) in counts {
        let mut kept: Vec<_> = moves.clone();
        kept.retain(|&(_, games, points)| points > 0 && wanted(games, points));
        if !uniform {
            kept.sort_by_key(|&(_, _, points)| std::cmp::Reverse(points));
        }
        for (mv, _, points) in kept {
            let weight = if uniform { 1 } else { points };
            bytes.extend(encode(*key, PackedMove(mv), weight, 0));
        }
    }
    bytes
}

#[test]
fn a_polyglot_book_has_the_weights_of_its_games() {
    let games = random_games(500, 40);
    let folder = Folder::new();
    folder.put("games.pgn", pgn(&games));
    let made = |options: &str| {
        folder.done(&format!("build -fo out.bin games.pgn {options}"));
        fs::read(folder.join("out.bin")).unwrap()
    };
    let (all, short) = (count(&games, 40), count(&games, 9));
    assert!(made("") == book(&all, false, |_, _| true));
    assert!(made("--max-ply 9") == book(&short, false, |_, _| true));
    assert!(made("--min-games 3") == book(&all, false, |games, _| games >= 3));
    assert!(made("--uniform --min-games 2") == book(&all, true, |games, _| games >= 2));
    let half = |games: u32, points: u16| f64::from(points) / f64::from(games) / 2.0 >= 0.505;
    assert!(made("--min-score 50.5") == book(&all, false, half));
    let [white, black] = ["white", "black"].map(|side| made(&format!("--only {side}")));
    assert_eq!(
        white.len() + black.len(),
        book(&all, false, |_, _| true).len()
    );
    let (start, _) = all
        .iter()
        .find(|(key, _)| **key == polyglot::key(&Chess::default()))
        .unwrap();
    let has_start = |book: &[u8]| {
        book.chunks(16)
            .any(|entry| entry.starts_with(&start.to_be_bytes()))
    };
    assert!(has_start(&white) && !has_start(&black));
    // Threads, memory and a second book do not change the result.
    let first = made("--dedupe --max-ply 30");
    for how in [
        "--threads 1",
        "--threads 3 --memory 1M",
        "--threads 2 --memory 64M",
    ] {
        assert!(
            made(&format!("--dedupe --max-ply 30 {how}")) == first,
            "{how}"
        );
        let also = "--also 'also.bin: --dedupe --max-ply 30' --also 'one.bin: --uniform'";
        folder.done(&format!(
            "build -fo all.ctg games.pgn --variations {how} {also}"
        ));
        assert!(fs::read(folder.join("also.bin")).unwrap() == first, "{how}");
        assert!(fs::read(folder.join("one.bin")).unwrap() == book(&all, true, |_, _| true));
        folder.done("build -fo alone.ctg games.pgn --variations");
        assert!(files(folder.join("all.ctg")) == files(folder.join("alone.ctg")));
    }
    let recorded: serde_json::Value =
        serde_json::from_str(&folder.text("one.provenance.json")).unwrap();
    assert_eq!(
        (&recorded["uniform"], &recorded["games"]),
        (&json!(true), &json!(500))
    );
}

/// Games count in order: it decides how often a rare move is halved.
#[test]
fn counts_are_halved_as_polyglot_halves_them() {
    let line = |moves: &str, count| format!("[Result \"1-0\"]\n\n{moves} 1-0\n\n").repeat(count);
    let text = [
        line("d4", 7),
        line("e4", 16_383),
        line("c4", 2),
        line("e4", 8_193),
        line("c4", 1),
    ]
    .concat();
    let folder = Folder::new();
    folder.put("games.pgn", text);
    folder.done("build -o out.bin games.pgn --threads 3 --memory 1M");
    let weights = |name: &str| -> Vec<u16> {
        let bytes = fs::read(folder.join(name)).unwrap();
        bytes
            .chunks(16)
            .map(|entry| u16::from_be_bytes([entry[10], entry[11]]))
            .collect()
    };
    // Of e4 8,192 games are left, counted twice; of d4 14 points, then 7, then 4.
    assert_eq!(weights("out.bin"), [16_384, 4, 3]);
    folder.done("build -fo out.bin games.pgn --min-games 3");
    assert_eq!(weights("out.bin"), [16_384]);
}

/// Compares only where positions are reached in one way and weights differ: a ChessBase
/// book counts positions, not moves, and has no order.
#[test]
fn build_and_convert_give_the_same_polyglot_book() {
    let lines = [
        ("e4 e5 Nf3 Nc6 Bb5 a6", "1-0", 5),
        ("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6", "0-1", 4),
        ("e4 e5 Bc4 Bc5", "1/2-1/2", 3),
        ("e4 c5 Nc3 d6", "0-1", 6),
        ("d4 Nf6 c4 g6 Nc3 Bg7", "1-0", 2),
        ("d4 d5 c4 e6 Nc3 Be7", "0-1", 1),
    ];
    let game = |&(moves, result, count): &(&str, &str, usize)| {
        format!("[Result \"{result}\"]\n\n{moves} {result}\n\n").repeat(count)
    };
    let folder = Folder::new();
    folder.put("games.pgn", lines.iter().map(game).collect::<String>());
    for options in ["", "--max-ply 3"] {
        folder.done(&format!("build -fo straight.bin games.pgn {options}"));
        folder.done(&format!("build -fo games.ctg games.pgn {options}"));
        let sets = ["Book Minimum Share=0", "Book Transpositions=false"];
        let sets = sets.map(|set| format!("--set '{set}'")).join(" ");
        folder.done(&format!(
            "convert -f games.ctg round.bin --weights score {sets}"
        ));
        let [straight, round] =
            ["straight.bin", "round.bin"].map(|name| fs::read(folder.join(name)).unwrap());
        assert!(straight == round, "{options}");
    }
}

#[test]
fn options_that_polyglot_books_do_not_support_are_refused() {
    let folder = Folder::new();
    folder.put("games.pgn", "1. e4 e5 1-0\n");
    folder.put("old.bin", "an old book");
    folder.put("counts.parquet", "records");
    folder.done("build -o some.ctg games.pgn");
    let before = folder.names();
    for (arguments, message) in [
        ("-o old.bin games.pgn", "old.bin: already exists"),
        ("-fo old.bin games.pgn --only black", "no move is left"),
        ("-fo old.bin games.pgn --min-games 2", "no move is left"),
        ("-fo old.bin games.pgn some.ctg", "made of games"),
        (
            "-fo old.bin games.pgn counts.parquet",
            "no results of moves",
        ),
        ("-fo old.bin games.pgn --variations", "--variations"),
        ("-fo old.bin --priority games.pgn", "--priority"),
        ("-fo old.bin games.pgn --min-score 101", "0 to 100"),
        ("-o new.ctg games.pgn --uniform", "for Polyglot books"),
        (
            "-o new.ctg games.pgn --also 'x.ctg: --min-score 3'",
            "for Polyglot books",
        ),
        ("-o nowhere/new.bin games.pgn", "nowhere"),
    ] {
        folder.tabia(&format!("build {arguments}")).refused(message);
        assert_eq!(folder.text("old.bin"), "an old book");
        assert_eq!(folder.names(), before, "{arguments}");
    }
}

/// Entries from key, move, weight, learn fields.
fn entries(rows: &[(u64, u16, u16, u32)]) -> Vec<u8> {
    let entry = |&(key, mv, weight, learn)| encode(key, PackedMove(mv), weight, learn);
    rows.iter().flat_map(entry).collect()
}

#[test]
fn merging_polyglot_books_adds_their_weights() {
    let folder = Folder::new();
    folder.put(
        "a.bin",
        entries(&[
            (5, 1, 9, 7),
            (5, 2, 4, 8),
            (5, 3, 1, 0),
            (9, 1, 60_000, 0),
            (9, 2, 10_000, 0),
        ]),
    );
    // Unsorted, and with a header.
    folder.put(
        "b.bin",
        entries(&[
            (0, 1, 1, 1),
            (9, 1, 60_000, 3),
            (5, 4, 20, 0),
            (5, 3, 8, 6),
            (5, 3, 2, 0),
            (2, 1, 0, 5),
        ]),
    );
    folder.put("c.ctg", "no book");
    let merged = |options: &str| {
        let merged = folder.tabia(&format!("merge -fo out.bin a.bin b.bin {options}"));
        assert_has(&merged.ok(), "not sorted");
        fs::read(folder.join("out.bin")).unwrap()
    };
    // Halved at least once, where 16 bits are not enough.
    let large = [(9, 1, 65_535, 0), (9, 2, 5_461, 0)];
    let small = [(2, 1, 0, 5)];
    let sums = [(5, 4, 20, 0), (5, 3, 11, 0), (5, 1, 9, 7), (5, 2, 4, 8)];
    assert_eq!(merged(""), entries(&[&small[..], &sums, &large].concat()));
    let kept = [sums[2], sums[3], sums[1], sums[0]];
    assert_eq!(
        merged("--first-wins"),
        entries(&[&small[..], &kept, &large].concat())
    );
    for (arguments, message) in [
        ("merge -o new.bin a.bin c.ctg", "c.ctg: "),
        (
            "merge -o new.bin a.bin none.bin",
            "none.bin: cannot read the book",
        ),
        ("merge -o a.bin a.bin b.bin", "a.bin: already exists"),
        (
            "merge -o new.ctg a.bin b.bin",
            "a.bin: none of its moves can be added",
        ),
        (
            "merge -o new.ctg c.ctg c.ctg --first-wins",
            "for Polyglot books",
        ),
    ] {
        folder.tabia(arguments).refused(message);
    }
    assert_eq!(
        folder.names(),
        ["a.bin", "b.bin", "c.ctg", "out.bin", "out.bin.bak"]
    );
}
