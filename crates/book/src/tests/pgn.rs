//! Games of a book have all of its moves.

use std::collections::BTreeMap;
use std::fs;

use super::common::{Folder, look_up, open, random_book};
use shakmaty::Chess;
use shakmaty::san::San;
use tabia_book::convert::{Comments, ConvertJob, PgnOptions, run};
use tabia_book::polyglot::key;
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;
use tabia_notation::{after, san};

/// How often each move is in a text, variations included, by the key of its position.
fn moves_of(text: &str) -> BTreeMap<(u64, String), usize> {
    let mut found = BTreeMap::new();
    for game in text.split("[Event ").skip(1) {
        let (tags, moves) = game.split_once("\n\n").unwrap();
        assert_eq!(tags.lines().count(), 7, "{tags}");
        let mut spaced = moves.to_owned();
        for sign in ['{', '}', '(', ')'] {
            spaced = spaced.replace(sign, &format!(" {sign} "));
        }
        let (mut now, mut before) = (Chess::default(), None);
        let (mut open, mut comment) = (Vec::new(), false);
        for word in spaced.split_whitespace() {
            match word {
                "{" => comment = true,
                "}" => comment = false,
                _ if comment => {}
                "(" => {
                    open.push((now, before.clone()));
                    now = before.take().unwrap();
                }
                ")" => (now, before) = open.pop().unwrap(),
                "*" => {}
                _ if word.starts_with('$') || word.ends_with('.') => {}
                word => {
                    let read: San = word.trim_end_matches(['+', '#']).parse().unwrap();
                    let mv = read.to_move(&now).unwrap();
                    *found.entry((key(&now), san(&now, mv))).or_default() += 1;
                    let next = after(&now, mv);
                    before = Some(std::mem::replace(&mut now, next));
                }
            }
        }
        assert!(open.is_empty() && !comment);
    }
    found
}

#[test]
fn games_have_all_moves_of_the_book() {
    let folder = Folder::new();
    let (book, _) = random_book(300, 14);
    let source = book.write(&folder, "x");
    let opened = open(&source);
    let mut expected = BTreeMap::new();
    let mut seen = BTreeMap::from([(key(&Chess::default()), ())]);
    let mut next = vec![Chess::default()];
    while let Some(position) = next.pop() {
        for stored in look_up(&opened, &position).moves {
            if stored.transposition {
                continue;
            }
            expected.insert((key(&position), san(&position, stored.mv)), 1);
            let child = after(&position, stored.mv);
            if stored.after.is_some() && seen.insert(key(&child), ()).is_none() {
                next.push(child);
            }
        }
    }
    assert!(expected.len() > 100, "{}", expected.len());
    for comments in [Comments::None, Comments::Short, Comments::Full] {
        for game_moves in [1, 30, u32::MAX] {
            let target = folder.join("x.pgn");
            let options = PgnOptions::default()
                .plies(500)
                .comments(comments)
                .game_moves(game_moves);
            let job = ConvertJob::new(source.clone(), target.clone())
                .pgn(options)
                .old(Previous::Replace);
            let done = run(&job, &mut Watch::default()).unwrap();
            let text = fs::read_to_string(&target).unwrap();
            assert!(text.lines().all(|line| line.len() <= 80));
            // Brackets are closed where there is room in 79 columns.
            for (before, line) in text.lines().zip(text.lines().skip(1)) {
                assert!(
                    before.len() == 79 || !line.starts_with(')'),
                    "{before}\n{line}"
                );
            }
            let games = text.matches("[Event ").count() as u64;
            assert_eq!((done.games, done.moves), (games, expected.len() as u64));
            let mut found = moves_of(&text);
            if game_moves == u32::MAX {
                assert_eq!(games, 1);
            } else {
                // Games share their first moves.
                assert!(games > 1);
                found.values_mut().for_each(|count| *count = 1);
            }
            assert_eq!(found, expected);
        }
    }
}
