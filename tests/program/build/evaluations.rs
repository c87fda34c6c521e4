//! Evaluations in the comments of games are stored next to the book.

use shakmaty::Color;
use tabia_book::eval::Value;
use tabia_book::evals;

use super::*;

const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2500\"]\n\
    [Result \"1-0\"]\n\n\
    1. e4 { [%eval 0.40] } 1... e5 { [%eval -0.25] } 2. Nf3 { [%eval 0.3] } 1-0\n\n\
    [White \"C\"]\n[Black \"D\"]\n[WhiteElo \"1500\"]\n[BlackElo \"1500\"]\n\
    [Result \"0-1\"]\n\n\
    1. e4 { [%eval 7.00] } 1... c5 { [%eval #-4] } 0-1\n\n";

#[test]
fn evaluations_of_the_games_that_count_are_stored_for_positions_of_each_book() {
    let folder = Folder::new();
    folder.put("games.pgn", GAMES);
    let build = "build -o all.ctg games.pgn --evaluations --max-ply 2 --json \
        --also 'strong.ctg: --min-elo 2000'";
    let out = folder.tabia(build).printed();
    let new = out.lines().map(|line| {
        let book: serde_json::Value = serde_json::from_str(line).unwrap();
        book["evaluations"].as_u64()
    });
    let new: Vec<_> = new.collect();
    assert_eq!(new, [Some(3), Some(3)]);
    let value = |book: &str, moves: &str| {
        let path = folder.join(book).with_extension("evals");
        let table = evals::read(&path).unwrap().table;
        table
            .get(&crate::common::after(moves))
            .map(|known| known.value)
    };
    let mate = Value::Mate {
        winner: Color::Black,
        moves: 4,
    };
    // Of two values the better one for the side to move, here Black, counts as the
    // median: 40 of 40 and 700.
    assert_eq!(value("all.ctg", "e4"), Some(Value::Cp(40)));
    assert_eq!(value("all.ctg", "e4 e5"), Some(Value::Cp(-25)));
    assert_eq!(value("all.ctg", "e4 c5"), Some(mate));
    // This position is not in the book.
    assert_eq!(value("all.ctg", "e4 e5 Nf3"), None);
    assert_eq!(value("strong.ctg", "e4"), Some(Value::Cp(40)));
    assert_eq!(value("strong.ctg", "e4 c5"), None);
    assert_eq!(value("strong.ctg", "e4 e5 Nf3"), Some(Value::Cp(30)));

    // A second run adds nothing, and existing values stay.
    let before = fs::read(folder.join("all.evals")).unwrap();
    let again = folder.done(&format!("{build} --force"));
    assert_has(&again, "all.evals: 4 evaluations");
    assert_has(&again, " 0 of them new");
    assert_eq!(fs::read(folder.join("all.evals")).unwrap(), before);
}

#[test]
fn sources_that_cannot_be_read_twice_are_refused_before_anything_is_made() {
    let folder = Folder::new();
    folder.put("games.pgn", GAMES);
    folder.put("r.parquet", "PAR1");
    folder.put("i.tgx", "");
    for (source, wanted) in [
        ("-", "reads the games twice, and - can be read only once"),
        ("r.parquet", "r.parquet: records hold no evaluations"),
        ("i.tgx", "i.tgx: an index of games holds no evaluations"),
    ] {
        let build = format!("build -o x.ctg {source} --evaluations");
        folder.tabia(&build).refused(wanted);
    }
    assert_eq!(folder.names(), ["games.pgn", "i.tgx", "r.parquet"]);
}
