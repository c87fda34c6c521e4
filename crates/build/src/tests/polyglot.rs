//! Polyglot books made from games.

use std::collections::BTreeMap;

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
        super::made(&folder, &format!("-o out.bin games.pgn {options}")).unwrap();
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
        let jobs = [
            "-o all.ctg --variations",
            "-o strong.bin --min-elo 2400",
            "-o also.bin --dedupe --max-ply 30",
            "-o one.bin --uniform",
        ];
        let jobs = jobs.map(|line| job(&folder, &format!("games.pgn {line} {how}")));
        run_all(&jobs, &mut Watch::default()).unwrap();
        assert!(fs::read(folder.join("also.bin")).unwrap() == first, "{how}");
        assert!(fs::read(folder.join("one.bin")).unwrap() == book(&all, true, |_, _| true));
        assert!(fs::read(folder.join("strong.bin")).unwrap() == made("--min-elo 2400"));
        super::made(&folder, "-o alone.ctg games.pgn --variations").unwrap();
        assert!(files(folder.join("all.ctg")) == files(folder.join("alone.ctg")));
    }
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
    made(&folder, "-o out.bin games.pgn --threads 3 --memory 1M").unwrap();
    let weights = |name: &str| -> Vec<u16> {
        let bytes = fs::read(folder.join(name)).unwrap();
        bytes
            .chunks(16)
            .map(|entry| u16::from_be_bytes([entry[10], entry[11]]))
            .collect()
    };
    // Of e4 8,192 games are left, counted twice; of d4 14 points, then 7, then 4.
    assert_eq!(weights("out.bin"), [16_384, 4, 3]);
    made(&folder, "-o out.bin games.pgn --min-games 3").unwrap();
    assert_eq!(weights("out.bin"), [16_384]);
}
