//! Polyglot books made from games.

use super::*;
use tabia_book::bin::encode;
use tabia_book::polyglot::PackedMove;

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

#[test]
fn the_provenance_of_a_polyglot_book_says_how_it_was_made() {
    let folder = Folder::new();
    folder.put("games.pgn", pgn(&random_games(20, 10)));
    folder.done("build -o all.ctg games.pgn --also 'one.bin: --uniform'");
    let recorded: serde_json::Value =
        serde_json::from_str(&folder.text("one.provenance.json")).unwrap();
    let recorded = json!([recorded["uniform"], recorded["games"]]);
    assert_eq!(recorded, json!([true, 20]));
}
