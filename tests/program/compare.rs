//! `tabia diff`: its output.

use serde_json::json;
use shakmaty::Chess;
use tabia_book::Annotation;
use tabia_book::ctg::CanonicalBoard;

use crate::common::{Folder, assert_has, random_book};

#[test]
fn the_command_shows_each_kind_of_difference_at_80_columns() {
    let (mut a, _) = random_book(40, 6);
    let start = CanonicalBoard::from_position(&Chess::default());
    let start = start.unwrap().key();
    a.games = 9;
    let mut b = a.clone();
    let (moves, record) = b.entries.get_mut(&start).unwrap();
    record.stats.games += 3;
    record.stats.wins += 3;
    record.stats.own_rating_sum += 50;
    record.recommendation = 0x80;
    record.learn_value = -5;
    record.commentary = 16;
    moves[0].1 = Annotation(1);
    moves.remove(2);
    moves.remove(2);
    let folder = Folder::new();
    let run = |options: &str| folder.tabia(&format!("diff {options}"));
    a.write(&folder, "a");
    b.write(&folder, "b");
    run("a.ctg a.ctg").ends_with(0, "no difference");
    let differ = run("a.ctg b.ctg");
    let text = differ.negative();
    let expected = "\
A  a.ctg
B  b.ctg

start position
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
  games       10 (+0 =3 -5)            |  13 (+3 =3 -5)
  ratings     2000.0 (2) / 2000.0 (1)  |  2025.0 (2) / 2000.0 (1)
  mark        none                     |  main
  learn value 0                        |  +5
  commentary  none                     |  +/-
";
    assert!(text.starts_with(expected), "{text}");
    assert_has(&text, "moves only in A: ");
    assert_has(&text, " |  ");
    assert_has(&text, "!\n");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let summary = "1 differs: 0 only in A, 0 only in B, 1 in moves, 1 in stats, 1 in marks";
    assert_has(&differ.err(), summary);
    let json = run("a.ctg b.ctg --json").out();
    let lines = json.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["mark"], json!(["none", "main"]));
    for name in ["learn_value", "factor"] {
        assert_eq!(lines[0][name], json!([0, 5]));
    }
    assert_eq!(lines[0]["stats"][1]["wins"], 3);
    assert_eq!(lines[1]["summary"]["different"], 1);
    for only in "marks moves stats learn-values factors annotations commentaries".split(' ') {
        run(&format!("a.ctg b.ctg --only {only}")).ends(1);
    }
    run("a.ctg b.ctg --only positions").ok();
    run("a.ctg nothing.ctg").ends(2);
}
