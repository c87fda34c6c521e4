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
