//! Games that are exported to a database are read from it as they were.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::{assert_has, run};
use crate::{ExportJob, ExportTarget};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;

/// Writes random moves with notes; `depth` is that of the variations in them.
fn add_line(rng: &mut StdRng, mut position: Chess, plies: u32, depth: u32, text: &mut String) {
    for _ in 0..plies {
        let moves = position.legal_moves();
        let Some(mv) = moves.choose(rng) else { return };
        let dots = position.turn().fold_wb(".", "...");
        let san = SanPlus::from_move(position.clone(), *mv);
        write!(text, "{}{dots} {san} ", position.fullmoves()).unwrap();
        if rng.random_ratio(1, 9) {
            write!(text, "${} ", rng.random_range(1..140)).unwrap();
        }
        if rng.random_ratio(1, 9) {
            write!(text, "{{note {}}} ", rng.random_range(0..1000)).unwrap();
        }
        if depth > 0 && rng.random_ratio(1, 9) {
            text.push('(');
            add_line(rng, position.clone(), plies / 3 + 1, depth - 1, text);
            text.push_str(") ");
        }
        position.play_unchecked(*mv);
    }
}

pub(super) fn random_games(seed: u64) -> String {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut text = String::new();
    for number in 1..=30 {
        let result = *["1-0", "0-1", "1/2-1/2", "*"].choose(&mut rng).unwrap();
        let [year, month, day] = [1900..2030, 1..13, 1..29].map(|range| rng.random_range(range));
        write!(
            text,
            "[Event \"Event {}\"]\n[Site \"Site\"]\n[Date \"{year}.{month:02}.{day:02}\"]\n\
             [Round \"{number}\"]\n[White \"White {}\"]\n[Black \"Black {number}\"]\n\
             [Result \"{result}\"]\n[WhiteElo \"{}\"]\n\n",
            number / 4,
            number / 3,
            rng.random_range(1000..2900),
        )
        .unwrap();
        let plies = rng.random_range(1..250);
        add_line(&mut rng, Chess::new(), plies, 2, &mut text);
        text.push_str(result);
        text.push_str("\n\n");
    }
    text
}

fn export(source: &Path, target: ExportTarget, is_bare: bool) -> String {
    let mut job = ExportJob::new([source], target);
    (job.old, job.threads) = (Previous::Keep, 2);
    (job.no_variations, job.no_comments) = (is_bare, is_bare);
    let (text, messages) = run(&job);
    assert_has(&messages, "30 written, 0 skipped, 0 cut");
    text
}

#[test]
fn databases_have_the_games_that_were_exported_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    for seed in 0..3 {
        fs::write(path("games.pgn"), random_games(seed)).unwrap();
        for is_bare in [false, true] {
            let database = path(&format!("{seed}{is_bare}.si5"));
            export(
                &path("games.pgn"),
                ExportTarget::Scid(database.clone()),
                is_bare,
            );
            let expected = export(&path("games.pgn"), ExportTarget::Output, is_bare);
            assert_eq!(
                export(&database, ExportTarget::Output, false),
                expected,
                "{seed}"
            );
        }
        let database = path(&format!("{seed}.dci"));
        export(
            &path("games.pgn"),
            ExportTarget::Scdb(database.clone()),
            true,
        );
        let expected = export(&path("games.pgn"), ExportTarget::Output, true);
        assert_eq!(
            export(&database, ExportTarget::Output, false),
            expected,
            "{seed}"
        );
    }
}

/// Some games of two pairs of players, with dates and rounds that agree or contradict: those
/// are kept that comparing each with each keeps.
#[test]
fn no_game_is_kept_that_is_a_duplicate_or_the_beginning_of_another() {
    const LINES: [&str; 3] = ["e4 e5 Nf3 Nc6 Bb5", "e4 e5 Nf3 Nf6", "d4 d5 c4 e6 Nc3 Nf6"];
    const DATES: [&str; 4] = ["????.??.??", "2020.01.02", "2020.01.03", "2020.??.??"];
    const ROUNDS: [&str; 4] = ["?", "1", "2", "1.3"];
    const RESULTS: [&str; 3] = ["1-0", "1/2-1/2", "*"];
    struct Made {
        pair: usize,
        moves: Vec<&'static str>,
        result: &'static str,
        date: &'static str,
        round: &'static str,
    }
    let agree = |a: &str, b: &str| {
        let unknown = |part: &str| part.starts_with('?');
        let mut parts = a.split('.').zip(b.split('.'));
        parts.all(|(a, b)| a == b || unknown(a) || unknown(b))
    };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("games.pgn");
    let mut rng = StdRng::seed_from_u64(7);
    for round in 0..40 {
        let mut games = Vec::new();
        let mut text = String::new();
        for number in 0..25 {
            let line = LINES.choose(&mut rng).unwrap().split(' ');
            let game = Made {
                pair: rng.random_range(0..2),
                moves: line.take(rng.random_range(0..7)).collect(),
                result: RESULTS.choose(&mut rng).unwrap(),
                date: DATES.choose(&mut rng).unwrap(),
                round: ROUNDS.choose(&mut rng).unwrap(),
            };
            let first = ["", " A.", ", Ann"].choose(&mut rng).unwrap();
            let Made {
                pair,
                result,
                date,
                round,
                ..
            } = &game;
            write!(
                text,
                "[Event \"{number}\"]\n[Date \"{date}\"]\n[Round \"{round}\"]\n\
                 [White \"Player{pair}{first}\"]\n[Black \"Other\"]\n[Result \"{result}\"]\n\n\
                 {} {result}\n\n",
                game.moves.join(" ")
            )
            .unwrap();
            games.push(game);
        }
        fs::write(&source, &text).unwrap();
        let begins = |game: &Made| {
            games.iter().any(|other| {
                let is_more = game.moves.len() < other.moves.len()
                    || game.moves.len() == other.moves.len() && game.result != other.result;
                game.pair == other.pair
                    && is_more
                    && other.moves.starts_with(&game.moves)
                    && [other.result, "*"].contains(&game.result)
                    && agree(game.date, other.date)
                    && agree(
                        game.round.split('.').next().unwrap(),
                        other.round.split('.').next().unwrap(),
                    )
            })
        };
        let mut kept: Vec<usize> = Vec::new();
        let mut beginnings = 0;
        for (number, game) in games.iter().enumerate() {
            let is_same = |known: &usize| {
                let known = &games[*known];
                (known.pair, known.result, &known.moves) == (game.pair, game.result, &game.moves)
            };
            let is_empty = game.moves.is_empty();
            if !is_empty && begins(game) {
                beginnings += 1;
            } else if is_empty || !kept.iter().any(is_same) {
                kept.push(number);
            }
        }
        // Files and folders can be read again.
        let named = [&*source, folder.path()][round % 2];
        let mut job = ExportJob::new([named], ExportTarget::Output);
        (job.threads, job.dedupe) = (1 + round % 3, true);
        let mut output = Vec::new();
        let done = job.run(&mut output, &mut Watch::default()).unwrap();
        let output = String::from_utf8(output).unwrap();
        let numbers = output.lines().filter_map(|line| {
            let number = line.strip_prefix("[Event \"")?.strip_suffix("\"]")?;
            number.parse().ok()
        });
        assert_eq!(numbers.collect::<Vec<usize>>(), kept, "{text}");
        let duplicates = 25 - kept.len() as u64 - beginnings;
        assert_eq!((done.duplicates, done.beginnings), (duplicates, beginnings));
    }
    let devices = ["-", "/dev/null"].into_iter();
    for stream in devices.take(if cfg!(unix) { 2 } else { 1 }) {
        let mut job = ExportJob::new([stream], ExportTarget::Output);
        job.dedupe = true;
        let refused = job.run(&mut Vec::new(), &mut Watch::default()).unwrap_err();
        assert!(refused.to_string().contains("save them in a file first"));
    }
}
