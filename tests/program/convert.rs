//! `tabia convert`: a book can be built again from its games.

use std::fs;

use shakmaty::{Chess, Position as _};
use tabia_book::Probe as _;
use tabia_book::convert::{Comments, ConvertJob, PgnOptions, run};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;

use crate::common::{Folder, STARTER, open};

/// The moves of the main lines of a PGN text.
fn main_lines(text: &str) -> Vec<Vec<String>> {
    let mut games = Vec::new();
    for game in text.split("[Event ").skip(1) {
        let moves = game.split("\n\n").nth(1).unwrap();
        let (mut depth, mut comment) = (0, false);
        let mut line = Vec::new();
        let spaced = moves
            .replace('(', " ( ")
            .replace(')', " ) ")
            .replace('{', " { ")
            .replace('}', " } ");
        for token in spaced.split_whitespace() {
            match token {
                "{" => comment = true,
                "}" => comment = false,
                _ if comment => {}
                "(" => depth += 1,
                ")" => depth -= 1,
                "*" => {}
                _ if depth > 0 || token.starts_with('$') || token.ends_with('.') => {}
                san => line.push(san.to_owned()),
            }
        }
        assert_eq!(depth, 0);
        games.push(line);
    }
    games
}

#[test]
fn games_of_a_book_hold_every_move_once_and_build_into_a_book_again() {
    let folder = Folder::new();
    let target = folder.join("x.pgn");
    for game_moves in [1, 200, u32::MAX] {
        let pgn = PgnOptions::default()
            .plies(14)
            .min_games(20)
            .game_moves(game_moves)
            .comments(match game_moves {
                1 => Comments::None,
                _ => Comments::Full,
            });
        let job = ConvertJob::new(STARTER.into(), target.clone())
            .pgn(pgn)
            .old(Previous::Replace);
        let done = run(&job, &mut Watch::default()).unwrap();
        assert!(done.moves > 200, "{done:?}");
        let text = fs::read_to_string(&target).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        assert_eq!(
            text.contains('{'),
            game_moves != 1
                || done
                    .notes
                    .iter()
                    .any(|note| note.contains("transpositions"))
        );
        let lines = main_lines(&text);
        assert_eq!(lines.len() as u64, done.games);
        if game_moves == u32::MAX {
            assert_eq!(lines.len(), 1);
        }
        let built = folder.join("built.ctg");
        let sources = vec![tabia_build::Source::new(target.clone())];
        let mut job = tabia_build::BuildJob::new(sources, built.clone());
        job.old = Previous::Replace;
        let summary = tabia_build::run(&job, &mut Watch::default()).unwrap();
        assert_eq!((summary.games, summary.tally.skipped), (done.games, 0));
        let book = open(&built);
        for line in lines {
            let mut position = Chess::default();
            for san in line {
                let san: shakmaty::san::SanPlus = san.parse().unwrap();
                position.play_unchecked(san.san.to_move(&position).unwrap());
                assert!(book.contains(&position).unwrap());
            }
        }
    }
}
