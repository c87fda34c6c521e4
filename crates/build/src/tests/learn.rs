//! Which results of games count for which moves.

use super::*;
use crate::learn::{Counted, LearnOptions, place_of, tally_games};
use tabia_book::{Book, BookEditor, EditOptions, OpenOptions};
use tabia_choice::learn::{Evidence, PlayedGame, append, side_path};

const GAMES: &str = "\
[White \"Winner, A\"]\n[Black \"Loser, B\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
[White \"Loser, B\"]\n[Black \"Winner, A\"]\n[Result \"0-1\"]\n\n1. d4 Nf6 2. c4 e6 0-1\n\n\
[White \"Loser, B\"]\n[Black \"Winner, A\"]\n[Result \"1/2-1/2\"]\n\n1. e4 c5 1/2-1/2\n\n\
[White \"Winner, A\"]\n[Black \"Other, C\"]\n[Result \"*\"]\n\n1. c4 *\n\n";

fn all() -> Counted {
    Counted {
        filter: GameFilter::default(),
        colour: None,
        wins: true,
        draws: true,
        losses: true,
        max_ply: 99,
    }
}

fn of_player(colour: Option<Color>) -> Counted {
    let mut counted = all();
    counted.filter.player = Some("winner".to_owned());
    counted.filter.colour = colour;
    counted
}

/// By the results for 1.e4, 1...e5, 1.d4 and 1...Nf6, whatever the kind of the book.
#[test]
fn the_results_that_count_are_those_of_the_chosen_moves() {
    let folder = Folder::new();
    folder.put("games.pgn", GAMES);
    made(&folder, "-o book.ctg games.pgn").unwrap();
    made(&folder, "-o book.bin games.pgn").unwrap();
    let sources = Sources::list([&folder.join("games.pgn")]).unwrap();
    let [none, won, drawn, lost] = [[0; 3], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let both = [1, 1, 0];
    for (counted, wanted) in [
        (all(), [both, lost, lost, won]),
        (
            Counted {
                colour: Some(Color::White),
                ..all()
            },
            [both, none, lost, none],
        ),
        (
            Counted {
                draws: false,
                losses: false,
                ..all()
            },
            [won, none, none, won],
        ),
        (
            Counted {
                wins: false,
                draws: false,
                ..all()
            },
            [none, lost, lost, none],
        ),
        (
            Counted {
                wins: false,
                losses: false,
                ..all()
            },
            [drawn, none, none, none],
        ),
        (
            Counted {
                max_ply: 1,
                ..all()
            },
            [both, none, lost, none],
        ),
        (of_player(None), [won, none, none, won]),
        (of_player(Some(Color::Black)), [none, none, none, won]),
    ] {
        for name in ["book.ctg", "book.bin"] {
            let book = Book::open(folder.join(name), &OpenOptions::default()).unwrap();
            let watch = &mut Watch::default();
            let learned = tally_games(&book, &sources, &counted, 2, watch).unwrap();
            let results = |(moves, mv): (&str, &str)| {
                let before = common::after(moves);
                let mv = common::uci(&before, mv);
                let after = tabia_notation::after(&before, mv);
                let place = place_of(&book, &before, mv, &after).unwrap();
                // A Polyglot book leaves out moves that always lost.
                place
                    .and_then(|place| learned.tallies.get(&place))
                    .map(|found| found.parts())
            };
            let moves = [("", "e2e4"), ("e4", "e7e5"), ("", "d2d4"), ("d4", "g8f6")];
            for (mv, wanted) in moves.into_iter().zip(wanted) {
                let is_left_out = name == "book.bin" && wanted == lost;
                let wanted = if is_left_out { none } else { wanted };
                assert_eq!(
                    results(mv).unwrap_or_default(),
                    wanted,
                    "{name} {mv:?} {counted:?}"
                );
            }
        }
    }
}

/// A second lesson of the same games adds up, but for a fresh one.
#[test]
fn a_lesson_reports_what_it_changes_and_a_dry_run_changes_nothing() {
    let folder = Folder::new();
    folder.put("games.pgn", GAMES);
    let sources = Sources::list([&folder.join("games.pgn")]).unwrap();
    for (name, sums) in [("book.ctg", (8, 4)), ("book.bin", (5, 4))] {
        made(&folder, &format!("-o {name} games.pgn")).unwrap();
        let path = folder.join(name);
        let teach = |options: LearnOptions| {
            let editor = BookEditor::open(&path, &EditOptions::default()).unwrap();
            let book = editor.snapshot().unwrap();
            let watch = &mut Watch::default();
            let learned = tally_games(&book, &sources, &all(), 2, watch).unwrap();
            learned.teach(&editor, &book, options).unwrap()
        };
        let before = fs::read(&path).unwrap();
        let dry = LearnOptions::default().dry_run(true);
        let report = teach(dry);
        for shown in [0, 1, 2, 99] {
            let some = teach(dry.shown(shown));
            assert_eq!((some.changed, some.raised), sums, "{name}");
            assert_eq!(
                some.listed.len(),
                shown.min(report.changed as usize),
                "{name}"
            );
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{name}");
        assert!(report.changed > 0 && teach(dry.fresh(true)).changed == report.changed);
        assert_eq!(teach(LearnOptions::default()).changed, report.changed);
        assert_eq!(
            teach(LearnOptions::default().fresh(true)).changed,
            0,
            "{name}"
        );
        assert!(teach(dry).changed > 0);
    }
}

#[test]
fn a_played_game_is_kept_beside_its_book() {
    let folder = Folder::new();
    let book = folder.join("book.ctg");
    let game = PlayedGame {
        start: None,
        winner: None,
        evidence: Evidence::Mate,
        moves: vec![("e2e4".to_owned(), true)],
    };
    append(&side_path(&book), &game).unwrap();
    assert_eq!(folder.names(), ["book.ctg.learn"]);
}
