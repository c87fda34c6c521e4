//! What the comments of games say is kept beside the book.

use tabia::eval::Value;
use tabia::evals;
use tabia::notation::Line;

use super::*;

const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2500\"]\n\
    [Result \"1-0\"]\n\n\
    1. e4 { [%eval 0.40] } 1... e5 { [%eval -0.25] } 2. Nf3 { [%eval 0.3] } 1-0\n\n\
    [White \"C\"]\n[Black \"D\"]\n[WhiteElo \"1500\"]\n[BlackElo \"1500\"]\n\
    [Result \"0-1\"]\n\n\
    1. e4 { [%eval 7.00] } 1... c5 { [%eval #-4] } 0-1\n\n";

fn tabia(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabia"))
        .arg("build")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn evaluations_of_the_games_that_count_are_kept_for_positions_of_each_book() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    let args = [
        "-o",
        "all.ctg",
        "games.pgn",
        "--evaluations",
        "--max-ply",
        "2",
        "--json",
    ];
    let also = ["--also", "strong.ctg: --min-elo 2000"];
    let output = tabia(folder.path(), &[&args[..], &also[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let objects: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let new: Vec<_> = objects
        .iter()
        .map(|book| book["evaluations"].as_u64())
        .collect();
    assert_eq!(new, [Some(3), Some(3)]);
    let value = |book: &str, moves: &str| {
        let path = folder.path().join(book).with_extension("evals");
        let table = evals::read(&path).unwrap().table;
        table
            .get(Line::read("", moves).unwrap().last())
            .map(|known| known.value)
    };
    let mate = Value::Mate {
        winner: Color::Black,
        moves: 4,
    };
    // Of 40 and 700 the upper middle one, as of an even number always: it is
    // Black's move.
    assert_eq!(value("all.ctg", "e4"), Some(Value::Cp(40)));
    assert_eq!(value("all.ctg", "e4 e5"), Some(Value::Cp(-25)));
    assert_eq!(value("all.ctg", "e4 c5"), Some(mate));
    // Not in the book any more.
    assert_eq!(value("all.ctg", "e4 e5 Nf3"), None);
    assert_eq!(value("strong.ctg", "e4"), Some(Value::Cp(40)));
    assert_eq!(value("strong.ctg", "e4 c5"), None);
    assert_eq!(value("strong.ctg", "e4 e5 Nf3"), Some(Value::Cp(30)));

    // Once more nothing is new, and what is there stays.
    let before = fs::read(folder.path().join("all.evals")).unwrap();
    let again = tabia(folder.path(), &[&args[..], &["--force"]].concat());
    assert!(
        said(&again).contains("all.evals: 4 evaluations"),
        "{}",
        said(&again)
    );
    assert!(said(&again).contains(" 0 of them new"), "{}", said(&again));
    assert_eq!(fs::read(folder.path().join("all.evals")).unwrap(), before);
}

#[test]
fn sources_that_cannot_be_read_twice_are_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    fs::write(folder.path().join("r.parquet"), "PAR1").unwrap();
    for (source, wanted) in [
        ("-", "reads the games twice, which - cannot be"),
        ("r.parquet", "r.parquet: records hold no evaluations"),
    ] {
        let output = tabia(folder.path(), &["-o", "x.ctg", source, "--evaluations"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(wanted), "{}", said(&output));
    }
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 2);
}
